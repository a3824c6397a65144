/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Agents report (reporter.h), and the manager combines their reports (aggregator.h).
 * The result is compared with one engine that got every reading. */
#include "collect/aggregator.h"

#include <string.h>
#include <time.h>

#include "collect/reporter.h"
#include "perfmgr/watch/alerts.h"
#include "tests/sim/fabrics.h"
#include "tests/unit/run.h"
#include "triad/clock.h"

enum { N_AGENTS = 3, N_SWITCHES = 4, N_HOSTS = 5 };

struct reader {
	struct triad_engine *engine;
	struct triad_view *view;
	struct triad_reporter *reporter;
	struct triad_collect_head head;
	uint64_t clock_ahead_us;
};

static struct triad_fabric *fabric;
static struct reader readers[N_AGENTS];
static struct reader whole; /* reads all ports */
static struct triad_engine *top;
static struct triad_view *top_view;
static struct triad_aggregator *aggregator;
static uint64_t owners[64];
static uint64_t (*hardware)[TRIAD_N_COUNTERS]; /* of each port */
static uint64_t now_us;
static unsigned lost_percent;
static uint64_t delay_us;     /* of messages */
static uint32_t asked_number; /* of the last message that was asked for again */
static uint32_t reported_causes[512];
static uint64_t n_downs_of[512];
static unsigned seed;

static uint64_t id_of(unsigned reader)
{
	return 0x900 + reader;
}

static uint64_t owner_of(void *context, uint32_t node)
{
	return owners[node];
}

/* Delivers the manager's request to the agent at once, unless the request is lost,
 * too. */
static void ask_again(void *context, uint64_t agent, uint32_t number)
{
	asked_number = number;
	if ((unsigned)rand() % 100 >= lost_percent)
		triad_reporter_repeat_from(readers[agent - 0x900].reporter, number);
}

static void take_row(void *context, uint32_t port, uint32_t causes, uint64_t n_downs)
{
	reported_causes[port] = causes;
	n_downs_of[port] += n_downs;
}

static struct triad_view *view_of(struct triad_engine *engine)
{
	struct triad_view *view = triad_view_new(engine, fabric, NULL);

	ck_assert_ptr_nonnull(view);
	ck_assert_int_eq(triad_engine_adopt(engine, fabric, now_us, view->rows), 0);
	return view;
}

static void start(struct reader *reader, unsigned number, uint64_t incarnation)
{
	static const struct triad_reporter_params params = {
		.refresh = 0, .period_us = TRIAD_US_PER_S};

	reader->engine = triad_engine_new();
	reader->view = view_of(reader->engine);
	reader->reporter = triad_reporter_new();
	triad_reporter_configure(reader->reporter, &params);
	reader->clock_ahead_us = (uint64_t)number * 3600 * TRIAD_US_PER_S;
	reader->head = (struct triad_collect_head){.kind = TRIAD_COLLECT_DATA,
		.sender = id_of(number),
		.incarnation = incarnation};
}

static void end(struct reader *reader)
{
	triad_reporter_free(reader->reporter);
	triad_view_unref(reader->view);
	triad_engine_free(reader->engine);
}

static void set_up(void)
{
	static const struct triad_aggregator_sink sink = {
		.owner = owner_of, .ask_again = ask_again, .row = take_row};

	seed = (unsigned)time(NULL);
	srand(seed);
	now_us = 50 * TRIAD_US_PER_S;
	lost_percent = asked_number = 0;
	delay_us = 0;
	fabric = fabric_row(N_SWITCHES, N_HOSTS);
	hardware = calloc(fabric->n_ports, sizeof(*hardware));
	memset(owners, 0, sizeof(owners));
	memset(reported_causes, 0, sizeof(reported_causes));
	memset(n_downs_of, 0, sizeof(n_downs_of));
	for (unsigned i = 0; i < N_AGENTS; i++)
		start(&readers[i], i, 1);
	start(&whole, 9, 1);
	top = triad_engine_new();
	top_view = view_of(top);
	aggregator = triad_aggregator_new(top, &sink);
	triad_aggregator_adopt(aggregator, top_view);
}

static void tear_down(void)
{
	triad_aggregator_free(aggregator);
	triad_view_unref(top_view);
	triad_engine_free(top);
	end(&whole);
	for (unsigned i = 0; i < N_AGENTS; i++)
		end(&readers[i]);
	free(hardware);
	triad_fabric_unref(fabric);
}

/* --- readings --- */

static void count_on(void)
{
	for (uint32_t i = 0; i < fabric->n_ports; i++)
		for (unsigned c = 0; c < TRIAD_N_COUNTERS; c++) {
			if (c < TRIAD_FIRST_WIDE_COUNTER)
				hardware[i][c] += (unsigned)rand() % 8 == 0 &&
					hardware[i][c] < 15;
			else
				hardware[i][c] += (unsigned)rand() % 100000;
		}
}

