/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "collect/path_message.h"

#include <string.h>
#include <time.h>

#include "tests/random.h"
#include "tests/unit/run.h"

static const struct triad_collect_head head = {
	.kind = TRIAD_COLLECT_PATHS, .sender = 0x1234, .incarnation = 7};
static uint8_t octets[TRIAD_PATH_MESSAGE_SIZE];

/* Returns the body after the kind of message, and checks the kind. */
static struct triad_wire open_message(size_t size, enum triad_path_what what)
{
	struct triad_collect_head found;
	enum triad_path_what is;
	struct triad_wire body;

	ck_assert_uint_gt(size, 0);
	ck_assert_int_eq(triad_collect_get_head(octets, size, &found, &body),
		TRIAD_COLLECT_HEAD_GOOD);
	ck_assert_int_eq(found.kind, TRIAD_COLLECT_PATHS);
	ck_assert(triad_path_get_what(&body, &is));
	ck_assert_int_eq(is, what);
	return body;
}

START_TEST(test_beat_and_want_are_read_as_written)
{
	const struct triad_path_beat beat = {.has_paths = true,
		.time_us = UINT64_C(0x1122334455667788),
		.generation = UINT64_MAX,
		.echo = 5};
	const struct triad_path_want want = {
		.wants_table = true, .echo = UINT64_MAX, .generation = 9};
	struct triad_path_beat read_beat;
	struct triad_path_want read_want;
	struct triad_wire body =
		open_message(triad_path_put_beat(&head, &beat, octets, sizeof(octets)),
			TRIAD_PATH_BEAT);

	ck_assert(triad_path_get_beat(&body, &read_beat));
	ck_assert(read_beat.has_paths);
	ck_assert_uint_eq(read_beat.time_us, beat.time_us);
	ck_assert_uint_eq(read_beat.generation, beat.generation);
	ck_assert_uint_eq(read_beat.echo, beat.echo);
	body = open_message(triad_path_put_want(&head, &want, octets, sizeof(octets)),
		TRIAD_PATH_WANT);
	ck_assert(triad_path_get_want(&body, &read_want));
	ck_assert(read_want.wants_table);
	ck_assert_uint_eq(read_want.echo, want.echo);
	ck_assert_uint_eq(read_want.generation, want.generation);
}
END_TEST

static struct triad_path_table *make_table(uint32_t n, uint64_t *seed)
{
	struct triad_path_table *table = triad_path_table_new(n);

	ck_assert_ptr_nonnull(table);
	table->generation = random_next(seed);
	table->lid = 1;
	table->lmc = 2;
	for (uint32_t i = 0; i < n; i++)
		table->rows[i] = (struct triad_path_row){
			.guid = random_next(seed) | 1,
			.lid = (uint16_t)(i + 1),
			.pkey = (uint16_t)random_next(seed),
			.type = (uint8_t)(1 + random_below(seed, 3)),
			.number = (uint8_t)random_next(seed),
			.lmc = (uint8_t)random_below(seed, 8),
			.has_path = random_below(seed, 2),
			.sl = (uint8_t)random_below(seed, 16),
			.mtu = (uint8_t)random_below(seed, 64),
			.rate = (uint8_t)random_below(seed, 64),
		};
	return table;
}

static void check_piece(
	const struct triad_path_table *table, uint32_t first, uint32_t n, size_t size)
{
	struct triad_wire body = open_message(size, TRIAD_PATH_PIECE);
	struct triad_path_piece piece;
	struct triad_path_row row;

	ck_assert(triad_path_get_piece(&body, &piece));
	ck_assert_uint_eq(piece.generation, table->generation);
	ck_assert_uint_eq(piece.n_rows, table->n);
	ck_assert_uint_eq(piece.first, first);
	ck_assert_uint_eq(piece.n, n);
	ck_assert_uint_eq(piece.lid, table->lid);
	ck_assert_uint_eq(piece.lmc, table->lmc);
	for (uint32_t i = 0; i < n; i++) {
		memset(&row, 0, sizeof(row));
		ck_assert(triad_path_get_row(&body, &piece, &row));
		ck_assert_mem_eq(&row, &table->rows[first + i], sizeof(row));
	}
	ck_assert_uint_eq(body.at, body.size);
}

START_TEST(test_table_of_all_lids_is_read_as_written)
{
	uint64_t seed = (uint64_t)time(NULL);
	struct triad_path_table *table = make_table(TRIAD_PATH_TABLE_MAX_ROWS, &seed);
	uint32_t first = 0, n, n_pieces = 0;

	for (; first < table->n; first += n, n_pieces++) {
		size_t size = triad_path_put_piece(
			&head, table, first, &n, octets, sizeof(octets));

		ck_assert_uint_le(size, TRIAD_COLLECT_MAX_SIZE);
		ck_assert_uint_gt(n, 0);
		check_piece(table, first, n, size);
	}
	ck_assert_uint_eq(n_pieces,
		(TRIAD_PATH_TABLE_MAX_ROWS + TRIAD_PATH_PIECE_ROWS - 1) /
			TRIAD_PATH_PIECE_ROWS);
	triad_path_table_unref(table);
}
END_TEST

