/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "perfmgr/watch/bers.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "perfmgr/details.h"
#include "triad/clock.h"

#define N_WIDTHS 5 /* bits of PortInfo:LinkWidthActive */
#define CONFIDENCE 0.95

/* One kind at one port. */
struct rate {
	uint64_t since_us;      /* when its history begins; 0: there is none */
	uint64_t read_us;       /* the last reading */
	uint64_t total;         /* sum of its counters in details then */
	struct triad_ber *test; /* NULL: no error since 'since_us' */
};

struct port {
	uint64_t node_guid;
	uint32_t remote; /* the engine's row of its far end */
	uint8_t number;
	bool was_worse; /* the last look reported it as worse */
	struct triad_link_rate link;
	struct rate rates[TRIAD_BER_N_KINDS];
};

struct triad_bers {
	struct triad_bers_params params;
	struct triad_view *view; /* NULL: none yet */
	struct port *ports;      /* by the engine's rows */
	uint32_t n_ports;
	uint32_t n_tests;
	uint64_t n_dropped;
	/* By speed and width of a link; target 0: not judged. */
	struct triad_ber_test tests[TRIAD_N_SPEEDS][N_WIDTHS][TRIAD_BER_N_KINDS];
};

/* --- life --- */

struct triad_bers *triad_bers_new(void)
{
	return calloc(1, sizeof(struct triad_bers));
}

static void forget_rates(struct triad_bers *bers, struct port *port)
{
	for (unsigned i = 0; i < TRIAD_BER_N_KINDS; i++) {
		bers->n_tests -= port->rates[i].test != NULL;
		free(port->rates[i].test);
		port->rates[i] = (struct rate){0};
	}
}

static void forget_all(struct triad_bers *bers)
{
	for (uint32_t i = 0; i < bers->n_ports; i++)
		forget_rates(bers, &bers->ports[i]);
}

void triad_bers_free(struct triad_bers *bers)
{
	if (!bers)
		return;
	forget_all(bers);
	triad_view_unref(bers->view);
	free(bers->ports);
	free(bers);
}

/* --- tests --- */

static void prepare_tests(struct triad_bers *bers)
{
	uint64_t n = bers->view ? bers->view->fabric->n_ports : 0;
	double false_alarm_s = triad_ber_false_alarm_s(
		(n ? n : 1) * TRIAD_BER_N_KINDS, bers->params.false_alarms);

	memset(bers->tests, 0, sizeof(bers->tests));
	for (unsigned speed = 1; speed < TRIAD_N_SPEEDS; speed++)
		for (unsigned w = 0; w < N_WIDTHS; w++)
			for (unsigned k = 0; k < TRIAD_BER_N_KINDS; k++) {
				struct triad_link_rate link = {
					.width = (uint8_t)(1u << w), .speed = speed};

				/* A test that can't be made keeps target 0. */
				(void)triad_ber_test_init(&bers->tests[speed][w][k],
					bers->params.targets.of[speed][k],
					(double)triad_link_rate_signal_bps(link),
					false_alarm_s, TRIAD_BER_N_READINGS);
			}
}

/* NULL: such a link is not judged. */
static const struct triad_ber_test *test_of(const struct triad_bers *bers,
	struct triad_link_rate link, enum triad_ber_kind kind)
{
	unsigned w = link.width ? (unsigned)__builtin_ctz(link.width) : N_WIDTHS;
	const struct triad_ber_test *test;

	if (w >= N_WIDTHS || link.speed >= TRIAD_N_SPEEDS)
		return NULL;
	test = &bers->tests[link.speed][w][kind];
	return test->target > 0 ? test : NULL;
}

void triad_bers_configure(
	struct triad_bers *bers, const struct triad_bers_params *params)
{
	/* Evidence against other targets means nothing. */
	if (!params->enabled ||
		memcmp(&params->targets, &bers->params.targets,
			sizeof(params->targets)) != 0)
		forget_all(bers);
	bers->params = *params;
	prepare_tests(bers);
}

