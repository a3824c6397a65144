/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "perfmgr/formats/profile.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "perfmgr/engine.h"
#include "triad/fabric.h"

static const char fixed_columns[] =
	"time,node_guid,port,remote_guid,remote_port,gbps,PortXmitData,PortRcvData";

/* Columns of every section, in this order; other counters follow in the order of their
 * table. */
static const uint8_t data_counters[] = {TRIAD_PORT_XMIT_DATA, TRIAD_PORT_RCV_DATA};

#define MAX_PERIOD_S 65535u
#define N_DATA_COUNTERS (sizeof(data_counters) / sizeof(data_counters[0]))

struct triad_profile_row triad_profile_row_of(const struct triad_fabric *fabric,
	uint32_t port, const struct triad_engine_row *counters)
{
	const struct triad_fabric_port *at = &fabric->ports[port];
	struct triad_profile_row row = {
		.node_guid = counters->node_guid,
		.mbps = (uint32_t)(triad_fabric_port_bps(at) / 1000000),
		.has = counters->has,
		.port = counters->port,
	};

	if (at->remote != TRIAD_FABRIC_NONE) {
		const struct triad_fabric_port *far = &fabric->ports[at->remote];

		row.remote_guid = fabric->nodes[far->node].guid;
		row.remote_port = far->number;
	}
	memcpy(row.total, counters->total, sizeof(row.total));
	return row;
}

/* --- rendering --- */

/* printf() takes five times as long, and a sweep has a million rows. */
static char *put_decimal(char *to, uint64_t value)
{
	char digits[20];
	unsigned n = 0;

	do {
		digits[n++] = (char)('0' + value % 10);
		value /= 10;
	} while (value);
	while (n)
		*to++ = digits[--n];
	return to;
}

static char *put_guid(char *to, uint64_t guid)
{
	*to++ = '0';
	*to++ = 'x';
	for (int shift = 60; shift >= 0; shift -= 4)
		*to++ = "0123456789abcdef"[guid >> shift & 15];
	return to;
}

/* Gigabits, without zeros at the end. */
static char *put_gbps(char *to, uint32_t mbps)
{
	unsigned rest = mbps % 1000;

	to = put_decimal(to, mbps / 1000);
	if (!rest)
		return to;
	*to++ = '.';
	for (unsigned unit = 100; rest; unit /= 10) {
		*to++ = (char)('0' + rest / unit);
		rest %= unit;
	}
	return to;
}

static char *put_total(char *to, const struct triad_profile_row *row, unsigned counter)
{
	*to++ = ',';
	return row->has & 1u << counter ? put_decimal(to, row->total[counter]) : to;
}

size_t triad_profile_render_info(char *to, const struct triad_profile_info *info)
{
	static const char *const sweeps[] = {"", " sweep=all", " sweep=part"};
	char time[TRIAD_CLOCK_TEXT_SIZE];
	int n = sprintf(to, TRIAD_PROFILE_SIGNATURE "version=1");

	if (info->time_us) {
		triad_clock_format(info->time_us, time);
		n += sprintf(to + n, " time=%s", time);
	}
	if (info->sm_guid)
		n += sprintf(to + n, " sm=0x%016" PRIx64, info->sm_guid);
	if (info->started_us) {
		triad_clock_format(info->started_us, time);
		n += sprintf(to + n, " started=%s", time);
	}
	n += sprintf(to + n, "%s", sweeps[info->sweep]);
	if (info->period_us)
		n += sprintf(
			to + n, " period=%" PRIu64, info->period_us / TRIAD_US_PER_S);
	if (info->min_change_octets != UINT64_MAX)
		n += sprintf(to + n, " min_change=%" PRIu64, info->min_change_octets);
	to[n++] = '\n';
	to[n] = '\0';
	return (size_t)n;
}

