/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "service/web/pool.h"

#include <errno.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include <zlib.h>

#include "perfmgr/export/http_handler.h"
#include "tests/unit/run.h"
#include "triad/clock.h"

static struct triad_pool *pool;
static sem_t ready;            /* posted when there may be something to read */
static sem_t begun, may_go_on; /* of commands that wait */
static atomic_uint n_ended;

static void note_ready(void *context)
{
	(void)context;
	sem_post(&ready);
}

static void set_up(void)
{
	sem_init(&ready, 0, 0);
	sem_init(&begun, 0, 0);
	sem_init(&may_go_on, 0, 0);
	atomic_store(&n_ended, 0);
	pool = triad_pool_new(note_ready, NULL);
	ck_assert_ptr_nonnull(pool);
	ck_assert_int_eq(triad_pool_start(pool), 0);
}

static void tear_down(void)
{
	triad_pool_stop(pool);
	triad_pool_free(pool);
}

/* --- commands --- */

static int write_rows(void *context, const void *resource, struct triad_output *output)
{
	const unsigned *n = context;

	(void)resource;
	triad_output_put(output, "[", 1);
	for (unsigned i = 0; i < *n && !output->failed; i++)
		triad_output_printf(output, "%s{\"row\":%u}", i ? "," : "", i);
	triad_output_put(output, "]\n", 2);
	triad_output_flush(output);
	atomic_fetch_add(&n_ended, 1);
	return TRIAD_CONTROL_DONE;
}

static int complain(void *context, const void *resource, struct triad_output *output)
{
	(void)context;
	(void)resource;
	triad_output_message(output, TRIAD_FRAME_MESSAGE, "no such node\n");
	return TRIAD_CONTROL_USAGE;
}

static int wait_for_word(
	void *context, const void *resource, struct triad_output *output)
{
	(void)context;
	(void)resource;
	sem_post(&begun);
	sem_wait(&may_go_on);
	triad_output_put(output, "{}\n", 3);
	atomic_fetch_add(&n_ended, 1);
	return TRIAD_CONTROL_DONE;
}

static struct triad_pool_job *begin(const struct triad_pool_order *order)
{
	struct triad_pool_job *job = NULL;

	ck_assert_int_eq(triad_pool_begin(pool, order, &job), 0);
	return job;
}

static void wait_until_ready(struct triad_pool_job *job)
{
	while (!triad_pool_job_is_ready(job))
		sem_wait(&ready);
}

/* Reads the whole document; the caller frees it. */
static char *read_all(struct triad_pool_job *job, size_t *size)
{
	char *octets, piece[1000];
	FILE *file = open_memstream(&octets, size);
	uint64_t at = 0;
	ssize_t n;

	ck_assert_ptr_nonnull(file);
	for (; (n = triad_pool_job_read(job, at, piece, sizeof(piece))) > 0;
		at += (uint64_t)n)
		ck_assert_uint_eq(fwrite(piece, 1, (size_t)n, file), (size_t)n);
	ck_assert_int_eq(n, TRIAD_HTTP_END);
	ck_assert_int_eq(fclose(file), 0);
	return octets;
}

/* --- documents --- */

/* Row: N11 */
START_TEST(test_small_document_is_whole_before_its_head)
{
	unsigned n = 3;
	struct triad_pool_job *job =
		begin(&(struct triad_pool_order){.run = write_rows, .context = &n});
	struct triad_pool_head head, again;
	size_t size;
	char *octets;

	wait_until_ready(job);
	triad_pool_job_head(job, &head);
	octets = read_all(job, &size);
	ck_assert_str_eq(octets, "[{\"row\":0},{\"row\":1},{\"row\":2}]\n");
	ck_assert_uint_eq(head.size, size);
	ck_assert_int_eq(head.exit_status, TRIAD_CONTROL_DONE);
	triad_pool_job_leave(job);
	free(octets);

	/* Equal documents have equal ETags, different ones different ETags. */
	for (unsigned more = 0; more < 2; more++) {
		n = 3 + more;
		job = begin(
			&(struct triad_pool_order){.run = write_rows, .context = &n});
		wait_until_ready(job);
		triad_pool_job_head(job, &again);
		ck_assert_int_eq(!strcmp(head.etag, again.etag), !more);
		triad_pool_job_leave(job);
	}
}
END_TEST

