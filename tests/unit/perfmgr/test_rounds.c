/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Queries other than counters: details that explain an error, and rounds over all
 * ports. */
#include "tests/unit/perfmgr/fixture.h"

#include <limits.h>
#include <math.h>

#include "perfmgr/view.h"

#define ALL_ERRORS triad_detail_attributes(TRIAD_DETAIL_ERRORS)
#define RSFEC TRIAD_PMA_EXT_SPEEDS_RSFEC

/* Lets rounds of all kinds read each port once in 'sweeps' sweeps, as far as 'share' of
 * the MADs allows. */
static void set_rounds(double share, unsigned sweeps)
{
	params.sweep.round_share = share;
	params.sweep.waits_apart = share > 0;
	params.sweep.wait_matters = 0.05;
	for (unsigned i = 0; i < TRIAD_N_ROUNDS; i++)
		params.round_period_us[i] = share > 0 ? sweeps * params.period_us : 0;
	triad_collector_set_params(collector, &params);
}

/* All links are HDR, so they have counters of FEC. */
static void set_up_fast(void)
{
	set_up();
	for (uint32_t i = 0; i < fabric->n_ports; i++)
		fabric->ports[i].speed_ext = 4;
}

static bool read_detail(
	uint32_t port, enum triad_pma_attribute attribute, struct triad_detail_row *row)
{
	struct triad_view *view = triad_collector_view(collector);
	const struct triad_details_port of = triad_view_details_port(view, port);
	bool known = triad_details_read(
		triad_engine_details(view->engine), &of, attribute, row);

	triad_view_unref(view);
	return known;
}

static unsigned n_known(enum triad_pma_attribute attribute)
{
	struct triad_detail_row row;
	unsigned n = 0;

	for (uint32_t i = 0; i < fabric->n_ports; i++)
		n += fabric->ports[i].has_pma && read_detail(i, attribute, &row);
	return n;
}

static unsigned mads_of_sweeps(unsigned n)
{
	unsigned before = agents->n_sent;

	sweep(n);
	return agents->n_sent - before;
}

/* The MADs of 'n' sweeps in which no switch's ports are read although its sums are
 * unchanged. */
static unsigned mads_of_plain_sweeps(unsigned n)
{
	unsigned least = UINT_MAX;

	for (unsigned i = 0; i < 10; i++) {
		unsigned mads = mads_of_sweeps(1);

		least = mads < least ? mads : least;
	}
	return n * least;
}

START_TEST(test_details_are_asked_in_the_sweep_in_which_their_total_moved)
{
	uint32_t port = find_port(0x201, 5);
	struct triad_detail_row row;

	agents->details = ALL_ERRORS;
	set_mode(TRIAD_SWEEP_TRIAD);
	sweep(2);
	ck_assert_uint_eq(agents->n_details, 0);
	agents->raw[port][TRIAD_PORT_RCV_ERRORS] = 17;
	agents->raw[port][TRIAD_SYMBOL_ERROR_COUNTER] = 3;
	agents->detail[port][TRIAD_PMA_RCV_ERROR_DETAILS].raw[3] = 17;
	sweep(1);
	ck_assert_uint_eq(agents->n_details, 1);
	ck_assert(read_detail(port, TRIAD_PMA_RCV_ERROR_DETAILS, &row));
	ck_assert_uint_eq(row.total[3], 17);
	ck_assert(!read_detail(port, TRIAD_PMA_XMIT_DISCARD_DETAILS, &row));
	/* Without new errors Triad queries no details. */
	sweep(3);
	ck_assert_uint_eq(agents->n_details, 1);
	agents->raw[port][TRIAD_PORT_XMIT_DISCARDS] = 1;
	sweep(1);
	ck_assert_uint_eq(agents->n_detail_of[TRIAD_PMA_XMIT_DISCARD_DETAILS], 1);
	ck_assert_uint_eq(agents->n_details, 2);
}
END_TEST

/* Row: N8 */
START_TEST(test_vls_of_a_port_that_waits_are_asked_for_in_the_same_sweep)
{
	uint32_t waiting = find_port(0x201, 3), other = find_port(0x201, 4);
	/* The ticks of 4 octets in 10 s at 4x SDR. */
	uint64_t all = (uint64_t)(10 * 8e9 / 32);
	unsigned n = _i ? 0 : 2; /* _i: details are off */
	struct triad_detail_row row;

	fabric->ports[waiting].width = fabric->ports[other].width = 2;
	fabric->ports[waiting].speed = fabric->ports[other].speed = 1;
	fabric->ports[waiting].speed_ext = fabric->ports[other].speed_ext = 0;
	agents->details = UINT32_MAX;
	set_rounds(0.01, 1000000);
	params.vl_wait_share = _i ? 0 : 0.1;
	triad_collector_set_params(collector, &params);
	set_mode(TRIAD_SWEEP_FULL);
	sweep(2);
	for (unsigned i = 0; i < 2; i++) {
		agents->raw[waiting][TRIAD_PORT_XMIT_WAIT] += all / 5;
		agents->raw[other][TRIAD_PORT_XMIT_WAIT] += all / 50;
		agents->detail[waiting][TRIAD_PMA_VL_XMIT_WAIT].raw[2] += 1000;
		sweep(1);
	}
	ck_assert_uint_eq(agents->n_detail_of[TRIAD_PMA_VL_XMIT_WAIT], n);
	ck_assert(read_detail(waiting, TRIAD_PMA_VL_XMIT_WAIT, &row) == (n > 0));
	if (n)
		ck_assert_uint_eq(row.change[2], 1000);
	ck_assert(!read_detail(other, TRIAD_PMA_VL_XMIT_WAIT, &row));
}
END_TEST

