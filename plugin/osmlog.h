/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Writes Triad's lines to OpenSM's log, and errors and warnings also to syslog.
 *
 * Every line begins with "triad: ", so that an administrator finds them with one grep.
 * TRIAD_LOG_ERROR and TRIAD_LOG_WARNING also go to syslog if [log] syslog is on and it
 * takes them (lib/syslog_line.h), with the tag of OpenSM's own lines.
 *
 * Thread-safety: any thread.  Blocks as OpenSM's own log does, and 10 ms at most for
 * syslog. */
#ifndef TRIAD_PLUGIN_OSMLOG_H
#define TRIAD_PLUGIN_OSMLOG_H

#include <stdatomic.h>
#include <stdbool.h>

#include "lib/syslog_line.h"
#include "triad/log.h"

/* How OpenSM's lines in syslog begin. */
#define TRIAD_OSMLOG_TAG "OpenSM"

struct triad_osmlog {
	struct triad_log log; /* hand out a pointer to this */
	void *osm_log;
	_Atomic bool has_syslog;
	struct triad_syslog syslog;
};

/* 'osm_log' is an osm_log_t that outlives 'osmlog'. */
void triad_osmlog_init(struct triad_osmlog *osmlog, void *osm_log);

#endif
