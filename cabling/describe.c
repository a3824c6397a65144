/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "cabling/describe.h"

#include <inttypes.h>

#include "ib/link.h"
#include "ib/node_label.h"
#include "ib/port_condition.h"
#include "lib/text.h"

/* A name and a sentence for each kind: $0 to $3 are ports, $n is how many cables, $p the
 * plan's node, $f where the first of its cables is planned, $l the plan's line, $o the
 * first open line, and $w what is the matter with port 0. */
static const struct {
	const char *name, *sentence;
} kinds[TRIAD_CABLING_N_KINDS] = {
	[TRIAD_CABLING_MOVE] = {"move",
		"move the cable at $0 to $1; its other end stays at $2"},
	[TRIAD_CABLING_SWAP] = {"swap",
		"swap the cables at $0 and $1; their other ends stay at $2 "
		"and $3"},
	[TRIAD_CABLING_RING] = {"ring",
		"move one end of $n cables in a ring, beginning at $0"},
	[TRIAD_CABLING_PUT] = {"put", "put a cable between $0 and $1"},
	[TRIAD_CABLING_TAKE_OUT] = {"take_out", "take out the cable between $0 and $1"},
	[TRIAD_CABLING_REPLACE] = {"replace", "replace the cable between $0 and $1"},
	[TRIAD_CABLING_NODE_ABSENT] = {"node_absent",
		"the fabric has no node $p; planned cables that can't be seen: $n$f$l"},
	[TRIAD_CABLING_NAME_SHARED] = {"name_shared",
		"several nodes are called $p; planned cables that can't be compared: "
		"$n; the plan must name the node by its GUID, or with '#' and the last "
		"digits of that$l"},
	[TRIAD_CABLING_PORT_ABSENT] = {"port_absent", "there is no port $0$l"},
	[TRIAD_CABLING_PORT_UNKNOWN] = {"port_unknown",
		"whether a cable from $0 leads to $1 can't be known: at $0 $w"},
	[TRIAD_CABLING_RATE_UNKNOWN] = {"rate_unknown",
		"links whose width or speed is not known: $n, the first from $0 to $1"},
	[TRIAD_CABLING_LENGTH_UNKNOWN] = {"length_unknown",
		"cables whose length is not known: $n, the first from $0 to $1"},
	[TRIAD_CABLING_ROWS_OPEN] = {"rows_open",
		"rows of the plan that do not say by its number which port is at an "
		"end: $n, the first in line $o"},
};

const char *triad_cabling_kind_name(enum triad_cabling_kind kind)
{
	return kinds[kind].name;
}

static uint32_t fabric_port_of(
	const struct triad_cabling_view *view, struct triad_cabling_port port)
{
	return triad_fabric_find_port(view->fabric, port.node, port.number);
}

struct triad_port_label triad_cabling_label(
	const struct triad_cabling_view *view, struct triad_cabling_port port)
{
	const struct triad_fabric_node *node = &view->fabric->nodes[port.node];

	return triad_port_label_of(view->fabric, node->guid, node->name, port.number);
}

/* "leaf-01 (0x...)": by what the plan has of it. */
static void put_planned_node(const struct triad_cabling_view *view,
	const struct triad_cabling_end *end, char *text, size_t size)
{
	if (end->name)
		triad_text_append(text, size, "%s",
			triad_cabling_plan_text(view->plan, end->name));
	if (end->guid)
		triad_text_append(text, size,
			end->name ? " (0x%016" PRIx64 ")" : "0x%016" PRIx64, end->guid);
}

static const char *why_unknown(
	const struct triad_cabling_view *view, const struct triad_cabling_item *item)
{
	const char *why = triad_port_condition_text(triad_port_condition(
		view->fabric, fabric_port_of(view, item->ports[0]), false));

	return why ? why : "the state of the port is not known";
}

static void put_place(const struct triad_cabling_view *view,
	const struct triad_cabling_item *item, char place, char *text, size_t size)
{
	uint32_t line =
		item->link == UINT32_MAX ? 0 : view->plan->links[item->link].line;

	if (place == 'n')
		triad_text_append(text, size, "%" PRIu32, item->n);
	else if (place == 'p')
		put_planned_node(view, &item->end, text, size);
	else if (place == 'o')
		triad_text_append(text, size, "%" PRIu32, view->plan->first_open_line);
	else if (place == 'w')
		triad_text_append(text, size, "%s", why_unknown(view, item));
	else if (place == 'f' && item->n_ports)
		triad_text_append(text, size, ", the first at %s",
			triad_cabling_label(view, item->ports[0]).text);
	else if (place == 'l' && line)
		triad_text_append(text, size, "; line %" PRIu32 " of the plan", line);
	else if (place >= '0' && place <= '3')
		triad_text_append(text, size, "%s",
			triad_cabling_label(view, item->ports[place - '0']).text);
}

static void put_sentence(const struct triad_cabling_view *view,
	const struct triad_cabling_item *item, const char *sentence, char *text,
	size_t size)
{
	*text = '\0';
	for (; *sentence; sentence++)
		if (*sentence == '$')
			put_place(view, item, *++sentence, text, size);
		else
			triad_text_append(text, size, "%c", *sentence);
}

/* What differs at a cable to replace; where there is a plug already. */
static void put_details(const struct triad_cabling_view *view,
	const struct triad_cabling_item *item, char *text, size_t size)
{
	const struct triad_cabling_link *link = &view->plan->links[item->link];
	char rate[16];

	if (item->what & TRIAD_CABLING_RATE) {
		triad_link_rate_format(
			triad_link_rate_active(&view->fabric->ports[fabric_port_of(
				view, item->ports[0])]),
			rate, sizeof(rate));
		triad_text_append(text, size, ": it runs at %s, planned is %s%s%s",
			rate, triad_link_width_name(link->width),
			link->width && link->speed ? " " : "",
			triad_link_speed_name((enum triad_link_speed)link->speed));
	}
	if (item->what & TRIAD_CABLING_LENGTH)
		triad_text_append(text, size, ": it is %g m long, planned is %g m",
			item->length_dm / 10.0, link->length_dm / 10.0);
	for (unsigned i = 0; i < 2; i++)
		if (item->what & TRIAD_CABLING_PLUG_0 << i)
			triad_text_append(text, size,
				"; there is a plug in %s, without a link",
				triad_cabling_label(view, item->ports[i]).text);
}

static void describe_step(const struct triad_cabling_view *view,
	const struct triad_cabling_item *ring, uint32_t i, char *text, size_t size)
{
	const struct triad_cabling_port *steps = &view->result->steps[ring->first_step];
	struct triad_cabling_item item = {0};

	item.ports[0] = steps[i < ring->n_steps ? i : i - 1];
	item.ports[1] = steps[i ? i - 1 : 0];
	put_sentence(view, &item,
		!i ? "take the cable out of $0 and hold its end"
			: i < ring->n_steps ? "move the cable at $0 to $1"
					    : "put the end that is held into $0",
		text, size);
}

void triad_cabling_describe(const struct triad_cabling_view *view,
	const struct triad_cabling_item *item, uint32_t step, char *text, size_t size)
{
	if (step) {
		describe_step(view, item, step - 1, text, size);
		return;
	}
	put_sentence(view, item, kinds[item->kind].sentence, text, size);
	if (item->what)
		put_details(view, item, text, size);
}
