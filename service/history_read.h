/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Reads images from the folder of a store; what the thread of history_reader.h does.
 *
 * Thread-safety: one thread, which waits for the disk.
 * Memory: that of history/past.h for what is given out, and 280 KiB for 'frames'. */
#ifndef TRIAD_SERVICE_HISTORY_READ_H
#define TRIAD_SERVICE_HISTORY_READ_H

#include "history/past.h"
#include "service/history_store.h"

#define TRIAD_HISTORY_MESSAGE_SIZE 512
#define TRIAD_HISTORY_MAX_POINTS 128u

/* A port's counter over a time of the wall clock, at most 'n' points. */
struct triad_history_wish {
	uint64_t node_guid, from_us, to_us;
	uint32_t n;
	unsigned counter;
	uint8_t port;
};

struct triad_history_point {
	uint64_t time_us;
	uint64_t port_guid; /* of the SM that wrote it: totals of two may differ */
	bool is_known;      /* the port was there, and had the counter */
	uint64_t total;
};

struct triad_history_reading {
	struct triad_history_store *store;
	struct triad_frame_reader *frames;
	char message[TRIAD_HISTORY_MESSAGE_SIZE]; /* why there is nothing */
};

/* The fabric as it was at 'at_us' (wall clock): the latest image that is not later.
 * NULL, with a message. */
struct triad_past *triad_history_read_past(
	struct triad_history_reading *reading, uint64_t at_us);
/* The same, with the lists of commands (history/kept.h). */
struct triad_past *triad_history_read_lists(
	struct triad_history_reading *reading, uint64_t at_us);
/* The same image without its ports, so without a view: one frame is read for it. */
struct triad_past *triad_history_read_outputs(
	struct triad_history_reading *reading, uint64_t at_us);

/* Since when images later than 'from_us' have that list, of the wall clock; 0: none has, or
 * they can't be read.  A guess where some have it, and later ones don't. */
uint64_t triad_history_read_list_since(struct triad_history_reading *reading,
	enum triad_kept_kind kind, uint64_t from_us);

/* Returns how many points there are; 0, with a message: none, or they can't be read. */
uint32_t triad_history_read_series(struct triad_history_reading *reading,
	const struct triad_history_wish *wish,
	struct triad_history_point points[TRIAD_HISTORY_MAX_POINTS]);

#endif
