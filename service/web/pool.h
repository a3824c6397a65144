/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Runs the requests of the REST interface's clients in threads of its own.
 *
 * Model: a few threads take jobs from a short queue.  A job writes its document into a
 * buffer, perhaps packed by gzip, and the server's thread reads from that:
 *
 *     a document that fits into the buffer    is whole before its head is sent: so the
 *                                             head has its size, its ETag and whether
 *                                             there is another page
 *     a larger one                            is sent while it is written; when the
 *                                             buffer is full, the job waits for the client
 *
 * A client that does not read holds up a thread, and the resources of its command, for
 * TRIAD_POOL_PATIENCE_US at most.  While other jobs wait, a pause may take only
 * TRIAD_POOL_HASTE_US, and all pauses of the client together TRIAD_POOL_SHARE_US:
 * otherwise a client that reads a few octets now and then would keep the thread for
 * ever.  After that the pool breaks off the answer.
 *
 * Limits, so that no group takes all places:
 *
 *     commands that wait for a disk or for switches    half of the threads and half of the
 *                                                      queue: a folder that hangs stops no
 *                                                      other commands
 *     clients of one network address                   half of all places
 *
 * Thread-safety: any thread, but for new, start, stop and free.
 * Memory: a buffer of at most TRIAD_POOL_BUFFER_SIZE for each job; the caller limits
 * the number of jobs (web.max_clients).  A job is freed once it has ended and its
 * reader has left it. */
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
#define TRIAD_POOL_BUFFER_SIZE (1024u * 1024)
#define TRIAD_POOL_PATIENCE_US UINT64_C(10000000)
#define TRIAD_POOL_HASTE_US UINT64_C(1000000)
#define TRIAD_POOL_SHARE_US UINT64_C(5000000)
#define TRIAD_POOL_MESSAGES_SIZE 1024
#define TRIAD_POOL_ETAG_SIZE 72

struct triad_pool;
struct triad_pool_job;

struct triad_pool_order {
	/* Writes the document; returns an exit status, as a command does.  'resource'
	 * is the job's, or NULL. */
	int (*run)(void *context, const void *resource, struct triad_output *output);
	void *context;
	void *resource;         /* taken over, for free(); NULL: none */
	uint64_t limit, offset; /* of a page (lib/json_page.h); limit 0: all */
	uint64_t n_asked;       /* rows that the command is asked for; 0: all */
	bool is_packed;
	bool waits; /* the command waits for a disk or for switches */
	uint8_t network[TRIAD_HTTP_NETWORK_SIZE];
};

/* Facts about a document that go before it. */
struct triad_pool_head {
	bool is_whole; /* the document is complete; else what follows is not known */
	int exit_status;
	bool lacks_object; /* no node or port has the name that was asked for */
	uint64_t size;     /* octets, as they are sent */
	bool has_more;     /* rows behind the page */
	bool has_total;
	uint64_t total;                  /* rows of the longest list */
	char etag[TRIAD_POOL_ETAG_SIZE]; /* strong, with its quotes */
	/* The command's messages for people, or why there is no document. */
	char messages[TRIAD_POOL_MESSAGES_SIZE];
};

struct triad_pool_status {
	unsigned n_waiting, n_running;
	uint64_t n_jobs;       /* begun */
	uint64_t n_busy;       /* refused: no place was free */
	uint64_t n_broken_off; /* because the client did not read */
};

/* The pool's threads call 'ready', without a lock, when there is something to read.
 * NULL when memory is short. */
struct triad_pool *triad_pool_new(void (*ready)(void *context), void *context);

/* Starts the threads, unless they run.  Returns 0 or an errno. */
int triad_pool_start(struct triad_pool *pool);

/* Breaks off all jobs and ends the threads, once their commands return.  Accepts
 * NULL. */
void triad_pool_stop(struct triad_pool *pool);
/* After the last job was left.  Accepts NULL. */
void triad_pool_free(struct triad_pool *pool);

/* Queues a job.  Takes over the order's resource in any case.  Returns 0; EBUSY (no
 * place is free for it), ENOMEM or ECANCELED (the pool has stopped). */
int triad_pool_begin(struct triad_pool *pool, const struct triad_pool_order *order,
	struct triad_pool_job **job);

/* Whether the head is known, and there is something to read or the document has
 * ended. */
bool triad_pool_job_is_ready(struct triad_pool_job *job);
/* Only after triad_pool_job_is_ready() returned true. */
void triad_pool_job_head(struct triad_pool_job *job, struct triad_pool_head *head);
/* As struct triad_http_handler's read(). */
ssize_t triad_pool_job_read(struct triad_pool_job *job, char *buffer, size_t size);
/* The reader has done with the job: frees it, now or when it ends. */
void triad_pool_job_leave(struct triad_pool_job *job);

struct triad_pool_status triad_pool_status(struct triad_pool *pool);

#endif
