/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Judges the bit error rate (BER) of a link by statistics: worse than its target, good,
 * or not enough data yet.
 *
 * Model: a link carries bits all the time, idle symbols too, so a reading is a count of
 * errors and the time that the link was up, at its signalling rate
 * (triad_link_rate_signal_bps()).  An error is one count of a counter.  A FEC block
 * that was not corrected has several wrong bits, so the BER that its counter gives is a
 * lower bound.  Errors are taken to be independent: their count is a Poisson variable.
 *
 * Worse: the procedure of Shiryaev (1963) and Roberts (1966) for one 'k' keeps
 *
 *     R = (R + m) k^n e^(-(k - 1) m)
 *
 * after each reading of n errors where m are expected at the target.  R sums the
 * likelihood ratio of "k times the target since then" to "target", over all moments at
 * which that may have begun.  The update is linear in R, so the mean of R over several
 * k works as well, and no k must be chosen.  Evidence is that mean, over k = 2, 4, 16,
 * 64.
 *
 * At any BER up to the target, evidence less the errors expected so far is a
 * supermartingale.  So Doob's inequality gives an exact bound, for readings of any
 * length.  With the alarm at as many errors as are expected in 'false_alarm_s' of link
 * time,
 *
 *     P(a false alarm within t) <= t / false_alarm_s        [Pollak: Average run
 *     lengths..., 1987; Shin, Ramdas, Rinaldo: E-detectors, 2023, 2]
 *
 * and false alarms are at least false_alarm_s apart on average.  In practice they are
 * some three times as far apart, because evidence jumps past the threshold.  An
 * administrator of 100,000 links who accepts one false alarm a year gives 100,000 years
 * (triad_ber_false_alarm_s()).  A test by Wald that starts anew after each acceptance
 * has no such bound in closed form; Page's CUSUM (Lucas 1985) needs one k, and tables
 * for its run lengths.  tests/sim/ber_trials compares it with fixed windows.
 *
 * Bursts: one event may damage thousands of bits.  So one reading multiplies the
 * evidence by 'most' at most.  With that factor, fewer than 'n_readings' readings with
 * errors never decide from a clean state, however many errors they have; that is exact,
 * too.  An event may lie across two readings, so n_readings is 3 by default.  The cap
 * only lowers evidence, so the bound above holds.  It costs time on a link so bad that
 * one reading would do.  A link with single bursts far apart is not found worse, though
 * its average BER may be: counters of lost packets must show that.  Bursts that recur
 * within the memory, about 1 / (BER x bps) at the target, do decide.  With n_readings 1
 * errors count as independent.
 *
 * Good: at the target or above, so few errors in the recent span would have a chance
 * below TRIAD_BER_ERROR_PROBABILITY.  The test is Chernoff's bound (1952): it needs
 * little more data than the exact interval, and one logarithm.  It holds for each look,
 * not for all looks together.  The recent span covers TRIAD_BER_SPAN to twice as many
 * errors expected at the target; older readings are dropped.  A link near its target
 * may stay neither good nor worse for ever.
 *
 * A worse link stays so until readings after the alarm show it good again.
 *
 * Hard cases: after a reset, or with a saturated counter, a reading is a lower bound
 * ('is_least'): it is evidence for worse, and the recent span begins anew.  A gap
 * is one long reading.  Splitting a reading in two changes R by a factor between
 * (R + m1) / (R + m) and e^((k - 1) m1), m1 the first part's m; readings that expect
 * a thousandth of an error or less are as good as continuous ones.  When the link went
 * down or changed its rate, triad_ber_begin() forgets all.
 *
 * Thread-safety: none; the caller excludes writers.  Memory: 96 octets a link, nothing
 * behind pointers.  Time: O(1) a reading; four exp2(). */
#ifndef TRIAD_PERFMGR_BER_H
#define TRIAD_PERFMGR_BER_H

#include <stdbool.h>
#include <stdint.h>

#include "ib/ber_target.h"

#define TRIAD_BER_N_RATIOS 4u
#define TRIAD_BER_SPAN 100.0
#define TRIAD_BER_ERROR_PROBABILITY 0.001
#define TRIAD_BER_N_READINGS 3u

/* --- the test --- */

/* The parameters that links of one rate share. */
struct triad_ber_test {
	double target; /* BER */
	double bps;    /* bits the link carries in a second */
	double alarm;  /* evidence that decides */
	double most;   /* a reading multiplies evidence by no more */
};

/* Prepares a test: 'target' above 0, 'bps' above 0, false alarms at least
 * 'false_alarm_s' of link time apart on average, no decision by fewer than 'n_readings'
 * readings with errors (1-100).  Returns 0, or EINVAL when one is out of range or the
 * target expects less than one error in false_alarm_s. */
int triad_ber_test_init(struct triad_ber_test *test, double target, double bps,
	double false_alarm_s, unsigned n_readings);

/* For 'per_year' false alarms a year, on average at most, among 'n_links' links. */
double triad_ber_false_alarm_s(uint64_t n_links, double per_year);

/* --- a link --- */

enum triad_ber_verdict {
	TRIAD_BER_UNDECIDED,
	TRIAD_BER_GOOD,
	TRIAD_BER_WORSE,
};

/* Errors, and the errors expected at the target, over some time. */
struct triad_ber_span {
	uint64_t errors;
	double expected;
};

/* All 0: nothing is known of the link. */
struct triad_ber {
	double evidence[TRIAD_BER_N_RATIOS];
	struct triad_ber_span recent[2]; /* the present span, and the one before */
	struct triad_ber_span episode;   /* since 'since_us' */
	uint64_t since_us; /* when evidence rose last; if worse: since when it is */
	uint8_t verdict;   /* enum triad_ber_verdict */
};

struct triad_ber_reading {
	uint64_t errors;  /* since the reading before */
	double seconds;   /* the link was up since then; above 0 */
	uint64_t from_us; /* when that time began, on the caller's clock */
	bool is_least;    /* there may have been more errors */
};

/* Forgets all: the link went down, or its rate or target changed. */
void triad_ber_begin(struct triad_ber *ber);

/* Adds a reading; one whose seconds are not a finite number above 0 is ignored.
 * Returns the verdict. */
enum triad_ber_verdict triad_ber_add(struct triad_ber *ber,
	const struct triad_ber_test *test, const struct triad_ber_reading *reading);

/* Adds time without errors, as if it had been read continuously: evidence becomes that
 * of a good link, however long the time is.  'seconds' above 0. */
enum triad_ber_verdict triad_ber_add_quiet(struct triad_ber *ber,
	const struct triad_ber_test *test, double seconds, uint64_t from_us);

struct triad_ber_estimate {
	double ber, low, high; /* the interval holds it with the confidence asked for */
	uint64_t errors;
	double bits;
};

/* Estimates the BER; of a worse link since it is worse, else over the recent span.  The
 * interval is exact for a span fixed beforehand.  That of a worse link begins where
 * errors began, so its estimate is a little high while it is short.  'confidence' is
 * above 0 and below 1.  Without data 'ber' is 0, 'high' infinite. */
struct triad_ber_estimate triad_ber_estimate(const struct triad_ber *ber,
	const struct triad_ber_test *test, double confidence);

/* Seconds of link time until an undecided link is good or worse, if errors go on as in
 * the recent span.  Infinite when it never will be; 0 when it is decided. */
double triad_ber_remaining_s(
	const struct triad_ber *ber, const struct triad_ber_test *test);

#endif
