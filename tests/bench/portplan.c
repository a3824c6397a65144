/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The port manager's plan for a large fabric.
 *
 *     portplan [--radix N] [--json]
 *
 * A fat tree of three levels of switches with N ports (36: 58,320 switch ports), and a
 * row for each switch port with its expected far end.
 *
 * by_guid        rows name nodes by GUID, with the port
 * by_name        by name, with the port
 *
 * rows           of the configuration
 * placed_us      placing it on the fabric
 * nothing_us     a plan when all is as expected
 * miswired_us    4 hosts are at wrong ports
 * disable_us     64 links between switches are expected disabled
 * enable_us      one port of ten is disabled and should not be
 * agenda_us      making the agenda of that plan and executing all of it
 *
 * Times are the median of five; the number of items of each plan is printed, too.
 * Nothing here is asserted: machines differ. */
#include <inttypes.h>
#include <stdarg.h>

#include "portmgr/plan/agenda.h"
#include "tests/bench/bench.h"
#include "tests/sim/fat_tree.h"

#define PHYS_DISABLED 3
#define PHYS_LINK_UP 5
#define N_MISWIRED 4
#define N_LINKS 64
#define ONE_IN 10

struct text {
	char *octets;
	size_t size, room;
};

struct fixture {
	struct triad_fabric *fabric;
	struct triad_history *history;
	struct triad_expected *expected;
	struct triad_placed *placed;
	struct triad_plan *plan; /* the last plan made */
};

struct figures {
	uint32_t rows;
	uint64_t placed_us, nothing_us, miswired_us, disable_us, enable_us, agenda_us;
	uint32_t miswired, disable, enable;
};

/* --- the configuration --- */

static void __attribute__((format(printf, 2, 3)))
add(struct text *text, const char *format, ...)
{
	va_list args;

	if (text->room - text->size < 512) {
		text->room = text->room * 2 + 4096;
		text->octets = need(realloc(text->octets, text->room));
	}
	va_start(args, format);
	text->size += (size_t)vsnprintf(
		text->octets + text->size, text->room - text->size, format, args);
	va_end(args);
}

static const char *name_of(
	const struct triad_fabric_node *node, bool by_name, char text[80])
{
	if (by_name)
		snprintf(text, 80, "%s", node->name);
	else
		snprintf(text, 80, "0x%" PRIx64, node->guid);
	return text;
}

static bool is_switch_port(const struct triad_fabric *fabric, uint32_t port)
{
	return fabric->ports[port].number &&
		fabric->nodes[fabric->ports[port].node].type == TRIAD_NODE_SWITCH;
}

static void write_row(struct text *text, const struct triad_fabric *fabric,
	uint32_t port, bool by_name, bool is_disabled)
{
	const struct triad_fabric_port *near = &fabric->ports[port];
	const struct triad_fabric_port *far = &fabric->ports[near->remote];
	char name[80], far_name[80];

	name_of(&fabric->nodes[near->node], by_name, name);
	name_of(&fabric->nodes[far->node], by_name, far_name);
	if (is_disabled)
		add(text, "%s,%u,disabled\n", name, near->number);
	else
		add(text, "%s,%u,enabled,%s=%s;port=%u,4x,EDR\n", name, near->number,
			by_name ? "name" : "node_guid", far_name, far->number);
}

/* Chooses one end of a link between switches at intervals that give at least 'n'. */
static bool is_chosen(const struct triad_fabric *fabric, uint32_t port, uint32_t n)
{
	const struct triad_fabric_port *near = &fabric->ports[port];
	const struct triad_fabric_node *far =
		&fabric->nodes[fabric->ports[near->remote].node];
	uint32_t one_in = n ? fabric->n_ports / n / 4 : 0;

	return n && far->type == TRIAD_NODE_SWITCH && near->remote > port &&
		(one_in < 2 || port % one_in == 0);
}

/* Expects 'n_disabled' links between switches disabled, at one end; the other end has
 * no row, which would contradict. */
