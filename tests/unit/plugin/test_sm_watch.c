/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The watch that detects an SM that is master but doesn't do a master's work. */
#include "plugin/sm_watch.h"

#include <string.h>

#include "tests/unit/mentions.h"
#include "tests/unit/mentions.h"
#include "triad/clock.h"

#define OTHER UINT64_C(0x100004)
#define LOOK_US (TRIAD_US_PER_S / 4)

static struct triad_sm_watch watch;
static uint64_t now_us;

static void set_up(void)
{
	watch = (struct triad_sm_watch){0};
	now_us = 5 * TRIAD_US_PER_S;
}

static void tear_down(void)
{
}

/* Shows this state of the SM for 's' seconds; returns all changes of trouble. */
static uint32_t see(struct triad_sm_sight sight, unsigned s)
{
	uint32_t changed = 0;

	for (uint64_t end_us = now_us + s * TRIAD_US_PER_S; now_us < end_us;
		now_us += LOOK_US) {
		sight.now_us = now_us;
		changed |= triad_sm_watch_look(&watch, &sight);
	}
	return changed;
}

static const struct triad_sm_sight master = {.is_master = true};
static const struct triad_sm_sight sweeping = {.is_master = true, .is_sweeping = true};
static const struct triad_sm_sight two = {
	.is_master = true, .other_master = OTHER, .waits = true};

static void check_summary(const char *words)
{
	char text[128];

	triad_sm_watch_summary(&watch, text, sizeof(text));
	assert_mentions(text, words);
}

START_TEST(test_two_masters_reported_after_10_s_and_when_over)
{
	char text[400];

	ck_assert_uint_eq(see(two, 10), 0);
	ck_assert_uint_eq(see(two, 2), 1u << TRIAD_SM_TWO_MASTERS);
	check_summary("0x0000000000100004 master 11 s");
	triad_sm_watch_text(&watch, TRIAD_SM_TWO_MASTERS, text, sizeof(text));
	assert_line_with(text, "waits hand over");
	ck_assert_uint_eq(see(two, 100), 0);
	ck_assert_uint_eq(see(master, 1), 1u << TRIAD_SM_TWO_MASTERS);
	check_summary("");
	triad_sm_watch_text(&watch, TRIAD_SM_TWO_MASTERS, text, sizeof(text));
	ck_assert_ptr_nonnull(strstr(text, "the only master again"));
}
END_TEST

START_TEST(test_standby_has_no_trouble)
{
	struct triad_sm_sight standby = {.other_master = OTHER, .is_sweeping = true};

	ck_assert_uint_eq(see(standby, 1000), 0);
	see(two, 12);
	ck_assert_uint_eq(see(standby, 1), 1u << TRIAD_SM_TWO_MASTERS);
}
END_TEST

START_TEST(test_two_masters_twice_for_a_moment_no_trouble)
{
	ck_assert_uint_eq(see(two, 9), 0);
	see(master, 1);
	ck_assert_uint_eq(see(two, 9), 0);
}
END_TEST

/* Row: N12 */
START_TEST(test_no_answers_reported_when_no_smp_moves)
{
	struct triad_sm_sight waits = {.n_outstanding = 7, .n_smps = 100},
			      moves = waits;
	char text[400];

	/* The SM sends another SMP each second. */
	for (unsigned i = 0; i < 100; i++) {
		ck_assert_uint_eq(see(moves, 1), 0);
		moves.n_smps++;
	}
	ck_assert_uint_eq(see(waits, 30), 0);
	ck_assert_uint_eq(see(waits, 2), 1u << TRIAD_SM_NO_ANSWERS);
	check_summary("SMP 31 s");
	triad_sm_watch_text(&watch, TRIAD_SM_NO_ANSWERS, text, sizeof(text));
	ck_assert_ptr_nonnull(strstr(text, "waits for 7 SMPs"));
	waits.n_smps++;
	ck_assert_uint_eq(see(waits, 1), 1u << TRIAD_SM_NO_ANSWERS);
	triad_sm_watch_text(&watch, TRIAD_SM_NO_ANSWERS, text, sizeof(text));
	ck_assert_ptr_nonnull(strstr(text, "move again"));
	ck_assert_uint_eq(see((struct triad_sm_sight){.n_smps = 101}, 100), 0);
}
END_TEST

/* A remedy without effect is repeated each minute; it is due at once when the trouble
 * comes back. */
