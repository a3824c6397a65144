/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* An agent's table of paths when managers' messages come late, are lost or doubled,
 * when managers' clocks differ, and when the agent is stopped for a while. */
#include "collect/path_keeper.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "tests/random.h"
#include "tests/unit/run.h"

#define SELF 0x2001u
#define MS TRIAD_US_PER_MS
#define ONE ~UINT64_C(0x1001)
#define TWO ~UINT64_C(0x1002)
#define AHEAD (UINT64_C(77) * TRIAD_US_PER_S) /* a manager's clock minus the agent's */

static struct triad_path_keeper keeper;
static uint64_t now_us;

static void set_up(void)
{
	memset(&keeper, 0, sizeof(keeper));
	triad_path_keeper_init(&keeper, SELF);
	now_us = 1000 * TRIAD_US_PER_S;
}

static void tear_down(void)
{
	triad_path_keeper_clear(&keeper);
}

static bool receive_from(uint8_t *octets, size_t size)
{
	struct triad_collect_head head;
	enum triad_path_what what;
	struct triad_wire body;

	ck_assert_int_eq(triad_collect_get_head(octets, size, &head, &body),
		TRIAD_COLLECT_HEAD_GOOD);
	ck_assert(triad_path_get_what(&body, &what));
	return triad_path_keeper_receive(&keeper, &head, what, &body, now_us);
}

struct timed_beat {
	uint64_t id, incarnation;
	struct triad_path_beat beat;
};

static void receive_beat(const struct timed_beat *timed_beat)
{
	const struct triad_collect_head head = {
		.sender = timed_beat->id, .incarnation = timed_beat->incarnation};
	uint8_t octets[64];

	ck_assert(receive_from(octets,
		triad_path_put_beat(&head, &timed_beat->beat, octets, sizeof(octets))));
}

/* A beat sent now, by a manager whose clock is ahead of the agent's. */
static struct timed_beat beat_of(uint64_t id, uint64_t generation)
{
	return (struct timed_beat){.id = id,
		.incarnation = 5,
		.beat = {.has_paths = generation,
			.time_us = now_us + AHEAD,
			.generation = generation}};
}

static void beat_now(uint64_t id, uint64_t generation)
{
	struct timed_beat timed_beat = beat_of(id, generation);

	receive_beat(&timed_beat);
}

/* Receives a table with a row for each of 'n' LIDs; only its first piece unless
 * 'is_whole'. */
static void receive_table(uint64_t id, uint64_t generation, uint32_t n, bool is_whole)
{
	const struct triad_collect_head head = {.sender = id, .incarnation = 5};
	static uint8_t octets[TRIAD_PATH_MESSAGE_SIZE];
	struct triad_path_table *table = triad_path_table_new(n);
	uint32_t first = 0, n_rows;

	table->generation = generation;
	table->lid = 1;
	for (uint32_t i = 0; i < n; i++)
		table->rows[i] = (struct triad_path_row){
			.guid = i + 1, .lid = (uint16_t)(i + 1), .has_path = true};
	do {
		size_t size = triad_path_put_piece(
			&head, table, first, &n_rows, octets, sizeof(octets));

		(void)receive_from(octets, size);
		first += n_rows;
	} while (first < n && is_whole);
	triad_path_table_unref(table);
}

static enum triad_path_state look(void)
{
	uint64_t until_us;

	return triad_path_keeper_look(&keeper, now_us, &until_us);
}

/* Sets '*want' to the agent's request; false: it has none. */
static bool step(struct triad_path_want *want)
{
	uint64_t manager, next_us;

	return triad_path_keeper_step(&keeper, now_us, want, &manager, &next_us);
}

/* The agent asks, and is answered at once with a beat and a table. */
static void be_valid(uint64_t id, uint64_t generation)
{
	struct triad_path_want want;
	struct timed_beat timed_beat;

	beat_now(id, generation);
	ck_assert(step(&want));
	ck_assert(want.wants_table);
	timed_beat = beat_of(id, generation);
	timed_beat.beat.echo = want.echo;
	receive_beat(&timed_beat);
	receive_table(id, want.generation, 3, true);
	ck_assert_int_eq(look(), TRIAD_PATHS_VALID);
}

