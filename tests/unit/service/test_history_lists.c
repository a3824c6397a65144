/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Rows of lists in images: each image has its own rows, whichever of them its key image
 * has. */
#include "serve/history/store.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>

#include "tests/unit/history/fixture.h"
#include "tests/unit/history/kept.h"

#define N_IMAGES 200u
#define MAX_ROWS 400u

/* The list that the test gave for an image. */
struct listed {
	uint64_t wall_us;
	bool is_kept;
	char why[TRIAD_KEPT_WHY_SIZE];
	uint32_t n;
	uint64_t rows[MAX_ROWS]; /* seeds of the rows' octets */
};

static struct world world;
static uint64_t seed;
static char folder[TEST_FOLDER_SIZE];
static struct triad_history_params params;
static struct triad_history_store *store;
static struct kept_reader reader;
static struct triad_history_answers answers;
static struct triad_kept_list lists[TRIAD_N_KEPT];
static struct listed *listed; /* the list 'ports' of each image */
static uint32_t n_listed;
static char message[TRIAD_HISTORY_MESSAGE_SIZE];

static void set_up(void)
{
	seed = (uint64_t)time(NULL) * 1000003 + (uint64_t)getpid();
	world_begin(&world, seed);
	make_test_folder(folder);
	params = (struct triad_history_params){.limits = {.max_octets = 1000000000,
						       .keep_us = 31 * 24 * 3600 * S,
						       .period_us = 10 * S}};
	strcpy(params.dir, folder);
	listed = calloc(N_IMAGES, sizeof(*listed));
	n_listed = 0;
	strcpy(params.program, "OpenSM");
	params.port_guid = GUID;
	store = triad_history_store_new(NULL);
	ck_assert(kept_reader_open(&reader, store));
	triad_history_store_configure(store, &params);
	triad_history_store_prepare(store);
}

static void tear_down(void)
{
	struct dirent *entry;
	DIR *dir = opendir(folder);
	char path[512];

	kept_reader_close(&reader);
	triad_history_answers_clear(&answers);
	triad_history_store_free(store);
	while ((entry = readdir(dir))) {
		snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name);
		if (entry->d_name[0] != '.')
			unlink(path);
	}
	closedir(dir);
	rmdir(folder);
	for (unsigned i = 0; i < TRIAD_N_KEPT; i++)
		triad_kept_list_clear(&lists[i]);
	free(listed);
	world_end(&world);
}

/* --- rows --- */

static size_t make_row(uint64_t row, uint8_t octets[TRIAD_KEPT_ROW_SIZE])
{
	uint64_t rest = row;
	/* Some rows have the maximal length. */
	size_t size = row % 50 ? 1 + row % 100 : TRIAD_KEPT_ROW_SIZE;

	for (size_t i = 0; i < size; i++)
		octets[i] = (uint8_t)random_next(&rest);
	return size;
}

static void fill(const struct listed *as)
{
	struct triad_kept_list *list = &lists[TRIAD_KEPT_PORTS];
	uint8_t octets[TRIAD_KEPT_ROW_SIZE];

	triad_kept_list_begin(list);
	if (as->why[0])
		triad_kept_list_refuse(list, as->why);
	for (uint32_t i = 0; !as->why[0] && i < as->n; i++)
		triad_kept_list_add(list, octets, make_row(as->rows[i], octets));
	list->is_kept = as->is_kept;
	/* In a second list all rows change. */
	list = &lists[TRIAD_KEPT_HISTOGRAMS];
	triad_kept_list_begin(list);
	for (unsigned i = 0; i < 5; i++)
		triad_kept_list_add(list, &as->wall_us, sizeof(as->wall_us));
}

static void change(struct listed *next)
{
	unsigned n = random_below(&world.seed, 3);

	next->is_kept = random_below(&world.seed, 10) != 0;
	strcpy(next->why,
		random_below(&world.seed, 10) ? "" : "nobody knew: ask again");
	if (!random_below(&world.seed, 4))
		next->n = random_below(&world.seed, MAX_ROWS);
	if (!random_below(&world.seed, 10))
		n = MAX_ROWS;
	while (n--)
		next->rows[random_below(&world.seed, MAX_ROWS)] =
			random_next(&world.seed);
}

static void write_image(bool has_lists)
{
	struct listed *next = &listed[n_listed];
	struct triad_history_image image;

	world_sweep(&world, 10 * S);
	if (!random_below(&world.seed, 20))
		world_adopt(&world, fabric_row(2, 3 + random_below(&world.seed, 2)));
	if (n_listed)
		*next = next[-1];
	change(next);
	next->is_kept &= has_lists;
	image = world_image(&world);
	next->wall_us = image.wall_us;
	fill(next);
	image.lists = has_lists ? lists : NULL;
	ck_assert_int_eq(keep_image(store, &answers, &image), 0);
	n_listed++;
}

