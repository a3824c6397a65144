/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "portmgr/plan/overrides.h"

#include <string.h>

static void remove_at(struct triad_overrides *overrides, uint32_t i)
{
	overrides->n--;
	memmove(overrides->all + i, overrides->all + i + 1,
		(overrides->n - i) * sizeof(*overrides->all));
}

void triad_overrides_add(
	struct triad_overrides *overrides, const struct triad_plan_item *item)
{
	if (overrides->n == TRIAD_OVERRIDES_MAX)
		remove_at(overrides, 0);
	overrides->all[overrides->n++] =
		(struct triad_plan_override){.node_guid = item->node_guid,
			.port = item->number,
			.fingerprint = item->lost.fingerprint};
}

void triad_overrides_remove(
	struct triad_overrides *overrides, uint64_t node_guid, uint8_t port)
{
	uint32_t i = 0;

	while (i < overrides->n)
		if (overrides->all[i].node_guid == node_guid &&
			overrides->all[i].port == port)
			remove_at(overrides, i);
		else
			i++;
}

void triad_overrides_keep_used(
	struct triad_overrides *overrides, const struct triad_plan *plan)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < overrides->n; i++) {
		const struct triad_plan_override override = overrides->all[i];
		const struct triad_plan_item *item =
			triad_plan_find(plan, override.node_guid, override.port);

		if (item && item->is_overridden)
			overrides->all[n++] = override;
	}
	overrides->n = n;
}