/* --- a new fabric --- */

static int make_room_for_ports(struct triad_bers *bers, uint32_t n)
{
	struct port *ports;

	if (n <= bers->n_ports)
		return 0;
	ports = realloc(bers->ports, n * sizeof(*ports));
	if (!ports)
		return ENOMEM;
	memset(&ports[bers->n_ports], 0, (n - bers->n_ports) * sizeof(*ports));
	bers->ports = ports;
	bers->n_ports = n;
	return 0;
}

/* --- readings --- */

/* Begins a test at the first error: until then the link was good.  Counts no more of
 * that time than the test looks back on, or it would hide what comes. */
static struct triad_ber *begin_test(struct triad_bers *bers, struct rate *rate,
	const struct triad_ber_test *test, uint64_t until_us)
{
	double most_s = TRIAD_BER_SPAN / (test->bps * test->target);
	double quiet_s = (double)(until_us - rate->since_us) / 1e6;

	rate->test = calloc(1, sizeof(*rate->test));
	if (!rate->test) {
		bers->n_dropped++;
		return NULL;
	}
	bers->n_tests++;
	if (until_us > rate->since_us)
		(void)triad_ber_add_quiet(rate->test, test,
			quiet_s < most_s ? quiet_s : most_s, rate->since_us);
	return rate->test;
}

static void add_reading(struct triad_bers *bers, struct rate *rate,
	const struct triad_ber_test *test, const struct triad_ber_reading *reading)
{
	if (!rate->test && !reading->errors)
		return;
	if (rate->test || begin_test(bers, rate, test, reading->from_us))
		(void)triad_ber_add(rate->test, test, reading);
}

static void look_at_symbols(struct triad_bers *bers, struct port *port,
	const struct triad_engine_changes *changes, uint64_t now_us)
{
	const uint32_t bit = 1u << TRIAD_SYMBOL_ERROR_COUNTER;
	const struct triad_ber_test *test = test_of(bers, port->link, TRIAD_BER_SYMBOL);
	double us = (double)changes->interval_us[TRIAD_READ_ERRORS];
	struct rate *rate = &port->rates[TRIAD_BER_SYMBOL];
	struct triad_ber_reading reading = {
		.errors = changes->changed & bit
			? changes->change[TRIAD_SYMBOL_ERROR_COUNTER]
			: 0,
		.seconds = us / 1e6,
		/* Never 0, which means "no history" in 'since_us'. */
		.from_us = now_us > (uint64_t)us ? now_us - (uint64_t)us : 1,
		.is_least = changes->full & bit,
	};

	if (!test || !(changes->fresh & bit))
		return;
	if (!rate->since_us)
		rate->since_us = reading.from_us;
	rate->read_us = now_us;
	add_reading(bers, rate, test, &reading);
}

/* Which fields of an attribute are errors of a kind. */
static bool is_of_kind(enum triad_pma_attribute attribute, enum triad_ber_kind kind,
	const struct triad_detail_field *field)
{
	static const char *const names[2][2] = {
		{"FECCorrectableBlockCtrLane", "FECUncorrectableBlockCtrLane"},
		{"PortFECCorrectedSymbolCtr", "PortFECUncorrectableBlockCtr"},
	};
	bool is_rsfec = attribute == TRIAD_PMA_EXT_SPEEDS_RSFEC;

	return !strcmp(field->name, names[is_rsfec][kind == TRIAD_BER_EFFECTIVE]);
}

