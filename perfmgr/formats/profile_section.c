/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "perfmgr/formats/profile_section.h"

#include <stdlib.h>

#include "perfmgr/formats/change_filter.h"
#include "perfmgr/formats/profile.h"

#define OCTETS_PER_WORD 4

struct triad_profile_sections {
	uint64_t port_guid, started_us;
	struct triad_change_filter *filter;
	bool has_all; /* the next section has all there is */
};

/* The section under construction. */
struct section {
	struct triad_profile_sections *of;
	const struct triad_profile_section_params *params;
	const struct triad_view *view;
	const struct triad_profile_sink *sink;
	uint64_t wall_us, since_us;
	bool has_all, failed;
	char line[TRIAD_PROFILE_LINE_SIZE];
};

struct triad_profile_sections *triad_profile_sections_new(
	uint64_t port_guid, uint64_t started_us)
{
	struct triad_profile_sections *sections = calloc(1, sizeof(*sections));

	if (!sections)
		return NULL;
	sections->port_guid = port_guid;
	sections->started_us = started_us;
	sections->has_all = true;
	sections->filter = triad_change_filter_new();
	if (sections->filter)
		return sections;
	free(sections);
	return NULL;
}

void triad_profile_sections_free(struct triad_profile_sections *sections)
{
	if (!sections)
		return;
	triad_change_filter_free(sections->filter);
	free(sections);
}

void triad_profile_sections_forget(struct triad_profile_sections *sections)
{
	triad_change_filter_forget(sections->filter);
	sections->has_all = true;
}

/* Passes on the line, which has 'size' octets. */
static void put_profile_line(struct section *section, size_t size)
{
	section->failed = section->failed ||
		!section->sink->put(section->sink->context, section->line, size);
}

static uint32_t sum_of_errors(const struct triad_engine_row *row)
{
	uint64_t sum = 0;

	for (unsigned i = 0; i < TRIAD_N_COUNTERS; i++)
		if (triad_counters[i].is_error)
			sum += row->total[i];
	return (uint32_t)sum;
}

static bool is_port_due(const struct section *section, uint32_t port,
	const struct triad_engine_row *row)
{
	const struct triad_profile_section_params *params = section->params;
	const struct triad_change_filter_port changed = {
		.node_guid = row->node_guid,
		.port = row->port,
		.watched = params->all_counters ? sum_of_errors(row) : 0,
		.xmit_words = row->total[TRIAD_PORT_XMIT_DATA],
		.rcv_words = row->total[TRIAD_PORT_RCV_DATA],
		.wait_ticks =
			params->all_counters ? row->total[TRIAD_PORT_XMIT_WAIT] : 0,
	};
	bool due;

	/* When memory is short, the port is due. */
	(void)triad_change_filter_check(section->of->filter, section->view->rows[port],
		&changed, params->min_change_octets / OCTETS_PER_WORD, &due);
	return due;
}

static bool is_fresh(const struct section *section, const struct triad_engine_row *row)
{
	return row->answered && row->read_us && row->read_us >= section->since_us;
}

/* A sweep is of all ports when every port group that answers has a port read in it;
 * most often the first port of each group decides. */
static enum triad_profile_sweep sweep_of(const struct section *section)
{
	const struct triad_view *view = section->view;
	uint32_t fresh = 0, stale = 0;

	for (uint32_t i = 0; i < view->fabric->n_ports; i++) {
		uint32_t group = 1u << view->group[i];
		struct triad_engine_row row;

		if (fresh & group || !triad_view_is_asked(view, i) ||
			!triad_view_read(view, i, &row) || !row.answered)
			continue;
		fresh |= is_fresh(section, &row) ? group : 0;
		stale |= group;
	}
	return stale & ~fresh ? TRIAD_PROFILE_SWEEP_PART : TRIAD_PROFILE_SWEEP_ALL;
}

static uint32_t counters_of(const struct section *section)
{
	return section->params->all_counters ? TRIAD_PROFILE_ALL_COUNTERS : 0;
}

static void put_profile_head(struct section *section)
{
	const struct triad_profile_info info = {
		.time_us = section->wall_us,
		.sm_guid = section->of->port_guid,
		.started_us = section->of->started_us,
		.min_change_octets = section->params->min_change_octets,
		.period_us = section->params->period_us,
		.sweep = sweep_of(section),
	};

	put_profile_line(section, triad_profile_render_info(section->line, &info));
	put_profile_line(section,
		triad_profile_render_header(section->line, counters_of(section)));
}

static void put_rows(struct section *section)
{
	const struct triad_fabric *fabric = section->view->fabric;
	char time[TRIAD_CLOCK_TEXT_SIZE];

	triad_clock_format(section->wall_us, time);
	for (uint32_t i = 0; i < fabric->n_ports && !section->failed; i++) {
		struct triad_profile_row profile;
		struct triad_engine_row row;

		if (!fabric->ports[i].has_pma ||
			!triad_view_read(section->view, i, &row) ||
			!is_fresh(section, &row) || !is_port_due(section, i, &row))
			continue;
		profile = triad_profile_row_of(fabric, i, &row);
		put_profile_line(section,
			triad_profile_render_row(
				section->line, time, &profile, counters_of(section)));
	}
}

static void put_detail(struct section *section, const struct triad_details_port *of,
	const struct triad_detail_field *field, const struct triad_detail_row *row)
{
	uint64_t any = 0;

	for (unsigned i = 0; i < field->n; i++)
		any |= row->total[field->slot + i];
	if (any)
		put_profile_line(section,
			triad_profile_render_detail(section->line, of->node_guid,
				of->number, field, row->total + field->slot));
}

static void put_details(struct section *section, uint32_t port)
{
	const struct triad_details *details =
		triad_engine_details(section->view->engine);
	const struct triad_details_port of =
		triad_view_details_port(section->view, port);
	uint32_t known = triad_details_known(details, &of);
	struct triad_detail_row row;

	for (; known && !section->failed; known &= known - 1) {
		enum triad_pma_attribute attribute =
			(enum triad_pma_attribute)__builtin_ctz(known);

		if (!triad_details_read(details, &of, attribute, &row) ||
			(!section->has_all && row.read_us < section->since_us))
			continue;
		for (unsigned i = 0; i < TRIAD_DETAIL_N_FIELDS; i++)
			if (triad_detail_fields[i].attributes &
				TRIAD_DETAIL_BIT(attribute))
				put_detail(section, &of, &triad_detail_fields[i], &row);
	}
}

bool triad_profile_sections_put(struct triad_profile_sections *sections,
	const struct triad_profile_section_params *params,
	const struct triad_view *view, uint64_t wall_us, uint64_t since_us,
	const struct triad_profile_sink *sink)
{
	struct section section = {.of = sections,
		.params = params,
		.view = view,
		.sink = sink,
		.wall_us = wall_us / TRIAD_US_PER_MS * TRIAD_US_PER_MS,
		.since_us = since_us,
		.has_all = sections->has_all};

	sections->has_all = false;
	put_profile_head(&section);
	put_rows(&section);
	for (uint32_t i = 0;
		params->details && !section.failed && i < view->fabric->n_ports; i++)
		if (triad_view_is_asked(view, i))
			put_details(&section, i);
	return !section.failed;
}
