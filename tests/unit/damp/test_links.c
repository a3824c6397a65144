/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "damp/links.h"

#include <math.h>

#include "tests/unit/run.h"

#define MINUTE (60 * TRIAD_US_PER_S)
#define HALF_LIFE (15 * MINUTE)

static struct triad_damp_links *links;
static uint64_t now_us;

static void set_up(void)
{
	links = triad_damp_links_new();
	now_us = 1000 * MINUTE;
}

static void tear_down(void)
{
	triad_damp_links_free(links);
}

static struct triad_damp_ends link_of(uint64_t guid, uint64_t far_guid)
{
	return triad_damp_ends_of(guid, 1, far_guid, 2);
}

/* A bounce, and a time after which it counts. */
static void bounce(struct triad_damp_ends ends)
{
	triad_damp_links_bounce(links, &ends, 18, 36, now_us);
	now_us += TRIAD_US_PER_S;
	triad_damp_links_settle(links, now_us);
}

static struct triad_damp_link *find(struct triad_damp_ends ends)
{
	return triad_damp_links_find(links, &ends, false);
}

START_TEST(test_ends_of_a_link_are_the_same_from_both)
{
	struct triad_damp_ends a = triad_damp_ends_of(7, 3, 5, 9),
			       b = triad_damp_ends_of(5, 9, 7, 3);

	ck_assert(triad_damp_is_same(&a, &b));
	ck_assert_uint_eq(a.guid, 5);
	ck_assert_uint_eq(a.number, 9);
	/* A cable between two ports of one switch. */
	a = triad_damp_ends_of(5, 9, 5, 3);
	b = triad_damp_ends_of(5, 3, 5, 9);
	ck_assert(triad_damp_is_same(&a, &b));
}
END_TEST

START_TEST(test_third_bounce_within_minutes_is_over_the_limit)
{
	for (unsigned i = 0; i < 2; i++, now_us += 3 * MINUTE) {
		bounce(link_of(1, 2));
		ck_assert_ptr_null(triad_damp_links_next_over(links, now_us));
	}
	bounce(link_of(1, 2));
	ck_assert_ptr_eq(
		triad_damp_links_next_over(links, now_us), find(link_of(1, 2)));
	ck_assert_uint_eq(find(triad_damp_ends_of(2, 2, 1, 1))->n_bounces, 3);
}
END_TEST

START_TEST(test_a_bounce_each_quarter_of_an_hour_never_is)
{
	for (unsigned i = 0; i < 1000; i++, now_us += HALF_LIFE) {
		bounce(link_of(1, 2));
		ck_assert_ptr_null(triad_damp_links_next_over(links, now_us));
	}
}
END_TEST

START_TEST(test_both_ends_tell_of_one_bounce)
{
	struct triad_damp_ends ends = link_of(1, 2);

	for (unsigned i = 0; i < 3; i++, now_us += TRIAD_US_PER_S) {
		triad_damp_links_bounce(links, &ends, 18, 36, now_us);
		triad_damp_links_bounce(links, &ends, 18, 36, now_us + 1000);
		triad_damp_links_settle(links, now_us + TRIAD_DAMP_TOGETHER_US);
		/* The far end was read late. */
		triad_damp_links_bounce(
			links, &ends, 18, 36, now_us + TRIAD_DAMP_TOGETHER_US + 1);
		triad_damp_links_settle(links, now_us + 2 * TRIAD_DAMP_TOGETHER_US + 1);
	}
	ck_assert_uint_eq(find(ends)->n_bounces, 3);
}
END_TEST

START_TEST(test_a_bounce_counts_when_it_is_known_to_be_of_the_link)
{
	struct triad_damp_ends ends = link_of(1, 2);

	triad_damp_links_bounce(links, &ends, 18, 36, now_us);
	ck_assert_uint_eq(triad_damp_links_settle(links, now_us),
		now_us + TRIAD_DAMP_TOGETHER_US);
	ck_assert_ptr_null(find(ends));
	ck_assert_uint_eq(
		triad_damp_links_settle(links, now_us + TRIAD_DAMP_TOGETHER_US),
		UINT64_MAX);
	ck_assert_ptr_nonnull(find(ends));
}
END_TEST

