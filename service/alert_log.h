/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Writes alerts to the log, and so to syslog, and to a file of JSON lines.
 *
 * The PerfManager's thread puts alerts into two queues, for the log and for the file.
 * A thread for each queue writes them, so that a stuck disk stops nothing else.
 * Meanwhile its queue keeps 511 alerts and counts the others.  When a sweep raises
 * many alerts at once, the log gets lines for the first TRIAD_ALERT_LOG_BURST of them,
 * the file for some hundreds, and one more line counts the rest by cause.  'triadctl
 * alerts' lists them all.
 *
 * The file is opened again after log rotation has moved it away or removed it.
 *
 * Thread-safety: any thread, for all but new and free. */
#ifndef TRIAD_SERVICE_ALERT_LOG_H
#define TRIAD_SERVICE_ALERT_LOG_H

#include <stdbool.h>
#include <stdint.h>

#include "perfmgr/watch/alerts.h"

/* Alerts of a sweep that are logged one by one: about a screen, so that a switch that dies
 * does not flood the log. */
#define TRIAD_ALERT_LOG_BURST 20u

/* A file of 100 MB has some 100,000 alerts and is read in seconds; the five that are
 * kept renamed take half a gigabyte. */
#define TRIAD_ALERT_LOG_MAX_OCTETS UINT64_C(100000000)
#define TRIAD_ALERT_LOG_KEEP 5u
#include "triad/conf.h"
#include "triad/log.h"

struct triad_alert_log;

struct triad_alert_log_status {
	/* Changes of alerts without a line of their own, in the log and in the file. */
	uint64_t n_summarised, n_file_summarised;
	uint64_t n_file_lines;   /* written to the file */
	uint64_t n_file_dropped; /* lines that could not be written */
	int file_error;          /* errno of the last try; 0: none */
	/* For how long the disk has not answered; 0: it answers. */
	uint64_t file_hung_us;
};

/* Starts the threads.  NULL when memory or threads are short. */
struct triad_alert_log *triad_alert_log_new(struct triad_log *log);

/* Ends the threads, in a second each at most.  Returns false when one is stuck in a
 * write: then 'alert_log' stays, and 'log' must stay.  Accepts NULL. */
bool triad_alert_log_free(struct triad_alert_log *alert_log);

/* The sink that takes the alerts. */
struct triad_alerts_sink triad_alert_log_sink(struct triad_alert_log *alert_log);

void triad_alert_log_configure(
	struct triad_alert_log *alert_log, const struct triad_conf *conf);

struct triad_alert_log_status triad_alert_log_status(struct triad_alert_log *alert_log);

#endif
