/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* QoS tables: the policy's setup put into force, and looked at.
 *
 * Model: whoever has read a policy offers its setup.  One that would cut the SM off
 * from hosts, or close a credit loop, is refused, and the last one stays (guard.h).  The setup in force is programmed in
 * OpenSM's QoS pass (pass.h), of which there is one in each heavy sweep and reroute; a
 * pass works with one setup from its beginning to its end.  When there is none any
 * more, the hooks stay until a pass has found OpenSM's own tables everywhere; without a
 * setup from the start there are never any hooks.
 *
 * When a sweep is through, what should be is compared with what the SM knows to be.  If
 * that differs, OpenSM is asked for another heavy sweep, once for the same differences:
 * a setup that came too late for its sweep is in force soon, and a switch that refuses
 * a table does not keep the SM sweeping.  What still differs then is told, and counted.
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
	TRIAD_TABLES_NO_SETUP,  /* wanted, but the policy has none */
	TRIAD_TABLES_NO_QOS,    /* OpenSM runs without QoS */
	TRIAD_TABLES_WAITING,   /* for a sweep */
	TRIAD_TABLES_STANDBY,   /* another SM is master: its part; of a status alone */
	TRIAD_TABLES_IN_FORCE,  /* everywhere */
	TRIAD_TABLES_DIFFERENT, /* some tables are not what they should be */
	TRIAD_TABLES_ENGINE,    /* in force, as far as the routing engine lets them */
	TRIAD_TABLES_REFUSED,   /* they would cut the SM off */
	TRIAD_TABLES_REFUSED_LOOP, /* they would close a credit loop */
	TRIAD_TABLES_NO_MEMORY,
	TRIAD_TABLES_N_STATES
};

/* What the guard says of a setup. */
enum triad_tables_refusal {
	TRIAD_TABLES_PASSES,
	TRIAD_TABLES_CUTS_OFF,
	TRIAD_TABLES_CLOSES_LOOP,
};

struct triad_tables_status {
	enum triad_tables_state state;
	uint64_t n_passes;                    /* in which Triad had a say */
	struct triad_tables_pass_counts last; /* pass */
	uint64_t n_sweeps_asked;              /* that OpenSM was asked for */
	uint64_t n_refused;                   /* setups */
	bool refused;                      /* the last one: what is in force is older */
	enum triad_tables_refusal refusal; /* why */
	/* Why it is not known whether what is in force closes a credit loop; NULL: it
	 * is, or it need not be. */
	const char *unlooked;
	/* Of the last review: */
	uint64_t n_different; /* tables that are not what they should be */
	uint32_t n_different_ports;
	uint32_t n_findings, n_errors;
	uint64_t n_dead_places; /* setup_plan.h */
	uint64_t n_unlike;  /* tables that ports answered otherwise, when last asked */
	uint64_t review_us; /* that it took */
};

/* NULL: no memory. */
struct triad_tables *triad_tables_new(
	struct osm_opensm *osm, struct triad_recorder *recorder, struct triad_log *log);
void triad_tables_free(struct triad_tables *tables); /* accepts NULL */

/* In words: "in force", ... */
const char *triad_tables_state_name(enum triad_tables_state state);

/* What there is, and what is wanted. */
struct triad_tables_wish {
	struct triad_policy *policy; /* the last good one; NULL: none */
	bool desired;                /* its tables */
	bool guarded;                /* tables that the guard stops are refused */
	struct triad_fabric *fabric; /* the last one; NULL: none yet */
	bool is_settled;             /* that is what a sweep found that is through */
	/* How many sweeps have begun, and had when the fabric was taken. */
	const atomic_ulong *sweeps;
	unsigned long n_sweeps;
};

/* Puts another policy's setup into force, or looks whether the one in force is
 * everywhere.  Blocks as long as a plan takes. */
void triad_tables_see_to(
	struct triad_tables *tables, const struct triad_tables_wish *wish);

/* Has OpenSM make a heavy sweep; false: it is not the master. */
bool triad_tables_ask_for_sweep(struct triad_tables *tables);

/* Ports were asked for their tables, and so many are not what they should be. */
void triad_tables_note_read_back(struct triad_tables *tables, uint64_t n_unlike);

/* The setup in force, with a reference, or NULL. */
struct triad_setup *triad_tables_setup(struct triad_tables *tables);

struct triad_tables_status triad_tables_status(struct triad_tables *tables);

/* --- in the SM's thread, none of its locks held --- */

void triad_tables_note_sweep(struct triad_tables *tables);  /* a heavy sweep begins */
void triad_tables_note_routed(struct triad_tables *tables); /* a pass may be over */

#endif