START_TEST(test_table_is_valid_until_beats_are_old)
{
	ck_assert_int_eq(look(), TRIAD_PATHS_NO_BEATS);
	be_valid(ONE, 7);
	now_us += TRIAD_PATH_LIFE_US - 1;
	ck_assert_int_eq(look(), TRIAD_PATHS_VALID);
	now_us++;
	ck_assert_int_eq(look(), TRIAD_PATHS_NO_BEATS);
	beat_now(ONE, 7);
	ck_assert_int_eq(look(), TRIAD_PATHS_VALID);
}
END_TEST

START_TEST(test_another_generation_ends_it_at_once)
{
	struct triad_path_want want;

	be_valid(ONE, 7);
	beat_now(ONE, 8);
	ck_assert_int_eq(look(), TRIAD_PATHS_COMING);
	ck_assert(step(&want));
	ck_assert_uint_eq(want.generation, 8);
	/* The agent ignores a table of the old generation that was in flight. */
	receive_table(ONE, 7, 3, true);
	ck_assert_int_eq(look(), TRIAD_PATHS_COMING);
	receive_table(ONE, 8, 3, true);
	ck_assert_int_eq(look(), TRIAD_PATHS_VALID);
	beat_now(ONE, 0);
	ck_assert_int_eq(look(), TRIAD_PATHS_NONE);
}
END_TEST

/* Beats wait in the socket while the process is stopped. */
START_TEST(test_beats_that_waited_are_old)
{
	struct timed_beat waited[8];
	struct triad_path_want want;

	be_valid(ONE, 7);
	for (unsigned i = 0; i < 8; i++, now_us += TRIAD_PATH_BEAT_US)
		waited[i] = beat_of(ONE, 7);
	now_us += TRIAD_US_PER_S;
	for (unsigned i = 0; i < 8; i++) {
		receive_beat(&waited[i]);
		ck_assert_int_eq(look(), TRIAD_PATHS_NO_BEATS);
	}
	ck_assert_uint_eq(keeper.counts.n_late, 8);
	/* The agent asks, to compare its clock with the manager's again. */
	ck_assert(step(&want));
	beat_now(ONE, 7);
	ck_assert_int_eq(look(), TRIAD_PATHS_VALID);
}
END_TEST

/* If the answer took long, the offset of the clocks is uncertain.  The agent then takes
 * the earliest possible time at which a beat was sent. */
START_TEST(test_slow_answer_makes_beats_older)
{
	struct triad_path_want want;
	struct timed_beat timed_beat;

	beat_now(ONE, 7);
	ck_assert(step(&want));
	now_us += 600 * MS;
	timed_beat = beat_of(ONE, 7);
	timed_beat.beat.echo = want.echo;
	receive_beat(&timed_beat);
	receive_table(ONE, 7, 3, true);
	ck_assert_int_eq(look(), TRIAD_PATHS_VALID);
	now_us += TRIAD_PATH_LIFE_US - 600 * MS;
	ck_assert_int_eq(look(), TRIAD_PATHS_NO_BEATS);
	/* A faster answer makes the offset more precise. */
	beat_now(ONE, 7);
	ck_assert_int_eq(look(), TRIAD_PATHS_VALID);
	timed_beat = beat_of(ONE, 7);
	timed_beat.beat.echo = now_us;
	receive_beat(&timed_beat);
	now_us += TRIAD_PATH_LIFE_US - 1;
	ck_assert_int_eq(look(), TRIAD_PATHS_VALID);
}
END_TEST

START_TEST(test_two_that_answer_are_none)
{
	be_valid(ONE, 7);
	beat_now(TWO, 7);
	ck_assert_int_eq(look(), TRIAD_PATHS_TWO);
	/* TWO reports that it answers no requests. */
	beat_now(TWO, 0);
	ck_assert_int_eq(look(), TRIAD_PATHS_VALID);
	beat_now(TWO, 7);
	now_us += TRIAD_PATH_LIFE_US / 2;
	beat_now(ONE, 7);
	now_us += TRIAD_PATH_LIFE_US / 2;
	ck_assert_int_eq(look(), TRIAD_PATHS_VALID);
}
END_TEST

/* An equal number from another SM, or from another start of the SM, is another
 * generation. */
