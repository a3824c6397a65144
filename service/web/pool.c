/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "service/web/pool.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <nettle/sha2.h>

#include "lib/grow.h"
#include "lib/json_page.h"
#include "lib/text.h"
#include "perfmgr/export/gzip.h"
#include "perfmgr/export/http_handler.h"
#include "triad/clock.h"
#include "triad/thread.h"

#define LEAST_ROOM 8192
#define PACKED_PIECE 8192

struct triad_pool_job {
	struct triad_pool *pool;
	struct triad_pool_order order;

	/* For the thread that runs it: */
	struct triad_json_page page;
	z_stream packer;
	struct sha256_ctx sum;
	struct triad_output output;
	char kept[sizeof(((struct triad_output *)0)->buffer)];
	char packed[PACKED_PIECE];
	char messages[TRIAD_POOL_MESSAGES_SIZE];

	/* Under the pool's lock: */
	pthread_cond_t drained;
	char *octets;
	size_t room, used, taken;
	uint64_t paused_us; /* sum of its waits for the client */
	bool is_running, has_ended, is_left, is_broken;
	bool is_streamed; /* more than the buffer holds */
	struct triad_pool_head head;
};

struct triad_pool {
	void (*ready)(void *context);
	void *context;
	pthread_mutex_t lock; /* of what follows */
	pthread_cond_t ordered;
	/* Waiting and running jobs, in the order in which they came. */
	struct triad_pool_job *jobs[TRIAD_POOL_PLACES];
	unsigned n_jobs;
	unsigned n_threads;
	pthread_t threads[TRIAD_POOL_THREADS];
	bool has_stopped;
	struct triad_pool_status status;
};

/* --- jobs --- */

static void job_free(struct triad_pool_job *job)
{
	free(job->order.resource);
	free(job->octets);
	pthread_cond_destroy(&job->drained);
	free(job);
}

/* With the lock. */
static unsigned count_waiting(const struct triad_pool *pool)
{
	unsigned n = 0;

	for (unsigned i = 0; i < pool->n_jobs; i++)
		n += !pool->jobs[i]->is_running;
	return n;
}

/* With the lock: whether to wait longer for a client that has read nothing for
 * 'idle_us'. */
static bool has_patience(const struct triad_pool_job *job, uint64_t idle_us)
{
	if (!count_waiting(job->pool))
		return idle_us < TRIAD_POOL_PATIENCE_US;
	return idle_us < TRIAD_POOL_HASTE_US && job->paused_us < TRIAD_POOL_SHARE_US;
}

/* With the lock: waits until the client has read the buffer.  False: the job must be
 * broken off. */
static bool wait_for_client(struct triad_pool_job *job)
{
	struct triad_pool *pool = job->pool;
	uint64_t since_us = triad_clock_now_us(), looked_us = since_us;
	size_t taken = job->taken;

	job->is_streamed = true;
	while (job->taken < job->used && !job->is_left && !pool->has_stopped) {
		uint64_t now_us = triad_clock_now_us();

		job->paused_us += now_us - looked_us;
		looked_us = now_us;
		if (job->taken != taken)
			since_us = now_us;
		taken = job->taken;
		if (!has_patience(job, now_us - since_us)) {
			pool->status.n_broken_off++;
			return false;
		}
		pthread_mutex_unlock(&pool->lock);
		pool->ready(pool->context);
		pthread_mutex_lock(&pool->lock);
		/* Check now and then: when other jobs wait, there is less patience. */
		if (job->taken < job->used && !job->is_left)
			(void)triad_condition_wait(&job->drained, &pool->lock,
				now_us + TRIAD_POOL_HASTE_US / 4);
	}
	job->used = job->taken = 0;
	return !job->is_left && !pool->has_stopped;
}

/* With the lock: makes room for 'size' octets, or at least for some. */
static bool make_room(struct triad_pool_job *job, size_t size)
{
	size_t wanted = job->used + size;

	if (wanted > TRIAD_POOL_BUFFER_SIZE)
		wanted = TRIAD_POOL_BUFFER_SIZE;
	/* If growing fails, go on with the present buffer. */
	if (job->room < wanted &&
		triad_grow(&job->octets, &job->room, wanted, 1, LEAST_ROOM) &&
		!job->room)
		return false;
	return job->used < job->room || wait_for_client(job);
}