/* Triad first tries one port.  _i: the agent has the attribute; lacks it; ignores
 * it. */
START_TEST(test_all_ports_with_new_errors_are_asked_in_one_sweep)
{
	unsigned asked = _i ? 1 : 10;

	agents->details = _i == 1 ? 0 : ALL_ERRORS;
	agents->ignored_details = _i == 2 ? ALL_ERRORS : 0;
	set_mode(TRIAD_SWEEP_TRIAD);
	sweep(2);
	for (unsigned number = 1; number <= 10; number++)
		agents->raw[find_port(0x201, number)][TRIAD_PORT_RCV_ERRORS] = number;
	sweep(1);
	ck_assert_uint_eq(agents->n_details, asked);
	ck_assert_uint_eq(n_known(TRIAD_PMA_RCV_ERROR_DETAILS), _i ? 0 : 10);
	ck_assert_uint_eq(triad_collector_status(collector).last.n_unanswered, 0);
}
END_TEST

START_TEST(test_round_reaches_every_port_once_in_its_period)
{
	agents->details = UINT32_MAX;
	agents->capabilities |= TRIAD_PMA_RSFEC;
	set_rounds(100, 10);
	/* The first sweep knows no agent yet. */
	sweep(1);
	ck_assert_uint_eq(agents->n_details, 0);
	for (unsigned i = 0; i < 10; i++) {
		unsigned before = agents->n_detail_of[RSFEC];

		sweep(1);
		/* Triad spreads a round evenly over the sweeps. */
		ck_assert_uint_le(
			agents->n_detail_of[RSFEC] - before, fabric->n_ports / 10 + 1);
	}
	sweep(1);
	ck_assert_uint_eq(n_known(RSFEC), n_ports_with_pma());
	ck_assert_uint_le(agents->n_detail_of[RSFEC], n_ports_with_pma() * 11 / 10 + 2);
	ck_assert_uint_eq(agents->n_detail_of[TRIAD_PMA_EXT_SPEEDS], 0);
	ck_assert_uint_eq(n_known(TRIAD_PMA_VL_XMIT_WAIT), n_ports_with_pma());
	/* Only switches' external ports report congestion of VLs. */
	ck_assert_uint_lt(n_known(TRIAD_PMA_SW_PORT_VL_CONGESTION), n_ports_with_pma());
	ck_assert_uint_gt(n_known(TRIAD_PMA_SW_PORT_VL_CONGESTION), 40);
}
END_TEST

/* Mode _i of the sweeps. */
START_TEST(test_rounds_keep_to_their_share)
{
	unsigned quiet, with_rounds;

	agents->details = UINT32_MAX;
	set_mode(_i);
	sweep(2);
	quiet = mads_of_plain_sweeps(200);
	set_rounds(0.05, 1);
	with_rounds = mads_of_sweeps(200);
	/* A round may exceed its share by the queries of one port. */
	ck_assert_uint_le(with_rounds, quiet * 105 / 100 + 20);
	ck_assert_uint_ge(with_rounds, quiet * 104 / 100 - 20);
	ck_assert_uint_gt(n_known(TRIAD_PMA_RCV_ERROR_DETAILS), 0);
	ck_assert_uint_gt(n_known(TRIAD_PMA_EXT_SPEEDS), 0);
	ck_assert_uint_gt(n_known(TRIAD_PMA_RCV_CON_CTRL), 0);
}
END_TEST

/* Adds a group of one port, swept each second between the sweeps of all ports. */
static void add_busy_group(void)
{
	struct triad_conf *conf = triad_conf_new(1);

	strcpy(conf->groups[0].name, "busy");
	strcpy(conf->groups[0].nodes, "switch-1");
	strcpy(conf->groups[0].ports, "1");
	conf->groups[0].sweep_period_s = 1;
	conf->n_groups = 1;
	ck_assert_int_eq(triad_collector_configure(collector, conf), 0);
	triad_conf_unref(conf);
}

