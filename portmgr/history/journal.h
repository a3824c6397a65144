/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The journal: the file that keeps the records of actions on ports over a restart.
 *
 * Each record is a line (record.h).
 * Opening skips and counts torn or altered lines.  A file that has grown beyond
 * TRIAD_JOURNAL_MAX_OCTETS, or beyond twice its necessary size if that is more, is
 * rewritten (as a new file, then renamed) with the latest records and each port's last
 * record.  A failed write leaves the file unchanged, or with a torn line at its end;
 * the next line is still found.  A file of a later version is not read, and stays
 * unchanged.
 *
 * Thread-safety: one thread; calls may wait for the disk. */
#ifndef TRIAD_PORTMGR_JOURNAL_H
#define TRIAD_PORTMGR_JOURNAL_H

#include "portmgr/history/history.h"

#define TRIAD_JOURNAL_MAX_OCTETS ((size_t)16 << 20)

struct triad_journal;

/* Reads 'path' into 'history'; creates the file (0600, with O_NOFOLLOW) and its folder
 * if missing.  Returns 0; or an errno, with the reason and what to do in 'reason': then
 * nothing, or only a part, was read. */
int triad_journal_open(const char *path, struct triad_history *history,
	struct triad_journal **journal, char *reason, size_t size);
/* Accepts NULL. */
void triad_journal_close(struct triad_journal *journal);

/* Appends and syncs.  Returns 0 or an errno (ENOSPC, EIO, ...): then the record is not
 * in the journal.  A record that is among the latest alone needs no sync, because nobody
 * counts on it: if a crash takes it, members send it again. */
int triad_journal_append(struct triad_journal *journal,
	const struct triad_record *record, bool must_sync);

/* After a failed append: tests whether a record could be written now, by reserving room
 * after the end.  Returns 0 or an errno; EOPNOTSUPP if the file system can't tell. */
int triad_journal_probe(struct triad_journal *journal);

/* Rewrites the file when it has grown too large; retries later if that fails. */
void triad_journal_trim(
	struct triad_journal *journal, const struct triad_history *history);

/* Lines that could not be read at opening. */
uint64_t triad_journal_n_bad(const struct triad_journal *journal);

#endif