static void check_list(const struct triad_kept_list *list, const struct listed *as)
{
	uint8_t octets[TRIAD_KEPT_ROW_SIZE];

	ck_assert_msg(list->is_kept == as->is_kept, "seed %lu", (unsigned long)seed);
	if (!as->is_kept)
		return;
	ck_assert_str_eq(list->why, as->why);
	ck_assert_uint_eq(list->n, as->why[0] ? 0 : as->n);
	for (uint32_t i = 0; i < list->n; i++) {
		size_t wanted = make_row(as->rows[i], octets);
		uint32_t size;
		const uint8_t *row = triad_kept_list_row(list, i, &size);

		ck_assert_msg(size == wanted && !memcmp(row, octets, size),
			"seed %lu: row %u", (unsigned long)seed, i);
	}
}

/* Row: N10 */
START_TEST(test_image_has_the_rows_that_were_listed_for_it)
{
	while (n_listed < N_IMAGES)
		write_image(true);
	for (unsigned i = 0; i < N_IMAGES; i++) {
		struct triad_past *past = triad_history_reader_lists(
			reader.reader, listed[i].wall_us, message);

		ck_assert_msg(past, "seed %lu: %s", (unsigned long)seed, message);
		ck_assert_uint_eq(past->wall_us, listed[i].wall_us);
		check_list(&past->lists[TRIAD_KEPT_PORTS], &listed[i]);
		ck_assert_uint_eq(past->lists[TRIAD_KEPT_HISTOGRAMS].n, 5);
		ck_assert(!past->lists[TRIAD_KEPT_OWNERS].is_kept);
		ck_assert_ptr_nonnull(past->view);
		triad_past_free(past);
	}
}
END_TEST

START_TEST(test_image_is_read_without_lists_unless_they_are_wanted)
{
	struct triad_past *past;

	write_image(true);
	past = triad_history_reader_read(reader.reader, listed[0].wall_us, message);
	ck_assert_ptr_nonnull(past);
	ck_assert(!past->lists[TRIAD_KEPT_HISTOGRAMS].is_kept);
	ck_assert_uint_eq(past->lists[TRIAD_KEPT_HISTOGRAMS].n, 0);
	triad_past_free(past);
}
END_TEST

/* Flips the bits of an octet of each segment. */
static void damage_segments(long at)
{
	struct dirent *entry;
	DIR *dir = opendir(folder);
	char path[512];

	while ((entry = readdir(dir)))
		if (strstr(entry->d_name, ".zst") && !strstr(entry->d_name, ".idx")) {
			FILE *file;
			int octet;

			snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name);
			file = fopen(path, "r+");
			ck_assert_int_eq(fseek(file, at, SEEK_SET), 0);
			octet = fgetc(file);
			ck_assert_int_ge(octet, 0);
			ck_assert_int_eq(fseek(file, at, SEEK_SET), 0);
			fputc(octet ^ 0xff, file);
			ck_assert_int_eq(fclose(file), 0);
		}
	closedir(dir);
}

START_TEST(test_damaged_segment_is_named)
{
	write_image(true);
	damage_segments(100);
	ck_assert_ptr_null(
		triad_history_reader_lists(reader.reader, listed[0].wall_us, message));
	ck_assert_msg(strstr(message, folder) &&
			strstr(message, ".csv.zst: offset 0") &&
			strstr(message, "damaged"),
		"%s", message);
}
END_TEST

START_TEST(test_rows_that_stay_the_same_cost_nothing)
{
	uint64_t octets[2], before = 0;

	listed[0].is_kept = true;
	listed[0].n = MAX_ROWS;
	for (unsigned i = 0; i < MAX_ROWS; i++)
		listed[0].rows[i] = random_next(&world.seed);
	/* The fabric doesn't change either; the first image contains everything. */
	for (unsigned with = 0; with < 2; with++) {
		struct triad_history_image image;

		for (unsigned i = 0; i < 20; i++) {
			if (i == 10)
				before = triad_history_store_status(store)
						 .n_written_octets;
			world.now_us += 10 * S;
			image = world_image(&world);
			fill(&listed[0]);
			lists[TRIAD_KEPT_HISTOGRAMS].is_kept = false;
			image.lists = with ? lists : NULL;
			ck_assert_int_eq(keep_image(store, &answers, &image), 0);
		}
		octets[with] =
			triad_history_store_status(store).n_written_octets - before;
	}
	/* Each image needs one line; some images are in two tiers. */
	ck_assert_uint_le(octets[1], octets[0] + 2 * 10 * 24);
}
END_TEST

START_TEST(test_since_when_there_is_a_list_is_found)
{
	unsigned first = 100 + random_below(&world.seed, 90);
	uint64_t since_us;

	while (n_listed < N_IMAGES)
		write_image(n_listed >= first);
	since_us = triad_history_reader_list_since(
		reader.reader, TRIAD_KEPT_HISTOGRAMS, listed[10].wall_us);
	ck_assert_msg(
		since_us == listed[first].wall_us, "seed %lu", (unsigned long)seed);
	ck_assert_uint_eq(triad_history_reader_list_since(
				  reader.reader, TRIAD_KEPT_OWNERS, listed[10].wall_us),
		0);
}
END_TEST

/* --- invalid lists --- */

