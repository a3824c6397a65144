/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Reads the lines of a frame of a profile file.
 *
 * It uses read() and no mapping, for the reason in zstd_frame.h.
 *
 * Thread-safety: none; an instance for each thread.  Calls wait for the disk.
 * Memory: 260 KiB, and zstd's, at most 16 MiB, whatever a frame asks for. */
#ifndef TRIAD_PERFMGR_EXPORT_FRAME_READER_H
#define TRIAD_PERFMGR_EXPORT_FRAME_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/line_cutter.h"
#include "perfmgr/formats/profile.h"

struct triad_frame_reader;

/* Gets a line; 'line' is its text without the newline.  Returns false when it needs no
 * more lines of this frame. */
typedef bool triad_profile_take_line(void *context, enum triad_profile_line kind,
	const struct triad_profile_parser *parser, const char *line, size_t length);

/* NULL when memory is short. */
struct triad_frame_reader *triad_frame_reader_new(void);
/* Accepts NULL. */
void triad_frame_reader_free(struct triad_frame_reader *reader);

/* Gives 'take' the lines of the frame of 'size' octets at 'offset' in a file.  Returns
 * 0, or an errno with a sentence in triad_frame_reader_message(): EPROTO for a damaged
 * or malformed frame.  'take' NULL: only checks the lines. */
int triad_frame_reader_read(struct triad_frame_reader *reader, int fd, uint64_t offset,
	uint64_t size, triad_profile_take_line *take, void *context);

/* The same, without looking at what is in the lines; one that is too long is cut. */
int triad_frame_reader_give(struct triad_frame_reader *reader, int fd, uint64_t offset,
	uint64_t size, triad_line_take *give, void *context);

/* "offset 12, in the frame there, line 3, column 7: ..." */
const char *triad_frame_reader_message(const struct triad_frame_reader *reader);

#endif
