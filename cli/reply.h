/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Parses the frames of an answer (triad/control.h) piece by piece.
 *
 * Model: '_next' returns where the caller is to put how many octets; the caller reads
 * them and calls '_take'.  The content of frames comes in pieces of
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
	struct triad_frame frame; /* 'size' is how much of it is still to come */
	uint8_t header[TRIAD_FRAME_HEADER_SIZE];
	char piece[TRIAD_REPLY_PIECE_SIZE + 1]; /* with a 0 behind it */
	size_t piece_size;
};

void triad_reply_init(struct triad_reply *reply);

/* Where the next octets go; '*size' is how many: at least one. */
void *triad_reply_next(struct triad_reply *reply, size_t *size);

enum triad_reply_what {
	TRIAD_REPLY_MORE,   /* go on with triad_reply_next() */
	TRIAD_REPLY_PIECE,  /* 'piece' is of a frame of type 'frame.type' */
	TRIAD_REPLY_EXIT,   /* the answer has ended, with exit status '*status' */
	TRIAD_REPLY_BROKEN, /* '*status': EPROTO, EPROTONOSUPPORT or EMSGSIZE */
};

/* Takes the octets that triad_reply_next() asked for. */
enum triad_reply_what triad_reply_take(struct triad_reply *reply, int *status);

#endif
