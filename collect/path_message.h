/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* PATHS: messages that keep agents' tables of paths (ib/path_table.h) equal to the SM's
 * answers.
 *
 * Model: a message of kind PATHS (message.h) is one of three, by the octet after the
 * head:
 *
 *    20  u8 which of the three
 *
 *     BEAT, a manager to all four times a second, or to the one that asked:
 *    21  u8  flags: 1 this SM answers requests for paths, from 'generation'
 *    22  u64 time        of the sender, monotonic, microseconds
 *    30  u64 generation  of the answer snapshot; unique within one incarnation of the
 *                        sender
 *    38  u64 echo        of the request that this answers; 0: to all
 *
 *     WANT, an agent to the manager:
 *    21  u8  flags: 1 it lacks the table
 *    22  u64 echo        the asker's time, monotonic, microseconds; not 0
 *    30  u64 generation  of the table
 *
 *     PIECE of the asker's table, a manager to the agent; pieces come in order:
 *    21  u8  LMC of the port
 *    22  u16 base LID of the port
 *    24  u64 generation
 *    32  u32 rows        of the table; LIDs ascend over all pieces
 *    36  u32 first       row of this piece
 *    40  u8  octets of a row, TRIAD_PATH_ROW_SIZE or more: a reader skips the octets that
 *            it doesn't know
 *    41  rows, up to the end of the message:
 *            u64 port GUID   u16 LID   u8 type   u8 port   u8 LMC
 *            u8 flags: 1 there is a path   u16 P_Key   u8 SL   u8 MTU   u8 rate
 *
 * Thread-safety: functions without state. */
#ifndef TRIAD_COLLECT_PATH_MESSAGE_H
#define TRIAD_COLLECT_PATH_MESSAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "collect/message.h"
#include "ib/path_table.h"

#define TRIAD_PATH_ROW_SIZE 19u
#define TRIAD_PATH_PIECE_ROWS 4096u /* of one message, at most */
/* Octets of the longest of these messages. */
#define TRIAD_PATH_MESSAGE_SIZE (64u + TRIAD_PATH_ROW_SIZE * TRIAD_PATH_PIECE_ROWS)

enum triad_path_what {
	TRIAD_PATH_BEAT = 1,
	TRIAD_PATH_WANT,
	TRIAD_PATH_PIECE,
};

struct triad_path_beat {
	bool has_paths;
	uint64_t time_us, generation, echo;
};

struct triad_path_want {
	bool wants_table;
	uint64_t echo, generation;
};

struct triad_path_piece {
	uint8_t lmc;
	uint16_t lid;
	uint64_t generation;
	uint32_t n_rows, first;
	uint8_t row_size;
	uint32_t n; /* rows in this piece */
};

/* --- encoding: into 'to'; returns the octets, 0 when 'size' is too small --- */

size_t triad_path_put_beat(const struct triad_collect_head *head,
	const struct triad_path_beat *beat, uint8_t *to, size_t size);
size_t triad_path_put_want(const struct triad_collect_head *head,
	const struct triad_path_want *want, uint8_t *to, size_t size);
/* Writes rows from 'first' on, as many as fit into one piece, and sets '*n' to their
 * number; a table without rows has one piece without rows. */
size_t triad_path_put_piece(const struct triad_collect_head *head,
	const struct triad_path_table *table, uint32_t first, uint32_t *n, uint8_t *to,
	size_t size);

/* --- decoding: false for malformed octets --- */

/* Reads which of the three it is; 'body' is after the head. */
bool triad_path_get_what(struct triad_wire *body, enum triad_path_what *what);
/* These follow triad_path_get_what(). */
bool triad_path_get_beat(struct triad_wire *body, struct triad_path_beat *beat);
bool triad_path_get_want(struct triad_wire *body, struct triad_path_want *want);
bool triad_path_get_piece(struct triad_wire *body, struct triad_path_piece *piece);
/* Then piece->n times; false also for values that no path can have. */
bool triad_path_get_row(struct triad_wire *body, const struct triad_path_piece *piece,
	struct triad_path_row *row);

#endif