START_TEST(test_large_document_waits_for_no_reader)
{
	unsigned n = 300000;
	struct triad_pool_job *job =
		begin(&(struct triad_pool_order){.run = write_rows, .context = &n});
	struct triad_pool_head head;
	size_t size;
	char *octets;

	wait_until_ready(job);
	ck_assert_uint_eq(atomic_load(&n_ended), 1);
	triad_pool_job_head(job, &head);
	octets = read_all(job, &size);
	ck_assert_uint_eq(head.size, size);
	ck_assert_str_eq(
		octets + size - strlen("{\"row\":299999}]\n"), "{\"row\":299999}]\n");
	triad_pool_job_leave(job);
	free(octets);
}
END_TEST

/* Writes a part, and then says that the rest can't be had. */
static int write_a_part(
	void *context, const void *resource, struct triad_output *output)
{
	unsigned n = 100;

	(void)context;
	(void)write_rows(&n, resource, output);
	triad_output_message(output, TRIAD_FRAME_MESSAGE, "the connection was cut\n");
	return TRIAD_POOL_NO_ANSWER;
}

START_TEST(test_document_that_was_cut_is_none)
{
	struct triad_pool_job *job =
		begin(&(struct triad_pool_order){.run = write_a_part});
	struct triad_pool_head head;

	wait_until_ready(job);
	triad_pool_job_head(job, &head);
	ck_assert_uint_eq(head.size, 0);
	ck_assert_int_eq(head.exit_status, TRIAD_POOL_NO_ANSWER);
	ck_assert_str_eq(head.messages, "the connection was cut\n");
	triad_pool_job_leave(job);
}
END_TEST

/* As on a disk that is full. */
START_TEST(test_document_without_room_is_none)
{
	struct rlimit before, small;
	unsigned n = 20000;
	struct triad_pool_head head;
	struct triad_pool_job *job;

	ck_assert_int_eq(getrlimit(RLIMIT_FSIZE, &before), 0);
	small = before;
	small.rlim_cur = 10000;
	signal(SIGXFSZ, SIG_IGN);
	ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &small), 0);
	job = begin(&(struct triad_pool_order){.run = write_rows, .context = &n});
	wait_until_ready(job);
	ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &before), 0);
	triad_pool_job_head(job, &head);
	ck_assert_uint_eq(head.size, 0);
	ck_assert_int_eq(head.exit_status, TRIAD_POOL_NO_ROOM);
	ck_assert_ptr_nonnull(strstr(head.messages, "room"));
	triad_pool_job_leave(job);
	ck_assert_uint_eq(triad_pool_status(pool).n_lost, 1);
	ck_assert_ptr_nonnull(strstr(triad_pool_status(pool).trouble, "/var/tmp"));
	/* The next one has room. */
	job = begin(&(struct triad_pool_order){.run = write_rows, .context = &n});
	wait_until_ready(job);
	triad_pool_job_head(job, &head);
	ck_assert_uint_gt(head.size, 10000);
	triad_pool_job_leave(job);
	ck_assert_str_eq(triad_pool_status(pool).trouble, "");
}
END_TEST

