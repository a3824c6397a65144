/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "heal/data_test.h"

#include <string.h>

#include "tests/unit/run.h"
#include "triad/clock.h"

/* The link and its ends, as a test would find them. */
static struct {
	struct triad_data_test_counts
		counts[2]; /* of each way; 'came_before' is not used */
	uint64_t n_sent, n_leads, n_clears;
	uint32_t bursts[4]; /* the first ones */
	unsigned n_bursts;
	const char *why_not_led; /* NULL: it is */
	bool is_final, is_led;
	uint64_t unread_until_us;
	uint64_t lose_at; /* of packets; 0: none */
	bool takes_none, is_missed, loses_all;
	uint64_t drops_us,
		drops_at_us; /* how long packets wait that it does not take */
	uint32_t n_waiting;
	uint64_t late_us, is_late_until_us; /* agents tell it so much later */
} link;

static struct triad_data_test test;
static uint64_t now_us, begun_us;

static void set_up(void)
{
	memset(&link, 0, sizeof(link));
	now_us = begun_us = 1000 * TRIAD_US_PER_S;
	/* Others have used it before. */
	link.counts[0] = link.counts[1] = (struct triad_data_test_counts){
		.left = 1000, .came = 900, .dropped = 7};
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
			link.n_waiting++;
			link.drops_at_us = now_us + link.drops_us;
			continue;
		}
		of->left++;
		of->came += link.n_sent != link.lose_at && !link.loses_all;
	}
	link.is_late_until_us = now_us + link.late_us;
}

static void read_ends(void)
{
	struct triad_data_test_counts counts;

	if (link.n_waiting && now_us >= link.drops_at_us) {
		link.counts[test.way].dropped += link.n_waiting;
		link.n_waiting = 0;
	}
	counts = link.counts[test.way];
	if (link.late_us && now_us < link.is_late_until_us)
		counts.came -= test.n_sent;
	counts.came_before = counts.came;
	triad_data_test_read(
		&test, now_us < link.unread_until_us ? NULL : &counts, now_us);
}

