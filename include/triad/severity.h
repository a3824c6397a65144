/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* How bad something is, as monitoring plugins have it (Nagios, Icinga, checkmk): the
 * values are their exit statuses.
 *
 * Thread-safety: functions without state. */
#ifndef TRIAD_SEVERITY_H
#define TRIAD_SEVERITY_H

#include <stdbool.h>

enum triad_severity {
	TRIAD_OK,
	TRIAD_WARNING,  /* look at it in working hours: the fabric does its work */
	TRIAD_CRITICAL, /* look at it now */
	TRIAD_UNKNOWN,  /* it can't be told */
	TRIAD_N_SEVERITIES
};

/* "OK", "WARNING", "CRITICAL", "UNKNOWN". */
static inline const char *triad_severity_name(enum triad_severity severity)
{
	static const char *const names[TRIAD_N_SEVERITIES] = {
		"OK", "WARNING", "CRITICAL", "UNKNOWN"};

	return (unsigned)severity < TRIAD_N_SEVERITIES ? names[severity] : "";
}

/* What is not known may be bad, but what is critical is known to be. */
static inline bool triad_severity_is_worse(enum triad_severity a, enum triad_severity b)
{
	static const unsigned char ranks[TRIAD_N_SEVERITIES] = {
		[TRIAD_OK] = 0,
		[TRIAD_WARNING] = 1,
		[TRIAD_UNKNOWN] = 2,
		[TRIAD_CRITICAL] = 3,
	};

	return ranks[a] > ranks[b];
}

#endif
