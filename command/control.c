/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "triad/control.h"

#include <errno.h>
#include <string.h>

/* What each type of frame may hold. */
static const struct {
	uint8_t type;
	uint32_t min, max;
} frame_sizes[] = {
	{TRIAD_FRAME_REQUEST, 0, TRIAD_CONTROL_REQUEST_SIZE},
	{TRIAD_FRAME_OUTPUT, 0, TRIAD_CONTROL_REPLY_SIZE},
	{TRIAD_FRAME_TABLE, 0, TRIAD_CONTROL_REPLY_SIZE},
	{TRIAD_FRAME_MESSAGE, 0, TRIAD_CONTROL_REPLY_SIZE},
	{TRIAD_FRAME_PROGRESS, 0, TRIAD_CONTROL_REPLY_SIZE},
	{TRIAD_FRAME_EXIT, 1, 1},
};

#define N_FRAME_SIZES (sizeof(frame_sizes) / sizeof(frame_sizes[0]))

void triad_frame_encode(uint8_t *header, enum triad_frame_type type, uint32_t size)
{
	header[0] = (uint8_t)type;
	header[1] = TRIAD_CONTROL_VERSION;
	header[2] = 0;
	header[3] = 0;
	header[4] = (uint8_t)(size >> 24);
	header[5] = (uint8_t)(size >> 16);
	header[6] = (uint8_t)(size >> 8);
	header[7] = (uint8_t)size;
}

int triad_frame_decode(const uint8_t *header, struct triad_frame *frame)
{
	uint32_t size = (uint32_t)header[4] << 24 | (uint32_t)header[5] << 16 |
		(uint32_t)header[6] << 8 | header[7];
	size_t i = 0;

	/* Check the version first: another one may have another header. */
	if (header[1] != TRIAD_CONTROL_VERSION)
		return EPROTONOSUPPORT;
	while (i < N_FRAME_SIZES && frame_sizes[i].type != header[0])
		i++;
	if (i == N_FRAME_SIZES || header[2] || header[3])
		return EPROTO;
	if (size < frame_sizes[i].min || size > frame_sizes[i].max)
		return EMSGSIZE;
	frame->type = header[0];
	frame->size = size;
	return 0;
}

size_t triad_request_encode(
	char *payload, size_t size, int n_words, const char *const *words)
{
	size_t used = 0;
	int i;

	if (n_words > TRIAD_CONTROL_MAX_WORDS)
		return 0;
	if (size > TRIAD_CONTROL_REQUEST_SIZE)
		size = TRIAD_CONTROL_REQUEST_SIZE;
	for (i = 0; i < n_words; i++) {
		size_t word_size = strlen(words[i]) + 1;

		if (word_size > size - used)
			return 0;
		memcpy(payload + used, words[i], word_size);
		used += word_size;
	}
	return used;
}

int triad_request_decode(char *payload, size_t size, char **words, int *n_words)
{
	char *p, *end = payload + size;
	int n = 0;

	if (size > TRIAD_CONTROL_REQUEST_SIZE)
		return E2BIG;
	/* The last word must end with a 0, or strlen() would run past the payload. */
	if (size && end[-1])
		return EINVAL;
	for (p = payload; p < end; p += strlen(p) + 1) {
		if (n == TRIAD_CONTROL_MAX_WORDS)
			return E2BIG;
		words[n++] = p;
	}
	words[n] = NULL;
	*n_words = n;
	return 0;
}
