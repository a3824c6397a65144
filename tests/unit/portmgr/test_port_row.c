/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "portmgr/plan/port_row.h"

#include <string.h>
#include <time.h>
#include <unistd.h>

#include "lib/text.h"
#include "tests/random.h"
#include "tests/unit/run.h"

static uint64_t seed;

static void set_up(void)
{
	seed = (uint64_t)time(NULL) * 1000003 + (uint64_t)getpid();
}

static void make_text(char *text, size_t size)
{
	size_t length =
		random_below(&seed, 4) ? random_below(&seed, (unsigned)size) : size - 1;

	for (size_t i = 0; i < length; i++)
		text[i] = (char)(' ' + random_below(&seed, 94));
	text[length] = '\0';
}

static bool flip(void)
{
	return random_below(&seed, 2);
}

static struct triad_port_row make_row(void)
{
	struct triad_port_row row = {.node_guid = random_next(&seed)};

	make_text(row.node, sizeof(row.node));
	make_text(row.remote, sizeof(row.remote));
	make_text(row.text, sizeof(row.text));
	row.number = (uint8_t)random_next(&seed);
	row.expected = (uint8_t)random_below(&seed, 3);
	row.state = (uint8_t)random_below(&seed, 5);
	row.phys_state = (uint8_t)random_below(&seed, 8);
	row.is_held = flip();
	row.is_tested = flip();
	row.is_failed = flip();
	row.is_admitted = flip();
	row.has_item = flip();
	row.is_overridden = flip();
	row.is_approved = flip();
	row.kind = (uint8_t)random_below(&seed, TRIAD_PLAN_N_KINDS);
	row.note = (uint8_t)random_below(&seed, TRIAD_PLAN_N_NOTES);
	row.guard = (uint8_t)random_below(&seed, TRIAD_GUARD_N_VERDICTS);
	row.reason = (uint8_t)random_next(&seed);
	row.agenda = (uint8_t)random_next(&seed);
	row.step = (uint8_t)random_next(&seed);
	row.n_lost = (uint32_t)random_next(&seed);
	return row;
}

static void check_same(const struct triad_port_row *a, const struct triad_port_row *b)
{
	ck_assert_uint_eq(a->node_guid, b->node_guid);
	ck_assert_str_eq(a->node, b->node);
	ck_assert_str_eq(a->remote, b->remote);
	ck_assert_str_eq(a->text, b->text);
	ck_assert_uint_eq(a->number, b->number);
	ck_assert_uint_eq(a->expected, b->expected);
	ck_assert_uint_eq(a->state, b->state);
	ck_assert_uint_eq(a->phys_state, b->phys_state);
	ck_assert(a->is_held == b->is_held && a->is_tested == b->is_tested);
	ck_assert(a->is_failed == b->is_failed && a->is_admitted == b->is_admitted);
	ck_assert(a->has_item == b->has_item && a->is_overridden == b->is_overridden);
	ck_assert(a->is_approved == b->is_approved);
	ck_assert(a->kind == b->kind && a->note == b->note && a->guard == b->guard);
	ck_assert(a->reason == b->reason && a->agenda == b->agenda);
	ck_assert(a->step == b->step && a->n_lost == b->n_lost);
}

START_TEST(test_row_is_read_as_it_was_written)
{
	uint8_t octets[TRIAD_PORT_ROW_SIZE];

	for (unsigned i = 0; i < 2000; i++) {
		struct triad_port_row row = make_row(), read;
		struct triad_port_rows_head head;
		size_t size = triad_port_row_put(&row, octets);

		ck_assert_uint_lt(size, sizeof(octets));
		ck_assert(triad_port_row_get(octets, size, &read));
		check_same(&row, &read);
		ck_assert(!triad_port_rows_head_get(octets, size, &head));
		/* Every octet is needed; octets after the end may be a later
		 * version's. */
		ck_assert(!triad_port_row_get(octets, size - 1, &read));
		ck_assert(triad_port_row_get(octets, size + 1, &read));
	}
}
END_TEST

START_TEST(test_head_is_read_as_it_was_written)
{
	struct triad_port_rows_head head = {.generation = UINT64_C(1) << 60,
		.is_enforcing = true,
		.is_stopped = true,
		.n_of_kind = {1, 20, 300, 4000},
		.n_guarded = 50000,
		.trouble = "the disk is full"};
	struct triad_port_rows_head read;
	uint8_t octets[TRIAD_PORT_ROW_SIZE];
	size_t size = triad_port_rows_head_put(&head, octets);

	ck_assert(triad_port_rows_head_get(octets, size, &read));
	ck_assert_uint_eq(read.generation, head.generation);
	ck_assert(read.is_enforcing && read.is_stopped && !read.may_act);
	ck_assert_mem_eq(read.n_of_kind, head.n_of_kind, sizeof(head.n_of_kind));
	ck_assert_uint_eq(read.n_guarded, 50000);
	ck_assert_str_eq(read.trouble, head.trouble);
	ck_assert(!triad_port_rows_head_get(octets, size - 1, &read));
}
END_TEST

START_TEST(test_octets_that_are_others_do_no_harm)
{
	uint8_t octets[TRIAD_PORT_ROW_SIZE];

	for (unsigned i = 0; i < 20000; i++) {
		struct triad_port_row row = make_row(), read;
		size_t size = triad_port_row_put(&row, octets);

		for (unsigned k = 0; k < 4; k++)
			octets[1 + random_below(&seed, (unsigned)size - 1)] =
				(uint8_t)random_next(&seed);
		if (!triad_port_row_get(octets, size, &read))
			continue;
		/* The text is terminated and has no control characters. */
		ck_assert_uint_lt(strlen(read.text), sizeof(read.text));
		ck_assert_uint_eq(triad_text_check(read.text, strlen(read.text)),
			strlen(read.text));
		ck_assert_uint_eq(triad_text_check(read.node, strlen(read.node)),
			strlen(read.node));
	}
}
END_TEST

int main(void)
{
	TCase *cases = tcase_create("port_row");

	tcase_add_checked_fixture(cases, set_up, NULL);
	tcase_add_test(cases, test_row_is_read_as_it_was_written);
	tcase_add_test(cases, test_head_is_read_as_it_was_written);
	tcase_add_test(cases, test_octets_that_are_others_do_no_harm);
	return run_cases(cases);
}
