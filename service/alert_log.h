/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Where alerts go: the log, and with it syslog, and a file of JSON lines.
 *
 * The PerfManager's thread leaves them in two queues, for the log and for the file; a
 * thread for each writes them, so that a disk or a syslog that is stuck stops nothing
 * else.  Of what comes at once, at
 * the end of a sweep, the first [alerts] burst are lines in the log; the file has some
 * hundred; the rest is one line that says how many of what there were.  'triadctl
 * alerts' has them all.
 *
 * The file is opened anew when it was moved away or removed, as log rotation does.
 *
 * Thread-safety: any thread, for all but new and free. */
#ifndef TRIAD_SERVICE_ALERT_LOG_H
#define TRIAD_SERVICE_ALERT_LOG_H

#include <stdbool.h>
#include <stdint.h>

#include "perfmgr/watch/alerts.h"
#include "triad/conf.h"
#include "triad/log.h"

struct triad_alert_log;

struct triad_alert_log_status {
	uint64_t n_summarised;   /* alerts raised or cleared that have no line */
	uint64_t n_file_lines;   /* written to the file */
	uint64_t n_file_dropped; /* that could not be */
	int file_error;          /* errno of the last try; 0: none */
};

/* Starts the threads.  NULL when memory or threads are short. */
struct triad_alert_log *triad_alert_log_new(struct triad_log *log);

/* Ends the threads, in a second each at most.  Returns false when one is stuck in a
 * write: it stays, its memory with it, and 'log' must too.  Accepts NULL. */
bool triad_alert_log_free(struct triad_alert_log *alert_log);

/* What alerts are given to. */
struct triad_alerts_sink triad_alert_log_sink(struct triad_alert_log *alert_log);

void triad_alert_log_configure(
	struct triad_alert_log *alert_log, const struct triad_conf *conf);

struct triad_alert_log_status triad_alert_log_status(struct triad_alert_log *alert_log);

#endif
