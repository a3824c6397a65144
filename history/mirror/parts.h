/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Internals of the mirror, for its own files alone:
 *
 *     mirror.c     members, what they have, the budget
 *     pull.c       requests for lists and images
 *     serve.c      answers to others' requests */
#ifndef TRIAD_HISTORY_MIRROR_PARTS_H
#define TRIAD_HISTORY_MIRROR_PARTS_H

#include "history/mirror/message.h"
#include "lib/pieces.h"
#include "triad/clock.h"

#define MIRROR_MAX_JOBS 8u
#define MIRROR_NEVER UINT64_MAX

/* Another member of the present view. */
struct mirror_member {
	uint64_t id;
	bool has_state;
	struct triad_mirror_state state;
	/* A hash of its digest and ours of the tier when its list had nothing to copy;
	 * and until when not to ask it about that tier. */
	uint64_t settled[TRIAD_HISTORY_MAX_OWNERS][TRIAD_HISTORY_N_TIERS];
	uint64_t shunned_us[TRIAD_HISTORY_MAX_OWNERS][TRIAD_HISTORY_N_TIERS];
	uint64_t behind_since_us; /* we lack its newest image; 0: we don't */
	uint64_t rest_us; /* do not ask it until then, because a request to it was in
			   * vain */
};

/* An image being received. */
struct mirror_fetch {
	struct triad_mirror_image image; /* size 0: not known yet */
	bool is_on;
	struct triad_pieces pieces;
	uint32_t end; /* pieces before it were requested */
};

/* The copying under way: a tier of one SM's images, from one member. */
struct mirror_pull {
	bool is_on;
	uint64_t from, owner;
	enum triad_history_tier tier;
	uint64_t digest; /* the member's, when its list was requested */
	/* A page of its list. */
	bool has_page;
	uint64_t before_us;
	struct triad_mirror_list list;
	uint32_t at;      /* the entry being copied */
	uint32_t n_pages; /* before this one */
	uint64_t came_us; /* when the last image came, or copying started */
	struct mirror_fetch fetch;
	bool is_due;     /* send a request now */
	uint64_t ask_us; /* when to ask again */
	unsigned n_tries;
};

/* A request of another member. */
struct mirror_job {
	uint64_t to;
	bool is_list;
	uint64_t before_us;              /* of a list */
	struct triad_mirror_image image; /* size 0: not looked up yet */
	uint32_t piece, end;
};

struct triad_mirror {
	struct triad_mirror_conf conf;
	struct triad_mirror_store store;
	struct triad_mirror_status status;
	uint64_t now_us, wall_us;
	uint32_t n_members;
	struct mirror_member members[TRIAD_MIRROR_MAX_MEMBERS];
	uint64_t tokens; /* octets that may be sent now */
	uint64_t filled_us;

	uint64_t state_us, look_us; /* when to send STATE; when to check whether it
				     * changed */
	uint64_t sent_hash;         /* a hash of the last STATE sent */

	struct mirror_pull pull;
	uint32_t turn;         /* the member to check first */
	uint64_t pause_us;     /* request nothing until then: the disk is full */
	uint64_t pause_for_us; /* the last pause; 0: none since an image was written */

	struct mirror_job jobs[MIRROR_MAX_JOBS];
	uint32_t n_jobs;
};

/* --- mirror.c --- */
struct mirror_member *mirror_find_member(struct triad_mirror *mirror, uint64_t id);
/* NULL: no images of that SM. */
const struct triad_mirror_owned *mirror_find_owned(
	const struct triad_mirror_state *state, uint64_t owner);
/* The digest of a tier here; 0: no images. */
uint64_t mirror_digest(const struct triad_mirror *mirror, uint64_t owner,
	enum triad_history_tier tier);

/* --- pull.c --- */
void mirror_pull_list(
	struct triad_mirror *mirror, const struct triad_mirror_message *message);
void mirror_pull_piece(
	struct triad_mirror *mirror, const struct triad_mirror_message *message);
void mirror_pull_run(struct triad_mirror *mirror);
/* Ends copying from a member that has left. */
void mirror_pull_end(struct triad_mirror *mirror);
uint64_t mirror_pull_next_us(const struct triad_mirror *mirror);
/* Writes a request; 0: none is due. */
size_t mirror_pull_take(
	struct triad_mirror *mirror, uint8_t payload[TRIAD_MIRROR_PAYLOAD_SIZE]);

/* --- serve.c --- */
void mirror_serve_ask(struct triad_mirror *mirror, uint64_t sender,
	const struct triad_mirror_message *message);
/* Writes a list or a piece; 0: no request is pending. */
size_t mirror_serve_take(
	struct triad_mirror *mirror, uint8_t payload[TRIAD_MIRROR_PAYLOAD_SIZE]);

#endif
