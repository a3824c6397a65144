/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "portmgr/plan/seen_sms.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "lib/checked_line.h"
#include "lib/format_version.h"

#define NAME "# Triad's SMs"
#define FIRST_LINE NAME ", version 1; written by itself\n"
#define LINE_SIZE 64
#define WRITE_AGAIN_US ((int64_t)3600 * (int64_t)TRIAD_US_PER_S)

int64_t triad_seen_sms_time(uint64_t at_wall_us, uint64_t now_us, uint64_t wall_us)
{
	uint64_t age_us = wall_us > at_wall_us ? wall_us - at_wall_us : 0;

	return (int64_t)now_us - (int64_t)age_us;
}

static uint32_t find_sm(const struct triad_seen_sms *sms, uint64_t guid)
{
	uint32_t i = 0;

	while (i < sms->n && sms->guids[i] != guid)
		i++;
	return i;
}

bool triad_seen_sms_has(const struct triad_seen_sms *sms, uint64_t guid)
{
	return find_sm(sms, guid) < sms->n;
}

void triad_seen_sms_add(
	struct triad_seen_sms *sms, uint64_t guid, int64_t at_us, uint64_t now_us)
{
	uint32_t i = find_sm(sms, guid);

	if (!guid || i == TRIAD_SEEN_SMS_MAX ||
		at_us + TRIAD_SEEN_SMS_FOR_US <= (int64_t)now_us)
		return;
	if (i == sms->n) {
		sms->guids[sms->n] = guid;
		sms->at_us[sms->n++] = at_us;
	} else if (at_us > sms->at_us[i]) {
		sms->at_us[i] = at_us;
	}
}

bool triad_seen_sms_must_write(
	const struct triad_seen_sms *sms, const struct triad_seen_sms *written)
{
	for (uint32_t i = 0; i < sms->n; i++) {
		uint32_t there = find_sm(written, sms->guids[i]);

		if (there == written->n ||
			sms->at_us[i] >= written->at_us[there] + WRITE_AGAIN_US)
			return true;
	}
	return sms->n != written->n;
}

/* --- the text --- */

unsigned triad_seen_sms_version(const char *text, size_t size)
{
	return triad_format_version(text, size, NAME);
}

static size_t format_sm(uint64_t guid, uint64_t at_wall_us, char line[LINE_SIZE])
{
	char moment[TRIAD_CHECKED_LINE_TIME_SIZE];
	size_t length;

	triad_checked_line_time(at_wall_us, moment);
	length = (size_t)snprintf(line, LINE_SIZE, "0x%016" PRIx64 " %s", guid, moment);
	return triad_checked_line_end(line, length);
}

size_t triad_seen_sms_format(const struct triad_seen_sms *sms, uint64_t now_us,
	uint64_t wall_us, char text[TRIAD_SEEN_SMS_SIZE])
{
	size_t length = strlen(strcpy(text, FIRST_LINE));

	for (uint32_t i = 0; i < sms->n; i++) {
		int64_t age = (int64_t)now_us - sms->at_us[i];
		uint64_t age_us = age > 0 ? (uint64_t)age : 0;

		/* A wall clock that was never set may show less than that. */
		length += format_sm(sms->guids[i],
			wall_us > age_us ? wall_us - age_us : 0, text + length);
		text[length++] = '\n';
	}
	text[length] = '\0';
	return length;
}

static bool parse_sm(const char *line, uint64_t *guid, uint64_t *at_wall_us)
{
	char moment[TRIAD_CHECKED_LINE_TIME_SIZE], again[LINE_SIZE];

	if (!triad_checked_line_is_whole(line, strlen(line)) ||
		sscanf(line, "0x%16" SCNx64 " %27s", guid, moment) != 2 || !*guid ||
		!triad_checked_line_parse_time(moment, at_wall_us))
		return false;
	/* sscanf() accepts more than is ever written. */
	format_sm(*guid, *at_wall_us, again);
	return !strcmp(line, again);
}

int triad_seen_sms_parse(const char *text, size_t size, uint64_t now_us,
	uint64_t wall_us, struct triad_seen_sms *sms)
{
	char copy[TRIAD_SEEN_SMS_SIZE], *save = NULL;
	uint64_t guid, at_wall_us;
	int error = size < sizeof(copy) && !memchr(text, 0, size) ? 0 : EINVAL;

	sms->n = 0;
	if (triad_seen_sms_version(text, size) > TRIAD_SEEN_SMS_VERSION)
		return EPROTONOSUPPORT;
	if (size >= sizeof(copy))
		size = sizeof(copy) - 1;
	memcpy(copy, text, size);
	copy[size] = '\0';
	for (char *line = strtok_r(copy, "\n", &save); line;
		line = strtok_r(NULL, "\n", &save)) {
		if (parse_sm(line, &guid, &at_wall_us))
			triad_seen_sms_add(sms, guid,
				triad_seen_sms_time(at_wall_us, now_us, wall_us),
				now_us);
		else if (line[0] != '#')
			error = EINVAL;
	}
	return error;
}