START_TEST(test_sweeps_of_a_group_take_nothing_from_rounds)
{
	unsigned n[2];

	agents->details = UINT32_MAX;
	set_rounds(0.05, 1);
	for (unsigned i = 0; i < 2; i++) {
		sweep(20);
		n[i] = agents->n_details;
		sweep(100);
		n[i] = agents->n_details - n[i];
		add_busy_group();
	}
	ck_assert_uint_gt(triad_collector_status(collector).n_group_sweeps, 200);
	ck_assert_uint_gt(n[0], 100);
	ck_assert_uint_ge(n[1], n[0] * 9 / 10);
	ck_assert_uint_le(n[1], n[0] * 11 / 10);
}
END_TEST

START_TEST(test_refused_attribute_is_not_asked_again)
{
	unsigned asked;

	agents->details = 0;
	set_rounds(100, 1);
	sweep(3);
	asked = agents->n_details;
	ck_assert_uint_gt(asked, 0);
	sweep(5);
	ck_assert_uint_eq(agents->n_details, asked);
	ck_assert_uint_eq(triad_collector_status(collector).last.n_unanswered, 0);
}
END_TEST

START_TEST(test_ignored_attribute_is_not_asked_for_ever)
{
	unsigned asked;

	agents->details = UINT32_MAX;
	agents->ignored_details = TRIAD_DETAIL_BIT(TRIAD_PMA_VL_OP_DATA);
	set_rounds(100, 1);
	sweep(4);
	asked = agents->n_detail_of[TRIAD_PMA_VL_OP_DATA];
	ck_assert_uint_gt(asked, 0);
	sweep(5);
	ck_assert_uint_eq(agents->n_detail_of[TRIAD_PMA_VL_OP_DATA], asked);
	/* A missing answer to this attribute doesn't make the port unanswered. */
	ck_assert_uint_eq(triad_collector_status(collector).last.n_unanswered, 0);
	ck_assert_uint_eq(n_known(TRIAD_PMA_VL_OP_PACKETS), n_ports_with_pma());
}
END_TEST

START_TEST(test_agent_that_was_silent_is_asked_anew)
{
	agents->details = 0;
	set_rounds(100, 1);
	sweep(3);
	memset(agents->silent_lids, 1, 65536);
	sweep(2);
	memset(agents->silent_lids, 0, 65536);
	agents->details = UINT32_MAX;
	triad_collector_sweep_now(collector);
	sweep(4);
	ck_assert_uint_eq(n_known(TRIAD_PMA_VL_OP_DATA), n_ports_with_pma());
}
END_TEST

START_TEST(test_counter_near_full_is_reset_and_its_total_goes_on)
{
	uint32_t port = find_port(0x201, 5);
	struct triad_detail_row row;

	agents->details = UINT32_MAX;
	params.sweep.reset_near_full = true;
	set_rounds(100, 1);
	agents->detail[port][TRIAD_PMA_VL_XMIT_WAIT].raw[2] = 60000;
	sweep(2);
	ck_assert_uint_eq(agents->n_detail_sets, 1);
	ck_assert_uint_eq(agents->detail[port][TRIAD_PMA_VL_XMIT_WAIT].raw[2], 0);
	agents->detail[port][TRIAD_PMA_VL_XMIT_WAIT].raw[2] = 100;
	sweep(1);
	ck_assert(read_detail(port, TRIAD_PMA_VL_XMIT_WAIT, &row));
	ck_assert_uint_eq(row.total[2], 60100);
	ck_assert_uint_eq(row.change[2], 100);
	ck_assert_uint_eq(row.n_own_resets, 1);
	ck_assert_uint_eq(agents->n_detail_sets, 1);
}
END_TEST

START_TEST(test_reset_of_hardware_resets_details_and_loses_nothing)
{
	uint32_t port = find_port(0x201, 5);
	struct triad_detail_row row;

	agents->details = ALL_ERRORS | TRIAD_DETAIL_BIT(TRIAD_PMA_VL_XMIT_WAIT);
	set_rounds(100, 1);
	sweep(3);
	/* Triad hasn't read this value when the reset is requested. */
	agents->detail[port][TRIAD_PMA_VL_XMIT_WAIT].raw[2] = 70;
	set_rounds(0, 1);
	reset_port(port, true);
	sweep(2);
	ck_assert_uint_eq(agents->n_detail_sets, 3);
	ck_assert_uint_eq(agents->detail[port][TRIAD_PMA_VL_XMIT_WAIT].raw[2], 0);
	ck_assert(read_detail(port, TRIAD_PMA_VL_XMIT_WAIT, &row));
	ck_assert_uint_eq(row.total[2], 70);
	ck_assert_uint_eq(row.n_own_resets, 1);
}
END_TEST

/* --- PortXmitWait --- */

static void tick(uint64_t ticks)
{
	for (uint32_t i = 0; i < fabric->n_ports; i++)
		agents->raw[i][TRIAD_PORT_XMIT_WAIT] += ticks;
}

