/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* A journal's octets, taken into the history piece by piece, however they are cut.
 *
 * A line that is no record's, because it was torn or altered, is left out and counted.
 * Only the file's last line may have no end: its writer was killed.
 *
 * The first line may name a version (lib/format_version.h); of another one, nothing is
 * taken.
 *
 * Thread-safety: none.  Memory: a line. */
#ifndef TRIAD_PORTMGR_JOURNAL_READER_H
#define TRIAD_PORTMGR_JOURNAL_READER_H

#include "portmgr/history/history.h"

#define TRIAD_JOURNAL_VERSION 1u

struct triad_journal_reader {
	struct triad_history *history;
	char line[TRIAD_RECORD_LINE_SIZE];
	size_t length; /* more than there is room for: too long to be a record */
	uint64_t n_bad;
	bool is_begun;    /* a line was read */
	unsigned version; /* of the file */
};

void triad_journal_reader_init(
	struct triad_journal_reader *reader, struct triad_history *history);

/* Takes the next octets.  Returns 0, ENOMEM, or EPROTONOSUPPORT: then no more are to
 * come. */
int triad_journal_reader_take(
	struct triad_journal_reader *reader, const char *piece, size_t size);

/* Whether the last line has no end so far. */
bool triad_journal_reader_is_torn(const struct triad_journal_reader *reader);

/* No more comes: takes a last line without its end.  Returns as above. */
int triad_journal_reader_end(struct triad_journal_reader *reader);

#endif