/* 'n' links of node 1, which has 'n_links', a tenth of a second apart in all. */
static void restart(unsigned n, unsigned n_links)
{
	for (unsigned i = 0; i < n; i++) {
		struct triad_damp_ends ends = triad_damp_ends_of(1, i + 1, 100 + i, 1);

		triad_damp_links_bounce(links, &ends, n_links, 36,
			now_us + i * (100 * TRIAD_US_PER_MS) / n);
	}
	for (unsigned i = 0; i < 10; i++, now_us += 100 * TRIAD_US_PER_MS)
		triad_damp_links_settle(links, now_us);
}

START_TEST(test_a_node_that_restarts_is_no_flap)
{
	for (unsigned i = 0; i < 10; i++) {
		restart(18, 36);
		restart(2, 2);
	}
	ck_assert_uint_eq(triad_damp_links_n(links), 0);
	ck_assert_uint_eq(triad_damp_links_n_together(links), 200);
	/* Two of many are two links. */
	for (unsigned i = 0; i < 3; i++)
		restart(2, 36);
	ck_assert_ptr_nonnull(triad_damp_links_next_over(links, now_us));
}
END_TEST

START_TEST(test_a_held_link_returns_when_it_was_up_for_its_penalty)
{
	struct triad_damp_link *link;

	for (unsigned i = 0; i < 3; i++)
		bounce(link_of(1, 2));
	link = triad_damp_links_next_over(links, now_us);
	triad_damp_link_hold(links, link, now_us);
	ck_assert_ptr_null(triad_damp_links_next_over(links, now_us));
	/* Down: no time passes. */
	ck_assert_uint_eq(triad_damp_link_returns_us(link), UINT64_MAX);
	triad_damp_link_set_up(link, true, now_us);
	ck_assert_uint_eq(triad_damp_link_returns_us(link), now_us + link->quiet_us);
	/* 3000 falls to 750 in two half-lives. */
	ck_assert_uint_ge(link->quiet_us, 29 * MINUTE);
	ck_assert_uint_le(link->quiet_us, 30 * MINUTE);
	now_us += 20 * MINUTE;
	triad_damp_link_set_up(link, true, now_us);
	ck_assert_uint_eq(triad_damp_link_returns_us(link),
		now_us - 20 * MINUTE + link->quiet_us);
	/* A break: from the beginning. */
	bounce(link_of(1, 2));
	link = find(link_of(1, 2));
	ck_assert(link->is_held);
	ck_assert_uint_eq(triad_damp_link_returns_us(link), UINT64_MAX);
	triad_damp_link_set_up(link, true, now_us);
	ck_assert_uint_eq(triad_damp_link_returns_us(link), now_us + link->quiet_us);
}
END_TEST

/* The link came up before it was known that the bounce is its own. */
START_TEST(test_a_held_link_that_is_up_at_once_returns)
{
	struct triad_damp_ends ends = link_of(1, 2);
	struct triad_damp_link *link;

	for (unsigned i = 0; i < 3; i++)
		bounce(ends);
	link = find(ends);
	triad_damp_link_hold(links, link, now_us);
	triad_damp_link_set_up(link, true, now_us);
	now_us += MINUTE;
	triad_damp_links_bounce(links, &ends, 18, 36, now_us);
	ck_assert_uint_eq(triad_damp_link_returns_us(link), UINT64_MAX);
	triad_damp_link_set_up(link, true, now_us + TRIAD_DAMP_TOGETHER_US / 2);
	triad_damp_links_settle(links, now_us + TRIAD_DAMP_TOGETHER_US);
	ck_assert_uint_eq(link->n_bounces, 4);
	ck_assert_uint_eq(triad_damp_link_returns_us(link),
		now_us + TRIAD_DAMP_TOGETHER_US / 2 + link->quiet_us);
}
END_TEST

static uint64_t hold_again(void)
{
	struct triad_damp_link *link;

	for (unsigned i = 0; i < 3; i++)
		bounce(link_of(1, 2));
	link = triad_damp_links_next_over(links, now_us);
	ck_assert_ptr_nonnull(link);
	triad_damp_link_hold(links, link, now_us);
	triad_damp_link_set_up(link, true, now_us);
	now_us += link->quiet_us;
	ck_assert_uint_eq(triad_damp_link_returns_us(link), now_us);
	triad_damp_link_release(link, false, now_us);
	return link->quiet_us;
}

