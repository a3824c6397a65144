/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Details that agents report to a manager: the manager's totals are those that one
 * uninterrupted reader would have. */
#include "perfmgr/details.h"

#include <stdio.h>
#include <time.h>

#include "tests/random.h"
#include "tests/unit/run.h"

#define S UINT64_C(1000000)
#define ATTRIBUTE TRIAD_PMA_RCV_ERROR_DETAILS
#define N_SLOTS 6u
#define N_AGENTS 3u
#define MAX_ON_THE_WAY 8u

static const struct triad_details_port port = {
	.row = 5, .number = 3, .node_guid = 0x11};
static const struct triad_details_port at_manager = {
	.row = 77, .number = 3, .node_guid = 0x11};

struct letter {
	uint32_t reporter;
	struct triad_details_report report;
	uint64_t truth[N_SLOTS]; /* the true totals when it was read */
};

static uint64_t seed, state, now_us;
static struct triad_details *agents[N_AGENTS], *manager;
static uint32_t starts[N_AGENTS];
static uint32_t raw[N_SLOTS];
static uint64_t counted[N_SLOTS]; /* since the beginning */
static struct letter letters[MAX_ON_THE_WAY];
static unsigned n_letters, owner;
static struct triad_detail_row row;

static void set_up(void)
{
	for (unsigned i = 0; i < N_AGENTS; i++) {
		agents[i] = triad_details_new(1 << 20);
		starts[i] = 100 * (i + 1);
	}
	manager = triad_details_new(1 << 20);
	memset(raw, 0, sizeof(raw));
	memset(counted, 0, sizeof(counted));
	n_letters = owner = 0;
	now_us = 1000 * S;
}

static void tear_down(void)
{
	for (unsigned i = 0; i < N_AGENTS; i++)
		triad_details_free(agents[i]);
	triad_details_free(manager);
}

/* --- a port, its reader, and the reader's messages --- */

static void read_port(bool after_reset)
{
	struct triad_detail_reading reading = {{0}};

	for (unsigned i = 0; i < N_SLOTS; i++)
		reading.raw[i] = raw[i];
	triad_details_update(
		agents[owner], &port, ATTRIBUTE, &reading, after_reset, now_us);
}

static void work(void)
{
	for (unsigned i = 0; i < N_SLOTS; i++) {
		uint32_t more =
			random_below(&state, 3) ? 0 : random_below(&state, 2000);

		raw[i] += more;
		counted[i] += more;
	}
	read_port(false);
	/* Near its maximum the reader resets the whole attribute. */
	for (unsigned i = 0; i < N_SLOTS; i++)
		if (raw[i] > 49000) {
			memset(raw, 0, sizeof(raw));
			read_port(true);
		}
}

static void describe(struct letter *letter)
{
	letter->reporter = starts[owner];
	ck_assert(triad_details_describe(
		agents[owner], &port, ATTRIBUTE, &letter->report));
	memcpy(letter->truth, counted, sizeof(counted));
}

/* If the manager takes the report, its totals must be the true ones at the reading. */
static bool take(const struct letter *letter)
{
	if (!triad_details_take(
		    manager, &at_manager, ATTRIBUTE, &letter->report, letter->reporter))
		return false;
	ck_assert(triad_details_read(manager, &at_manager, ATTRIBUTE, &row));
	for (unsigned i = 0; i < N_SLOTS; i++)
		ck_assert_uint_eq(row.total[i], letter->truth[i]);
	return true;
}

/* Delivers a random letter, so that letters overtake each other. */
static void deliver(void)
{
	unsigned i = random_below(&state, n_letters);

	/* The aggregator discards reports of a former owner before this point. */
	if (letters[i].reporter == starts[owner] && random_below(&state, 4))
		take(&letters[i]);
	letters[i] = letters[--n_letters];
}

