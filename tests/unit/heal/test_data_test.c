/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "heal/data_test.h"

#include <string.h>

#include "tests/unit/run.h"

/* The link and its ends, as a test would find them. */
static struct {
	struct triad_data_test_counts counts[2]; /* of each way */
	uint64_t n_sent, n_reads, n_leads, n_clears;
	uint32_t bursts[4]; /* the first ones */
	unsigned n_bursts;
	const char *why_not_led; /* NULL: it is */
	bool is_final, is_led, is_unread;
	uint64_t lose_at; /* of packets on the first way; 0: none */
	bool takes_none, is_missed, has_errors, sets_back;
} link;

static struct triad_data_test test;

static void set_up(void)
{
	memset(&link, 0, sizeof(link));
	/* Others have used it before. */
	link.counts[0] = link.counts[1] = (struct triad_data_test_counts){
		.left = 1000, .came = 900, .dropped = 7, .errors = 3};
	triad_data_test_begin(&test, 1e-6);
}

static void pass(uint32_t n)
{
	struct triad_data_test_counts *of = &link.counts[test.way];

	ck_assert(link.is_led);
	if (link.n_bursts < 4)
		link.bursts[link.n_bursts++] = n;
	for (uint32_t i = 0; i < n; i++) {
		link.n_sent++;
		if (link.is_missed)
			continue;
		if (link.takes_none) {
			of->dropped++;
			continue;
		}
		of->left++;
		of->came += link.n_sent != link.lose_at;
	}
	of->errors += link.has_errors;
	if (link.sets_back)
		memset(of, 0, sizeof(*of));
	link.sets_back = false;
}

/* One request, and what comes of it.  False: there is a verdict. */
static bool step(void)
{
	uint32_t burst;

	switch (triad_data_test_request(&test, &burst)) {
	case TRIAD_DATA_TEST_LEAD:
		link.n_leads++;
		link.is_led = !link.why_not_led;
		triad_data_test_led(&test, link.why_not_led, link.is_final);
		break;
	case TRIAD_DATA_TEST_READ:
		link.n_reads++;
		triad_data_test_read(
			&test, link.is_unread ? NULL : &link.counts[test.way]);
		break;
	case TRIAD_DATA_TEST_SEND:
		pass(burst);
		triad_data_test_sent(&test, burst);
		break;
	case TRIAD_DATA_TEST_CLEAR:
		link.n_clears++;
		link.is_led = false;
		triad_data_test_cleared(&test);
		break;
	case TRIAD_DATA_TEST_END:
		return false;
	}
	return true;
}

static enum triad_data_test_verdict run_to_the_end(void)
{
	unsigned n = 0;

	while (step())
		ck_assert_uint_lt(++n, 100000);
	ck_assert(!link.is_led);
	return triad_data_test_verdict(&test);
}

static void check_text(const char *part)
{
	char text[TRIAD_DATA_TEST_TEXT_SIZE];

	triad_data_test_text(&test, text, sizeof(text));
	ck_assert_msg(strstr(text, part), "'%s' has no '%s'", text, part);
}

/* By chance no error in n bits has probability (1 - BER)^n, which is 5 % at 3.0 / BER. */
START_TEST(test_it_takes_as_many_bits_as_the_rate_needs)
{
	triad_data_test_begin(&test, 1e-8);
	ck_assert_uint_ge(test.n_wanted * TRIAD_DATA_TEST_PACKET_BITS, 299573228);
	ck_assert_uint_lt(test.n_wanted * TRIAD_DATA_TEST_PACKET_BITS, 301000000);
	check_text("3.0e+08 bits");
}
END_TEST

START_TEST(test_good_link_carries_all_each_way)
{
	ck_assert_int_eq(run_to_the_end(), TRIAD_DATA_TEST_GOOD);
	ck_assert_uint_eq(link.n_sent, 2 * test.n_wanted);
	ck_assert_uint_eq(link.n_leads, 2);
	ck_assert_uint_eq(link.n_clears, 2);
	check_text("each way");
}
END_TEST

/* So few that nobody waits long behind them, and their arrival is looked at before others go. */
START_TEST(test_first_packets_are_few)
{
	run_to_the_end();
	ck_assert_uint_le(link.bursts[0], 4);
	ck_assert_uint_eq(link.bursts[1], TRIAD_DATA_TEST_BURST);

	set_up();
	link.takes_none = true;
	ck_assert_int_eq(run_to_the_end(), TRIAD_DATA_TEST_BAD);
	ck_assert_uint_le(link.n_sent, 4);
	check_text("takes no data");
}
END_TEST

