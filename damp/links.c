/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "damp/links.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Bounces of which is not known yet whether they are those of a link.  More at once are
 * those of a node. */
#define MAX_PENDING 512u
#define DEFAULT_HALF_LIFE_US (900 * TRIAD_US_PER_S)
/* A link of which this little is left is as good as one that never bounced. */
#define NEGLIGIBLE 10.0
/* Without a hold for so many half-lives, the next one is the first again. */
#define FORGETS_HOLDS 96u

struct pending {
	struct triad_damp_ends ends;
	uint64_t at_us;
	unsigned n_near, n_far;
	bool is_of_node; /* one of many of a node's */
};

struct triad_damp_links {
	uint64_t half_life_us;
	uint64_t n_together;
	size_t n, n_pending;
	struct pending pending[MAX_PENDING]; /* in the order in which they came */
	struct triad_damp_link links[TRIAD_DAMP_MAX_LINKS];
};

struct triad_damp_ends triad_damp_ends_of(
	uint64_t guid, uint8_t number, uint64_t far_guid, uint8_t far_number)
{
	if (guid < far_guid || (guid == far_guid && number <= far_number))
		return (struct triad_damp_ends){guid, far_guid, number, far_number};
	return (struct triad_damp_ends){far_guid, guid, far_number, number};
}

bool triad_damp_is_same(
	const struct triad_damp_ends *a, const struct triad_damp_ends *b)
{
	return a->guid == b->guid && a->far_guid == b->far_guid &&
		a->number == b->number && a->far_number == b->far_number;
}

bool triad_damp_ends_at(
	const struct triad_fabric *fabric, uint32_t port, struct triad_damp_ends *ends)
{
	const struct triad_fabric_port *near, *far;

	if (port == TRIAD_FABRIC_NONE ||
		fabric->ports[port].remote == TRIAD_FABRIC_NONE)
		return false;
	near = &fabric->ports[port];
	far = &fabric->ports[near->remote];
	*ends = triad_damp_ends_of(fabric->nodes[near->node].guid, near->number,
		fabric->nodes[far->node].guid, far->number);
	return true;
}

uint32_t triad_damp_linked_port(
	const struct triad_fabric *fabric, const struct triad_damp_ends *ends)
{
	uint32_t port = triad_fabric_port_at(fabric, ends->guid, ends->number);

	return port != TRIAD_FABRIC_NONE &&
			fabric->ports[port].remote != TRIAD_FABRIC_NONE
		? port
		: TRIAD_FABRIC_NONE;
}

static bool is_switch(const struct triad_fabric *fabric, uint64_t guid)
{
	uint32_t node = triad_fabric_find_node(fabric, guid);

	return node != TRIAD_FABRIC_NONE &&
		fabric->nodes[node].type == TRIAD_NODE_SWITCH;
}

bool triad_damp_is_of_switches(
	const struct triad_fabric *fabric, const struct triad_damp_ends *ends)
{
	return is_switch(fabric, ends->guid) && is_switch(fabric, ends->far_guid);
}

bool triad_damp_has_end(
	const struct triad_damp_ends *ends, uint64_t guid, uint8_t number)
{
	return (ends->guid == guid && ends->number == number) ||
		(ends->far_guid == guid && ends->far_number == number);
}

struct triad_damp_links *triad_damp_links_new(void)
{
	struct triad_damp_links *links = calloc(1, sizeof(*links));

	if (links)
		links->half_life_us = DEFAULT_HALF_LIFE_US;
	return links;
}

void triad_damp_links_free(struct triad_damp_links *links)
{
	free(links);
}

void triad_damp_links_set_half_life(struct triad_damp_links *links, uint64_t us)
{
	links->half_life_us = us;
}

uint64_t triad_damp_links_half_life(const struct triad_damp_links *links)
{
	return links->half_life_us;
}

double triad_damp_link_penalty(const struct triad_damp_links *links,
	const struct triad_damp_link *link, uint64_t now_us)
{
	double age_us = now_us > link->at_us ? (double)(now_us - link->at_us) : 0;

	return link->penalty * exp2(-age_us / (double)links->half_life_us);
}

