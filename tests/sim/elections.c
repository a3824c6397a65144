/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "tests/sim/elections.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/random.h"
#include "tests/sim/event_heap.h"
#include "triad/clock.h"

#define MS TRIAD_US_PER_MS
#define MAX_QUEUE 64u

#define STATUS_MS 100u
#define KEEPALIVE_MS 500u
#define LEASE_MS 400u
#define SILENCE_US (400 * MS)
#define SM_UP_US (80 * MS)

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
	bool is_paused, is_stopped, is_runaway;
	bool is_unsettled; /* its view's quorum is not told yet */
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
	uint64_t highest_term_life;
	uint64_t ring_of_mask[64], mask_of_ring[64]; /* the rings that formed lately */
	unsigned n_rings;
	char violation[256], wrong[256];
};

static void act(struct elections *s, unsigned node);

static void *must(void *memory)
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
static uint64_t true_time(const struct elections *s, unsigned node, uint64_t local_us)
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

static void push(struct elections *s, struct event event)
{
	event_heap_push(&s->heap, &event);
}

static struct event pop(struct elections *s)
{
	struct event event;

	event_heap_pop(&s->heap, &event);
	return event;
}

static void unref(struct payload *payload)
{
	if (payload && !--payload->n_refs)
		free(payload);
}

/* --- who hears whom --- */

static unsigned n_all(const struct elections *s)
{
	return s->n_nodes + s->n_bare;
}

static bool hear_each_other(const struct elections *s, unsigned a, unsigned b)
{
	const struct node *x = &s->nodes[a], *y = &s->nodes[b];

	return a == b ||
		(x->group == y->group && !s->is_cut[a][b] && !x->is_stopped &&
			!y->is_stopped);
}

static bool hears_all(const struct elections *s, unsigned node, uint32_t mask)
{
	for (unsigned i = 0; i < n_all(s); i++)
		if ((mask >> i & 1) && !hear_each_other(s, node, i))
			return false;
	return true;
}

/* The ring that a node's cluster service is in, or will be when it has formed:
 * everybody in it hears everybody, and nobody is in two. */
static uint32_t component(const struct elections *s, unsigned node)
{
	uint32_t rings[ELECTIONS_MAX_NODES];
	unsigned n_rings = 0;

	for (unsigned i = 0; i < n_all(s); i++) {
		unsigned ring = 0;

		while (ring < n_rings && !hears_all(s, i, rings[ring]))
			ring++;
		if (ring == n_rings)
			rings[n_rings++] = 0;
		rings[ring] |= UINT32_C(1) << i;
	}
	for (unsigned ring = 0; ring < n_rings; ring++)
		if (rings[ring] >> node & 1)
			return rings[ring];
	return 0;
}

static uint32_t alive_mask(const struct elections *s)
{
	uint32_t mask = 0;

	for (unsigned i = 0; i < s->n_nodes; i++)
		if (s->nodes[i].election)
			mask |= UINT32_C(1) << i;
	return mask;
}

/* --- views --- */

static void tell_view(
	struct elections *s, unsigned node, uint32_t mask, bool has_settled)
{
	struct node *n = &s->nodes[node];
	unsigned n_here = (unsigned)__builtin_popcount(mask);
	/* Peers miss somebody who died only when he has been silent for a while. */
	uint32_t elects = s->kind == ELECTIONS_PEERS ? mask : mask & alive_mask(s);
	struct triad_cluster_view view = {
		.number = ++n->view_number,
		.is_connected = true,
		.is_quorate = has_settled && n_here * 2 > n_all(s),
		.has_fixed_voters = s->kind == ELECTIONS_PEERS,
		.epoch = s->kind == ELECTIONS_RING ? n->ring : 0,
	};

	for (unsigned i = 0; i < s->n_nodes; i++)
		if (elects >> i & 1)
			view.members[view.n_members++] = elections_id(i);
	view.n_votes_needed = view.n_members / 2 + 1;
	if (s->kind == ELECTIONS_PEERS)
		view.n_votes_needed = s->n_nodes / 2 + 1;
	if (s->kind == ELECTIONS_PEERS)
		view.is_quorate = view.n_members >= view.n_votes_needed;
	triad_election_view(n->election, &view, elections_clock(s, node));
	act(s, node);
}

