/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Detects when this SM does not do its work.
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
 *                      received for half a minute; OpenSM normally gives up an SMP
 *                      within seconds
 *     sweeps often     heavy sweeps have begun at least SWEEPS_OFTEN times a second for
 *                      half a minute: something that OpenSM reports or is asked makes
 *                      it begin again
 *
 * A standby that does not sweep has no trouble.  Time during which the process was
 * stopped does not count.
 *
 * Help (plugin/sm_recover.h), where there is one, is due when a trouble begins, and again each minute.
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
	TRIAD_SM_SWEEPS_OFTEN,
	TRIAD_SM_N_TROUBLES
};

struct triad_sm_sight {
	uint64_t now_us;
	bool is_master, is_sweeping; /* a heavy sweep has begun, and has not finished */
	bool waits;                  /* for the other master to hand over */
	uint64_t other_master;       /* port GUID; 0: none */
	uint32_t n_outstanding;      /* SMPs not yet sent or not yet answered */
	uint32_t n_sweeps;           /* heavy ones begun since the start; it may wrap */
	uint32_t n_smps; /* sent and received since the start; it may wrap */
};

struct triad_sm_watch {
	struct triad_sm_sight last;
	uint64_t lasted_us[TRIAD_SM_N_TROUBLES]; /* for how long the state has
						  * lasted; 0: it is absent */
	uint64_t longest_sweep_us;               /* of the sweeps that finished */
	bool is_raised[TRIAD_SM_N_TROUBLES];
	/* Heavy sweeps are counted for some seconds each time. */
	uint64_t counted_us;                     /* since when; 0: not yet */
	uint32_t counted_n;                      /* n_sweeps then */
	uint32_t sweeps_10s;                     /* in ten seconds, as counted last */
	uint64_t helped_us[TRIAD_SM_N_TROUBLES]; /* when help was given last; 0: not
						  * since the trouble was raised */
};

/* Adds what is seen now; a watch begins as zeros.  Returns the troubles that begin or
 * end with it: bit i stands for trouble i. */
uint32_t triad_sm_watch_look(
	struct triad_sm_watch *watch, const struct triad_sm_sight *sight);

/* Whether help for this trouble is due now; if true, the caller must help: it counts as
 * given. */
bool triad_sm_watch_is_due(struct triad_sm_watch *watch, enum triad_sm_trouble trouble);

/* Writes what is wrong, why that matters and what to do, as a sentence without its full
 * stop; or, for a trouble that ended, that it is over. */
void triad_sm_watch_text(const struct triad_sm_watch *watch,
	enum triad_sm_trouble trouble, char *text, size_t size);

/* Writes the present troubles in a few words, for tables; "" if there are none. */
void triad_sm_watch_summary(
	const struct triad_sm_watch *watch, char *text, size_t size);

#endif
