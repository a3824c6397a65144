/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* QoS: makes the answer snapshot (qos_snapshot.h) from a fabric and a policy.
 *
 * Model: the plugin's worker hands over each new fabric.  The thread triad-qos builds
 * paths from it, reads the policy's file when it changed, compiles the policy for that
 * fabric and gives both to the server (server.h) as one answer snapshot.  Without an
 * answer snapshot OpenSM answers all requests itself.  The thread is its own because a
 * large fabric takes it seconds; while all of [qos] is off, and no ports may be held, there
 * is none.
 *
 * triad-qos checks the policy's file when the SM begins a heavy sweep, and at 'reload'.
 * A file with mistakes changes nothing: the last good policy stays; if there was none,
 * OpenSM answers.
 *
 * Changes that OpenSM reports in mid-sweep mark paths of the snapshot in use (paths.h).
 * If such a report comes after a fabric was copied and before its snapshot is in use,
 * all paths of that snapshot are marked, until the next one.
 *
 * Lock order: 'lock', held for pointers and status; those of policy_source.h are taken
 * with none of the others held.  OpenSM's lock: not here. */
#ifndef TRIAD_PLUGIN_QOS_QOS_H
#define TRIAD_PLUGIN_QOS_QOS_H

#include <stdbool.h>

#include "plugin/qos/policy_source.h"
#include "plugin/qos/server.h"
#include "service/recorder.h"
#include "triad/conf.h"
#include "triad/diag.h"

struct osm_opensm;
struct triad_hold;
struct triad_log;
struct triad_qos;
struct triad_tables;

enum triad_qos_state {
	TRIAD_QOS_OFF,
	TRIAD_QOS_WAITING, /* for the subnet to come up */
	TRIAD_QOS_STANDBY, /* another SM is master, and answers; only in a status */
	TRIAD_QOS_ANSWERING,
	TRIAD_QOS_BROKEN,    /* the policy has mistakes, and there was no good one
			      * before */
	TRIAD_QOS_TOO_LARGE, /* the policy can't be compiled for this fabric */
	TRIAD_QOS_NO_MEMORY,
	TRIAD_QOS_REFUSED, /* this OpenSM's structures are not as expected */
	TRIAD_QOS_N_STATES,
};

struct triad_qos_status {
	enum triad_qos_state state;
	bool has_policy;
	char policy[TRIAD_CONF_PATH_SIZE]; /* the file; "" when there is none */
	uint32_t n_rules, n_levels, n_groups;
	uint64_t loaded_wall_us; /* the policy in force */
	uint64_t generation;     /* of the snapshot */
	uint64_t built_us;       /* how long building it took */
	uint64_t octets;         /* paths and compiled policy */
	uint64_t n_loads, n_failed_loads;
	bool has_failed; /* the last load failed: the policy is an earlier one */
	/* The first mistake of the last load, or "". */
	char why[TRIAD_POLICY_WHY_SIZE];
	bool is_refused; /* the guard refused the tables of the policy read last, so
			  * all of that policy */
	bool is_edited;  /* its file has changed since it was read */
	struct triad_qos_server_status server;
};

/* 'sampler' and 'hold' are as in server.h.  'recorder' receives changes of the state of policy, answers and tables.
 * NULL: no memory or threads. */
struct triad_qos *triad_qos_new(struct osm_opensm *osm, struct triad_sampler *sampler,
	struct triad_hold *hold, struct triad_recorder *recorder,
	struct triad_log *log);

/* After OpenSM has unbound its SA. */
void triad_qos_free(struct triad_qos *qos);

/* Applies [qos]; returns at once. */
void triad_qos_configure(struct triad_qos *qos, const struct triad_conf *conf);

/* Reads the policy's file now; any thread.  Returns 0 or an errno; then every mistake
 * is in 'diags', which it initialises, and the last good policy stays. */
int triad_qos_load(struct triad_qos *qos, struct triad_diags *diags);

/* True while QoS needs a fabric as soon as routing is done, before the sweep ends. */
bool triad_qos_wants_fabric(struct triad_qos *qos);

/* True, once, when QoS needs a new fabric because aliases have moved. */
bool triad_qos_take_outdated(struct triad_qos *qos);

/* The counters at the moment when the copy of a fabric begins, for
 * triad_qos_set_fabric(). */
struct triad_qos_moment {
	unsigned long sweeps, marks;
};
struct triad_qos_moment triad_qos_now(struct triad_qos *qos);

/* The phase of the sweep in which a fabric was copied. */
enum triad_qos_phase {
	TRIAD_QOS_ROUTED, /* switches have their forwarding tables */
	TRIAD_QOS_LATE,   /* routed long ago, but the sweep has not ended */
	TRIAD_QOS_UP,     /* the sweep has finished */
};

/* Hands over a new fabric; its copy began at 'before'. */
void triad_qos_set_fabric(struct triad_qos *qos, struct triad_fabric *fabric,
	const struct triad_qos_moment *before, enum triad_qos_phase phase);

/* This SM is no longer the master: its fabric becomes outdated. */
void triad_qos_forget_fabric(struct triad_qos *qos);

/* --- from OpenSM's report(), with its locks held: some hundred nanoseconds each --- */

void triad_qos_note_sweep(struct triad_qos *qos);      /* a heavy sweep begins */
void triad_qos_note_discovered(struct triad_qos *qos); /* it has found its nodes */
void triad_qos_note_routed(struct triad_qos *qos); /* one has routed, or a reroute */
void triad_qos_note_up(struct triad_qos *qos);     /* the sweep has finished */
/* This process was stopped: what it knows of the fabric may be old. */
void triad_qos_note_pause(struct triad_qos *qos);
void triad_qos_note_port(struct triad_qos *qos, uint64_t guid);
void triad_qos_note_route(struct triad_qos *qos, uint64_t node_guid, unsigned block);

/* --- for commands --- */

struct triad_qos_status triad_qos_status(struct triad_qos *qos);

/* The state in words: "answering", "waiting for the subnet to come up", ... */
const char *triad_qos_state_name(enum triad_qos_state state);

/* What is wrong with the policy read last, and what to do; NULL: nothing. */
const char *triad_qos_problem(const struct triad_qos_status *status);

/* The present answer snapshot, with a reference; NULL: there is none. */
struct triad_qos_snapshot *triad_qos_snapshot(struct triad_qos *qos);

/* The fabric that the SM has found, with a reference; NULL: none yet. */
struct triad_fabric *triad_qos_fabric(struct triad_qos *qos);

/* The policy that is loaded, with a reference; NULL: none. */
struct triad_policy *triad_qos_policy(struct triad_qos *qos);

struct triad_tables *triad_qos_tables(struct triad_qos *qos);
/* TRIAD_TABLES_WAITING as soon as a newer policy has been read. */
struct triad_tables_status triad_qos_tables_status(struct triad_qos *qos);

/* NULL: QoS was never enabled. */
const struct triad_clients *triad_qos_clients(struct triad_qos *qos);

#endif