/* A later Triad may append to rows. */
START_TEST(test_row_that_is_longer_is_read_without_its_end)
{
	uint64_t seed = 1;
	struct triad_path_table *table = make_table(2, &seed);
	size_t at = 41, row = TRIAD_PATH_ROW_SIZE;
	struct triad_path_piece piece;
	struct triad_path_row read;
	struct triad_wire body;
	uint32_t n;
	size_t size = triad_path_put_piece(&head, table, 0, &n, octets, sizeof(octets));

	memmove(&octets[at + row + 3], &octets[at + row], row);
	octets[at - 1] = (uint8_t)(row + 3);
	body = open_message(size + 2 * 3, TRIAD_PATH_PIECE);
	ck_assert(triad_path_get_piece(&body, &piece));
	ck_assert_uint_eq(piece.n, 2);
	for (uint32_t i = 0; i < 2; i++) {
		ck_assert(triad_path_get_row(&body, &piece, &read));
		ck_assert_uint_eq(read.guid, table->rows[i].guid);
	}
	triad_path_table_unref(table);
}
END_TEST

/* Writes 'value' of 'size' octets into a piece of two rows, and reads it. */
static bool is_accepted(size_t at, size_t size, uint64_t value, size_t cut)
{
	uint64_t seed = 1;
	struct triad_path_table *table = make_table(2, &seed);
	struct triad_path_piece piece;
	struct triad_path_row row;
	struct triad_wire body, patch;
	uint32_t n;
	size_t whole =
		triad_path_put_piece(&head, table, 0, &n, octets, sizeof(octets));
	bool good;

	triad_path_table_unref(table);
	triad_wire_init(&patch, octets, sizeof(octets));
	triad_wire_seek(&patch, at);
	triad_wire_put(&patch, size, value);
	body = open_message(whole - cut, TRIAD_PATH_PIECE);
	good = triad_path_get_piece(&body, &piece);
	for (uint32_t i = 0; good && i < piece.n; i++)
		good = triad_path_get_row(&body, &piece, &row);
	return good;
}

START_TEST(test_piece_with_impossible_numbers_is_refused)
{
	ck_assert(is_accepted(32, 4, 2, 0));
	ck_assert(!is_accepted(32, 4, TRIAD_PATH_TABLE_MAX_ROWS + 1, 0));
	ck_assert(!is_accepted(32, 4, 1, 0));
	ck_assert(!is_accepted(36, 4, 1, 0));
	ck_assert(!is_accepted(36, 4, UINT32_MAX, 0));
	ck_assert(!is_accepted(40, 1, 0, 0));
	ck_assert(!is_accepted(40, 1, TRIAD_PATH_ROW_SIZE - 1, 0));
	ck_assert(!is_accepted(21, 1, 8, 0));
	ck_assert(!is_accepted(22, 2, 0, 0));
	ck_assert(!is_accepted(22, 2, 0xc000, 0));
	ck_assert(!is_accepted(32, 4, 2, 1));
	/* The first row's GUID, LID, LMC, SL, MTU and rate. */
	ck_assert(!is_accepted(41, 8, 0, 0));
	ck_assert(!is_accepted(49, 2, 0, 0));
	ck_assert(!is_accepted(49, 2, 0xc000, 0));
	ck_assert(!is_accepted(53, 1, 8, 0));
	ck_assert(!is_accepted(57, 1, 16, 0));
	ck_assert(!is_accepted(58, 1, 64, 0));
	ck_assert(!is_accepted(59, 1, 64, 0));
}
END_TEST

START_TEST(test_short_messages_are_refused)
{
	const struct triad_path_beat beat = {.has_paths = true};
	const struct triad_path_want want = {.echo = 1};
	struct triad_path_beat read_beat;
	struct triad_path_want read_want;
	size_t size = triad_path_put_beat(&head, &beat, octets, sizeof(octets));
	struct triad_wire body = open_message(size - 1, TRIAD_PATH_BEAT);

	ck_assert(!triad_path_get_beat(&body, &read_beat));
	ck_assert_uint_eq(triad_path_put_beat(&head, &beat, octets, size - 1), 0);
	size = triad_path_put_want(&head, &want, octets, sizeof(octets));
	body = open_message(size - 1, TRIAD_PATH_WANT);
	ck_assert(!triad_path_get_want(&body, &read_want));
	/* A request without a time can't be answered. */
	size = triad_path_put_want(
		&head, &(struct triad_path_want){0}, octets, sizeof(octets));
	body = open_message(size, TRIAD_PATH_WANT);
	ck_assert(!triad_path_get_want(&body, &read_want));
}
END_TEST

int main(void)
{
	TCase *cases = tcase_create("path_message");

	tcase_add_test(cases, test_beat_and_want_are_read_as_written);
	tcase_add_test(cases, test_table_of_all_lids_is_read_as_written);
	tcase_add_test(cases, test_row_that_is_longer_is_read_without_its_end);
	tcase_add_test(cases, test_piece_with_impossible_numbers_is_refused);
	tcase_add_test(cases, test_short_messages_are_refused);
	return run_cases(cases);
}
