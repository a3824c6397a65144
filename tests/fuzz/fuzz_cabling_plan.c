/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Cabling plans in all their forms: an accepted one must keep the invariants of plan.h and
 * can be compared with any fabric; a refused one must have a reason that can be printed. */
#include "cabling/describe.h"
#include "cabling/plan_read.h"
#include "ib/link.h"
#include "tests/fuzz/fuzz.h"

static void check_diags(const struct triad_diags *diags, int error)
{
	char text[2 * TRIAD_DIAG_TEXT_SIZE + 32];

	require(!!error == !!diags->n_total, "an error has a diagnostic");
	for (size_t i = 0; i < diags->n; i++) {
		triad_diags_format(diags, i, text, sizeof(text));
		require(!strpbrk(text, "\n\r\033"), "no control character shown");
	}
}

static void check_end(
	const struct triad_cabling_plan *plan, const struct triad_cabling_end *end)
{
	require(end->port >= 1 && end->port <= TRIAD_FABRIC_MAX_PORT_NUMBER, "a port");
	require(end->guid || end->name, "a node");
	require(end->name < plan->text_size, "a text in range");
	require(!end->name || !plan->text[end->name - 1], "a text's beginning");
	require(strlen(triad_cabling_plan_text(plan, end->name)) < TRIAD_NODE_NAME_SIZE,
		"a name");
}

static void check_plan(const struct triad_cabling_plan *plan)
{
	for (uint32_t i = 0; i < 2 * plan->n_links; i++)
		check_end(plan, &plan->links[i / 2].ends[i % 2]);
	for (uint32_t i = 0; i < plan->n_ports; i++)
		check_end(plan, &plan->ports[i].end);
	for (uint32_t i = 0; i < plan->n_links; i++)
		require(plan->links[i].speed < TRIAD_N_SPEEDS, "a speed");
}

/* A fabric with the nodes of the plan's first links, of one name or GUID; every second port
 * leads to another one than planned. */
static struct triad_fabric *make_fabric(const struct triad_cabling_plan *plan)
{
	struct triad_fabric_builder *builder = triad_fabric_builder_new(NULL);
	struct triad_fabric *fabric;

	require(builder, "memory");
	for (uint32_t i = 0; i < plan->n_links && i < 8; i++) {
		const struct triad_cabling_end *end = &plan->links[i].ends[i % 2];
		const struct triad_fabric_node node = {
			.guid = end->guid ? end->guid : i + 1,
			.type = i % 3 ? TRIAD_NODE_SWITCH : TRIAD_NODE_CA};
		struct triad_fabric_port port = {.number = end->port,
			.guid = node.guid + 1,
			.state = TRIAD_PORT_ACTIVE,
			.phys_state = TRIAD_PHYS_LINK_UP};

		triad_fabric_builder_add_node(builder, &node,
			triad_cabling_plan_text(plan, end->name), NULL, 0);
		triad_fabric_builder_add_port(builder, &port,
			plan->links[i ^ (i + 1 < plan->n_links)].ends[i % 2].guid,
			plan->links[i].ends[!(i % 2)].port);
	}
	if (triad_fabric_build(builder, 0, &fabric))
		fabric = NULL; /* a GUID twice */
	triad_fabric_builder_free(builder);
	return fabric;
}

static void check_result(const struct triad_cabling_view *view)
{
	const struct triad_cabling_result *result = view->result;
	char text[TRIAD_CABLING_TEXT_SIZE];

	require(result->n_right <= result->n_planned, "no more right than planned");
	for (uint32_t i = 0; i < result->n_items; i++) {
		const struct triad_cabling_item *item = &result->items[i];

		require(triad_cabling_is_deviation(item) == (i < result->n_deviations),
			"deviations come first");
		require(*triad_cabling_kind_name(item->kind), "a kind");
		triad_cabling_describe(view, item, 0, text, sizeof(text));
		require(*text && !strpbrk(text, "\n\r\033"), "a line");
		for (uint32_t step = 1; step <= triad_cabling_n_steps(item); step++)
			triad_cabling_describe(view, item, step, text, sizeof(text));
	}
}

static void compare(const struct triad_cabling_plan *plan)
{
	static struct triad_diags diags;
	struct triad_cabling_result *result;
	struct triad_fabric *fabric = make_fabric(plan);
	int error;

	if (!fabric)
		return;
	triad_diags_init(&diags, "plan");
	error = triad_cabling_compare(plan, fabric, NULL, &diags, &result);
	check_diags(&diags, error);
	if (!error)
		check_result(&(struct triad_cabling_view){plan, fabric, result});
	if (!error)
		triad_cabling_result_free(result);
	triad_fabric_unref(fabric);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct triad_diags diags;
	struct triad_cabling_plan *plan;
	int error;

	triad_diags_init(&diags, "plan");
	error = triad_cabling_plan_read((const char *)data, size, &diags, &plan);
	check_diags(&diags, error);
	if (error)
		return 0;
	check_plan(plan);
	compare(plan);
	triad_cabling_plan_free(plan);
	return 0;
}