/* One request, and what comes of it.  False: there is a verdict. */
static bool step(void)
{
	uint32_t burst;

	now_us += 20 * TRIAD_US_PER_MS;
	switch (triad_data_test_request(&test, now_us, &burst)) {
	case TRIAD_DATA_TEST_WAIT:
		break;
	case TRIAD_DATA_TEST_LEAD:
		link.n_leads++;
		link.is_led = !link.why_not_led;
		triad_data_test_led(&test, link.why_not_led, link.is_final, now_us);
		break;
	case TRIAD_DATA_TEST_READ:
		read_ends();
		break;
	case TRIAD_DATA_TEST_SEND:
		pass(burst);
		triad_data_test_sent(&test, burst, now_us);
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

static enum triad_data_test_verdict run_for(unsigned seconds)
{
	uint64_t end_us = now_us + seconds * TRIAD_US_PER_S;

	while (now_us < end_us && step())
		;
	return triad_data_test_verdict(&test);
}

static enum triad_data_test_verdict run_to_the_end(void)
{
	enum triad_data_test_verdict verdict = run_for(3600);

	ck_assert(!link.is_led);
	return verdict;
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

/* So few that nobody waits long behind them, and what became of them is looked at before others go,
 * also where a switch keeps them for its lifetime. */
START_TEST(test_link_that_takes_no_data_is_bad_after_few_packets)
{
	static const unsigned drops_ms[] = {0, 300, 1100, 3000};

	run_to_the_end();
	ck_assert_uint_le(link.bursts[0], 4);
	ck_assert_uint_eq(link.bursts[1], TRIAD_DATA_TEST_BURST);
	for (unsigned i = 0; i < 4; i++) {
		set_up();
		link.takes_none = true;
		link.drops_us = drops_ms[i] * TRIAD_US_PER_MS;
		ck_assert_int_eq(run_to_the_end(), TRIAD_DATA_TEST_BAD);
		ck_assert_uint_le(link.n_sent, 8);
		check_text("takes no data: 4 packets were sent, 0 left");
	}
}
END_TEST

/* As when its end was not active: it is made so for the next try. */
START_TEST(test_link_that_takes_data_the_next_time_is_good)
{
	link.takes_none = true;
	while (link.n_leads < 2)
		ck_assert(step());
	link.takes_none = false;
	ck_assert_int_eq(run_to_the_end(), TRIAD_DATA_TEST_GOOD);
}
END_TEST

START_TEST(test_counters_of_unlike_attributes_are_not_compared)
{
	struct triad_data_test_counts counts = link.counts[0];
	uint32_t burst;

	while (triad_data_test_request(&test, now_us, &burst) != TRIAD_DATA_TEST_SEND)
		ck_assert(step());
	triad_data_test_sent(&test, burst, now_us);
	counts.left += 1000000; /* of 64 bits, in place of 32 */
	counts.came_before = counts.came += burst;
	counts.are_wide = 1;
	triad_data_test_read(&test, &counts, now_us + 10 * TRIAD_US_PER_S);
	ck_assert_int_eq(triad_data_test_verdict(&test), TRIAD_DATA_TEST_OPEN);
	ck_assert_uint_eq(test.ways[0].verdict, TRIAD_DATA_TEST_OPEN);
	check_text("could not be read");
}
END_TEST

/* Whose lifetime never ends: nothing is known of it, so it is not good. */
START_TEST(test_link_whose_packets_stay_somewhere_has_no_verdict)
{
	link.takes_none = true;
	link.drops_us = UINT64_MAX / 2;
	ck_assert_int_eq(run_for(600), TRIAD_DATA_TEST_OPEN);
	ck_assert_uint_lt(link.n_sent, 100);
	check_text("did not come");
}
END_TEST

START_TEST(test_one_packet_that_is_lost_is_enough)
{
	link.lose_at = 1200;
	ck_assert_int_eq(run_to_the_end(), TRIAD_DATA_TEST_BAD);
	ck_assert_uint_lt(link.n_sent, test.n_wanted + 1);
	ck_assert_uint_eq(link.n_leads, 1);
	ck_assert_uint_eq(test.ways[0].n_left, test.ways[0].n_came + 1);
	check_text("data there: packets were lost");

	set_up();
	link.lose_at = test.n_wanted + 1; /* the other way */
	ck_assert_int_eq(run_to_the_end(), TRIAD_DATA_TEST_BAD);
	check_text("data back: packets were lost");
}
END_TEST

START_TEST(test_agents_that_tell_late_do_not_make_it_bad)
{
	link.late_us = 2 * TRIAD_US_PER_S;
	ck_assert_int_eq(run_to_the_end(), TRIAD_DATA_TEST_GOOD);
	ck_assert_uint_eq(link.n_sent, 2 * test.n_wanted);
}
END_TEST

/* As after a sweep that took the entries away: what has passed before counts. */
START_TEST(test_packets_that_do_not_come_to_it_are_sent_again)
{
	for (unsigned i = 0; i < 20; i++) {
		while (test.way == 0 && test.ways[0].n_sent < 50 * (i + 1))
			ck_assert(step());
		link.is_missed = true;
		while (link.n_leads < i + 2)
			ck_assert(step());
		link.is_missed = false;
	}
	ck_assert_int_eq(run_to_the_end(), TRIAD_DATA_TEST_GOOD);
	ck_assert_uint_lt(
		link.n_sent, 2 * test.n_wanted + 20 * TRIAD_DATA_TEST_BURST + 1);
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
	check_text("passes back; there is not known: there is none");
}
END_TEST

/* What may pass is no verdict, however long it lasts, and is tried ever more rarely. */
START_TEST(test_what_is_not_known_is_tried_again)
{
	link.why_not_led = "not now";
	ck_assert_int_eq(run_for(1800), TRIAD_DATA_TEST_OPEN);
	ck_assert_uint_gt(link.n_leads, 8);
	ck_assert_uint_lt(link.n_leads, 20);
	check_text("not now");
	link.why_not_led = NULL;
	ck_assert_int_eq(run_to_the_end(), TRIAD_DATA_TEST_GOOD);

	set_up();
	link.unread_until_us = now_us + 1800 * TRIAD_US_PER_S;
	ck_assert_int_eq(run_for(1800), TRIAD_DATA_TEST_OPEN);
	ck_assert_uint_eq(link.n_sent, 0);
	check_text("counters");
	ck_assert_int_eq(run_to_the_end(), TRIAD_DATA_TEST_GOOD);
}
END_TEST

/* Somebody sets them to zero in the middle of a burst, of one end or both, again and again. */
START_TEST(test_counters_that_are_set_back_do_not_make_it_bad)
{
	for (unsigned n = 0; test.way < 2; n++) {
		uint64_t sent = link.n_sent;

		for (unsigned i = 0; i < 40 && step(); i++)
			if (sent != link.n_sent && test.way < 2 && n % 3 != 1) {
				sent = link.n_sent;
				link.counts[test.way].came = 0;
				if (n % 3)
					link.counts[test.way].left = 0;
				break;
			}
		ck_assert_uint_lt(n, 100000);
	}
	ck_assert_int_eq(triad_data_test_verdict(&test), TRIAD_DATA_TEST_GOOD);
}
END_TEST

/* From so little that it has not gone back: that looks as if packets were lost. */
START_TEST(test_low_count_that_is_set_back_does_not_make_it_bad)
{
	link.counts[0].came = 0;
	while (!link.n_sent)
		(void)step();
	link.counts[0].came = 0;
	ck_assert_int_eq(run_to_the_end(), TRIAD_DATA_TEST_GOOD);

	set_up();
	link.counts[0].came = 0;
	link.loses_all = true;
	ck_assert_int_eq(run_to_the_end(), TRIAD_DATA_TEST_BAD);
	ck_assert_uint_le(link.n_sent, 8);
	check_text("packets were lost on it: 4 packets were sent, 4 left, 0 came");
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
	tcase_add_test(cases, test_link_that_takes_no_data_is_bad_after_few_packets);
	tcase_add_test(cases, test_link_that_takes_data_the_next_time_is_good);
	tcase_add_test(cases, test_counters_of_unlike_attributes_are_not_compared);
	tcase_add_test(cases, test_link_whose_packets_stay_somewhere_has_no_verdict);
	tcase_add_test(cases, test_one_packet_that_is_lost_is_enough);
	tcase_add_test(cases, test_agents_that_tell_late_do_not_make_it_bad);
	tcase_add_test(cases, test_packets_that_do_not_come_to_it_are_sent_again);
	tcase_add_test(cases, test_way_that_cannot_be_led_is_not_known);
	tcase_add_test(cases, test_what_is_not_known_is_tried_again);
	tcase_add_test(cases, test_counters_that_are_set_back_do_not_make_it_bad);
	tcase_add_test(cases, test_low_count_that_is_set_back_does_not_make_it_bad);
	tcase_add_test(cases, test_packets_of_others_do_not_make_it_bad);
	return run_cases(cases);
}
