/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Reads a journal's octets into the history, in pieces of any size.
 *
 * It skips and counts torn or altered lines.  Only the file's last line may lack its
 * end, if its writer was killed.
 *
 * The first line may name a version (lib/format_version.h); a journal of another
 * version is not read.
 *
 * Thread-safety: none.  Memory: a line. */
#ifndef TRIAD_PORTMGR_JOURNAL_READER_H
#define TRIAD_PORTMGR_JOURNAL_READER_H

#include "portmgr/history/history.h"

#define TRIAD_JOURNAL_VERSION 1u

struct triad_journal_reader {
	struct triad_history *history;
	char line[TRIAD_RECORD_LINE_SIZE];
	size_t length; /* may exceed the array: the line is too long for a record */
	uint64_t n_bad;
	bool is_begun;    /* a line was read */
	unsigned version; /* of the file */
};

void triad_journal_reader_init(
	struct triad_journal_reader *reader, struct triad_history *history);

/* Reads the next octets.  Returns 0, ENOMEM, or EPROTONOSUPPORT: then the caller must
 * stop. */
int triad_journal_reader_take(
	struct triad_journal_reader *reader, const char *piece, size_t size);

/* Whether the last line has no end so far. */
bool triad_journal_reader_is_torn(const struct triad_journal_reader *reader);

/* Ends the input: reads a last line without its end.  Returns as above. */
int triad_journal_reader_end(struct triad_journal_reader *reader);

#endif
