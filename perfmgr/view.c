/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "perfmgr/view.h"

#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

struct counted_view {
	atomic_uint refs;
	struct triad_view view;
};

static struct counted_view *counted_of(struct triad_view *view)
{
	return (struct counted_view *)((char *)view -
		offsetof(struct counted_view, view));
}

struct triad_view *triad_view_new(const struct triad_engine *engine,
	struct triad_fabric *fabric, struct triad_groups *groups)
{
	size_t n = fabric->n_ports;
	struct counted_view *view = calloc(1,
		sizeof(*view) +
			n * (sizeof(uint32_t) + sizeof(uint16_t) + sizeof(uint8_t)));

	if (!view)
		return NULL;
	atomic_init(&view->refs, 1);
	view->view.engine = engine;
	view->view.fabric = triad_fabric_ref(fabric);
	/* All arrays are in one block, the widest type first: so each is aligned. */
	view->view.pkey_index = (uint16_t *)(view->view.rows + n);
	view->view.group = (uint8_t *)(view->view.pkey_index + n);
	memset(view->view.group, TRIAD_GROUP_NONE, n);
	if (groups) {
		view->view.groups = triad_groups_ref(groups);
		triad_groups_assign(groups, fabric, view->view.group);
	}
	return &view->view;
}

void triad_view_own_engine(struct triad_view *view, struct triad_engine *engine)
{
	view->own_engine = engine;
}

void triad_view_choose_pkeys(
	struct triad_view *view, const uint16_t *ours, uint32_t n_ours)
{
	view->partitions =
		triad_partitions_choose(view->fabric, ours, n_ours, view->pkey_index);
}

struct triad_view *triad_view_ref(struct triad_view *view)
{
	atomic_fetch_add(&counted_of(view)->refs, 1);
	return view;
}

void triad_view_unref(struct triad_view *view)
{
	if (!view || atomic_fetch_sub(&counted_of(view)->refs, 1) != 1)
		return;
	triad_fabric_unref(view->fabric);
	triad_groups_unref(view->groups);
	triad_engine_free(view->own_engine);
	free(counted_of(view));
}

bool triad_view_read(
	const struct triad_view *view, uint32_t port, struct triad_engine_row *row)
{
	const struct triad_fabric_port *at = &view->fabric->ports[port];

	/* The row may have gone to another port since the view was made. */
	if (triad_engine_read(view->engine, view->rows[port], row) &&
		row->node_guid == view->fabric->nodes[at->node].guid &&
		row->port == at->number) {
		/* What was read before it was left out says nothing of now. */
		if (triad_view_is_skipped(view, port))
			row->was_asked = row->answered = false;
		return true;
	}
	*row = (struct triad_engine_row){0};
	return false;
}

bool triad_view_total(
	const struct triad_view *view, uint32_t port, unsigned counter, uint64_t *total)
{
	const struct triad_fabric_port *at = &view->fabric->ports[port];

	return triad_engine_total(view->engine, view->rows[port],
		view->fabric->nodes[at->node].guid, at->number, counter, total);
}

struct triad_details_port triad_view_details_port(
	const struct triad_view *view, uint32_t port)
{
	const struct triad_fabric_port *at = &view->fabric->ports[port];

	return (struct triad_details_port){.row = view->rows[port],
		.number = at->number,
		.node_guid = view->fabric->nodes[at->node].guid};
}

/* --- a choice of its ports --- */

struct triad_selection *triad_selection_new(struct triad_view *view)
{
	struct triad_selection *selection =
		calloc(1, sizeof(*selection) + view->fabric->n_ports);

	if (!selection)
		return NULL;
	selection->view = triad_view_ref(view);
	return selection;
}

void triad_selection_free(struct triad_selection *selection)
{
	if (!selection)
		return;
	triad_view_unref(selection->view);
	free(selection);
}
