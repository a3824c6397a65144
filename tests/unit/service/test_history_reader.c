/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Answers that no triadd of this release gives: each ends with a message. */
#include "service/history_reader.h"

#include <dirent.h>
#include <stdio.h>

#include "collect/nats/repack.h"
#include "history/past_parts.h"
#include "tests/unit/history/fixture.h"
#include "tests/unit/history/kept.h"
#include "triad/control.h"

#define TEXT_SIZE 1000000u
#define PORT "= port 0x1\n"

static struct world world;
static char folder[TEST_FOLDER_SIZE];
static struct triad_history_store *store;
static struct triad_history_answers answers;
static struct triad_history_reader *reader;
static char message[TRIAD_HISTORY_MESSAGE_SIZE];
static char key[TEXT_SIZE]; /* the lines of a key image */
static char text[4 * TEXT_SIZE];
static uint64_t at_us;
static atomic_bool has_no_room; /* for counters of ports */

void *__real_calloc(size_t n, size_t size);
void *__wrap_calloc(size_t n, size_t size);

void *__wrap_calloc(size_t n, size_t size)
{
	return has_no_room && size == sizeof(struct triad_past_counted)
		? NULL
		: __real_calloc(n, size);
}

/* --- a key image's lines --- */

static bool collect_line(void *context, const char *line, size_t length)
{
	size_t n = strlen(key);

	(void)context;
	if (line[0] == '=')
		return true;
	ck_assert_uint_lt(n + length + 1, sizeof(key));
	memcpy(key + n, line, length);
	memcpy(key + n + length, "\n", 2);
	return true;
}

static void make_key(void)
{
	struct triad_history_params params = {.port_guid = GUID,
		.program = "OpenSM",
		.limits = {.max_octets = 1000000000,
			.keep_us = 24 * 3600 * S,
			.period_us = 10 * S}};
	struct triad_history_reading reading = {
		.store = store, .frames = triad_frame_reader_new()};
	struct triad_history_image image;
	char job[64];

	strcpy(params.dir, folder);
	triad_history_store_configure(store, &params);
	triad_history_store_prepare(store);
	world.now_us += 10 * S;
	image = world_image(&world);
	ck_assert_int_eq(keep_image(store, &answers, &image), 0);
	at_us = image.wall_us;
	key[0] = '\0';
	snprintf(job, sizeof(job), "image %lu", (unsigned long)at_us);
	triad_history_read_job(&reading, job, collect_line, NULL);
	triad_frame_reader_free(reading.frames);
	ck_assert_ptr_nonnull(strstr(key, "# triad-topology "));
}

static void set_up(void)
{
	world_begin(&world, 7);
	make_test_folder(folder);
	store = triad_history_store_new(NULL);
	reader = triad_history_reader_new();
	triad_history_reader_joined(reader, true);
	make_key();
}

static void tear_down(void)
{
	struct dirent *entry;
	DIR *dir = opendir(folder);
	char path[512];

	triad_history_reader_free(reader);
	triad_history_answers_clear(&answers);
	triad_history_store_free(store);
	while ((entry = readdir(dir))) {
		snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name);
		if (entry->d_name[0] != '.')
			unlink(path);
	}
	closedir(dir);
	rmdir(folder);
	world_end(&world);
}

/* --- answers --- */

static void wait_for_job(uint64_t *number)
{
	char line[TRIAD_HISTORY_JOB_SIZE] = "";

	while (!line[0]) {
		*number = triad_history_reader_wanted(reader, 0, line);
		usleep(100);
	}
	ck_assert(triad_history_reader_begin(reader, *number));
}

/* Gives 'text' in pieces of an upload. */
static void *answer_with_text(void *context)
{
	uint64_t number;

	(void)context;
	wait_for_job(&number);
	for (size_t at = 0, n; text[at]; at += n) {
		n = strnlen(text + at, TRIAD_UPLOAD_SIZE);
		ck_assert(triad_history_reader_take(reader, text + at, n));
	}
	triad_history_reader_end(reader, true);
	return NULL;
}

typedef struct triad_past *read_past(struct triad_history_reader *reader,
	uint64_t at_us, char message[TRIAD_HISTORY_MESSAGE_SIZE]);

/* Returns whether there is a past. */
static bool is_read(read_past *read)
{
	struct triad_past *past;
	pthread_t thread;

	message[0] = '\0';
	ck_assert_int_eq(pthread_create(&thread, NULL, answer_with_text, NULL), 0);
	past = read(reader, at_us, message);
	pthread_join(thread, NULL);
	triad_past_free(past);
	return past;
}

static void check_refused(read_past *read, const char *why)
{
	ck_assert_msg(!is_read(read), "%.80s", text);
	ck_assert_msg(strstr(message, why), "%.80s: %s", text, message);
}

static void begin_text(const char *begin)
{
	strcpy(text, begin);
}

static void add_part(const char *name)
{
	sprintf(text + strlen(text), "= part %s a file\n%s", name, key);
}