static void look_at_detail(struct triad_bers *bers, struct port *port,
	enum triad_pma_attribute attribute, enum triad_ber_kind kind,
	const struct triad_detail_row *row)
{
	const struct triad_ber_test *test = test_of(bers, port->link, kind);
	struct rate *rate = &port->rates[kind];
	struct triad_ber_reading reading = {.from_us = rate->read_us};
	uint64_t total = 0;

	if (!test || row->read_us <= rate->read_us)
		return;
	for (unsigned i = 0; i < triad_detail_n_slots(attribute); i++)
		if (is_of_kind(attribute, kind, triad_detail_field(attribute, i))) {
			total += row->total[i];
			reading.is_least |= row->saturated >> i & 1;
		}
	/* Lower: a command zeroed the totals.  No since_us: this is the first
	 * reading. */
	if (rate->since_us && total >= rate->total) {
		reading.errors = total - rate->total;
		reading.seconds = (double)(row->read_us - rate->read_us) / 1e6;
		add_reading(bers, rate, test, &reading);
	}
	if (!rate->since_us)
		rate->since_us = row->read_us;
	rate->read_us = row->read_us;
	rate->total = total;
}

static void look_at_details(struct triad_bers *bers, uint32_t index, struct port *port)
{
	static const enum triad_pma_attribute attributes[] = {
		TRIAD_PMA_EXT_SPEEDS_RSFEC, TRIAD_PMA_EXT_SPEEDS};
	const struct triad_details *details = triad_engine_details(bers->view->engine);
	const struct triad_details_port of = triad_view_details_port(bers->view, index);
	struct triad_detail_row row;

	if (!(triad_details_any(details) & triad_detail_attributes(TRIAD_DETAIL_FEC)))
		return;
	for (unsigned i = 0; i < 2; i++) {
		if (!triad_details_read(details, &of, attributes[i], &row))
			continue;
		look_at_detail(bers, port, attributes[i], TRIAD_BER_RAW, &row);
		look_at_detail(bers, port, attributes[i], TRIAD_BER_EFFECTIVE, &row);
		/* A link has one layout at a time. */
		return;
	}
}

/* --- ports --- */

static uint32_t remote_row(const struct triad_view *view, uint32_t index)
{
	uint32_t remote = view->fabric->ports[index].remote;

	return remote == TRIAD_FABRIC_NONE ? remote : view->rows[remote];
}

/* Whether it is the same link.  A fabric that is a part does not show what is behind
 * its ends, and which part it is changes: so an unknown far end matches. */
static bool is_same_link(const struct port *port, const struct port *now)
{
	return port->node_guid == now->node_guid && port->number == now->number &&
		(port->remote == now->remote || port->remote == TRIAD_FABRIC_NONE ||
			now->remote == TRIAD_FABRIC_NONE) &&
		port->link.width == now->link.width &&
		port->link.speed == now->link.speed;
}

/* A switch's own management port has no link. */
static bool has_link(const struct triad_fabric *fabric, uint32_t index)
{
	const struct triad_fabric_port *port = &fabric->ports[index];

	return port->state >= TRIAD_PORT_INIT &&
		(port->number || fabric->nodes[port->node].type != TRIAD_NODE_SWITCH);
}

static struct port describe_port(const struct triad_view *view, uint32_t index)
{
	const struct triad_fabric_port *at = &view->fabric->ports[index];

	return (struct port){
		.node_guid = view->fabric->nodes[at->node].guid,
		.remote = remote_row(view, index),
		.number = at->number,
		.link = triad_link_rate_active(at),
	};
}

/* Finds a worse kind, the most important first: effective (packets are lost), symbol
 * (links send again), raw (errors are still corrected). */
static bool find_worse(const struct port *port, enum triad_ber_kind *kind)
{
	static const enum triad_ber_kind order[] = {
		TRIAD_BER_EFFECTIVE, TRIAD_BER_SYMBOL, TRIAD_BER_RAW};

	for (unsigned i = 0; i < TRIAD_BER_N_KINDS; i++) {
		const struct triad_ber *test = port->rates[order[i]].test;

		if (!test || test->verdict != TRIAD_BER_WORSE)
			continue;
		*kind = order[i];
		return true;
	}
	return false;
}

/* A port without a link is not read, so that no look sees it.  One that is not active now was down
 * since it last was. */
