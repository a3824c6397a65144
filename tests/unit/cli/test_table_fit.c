/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* cli/table_fit.h: columns that are cut or left out on a narrow terminal. */
#include "cli/table_fit.h"

#include <stdio.h>
#include <string.h>

#include "tests/random.h"
#include "tests/unit/run.h"

#define GAP 2

static struct triad_table_fit fit;

static void add(uint8_t flags, unsigned width)
{
	fit.columns[fit.n] = (struct triad_table_fit_column){
		.at = fit.n, .flags = flags, .width = width, .least = 4};
	fit.n++;
}

/* Columns: a name, a GUID, a number, a far end, two more numbers, remarks. */
static void make_ports(void)
{
	fit.n = 0;
	add(TRIAD_TABLE_LONG, 30);
	add(TRIAD_TABLE_SPARE, 18);
	add(TRIAD_TABLE_NUMBER, 4);
	add(TRIAD_TABLE_LONG, 20);
	add(TRIAD_TABLE_NUMBER, 7);
	add(TRIAD_TABLE_NUMBER | TRIAD_TABLE_SPARE, 7);
	add(TRIAD_TABLE_LONG, 60);
}

/* The widths after fitting, "-" for a column left out: "30 18 -". */
static const char *fit_into(unsigned room)
{
	static char text[128];

	text[0] = 0;
	triad_table_fit_into(&fit, GAP, room);
	for (unsigned i = 0; i < fit.n; i++) {
		char width[16] = "-";

		if (!fit.columns[i].is_left_out)
			snprintf(width, sizeof(width), "%u", fit.columns[i].width);
		strcat(strcat(text, i ? " " : ""), width);
	}
	return text;
}

START_TEST(test_fit_with_room_changes_nothing)
{
	make_ports();
	ck_assert_str_eq(fit_into(158), "30 18 4 20 7 7 60");
}
END_TEST

START_TEST(test_fit_cuts_the_widest_first)
{
	make_ports();
	ck_assert_str_eq(fit_into(157), "30 18 4 20 7 7 59");
	ck_assert_str_eq(fit_into(120), "26 18 4 20 7 7 26");
	make_ports();
	ck_assert_str_eq(fit_into(60), "13 - 4 14 7 - 14");
}
END_TEST

START_TEST(test_fit_leaves_spare_columns_out_from_the_right)
{
	make_ports();
	ck_assert_str_eq(fit_into(115), "28 18 4 20 7 - 28");
	/* Columns are left out before a name is cut to less than 24 characters. */
	make_ports();
	ck_assert_str_eq(fit_into(106), "30 - 4 20 7 - 37");
	make_ports();
	ck_assert_str_eq(fit_into(74), "18 - 4 18 7 - 19");
	/* Without enough room for these either, others are left out, but never the
	 * first. */
	make_ports();
	ck_assert_str_eq(fit_into(50), "16 - 4 17 7 - -");
	make_ports();
	ck_assert_str_eq(fit_into(14), "14 - - - - - -");
	make_ports();
	ck_assert_str_eq(fit_into(5), "5 - - - - - -");
}
END_TEST

START_TEST(test_fit_left_out_stays_out)
{
	make_ports();
	fit_into(74);
	fit.columns[0].width = 12;
	ck_assert_str_eq(fit_into(200), "12 - 4 18 7 - 19");
}
END_TEST

/* For any columns, lines fit, numbers aren't cut, and no column grows. */
START_TEST(test_fit_random_columns_never_wrap)
{
	uint64_t random = 4711;

	for (unsigned round = 0; round < 20000; round++) {
		struct triad_table_fit before;
		unsigned room = 1 + random_below(&random, 200), sum = 0;

		fit.n = 0;
		for (unsigned n = 1 + random_below(&random, 16); n; n--)
			add((uint8_t)random_below(&random, 8),
				random_below(&random, 80));
		before = fit;
		triad_table_fit_into(&fit, GAP, room);
		for (unsigned i = 0; i < fit.n; i++) {
			const struct triad_table_fit_column *column = &fit.columns[i];

			if (column->is_left_out)
				continue;
			ck_assert_uint_le(column->width, before.columns[i].width);
			if (i && !(column->flags & TRIAD_TABLE_LONG))
				ck_assert_uint_eq(
					column->width, before.columns[i].width);
			sum += (i ? GAP : 0) + column->width;
		}
		ck_assert_uint_le(sum, room);
		ck_assert(!fit.columns[0].is_left_out);
	}
}
END_TEST

int main(void)
{
	TCase *cases = tcase_create("table_fit");

	tcase_add_test(cases, test_fit_with_room_changes_nothing);
	tcase_add_test(cases, test_fit_cuts_the_widest_first);
	tcase_add_test(cases, test_fit_leaves_spare_columns_out_from_the_right);
	tcase_add_test(cases, test_fit_left_out_stays_out);
	tcase_add_test(cases, test_fit_random_columns_never_wrap);
	return run_cases(cases);
}
