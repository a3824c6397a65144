/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Images restored from any lines: accepted values must be within their limits and
 * printable.  A frame begins with its line 'triad-profile'; the first four are a key,
 * an image and the same of the image before.  Accepted lines of an index must be
 * written as they were read. */
#include "collect/kept_histograms.h"
#include "collect/kept_owners.h"
#include "history/past.h"
#include "history/ring.h"
#include "perfmgr/watch/alert_text.h"
#include "portmgr/plan/port_row.h"
#include "qos/setup/kept_tables.h"
#include "tests/fuzz/fuzz.h"

#define OFFSET_US INT64_C(1767323045000000)

struct reading {
	struct triad_past *past;
	struct triad_profile_parser parser;
	unsigned n_frames;
	bool has_failed;
};

/* --- an index --- */

static void check_index_line(const char *line, size_t length)
{
	struct triad_history_entry entry, again;
	char text[TRIAD_HISTORY_LINE_SIZE];
	size_t n;

	if (!triad_history_line_parse(line, length, &entry))
		return;
	n = triad_history_line_format(&entry, text);
	require(n <= sizeof(text) && text[n - 1] == '\n', "a line has an end");
	require(triad_history_line_parse(text, n - 1, &again), "a line is one");
	require(!memcmp(&entry, &again, sizeof(entry)), "the same entry");
}

/* --- frames --- */

static void end_frame(struct reading *reading)
{
	if (reading->n_frames && !reading->has_failed)
		reading->has_failed = triad_past_end(reading->past) != 0;
}

static void take_line(struct reading *reading, const char *line, size_t length)
{
	enum triad_profile_line kind =
		triad_profile_parse(&reading->parser, line, length);

	if (kind == TRIAD_PROFILE_INFO && reading->n_frames < 4) {
		end_frame(reading);
		if (!reading->has_failed)
			triad_past_begin(reading->past,
				(enum triad_past_part)reading->n_frames++);
	}
	if (kind == TRIAD_PROFILE_WRONG || !reading->n_frames)
		return;
	if (!reading->has_failed &&
		!triad_past_take_line(
			reading->past, kind, &reading->parser, line, length))
		reading->has_failed = true;
}

static void show_extra(const struct triad_past *past, const struct triad_past_extra *at)
{
	struct triad_extra extra;
	double value, limit;
	unsigned i;

	if (at->is_gone)
		return;
	require(triad_past_find_extra(
			past, at->kind, at->node_guid, at->port, at->part, &extra),
		"what was taken is found");
	if (extra.kind == TRIAD_EXTRA_CABLE)
		(void)triad_cable_judge(
			&extra.is.cable.cable, true, &i, &value, &limit);
	else if (extra.kind == TRIAD_EXTRA_DEVICE)
		(void)triad_device_judge(&extra.is.device.info, &i, &value, &limit);
	else if (extra.kind == TRIAD_EXTRA_DETAIL)
		require(triad_detail_n_slots(extra.part) > 0, "an attribute");
}

static bool wants_port(void *context, uint64_t guid, uint8_t port)
{
	(void)context;
	(void)guid;
	(void)port;
	return true;
}

static void take_table(void *context, uint64_t guid, uint8_t port,
	const struct triad_port_table *table)
{
	(void)context;
	(void)guid;
	(void)port;
	require(table->table < TRIAD_SETUP_N_TABLES && table->n <= TRIAD_VLARB_MAX,
		"a table is one");
}

/* Reads a list, whatever its rows contain. */
static void show_list(const struct triad_kept_list *list)
{
	const struct triad_kept_tables_reader reader = {
		.wants = wants_port, .take = take_table};
	struct triad_port_rows_head head;
	struct triad_gather_piece piece;
	struct triad_kept_owner owner;
	struct triad_kept_agent agent;
	struct triad_port_row row;
	uint32_t size;

	require(triad_kept_list_is_whole(list), "no row is missing");
	for (uint32_t i = 0; i < list->n; i++) {
		const uint8_t *octets = triad_kept_list_row(list, i, &size);

		require(size <= TRIAD_KEPT_ROW_SIZE, "a row has a size at most");
		(void)triad_port_rows_head_get(octets, size, &head);
		if (triad_port_row_get(octets, size, &row))
			require(strlen(row.text) < sizeof(row.text),
				"a text has an end");
	}
	(void)triad_kept_tables_read(list, &reader);
	(void)triad_kept_owners_find(list, 1, &owner);
	(void)triad_kept_owners_find_agent(list, 1, &agent);
	if (!triad_kept_histograms_find(list, "", TRIAD_PORT_XMIT_DATA, &piece))
		(void)triad_histogram_quantile(&piece.histogram, piece.n_zeros, 0.5);
}

/* Formats all that a command would show. */
static void show(const struct triad_past *past)
{
	struct triad_engine_row row;
	char text[TRIAD_ALERT_TEXT_SIZE];

	for (uint32_t i = 0; i < past->view->fabric->n_ports; i++)
		(void)triad_view_read(past->view, i, &row);
	for (uint32_t i = 0; i < past->n_alerts; i++) {
		const struct triad_alert *alert = &past->alerts[i];

		require(alert->n_findings <= TRIAD_ALERT_MAX_FINDINGS, "findings");
		for (unsigned f = 0; f < alert->n_findings; f++)
			triad_alert_finding_format(
				alert, &alert->findings[f], text, sizeof(text));
		for (unsigned e = 0; e < alert->n_ends; e++)
			triad_alert_place_format(alert, e, text, sizeof(text));
		triad_alert_more_format(alert, text, sizeof(text));
		triad_alert_sm_format(alert, OFFSET_US, text, sizeof(text));
		(void)triad_alert_advice(alert);
		(void)triad_alert_severity(alert);
	}
	for (uint32_t i = 0; i < past->n_extras; i++)
		show_extra(past, &past->extras[i]);
	for (uint32_t i = 0; i < past->n_links; i++)
		triad_link_rate_format(past->links[i].rate, text, sizeof(text));
	for (unsigned i = 0; i < TRIAD_N_KEPT; i++)
		if (past->lists[i].is_kept && !past->lists[i].why[0])
			show_list(&past->lists[i]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *at = (const char *)data, *end = at + size;
	struct reading reading = {.past = triad_past_new(OFFSET_US)};

	if (!reading.past)
		return 0;
	reading.past->wants_lists = true;
	triad_profile_parser_init(&reading.parser);
	while (at < end) {
		const char *newline = memchr(at, '\n', (size_t)(end - at));
		size_t length = (size_t)((newline ? newline : end) - at);
		/* In a block of exactly that size, so that a sanitizer detects a read
		 * past its end. */
		char *line = malloc(length ? length : 1);

		if (!line)
			break;
		memcpy(line, at, length);
		check_index_line(line, length);
		take_line(&reading, line, length);
		free(line);
		at += length + (newline != NULL);
	}
	end_frame(&reading);
	if (reading.n_frames && !reading.has_failed) {
		if (!triad_past_finish(reading.past))
			show(reading.past);
	}
	triad_past_free(reading.past);
	return 0;
}
