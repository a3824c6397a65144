/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The callbacks of the sweep's scheduler: it asks which ports are in the sweep, and
 * reports what they answered. */
#include "perfmgr/collector_parts.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

/* Ports that a sweep may ask for waits of VLs in the smallest fabric. */
#define FEW_VL_PORTS 64u

static uint32_t row_of(const struct triad_collector *collector, uint32_t port)
{
	return collector->view->rows[port];
}

/* True when the present sweep asks the port.  A port of a skipped group, or that shares
 * no partition with ours, is in no sweep.  Any other is in each sweep of all ports and
 * in those of its group. */
static bool wants_port(void *context, uint32_t port)
{
	const struct triad_collector *collector = context;
	const struct triad_view *view = collector->view;
	unsigned group = view->group[port];

	if (triad_view_is_skipped(view, port))
		return false;
	if (!collector->sweeping_groups)
		return true;
	return group != TRIAD_GROUP_NONE && collector->sweeping_groups & 1u << group;
}

static uint16_t give_pkey_index(void *context, uint32_t port)
{
	const struct triad_collector *collector = context;

	return collector->view->pkey_index[port];
}

static int find_pkey(void *context, uint16_t pkey)
{
	const struct triad_collector *collector = context;

	for (uint32_t i = 0; i < collector->n_pkeys; i++)
		if ((collector->pkeys[i] & 0x7fff) == (pkey & 0x7fff))
			return (int)i;
	/* When our table can't be read, assume the default partition at index 0. */
	return !collector->n_pkeys && (pkey & 0x7fff) == 0x7fff ? 0 : -1;
}

static void note_coming(void *context, uint32_t port)
{
	struct triad_collector *collector = context;

	triad_engine_prefetch(collector->engine, row_of(collector, port));
}

static void report_impossible(struct triad_collector *collector, uint32_t port,
	unsigned counter, bool is_believed, uint64_t now_us)
{
	const struct triad_fabric *fabric = collector->view->fabric;
	const struct triad_fabric_port *at = &fabric->ports[port];
	unsigned long suppressed;
	char others[64] = "";

	if (!triad_log_limit_pass(&collector->max_difference, now_us, &suppressed))
		return;
	if (suppressed)
		snprintf(others, sizeof(others), "; %lu such readings before",
			suppressed);
	triad_log_write(collector->log, TRIAD_LOG_WARNING,
		"perfmgr: %s of 0x%016" PRIx64
		" port %u (%s) grew by more than its link "
		"can carry: %s%s",
		triad_counters[counter].name, fabric->nodes[at->node].guid, at->number,
		fabric->nodes[at->node].name,
		is_believed
			? "for the third time; its total goes on from there without it"
			: "this reading is left out, the next one has what it missed",
		others);
}

/* Whether PortXmitWait, just read, grew by 'share' of the link's time (TRIAD_SWEEP_WAITS), or
 * may have, as it stopped at its maximum: in bits of sink.reading. */
static uint32_t waits_for(const struct triad_collector *collector, uint32_t port,
	const struct triad_pma_reading *reading, double share)
{
	const struct triad_fabric_port *at = &collector->view->fabric->ports[port];
	/* A tick of PortXmitWait counts as a word of 4 octets. */
	double words_per_s = (double)triad_fabric_port_bps(at) / 32;
	const uint32_t wait = 1u << TRIAD_PORT_XMIT_WAIT;
	struct triad_engine_row row;

	/* A second reading, of it alone, may be 0 and still leave a lower bound. */
	if (share <= 0 || !(reading->has & wait) ||
		(!reading->raw[TRIAD_PORT_XMIT_WAIT] && reading->has != wait) ||
		!triad_engine_read(collector->engine, row_of(collector, port), &row))
		return 0;
	if (triad_engine_rate(&row, TRIAD_PORT_XMIT_WAIT) >= share * words_per_s)
		return wait | TRIAD_SWEEP_WAITS;
	return row.saturated & wait;
}

static uint32_t add_reading(void *context, uint32_t port,
	enum triad_pma_attribute attribute, const struct triad_pma_reading *reading,
	uint64_t now_us)
{
	struct triad_collector *collector = context;
	const struct triad_fabric *fabric = collector->view->fabric;
	double words_per_us = triad_fabric_port_words_per_us(&fabric->ports[port]);
	uint32_t grown;
	bool is_believed;
	uint32_t impossible = triad_engine_mark_implausible(collector->engine,
		row_of(collector, port), attribute, reading, words_per_us, now_us,
		&is_believed);

	if (impossible) {
		collector->n_impossible++;
		report_impossible(collector, port, (unsigned)__builtin_ctz(impossible),
			is_believed, now_us);
	}
	/* Keep the row as it is, so that the next reading covers this interval, too. */
	if (!is_believed)
		return 0;
	grown = triad_engine_update(
		collector->engine, row_of(collector, port), attribute, reading, now_us);
	return grown |
		waits_for(
			collector, port, reading, collector->params.sweep.wait_matters);
}