static void expect(struct fixture *fixture, bool by_name, uint32_t n_disabled)
{
	static struct triad_diags diags;
	struct text text = {0};
	uint32_t n_left = n_disabled;

	triad_diags_init(&diags, "expected");
	add(&text, "generation 1\n");
	for (uint32_t i = 0; i < fixture->fabric->n_ports; i++) {
		uint32_t far = fixture->fabric->ports[i].remote;

		if (!is_switch_port(fixture->fabric, i))
			continue;
		if (n_left && is_chosen(fixture->fabric, i, n_disabled)) {
			n_left--;
			write_row(&text, fixture->fabric, i, by_name, true);
		} else if (!n_disabled || !is_switch_port(fixture->fabric, far) ||
			far > i || !is_chosen(fixture->fabric, far, n_disabled)) {
			write_row(&text, fixture->fabric, i, by_name, false);
		}
	}
	triad_expected_free(fixture->expected);
	if (triad_expected_parse(text.octets, text.size, &diags, &fixture->expected))
		die(diags.n ? diags.entries[0].text : "the configuration is wrong");
	free(text.octets);
}

/* --- measuring --- */

static int compare(const void *a, const void *b)
{
	uint64_t one = *(const uint64_t *)a, other = *(const uint64_t *)b;

	return (one > other) - (one < other);
}

static uint64_t median(uint64_t times_us[ROUNDS])
{
	qsort(times_us, ROUNDS, sizeof(times_us[0]), compare);
	return times_us[ROUNDS / 2];
}

static uint64_t place(struct fixture *fixture)
{
	uint64_t times_us[ROUNDS];

	for (unsigned i = 0; i < ROUNDS; i++) {
		uint64_t begun_us = triad_clock_now_us();

		triad_placed_free(fixture->placed);
		if (triad_placed_build(fixture->expected, fixture->fabric, NULL, NULL,
			    &fixture->placed))
			die("out of memory");
		times_us[i] = triad_clock_now_us() - begun_us;
	}
	return median(times_us);
}

static uint64_t plan(struct fixture *fixture)
{
	const struct triad_plan_input input = {.fabric = fixture->fabric,
		.expected = fixture->expected,
		.placed = fixture->placed,
		.history = fixture->history};
	uint64_t times_us[ROUNDS];

	for (unsigned i = 0; i < ROUNDS; i++) {
		uint64_t begun_us = triad_clock_now_us();

		triad_plan_free(fixture->plan);
		if (triad_plan_build(&input, &fixture->plan))
			die("out of memory");
		times_us[i] = triad_clock_now_us() - begun_us;
	}
	return median(times_us);
}

/* Executes all items, as if they were approved. */
static uint64_t go_through(const struct fixture *fixture)
{
	const struct triad_agenda_conf conf = {.max_actions = UINT32_MAX};
	uint64_t times_us[ROUNDS];

	for (unsigned i = 0; i < ROUNDS; i++) {
		struct triad_agenda *agenda = need(triad_agenda_new());
		const struct triad_agenda_entry *entry;
		uint64_t begun_us = triad_clock_now_us(), until_us;

		triad_agenda_configure(agenda, &conf);
		if (triad_agenda_look(agenda, fixture->plan, 0))
			die("out of memory");
		while (triad_agenda_next(agenda, 0, &entry, &until_us) ==
			TRIAD_AGENDA_ACT)
			triad_agenda_done(agenda, entry->node_guid, entry->number, true,
				entry->takes_set, 0);
		times_us[i] = triad_clock_now_us() - begun_us;
		triad_agenda_free(agenda);
	}
	return median(times_us);
}

/* --- the cases --- */

/* Swaps the far ends of the first hosts' links, in pairs. */
static void swap_hosts(struct triad_fabric *fabric)
{
	uint32_t found[N_MISWIRED], n = 0;

	for (uint32_t i = 0; i < fabric->n_ports && n < N_MISWIRED; i++)
		if (is_switch_port(fabric, i) &&
			!is_switch_port(fabric, fabric->ports[i].remote) &&
			fabric->ports[i].remote != fabric->sm_port)
			found[n++] = i;
	for (uint32_t i = 0; i + 1 < n; i += 2) {
		uint32_t first = fabric->ports[found[i]].remote;
		uint32_t second = fabric->ports[found[i + 1]].remote;

		fabric->ports[found[i]].remote = second;
		fabric->ports[second].remote = found[i];
		fabric->ports[found[i + 1]].remote = first;
		fabric->ports[first].remote = found[i + 1];
	}
}

