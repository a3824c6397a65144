/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "cabling/describe.h"

#include <inttypes.h>
#include <stdio.h>

#include "ib/link.h"
#include "ib/node_label.h"
#include "ib/port_condition.h"
#include "lib/text.h"

#define RATE_SIZE 16

static struct triad_port_label label_of(
	const struct triad_cabling_view *view, struct triad_cabling_port port)
{
	const struct triad_fabric_node *node = &view->fabric->nodes[port.node];

	return triad_port_label_of(view->fabric, node->guid, node->name, port.number);
}

static uint32_t index_of(
	const struct triad_cabling_view *view, struct triad_cabling_port port)
{
	return triad_fabric_find_port(view->fabric, port.node, port.number);
}

static const char *plural(uint32_t n)
{
	return n == 1 ? "" : "s";
}

/* --- a cable to replace ------------------------------------------------ */

static void describe_rate(const struct triad_cabling_view *view,
	const struct triad_cabling_item *item, char *text, size_t size)
{
	const struct triad_cabling_link *link = &view->plan->links[item->link];
	const struct triad_fabric_port *port =
		&view->fabric->ports[index_of(view, item->ports[0])];
	char rate[RATE_SIZE];

	triad_link_rate_format(triad_link_rate_active(port), rate, sizeof(rate));
	triad_text_append(text, size, ": it runs at %s, planned is %s%s%s", rate,
		triad_link_width_name(link->width),
		link->width && link->speed ? " " : "",
		triad_link_speed_name((enum triad_link_speed)link->speed));
}

static void describe_cable(const struct triad_cabling_view *view,
	const struct triad_cabling_item *item, char *text, size_t size)
{
	const struct triad_cabling_link *link = &view->plan->links[item->link];
	const struct triad_cabling_cable *cable =
		&view->cables[index_of(view, item->ports[0])];

	if (!cable->has_module)
		cable = &view->cables[index_of(view, item->ports[1])];
	if (item->what & TRIAD_CABLING_LENGTH)
		triad_text_append(text, size, ": it is %g m long, planned is %g m",
			cable->length_dm / 10.0, link->length_dm / 10.0);
	if (item->what & TRIAD_CABLING_PART)
		triad_text_append(text, size, ": it is a %s, planned is %s",
			cable->part, triad_cabling_plan_text(view->plan, link->part));
}

/* --- what can't be known ----------------------------------------------- */

/* "leaf-01 (0x...)": by what the plan has of it. */
static void describe_planned_node(const struct triad_cabling_view *view,
	const struct triad_cabling_end *end, char *text, size_t size)
{
	if (end->name)
		triad_text_append(text, size, "%s",
			triad_cabling_plan_text(view->plan, end->name));
	if (end->guid)
		triad_text_append(text, size,
			end->name ? " (0x%016" PRIx64 ")" : "0x%016" PRIx64, end->guid);
}

static void describe_line(const struct triad_cabling_view *view,
	const struct triad_cabling_item *item, char *text, size_t size)
{
	if (item->link != UINT32_MAX && view->plan->links[item->link].line)
		triad_text_append(text, size, "; line %" PRIu32 " of the plan",
			view->plan->links[item->link].line);
}

static void describe_absent(const struct triad_cabling_view *view,
	const struct triad_cabling_item *item, char *text, size_t size)
{
	triad_text_append(text, size, "the fabric has no node ");
	describe_planned_node(view, &item->end, text, size);
	triad_text_append(text, size, ", so %" PRIu32 " planned cable%s can't be seen",
		item->n, plural(item->n));
	if (item->n_ports)
		triad_text_append(text, size, ", the first at %s",
			label_of(view, item->ports[0]).text);
	describe_line(view, item, text, size);
}

static void describe_shared(const struct triad_cabling_view *view,
	const struct triad_cabling_item *item, char *text, size_t size)
{
	triad_text_append(text, size, "several nodes are called ");
	describe_planned_node(view, &item->end, text, size);
	triad_text_append(text, size,
		", so %" PRIu32
		" planned cable%s can't be compared; the plan must name the node by "
		"its GUID, or with '#' and the last digits of that",
		item->n, plural(item->n));
	describe_line(view, item, text, size);
}

static void describe_unknown_port(const struct triad_cabling_view *view,
	const struct triad_cabling_item *item, char *text, size_t size)
{
	const char *why = triad_port_condition_text(triad_port_condition(
		view->fabric, index_of(view, item->ports[0]), false));

	triad_text_append(text, size, "whether a cable from %s",
		label_of(view, item->ports[0]).text);
	triad_text_append(text, size, " leads to %s can't be known: at %s",
		label_of(view, item->ports[1]).text,
		label_of(view, item->ports[0]).text);
	triad_text_append(
		text, size, " %s", why ? why : "the state of the port is not known");
}

/* --- any item ---------------------------------------------------------- */

