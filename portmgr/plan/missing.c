/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "portmgr/plan/missing.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/search.h"
#include "lib/text.h"
#include "triad/clock.h"

#define REMEMBERED_US (24 * 3600 * TRIAD_US_PER_S)

/* --- switches that were seen --- */

/* Finds since when a missing switch must have been seen to be kept. Uses 'times' as its
 * own. */
static uint64_t find_oldest(uint64_t *times, uint32_t n, uint64_t now_us)
{
	uint64_t oldest_us = now_us > REMEMBERED_US ? now_us - REMEMBERED_US + 1 : 0;

	if (n <= TRIAD_MISSING_MAX)
		return oldest_us;
	qsort(times, n, sizeof(*times), triad_order_u64);
	if (times[n - 1 - TRIAD_MISSING_MAX] >= oldest_us)
		oldest_us = times[n - 1 - TRIAD_MISSING_MAX] + 1;
	return oldest_us;
}

static uint32_t next_switch(const struct triad_fabric *fabric, uint32_t node)
{
	while (node < fabric->n_nodes && fabric->nodes[node].type != TRIAD_NODE_SWITCH)
		node++;
	return node;
}

static void add_present(struct triad_seen_switches *seen,
	const struct triad_fabric_node *node, uint64_t at_us)
{
	struct triad_seen_switch *one = &seen->all[seen->n++];

	one->guid = node->guid;
	one->at_us = at_us;
	memcpy(one->name, node->name, sizeof(one->name));
}

/* Both lists are sorted by GUID. */
static void merge(struct triad_seen_switches *merged,
	const struct triad_seen_switches *before, const struct triad_fabric *fabric,
	uint64_t oldest_us, uint64_t now_us)
{
	uint32_t at = 0, node = next_switch(fabric, 0);

	while (at < before->n || node < fabric->n_nodes) {
		const struct triad_seen_switch *old = &before->all[at];

		if (at == before->n ||
			(node < fabric->n_nodes &&
				fabric->nodes[node].guid <= old->guid)) {
			bool is_known =
				at < before->n && fabric->nodes[node].guid == old->guid;

			/* A past fabric may be older. */
			add_present(merged, &fabric->nodes[node],
				is_known && old->at_us > now_us ? old->at_us : now_us);
			at += is_known;
			node = next_switch(fabric, node + 1);
			continue;
		}
		if (old->at_us >= oldest_us)
			merged->all[merged->n++] = *old;
		at++;
	}
}

int triad_seen_switches_look(struct triad_seen_switches *seen,
	const struct triad_fabric *fabric, uint64_t now_us)
{
	uint64_t *times = calloc((size_t)seen->n + 1, sizeof(*times));
	struct triad_seen_switches merged = {0};
	uint32_t n_missing = 0;

	merged.all = calloc((size_t)seen->n + fabric->n_nodes + 1, sizeof(*merged.all));
	if (!times || !merged.all) {
		free(times);
		free(merged.all);
		return ENOMEM;
	}
	for (uint32_t i = 0; i < seen->n; i++)
		if (triad_fabric_find_node(fabric, seen->all[i].guid) ==
			TRIAD_FABRIC_NONE)
			times[n_missing++] = seen->all[i].at_us;
	merge(&merged, seen, fabric, find_oldest(times, n_missing, now_us), now_us);
	free(times);
	free(seen->all);
	*seen = merged;
	return 0;
}

void triad_seen_switches_free(struct triad_seen_switches *seen)
{
	free(seen->all);
	*seen = (struct triad_seen_switches){0};
}

/* --- what is missing --- */

struct finding {
	char *who;
	uint32_t n;
};

static bool is_first(struct finding *finding)
{
	return finding->n++ == 0;
}

static void find_switches(const struct triad_fabric *fabric,
	const struct triad_seen_switches *seen, struct finding *finding)
{
	for (uint32_t i = 0; i < seen->n; i++) {
		const struct triad_seen_switch *one = &seen->all[i];

		if (triad_fabric_find_node(fabric, one->guid) == TRIAD_FABRIC_NONE &&
			is_first(finding))
			snprintf(finding->who, TRIAD_MISSING_SIZE,
				"%s (0x%016" PRIx64 ")",
				*one->name ? one->name : "a switch without a name",
				one->guid);
	}
}

static void find_sms(const struct triad_plan_input *input, struct finding *finding)
{
	for (uint32_t i = 0; i < input->n_sm_guids; i++)
		if (triad_fabric_find_alias(input->fabric, input->sm_guids[i]) ==
				TRIAD_FABRIC_NONE &&
			is_first(finding))
			snprintf(finding->who, TRIAD_MISSING_SIZE,
				"the SM of port 0x%016" PRIx64, input->sm_guids[i]);
}

/* Rows of a switch that was also seen, or has several rows, count once more each: so they
 * are looked at only if nothing else is missing, and not counted. */
static void find_row(const struct triad_plan_input *input, struct finding *finding)
{
	if (input->placed->n_unknown && is_first(finding))
		snprintf(finding->who, TRIAD_MISSING_SIZE,
			"the switch of line %" PRIu32 " of the configuration",
			input->expected->ports[input->placed->unknown[0]].line);
}

void triad_missing_find(const struct triad_plan_input *input,
	const struct triad_seen_switches *seen, char who[TRIAD_MISSING_SIZE])
{
	struct finding finding = {.who = who};

	*who = '\0';
	find_switches(input->fabric, seen, &finding);
	find_sms(input, &finding);
	if (!finding.n)
		find_row(input, &finding);
	if (finding.n > 1)
		triad_text_append(who, TRIAD_MISSING_SIZE, " and %" PRIu32 " more",
			finding.n - 1);
}