START_TEST(test_generations_of_two_sms_are_not_mistaken)
{
	struct timed_beat timed_beat;

	be_valid(ONE, 7);
	now_us += TRIAD_PATH_LIFE_US;
	timed_beat = beat_of(TWO, 7);
	timed_beat.beat.echo = now_us;
	receive_beat(&timed_beat);
	ck_assert_int_eq(look(), TRIAD_PATHS_COMING);
	now_us += TRIAD_PATH_LIFE_US;
	timed_beat = beat_of(ONE, 7);
	timed_beat.incarnation = 6;
	timed_beat.beat.echo = now_us;
	receive_beat(&timed_beat);
	ck_assert_int_eq(look(), TRIAD_PATHS_COMING);
	/* A beat of the SM's earlier start doesn't count. */
	beat_now(ONE, 7);
	ck_assert_int_eq(look(), TRIAD_PATHS_COMING);
}
END_TEST

START_TEST(test_beat_from_the_future_is_not_believed)
{
	struct timed_beat timed_beat;

	be_valid(ONE, 7);
	/* The agent's clock stood still for an hour. */
	timed_beat = beat_of(ONE, 7);
	timed_beat.beat.time_us += 3600 * TRIAD_US_PER_S;
	receive_beat(&timed_beat);
	ck_assert_int_eq(look(), TRIAD_PATHS_NO_BEATS);
	now_us += 400 * MS;
	timed_beat.beat.time_us += 400 * MS;
	timed_beat.beat.echo = now_us - 1;
	receive_beat(&timed_beat);
	ck_assert_int_eq(look(), TRIAD_PATHS_VALID);
}
END_TEST

START_TEST(test_requests_are_repeated_later_each_time)
{
	struct triad_path_want want;
	struct timed_beat timed_beat;
	unsigned n = 0;

	for (unsigned i = 0; i < 200; i++, now_us += 100 * MS) {
		beat_now(ONE, 7);
		n += step(&want);
	}
	ck_assert_uint_ge(n, 5);
	ck_assert_uint_le(n, 10);
	/* The agent asks for a new generation at once. */
	beat_now(ONE, 8);
	ck_assert(step(&want));
	ck_assert(!step(&want));
	/* It also does for the same number of another start, and of another SM. */
	timed_beat = beat_of(ONE, 8);
	timed_beat.incarnation = 6;
	receive_beat(&timed_beat);
	ck_assert(step(&want));
	ck_assert(!step(&want));
	timed_beat.beat.has_paths = false;
	receive_beat(&timed_beat);
	beat_now(TWO, 8);
	ck_assert(step(&want));
	/* The agent no longer waits for a table of ONE. */
	receive_table(ONE, 8, 3, true);
	ck_assert_uint_eq(keeper.counts.n_tables, 0);
	receive_table(TWO, 8, 3, true);
	ck_assert_uint_eq(keeper.counts.n_tables, 1);
}
END_TEST

START_TEST(test_pieces_out_of_order_make_no_table)
{
	const struct triad_collect_head head = {.sender = ONE, .incarnation = 5};
	static uint8_t octets[TRIAD_PATH_MESSAGE_SIZE];
	uint32_t n_all = 2 * TRIAD_PATH_PIECE_ROWS, n;
	struct triad_path_table *table;
	struct triad_path_want want;

	be_valid(ONE, 7);
	beat_now(ONE, 8);
	ck_assert(step(&want));
	receive_table(ONE, 8, n_all, false);
	ck_assert_int_eq(look(), TRIAD_PATHS_COMING);
	/* LIDs that don't ascend. */
	table = triad_path_table_new(n_all);
	table->generation = 8;
	table->lid = 1;
	for (uint32_t i = 0; i < n_all; i++)
		table->rows[i] = (struct triad_path_row){.guid = 1, .lid = 1};
	ck_assert(!receive_from(octets,
		triad_path_put_piece(&head, table, TRIAD_PATH_PIECE_ROWS, &n, octets,
			sizeof(octets))));
	/* The second piece comes without the first. */
	ck_assert(receive_from(octets,
		triad_path_put_piece(&head, table, TRIAD_PATH_PIECE_ROWS, &n, octets,
			sizeof(octets))));
	triad_path_table_unref(table);
	ck_assert_int_eq(look(), TRIAD_PATHS_COMING);
	ck_assert_uint_eq(keeper.counts.n_refused, 2);
	receive_table(ONE, 8, n_all, true);
	ck_assert_int_eq(look(), TRIAD_PATHS_VALID);
	ck_assert_uint_eq(keeper.table->n_paths, n_all);
	ck_assert_uint_eq(keeper.table->guid, SELF);
}
END_TEST

