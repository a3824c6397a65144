/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Reads images from the folder of a store.
 *
 * Thread-safety: one thread, which waits for the disk.
 * Memory: 280 KiB for 'frames'. */
#ifndef TRIAD_SERVE_HISTORY_READ_H
#define TRIAD_SERVE_HISTORY_READ_H

#include "serve/history/store.h"
#include "serve/history/unpack.h"
#include "service/history_reader.h"

struct triad_history_reading {
	struct triad_history_store *store;
	struct triad_frame_reader *frames;
	char message[TRIAD_HISTORY_MESSAGE_SIZE]; /* why there is nothing */
};

/* Does a job, and gives the lines of its answer (service/history_reader.h): 'job' is that
 * line's text behind the number. */
void triad_history_read_job(struct triad_history_reading *reading, const char *job,
	triad_line_take *give, void *context);

#endif
