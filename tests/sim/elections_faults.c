/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include <stdlib.h>
#include <string.h>

#include "tests/sim/elections_parts.h"

#define STATUS_MS 100u
#define KEEPALIVE_MS 500u

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
	for (unsigned i = 0; i < elections_n_all(s); i++)
		s->nodes[i].group = groups[i];
	elections_note_change(s);
}

void elections_link(struct elections *s, unsigned a, unsigned b, bool is_up)
{
	s->is_cut[a][b] = s->is_cut[b][a] = !is_up;
	elections_note_change(s);
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
		elections_unref(n->inbox[i].payload);
	for (unsigned i = 0; i < n->n_queue; i++)
		elections_unref(n->queue[i]);
	n->n_inbox = n->n_queue = 0;
	elections_note_process(s);
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
	n->election = elections_must(
		triad_election_new(&conf, &n->stored, elections_clock(s, node)));
	triad_election_ports(n->election,
		&(struct triad_port_health){.n_ports = 2, .n_good = 2, .is_up = true},
		elections_clock(s, node));
	elections_poke(s, node);
	elections_note_process(s);
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
		elections_note_change(s);
	if (is_paused)
		return;
	n->inbox = NULL;
	n->n_inbox = n->max_inbox = 0;
	if (is_timer_first) {
		triad_election_run(n->election, elections_clock(s, node));
		elections_poke(s, node);
	}
	for (unsigned i = 0; i < n_inbox; i++)
		elections_deliver(s, inbox[i]);
	free(inbox);
}

/* The hazard: waiting messages are delivered to their own sender before the service
 * notices that the others have formed a ring without it. */
static void hand_back(struct elections *s, unsigned node)
{
	struct node *n = &s->nodes[node];

	for (unsigned i = 0; i < n->n_queue; i++)
		elections_deliver_at(s, node, node, s->now_us + 1 + i, n->queue[i]);
	for (unsigned i = 0; i < n->n_queue; i++)
		elections_unref(n->queue[i]);
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
	elections_note_change(s);
}

void elections_runaway(struct elections *s, unsigned node, bool is_runaway)
{
	s->nodes[node].is_runaway = is_runaway;
}

void elections_fill_disk(struct elections *s, unsigned node, bool is_full)
{
	s->nodes[node].is_disk_full = is_full;
}

/* The clock continues from its present time. */
void elections_drift(struct elections *s, unsigned node, int ppm)
{
	uint64_t before_us = elections_clock(s, node);

	s->nodes[node].drift_ppm = ppm;
	s->nodes[node].offset_us += before_us - elections_clock(s, node);
	if (s->nodes[node].election)
		elections_poke(s, node);
}
