/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include <inttypes.h>
#include <stdio.h>

#include "tests/sim/elections_parts.h"

/* --- what must always hold --- */

static void note_violation(
	struct elections *s, const char *what, unsigned a, unsigned b)
{
	if (!*s->violation)
		snprintf(s->violation, sizeof(s->violation),
			"%s: nodes %c and %c at %.6f s", what, 'A' + (int)a,
			'A' + (int)b, (double)s->now_us / 1e6);
}

static bool is_older(const struct elections *s, unsigned node, uint64_t term)
{
	return term < s->highest_term ||
		(term == s->highest_term && node != s->highest_term_node);
}

/* Check the lease by itself: a permission also waits for OpenSM, which would hide two
 * holders of the lease at one time. */
static void watch_lease(
	struct elections *s, unsigned node, const struct triad_permission_facts *facts)
{
	struct node *n = &s->nodes[node];

	n->held_until_us = 0;
	if (!facts->is_holder)
		return;
	n->held_until_us = elections_true_time(s, node, facts->deadline_us);
	for (unsigned i = 0; i < s->n_nodes; i++)
		if (i != node && n->held_until_us > s->now_us &&
			s->nodes[i].held_until_us > s->now_us)
			note_violation(s, "two hold the lease", node, i);
}

/* Permission begins at an event of its own node, so check it then. */
void elections_watch(struct elections *s, unsigned node)
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
	n->permitted_until_us = elections_true_time(s, node, permission.deadline_us);
	for (unsigned i = 0; i < s->n_nodes; i++)
		if (i != node && s->nodes[i].permitted_until_us > s->now_us)
			note_violation(s, "two have permission", node, i);
	if (is_older(s, node, permission.term))
		note_violation(
			s, "an old term has permission", node, s->highest_term_node);
	s->highest_term = permission.term;
	s->highest_term_node = node;
}

/* --- what must hold after a time without faults --- */

struct side {
	uint32_t mask;
	unsigned n_masters, n_permitted, n_able, master;
	bool is_quorate;
};

static struct side look_at_side(struct elections *s, unsigned first)
{
	struct side side = {.mask = elections_component(s, first)};
	unsigned n_here = 0;

	for (unsigned i = 0; i < s->n_nodes; i++)
		n_here += (side.mask >> i & 1) && elections_is_running(s, i);
	side.is_quorate = n_here >= triad_cluster_majority(s->n_nodes);
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

/* Writes the state of each node to standard error. */
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
