/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "cli/local_time.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "triad/clock.h"

/* A 9 stands for any digit. */
static const char with_ms[] = "9999-99-99T99:99:99.999Z";
#define N_SECONDS 19u /* octets to the end of the seconds */

static bool may_follow(const struct triad_local_time *times, char octet)
{
	char wanted = with_ms[times->n];

	if (wanted == '9')
		return octet >= '0' && octet <= '9';
	return octet == wanted || (times->n == N_SECONDS && octet == 'Z');
}

static size_t put_held(struct triad_local_time *times, char *out)
{
	size_t n = times->n;

	memcpy(out, times->held, n);
	times->n = 0;
	return n;
}

/* Writes the time that is held in the zone of this process. */
static size_t put_time(struct triad_local_time *times, char *out)
{
	char text[TRIAD_LOCAL_TIME_HELD + 1], sign = '+';
	uint64_t wall_us;
	struct tm tm;
	time_t wall_s;
	long offset_min;
	size_t n;

	snprintf(text, sizeof(text), "%.*s", (int)times->n, times->held);
	if (!triad_clock_parse(text, &wall_us))
		return put_held(times, out);
	wall_s = (time_t)(wall_us / TRIAD_US_PER_S);
	if (!localtime_r(&wall_s, &tm) || !tm.tm_gmtoff)
		return put_held(times, out);
	n = strftime(out, TRIAD_LOCAL_TIME_HELD, "%Y-%m-%dT%H:%M:%S", &tm);
	memcpy(out + n, text + N_SECONDS, times->n - 1 - N_SECONDS);
	n += times->n - 1 - N_SECONDS;
	times->n = 0;
	offset_min = tm.tm_gmtoff / 60;
	if (offset_min < 0) {
		sign = '-';
		offset_min = -offset_min;
	}
	snprintf(text, sizeof(text), "%c%02ld:%02ld", sign, offset_min / 60,
		offset_min % 60);
	memcpy(out + n, text, strlen(text));
	return n + strlen(text);
}

size_t triad_local_time_take(
	struct triad_local_time *times, const char *text, size_t size, char *out)
{
	size_t n = 0;

	for (size_t i = 0; i < size; i++) {
		if (!may_follow(times, text[i]))
			n += put_held(times, out + n);
		if (!may_follow(times, text[i])) {
			out[n++] = text[i];
			continue;
		}
		times->held[times->n++] = text[i];
		if (text[i] == 'Z')
			n += put_time(times, out + n);
	}
	return n;
}

size_t triad_local_time_end(struct triad_local_time *times, char *out)
{
	return put_held(times, out);
}
