/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Reads profile files frame by frame, merged in the order of time.
 *
 * Model: the next frame is the earliest of all files' next frames.  A frame's time is
 * that of its first comment or row.  If a clock went back within a file, a frame gets
 * the time of the frame before it, so a file keeps its order.
 *
 * Of a file that is damaged, or ends within a frame, the frames before that place are
 * read, and the error is reported.
 *
 * Thread-safety: none.
 * Memory: 200 octets a file and one decompressor with at most 16 MiB, whatever the
 * size of files and frames.  At most 64 files are open at one time. */
#ifndef TRIAD_CLI_PROFILE_INPUTS_H
#define TRIAD_CLI_PROFILE_INPUTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "perfmgr/export/frame_reader.h"
#include "perfmgr/formats/profile.h"

struct triad_profile_inputs;

struct triad_profile_frame {
	unsigned input;
	const char *path;
	uint64_t offset, size; /* in the file */
	uint64_t time_us;      /* for the order of frames */
};

/* 'paths' are borrowed.  'report' gets a sentence for each bad file: its name, the
 * place, and the error.  NULL when memory is short. */
struct triad_profile_inputs *triad_profile_inputs_new(unsigned n,
	const char *const *paths, void (*report)(void *context, const char *message),
	void *context);
void triad_profile_inputs_free(struct triad_profile_inputs *inputs);

/* The next frame.  False after the last one. */
bool triad_profile_inputs_next(
	struct triad_profile_inputs *inputs, struct triad_profile_frame *frame);

/* Passes the lines of the last frame of 'next' to 'take' (NULL: only checks them).
 * False, having reported it, when something is wrong in them; then the rest of that
 * file is skipped. */
bool triad_profile_inputs_read(struct triad_profile_inputs *inputs,
	const struct triad_profile_frame *frame, triad_profile_take_line *take,
	void *context);

/* Copies octets of the frame as they are in the file, from 'at' in the frame on.
 * Returns how many; 0 at its end, or, having reported it, when they can't be read. */
size_t triad_profile_inputs_copy(struct triad_profile_inputs *inputs,
	const struct triad_profile_frame *frame, uint64_t at, void *to, size_t size);

/* How many files were bad. */
unsigned triad_profile_inputs_failed(const struct triad_profile_inputs *inputs);
/* The octets of all files; '*done': of these, read so far. */
uint64_t triad_profile_inputs_octets(
	const struct triad_profile_inputs *inputs, uint64_t *done);

#endif
