/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The rerouter's state and a loss that it works on, for its files alone. */
#ifndef TRIAD_PLUGIN_REROUTE_PARTS_H
#define TRIAD_PLUGIN_REROUTE_PARTS_H

#include "plugin/opensm.h"

#include <pthread.h>
#include <stdatomic.h>

#include "ib/route.h"
#include "lib/ring.h"
#include "lib/task.h"
#include "plugin/ports/smp.h"
#include "plugin/reroute/rerouter.h"
#include "routes/repair.h"
#include "routes/repair_multicast.h"
#include "service/route_checker.h"

#define REROUTE_N_TRAPS 1024u
#define REROUTE_N_RECENT 8u
#define REROUTE_MAX_LINKS 254u /* of one switch */

#define REROUTE_N_LOOKS 64u

struct reroute_trap {
	uint64_t at_us;
	uint16_t lid;
};

struct reroute_recent {
	uint64_t at_us; /* 0: none */
	struct triad_reroute_link link;
};

struct triad_rerouter {
	struct osm_opensm *osm;
	struct triad_damper *damper;
	struct triad_qos *qos;
	struct triad_elector *elector;
	struct triad_route_checker *routes;
	struct triad_recorder *recorder;
	struct triad_log *log;
	struct triad_smp *smp;

	atomic_int mode, error;
	atomic_bool is_discovering; /* OpenSM reads the fabric, to sweep it */
	atomic_bool has_failed;     /* not all that it wrote before that was answered */
	atomic_bool is_configuring; /* OpenSM writes tables, or gave it up */
	atomic_uint n_discoveries;  /* of OpenSM's, that have ended */
	atomic_uint n_waiting;      /* multicast groups, for the end of its sweep */

	/* While blocks are written and answered: two threads do, and may want the same one. */
	pthread_mutex_t writing;

	pthread_mutex_t lock; /* of what follows, held for a copy */
	struct triad_task task;
	struct triad_ring ring;
	struct reroute_trap queue[REROUTE_N_TRAPS];
	struct triad_rerouter_status counts;
	/* The last ones: by their number, from 0 on, modulo the room. */
	struct triad_reroute kept[TRIAD_REROUTE_N_KEPT];

	/* Written by the thread, which reads it without the lock. */
	uint64_t generation; /* of the fabric that 'handled' is about */
	uint32_t n_handled;

	/* Of the thread alone. */
	struct reroute_recent recent[REROUTE_N_RECENT]; /* the last losses worked on */
	size_t n_counted;
	struct reroute_trap
		looks[REROUTE_N_LOOKS]; /* the last of senders, by their LID */
	uint64_t second_us;             /* that 'n_looks' are of */
	unsigned n_looks;
	bool *handled; /* ports of that fabric whose loss was worked on; or NULL */
};

/* A loss in work. */
struct reroute_loss {
	struct triad_rerouter *rerouter;
	struct triad_smp *smp;             /* the thread's */
	unsigned n_discoveries;            /* when the ports were read */
	struct triad_route_result *result; /* a reference */
	const struct triad_routes_check *check;
	const struct triad_fabric *fabric;
	uint32_t ports[REROUTE_MAX_LINKS]; /* an end of each link */
	struct triad_reroute *report;
};

static inline bool reroute_is_master(const struct triad_rerouter *rerouter)
{
	return triad_osm_peek(&rerouter->osm->subn.sm_state) == IB_SMINFO_STATE_MASTER;
}

/* --- reroute_find.c --- */

/* Reads which links of the switch, and of the one at the other end, are lost.  Fills the loss's
 * ports, of which 'n_links' may stay 0; NULL, or why it is left to OpenSM. */
const char *reroute_find(struct reroute_loss *loss, uint32_t node);

/* Routes that avoid what is lost, the link at 'port' and all links of the switch 'node'
 * (TRIAD_FABRIC_NONE: no other).  NULL: memory is short. */
struct triad_routes_out *reroute_find_routes(
	const struct reroute_loss *loss, uint32_t port, uint32_t node);

/* --- reroute_write.c: blocks of tables, step by step --- */

#define REROUTE_BLOCK_SIZE IB_SMP_DATA_SIZE

/* Of a block, in one step. */
struct reroute_place {
	uint16_t step;
	uint16_t
		rank; /* blocks of a low one are the first of a step; as of their number */
	uint32_t sw;     /* its number in the layout */
	uint32_t number; /* as the SMP's attribute modifier has it */
};

