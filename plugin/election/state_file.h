/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* What an election has to remember over a restart, in a file of text.
 *
 * The file is replaced as a whole and flushed to disk before the function returns: a
 * vote that was given and forgotten could be given again.
 *
 * Thread-safety: one thread. */
#ifndef TRIAD_PLUGIN_ELECTION_STATE_FILE_H
#define TRIAD_PLUGIN_ELECTION_STATE_FILE_H

#include "portmgr/election/election.h"

/* DIR/election-GUID.state.  Returns 0 or ENAMETOOLONG. */
int triad_state_file_name(const char *dir, uint64_t id, char *path, size_t size);

/* Returns 0; ENOENT (there is none: zeroes); or an errno, EINVAL for a file that is not
 * ours, and zeroes. */
int triad_state_file_read(const char *path, struct triad_election_stored *stored);

/* Makes the folder, if it is missing.  Returns 0 or an errno. */
int triad_state_file_write(
	const char *path, const struct triad_election_stored *stored);

#endif