START_TEST(test_same_question_is_answered_once)
{
	struct triad_pool_order order = {.run = wait_for_word, .key = "a"};
	struct triad_pool_job *first = begin(&order), *second = begin(&order), *other;
	char octets[8];

	ck_assert_ptr_eq(first, second);
	ck_assert_uint_eq(triad_pool_status(pool).n_shared, 1);
	/* Another key, another form. */
	order.key = "b";
	other = begin(&order);
	ck_assert_ptr_ne(first, other);
	sem_post(&may_go_on);
	sem_post(&may_go_on);
	wait_until_ready(other);
	triad_pool_job_leave(other);
	wait_until_ready(first);
	triad_pool_job_leave(first);
	ck_assert_int_eq(triad_pool_job_read(second, 0, octets, sizeof(octets)), 3);
	ck_assert_int_eq(
		triad_pool_job_read(second, 3, octets, sizeof(octets)), TRIAD_HTTP_END);
	/* What nobody reads any more is not found again. */
	triad_pool_job_leave(second);
	order.key = "a";
	first = begin(&order);
	sem_post(&may_go_on);
	wait_until_ready(first);
	triad_pool_job_leave(first);
	ck_assert_uint_eq(triad_pool_status(pool).n_jobs, 3);
	/* Later, the answer would be old. */
	first = begin(&order);
	sem_post(&may_go_on);
	wait_until_ready(first);
	usleep(TRIAD_POOL_SHARE_US);
	second = begin(&order);
	ck_assert_ptr_ne(first, second);
	triad_pool_job_leave(first);
	sem_post(&may_go_on);
	wait_until_ready(second);
	triad_pool_job_leave(second);
}
END_TEST

/* All threads run something, so that others wait. */
START_TEST(test_fresh_question_is_shared_until_it_is_run)
{
	struct triad_pool_job *running[TRIAD_POOL_THREADS], *first, *second, *other;
	struct triad_pool_order order = {
		.run = wait_for_word, .key = "a", .is_fresh = true};

	for (unsigned i = 0; i < TRIAD_POOL_THREADS; i++) {
		running[i] = begin(&order);
		sem_wait(&begun);
		ck_assert(!i || running[i] != running[i - 1]);
	}
	first = begin(&order);
	second = begin(&order);
	ck_assert_ptr_eq(first, second);
	ck_assert_ptr_ne(first, running[TRIAD_POOL_THREADS - 1]);
	order.limit = 3;
	other = begin(&order);
	ck_assert_ptr_ne(first, other);
	for (unsigned i = 0; i < TRIAD_POOL_THREADS + 2; i++)
		sem_post(&may_go_on);
	wait_until_ready(first);
	wait_until_ready(other);
	for (unsigned i = 0; i < TRIAD_POOL_THREADS; i++) {
		wait_until_ready(running[i]);
		triad_pool_job_leave(running[i]);
	}
	triad_pool_job_leave(first);
	triad_pool_job_leave(second);
	triad_pool_job_leave(other);
}
END_TEST

static void unpack(const char *octets, size_t size, char *text, size_t room)
{
	z_stream stream = {.next_in = (Bytef *)octets,
		.avail_in = (uInt)size,
		.next_out = (Bytef *)text,
		.avail_out = (uInt)room};

	ck_assert_int_eq(inflateInit2(&stream, 15 + 16), Z_OK);
	ck_assert_int_eq(inflate(&stream, Z_FINISH), Z_STREAM_END);
	ck_assert_uint_eq(stream.avail_in, 0);
	text[stream.total_out] = '\0';
	inflateEnd(&stream);
}

START_TEST(test_packed_document_is_the_same)
{
	unsigned n = 2000;
	struct triad_pool_job *job = begin(&(struct triad_pool_order){
		.run = write_rows, .context = &n, .gzip_level = 6});
	static char text[100000];
	size_t size;
	char *octets;

	wait_until_ready(job);
	octets = read_all(job, &size);
	unpack(octets, size, text, sizeof(text));
	ck_assert_ptr_nonnull(strstr(text, "{\"row\":1999}]\n"));
	ck_assert_uint_lt(size, strlen(text) / 3);
	triad_pool_job_leave(job);
	free(octets);
}
END_TEST

START_TEST(test_page_has_its_rows_and_reports_what_follows)
{
	unsigned n = 10;
	struct triad_pool_job *job = begin(&(struct triad_pool_order){
		.run = write_rows, .context = &n, .limit = 2, .offset = 7});
	struct triad_pool_head head;
	size_t size;
	char *octets;

	wait_until_ready(job);
	triad_pool_job_head(job, &head);
	octets = read_all(job, &size);
	ck_assert_str_eq(octets, "[{\"row\":7},{\"row\":8}]\n");
	ck_assert(head.has_more);
	ck_assert(head.has_total);
	ck_assert_uint_eq(head.total, 10);
	triad_pool_job_leave(job);
	free(octets);
}
END_TEST

