/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* QoS tables: puts the policy's setup into force, and checks that it is.
 *
 * Model: triad-qos offers the setup of each new policy.  A setup that would cut the SM
 * off from hosts, or close a credit loop, is refused, and the last one stays (guard.h).
 * The setup in force is programmed in OpenSM's QoS pass (pass.h), of which there is one
 * in each heavy sweep and reroute; a pass uses one setup from beginning to end.  When
 * the setup is removed, the hooks stay until a pass has found OpenSM's own tables
 * everywhere.  Without a setup from the start there are no hooks.
 *
 * After a sweep, triad-qos compares the desired tables with those that the SM knows.
 * If they differ, it asks OpenSM for another heavy sweep, but only once for the same
 * differences.  So a setup that came too late for a sweep is soon in force, and a
 * switch that refuses a table does not keep the SM sweeping.  Tables that still differ
 * then are reported and counted.
 *
 * Threads: triad_tables_note_*() in the SM's thread; offers and reviews in triad-qos;
 * status anywhere.  Locks: 'lock', held for pointers and numbers. */
#ifndef TRIAD_PLUGIN_QOS_TABLES_TABLES_H
#define TRIAD_PLUGIN_QOS_TABLES_TABLES_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "plugin/qos/tables/pass.h"
#include "qos/setup/setup_plan.h"
#include "service/recorder.h"
#include "triad/log.h"

struct triad_tables;

enum triad_tables_state {
	TRIAD_TABLES_OFF,       /* OpenSM's tables */
	TRIAD_TABLES_NO_SETUP,  /* enabled, but the policy has no setup */
	TRIAD_TABLES_NO_QOS,    /* OpenSM runs without QoS */
	TRIAD_TABLES_WAITING,   /* for a sweep */
	TRIAD_TABLES_STANDBY,   /* another SM is master and does it; only in a status */
	TRIAD_TABLES_IN_FORCE,  /* everywhere */
	TRIAD_TABLES_DIFFERENT, /* some tables differ from the desired ones */
	TRIAD_TABLES_ENGINE,    /* in force, as far as the routing engine lets them */
	TRIAD_TABLES_REFUSED,   /* they would cut the SM off */
	TRIAD_TABLES_REFUSED_LOOP, /* they would close a credit loop */
	TRIAD_TABLES_NO_MEMORY,
	TRIAD_TABLES_N_STATES
};

/* The guard's verdict on a setup. */
enum triad_tables_refusal {
	TRIAD_TABLES_PASSES,
	TRIAD_TABLES_CUTS_OFF,
	TRIAD_TABLES_CLOSES_LOOP,
};

struct triad_tables_status {
	enum triad_tables_state state;
	uint64_t n_loads;  /* of the policy: the goal's when it was last seen to */
	uint64_t n_passes; /* in which Triad's hooks took part */
	struct triad_tables_pass_counts last; /* pass */
	uint64_t n_sweeps_asked;              /* sweeps that OpenSM was asked for */
	uint64_t n_refused;                   /* setups */
	bool refused;                      /* the last one: what is in force is older */
	enum triad_tables_refusal refusal; /* why */
	/* Why it is not known whether the setup in force closes a credit loop; NULL: it
	 * is known, or does not matter. */
	const char *unlooked;
	/* Of the last review: */
	uint64_t n_different; /* tables that differ from the desired ones */
	uint32_t n_different_ports;
	uint32_t n_findings, n_errors;
	uint64_t n_dead_places; /* setup_plan.h */
	uint64_t n_unlike;  /* tables that differed when the ports were last asked */
	uint64_t review_us; /* how long it took */
};

/* NULL: no memory. */
struct triad_tables *triad_tables_new(
	struct osm_opensm *osm, struct triad_recorder *recorder, struct triad_log *log);
void triad_tables_free(struct triad_tables *tables); /* accepts NULL */

/* The state in words: "in force", ... */
const char *triad_tables_state_name(enum triad_tables_state state);

/* The policy, the settings and the fabric to apply it to. */
struct triad_tables_goal {
	struct triad_policy *policy; /* the last good one; NULL: none */
	uint64_t n_loads;            /* of its file until then */
	bool is_enabled;             /* its tables are to be in force */
	bool guarded;                /* refuse setups that the guard stops */
	struct triad_fabric *fabric; /* the last one; NULL: none yet */
	bool is_settled;             /* the fabric is from a sweep that has finished */
	/* The number of sweeps that have begun, and that had begun when the fabric was
	 * copied. */
	const atomic_ulong *sweeps;
	unsigned long n_sweeps;
};

/* Puts a new policy's setup into force, or checks whether the present one is in force
 * everywhere.  Blocks for the time that a plan takes. */
void triad_tables_see_to(
	struct triad_tables *tables, const struct triad_tables_goal *goal);

/* Records the result of reading tables from ports: 'n_unlike' differ from the desired
 * ones. */
void triad_tables_note_read_back(struct triad_tables *tables, uint64_t n_unlike);

/* The setup in force, with a reference, or NULL. */
struct triad_setup *triad_tables_setup(struct triad_tables *tables);

/* Of what was seen to: triad_qos_tables_status() knows of later policies, too. */
struct triad_tables_status triad_tables_status(struct triad_tables *tables);

/* --- in the SM's thread, none of its locks held --- */

void triad_tables_note_sweep(struct triad_tables *tables);  /* a heavy sweep begins */
void triad_tables_note_routed(struct triad_tables *tables); /* a pass may be over */

#endif