/* Puts octets into the buffer, as they will be sent. */
static bool put_octets(struct triad_pool_job *job, const char *octets, size_t size)
{
	struct triad_pool *pool = job->pool;
	bool goes_on = true;

	sha256_update(&job->sum, size, (const uint8_t *)octets);
	pthread_mutex_lock(&pool->lock);
	while (size && goes_on) {
		size_t room, n;

		goes_on = !job->is_left && !pool->has_stopped && make_room(job, size);
		room = job->room - job->used;
		n = !goes_on ? 0 : size < room ? size : room;
		if (n)
			memcpy(job->octets + job->used, octets, n);
		job->used += n;
		octets += n;
		size -= n;
	}
	job->is_broken |= !goes_on;
	pthread_mutex_unlock(&pool->lock);
	return goes_on;
}

static bool pack(struct triad_pool_job *job, const char *octets, size_t size, int flush)
{
	z_stream *packer = &job->packer;
	bool goes_on = true;

	packer->next_in = (Bytef *)octets;
	packer->avail_in = (uInt)size;
	do {
		packer->next_out = (Bytef *)job->packed;
		packer->avail_out = PACKED_PIECE;
		(void)deflate(packer, flush);
		goes_on =
			put_octets(job, job->packed, PACKED_PIECE - packer->avail_out);
	} while (goes_on && !packer->avail_out);
	return goes_on;
}

/* The sink of the command's output: octets of the document, or a message. */
static bool take_output(
	void *context, enum triad_frame_type type, const char *data, size_t size)
{
	struct triad_pool_job *job = context;

	if (type == TRIAD_FRAME_MESSAGE)
		triad_text_append(
			job->messages, sizeof(job->messages), "%.*s", (int)size, data);
	if (type != TRIAD_FRAME_OUTPUT)
		return true;
	if (job->order.limit) {
		size = triad_json_page_take(&job->page, data, size, job->kept);
		data = job->kept;
	}
	return job->order.is_packed ? pack(job, data, size, Z_NO_FLUSH)
				    : put_octets(job, data, size);
}

/* A strong one: the hash of the document. */
static void put_etag(struct triad_pool_head *head, struct sha256_ctx *sum)
{
	uint8_t digest[SHA256_DIGEST_SIZE];
	char *at = head->etag;

	sha256_digest(sum, sizeof(digest), digest);
	*at++ = '"';
	for (unsigned i = 0; i < sizeof(digest); i++)
		at += sprintf(at, "%02x", digest[i]);
	strcpy(at, "\"");
}

static void fill_head(struct triad_pool_job *job, int exit_status)
{
	const struct triad_pool_order *order = &job->order;
	struct triad_pool_head *head = &job->head;
	uint64_t end = order->offset + order->limit;

	head->is_whole = !job->is_streamed;
	head->exit_status = exit_status;
	head->lacks_object = job->output.lacks_object;
	head->size = job->used;
	head->has_more = order->limit && job->page.n_rows > end;
	/* If the list has as many rows as were asked for, there may be more. */
	head->has_total =
		order->limit && (!order->n_asked || job->page.n_rows < order->n_asked);
	head->total = job->page.n_rows;
	put_etag(head, &job->sum);
	memcpy(head->messages, job->messages, sizeof(head->messages));
}

/* --- threads --- */

/* With the lock. */
static void remove_job(struct triad_pool *pool, const struct triad_pool_job *job)
{
	unsigned i = 0;

	while (pool->jobs[i] != job)
		i++;
	pool->n_jobs--;
	memmove(&pool->jobs[i], &pool->jobs[i + 1],
		(pool->n_jobs - i) * sizeof(pool->jobs[0]));
}

static bool begin_packing(struct triad_pool_job *job)
{
	return !job->order.is_packed ||
		triad_gzip_begin(&job->packer, TRIAD_GZIP_DEFAULT);
}

