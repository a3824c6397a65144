/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "triad/clock.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define MAX_WALL_DRIFT_US 5000

uint64_t triad_clock_from_timespec(const struct timespec *at)
{
	return (uint64_t)at->tv_sec * TRIAD_US_PER_S + (uint64_t)at->tv_nsec / 1000;
}

static uint64_t read_clock(clockid_t id)
{
	struct timespec now;

	clock_gettime(id, &now);
	return triad_clock_from_timespec(&now);
}

uint64_t triad_clock_now_us(void)
{
	return read_clock(CLOCK_MONOTONIC);
}

uint64_t triad_clock_boot_us(void)
{
	return read_clock(CLOCK_BOOTTIME);
}

uint64_t triad_clock_from_boot_us(uint64_t boot_us)
{
	uint64_t now_us = triad_clock_boot_us();

	return triad_clock_now_us() + (boot_us > now_us ? boot_us - now_us : 0);
}

uint64_t triad_clock_wall_us(void)
{
	return read_clock(CLOCK_REALTIME);
}

/* An interruption between the two clocks would falsify the offset: takes the shortest
 * of some measurements. */
static int64_t measure_wall_offset_us(void)
{
	uint64_t shortest_us = UINT64_MAX;
	int64_t offset_us = 0;

	for (unsigned i = 0; i < 4 && shortest_us > 50; i++) {
		uint64_t begun_us = triad_clock_now_us();
		uint64_t wall_us = triad_clock_wall_us();
		uint64_t took_us = triad_clock_now_us() - begun_us;

		if (took_us >= shortest_us)
			continue;
		shortest_us = took_us;
		offset_us = (int64_t)(wall_us - begun_us - took_us / 2);
	}
	return offset_us;
}

int64_t triad_clock_wall_offset_us(void)
{
	static _Atomic int64_t kept_us; /* 0: not measured yet */
	int64_t offset_us = measure_wall_offset_us(), last_us = kept_us;

	if (last_us && llabs(offset_us - last_us) <= MAX_WALL_DRIFT_US)
		return last_us;
	kept_us = offset_us;
	return offset_us;
}

uint64_t triad_clock_to_wall_us(uint64_t at_us)
{
	return at_us + (uint64_t)triad_clock_wall_offset_us();
}

/* Without the 'Z' at its end; returns its length. */
static size_t format_seconds(uint64_t wall_us, char text[TRIAD_CLOCK_TEXT_SIZE])
{
	time_t wall_s = (time_t)(wall_us / TRIAD_US_PER_S);
	struct tm tm;

	gmtime_r(&wall_s, &tm);
	return strftime(text, TRIAD_CLOCK_TEXT_SIZE, "%Y-%m-%dT%H:%M:%S", &tm);
}

void triad_clock_format(uint64_t wall_us, char text[TRIAD_CLOCK_TEXT_SIZE])
{
	unsigned ms = (unsigned)(wall_us % TRIAD_US_PER_S / TRIAD_US_PER_MS);
	size_t length = format_seconds(wall_us, text);

	snprintf(text + length, TRIAD_CLOCK_TEXT_SIZE - length, ".%03uZ", ms);
}

const char *triad_clock_format_s(uint64_t wall_us, char text[TRIAD_CLOCK_TEXT_SIZE])
{
	size_t length = format_seconds(wall_us, text);

	snprintf(text + length, TRIAD_CLOCK_TEXT_SIZE - length, "Z");
	return text;
}

bool triad_clock_parse(const char *text, uint64_t *wall_us)
{
	struct tm tm = {0};
	const char *at = strptime(text, "%Y-%m-%d", &tm), *time_at = NULL;
	int64_t wall_s, east_s;
	int day;

	if (at && *at == 'T')
		time_at = at;
	if (time_at && !(at = strptime(time_at, "T%H:%M:%S", &tm)))
		at = strptime(time_at, "T%H:%M", &tm);
	if (at && time_at && *at == '.')
		at += 1 + strspn(at + 1, "0123456789");
	tm.tm_gmtoff = 0;
	if (at && time_at && *at)
		at = strptime(at, "%z", &tm);
	if (!at || *at)
		return false;
	day = tm.tm_mday;
	east_s = tm.tm_gmtoff;
	wall_s = timegm(&tm);
	/* The 30th of February became the 2nd of March. */
	if (tm.tm_mday != day || wall_s < east_s)
		return false;
	*wall_us = (uint64_t)(wall_s - east_s) * TRIAD_US_PER_S;
	return true;
}

void triad_clock_format_length(uint64_t length_us, char text[TRIAD_CLOCK_TEXT_SIZE])
{
	static const struct {
		const char *name;
		uint64_t seconds;
	} units[] = {{"d", 86400}, {"h", 3600}, {"min", 60}, {"s", 1}};
	uint64_t left = length_us / TRIAD_US_PER_S;
	unsigned i = 0, n;

	while (i < 3 && left < units[i].seconds)
		i++;
	n = (unsigned)snprintf(text, TRIAD_CLOCK_TEXT_SIZE, "%" PRIu64 " %s",
		left / units[i].seconds, units[i].name);
	left %= units[i].seconds;
	if (i < 3 && left >= units[i + 1].seconds)
		snprintf(text + n, TRIAD_CLOCK_TEXT_SIZE - n, " %" PRIu64 " %s",
			left / units[i + 1].seconds, units[i + 1].name);
}
