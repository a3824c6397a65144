/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Whether this SM does its work.
 *
 * Model: the worker looks at OpenSM a few times a second.  A state that lasts longer
 * than it normally does is a trouble, until it ends:
 *
 *     two masters      another SM is master, too: this one hands over or waits for a
 *                      hand-over, and none of its sweeps succeeds; normal for seconds
 *                      when parts of a fabric are joined
 *     sweep unended    a heavy sweep has begun, and the subnet is not up after a
 *                      minute, or after three times the longest sweep before
 *     no answers       OpenSM waits for answers to SMPs, and nothing has been sent or
 *                      received for half a minute; every SMP is answered or given up
 *                      within seconds
 *
 * A standby that sweeps nothing has none.  Time in which the process was stopped does not
 * count.
 *
 * Each trouble is due for help when it begins and each minute from then on
 * (plugin/sm_recover.h).
 *
 * Thread-safety: none; pure. */
#ifndef TRIAD_PLUGIN_SM_WATCH_H
#define TRIAD_PLUGIN_SM_WATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum triad_sm_trouble {
	TRIAD_SM_TWO_MASTERS,
	TRIAD_SM_SWEEP_UNENDED,
	TRIAD_SM_NO_ANSWERS,
	TRIAD_SM_N_TROUBLES
};

struct triad_sm_sight {
	uint64_t now_us;
	bool is_master, is_sweeping; /* a heavy sweep has begun, and is not through */
	bool waits;                  /* for the other master to hand over */
	uint64_t other_master;       /* port GUID; 0: none */
	uint32_t n_outstanding;      /* SMPs that are to be sent or answered */
	uint32_t n_smps; /* sent and received since the start; it may wrap */
};

struct triad_sm_watch {
	struct triad_sm_sight last;
	uint64_t lasted_us[TRIAD_SM_N_TROUBLES]; /* 0: is not so */
	uint64_t longest_sweep_us;               /* that came through */
	bool is_raised[TRIAD_SM_N_TROUBLES];
	uint64_t helped_us[TRIAD_SM_N_TROUBLES]; /* last; 0: not since it was raised */
};

/* Adds what is seen now to a watch that began as zeros.  Returns what began to be a
 * trouble or is over with this, bit i: trouble i. */
uint32_t triad_sm_watch_look(
	struct triad_sm_watch *watch, const struct triad_sm_sight *sight);

/* Whether this trouble is due for help now; true counts as help given. */
bool triad_sm_watch_is_due(struct triad_sm_watch *watch, enum triad_sm_trouble trouble);

/* What is wrong, why that matters and what to do, as a sentence without its full stop;
 * what is over says so. */
void triad_sm_watch_text(const struct triad_sm_watch *watch,
	enum triad_sm_trouble trouble, char *text, size_t size);

/* For tables: the troubles in a few words, or "". */
void triad_sm_watch_summary(
	const struct triad_sm_watch *watch, char *text, size_t size);

#endif