/* The number of the ring of these nodes: the same for all that form it. */
static uint64_t ring_of(struct elections *s, uint32_t mask)
{
	unsigned slot;

	for (unsigned i = 0; i < 64; i++)
		if (s->mask_of_ring[i] == mask && s->ring_of_mask[i])
			return s->ring_of_mask[i];
	slot = s->n_rings++ % 64;
	s->mask_of_ring[slot] = mask;
	s->ring_of_mask[slot] = ++s->ring_number;
	return s->ring_number;
}

static void send_in_ring(struct elections *s, unsigned from, struct payload *payload);
static void review_at(struct elections *s, unsigned node, uint64_t at_us);

static void review_ring(struct elections *s, unsigned node)
{
	struct node *n = &s->nodes[node];
	uint32_t mask = component(s, node);
	uint32_t view = mask & (alive_mask(s) | ~((UINT32_C(1) << s->n_nodes) - 1));
	uint64_t ring = ring_of(s, mask);
	struct payload *queue[MAX_QUEUE];
	unsigned n_queue = n->n_queue;

	if (n->is_stopped)
		return;
	if (n->ring == ring && n->view_mask == view && n->view_number) {
		if (n->is_unsettled)
			tell_view(s, node, mask, true);
		n->is_unsettled = false;
		return;
	}
	n->ring = ring;
	n->view_mask = view;
	memcpy(queue, n->queue, sizeof(queue));
	n->n_queue = 0;
	/* Whether there is a quorum may be told a moment later. */
	n->is_unsettled = elections_random(s, 2);
	tell_view(s, node, mask, !n->is_unsettled);
	if (n->is_unsettled)
		review_at(s, node, s->now_us + elections_random(s, 50 * MS));
	for (unsigned i = 0; i < n_queue; i++)
		send_in_ring(s, node, queue[i]);
}

static void review_peers(struct elections *s, unsigned node)
{
	struct node *n = &s->nodes[node];
	uint32_t mask = UINT32_C(1) << node;

	for (unsigned i = 0; i < s->n_nodes; i++) {
		const struct node *other = &s->nodes[i];
		bool is_heard = hear_each_other(s, node, i) && other->election &&
			!other->is_paused;

		if (is_heard)
			n->cut_since_us[i] = 0;
		else if (!n->cut_since_us[i])
			n->cut_since_us[i] = s->now_us;
		if (is_heard || s->now_us - n->cut_since_us[i] < SILENCE_US)
			mask |= UINT32_C(1) << i;
	}
	mask &= alive_mask(s) | n->view_mask;
	if (n->view_number && mask == n->view_mask)
		return;
	n->view_mask = mask;
	tell_view(s, node, mask, true);
}

static void review_at(struct elections *s, unsigned node, uint64_t at_us)
{
	push(s,
		(struct event){.at_us = at_us,
			.kind = REVIEW,
			.to = node,
			.life = s->nodes[node].life});
}

/* Who hears whom has changed: everybody notices, each at a time of its own. */
static void note_change(struct elections *s)
{
	uint64_t base_us[ELECTIONS_MAX_NODES];

	memset(s->ring_of_mask, 0, sizeof(s->ring_of_mask));
	for (unsigned i = 0; i < n_all(s); i++)
		base_us[i] = 300 * MS + elections_random(s, 500 * MS);
	for (unsigned i = 0; i < s->n_nodes; i++) {
		unsigned first = (unsigned)__builtin_ctz(component(s, i));

		if (!s->nodes[i].election)
			continue;
		if (s->kind == ELECTIONS_PEERS) {
			review_at(s, i, s->now_us);
			review_at(s, i, s->now_us + elections_random(s, 100 * MS));
			review_at(s, i, s->now_us + SILENCE_US + 1);
			review_at(s, i,
				s->now_us + SILENCE_US + elections_random(s, 50 * MS));
		} else {
			review_at(s, i,
				s->now_us + base_us[first] +
					elections_random(s, 60 * MS));
		}
	}
}

/* A process came or went: the ring stays, its members learn it in no time. */
static void note_process(struct elections *s)
{
	if (s->kind == ELECTIONS_PEERS) {
		note_change(s);
		return;
	}
	for (unsigned i = 0; i < s->n_nodes; i++)
		if (s->nodes[i].election)
			review_at(s, i,
				s->now_us + 2 * MS + elections_random(s, 20 * MS));
}

/* --- messages --- */

static uint64_t delay(struct elections *s)
{
	return s->min_delay_us +
		elections_random(s, s->max_delay_us - s->min_delay_us + 1);
}