/* _i selects one of the two modes that don't query all ports. */
/* Row: N4 */
START_TEST(test_load_costs_no_more_than_the_share)
{
	unsigned quiet, loaded = 0;

	set_mode(_i ? TRIAD_SWEEP_ERRORS : TRIAD_SWEEP_TRIAD);
	set_rounds(0.05, 1);
	agents->details = 0;
	/* All ports have old errors.  A port that is read more than once must not make
	 * the sum of errors look larger. */
	for (uint32_t i = 0; i < fabric->n_ports; i++)
		agents->raw[i][TRIAD_SYMBOL_ERROR_COUNTER] = 9;
	/* Until each agent has refused all details. */
	sweep(150);
	quiet = mads_of_plain_sweeps(100);
	for (unsigned i = 0; i < 100; i++) {
		tick(10000);
		loaded += mads_of_sweeps(1);
	}
	/* The share, what was saved of it before, which is a reading of all ports of the
	 * switches, and one of a switch. */
	ck_assert_uint_le(loaded, quiet * 105 / 100 + 4 * 12 + 12);
	ck_assert_uint_gt(loaded, quiet);
}
END_TEST

START_TEST(test_rate_of_wait_is_that_of_its_own_interval)
{
	uint32_t port = find_port(0x201, 5);

	set_mode(TRIAD_SWEEP_TRIAD);
	set_rounds(0.05, 1);
	sweep(1);
	for (unsigned i = 0; i < 60; i++) {
		struct triad_engine_row row = read_port(port);
		double rate = triad_engine_rate(&row, TRIAD_PORT_XMIT_WAIT);

		/* The rate is 1,000,000 ticks per 10 s, whenever the port was read. */
		if (i > 40)
			ck_assert_msg(fabs(rate - 100000) < 1000, "%f", rate);
		tick(1000000);
		sweep(1);
	}
}
END_TEST

START_TEST(test_wait_that_stopped_is_known_to_have_stopped)
{
	uint32_t port = find_port(0x201, 5);
	struct triad_engine_row row;

	set_mode(TRIAD_SWEEP_TRIAD);
	set_rounds(0.2, 1);
	for (unsigned i = 0; i < 20; i++) {
		tick(1000000);
		sweep(1);
	}
	sweep(20);
	row = read_port(port);
	ck_assert_uint_eq(row.total[TRIAD_PORT_XMIT_WAIT], 20000000);
	ck_assert(triad_engine_rate(&row, TRIAD_PORT_XMIT_WAIT) == 0);
}
END_TEST

START_TEST(test_errors_beside_waiting_are_read_at_once)
{
	uint32_t port = find_port(0x201, 5);

	set_mode(TRIAD_SWEEP_ERRORS);
	set_rounds(0.05, 1);
	for (unsigned i = 0; i < 30; i++) {
		tick(1000);
		agents->raw[port][TRIAD_SYMBOL_ERROR_COUNTER]++;
		sweep(1);
		ck_assert_uint_eq(read_port(port).total[TRIAD_SYMBOL_ERROR_COUNTER],
			agents->raw[port][TRIAD_SYMBOL_ERROR_COUNTER]);
	}
}
END_TEST

/* The ticks in a sweep's 10 s at 4x SDR. */
#define ALL_TICKS UINT64_C(2500000000)

static void set_up_waits(double share)
{
	for (uint32_t i = 0; i < fabric->n_ports; i++) {
		fabric->ports[i].width = 2;
		fabric->ports[i].speed = 1;
		fabric->ports[i].speed_ext = 0;
	}
	agents->details = UINT32_MAX;
	set_mode(TRIAD_SWEEP_TRIAD);
	set_rounds(share, 1);
	sweep(3);
}

static bool is_wait_known(uint32_t port)
{
	return read_port(port).has & 1u << TRIAD_PORT_XMIT_WAIT;
}

/* However much rounds of details want. */
START_TEST(test_wait_that_begins_is_read_in_the_same_sweep)
{
	uint32_t waiting = find_port(0x201, 5), other = find_port(0x201, 6);
	struct triad_engine_row row;

	set_up_waits(0.05);
	ck_assert(is_wait_known(waiting));
	for (unsigned i = 1; i <= 10; i++) {
		unsigned sent = agents->n_sent;

		/* A little everywhere, much at one port. */
		tick(1000);
		agents->raw[waiting][TRIAD_PORT_XMIT_WAIT] += ALL_TICKS / 10;
		sweep(1);
		row = read_port(waiting);
		ck_assert_uint_eq(row.total[TRIAD_PORT_XMIT_WAIT],
			agents->raw[waiting][TRIAD_PORT_XMIT_WAIT]);
		ck_assert_double_eq_tol(triad_engine_rate(&row, TRIAD_PORT_XMIT_WAIT),
			ALL_TICKS / 100., 1000);
		ck_assert_uint_lt(agents->n_sent - sent, 200);
	}
	row = read_port(other);
	ck_assert_double_eq_tol(triad_engine_rate(&row, TRIAD_PORT_XMIT_WAIT), 100, 1);
}
END_TEST

