/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "perfmgr/details.h"

#include <pthread.h>
#include <stdatomic.h>

#include "tests/unit/run.h"

#define S UINT64_C(1000000)
#define ERRORS TRIAD_PMA_RCV_ERROR_DETAILS

static const struct triad_details_port port = {
	.row = 5, .number = 3, .node_guid = 0x11};
static struct triad_details *details;
static struct triad_detail_reading reading;
static struct triad_detail_row row;

static void set_up(void)
{
	details = triad_details_new(1 << 20);
	memset(&reading, 0, sizeof(reading));
}

static void tear_down(void)
{
	triad_details_free(details);
}

/* Reads slot 2 of the attribute at 'raw', 't' seconds after the beginning. */
static void count_to(uint32_t raw, unsigned t)
{
	reading.raw[2] = raw;
	triad_details_update(details, &port, ERRORS, &reading, false, t * S);
}

static void look(void)
{
	ck_assert(triad_details_read(details, &port, ERRORS, &row));
}

START_TEST(test_nothing_is_known_before_the_first_reading)
{
	ck_assert(!triad_details_read(details, &port, ERRORS, &row));
	ck_assert_uint_eq(triad_details_known(details, &port), 0);
	ck_assert_uint_eq(triad_details_counts(details).octets, 0);
}
END_TEST

START_TEST(test_total_begins_where_the_hardware_stands_and_grows)
{
	count_to(40, 10);
	look();
	ck_assert_uint_eq(row.total[2], 40);
	ck_assert_uint_eq(row.change[2], 0);
	ck_assert_uint_eq(row.interval_us, 0);
	count_to(57, 13);
	look();
	ck_assert_uint_eq(row.total[2], 57);
	ck_assert_uint_eq(row.change[2], 17);
	ck_assert_uint_eq(row.interval_us, 3 * S);
	ck_assert_uint_eq(row.read_us, 13 * S);
	ck_assert_uint_eq(row.total[1], 0);
}
END_TEST

/* A reset just after a reading doesn't hide the change that the reading showed. */
START_TEST(test_change_of_a_reading_outlasts_its_reset)
{
	count_to(40, 10);
	count_to(57, 20);
	reading.raw[2] = 1;
	triad_details_update(details, &port, ERRORS, &reading, true, 20 * S + 5);
	look();
	ck_assert_uint_eq(row.total[2], 58);
	ck_assert_uint_eq(row.change[2], 18);
	ck_assert_uint_eq(row.interval_us, 10 * S + 5);
	count_to(4, 30);
	look();
	ck_assert_uint_eq(row.change[2], 3);
}
END_TEST

START_TEST(test_total_goes_on_over_resets_which_are_distinguished)
{
	count_to(40, 10);
	count_to(5, 20);
	look();
	ck_assert_uint_eq(row.total[2], 45);
	ck_assert_uint_eq(row.change[2], 5);
	ck_assert_uint_eq(row.n_others_resets, 1);
	reading.raw[2] = 0;
	triad_details_update(details, &port, ERRORS, &reading, true, 30 * S);
	count_to(2, 40);
	look();
	ck_assert_uint_eq(row.total[2], 47);
	ck_assert_uint_eq(row.change[2], 2);
	ck_assert_uint_eq(row.n_own_resets, 1);
	ck_assert_uint_eq(row.n_others_resets, 1);
}
END_TEST

START_TEST(test_zeros_take_no_block_and_what_follows_is_their_change)
{
	size_t octets;

	count_to(0, 10);
	octets = triad_details_counts(details).octets;
	look();
	ck_assert_uint_eq(row.total[2], 0);
	ck_assert_uint_eq(row.read_us, 10 * S);
	ck_assert_uint_eq(
		triad_details_known(details, &port), TRIAD_DETAIL_BIT(ERRORS));
	triad_details_update(
		details, &port, TRIAD_PMA_VL_XMIT_WAIT, &reading, false, 10 * S);
	ck_assert_uint_eq(triad_details_counts(details).octets, octets);
	count_to(17, 20);
	ck_assert_uint_gt(triad_details_counts(details).octets, octets);
	look();
	ck_assert_uint_eq(row.total[2], 17);
	ck_assert_uint_eq(row.change[2], 17);
	ck_assert_uint_eq(row.interval_us, 0);
}
END_TEST

START_TEST(test_maximum_is_reported)
{
	count_to(0xffff, 10);
	look();
	ck_assert_uint_eq(row.saturated, 1u << 2);
	count_to(0xfffe, 11);
	look();
	ck_assert_uint_eq(row.saturated, 0);
}
END_TEST