/* Another agent takes over the port, or the same one restarts.  The last report of the
 * old owner and the first of the new one arrive: otherwise no agent would know what the
 * hardware counted before a reset between the two (collect/aggregator.h). */
static void change_hands(void)
{
	struct letter last;

	describe(&last);
	take(&last);
	now_us += 3 * S;
	owner = random_below(&state, N_AGENTS);
	starts[owner]++;
	if (random_below(&state, 2)) {
		triad_details_free(agents[owner]);
		agents[owner] = triad_details_new(1 << 20);
	}
	read_port(false);
	describe(&last);
	ck_assert(take(&last));
}

/* Row: M4, M5, N4 */
START_TEST(test_totals_go_on_whoever_reads_and_whatever_is_lost)
{
	struct letter last;

	/* Each case runs in its own process, so its seed must differ from the
	 * others'. */
	state = seed + (uint64_t)_i;
	for (unsigned step = 0; step < 2000; step++) {
		now_us += S / 2 + random_below(&state, 1000000);
		work();
		if (n_letters < MAX_ON_THE_WAY)
			describe(&letters[n_letters++]);
		while (n_letters && random_below(&state, 3))
			deliver();
		if (!random_below(&state, 50))
			change_hands();
	}
	describe(&last);
	take(&last);
	ck_assert(triad_details_read(manager, &at_manager, ATTRIBUTE, &row));
	for (unsigned i = 0; i < N_SLOTS; i++)
		ck_assert_uint_eq(row.total[i], counted[i]);
}
END_TEST

/* --- one thing at a time --- */

static struct triad_details_report report;

static bool receive(uint32_t reporter, uint32_t raw_value, uint64_t base, unsigned t)
{
	report = (struct triad_details_report){
		.read_us = t * S, .raw = {raw_value}, .base = {base}};
	return triad_details_take(manager, &at_manager, ATTRIBUTE, &report, reporter);
}

static void look(void)
{
	ck_assert(triad_details_read(manager, &at_manager, ATTRIBUTE, &row));
}

START_TEST(test_first_report_sets_the_total)
{
	ck_assert(receive(1, 7, 1000, 10));
	look();
	ck_assert_uint_eq(row.total[0], 1007);
	ck_assert_uint_eq(row.change[0], 0);
	ck_assert_uint_eq(row.interval_us, 0);
	ck_assert(receive(1, 9, 1000, 14));
	look();
	ck_assert_uint_eq(row.change[0], 2);
	ck_assert_uint_eq(row.interval_us, 4 * S);
}
END_TEST

START_TEST(test_reset_that_the_agent_saw_loses_nothing)
{
	receive(1, 60000, 0, 10);
	ck_assert(receive(1, 4, 60500, 20));
	look();
	ck_assert_uint_eq(row.total[0], 60504);
	ck_assert_uint_eq(row.change[0], 504);
}
END_TEST

START_TEST(test_report_that_was_overtaken_is_left_out)
{
	receive(1, 9, 0, 10);
	ck_assert(!receive(1, 8, 0, 20));
	look();
	ck_assert_uint_eq(row.total[0], 9);
}
END_TEST

/* Agents' clocks differ too much to order two readings within two seconds. */
START_TEST(test_lower_counter_of_another_agent_is_a_reset_only_later)
{
	receive(1, 9, 0, 10);
	ck_assert(!receive(2, 5, 0, 11));
	ck_assert(receive(2, 5, 0, 13));
	look();
	ck_assert_uint_eq(row.total[0], 14);
	ck_assert(!receive(1, 9, 0, 12));
}
END_TEST

START_TEST(test_zeros_before_make_the_whole_value_a_change)
{
	ck_assert(receive(1, 0, 0, 10));
	look();
	ck_assert_uint_eq(row.total[0], 0);
	ck_assert(receive(1, 3, 8, 20));
	look();
	ck_assert_uint_eq(row.total[0], 11);
	ck_assert_uint_eq(row.change[0], 11);
}
END_TEST

