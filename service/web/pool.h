/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Has commands answered for clients of HTTP, in threads of its own.
 *
 * Model: a few threads take jobs from a short queue.  A job writes its document, perhaps
 * packed by gzip, into a file without a name, as fast as it comes.  Only when it is
 * complete is it read, by as many as asked for it: so its size, its ETag and whether there
 * is another page are known before the first octet is sent, no client holds up a thread,
 * and a document that was cut is sent to nobody.
 *
 * Orders with the same key and page share one job, if that came within TRIAD_POOL_SHARE_US;
 * those that are to be fresh, if no thread runs it yet.
 *
 * Limits, so that no group takes all places:
 *
 *     commands that wait for a disk or for switches    half of the threads and half of the
 *                                                      queue: a folder that hangs stops no
 *                                                      other commands
 *     clients of one network address                   half of all places
 *     all documents together                           TRIAD_POOL_ROOM octets
 *
 * Thread-safety: any thread, but for new, start, stop and free.
 * Memory: some 30 KiB and a descriptor for each job; the caller limits how many are kept
 * (web.max_clients).  A job is freed once it has ended and its readers have left it. */
#ifndef TRIAD_SERVICE_WEB_POOL_H
#define TRIAD_SERVICE_WEB_POOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "perfmgr/export/http_handler.h"
#include "triad/output.h"

#define TRIAD_POOL_THREADS 4
#define TRIAD_POOL_QUEUE 16 /* jobs that wait while all threads run one */
#define TRIAD_POOL_PLACES (TRIAD_POOL_THREADS + TRIAD_POOL_QUEUE)
/* Counters of a million ports, twice. */
#define TRIAD_POOL_ROOM (UINT64_C(4) << 30)
#define TRIAD_POOL_SHARE_US UINT64_C(1000000)
#define TRIAD_POOL_MESSAGES_SIZE 1024
#define TRIAD_POOL_ETAG_SIZE 72

/* There is no complete answer, and the messages say why: results of 'run', BUSY if who asks
 * again soon may have one; the disk was full, or the pool has stopped. */
#define TRIAD_POOL_NO_ANSWER (-4)
#define TRIAD_POOL_NO_ROOM (-5)
#define TRIAD_POOL_BUSY (-6)

struct triad_pool;
struct triad_pool_job;

struct triad_pool_order {
	/* Writes the document; returns an exit status, as a command does, or
	 * TRIAD_POOL_NO_ANSWER or TRIAD_POOL_BUSY.  'resource' is the job's, or NULL. */
	int (*run)(void *context, const void *resource, struct triad_output *output);
	void *context;
	void *resource;         /* taken over, for free(); NULL: none */
	const char *key;        /* in 'resource'; NULL: shared with nobody */
	bool is_fresh;          /* its answer is of what is so from now on */
	uint64_t limit, offset; /* of a page (lib/json_page.h); limit 0: all */
	uint64_t n_asked;       /* rows that the command is asked for; 0: all */
	int gzip_level;         /* 0: not packed */
	bool waits;             /* the command waits for a disk or for switches */
	uint8_t network[TRIAD_HTTP_NETWORK_SIZE];
};

#define TRIAD_POOL_TROUBLE_SIZE 128

/* Facts about a document that go before it. */
struct triad_pool_head {
	int exit_status;
	bool lacks_object; /* no node or port has the name that was asked for */
	uint64_t size;     /* octets, as they are sent; 0: there is no document */
	bool has_more;     /* rows behind the page */
	bool has_total;
	uint64_t total;                  /* rows of the longest list */
	char etag[TRIAD_POOL_ETAG_SIZE]; /* strong, with its quotes */
	/* The command's messages for people, or why there is no document. */
	char messages[TRIAD_POOL_MESSAGES_SIZE];
};

struct triad_pool_status {
	unsigned n_waiting, n_running;
	uint64_t n_jobs;   /* begun */
	uint64_t n_shared; /* orders that another's job was for */
	uint64_t n_busy;   /* refused: no place was free */
	uint64_t n_lost;   /* documents without room on the disk */
	/* Why the last one was lost, in the last two minutes; "": it was not. */
	char trouble[TRIAD_POOL_TROUBLE_SIZE];
};

/* The pool's threads call 'ready', without a lock, when a job has ended.  NULL when memory
 * is short. */
struct triad_pool *triad_pool_new(void (*ready)(void *context), void *context);

/* Starts the threads, unless they run.  Returns 0 or an errno. */
int triad_pool_start(struct triad_pool *pool);

/* Breaks off all jobs and ends the threads, once their commands return.  Accepts
 * NULL. */
void triad_pool_stop(struct triad_pool *pool);
/* After the last job was left.  Accepts NULL. */
void triad_pool_free(struct triad_pool *pool);

/* Queues a job, or finds one.  Takes over the order's resource in any case.  Returns 0;
 * EBUSY (no place is free for it), ENOMEM or ECANCELED (the pool has stopped). */
int triad_pool_begin(struct triad_pool *pool, const struct triad_pool_order *order,
	struct triad_pool_job **job);

/* Whether the document is complete, or there will be none. */
bool triad_pool_job_is_ready(struct triad_pool_job *job);
/* Only after triad_pool_job_is_ready() returned true. */
void triad_pool_job_head(struct triad_pool_job *job, struct triad_pool_head *head);
/* The document from its octet 'at' on; as struct triad_http_handler's read(). */
ssize_t triad_pool_job_read(
	struct triad_pool_job *job, uint64_t at, char *buffer, size_t size);
/* One reader has done with the job. */
void triad_pool_job_leave(struct triad_pool_job *job);

struct triad_pool_status triad_pool_status(struct triad_pool *pool);

#endif
