/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "cabling/plan.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/grow.h"

#define FIRST_ROOM 64

struct triad_cabling_plan *triad_cabling_plan_new(void)
{
	struct triad_cabling_plan *plan = calloc(1, sizeof(*plan));

	if (!plan)
		return NULL;
	plan->text = calloc(1, FIRST_ROOM);
	if (!plan->text) {
		free(plan);
		return NULL;
	}
	plan->text_room = FIRST_ROOM;
	plan->text_size = 1; /* place 0 is the empty text */
	return plan;
}

void triad_cabling_plan_free(struct triad_cabling_plan *plan)
{
	if (!plan)
		return;
	free(plan->links);
	free(plan->ports);
	free(plan->text);
	free(plan);
}

uint32_t triad_cabling_plan_keep(struct triad_cabling_plan *plan, const char *text)
{
	size_t size = strlen(text) + 1, at = plan->text_size;

	if (plan->error || size == 1)
		return 0;
	plan->error = at + size > TRIAD_CABLING_MAX_TEXT
		? E2BIG
		: triad_grow(&plan->text, &plan->text_room, at + size, 1, FIRST_ROOM);
	if (plan->error)
		return 0;
	memcpy(plan->text + at, text, size);
	plan->text_size += size;
	return (uint32_t)at;
}

void triad_cabling_plan_add_link(
	struct triad_cabling_plan *plan, const struct triad_cabling_link *link)
{
	if (!plan->error)
		plan->error = plan->n_links == TRIAD_CABLING_MAX_LINKS
			? E2BIG
			: triad_grow(&plan->links, &plan->links_room, plan->n_links + 1,
				  sizeof(*link), FIRST_ROOM);
	if (!plan->error)
		plan->links[plan->n_links++] = *link;
}

void triad_cabling_plan_add_port(
	struct triad_cabling_plan *plan, const struct triad_cabling_port_plan *port)
{
	if (!plan->error)
		plan->error = plan->n_ports == TRIAD_CABLING_MAX_LINKS
			? E2BIG
			: triad_grow(&plan->ports, &plan->ports_room, plan->n_ports + 1,
				  sizeof(*port), FIRST_ROOM);
	if (!plan->error)
		plan->ports[plan->n_ports++] = *port;
}