/* --- a storm -------------------------------------------------------------------- */

#define N_MESSAGES 256u
#define STORM_MS 30000u

/* A message in flight to the agent or to the manager. */
struct message {
	uint64_t at_us; /* 0: free */
	bool is_want;
	struct triad_path_want want;
	bool is_table;
	struct timed_beat timed_beat;
};

struct sm {
	uint64_t id, incarnation, generation;
	uint64_t ahead_us;
	bool is_answering;
	uint64_t beat_us;
	/* When each of its generations ended; UINT64_MAX: not yet. */
	uint64_t over_us[512];
};

struct storm {
	uint64_t seed;
	struct message messages[N_MESSAGES];
	struct sm sms[2];
	uint64_t stopped_until_us;
	unsigned late_percent, lost_percent;
	uint64_t n_valid, n_looks;
};

static void post(struct storm *storm, struct message message)
{
	bool is_late = random_below(&storm->seed, 100) < storm->late_percent;

	if (random_below(&storm->seed, 100) < storm->lost_percent)
		return;
	message.at_us = now_us + 1 +
		random_below(&storm->seed, (unsigned)(is_late ? 4000 * MS : 20 * MS));
	for (unsigned i = 0; i < N_MESSAGES; i++)
		if (!storm->messages[i].at_us) {
			storm->messages[i] = message;
			return;
		}
	ck_abort_msg("too many messages");
}

static struct timed_beat make_beat(const struct sm *sm, uint64_t echo)
{
	return (struct timed_beat){.id = sm->id,
		.incarnation = sm->incarnation,
		.beat = {.has_paths = sm->is_answering,
			.time_us = now_us + sm->ahead_us,
			.generation = sm->generation,
			.echo = echo}};
}

static void end_generation(struct sm *sm)
{
	sm->over_us[sm->generation] = now_us;
	sm->generation++;
	ck_assert_uint_lt(sm->generation, 512);
	sm->over_us[sm->generation] = UINT64_MAX;
}

/* An SM answers while it is master.  At random it begins a new generation, hands over
 * to the other SM, or restarts. */
static void live(struct storm *storm, struct sm *sm, struct sm *other)
{
	unsigned dice = random_below(&storm->seed, 8000);

	if (dice == 0 || dice == 1)
		end_generation(sm);
	if (dice == 2 && sm->is_answering) {
		end_generation(sm);
		sm->is_answering = false;
		other->is_answering = true;
	}
	if (dice == 3) {
		end_generation(sm);
		sm->incarnation++;
	}
	if (now_us - sm->beat_us < TRIAD_PATH_BEAT_US)
		return;
	sm->beat_us = now_us;
	/* An SM that isn't master sends no beats. */
	if (sm->is_answering)
		post(storm, (struct message){.timed_beat = make_beat(sm, 0)});
}

static void answer(struct storm *storm, const struct message *asked)
{
	for (unsigned i = 0; i < 2; i++) {
		struct sm *sm = &storm->sms[i];

		if (sm->id != asked->timed_beat.id || !sm->is_answering)
			continue;
		post(storm,
			(struct message){
				.timed_beat = make_beat(sm, asked->want.echo)});
		if (asked->want.wants_table && asked->want.generation == sm->generation)
			post(storm,
				(struct message){.is_table = true,
					.timed_beat = make_beat(sm, 0)});
	}
}

static void receive_storm_table(const struct timed_beat *timed_beat)
{
	const struct triad_collect_head head = {
		.sender = timed_beat->id, .incarnation = timed_beat->incarnation};
	struct triad_path_table *table = triad_path_table_new(1);
	uint8_t octets[128];
	uint32_t n;

	table->generation = timed_beat->beat.generation;
	table->lid = 1;
	table->rows[0] = (struct triad_path_row){.guid = 1, .lid = 1};
	(void)receive_from(octets,
		triad_path_put_piece(&head, table, 0, &n, octets, sizeof(octets)));
	triad_path_table_unref(table);
}

/* Delivers messages that are due; those to the agent wait while it is stopped. */
static void deliver(struct storm *storm, bool is_stopped)
{
	for (unsigned i = 0; i < N_MESSAGES; i++) {
		struct message message = storm->messages[i];

		if (!message.at_us || message.at_us > now_us ||
			(is_stopped && !message.is_want))
			continue;
		storm->messages[i].at_us = 0;
		if (message.is_want)
			answer(storm, &message);
		else if (message.is_table)
			receive_storm_table(&message.timed_beat);
		else
			receive_beat(&message.timed_beat);
	}
}

