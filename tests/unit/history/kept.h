/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Images kept in a folder and read from it: the plugin's part and triadd's, joined in one
 * process without a socket. */
#ifndef TRIAD_TESTS_UNIT_HISTORY_KEPT_H
#define TRIAD_TESTS_UNIT_HISTORY_KEPT_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "history/answer.h"
#include "serve/history/read.h"
#include "serve/history/store.h"
#include "service/history_reader.h"
#include "triad/clock.h"

/* --- writing --- */

static inline bool give_store(
	void *store, enum triad_frame_type type, const char *data, size_t size)
{
	(void)type;
	triad_history_store_take(store, data, size);
	return true;
}

/* Asks 'answers' about the image, as triadd asks the plugin, and stores the answer. */
static inline int keep_image(struct triad_history_store *store,
	struct triad_history_answers *answers, const struct triad_history_image *image)
{
	struct triad_history_question question;
	struct triad_output output;
	int error;

	if (!triad_history_store_begin(store, image->wall_us, &question))
		return 0;
	triad_output_init(&output, give_store, store);
	error = triad_history_answer(answers, image, &question, &output);
	triad_output_flush(&output);
	return triad_history_store_end(store, !error, NULL);
}

/* --- reading --- */

/* Who reads the images of a store, and the thread that does its jobs. */
struct kept_reader {
	struct triad_history_reader *reader;
	struct triad_history_reading reading;
	pthread_t thread;
	atomic_bool ends;
};

static inline bool give_reader(void *reader, const char *line, size_t length)
{
	return triad_history_reader_take(reader, line, length) &&
		triad_history_reader_take(reader, "\n", 1);
}

static inline void *do_jobs(void *context)
{
	struct kept_reader *kept = context;
	char line[TRIAD_HISTORY_JOB_SIZE];
	uint64_t told = 0;

	while (!kept->ends) {
		told = triad_history_reader_wanted(kept->reader, told, line);
		if (!line[0] || !triad_history_reader_begin(kept->reader, told)) {
			usleep(100);
			continue;
		}
		/* "past NUMBER JOB" */
		line[strcspn(line, "\n")] = '\0';
		triad_history_read_job(&kept->reading,
			strchr(strchr(line, ' ') + 1, ' ') + 1, give_reader,
			kept->reader);
		triad_history_reader_end(kept->reader, true);
	}
	return NULL;
}

/* Returns false when memory is short. */
static inline bool kept_reader_open(
	struct kept_reader *kept, struct triad_history_store *store)
{
	*kept = (struct kept_reader){.reader = triad_history_reader_new(),
		.reading = {.store = store, .frames = triad_frame_reader_new()}};
	if (!kept->reader || !kept->reading.frames)
		return false;
	triad_history_reader_joined(kept->reader, true);
	return !pthread_create(&kept->thread, NULL, do_jobs, kept);
}

static inline void kept_reader_close(struct kept_reader *kept)
{
	triad_history_reader_close(kept->reader);
	kept->ends = true;
	pthread_join(kept->thread, NULL);
	triad_frame_reader_free(kept->reading.frames);
	triad_history_reader_free(kept->reader);
}

#endif
