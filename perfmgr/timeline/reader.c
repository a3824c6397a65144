/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "perfmgr/timeline/reader.h"

#include "lib/format_version.h"

#define NAME "# Triad's history"

void triad_timeline_reader_init(
	struct triad_timeline_reader *reader, struct triad_timeline *timeline)
{
	reader->timeline = timeline;
	reader->length = 0;
	reader->n_lines = reader->n_bad = 0;
	reader->is_begun = false;
	reader->version = TRIAD_TIMELINE_FILE_VERSION;
}

bool triad_timeline_reader_is_torn(const struct triad_timeline_reader *reader)
{
	return reader->length;
}

/* Whether this is the first line, and names the version. */
static bool is_title(struct triad_timeline_reader *reader, size_t length)
{
	unsigned version = 0;

	if (!reader->is_begun && length < sizeof(reader->line))
		version = triad_format_version(reader->line, length, NAME);
	reader->is_begun = true;
	if (version)
		reader->version = version;
	return version;
}

void triad_timeline_reader_end(struct triad_timeline_reader *reader)
{
	struct triad_timeline_event event;
	size_t length = reader->length;

	reader->length = 0;
	if (!length || is_title(reader, length) ||
		reader->version > TRIAD_TIMELINE_FILE_VERSION)
		return;
	/* Count and skip a bad line: the events after it are good. */
	if (length < sizeof(reader->line) &&
		!triad_timeline_event_parse(reader->line, length, &event)) {
		triad_timeline_add(reader->timeline, &event);
		reader->n_lines++;
	} else {
		reader->n_bad++;
	}
}

void triad_timeline_reader_take(
	struct triad_timeline_reader *reader, const char *piece, size_t size)
{
	for (size_t i = 0; i < size; i++) {
		if (piece[i] == '\n') {
			triad_timeline_reader_end(reader);
		} else {
			/* A line that is too long is counted to its end, to be
			 * skipped there. */
			if (reader->length < sizeof(reader->line))
				reader->line[reader->length] = piece[i];
			reader->length++;
		}
	}
}