size_t triad_profile_render_header(char *to, uint32_t counters)
{
	int n = sprintf(to, "%s", fixed_columns);

	counters &= TRIAD_PROFILE_ALL_COUNTERS & ~TRIAD_PROFILE_DATA_COUNTERS;
	for (unsigned i = 0; i < TRIAD_N_COUNTERS; i++)
		if (counters & 1u << i)
			n += sprintf(to + n, ",%s", triad_counters[i].name);
	to[n++] = '\n';
	to[n] = '\0';
	return (size_t)n;
}

size_t triad_profile_render_row(char *to, const char *time,
	const struct triad_profile_row *row, uint32_t counters)
{
	char *at = to;

	at = stpcpy(at, time);
	*at++ = ',';
	at = put_guid(at, row->node_guid);
	*at++ = ',';
	at = put_decimal(at, row->port);
	*at++ = ',';
	if (row->remote_guid)
		at = put_guid(at, row->remote_guid);
	*at++ = ',';
	if (row->remote_guid)
		at = put_decimal(at, row->remote_port);
	*at++ = ',';
	if (row->mbps)
		at = put_gbps(at, row->mbps);
	for (unsigned i = 0; i < N_DATA_COUNTERS; i++)
		at = put_total(at, row, data_counters[i]);
	counters &= TRIAD_PROFILE_ALL_COUNTERS & ~TRIAD_PROFILE_DATA_COUNTERS;
	for (unsigned i = 0; counters; i++, counters >>= 1)
		if (counters & 1)
			at = put_total(at, row, i);
	*at++ = '\n';
	*at = '\0';
	return (size_t)(at - to);
}

size_t triad_profile_render_detail(char *to, uint64_t node_guid, uint8_t port,
	const struct triad_detail_field *field, const uint64_t *totals)
{
	char *at = stpcpy(to, "# triad-detail ");

	at = put_guid(at, node_guid);
	*at++ = ',';
	at = put_decimal(at, port);
	*at++ = ',';
	at = stpcpy(at, field->name);
	for (unsigned i = 0; i < field->n; i++) {
		*at++ = ',';
		at = put_decimal(at, totals[i]);
	}
	*at++ = '\n';
	*at = '\0';
	return (size_t)(at - to);
}

/* --- parsing --- */

/* A line as far as it was read. */
struct cursor {
	struct triad_profile_parser *parser;
	const char *line, *at, *end;
	bool is_wrong; /* 'message' is there */
};