static void deliver_at(struct elections *s, unsigned from, unsigned to, uint64_t at_us,
	struct payload *payload)
{
	payload->n_refs++;
	push(s,
		(struct event){.at_us = at_us,
			.kind = DELIVER,
			.from = from,
			.to = to,
			.ring = s->nodes[from].ring,
			.life = s->nodes[from].life,
			.payload = payload});
}

static void send_to_peers(struct elections *s, unsigned from, struct payload *payload)
{
	for (unsigned to = 0; to < s->n_nodes; to++) {
		uint64_t at_us = s->now_us + delay(s);
		uint64_t *last_us = &s->nodes[to].last_at_us[from];

		if (to == from) {
			deliver_at(s, from, to, s->now_us + 5, payload);
			continue;
		}
		if (!hear_each_other(s, from, to) ||
			elections_random(s, 100) < s->loss_percent)
			continue;
		if (at_us <= *last_us)
			at_us = *last_us + 1;
		*last_us = at_us;
		deliver_at(s, from, to, at_us, payload);
	}
}

static bool is_ring_whole(const struct elections *s, unsigned node)
{
	for (unsigned i = 0; i < 64; i++)
		if (s->ring_of_mask[i] && s->ring_of_mask[i] == s->nodes[node].ring)
			return s->mask_of_ring[i] == component(s, node);
	return false;
}

static void send_in_ring(struct elections *s, unsigned from, struct payload *payload)
{
	struct node *n = &s->nodes[from];
	uint64_t at_us = s->now_us + delay(s);

	if (n->is_stopped || !is_ring_whole(s, from)) {
		if (n->n_queue < MAX_QUEUE)
			n->queue[n->n_queue++] = payload;
		else
			unref(payload);
		return;
	}
	if (at_us <= s->order_us)
		at_us = s->order_us + 1;
	s->order_us = at_us;
	for (unsigned to = 0; to < s->n_nodes; to++)
		if (component(s, from) >> to & 1)
			deliver_at(s, from, to, at_us, payload);
	unref(payload);
}

static void send_message(struct elections *s, unsigned from,
	const struct triad_election_message *message)
{
	struct payload *payload = must(calloc(1, sizeof(*payload)));

	payload->n_refs = 1;
	payload->size = triad_election_message_encode(message, payload->octets);
	if (s->kind == ELECTIONS_RING) {
		send_in_ring(s, from, payload);
		return;
	}
	send_to_peers(s, from, payload);
	unref(payload);
}

/* --- a node --- */

static void note_violation(
	struct elections *s, const char *what, unsigned a, unsigned b)
{
	if (!*s->violation)
		snprintf(s->violation, sizeof(s->violation),
			"%s: nodes %c and %c at %.6f s", what, 'A' + (int)a,
			'A' + (int)b, (double)s->now_us / 1e6);
}

/* Members of a ring know the terms of all that is alive; nobody can tell them what one
 * that died alone knew. */
static bool is_older(const struct elections *s, unsigned node, uint64_t term)
{
	if (s->kind == ELECTIONS_RING &&
		s->nodes[s->highest_term_node].life != s->highest_term_life)
		return false;
	return term < s->highest_term ||
		(term == s->highest_term && node != s->highest_term_node);
}

/* The lease alone: a permission waits for OpenSM, too, which would hide it when two
 * hold the lease for a moment. */
static void watch_lease(
	struct elections *s, unsigned node, const struct triad_permission_facts *facts)
{
	struct node *n = &s->nodes[node];

	n->held_until_us = 0;
	if (!facts->is_holder)
		return;
	n->held_until_us = true_time(s, node, facts->deadline_us);
	for (unsigned i = 0; i < s->n_nodes; i++)
		if (i != node && n->held_until_us > s->now_us &&
			s->nodes[i].held_until_us > s->now_us)
			note_violation(s, "two hold the lease", node, i);
}

/* Permission begins at an event of its own node, so it is looked at then. */
static void watch(struct elections *s, unsigned node)
{
	struct node *n = &s->nodes[node];
	struct triad_permission_facts facts;
	struct triad_permission permission;

	triad_election_facts(n->election, &facts);
	watch_lease(s, node, &facts);
	permission = triad_permission_judge(&facts, elections_clock(s, node));
	n->permitted_until_us = 0;
	if (!permission.is_given)
		return;
	n->permitted_until_us = true_time(s, node, permission.deadline_us);
	for (unsigned i = 0; i < s->n_nodes; i++)
		if (i != node && s->nodes[i].permitted_until_us > s->now_us)
			note_violation(s, "two have permission", node, i);
	if (is_older(s, node, permission.term))
		note_violation(
			s, "an old term has permission", node, s->highest_term_node);
	s->highest_term = permission.term;
	s->highest_term_node = node;
	s->highest_term_life = s->nodes[node].life;
}

