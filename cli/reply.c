/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "cli/reply.h"

#include <errno.h>

void triad_reply_init(struct triad_reply *reply)
{
	reply->frame = (struct triad_frame){0};
	reply->piece_size = 0;
}

void *triad_reply_next(struct triad_reply *reply, size_t *size)
{
	if (!reply->frame.size) {
		*size = sizeof(reply->header);
		return reply->header;
	}
	/* A frame longer than the buffer comes in pieces. */
	reply->piece_size = reply->frame.size < TRIAD_REPLY_PIECE_SIZE
		? reply->frame.size
		: TRIAD_REPLY_PIECE_SIZE;
	*size = reply->piece_size;
	return reply->piece;
}

enum triad_reply_what triad_reply_take(struct triad_reply *reply, int *status)
{
	if (!reply->frame.size) {
		*status = triad_frame_decode(reply->header, &reply->frame);
		/* Only clients send requests. */
		if (!*status && reply->frame.type == TRIAD_FRAME_REQUEST)
			*status = EPROTO;
		return *status ? TRIAD_REPLY_BROKEN : TRIAD_REPLY_MORE;
	}
	reply->piece[reply->piece_size] = '\0';
	reply->frame.size -= (uint32_t)reply->piece_size;
	if (reply->frame.type != TRIAD_FRAME_EXIT)
		return TRIAD_REPLY_PIECE;
	*status = (unsigned char)reply->piece[0];
	if (*status <= TRIAD_CONTROL_NO_OBJECT)
		return TRIAD_REPLY_EXIT;
	*status = EPROTO;
	return TRIAD_REPLY_BROKEN;
}
