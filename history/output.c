/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "history/output.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/grow.h"

int triad_history_output_add(struct triad_history_output *output,
	enum triad_frame_type type, const void *data, uint32_t size)
{
	uint32_t more = TRIAD_FRAME_HEADER_SIZE + size;

	if (size > TRIAD_HISTORY_OUTPUT_SIZE ||
		more > TRIAD_HISTORY_OUTPUT_SIZE - output->size)
		return EMSGSIZE;
	if (triad_grow(&output->octets, &output->room, output->size + more, 1, 4096))
		return ENOMEM;
	triad_frame_encode(output->octets + output->size, type, size);
	memcpy(output->octets + output->size + TRIAD_FRAME_HEADER_SIZE, data, size);
	output->size += more;
	return 0;
}

bool triad_history_output_next(const struct triad_history_output *output, uint32_t *at,
	struct triad_frame *frame, const uint8_t **data)
{
	uint32_t left = output->size - *at;

	if (left < TRIAD_FRAME_HEADER_SIZE ||
		triad_frame_decode(output->octets + *at, frame) ||
		frame->size > left - TRIAD_FRAME_HEADER_SIZE)
		return false;
	*data = output->octets + *at + TRIAD_FRAME_HEADER_SIZE;
	*at += TRIAD_FRAME_HEADER_SIZE + frame->size;
	return true;
}

void triad_history_output_clear(struct triad_history_output *output)
{
	free(output->octets);
	*output = (struct triad_history_output){0};
}

const struct triad_history_output *triad_history_output_find(
	const struct triad_history_output *outputs, uint32_t n, const char *command,
	bool is_json)
{
	for (uint32_t i = 0; i < n; i++)
		if (outputs[i].is_json == is_json &&
			!strcmp(outputs[i].command, command))
			return &outputs[i];
	return NULL;
}
