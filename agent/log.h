/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The agent's log: standard error, or a file.
 *
 * A line is "TIME LEVEL TEXT".  With [log] syslog, errors and warnings also go to
 * syslog, unless standard error is the journal, which has them already.
 *
 * Thread-safety: any thread, but for new, free and reopen.  A line is one write(). */
#ifndef TRIAD_AGENT_LOG_H
#define TRIAD_AGENT_LOG_H

#include <stdbool.h>

#include "triad/log.h"

struct triad_agent_log;

/* 'path' (NULL: standard error) is borrowed.  Returns 0 or an errno. */
int triad_agent_log_open(const char *path, struct triad_agent_log **log);

/* Accepts NULL. */
void triad_agent_log_close(struct triad_agent_log *log);

/* Opens the file again, in case it was moved away; keeps the old descriptor on an
 * error.  Returns 0 or an errno. */
int triad_agent_log_reopen(struct triad_agent_log *log);

void triad_agent_log_set_syslog(struct triad_agent_log *log, bool syslog);

/* The log for other modules. */
struct triad_log *triad_agent_log(struct triad_agent_log *log);

#endif
