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
	struct triad_elector *elector;
	struct triad_route_checker *routes;
	struct triad_recorder *recorder;
	struct triad_log *log;
	struct triad_smp *smp;

	atomic_int mode, error;
	atomic_bool is_configuring; /* OpenSM writes tables */
	atomic_uint n_discoveries;  /* of OpenSM's, that have ended */

	pthread_mutex_t lock; /* of what follows, held for a copy */
	struct triad_task task;
	struct triad_ring ring;
	struct reroute_trap queue[REROUTE_N_TRAPS];
	struct triad_rerouter_status counts;
	struct triad_reroute kept[TRIAD_REROUTE_N_KEPT];
	size_t n_kept, next_kept;

	/* Of the thread alone. */
	struct reroute_recent recent[REROUTE_N_RECENT]; /* the last losses worked on */
	size_t n_counted;
	struct reroute_trap
		looks[REROUTE_N_LOOKS]; /* the last of senders, by their LID */
	uint64_t second_us;             /* that 'n_looks' are of */
	unsigned n_looks;
	uint64_t generation; /* of the fabric that 'handled' is about */
	bool *handled; /* ports of that fabric whose loss was worked on; or NULL */
	uint32_t n_handled;
};

/* A loss in work. */
struct reroute_loss {
	struct triad_rerouter *rerouter;
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

/* --- reroute_write.c --- */

/* Writes the plan.  Fills the report's outcome, reason and counts. */
void reroute_write(struct reroute_loss *loss, const struct triad_routes_repair *repair);
/* Why nothing may be written now; NULL: it may. */
const char *reroute_forbids(const struct reroute_loss *loss);

#endif
