/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* What store.c, copies.c and others.c share. */
#ifndef TRIAD_SERVE_HISTORY_STORE_PARTS_H
#define TRIAD_SERVE_HISTORY_STORE_PARTS_H

#include <pthread.h>

#include "lib/line_cutter.h"
#include "perfmgr/export/frame_writer.h"
#include "serve/history/files.h"
#include "serve/history/store.h"
#include "triad/file.h"

/* A tier while it is written. */
struct writer_tier {
	struct triad_profile_file file;
	int index;    /* -1: not written any further; the next start remakes it */
	uint64_t key; /* number of the last key image in it; 0: none */
	uint64_t last_octets; /* of its last image */
};

/* An answer while it is taken. */
struct taking {
	struct triad_line_cutter cutter;
	char line[TRIAD_PROFILE_LINE_SIZE];
	struct triad_history_answer_head head; /* of the image that is written */
	bool is_open;                          /* one is */
	bool has_image;                        /* there was one */
	int error;                             /* the first one */
	uint64_t begun_us;                     /* monotonic */
	uint32_t n_left_out, n_ports;
};

struct triad_history_store {
	struct triad_log *log;

	pthread_mutex_t lock; /* of what follows */
	struct triad_history_params next;
	uint64_t at_disk_us; /* since when the disk is waited for; 0: it is not */
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
	struct triad_frame_writer *out;
	struct taking taking;
	uint64_t started_us, sweep, mark; /* of the sweep that was told last */
	struct triad_frame_reader *reader;
	struct triad_file_report file_report;
	uint64_t n_dropped_since; /* images that could not be written in a row */
	char reason[TRIAD_HISTORY_REASON_SIZE]; /* why that image can't be written */
};

/* Whose images the store writes. */
static inline struct triad_history_owner history_owner_of(
	const struct triad_history_store *store)
{
	return (struct triad_history_owner){.dir = store->params.dir,
		.program = store->params.program,
		.port_guid = store->params.port_guid};
}

/* --- store.c --- */
/* Notes that the disk may have to be waited for, or that it answered. */
void history_note_disk(struct triad_history_store *store, bool is_waited_for);
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

/* --- copies.c --- */
/* Reads the copies that are in the folder, if images are copied. */
void history_copies_load(struct triad_history_store *store);
void history_copies_clear(struct triad_history_store *store);
/* Closes a segment that is about to be removed. */
void history_copies_let_go(struct triad_history_store *store, uint64_t port_guid,
	enum triad_history_tier tier, uint64_t begun_us);

#endif