static void act(struct elections *s, unsigned node)
{
	struct node *n = &s->nodes[node];
	struct triad_election_action action;

	while (triad_election_take_action(n->election, &action)) {
		struct event event = {.to = node, .life = n->life};

		switch (action.kind) {
		case TRIAD_ELECTION_STORE:
			n->stored = action.stored;
			break;
		case TRIAD_ELECTION_SEND:
			if (!n->is_runaway)
				send_message(s, node, &action.message);
			break;
		case TRIAD_ELECTION_SET_PRIORITY:
			n->sm_priority = action.sm_priority;
			break;
		case TRIAD_ELECTION_TAKE_OVER:
			event.at_us = s->now_us + SM_UP_US;
			event.kind = SM_UP;
			push(s, event);
			break;
		case TRIAD_ELECTION_STEP_DOWN:
			event.at_us = s->now_us + SM_UP_US / 2;
			event.kind = SM_DOWN;
			push(s, event);
			break;
		}
	}
	watch(s, node);
	n->wake_us = true_time(s, node, triad_election_next_us(n->election));
}

/* A program gone wrong: it shouts at whoever says anything. */
static void shout(struct elections *s, unsigned node, const struct payload *heard)
{
	struct triad_election_message theirs;
	struct triad_election_message message = {
		.state = TRIAD_ELECTION_MASTER,
		.flags = TRIAD_ELECTION_IS_ABLE,
		.from = elections_id(node),
		.priority = UINT32_MAX >> 7,
		.lease_ms = LEASE_MS,
	};

	if (triad_election_message_decode(&theirs, heard->octets, heard->size) ||
		theirs.from == message.from || elections_random(s, 4))
		return;
	message.term = theirs.term;
	message.claim = elections_random(s, 2) ? theirs.claim : 0;
	message.kind = TRIAD_ELECTION_STATUS;
	send_message(s, node, &message);
	message.kind = TRIAD_ELECTION_CEDE;
	message.to = theirs.from;
	message.answers = theirs.round;
	send_message(s, node, &message);
}

static void hand_over(struct elections *s, const struct event *event)
{
	struct node *n = &s->nodes[event->to];

	if (n->is_runaway)
		shout(s, event->to, event->payload);
	triad_election_payload(n->election, elections_id(event->from),
		event->payload->octets, event->payload->size,
		elections_clock(s, event->to));
	act(s, event->to);
}

static void keep_for_later(struct elections *s, struct node *n, struct event event)
{
	(void)s;
	if (n->n_inbox == n->max_inbox) {
		n->max_inbox = n->max_inbox * 2 + 16;
		n->inbox = must(realloc(n->inbox, n->max_inbox * sizeof(*n->inbox)));
	}
	n->inbox[n->n_inbox++] = event;
}

static bool is_receivable(struct elections *s, struct event *event)
{
	struct node *n = &s->nodes[event->to];

	if (!n->election)
		return false;
	if (s->kind == ELECTIONS_PEERS || event->ring == n->ring)
		return event->to == event->from ? event->life == n->life : true;
	if (event->ring < n->ring || !hear_each_other(s, event->from, event->to))
		return false;
	event->at_us = s->now_us + 5 * MS; /* its ring has not formed here yet */
	push(s, *event);
	event->payload = NULL;
	return false;
}

static void deliver(struct elections *s, struct event event)
{
	struct node *n = &s->nodes[event.to];

	/* What was on its way when a ring broke arrives here and there. */
	if (event.from != event.to && !hear_each_other(s, event.from, event.to) &&
		elections_random(s, 2)) {
		unref(event.payload);
		return;
	}
	if (!is_receivable(s, &event)) {
		unref(event.payload);
		return;
	}
	if (n->is_paused) {
		keep_for_later(s, n, event);
		return;
	}
	hand_over(s, &event);
	unref(event.payload);
}

