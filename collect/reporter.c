/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "collect/reporter.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/hash.h"
#include "perfmgr/formats/change_filter.h"
#include "triad/clock.h"

/* The size of a port's row without compression: GUID, port, time and all counters. */
#define RAW_ROW_SIZE (8 + 1 + 8 + 8 * TRIAD_N_COUNTERS)
#define ERROR_COUNTERS ((1u << TRIAD_PORT_XMIT_WAIT) - 1)

struct triad_reporter {
	struct triad_reporter_params params;
	struct triad_change_filter *filter;
	struct triad_view *view; /* of the present report; NULL: none */
	uint32_t *findings;      /* of the view's ports; NULL: none */
	uint32_t next_port;
	uint32_t n_owned, n_silent;
	uint32_t n_sweeps;
	uint32_t number; /* of the last message */
	uint32_t again_from, again_since;
	bool is_sent; /* the present report has sent a message */
	struct triad_reporter_counts counts;
};

struct triad_reporter *triad_reporter_new(void)
{
	struct triad_reporter *reporter = calloc(1, sizeof(*reporter));

	if (!reporter)
		return NULL;
	reporter->params.refresh = 1;
	reporter->filter = triad_change_filter_new();
	if (reporter->filter)
		return reporter;
	free(reporter);
	return NULL;
}

static void end_reporting(struct triad_reporter *reporter)
{
	triad_view_unref(reporter->view);
	free(reporter->findings);
	reporter->view = NULL;
	reporter->findings = NULL;
}

void triad_reporter_free(struct triad_reporter *reporter)
{
	if (!reporter)
		return;
	end_reporting(reporter);
	triad_change_filter_free(reporter->filter);
	free(reporter);
}

void triad_reporter_configure(
	struct triad_reporter *reporter, const struct triad_reporter_params *params)
{
	reporter->params = *params;
}

uint32_t triad_reporter_n_ports(const struct triad_reporter *reporter)
{
	return reporter->n_owned;
}

uint32_t triad_reporter_number(const struct triad_reporter *reporter)
{
	return reporter->number;
}

struct triad_reporter_counts triad_reporter_counts(
	const struct triad_reporter *reporter)
{
	return reporter->counts;
}

void triad_reporter_repeat_from(struct triad_reporter *reporter, uint32_t from)
{
	reporter->counts.n_again++;
	reporter->again_from = from;
	reporter->again_since = reporter->number + 1;
	/* Report the rows again that were reported since. */
	triad_change_filter_forget_from(reporter->filter, from);
}

void triad_reporter_begin(struct triad_reporter *reporter, struct triad_view *view,
	const uint32_t *findings, uint32_t n_silent, uint64_t now_us)
{
	size_t size = view->fabric->n_ports * sizeof(*findings);

	end_reporting(reporter);
	reporter->view = triad_view_ref(view);
	reporter->findings = findings ? malloc(size + 1) : NULL;
	/* If memory is short, report rows without findings. */
	if (reporter->findings)
		memcpy(reporter->findings, findings, size);
	reporter->next_port = 0;
	reporter->n_owned = 0;
	for (uint32_t i = 0; i < view->fabric->n_ports; i++)
		reporter->n_owned += triad_view_is_asked(view, i);
	reporter->n_silent = n_silent;
	reporter->n_sweeps++;
	reporter->is_sent = false;
	reporter->counts.raw_octets += (uint64_t)reporter->n_owned * RAW_ROW_SIZE;
}

/* --- which ports --- */

/* A port is due when this hash changes.  If the port has a finding, the hash includes
 * the totals of errors. */
static uint32_t watched(const struct triad_engine_report *report, uint32_t findings)
{
	uint64_t sum = triad_hash_word(TRIAD_HASH_START, report->answered);

	sum = triad_hash_word(sum, report->has);
	sum = triad_hash_word(sum, findings);
	sum = triad_hash_word(sum, report->n_others_resets);
	sum = triad_hash_word(sum, report->n_own_resets);
	sum = triad_hash_word(sum, report->zeroed_s);
	for (uint32_t left = findings ? report->has & ERROR_COUNTERS : 0; left;
		left &= left - 1) {
		unsigned i = (unsigned)__builtin_ctz(left);

		sum = triad_hash_word(sum, report->base[i] + report->raw[i]);
	}
	return (uint32_t)(sum >> 32);
}

/* A counter's growth in a period at its last rate; the last interval may be shorter
 * than a period. */
static float pace(const struct triad_reporter *reporter,
	const struct triad_engine_row *now, unsigned counter)
{
	double per_s = triad_engine_rate(now, counter);

	return isnan(per_s) ? 0
			    : (float)(per_s * (double)reporter->params.period_us / 1e6);
}

