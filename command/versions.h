/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The answer to 'version'; triadctl writes it itself when no process answers.
 *
 * Thread-safety: functions without state. */
#ifndef TRIAD_COMMAND_VERSIONS_H
#define TRIAD_COMMAND_VERSIONS_H

#include <stdbool.h>

#include "triad/output.h"

struct triad_versions {
	const char *client;  /* triadctl's; "": the client is not triadctl */
	const char *program; /* that answers: "OpenSM", "triad-agent"; NULL: none */
	const char *server;  /* Triad's version in 'program' */
	const char *sm;      /* "OpenSM 3.3.23"; NULL: 'program' is not OpenSM */
};

void triad_versions_put(const struct triad_versions *versions, bool as_json,
	struct triad_output *output);

#endif