START_TEST(test_help_is_due_when_trouble_begins_and_each_minute)
{
	unsigned n = 0;

	ck_assert(!triad_sm_watch_is_due(&watch, TRIAD_SM_TWO_MASTERS));
	see(two, 11);
	ck_assert(triad_sm_watch_is_due(&watch, TRIAD_SM_TWO_MASTERS));
	ck_assert(!triad_sm_watch_is_due(&watch, TRIAD_SM_TWO_MASTERS));
	ck_assert(!triad_sm_watch_is_due(&watch, TRIAD_SM_SWEEP_UNENDED));
	for (unsigned i = 0; i < 200; i++) {
		see(two, 1);
		n += triad_sm_watch_is_due(&watch, TRIAD_SM_TWO_MASTERS);
	}
	ck_assert_uint_eq(n, 3);
	see(master, 1);
	ck_assert(!triad_sm_watch_is_due(&watch, TRIAD_SM_TWO_MASTERS));
	see(two, 11);
	ck_assert(triad_sm_watch_is_due(&watch, TRIAD_SM_TWO_MASTERS));
}
END_TEST

START_TEST(test_heavy_sweeps_twice_a_second_for_half_a_minute_reported)
{
	struct triad_sm_sight seen = master;
	uint32_t changed = 0;
	char text[400];

	/* Each second, which a link that flaps may cause. */
	for (unsigned i = 0; i < 100; i++, seen.n_sweeps++)
		ck_assert_uint_eq(see(seen, 1), 0);
	/* A burst. */
	seen.n_sweeps += 30;
	ck_assert_uint_eq(see(seen, 60), 0);
	for (unsigned i = 0; i < 45; i++, seen.n_sweeps += 5)
		changed |= see(seen, 1);
	ck_assert_uint_eq(changed, 1u << TRIAD_SM_SWEEPS_OFTEN);
	triad_sm_watch_text(&watch, TRIAD_SM_SWEEPS_OFTEN, text, sizeof(text));
	assert_line_with(text, "5.0 a second");
	check_summary("heavy sweeps");
	ck_assert_uint_eq(see(seen, 25), 1u << TRIAD_SM_SWEEPS_OFTEN);
	check_summary("");
}
END_TEST

START_TEST(test_sweep_unended_after_a_minute)
{
	ck_assert_uint_eq(see(sweeping, 60), 0);
	ck_assert_uint_eq(see(sweeping, 2), 1u << TRIAD_SM_SWEEP_UNENDED);
	check_summary("sweep 61 s");
	ck_assert_uint_eq(see(master, 1), 1u << TRIAD_SM_SWEEP_UNENDED);
	check_summary("");
}
END_TEST

START_TEST(test_sweep_unended_later_where_sweeps_are_long)
{
	see(sweeping, 50);
	see(master, 1);
	ck_assert_uint_eq(see(sweeping, 145), 0);
	ck_assert_uint_eq(see(sweeping, 10), 1u << TRIAD_SM_SWEEP_UNENDED);
}
END_TEST

/* A sweep cut off by a hand-over doesn't show how long sweeps take. */
START_TEST(test_sweep_that_broke_off_is_no_measure)
{
	see(sweeping, 50);
	see((struct triad_sm_sight){0}, 1);
	ck_assert_uint_eq(see(sweeping, 62), 1u << TRIAD_SM_SWEEP_UNENDED);
}
END_TEST

START_TEST(test_sweep_unended_after_ten_minutes_at_most)
{
	see(sweeping, 3000);
	see(master, 1);
	ck_assert_uint_eq(see(sweeping, 602), 1u << TRIAD_SM_SWEEP_UNENDED);
}
END_TEST

START_TEST(test_process_stopped_no_trouble)
{
	see(two, 1);
	see(sweeping, 1);
	now_us += 1000 * TRIAD_US_PER_S;
	ck_assert_uint_eq(see(sweeping, 1) | see(two, 1), 0);
	now_us += 1000 * TRIAD_US_PER_S;
	ck_assert_uint_eq(see(two, 1), 0);
}
END_TEST

int main(void)
{
	TCase *cases = tcase_create("sm_watch");

	tcase_add_checked_fixture(cases, set_up, tear_down);
	tcase_add_test(cases, test_two_masters_reported_after_10_s_and_when_over);
	tcase_add_test(cases, test_standby_has_no_trouble);
	tcase_add_test(cases, test_two_masters_twice_for_a_moment_no_trouble);
	tcase_add_test(cases, test_no_answers_reported_when_no_smp_moves);
	tcase_add_test(cases, test_help_is_due_when_trouble_begins_and_each_minute);
	tcase_add_test(
		cases, test_heavy_sweeps_twice_a_second_for_half_a_minute_reported);
	tcase_add_test(cases, test_sweep_unended_after_a_minute);
	tcase_add_test(cases, test_sweep_unended_later_where_sweeps_are_long);
	tcase_add_test(cases, test_sweep_that_broke_off_is_no_measure);
	tcase_add_test(cases, test_sweep_unended_after_ten_minutes_at_most);
	tcase_add_test(cases, test_process_stopped_no_trouble);
	return run_cases(cases);
}