static void handle(struct elections *s, struct event event)
{
	struct node *n = &s->nodes[event.to];
	bool is_there = n->election && event.life == n->life;

	if (event.kind == DELIVER) {
		deliver(s, event);
		return;
	}
	if (!is_there)
		return;
	if (n->is_paused) {
		event.at_us = s->now_us + 10 * MS;
		push(s, event);
		return;
	}
	if (event.kind == REVIEW && s->kind == ELECTIONS_RING)
		review_ring(s, event.to);
	else if (event.kind == REVIEW)
		review_peers(s, event.to);
	else {
		struct triad_election_status status;
		bool is_master;

		triad_election_status(
			n->election, elections_clock(s, event.to), &status);
		is_master = status.state == TRIAD_ELECTION_MASTER;
		if (is_master == (event.kind == SM_UP))
			triad_election_sm(n->election, is_master, is_master,
				elections_clock(s, event.to));
		act(s, event.to);
	}
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
		act(s, waker);
		/* Never twice at one moment. */
		if (s->nodes[waker].wake_us <= s->now_us)
			s->nodes[waker].wake_us = s->now_us + 1;
	}
	s->now_us = until_us;
}

/* --- faults --- */

void elections_loss(struct elections *s, unsigned percent)
{
	s->loss_percent = percent;
}

void elections_delay(struct elections *s, uint64_t min_us, uint64_t max_us)
{
	s->min_delay_us = min_us;
	s->max_delay_us = max_us;
}

void elections_partition(struct elections *s, const unsigned *groups)
{
	for (unsigned i = 0; i < n_all(s); i++)
		s->nodes[i].group = groups[i];
	note_change(s);
}

void elections_link(struct elections *s, unsigned a, unsigned b, bool is_up)
{
	s->is_cut[a][b] = s->is_cut[b][a] = !is_up;
	note_change(s);
}

void elections_kill(struct elections *s, unsigned node)
{
	struct node *n = &s->nodes[node];

	triad_election_free(n->election);
	n->election = NULL;
	n->permitted_until_us = n->held_until_us = 0;
	n->is_paused = n->is_runaway = false;
	n->life++;
	for (unsigned i = 0; i < n->n_inbox; i++)
		unref(n->inbox[i].payload);
	for (unsigned i = 0; i < n->n_queue; i++)
		unref(n->queue[i]);
	n->n_inbox = n->n_queue = 0;
	note_process(s);
}

void elections_start(struct elections *s, unsigned node)
{
	const struct triad_election_conf conf = {
		.id = elections_id(node),
		.status_ms = STATUS_MS,
		.keepalive_ms = KEEPALIVE_MS,
		.timeout_ms = 200,
		.step_ms = 50,
		.n_steps = 3,
		.lease_ms = LEASE_MS,
		.has_cluster = true,
	};
	struct node *n = &s->nodes[node];

	n->life++;
	n->view_number = 0;
	n->view_mask = 0;
	n->sm_priority = 0;
	memset(n->cut_since_us, 0, sizeof(n->cut_since_us));
	n->election =
		must(triad_election_new(&conf, &n->stored, elections_clock(s, node)));
	triad_election_ports(n->election, 2, 2, elections_clock(s, node));
	act(s, node);
	note_process(s);
}

void elections_pause(struct elections *s, unsigned node, bool is_paused)
{
	struct node *n = &s->nodes[node];
	struct event *inbox = n->inbox;
	unsigned n_inbox = n->n_inbox;
	bool is_timer_first = elections_random(s, 2);

	if (n->is_paused == is_paused)
		return;
	n->is_paused = is_paused;
	if (s->kind == ELECTIONS_PEERS)
		note_change(s);
	if (is_paused)
		return;
	n->inbox = NULL;
	n->n_inbox = n->max_inbox = 0;
	if (is_timer_first) {
		triad_election_run(n->election, elections_clock(s, node));
		act(s, node);
	}
	for (unsigned i = 0; i < n_inbox; i++)
		deliver(s, inbox[i]);
	free(inbox);
}

/* The hazard: what waited is handed back to its sender before the service notices that
 * the others have gone on without it. */
static void hand_back(struct elections *s, unsigned node)
{
	struct node *n = &s->nodes[node];

	for (unsigned i = 0; i < n->n_queue; i++)
		deliver_at(s, node, node, s->now_us + 1 + i, n->queue[i]);
	for (unsigned i = 0; i < n->n_queue; i++)
		unref(n->queue[i]);
	n->n_queue = 0;
}

void elections_stop(struct elections *s, unsigned node, bool is_stopped)
{
	struct node *n = &s->nodes[node];

	if (n->is_stopped == is_stopped)
		return;
	n->is_stopped = is_stopped;
	if (!is_stopped && s->kind == ELECTIONS_RING && elections_random(s, 2))
		hand_back(s, node);
	note_change(s);
}

void elections_runaway(struct elections *s, unsigned node, bool is_runaway)
{
	s->nodes[node].is_runaway = is_runaway;
}