static void read_narrow(struct reader *reader, uint32_t port)
{
	struct triad_pma_reading narrow = {.has = TRIAD_NARROW_COUNTERS};

	memcpy(narrow.raw, hardware[port], sizeof(hardware[port]));
	triad_engine_update(reader->engine, reader->view->rows[port],
		TRIAD_PMA_PORT_COUNTERS, &narrow, now_us + reader->clock_ahead_us);
	triad_engine_mark(reader->engine, reader->view->rows[port], true);
}

static void read_port(struct reader *reader, uint32_t port)
{
	struct triad_pma_reading narrow = {.has = TRIAD_NARROW_COUNTERS};
	struct triad_pma_reading wide = {
		.has = TRIAD_COLLECT_USUAL & ~TRIAD_NARROW_COUNTERS};
	uint64_t at_us = now_us + reader->clock_ahead_us;

	memcpy(narrow.raw, hardware[port], sizeof(hardware[port]));
	memcpy(wide.raw, hardware[port], sizeof(hardware[port]));
	triad_engine_update(reader->engine, reader->view->rows[port],
		TRIAD_PMA_PORT_COUNTERS, &narrow, at_us);
	triad_engine_update(reader->engine, reader->view->rows[port],
		TRIAD_PMA_PORT_COUNTERS_EXTENDED, &wide, at_us);
	triad_engine_mark(reader->engine, reader->view->rows[port], true);
}

static void report(struct reader *reader, const uint32_t *findings)
{
	static uint8_t octets[TRIAD_REPORTER_MESSAGE_SIZE];
	uint64_t at_us = now_us + reader->clock_ahead_us;
	size_t size;

	triad_reporter_begin(reader->reporter, reader->view, findings, 0, at_us);
	while ((size = triad_reporter_next(
			reader->reporter, &reader->head, at_us, octets)))
		if ((unsigned)rand() % 100 >= lost_percent)
			triad_aggregator_receive(aggregator, octets, size,
				TRIAD_US_PER_S,
				now_us + delay_us + (unsigned)rand() % 1000);
}

/* Each agent reads its own nodes; 'whole' gets all of their readings. */
static void sweep(void)
{
	now_us += TRIAD_US_PER_S;
	for (uint32_t i = 0; i < fabric->n_ports; i++) {
		uint64_t owner = owners[fabric->ports[i].node];

		if (!owner)
			continue;
		read_port(&readers[owner - id_of(0)], i);
		read_port(&whole, i);
	}
	for (unsigned i = 0; i < N_AGENTS; i++)
		report(&readers[i], NULL);
}

static void give_all_to(unsigned reader)
{
	for (uint32_t i = 0; i < fabric->n_nodes; i++)
		owners[i] = id_of(reader);
}

static void check_totals(void)
{
	struct triad_engine_row one, other;

	for (uint32_t i = 0; i < fabric->n_ports; i++) {
		if (!fabric->ports[i].has_pma)
			continue;
		ck_assert(triad_view_read(top_view, i, &one));
		ck_assert(triad_view_read(whole.view, i, &other));
		ck_assert_msg(!memcmp(one.total, other.total, sizeof(one.total)),
			"port %u, seed %u", i, seed);
	}
}

/* Row: N1 */
START_TEST(test_links_that_went_down_are_reported_whoever_reads_and_however_late)
{
	uint64_t first[512];
	struct triad_engine_row row;

	delay_us = 3 * TRIAD_US_PER_S;
	give_all_to(0);
	sweep();
	for (uint32_t i = 0; i < fabric->n_ports; i++) {
		triad_view_read(top_view, i, &row);
		first[i] = row.total[TRIAD_LINK_DOWNED_COUNTER];
	}
	for (unsigned i = 0; i < 100; i++) {
		count_on();
		sweep();
		owners[(uint32_t)rand() % fabric->n_nodes] =
			id_of((unsigned)rand() % N_AGENTS);
	}
	for (uint32_t i = 0; i < fabric->n_ports; i++) {
		if (!fabric->ports[i].has_pma)
			continue;
		triad_view_read(top_view, i, &row);
		ck_assert_msg(row.total[TRIAD_LINK_DOWNED_COUNTER] - first[i] ==
				n_downs_of[i],
			"port %u, seed %u", i, seed);
		ck_assert_uint_gt(n_downs_of[i], 0);
	}
}
END_TEST

/* Row: M5 */
START_TEST(test_one_agent_top_has_its_totals_and_rates)
{
	struct triad_engine_row row;

	give_all_to(0);
	for (unsigned i = 0; i < 5; i++) {
		count_on();
		sweep();
		check_totals();
	}
	ck_assert(triad_view_read(top_view, 3, &row));
	ck_assert(row.answered);
	ck_assert_uint_gt(row.change[TRIAD_PORT_XMIT_DATA], 0);
	ck_assert_double_eq_tol(triad_engine_rate(&row, TRIAD_PORT_XMIT_DATA),
		(double)row.change[TRIAD_PORT_XMIT_DATA], 2000);
}
END_TEST

