/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Writes a frame: compresses lines into a profile file as they come, so that the size
 * of a frame doesn't matter.
 *
 *     triad_frame_writer_begin(writer, &file);
 *     line = triad_frame_writer_line(writer);
 *     triad_frame_writer_add(writer, render(line));
 *     error = triad_frame_writer_end(writer);
 *
 * After an error the writer drops further lines, and end() returns the error; then the
 * owner drops the frame from the file, else it keeps it (profile_file.h).
 *
 * Thread-safety: none; one thread.  Calls wait for the disk.
 * Memory: some 200 KiB, and zstd's with a window of 128 KiB. */
#ifndef TRIAD_PERFMGR_EXPORT_FRAME_WRITER_H
#define TRIAD_PERFMGR_EXPORT_FRAME_WRITER_H

#include <stddef.h>
#include <stdint.h>

#include "perfmgr/export/profile_file.h"

struct triad_frame_writer;

/* NULL when memory is short. */
struct triad_frame_writer *triad_frame_writer_new(void);
/* Accepts NULL. */
void triad_frame_writer_free(struct triad_frame_writer *writer);

/* 'file' is open, and borrowed until the end. */
void triad_frame_writer_begin(
	struct triad_frame_writer *writer, struct triad_profile_file *file);

/* Room for a line, TRIAD_PROFILE_LINE_SIZE octets, until the next call. */
char *triad_frame_writer_line(struct triad_frame_writer *writer);
/* Adds the line written there, of 'length' octets, its newline included. */
void triad_frame_writer_add(struct triad_frame_writer *writer, size_t length);

/* 0, or the errno that end() will return. */
int triad_frame_writer_error(const struct triad_frame_writer *writer);

/* Returns 0 or an errno. */
int triad_frame_writer_end(struct triad_frame_writer *writer);

/* Of the last frame: octets of its text, and in the file. */
uint64_t triad_frame_writer_text_octets(const struct triad_frame_writer *writer);
uint64_t triad_frame_writer_octets(const struct triad_frame_writer *writer);

#endif
