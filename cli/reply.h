/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The frames of an answer (triad/control.h), read piece by piece.
 *
 * Model: '_next' says how many octets are wanted and where they are to go, '_take' that
 * they are there.  What frames hold is handed to the caller in pieces of
 * TRIAD_REPLY_PIECE_SIZE at most, so that no frame has to fit into memory.
 *
 * Thread-safety: none.  Memory: a piece. */
#ifndef TRIAD_CLI_REPLY_H
#define TRIAD_CLI_REPLY_H

#include <stddef.h>
#include <stdint.h>

#include "triad/control.h"

#define TRIAD_REPLY_PIECE_SIZE 4096

struct triad_reply {
	struct triad_frame frame; /* 'size' is what is still to come of it */
	uint8_t header[TRIAD_FRAME_HEADER_SIZE];
	char piece[TRIAD_REPLY_PIECE_SIZE + 1]; /* with a 0 behind it */
	size_t piece_size;
};

void triad_reply_init(struct triad_reply *reply);

/* Where the next octets go; '*size' is how many: at least one. */
void *triad_reply_next(struct triad_reply *reply, size_t *size);

enum triad_reply_what {
	TRIAD_REPLY_MORE,   /* nothing to be done yet */
	TRIAD_REPLY_PIECE,  /* 'piece' is of a frame of type 'frame.type' */
	TRIAD_REPLY_EXIT,   /* the answer is over, with '*status' */
	TRIAD_REPLY_BROKEN, /* '*status': EPROTO, EPROTONOSUPPORT or EMSGSIZE */
};

/* Those octets have come. */
enum triad_reply_what triad_reply_take(struct triad_reply *reply, int *status);

#endif
