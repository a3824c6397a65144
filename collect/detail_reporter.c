/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "collect/detail_reporter.h"

#include <stdlib.h>
#include <string.h>

#include "lib/grow.h"
#include "lib/hash.h"
#include "triad/clock.h"

#define FIRST_ROWS 1024u

/* The last report of a row. */
struct reported {
	uint32_t version; /* version of the details at the last check: if equal,
			   * nothing is new */
	uint32_t hash;    /* 0: nothing was reported */
};

struct triad_detail_reporter {
	struct triad_view *view; /* of the present report; NULL: none */
	uint32_t next_port;
	uint32_t refresh, n_sweeps;
	struct reported *reported; /* by the engine's row */
	size_t n_reported;
	struct triad_detail_entries entries; /* of the port looked at */
};

struct triad_detail_reporter *triad_detail_reporter_new(void)
{
	return calloc(1, sizeof(struct triad_detail_reporter));
}

void triad_detail_reporter_free(struct triad_detail_reporter *reporter)
{
	if (!reporter)
		return;
	triad_view_unref(reporter->view);
	free(reporter->reported);
	free(reporter);
}

void triad_detail_reporter_forget(struct triad_detail_reporter *reporter)
{
	if (reporter->n_reported)
		memset(reporter->reported, 0,
			reporter->n_reported * sizeof(*reporter->reported));
}

void triad_detail_reporter_begin(struct triad_detail_reporter *reporter,
	struct triad_view *view, uint32_t refresh)
{
	triad_view_unref(reporter->view);
	reporter->view = triad_view_ref(view);
	reporter->next_port = 0;
	reporter->refresh = refresh;
	reporter->n_sweeps++;
}

/* --- which ports --- */

/* The entry for the last report of the row; NULL when memory is short. */
static struct reported *allocate_bases(
	struct triad_detail_reporter *reporter, uint32_t row)
{
	size_t n = reporter->n_reported;

	if (row < n)
		return &reporter->reported[row];
	if (row >= TRIAD_ENGINE_MAX_ROWS ||
		triad_grow(&reporter->reported, &reporter->n_reported, row + 1,
			sizeof(*reporter->reported), FIRST_ROWS))
		return NULL;
	memset(reporter->reported + n, 0,
		(reporter->n_reported - n) * sizeof(*reporter->reported));
	return &reporter->reported[row];
}

/* A port is due when this hash changes: of the attributes that it has, and of the times
 * at which those were read that have a value other than 0. */
static uint32_t hash_details(const struct triad_detail_entries *entries)
{
	uint64_t sum = triad_hash_word(entries->node_guid, entries->port);

	sum = triad_hash_word(sum, entries->zeroed_s);
	for (unsigned i = 0; i < entries->n; i++) {
		const struct triad_details_report *report = &entries->report[i];

		sum = triad_hash_word(sum, entries->attribute[i]);
		sum = triad_hash_word(
			sum, triad_details_is_zero(report) ? 0 : report->read_us);
	}
	return (uint32_t)(sum >> 32) | 1;
}

/* Copies the port's details.  Returns false when there are none. */
static bool copy_details(
	struct triad_detail_reporter *reporter, uint32_t port, uint64_t now_us)
{
	const struct triad_view *view = reporter->view;
	const struct triad_details *details = triad_engine_details(view->engine);
	const struct triad_details_port of = triad_view_details_port(view, port);
	struct triad_detail_entries *entries = &reporter->entries;
	struct triad_engine_report report;
	uint32_t known = triad_details_known(details, &of);

	if (!known || !triad_engine_describe(view->engine, view->rows[port], &report))
		return false;
	entries->node_guid = of.node_guid;
	entries->port = of.number;
	entries->zeroed_s = report.zeroed_s;
	entries->n = 0;
	for (; known; known &= known - 1) {
		unsigned i = entries->n;
		uint64_t read_us;

		entries->attribute[i] = (enum triad_pma_attribute)__builtin_ctz(known);
		if (!triad_details_describe(
			    details, &of, entries->attribute[i], &entries->report[i]))
			continue;
		read_us = entries->report[i].read_us;
		entries->age_ms[i] =
			now_us > read_us ? (now_us - read_us) / TRIAD_US_PER_MS : 0;
		entries->n++;
	}
	return entries->n;
}

/* Puts the port into the message if it is due.  Returns false when it is full. */
static bool report_port(struct triad_detail_reporter *reporter, uint32_t port,
	uint64_t now_us, struct triad_detail_writer *writer)
{
	const struct triad_view *view = reporter->view;
	const struct triad_details_port of = triad_view_details_port(view, port);
	uint32_t row = view->rows[port], hash;
	uint32_t version =
		triad_details_version(triad_engine_details(view->engine), &of);
	bool is_refreshed = reporter->refresh &&
		row % reporter->refresh == reporter->n_sweeps % reporter->refresh;
	struct reported *reported;

	if (!version || !triad_view_is_asked(view, port))
		return true;
	reported = allocate_bases(reporter, row);
	if (reported && reported->hash && reported->version == version && !is_refreshed)
		return true;
	if (!copy_details(reporter, port, now_us))
		return true;
	hash = hash_details(&reporter->entries);
	if ((!reported || reported->hash != hash || is_refreshed) &&
		!triad_detail_writer_put(writer, &reporter->entries))
		return false;
	if (reported)
		*reported = (struct reported){.version = version, .hash = hash};
	return true;
}

size_t triad_detail_reporter_next(struct triad_detail_reporter *reporter,
	const struct triad_collect_head *head, uint64_t now_us, uint8_t *to)
{
	struct triad_view *view = reporter->view;
	struct triad_detail_writer writer;

	if (!view)
		return 0;
	triad_detail_writer_begin(
		&writer, head, to, TRIAD_DETAIL_REPORTER_MESSAGE_SIZE);
	while (reporter->next_port < view->fabric->n_ports &&
		report_port(reporter, reporter->next_port, now_us, &writer))
		reporter->next_port++;
	if (reporter->next_port == view->fabric->n_ports) {
		triad_view_unref(view);
		reporter->view = NULL;
	}
	return writer.n_rows ? writer.wire.at : 0;
}
