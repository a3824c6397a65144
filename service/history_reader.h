/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Reads images for commands: triadd has them, and is asked.
 *
 * Model: the caller leaves a job and waits, TRIAD_HISTORY_WAIT_US at most.  triadd hears of
 * the job in 'changes' (service/outside.h), as a line
 *
 *     past NUMBER image AT            what shows the fabric at that time
 *     past NUMBER alone AT            the image of that time, without its key
 *     past NUMBER since LIST FROM     the first image later than that which has the list
 *     past NUMBER series GUID PORT COUNTER FROM TO N      a port's counter
 *     past NUMBER levels FROM TO N    what flowed between levels (serve/history/level_sums.h)
 *
 * with times of the wall clock in us, and answers with lines:
 *
 *     = port GUID                     who wrote the image
 *     = part NAME FILE                a part of a past (history/past.h) begins: its lines
 *     = since TIME                    0: there is none
 *     = point TIME GUID STARTED ZEROED HAS TOTAL
 *     = sum TIME BEFORE LOW HIGH LINKS KNOWN UP DOWN      words of 4 octets since BEFORE
 *     = message TEXT                  why there is nothing
 *
 * One job at a time is answered, so that clients can't take all memory.
 *
 * Thread-safety: any thread, for all but new and free.
 * Memory: that of history/past.h, and a job. */
#ifndef TRIAD_SERVICE_HISTORY_READER_H
#define TRIAD_SERVICE_HISTORY_READER_H

#include "history/past.h"

#define TRIAD_HISTORY_WAIT_US (20 * TRIAD_US_PER_S)
#define TRIAD_HISTORY_MESSAGE_SIZE 512
#define TRIAD_HISTORY_MAX_POINTS 128u
#define TRIAD_HISTORY_JOB_SIZE 256 /* of a line about a job */

/* The NAME of the image alone; the others are those of triad_past_part_name(). */
#define TRIAD_HISTORY_ALONE "alone"

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
	bool is_known; /* the port was read, and the counter not at its maximum */
	uint64_t total;
};

#define TRIAD_HISTORY_MAX_SUMS 512u

/* What flowed between two levels from one image to the next. */
struct triad_history_sum {
	uint64_t time_us, before_us;
	unsigned low, high; /* levels, as of routes/layout.h */
	uint32_t n_links,
		n_known;   /* of links that are up; 'up' and 'down' are of these */
	uint64_t up, down; /* words of 4 octets */
};

struct triad_history_reader;

/* NULL when memory is short. */
struct triad_history_reader *triad_history_reader_new(void);

/* Releases callers that wait, and refuses further ones. */
void triad_history_reader_close(struct triad_history_reader *reader);
/* After the last caller and answer.  Accepts NULL. */
void triad_history_reader_free(struct triad_history_reader *reader);

/* --- commands --- */

/* The fabric as it was at 'at_us' (wall clock): the last image up to then.  NULL, with
 * a message. */
struct triad_past *triad_history_reader_read(struct triad_history_reader *reader,
	uint64_t at_us, char message[TRIAD_HISTORY_MESSAGE_SIZE]);
/* The same for the present: the last image.  '*is_answered' false: whether there is one
 * is not known. */
struct triad_past *triad_history_reader_last(struct triad_history_reader *reader,
	uint64_t now_us, bool *is_answered, char message[TRIAD_HISTORY_MESSAGE_SIZE]);
/* That of a time, with the lists of commands (history/kept.h). */
struct triad_past *triad_history_reader_lists(struct triad_history_reader *reader,
	uint64_t at_us, char message[TRIAD_HISTORY_MESSAGE_SIZE]);
/* The same image without its ports and so without a view. */
struct triad_past *triad_history_reader_outputs(struct triad_history_reader *reader,
	uint64_t at_us, char message[TRIAD_HISTORY_MESSAGE_SIZE]);
/* The time (wall clock) of the first image later than 'from_us' that has that list; 0:
 * the last image lacks it, or can't be read. */
uint64_t triad_history_reader_list_since(struct triad_history_reader *reader,
	enum triad_kept_kind kind, uint64_t from_us);
/* Returns how many points there are; 0, with a message: none, or they can't be read. */
uint32_t triad_history_reader_series(struct triad_history_reader *reader,
	const struct triad_history_request *request,
	struct triad_history_point points[TRIAD_HISTORY_MAX_POINTS],
	char message[TRIAD_HISTORY_MESSAGE_SIZE]);
/* What flowed between levels from 'from_us' to 'to_us', 'n' images at most; in the order of
 * time.  The same. */
uint32_t triad_history_reader_levels(struct triad_history_reader *reader,
	const struct triad_history_request *request,
	struct triad_history_sum sums[TRIAD_HISTORY_MAX_SUMS],
	char message[TRIAD_HISTORY_MESSAGE_SIZE]);

/* --- triadd --- */

/* One more, or one fewer, is told of jobs; callers are refused while there is none. */
void triad_history_reader_joined(struct triad_history_reader *reader, bool is_there);

bool triad_history_reader_is_followed(struct triad_history_reader *reader);

/* Writes the line about the job that waits, if its number is later than 'told', and
 * returns its number; else returns 'told', with an empty line. */
uint64_t triad_history_reader_wanted(struct triad_history_reader *reader, uint64_t told,
	char line[TRIAD_HISTORY_JOB_SIZE]);

/* Takes the answer to the job of that number, piece by piece, in one thread.  begin()
 * returns false when nobody waits for it, or it is being answered: then do not call the
 * others.  take() returns false once the caller has given up: then end it, so that there
 * is room for another job.  'is_whole' false: it was cut. */
bool triad_history_reader_begin(struct triad_history_reader *reader, uint64_t number);
bool triad_history_reader_take(
	struct triad_history_reader *reader, const char *piece, size_t size);
void triad_history_reader_end(struct triad_history_reader *reader, bool is_whole);

#endif
