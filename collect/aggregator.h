/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Merges the DATA and DETAILS of all agents into the rows of one engine.
 *
 * Model: while the same start of the same agent reports a port, and does not set totals
 * to 0, the port's total is the agent's total plus a constant offset.  When another
 * agent takes over, its first row is compared with the last known hardware value: the
 * total grows by the difference (or, if the value went back, by what the hardware
 * counted since its reset), and a new offset makes it so.  So no total jumps when nodes
 * change hands, whatever the new agent's totals begin with.
 *
 * The aggregator drops rows of an agent that does not own the node while its owner is
 * alive, and rows older than the present one.  The order of two readings by different
 * agents is known to two seconds only: within these, counters of the new agent that
 * went back are older readings rather than a reset, and are requested again.
 *
 * Times: the aggregator compares an agent's clock with ours as messages arrive.  The
 * fastest message gives the best offset, which converts the times of readings to ours.
 *
 * DATA are numbered; a missing message is requested again, by number, at intervals
 * until it arrives.
 *
 * An agent is silent when it sent no DATA for two of its sweeps and
 * TRIAD_AGGREGATOR_LATE_US.  Ports of a silent agent, or of a node without an owner,
 * are unseen: triad_aggregator_check_silence() marks them as unanswered.
 *
 * Invariants: if no counter is reset between the last row of one agent and the first of
 * the next, totals are those that one agent alone would have, whatever is lost, doubled
 * or out of order.
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
	/* The owner of the node (index in the view's fabric); TRIAD_CLAIMS_NO_AGENT:
	 * unknown. */
	uint64_t (*owner)(void *context, uint32_t node);
	/* DATA of 'agent' from 'number' on are missing. */
	void (*ask_again)(void *context, uint64_t agent, uint32_t number);
	/* A row was just received: the causes (bits) now raised at the port, and how
	 * often its link went down since the row before, as the port itself counts. */
	void (*row)(void *context, uint32_t port, uint32_t causes, uint64_t n_downs);
};

struct triad_aggregator_status {
	uint64_t n_messages, n_octets, n_rows;
	uint64_t n_missing; /* messages missing in the sequence */
	uint64_t n_old;     /* doubled, or too late */
	uint64_t n_broken;  /* malformed messages */
	uint64_t n_unknown; /* rows of ports that the fabric lacks */
	uint64_t n_not_owner;
	uint64_t n_stale;
	uint64_t n_handed_over; /* ports that another agent took over */
	uint64_t n_details;     /* attributes of ports */
	uint32_t n_nodes_unseen,
		n_ports_unseen; /* by triad_aggregator_check_silence() */
	uint64_t oldest_us;     /* the age of the oldest last DATA of an agent */
	size_t octets;
};

/* An agent, as its DATA show it. */
struct triad_aggregator_agent {
	uint64_t id;
	uint64_t received_us; /* its last DATA */
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

/* Receives a DATA message ('octets', with its head).  'sweep_us' is the period of the
 * sender's sweeps, as far as it is known. */
void triad_aggregator_receive(struct triad_aggregator *aggregator, uint8_t *octets,
	size_t size, uint64_t sweep_us, uint64_t now_us);

/* Receives a DETAILS message: the details of ports, kept beside the engine's rows. */
void triad_aggregator_receive_details(struct triad_aggregator *aggregator,
	uint8_t *octets, size_t size, uint64_t sweep_us, uint64_t now_us);

/* Sets the totals of the row's port to 0. */
void triad_aggregator_clear_totals(
	struct triad_aggregator *aggregator, uint32_t row, uint64_t now_us);

/* Finds silent agents, and marks unseen ports. */
void triad_aggregator_check_silence(
	struct triad_aggregator *aggregator, uint64_t now_us);
/* Whether the node's ports are seen, by the last check. */
bool triad_aggregator_is_seen(const struct triad_aggregator *aggregator, uint32_t node);

struct triad_aggregator_status triad_aggregator_status(
	const struct triad_aggregator *aggregator);
/* An agent's state; false when it is unknown. */
bool triad_aggregator_agent(const struct triad_aggregator *aggregator, uint64_t id,
	struct triad_aggregator_agent *agent);

#endif