START_TEST(test_each_hold_is_longer_to_a_maximum)
{
	uint64_t first_us = hold_again(), last_us = first_us;

	for (unsigned i = 0; i < 20; i++) {
		uint64_t next_us = hold_again();

		ck_assert(next_us > last_us ||
			next_us == TRIAD_DAMP_MAX_HALF_LIVES * HALF_LIFE);
		last_us = next_us;
	}
	ck_assert_uint_eq(last_us, TRIAD_DAMP_MAX_HALF_LIVES * HALF_LIFE);
	/* A good day later it is the first again. */
	now_us += 24 * 60 * MINUTE + 1;
	ck_assert_uint_le(hold_again(), first_us + MINUTE);
}
END_TEST

START_TEST(test_what_was_refused_is_asked_for_at_the_next_bounce)
{
	for (unsigned i = 0; i < 3; i++)
		bounce(link_of(1, 2));
	triad_damp_link_refuse(find(link_of(1, 2)), "the only way");
	ck_assert_ptr_null(triad_damp_links_next_over(links, now_us));
	bounce(link_of(1, 2));
	ck_assert_ptr_nonnull(triad_damp_links_next_over(links, now_us));
}
END_TEST

START_TEST(test_release_by_hand_forgives)
{
	struct triad_damp_link *link;

	for (unsigned i = 0; i < 12; i++)
		bounce(link_of(1, 2));
	link = triad_damp_links_next_over(links, now_us);
	triad_damp_link_hold(links, link, now_us);
	link->is_pinned = true;
	triad_damp_link_set_up(link, true, now_us);
	ck_assert_uint_eq(triad_damp_link_returns_us(link), UINT64_MAX);
	triad_damp_link_release(link, true, now_us);
	ck_assert(!link->is_held && !link->is_pinned);
	for (unsigned i = 0; i < 2; i++)
		bounce(link_of(1, 2));
	ck_assert_ptr_null(triad_damp_links_next_over(links, now_us));
}
END_TEST

START_TEST(test_good_links_are_forgotten)
{
	for (unsigned i = 0; i < 100; i++)
		bounce(link_of(1, 2 + i));
	ck_assert_uint_eq(triad_damp_links_n(links), 100);
	now_us += 24 * 60 * MINUTE;
	triad_damp_links_settle(links, now_us);
	ck_assert_uint_eq(triad_damp_links_n(links), 0);
}
END_TEST

/* Uniform in (0, 1], the same in each run. */
static double draw(void)
{
	static uint64_t state = 1;

	state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return ((double)(state >> 11) + 1) / 9007199254740992.0;
}

/* The time to the next of events that come so often a day. */
static uint64_t draw_wait(double a_day)
{
	return (uint64_t)(-log(draw()) / a_day * 24 * 60 * (double)MINUTE);
}

/* A million days of good links, 2,000 of them, each of which goes down as if by chance ten
 * times a year, and with each of its switches once a month. */
START_TEST(test_in_a_million_link_days_no_good_link_is_held)
{
	const uint64_t end_us = now_us + UINT64_C(500) * 24 * 60 * MINUTE;
	unsigned n_over = 0, n_bounces = 0;

	while (now_us < end_us) {
		unsigned spine = (unsigned)(draw() * 40),
			 leaf = (unsigned)(draw() * 50);
		bool restarts = draw() < 90 / 30.0 / (90 / 30.0 + 2000 * 10 / 365.0);

		now_us += draw_wait(90 / 30.0 + 2000 * 10 / 365.0);
		for (unsigned i = 0; i < (restarts ? 40 : 1); i++) {
			struct triad_damp_ends ends = triad_damp_ends_of(
				1000 + (restarts ? i : spine), 1 + leaf, 2000 + leaf,
				1 + (restarts ? i : spine));

			triad_damp_links_bounce(links, &ends, 50, 40,
				now_us + (uint64_t)(draw() * 1e5));
			n_bounces++;
		}
		triad_damp_links_settle(links, now_us + TRIAD_US_PER_S);
		n_over += triad_damp_links_next_over(links, now_us) != NULL;
	}
	ck_assert_uint_ge(n_bounces, 80000);
	ck_assert_uint_eq(n_over, 0);
}
END_TEST

