/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* What is done, one thing after the other, with a link between switches that is bad.
 *
 *     moving       it is held out of routing; it still may be in tables
 *     retraining   no table sends packets over it: it is taken down and up again
 *     testing      it is up and carries SMPs alone, which are counted, with errors at both ends; then
 *                  data, if there is a LID for that (heal/data_test.h)
 *     resting      its test was good; it is out for longer the more often it was bad
 *     probation    it is back; if it is bad again by what was read since, it is taken again
 *     stays out    its tests were bad, it can't be retrained, or it was bad again too often: until
 *                  somebody mends it; a link that was down for half a minute and is up again is
 *                  retrained
 *
 * A test may be bad though the link is good: errors end by themselves, and an SMP is lost elsewhere.
 * So a link that stays out is retrained and tested again, once each time, after a wait: as long as it
 * is out anyway, then twice as long each time, at most a day (or heal.out, if that is longer).  With
 * heal.out = 600 s that is at most 10 bounces in its first day, the three first ones among them, with
 * less at most 17, and then one a day; and three more when somebody mends it.  One link is tested
 * again at a time.  One that was bad again too often is not.
 *
 * A link that is better than none, as one that is merely slow, returns also when its tests were bad,
 * at once and without probation.
 *
 * Model: facts go in, and one act at a time comes out.  The caller carries it out and
 * says whether it was done.  So acts are those of the port manager: with permission, recorded,
 * guarded; what a course needs after a fail-over is in the records: that the link was taken, how
 * often, and how often and when it was retrained since.  It then begins anew with "moving", and its
 * times do; one that was retrained as often as at first waits as if its last test had been bad, from
 * its last retraining on.  Forgotten is what tests said, that somebody mended it, retrainings that
 * could not be done, and what is older than a week: so its next wait may be shorter or longer.
 *
 * A link that somebody else lets go is no longer ours: its course has ended.  The caller puts one
 * that could not be held any longer, as when its switch restarts, on probation.
 *
 * After a retraining the counters of a link that loses one packet in a million say nothing for
 * as long as it carries SMPs alone.  The test finds links that are broken, with data those that are
 * worse than a wanted rate; that a link is good, its probation says.
 *
 * Thread-safety: one thread.  Memory: none but the structure; it may be copied.  Times: of any
 * clock that does not go back. */
#ifndef TRIAD_COURSE_H
#define TRIAD_COURSE_H

#include <stdbool.h>
#include <stdint.h>

#define TRIAD_COURSE_MAX_RETRAINS 3u /* in a row, when it is taken or was mended */

enum triad_course_state {
	TRIAD_COURSE_MOVING,
	TRIAD_COURSE_RETRAINING,
	TRIAD_COURSE_TESTING,
	TRIAD_COURSE_RESTING,
	TRIAD_COURSE_PROBATION,
	TRIAD_COURSE_STAYS_OUT,
	TRIAD_COURSE_ENDED,
	TRIAD_COURSE_N_STATES
};

enum triad_course_act {
	TRIAD_COURSE_WAIT,
	TRIAD_COURSE_TAKE,   /* once more: hold it out of routing */
	TRIAD_COURSE_BOUNCE, /* take it down and up again */
	TRIAD_COURSE_TEST,   /* go on with its test */
	TRIAD_COURSE_RETURN, /* hold it no longer */
};

struct triad_course_conf {
	uint64_t out_us; /* how long it is out the first time */
	uint64_t
		probation_us; /* how long it must be good, without a break, when it is back */
	uint32_t max_taken;  /* the last time that it is taken it stays out */
	bool returns_anyway; /* also after bad tests: it is better than none */
};

enum triad_course_verdict {
	TRIAD_COURSE_NO_VERDICT,
	TRIAD_COURSE_GOOD,
	TRIAD_COURSE_BAD
};

struct triad_course_facts {
	bool is_held; /* by us */
	/* It is in no view of the fabric, and in no table, that is newer than its taking. */
	bool is_out;
	enum triad_course_verdict test; /* of the test of this retraining */
	bool is_up;                     /* its link is, at both ends */
	/* By what was read since it returned. */
	enum triad_course_verdict back;
	bool may_take;       /* it may be taken now (heal/plan.h) */
	bool may_test_again; /* one that stays out: no other link is tested now */
};

struct triad_course {
	struct triad_course_conf conf;
	uint64_t taken_us, since_us; /* since when it is in its state */
	uint64_t down_us;            /* since when one that stays out is; 0: it is up */
	uint64_t next_us; /* nothing is to be done before; UINT64_MAX: not by time */
	uint32_t n_taken; /* lately, this time among them */
	/* Since it was taken, or mended.  Each time that it stays out because it can't be counts
	 * as one. */
	uint32_t n_retrained;
	uint32_t n_failed; /* acts in a row that could not be done */
	uint8_t state;     /* enum triad_course_state */
	bool is_bad_again; /* in probation, but it may not be taken */
	/* In probation: nothing was read that says how it is. */
	bool is_not_known;
	bool is_given_up; /* its tests were bad, and it returns anyway */
	bool is_let_go;   /* it has ended because others hold it no longer */
	const char *why;  /* it stays out, or has ended; NULL: nothing to say */
};

/* A link that was taken, for the 'n_taken'th time lately (at least 1). */
void triad_course_begin(struct triad_course *course,
	const struct triad_course_conf *conf, uint32_t n_taken, uint64_t now_us);

/* One that another SM had taken, or this one before it was restarted, and that is held; it was retrained
 * 'n_retrained' times since, the last time 'ago_us' ago. */
void triad_course_begin_held(struct triad_course *course,
	const struct triad_course_conf *conf, uint32_t n_taken, uint32_t n_retrained,
	uint64_t ago_us, uint64_t now_us);

/* One that another SM had taken, and that is back. */
void triad_course_begin_back(struct triad_course *course,
	const struct triad_course_conf *conf, uint32_t n_taken, uint64_t now_us);

/* The next act; with WAIT, call again at '*until_us' at the latest, or when a fact changes. */
enum triad_course_act triad_course_step(struct triad_course *course,
	const struct triad_course_facts *facts, uint64_t now_us, uint64_t *until_us);
/* TAKE, BOUNCE or RETURN was done, or could not be. */
void triad_course_did(struct triad_course *course, enum triad_course_act act,
	bool worked, uint64_t now_us);

/* How long a link is out the 'n_taken'th time. */
uint64_t triad_course_out_us(const struct triad_course_conf *conf, uint32_t n_taken);

/* When it leaves its state if nothing happens: it returns, is forgotten, or is tested again; 0: not by
 * time. */
uint64_t triad_course_until_us(const struct triad_course *course);

/* "moving", "retraining", ... */
const char *triad_course_state_name(unsigned state);

#endif
