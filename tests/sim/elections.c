/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "tests/sim/elections_parts.h"

#include <stdlib.h>

#include "tests/random.h"

#define SM_UP_US (80 * MS)

void *elections_must(void *memory)
{
	if (!memory)
		abort();
	return memory;
}

uint64_t elections_random(struct elections *s, uint64_t below)
{
	return below ? random_next(&s->random) % below : 0;
}

uint64_t elections_id(unsigned node)
{
	return UINT64_C(0x0002c90300000001) + node;
}

uint64_t elections_now_us(const struct elections *s)
{
	return s->now_us;
}

uint64_t elections_n_events(const struct elections *s)
{
	return s->n_events;
}

/* --- clocks --- */

uint64_t elections_clock(const struct elections *s, unsigned node)
{
	int64_t drift = (int64_t)s->now_us / 1000000 * s->nodes[node].drift_ppm +
		(int64_t)(s->now_us % 1000000) * s->nodes[node].drift_ppm / 1000000;

	return s->nodes[node].offset_us + s->now_us + (uint64_t)drift;
}

/* The true time when a node's clock shows 'local_us'. */
uint64_t elections_true_time(
	const struct elections *s, unsigned node, uint64_t local_us)
{
	uint64_t now_us = elections_clock(s, node);
	double left;

	if (local_us == UINT64_MAX)
		return UINT64_MAX;
	if (local_us <= now_us)
		return s->now_us;
	left = (double)(local_us - now_us);
	return s->now_us + 1 +
		(uint64_t)(left * 1e6 / (1e6 + s->nodes[node].drift_ppm));
}

/* --- events --- */

void elections_push(struct elections *s, struct event event)
{
	event_heap_push(&s->heap, &event);
}

static struct event pop(struct elections *s)
{
	struct event event;

	event_heap_pop(&s->heap, &event);
	return event;
}

void elections_unref(struct payload *payload)
{
	if (payload && !--payload->n_refs)
		free(payload);
}

/* --- a node --- */

void elections_poke(struct elections *s, unsigned node)
{
	struct node *n = &s->nodes[node];
	struct triad_election_action action;

	while (triad_election_take_action(n->election, &action)) {
		struct event event = {.to = node, .life = n->life};

		switch (action.kind) {
		case TRIAD_ELECTION_STORE:
			if (n->is_disk_full)
				triad_election_store_failed(n->election);
			else
				n->stored = action.stored;
			break;
		case TRIAD_ELECTION_SEND:
			if (!n->is_runaway)
				elections_send(s, node, &action.message);
			break;
		case TRIAD_ELECTION_SET_PRIORITY:
			n->sm_priority = action.sm_priority;
			break;
		case TRIAD_ELECTION_TAKE_OVER:
			event.at_us = s->now_us + SM_UP_US;
			event.kind = SM_UP;
			elections_push(s, event);
			break;
		case TRIAD_ELECTION_STEP_DOWN:
			event.at_us = s->now_us + SM_UP_US / 2;
			event.kind = SM_DOWN;
			elections_push(s, event);
			break;
		}
	}
	elections_watch(s, node);
	n->wake_us = elections_true_time(s, node, triad_election_next_us(n->election));
}

/* Its SM becomes master or standby, unless the election has changed its decision since.
 * */
static void tell_sm(struct elections *s, unsigned node, bool is_up)
{
	struct triad_election *election = s->nodes[node].election;
	struct triad_election_status status;
	bool is_master;

	triad_election_status(election, elections_clock(s, node), &status);
	is_master = status.state == TRIAD_ELECTION_MASTER;
	if (is_master == is_up)
		triad_election_sm(
			election, is_master, is_master, elections_clock(s, node));
	elections_poke(s, node);
}

static void handle(struct elections *s, struct event event)
{
	struct node *n = &s->nodes[event.to];
	bool is_there = n->election && event.life == n->life;

	if (event.kind == DELIVER) {
		elections_deliver(s, event);
		return;
	}
	if (!is_there)
		return;
	if (n->is_paused) {
		event.at_us = s->now_us + 10 * MS;
		elections_push(s, event);
		return;
	}
	if (event.kind == REVIEW)
		elections_review(s, event.to);
	else
		tell_sm(s, event.to, event.kind == SM_UP);
}

/* The node that wakes first, and not after 'until_us'; or n_nodes. */
static unsigned next_waker(const struct elections *s, uint64_t *at_us)
{
	unsigned best = s->n_nodes;

	for (unsigned i = 0; i < s->n_nodes; i++)
		if (s->nodes[i].election && !s->nodes[i].is_paused &&
			s->nodes[i].wake_us < *at_us) {
			*at_us = s->nodes[i].wake_us;
			best = i;
		}
	return best;
}

void elections_run(struct elections *s, uint64_t us)
{
	uint64_t until_us = s->now_us + us;

	for (;;) {
		uint64_t at_us = event_heap_next_us(&s->heap);
		unsigned waker = next_waker(s, &at_us);

		if (at_us > until_us)
			break;
		s->n_events++;
		if (at_us > s->now_us)
			s->now_us = at_us;
		if (waker == s->n_nodes) {
			handle(s, pop(s));
			continue;
		}
		triad_election_run(s->nodes[waker].election, elections_clock(s, waker));
		elections_poke(s, waker);
		/* Never two events of a node at one time. */
		if (s->nodes[waker].wake_us <= s->now_us)
			s->nodes[waker].wake_us = s->now_us + 1;
	}
	s->now_us = until_us;
}

/* --- observing --- */

struct triad_election *elections_of(struct elections *s, unsigned node)
{
	return s->nodes[node].election;
}

bool elections_is_together(const struct elections *s, unsigned a, unsigned b)
{
	if (s->kind == ELECTIONS_PEERS)
		return elections_reach_each_other(s, a, b);
	return elections_component(s, a) >> b & 1;
}

bool elections_is_alive(const struct elections *s, unsigned node)
{
	return s->nodes[node].election;
}

bool elections_is_running(const struct elections *s, unsigned node)
{
	return s->nodes[node].election && !s->nodes[node].is_paused;
}

bool elections_is_permitted(const struct elections *s, unsigned node)
{
	return s->nodes[node].permitted_until_us > s->now_us;
}

uint8_t elections_sm_priority(const struct elections *s, unsigned node)
{
	return s->nodes[node].sm_priority;
}

const char *elections_violation(const struct elections *s)
{
	return *s->violation ? s->violation : NULL;
}

/* --- life --- */

struct elections *elections_new(
	enum elections_kind kind, unsigned n_nodes, unsigned n_bare, uint64_t seed)
{
	struct elections *s = elections_must(calloc(1, sizeof(*s)));

	s->heap.size = sizeof(struct event);
	s->kind = kind;
	s->n_nodes = n_nodes;
	s->n_bare = n_bare;
	s->random = seed;
	s->now_us = 1000 * MS;
	s->min_delay_us = 100;
	s->max_delay_us = 1 * MS;
	for (unsigned i = 0; i < n_nodes; i++) {
		s->nodes[i].offset_us = elections_random(s, 1000000 * MS);
		elections_start(s, i);
	}
	elections_note_change(s);
	return s;
}

void elections_free(struct elections *s)
{
	if (!s)
		return;
	for (unsigned i = 0; i < s->n_nodes; i++) {
		elections_kill(s, i);
		free(s->nodes[i].inbox);
	}
	while (s->heap.n)
		elections_unref(pop(s).payload);
	event_heap_clear(&s->heap);
	free(s);
}
