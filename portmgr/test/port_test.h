/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The test of a port before it may become active: a state machine for one port.
 *
 * Steps, one after the other:
 *     presence       the link is up, as wide and as fast as expected
 *     miswire        what is at the far end is what is expected
 *     quality        for a time: SMPs through the link, at most 'max_lost' of them lost,
 *                    its state unchanged, and at most 'max_errors' new errors counted by
 *                    the near end
 *     application    the far end's NodeDescription fits its pattern
 *     admission      after the port may become active: an answer to a ping, and at most
 *                    'max_errors' new errors counted by the far end, whose counters can't
 *                    be read before
 *
 * Model: facts go in (what a sweep found, answers, counters), and one request at a time
 * comes out.  The caller carries it out and reports the result, also that no answer
 * came.  It may ask for the request again at any time, and report a sweep at any time: the
 * test continues where it was.  The timer ends the test as failed in its present step.
 *
 * When the link goes down, or its far end or name changes, the test restarts while its
 * timer continues.  It still waits for results requested before, but ignores them.  It
 * requests nothing while the link is down.
 *
 * Document: [election-patent, "port component test"].
 * Thread-safety: one thread.  Memory: none but the structure; it may be copied. */
#ifndef TRIAD_PORTMGR_PORT_TEST_H
#define TRIAD_PORTMGR_PORT_TEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum triad_test_step {
	TRIAD_TEST_PRESENCE,
	TRIAD_TEST_MISWIRE,
	TRIAD_TEST_QUALITY,
	TRIAD_TEST_APPLICATION,
	TRIAD_TEST_ADMISSION,
	TRIAD_TEST_N_STEPS
};

enum triad_test_state {
	TRIAD_TEST_RUNNING,
	TRIAD_TEST_PASSED,
	TRIAD_TEST_FAILED,
};

enum triad_test_request {
	TRIAD_TEST_WAIT,      /* for a sweep, an answer, or time */
	TRIAD_TEST_SEND_SMP,  /* Get(NodeDescription) to the far end */
	TRIAD_TEST_READ_NEAR, /* error counters of the switch port */
	TRIAD_TEST_READ_FAR,  /* of the port at the far end */
	TRIAD_TEST_ADMIT,     /* the port may become active */
	TRIAD_TEST_SEND_PING,
};

struct triad_test_conf {
	uint64_t timeout_us;      /* of the whole test */
	uint64_t quality_us;      /* how long the quality step lasts */
	uint64_t smp_interval_us; /* between two SMPs of it */
	uint32_t max_lost;        /* SMPs without an answer */
	uint64_t max_errors;      /* by each end, while the test lasts */
};

/* What is expected of this port; widths and speeds by their codes, 0: any. */
struct triad_test_expected {
	uint8_t width, speed; /* LinkWidthActive, enum triad_link_speed */
	bool ping;
	char name[65]; /* a pattern for the NodeDescription; "": any */
};

/* What a sweep found. */
struct triad_test_seen {
	bool is_linked; /* PortPhysicalState LinkUp, and a far end that answers */
	bool is_active; /* PortState ACTIVE */
	uint8_t width, speed;
	bool is_miswired;
	bool is_only_name;    /* only the name differs, and it may still change */
	uint64_t remote_guid; /* port GUID at the far end; a change restarts the test */
	const char *why;      /* a sentence on the miswire */
};

struct triad_port_test {
	struct triad_test_conf conf;
	struct triad_test_expected expected;
	enum triad_test_state state;
	enum triad_test_step step;
	uint64_t begun_us;
	uint64_t step_us; /* when the step began, or its first reading arrived */
	uint64_t next_us; /* when the next SMP, ping or reading is due */
	uint64_t remote_guid;
	uint8_t width, speed;                /* as seen last */
	uint32_t n_restarts;                 /* how often the test restarted */
	uint32_t n_sent, n_answered, n_lost; /* SMPs of the quality step */
	uint64_t near_before, far_before;    /* errors counted; UINT64_MAX: not read */
	bool is_linked, is_active, has_pong;
	bool is_stale;     /* the awaited result was requested before the restart */
	bool is_timed_out; /* why it failed */
	bool is_not_known; /* the last result: for a reason that need not be the link's */
	enum triad_test_request awaited; /* without a result yet; WAIT: none */
	uint64_t resume_us; /* nothing is requested before: a result was not known */
	char name[65];      /* NodeDescription received last, cleaned; "": none */
	char text[200];     /* the verdict, or what it waits for; for people */
};

void triad_port_test_begin(struct triad_port_test *test,
	const struct triad_test_conf *conf, const struct triad_test_expected *expected,
	uint64_t now_us);

/* --- facts; ignored after the verdict --- */
void triad_port_test_look(struct triad_port_test *test,
	const struct triad_test_seen *seen, uint64_t now_us);
/* The result of an SMP: the NodeDescription, or NULL if there was no answer. */
void triad_port_test_smp(
	struct triad_port_test *test, const char *name, uint64_t now_us);
/* The sum of the error counters; UINT64_MAX: no answer. */
void triad_port_test_near(
	struct triad_port_test *test, uint64_t n_errors, uint64_t now_us);
void triad_port_test_far(
	struct triad_port_test *test, uint64_t n_errors, uint64_t now_us);
void triad_port_test_pong(
	struct triad_port_test *test, bool is_answered, uint64_t now_us);

/* The result of the SMP can't be known, for a reason that is not the port's.  What is not
 * known is neither good nor bad: it is requested again, until the timer ends the test. */
void triad_port_test_unknown(struct triad_port_test *test, uint64_t now_us);

/* --- what to do --- */

/* Checks the timer.  With WAIT, '*until_us' says when to call again at the latest.
 * Returns a request other than WAIT and ADMIT only once, until its result comes.  Returns
 * ADMIT until a sweep finds the port active. */
enum triad_test_request triad_port_test_request(
	struct triad_port_test *test, uint64_t now_us, uint64_t *until_us);

const char *triad_test_step_name(unsigned step);

#endif