START_TEST(test_nodes_change_hands_totals_go_on)
{
	give_all_to(0);
	for (unsigned i = 0; i < 300; i++) {
		uint32_t node = (uint32_t)rand() % fabric->n_nodes;

		count_on();
		sweep();
		check_totals();
		owners[node] = id_of((unsigned)rand() % N_AGENTS);
	}
	ck_assert_uint_gt(triad_aggregator_status(aggregator).n_handed_over, 100);
}
END_TEST

START_TEST(test_messages_lost_totals_are_right_when_they_come_again)
{
	give_all_to(0);
	for (unsigned round = 0; round < 20; round++) {
		lost_percent = 60;
		for (unsigned i = 0; i < 10; i++) {
			count_on();
			sweep();
		}
		lost_percent = 0;
		/* Nothing changes any more: lost reports come only because the manager
		 * asks for them, once in two seconds. */
		for (unsigned i = 0; i < 5; i++)
			sweep();
		check_totals();
	}
	ck_assert_uint_gt(triad_aggregator_status(aggregator).n_missing, 0);
}
END_TEST

/* Row: M5 */
START_TEST(test_hardware_reset_by_others_is_counted_through)
{
	give_all_to(1);
	for (unsigned i = 0; i < 30; i++) {
		count_on();
		sweep();
		check_totals();
		if (i % 3 == 0)
			memset(hardware[(unsigned)rand() % fabric->n_ports], 0,
				sizeof(hardware[0]));
	}
}
END_TEST

/* --- errors of 64 bits --- */

#define PORT 7

static void read_wide(struct reader *reader)
{
	struct triad_pma_reading wide = {.has = TRIAD_COLLECT_USUAL};

	memcpy(wide.raw, hardware[PORT], sizeof(hardware[PORT]));
	triad_engine_update(reader->engine, reader->view->rows[PORT],
		TRIAD_PMA_PORT_COUNTERS_EXTENDED, &wide,
		now_us + reader->clock_ahead_us);
	triad_engine_mark(reader->engine, reader->view->rows[PORT], true);
}

static void set_errors(uint64_t errors)
{
	for (unsigned i = 0; i < TRIAD_FIRST_WIDE_COUNTER; i++)
		hardware[PORT][i] = errors;
}

/* The reader's row of the port, with such errors, reaches the manager. */
static void report_errors(struct reader *reader, uint64_t errors)
{
	set_errors(errors);
	now_us += TRIAD_US_PER_S;
	read_wide(reader);
	report(reader, NULL);
}

static void check_errors(uint64_t total, uint64_t change)
{
	struct triad_engine_row row;

	ck_assert(triad_view_read(top_view, PORT, &row));
	for (unsigned i = 0; i < TRIAD_PORT_XMIT_WAIT; i++) {
		ck_assert_uint_eq(row.total[i], total);
		ck_assert_uint_eq(row.change[i], change);
	}
	ck_assert_uint_eq(row.saturated, 0);
}

START_TEST(test_errors_of_64_bits_are_exact_at_the_top)
{
	give_all_to(0);
	report_errors(&readers[0], 10);
	check_errors(10, 0);
	report_errors(&readers[0], 70010);
	check_errors(70010, 70000);
	report_errors(&readers[0], UINT64_C(1) << 40);
	check_errors(UINT64_C(1) << 40, (UINT64_C(1) << 40) - 70010);
	/* Each that PortCounters' maximum could be. */
	report_errors(&readers[0], UINT64_C(1) << 41);
	for (unsigned i = 0; i < TRIAD_FIRST_WIDE_COUNTER; i++) {
		/* Somebody resets it. */
		report_errors(&readers[0], triad_counter_max(i) - 1);
		report_errors(&readers[0], triad_counter_max(i));
		report_errors(&readers[0], UINT64_C(1) << 41);
	}
	ck_assert_uint_eq(triad_aggregator_status(aggregator).n_unknown, 0);
}
END_TEST

/* Another agent reads it: what it counted in between is left out where it is more than
 * PortCounters hold, and nothing grows that never was. */
START_TEST(test_errors_of_64_bits_change_hands_without_growth)
{
	give_all_to(0);
	report_errors(&readers[0], 500000);
	give_all_to(1);
	now_us += 10 * TRIAD_US_PER_S;
	report_errors(&readers[1], 500007);
	check_errors(500000, 0);
	report_errors(&readers[1], 600007);
	check_errors(600000, 100000);
	/* Reset meanwhile. */
	give_all_to(0);
	now_us += 10 * TRIAD_US_PER_S;
	report_errors(&readers[0], 9);
	check_errors(600009, 9);
	give_all_to(1);
	now_us += 10 * TRIAD_US_PER_S;
	report_errors(&readers[1], 14);
	check_errors(600014, 5);
}
END_TEST

