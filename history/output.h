/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* A command's answer at the time of an image.
 *
 * Some commands show more than an image has: roots of congestion, problems of routes,
 * the state of agents.  They are run for each image, and their answers are written with
 * it, so that they can be shown later.
 *
 * Model: an output has the frames of the answer (triad/control.h), without the EXIT
 * frame, whose status is kept separately.  A command has two outputs: one that triadctl
 * lays out, with TABLE frames, and one in JSON.
 *
 * An output that is too long, or for which the others leave no room, is left out: it
 * has no frames, and 'is_left_out' is set.
 *
 * Thread-safety: none.  Memory: TRIAD_HISTORY_OUTPUT_SIZE octets at most for each,
 * TRIAD_HISTORY_OUTPUTS_SIZE for those of an image; checked. */
#ifndef TRIAD_HISTORY_OUTPUT_H
#define TRIAD_HISTORY_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "triad/control.h"

#define TRIAD_HISTORY_OUTPUT_SIZE (1u << 20)  /* of the frames of one */
#define TRIAD_HISTORY_OUTPUTS_SIZE (1u << 22) /* of those of an image */
#define TRIAD_HISTORY_MAX_OUTPUTS 32u         /* of an image */
#define TRIAD_HISTORY_COMMAND_SIZE 32

struct triad_history_output {
	char command[TRIAD_HISTORY_COMMAND_SIZE]; /* its name: "routes check" */
	bool is_json;
	bool is_left_out;
	uint8_t status;
	uint8_t *octets;
	uint32_t size;
	size_t room;
};

/* Adds a frame, of at most TRIAD_CONTROL_REPLY_SIZE octets.  Returns 0; ENOMEM or
 * EMSGSIZE (no room for it): then nothing is added. */
int triad_history_output_add(struct triad_history_output *output,
	enum triad_frame_type type, const void *data, uint32_t size);

/* Steps through the frames: '*at' begins with 0, '*data' is borrowed.  False at the
 * end, and before octets that are not a frame. */
bool triad_history_output_next(const struct triad_history_output *output, uint32_t *at,
	struct triad_frame *frame, const uint8_t **data);

/* Empties the output. */
void triad_history_output_clear(struct triad_history_output *output);

/* The output of a command among 'n'; NULL: there is none. */
const struct triad_history_output *triad_history_output_find(
	const struct triad_history_output *outputs, uint32_t n, const char *command,
	bool is_json);

#endif
