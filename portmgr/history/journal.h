/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The journal: records in a file, so that what was done to ports is known after a
 * restart.
 *
 * A line for each record (record.h), appended and synced before the call returns.  At
 * opening, lines that were torn or altered are left out and counted.  A file that has
 * grown beyond TRIAD_JOURNAL_MAX_OCTETS, or to twice of what it has to hold, when that
 * is more, is written anew (beside, then renamed) with the history and each port's last
 * record.  A write that fails leaves the file as it was before, or with a torn line at
 * its end, behind which the next line is found.  A file of a later version is not read,
 * and stays as it is.
 *
 * Thread-safety: one thread; calls may wait for the disk. */
#ifndef TRIAD_PORTMGR_JOURNAL_H
#define TRIAD_PORTMGR_JOURNAL_H

#include "portmgr/history/history.h"

#define TRIAD_JOURNAL_MAX_OCTETS ((size_t)16 << 20)

struct triad_journal;

/* Reads 'path', which is made (0600, with O_NOFOLLOW; its folder, too) if it is not
 * there, into 'history'.  Returns 0; or an errno with the reason, and what to do, in
 * 'reason': then nothing, or a part, was read. */
int triad_journal_open(const char *path, struct triad_history *history,
	struct triad_journal **journal, char *reason, size_t size);
/* Accepts NULL. */
void triad_journal_close(struct triad_journal *journal);

/* Appends and syncs.  Returns 0 or an errno (ENOSPC, EIO, ...): then the record is not
 * in the journal. */
int triad_journal_append(
	struct triad_journal *journal, const struct triad_record *record);

/* After an append that failed: whether a record could be written again.  Reserves room behind
 * the end.  Returns 0 or an errno; EOPNOTSUPP where the file system can't tell. */
int triad_journal_probe(struct triad_journal *journal);

/* Writes it anew when it has grown too large; what fails is tried again later. */
void triad_journal_trim(
	struct triad_journal *journal, const struct triad_history *history);

/* Lines that could not be read at opening. */
uint64_t triad_journal_n_bad(const struct triad_journal *journal);

#endif
