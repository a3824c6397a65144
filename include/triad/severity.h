/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* How bad something is, in the terms of monitoring plugins (Nagios, Icinga, checkmk):
 * the values are their exit statuses.
 *
 * Thread-safety: functions without state. */
#ifndef TRIAD_SEVERITY_H
#define TRIAD_SEVERITY_H

#include <stdbool.h>

enum triad_severity {
	TRIAD_OK,
	TRIAD_WARNING,  /* look at it in working hours: the fabric works */
	TRIAD_CRITICAL, /* look at it now */
	TRIAD_UNKNOWN,  /* the state is not known */
	TRIAD_N_SEVERITIES
};

/* "OK", "WARNING", "CRITICAL", "UNKNOWN". */
const char *triad_severity_name(enum triad_severity severity);

/* CRITICAL is worse than UNKNOWN, which only may be bad. */
bool triad_severity_is_worse(enum triad_severity a, enum triad_severity b);

#endif
