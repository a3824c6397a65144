/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "cabling/compare.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cabling/compare_parts.h"
#include "ib/link.h"
#include "ib/node_label.h"
#include "ib/port_condition.h"
#include "lib/grow.h"

/* Lengths of modules are whole metres or half ones. */
#define LENGTH_DIFFERS_DM 5

/* --- items ------------------------------------------------------------- */

struct triad_cabling_port triad_cabling_port_of(
	const struct triad_cabling_work *work, uint32_t vertex)
{
	const struct triad_fabric *fabric = work->fabric;
	uint64_t other;

	if (vertex < fabric->n_ports)
		return (struct triad_cabling_port){
			fabric->ports[vertex].node, fabric->ports[vertex].number};
	other = work->others[vertex - fabric->n_ports];
	return (struct triad_cabling_port){(uint32_t)(other >> 8), (uint8_t)other};
}

struct triad_cabling_item *triad_cabling_add(struct triad_cabling_work *work,
	enum triad_cabling_kind kind, unsigned n, const uint32_t *vertices)
{
	struct triad_cabling_result *result = work->result;
	struct triad_cabling_item *item;

	if (!work->error)
		work->error = triad_grow(&result->items, &work->items_room,
			result->n_items + 1, sizeof(*item), 64);
	if (work->error)
		return NULL;
	item = &result->items[result->n_items++];
	*item = (struct triad_cabling_item){
		.kind = kind, .n_ports = n, .link = TRIAD_CABLING_NONE, .n = 1};
	for (unsigned i = 0; i < n; i++)
		item->ports[i] = triad_cabling_port_of(work, vertices[i]);
	return item;
}

/* --- the plan's edges -------------------------------------------------- */

static bool refuses_end(struct triad_cabling_work *work, uint32_t link, uint32_t vertex)
{
	struct triad_cabling_port port = triad_cabling_port_of(work, vertex);
	const struct triad_fabric_node *node = &work->fabric->nodes[port.node];
	uint32_t before = work->link_of[vertex];

	if (before == TRIAD_CABLING_NONE)
		return false;
	triad_diags_add(work->diags, work->plan->links[link].line, 0,
		"%s has another far end in line %" PRIu32,
		triad_port_label_of(work->fabric, node->guid, node->name, port.number)
			.text,
		work->plan->links[before].line);
	return true;
}

static void plan_edge(
	struct triad_cabling_work *work, uint32_t link, uint32_t a, uint32_t b)
{
	/* The same cable, seen from the other end. */
	if (work->planned[a] == b || refuses_end(work, link, a) ||
		refuses_end(work, link, b))
		return;
	if (a == b)
		triad_diags_add(work->diags, work->plan->links[link].line, 0,
			"both ends of the cable are in one port");
	work->planned[a] = b;
	work->planned[b] = a;
	work->link_of[a] = work->link_of[b] = link;
	work->result->n_planned++;
}

static bool is_vertex(uint32_t vertex)
{
	return vertex < TRIAD_CABLING_SHARED;
}

static void plan_edges(struct triad_cabling_work *work)
{
	const struct triad_cabling_plan *plan = work->plan;

	for (uint32_t i = 0; i < plan->n_links; i++) {
		uint32_t a = work->ends[2 * i], b = work->ends[2 * i + 1];

		if (is_vertex(a) && is_vertex(b))
			plan_edge(work, i, a, b);
		else if (is_vertex(a))
			work->flags[a] |= TRIAD_CABLING_FAR_ABSENT;
		else if (is_vertex(b))
			work->flags[b] |= TRIAD_CABLING_FAR_ABSENT;
	}
	for (uint32_t i = 0; i < plan->n_ports; i++)
		if (is_vertex(work->ruled[i]))
			work->flags[work->ruled[i]] |= plan->ports[i].is_free
				? TRIAD_CABLING_FREE
				: TRIAD_CABLING_ANY;
}

/* --- the fabric's edges ------------------------------------------------ */

static void find_present(struct triad_cabling_work *work)
{
	const struct triad_fabric *fabric = work->fabric;

	for (uint32_t i = 0; i < fabric->n_ports; i++) {
		const struct triad_fabric_port *port = &fabric->ports[i];
		uint32_t far = port->remote;

		if (far != TRIAD_FABRIC_NONE && far != i &&
			triad_fabric_port_passes_smps(port) &&
			triad_fabric_port_passes_smps(&fabric->ports[far]))
			work->present[i] = far;
	}
}

