/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The performance attributes that ibsim lacks: their counters, the commands that set
 * them, and the agents' answers.
 *
 * Model: a store has the counters of each port, by the GUID of its node.  A counter is
 * 0 until a command sets it.  Attributes, fields and widths are those of ib/detail.h.
 *
 * The store asks ibsim which node a name or a LID refers to, so that only ibsim has to
 * know names, LIDs and routes:
 *
 *   - A command is parsed (sim_setting_parse()).  ibsim then dumps the node that the
 *     command names, and the dump contains the GUID (sim_details_set()).
 *   - A request becomes a Get(NodeInfo) to the same LID (sim_details_make_question()).
 *     ibsim routes it, or drops it if there is no path.  The response contains the
 *     GUID; it is turned into the response to the request (sim_details_answer()).
 *
 * PortExtendedSpeedsCounters has one of two layouts.  A node has the layout with RS-FEC
 * until a command sets a field that only the other layout has.  It then has the other
 * layout until a command sets a field that only the RS-FEC layout has.  All ports of a
 * node have the same layout, because ClassPortInfo reports it for the whole node.
 *
 * PortCounters and PortCountersExtended are ibsim's.  But a node of which a command set an
 * error, or PortXmitWait, of PortCountersExtended has 64-bit errors, as CapabilityMask2
 * then says.  Its PortCounters show the same registers, as far as they can count, and both
 * attributes reset them.  What a command sets in its PortCounters is above that of
 * PortCountersExtended, as of an agent that promises 64-bit errors and lacks them.
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

/* A parsed command. */
struct sim_setting {
	char node[SIM_NODE_NAME_SIZE]; /* as ibsim names it */
	int port;
	char attribute[40];
	char field[40];
	uint64_t value;
};

struct sim_details;

/* A node in a dump of ibsim's. */
struct sim_dumped_node {
	char type[16];
	char name[SIM_NODE_NAME_SIZE];
	int n_ports;
	uint64_t guid;
};

/* Reads the dump of the node that a command named 'name'.  Returns false when it contains
 * no node, or the node has no such port (0: none is meant); then 'answer' says so. */
bool sim_dump_read(const char *dump, const char *name, int port,
	struct sim_dumped_node *node, char *answer, size_t size);

/* Returns NULL when memory is short. */
struct sim_details *sim_details_new(void);

/* Parses 'PerformanceSet "NODE"[PORT] ATTRIBUTE.FIELD=VALUE'.  Returns false for any
 * other line, and for an attribute that ibsim implements: ibsim executes that
 * command. */
bool sim_setting_parse(const char *line, struct sim_setting *setting);

/* Executes a command.  'dump' is the beginning of ibsim's dump of the node.  Writes a
 * line in ibsim's wording to 'answer'; it begins with '#' when the command is refused.
 * A value above the counter's maximum becomes the maximum. */
void sim_details_set(struct sim_details *details, const struct sim_setting *setting,
	const char *dump, char *answer, size_t size);

/* Whether a MAD requests such an attribute. */
bool sim_details_is_request(const uint8_t *mad);

/* Whether a MAD requests what ibsim answers and sim_details_complete() completes:
 * ClassPortInfo of the performance class, or counters where a node has 64-bit errors. */
bool sim_details_is_half_request(const struct sim_details *details, const uint8_t *mad);

/* Resets, of a Set of counters, what ibsim does not know. */
void sim_details_reset(
	const struct sim_details *details, uint64_t guid, const uint8_t *mad);

/* Turns a request, by LID or directed route, into a Get(NodeInfo) with the same
 * transaction ID. */
void sim_details_make_question(uint8_t *mad);

/* The NodeGUID in the response to that. */
uint64_t sim_details_guid(const uint8_t *node_info);

/* Turns a request into its response.  'node_info' is the MAD with the node's NodeInfo.
 * A Set resets the counters that CounterSelect selects. */
void sim_details_answer(
	struct sim_details *details, const uint8_t *node_info, uint8_t *mad);

/* Completes ibsim's response: the RS-FEC bit in a node's ClassPortInfo if the node has
 * that layout, and CapabilityMask2; 64-bit errors in both attributes of counters. */
void sim_details_complete(
	const struct sim_details *details, uint64_t guid, uint8_t *mad);

#endif
