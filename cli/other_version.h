/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Explains a refusal caused by different releases: triadctl knows a command that the
 * process at the socket does not know.
 *
 * Thread-safety: one thread. */
#ifndef TRIAD_CLI_OTHER_VERSION_H
#define TRIAD_CLI_OTHER_VERSION_H

#include "cli/client.h"

/* Asks the process at 'client' for its version.  If it differs from ours, returns true,
 * and 'text' has both versions and what to do.  Does not use the sink of 'client'. */
bool triad_other_version_explain(
	const struct triad_client *client, char *text, size_t size);

#endif