/* Whether a port without a present cable is known to have none.  A host's port that is not
 * listed has no link in this fabric. */
static bool is_known_free(const struct triad_cabling_work *work, uint32_t vertex)
{
	struct triad_cabling_port port;
	enum triad_port_condition condition;

	if (vertex < work->fabric->n_ports) {
		condition = triad_port_condition(work->fabric, vertex, false);
		return condition == TRIAD_CONDITION_FREE ||
			condition == TRIAD_CONDITION_POLLING;
	}
	port = triad_cabling_port_of(work, vertex);
	return work->fabric->nodes[port.node].type != TRIAD_NODE_SWITCH;
}

/* Takes a planned cable out of the comparison. */
static void forget_edge(struct triad_cabling_work *work, uint32_t unknown)
{
	uint32_t ends[2] = {unknown, work->planned[unknown]};
	bool is_listed = unknown < work->fabric->n_ports;
	struct triad_cabling_item *item = triad_cabling_add(work,
		is_listed ? TRIAD_CABLING_PORT_UNKNOWN : TRIAD_CABLING_PORT_ABSENT, 2,
		ends);

	if (item)
		item->link = work->link_of[unknown];
	for (unsigned i = 0; i < 2; i++) {
		work->planned[ends[i]] = TRIAD_CABLING_NONE;
		work->flags[ends[i]] |= TRIAD_CABLING_FAR_UNKNOWN;
	}
}

static void forget_unknown(struct triad_cabling_work *work)
{
	for (uint32_t i = 0; i < work->n_vertices; i++)
		if (work->planned[i] != TRIAD_CABLING_NONE &&
			work->present[i] == TRIAD_CABLING_NONE &&
			!is_known_free(work, i))
			forget_edge(work, i);
}

/* --- cables that are where they are planned ---------------------------- */

/* Counts in one item the links of which something is not known. */
static void count_unknown(struct triad_cabling_work *work, enum triad_cabling_kind kind,
	const uint32_t *ends, uint32_t *at)
{
	if (*at != TRIAD_CABLING_NONE)
		work->result->items[*at].n++;
	else if (triad_cabling_add(work, kind, 2, ends))
		*at = work->result->n_items - 1;
}

struct checker {
	struct triad_cabling_work *work;
	uint32_t rates, lengths; /* the items that count; NONE: not yet */
};

static bool rate_differs(struct checker *checker, const struct triad_cabling_link *link,
	const uint32_t *ends)
{
	struct triad_link_rate rate =
		triad_link_rate_active(&checker->work->fabric->ports[ends[0]]);

	if (rate.width && link->width && rate.width != link->width)
		return true;
	if (rate.speed && link->speed && rate.speed != link->speed)
		return true;
	if ((link->width && !rate.width) || (link->speed && !rate.speed))
		count_unknown(checker->work, TRIAD_CABLING_RATE_UNKNOWN, ends,
			&checker->rates);
	return false;
}

/* Both ends of a cable tell the same; one may not have been read. */
static uint16_t length_of(const struct triad_cabling_work *work, const uint32_t *ends)
{
	uint16_t length_dm = work->cables ? work->cables[ends[0]].length_dm : 0;

	return length_dm || !work->cables ? length_dm : work->cables[ends[1]].length_dm;
}

static bool length_differs(struct checker *checker, uint16_t planned_dm,
	uint16_t length_dm, const uint32_t *ends)
{
	if (planned_dm && !length_dm)
		count_unknown(checker->work, TRIAD_CABLING_LENGTH_UNKNOWN, ends,
			&checker->lengths);
	return planned_dm && length_dm &&
		abs(planned_dm - length_dm) > LENGTH_DIFFERS_DM;
}

static void check_right(struct checker *checker, uint32_t vertex)
{
	struct triad_cabling_work *work = checker->work;
	uint32_t ends[2] = {vertex, work->planned[vertex]};
	const struct triad_cabling_link *link =
		&work->plan->links[work->link_of[vertex]];
	uint16_t length_dm = length_of(work, ends);
	struct triad_cabling_item *item;
	uint8_t what = rate_differs(checker, link, ends) ? TRIAD_CABLING_RATE : 0;

	if (length_differs(checker, link->length_dm, length_dm, ends))
		what |= TRIAD_CABLING_LENGTH;
	work->result->n_right += !what;
	item = what ? triad_cabling_add(work, TRIAD_CABLING_REPLACE, 2, ends) : NULL;
	if (!item)
		return;
	item->what = what;
	item->length_dm = length_dm;
	item->link = work->link_of[vertex];
}

