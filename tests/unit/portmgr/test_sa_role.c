/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "portmgr/sa/sa_role.h"

#include "tests/unit/run.h"

#define OTHER 0x22u
#define TICK_US (50 * TRIAD_US_PER_MS)

static struct triad_sa_past past;
static struct triad_sa_facts facts;
static uint64_t now_us;
static bool has_forgotten;

/* Advances by one tick, with unchanged facts. */
static enum triad_sa_role tick(void)
{
	bool was_master = past.was_master;

	now_us += TICK_US;
	triad_sa_past_note(&past, &facts, now_us);
	has_forgotten |= was_master && !past.was_master;
	return triad_sa_role(&past, &facts, now_us);
}

static enum triad_sa_role run(uint64_t us)
{
	enum triad_sa_role role = tick();

	for (uint64_t i = TICK_US; i < us; i += TICK_US)
		role = tick();
	return role;
}

static void begin(enum triad_sa_sm sm, bool has_lease)
{
	past = (struct triad_sa_past){.was_master = false};
	now_us = 1000 * TRIAD_US_PER_S;
	has_forgotten = false;
	facts = (struct triad_sa_facts){.sm = sm, .has_lease = has_lease};
}

static void begin_as_master(bool has_lease)
{
	begin(TRIAD_SA_SM_MASTER, has_lease);
	ck_assert_int_eq(tick(), TRIAD_SA_RESTS);
	facts.is_up = true;
	ck_assert_int_eq(run(TRIAD_US_PER_S), TRIAD_SA_GIVES);
}

static void stand_back(void)
{
	facts.sm = TRIAD_SA_SM_STANDBY;
	facts.is_up = false;
	facts.other = OTHER;
}

static void be_master_again(void)
{
	facts.sm = TRIAD_SA_SM_MASTER;
	facts.other = 0;
}

START_TEST(test_standby_takes_also_with_the_lease_already)
{
	begin(TRIAD_SA_SM_STANDBY, false);
	facts.other = OTHER;
	ck_assert_int_eq(tick(), TRIAD_SA_TAKES);
	facts.has_lease = true;
	ck_assert_int_eq(run(TRIAD_US_PER_S), TRIAD_SA_TAKES);
	facts.sm = TRIAD_SA_SM_OTHER; /* the SM is discovering */
	ck_assert_int_eq(tick(), TRIAD_SA_RESTS);
	be_master_again();
	ck_assert_int_eq(tick(), TRIAD_SA_RESTS);
	facts.is_up = true;
	ck_assert_int_eq(tick(), TRIAD_SA_GIVES);
	ck_assert(!has_forgotten);
}
END_TEST

START_TEST(test_master_that_another_one_replaced_forgets)
{
	begin_as_master(true);
	stand_back();
	facts.has_lease = false;
	/* The SM may get the lease back after a moment. */
	ck_assert_int_eq(tick(), TRIAD_SA_RESTS);
	ck_assert(!has_forgotten);
	ck_assert_int_eq(run(TRIAD_SA_LEASE_US), TRIAD_SA_TAKES);
	ck_assert(has_forgotten);
}
END_TEST

/* Another SM got the lease meanwhile. */
START_TEST(test_master_back_from_a_pause_takes)
{
	begin_as_master(true);
	now_us += 2 * TRIAD_SA_LEASE_US;
	facts.has_lease = false;
	facts.other = OTHER;
	ck_assert_int_eq(tick(), TRIAD_SA_TAKES);
	ck_assert(has_forgotten);
	stand_back();
	ck_assert_int_eq(tick(), TRIAD_SA_TAKES);
}
END_TEST

START_TEST(test_master_with_the_lease_that_waits_for_another_one_gives)
{
	begin_as_master(true);
	facts.other = OTHER;
	ck_assert_int_eq(run(10 * TRIAD_US_PER_S), TRIAD_SA_GIVES);
	/* The lease runs out for a moment. */
	facts.has_lease = false;
	ck_assert_int_eq(run(TRIAD_SA_LEASE_US / 2), TRIAD_SA_GIVES);
	facts.has_lease = true;
	ck_assert_int_eq(run(10 * TRIAD_US_PER_S), TRIAD_SA_GIVES);
	ck_assert(!has_forgotten);
}
END_TEST

/* The master takes the other SM's records meanwhile, and then gets the lease. */
START_TEST(test_master_without_the_lease_that_waits_takes_until_it_is_handed_over_to)
{
	begin_as_master(false);
	facts.other = OTHER;
	ck_assert_int_eq(tick(), TRIAD_SA_TAKES);
	ck_assert(has_forgotten);
	facts.has_lease = true;
	ck_assert_int_eq(run(10 * TRIAD_US_PER_S), TRIAD_SA_TAKES);
	facts.other = 0;
	ck_assert_int_eq(tick(), TRIAD_SA_GIVES);
}
END_TEST

START_TEST(test_master_with_the_lease_that_hands_over_and_is_back_keeps_its_own)
{
	for (unsigned lost = 0; lost < 2; lost++) {
		begin_as_master(true);
		stand_back();
		facts.has_lease = !lost;
		ck_assert_int_eq(run(3 * TICK_US), TRIAD_SA_RESTS);
		be_master_again();
		facts.has_lease = true;
		ck_assert_int_eq(run(TRIAD_US_PER_S), TRIAD_SA_RESTS);
		facts.is_up = true;
		ck_assert_int_eq(tick(), TRIAD_SA_GIVES);
		ck_assert(!has_forgotten);
	}
}
END_TEST

/* The other SM has no Triad and a higher priority. */
START_TEST(test_master_with_the_lease_that_handed_over_for_good_takes_in_the_end)
{
	begin_as_master(true);
	stand_back();
	ck_assert_int_eq(run(TRIAD_SA_KEEP_US - 2 * TICK_US), TRIAD_SA_RESTS);
	ck_assert(!has_forgotten);
	ck_assert_int_eq(run(4 * TICK_US), TRIAD_SA_TAKES);
	ck_assert(has_forgotten);
	ck_assert_int_eq(run(TRIAD_US_PER_S), TRIAD_SA_TAKES);
}
END_TEST

START_TEST(test_without_quorum_who_stands_back_takes)
{
	begin_as_master(false);
	stand_back();
	ck_assert_int_eq(tick(), TRIAD_SA_TAKES);
	ck_assert(has_forgotten);
}
END_TEST

int main(void)
{
	TCase *cases = tcase_create("sa_role");

	tcase_add_test(cases, test_standby_takes_also_with_the_lease_already);
	tcase_add_test(cases, test_master_that_another_one_replaced_forgets);
	tcase_add_test(cases, test_master_back_from_a_pause_takes);
	tcase_add_test(
		cases, test_master_with_the_lease_that_waits_for_another_one_gives);
	tcase_add_test(cases,
		test_master_without_the_lease_that_waits_takes_until_it_is_handed_over_to);
	tcase_add_test(cases,
		test_master_with_the_lease_that_hands_over_and_is_back_keeps_its_own);
	tcase_add_test(cases,
		test_master_with_the_lease_that_handed_over_for_good_takes_in_the_end);
	tcase_add_test(cases, test_without_quorum_who_stands_back_takes);
	return run_cases(cases);
}