static bool is_row_due(struct triad_reporter *reporter, uint32_t row,
	const struct triad_engine_report *report, const struct triad_engine_row *now,
	uint32_t findings)
{
	const struct triad_change_filter_port port = {
		.node_guid = now->node_guid,
		.port = now->port,
		.watched = watched(report, findings),
		.xmit_words = now->total[TRIAD_PORT_XMIT_DATA],
		.rcv_words = now->total[TRIAD_PORT_RCV_DATA],
		.wait_ticks = now->total[TRIAD_PORT_XMIT_WAIT],
		.pace_words = pace(reporter, now, TRIAD_PORT_XMIT_DATA) +
			pace(reporter, now, TRIAD_PORT_RCV_DATA),
		.pace_ticks = pace(reporter, now, TRIAD_PORT_XMIT_WAIT),
	};
	uint32_t refresh = reporter->params.refresh;
	bool due;

	/* Each row once in so many sweeps, whatever it did; in each sweep other
	 * rows. */
	if (refresh && row % refresh == reporter->n_sweeps % refresh)
		triad_change_filter_forget_row(reporter->filter, row);
	/* If memory is short, the port counts as due. */
	(void)triad_change_filter_check(
		reporter->filter, row, &port, reporter->params.min_change_words, &due);
	return due;
}

static void fill_row(struct triad_collect_row *to, const struct triad_engine_row *now,
	const struct triad_engine_report *report, uint32_t findings, uint64_t now_us)
{
	uint64_t age_us = now_us > report->read_us ? now_us - report->read_us : 0;

	*to = (struct triad_collect_row){
		.node_guid = now->node_guid,
		.port = now->port,
		.answered = report->answered,
		.has_wide_errors = report->has_wide_errors,
		.age_ms = (uint32_t)(age_us / TRIAD_US_PER_MS),
		.zeroed_s = report->zeroed_s,
		.has = report->has,
		.findings = findings,
		.n_others_resets = report->n_others_resets,
		.n_own_resets = report->n_own_resets,
	};
	memcpy(to->raw, report->raw, sizeof(to->raw));
	memcpy(to->base, report->base, sizeof(to->base));
}

/* Puts the port into the message if it is due.  Returns false when it is full. */
static bool report_port(struct triad_reporter *reporter, uint32_t port, uint64_t now_us,
	struct triad_collect_data_writer *writer)
{
	const struct triad_view *view = reporter->view;
	uint32_t findings = reporter->findings ? reporter->findings[port] : 0;
	struct triad_engine_report report;
	struct triad_engine_row now;
	struct triad_collect_row row;

	if (!triad_view_is_asked(view, port) || !triad_view_read(view, port, &now) ||
		!now.was_asked ||
		!triad_engine_describe(view->engine, view->rows[port], &report))
		return true;
	/* Check the room before asking the filter, which notes a due port as
	 * reported. */
	if (writer->wire.size - writer->wire.at < TRIAD_COLLECT_MAX_ROW_SIZE)
		return false;
	if (!is_row_due(reporter, view->rows[port], &report, &now, findings)) {
		reporter->counts.n_held++;
		return true;
	}
	fill_row(&row, &now, &report, findings, now_us);
	reporter->counts.n_rows++;
	return triad_collect_data_put(writer, &row);
}

size_t triad_reporter_next(struct triad_reporter *reporter,
	const struct triad_collect_head *head, uint64_t now_us, uint8_t *to)
{
	const struct triad_collect_data data = {
		.number = reporter->number + 1,
		.clock_us = now_us,
		.n_sweeps = reporter->n_sweeps,
		.n_ports = reporter->n_owned,
		.n_silent = reporter->n_silent,
		.again_from = reporter->again_from,
		.again_since = reporter->again_since,
	};
	struct triad_collect_data_writer writer;

	if (!reporter->view)
		return 0;
	triad_change_filter_begin(reporter->filter, data.number);
	triad_collect_data_begin(&writer, head, &data, to, TRIAD_REPORTER_MESSAGE_SIZE);
	while (reporter->next_port < reporter->view->fabric->n_ports &&
		report_port(reporter, reporter->next_port, now_us, &writer))
		reporter->next_port++;
	if (reporter->next_port == reporter->view->fabric->n_ports)
		end_reporting(reporter);
	/* Send the first message even without rows, to show that the agent is alive. */
	if (!writer.n_rows && reporter->is_sent)
		return 0;
	reporter->is_sent = true;
	reporter->number = data.number;
	reporter->counts.n_messages++;
	reporter->counts.n_octets += triad_collect_data_end(&writer);
	return triad_collect_data_end(&writer);
}
