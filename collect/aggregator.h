/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* What agents tell, put together: DATA of all of them into the rows of one engine.
 *
 * Model: as long as a port is told of by the same agent, started once, whose totals
 * were not set to 0, its rows are taken as they come: the agent's total, plus an offset
 * that stays.  When another one reads it, its first row is compared with what the
 * hardware said last: the total goes on by the difference (or, where that went back, by
 * what the hardware counted since its reset), and the offset is what makes that so.  So
 * no total jumps when nodes change hands, whatever the new agent's totals begin with.
 *
 * Rows of an agent that is not the node's owner are left, while the owner is alive; so
 * are those that are older than what is there.  Which of two is older is known to two
 * seconds: within these a new agent's counters that went back are taken for the older
 * ones, and not for a reset, and are asked for again.
 *
 * Times: an agent's clock is compared with ours when its messages come; the fastest
 * message says best how they differ, and with that the times of its readings are ours.
 *
 * DATA are numbered; a message that is missing is asked for again, by number, once in a
 * while until it is there.
 *
 * An agent is silent when no DATA of its came for two of its sweeps and
 * TRIAD_AGGREGATOR_LATE_US. Ports of a node that nobody owns, or a silent agent, are
 * not seen: triad_aggregator_check_silence() marks them as unanswered.
 *
 * Invariants: while no counter is reset between the last row of one agent and the first
 * of the next, totals are what one agent alone would have, whatever is lost, comes
 * twice or in another order.
 *
 * Thread-safety: none; the engine's thread, but for _status() and _agent() under the
 * caller's lock.  Memory: 20 octets for each row of the engine, 176 more for those that
 * changed hands; TRIAD_CLAIMS_MAX_AGENTS agents; checked.
 * Source: rows M5, M12, A13.4. */
#ifndef TRIAD_COLLECT_AGGREGATOR_H
#define TRIAD_COLLECT_AGGREGATOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "collect/claims.h"
#include "collect/data.h"
#include "perfmgr/view.h"

#define TRIAD_AGGREGATOR_LATE_US (UINT64_C(5) * 1000000)

struct triad_aggregator;

struct triad_aggregator_sink {
	void *context;
	/* The owner of the node (index in the view's fabric), or TRIAD_CLAIMS_NOBODY
	 * when that is not known. */
	uint64_t (*owner)(void *context, uint32_t node);
	/* DATA from 'number' on did not come from 'agent'. */
	void (*ask_again)(void *context, uint64_t agent, uint32_t number);
	/* The causes (bits) that are raised at a port are these, by a row just
	 * taken. */
	void (*findings)(void *context, uint32_t port, uint32_t causes);
};

struct triad_aggregator_status {
	uint64_t n_messages, n_octets, n_rows;
	uint64_t n_missing; /* messages that did not come in their turn */
	uint64_t n_old;     /* that came twice, or too late */
	uint64_t n_broken;  /* messages that made no sense */
	uint64_t n_unknown; /* rows of ports that the fabric lacks */
	uint64_t n_not_owner;
	uint64_t n_stale;
	uint64_t n_handed_over; /* ports that another agent went on with */
	uint32_t n_nodes_unseen,
		n_ports_unseen; /* by triad_aggregator_check_silence() */
	uint64_t oldest_us; /* the age of the oldest agent's last DATA, by _look() */
	size_t octets;
};

/* An agent, as its DATA tell. */
struct triad_aggregator_agent {
	uint64_t id;
	uint64_t heard_us; /* its last DATA */
	uint32_t n_sweeps, n_ports, n_silent;
	uint32_t n_unknown; /* ports of its last message that the fabric lacks */
	uint64_t n_octets;
	double octets_per_s; /* over the last sweeps */
	bool is_silent;
};

/* NULL when memory is short.  'sink' is copied. */
struct triad_aggregator *triad_aggregator_new(
	struct triad_engine *engine, const struct triad_aggregator_sink *sink);
void triad_aggregator_free(struct triad_aggregator *aggregator);

/* Rows go to the ports of 'view', referenced until the next one. */
void triad_aggregator_adopt(
	struct triad_aggregator *aggregator, struct triad_view *view);

/* Takes a DATA message ('octets', with its head).  'sweep_us' is the period of the
 * sender's sweeps, as far as is known. */
void triad_aggregator_receive(struct triad_aggregator *aggregator, uint8_t *octets,
	size_t size, uint64_t sweep_us, uint64_t now_us);

/* The totals of the row's port become 0. */
void triad_aggregator_clear_totals(
	struct triad_aggregator *aggregator, uint32_t row, uint64_t now_us);

/* Looks at who is silent, and marks what is not seen. */
void triad_aggregator_check_silence(
	struct triad_aggregator *aggregator, uint64_t now_us);
/* Whether the node's ports are seen, by the last look. */
bool triad_aggregator_is_seen(const struct triad_aggregator *aggregator, uint32_t node);

struct triad_aggregator_status triad_aggregator_status(
	const struct triad_aggregator *aggregator);
/* What is known of an agent; false when nothing is. */
bool triad_aggregator_agent(const struct triad_aggregator *aggregator, uint64_t id,
	struct triad_aggregator_agent *agent);

#endif