START_TEST(test_wait_that_moved_is_unknown_until_it_is_read)
{
	uint32_t port = find_port(0x203, 5);
	struct triad_engine_row row;

	set_up_waits(0.05);
	row = read_port(port);
	ck_assert(triad_engine_rate(&row, TRIAD_PORT_XMIT_WAIT) == 0);
	tick(1000);
	sweep(1);
	row = read_port(port);
	ck_assert(!(row.has & 1u << TRIAD_PORT_XMIT_WAIT));
	ck_assert(row.forgotten == 1u << TRIAD_PORT_XMIT_WAIT);
	ck_assert(isnan(triad_engine_rate(&row, TRIAD_PORT_XMIT_WAIT)));
	for (unsigned i = 0; i < 20 && !is_wait_known(port); i++) {
		tick(1000);
		sweep(1);
	}
	row = read_port(port);
	ck_assert_uint_eq(row.total[TRIAD_PORT_XMIT_WAIT],
		agents->raw[port][TRIAD_PORT_XMIT_WAIT]);
	/* Since it began, not since the last sweep. */
	ck_assert_double_eq_tol(triad_engine_rate(&row, TRIAD_PORT_XMIT_WAIT), 100, 1);
}
END_TEST

/* Even where the share allows nothing more. */
START_TEST(test_requested_sweep_reads_all_waits)
{
	set_up_waits(0.0001);
	for (unsigned i = 0; i < 10; i++) {
		tick(ALL_TICKS / 10);
		sweep(1);
	}
	ck_assert(read_port(find_port(0x203, 5)).total[TRIAD_PORT_XMIT_WAIT] !=
		agents->raw[find_port(0x203, 5)][TRIAD_PORT_XMIT_WAIT]);
	tick(1);
	triad_collector_sweep_now(collector);
	sweep(1);
	for (uint32_t i = 0; i < fabric->n_ports; i++)
		if (fabric->ports[i].has_pma)
			ck_assert_uint_eq(read_port(i).total[TRIAD_PORT_XMIT_WAIT],
				agents->raw[i][TRIAD_PORT_XMIT_WAIT]);
}
END_TEST

static uint64_t filling_us; /* until the port's counter stops; 0: it stays as it is */
static uint32_t filling_port;
static int (*send_really)(void *context, const struct triad_mad_address *to,
	const uint8_t *mad, unsigned timeout_ms);

/* Lets the port wait at a constant rate while time passes. */
static int send_filling(void *context, const struct triad_mad_address *to,
	const uint8_t *mad, unsigned timeout_ms)
{
	static uint64_t last_us;
	uint64_t *raw = &agents->raw[filling_port][TRIAD_PORT_XMIT_WAIT];
	double more = (double)(agents->now_us - last_us) / (double)filling_us;

	*raw += (uint64_t)(more * UINT32_MAX);
	if (*raw > UINT32_MAX)
		*raw = UINT32_MAX;
	last_us = agents->now_us;
	return send_really(context, to, mad, timeout_ms);
}

/* At 4x HDR 2^32 ticks are 0.69 s.  The port waits for a third of the time. */
START_TEST(test_wait_that_stops_is_read_again_before_it_can_stop)
{
	struct triad_mad_transport filling = agents->transport;
	uint32_t port = find_port(0x201, 5);
	uint64_t words_per_s = UINT64_C(200000000000) / 32;
	struct triad_engine_row row;

	for (uint32_t i = 0; i < fabric->n_ports; i++)
		fabric->ports[i].width = 2;
	params.sweep.reset_near_full = true;
	set_mode(TRIAD_SWEEP_TRIAD);
	set_rounds(0.05, 1000000);
	agents->details = 0;
	sweep(150);
	filling_port = port;
	filling_us = 3 * UINT64_C(1000000) * UINT32_MAX / words_per_s;
	send_really = filling.send;
	filling.send = send_filling;
	triad_collector_set_transport(collector, &filling);
	sweep(1);
	for (unsigned i = 0; i < 10; i++) {
		agents->raw[port][TRIAD_SYMBOL_ERROR_COUNTER] = 3 + i;
		sweep(1);
		row = read_port(port);
		ck_assert_uint_eq(row.saturated, 0);
		ck_assert_double_eq_tol(triad_engine_rate(&row, TRIAD_PORT_XMIT_WAIT) /
				(double)words_per_s,
			1 / 3., 0.02);
		/* What else was read in this sweep stays. */
		ck_assert_uint_eq(row.change[TRIAD_SYMBOL_ERROR_COUNTER], i ? 1 : 3);
		ck_assert_uint_gt(row.interval_us[TRIAD_READ_ERRORS], 9 * S);
	}
	triad_collector_set_transport(collector, &agents->transport);
}
END_TEST

