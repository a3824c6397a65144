/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* What history_store.c and history_others.c share. */
#ifndef TRIAD_SERVICE_HISTORY_STORE_PARTS_H
#define TRIAD_SERVICE_HISTORY_STORE_PARTS_H

#include <pthread.h>

#include "service/history_files.h"
#include "service/history_store.h"
#include "triad/file.h"

/* A tier while it is written. */
struct writer_tier {
	struct triad_profile_file file;
	int index; /* -1: it is not written; the next start makes it anew */
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
	/* Changed by the writer alone, with the lock. */
	struct triad_history_ring ring;
	struct triad_history_params params;
	/* Changed by who looks at others, with the lock. */
	struct triad_history_ring others[TRIAD_HISTORY_MAX_OTHERS];
	uint64_t other_guids[TRIAD_HISTORY_MAX_OTHERS];
	unsigned n_others;

	/* Of the writer alone. */
	struct writer_tier tiers[TRIAD_HISTORY_N_TIERS];
	struct triad_history_topology topology;
	struct triad_frame_writer *out;
	struct triad_frame_reader *reader;
	struct triad_file_report told;
	uint64_t n_dropped_since; /* it was said */
	uint32_t n_left_out;      /* of the image that is written */
	char reason[320];         /* the same */
};

/* Whose images the store writes. */
static inline struct triad_history_owner history_owner_of(
	const struct triad_history_store *store)
{
	return (struct triad_history_owner){.dir = store->params.dir,
		.program = store->program,
		.port_guid = store->port_guid};
}

#endif