/* An agent of an older release reads PortCounters, which are full, the next one does
 * not; and back. */
START_TEST(test_errors_change_hands_and_attribute_without_growth)
{
	struct triad_engine_row row;

	give_all_to(0);
	for (unsigned i = 0; i < TRIAD_FIRST_WIDE_COUNTER; i++)
		hardware[PORT][i] = triad_counter_max(i);
	now_us += TRIAD_US_PER_S;
	read_port(&readers[0], PORT);
	report(&readers[0], NULL);
	ck_assert(triad_view_read(top_view, PORT, &row));
	ck_assert_uint_eq(row.saturated, TRIAD_NARROW_COUNTERS);
	give_all_to(1);
	now_us += 10 * TRIAD_US_PER_S;
	report_errors(&readers[1], 3); /* other registers */
	ck_assert(triad_view_read(top_view, PORT, &row));
	for (unsigned i = 0; i < TRIAD_FIRST_WIDE_COUNTER; i++)
		ck_assert_uint_eq(row.total[i], triad_counter_max(i));
	ck_assert_uint_eq(row.saturated, 0);
	report_errors(&readers[1], 900000);
	ck_assert(triad_view_read(top_view, PORT, &row));
	for (unsigned i = 0; i < TRIAD_FIRST_WIDE_COUNTER; i++)
		ck_assert_uint_eq(row.total[i], triad_counter_max(i) + 899997);
	give_all_to(0);
	now_us += 10 * TRIAD_US_PER_S;
	set_errors(1);
	read_port(&readers[0], PORT);
	report(&readers[0], NULL);
	ck_assert(triad_view_read(top_view, PORT, &row));
	for (unsigned i = 0; i < TRIAD_FIRST_WIDE_COUNTER; i++)
		ck_assert_uint_eq(row.total[i], triad_counter_max(i) + 899997);
}
END_TEST

START_TEST(test_agent_started_anew_totals_go_on)
{
	give_all_to(0);
	for (unsigned i = 0; i < 4; i++) {
		memset(hardware[7], 0, sizeof(hardware[7]));
		count_on();
		sweep();
		check_totals();
	}
	end(&readers[0]);
	start(&readers[0], 0, 2);
	for (unsigned i = 0; i < 3; i++) {
		count_on();
		sweep();
		check_totals();
	}
}
END_TEST

/* A message of an earlier start was replayed, or was delayed for long.  But if the
 * agent was silent for long, its clock was set back before it started again. */
START_TEST(test_messages_of_a_past_start_are_not_taken_until_it_was_silent)
{
	struct triad_aggregator_status before;

	give_all_to(0);
	readers[0].head.incarnation = 7;
	count_on();
	sweep();
	before = triad_aggregator_status(aggregator);
	readers[0].head.incarnation = 6;
	count_on();
	sweep();
	ck_assert_uint_eq(triad_aggregator_status(aggregator).n_rows, before.n_rows);
	ck_assert_uint_gt(triad_aggregator_status(aggregator).n_old, before.n_old);
	now_us += 2 * TRIAD_US_PER_S + TRIAD_AGGREGATOR_LATE_US;
	count_on();
	sweep();
	ck_assert_uint_gt(triad_aggregator_status(aggregator).n_rows, before.n_rows);
}
END_TEST

START_TEST(test_totals_set_to_zero_at_the_agent_go_on_at_the_top)
{
	give_all_to(0);
	count_on();
	sweep();
	for (uint32_t i = 0; i < fabric->n_ports; i++)
		triad_engine_zero(readers[0].engine, readers[0].view->rows[i],
			now_us + readers[0].clock_ahead_us);
	count_on();
	sweep();
	check_totals();
}
END_TEST

START_TEST(test_totals_set_to_zero_at_the_top_begin_there)
{
	struct triad_engine_row row;
	uint64_t before;

	give_all_to(0);
	count_on();
	sweep();
	triad_aggregator_clear_totals(aggregator, top_view->rows[5], now_us);
	before = hardware[5][TRIAD_PORT_XMIT_DATA];
	count_on();
	sweep();
	ck_assert(triad_view_read(top_view, 5, &row));
	ck_assert_uint_eq(row.total[TRIAD_PORT_XMIT_DATA],
		hardware[5][TRIAD_PORT_XMIT_DATA] - before);
	/* The total also goes on when another agent takes over. */
	give_all_to(2);
	count_on();
	sweep();
	ck_assert(triad_view_read(top_view, 5, &row));
	ck_assert_uint_eq(row.total[TRIAD_PORT_XMIT_DATA],
		hardware[5][TRIAD_PORT_XMIT_DATA] - before);
}
END_TEST