/* An entry of a table that a plan changes. */
struct reroute_entry {
	struct reroute_place at;
	uint32_t change; /* in the plan */
};

/* A block of a switch's table, in one step. */
struct reroute_block {
	struct reroute_place at;
	bool is_done; /* its switch answered with it, and OpenSM's copies have it */
	uint32_t first, n; /* its entries */
	uint8_t before
		[REROUTE_BLOCK_SIZE]; /* what OpenSM has, then what is to be there */
	uint8_t after[REROUTE_BLOCK_SIZE];
};

/* A kind of tables, and OpenSM's copies of it, which are touched under its lock alone. */
struct reroute_table {
	enum triad_smp_attribute attribute;
	/* Why nothing may be written now; NULL: it may. */
	const char *(*forbids)(const struct reroute_loss *loss);
	/* What all copies have; false: they differ, or the switch has no such block. */
	bool (*read)(const osm_switch_t *sw, uint32_t number, uint8_t *octets);
	/* The same in all copies. */
	void (*put)(osm_switch_t *sw, uint32_t number, const uint8_t *octets);
	/* Has OpenSM write the block when it writes tables the next time. */
	void (*make_void)(osm_switch_t *sw, uint32_t number);
	/* Changes an entry in 'octets'; false: it isn't what was planned from. */
	bool (*change)(const void *plan, const osm_switch_t *sw,
		const struct reroute_entry *entry, uint8_t *octets);
	/* Whether a switch that answers so has what was wanted; NULL: if it is the same. */
	bool (*is_taken)(const uint8_t *answer, const uint8_t *wanted);
};

struct reroute_writing {
	struct reroute_loss *loss;
	const struct reroute_table *table;
	const void *plan;
	struct reroute_entry *entries; /* then by step, rank, switch, block */
	uint32_t n_entries;
	/* Filled in: */
	struct reroute_block *blocks;
	uint32_t n_blocks, n_written;
	struct triad_smp_route *routes; /* of each switch of the layout */
	struct triad_smp_item *items;   /* of each block */
	bool has_begun;                 /* something was sent */
	const char *why_stopped;        /* in the middle of a step; NULL: it was not */
	bool must_sweep;
};

/* Writes the blocks of the entries, by the routes of 'out'; OpenSM's copies get them.  Returns
 * why not all was written, or NULL. */
const char *reroute_write_blocks(
	struct reroute_writing *writing, const struct triad_routes_out *out);
void reroute_writing_clear(struct reroute_writing *writing);

/* Why nothing may be written now; NULL: it may. */
const char *reroute_forbids(const struct reroute_loss *loss);

/* Of OpenSM's view, under its lock: the switch of that number in the layout, or NULL; whether
 * packets that leave by that port arrive somewhere. */
osm_switch_t *reroute_switch(const struct reroute_loss *loss, uint32_t sw);
bool reroute_carries(const osm_switch_t *sw, unsigned number);

#define REROUTE_NO_MEMORY "memory is short"
#define REROUTE_DIFFERS "OpenSM's tables or links are not those that were checked"

/* --- reroute_lft.c, reroute_mft.c --- */

/* Writes the plan.  Fills the report's outcome, reason and counts. */
void reroute_write_unicast(
	struct reroute_loss *loss, const struct triad_routes_repair *repair);
/* The same of groups; those that it leaves are left to OpenSM. */
void reroute_write_multicast(
	struct reroute_loss *loss, const struct triad_routes_repair_multicast *repair);
/* Why the group can't be connected again as a whole; NULL: it can. */
const char *reroute_group_why(const struct triad_routes_group_repair *group);

const char *reroute_forbids_mft(const struct reroute_loss *loss);

/* The same tables, for others than a repair: without its 'change'. */
extern const struct reroute_table reroute_lft;

/* --- reroute_top.c --- */

/* A switch that forwards multicast LIDs up to 'top' is to forward those up to 'last', the last one
 * of a block; 0: no more than it does. */
struct reroute_raise {
	uint16_t top, last;
	uint8_t n_positions;
};

/* The plan is an array of raises; a change is an index in it. */
extern const struct reroute_table reroute_tops;

/* Has it forward that LID, too.  Under OpenSM's lock. */
void reroute_raise_for(
	struct reroute_raise *raise, const osm_switch_t *sw, uint16_t mlid);

/* --- reroute_report.c --- */

/* Says what became of the loss: history, log, counts. */
void reroute_note(struct reroute_loss *loss);

#endif
