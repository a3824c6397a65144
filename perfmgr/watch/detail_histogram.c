/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "perfmgr/watch/detail_histogram.h"

#include <errno.h>

/* Returns false when memory is short. */
static bool add_row(const struct triad_detail_field *field,
	const struct triad_detail_row *row, struct triad_histogram *histogram,
	uint64_t *n_zeros)
{
	double factor = triad_histogram_factor((double)row->interval_us);

	for (unsigned i = field->slot; i < field->slot + (unsigned)field->n; i++) {
		double steps = (double)row->change[i] * factor;

		if (!row->change[i])
			++*n_zeros;
		else if (!triad_histogram_add(histogram, triad_histogram_place(steps)))
			return false;
	}
	return true;
}

static bool add_port_detail(const struct triad_view *view, uint32_t port,
	const struct triad_detail_field *field, struct triad_histogram *histogram,
	uint64_t *n_zeros)
{
	const struct triad_details *details = triad_engine_details(view->engine);
	const struct triad_details_port of = triad_view_details_port(view, port);
	struct triad_detail_row row;

	/* Omit skipped ports: a frozen change would look current. */
	if (triad_view_is_skipped(view, port))
		return true;
	for (uint32_t left = field->attributes; left; left &= left - 1)
		if (triad_details_read(details, &of,
			    (enum triad_pma_attribute)__builtin_ctz(left), &row) &&
			row.interval_us && !add_row(field, &row, histogram, n_zeros))
			return false;
	return true;
}

/* The ports of the scope: '*n' ports of the view from '*first' on.  Returns 0 or
 * ENOENT. */
static int find_ports(const struct triad_view *view,
	const struct triad_histograms_scope *scope, uint32_t *first, uint32_t *n)
{
	const struct triad_fabric *fabric = view->fabric;
	uint32_t node;

	*first = 0;
	*n = fabric->n_ports;
	if (scope->of == TRIAD_HISTOGRAMS_OF_ALL ||
		scope->of == TRIAD_HISTOGRAMS_OF_GROUP)
		return 0;
	node = triad_fabric_find_node(fabric, scope->node_guid);
	if (node == TRIAD_FABRIC_NONE)
		return ENOENT;
	*first = fabric->nodes[node].first_port;
	*n = fabric->nodes[node].n_ports;
	if (scope->of == TRIAD_HISTOGRAMS_OF_NODE)
		return 0;
	*first = triad_fabric_find_port(fabric, node, scope->port);
	*n = 1;
	return *first == TRIAD_FABRIC_NONE ? ENOENT : 0;
}

int triad_detail_histogram(const struct triad_view *view,
	const struct triad_histograms_scope *scope, unsigned field,
	struct triad_histogram *copy, uint64_t *n_zeros)
{
	uint32_t first, n;
	int error = find_ports(view, scope, &first, &n);

	triad_histogram_init(copy, TRIAD_HISTOGRAM_MOST);
	*n_zeros = 0;
	for (uint32_t i = first; !error && i < first + n; i++) {
		if (scope->of == TRIAD_HISTOGRAMS_OF_GROUP &&
			view->group[i] != scope->group)
			continue;
		if (!add_port_detail(
			    view, i, &triad_detail_fields[field], copy, n_zeros))
			error = ENOMEM;
	}
	if (error)
		triad_histogram_clear(copy);
	return error;
}