/* --- the table --- */

size_t triad_damp_links_n(const struct triad_damp_links *links)
{
	return links->n;
}

struct triad_damp_link *triad_damp_links_at(struct triad_damp_links *links, size_t i)
{
	return &links->links[i];
}

/* The place for one more: a new one, or that of the link with the least penalty. */
static struct triad_damp_link *make_room(struct triad_damp_links *links)
{
	struct triad_damp_link *least = NULL;

	if (links->n < TRIAD_DAMP_MAX_LINKS)
		return &links->links[links->n++];
	for (size_t i = 0; i < links->n; i++)
		if (!links->links[i].is_held &&
			(!least || links->links[i].penalty < least->penalty))
			least = &links->links[i];
	return least;
}

struct triad_damp_link *triad_damp_links_find(
	struct triad_damp_links *links, const struct triad_damp_ends *ends, bool must)
{
	struct triad_damp_link *link;

	for (size_t i = 0; i < links->n; i++)
		if (triad_damp_is_same(&links->links[i].ends, ends))
			return &links->links[i];
	link = must ? make_room(links) : NULL;
	if (link)
		*link = (struct triad_damp_link){.ends = *ends};
	return link;
}

/* Forgets links that are as good as new. */
static void forget_links(struct triad_damp_links *links, uint64_t now_us)
{
	for (size_t i = 0; i < links->n;) {
		const struct triad_damp_link *link = &links->links[i];

		if (link->is_held ||
			triad_damp_link_penalty(links, link, now_us) >= NEGLIGIBLE ||
			(link->n_holds &&
				now_us - link->held_us <
					FORGETS_HOLDS * links->half_life_us))
			i++;
		else
			links->links[i] = links->links[--links->n];
	}
}

/* --- bounces --- */

void triad_damp_links_bounce(struct triad_damp_links *links,
	const struct triad_damp_ends *ends, unsigned n_near, unsigned n_far,
	uint64_t now_us)
{
	struct triad_damp_link *link = triad_damp_links_find(links, ends, false);

	/* Both ends tell of one bounce. */
	if (link && now_us < link->bounced_us + TRIAD_DAMP_APART_US)
		return;
	for (size_t i = 0; i < links->n_pending; i++)
		if (triad_damp_is_same(&links->pending[i].ends, ends))
			return;
	/* Now: it may be up again when the bounce counts. */
	if (link)
		link->is_up = link->is_far_seen = false;
	if (links->n_pending == MAX_PENDING) {
		links->n_together++;
		return;
	}
	links->pending[links->n_pending++] =
		(struct pending){*ends, now_us, n_near, n_far, false};
}

static bool has_end(const struct triad_damp_ends *ends, uint64_t guid)
{
	return ends->guid == guid || ends->far_guid == guid;
}

static bool is_of_host(const struct pending *bounce)
{
	return bounce->n_near == TRIAD_DAMP_HOST || bounce->n_far == TRIAD_DAMP_HOST;
}

/* Marks the node's bounces if they are many, or of all its links. */
static void mark_node(struct triad_damp_links *links, uint64_t guid, unsigned n_links)
{
	unsigned n = 0, n_of_hosts = 0;

	for (size_t i = 0; i < links->n_pending; i++) {
		if (!has_end(&links->pending[i].ends, guid))
			continue;
		n++;
		n_of_hosts += is_of_host(&links->pending[i]);
	}
	if (n < TRIAD_DAMP_MANY && (n - n_of_hosts < 2 || n - n_of_hosts != n_links))
		return;
	for (size_t i = 0; i < links->n_pending; i++)
		links->pending[i].is_of_node |= has_end(&links->pending[i].ends, guid);
}

