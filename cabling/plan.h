/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* A cabling plan: which cable is to be between which two ports.
 *
 * Model: a link has two ends.  An end is a port of a node, and the node is given by its
 * GUID, its name, or both; nobody has looked yet whether a fabric has it.  A port can also
 * be planned to be free, or to have any far end.  'judges_all' says what the plan means by
 * silence: true, a port that it does not mention is to be free; false, it does not matter.
 *
 * A link may be there twice, once from each of its ends.  Links that contradict each other
 * are found by cabling/compare.h, because two names can mean one node.
 *
 * Thread-safety: built by one thread, then immutable.
 * Memory: a plan owns its arrays and texts; all are capped.  After an error it only
 * remembers that, in 'error'. */
#ifndef TRIAD_CABLING_PLAN_H
#define TRIAD_CABLING_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TRIAD_CABLING_MAX_LINKS 2000000u
#define TRIAD_CABLING_MAX_TEXT ((size_t)128 << 20)

struct triad_cabling_end {
	uint64_t guid; /* of the node, or of this port of a host; 0: not given */
	uint32_t name; /* of the node, in 'text'; 0: not given */
	uint8_t port;  /* 1 to 254 */
};

struct triad_cabling_link {
	struct triad_cabling_end ends[2];
	uint32_t line;      /* of the file, from 1 */
	uint16_t length_dm; /* decimetres; 0: not planned */
	uint8_t width;      /* as PortInfo:LinkWidthActive; 0: not planned */
	uint8_t speed;      /* enum triad_link_speed; 0: not planned */
};

/* A port that is planned without a cable. */
struct triad_cabling_port_plan {
	struct triad_cabling_end end;
	bool is_free; /* false: any far end will do */
};

enum triad_cabling_format {
	TRIAD_CABLING_UNKNOWN,
	TRIAD_CABLING_EXPECTED,
	TRIAD_CABLING_NETDISCOVER,
	TRIAD_CABLING_NDT,
	TRIAD_CABLING_TOPOCONFIG,
	TRIAD_CABLING_SLURM,
};

struct triad_cabling_plan {
	enum triad_cabling_format format; /* what it was read from */
	bool judges_all;
	uint32_t n_links, n_ports;
	struct triad_cabling_link *links;
	struct triad_cabling_port_plan *ports;
	/* Rows that say something about a far end, but not which port it is. */
	uint32_t n_open, first_open_line;
	char *text; /* texts, each with its 0; text[0] is 0 */
	size_t text_size, text_room, links_room, ports_room;
	int error; /* ENOMEM, or E2BIG: a cap was exceeded */
};

/* NULL when memory is short. */
struct triad_cabling_plan *triad_cabling_plan_new(void);
/* Accepts NULL. */
void triad_cabling_plan_free(struct triad_cabling_plan *plan);

/* Stores a text; returns its place, 0 for "" and after an error. */
uint32_t triad_cabling_plan_keep(struct triad_cabling_plan *plan, const char *text);
void triad_cabling_plan_add_link(
	struct triad_cabling_plan *plan, const struct triad_cabling_link *link);
void triad_cabling_plan_add_port(
	struct triad_cabling_plan *plan, const struct triad_cabling_port_plan *port);

static inline const char *triad_cabling_plan_text(
	const struct triad_cabling_plan *plan, uint32_t at)
{
	return plan->text + at;
}

#endif