static int read_lines(const char *const *lines)
{
	struct triad_past *past = triad_past_new(0);
	int error = 0;

	past->wants_lists = true;
	triad_past_begin_outputs(past);
	for (; *lines && !error; lines++)
		if (!triad_past_take_line(
			    past, TRIAD_PROFILE_COMMENT, NULL, *lines, strlen(*lines)))
			error = EPROTO;
	if (!error) {
		struct triad_profile_parser parser = {.info = {.time_us = 1}};
		const char head[] =
			"# triad-image version=1 kind=key sweep=1 generation=1 sm=x "
			"active=0 silenced=0 raised=0 cleared=0 not_kept=0 left_out=0";

		triad_past_take_line(past, TRIAD_PROFILE_INFO, &parser, "", 0);
		triad_past_take_line(
			past, TRIAD_PROFILE_COMMENT, NULL, head, strlen(head));
		triad_past_take_line(past, TRIAD_PROFILE_HEADER, NULL, "", 0);
		error = triad_past_end(past);
	}
	triad_past_free(past);
	return error;
}

#define READ(...) read_lines((const char *const[]){__VA_ARGS__, NULL})

START_TEST(test_lines_that_are_no_list_are_refused)
{
	/* Two rows may be split over lines anywhere. */
	ck_assert_int_eq(
		READ("# triad-list ports 2", "# triad-list-rows 0000000000",
			"# triad-list-rows 01aa0000000100", "# triad-list-rows 02bbbb"),
		0);
	ck_assert_int_eq(READ("# triad-list ports 0"), 0);
	ck_assert_int_eq(READ("# triad-no-list ports it was off"), 0);
	/* A list that only a later Triad knows is ignored. */
	ck_assert_int_eq(READ("# triad-list doors 2", "# triad-list-rows 00"), 0);
	ck_assert_int_eq(READ("# triad-list ports"), EPROTO);
	ck_assert_int_eq(READ("# triad-list ports 4000000000"), EPROTO);
	ck_assert_int_eq(READ("# triad-no-list ports"), EPROTO);
	/* A row is missing; is behind the last one; is cut off, empty or too long; has
	 * a character that isn't a digit. */
	ck_assert_int_eq(READ("# triad-list ports 1"), EPROTO);
	ck_assert_int_eq(READ("# triad-list ports 1",
				 "# triad-list-rows 000000000001aa000000010001aa"),
		EPROTO);
	ck_assert_int_eq(
		READ("# triad-list ports 1", "# triad-list-rows 000000000002aa"),
		EPROTO);
	ck_assert_int_eq(
		READ("# triad-list ports 1", "# triad-list-rows 000000000002aa",
			"# triad-list owners 0"),
		EPROTO);
	ck_assert_int_eq(
		READ("# triad-list ports 1", "# triad-list-rows 000000000000"), EPROTO);
	ck_assert_int_eq(
		READ("# triad-list ports 1", "# triad-list-rows 00000000ffff00"),
		EPROTO);
	ck_assert_int_eq(READ("# triad-list ports 1", "# triad-list-rows 0g"), EPROTO);
}
END_TEST

START_TEST(test_list_that_is_too_long_keeps_nothing_and_reports_it)
{
	static uint8_t octets[TRIAD_KEPT_ROW_SIZE];
	struct triad_kept_list *list = &lists[TRIAD_KEPT_PORTS];
	uint32_t n = TRIAD_KEPT_MAX_OCTETS / TRIAD_KEPT_ROW_SIZE;

	triad_kept_list_begin(list);
	for (uint32_t i = 0; i < n; i++)
		triad_kept_list_add(list, octets, sizeof(octets));
	ck_assert_uint_eq(list->n, n);
	ck_assert(!list->is_left_out);
	triad_kept_list_add(list, octets, 1);
	triad_kept_list_add(list, octets, 1);
	ck_assert_uint_eq(list->n, 0);
	ck_assert(list->is_left_out);
	ck_assert_ptr_nonnull(strstr(list->why, "too long"));
	/* The next list begins without the error. */
	triad_kept_list_begin(list);
	triad_kept_list_add(list, octets, 1);
	ck_assert_uint_eq(list->n, 1);
	ck_assert_str_eq(list->why, "");
	ck_assert(!list->is_left_out);
}
END_TEST

int main(void)
{
	TCase *cases = tcase_create("history_lists");

	tcase_add_checked_fixture(cases, set_up, tear_down);
	tcase_add_test(cases, test_image_has_the_rows_that_were_listed_for_it);
	tcase_add_test(cases, test_image_is_read_without_lists_unless_they_are_wanted);
	tcase_add_test(cases, test_damaged_segment_is_named);
	tcase_add_test(cases, test_rows_that_stay_the_same_cost_nothing);
	tcase_add_test(cases, test_since_when_there_is_a_list_is_found);
	tcase_add_test(cases, test_lines_that_are_no_list_are_refused);
	tcase_add_test(cases, test_list_that_is_too_long_keeps_nothing_and_reports_it);
	return run_cases(cases);
}