static void run_job(struct triad_pool_job *job)
{
	struct triad_pool *pool = job->pool;
	bool is_packing = begin_packing(job);
	bool is_left, is_empty;
	int exit_status = TRIAD_CONTROL_FAILED;

	sha256_init(&job->sum);
	triad_json_page_init(&job->page, job->order.offset, job->order.limit);
	triad_output_init(&job->output, take_output, job);
	if (is_packing)
		exit_status = job->order.run(
			job->order.context, job->order.resource, &job->output);
	else
		snprintf(job->messages, sizeof(job->messages), "memory is short\n");
	triad_output_flush(&job->output);
	/* Without a document there is nothing to pack. */
	is_empty = job->order.is_packed ? !job->packer.total_in : !job->used;
	if (is_packing && job->order.is_packed && !is_empty && !job->output.failed)
		(void)pack(job, NULL, 0, Z_FINISH);
	if (is_packing && job->order.is_packed)
		deflateEnd(&job->packer);

	pthread_mutex_lock(&pool->lock);
	fill_head(job, exit_status);
	job->is_broken |= job->output.failed;
	remove_job(pool, job);
	/* From the unlock on, the reader may free the job. */
	job->has_ended = true;
	is_left = job->is_left;
	pthread_mutex_unlock(&pool->lock);
	if (is_left)
		job_free(job);
	else
		pool->ready(pool->context);
}

/* With the lock: takes the first job that may run; NULL: none. */
static struct triad_pool_job *take_job(struct triad_pool *pool)
{
	unsigned n_that_wait = 0;

	for (unsigned i = 0; i < pool->n_jobs; i++)
		n_that_wait += pool->jobs[i]->is_running && pool->jobs[i]->order.waits;
	for (unsigned i = 0; i < pool->n_jobs; i++) {
		struct triad_pool_job *job = pool->jobs[i];

		if (job->is_running ||
			(job->order.waits && n_that_wait >= TRIAD_POOL_THREADS / 2))
			continue;
		job->is_running = true;
		return job;
	}
	return NULL;
}

static void *run_thread(void *context)
{
	struct triad_pool *pool = context;

	pthread_mutex_lock(&pool->lock);
	while (!pool->has_stopped) {
		struct triad_pool_job *job = take_job(pool);

		if (!job) {
			pthread_cond_wait(&pool->ordered, &pool->lock);
			continue;
		}
		pthread_mutex_unlock(&pool->lock);
		run_job(job);
		pthread_mutex_lock(&pool->lock);
	}
	pthread_mutex_unlock(&pool->lock);
	return NULL;
}

/* --- life --- */

struct triad_pool *triad_pool_new(void (*ready)(void *context), void *context)
{
	struct triad_pool *pool = calloc(1, sizeof(*pool));

	if (!pool)
		return NULL;
	pool->ready = ready;
	pool->context = context;
	pthread_mutex_init(&pool->lock, NULL);
	pthread_cond_init(&pool->ordered, NULL);
	return pool;
}

int triad_pool_start(struct triad_pool *pool)
{
	int error = pool->has_stopped ? ECANCELED : 0;

	while (pool->n_threads < TRIAD_POOL_THREADS && !error) {
		error = triad_thread_start(
			&pool->threads[pool->n_threads], "triad-web", run_thread, pool);
		pool->n_threads += !error;
	}
	/* One thread is enough. */
	return pool->n_threads ? 0 : error;
}

void triad_pool_stop(struct triad_pool *pool)
{
	if (!pool)
		return;
	pthread_mutex_lock(&pool->lock);
	pool->has_stopped = true;
	pthread_cond_broadcast(&pool->ordered);
	pthread_mutex_unlock(&pool->lock);
	/* Jobs that wait for a client notice the stop within a quarter of a second. */
	for (unsigned i = 0; i < pool->n_threads; i++)
		pthread_join(pool->threads[i], NULL);
	pool->n_threads = 0;
}

void triad_pool_free(struct triad_pool *pool)
{
	if (!pool)
		return;
	pthread_cond_destroy(&pool->ordered);
	pthread_mutex_destroy(&pool->lock);
	free(pool);
}

/* --- for the reader --- */

/* With the lock: whether there is a place for one more job, also by the limits for its
 * network and for commands that wait. */
