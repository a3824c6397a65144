/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "damp/copy.h"

#include <errno.h>
#include <string.h>

#include "tests/unit/run.h"

static struct triad_damp_links *of_master, *of_standby;
static struct triad_damp_copy copy;
static uint8_t octets[TRIAD_DAMP_COPY_SIZE];
static const uint64_t master_us = 5000 * TRIAD_US_PER_S,
		      standby_us = 90000 * TRIAD_US_PER_S;

static void set_up(void)
{
	of_master = triad_damp_links_new();
	of_standby = triad_damp_links_new();
	memset(&copy, 0, sizeof(copy));
}

static void tear_down(void)
{
	triad_damp_links_free(of_master);
	triad_damp_links_free(of_standby);
}

static struct triad_damp_ends link_of(unsigned i)
{
	return triad_damp_ends_of(100 + i, 1, 10000 + i, 2);
}

static struct triad_damp_link *hold(unsigned i)
{
	struct triad_damp_ends ends = link_of(i);
	struct triad_damp_link *link = triad_damp_links_find(of_master, &ends, true);

	link->penalty = 3000;
	link->at_us = master_us - 7 * TRIAD_US_PER_S;
	link->n_bounces = 5;
	triad_damp_link_hold(of_master, link, master_us - 6 * TRIAD_US_PER_S);
	return link;
}

static struct triad_damp_link *copied(unsigned i)
{
	struct triad_damp_ends ends = link_of(i);
	struct triad_damp_link *link = triad_damp_links_find(of_standby, &ends, false);

	return link && link->is_held ? link : NULL;
}

/* A round, without the piece 'lost'. */
static unsigned tell(uint32_t round, unsigned lost)
{
	unsigned piece = 0;
	size_t size;

	for (; (size = triad_damp_copy_write(
			of_master, round, piece, master_us, octets));
		piece++)
		if (piece != lost)
			ck_assert_int_eq(triad_damp_copy_take(&copy, of_standby, octets,
						 size, standby_us),
				0);
	return piece;
}

START_TEST(test_standby_holds_what_the_master_holds_and_as_long)
{
	struct triad_damp_link *link = hold(1), *there;

	link->is_pinned = link->is_by_heal = true;
	hold(2);
	ck_assert_uint_eq(tell(1, UINT32_MAX), 1);
	there = copied(1);
	ck_assert_ptr_nonnull(there);
	ck_assert(there->is_pinned && !copied(2)->is_pinned);
	ck_assert(there->is_by_heal && !copied(2)->is_by_heal);
	ck_assert_uint_eq(
		there->quiet_us / TRIAD_US_PER_S, link->quiet_us / TRIAD_US_PER_S);
	ck_assert_uint_eq(standby_us - there->held_us, master_us - link->held_us);
	ck_assert_uint_eq(standby_us - there->at_us, master_us - link->at_us);
	ck_assert_uint_eq(there->n_bounces, 5);
	ck_assert_uint_eq(there->n_holds, 1);
	ck_assert(!there->is_up);
}
END_TEST

START_TEST(test_what_a_whole_round_does_not_name_is_let_go)
{
	for (unsigned i = 0; i < 60; i++)
		hold(i);
	ck_assert_uint_eq(tell(1, UINT32_MAX), 3);
	for (unsigned i = 0; i < 60; i++)
		ck_assert_ptr_nonnull(copied(i));
	for (unsigned i = 0; i < 60; i++)
		if (i != 7) {
			struct triad_damp_ends ends = link_of(i);

			triad_damp_link_release(
				triad_damp_links_find(of_master, &ends, false), false,
				master_us);
		}
	tell(2, UINT32_MAX);
	for (unsigned i = 0; i < 60; i++)
		ck_assert_int_eq(copied(i) != NULL, i == 7);
	triad_damp_link_release(
		triad_damp_links_find(
			of_master, &(struct triad_damp_ends){107, 10007, 1, 2}, false),
		false, master_us);
	ck_assert_uint_eq(tell(3, UINT32_MAX), 1);
	ck_assert_ptr_null(copied(7));
}
END_TEST

START_TEST(test_a_round_that_is_not_whole_lets_nothing_go)
{
	for (unsigned i = 0; i < 60; i++)
		hold(i);
	for (unsigned lost = 0; lost < 3; lost++)
		tell(1 + lost, lost);
	for (unsigned i = 0; i < 60; i++)
		ck_assert_ptr_nonnull(copied(i));
	/* Pieces of two rounds are none. */
	tell(10, 0);
	tell(11, 1);
	ck_assert_uint_eq(copy.pieces, 5);
}
END_TEST

START_TEST(test_what_is_no_list_is_refused)
{
	struct triad_damp_link *link = hold(1);
	size_t size = triad_damp_copy_write(of_master, 1, 0, master_us, octets);
	uint8_t bad[TRIAD_DAMP_COPY_SIZE];

	for (size_t n = 0; n < size; n++)
		ck_assert_int_eq(
			triad_damp_copy_take(&copy, of_standby, octets, n, standby_us),
			EINVAL);
	memcpy(bad, octets, size);
	bad[4] = 2;
	ck_assert_int_eq(triad_damp_copy_take(&copy, of_standby, bad, size, standby_us),
		EPROTONOSUPPORT);
	/* More pieces than a round has, a piece beyond them, more links than fit. */
	for (unsigned at = 6; at <= 10; at += 2) {
		memcpy(bad, octets, size);
		bad[at + 1] = 200;
		ck_assert_int_eq(
			triad_damp_copy_take(&copy, of_standby, bad, size, standby_us),
			EINVAL);
	}
	/* Port 0; ends in the other order; a penalty beyond the ceiling. */
	memcpy(bad, octets, size);
	bad[16 + 16] = 0;
	ck_assert_int_eq(
		triad_damp_copy_take(&copy, of_standby, bad, size, standby_us), EINVAL);
	memcpy(bad, octets, size);
	bad[16] = 0xff;
	ck_assert_int_eq(
		triad_damp_copy_take(&copy, of_standby, bad, size, standby_us), EINVAL);
	memcpy(bad, octets, size);
	bad[16 + 20] = 0xff;
	ck_assert_int_eq(
		triad_damp_copy_take(&copy, of_standby, bad, size, standby_us), EINVAL);
	ck_assert_uint_eq(triad_damp_links_n(of_standby), 0);
	(void)link;
}
END_TEST

int main(void)
{
	TCase *cases = tcase_create("copy");

	tcase_add_checked_fixture(cases, set_up, tear_down);
	tcase_add_test(cases, test_standby_holds_what_the_master_holds_and_as_long);
	tcase_add_test(cases, test_what_a_whole_round_does_not_name_is_let_go);
	tcase_add_test(cases, test_a_round_that_is_not_whole_lets_nothing_go);
	tcase_add_test(cases, test_what_is_no_list_is_refused);
	return run_cases(cases);
}
