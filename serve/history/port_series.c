/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "serve/history/port_series.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "history/past.h"

#define HEAD "# triad-image "

static void begin(struct triad_port_series *series)
{
	triad_profile_parser_init(&series->parser);
	series->is_quiet = false;
}

void triad_port_series_begin_key(struct triad_port_series *series)
{
	begin(series);
	series->now = (struct triad_history_point){0};
}

void triad_port_series_end_key(struct triad_port_series *series)
{
	series->of_key = series->now;
}

/* A row that differs from the key's replaces it; which ports were not read is said in each
 * image. */
void triad_port_series_begin_change(struct triad_port_series *series)
{
	begin(series);
	series->now = series->of_key;
}

static void take_comment(
	struct triad_port_series *series, const char *line, size_t length)
{
	char copy[TRIAD_PROFILE_LINE_SIZE];
	struct triad_history_head head;
	uint64_t guid;
	unsigned port;
	uint32_t mask;

	snprintf(copy, sizeof(copy), "%.*s", (int)length, line);
	if (!strncmp(copy, HEAD, sizeof(HEAD) - 1) &&
		!triad_past_read_head(copy + sizeof(HEAD) - 1, &head))
		series->now.base.zeroed_us = head.zeroed_us;
	else if (triad_past_read_note(copy, &guid, &port, &mask) &&
		guid == series->node_guid && port == series->port)
		series->is_quiet |= mask & 1u << series->counter;
}

/* Whether the line may be the port's row: parsing those of a million ports takes long. */
static bool may_be_row(
	const struct triad_port_series *series, const char *line, size_t length)
{
	const char *comma = memchr(line, ',', length);
	char place[32];
	size_t n = (size_t)snprintf(place, sizeof(place), ",0x%016" PRIx64 ",%u,",
		series->node_guid, series->port);

	return comma && (size_t)(line + length - comma) > n && !memcmp(comma, place, n);
}

bool triad_port_series_take_line(void *context, const char *line, size_t length)
{
	struct triad_port_series *series = context;
	const struct triad_profile_row *row = &series->parser.row;

	if (length && *line >= '0' && *line <= '9' &&
		!may_be_row(series, line, length)) {
		series->parser.line++;
		return true;
	}
	switch (triad_profile_parse(&series->parser, line, length)) {
	case TRIAD_PROFILE_WRONG:
		return false;
	case TRIAD_PROFILE_INFO:
		series->now.base.started_us = series->parser.info.started_us;
		break;
	case TRIAD_PROFILE_COMMENT:
		take_comment(series, line, length);
		break;
	case TRIAD_PROFILE_ROW:
		series->now.is_known = row->has & 1u << series->counter;
		series->now.total = row->total[series->counter];
		break;
	case TRIAD_PROFILE_HEADER:
		break;
	}
	return true;
}

struct triad_history_point triad_port_series_point(
	const struct triad_port_series *series)
{
	struct triad_history_point point = series->now;

	point.is_known &= !series->is_quiet;
	return point;
}