START_TEST(test_zeros_of_another_agent_are_the_hardware_value)
{
	ck_assert(receive(1, 0, 0, 10));
	ck_assert(receive(2, 3, 800, 20));
	look();
	ck_assert_uint_eq(row.total[0], 3);
}
END_TEST

START_TEST(test_total_set_to_zero_here_grows_from_there)
{
	receive(1, 9, 100, 10);
	triad_details_zero(manager, &at_manager);
	look();
	ck_assert_uint_eq(row.total[0], 0);
	receive(1, 2, 112, 20);
	look();
	ck_assert_uint_eq(row.total[0], 5);
}
END_TEST

START_TEST(test_row_of_another_port_begins_anew)
{
	const struct triad_details_port other = {
		.row = 77, .number = 4, .node_guid = 0x12};

	receive(1, 9, 100, 10);
	report.raw[0] = 1;
	ck_assert(triad_details_take(manager, &other, ATTRIBUTE, &report, 1));
	ck_assert(triad_details_read(manager, &other, ATTRIBUTE, &row));
	ck_assert_uint_eq(row.total[0], 101);
	ck_assert(!triad_details_read(manager, &at_manager, ATTRIBUTE, &row));
}
END_TEST

START_TEST(test_own_reading_goes_on_from_what_an_agent_reported)
{
	struct triad_detail_reading reading = {{12}};

	receive(1, 9, 100, 10);
	triad_details_update(manager, &at_manager, ATTRIBUTE, &reading, false, 20 * S);
	look();
	ck_assert_uint_eq(row.total[0], 112);
	ck_assert_uint_eq(row.change[0], 3);
	ck_assert(receive(1, 14, 100, 30));
	look();
	ck_assert_uint_eq(row.total[0], 114);
}
END_TEST

START_TEST(test_report_without_memory_is_counted)
{
	triad_details_free(manager);
	manager = triad_details_new(100);
	ck_assert(!receive(1, 9, 0, 10));
	ck_assert_uint_eq(triad_details_counts(manager).n_dropped, 1);
}
END_TEST

START_TEST(test_version_changes_with_each_write)
{
	uint32_t first;

	ck_assert_uint_eq(triad_details_version(manager, &at_manager), 0);
	receive(1, 9, 0, 10);
	first = triad_details_version(manager, &at_manager);
	ck_assert_uint_ne(first, 0);
	ck_assert_uint_eq(triad_details_version(manager, &at_manager), first);
	receive(1, 9, 0, 11);
	ck_assert_uint_ne(triad_details_version(manager, &at_manager), first);
}
END_TEST

int main(void)
{
	TCase *cases = tcase_create("details_told");

	seed = (uint64_t)time(NULL);
	printf("# seed %llu\n", (unsigned long long)seed);
	tcase_add_checked_fixture(cases, set_up, tear_down);
	tcase_add_loop_test(
		cases, test_totals_go_on_whoever_reads_and_whatever_is_lost, 0, 20);
	tcase_add_test(cases, test_first_report_sets_the_total);
	tcase_add_test(cases, test_reset_that_the_agent_saw_loses_nothing);
	tcase_add_test(cases, test_report_that_was_overtaken_is_left_out);
	tcase_add_test(
		cases, test_lower_counter_of_another_agent_is_a_reset_only_later);
	tcase_add_test(cases, test_zeros_before_make_the_whole_value_a_change);
	tcase_add_test(cases, test_zeros_of_another_agent_are_the_hardware_value);
	tcase_add_test(cases, test_total_set_to_zero_here_grows_from_there);
	tcase_add_test(cases, test_row_of_another_port_begins_anew);
	tcase_add_test(cases, test_own_reading_goes_on_from_what_an_agent_reported);
	tcase_add_test(cases, test_report_without_memory_is_counted);
	tcase_add_test(cases, test_version_changes_with_each_write);
	return run_cases(cases);
}