START_TEST(test_complaint_without_document_is_in_the_head)
{
	for (int packed = 0; packed < 2; packed++) {
		struct triad_pool_job *job = begin(&(struct triad_pool_order){
			.run = complain, .gzip_level = 6 * packed});
		struct triad_pool_head head;

		wait_until_ready(job);
		triad_pool_job_head(job, &head);
		ck_assert_uint_eq(head.size, 0);
		ck_assert_int_eq(head.exit_status, TRIAD_CONTROL_USAGE);
		ck_assert_str_eq(head.messages, "no such node\n");
		triad_pool_job_leave(job);
	}
}
END_TEST

/* --- misbehaving clients --- */

START_TEST(test_client_that_leaves_ends_its_command)
{
	unsigned n = 100000000;
	struct triad_pool_job *job =
		begin(&(struct triad_pool_order){.run = write_rows, .context = &n});

	while (!triad_pool_status(pool).n_running)
		usleep(1000);
	triad_pool_job_leave(job);
	/* The command would write for minutes if it didn't notice. */
	while (!atomic_load(&n_ended))
		usleep(1000);
	while (triad_pool_status(pool).n_running)
		usleep(1000);
}
END_TEST

/* Begins 'n' jobs from as many networks; each waits for 'may_go_on'. */
static void begin_some(struct triad_pool_order order, unsigned n,
	struct triad_pool_job **jobs, unsigned n_that_run)
{
	for (unsigned i = 0; i < n; i++) {
		order.network[0] = (uint8_t)i;
		jobs[i] = begin(&order);
		if (i < n_that_run)
			sem_wait(&begun);
	}
}

static void end_some(unsigned n, struct triad_pool_job **jobs)
{
	for (unsigned i = 0; i < n; i++)
		sem_post(&may_go_on);
	for (unsigned i = 0; i < n; i++) {
		wait_until_ready(jobs[i]);
		triad_pool_job_leave(jobs[i]);
	}
	ck_assert_uint_eq(atomic_load(&n_ended), n);
}

START_TEST(test_commands_that_wait_leave_threads_and_places_to_others)
{
	const struct triad_pool_order order = {.run = wait_for_word, .waits = true};
	struct triad_pool_job *jobs[TRIAD_POOL_PLACES / 2], *job;
	unsigned few = 1;

	begin_some(order, TRIAD_POOL_PLACES / 2, jobs, TRIAD_POOL_THREADS / 2);
	ck_assert_int_eq(triad_pool_begin(pool, &order, &job), EBUSY);
	for (unsigned i = 0; i < TRIAD_POOL_THREADS; i++) {
		job = begin(&(struct triad_pool_order){.run = write_rows,
			.context = &few,
			.network = {TRIAD_POOL_PLACES}});
		wait_until_ready(job);
		triad_pool_job_leave(job);
	}
	ck_assert_uint_eq(triad_pool_status(pool).n_running, TRIAD_POOL_THREADS / 2);
	atomic_store(&n_ended, 0);
	end_some(TRIAD_POOL_PLACES / 2, jobs);
}
END_TEST

START_TEST(test_one_network_leaves_places_to_others)
{
	const struct triad_pool_order order = {.run = wait_for_word, .network = {1}};
	const struct triad_pool_order other = {.run = wait_for_word, .network = {2}};
	struct triad_pool_job *jobs[TRIAD_POOL_PLACES / 2 + 1], *job;

	for (unsigned i = 0; i < TRIAD_POOL_PLACES / 2; i++)
		jobs[i] = begin(&order);
	ck_assert_int_eq(triad_pool_begin(pool, &order, &job), EBUSY);
	jobs[TRIAD_POOL_PLACES / 2] = begin(&other);
	end_some(TRIAD_POOL_PLACES / 2 + 1, jobs);
}
END_TEST

