/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Reads images from the folder of a store; runs in the thread of history_reader.h.
 *
 * Thread-safety: one thread, which waits for the disk.
 * Memory: that of history/past.h for each past, and 280 KiB for 'frames'. */
#ifndef TRIAD_SERVICE_HISTORY_READ_H
#define TRIAD_SERVICE_HISTORY_READ_H

#include "history/past.h"
#include "service/history_store.h"

#define TRIAD_HISTORY_MESSAGE_SIZE 512
#define TRIAD_HISTORY_MAX_POINTS 128u

/* A request for a port's counter from 'from_us' to 'to_us' (wall clock), 'n' points at
 * most. */
struct triad_history_request {
	uint64_t node_guid, from_us, to_us;
	uint32_t n;
	unsigned counter;
	uint8_t port;
};

struct triad_history_point {
	uint64_t time_us;
	struct triad_totals_base base;
	bool is_known; /* the port was there, and had the counter */
	uint64_t total;
};

struct triad_history_reading {
	struct triad_history_store *store;
	struct triad_frame_reader *frames;
	char message[TRIAD_HISTORY_MESSAGE_SIZE]; /* why there is nothing */
};

/* The fabric as it was at 'at_us' (wall clock): the last image up to then.  NULL, with
 * a message. */
struct triad_past *triad_history_read_past(
	struct triad_history_reading *reading, uint64_t at_us);
/* The same, with the lists of commands (history/kept.h). */
struct triad_past *triad_history_read_lists(
	struct triad_history_reading *reading, uint64_t at_us);
/* The same image without its ports and so without a view: reads a single frame. */
struct triad_past *triad_history_read_outputs(
	struct triad_history_reading *reading, uint64_t at_us);

/* The time (wall clock) of the first image later than 'from_us' that has that list; 0:
 * the last image lacks it, or can't be read.  Searches by bisection, so it may be wrong
 * where images with the list precede images without. */
uint64_t triad_history_read_list_since(struct triad_history_reading *reading,
	enum triad_kept_kind kind, uint64_t from_us);

/* Returns how many points there are; 0, with a message: none, or they can't be read. */
uint32_t triad_history_read_series(struct triad_history_reading *reading,
	const struct triad_history_request *request,
	struct triad_history_point points[TRIAD_HISTORY_MAX_POINTS]);

#endif