/* Lets all ports wait at this part of the time, those of HCAs, too, and some at another. */
#define MOST_PORTS 256u
static double waiting_part, other_part;
static bool is_other[MOST_PORTS];
static uint64_t waiting_since_us;

static int send_waiting(void *context, const struct triad_mad_address *to,
	const uint8_t *mad, unsigned timeout_ms)
{
	double passed_us = (double)(agents->now_us - waiting_since_us);
	double all = 200e9 / 32 / 1e6 * passed_us;

	waiting_since_us = agents->now_us;
	for (uint32_t i = 0; i < fabric->n_ports; i++) {
		uint64_t *raw = &agents->raw[i][TRIAD_PORT_XMIT_WAIT];
		uint64_t ticks =
			(uint64_t)(all * (is_other[i] ? other_part : waiting_part));

		*raw = *raw + ticks < UINT32_MAX ? *raw + ticks : UINT32_MAX;
	}
	return send_really(context, to, mad, timeout_ms);
}

static unsigned n_saturated(void)
{
	unsigned n = 0;

	for (uint32_t i = 0; i < fabric->n_ports; i++)
		n += fabric->ports[i].has_pma && read_port(i).saturated != 0;
	return n;
}

/* From now on; the links are 4x HDR, where 2^32 ticks are 6.9 % of 10 s. */
static void begin_waiting(struct triad_mad_transport *waiting, double part)
{
	*waiting = agents->transport;
	waiting_part = part;
	waiting_since_us = agents->now_us;
	send_really = waiting->send;
	waiting->send = send_waiting;
	triad_collector_set_transport(collector, waiting);
}

static void set_up_waiting(double share)
{
	ck_assert_uint_le(fabric->n_ports, MOST_PORTS);
	for (uint32_t i = 0; i < fabric->n_ports; i++)
		fabric->ports[i].width = 2;
	params.sweep.reset_near_full = true;
	set_mode(TRIAD_SWEEP_TRIAD);
	set_rounds(share, 1000000);
	agents->details = 0;
	sweep(150);
}

/* Of no port only a lower bound is known, though the counters are full in each sweep, and the
 * readings of switches keep to the share. */
START_TEST(test_waits_that_stop_everywhere_are_known_within_the_share)
{
	struct triad_mad_transport waiting;
	unsigned quiet, loaded = 0, n_hcas = 0;

	set_up_waiting(0.05);
	for (uint32_t i = 0; i < fabric->n_ports; i++)
		n_hcas += fabric->ports[i].has_pma &&
			fabric->nodes[fabric->ports[i].node].type == TRIAD_NODE_CA;
	quiet = mads_of_plain_sweeps(100);
	begin_waiting(&waiting, 0.09);
	sweep(1);
	for (unsigned i = 0; i < 100; i++) {
		loaded += mads_of_sweeps(1);
		ck_assert_uint_eq(n_saturated(), 0);
	}
	triad_collector_set_transport(collector, &agents->transport);
	/* HCAs' resets and second readings are the sweep's own. */
	quiet += 2 * 100 * n_hcas;
	ck_assert_uint_le(loaded, quiet * 105 / 100 + 3 * 12);
}
END_TEST

/* Ports that waited at their last reading take no more than half of the share, their resets and
 * second readings included. */
START_TEST(test_ports_that_wait_leave_readings_to_others)
{
	uint64_t before[MOST_PORTS] = {0};
	struct triad_mad_transport waiting;

	set_up_waiting(0.2);
	begin_waiting(&waiting, 0.09);
	sweep(2);
	for (uint32_t i = 0; i < fabric->n_ports; i++)
		if (fabric->ports[i].has_pma)
			before[i] = read_port(i).total[TRIAD_PORT_XMIT_WAIT];
	sweep(60);
	triad_collector_set_transport(collector, &agents->transport);
	for (uint32_t i = 0; i < fabric->n_ports; i++)
		if (fabric->ports[i].has_pma)
			ck_assert_msg(
				read_port(i).total[TRIAD_PORT_XMIT_WAIT] > before[i],
				"port %u was not read", i);
}
END_TEST

/* The counter stopped, but the port does not wait any more: the next sweep reads it, too,
 * so it does not stay unknown, though the sum of its switch moves little. */
START_TEST(test_wait_of_a_lower_bound_is_read_again_in_the_next_sweep)
{
	uint32_t port = find_port(0x201, 5);

	set_up_waiting(0.05);
	params.sweep.wait_matters = 0.3;
	triad_collector_set_params(collector, &params);
	tick(1000);
	agents->raw[port][TRIAD_PORT_XMIT_WAIT] = UINT32_MAX;
	sweep(1);
	ck_assert(read_port(port).saturated & 1u << TRIAD_PORT_XMIT_WAIT);
	tick(1000);
	sweep(1);
	ck_assert(!read_port(port).saturated);
}
END_TEST

