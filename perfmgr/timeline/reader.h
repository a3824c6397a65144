/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Reads a file of events into a timeline, in pieces that may be cut anywhere.
 *
 * A line that is no event's, because it was torn or altered, is skipped and counted.
 * Only the file's last line may lack its end: its writer was killed.
 *
 * The first line may name a version (lib/format_version.h); a file of another version
 * gives no events.
 *
 * Thread-safety: none.
 * Memory: a line. */
#ifndef TRIAD_PERFMGR_TIMELINE_READER_H
#define TRIAD_PERFMGR_TIMELINE_READER_H

#include "perfmgr/timeline/timeline.h"

#define TRIAD_TIMELINE_FILE_VERSION 1u

struct triad_timeline_reader {
	struct triad_timeline *timeline;
	char line[TRIAD_TIMELINE_LINE_SIZE];
	size_t length;    /* beyond the room: too long to be an event */
	uint64_t n_lines; /* that were taken */
	uint64_t n_bad;   /* that are no event's */
	bool is_begun;    /* a line was read */
	unsigned version; /* of the file */
};

void triad_timeline_reader_init(
	struct triad_timeline_reader *reader, struct triad_timeline *timeline);

/* Takes the next octets. */
void triad_timeline_reader_take(
	struct triad_timeline_reader *reader, const char *piece, size_t size);

/* Whether the last line has no end so far. */
bool triad_timeline_reader_is_torn(const struct triad_timeline_reader *reader);

/* The file ends: takes a last line without its end. */
void triad_timeline_reader_end(struct triad_timeline_reader *reader);

#endif
