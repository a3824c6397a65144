/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Lines for syslog, without waiting for it.
 *
 * The C library's syslog() waits while the daemon's queue is full, so a daemon that hangs
 * with its disk would stop every thread that logs, those of the SM, too.
 *
 * Thread-safety: any thread. */
#ifndef TRIAD_LIB_SYSLOG_LINE_H
#define TRIAD_LIB_SYSLOG_LINE_H

#include <stdbool.h>

#include "triad/log.h"

/* Where syslog daemons listen. */
#define TRIAD_SYSLOG_PATH "/dev/log"

/* Sends "who: text" as one line of the facility daemon, with the local time, the program's
 * name and its process id [RFC 3164, sections 4.1 and 5.3].  Cuts it at 1,199 octets.  Returns
 * false if nobody listens or the line would have to wait: it is lost then. */
bool triad_syslog_send(const char *path, enum triad_log_level level, const char *who,
	const char *text);

#endif