START_TEST(test_agent_that_is_not_the_owner_is_not_believed)
{
	struct triad_engine_row before, after;

	give_all_to(0);
	count_on();
	sweep();
	ck_assert(triad_view_read(top_view, 4, &before));
	count_on();
	now_us += TRIAD_US_PER_S;
	read_port(&readers[1], 4);
	report(&readers[1], NULL);
	ck_assert(triad_view_read(top_view, 4, &after));
	ck_assert_mem_eq(before.total, after.total, sizeof(before.total));
	ck_assert_uint_gt(triad_aggregator_status(aggregator).n_not_owner, 0);
}
END_TEST

/* The new owner reports before its claim has arrived; then nothing changes any more. */
START_TEST(test_owner_that_was_not_known_yet_is_asked_again)
{
	struct triad_engine_row row;

	give_all_to(0);
	sweep();
	count_on();
	now_us += TRIAD_US_PER_S;
	for (uint32_t i = 0; i < fabric->n_ports; i++)
		read_port(&readers[1], i);
	report(&readers[1], NULL);
	give_all_to(1);
	for (unsigned i = 0; i < 2; i++) {
		now_us += 10 * TRIAD_US_PER_S;
		report(&readers[1], NULL);
	}
	ck_assert(triad_view_read(top_view, 4, &row));
	ck_assert_uint_eq(
		row.total[TRIAD_PORT_XMIT_DATA], hardware[4][TRIAD_PORT_XMIT_DATA]);
}
END_TEST

static void read_all(struct reader *reader)
{
	for (uint32_t port = 0; port < fabric->n_ports; port++)
		read_port(reader, port);
}

/* An agent reads the ports; then the manager itself does.  The agent's first message is
 * delayed, so its readings seem to be the later ones. */
START_TEST(test_row_read_a_moment_before_is_no_reset)
{
	struct reader here = {.engine = top, .view = top_view};
	struct triad_engine_row row;

	give_all_to(0);
	count_on();
	read_all(&readers[0]);
	now_us += TRIAD_US_PER_S / 10;
	count_on();
	read_all(&here);
	delay_us = TRIAD_US_PER_S / 5;
	report(&readers[0], NULL);
	delay_us = 0;
	ck_assert_uint_gt(triad_aggregator_status(aggregator).n_stale, 0);
	for (unsigned i = 0; i < 4; i++) {
		count_on();
		now_us += TRIAD_US_PER_S;
		read_all(&readers[0]);
		report(&readers[0], NULL);
	}
	ck_assert(triad_view_read(top_view, 4, &row));
	ck_assert_uint_eq(
		row.total[TRIAD_PORT_XMIT_DATA], hardware[4][TRIAD_PORT_XMIT_DATA]);
}
END_TEST

/* The manager believes the reset when the new owner reports it again; the port doesn't
 * change any more. */
START_TEST(test_reset_while_nodes_change_hands_is_counted_through)
{
	struct triad_engine_row before, row;

	give_all_to(0);
	count_on();
	sweep();
	ck_assert(triad_view_read(top_view, 4, &before));
	memset(hardware[4], 0, sizeof(hardware[4]));
	hardware[4][TRIAD_PORT_XMIT_DATA] = 1;
	give_all_to(1);
	for (unsigned i = 0; i < 6; i++)
		sweep();
	ck_assert(triad_view_read(top_view, 4, &row));
	ck_assert_uint_eq(row.total[TRIAD_PORT_XMIT_DATA],
		before.total[TRIAD_PORT_XMIT_DATA] + 1);
}
END_TEST

/* If the same agent reads on, the manager need not wait before it believes a reset. */
START_TEST(test_reset_with_totals_set_to_zero_at_the_agent_counts_at_once)
{
	give_all_to(0);
	for (unsigned i = 0; i < 3; i++) {
		count_on();
		sweep();
		check_totals();
		memset(hardware[4], 0, sizeof(hardware[4]));
		triad_engine_zero(readers[0].engine, readers[0].view->rows[4], now_us);
	}
	ck_assert_uint_eq(triad_aggregator_status(aggregator).n_stale, 0);
}
END_TEST

START_TEST(test_agent_that_went_silent_its_ports_are_not_seen)
{
	struct triad_engine_row row;

	give_all_to(0);
	count_on();
	sweep();
	triad_aggregator_check_silence(aggregator, now_us + 1000);
	ck_assert_uint_eq(triad_aggregator_status(aggregator).n_nodes_unseen, 0);
	now_us += 2 * TRIAD_US_PER_S + TRIAD_AGGREGATOR_LATE_US + 2000;
	triad_aggregator_check_silence(aggregator, now_us + 1000);
	ck_assert_uint_eq(
		triad_aggregator_status(aggregator).n_nodes_unseen, fabric->n_nodes);
	ck_assert(!triad_aggregator_is_seen(aggregator, 0));
	ck_assert(triad_view_read(top_view, 4, &row));
	ck_assert(!row.answered);
	count_on();
	sweep();
	triad_aggregator_check_silence(aggregator, now_us + 1000);
	ck_assert_uint_eq(triad_aggregator_status(aggregator).n_nodes_unseen, 0);
	ck_assert(triad_view_read(top_view, 4, &row));
	ck_assert(row.answered);
}
END_TEST

