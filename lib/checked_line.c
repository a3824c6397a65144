/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "lib/checked_line.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "lib/text.h"
#include "triad/clock.h"

void triad_checked_line_clean(char *text)
{
	triad_text_clean(text);
	for (; *text; text++)
		if (*text == '\t')
			*text = '?';
}

/* --- times --- */

void triad_checked_line_time(uint64_t at_us, char text[TRIAD_CHECKED_LINE_TIME_SIZE])
{
	time_t at_s = (time_t)(at_us / TRIAD_US_PER_S);
	struct tm tm;
	size_t length;

	gmtime_r(&at_s, &tm);
	length = strftime(text, TRIAD_CHECKED_LINE_TIME_SIZE, "%Y-%m-%dT%H:%M:%S", &tm);
	snprintf(text + length, TRIAD_CHECKED_LINE_TIME_SIZE - length, ".%06uZ",
		(unsigned)(at_us % TRIAD_US_PER_S));
}

bool triad_checked_line_parse_time(const char *text, uint64_t *at_us)
{
	struct tm tm = {.tm_isdst = 0};
	const char *end = strptime(text, "%Y-%m-%dT%H:%M:%S", &tm);
	int64_t seconds = end ? timegm(&tm) : -1;
	unsigned us;

	if (seconds < 0 || sscanf(end, ".%6uZ", &us) != 1)
		return false;
	*at_us = (uint64_t)seconds * TRIAD_US_PER_S + us;
	return true;
}

/* --- quoted texts --- */

size_t triad_checked_line_quote(char *line, const char *text)
{
	size_t at = 0;

	line[at++] = '"';
	for (; *text; text++) {
		if (*text == '"' || *text == '\\')
			line[at++] = '\\';
		line[at++] = *text;
	}
	line[at++] = '"';
	return at;
}

bool triad_checked_line_parse_quoted(const char **at, char *text, size_t size)
{
	const char *quoted = *at;
	size_t length = 0;

	if (*quoted++ != '"')
		return false;
	for (; *quoted && *quoted != '"'; quoted++) {
		if (*quoted == '\\' && !*++quoted)
			return false;
		if (length + 1 == size)
			return false;
		text[length++] = *quoted;
	}
	text[length] = '\0';
	*at = quoted + 1;
	return *quoted == '"';
}

/* --- the checksum --- */

static uint32_t checksum(const char *octets, size_t size)
{
	uint32_t sum = UINT32_MAX;

	for (size_t i = 0; i < size; i++) {
		sum ^= (uint8_t)octets[i];
		for (int bit = 0; bit < 8; bit++)
			sum = sum >> 1 ^ (sum & 1 ? 0xedb88320u : 0);
	}
	return ~sum;
}

size_t triad_checked_line_end(char *line, size_t length)
{
	snprintf(line + length, TRIAD_CHECKED_LINE_SUM_LENGTH + 1, " %08" PRIx32,
		checksum(line, length));
	return length + TRIAD_CHECKED_LINE_SUM_LENGTH;
}

bool triad_checked_line_is_whole(const char *line, size_t length)
{
	char sum[TRIAD_CHECKED_LINE_SUM_LENGTH + 1];

	if (length < TRIAD_CHECKED_LINE_SUM_LENGTH)
		return false;
	length -= TRIAD_CHECKED_LINE_SUM_LENGTH;
	snprintf(sum, sizeof(sum), " %08" PRIx32, checksum(line, length));
	return !memcmp(line + length, sum, TRIAD_CHECKED_LINE_SUM_LENGTH);
}
