/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "service/web/pool.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <nettle/sha2.h>

#include "lib/json_page.h"
#include "lib/text.h"
#include "perfmgr/export/gzip.h"
#include "perfmgr/export/http_handler.h"
#include "triad/clock.h"
#include "triad/file.h"
#include "triad/thread.h"

#define PACKED_PIECE 8192
/* /tmp may be in memory. */
#define FOLDER "/var/tmp"
/* For so long a document that was lost says that there is no room. */
#define LOST_US (120 * TRIAD_US_PER_S)

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
	int error; /* of the file */

	/* Nobody changes these once the job has ended. */
	int fd;
	uint64_t size;
	struct triad_pool_head head;

	/* Under the pool's lock: */
	uint64_t begun_us;
	atomic_uint n_readers; /* read without it, too */
	bool is_running, has_ended;
	struct triad_pool_job *next; /* of all */
};

struct triad_pool {
	void (*ready)(void *context);
	void *context;
	atomic_uint_fast64_t octets; /* of all documents */
	atomic_bool has_stopped;
	pthread_mutex_t lock; /* of what follows */
	pthread_cond_t ordered;
	/* Waiting and running jobs, in the order in which they came. */
	struct triad_pool_job *jobs[TRIAD_POOL_PLACES];
	unsigned n_jobs;
	struct triad_pool_job *all; /* those that have ended, too */
	unsigned n_threads;
	pthread_t threads[TRIAD_POOL_THREADS];
	struct triad_pool_status status;
	uint64_t lost_us; /* when the last document was lost */
};

/* --- jobs --- */