/* The ports' counters don't change, but the manager had marked the ports as
 * unanswered. */
START_TEST(test_agent_that_reports_again_its_quiet_ports_are_seen)
{
	struct triad_engine_row row;

	give_all_to(0);
	for (unsigned i = 0; i < 3; i++)
		sweep();
	now_us += 2 * TRIAD_US_PER_S + TRIAD_AGGREGATOR_LATE_US + 2000;
	triad_aggregator_check_silence(aggregator, now_us + 1000);
	ck_assert(triad_view_read(top_view, 4, &row));
	ck_assert(!row.answered);
	triad_aggregator_adopt(aggregator, top_view);
	for (unsigned i = 0; i < 4; i++) {
		sweep();
		triad_aggregator_check_silence(aggregator, now_us + 1000);
	}
	ck_assert(triad_view_read(top_view, 4, &row));
	ck_assert(row.answered);
}
END_TEST

/* The first report of the new owner lacks some counters. */
START_TEST(test_counters_that_a_new_owner_reports_later_go_on)
{
	give_all_to(0);
	for (unsigned i = 0; i < 3; i++) {
		count_on();
		sweep();
		/* A reset, so that totals differ from the hardware's values. */
		if (!i)
			memset(hardware, 0, fabric->n_ports * sizeof(*hardware));
	}
	give_all_to(1);
	now_us += TRIAD_US_PER_S;
	for (uint32_t i = 0; i < fabric->n_ports; i++)
		read_narrow(&readers[1], i);
	report(&readers[1], NULL);
	count_on();
	sweep();
	check_totals();
	count_on();
	sweep();
	check_totals();
}
END_TEST

/* A former owner gets the port back; then the PMA answers only one of its queries.  Its
 * other values are older than those of the manager. */
START_TEST(test_half_an_answer_of_an_owner_that_is_back_counts_nothing_twice)
{
	struct triad_engine_row row;

	for (unsigned i = 0; i < 3; i++) {
		give_all_to(i % 2);
		count_on();
		sweep();
	}
	give_all_to(1);
	now_us += TRIAD_US_PER_S;
	read_narrow(&readers[1], 4);
	triad_engine_mark(readers[1].engine, readers[1].view->rows[4], false);
	report(&readers[1], NULL);
	ck_assert(triad_view_read(top_view, 4, &row));
	ck_assert_uint_eq(
		row.total[TRIAD_PORT_XMIT_DATA], hardware[4][TRIAD_PORT_XMIT_DATA]);
	count_on();
	sweep();
	ck_assert(triad_view_read(top_view, 4, &row));
	ck_assert_uint_eq(
		row.total[TRIAD_PORT_XMIT_DATA], hardware[4][TRIAD_PORT_XMIT_DATA]);
}
END_TEST

/* An agent's clock stood still, like that of a virtual machine that was paused. */
START_TEST(test_clock_that_stood_still_rows_are_not_stale)
{
	now_us = 10000 * TRIAD_US_PER_S;
	give_all_to(1);
	count_on();
	sweep();
	give_all_to(0);
	count_on();
	sweep();
	readers[1].clock_ahead_us -= 1800 * TRIAD_US_PER_S;
	give_all_to(1);
	count_on();
	sweep();
	check_totals();
	ck_assert_uint_eq(triad_aggregator_status(aggregator).n_stale, 0);
}
END_TEST

static void take_empty(uint32_t number, uint32_t again_from, uint32_t again_since)
{
	const struct triad_collect_data data = {.number = number,
		.clock_us = now_us,
		.again_from = again_from,
		.again_since = again_since};
	struct triad_collect_data_writer writer;
	uint8_t octets[256];

	now_us += 3 * TRIAD_US_PER_S;
	triad_collect_data_begin(
		&writer, &readers[0].head, &data, octets, sizeof(octets));
	triad_aggregator_receive(aggregator, octets, triad_collect_data_end(&writer),
		TRIAD_US_PER_S, now_us);
}

START_TEST(test_what_was_reported_again_and_lost_is_asked_for_again)
{
	take_empty(1, 0, 0);
	take_empty(3, 0, 0);
	ck_assert_uint_eq(asked_number, 2);
	asked_number = 0;
	take_empty(5, 2, 4); /* message 4 repeated the rows, and was lost */
	ck_assert_uint_eq(asked_number, 4);
	asked_number = 0;
	take_empty(6, 4, 6);
	take_empty(7, 4, 6);
	ck_assert_uint_eq(asked_number, 0);
}
END_TEST