/* Asks a port that waits for long on which VLs it waits: that separates roots of
 * congestion (congestion/roots.h). */
static uint32_t choose_details(
	void *context, uint32_t port, const struct triad_pma_reading *reading)
{
	struct triad_collector *collector = context;
	const struct triad_collector_params *params = &collector->params;
	uint32_t most = FEW_VL_PORTS +
		(uint32_t)(fmin(params->sweep.round_share, 1) *
			collector->view->fabric->n_ports);

	if (params->sweep.round_share <= 0 || collector->n_vl_asked >= most ||
		!waits_for(collector, port, reading, params->vl_wait_share))
		return 0;
	collector->n_vl_asked++;
	return TRIAD_DETAIL_BIT(TRIAD_PMA_VL_XMIT_WAIT);
}

static void add_detail(void *context, uint32_t port, enum triad_pma_attribute attribute,
	const struct triad_detail_reading *reading, bool after_reset, uint64_t now_us)
{
	struct triad_collector *collector = context;
	const struct triad_details_port of =
		triad_view_details_port(collector->view, port);

	triad_details_update(triad_engine_details(collector->engine), &of, attribute,
		reading, after_reset, now_us);
}

static void report_disbelieved(
	void *context, uint32_t port, unsigned counter, uint64_t narrow, uint64_t wide)
{
	struct triad_collector *collector = context;
	const struct triad_fabric *fabric = collector->view->fabric;
	const struct triad_fabric_port *at = &fabric->ports[port];
	unsigned long suppressed;
	char others[64] = "";

	if (!triad_log_limit_pass(&collector->disbelieved_limit,
		    collector_now(collector), &suppressed))
		return;
	if (suppressed)
		snprintf(others, sizeof(others), "; so it was at %lu agents before",
			suppressed);
	triad_log_write(collector->log, TRIAD_LOG_WARNING,
		"perfmgr: %s of 0x%016" PRIx64 " port %u (%s) is %" PRIu64
		" in PortCounters, and only %" PRIu64
		" in PortCountersExtended: the 64-bit errors of this agent are not "
		"believed, its PortCounters are read, which stop at their maximum%s",
		triad_counters[counter].name, fabric->nodes[at->node].guid, at->number,
		fabric->nodes[at->node].name, narrow, wide, others);
}

static void confirm_reading(
	void *context, uint32_t port, enum triad_wait_news wait, uint64_t now_us)
{
	struct triad_collector *collector = context;
	uint32_t row = row_of(collector, port);

	triad_engine_confirm(collector->engine, row, wait == TRIAD_WAIT_SAME, now_us);
	if (wait == TRIAD_WAIT_UNKNOWN)
		triad_engine_forget_wait(collector->engine, row);
}

static void expect_reset(void *context, uint32_t port, uint32_t mask)
{
	struct triad_collector *collector = context;

	triad_engine_expect_reset(collector->engine, row_of(collector, port), mask);
}

static void note_reset(void *context, uint32_t port,
	const struct triad_pma_reading *reading, uint64_t now_us)
{
	struct triad_collector *collector = context;
	const struct triad_fabric *fabric = collector->view->fabric;
	const struct triad_fabric_port *at = &fabric->ports[port];
	unsigned long suppressed;
	char others[64] = "";

	triad_engine_reset(collector->engine, row_of(collector, port), reading, now_us);
	if (!triad_log_limit_pass(&collector->reset_limit, now_us, &suppressed))
		return;
	if (suppressed)
		snprintf(others, sizeof(others), "; so were %lu ports before",
			suppressed);
	triad_log_write(collector->log, TRIAD_LOG_INFO,
		"perfmgr: counters of 0x%016" PRIx64 " port %u (%s) were reset in "
		"hardware, totals go on%s",
		fabric->nodes[at->node].guid, at->number, fabric->nodes[at->node].name,
		others);
}

static void note_trouble(void *context, uint32_t port, struct triad_pma_trouble trouble)
{
	struct triad_collector *collector = context;

	if (!collector->watch_is_behind)
		triad_watch_note_trouble(collector->watch, port, trouble);
}

static void mark_done(void *context, uint32_t port, bool answered)
{
	struct triad_collector *collector = context;

	triad_engine_mark(collector->engine, row_of(collector, port), answered);
	/* A watch that is behind knows the port indices of an older fabric only. */
	if (!answered && !collector->watch_is_behind)
		triad_watch_miss(collector->watch, port, collector_now(collector));
}

struct triad_sweep_sink collector_sink(struct triad_collector *collector)
{
	return (struct triad_sweep_sink){
		.context = collector,
		.wants = wants_port,
		.pkey_index = give_pkey_index,
		.find_pkey = find_pkey,
		.coming = note_coming,
		.reading = add_reading,
		.detail = add_detail,
		.wanted_details = choose_details,
		.disbelieved = report_disbelieved,
		.unchanged = confirm_reading,
		.resetting = expect_reset,
		.reset = note_reset,
		.trouble = note_trouble,
		.done = mark_done,
	};
}
