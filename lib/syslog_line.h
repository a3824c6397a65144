/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Lines for syslog, without waiting for a daemon that hangs.
 *
 * The C library's syslog() waits while the daemon's queue is full, so a daemon that hangs
 * with its disk would stop every thread that logs, those of the SM, too.
 *
 * Thread-safety: any thread. */
#ifndef TRIAD_LIB_SYSLOG_LINE_H
#define TRIAD_LIB_SYSLOG_LINE_H

#include <stdatomic.h>
#include <stdbool.h>

#include "triad/log.h"

struct triad_syslog {
	const char *path;   /* where the daemon listens, usually TRIAD_SYSLOG_PATH */
	const char *tag;    /* the program's name, at most 32 octets */
	atomic_uint n_lost; /* lines since the last one that was sent */
};

#define TRIAD_SYSLOG_PATH "/dev/log"

/* Sends a line of the facility daemon, formatted as the C library does [RFC 3164, section
 * 4.1, without the host's name], and cut at 1,023 octets.  Waits 10 ms at most for a
 * daemon that is busy, and not at all while it takes nothing.  Returns false if the line
 * is lost; the next one that is sent says how many were.  Changes errno. */
bool triad_syslog_send(struct triad_syslog *syslog, enum triad_log_level level,
	const char *format, ...) __attribute__((format(printf, 3, 4)));

#endif