START_TEST(test_queue_that_is_full_refuses)
{
	const struct triad_pool_order order = {.run = wait_for_word};
	struct triad_pool_job *jobs[TRIAD_POOL_PLACES], *one;
	const unsigned n = TRIAD_POOL_PLACES;

	begin_some(order, n, jobs, TRIAD_POOL_THREADS);
	ck_assert_int_eq(triad_pool_begin(pool, &order, &one), EBUSY);
	ck_assert_uint_eq(triad_pool_status(pool).n_busy, 1);
	/* A waiting job that leaves makes room, whether it is the last in the queue,
	 * the first, or in between. */
	triad_pool_job_leave(jobs[n - 1]);
	jobs[n - 1] = begin(&order);
	triad_pool_job_leave(jobs[TRIAD_POOL_THREADS]);
	jobs[TRIAD_POOL_THREADS] = begin(&order);
	triad_pool_job_leave(jobs[TRIAD_POOL_THREADS + 3]);
	jobs[TRIAD_POOL_THREADS + 3] = begin(&order);
	ck_assert_uint_eq(triad_pool_status(pool).n_waiting, TRIAD_POOL_QUEUE);
	end_some(n, jobs);
}
END_TEST

START_TEST(test_stop_waits_for_commands_and_not_for_clients)
{
	unsigned n = 300000;
	struct triad_pool_job *hung =
		begin(&(struct triad_pool_order){.run = write_rows, .context = &n});
	struct triad_pool_job *waiting[TRIAD_POOL_THREADS], *one;
	uint64_t begun_us;

	wait_until_ready(hung);
	for (unsigned i = 0; i < TRIAD_POOL_THREADS; i++)
		waiting[i] = begin(&(struct triad_pool_order){.run = wait_for_word});
	for (unsigned i = 0; i < TRIAD_POOL_THREADS; i++)
		sem_post(&may_go_on);
	begun_us = triad_clock_now_us();
	triad_pool_stop(pool);
	ck_assert_uint_lt(triad_clock_now_us() - begun_us, 10 * TRIAD_US_PER_S);
	ck_assert_int_eq(
		triad_pool_begin(pool,
			&(struct triad_pool_order){.run = write_rows, .context = &n},
			&one),
		ECANCELED);
	ck_assert_int_eq(triad_pool_start(pool), ECANCELED);
	for (unsigned i = 0; i < TRIAD_POOL_THREADS; i++) {
		ck_assert(triad_pool_job_is_ready(waiting[i]));
		triad_pool_job_leave(waiting[i]);
	}
	triad_pool_job_leave(hung);
}
END_TEST

int main(void)
{
	TCase *cases = tcase_create("pool");

	tcase_set_timeout(cases, 60);
	tcase_add_checked_fixture(cases, set_up, tear_down);
	tcase_add_test(cases, test_small_document_is_whole_before_its_head);
	tcase_add_test(cases, test_large_document_waits_for_no_reader);
	tcase_add_test(cases, test_document_that_was_cut_is_none);
	tcase_add_test(cases, test_document_without_room_is_none);
	tcase_add_test(cases, test_same_question_is_answered_once);
	tcase_add_test(cases, test_fresh_question_is_shared_until_it_is_run);
	tcase_add_test(cases, test_packed_document_is_the_same);
	tcase_add_test(cases, test_page_has_its_rows_and_reports_what_follows);
	tcase_add_test(cases, test_complaint_without_document_is_in_the_head);
	tcase_add_test(cases, test_client_that_leaves_ends_its_command);
	tcase_add_test(
		cases, test_commands_that_wait_leave_threads_and_places_to_others);
	tcase_add_test(cases, test_one_network_leaves_places_to_others);
	tcase_add_test(cases, test_queue_that_is_full_refuses);
	tcase_add_test(cases, test_stop_waits_for_commands_and_not_for_clients);
	return run_cases(cases);
}
