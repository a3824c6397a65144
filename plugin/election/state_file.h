/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* What an election has to remember over a restart, in a file of text.
 *
 * The file is replaced as a whole and flushed to disk before the function returns: a
 * vote that was given and forgotten could be given again.
 *
 * Thread-safety: one thread. */
#ifndef TRIAD_PLUGIN_ELECTION_STATE_FILE_H
#define TRIAD_PLUGIN_ELECTION_STATE_FILE_H

#include "lib/format_version.h"
#include "portmgr/election/election.h"

/* DIR/election-GUID.state.  Returns 0 or ENAMETOOLONG. */
int triad_state_file_name(const char *dir, uint64_t id, char *path, size_t size);

/* Returns 0; ENOENT (there is none: zeroes); or an errno, EINVAL for a file that is not
 * ours, and zeroes.  EPROTONOSUPPORT: it is of a later Triad, 'why' says so. */
int triad_state_file_read(const char *path, struct triad_election_stored *stored,
	char why[TRIAD_FORMAT_REFUSAL_SIZE]);

/* Makes the folder, if it is missing.  Returns 0 or an errno.  EPROTONOSUPPORT: what is
 * there is of a later Triad and stays, 'why' says so. */
int triad_state_file_write(const char *path, const struct triad_election_stored *stored,
	char why[TRIAD_FORMAT_REFUSAL_SIZE]);

#endif
