/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Which expected configuration there is here: its generation, and a hash of what it
 * says, by which members of a cluster find out whether they have the same.
 *
 * The generation stands in a line "generation N" of the file, N at least 1.
 * Thread-safety: functions without state; they read a file. */
#ifndef TRIAD_PLUGIN_ELECTION_EXPECTED_H
#define TRIAD_PLUGIN_ELECTION_EXPECTED_H

#include <stddef.h>
#include <stdint.h>

/* Returns 0, or an errno with the reason in 'reason'; EINVAL: no line with a
 * generation. */
int triad_expected_identify(const char *path, uint64_t *generation, uint64_t *hash,
	char *reason, size_t size);

#endif