/* Without the lock, when the job is in no list any more. */
static void job_free(struct triad_pool_job *job)
{
	if (job->fd >= 0)
		close(job->fd);
	atomic_fetch_sub(&job->pool->octets, job->size);
	free(job->order.resource);
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

/* With the lock. */
static void forget(struct triad_pool *pool, const struct triad_pool_job *job)
{
	struct triad_pool_job **at = &pool->all;

	while (*at != job)
		at = &(*at)->next;
	*at = job->next;
}

/* --- documents --- */

/* A file without a name, in a folder for large ones; or in /tmp. */
static int open_file(int *fd)
{
	FILE *file;

	*fd = open(FOLDER, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	if (*fd >= 0)
		return 0;
	file = tmpfile();
	if (file)
		*fd = fcntl(fileno(file), F_DUPFD_CLOEXEC, 0);
	if (*fd < 0)
		return errno;
	fclose(file);
	return 0;
}

static int write_file(struct triad_pool_job *job, const char *octets, size_t size)
{
	if (atomic_fetch_add(&job->pool->octets, size) + size > TRIAD_POOL_ROOM) {
		atomic_fetch_sub(&job->pool->octets, size);
		return EFBIG;
	}
	job->size += size;
	return triad_write_all(job->fd, octets, size);
}

/* Writes octets as they will be sent; false: the document is lost. */
static bool put_octets(struct triad_pool_job *job, const char *octets, size_t size)
{
	if (!job->error &&
		(!atomic_load(&job->n_readers) || atomic_load(&job->pool->has_stopped)))
		job->error = ECANCELED;
	if (!job->error && size) {
		sha256_update(&job->sum, size, (const uint8_t *)octets);
		job->error = write_file(job, octets, size);
	}
	return !job->error;
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
	return job->order.gzip_level ? pack(job, data, size, Z_NO_FLUSH)
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

	if (job->error) {
		exit_status = TRIAD_POOL_NO_ROOM;
		snprintf(job->messages, sizeof(job->messages),
			"no room for the answer in " FOLDER ": %s\n",
			strerror(job->error));
	}
	head->exit_status = exit_status;
	head->lacks_object = job->output.lacks_object;
	/* What was cut is no document. */
	head->size = exit_status < 0 ? 0 : job->size;
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

/* Has the command write the document. */
static int write_document(struct triad_pool_job *job)
{
	const struct triad_pool_order *order = &job->order;
	bool is_packed = order->gzip_level, is_empty;
	int exit_status;

	if (is_packed && !triad_gzip_begin(&job->packer, order->gzip_level)) {
		job->error = ENOMEM;
		return TRIAD_POOL_NO_ROOM;
	}
	exit_status = order->run(order->context, order->resource, &job->output);
	triad_output_flush(&job->output);
	/* Without a document there is nothing to pack. */
	is_empty = is_packed ? !job->packer.total_in : !job->size;
	if (is_packed && !is_empty)
		(void)pack(job, NULL, 0, Z_FINISH);
	if (is_packed)
		deflateEnd(&job->packer);
	return exit_status;
}

/* With the lock: whether there was room for the document. */
static void note_room(struct triad_pool *pool, int error)
{
	if (error == ECANCELED)
		return;
	pool->status.trouble[0] = '\0';
	if (!error)
		return;
	pool->status.n_lost++;
	pool->lost_us = triad_clock_now_us();
	snprintf(pool->status.trouble, sizeof(pool->status.trouble),
		"no room for answers in " FOLDER ": %s", strerror(error));
}

static void run_job(struct triad_pool_job *job)
{
	struct triad_pool *pool = job->pool;
	int exit_status = TRIAD_POOL_NO_ROOM;
	bool is_left;

	sha256_init(&job->sum);
	triad_json_page_init(&job->page, job->order.offset, job->order.limit);
	triad_output_init(&job->output, take_output, job);
	job->error = open_file(&job->fd);
	if (!job->error)
		exit_status = write_document(job);
	fill_head(job, exit_status);

	pthread_mutex_lock(&pool->lock);
	note_room(pool, job->error);
	remove_job(pool, job);
	is_left = !job->n_readers;
	if (is_left)
		forget(pool, job);
	/* From the unlock on, a reader may free the job. */
	job->has_ended = true;
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
	while (!atomic_load(&pool->has_stopped)) {
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
	int error = atomic_load(&pool->has_stopped) ? ECANCELED : 0;

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
	atomic_store(&pool->has_stopped, true);
	pthread_cond_broadcast(&pool->ordered);
	pthread_mutex_unlock(&pool->lock);
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

/* With the lock: whether the job's answer is new enough for the order. */
static bool is_new_enough(const struct triad_pool_job *job,
	const struct triad_pool_order *order, uint64_t now_us)
{
	return order->is_fresh ? !job->is_running && !job->has_ended
			       : now_us - job->begun_us < TRIAD_POOL_SHARE_US;
}

/* With the lock: a job for the same that is not too old; NULL: none. */
static struct triad_pool_job *find_job(const struct triad_pool *pool,
	const struct triad_pool_order *order, uint64_t now_us)
{
	for (struct triad_pool_job *job = pool->all; order->key && job; job = job->next)
		if (job->n_readers && job->order.key &&
			is_new_enough(job, order, now_us) &&
			job->order.gzip_level == order->gzip_level &&
			job->order.limit == order->limit &&
			job->order.offset == order->offset &&
			!strcmp(job->order.key, order->key))
			return job;
	return NULL;
}

/* With the lock: queues a new job, or finds another that is for the same. */
static int find_or_queue(struct triad_pool *pool, struct triad_pool_job *job,
	struct triad_pool_job **found)
{
	*found = find_job(pool, &job->order, job->begun_us);
	if (atomic_load(&pool->has_stopped))
		return ECANCELED;
	pool->status.n_shared += *found != NULL;
	if (*found)
		return 0;
	if (!has_place(pool, &job->order)) {
		pool->status.n_busy++;
		return EBUSY;
	}
	*found = pool->jobs[pool->n_jobs++] = job;
	job->next = pool->all;
	pool->all = job;
	pool->status.n_jobs++;
	pthread_cond_signal(&pool->ordered);
	return 0;
}

int triad_pool_begin(struct triad_pool *pool, const struct triad_pool_order *order,
	struct triad_pool_job **made)
{
	struct triad_pool_job *job = calloc(1, sizeof(*job)), *found = NULL;
	int error;

	if (!job) {
		free(order->resource);
		return ENOMEM;
	}
	job->pool = pool;
	job->order = *order;
	job->fd = -1;
	job->begun_us = triad_clock_now_us();
	pthread_mutex_lock(&pool->lock);
	error = find_or_queue(pool, job, &found);
	if (!error)
		found->n_readers++;
	pthread_mutex_unlock(&pool->lock);
	if (error || found != job)
		job_free(job);
	if (!error)
		*made = found;
	return error;
}

static bool has_ended(struct triad_pool_job *job)
{
	return TRIAD_LOCKED(&job->pool->lock, job->has_ended);
}

bool triad_pool_job_is_ready(struct triad_pool_job *job)
{
	return has_ended(job) || atomic_load(&job->pool->has_stopped);
}

void triad_pool_job_head(struct triad_pool_job *job, struct triad_pool_head *head)
{
	*head = (struct triad_pool_head){
		.exit_status = TRIAD_POOL_NO_ROOM, .messages = "it ends just now\n"};
	if (has_ended(job))
		*head = job->head;
}

ssize_t triad_pool_job_read(
	struct triad_pool_job *job, uint64_t at, char *buffer, size_t size)
{
	ssize_t n;

	if (!has_ended(job))
		return TRIAD_HTTP_BROKEN;
	n = pread(job->fd, buffer, size, (off_t)at);
	return n > 0                           ? n
		: n < 0 || at < job->head.size ? TRIAD_HTTP_BROKEN
					       : TRIAD_HTTP_END;
}

void triad_pool_job_leave(struct triad_pool_job *job)
{
	struct triad_pool *pool = job->pool;
	bool is_over;

	pthread_mutex_lock(&pool->lock);
	is_over = --job->n_readers == 0 && (!job->is_running || job->has_ended);
	if (is_over && !job->has_ended)
		remove_job(pool, job);
	if (is_over)
		forget(pool, job);
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
	if (triad_clock_now_us() >= pool->lost_us + LOST_US)
		status.trouble[0] = '\0';
	pthread_mutex_unlock(&pool->lock);
	return status;
}
