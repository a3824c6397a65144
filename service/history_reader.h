/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Reads images from the folder of a store (service/history_store.h).
 *
 * Thread-safety: any thread; calls wait for the disk, and for each other: one image is
 * put together at a time, so that clients can't take all memory.
 * Memory: that of history/past.h for each that is given out, and 280 KiB. */
#ifndef TRIAD_SERVICE_HISTORY_READER_H
#define TRIAD_SERVICE_HISTORY_READER_H

#include "history/past.h"
#include "service/history_store.h"

#define TRIAD_HISTORY_MESSAGE_SIZE 512

struct triad_history_reader;

/* 'store' outlives it.  NULL when memory is short. */
struct triad_history_reader *triad_history_reader_new(
	struct triad_history_store *store);
/* Accepts NULL. */
void triad_history_reader_free(struct triad_history_reader *reader);

/* The fabric as it was at 'at_us' (wall clock): the latest image that is not later.
 * NULL, with a sentence that says why and what there is. */
struct triad_past *triad_history_reader_read(struct triad_history_reader *reader,
	uint64_t at_us, char message[TRIAD_HISTORY_MESSAGE_SIZE]);

/* A port's counter at a time. */
struct triad_history_point {
	uint64_t time_us;
	uint64_t port_guid; /* of the SM that wrote it: totals of two may differ */
	bool is_known;      /* the port was there, and had the counter */
	uint64_t total;
};

/* At most 'room' points between two times.  Returns how many; 0 with a message: there is
 * none, or they can't be read. */
uint32_t triad_history_reader_series(struct triad_history_reader *reader,
	uint64_t node_guid, uint8_t port, unsigned counter, uint64_t from_us,
	uint64_t to_us, struct triad_history_point *points, uint32_t room,
	char message[TRIAD_HISTORY_MESSAGE_SIZE]);

#endif
