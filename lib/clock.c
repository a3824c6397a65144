/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "triad/clock.h"

#include <inttypes.h>
#include <stdio.h>
#include <time.h>

static uint64_t read_clock(clockid_t id)
{
	struct timespec now;

	clock_gettime(id, &now);
	return (uint64_t)now.tv_sec * TRIAD_US_PER_S + (uint64_t)now.tv_nsec / 1000;
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

void triad_clock_format(uint64_t wall_us, char text[TRIAD_CLOCK_TEXT_SIZE])
{
	time_t seconds = (time_t)(wall_us / TRIAD_US_PER_S);
	unsigned ms = (unsigned)(wall_us % TRIAD_US_PER_S / TRIAD_US_PER_MS);
	struct tm tm;
	size_t length;

	gmtime_r(&seconds, &tm);
	length = strftime(text, TRIAD_CLOCK_TEXT_SIZE, "%Y-%m-%dT%H:%M:%S", &tm);
	snprintf(text + length, TRIAD_CLOCK_TEXT_SIZE - length, ".%03uZ", ms);
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
