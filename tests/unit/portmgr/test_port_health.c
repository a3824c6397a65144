/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "portmgr/election/port_health.h"

#include "tests/unit/run.h"

static struct triad_port_health health;
static uint64_t now_us;

static bool look_after(uint64_t us, uint32_t n_good)
{
	now_us += us;
	return triad_port_health_look(&health, 2, n_good, now_us);
}

static void begin(void)
{
	health = (struct triad_port_health){.has_looked = false};
	now_us = TRIAD_PORT_HEALTH_MAX_US * 10;
	ck_assert(look_after(0, 2));
	ck_assert_uint_eq(health.n_good, 2);
}

/* A port goes down, and the count of good ports follows after WORSE_US. */
static void worsen(void)
{
	ck_assert(!look_after(1, 1));
	ck_assert(!look_after(TRIAD_PORT_HEALTH_WORSE_US - 1, 1));
	ck_assert_uint_eq(health.n_good, 2);
	ck_assert(look_after(1, 1));
	ck_assert_uint_eq(health.n_good, 1);
}

/* The port comes up, and the count of good ports follows after exactly 'us'. */
static void recover(uint64_t us)
{
	ck_assert(!look_after(1, 2));
	ck_assert(!look_after(us - 1, 2));
	ck_assert_uint_eq(health.n_good, 1);
	ck_assert(look_after(1, 2));
	ck_assert_uint_eq(health.n_good, 2);
	ck_assert(!look_after(1, 2));
}

START_TEST(test_port_health_first_look_counts_at_once)
{
	health = (struct triad_port_health){.has_looked = false};
	ck_assert(triad_port_health_look(&health, 2, 0, 5));
	ck_assert_uint_eq(health.n_ports, 2);
	ck_assert_uint_eq(health.n_good, 0);
}
END_TEST

START_TEST(test_port_health_with_other_ports_counts_at_once)
{
	begin();
	ck_assert(triad_port_health_look(&health, 3, 1, now_us));
	ck_assert_uint_eq(health.n_ports, 3);
	ck_assert_uint_eq(health.n_good, 1);
}
END_TEST

START_TEST(test_port_health_worse_for_a_moment_does_not_count)
{
	begin();
	for (unsigned i = 0; i < 100; i++) {
		ck_assert(!look_after(1, 1));
		ck_assert(!look_after(TRIAD_PORT_HEALTH_WORSE_US - 1, 1));
		ck_assert(!look_after(0, 2));
	}
	ck_assert_uint_eq(health.n_good, 2);
}
END_TEST

/* Row: E2 */
START_TEST(test_port_health_worse_and_worse_time_begins_anew)
{
	begin();
	ck_assert(!look_after(1, 1));
	ck_assert(!look_after(TRIAD_PORT_HEALTH_WORSE_US - 1, 0));
	ck_assert(!look_after(TRIAD_PORT_HEALTH_WORSE_US - 1, 0));
	ck_assert(look_after(1, 0));
}
END_TEST

START_TEST(test_port_health_that_flaps_waits_twice_as_long_each_time)
{
	uint64_t wait_us = TRIAD_PORT_HEALTH_BETTER_US;

	begin();
	for (; wait_us < TRIAD_PORT_HEALTH_MAX_US; wait_us *= 2) {
		worsen();
		recover(wait_us);
	}
	worsen();
	recover(TRIAD_PORT_HEALTH_MAX_US);
}
END_TEST

/* Row: E2 */
START_TEST(test_port_health_better_for_a_moment_time_begins_anew)
{
	begin();
	worsen();
	ck_assert(!look_after(1, 2));
	ck_assert(!look_after(TRIAD_PORT_HEALTH_BETTER_US - 1, 1));
	recover(TRIAD_PORT_HEALTH_BETTER_US);
}
END_TEST

START_TEST(test_port_health_quiet_for_long_forgets)
{
	begin();
	worsen();
	recover(TRIAD_PORT_HEALTH_BETTER_US);
	worsen();
	recover(TRIAD_PORT_HEALTH_BETTER_US * 2);
	look_after(TRIAD_PORT_HEALTH_MAX_US, 2);
	worsen();
	recover(TRIAD_PORT_HEALTH_BETTER_US);
}
END_TEST