/* By the penalty and the number of holds. */
static void set_quiet(
	const struct triad_damp_links *links, struct triad_damp_link *link)
{
	double half_lives =
		log2(fmax(link->penalty, 2 * TRIAD_DAMP_REUSE) / TRIAD_DAMP_REUSE);

	half_lives = fmin(half_lives * link->n_holds, TRIAD_DAMP_MAX_HALF_LIVES);
	link->quiet_us = (uint64_t)(half_lives * (double)links->half_life_us);
}

static void count_bounce(struct triad_damp_links *links, const struct pending *bounce)
{
	struct triad_damp_link *link =
		triad_damp_links_find(links, &bounce->ends, true);

	if (!link)
		return;
	link->penalty = fmin(TRIAD_DAMP_CEILING,
		triad_damp_link_penalty(links, link, bounce->at_us) +
			TRIAD_DAMP_PENALTY);
	link->at_us = link->bounced_us = bounce->at_us;
	link->n_bounces++;
	link->is_host |= is_of_host(bounce);
	link->refused = NULL;
	if (link->is_held)
		set_quiet(links, link);
}

uint64_t triad_damp_links_settle(struct triad_damp_links *links, uint64_t now_us)
{
	struct pending due[MAX_PENDING];
	size_t n_due = 0, n_left = 0;

	for (size_t i = 0; i < links->n_pending; i++) {
		const struct pending *bounce = &links->pending[i];

		if (now_us < bounce->at_us + TRIAD_DAMP_TOGETHER_US)
			break; /* those behind it are younger */
		mark_node(links, bounce->ends.guid, bounce->n_near);
		mark_node(links, bounce->ends.far_guid, bounce->n_far);
		if (bounce->is_of_node)
			links->n_together++;
		else
			due[n_due++] = *bounce;
		n_left++;
	}
	links->n_pending -= n_left;
	memmove(links->pending, links->pending + n_left,
		links->n_pending * sizeof(*links->pending));
	for (size_t i = 0; i < n_due; i++)
		count_bounce(links, &due[i]);
	forget_links(links, now_us);
	return links->n_pending ? links->pending[0].at_us + TRIAD_DAMP_TOGETHER_US
				: UINT64_MAX;
}

/* --- holding --- */

struct triad_damp_link *triad_damp_links_next_over(
	struct triad_damp_links *links, uint64_t now_us)
{
	for (size_t i = 0; i < links->n; i++) {
		struct triad_damp_link *link = &links->links[i];

		if (!link->is_held && !link->refused &&
			triad_damp_link_penalty(links, link, now_us) >=
				TRIAD_DAMP_LIMIT)
			return link;
	}
	return NULL;
}

void triad_damp_link_hold(const struct triad_damp_links *links,
	struct triad_damp_link *link, uint64_t now_us)
{
	if (!link->is_held) {
		if (link->held_us &&
			now_us - link->held_us > FORGETS_HOLDS * links->half_life_us)
			link->n_holds = 0;
		link->n_holds++;
		link->is_held = true;
		link->held_us = now_us;
	}
	link->refused = NULL;
	link->is_up = link->is_far_seen = false;
	link->must_read = true;
	set_quiet(links, link);
}

void triad_damp_link_refuse(struct triad_damp_link *link, const char *why)
{
	link->refused = why;
}

void triad_damp_link_release(
	struct triad_damp_link *link, bool forgive, uint64_t now_us)
{
	link->is_held = link->is_pinned = link->is_by_heal = link->is_up = false;
	link->held_us = now_us;
	if (!forgive)
		return;
	link->penalty = 0;
	link->n_holds = 0;
	link->refused = NULL;
}

void triad_damp_link_set_up(struct triad_damp_link *link, bool is_up, uint64_t now_us)
{
	if (is_up && !link->is_up)
		link->up_us = now_us;
	link->is_up = is_up;
	link->is_far_seen &= is_up;
}

uint64_t triad_damp_link_returns_us(const struct triad_damp_link *link)
{
	return link->is_held && link->is_up && !link->is_pinned
		? link->up_us + link->quiet_us
		: UINT64_MAX;
}

uint64_t triad_damp_links_n_together(const struct triad_damp_links *links)
{
	return links->n_together;
}
