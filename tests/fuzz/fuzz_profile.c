/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Lines of a profile with any octets: a mistake must be reported in one printable line,
 * an accepted line must be rendered as it was read. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "perfmgr/formats/profile.h"
#include "tests/fuzz/fuzz.h"

static uint32_t columns_of(const struct triad_profile_parser *parser)
{
	uint32_t counters = 0;

	for (unsigned i = 0; i < parser->n_counters; i++)
		counters |= 1u << parser->counters[i];
	return counters;
}

static void check_same(const struct triad_profile_parser *parser,
	enum triad_profile_line kind, const char *line, size_t length)
{
	char again[TRIAD_PROFILE_LINE_SIZE], time[TRIAD_CLOCK_TEXT_SIZE];
	size_t n;

	if (kind == TRIAD_PROFILE_HEADER) {
		n = triad_profile_render_header(again, columns_of(parser));
	} else {
		triad_clock_format(parser->row.time_us, time);
		n = triad_profile_render_row(
			again, time, &parser->row, columns_of(parser));
	}
	require(n == length + 1 && !memcmp(again, line, length), "rendered the same");
}

/* The text may differ, as its words may stand in any order, but not the values. */
static void check_info(const struct triad_profile_info *info)
{
	struct triad_profile_parser parser;
	char line[TRIAD_PROFILE_LINE_SIZE];
	size_t n = triad_profile_render_info(line, info);

	triad_profile_parser_init(&parser);
	require(triad_profile_parse(&parser, line, n - 1) == TRIAD_PROFILE_INFO,
		"a comment is one");
	require(parser.info.time_us == info->time_us &&
			parser.info.sm_guid == info->sm_guid &&
			parser.info.started_us == info->started_us &&
			parser.info.sweep == info->sweep &&
			parser.info.min_change_octets == info->min_change_octets,
		"the same values");
}

static void parse_line(
	struct triad_profile_parser *parser, const char *line, size_t length)
{
	enum triad_profile_line kind = triad_profile_parse(parser, line, length);

	if (kind == TRIAD_PROFILE_WRONG) {
		require(parser->column >= 1 && parser->column <= length + 1,
			"a mistake is in its line");
		require(!strncmp(parser->message, "line ", 5), "a mistake is reported");
	} else if (kind == TRIAD_PROFILE_INFO) {
		check_info(&parser->info);
	} else if (kind != TRIAD_PROFILE_COMMENT) {
		check_same(parser, kind, line, length);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *at = (const char *)data, *end = at + size;
	struct triad_profile_parser parser;

	triad_profile_parser_init(&parser);
	while (at < end) {
		const char *newline = memchr(at, '\n', (size_t)(end - at));
		size_t length = (size_t)((newline ? newline : end) - at);
		/* In a block of exactly that size, so that a sanitizer detects a read
		 * past its end. */
		char *line = malloc(length ? length : 1);

		if (!line)
			return 0;
		memcpy(line, at, length);
		parse_line(&parser, line, length);
		free(line);
		at += length + (newline != NULL);
	}
	return 0;
}
