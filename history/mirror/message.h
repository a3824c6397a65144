/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The messages between SMs that copy each other's images (mirror.h), and their octets.
 *
 * Octets, big-endian; a payload of another version is refused as a whole.  Within a
 * version, a receiver ignores what it does not know behind ASK_LIST and ASK, and in the
 * reserved octet; kinds that it does not know count as another version.  Times are of
 * the wall clock of the SM that wrote the images, in us.
 *
 *     at    size
 *     0     4     magic "TrHi"
 *     4     1     version, 1
 *     5     1     kind
 *     6     1     tier (history/ring.h); 0 in STATE
 *     7     1     reserved, 0
 *
 *     STATE: what the sender has
 *     8     8     its limit, octets
 *     16    24    floors of its tiers, 3 of 8 (history/rings.h)
 *     40    48*n  for each SM whose images it has, the sender itself among them:
 *                   0     8     its owner, a port GUID
 *                   8     8     octets of them
 *                   16    8     time of the newest image
 *                   24    24    digests of the tiers, 3 of 8
 *
 *     ASK_LIST: requests the segments of one SM's tier
 *     8     8     the only member that answers
 *     16    8     owner of the images, a port GUID
 *     24    8     only names before this one, the newest first
 *
 *     LIST: the answer
 *     8     8     owner of the images, a port GUID
 *     16    8     as requested: names before this one
 *     24    1     1: no more segments follow
 *     25    7     reserved, 0
 *     32    24*n  name, octets that can be requested, time of the newest image; 8 each
 *
 *     ASK: requests pieces of an image
 *     8     8     the only member that answers
 *     16    8     owner of the images, a port GUID
 *     24    8     name of the segment
 *     32    8     offset of the image in it
 *     40    4     the first piece, from 0
 *     44    4     how many, 1 to TRIAD_MIRROR_WINDOW
 *
 *     PIECE: a piece
 *     8     8     owner of the images, a port GUID
 *     16    8     name of the segment
 *     24    8     offset of the image in it
 *     32    4     octets of the image
 *     36    4     which piece, from 0
 *     40    n     its octets: TRIAD_MIRROR_PIECE_SIZE; of the last, what is left
 *
 * Thread-safety: functions without state.  Memory: what was decoded borrows the
 * payload. */
#ifndef TRIAD_HISTORY_MIRROR_MESSAGE_H
#define TRIAD_HISTORY_MIRROR_MESSAGE_H

#include "history/mirror/mirror.h"

#define TRIAD_MIRROR_WINDOW 32u /* pieces that are requested at once */
#define TRIAD_MIRROR_PIECE_SIZE 960u
#define TRIAD_MIRROR_LIST_ROOM 41u

enum triad_mirror_kind {
	TRIAD_MIRROR_STATE = 1,
	TRIAD_MIRROR_ASK_LIST,
	TRIAD_MIRROR_LIST,
	TRIAD_MIRROR_ASK,
	TRIAD_MIRROR_PIECE,
};

/* A member's images of one SM. */
struct triad_mirror_owned {
	uint64_t port_guid, octets, newest_us;
	uint64_t digests[TRIAD_HISTORY_N_TIERS]; /* 0: nothing */
};

struct triad_mirror_state {
	uint64_t max_octets;
	uint64_t floor_us[TRIAD_HISTORY_N_TIERS];
	uint64_t n; /* no padding: it is hashed */
	struct triad_mirror_owned owned[TRIAD_HISTORY_MAX_OWNERS];
};

struct triad_mirror_listed {
	uint64_t begun_us, octets, last_us;
};

struct triad_mirror_list {
	bool is_last;
	uint32_t n;
	struct triad_mirror_listed listed[TRIAD_MIRROR_LIST_ROOM];
};

struct triad_mirror_message {
	enum triad_mirror_kind kind;
	enum triad_history_tier tier;
	uint64_t to;                     /* ASK_LIST, ASK */
	uint64_t owner;                  /* all but STATE */
	uint64_t before_us;              /* ASK_LIST, LIST */
	struct triad_mirror_image image; /* ASK, PIECE; ASK has no size */
	uint32_t piece;                  /* ASK, PIECE */
	uint32_t n_pieces;               /* ASK */
	const uint8_t *octets;           /* PIECE */
	size_t n_octets;
	struct triad_mirror_state state;
	struct triad_mirror_list list;
};

/* Returns the octets written. */
size_t triad_mirror_message_encode(const struct triad_mirror_message *message,
	uint8_t payload[TRIAD_MIRROR_PAYLOAD_SIZE]);

/* Returns 0, EINVAL (not one), or EPROTONOSUPPORT (of another version); 'message' is
 * undefined then. */
int triad_mirror_message_decode(
	struct triad_mirror_message *message, const void *payload, size_t size);

#endif