/* Row: M7 */
START_TEST(test_quiet_ports_are_not_reported_but_when_their_turn_comes)
{
	const struct triad_reporter_params params = {
		.min_change_words = 1000, .refresh = 4, .period_us = TRIAD_US_PER_S};
	uint64_t n_rows;

	give_all_to(0);
	triad_reporter_configure(readers[0].reporter, &params);
	for (unsigned i = 0; i < 4; i++)
		sweep();
	n_rows = triad_aggregator_status(aggregator).n_rows;
	ck_assert_uint_ge(n_rows, fabric->n_ports);
	for (unsigned i = 0; i < 4; i++) {
		uint64_t before = triad_aggregator_status(aggregator).n_rows;

		sweep();
		ck_assert_uint_lt(triad_aggregator_status(aggregator).n_rows - before,
			triad_reporter_n_ports(readers[0].reporter));
	}
	/* Each port is reported once in four sweeps. */
	ck_assert_uint_eq(triad_aggregator_status(aggregator).n_rows - n_rows,
		triad_reporter_n_ports(readers[0].reporter));
}
END_TEST

/* The number of rows received in DATA so far. */
static uint64_t n_rows_reported(void)
{
	return triad_aggregator_status(aggregator).n_rows;
}

/* Lets one reader report all ports once, and from then on only ports that changed by
 * 'min_change_words'. */
static void report_changes_of(uint64_t min_change_words)
{
	const struct triad_reporter_params params = {
		.min_change_words = min_change_words,
		.refresh = 0,
		.period_us = TRIAD_US_PER_S};

	give_all_to(0);
	triad_reporter_configure(readers[0].reporter, &params);
	sweep();
	sweep();
}

/* Row: M7 */
START_TEST(test_port_is_reported_when_its_changes_add_up_to_min_change)
{
	uint64_t before;

	report_changes_of(1000);
	before = n_rows_reported();
	for (unsigned i = 0; i < 2; i++) {
		hardware[6][TRIAD_PORT_XMIT_DATA] += 300;
		hardware[6][TRIAD_PORT_RCV_DATA] += 100;
		sweep();
		ck_assert_uint_eq(n_rows_reported(), before);
	}
	hardware[6][TRIAD_PORT_XMIT_DATA] += 400;
	sweep();
	ck_assert_uint_eq(n_rows_reported(), before + 1);
}
END_TEST

/* Row: M6 */
START_TEST(test_errors_are_reported_when_they_crossed_their_threshold)
{
	uint32_t *findings = calloc(fabric->n_ports, sizeof(*findings));
	uint64_t before;

	ck_assert_ptr_nonnull(findings);
	report_changes_of(1000);
	before = n_rows_reported();
	hardware[6][TRIAD_SYMBOL_ERROR_COUNTER] += 5;
	sweep();
	ck_assert_uint_eq(n_rows_reported(), before);
	findings[6] = UINT32_C(1) << TRIAD_SYMBOL_ERROR_COUNTER;
	/* The errors cross the threshold; grow further; stay; are below again. */
	for (unsigned i = 0; i < 4; i++) {
		static const unsigned more[] = {1, 1, 0, 0}, reported[] = {1, 1, 0, 1};

		before = n_rows_reported();
		now_us += TRIAD_US_PER_S;
		hardware[6][TRIAD_SYMBOL_ERROR_COUNTER] += more[i];
		read_port(&readers[0], 6);
		findings[6] = i < 3 ? findings[6] : 0;
		report(&readers[0], findings);
		ck_assert_uint_eq(n_rows_reported() - before, reported[i]);
	}
	free(findings);
}
END_TEST

/* Row: M7 */
START_TEST(test_port_that_goes_idle_is_reported_once_more)
{
	const struct triad_reporter_params params = {
		.min_change_words = 1000, .refresh = 0, .period_us = TRIAD_US_PER_S};
	struct triad_engine_row row;

	give_all_to(0);
	triad_reporter_configure(readers[0].reporter, &params);
	sweep();
	hardware[6][TRIAD_PORT_XMIT_DATA] += 50000;
	sweep();
	ck_assert(triad_view_read(top_view, 6, &row));
	ck_assert_uint_eq(row.change[TRIAD_PORT_XMIT_DATA], 50000);
	sweep();
	ck_assert(triad_view_read(top_view, 6, &row));
	ck_assert_uint_eq(row.change[TRIAD_PORT_XMIT_DATA], 0);
}
END_TEST

