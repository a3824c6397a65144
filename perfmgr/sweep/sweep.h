/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The scheduler of a sweep: sends queries to agents, and handles their answers.
 *
 * Model: agents (sweep_agents.h) are asked questions (plan.h, answers.h), which the
 * scheduler sends as queries.  At most 'window' queries are outstanding, fewer while many
 * get lost (window.h), at most 'node_window' of them to one agent.  Agents are asked in
 * turn, so that no switch gets a burst.  A query that is not answered in time is sent
 * again, 'retries' times.  A reset is not sent again, because it may have been done and the
 * counters may be counting again.
 *
 * The questions depend on the mode:
 *     triad    the data counters of every port; errors and PortXmitWait of the ports
 *              of nodes whose summary of errors changed or can't be trusted
 *     full     everything of every port
 *     errors   as triad, without the data counters where they are not beside the errors
 * Further attributes are read in rounds, or when they explain an error (rounds.h).
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

/* Attributes that are read in rounds over all ports; see rounds.h. */
enum triad_round {
	TRIAD_ROUND_ERRORS = TRIAD_DETAIL_ERRORS,
	TRIAD_ROUND_FEC = TRIAD_DETAIL_FEC,
	TRIAD_ROUND_VL = TRIAD_DETAIL_VL,
	TRIAD_ROUND_WAIT, /* PortXmitWait, if only that has changed */
	TRIAD_N_ROUNDS
};

struct triad_sweep_params {
	enum triad_sweep_mode mode;
	unsigned window; /* 1-TRIAD_SWEEP_MAX_WINDOW */
	unsigned node_window;
	unsigned retries;
	uint64_t timeout_us;
	bool reset_near_full; /* counters that are near their maximum */
	bool ask_silent;      /* also ask those that are left out for their silence */
	/* The share of all ports that each round asks in this sweep, 0 to 1; and the share
	 * of the last sweep's queries that all rounds may add. */
	double round_part[TRIAD_N_ROUNDS];
	double round_share;
	/* If the sum of PortXmitWait changed, read it in rounds; else, as for errors, in
	 * the same sweep from all ports of the switch. */
	bool wait_in_rounds;
};

struct triad_sweep_sink {
	void *context;
	/* Whether to ask 'port' in the sweep that begins or runs.  NULL: all ports. */
	bool (*wants)(void *context, uint32_t port);
	/* The index of the P_Key for queries to 'port'; called when a fabric is adopted,
	 * and when its agent was silent.  NULL: 0. */
	uint16_t (*pkey_index)(void *context, uint32_t port);
	/* The index in our table of a P_Key of that partition, or -1.  NULL: the table has
	 * only the default partition. */
	int (*find_pkey)(void *context, uint16_t pkey);
	/* A reading of 'port' (index in the fabric).  Returns the counters (bit i: counter
	 * i) that have changed since their last reading. */
	uint32_t (*reading)(void *context, uint32_t port,
		enum triad_pma_attribute attribute,
		const struct triad_pma_reading *reading, uint64_t now_us);
	/* A reading of a detail attribute; 'after_reset': the answer to its reset.  NULL:
	 * not needed. */
	void (*detail)(void *context, uint32_t port, enum triad_pma_attribute attribute,
		const struct triad_detail_reading *reading, bool after_reset,
		uint64_t now_us);
	/* Detail attributes (TRIAD_DETAIL_BIT()) to read from 'port' in this sweep because
	 * of this reading, besides those that explain changed counters.  NULL: none. */
	uint32_t (*wanted_details)(
		void *context, uint32_t port, const struct triad_pma_reading *reading);
	/* An answer of 'port' has come and is handled next. */
	void (*coming)(void *context, uint32_t port);
	/* The errors of 'port' are unchanged; 'wait_too': PortXmitWait as well. */
	void (*unchanged)(void *context, uint32_t port, bool wait_too, uint64_t now_us);
	/* A reset of the counters in 'mask' (bit i: counter i) is being sent; 0: the last
	 * one was refused. */
	void (*resetting)(void *context, uint32_t port, uint32_t mask);
	/* The reset was done; 'reading' is from after it. */
	void (*reset)(void *context, uint32_t port,
		const struct triad_pma_reading *reading, uint64_t now_us);
	/* 'port' is done for this sweep. */
	void (*done)(void *context, uint32_t port, bool answered);
};

/* Of the present or last sweep. */
struct triad_sweep_progress {
	uint32_t n_ports; /* to be read */
	uint32_t n_answered;
	uint32_t n_unanswered;
	uint32_t n_left_out; /* of these, ports not asked because they were silent
			      * for long */
};

/* Since the scheduler was made. */
struct triad_sweep_counts {
	uint64_t sent;
	uint64_t received; /* awaited answers */
	uint64_t timeouts;
	uint64_t retries;
	uint64_t late;      /* answers that are no longer awaited */
	uint64_t malformed; /* answers that do not fit the question */
	uint64_t refused;   /* answers with an error status */
	uint64_t redirected;
	uint64_t unreachable; /* redirected to an address that we can't send to */
	uint64_t resets;      /* of a port's counters, done */
	uint64_t resets_failed;
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

/* Sweeps 'fabric' (referenced until the next one) from now on.  Keeps its information about
 * agents that keep their LID. A running sweep continues: it also asks new ports, and
 * answers of removed ports count as late.  Returns 0 or ENOMEM; then nothing changed. */
int triad_sweep_adopt(struct triad_sweep *sweep, struct triad_fabric *fabric);

/* Resets all counters of 'port' in the next sweep, after they were read. */
void triad_sweep_want_reset(struct triad_sweep *sweep, uint32_t port);

/* Begins a sweep.  Returns 0 or ENOMEM. */
int triad_sweep_start(
	struct triad_sweep *sweep, const struct triad_sweep_params *params);

/* Takes the next query that may be sent; it counts as sent.  False: none. */
bool triad_sweep_next(
	struct triad_sweep *sweep, uint64_t now_us, struct triad_sweep_query *query);

/* The query could not be sent: triad_sweep_next() will return it again. */
void triad_sweep_unsend(struct triad_sweep *sweep, uint32_t tid);

/* Handles an answer from the transport. */
void triad_sweep_reply(struct triad_sweep *sweep, const struct triad_mad_reply *reply,
	uint64_t now_us);

/* Handles overdue queries. */
void triad_sweep_expire(struct triad_sweep *sweep, uint64_t now_us);

/* When the next query will be overdue; UINT64_MAX when none is in flight. */
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
