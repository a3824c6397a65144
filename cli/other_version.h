/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Explains a refusal that comes of two releases: triadctl understood a command, and what
 * it asked did not.
 *
 * Thread-safety: one thread. */
#ifndef TRIAD_CLI_OTHER_VERSION_H
#define TRIAD_CLI_OTHER_VERSION_H

#include "cli/client.h"

/* Asks who listens at 'client' for its version.  Returns true, and both versions with
 * what to do in 'text', when it is another one than ours.  The sink of 'client' is not
 * used. */
bool triad_other_version_explain(
	const struct triad_client *client, char *text, size_t size);

#endif