static void forget_lost_links(struct triad_bers *bers)
{
	for (uint32_t i = 0; i < bers->view->fabric->n_ports; i++)
		if (bers->view->fabric->ports[i].state < TRIAD_PORT_ACTIVE)
			forget_rates(bers, &bers->ports[bers->view->rows[i]]);
}

int triad_bers_adopt(struct triad_bers *bers, struct triad_view *view)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < view->fabric->n_ports; i++)
		if (view->rows[i] >= n)
			n = view->rows[i] + 1;
	if (make_room_for_ports(bers, n))
		return ENOMEM;
	triad_view_unref(bers->view);
	bers->view = triad_view_ref(view);
	prepare_tests(bers);
	forget_lost_links(bers);
	return 0;
}

enum triad_bers_change triad_bers_look(struct triad_bers *bers, uint32_t index,
	const struct triad_engine_changes *changes, uint64_t now_us,
	enum triad_ber_kind *kind)
{
	struct port *port = &bers->ports[bers->view->rows[index]];
	struct port now = describe_port(bers->view, index);
	bool was_worse_before = port->was_worse;
	bool is_up = has_link(bers->view->fabric, index) &&
		!(changes && changes->changed & 1u << TRIAD_LINK_DOWNED_COUNTER);

	if (!is_up || !is_same_link(port, &now)) {
		forget_rates(bers, port);
		*port = now;
	}
	/* Keep a known far end: a fabric that is a part may not show it. */
	if (now.remote != TRIAD_FABRIC_NONE)
		port->remote = now.remote;
	if (bers->params.enabled && is_up) {
		if (changes)
			look_at_symbols(bers, port, changes, now_us);
		look_at_details(bers, index, port);
	}
	port->was_worse = find_worse(port, kind);
	if (port->was_worse)
		return TRIAD_BERS_WORSE;
	return was_worse_before ? TRIAD_BERS_OVER : TRIAD_BERS_NOTHING;
}

/* --- reading --- */

static void read_rate(const struct rate *rate, const struct triad_ber_test *test,
	struct triad_bers_rate *copy)
{
	struct triad_ber quiet = {0};
	const struct triad_ber *ber = rate->test ? rate->test : &quiet;

	*copy = (struct triad_bers_rate){.read_us = rate->read_us};
	if (!test || !rate->since_us || rate->read_us <= rate->since_us)
		return;
	copy->is_known = true;
	if (!rate->test)
		(void)triad_ber_add_quiet(&quiet, test,
			(double)(rate->read_us - rate->since_us) / 1e6, rate->since_us);
	copy->verdict = (enum triad_ber_verdict)ber->verdict;
	copy->target = test->target;
	copy->estimate = triad_ber_estimate(ber, test, CONFIDENCE);
	copy->remaining_s = triad_ber_remaining_s(ber, test);
	if (copy->verdict == TRIAD_BER_WORSE)
		copy->since_us = ber->since_us;
}

void triad_bers_read(const struct triad_bers *bers, const struct triad_view *view,
	uint32_t index, struct triad_bers_rate rates[TRIAD_BER_N_KINDS])
{
	struct port asked = describe_port(view, index);
	const struct port *port = view->rows[index] < bers->n_ports
		? &bers->ports[view->rows[index]]
		: &asked;

	/* The view may be older than what is known. */
	if (!is_same_link(port, &asked))
		port = &asked;
	for (unsigned i = 0; i < TRIAD_BER_N_KINDS; i++)
		read_rate(&port->rates[i], test_of(bers, port->link, i), &rates[i]);
}

size_t triad_bers_octets(const struct triad_bers *bers)
{
	return sizeof(*bers) + bers->n_ports * sizeof(struct port) +
		bers->n_tests * sizeof(struct triad_ber);
}

uint64_t triad_bers_dropped(const struct triad_bers *bers)
{
	return bers->n_dropped;
}
