/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* What the parts of the simulated elections share; nobody else includes this.
 *
 *     elections.c          nodes, clocks and time
 *     elections_network.c  who hears whom, the views that follow, messages
 *     elections_faults.c   what is done to network and nodes
 *     elections_check.c    what must be so always, and after a quiet while */
#ifndef TRIAD_TESTS_SIM_ELECTIONS_PARTS_H
#define TRIAD_TESTS_SIM_ELECTIONS_PARTS_H

#include "tests/sim/elections.h"
#include "tests/sim/event_heap.h"
#include "triad/clock.h"

#define MS TRIAD_US_PER_MS
#define MAX_QUEUE 64u
#define LEASE_MS 400u

struct payload {
	unsigned n_refs;
	size_t size;
	uint8_t octets[TRIAD_ELECTION_MESSAGE_SIZE];
};

enum event_kind { DELIVER, REVIEW, SM_UP, SM_DOWN };

struct event {
	uint64_t at_us, number; /* event_heap.h */
	enum event_kind kind;
	unsigned from, to;
	uint64_t ring, life;
	struct payload *payload;
};

struct node {
	struct triad_election *election; /* NULL: dead */
	uint64_t life;
	struct triad_election_stored stored;
	bool is_paused, is_stopped, is_runaway, is_disk_full;
	unsigned group;
	int drift_ppm;
	uint64_t offset_us;
	uint64_t ring; /* the number of the present one */
	uint32_t view_mask;
	uint64_t view_number;
	uint64_t cut_since_us[ELECTIONS_MAX_NODES]; /* 0: connected */
	uint64_t last_at_us[ELECTIONS_MAX_NODES];   /* keeps the order of each pair */
	struct payload *queue[MAX_QUEUE];           /* not sent: the ring is broken */
	unsigned n_queue;
	struct event *inbox; /* while paused */
	unsigned n_inbox, max_inbox;
	uint64_t permitted_until_us, held_until_us; /* true time */
	uint64_t wake_us;
	uint8_t sm_priority;
};

struct elections {
	enum elections_kind kind;
	unsigned n_nodes, n_bare;
	uint64_t now_us, random, n_events, ring_number, order_us;
	unsigned loss_percent;
	uint64_t min_delay_us, max_delay_us;
	bool is_cut[ELECTIONS_MAX_NODES][ELECTIONS_MAX_NODES];
	struct node nodes[ELECTIONS_MAX_NODES];
	struct event_heap heap;
	uint64_t highest_term;
	unsigned highest_term_node;
	uint64_t ring_of_mask[64], mask_of_ring[64]; /* recent rings */
	unsigned n_rings;
	char violation[256], wrong[256];
};

void *elections_must(void *memory);
void elections_unref(struct payload *payload);

/* --- elections.c --- */
void elections_push(struct elections *s, struct event event);
/* The true time when a node's clock shows 'local_us'. */
uint64_t elections_true_time(
	const struct elections *s, unsigned node, uint64_t local_us);

/* --- elections_network.c --- */
unsigned elections_n_all(const struct elections *s);
bool elections_reach_each_other(const struct elections *s, unsigned a, unsigned b);
/* The ring that a node's cluster service is in, or will be when it has formed. */
uint32_t elections_component(const struct elections *s, unsigned node);
/* Gives a node its present view. */
void elections_review(struct elections *s, unsigned node);
/* Connections have changed: each node notices at another time. */
void elections_note_change(struct elections *s);
/* A process started or ended. */
void elections_note_process(struct elections *s);
void elections_send(struct elections *s, unsigned from,
	const struct triad_election_message *message);
void elections_deliver(struct elections *s, struct event event);
void elections_deliver_at(struct elections *s, unsigned from, unsigned to,
	uint64_t at_us, struct payload *payload);

/* --- elections_check.c --- */
/* Called at every event of a node. */
void elections_watch(struct elections *s, unsigned node);

#endif
