/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* What a command answered when an image was made.
 *
 * Commands that show more than an image has (what congestion was traced to, what was
 * wrong with routes, how agents were) are run for each image, and what they answered is
 * written with it: so it can be shown as it was.
 *
 * Model: an output is the frames of the answer (triad/control.h), without the EXIT
 * frame, whose status stands beside them.  There are two of a command: the one that
 * triadctl lays out, with TABLE frames, and the one in JSON.
 *
 * One that is too long, or for which the others leave no room, is left out: then there is
 * one without frames, which says so.
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

/* Steps through the frames: 'at' begins with 0, 'data' is borrowed.  False at the end,
 * and where what follows is no frame. */
bool triad_history_output_next(const struct triad_history_output *output, uint32_t *at,
	struct triad_frame *frame, const uint8_t **data);

/* Has nothing afterwards. */
void triad_history_output_clear(struct triad_history_output *output);

/* The output of a command among 'n'; NULL: there is none. */
const struct triad_history_output *triad_history_output_find(
	const struct triad_history_output *outputs, uint32_t n, const char *command,
	bool is_json);

#endif