START_TEST(test_port_that_only_waits_is_reported_until_it_waits_no_more)
{
	const struct triad_reporter_params params = {
		.min_change_words = 1000, .refresh = 0, .period_us = TRIAD_US_PER_S};
	struct triad_engine_row row;

	give_all_to(0);
	triad_reporter_configure(readers[0].reporter, &params);
	sweep();
	for (unsigned i = 0; i < 3; i++) {
		hardware[6][TRIAD_PORT_XMIT_WAIT] += 50000;
		sweep();
		ck_assert(triad_view_read(top_view, 6, &row));
		ck_assert_uint_eq(row.change[TRIAD_PORT_XMIT_WAIT], 50000);
	}
	sweep();
	ck_assert(triad_view_read(top_view, 6, &row));
	ck_assert_uint_eq(row.change[TRIAD_PORT_XMIT_WAIT], 0);
}
END_TEST

/* The port's PMA never answered this agent. */
START_TEST(test_findings_of_a_port_that_never_answered_come_and_go)
{
	uint32_t *findings = calloc(fabric->n_ports, sizeof(*findings));
	struct triad_engine_row row;

	ck_assert_ptr_nonnull(findings);
	give_all_to(1);
	count_on();
	sweep();
	give_all_to(0);
	/* Before its first query the agent reports nothing about the port. */
	findings[6] = UINT32_C(1) << TRIAD_ALERT_UNANSWERED;
	report(&readers[0], findings);
	ck_assert_uint_eq(reported_causes[6], 0);
	triad_engine_mark(readers[0].engine, readers[0].view->rows[6], false);
	for (unsigned i = 0; i < 2; i++) {
		findings[6] = i ? 0 : UINT32_C(1) << TRIAD_ALERT_UNANSWERED;
		report(&readers[0], findings);
		ck_assert_uint_eq(reported_causes[6], findings[6]);
	}
	/* The values that another agent read before stay. */
	ck_assert(triad_view_read(top_view, 6, &row));
	ck_assert_uint_eq(row.has, TRIAD_COLLECT_USUAL);
	ck_assert(!row.answered);
	free(findings);
}
END_TEST

int main(void)
{
	TCase *cases = tcase_create("aggregator");

	tcase_add_checked_fixture(cases, set_up, tear_down);
	tcase_add_test(cases, test_one_agent_top_has_its_totals_and_rates);
	tcase_add_test(cases,
		test_links_that_went_down_are_reported_whoever_reads_and_however_late);
	tcase_add_test(cases, test_nodes_change_hands_totals_go_on);
	tcase_add_test(cases, test_messages_lost_totals_are_right_when_they_come_again);
	tcase_add_test(cases, test_hardware_reset_by_others_is_counted_through);
	tcase_add_test(cases, test_errors_of_64_bits_are_exact_at_the_top);
	tcase_add_test(cases, test_errors_of_64_bits_change_hands_without_growth);
	tcase_add_test(cases, test_errors_change_hands_and_attribute_without_growth);
	tcase_add_test(cases, test_agent_started_anew_totals_go_on);
	tcase_add_test(
		cases, test_messages_of_a_past_start_are_not_taken_until_it_was_silent);
	tcase_add_test(cases, test_totals_set_to_zero_at_the_agent_go_on_at_the_top);
	tcase_add_test(cases, test_totals_set_to_zero_at_the_top_begin_there);
	tcase_add_test(cases, test_agent_that_is_not_the_owner_is_not_believed);
	tcase_add_test(cases, test_owner_that_was_not_known_yet_is_asked_again);
	tcase_add_test(cases, test_row_read_a_moment_before_is_no_reset);
	tcase_add_test(cases, test_reset_while_nodes_change_hands_is_counted_through);
	tcase_add_test(
		cases, test_reset_with_totals_set_to_zero_at_the_agent_counts_at_once);
	tcase_add_test(cases, test_agent_that_went_silent_its_ports_are_not_seen);
	tcase_add_test(
		cases, test_quiet_ports_are_not_reported_but_when_their_turn_comes);
	tcase_add_test(
		cases, test_port_is_reported_when_its_changes_add_up_to_min_change);
	tcase_add_test(
		cases, test_errors_are_reported_when_they_crossed_their_threshold);
	tcase_add_test(cases, test_port_that_goes_idle_is_reported_once_more);
	tcase_add_test(cases, test_findings_of_a_port_that_never_answered_come_and_go);
	tcase_add_test(
		cases, test_port_that_only_waits_is_reported_until_it_waits_no_more);
	tcase_add_test(cases, test_agent_that_reports_again_its_quiet_ports_are_seen);
	tcase_add_test(cases, test_counters_that_a_new_owner_reports_later_go_on);
	tcase_add_test(cases,
		test_half_an_answer_of_an_owner_that_is_back_counts_nothing_twice);
	tcase_add_test(cases, test_clock_that_stood_still_rows_are_not_stale);
	tcase_add_test(cases, test_what_was_reported_again_and_lost_is_asked_for_again);
	return run_cases(cases);
}