START_TEST(test_row_of_another_port_begins_anew)
{
	const struct triad_details_port other = {
		.row = 5, .number = 4, .node_guid = 0x11};

	count_to(40, 10);
	ck_assert(!triad_details_read(details, &other, ERRORS, &row));
	reading.raw[2] = 3;
	triad_details_update(details, &other, ERRORS, &reading, false, 20 * S);
	ck_assert(triad_details_read(details, &other, ERRORS, &row));
	ck_assert_uint_eq(row.total[2], 3);
	ck_assert_uint_eq(row.change[2], 0);
	ck_assert(!triad_details_read(details, &port, ERRORS, &row));
	ck_assert_uint_eq(triad_details_known(details, &port), 0);
	/* The row is the first port's again, without its former values. */
	count_to(50, 30);
	look();
	ck_assert_uint_eq(row.total[2], 50);
}
END_TEST

START_TEST(test_totals_are_made_zero)
{
	const struct triad_details_port other = {.row = 5, .number = 9};

	count_to(40, 10);
	triad_details_zero(details, &other);
	look();
	ck_assert_uint_eq(row.total[2], 40);
	triad_details_zero(details, &port);
	look();
	ck_assert_uint_eq(row.total[2], 0);
	count_to(41, 20);
	look();
	ck_assert_uint_eq(row.total[2], 1);
}
END_TEST

START_TEST(test_limit_is_kept_and_what_it_leaves_out_is_counted)
{
	count_to(0, 10);
	triad_details_set_limit(details, triad_details_counts(details).octets + 8);
	/* The counter isn't 0 any longer, and there is no memory for its value. */
	count_to(17, 20);
	ck_assert(!triad_details_read(details, &port, ERRORS, &row));
	ck_assert_uint_eq(triad_details_known(details, &port), 0);
	ck_assert_uint_eq(triad_details_counts(details).n_dropped, 1);
	triad_details_set_limit(details, 1 << 20);
	count_to(18, 30);
	look();
	ck_assert_uint_eq(row.total[2], 18);
}
END_TEST

START_TEST(test_rows_past_the_most_are_left_alone)
{
	const struct triad_details_port far = {.row = UINT32_MAX, .number = 1};

	reading.raw[0] = 1;
	triad_details_update(details, &far, ERRORS, &reading, false, S);
	ck_assert(!triad_details_read(details, &far, ERRORS, &row));
}
END_TEST

/* --- a reader concurrent with the writer --- */

static atomic_bool ends;

static void *read_on(void *context)
{
	unsigned *n_torn = context;

	while (!atomic_load(&ends)) {
		struct triad_detail_row copy;

		if (!triad_details_read(details, &port, ERRORS, &copy))
			continue;
		for (unsigned i = 1; i < 6; i++)
			*n_torn += copy.total[i] != copy.total[0];
	}
	return NULL;
}

START_TEST(test_reader_never_sees_half_a_reading)
{
	unsigned n_torn = 0;
	pthread_t reader;

	ck_assert_int_eq(pthread_create(&reader, NULL, read_on, &n_torn), 0);
	for (unsigned i = 1; i < 300000; i++) {
		for (unsigned k = 0; k < 6; k++)
			reading.raw[k] = i % 60000;
		triad_details_update(details, &port, ERRORS, &reading, false, i);
	}
	atomic_store(&ends, true);
	ck_assert_int_eq(pthread_join(reader, NULL), 0);
	ck_assert_uint_eq(n_torn, 0);
}
END_TEST

int main(void)
{
	TCase *cases = tcase_create("details");

	tcase_add_checked_fixture(cases, set_up, tear_down);
	tcase_add_test(cases, test_change_of_a_reading_outlasts_its_reset);
	tcase_add_test(cases, test_nothing_is_known_before_the_first_reading);
	tcase_add_test(cases, test_total_begins_where_the_hardware_stands_and_grows);
	tcase_add_test(cases, test_total_goes_on_over_resets_which_are_distinguished);
	tcase_add_test(
		cases, test_zeros_take_no_block_and_what_follows_is_their_change);
	tcase_add_test(cases, test_maximum_is_reported);
	tcase_add_test(cases, test_row_of_another_port_begins_anew);
	tcase_add_test(cases, test_totals_are_made_zero);
	tcase_add_test(cases, test_limit_is_kept_and_what_it_leaves_out_is_counted);
	tcase_add_test(cases, test_rows_past_the_most_are_left_alone);
	tcase_add_test(cases, test_reader_never_sees_half_a_reading);
	return run_cases(cases);
}
