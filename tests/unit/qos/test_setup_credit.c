/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* A ring of switches with a routing engine that avoids credit loops by SLs: packets
 * that cross from the last switch to the first have SL 1, others SL 0. */
#include "qos/setup/setup_credit.h"

#include "tests/sim/routed.h"
#include "tests/unit/mentions.h"
#include "tests/unit/qos/setup_fixture.h"

#define N 6
#define SWITCHES GROUP("switches", "<node-type>SWITCH</node-type>")
#define OF_SWITCHES "<group>switches</group>"
#define ALL_VL0 "0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0"

static struct routed routed;
static struct triad_fabric *fabric;
static struct triad_routes_credit credit;
static enum triad_setup_credit_state state;
static bool is_mute; /* the engine can't be asked for SLs */

static void begin(void)
{
	uint64_t seed = 1;

	routed_init(&routed, N);
	for (unsigned i = 0; i < N; i++)
		routed_link(&routed, i, (i + 1) % N);
	for (unsigned i = 0; i < N; i++)
		routed_add_host(&routed, i);
	routed_route(&routed, &seed);
	routed.qos = true;
	fabric = routed_fabric(&routed);
	fabric->sa.engine_has_sl = true;
	for (uint32_t i = 0; i < fabric->n_ports; i++) {
		fabric->ports[i].has_sl2vl = true;
		fabric->ports[i].vl_cap = fabric->ports[i].op_vls = 4; /* 8 VLs */
	}
	for (unsigned kind = 0; kind < TRIAD_QOS_N_PORT_KINDS; kind++)
		for (unsigned i = 0; i < 8; i++)
			fabric->qos.defaults[kind].sl2vl.vl[i] =
				(uint8_t)(i << 5 | (2 * i + 1));
	is_mute = false;
}

static void end(void)
{
	drop_setup();
	triad_fabric_unref(fabric);
	fabric = NULL;
}

static int ask(void *context, const struct triad_routes_layout *layout, uint16_t *sls)
{
	(void)context;
	if (is_mute)
		return EAGAIN;
	for (uint32_t goal = 0; goal < layout->n_goals; goal++)
		for (uint32_t sw = 0; sw < layout->n_switches; sw++) {
			struct routed_walk walk =
				routed_walk(&routed, sw, 0, layout->goals[goal].lid);
			bool crosses = false;

			for (unsigned i = 1; i < walk.n; i++)
				crosses |= walk.sw[i - 1] + walk.sw[i] == N - 1 &&
					(!walk.sw[i] || !walk.sw[i - 1]);
			sls[goal * layout->n_switches + sw] = crosses ? 2 : 1;
		}
	return 0;
}

static void find(void)
{
	static const struct triad_setup_credit_engine engine = {.ask = ask};

	ck_assert_int_eq(
		triad_setup_credit_find(setup, fabric, &engine, &state, &credit), 0);
}

/* Row: N7 */
START_TEST(test_setup_that_joins_layers_closes_loop)
{
	use(SWITCHES, SL2VL_OF(ALL_VL0, OF_SWITCHES), "");
	find();
	ck_assert_int_eq(state, TRIAD_SETUP_CREDIT_CLOSES);
	ck_assert_uint_eq(credit.n_loops, 2);
	ck_assert_uint_eq(credit.loops[0].n_channels, N);
}
END_TEST

START_TEST(test_setup_that_keeps_layers_apart_is_clean)
{
	use(SWITCHES, SL2VL_OF("5,3,0,0,0,0,0,0,0,0,0,0,0,0,0,0", OF_SWITCHES), "");
	find();
	ck_assert_int_eq(state, TRIAD_SETUP_CREDIT_CLEAN);
	ck_assert_uint_eq(credit.n_loops, 0);
}
END_TEST

START_TEST(test_setup_where_defaults_loop_is_not_to_blame)
{
	for (unsigned kind = 0; kind < TRIAD_QOS_N_PORT_KINDS; kind++)
		memset(fabric->qos.defaults[kind].sl2vl.vl, 0, 8);
	use(SWITCHES, SL2VL_OF(ALL_VL0, OF_SWITCHES), "");
	find();
	ck_assert_int_eq(state, TRIAD_SETUP_CREDIT_LOOPS);
}
END_TEST

START_TEST(test_setup_where_engine_is_mute_is_unknown)
{
	use(SWITCHES, SL2VL_OF(ALL_VL0, OF_SWITCHES), "");
	is_mute = true;
	find();
	ck_assert_int_eq(state, TRIAD_SETUP_CREDIT_UNKNOWN);
	assert_mentions(triad_setup_credit_why_unknown(0, state, &credit),
		"routing engine SLs");
}
END_TEST

/* With one SL for all packets, any tables have a loop. */
START_TEST(test_setup_without_layers_is_not_to_blame)
{
	fabric->sa.engine_has_sl = false;
	use(SWITCHES, SL2VL_OF(IDENTITY, OF_SWITCHES), "");
	find();
	ck_assert_int_eq(state, TRIAD_SETUP_CREDIT_LOOPS);
}
END_TEST

START_TEST(test_setup_that_engine_replaces_is_unknown)
{
	fabric->qos.engine_has_tables = true;
	use(SWITCHES, SL2VL_OF(ALL_VL0, OF_SWITCHES), "");
	find();
	ck_assert_int_eq(state, TRIAD_SETUP_CREDIT_UNKNOWN);
	assert_mentions(
		triad_setup_credit_why_unknown(0, state, &credit), "routing engine");
}
END_TEST

/* Row: X3 */
START_TEST(test_why_it_is_unknown_is_reported)
{
	credit.state = TRIAD_ROUTES_CREDIT_TOO_LARGE;
	assert_mentions(
		triad_setup_credit_why_unknown(0, TRIAD_SETUP_CREDIT_UNKNOWN, &credit),
		"too many dependencies");
	ck_assert_str_eq(triad_setup_credit_why_unknown(
				 ENOMEM, TRIAD_SETUP_CREDIT_UNKNOWN, NULL),
		"not enough memory");
	ck_assert_ptr_null(
		triad_setup_credit_why_unknown(0, TRIAD_SETUP_CREDIT_CLOSES, &credit));
}
END_TEST

int main(void)
{
	TCase *cases = tcase_create("setup_credit");

	tcase_add_checked_fixture(cases, begin, end);
	tcase_add_test(cases, test_why_it_is_unknown_is_reported);
	tcase_add_test(cases, test_setup_that_joins_layers_closes_loop);
	tcase_add_test(cases, test_setup_that_keeps_layers_apart_is_clean);
	tcase_add_test(cases, test_setup_where_defaults_loop_is_not_to_blame);
	tcase_add_test(cases, test_setup_where_engine_is_mute_is_unknown);
	tcase_add_test(cases, test_setup_without_layers_is_not_to_blame);
	tcase_add_test(cases, test_setup_that_engine_replaces_is_unknown);
	return run_cases(cases);
}
