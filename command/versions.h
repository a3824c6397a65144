/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The answer to 'version', which triadctl also gives where nobody else does.
 *
 * Thread-safety: functions without state. */
#ifndef TRIAD_COMMAND_VERSIONS_H
#define TRIAD_COMMAND_VERSIONS_H

#include <stdbool.h>

#include "triad/output.h"

struct triad_versions {
	const char *client;  /* triadctl's; "": somebody else asked */
	const char *program; /* what answers: "OpenSM", "triad-agent"; NULL: nothing */
	const char *server;  /* Triad's version in that */
	const char *sm;      /* "OpenSM 3.3.23"; NULL: that is not what answers */
};

void triad_versions_put(const struct triad_versions *versions, bool as_json,
	struct triad_output *output);

#endif