void triad_cabling_describe_step(const struct triad_cabling_view *view,
	const struct triad_cabling_item *item, uint32_t i, char *text, size_t size)
{
	const struct triad_cabling_port *steps = &view->result->steps[item->first_step];

	if (!i)
		snprintf(text, size, "take the cable out of %s and hold its end",
			label_of(view, steps[0]).text);
	else if (i == item->n_steps)
		snprintf(text, size, "put the end that is held into %s",
			label_of(view, steps[i - 1]).text);
	else
		snprintf(text, size, "move the cable at %s to %s",
			label_of(view, steps[i]).text,
			label_of(view, steps[i - 1]).text);
}

static void describe_put(const struct triad_cabling_view *view,
	const struct triad_cabling_item *item, char *text, size_t size)
{
	unsigned modules =
		item->what & (TRIAD_CABLING_MODULE_0 | TRIAD_CABLING_MODULE_1);

	triad_text_append(text, size, "put a cable between %s",
		label_of(view, item->ports[0]).text);
	triad_text_append(text, size, " and %s", label_of(view, item->ports[1]).text);
	if (modules == (TRIAD_CABLING_MODULE_0 | TRIAD_CABLING_MODULE_1))
		triad_text_append(
			text, size, "; there is a plug in both ports, without a link");
	else if (modules)
		triad_text_append(text, size, "; there is a plug in %s, without a link",
			label_of(view, item->ports[modules == TRIAD_CABLING_MODULE_1])
				.text);
}

static void describe_deviation(const struct triad_cabling_view *view,
	const struct triad_cabling_item *item, char *text, size_t size)
{
	struct triad_port_label labels[4] = {0};

	for (unsigned i = 0; i < item->n_ports; i++)
		labels[i] = label_of(view, item->ports[i]);
	switch (item->kind) {
	case TRIAD_CABLING_MOVE:
		snprintf(text, size,
			"move the cable at %s to %s; its other end stays "
			"at %s",
			labels[0].text, labels[1].text, labels[2].text);
		break;
	case TRIAD_CABLING_SWAP:
		snprintf(text, size,
			"swap the cables at %s and %s; their other ends "
			"stay at %s and %s",
			labels[0].text, labels[1].text, labels[2].text, labels[3].text);
		break;
	case TRIAD_CABLING_RING:
		snprintf(text, size,
			"move one end of %" PRIu32 " cables in a ring, "
			"beginning at %s",
			item->n, labels[0].text);
		break;
	case TRIAD_CABLING_PUT:
		describe_put(view, item, text, size);
		break;
	default:
		snprintf(text, size, "%s the cable between %s and %s",
			item->kind == TRIAD_CABLING_REPLACE ? "replace" : "take out",
			labels[0].text, labels[1].text);
	}
}

static void describe_count(const struct triad_cabling_view *view,
	const struct triad_cabling_item *item, char *text, size_t size)
{
	snprintf(text, size, "%s of %" PRIu32 " link%s not known, the first from %s",
		item->kind == TRIAD_CABLING_RATE_UNKNOWN
			? "the width or speed"
			: "the length or part number of the cable",
		item->n, item->n == 1 ? " is" : "s is",
		label_of(view, item->ports[0]).text);
	triad_text_append(text, size, " to %s", label_of(view, item->ports[1]).text);
}

void triad_cabling_describe(const struct triad_cabling_view *view,
	const struct triad_cabling_item *item, char *text, size_t size)
{
	*text = '\0';
	switch (item->kind) {
	case TRIAD_CABLING_NODE_ABSENT:
		describe_absent(view, item, text, size);
		break;
	case TRIAD_CABLING_NAME_SHARED:
		describe_shared(view, item, text, size);
		break;
	case TRIAD_CABLING_PORT_ABSENT:
		snprintf(text, size, "there is no port %s",
			label_of(view, item->ports[0]).text);
		describe_line(view, item, text, size);
		break;
	case TRIAD_CABLING_PORT_UNKNOWN:
		describe_unknown_port(view, item, text, size);
		break;
	case TRIAD_CABLING_RATE_UNKNOWN:
	case TRIAD_CABLING_CABLE_UNKNOWN:
		describe_count(view, item, text, size);
		break;
	case TRIAD_CABLING_ROWS_OPEN:
		snprintf(text, size,
			"%" PRIu32 " row%s of the plan, the first in line "
			"%" PRIu32 ", do not say which port by its number is at an "
			"end",
			item->n, plural(item->n), view->plan->first_open_line);
		break;
	default:
		describe_deviation(view, item, text, size);
	}
	if (item->what & TRIAD_CABLING_RATE)
		describe_rate(view, item, text, size);
	if (item->what & (TRIAD_CABLING_LENGTH | TRIAD_CABLING_PART))
		describe_cable(view, item, text, size);
}
