/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "triad/severity.h"

const char *triad_severity_name(enum triad_severity severity)
{
	static const char *const names[TRIAD_N_SEVERITIES] = {
		"OK", "WARNING", "CRITICAL", "UNKNOWN"};

	return (unsigned)severity < TRIAD_N_SEVERITIES ? names[severity] : "";
}

bool triad_severity_is_worse(enum triad_severity a, enum triad_severity b)
{
	static const unsigned char ranks[TRIAD_N_SEVERITIES] = {
		[TRIAD_OK] = 0,
		[TRIAD_WARNING] = 1,
		[TRIAD_UNKNOWN] = 2,
		[TRIAD_CRITICAL] = 3,
	};

	return ranks[a] > ranks[b];
}