/* However often a flapper goes down, from once a second to each four minutes. */
START_TEST(test_a_flapper_is_held_at_its_third_bounce)
{
	for (uint64_t period_us = TRIAD_US_PER_S; period_us <= 4 * MINUTE;
		period_us = period_us * 3 / 2) {
		struct triad_damp_ends ends = link_of(period_us, UINT64_MAX);
		unsigned n = 0;

		do {
			now_us += period_us;
			triad_damp_links_bounce(links, &ends, 18, 36, now_us);
			triad_damp_links_settle(links, now_us + TRIAD_DAMP_TOGETHER_US);
			n++;
		} while (!triad_damp_links_next_over(links, now_us) && n < 10);
		ck_assert_uint_le(n, 3);
		triad_damp_link_hold(links, find(ends), now_us);
	}
}
END_TEST

START_TEST(test_of_too_many_the_worst_and_the_held_are_kept)
{
	for (unsigned i = 0; i < 3; i++)
		bounce(link_of(1, 2));
	triad_damp_link_hold(links, find(link_of(1, 2)), now_us);
	for (unsigned i = 0; i < 2; i++)
		bounce(link_of(3, 4));
	for (unsigned i = 0; i < 2 * TRIAD_DAMP_MAX_LINKS; i++) {
		struct triad_damp_ends ends = link_of(5 + i, 100000 + i);

		triad_damp_links_bounce(links, &ends, 18, 36, now_us);
		now_us += 10 * TRIAD_US_PER_MS;
		triad_damp_links_settle(links, now_us);
	}
	ck_assert_uint_eq(triad_damp_links_n(links), TRIAD_DAMP_MAX_LINKS);
	ck_assert(find(link_of(1, 2))->is_held);
	ck_assert_ptr_nonnull(find(link_of(3, 4)));
}
END_TEST

/* A leaf with two links to switches, and a host. */
START_TEST(test_hosts_do_not_hide_that_a_leaf_restarts)
{
	struct triad_damp_ends ends[] = {
		triad_damp_ends_of(1, 1, 100, 1),
		triad_damp_ends_of(1, 2, 101, 1),
		triad_damp_ends_of(1, 3, 500, 1),
	};

	for (unsigned i = 0; i < 3; i++)
		triad_damp_links_bounce(
			links, &ends[i], 2, i == 2 ? TRIAD_DAMP_HOST : 36, now_us);
	now_us += TRIAD_US_PER_S;
	triad_damp_links_settle(links, now_us);
	ck_assert_uint_eq(triad_damp_links_n_together(links), 3);
	/* A host alone that restarts is a bounce of its link. */
	triad_damp_links_bounce(links, &ends[2], 2, TRIAD_DAMP_HOST, now_us);
	now_us += TRIAD_US_PER_S;
	triad_damp_links_settle(links, now_us);
	ck_assert(find(ends[2])->is_host);
	ck_assert_uint_eq(find(ends[2])->n_bounces, 1);
}
END_TEST

int main(void)
{
	TCase *cases = tcase_create("links");

	tcase_add_checked_fixture(cases, set_up, tear_down);
	tcase_add_test(cases, test_ends_of_a_link_are_the_same_from_both);
	tcase_add_test(cases, test_third_bounce_within_minutes_is_over_the_limit);
	tcase_add_test(cases, test_a_bounce_each_quarter_of_an_hour_never_is);
	tcase_add_test(cases, test_both_ends_tell_of_one_bounce);
	tcase_add_test(cases, test_a_bounce_counts_when_it_is_known_to_be_of_the_link);
	tcase_add_test(cases, test_a_node_that_restarts_is_no_flap);
	tcase_add_test(cases, test_a_held_link_returns_when_it_was_up_for_its_penalty);
	tcase_add_test(cases, test_a_held_link_that_is_up_at_once_returns);
	tcase_add_test(cases, test_each_hold_is_longer_to_a_maximum);
	tcase_add_test(cases, test_what_was_refused_is_asked_for_at_the_next_bounce);
	tcase_add_test(cases, test_release_by_hand_forgives);
	tcase_add_test(cases, test_good_links_are_forgotten);
	tcase_add_test(cases, test_in_a_million_link_days_no_good_link_is_held);
	tcase_add_test(cases, test_a_flapper_is_held_at_its_third_bounce);
	tcase_add_test(cases, test_of_too_many_the_worst_and_the_held_are_kept);
	tcase_add_test(cases, test_hosts_do_not_hide_that_a_leaf_restarts);
	return run_cases(cases);
}
