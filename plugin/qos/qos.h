/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* QoS: from a fabric and a policy to the answer snapshot (qos_snapshot.h).
 *
 * Model: the plugin's worker hands over each new fabric; the thread triad-qos builds
 * paths from it, reads the policy's file when it changed, compiles the policy for that
 * fabric and gives both to the server (server.h) as one answer snapshot. Until there is
 * one, and when it can't be made, OpenSM answers by itself.
 *
 * A policy's file is looked at when the SM begins a heavy sweep, and at 'reload'.  One
 * with mistakes changes nothing: the last good policy stays; if there was none, OpenSM
 * answers.
 *
 * What OpenSM reports in mid-sweep marks the paths in use (paths.h); marks that come
 * between a snapshot and its being in use mark all of it, until the next one.
 *
 * Lock order: 'lock', held for pointers and status; those of policy_source.h are taken
 * with none of the others held.  OpenSM's lock: not here. */
#ifndef TRIAD_PLUGIN_QOS_QOS_H
#define TRIAD_PLUGIN_QOS_QOS_H

#include <stdbool.h>

#include "ib/path_table.h"
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
	TRIAD_QOS_STANDBY, /* another SM is master, and answers; of a status alone */
	TRIAD_QOS_ANSWERING,
	TRIAD_QOS_BROKEN,    /* the policy has mistakes, and there was none before */
	TRIAD_QOS_TOO_LARGE, /* the policy can't be compiled for this fabric */
	TRIAD_QOS_NO_MEMORY,
	TRIAD_QOS_REFUSED, /* this OpenSM is not laid out as it must be */
	TRIAD_QOS_N_STATES,
};

struct triad_qos_status {
	enum triad_qos_state state;
	bool has_policy;
	char policy[TRIAD_CONF_PATH_SIZE]; /* the file; "" when there is none */
	uint32_t n_rules, n_levels, n_groups;
	uint64_t loaded_wall_us; /* the policy in force */
	uint64_t generation;     /* of the snapshot */
	uint64_t built_us;       /* what building it took */
	uint64_t octets;         /* paths and compiled policy */
	uint64_t n_loads, n_failed_loads;
	bool has_failed; /* the last load: the policy is the one before */
	/* The first mistake of it, or "". */
	char why[TRIAD_POLICY_WHY_SIZE];
	bool is_refused; /* the policy read last, whole: the guard stops its tables */
	bool is_edited;  /* its file, since it was read */
	struct triad_qos_server_status server;
};

/* 'n_threads' answer, once it is enabled; 'sampler' and 'hold' are as in server.h.
 * 'recorder' is told when policy, answers or tables are in another state.
 * NULL: no memory or threads. */
struct triad_qos *triad_qos_new(struct osm_opensm *osm, unsigned n_threads,
	struct triad_sampler *sampler, struct triad_hold *hold,
	struct triad_recorder *recorder, struct triad_log *log);

/* After OpenSM has unbound its SA. */
void triad_qos_free(struct triad_qos *qos);

/* Puts [qos] into force; returns at once. */
void triad_qos_configure(struct triad_qos *qos, const struct triad_conf *conf);

/* Reads the policy's file now; from any thread.  Returns 0 or an errno, with every
 * mistake in 'diags', which it initialises; then the last good one stays. */
int triad_qos_load(struct triad_qos *qos, struct triad_diags *diags);

/* True while a fabric is wanted as soon as routing is done. */
bool triad_qos_wants_fabric(struct triad_qos *qos);

/* True, once, when a fabric is wanted because aliases have moved. */
bool triad_qos_take_outdated(struct triad_qos *qos);

/* How things stand when the copy of a fabric begins, for triad_qos_set_fabric(). */
struct triad_qos_moment {
	unsigned long sweeps, marks;
};
struct triad_qos_moment triad_qos_now(struct triad_qos *qos);

/* How far the sweep is of which a fabric was copied. */
enum triad_qos_phase {
	TRIAD_QOS_ROUTED, /* switches have their forwarding tables */
	TRIAD_QOS_LATE,   /* that was long ago, and it has not ended */
	TRIAD_QOS_UP,     /* it is through */
};

/* A new fabric; its copy was begun at 'before'. */
void triad_qos_set_fabric(struct triad_qos *qos, struct triad_fabric *fabric,
	const struct triad_qos_moment *before, enum triad_qos_phase phase);

/* This SM is not the master any more: what it knows grows old. */
void triad_qos_forget_fabric(struct triad_qos *qos);

/* --- for agents: the functions of struct triad_path_source; any thread --- */

bool triad_qos_paths_now(struct triad_qos *qos, uint64_t *generation);
int triad_qos_paths_make(struct triad_qos *qos, uint64_t generation, uint64_t guid,
	struct triad_path_table **table);

/* --- from OpenSM's report(), with its locks held: some hundred nanoseconds each --- */

void triad_qos_note_sweep(struct triad_qos *qos);      /* a heavy sweep begins */
void triad_qos_note_discovered(struct triad_qos *qos); /* it has found its nodes */
void triad_qos_note_routed(struct triad_qos *qos); /* one has routed, or a reroute */
void triad_qos_note_up(struct triad_qos *qos);     /* it is through */
/* This process was stopped: what it knows of the fabric may be old. */
void triad_qos_note_pause(struct triad_qos *qos);
void triad_qos_note_port(struct triad_qos *qos, uint64_t guid);
void triad_qos_note_route(struct triad_qos *qos, uint64_t node_guid, unsigned block);

/* --- for commands --- */

struct triad_qos_status triad_qos_status(struct triad_qos *qos);

/* In words: "answering", "waiting for the subnet to come up", ... */
const char *triad_qos_state_name(enum triad_qos_state state);

/* What is wrong with the policy read last, and what to do; NULL: nothing. */
const char *triad_qos_problem(const struct triad_qos_status *status);

/* What answers follow from at present, with a reference; NULL: there is none. */
struct triad_qos_snapshot *triad_qos_snapshot(struct triad_qos *qos);

/* What the SM has found, with a reference; NULL: nothing yet. */
struct triad_fabric *triad_qos_fabric(struct triad_qos *qos);

/* The policy that is loaded, with a reference; NULL: none. */
struct triad_policy *triad_qos_policy(struct triad_qos *qos);

struct triad_tables *triad_qos_tables(struct triad_qos *qos);

/* NULL: it was never enabled. */
const struct triad_clients *triad_qos_clients(struct triad_qos *qos);

#endif
