/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "triad/log.h"

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>

#include "lib/text.h"

#define LINE_SIZE 1024

/* How the two parts of 'window' share it: 2^40 ms are 34 years of uptime. */
#define USED_BITS 24
#define USED_MASK ((UINT64_C(1) << USED_BITS) - 1)

void triad_log_write(
	struct triad_log *log, enum triad_log_level level, const char *format, ...)
{
	char line[LINE_SIZE];
	int saved_errno = errno;
	va_list args;

	if (!log ||
		(int)level > atomic_load_explicit(&log->level, memory_order_relaxed))
		return;
	line[0] = '\0';
	va_start(args, format);
	vsnprintf(line, sizeof(line), format, args);
	va_end(args);
	triad_text_clean(line);
	log->write(log->context, level, line);
	errno = saved_errno;
}

/* Start and count share one word and change together, so that threads at the end of a
 * window can't get more than 'burst' lines. */
static bool window_take(struct triad_log_limit *limit, uint64_t now_ms)
{
	uint64_t period_ms = limit->period_us / 1000 + (limit->period_us % 1000 != 0);
	uint64_t next, window = atomic_load(&limit->window);

	do {
		uint64_t start_ms = window >> USED_BITS;

		next = now_ms >= start_ms + period_ms ? now_ms << USED_BITS : window;
		if ((next & USED_MASK) >= limit->burst)
			return false;
		next++;
	} while (!atomic_compare_exchange_weak(&limit->window, &window, next));
	return true;
}

bool triad_log_limit_pass(
	struct triad_log_limit *limit, uint64_t now_us, unsigned long *suppressed)
{
	if (limit->period_us && !window_take(limit, now_us / 1000)) {
		atomic_fetch_add(&limit->suppressed, 1);
		*suppressed = 0;
		return false;
	}
	*suppressed = atomic_exchange(&limit->suppressed, 0);
	return true;
}
