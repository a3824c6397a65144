/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Audits: reads from devices what OpenSM wrote there, and compares it with what OpenSM
 * wants (wishes.h).
 *
 * Model: all blocks in which OpenSM wants something are read, at most so many a second.  What
 * differs is read once more while no sweep is under way and OpenSM waits for no answer, and
 * is compared with what OpenSM wants then.  A difference counts when both readings show it,
 * OpenSM wanted the same both times, and no sweep began in between.
 *
 * Nothing is passed over in silence: where OpenSM wants nothing, or what it wants is not
 * known, blocks are counted.
 *
 * With audit.period, the thread triad-audit does so again and again while this SM is master.
 *
 * Invariant: what an audit found is known in the mastership in which the audit began, and at no
 * other time.  A mastership begins with the SM's first sweep as master, and so again when another
 * master hands its part of the fabric over; in this sweep nothing is known.
 *
 * Thread-safety: any thread, for all but new, stop and free.  One audit runs at a time; it
 * blocks whoever asks for it.
 * Memory: TRIAD_AUDIT_MAX differences. */
#ifndef TRIAD_PLUGIN_AUDIT_AUDITOR_H
#define TRIAD_PLUGIN_AUDIT_AUDITOR_H

#include "audit/audit.h"
#include "ib/node_choice.h"
#include "plugin/audit/other_sms.h"

struct triad_audit_repair;
struct triad_auditor;
struct triad_conf;
struct triad_found;
struct triad_plugin;

/* Of more, the rest is left out: the fabric is not the one that OpenSM knows. */
#define TRIAD_AUDIT_MAX 100000u
#define TRIAD_AUDIT_MAX_NAMED 16u
#define TRIAD_AUDIT_SMPS_PER_S 10000u

struct triad_audit_result {
	struct triad_audit_difference *differences; /* sorted */
	size_t n, room;
	struct triad_fabric *fabric; /* in which they are */
	uint64_t n_read, n_unread;   /* blocks */
	/* Blocks of ports that OpenSM no longer has so, or for which it has not decided:
	 * what it wants there is not known. */
	uint64_t n_undecided;
	/* Of multicast tables, 16 ports of a LID each: its tree is not known (trees.h).  And LIDs
	 * whose trees the routing engine does not keep. */
	uint64_t n_trees_undecided;
	uint32_t n_trees_not_kept;
	/* Blocks that devices have, and in which OpenSM wants nothing. */
	uint64_t n_left[TRIAD_AUDIT_N_KINDS];
	uint32_t n_ports, n_down; /* ports that were looked at; without a link */
	uint64_t n_not_taken;     /* settings that devices do not take (wishes.h) */
	uint32_t n_silent;        /* devices that did not answer */
	/* GUIDs of the first ones' nodes, and whether they answer by directed route: then a
	 * table on the way to their LIDs is wrong. */
	uint64_t silent[TRIAD_AUDIT_MAX_NAMED];
	bool is_there[TRIAD_AUDIT_MAX_NAMED];
	struct triad_audit_sms sms;
	bool is_short; /* memory, or TRIAD_AUDIT_MAX */
	/* Why no QoS tables were looked at; NULL: they were. */
	const char *no_qos;
	bool has_unknown_qos; /* OpenSM wants some, but which is not known */
	uint64_t took_us;
};

struct triad_audit_request {
	struct triad_fabric *fabric;
	const struct triad_node_choice *choice;  /* NULL: all */
	const struct triad_audit_repair *repair; /* by repair.h; NULL: none */
	unsigned smps_per_s, batch;              /* batch: at most 256 */
	uint64_t spread_us;                      /* how long to take at least */
	/* Called often; false: stop.  'n_done' of 'n_all' blocks. */
	bool (*goes_on)(void *context, uint64_t n_done, uint64_t n_all);
	void *context;
	const char *by; /* who asks for it */
};

/* Of audits of all devices, whoever asked for them. */
struct triad_audit_status {
	unsigned period_s; /* audit.period */
	bool may_repair;   /* audit.repair */
	uint64_t n_done, n_failed;
	/* Of the last one that was done in this mastership; 'ended_us' 0: none, or this SM
	 * is not master. */
	uint64_t ended_us, took_us, n_read;
	uint64_t n_unread; /* or for which OpenSM had not decided */
	uint32_t n_silent;
	bool is_partial; /* the rest of it is not known either: memory, QoS tables */
	char by[64];
	size_t n, n_of[TRIAD_AUDIT_N_KINDS];  /* differences */
	struct triad_audit_difference oldest; /* if there are some */
};

/* NULL when memory is short. */
struct triad_auditor *triad_auditor_new(struct triad_plugin *plugin);
/* Ends the thread, in a second.  Accepts NULL. */
void triad_auditor_stop(struct triad_auditor *auditor);
/* After the stop, and when nobody asks for findings any more.  Accepts NULL. */
void triad_auditor_free(struct triad_auditor *auditor);

/* Applies [audit]. */
void triad_auditor_configure(
	struct triad_auditor *auditor, const struct triad_conf *conf);

/* From report() of HEAVY_SWEEP_START: never blocks. */
void triad_auditor_note_sweep(struct triad_auditor *auditor);

struct triad_audit_status triad_auditor_status(struct triad_auditor *auditor);

/* The status, and a copy of the first 'max' differences that the last audit found, sorted;
 * the caller frees it.  Returns 0 or ENOMEM. */
int triad_auditor_last(struct triad_auditor *auditor, size_t max,
	struct triad_audit_status *status, struct triad_audit_difference **differences);

/* Adds what differs to an alert's findings (perfmgr/watch/finders.h). */
void triad_auditor_give(void *auditor, struct triad_found *found);

/* Why this SM may write nothing into devices; NULL: it may. */
const char *triad_auditor_forbids(struct triad_auditor *auditor);

/* Runs an audit; one that nobody waits for is broken off, and begins anew afterwards.
 * Returns 0; EBUSY: another one is running; EAGAIN: sweeps came between each
 * time, so that 'n' differences are not known to be some; ECANCELED; or an errno.  The
 * caller clears the result in each case. */
int triad_auditor_run(struct triad_auditor *auditor,
	const struct triad_audit_request *request, struct triad_audit_result *result);
void triad_audit_result_clear(struct triad_audit_result *result);

#endif
