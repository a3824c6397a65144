/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Reads images for commands, in a thread of its own: a disk that hangs stops only that
 * thread, not a client or the end of the process.
 *
 * Model: the caller leaves a job and waits, TRIAD_HISTORY_WAIT_US at most.  The thread
 * does one job at a time, so that clients can't take all memory.  It frees a job whose
 * caller has given up.  It starts with the first job.
 *
 * Thread-safety: any thread, for all but new, stop and free.
 * Memory: that of history_read.h, and a job. */
#ifndef TRIAD_SERVICE_HISTORY_READER_H
#define TRIAD_SERVICE_HISTORY_READER_H

#include "service/history_read.h"

#define TRIAD_HISTORY_WAIT_US (20 * TRIAD_US_PER_S)

struct triad_history_reader;

/* 'store' outlives it.  NULL when memory is short. */
struct triad_history_reader *triad_history_reader_new(
	struct triad_history_store *store);

/* Releases callers that wait, and refuses further ones. */
void triad_history_reader_close(struct triad_history_reader *reader);

/* Closes the reader, and ends its thread, in a second at most.  False: the thread hangs
 * at a disk; then the reader, and the store, must stay.  Accepts NULL. */
bool triad_history_reader_stop(struct triad_history_reader *reader);
/* After triad_history_reader_stop() returned true.  Accepts NULL. */
void triad_history_reader_free(struct triad_history_reader *reader);

/* See triad_history_read_past(), _lists(), _list_since(), _outputs() and _series();
 * also NULL or 0, with a message where there is room for one, when it takes too
 * long. */
struct triad_past *triad_history_reader_read(struct triad_history_reader *reader,
	uint64_t at_us, char message[TRIAD_HISTORY_MESSAGE_SIZE]);
struct triad_past *triad_history_reader_lists(struct triad_history_reader *reader,
	uint64_t at_us, char message[TRIAD_HISTORY_MESSAGE_SIZE]);
uint64_t triad_history_reader_list_since(struct triad_history_reader *reader,
	enum triad_kept_kind kind, uint64_t from_us);
struct triad_past *triad_history_reader_outputs(struct triad_history_reader *reader,
	uint64_t at_us, char message[TRIAD_HISTORY_MESSAGE_SIZE]);
uint32_t triad_history_reader_series(struct triad_history_reader *reader,
	const struct triad_history_request *request,
	struct triad_history_point points[TRIAD_HISTORY_MAX_POINTS],
	char message[TRIAD_HISTORY_MESSAGE_SIZE]);

#endif