START_TEST(test_port_health_not_quiet_for_long_enough_remembers)
{
	begin();
	worsen();
	look_after(1, 2);
	look_after(TRIAD_PORT_HEALTH_BETTER_US, 2);
	/* The port goes down again just before the last time is forgotten. */
	look_after(TRIAD_PORT_HEALTH_MAX_US - TRIAD_PORT_HEALTH_BETTER_US -
			TRIAD_PORT_HEALTH_WORSE_US - 3,
		2);
	worsen();
	recover(TRIAD_PORT_HEALTH_BETTER_US * 2);
}
END_TEST

/* Row: E2 */
START_TEST(test_port_health_that_flapped_is_up_long_before_it_counts_as_good)
{
	begin();
	for (unsigned i = 0; i < 2; i++) {
		look_after(1, 0);
		ck_assert(health.is_up);
		ck_assert(look_after(TRIAD_PORT_HEALTH_WORSE_US, 0));
		ck_assert(!health.is_up);
		look_after(1, 1);
		look_after(TRIAD_PORT_HEALTH_UP_US / 2, 2);
		ck_assert(!health.is_up);
		ck_assert(look_after(TRIAD_PORT_HEALTH_UP_US / 2, 1));
		ck_assert(health.is_up);
		ck_assert_uint_eq(health.n_good, 0);
	}
}
END_TEST

START_TEST(test_port_health_after_a_start_without_ports_better_counts_at_once)
{
	health = (struct triad_port_health){.has_looked = false};
	now_us = 5;
	ck_assert(look_after(0, 0));
	ck_assert(!health.is_up);
	ck_assert(look_after(1, 1));
	ck_assert(health.is_up);
	ck_assert_uint_eq(health.n_good, 1);
}
END_TEST

START_TEST(test_port_health_that_flaps_on_is_up_later_each_time)
{
	uint64_t waits_us[12];

	begin();
	for (unsigned i = 0; i < 12; i++) {
		look_after(1, 0);
		look_after(TRIAD_PORT_HEALTH_WORSE_US, 0);
		ck_assert(!health.is_up);
		waits_us[i] = now_us;
		for (look_after(1, 1); !health.is_up;)
			look_after(1000, 1);
		waits_us[i] = now_us - waits_us[i];
	}
	ck_assert_uint_le(waits_us[1], TRIAD_PORT_HEALTH_UP_US + 1001);
	ck_assert_uint_ge(waits_us[3], 4 * TRIAD_PORT_HEALTH_UP_US);
	ck_assert_uint_ge(waits_us[11], TRIAD_PORT_HEALTH_MAX_US / 10);
	ck_assert_uint_le(waits_us[11], TRIAD_PORT_HEALTH_MAX_US / 10 + 1001);
}
END_TEST

START_TEST(test_port_health_up_for_a_moment_time_begins_anew)
{
	begin();
	look_after(1, 0);
	look_after(TRIAD_PORT_HEALTH_WORSE_US, 0);
	for (unsigned i = 0; i < 100; i++) {
		look_after(1, 2);
		look_after(TRIAD_PORT_HEALTH_UP_US - 1, 2);
		look_after(1, 0);
		ck_assert(!health.is_up);
	}
}
END_TEST

int main(void)
{
	TCase *cases = tcase_create("port_health");

	tcase_add_test(cases, test_port_health_first_look_counts_at_once);
	tcase_add_test(cases, test_port_health_with_other_ports_counts_at_once);
	tcase_add_test(cases, test_port_health_worse_for_a_moment_does_not_count);
	tcase_add_test(cases, test_port_health_worse_and_worse_time_begins_anew);
	tcase_add_test(
		cases, test_port_health_that_flaps_waits_twice_as_long_each_time);
	tcase_add_test(cases, test_port_health_better_for_a_moment_time_begins_anew);
	tcase_add_test(cases, test_port_health_quiet_for_long_forgets);
	tcase_add_test(cases, test_port_health_not_quiet_for_long_enough_remembers);
	tcase_add_test(cases,
		test_port_health_that_flapped_is_up_long_before_it_counts_as_good);
	tcase_add_test(cases,
		test_port_health_after_a_start_without_ports_better_counts_at_once);
	tcase_add_test(cases, test_port_health_that_flaps_on_is_up_later_each_time);
	tcase_add_test(cases, test_port_health_up_for_a_moment_time_begins_anew);
	return run_cases(cases);
}