/* Returns after how many sweeps the port is read. */
static unsigned sweeps_until_read(uint32_t port)
{
	uint64_t before = read_port(port).total[TRIAD_PORT_XMIT_WAIT];
	unsigned n = 0;

	while (read_port(port).total[TRIAD_PORT_XMIT_WAIT] == before && n++ < 200)
		sweep(1);
	return n;
}

/* The counters of all ports are full in each sweep, so switches take turns.  A host that
 * begins to wait leads to its switch, and a switch's port to the next one. */
START_TEST(test_switch_behind_a_port_that_begins_to_wait_is_read_first)
{
	struct triad_mad_transport waiting;
	uint32_t port = find_port(0x201, 5);
	unsigned turn;

	set_up_waiting(0.05);
	params.sweep.wait_matters = 0.3;
	triad_collector_set_params(collector, &params);
	begin_waiting(&waiting, 0.09);
	sweeps_until_read(port);
	turn = sweeps_until_read(port);
	ck_assert_uint_gt(turn, 8);
	/* It was just read, so others have their turns before. */
	other_part = 0.5;
	is_other[fabric->ports[port].remote] = true;
	ck_assert_uint_le(sweeps_until_read(port), turn / 2);
	/* That goes on, and is no news. */
	ck_assert_uint_gt(sweeps_until_read(port), turn / 2);
	triad_collector_set_transport(collector, &agents->transport);
}
END_TEST

/* Ports of different switches that lead to hosts.  Returns how many. */
static unsigned ports_to_hosts(uint32_t *ports, unsigned most)
{
	unsigned n = 0;

	for (uint32_t i = 0; i < fabric->n_ports && n < most; i++) {
		uint32_t far = fabric->ports[i].remote;

		if (far != TRIAD_FABRIC_NONE &&
			fabric->nodes[fabric->ports[i].node].type ==
				TRIAD_NODE_SWITCH &&
			fabric->nodes[fabric->ports[far].node].type == TRIAD_NODE_CA &&
			(!n ||
				fabric->ports[ports[n - 1]].node !=
					fabric->ports[i].node))
			ports[n++] = i;
	}
	return n;
}

/* Hosts at many switches wait: the tree is followed, before all of them are read. */
START_TEST(test_switch_that_was_led_to_last_is_read_first)
{
	struct triad_mad_transport waiting;
	unsigned n, n_read = 0;
	uint64_t before[8];
	uint32_t ports[8];

	set_up_waiting(0.05);
	params.sweep.wait_matters = 0.3;
	triad_collector_set_params(collector, &params);
	n = ports_to_hosts(ports, 8);
	ck_assert_uint_ge(n, 4);
	begin_waiting(&waiting, 0.09);
	sweep(40);
	other_part = 0.5;
	for (unsigned i = 0; i < n; i++)
		before[i] = read_port(ports[i]).total[TRIAD_PORT_XMIT_WAIT];
	for (unsigned i = 0; i < n - 1; i++)
		is_other[fabric->ports[ports[i]].remote] = true;
	sweep(1);
	is_other[fabric->ports[ports[n - 1]].remote] = true;
	sweep(1);
	sweeps_until_read(ports[n - 1]);
	for (unsigned i = 0; i < n; i++)
		n_read += read_port(ports[i]).total[TRIAD_PORT_XMIT_WAIT] != before[i];
	ck_assert_uint_le(n_read, n / 2);
	triad_collector_set_transport(collector, &agents->transport);
}
END_TEST

/* Such agents give PortXmitWait with the data counters, in each sweep.  _i: the mode of
 * errors alone, in which switches sum it up. */
START_TEST(test_wait_of_64_bits_is_read_with_the_data_counters)
{
	uint32_t port = find_port(0x201, 5);
	uint64_t ticks = UINT64_C(200000000000) / 32 * 3; /* 30 % of 10 s at 4x HDR */
	struct triad_engine_row row;
	unsigned quiet;

	for (uint32_t i = 0; i < fabric->n_ports; i++)
		fabric->ports[i].width = 2;
	agents->has_wide_errors = true;
	agents->details = 0;
	set_mode(_i ? TRIAD_SWEEP_ERRORS : TRIAD_SWEEP_TRIAD);
	set_rounds(0.05, 1000000);
	sweep(150);
	quiet = mads_of_sweeps(10);
	for (unsigned i = 0; i < 10 && !_i; i++) {
		agents->raw[port][TRIAD_PORT_XMIT_WAIT] += ticks;
		sweep(1);
		row = read_port(port);
		ck_assert_uint_eq(row.total[TRIAD_PORT_XMIT_WAIT], (i + 1) * ticks);
		ck_assert_double_eq_tol(triad_engine_rate(&row, TRIAD_PORT_XMIT_WAIT),
			(double)ticks / 10, 1e6);
		ck_assert_uint_eq(row.saturated, 0);
	}
	if (!_i) {
		ck_assert_uint_le(mads_of_sweeps(10), quiet);
		reset_port(port, true);
		sweep(1);
		ck_assert_uint_eq(agents->raw[port][TRIAD_PORT_XMIT_WAIT], 0);
		agents->raw[port][TRIAD_PORT_XMIT_WAIT] = 99;
		sweep(1);
		ck_assert_uint_eq(read_port(port).total[TRIAD_PORT_XMIT_WAIT], 99);
	} else {
		agents->raw[port][TRIAD_PORT_XMIT_WAIT] = 77;
		sweep(2);
		ck_assert_uint_eq(read_port(port).total[TRIAD_PORT_XMIT_WAIT], 77);
	}
}
END_TEST

