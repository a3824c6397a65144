/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The file that keeps an election's state over a restart, as text.
 *
 * A write replaces the whole file and flushes it to disk before it returns: a member
 * that forgot its vote could vote twice.
 *
 * Thread-safety: one thread. */
#ifndef TRIAD_PLUGIN_ELECTION_STATE_FILE_H
#define TRIAD_PLUGIN_ELECTION_STATE_FILE_H

#include "lib/format_version.h"
#include "portmgr/election/election.h"

/* DIR/election-GUID.state.  Returns 0 or ENAMETOOLONG. */
int triad_state_file_name(const char *dir, uint64_t id, char *path, size_t size);

/* Returns 0, or an errno and sets zeroes: ENOENT (no file), EINVAL (not such a file),
 * EPROTONOSUPPORT (from a later Triad: 'why' gets the text). */
int triad_state_file_read(const char *path, struct triad_election_stored *stored,
	char why[TRIAD_FORMAT_REFUSAL_SIZE]);

/* Makes the folder, if it is missing.  Returns 0 or an errno.  EPROTONOSUPPORT: a later
 * Triad wrote the file; it stays, and 'why' gets the text. */
int triad_state_file_write(const char *path, const struct triad_election_stored *stored,
	char why[TRIAD_FORMAT_REFUSAL_SIZE]);

#endif