static bool has_place(
	const struct triad_pool *pool, const struct triad_pool_order *order)
{
	unsigned n_that_wait = 0, n_of_network = 0;

	for (unsigned i = 0; i < pool->n_jobs; i++) {
		const struct triad_pool_order *other = &pool->jobs[i]->order;

		n_that_wait += other->waits;
		n_of_network +=
			!memcmp(other->network, order->network, sizeof(order->network));
	}
	return pool->n_jobs < TRIAD_POOL_PLACES &&
		n_of_network < TRIAD_POOL_PLACES / 2 &&
		(!order->waits || n_that_wait < TRIAD_POOL_PLACES / 2);
}

static int enqueue(struct triad_pool *pool, struct triad_pool_job *job)
{
	int error = 0;

	pthread_mutex_lock(&pool->lock);
	if (pool->has_stopped)
		error = ECANCELED;
	else if (!has_place(pool, &job->order))
		error = EBUSY;
	pool->status.n_busy += error == EBUSY;
	if (!error) {
		pool->jobs[pool->n_jobs++] = job;
		pool->status.n_jobs++;
		pthread_cond_signal(&pool->ordered);
	}
	pthread_mutex_unlock(&pool->lock);
	return error;
}

int triad_pool_begin(struct triad_pool *pool, const struct triad_pool_order *order,
	struct triad_pool_job **made)
{
	struct triad_pool_job *job = calloc(1, sizeof(*job));
	int error;

	if (!job) {
		free(order->resource);
		return ENOMEM;
	}
	job->pool = pool;
	job->order = *order;
	triad_condition_init(&job->drained);
	error = enqueue(pool, job);
	if (error)
		job_free(job);
	else
		*made = job;
	return error;
}

bool triad_pool_job_is_ready(struct triad_pool_job *job)
{
	struct triad_pool *pool = job->pool;
	bool is_ready;

	pthread_mutex_lock(&pool->lock);
	is_ready = job->has_ended || pool->has_stopped ||
		(job->is_streamed && job->taken < job->used);
	pthread_mutex_unlock(&pool->lock);
	return is_ready;
}

void triad_pool_job_head(struct triad_pool_job *job, struct triad_pool_head *head)
{
	struct triad_pool *pool = job->pool;

	pthread_mutex_lock(&pool->lock);
	*head = job->head;
	if (!job->has_ended && !job->is_streamed) {
		*head = (struct triad_pool_head){
			.is_whole = true, .exit_status = TRIAD_CONTROL_FAILED};
		snprintf(head->messages, sizeof(head->messages), "it ends just now\n");
	}
	pthread_mutex_unlock(&pool->lock);
}

ssize_t triad_pool_job_read(struct triad_pool_job *job, char *buffer, size_t size)
{
	struct triad_pool *pool = job->pool;
	ssize_t result = 0;
	size_t n;

	pthread_mutex_lock(&pool->lock);
	n = job->used - job->taken;
	n = n < size ? n : size;
	if (n) {
		memcpy(buffer, job->octets + job->taken, n);
		job->taken += n;
		result = (ssize_t)n;
		pthread_cond_signal(&job->drained);
	} else if (job->is_broken || pool->has_stopped) {
		result = TRIAD_HTTP_BROKEN;
	} else if (job->has_ended) {
		result = TRIAD_HTTP_END;
	}
	pthread_mutex_unlock(&pool->lock);
	return result;
}

void triad_pool_job_leave(struct triad_pool_job *job)
{
	struct triad_pool *pool = job->pool;
	bool is_over;

	pthread_mutex_lock(&pool->lock);
	if (!job->is_running)
		remove_job(pool, job);
	is_over = !job->is_running || job->has_ended;
	job->is_left = true;
	pthread_cond_signal(&job->drained);
	pthread_mutex_unlock(&pool->lock);
	if (is_over)
		job_free(job);
}

struct triad_pool_status triad_pool_status(struct triad_pool *pool)
{
	struct triad_pool_status status;

	pthread_mutex_lock(&pool->lock);
	status = pool->status;
	status.n_waiting = count_waiting(pool);
	status.n_running = pool->n_jobs - status.n_waiting;
	pthread_mutex_unlock(&pool->lock);
	return status;
}
