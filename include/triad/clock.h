/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Time.
 *
 * Intervals and deadlines are monotonic microseconds, so that a stepped wall clock
 * changes no rate; the wall clock only labels what is shown.  Pure code takes
 * either as an argument.  Thread-safety: any thread. */
#ifndef TRIAD_CLOCK_H
#define TRIAD_CLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct timespec;

#define TRIAD_US_PER_S UINT64_C(1000000)
#define TRIAD_US_PER_MS UINT64_C(1000)

/* CLOCK_MONOTONIC in microseconds. */
uint64_t triad_clock_now_us(void);

/* CLOCK_BOOTTIME in microseconds, which also counts while the machine sleeps.  For what
 * others, on other machines, consider expired after a time. */
uint64_t triad_clock_boot_us(void);

/* The monotonic time at which triad_clock_boot_us() will be 'boot_us', unless the
 * machine sleeps; the present time when 'boot_us' has passed.  For condition variables,
 * which wait on the monotonic clock. */
uint64_t triad_clock_from_boot_us(uint64_t boot_us);

/* Microseconds since 1970, UTC. */
uint64_t triad_clock_wall_us(void);

/* The wall clock minus the monotonic clock, to 5 ms.  It changes only when the wall
 * clock has moved by more, so a moment that is shown twice has one time. */
int64_t triad_clock_wall_offset_us(void);

/* The wall time of a monotonic time, by that offset. */
uint64_t triad_clock_to_wall_us(uint64_t at_us);

/* A time of a system call, as of a file, in microseconds. */
uint64_t triad_clock_from_timespec(const struct timespec *at);

/* Of one clock; UINT64_MAX: never. */
static inline uint64_t triad_clock_earlier(uint64_t a_us, uint64_t b_us)
{
	return a_us < b_us ? a_us : b_us;
}

/* A monotonic time that was a wall time, which another process wrote.  It may be from before
 * the machine's start, and then wraps around; but not to come: then the wall clock was set
 * back, and it is the present time. */
static inline uint64_t triad_clock_not_to_come(uint64_t at_us, uint64_t now_us)
{
	return (int64_t)(now_us - at_us) < 0 ? now_us : at_us;
}

#define TRIAD_CLOCK_TEXT_SIZE 32

/* Writes a wall time as "2026-01-02T03:04:05.678Z". */
void triad_clock_format(uint64_t wall_us, char text[TRIAD_CLOCK_TEXT_SIZE]);

/* The same to the second, for people: "2026-01-02T03:04:05Z".  Returns 'text'. */
const char *triad_clock_format_s(uint64_t wall_us, char text[TRIAD_CLOCK_TEXT_SIZE]);

/* Reads what triad_clock_format() writes, to the second; also without seconds or
 * without the time of day, and with an offset ("2026-01-02T04:04+01:00").  Without one
 * it is UTC.  False, and '*wall_us' untouched, for anything else. */
bool triad_clock_parse(const char *text, uint64_t *wall_us);

/* Writes a length of time in its two largest units: "12 s", "3 min 5 s", "4 d 2 h". */
void triad_clock_format_length(uint64_t length_us, char text[TRIAD_CLOCK_TEXT_SIZE]);

#endif
