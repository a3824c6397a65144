/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The scheduler of a sweep: sends queries to agents, and handles their answers.
 *
 * Model: the scheduler asks agents (sweep_agents.h) questions (plan.h, answers.h),
 * which it sends as queries.  At most 'window' queries are outstanding, fewer while
 * many get lost (window.h), at most 'node_window' of them to one agent; agents take
 * turns, so that no switch gets a burst.  A query without an answer in time is sent
 * again, 'retries' times.  A reset is not, because it may have been done: a second one
 * would lose what was counted since.
 *
 * The questions depend on the mode:
 *     triad    the data counters of every port; errors and PortXmitWait with them where
 *              they have 64 bits, else of the ports of nodes whose summary of errors
 *              changed or can't be trusted
 *     full     everything of every port
 *     errors   as triad, without the data counters where they are not beside the errors
 * Details are asked for now and then, or when they explain an error (rounds.h);
 * PortXmitWait of a switch's ports when its sum moved, as far as a share of the queries
 * allows (waits.h).
 *
 *     triad_sweep_adopt(sweep, fabric)         at any time
 *     triad_sweep_start(sweep, params)
 *     until triad_sweep_is_done(sweep):
 *         triad_sweep_expire(sweep, now)
 *         while triad_sweep_next(sweep, now, &query):  send it
 *         triad_sweep_reply(sweep, reply, now)  for each reply
 *         sleep until triad_sweep_deadline(sweep) at most
 *
 * Results go to the sink, within the call that produced them.
 *
 * Invariants: every port of the fabric with a PMA that the sink wants is reported done
 * exactly once a sweep.  A query is in exactly one of three lists: free, waiting to be
 * sent, in flight (in the order of its deadlines).
 *
 * Thread-safety: none.  Memory: sized by the fabric and by 'window', which is capped
 * by TRIAD_SWEEP_MAX_WINDOW; nothing is allocated during a sweep.
 * Spec: IBA volume 1, 16.1; [perf-manager-arch 2]. */
#ifndef TRIAD_PERFMGR_SWEEP_H
#define TRIAD_PERFMGR_SWEEP_H

#include <stdbool.h>
#include <stdint.h>

#include "ib/detail.h"
#include "ib/pma.h"
#include "triad/fabric.h"
#include "triad/mad.h"

#define TRIAD_SWEEP_MAX_WINDOW 4096

struct triad_sweep;

enum triad_sweep_mode {
	TRIAD_SWEEP_TRIAD,
	TRIAD_SWEEP_FULL,
	TRIAD_SWEEP_ERRORS,
};

/* What rounds ask of all ports in turn; see rounds.h. */
enum triad_round {
	TRIAD_ROUND_ERRORS = TRIAD_DETAIL_ERRORS,
	TRIAD_ROUND_FEC = TRIAD_DETAIL_FEC,
	TRIAD_ROUND_VL = TRIAD_DETAIL_VL,
	TRIAD_N_ROUNDS
};

struct triad_sweep_params {
	enum triad_sweep_mode mode;
	unsigned window; /* 1-TRIAD_SWEEP_MAX_WINDOW */
	unsigned node_window;
	unsigned retries;
	uint64_t timeout_us;
	bool reset_near_full; /* reset counters that are near their maximum */
	/* Somebody waits for this sweep: it also asks agents and ports in back-off, and
	 * reads the errors and PortXmitWait of each port, whatever summaries say. */
	bool is_requested;
	/* The share of all ports that each round asks in this sweep (0 to 1), and the
	 * share of the last sweep's queries that all rounds, and reading waits, may add
	 * together. */
	double round_part[TRIAD_N_ROUNDS];
	double round_share;
	/* PortXmitWait that moved is read as waits.h says; else in the same sweep, at
	 * all ports of the switch, as for errors. */
	bool waits_apart;
	double wait_matters; /* the least share of time that a port waits that matters */
	/* A port whose PortXmitWait stopped at its maximum is reset, and read again after
	 * this at most (0: it is not), or as soon as its link could have filled half of
	 * the counter. */
	uint64_t most_hold_us;
};

/* What a summary says of a port's PortXmitWait. */
enum triad_wait_news {
	TRIAD_WAIT_SAME,    /* it did not change */
	TRIAD_WAIT_OLD,     /* it may have changed; the last reading stands */
	TRIAD_WAIT_UNKNOWN, /* it may have changed, and was said not to before */
};

/* Beside counters, in what sink.reading returns. */
#define TRIAD_SWEEP_WAITS (UINT32_C(1) << 31)

