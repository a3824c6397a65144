/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Profile files, read frame by frame in the order of time.
 *
 * Model: of all files, the one with the earliest next frame comes first. A frame's time
 * is what its first comment or row says.  If a clock went back within a file, a frame
 * gets the time of the frame before it, so a file keeps its order.
 *
 * A file that is damaged, or ends within a frame, gives the frames before that place
 * and is told of.
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
	uint64_t offset, size; /* where it is in the file */
	uint64_t time_us;      /* by which it was chosen */
};

/* 'paths' are borrowed.  'tell' gets a sentence for each file that is wrong, with its
 * name, the place, and what.  NULL when memory is short. */
struct triad_profile_inputs *triad_profile_inputs_new(unsigned n,
	const char *const *paths, void (*tell)(void *context, const char *message),
	void *context);
void triad_profile_inputs_free(struct triad_profile_inputs *inputs);

/* The next frame.  False after the last one. */
bool triad_profile_inputs_next(
	struct triad_profile_inputs *inputs, struct triad_profile_frame *frame);

/* Gives the lines of a frame that 'next' gave last.  False when there is something
 * wrong in it, which was told; then nothing more comes of that file.  'take' NULL: the
 * lines are checked alone. */
bool triad_profile_inputs_read(struct triad_profile_inputs *inputs,
	const struct triad_profile_frame *frame, triad_profile_take_line *take,
	void *context);

/* Copies octets of the frame as they are in the file, from 'at' in the frame on.
 * Returns how many, 0 at its end, or when they can't be read, which was told. */
size_t triad_profile_inputs_copy(struct triad_profile_inputs *inputs,
	const struct triad_profile_frame *frame, uint64_t at, void *to, size_t size);

/* Files that were wrong, and the octets of all and of those read so far. */
unsigned triad_profile_inputs_failed(const struct triad_profile_inputs *inputs);
uint64_t triad_profile_inputs_octets(
	const struct triad_profile_inputs *inputs, uint64_t *done);

#endif