START_TEST(test_one_packet_that_is_lost_is_enough)
{
	link.lose_at = 1200;
	ck_assert_int_eq(run_to_the_end(), TRIAD_DATA_TEST_BAD);
	ck_assert_uint_lt(link.n_sent, 2 * test.n_wanted);
	ck_assert_uint_eq(link.n_leads, 1);
	ck_assert_uint_eq(test.ways[0].n_left, test.ways[0].n_came + 1);
	check_text("lost");

	set_up();
	link.lose_at = test.n_wanted + 1; /* the other way */
	ck_assert_int_eq(run_to_the_end(), TRIAD_DATA_TEST_BAD);
}
END_TEST

START_TEST(test_errors_that_lose_nothing_are_bad_too)
{
	link.has_errors = true;
	ck_assert_int_eq(run_to_the_end(), TRIAD_DATA_TEST_BAD);
	check_text("errors");
}
END_TEST

/* As after a sweep that took the entries away. */
START_TEST(test_packets_that_do_not_come_to_it_say_nothing)
{
	link.is_missed = true;
	ck_assert_int_eq(run_to_the_end(), TRIAD_DATA_TEST_UNKNOWN);
	ck_assert_uint_lt(link.n_sent, 100);
	check_text("not known");

	set_up();
	link.is_missed = true;
	while (link.n_leads < 2)
		ck_assert(step());
	link.is_missed = false;
	ck_assert_int_eq(run_to_the_end(), TRIAD_DATA_TEST_GOOD);
	ck_assert_uint_eq(test.ways[0].n_left, test.n_wanted);
}
END_TEST

START_TEST(test_way_that_cannot_be_led_is_not_known)
{
	link.why_not_led = "there is none";
	link.is_final = true;
	ck_assert_int_eq(run_to_the_end(), TRIAD_DATA_TEST_UNKNOWN);
	ck_assert_uint_eq(link.n_leads, 2); /* once each way */
	check_text("there is none");

	/* The other way is tested all the same. */
	set_up();
	link.why_not_led = "there is none";
	link.is_final = true;
	while (test.way == 0)
		ck_assert(step());
	link.why_not_led = NULL;
	ck_assert_int_eq(run_to_the_end(), TRIAD_DATA_TEST_UNKNOWN);
	ck_assert_uint_eq(link.n_sent, test.n_wanted);
	check_text("one way");
	check_text("there is none");

	/* What may change is tried again. */
	set_up();
	link.why_not_led = "not now";
	while (link.n_leads < 3)
		ck_assert(step());
	link.why_not_led = NULL;
	ck_assert_int_eq(run_to_the_end(), TRIAD_DATA_TEST_GOOD);
}
END_TEST

START_TEST(test_counters_that_say_nothing_are_not_known)
{
	link.is_unread = true;
	ck_assert_int_eq(run_to_the_end(), TRIAD_DATA_TEST_UNKNOWN);
	ck_assert_uint_eq(link.n_sent, 0);
	check_text("counters");

	/* Somebody sets them to zero: what was counted so far counts no more. */
	set_up();
	link.sets_back = true;
	ck_assert_int_eq(run_to_the_end(), TRIAD_DATA_TEST_GOOD);
	ck_assert_uint_eq(test.ways[0].n_left, test.n_wanted);
	ck_assert_uint_gt(link.n_sent, 2 * test.n_wanted);
}
END_TEST

/* Others' SMPs are counted by both ends, or by the far one alone. */
START_TEST(test_packets_of_others_do_not_make_it_bad)
{
	while (step())
		if (test.has_before && test.way < 2) {
			link.counts[test.way].left += 2;
			link.counts[test.way].came += 3;
		}
	ck_assert_int_eq(triad_data_test_verdict(&test), TRIAD_DATA_TEST_GOOD);
}
END_TEST

int main(void)
{
	TCase *cases = tcase_create("data_test");

	tcase_add_checked_fixture(cases, set_up, NULL);
	tcase_add_test(cases, test_it_takes_as_many_bits_as_the_rate_needs);
	tcase_add_test(cases, test_good_link_carries_all_each_way);
	tcase_add_test(cases, test_first_packets_are_few);
	tcase_add_test(cases, test_one_packet_that_is_lost_is_enough);
	tcase_add_test(cases, test_errors_that_lose_nothing_are_bad_too);
	tcase_add_test(cases, test_packets_that_do_not_come_to_it_say_nothing);
	tcase_add_test(cases, test_way_that_cannot_be_led_is_not_known);
	tcase_add_test(cases, test_counters_that_say_nothing_are_not_known);
	tcase_add_test(cases, test_packets_of_others_do_not_make_it_bad);
	return run_cases(cases);
}
