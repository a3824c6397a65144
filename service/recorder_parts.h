/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* What recorder.c and recorder_write.c share. */
#ifndef TRIAD_SERVICE_RECORDER_PARTS_H
#define TRIAD_SERVICE_RECORDER_PARTS_H

#include "lib/task.h"
#include "service/recorder.h"
#include "triad/file.h"

#define RECORDER_BATCH 128u /* events at once, between memory and the file */

struct triad_recorder {
	struct triad_log *log;
	const char *(*trouble)(void *context);
	void *context;
	struct triad_perf *perf;
	struct triad_alerts_sink next_sink;

	pthread_mutex_t lock; /* of what follows */
	struct triad_task look, write;
	struct triad_timeline *timeline; /* NULL: nothing is recorded */
	bool has_file, is_reading, is_closed;
	uint64_t unwritten;     /* number of the first event that is not in the file */
	uint64_t disk_since_us; /* start of a disk access that still runs; 0: none */
	uint64_t looked_us;
	bool was_looking;                    /* counters are read; set by 'look' */
	struct triad_recorder_status status; /* n_lines, n_lost, n_bad, error, reason */

	/* Of the thread that looks. */
	bool was_hung;
	int64_t clock_us;  /* the wall clock minus that since boot; 0: not read yet */
	uint64_t n_resets; /* resets of triad_perf_resets() that are recorded */

	/* Of the thread that writes. */
	struct triad_recorder_file file;
	struct triad_file_report reported;
	uint64_t open_again_us, touched_us;
	uint64_t anew_lines; /* the file is written anew at so many lines */
	struct triad_timeline_event events[RECORDER_BATCH];
	char lines[RECORDER_BATCH * TRIAD_TIMELINE_LINE_SIZE];
};

/* The step of the thread that writes; see lib/task.h. */
uint64_t recorder_write(void *context);

#endif
