/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* What history_store.c, history_copies.c and history_others.c share. */
#ifndef TRIAD_SERVICE_HISTORY_STORE_PARTS_H
#define TRIAD_SERVICE_HISTORY_STORE_PARTS_H

#include <pthread.h>

#include "service/history_files.h"
#include "service/history_store.h"
#include "triad/file.h"

/* A tier while it is written. */
struct writer_tier {
	struct triad_profile_file file;
	int index; /* -1: not written any further; the next start remakes it */
	struct triad_history_key key;
	uint64_t last_octets; /* of its last image */
};

struct triad_history_store {
	const char *program;
	uint64_t port_guid;
	struct triad_log *log;

	pthread_mutex_t lock; /* of what follows */
	struct triad_history_params next;
	struct triad_history_status status;
	/* Only the writer changes these, with the lock. */
	struct triad_history_ring ring;
	struct triad_history_params params;
	/* Copies of other SMs' images.  'all' points to 'ring', then to these. */
	struct triad_history_ring copies[TRIAD_HISTORY_MAX_OTHERS];
	struct triad_history_rings all;
	/* Only triad_history_store_look_at_others() changes these, with the lock. */
	struct triad_history_ring others[TRIAD_HISTORY_MAX_OTHERS];
	uint64_t other_guids[TRIAD_HISTORY_MAX_OTHERS];
	unsigned n_others;

	/* Of the writer alone. */
	struct writer_tier tiers[TRIAD_HISTORY_N_TIERS];
	struct writer_tier copy;              /* the copied segment that is open */
	struct triad_mirror_image copy_image; /* an image of that segment */
	struct triad_history_events copied;   /* of the image that is copied */
	struct triad_history_events_sink events_sink;
	int given; /* a segment that is read for other SMs; -1: none */
	struct triad_mirror_image given_image; /* an image of that segment */
	struct triad_file_report copy_report;
	struct triad_log_limit blocked_limit; /* lines about files in a copy's way */
	struct triad_history_topology topology;
	struct triad_frame_writer *out;
	struct triad_frame_reader *reader;
	struct triad_file_report file_report;
	uint64_t n_dropped_since; /* images that could not be written in a row */
	uint32_t n_left_out;      /* of the image that is written */
	char reason[320];         /* why that image can't be written */
};

/* Whose images the store writes. */
static inline struct triad_history_owner history_owner_of(
	const struct triad_history_store *store)
{
	return (struct triad_history_owner){.dir = store->params.dir,
		.program = store->program,
		.port_guid = store->port_guid};
}

/* --- history_store.c --- */
void history_close_tier(struct writer_tier *tier);
/* Opens a segment and its index.  Returns 0 or an errno, with the store's reason. */
int history_open_segment(struct triad_history_store *store, struct writer_tier *to,
	const struct triad_history_owner *owner, enum triad_history_tier tier,
	uint64_t begun_us, bool is_new);
void history_write_index_line(
	struct writer_tier *to, const struct triad_history_entry *entry);
/* Removes segments until 'more' octets have room. */
void history_make_room(
	struct triad_history_store *store, uint64_t now_us, uint64_t more);

/* Returns 0; or ENOSPC, with the store's reason: with 'more' octets too little of the disk would
 * be free.  Others need that: the election, to keep its promises. */
int history_check_disk(struct triad_history_store *store, uint64_t more);

/* --- history_copies.c --- */
/* Reads the copies that are in the folder, if images are copied. */
void history_copies_load(struct triad_history_store *store);
void history_copies_clear(struct triad_history_store *store);
/* Closes a segment that is about to be removed. */
void history_copies_let_go(struct triad_history_store *store, uint64_t port_guid,
	enum triad_history_tier tier, uint64_t begun_us);

#endif
