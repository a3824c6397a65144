/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The performance attributes that ibsim lacks: their counters, how people set them, how
 * agents answer.
 *
 * Model: a store has the counters of each port, by the GUID of its node.  A counter
 * that nobody has set is 0.  Attributes, fields and widths are those of ib/detail.h.
 *
 * The store asks ibsim which node a name or a LID means, so that ibsim alone knows
 * names, LIDs and routes:
 *
 *   - A command is parsed (sim_setting_parse()).  ibsim then dumps the node that it
 *     names, and the dump gives the GUID (sim_details_set()).
 *   - A request becomes a Get(NodeInfo) to the same LID (sim_details_make_question()).
 *     ibsim routes it, or loses it where no link is.  Its answer gives the GUID, and is
 *     turned into the answer to the request (sim_details_answer()).
 *
 * PortExtendedSpeedsCounters has one of two layouts.  A node has that of RS-FEC until a
 * field is set that only the other layout has, and then that one, until again a field
 * is set that only RS-FEC's has.  It is the node's, not the port's, because
 * ClassPortInfo announces it for the whole node.
 *
 * Thread-safety: none.
 * Source: IBA volume 1, 16.1; ibsim's console for the wording. */
#ifndef LAB_SIM_DETAILS_H
#define LAB_SIM_DETAILS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SIM_NODE_NAME_SIZE 65
#define SIM_LINE_SIZE 128

/* What a command wants to be set. */
struct sim_setting {
	char node[SIM_NODE_NAME_SIZE]; /* as ibsim names it */
	int port;
	char attribute[40];
	char field[40];
	uint64_t value;
};

struct sim_details;

/* What a dump of ibsim's says of a node. */
struct sim_dumped_node {
	char type[16];
	char name[SIM_NODE_NAME_SIZE];
	int n_ports;
	uint64_t guid;
};

/* Returns false when there is none in it. */
bool sim_dump_read(const char *dump, struct sim_dumped_node *node);

/* Returns NULL without memory. */
struct sim_details *sim_details_new(void);

/* Reads 'PerformanceSet "NODE"[PORT] ATTRIBUTE.FIELD=VALUE'.  Returns false for
 * anything else, and for an attribute that ibsim has: ibsim answers that itself. */
bool sim_setting_parse(const char *line, struct sim_setting *setting);

/* Carries out a command.  'dump' is the beginning of what ibsim printed for the node.
 * '*answer' gets a line, in ibsim's words, which begins with '#' for a refusal.  A
 * value above the counter's maximum becomes the maximum. */
void sim_details_set(struct sim_details *details, const struct sim_setting *setting,
	const char *dump, char *answer, size_t size);

/* Whether a MAD asks for such an attribute. */
bool sim_details_is_request(const uint8_t *mad);

/* Whether a MAD asks for ClassPortInfo of the performance class. */
bool sim_details_is_class_request(const uint8_t *mad);

/* Makes a request by LID a Get(NodeInfo) with the same transaction ID. */
void sim_details_make_question(uint8_t *mad);

/* The NodeGUID in an answer to that. */
uint64_t sim_details_guid(const uint8_t *node_info);

/* Makes a request its answer.  'node_info' is the MAD with the node's NodeInfo.  A Set
 * resets the counters that CounterSelect names. */
void sim_details_answer(
	struct sim_details *details, const uint8_t *node_info, uint8_t *mad);

/* Adds to an answer with a node's ClassPortInfo whether it has RS-FEC's layout. */
void sim_details_announce(
	const struct sim_details *details, uint64_t guid, uint8_t *mad);

#endif
