/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Reads images for whoever asks, in a thread of its own: a disk that hangs stops that
 * thread, and neither a client nor the end of the process waits for it.
 *
 * Model: who asks leaves a job and waits, TRIAD_HISTORY_WAIT_US at most; one job is done
 * at a time, so that clients can't take all memory.  A job that nobody waits for any
 * more is thrown away when it is done.  The thread begins with the first job.
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

/* Lets go who waits; nothing is read after that. */
void triad_history_reader_close(struct triad_history_reader *reader);

/* Closes it, and ends the thread, in a second at most.  False: it hangs at a disk; then
 * it, and the store, must stay.  Accepts NULL. */
bool triad_history_reader_stop(struct triad_history_reader *reader);
/* After triad_history_reader_stop() returned true.  Accepts NULL. */
void triad_history_reader_free(struct triad_history_reader *reader);

/* See triad_history_read_past(), _lists(), _outputs(), _list_since() and _series(); also NULL
 * and 0, with a message, when it takes too long. */
struct triad_past *triad_history_reader_read(struct triad_history_reader *reader,
	uint64_t at_us, char message[TRIAD_HISTORY_MESSAGE_SIZE]);
struct triad_past *triad_history_reader_lists(struct triad_history_reader *reader,
	uint64_t at_us, char message[TRIAD_HISTORY_MESSAGE_SIZE]);
uint64_t triad_history_reader_list_since(struct triad_history_reader *reader,
	enum triad_kept_kind kind, uint64_t from_us);
struct triad_past *triad_history_reader_outputs(struct triad_history_reader *reader,
	uint64_t at_us, char message[TRIAD_HISTORY_MESSAGE_SIZE]);
uint32_t triad_history_reader_series(struct triad_history_reader *reader,
	const struct triad_history_wish *wish,
	struct triad_history_point points[TRIAD_HISTORY_MAX_POINTS],
	char message[TRIAD_HISTORY_MESSAGE_SIZE]);

#endif
