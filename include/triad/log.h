/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Log lines, independent of where they go.
 *
 * The creator of a module gives it a 'struct triad_log *'; the plugin's writes to
 * OpenSM's log and to syslog, a test's records the lines.  A line says object, what,
 * why and, if somebody must act, what to do.  It has no newline at its end.
 *
 * Thread-safety: any thread; 'write' must be so too, and must not block on anything but
 * the local log file.  'level' may be changed at any time. */
#ifndef TRIAD_LOG_H
#define TRIAD_LOG_H

#include <stdatomic.h>
#include <stdint.h>

enum triad_log_level {
	TRIAD_LOG_ERROR,   /* somebody must act */
	TRIAD_LOG_WARNING, /* somebody should look: an alert */
	TRIAD_LOG_INFO,    /* what an operator wants to find later */
	TRIAD_LOG_VERBOSE, /* one line a sweep or request */
	TRIAD_LOG_DEBUG,   /* one line a port or MAD */
};

struct triad_log {
	void (*write)(void *context, enum triad_log_level level, const char *line);
	void *context;
	_Atomic int level; /* lines above it are not written */
};

/* Makes one line, cut at 1,023 octets, and writes it; does nothing when 'log' is
 * NULL or 'level' is above the log's.  Control characters and what isn't UTF-8
 * become '?', so that a node's name can't forge a line.  Keeps errno. */
void triad_log_write(struct triad_log *log, enum triad_log_level level,
	const char *format, ...) __attribute__((format(printf, 3, 4)));

/* Limits lines that a packet, a port or a client can trigger: at most 'burst' lines in
 * each 'period_us' (rounded up to a millisecond; 0: no limit), counted from the first
 * of them.  Zero-initialise the rest. */
struct triad_log_limit {
	unsigned burst; /* under 2^24 */
	uint64_t period_us;
	_Atomic uint64_t window; /* its start in ms << 24 | lines written in it */
	_Atomic unsigned long suppressed;
};

/* True when a line may be written at 'now_us' (monotonic).  '*suppressed' is the number
 * of lines suppressed since the last one that was written, for the new line to say; 0
 * when this one may not be written.  Any thread; never blocks. */
_Bool triad_log_limit_pass(
	struct triad_log_limit *limit, uint64_t now_us, unsigned long *suppressed);

#endif