static void mark_right(struct triad_cabling_work *work)
{
	struct checker checker = {work, TRIAD_CABLING_NONE, TRIAD_CABLING_NONE};

	for (uint32_t i = 0; i < work->n_vertices; i++) {
		uint32_t far = work->planned[i];

		if (far == TRIAD_CABLING_NONE || work->present[i] != far)
			continue;
		work->flags[i] |= TRIAD_CABLING_RIGHT;
		if (i < far)
			check_right(&checker, i);
	}
}

/* --- all --------------------------------------------------------------- */

static int allocate_vertices(struct triad_cabling_work *work)
{
	const size_t n = (size_t)work->n_vertices + 1;

	work->planned = malloc(n * sizeof(*work->planned));
	work->present = malloc(n * sizeof(*work->present));
	work->link_of = malloc(n * sizeof(*work->link_of));
	work->path = malloc(n * sizeof(*work->path));
	work->flags = calloc(n, sizeof(*work->flags));
	if (!work->planned || !work->present || !work->link_of || !work->path ||
		!work->flags)
		return ENOMEM;
	memset(work->planned, 0xff, n * sizeof(*work->planned));
	memset(work->present, 0xff, n * sizeof(*work->present));
	memset(work->link_of, 0xff, n * sizeof(*work->link_of));
	return 0;
}

static void compare_edges(struct triad_cabling_work *work)
{
	const size_t n_before = work->diags->n_total;

	work->error = allocate_vertices(work);
	if (work->error)
		return;
	plan_edges(work);
	if (work->diags->n_total != n_before) {
		work->error = EINVAL;
		return;
	}
	find_present(work);
	forget_unknown(work);
	mark_right(work);
	triad_cabling_paths(work);
}

static void add_open_rows(struct triad_cabling_work *work)
{
	struct triad_cabling_item *item;

	if (!work->plan->n_open)
		return;
	item = triad_cabling_add(work, TRIAD_CABLING_ROWS_OPEN, 0, NULL);
	if (item)
		item->n = work->plan->n_open;
}

/* Deviations come first. */
static void sort_items(struct triad_cabling_work *work)
{
	struct triad_cabling_result *result = work->result;
	struct triad_cabling_item *sorted =
		malloc(((size_t)result->n_items + 1) * sizeof(*sorted));
	uint32_t n = 0;

	if (!sorted) {
		work->error = ENOMEM;
		return;
	}
	for (unsigned pass = 0; pass < 2; pass++) {
		for (uint32_t i = 0; i < result->n_items; i++)
			if (triad_cabling_is_deviation(&result->items[i]) == !pass)
				sorted[n++] = result->items[i];
		result->n_deviations = pass ? result->n_deviations : n;
	}
	free(result->items);
	result->items = sorted;
}

static void compare_all(struct triad_cabling_work *work)
{
	const struct triad_cabling_plan *plan = work->plan;

	work->node_flags = calloc((size_t)work->fabric->n_nodes + 1, 1);
	work->ends = malloc((2 * (size_t)plan->n_links + 1) * sizeof(*work->ends));
	work->ruled = malloc(((size_t)plan->n_ports + 1) * sizeof(*work->ruled));
	if (!work->node_flags || !work->ends || !work->ruled)
		work->error = ENOMEM;
	if (!work->error)
		triad_cabling_resolve(work);
	if (!work->error)
		compare_edges(work);
	if (!work->error)
		add_open_rows(work);
	if (!work->error)
		sort_items(work);
	free(work->node_flags);
	free(work->ends);
	free(work->ruled);
	free(work->others);
	free(work->planned);
	free(work->present);
	free(work->link_of);
	free(work->path);
	free(work->flags);
}

int triad_cabling_compare(const struct triad_cabling_plan *plan,
	const struct triad_fabric *fabric, const struct triad_cabling_cable *cables,
	struct triad_diags *diags, struct triad_cabling_result **result)
{
	struct triad_cabling_work work = {
		.plan = plan, .fabric = fabric, .cables = cables, .diags = diags};

	work.result = calloc(1, sizeof(*work.result));
	if (!work.result)
		return ENOMEM;
	compare_all(&work);
	if (work.error)
		triad_cabling_result_free(work.result);
	else
		*result = work.result;
	return work.error;
}

void triad_cabling_result_free(struct triad_cabling_result *result)
{
	if (!result)
		return;
	free(result->items);
	free(result->steps);
	free(result);
}