/* --- random faults --- */

START_TEST(test_sweeps_end_whatever_is_lost)
{
	agents->details = UINT32_MAX & ~TRIAD_DETAIL_BIT(TRIAD_PMA_SL_RCV_FECN);
	agents->lost_percent = 10;
	agents->twice_percent = 10;
	agents->garbage_percent = 10;
	agents->jitter_us = 200 * MS;
	params.sweep.reset_near_full = true;
	set_rounds(1, 2);
	for (unsigned i = 0; i < 40; i++) {
		struct triad_sweep_progress last;

		for (uint32_t p = 0; p < fabric->n_ports; p++) {
			agents->raw[p][TRIAD_PORT_RCV_ERRORS] += p % 3;
			if ((p + i) % 4 == 0)
				agents->raw[p][TRIAD_PORT_XMIT_WAIT] = UINT32_MAX;
			agents->detail[p][i % TRIAD_PMA_N_ATTRIBUTES].raw[0] += 20000;
		}
		if (i == 20)
			change_fabric(fabric_row(5, 9));
		last = sweep(1).last;
		ck_assert_uint_eq(last.n_answered + last.n_unanswered, last.n_ports);
	}
}
END_TEST

int main(void)
{
	TCase *cases = tcase_create("rounds");

	tcase_add_checked_fixture(cases, set_up_fast, tear_down);
	tcase_add_test(
		cases, test_details_are_asked_in_the_sweep_in_which_their_total_moved);
	tcase_add_loop_test(cases,
		test_vls_of_a_port_that_waits_are_asked_for_in_the_same_sweep, 0, 2);
	tcase_add_loop_test(
		cases, test_all_ports_with_new_errors_are_asked_in_one_sweep, 0, 3);
	tcase_add_test(cases, test_round_reaches_every_port_once_in_its_period);
	tcase_add_loop_test(cases, test_rounds_keep_to_their_share, 0, 3);
	tcase_add_test(cases, test_sweeps_of_a_group_take_nothing_from_rounds);
	tcase_add_test(cases, test_refused_attribute_is_not_asked_again);
	tcase_add_test(cases, test_ignored_attribute_is_not_asked_for_ever);
	tcase_add_test(cases, test_agent_that_was_silent_is_asked_anew);
	tcase_add_test(cases, test_counter_near_full_is_reset_and_its_total_goes_on);
	tcase_add_test(cases, test_reset_of_hardware_resets_details_and_loses_nothing);
	tcase_add_loop_test(cases, test_load_costs_no_more_than_the_share, 0, 2);
	tcase_add_test(cases, test_rate_of_wait_is_that_of_its_own_interval);
	tcase_add_test(cases, test_wait_that_stopped_is_known_to_have_stopped);
	tcase_add_test(cases, test_errors_beside_waiting_are_read_at_once);
	tcase_add_test(cases, test_wait_that_begins_is_read_in_the_same_sweep);
	tcase_add_test(cases, test_wait_that_moved_is_unknown_until_it_is_read);
	tcase_add_test(cases, test_requested_sweep_reads_all_waits);
	tcase_add_test(cases, test_wait_that_stops_is_read_again_before_it_can_stop);
	tcase_add_test(
		cases, test_waits_that_stop_everywhere_are_known_within_the_share);
	tcase_add_test(cases, test_ports_that_wait_leave_readings_to_others);
	tcase_add_test(
		cases, test_wait_of_a_lower_bound_is_read_again_in_the_next_sweep);
	tcase_add_test(
		cases, test_switch_behind_a_port_that_begins_to_wait_is_read_first);
	tcase_add_test(cases, test_switch_that_was_led_to_last_is_read_first);
	tcase_add_loop_test(
		cases, test_wait_of_64_bits_is_read_with_the_data_counters, 0, 2);
	tcase_add_test(cases, test_sweeps_end_whatever_is_lost);
	return run_cases(cases);
}
