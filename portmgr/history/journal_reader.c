/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "portmgr/history/journal_reader.h"

#include <errno.h>

#include "lib/format_version.h"

#define NAME "# Triad's journal of ports"

void triad_journal_reader_init(
	struct triad_journal_reader *reader, struct triad_history *history)
{
	reader->history = history;
	reader->length = 0;
	reader->n_bad = 0;
	reader->is_begun = false;
	reader->version = TRIAD_JOURNAL_VERSION;
}

bool triad_journal_reader_is_torn(const struct triad_journal_reader *reader)
{
	return reader->length;
}

/* Whether the line is the first one and has the version. */
static bool is_title(struct triad_journal_reader *reader, size_t length)
{
	unsigned version = 0;

	if (!reader->is_begun && length < sizeof(reader->line))
		version = triad_format_version(reader->line, length, NAME);
	reader->is_begun = true;
	if (version)
		reader->version = version;
	return version;
}

int triad_journal_reader_end(struct triad_journal_reader *reader)
{
	struct triad_record record;
	size_t length = reader->length;
	int error = EINVAL;

	reader->length = 0;
	if (!length)
		return 0;
	if (is_title(reader, length))
		return reader->version > TRIAD_JOURNAL_VERSION ? EPROTONOSUPPORT : 0;
	/* Count and skip a bad line: the records behind it are good.  EALREADY and
	 * ESTALE are no mistakes: a newer record of the port was read before. */
	if (length < sizeof(reader->line))
		error = triad_record_parse(reader->line, length, &record);
	if (!error)
		error = triad_history_merge(reader->history, &record);
	if (error == EINVAL || error == ENOSPC)
		reader->n_bad++;
	return error == ENOMEM ? ENOMEM : 0;
}

int triad_journal_reader_take(
	struct triad_journal_reader *reader, const char *piece, size_t size)
{
	int error = 0;

	for (size_t i = 0; i < size && !error; i++) {
		if (piece[i] == '\n') {
			error = triad_journal_reader_end(reader);
		} else {
			/* Count the octets of a line that is too long, so that it is
			 * skipped at its end. */
			if (reader->length < sizeof(reader->line))
				reader->line[reader->length] = piece[i];
			reader->length++;
		}
	}
	return error;
}