/* The clock goes on from where it is. */
void elections_drift(struct elections *s, unsigned node, int ppm)
{
	uint64_t before_us = elections_clock(s, node);

	s->nodes[node].drift_ppm = ppm;
	s->nodes[node].offset_us += before_us - elections_clock(s, node);
	if (s->nodes[node].election)
		act(s, node);
}

/* --- looking --- */

struct triad_election *elections_of(struct elections *s, unsigned node)
{
	return s->nodes[node].election;
}

void elections_poke(struct elections *s, unsigned node)
{
	act(s, node);
}

bool elections_is_together(const struct elections *s, unsigned a, unsigned b)
{
	if (s->kind == ELECTIONS_PEERS)
		return hear_each_other(s, a, b);
	return component(s, a) >> b & 1;
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

/* --- what must be after a quiet while --- */

struct side {
	uint32_t mask;
	unsigned n_masters, n_permitted, n_able, master;
	bool is_quorate;
};

static struct side look_at_side(struct elections *s, unsigned first)
{
	struct side side = {.mask = component(s, first)};
	unsigned n_here = 0;

	for (unsigned i = 0; i < n_all(s); i++)
		n_here += (side.mask >> i & 1) &&
			(i >= s->n_nodes || s->kind == ELECTIONS_RING ||
				elections_is_running(s, i));
	side.is_quorate = n_here * 2 > n_all(s);
	for (unsigned i = 0; i < s->n_nodes; i++) {
		struct triad_election_status status;
		struct triad_permission_facts facts;

		if (!(side.mask >> i & 1) || !elections_is_running(s, i))
			continue;
		triad_election_status(
			s->nodes[i].election, elections_clock(s, i), &status);
		triad_election_facts(s->nodes[i].election, &facts);
		if (status.state == TRIAD_ELECTION_MASTER) {
			side.n_masters++;
			side.master = i;
		}
		side.n_permitted += elections_is_permitted(s, i);
		side.n_able += triad_permission_is_able(&facts);
	}
	return side;
}

/* What each node thinks, on standard error. */
static void describe(struct elections *s)
{
	for (unsigned i = 0; i < s->n_nodes; i++) {
		struct triad_election_status status;
		struct triad_permission_facts facts;
		struct triad_permission permission;

		if (!s->nodes[i].election)
			continue;
		triad_election_status(
			s->nodes[i].election, elections_clock(s, i), &status);
		triad_election_facts(s->nodes[i].election, &facts);
		permission = triad_permission_judge(&facts, elections_clock(s, i));
		fprintf(stderr,
			"  %c: %s, priority %#" PRIx32 ", master %#" PRIx64
			", holder %#" PRIx64 ", term %" PRIu64 ", against %#" PRIx32
			", view of %u%s\n",
			'A' + (int)i, triad_election_state_name(status.state),
			status.priority, status.master, status.holder, status.term,
			permission.reasons, status.view.n_members,
			s->nodes[i].is_paused ? ", paused" : "");
	}
}

static const char *complain(
	struct elections *s, const struct side *side, const char *what)
{
	describe(s);
	snprintf(s->wrong, sizeof(s->wrong),
		"%s on the side of nodes 0x%" PRIx32
		" at %.3f s: %u master(s), %u able, "
		"%u permitted%s",
		what, side->mask, (double)s->now_us / 1e6, side->n_masters,
		side->n_able, side->n_permitted, side->is_quorate ? ", quorate" : "");
	return s->wrong;
}

const char *elections_check(struct elections *s)
{
	for (unsigned i = 0; i < s->n_nodes; i++) {
		struct triad_election_status status;
		struct side side;

		if (!elections_is_running(s, i))
			continue;
		side = look_at_side(s, i);
		if (side.n_masters != 1)
			return complain(s, &side, "not one master");
		triad_election_status(
			s->nodes[i].election, elections_clock(s, i), &status);
		if (status.master != elections_id(side.master))
			return complain(s, &side, "somebody follows another master");
		if (side.n_permitted != (side.is_quorate && side.n_able ? 1 : 0))
			return complain(
				s, &side, "not the right number of permissions");
	}
	return NULL;
}

/* --- life --- */

struct elections *elections_new(
	enum elections_kind kind, unsigned n_nodes, unsigned n_bare, uint64_t seed)
{
	struct elections *s = must(calloc(1, sizeof(*s)));

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
	note_change(s);
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
		unref(pop(s).payload);
	event_heap_clear(&s->heap);
	free(s);
}