static void disable_some(struct triad_fabric *fabric)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < fabric->n_ports; i++) {
		struct triad_fabric_port *port = &fabric->ports[i];

		if (!is_switch_port(fabric, i) || n++ % ONE_IN)
			continue;
		port->state = TRIAD_PORT_DOWN;
		port->phys_state = PHYS_DISABLED;
		if (port->remote == TRIAD_FABRIC_NONE)
			continue;
		fabric->ports[port->remote].remote = TRIAD_FABRIC_NONE;
		port->remote = TRIAD_FABRIC_NONE;
	}
}

static void bring_up(struct triad_fabric *fabric)
{
	for (uint32_t i = 0; i < fabric->n_ports; i++) {
		fabric->ports[i].phys_state = PHYS_LINK_UP;
		fabric->ports[i].width = 2;
		fabric->ports[i].speed_ext = 2;
	}
}

static struct figures measure(unsigned radix, bool by_name)
{
	struct fixture fixture = {
		.fabric = fat_tree(radix), .history = need(triad_history_new())};
	struct figures figures = {0};

	bring_up(fixture.fabric);
	expect(&fixture, by_name, N_LINKS);
	place(&fixture);
	figures.disable_us = plan(&fixture);
	figures.disable = fixture.plan->n_of_kind[TRIAD_PLAN_DISABLE];
	expect(&fixture, by_name, 0);
	figures.rows = fixture.expected->n_ports;
	figures.placed_us = place(&fixture);
	figures.nothing_us = plan(&fixture);
	swap_hosts(fixture.fabric);
	figures.miswired_us = plan(&fixture);
	figures.miswired = fixture.plan->n_of_kind[TRIAD_PLAN_DISABLE];
	swap_hosts(fixture.fabric);
	disable_some(fixture.fabric);
	figures.enable_us = plan(&fixture);
	figures.enable = fixture.plan->n_of_kind[TRIAD_PLAN_ENABLE];
	figures.agenda_us = go_through(&fixture);
	triad_plan_free(fixture.plan);
	triad_placed_free(fixture.placed);
	triad_expected_free(fixture.expected);
	triad_history_free(fixture.history);
	triad_fabric_unref(fixture.fabric);
	return figures;
}

static void print_figures(const char *what, const struct figures *figures, bool as_json)
{
	printf(as_json ? "\"%s\":{\"rows\":%" PRIu32 ",\"placed_us\":%" PRIu64
			 ",\"nothing_us\":%" PRIu64 ",\"miswired_us\":%" PRIu64
			 ",\"miswired\":%" PRIu32 ",\"disable_us\":%" PRIu64
			 ",\"disable\":%" PRIu32 ",\"enable_us\":%" PRIu64
			 ",\"enable\":%" PRIu32 ",\"agenda_us\":%" PRIu64 "}"
		       : "%s: %" PRIu32 " rows; placed %" PRIu64
			 " us; nothing to do %" PRIu64 " us; miswired %" PRIu64
			 " us (%" PRIu32 "); disable %" PRIu64 " us (%" PRIu32
			 "); enable %" PRIu64 " us (%" PRIu32 "); agenda %" PRIu64
			 " us\n",
		what, figures->rows, figures->placed_us, figures->nothing_us,
		figures->miswired_us, figures->miswired, figures->disable_us,
		figures->disable, figures->enable_us, figures->enable,
		figures->agenda_us);
}

static void run(unsigned radix, bool as_json)
{
	struct figures by_guid = measure(radix, false);
	struct figures by_name = measure(radix, true);

	if (as_json)
		printf("{");
	print_figures("by_guid", &by_guid, as_json);
	if (as_json)
		printf(",");
	print_figures("by_name", &by_name, as_json);
	if (as_json)
		printf("}\n");
}

int main(int argc, char **argv)
{
	unsigned radix = 36;
	bool as_json = false;

	for (int i = 1; i < argc; i++) {
		if (strcmp(argv[i], "--json") == 0)
			as_json = true;
		else if (strcmp(argv[i], "--radix") == 0 && i + 1 < argc)
			radix = (unsigned)strtoul(argv[++i], NULL, 10);
		else
			die("usage: portplan [--radix N] [--json]");
	}
	if (radix < 4 || radix > 48 || radix % 2)
		die("--radix must be even, from 4 to 48");
	run(radix, as_json);
	return 0;
}