static void complain_of_line(struct cursor *cursor, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static void complain_of_line(struct cursor *cursor, const char *format, ...)
{
	struct triad_profile_parser *parser = cursor->parser;
	size_t size = sizeof(parser->message);
	va_list args;
	int n;

	/* Report the first mistake of a line only: others may follow from it. */
	if (cursor->is_wrong)
		return;
	cursor->is_wrong = true;
	parser->column = (unsigned)(cursor->at - cursor->line) + 1;
	n = snprintf(parser->message, size,
		"line %" PRIu64 ", column %u: ", parser->line, parser->column);
	va_start(args, format);
	vsnprintf(parser->message + n, size - (size_t)n, format, args);
	va_end(args);
}

static bool is_at_end(const struct cursor *cursor)
{
	return cursor->at == cursor->end || *cursor->at == ',';
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static void parse_comma(struct cursor *cursor)
{
	if (cursor->is_wrong)
		return;
	if (cursor->at == cursor->end)
		complain_of_line(cursor, "the line ends before its last column");
	else if (*cursor->at != ',')
		complain_of_line(cursor, "a comma is missing");
	else
		cursor->at++;
}

/* Digits only, no leading zeros, at most 'most' (9 or more). */
static uint64_t parse_number(struct cursor *cursor, uint64_t most, const char *what)
{
	const char *begin = cursor->at, *at = begin;
	uint64_t value = 0;

	for (; at < cursor->end && is_digit(*at); at++) {
		unsigned digit = (unsigned)(*at - '0');

		if (value > (most - digit) / 10) {
			complain_of_line(cursor, "%s is over %" PRIu64, what, most);
			return 0;
		}
		value = value * 10 + digit;
	}
	if (at == begin)
		complain_of_line(cursor, "%s is missing", what);
	else if (*begin == '0' && at != begin + 1)
		complain_of_line(cursor, "%s begins with a 0", what);
	cursor->at = at;
	return value;
}

static uint64_t parse_guid(struct cursor *cursor, const char *what)
{
	const char *at = cursor->at;
	uint64_t guid = 0;

	if (cursor->end - at < 18 || at[0] != '0' || at[1] != 'x') {
		complain_of_line(
			cursor, "%s is no GUID: 0x and 16 hexadecimal digits", what);
		return 0;
	}
	for (at += 2; at < cursor->at + 18; at++) {
		unsigned digit = is_digit(*at)       ? (unsigned)(*at - '0')
			: (*at >= 'a' && *at <= 'f') ? (unsigned)(*at - 'a' + 10)
						     : 16;

		if (digit == 16) {
			complain_of_line(cursor,
				"%s is no GUID: 0x and 16 hexadecimal digits", what);
			return 0;
		}
		guid = guid << 4 | digit;
	}
	if (!guid)
		complain_of_line(cursor, "%s is 0", what);
	cursor->at = at;
	return guid;
}

#define TIME_LENGTH 24

/* Days from 1970-01-01 in the Gregorian calendar, years from 1970 on. */
static uint64_t days_of(unsigned year, unsigned month, unsigned day)
{
	/* The year begins with March, so that a leap day is its last. */
	unsigned y = month > 2 ? year : year - 1;
	unsigned m = month > 2 ? month - 3 : month + 9;

	return y * UINT64_C(365) + y / 4 - y / 100 + y / 400 + (153 * m + 2) / 5 + day -
		1 - 719468;
}

static bool is_date(unsigned year, unsigned month, unsigned day)
{
	static const uint8_t days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
	bool is_leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;

	return year >= 1970 && month >= 1 && month <= 12 && day >= 1 &&
		day <= days[month - 1] + (unsigned)(month == 2 && is_leap);
}

/* "2026-01-02T03:04:05.678Z"; UINT64_MAX: isn't one. */
static uint64_t read_time(const char *text)
{
	static const char form[TIME_LENGTH + 1] = "dddd-dd-ddTdd:dd:dd.dddZ";
	static const uint8_t at[] = {0, 5, 8, 11, 14, 17, 20, TIME_LENGTH};
	unsigned part[7] = {0};

	for (unsigned i = 0, p = 0; i < TIME_LENGTH; i++) {
		if (form[i] == 'd' ? !is_digit(text[i]) : text[i] != form[i])
			return UINT64_MAX;
		if (i == at[p + 1])
			p++;
		if (form[i] == 'd')
			part[p] = part[p] * 10 + (unsigned)(text[i] - '0');
	}
	if (!is_date(part[0], part[1], part[2]) || part[3] > 23 || part[4] > 59 ||
		part[5] > 59)
		return UINT64_MAX;
	return (((days_of(part[0], part[1], part[2]) * 24 + part[3]) * 60 + part[4]) *
			       60 +
		       part[5]) *
		TRIAD_US_PER_S +
		part[6] * TRIAD_US_PER_MS;
}

static uint64_t parse_time(struct cursor *cursor)
{
	struct triad_profile_parser *parser = cursor->parser;
	uint64_t time_us;

	if (cursor->end - cursor->at < TIME_LENGTH) {
		complain_of_line(
			cursor, "a time is missing, as 2026-01-02T03:04:05.678Z");
		return 0;
	}
	/* All rows of a sweep have one time: most often it is already parsed. */
	if (!parser->time[0] || memcmp(cursor->at, parser->time, TIME_LENGTH) != 0) {
		time_us = read_time(cursor->at);
		if (time_us == UINT64_MAX) {
			complain_of_line(
				cursor, "this is no time, as 2026-01-02T03:04:05.678Z");
			return 0;
		}
		memcpy(parser->time, cursor->at, TIME_LENGTH);
		parser->time_us = time_us;
	}
	cursor->at += TIME_LENGTH;
	return parser->time_us;
}

/* As put_gbps() writes it. */
static uint32_t parse_mbps(struct cursor *cursor)
{
	uint32_t mbps = (uint32_t)parse_number(cursor, 1000000, "gbps") * 1000;
	unsigned unit = 100;

	if (cursor->is_wrong || cursor->at == cursor->end || *cursor->at != '.') {
		if (!mbps)
			complain_of_line(cursor, "gbps is 0");
		return mbps;
	}
	for (cursor->at++; !is_at_end(cursor); unit /= 10) {
		if (!unit || !is_digit(*cursor->at)) {
			complain_of_line(cursor, "gbps has at most three decimals");
			return 0;
		}
		mbps += unit * (unsigned)(*cursor->at++ - '0');
	}
	if (cursor->at[-1] == '0' || cursor->at[-1] == '.')
		complain_of_line(cursor, "gbps ends with a 0 or with its point");
	return mbps;
}

static enum triad_profile_line parse_row(struct cursor *cursor)
{
	struct triad_profile_parser *parser = cursor->parser;
	struct triad_profile_row *row = &parser->row;

	/* The row still has the values of the last line. */
	row->remote_guid = 0;
	row->remote_port = 0;
	row->mbps = 0;
	row->has = 0;
	row->time_us = parse_time(cursor);
	parse_comma(cursor);
	row->node_guid = cursor->is_wrong ? 0 : parse_guid(cursor, "node_guid");
	parse_comma(cursor);
	row->port = (uint8_t)(cursor->is_wrong ? 0 : parse_number(cursor, 255, "port"));
	parse_comma(cursor);
	if (!cursor->is_wrong && !is_at_end(cursor))
		row->remote_guid = parse_guid(cursor, "remote_guid");
	parse_comma(cursor);
	if (!cursor->is_wrong && row->remote_guid)
		row->remote_port = (uint8_t)parse_number(cursor, 255, "remote_port");
	parse_comma(cursor);
	if (!cursor->is_wrong && !is_at_end(cursor))
		row->mbps = parse_mbps(cursor);
	for (unsigned i = 0; i < parser->n_counters && !cursor->is_wrong; i++) {
		unsigned counter = parser->counters[i];

		parse_comma(cursor);
		if (cursor->is_wrong || is_at_end(cursor))
			continue;
		row->total[counter] =
			parse_number(cursor, UINT64_MAX, triad_counters[counter].name);
		row->has |= 1u << counter;
	}
	if (!cursor->is_wrong && cursor->at != cursor->end)
		complain_of_line(cursor, "the header has no more columns");
	return cursor->is_wrong ? TRIAD_PROFILE_WRONG : TRIAD_PROFILE_ROW;
}

/* --- headers --- */

static bool takes(struct cursor *cursor, const char *word, size_t length)
{
	if ((size_t)(cursor->end - cursor->at) < length ||
		memcmp(cursor->at, word, length) != 0)
		return false;
	cursor->at += length;
	return true;
}

/* The counter of the name at the cursor, case-sensitive, or -1. */
static int parse_counter(struct cursor *cursor)
{
	const char *comma = memchr(cursor->at, ',', (size_t)(cursor->end - cursor->at));
	size_t length = (size_t)((comma ? comma : cursor->end) - cursor->at);

	for (int i = 0; i < TRIAD_N_COUNTERS; i++)
		if (strlen(triad_counters[i].name) == length &&
			takes(cursor, triad_counters[i].name, length))
			return i;
	return -1;
}

static enum triad_profile_line parse_header(struct cursor *cursor)
{
	struct triad_profile_parser *parser = cursor->parser;
	int last = -1;

	parser->n_counters = 0;
	if (!takes(cursor, fixed_columns, sizeof(fixed_columns) - 1)) {
		complain_of_line(cursor, "a header begins with %s", fixed_columns);
		return TRIAD_PROFILE_WRONG;
	}
	memcpy(parser->counters, data_counters, sizeof(data_counters));
	for (unsigned n = N_DATA_COUNTERS;; n++) {
		const char *begin;
		int counter;

		if (cursor->at == cursor->end) {
			parser->n_counters = n;
			return TRIAD_PROFILE_HEADER;
		}
		parse_comma(cursor);
		begin = cursor->at;
		counter = cursor->is_wrong ? -1 : parse_counter(cursor);
		/* Counters must ascend, so that none appears twice; the data counters
		 * come before them. */
		if (counter <= last || 1u << counter & TRIAD_PROFILE_DATA_COUNTERS) {
			cursor->at = begin;
			complain_of_line(cursor,
				counter < 0
					? "there is no counter of that name"
					: "a column is there twice or out of order");
			return TRIAD_PROFILE_WRONG;
		}
		last = counter;
		parser->counters[n] = (uint8_t)counter;
	}
}

/* --- comments --- */

/* Parses KEY=VALUE.  The cursor ends with the word, so a value can't reach past it. */
static void parse_key(struct cursor *word, struct triad_profile_info *info)
{
	if (takes(word, "time=", 5))
		info->time_us = parse_time(word);
	else if (takes(word, "sm=", 3))
		info->sm_guid = parse_guid(word, "sm");
	else if (takes(word, "started=", 8))
		info->started_us = parse_time(word);
	else if (takes(word, "min_change=", 11))
		info->min_change_octets = parse_number(word, UINT64_MAX, "min_change");
	else if (takes(word, "period=", 7))
		info->period_us =
			parse_number(word, MAX_PERIOD_S, "period") * TRIAD_US_PER_S;
	else if (takes(word, "sweep=all", 9))
		info->sweep = TRIAD_PROFILE_SWEEP_ALL;
	else if (takes(word, "sweep=part", 10))
		info->sweep = TRIAD_PROFILE_SWEEP_PART;
	else if (takes(word, "version=", 8)) {
		if (parse_number(word, UINT64_MAX, "version") != 1)
			complain_of_line(word, "this version is not known; known is 1");
	} else
		/* Later versions may have more keys. */
		word->at = word->end;
	if (!word->is_wrong && word->at != word->end)
		complain_of_line(word, "a blank is missing");
}

static enum triad_profile_line parse_comment(struct cursor *cursor)
{
	struct triad_profile_info info = {.min_change_octets = UINT64_MAX};
	struct cursor word = *cursor;

	/* A new frame may begin here, so rows need a header again. */
	cursor->parser->n_counters = 0;
	if (!takes(&word, TRIAD_PROFILE_SIGNATURE, sizeof(TRIAD_PROFILE_SIGNATURE) - 1))
		return TRIAD_PROFILE_COMMENT;
	while (!word.is_wrong && word.at < cursor->end) {
		const char *blank =
			memchr(word.at, ' ', (size_t)(cursor->end - word.at));

		word.end = blank ? blank : cursor->end;
		parse_key(&word, &info);
		word.at = word.end + (blank != NULL);
	}
	if (word.is_wrong)
		return TRIAD_PROFILE_WRONG;
	cursor->parser->info = info;
	return TRIAD_PROFILE_INFO;
}

/* --- */

void triad_profile_parser_init(struct triad_profile_parser *parser)
{
	*parser = (struct triad_profile_parser){
		.info = {.min_change_octets = UINT64_MAX}};
}

enum triad_profile_line triad_profile_parse(
	struct triad_profile_parser *parser, const char *line, size_t length)
{
	struct cursor cursor = {
		.parser = parser, .line = line, .at = line, .end = line + length};

	parser->line++;
	if (length >= TRIAD_PROFILE_LINE_SIZE) {
		complain_of_line(&cursor, "the line has over %d octets",
			TRIAD_PROFILE_LINE_SIZE - 1);
		return TRIAD_PROFILE_WRONG;
	}
	if (length && *line == '#')
		return parse_comment(&cursor);
	if (length && *line == 't')
		return parse_header(&cursor);
	if (!parser->n_counters) {
		complain_of_line(&cursor, "a row without a header before it");
		return TRIAD_PROFILE_WRONG;
	}
	return parse_row(&cursor);
}
