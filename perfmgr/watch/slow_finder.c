/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "perfmgr/watch/slow_finder.h"

#include <stdlib.h>

static bool are_alike(const struct triad_slow_link *a, const struct triad_slow_link *b)
{
	return a->kind == b->kind && a->class == b->class &&
		a->rate.width == b->rate.width && a->rate.speed == b->rate.speed &&
		a->expected.width == b->expected.width &&
		a->expected.speed == b->expected.speed;
}

/* Groups of links alike.  Links have few rates and tiers, so groups are few; those that find
 * no room are left to their links. */
struct groups {
	uint32_t n;
	struct group {
		const struct triad_slow_link *first;
		uint32_t n;
	} of[TRIAD_SLOW_MAX_FINDINGS];
};

static struct group *find_group(
	struct groups *groups, const struct triad_slow_link *link)
{
	for (uint32_t i = 0; i < groups->n; i++)
		if (are_alike(groups->of[i].first, link))
			return &groups->of[i];
	return NULL;
}

static void add_finding(const struct triad_fabric *fabric, struct triad_found *found,
	const struct triad_slow_link *link, uint32_t n)
{
	const struct triad_fabric_port *port = &fabric->ports[link->port];
	/* A place has one slow link, so the place is the key: a finding of several links moves
	 * when its first link is mended. */
	uint64_t guid = fabric->nodes[port->node].guid;
	const struct triad_alert_finding finding = {
		.cause = TRIAD_ALERT_SLOW_LINK,
		.value = (float)n,
		.slow = {link->kind, link->rate, link->expected},
	};

	triad_found_add(found, guid, port->number, guid ^ (uint64_t)port->number << 56,
		&finding);
}

struct triad_slow_counts triad_slow_finder_look(
	struct triad_slow_finder *finder, struct triad_fabric *fabric)
{
	struct triad_slow_counts counts = {0};

	if (finder->fabric != fabric || !finder->slow) {
		triad_slow_finder_clear(finder);
		finder->slow = triad_slow_links_find(fabric);
		finder->fabric = triad_fabric_ref(fabric);
	}
	for (uint32_t i = 0; finder->slow && i < finder->slow->n; i++) {
		const struct triad_slow_link *link = &finder->slow->links[i];

		counts.n_faults += !link->is_note;
		counts.n_by_end +=
			link->is_note && link->kind == TRIAD_SLOW_BELOW_ALIKE;
	}
	return counts;
}

void triad_slow_finder_clear(struct triad_slow_finder *finder)
{
	free(finder->slow);
	triad_fabric_unref(finder->fabric);
	*finder = (struct triad_slow_finder){0};
}

void triad_slow_finder_give(
	const struct triad_slow_finder *finder, struct triad_found *found)
{
	const struct triad_slow_links *slow = finder->slow;
	uint32_t n_faults = slow ? slow->n - slow->n_notes : 0, n_added = 0;
	struct groups groups = {0};

	/* Faults come first. */
	for (uint32_t i = 0; i < n_faults; i++) {
		struct group *group = find_group(&groups, &slow->links[i]);

		if (!group && groups.n < TRIAD_SLOW_MAX_FINDINGS) {
			group = &groups.of[groups.n++];
			group->first = &slow->links[i];
		}
		if (group)
			group->n++;
	}
	for (uint32_t i = 0; i < n_faults && n_added < TRIAD_SLOW_MAX_FINDINGS; i++) {
		const struct triad_slow_link *link = &slow->links[i];
		const struct group *group = find_group(&groups, link);
		bool is_alone = !group || group->n <= TRIAD_SLOW_MAX_ALONE;

		if (!is_alone && group->first != link)
			continue;
		add_finding(finder->fabric, found, link, is_alone ? 1 : group->n);
		n_added++;
	}
}