/* Checks that a table that may be used was current less than a second ago. */
static void check_look(struct storm *storm)
{
	storm->n_looks++;
	if (look() != TRIAD_PATHS_VALID)
		return;
	storm->n_valid++;
	for (unsigned i = 0; i < 2; i++) {
		const struct sm *sm = &storm->sms[i];

		if (sm->id != keeper.table_of)
			continue;
		ck_assert_msg(
			sm->over_us[keeper.table->generation] > now_us - TRIAD_US_PER_S,
			"generation %u was over %llu us ago",
			(unsigned)keeper.table->generation,
			(unsigned long long)(now_us -
				sm->over_us[keeper.table->generation]));
	}
}

static void ask(struct storm *storm)
{
	struct message message = {.is_want = true};
	uint64_t next_us;

	if (triad_path_keeper_step(
		    &keeper, now_us, &message.want, &message.timed_beat.id, &next_us))
		post(storm, message);
}

static void run_storm(struct storm *storm)
{
	for (unsigned i = 0; i < 2; i++)
		storm->sms[i] = (struct sm){.id = i ? TWO : ONE,
			.incarnation = 5,
			.generation = 1,
			.over_us = {[1] = UINT64_MAX},
			.ahead_us = random_next(&storm->seed),
			.is_answering = !i};
	for (unsigned ms = 0; ms < STORM_MS; ms++, now_us += MS) {
		bool is_stopped = now_us < storm->stopped_until_us;

		live(storm, &storm->sms[0], &storm->sms[1]);
		live(storm, &storm->sms[1], &storm->sms[0]);
		deliver(storm, is_stopped);
		if (is_stopped)
			continue;
		ask(storm);
		check_look(storm);
		if (storm->late_percent && random_below(&storm->seed, 5000) == 0)
			storm->stopped_until_us =
				now_us + random_below(&storm->seed, 5000) * MS;
	}
}

static uint64_t any_seed;

START_TEST(test_storm_no_old_table)
{
	static struct storm storm;

	storm = (struct storm){.seed = any_seed + (uint64_t)_i,
		.late_percent = 20,
		.lost_percent = 20};
	run_storm(&storm);
	ck_assert_uint_gt(storm.n_valid, 0);
}
END_TEST

/* The table is valid 80 % of the time of all storms together.  In a single storm, SMs
 * may change unusually often. */
START_TEST(test_network_without_faults_mostly_valid)
{
	static struct storm storm;
	uint64_t n_valid = 0, n_looks = 0;

	for (uint64_t i = 0; i < 6; i++) {
		storm = (struct storm){.seed = any_seed + i};
		run_storm(&storm);
		ck_assert_uint_gt(storm.n_valid, storm.n_looks * 6 / 10);
		n_valid += storm.n_valid;
		n_looks += storm.n_looks;
		tear_down();
		set_up();
	}
	ck_assert_uint_gt(n_valid, n_looks * 8 / 10);
}
END_TEST

int main(void)
{
	TCase *cases = tcase_create("path_keeper");
	const char *given = getenv("TRIAD_SEED");

	any_seed = given ? strtoull(given, NULL, 0) : (uint64_t)time(NULL);
	printf("# seed %llu\n", (unsigned long long)any_seed);
	tcase_add_checked_fixture(cases, set_up, tear_down);
	tcase_add_test(cases, test_table_is_valid_until_beats_are_old);
	tcase_add_test(cases, test_another_generation_ends_it_at_once);
	tcase_add_test(cases, test_beats_that_waited_are_old);
	tcase_add_test(cases, test_slow_answer_makes_beats_older);
	tcase_add_test(cases, test_two_that_answer_are_none);
	tcase_add_test(cases, test_generations_of_two_sms_are_not_mistaken);
	tcase_add_test(cases, test_beat_from_the_future_is_not_believed);
	tcase_add_test(cases, test_requests_are_repeated_later_each_time);
	tcase_add_test(cases, test_pieces_out_of_order_make_no_table);
	tcase_add_loop_test(cases, test_storm_no_old_table, 0, 16);
	tcase_add_test(cases, test_network_without_faults_mostly_valid);
	return run_cases(cases);
}