struct triad_sweep_sink {
	void *context;
	/* Whether to ask 'port' in the sweep that begins or runs.  NULL: all ports. */
	bool (*wants)(void *context, uint32_t port);
	/* The index of the P_Key to ask 'port' with; called when a fabric is adopted,
	 * and when its agent was silent.  NULL: 0. */
	uint16_t (*pkey_index)(void *context, uint32_t port);
	/* The index in our table of a P_Key of that partition, or -1.  NULL: our table
	 * has only the default partition. */
	int (*find_pkey)(void *context, uint16_t pkey);
	/* A reading of 'port' (index in the fabric).  Returns the error counters (bit i:
	 * counter i) that grew since the last reading, PortXmitWait if it grew by
	 * params.wait_matters of the time, or may have, and TRIAD_SWEEP_WAITS if it is
	 * known that it did. */
	uint32_t (*reading)(void *context, uint32_t port,
		enum triad_pma_attribute attribute,
		const struct triad_pma_reading *reading, uint64_t now_us);
	/* A reading of a detail attribute; 'after_reset': it answers its reset.  NULL:
	 * not reported. */
	void (*detail)(void *context, uint32_t port, enum triad_pma_attribute attribute,
		const struct triad_detail_reading *reading, bool after_reset,
		uint64_t now_us);
	/* Detail attributes (TRIAD_DETAIL_BIT()) to ask 'port' for in this sweep
	 * because of this reading; besides those that explain what has moved.  NULL:
	 * none. */
	uint32_t (*wanted_details)(
		void *context, uint32_t port, const struct triad_pma_reading *reading);
	/* An answer of 'port' has come; it is handled next. */
	void (*coming)(void *context, uint32_t port);
	/* A 'counter' of 'port' is 'narrow' in PortCounters, but only 'wide' in
	 * PortCountersExtended, which was read after it: its agent's 64-bit errors are
	 * not believed.  NULL: not reported. */
	void (*disbelieved)(void *context, uint32_t port, unsigned counter,
		uint64_t narrow, uint64_t wide);
	/* The summary shows that the errors of 'port' did not change. */
	void (*unchanged)(void *context, uint32_t port, enum triad_wait_news wait,
		uint64_t now_us);
	/* The sweep sends a reset of the counters in 'mask' (bit i: counter i); 0: the
	 * agent refused it. */
	void (*resetting)(void *context, uint32_t port, uint32_t mask);
	/* The reset was done; 'reading' has the counters after it. */
	void (*reset)(void *context, uint32_t port,
		const struct triad_pma_reading *reading, uint64_t now_us);
	/* The agent of 'port' left a question without an answer of use.  NULL: not
	 * reported. */
	void (*trouble)(void *context, uint32_t port, struct triad_pma_trouble trouble);
	/* The sweep is done with 'port'. */
	void (*done)(void *context, uint32_t port, bool answered);
};

/* Of the present or last sweep. */
struct triad_sweep_progress {
	uint32_t n_ports; /* to be read */
	uint32_t n_answered;
	uint32_t n_unanswered;
	uint32_t n_left_out; /* of the unanswered: not asked, because long silent */
};

/* Since the scheduler was made. */
struct triad_sweep_counts {
	uint64_t sent;
	uint64_t received; /* answers to queries in flight */
	uint64_t timeouts;
	uint64_t retries;
	uint64_t late;      /* answers to no query in flight */
	uint64_t malformed; /* answers that are not what was asked for */
	uint64_t refused;   /* answers with an error status */
	uint64_t redirected;
	uint64_t unreachable; /* redirected to an address that we can't send to */
	uint64_t resets;      /* of a port's counters, done */
	uint64_t resets_failed;
	uint64_t disbelieved; /* agents whose 64-bit errors were not believed */
};

/* One MAD to be sent. */
struct triad_sweep_query {
	uint32_t tid;
	struct triad_mad_address to;
	uint8_t mad[TRIAD_MAD_SIZE];
};

/* NULL when memory is short.  'sink' is copied. */
struct triad_sweep *triad_sweep_new(const struct triad_sweep_sink *sink);
void triad_sweep_free(struct triad_sweep *sweep);

/* Sweeps 'fabric' (referenced until the next one) from now on.  Agents that keep their
 * LID keep their state.  A running sweep goes on: it asks new ports, too, and answers
 * of ports that are gone are late.  Returns 0, or ENOMEM with nothing changed. */
int triad_sweep_adopt(struct triad_sweep *sweep, struct triad_fabric *fabric);

/* Resets all counters of 'port' in the next sweep, after it has read them. */
void triad_sweep_want_reset(struct triad_sweep *sweep, uint32_t port);

/* Begins a sweep.  Returns 0 or ENOMEM. */
int triad_sweep_start(
	struct triad_sweep *sweep, const struct triad_sweep_params *params);

/* Takes the next query that may be sent; it counts as sent.  False: none. */
bool triad_sweep_next(
	struct triad_sweep *sweep, uint64_t now_us, struct triad_sweep_query *query);

/* The query could not be sent: triad_sweep_next() will return it again. */
void triad_sweep_unsend(struct triad_sweep *sweep, uint32_t tid);

/* Handles a reply, or a failure, from the transport. */
void triad_sweep_reply(struct triad_sweep *sweep, const struct triad_mad_reply *reply,
	uint64_t now_us);

/* Ends the wait for overdue queries. */
void triad_sweep_expire(struct triad_sweep *sweep, uint64_t now_us);

/* When the next query will be overdue, or may be sent; UINT64_MAX when none is in flight
 * or waits for its time. */
uint64_t triad_sweep_deadline(const struct triad_sweep *sweep);

/* The present limit of outstanding queries. */
unsigned triad_sweep_window(const struct triad_sweep *sweep);

unsigned triad_sweep_in_flight(const struct triad_sweep *sweep);
bool triad_sweep_is_done(const struct triad_sweep *sweep);

/* Ends the sweep; ports not yet read are unanswered, but do not count as silent. */
void triad_sweep_cut(struct triad_sweep *sweep);

/* Ends the sweep without reporting the ports not yet read. */
void triad_sweep_abort(struct triad_sweep *sweep);

struct triad_sweep_progress triad_sweep_progress(const struct triad_sweep *sweep);
struct triad_sweep_counts triad_sweep_counts(const struct triad_sweep *sweep);

#endif
