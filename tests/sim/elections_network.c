/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include <stdlib.h>
#include <string.h>

#include "tests/sim/elections_parts.h"

#define SILENCE_US (400 * MS)

/* --- connections --- */

unsigned elections_n_all(const struct elections *s)
{
	return s->n_nodes + s->n_bare;
}

bool elections_reach_each_other(const struct elections *s, unsigned a, unsigned b)
{
	const struct node *x = &s->nodes[a], *y = &s->nodes[b];

	return a == b ||
		(x->group == y->group && !s->is_cut[a][b] && !x->is_stopped &&
			!y->is_stopped);
}

static bool hears_all(const struct elections *s, unsigned node, uint32_t mask)
{
	for (unsigned i = 0; i < elections_n_all(s); i++)
		if ((mask >> i & 1) && !elections_reach_each_other(s, node, i))
			return false;
	return true;
}

/* The ring that a node's cluster service is in, or will be in when it has formed: each
 * member receives from each, and no node is in two rings. */
uint32_t elections_component(const struct elections *s, unsigned node)
{
	uint32_t rings[ELECTIONS_MAX_NODES];
	unsigned n_rings = 0;

	for (unsigned i = 0; i < elections_n_all(s); i++) {
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

static void deliver_view(struct elections *s, unsigned node, uint32_t mask)
{
	struct node *n = &s->nodes[node];
	/* Peers notice a dead peer only after its silence. */
	uint32_t elects = s->kind == ELECTIONS_PEERS ? mask : mask & alive_mask(s);
	struct triad_cluster_view view = {
		.number = ++n->view_number,
		.is_connected = true,
		.n_votes_needed = triad_cluster_majority(s->n_nodes),
	};

	for (unsigned i = 0; i < s->n_nodes; i++)
		if (elects >> i & 1)
			view.members[view.n_members++] = elections_id(i);
	view.is_quorate = view.n_members >= view.n_votes_needed;
	triad_election_view(n->election, &view, elections_clock(s, node));
	elections_poke(s, node);
}

/* The number of the ring of these nodes, the same for all its members. */
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

static void review_ring(struct elections *s, unsigned node)
{
	struct node *n = &s->nodes[node];
	uint32_t mask = elections_component(s, node);
	uint32_t view = mask & (alive_mask(s) | ~((UINT32_C(1) << s->n_nodes) - 1));
	uint64_t ring = ring_of(s, mask);
	struct payload *queue[MAX_QUEUE];
	unsigned n_queue = n->n_queue;

	if (n->is_stopped)
		return;
	if (n->ring == ring && n->view_mask == view && n->view_number)
		return;
	n->ring = ring;
	n->view_mask = view;
	memcpy(queue, n->queue, sizeof(queue));
	n->n_queue = 0;
	deliver_view(s, node, mask);
	for (unsigned i = 0; i < n_queue; i++)
		send_in_ring(s, node, queue[i]);
}

static void review_peers(struct elections *s, unsigned node)
{
	struct node *n = &s->nodes[node];
	uint32_t mask = UINT32_C(1) << node;

	for (unsigned i = 0; i < s->n_nodes; i++) {
		const struct node *other = &s->nodes[i];
		bool is_received = elections_reach_each_other(s, node, i) &&
			other->election && !other->is_paused;

		if (is_received)
			n->cut_since_us[i] = 0;
		else if (!n->cut_since_us[i])
			n->cut_since_us[i] = s->now_us;
		if (is_received || s->now_us - n->cut_since_us[i] < SILENCE_US)
			mask |= UINT32_C(1) << i;
	}
	mask &= alive_mask(s) | n->view_mask;
	if (n->view_number && mask == n->view_mask)
		return;
	n->view_mask = mask;
	deliver_view(s, node, mask);
}

void elections_review(struct elections *s, unsigned node)
{
	if (s->kind == ELECTIONS_RING)
		review_ring(s, node);
	else
		review_peers(s, node);
}

static void review_at(struct elections *s, unsigned node, uint64_t at_us)
{
	elections_push(s,
		(struct event){.at_us = at_us,
			.kind = REVIEW,
			.to = node,
			.life = s->nodes[node].life});
}

void elections_note_change(struct elections *s)
{
	uint64_t base_us[ELECTIONS_MAX_NODES];

	memset(s->ring_of_mask, 0, sizeof(s->ring_of_mask));
	for (unsigned i = 0; i < elections_n_all(s); i++)
		base_us[i] = 300 * MS + elections_random(s, 500 * MS);
	for (unsigned i = 0; i < s->n_nodes; i++) {
		unsigned first = (unsigned)__builtin_ctz(elections_component(s, i));

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

/* A process started or ended: the ring stays, and its members learn it at once. */
void elections_note_process(struct elections *s)
{
	if (s->kind == ELECTIONS_PEERS) {
		elections_note_change(s);
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

void elections_deliver_at(struct elections *s, unsigned from, unsigned to,
	uint64_t at_us, struct payload *payload)
{
	payload->n_refs++;
	elections_push(s,
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
			elections_deliver_at(s, from, to, s->now_us + 5, payload);
			continue;
		}
		if (!elections_reach_each_other(s, from, to) ||
			elections_random(s, 100) < s->loss_percent)
			continue;
		if (at_us <= *last_us)
			at_us = *last_us + 1;
		*last_us = at_us;
		elections_deliver_at(s, from, to, at_us, payload);
	}
}

static bool is_ring_whole(const struct elections *s, unsigned node)
{
	for (unsigned i = 0; i < 64; i++)
		if (s->ring_of_mask[i] && s->ring_of_mask[i] == s->nodes[node].ring)
			return s->mask_of_ring[i] == elections_component(s, node);
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
			elections_unref(payload);
		return;
	}
	if (at_us <= s->order_us)
		at_us = s->order_us + 1;
	s->order_us = at_us;
	for (unsigned to = 0; to < s->n_nodes; to++)
		if (elections_component(s, from) >> to & 1)
			elections_deliver_at(s, from, to, at_us, payload);
	elections_unref(payload);
}

void elections_send(struct elections *s, unsigned from,
	const struct triad_election_message *message)
{
	struct payload *payload = elections_must(calloc(1, sizeof(*payload)));

	payload->n_refs = 1;
	payload->size = triad_election_message_encode(message, payload->octets);
	if (s->kind == ELECTIONS_RING) {
		send_in_ring(s, from, payload);
		return;
	}
	send_to_peers(s, from, payload);
	elections_unref(payload);
}

/* --- receiving --- */

/* A faulty program: it answers each message. */
static void shout(struct elections *s, unsigned node, const struct payload *received)
{
	struct triad_election_message theirs;
	struct triad_election_message message = {
		.state = TRIAD_ELECTION_MASTER,
		.flags = TRIAD_ELECTION_IS_ABLE,
		.from = elections_id(node),
		.priority = UINT32_MAX >> 7,
		.lease_ms = LEASE_MS,
	};

	if (triad_election_message_decode(&theirs, received->octets, received->size) ||
		theirs.from == message.from || elections_random(s, 4))
		return;
	message.term = theirs.term;
	message.claim = elections_random(s, 2) ? theirs.claim : 0;
	message.held = elections_random(s, 2) ? theirs.term : 0;
	message.kind = TRIAD_ELECTION_STATUS;
	elections_send(s, node, &message);
	message.kind = TRIAD_ELECTION_CEDE;
	message.to = theirs.from;
	message.answers = theirs.round;
	elections_send(s, node, &message);
}

static void hand_over(struct elections *s, const struct event *event)
{
	struct node *n = &s->nodes[event->to];

	if (n->is_runaway)
		shout(s, event->to, event->payload);
	triad_election_payload(n->election, elections_id(event->from),
		event->payload->octets, event->payload->size,
		elections_clock(s, event->to));
	elections_poke(s, event->to);
}

static void keep_for_later(struct node *n, struct event event)
{
	if (n->n_inbox == n->max_inbox) {
		n->max_inbox = n->max_inbox * 2 + 16;
		n->inbox = elections_must(
			realloc(n->inbox, n->max_inbox * sizeof(*n->inbox)));
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
	if (event->ring < n->ring ||
		!elections_reach_each_other(s, event->from, event->to))
		return false;
	event->at_us = s->now_us + 5 * MS; /* its ring has not formed here yet */
	elections_push(s, *event);
	event->payload = NULL;
	return false;
}

void elections_deliver(struct elections *s, struct event event)
{
	struct node *n = &s->nodes[event.to];

	/* Messages under way when a ring broke arrive at some members. */
	if (event.from != event.to &&
		!elections_reach_each_other(s, event.from, event.to) &&
		elections_random(s, 2)) {
		elections_unref(event.payload);
		return;
	}
	if (!is_receivable(s, &event)) {
		elections_unref(event.payload);
		return;
	}
	if (n->is_paused) {
		keep_for_later(n, event);
		return;
	}
	hand_over(s, &event);
	elections_unref(event.payload);
}