START_TEST(test_answer_whose_parts_are_not_in_order_is_refused)
{
	static const char order[] = "its parts are not in order";
	static const char *const first[] = {"image", "before-key", "before"};
	static const char *const twice[] = {"key", "image", "before-key"};

	begin_text(PORT);
	add_part("key");
	ck_assert_msg(is_read(triad_history_reader_read), "%s", message);
	for (unsigned i = 0; i < 3; i++) {
		begin_text(PORT);
		add_part(first[i]);
		check_refused(triad_history_reader_read, order);
		begin_text(PORT);
		add_part("key");
		add_part(twice[i]);
		if (i)
			add_part(twice[i]);
		check_refused(triad_history_reader_read, order);
	}
	begin_text(PORT);
	add_part("key");
	add_part("before");
	add_part("image");
	check_refused(triad_history_reader_read, order);
}
END_TEST

START_TEST(test_answer_to_another_question_is_refused)
{
	static const char malformed[] = "its answer is malformed";

	begin_text("");
	check_refused(triad_history_reader_read, malformed);
	begin_text(PORT);
	check_refused(triad_history_reader_read, malformed);
	check_refused(triad_history_reader_outputs, malformed);
	begin_text("");
	add_part("key");
	check_refused(triad_history_reader_read, malformed);
	begin_text(PORT);
	add_part("alone");
	check_refused(triad_history_reader_read, malformed);
	ck_assert_msg(is_read(triad_history_reader_outputs), "%s", message);
	begin_text(PORT);
	add_part("key");
	check_refused(triad_history_reader_outputs, malformed);
	begin_text(PORT);
	add_part("other");
	check_refused(triad_history_reader_read, malformed);
}
END_TEST

START_TEST(test_what_follows_a_part_that_cannot_be_read_is_dropped)
{
	static const char *const parts[] = {"image", "before-key"};

	for (unsigned i = 0; i < 2; i++) {
		begin_text(PORT);
		add_part("key");
		add_part(parts[i]);
		has_no_room = true;
		check_refused(triad_history_reader_read, "not enough memory");
		has_no_room = false;
	}
}
END_TEST

/* --- images of earlier releases --- */

/* The lines of the key image that have the fabric. */
static const char *fabric_lines(size_t *size)
{
	const char *from = strstr(key, "# triad-topology "), *to = from;

	do
		to = strchr(to, '\n') + 1;
	while (!strncmp(to, "# triad-octets ", strlen("# triad-octets ")));
	*size = (size_t)(to - from);
	return from;
}

START_TEST(test_fabric_that_an_earlier_release_packed_comes_unpacked)
{
	struct triad_topology_octets *octets = &answers.topology.octets, packed;
	static char plain[TEXT_SIZE];
	const char *lines;
	size_t size, n;

	lines = fabric_lines(&size);
	memcpy(plain, lines, size);
	ck_assert_int_eq(triad_topology_pack(octets, &packed), 0);
	triad_topology_octets_free(octets);
	*octets = packed;
	for (unsigned i = 0; i < TRIAD_HISTORY_N_TIERS; i++)
		triad_history_key_forget(&answers.keys[i]);
	make_key();
	lines = fabric_lines(&n);
	ck_assert_uint_eq(n, size);
	ck_assert_mem_eq(lines, plain, size);
	/* Without the image before it, which follows. */
	*strstr(key + 1, "# triad-profile ") = '\0';
	begin_text(PORT);
	add_part("key");
	ck_assert_msg(is_read(triad_history_reader_read), "%s", message);
}
END_TEST

/* --- who has given up --- */

static void *read_any(void *context)
{
	(void)context;
	ck_assert_ptr_null(triad_history_reader_read(reader, at_us, message));
	return NULL;
}

START_TEST(test_answer_that_nobody_waits_for_is_not_taken)
{
	pthread_t thread;
	uint64_t number;

	ck_assert_int_eq(pthread_create(&thread, NULL, read_any, NULL), 0);
	wait_for_job(&number);
	ck_assert(triad_history_reader_take(reader, PORT, strlen(PORT)));
	triad_history_reader_close(reader);
	pthread_join(thread, NULL);
	ck_assert(!triad_history_reader_take(reader, PORT, strlen(PORT)));
	triad_history_reader_end(reader, true);
}
END_TEST

int main(void)
{
	TCase *cases = tcase_create("history_reader");

	tcase_add_checked_fixture(cases, set_up, tear_down);
	tcase_add_test(cases, test_answer_whose_parts_are_not_in_order_is_refused);
	tcase_add_test(cases, test_answer_to_another_question_is_refused);
	tcase_add_test(cases, test_what_follows_a_part_that_cannot_be_read_is_dropped);
	tcase_add_test(
		cases, test_fabric_that_an_earlier_release_packed_comes_unpacked);
	tcase_add_test(cases, test_answer_that_nobody_waits_for_is_not_taken);
	return run_cases(cases);
}
