/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The attributes of one path, derived from its links, its level and the request. */
#include "qos/decide.h"

#include "ib/rates.h"
#include "tests/unit/qos/path_fixture.h"

#define FROM 2 /* hosts of the plan; their ports 1 */
#define TO 4

static struct triad_path_request request;
static struct triad_path_decision decision;
static const struct triad_policy_level *level;
static struct triad_path_engine engine;

static void set_up(void)
{
	memset(&request, 0, sizeof(request));
	level = NULL;
	engine = (struct triad_path_engine){0};
	plan_two_switches(0);
	build();
}

/* Sets a level with these lines; its SL is 0 unless they set one. */
static void set_level(const char *lines)
{
	char text[1024];

	snprintf(text, sizeof(text),
		"qos-levels\nqos-level\nname: DEFAULT\n%s%s\nend-qos-level\n"
		"end-qos-levels\n",
		strstr(lines, "sl:") ? "" : "sl: 0\n", lines);
	use_policy(text);
	level = &policy->levels[policy->default_level];
}

static void decide_for(unsigned from, unsigned to)
{
	const struct triad_path_ask ask = {.paths = paths,
		.request = &request,
		.level = level,
		.engine = engine,
		.from = port_of(from, from > 1),
		.to = port_of(to, to > 1)};

	memset(&decision, 0xee, sizeof(decision));
	triad_path_decide(
		&ask, paths->ends[ask.from].lid, paths->ends[ask.to].lid, &decision);
}

static enum triad_refusal refusal(void)
{
	decide_for(FROM, TO);
	return decision.refusal;
}

/* --- selectors --- */

static void ask_mtu(enum triad_selector selector, unsigned mtu)
{
	request.has |= TRIAD_HAS_MTU;
	request.mtu_selector = (uint8_t)selector;
	request.mtu = (uint8_t)mtu;
}

static void ask_rate(enum triad_selector selector, unsigned rate)
{
	request.has |= TRIAD_HAS_RATE;
	request.rate_selector = (uint8_t)selector;
	request.rate = (uint8_t)rate;
}

static void ask_life(enum triad_selector selector, unsigned life)
{
	request.has |= TRIAD_HAS_LIFE;
	request.life_selector = (uint8_t)selector;
	request.life = (uint8_t)life;
}

/* The value chosen for a link's and a requested value; 0: there is no path. */
struct selection {
	enum triad_selector selector;
	uint8_t there, asked, chosen;
};

START_TEST(test_mtu_each_selector)
{
	static const struct selection cases[] = {
		{TRIAD_SELECT_GREATER, 4, 3, 4},
		{TRIAD_SELECT_GREATER, 4, 4, 0},
		{TRIAD_SELECT_GREATER, 4, 5, 0},
		{TRIAD_SELECT_LESS, 4, 5, 4},
		{TRIAD_SELECT_LESS, 4, 4, 3},
		{TRIAD_SELECT_LESS, 4, 2, 1},
		{TRIAD_SELECT_LESS, 4, 1, 0},
		{TRIAD_SELECT_EXACTLY, 4, 4, 4},
		{TRIAD_SELECT_EXACTLY, 4, 2, 2},
		{TRIAD_SELECT_EXACTLY, 4, 5, 0},
		{TRIAD_SELECT_BEST, 4, 1, 4},
		{TRIAD_SELECT_BEST, 2, 5, 2},
	};

	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		plan_port(plan, 1, 1)->port.mtu_cap = cases[i].there;
		build();
		ask_mtu(cases[i].selector, cases[i].asked);
		ck_assert_msg(refusal() ==
				(cases[i].chosen ? TRIAD_REFUSAL_NONE
						 : TRIAD_REFUSAL_MTU),
			"case %u", i);
		if (cases[i].chosen)
			ck_assert_uint_eq(decision.mtu, cases[i].chosen);
	}
}
END_TEST

/* Codes of rates are compared by bandwidth in Gb/s: 3 is 10, 11 is 14, 6 is 20, 4 is
 * 30, 16 is 100, 10 is 120. */
START_TEST(test_rate_each_selector_by_bandwidth)
{
	static const struct selection cases[] = {
		{TRIAD_SELECT_GREATER, 6, 11, 6},
		{TRIAD_SELECT_GREATER, 6, 6, 0},
		{TRIAD_SELECT_GREATER, 6, 4, 0},
		{TRIAD_SELECT_GREATER, 16, 10, 16},
		{TRIAD_SELECT_LESS, 6, 4, 6},
		{TRIAD_SELECT_LESS, 6, 6, 11},
		{TRIAD_SELECT_LESS, 6, 11, 3},
		{TRIAD_SELECT_LESS, 6, 2, 0},
		{TRIAD_SELECT_EXACTLY, 6, 6, 6},
		{TRIAD_SELECT_EXACTLY, 6, 11, 0},
		{TRIAD_SELECT_EXACTLY, 6, 4, 0},
		{TRIAD_SELECT_BEST, 6, 22, 6},
		{TRIAD_SELECT_BEST, 6, 2, 6},
	};

	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		for (unsigned node = 2; node < 6; node++)
			plan_port(plan, node, 1)->port.rate = cases[i].there;
		build();
		ask_rate(cases[i].selector, cases[i].asked);
		ck_assert_msg(refusal() ==
				(cases[i].chosen ? TRIAD_REFUSAL_NONE
						 : TRIAD_REFUSAL_RATE),
			"case %u", i);
		if (cases[i].chosen)
			ck_assert_uint_eq(decision.rate, cases[i].chosen);
	}
}
END_TEST

START_TEST(test_life_each_selector)
{
	static const struct selection cases[] = {
		{TRIAD_SELECT_GREATER, 18, 17, 18},
		{TRIAD_SELECT_GREATER, 18, 18, 0},
		{TRIAD_SELECT_LESS, 18, 19, 18},
		{TRIAD_SELECT_LESS, 18, 18, 17},
		{TRIAD_SELECT_LESS, 18, 2, 1},
		{TRIAD_SELECT_LESS, 18, 1, 0},
		{TRIAD_SELECT_EXACTLY, 18, 18, 18},
		{TRIAD_SELECT_EXACTLY, 18, 5, 5},
		{TRIAD_SELECT_EXACTLY, 18, 19, 0},
		{TRIAD_SELECT_BEST, 18, 3, 18},
	};

	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		plan->sa.subnet_timeout = cases[i].there;
		build();
		ask_life(cases[i].selector, cases[i].asked);
		ck_assert_msg(refusal() ==
				(cases[i].chosen ? TRIAD_REFUSAL_NONE
						 : TRIAD_REFUSAL_LIFE),
			"case %u", i);
		if (cases[i].chosen)
			ck_assert_uint_eq(decision.life, cases[i].chosen);
	}
}
END_TEST

START_TEST(test_life_to_oneself_is_0)
{
	set_level("packet-life: 9");
	decide_for(FROM, FROM);
	ck_assert_int_eq(decision.refusal, TRIAD_REFUSAL_NONE);
	ck_assert_uint_eq(decision.life, 0);
	ck_assert_uint_eq(decision.links, 0);
	ask_life(TRIAD_SELECT_EXACTLY, 1);
	decide_for(FROM, FROM);
	ck_assert_int_eq(decision.refusal, TRIAD_REFUSAL_LIFE);
}
END_TEST

START_TEST(test_values_not_asked_for_ignored)
{
	ask_mtu(TRIAD_SELECT_GREATER, 5);
	ask_rate(TRIAD_SELECT_GREATER, 22);
	ask_life(TRIAD_SELECT_GREATER, 63);
	request.pkey = 0x1234;
	request.sl = 9;
	request.has = 0;
	ck_assert_int_eq(refusal(), TRIAD_REFUSAL_NONE);
	ck_assert_uint_eq(decision.mtu, 5);
	ck_assert_uint_eq(decision.rate, 16);
	ck_assert_uint_eq(decision.life, 18);
	ck_assert_uint_eq(decision.pkey, 0xffff);
	ck_assert_uint_eq(decision.sl, 0);
	ck_assert_uint_eq(decision.links, 3);
	ck_assert(decision.reversible);
}
END_TEST

/* --- a level's limits --- */

/* Row: Q8 */
START_TEST(test_level_mtu_limit_lowers)
{
	set_level("mtu-limit: 3");
	ck_assert_int_eq(refusal(), TRIAD_REFUSAL_NONE);
	ck_assert_uint_eq(decision.mtu, 3);
	ask_mtu(TRIAD_SELECT_GREATER, 2);
	ck_assert_int_eq(refusal(), TRIAD_REFUSAL_NONE);
	ask_mtu(TRIAD_SELECT_GREATER, 3);
	ck_assert_int_eq(refusal(), TRIAD_REFUSAL_MTU);
	ask_mtu(TRIAD_SELECT_EXACTLY, 4);
	ck_assert_int_eq(refusal(), TRIAD_REFUSAL_MTU);
	ask_mtu(TRIAD_SELECT_EXACTLY, 2);
	ck_assert_int_eq(refusal(), TRIAD_REFUSAL_NONE);
	ck_assert_uint_eq(decision.mtu, 2);
	request.has = 0;
	set_level("mtu-limit: 5");
	plan_port(plan, TO, 1)->port.mtu_cap = 2;
	build();
	set_level("mtu-limit: 5");
	ck_assert_int_eq(refusal(), TRIAD_REFUSAL_NONE);
	ck_assert_uint_eq(decision.mtu, 2);
}
END_TEST

static uint8_t rate_under(unsigned links, unsigned limit)
{
	char line[32];

	for (unsigned node = 2; node < 6; node++)
		plan_port(plan, node, 1)->port.rate = (uint8_t)links;
	build();
	snprintf(line, sizeof(line), "rate-limit: %u", limit);
	set_level(line);
	ck_assert_int_eq(refusal(), TRIAD_REFUSAL_NONE);
	return decision.rate;
}

/* Rates are compared by bandwidth, not by code: code 11 is 14 Gb/s, but code 7 is
 * 40. */
/* Row: Q8 */
START_TEST(test_level_rate_limit_lowers_by_bandwidth)
{
	ck_assert_uint_eq(rate_under(7, 11), 11);
	ck_assert_uint_eq(rate_under(11, 7), 11);
	ck_assert_uint_eq(rate_under(7, 3), 3);
	ck_assert_uint_eq(rate_under(3, 7), 3);
	ck_assert_uint_eq(rate_under(10, 16), 10);
	ck_assert_uint_eq(rate_under(16, 10), 10);
	ck_assert_uint_eq(rate_under(5, 4), 5);
	ck_assert_uint_eq(rate_under(7, 7), 7);
}
END_TEST

START_TEST(test_level_rate_limit_then_selector)
{
	ck_assert_uint_eq(rate_under(16, 7), 7);
	ask_rate(TRIAD_SELECT_EXACTLY, 7);
	ck_assert_uint_eq(rate_under(16, 7), 7);
	ask_rate(TRIAD_SELECT_EXACTLY, 16);
	ck_assert_int_eq(refusal(), TRIAD_REFUSAL_RATE);
	ask_rate(TRIAD_SELECT_GREATER, 7);
	ck_assert_int_eq(refusal(), TRIAD_REFUSAL_RATE);
	ask_rate(TRIAD_SELECT_LESS, 7);
	ck_assert_uint_eq(rate_under(16, 7), 19);
}
END_TEST

START_TEST(test_level_packet_life_replaces_the_subnets)
{
	set_level("packet-life: 16");
	ck_assert_int_eq(refusal(), TRIAD_REFUSAL_NONE);
	ck_assert_uint_eq(decision.life, 16);
	set_level("packet-life: 20");
	ck_assert_int_eq(refusal(), TRIAD_REFUSAL_NONE);
	ck_assert_uint_eq(decision.life, 20);
	ask_life(TRIAD_SELECT_GREATER, 19);
	ck_assert_int_eq(refusal(), TRIAD_REFUSAL_NONE);
	ask_life(TRIAD_SELECT_GREATER, 20);
	ck_assert_int_eq(refusal(), TRIAD_REFUSAL_LIFE);
}
END_TEST

/* --- SLs --- */

static void ask_sl(unsigned sl)
{
	request.has |= TRIAD_HAS_SL;
	request.sl = (uint8_t)sl;
}

START_TEST(test_sl_level_before_partition)
{
	plan_add_partition(plan, 0x7fff, 6, "Default");
	build();
	ck_assert_int_eq(refusal(), TRIAD_REFUSAL_NONE);
	ck_assert_uint_eq(decision.sl, 6);
	ask_sl(9);
	ck_assert_int_eq(refusal(), TRIAD_REFUSAL_NONE);
	ck_assert_uint_eq(decision.sl, 9);
	request.has = 0;
	set_level("sl: 3");
	ck_assert_int_eq(refusal(), TRIAD_REFUSAL_NONE);
	ck_assert_uint_eq(decision.sl, 3);
}
END_TEST

START_TEST(test_sl_asked_for_must_be_the_levels)
{
	set_level("sl: 3");
	ask_sl(3);
	ck_assert_int_eq(refusal(), TRIAD_REFUSAL_NONE);
	ck_assert_uint_eq(decision.sl, 3);
	ask_sl(4);
	ck_assert_int_eq(refusal(), TRIAD_REFUSAL_SL_NOT_OF_LEVEL);
}
END_TEST

/* The source port's SL 3 is on VL15. */
static void drop_sl_3(void)
{
	plan->sa.qos = true;
	plan_set_sls(plan_port(plan, FROM, 1), 0, 0xfff7);
	plan_add_partition(plan, 0x7fff, 3, "Default");
	build();
}

/* Row: Q8 */
START_TEST(test_sl_on_vl15_refused)
{
	drop_sl_3();
	ck_assert_int_eq(refusal(), TRIAD_REFUSAL_SL_VL15);
	ask_sl(3);
	ck_assert_int_eq(refusal(), TRIAD_REFUSAL_SL_VL15);
	ask_sl(4);
	ck_assert_int_eq(refusal(), TRIAD_REFUSAL_NONE);
	set_level("sl: 3");
	ck_assert_int_eq(refusal(), TRIAD_REFUSAL_LEVEL_SL);
	request.has = 0;
	ck_assert_int_eq(refusal(), TRIAD_REFUSAL_LEVEL_SL);
	set_level("sl: 2");
	ck_assert_int_eq(refusal(), TRIAD_REFUSAL_NONE);
	ck_assert_uint_eq(decision.sl, 2);
}
END_TEST

START_TEST(test_every_sl_on_vl15_refused)
{
	plan->sa.qos = true;
	plan_set_sls(plan_port(plan, FROM, 1), 0, 0);
	build();
	ck_assert_int_eq(refusal(), TRIAD_REFUSAL_VL15);
	decide_for(TO, FROM);
	ck_assert_int_eq(decision.refusal, TRIAD_REFUSAL_NONE);
	ck_assert(!decision.reversible);
}
END_TEST

/* --- the routing engine --- */

struct engine_answer {
	uint8_t sl, asked;
	uint16_t slid, dlid;
	unsigned n;
};

static uint8_t choose_sl(void *context, uint8_t sl, uint16_t slid, uint16_t dlid)
{
	struct engine_answer *engine_answer = context;

	if (engine_answer->n++)
		return engine_answer->sl;
	engine_answer->asked = sl;
	engine_answer->slid = slid;
	engine_answer->dlid = dlid;
	return engine_answer->sl;
}

START_TEST(test_engine_decides_on_sls)
{
	struct engine_answer engine_answer = {.sl = 0x15};

	plan->sa.engine_has_sl = true;
	build();
	ck_assert_int_eq(refusal(), TRIAD_REFUSAL_UNSURE);
	engine = (struct triad_path_engine){choose_sl, &engine_answer};
	set_level("sl: 7");
	ck_assert_int_eq(refusal(), TRIAD_REFUSAL_NONE);
	ck_assert_uint_eq(decision.sl, 5);
	ck_assert_uint_eq(engine_answer.asked, 7);
	ck_assert_uint_eq(engine_answer.slid, 3);
	ck_assert_uint_eq(engine_answer.dlid, 5);
	ck_assert_uint_eq(engine_answer.n, 2);
	ask_sl(7);
	ck_assert_int_eq(refusal(), TRIAD_REFUSAL_SL_NOT_OF_ENGINE);
	engine_answer.sl = 7;
	ck_assert_int_eq(refusal(), TRIAD_REFUSAL_NONE);
}
END_TEST

START_TEST(test_engine_not_asked_for_multipath)
{
	plan->sa.engine_has_sl = true;
	build();
	request.multi = true;
	ck_assert_int_eq(refusal(), TRIAD_REFUSAL_NONE);
}
END_TEST

/* --- P_Keys --- */

static void set_pkeys(unsigned node, uint16_t a, uint16_t b, uint16_t c)
{
	const uint16_t pkeys[] = {a, b, c};

	plan_set_pkeys(plan_port(plan, node, 1), pkeys, 3);
}

static void ask_pkey(unsigned pkey)
{
	request.has |= TRIAD_HAS_PKEY;
	request.pkey = (uint16_t)pkey;
}

START_TEST(test_pkey_first_in_common_with_its_sl)
{
	set_pkeys(FROM, 0x8005, 0x0003, 0x8009);
	set_pkeys(TO, 0x8009, 0x8003, 0x0005);
	plan_add_partition(plan, 3, 11, "three");
	build();
	ck_assert_int_eq(refusal(), TRIAD_REFUSAL_NONE);
	ck_assert_uint_eq(decision.pkey, 0x0003);
	ck_assert_uint_eq(decision.sl, 11);
	set_pkeys(TO, 0x8001, 0x8002, 0x0004);
	build();
	ck_assert_int_eq(refusal(), TRIAD_REFUSAL_NO_PKEY);
}
END_TEST

START_TEST(test_pkey_asked_for_given_as_it_was_asked)
{
	set_pkeys(FROM, 0x8005, 0x0003, 0x8009);
	set_pkeys(TO, 0x8009, 0x0003, 0x0005);
	plan_add_partition(plan, 9, 4, "nine");
	build();
	ask_pkey(0x0009);
	ck_assert_int_eq(refusal(), TRIAD_REFUSAL_NONE);
	ck_assert_uint_eq(decision.pkey, 0x0009);
	ck_assert_uint_eq(decision.sl, 4);
	ask_pkey(0x0003);
	ck_assert_int_eq(refusal(), TRIAD_REFUSAL_PKEY_NOT_SHARED);
	ask_pkey(0x8007);
	ck_assert_int_eq(refusal(), TRIAD_REFUSAL_PKEY_NOT_SHARED);
}
END_TEST

START_TEST(test_pkey_of_level_the_lowest_that_is_shared)
{
	set_pkeys(FROM, 0x8200, 0x0003, 0x8009);
	set_pkeys(TO, 0x8009, 0x0003, 0x0200);
	build();
	set_level("pkey: 1-0x10, 0x200");
	ck_assert_int_eq(refusal(), TRIAD_REFUSAL_NONE);
	ck_assert_uint_eq(decision.pkey, 0x0009);
	ck_assert_uint_eq(
		triad_path_level_pkey(paths, level, port_of(FROM, 1), port_of(TO, 1)),
		0x0009);
	ck_assert_uint_eq(
		triad_path_level_pkey(paths, level, port_of(FROM, 1), port_of(3, 1)),
		0);
	set_level("pkey: 0x200, 0x4");
	ck_assert_int_eq(refusal(), TRIAD_REFUSAL_NONE);
	ck_assert_uint_eq(decision.pkey, 0x0200);
	set_level("pkey: 3-8");
	ck_assert_int_eq(refusal(), TRIAD_REFUSAL_NO_PKEY_OF_LEVEL);
	ask_pkey(0x8009);
	ck_assert_int_eq(refusal(), TRIAD_REFUSAL_PKEY_NOT_OF_LEVEL);
	set_level("pkey: 9");
	ck_assert_int_eq(refusal(), TRIAD_REFUSAL_NONE);
	ck_assert_uint_eq(decision.pkey, 0x8009);
}
END_TEST

/* --- reversible paths --- */

START_TEST(test_reversible_only_when_there_is_a_return_path)
{
	drop_sl_3();
	set_level("sl: 3");
	decide_for(TO, FROM);
	ck_assert_int_eq(decision.refusal, TRIAD_REFUSAL_NONE);
	ck_assert(!decision.reversible);
	request.has = TRIAD_HAS_REVERSIBLE;
	decide_for(TO, FROM);
	ck_assert_int_eq(decision.refusal, TRIAD_REFUSAL_NONE);
	request.reversible = true;
	decide_for(TO, FROM);
	ck_assert_int_eq(decision.refusal, TRIAD_REFUSAL_NOT_REVERSIBLE);
	request.has = 0;
	decide_for(TO, FROM);
	ck_assert_int_eq(decision.refusal, TRIAD_REFUSAL_NONE);
}
END_TEST

START_TEST(test_unknown_return_path_leaves_it_to_opensm)
{
	plan->nodes[0].lft[plan_port(plan, FROM, 1)->port.lid] = PLAN_NO_ROUTE;
	build();
	ck_assert_int_eq(refusal(), TRIAD_REFUSAL_UNSURE);
	decide_for(TO, FROM);
	ck_assert_int_eq(decision.refusal, TRIAD_REFUSAL_UNSURE);
	plan_two_switches(0);
	build();
	triad_paths_mark_route(paths, plan->nodes[1].node.guid, 0);
	ck_assert_int_eq(refusal(), TRIAD_REFUSAL_UNSURE);
}
END_TEST

START_TEST(test_ring_is_too_long)
{
	plan->nodes[0].lft[plan_port(plan, TO, 1)->port.lid] = 5;
	plan->nodes[1].lft[plan_port(plan, TO, 1)->port.lid] = 5;
	build();
	ck_assert_int_eq(refusal(), TRIAD_REFUSAL_TOO_LONG);
}
END_TEST

/* --- 1,024 octets for a Tavor --- */

static uint8_t mtu_with_tavor(unsigned node, int selector, unsigned mtu)
{
	plan_two_switches(0);
	plan->sa.quirks = true;
	plan->nodes[node].node.vendor_id = 0x0002c9;
	plan->nodes[node].node.device_id = 23108;
	build();
	request.has = 0;
	if (selector >= 0)
		ask_mtu((enum triad_selector)selector, mtu);
	return refusal() ? 0 : decision.mtu;
}

START_TEST(test_tavor_at_an_end_gets_1024_unless_more_is_wanted)
{
	ck_assert_uint_eq(mtu_with_tavor(FROM, -1, 0), 3);
	ck_assert_uint_eq(mtu_with_tavor(TO, -1, 0), 3);
	ck_assert_uint_eq(mtu_with_tavor(3, -1, 0), 5);
	ck_assert_uint_eq(mtu_with_tavor(TO, TRIAD_SELECT_GREATER, 2), 3);
	ck_assert_uint_eq(mtu_with_tavor(TO, TRIAD_SELECT_GREATER, 3), 0);
	ck_assert_uint_eq(mtu_with_tavor(TO, TRIAD_SELECT_GREATER, 4), 5);
	ck_assert_uint_eq(mtu_with_tavor(TO, TRIAD_SELECT_EXACTLY, 3), 3);
	ck_assert_uint_eq(mtu_with_tavor(TO, TRIAD_SELECT_EXACTLY, 4), 4);
	ck_assert_uint_eq(mtu_with_tavor(TO, TRIAD_SELECT_LESS, 5), 3);
	ck_assert_uint_eq(mtu_with_tavor(TO, TRIAD_SELECT_BEST, 5), 5);
	plan->sa.quirks = false;
	build();
	request.has = 0;
	ck_assert_int_eq(refusal(), TRIAD_REFUSAL_NONE);
	ck_assert_uint_eq(decision.mtu, 5);
}
END_TEST

/* --- path bits --- */

static bool allows(unsigned lmc, unsigned lid, unsigned dlid)
{
	const struct triad_path_end to = {.lid = (uint16_t)lid, .lmc = (uint8_t)lmc};

	return triad_path_bits_allow(level, &to, (uint16_t)dlid);
}

START_TEST(test_path_bits_those_that_the_port_has)
{
	ck_assert(allows(2, 8, 11));
	set_level("path-bits: 1");
	ck_assert(allows(0, 8, 8));
	ck_assert(!allows(1, 8, 8));
	ck_assert(allows(1, 8, 9));
	ck_assert(!allows(3, 8, 8));
	ck_assert(allows(3, 8, 9));
	ck_assert(!allows(3, 8, 15));
	set_level("path-bits: 5-6");
	ck_assert(allows(0, 8, 8));
	ck_assert(allows(1, 8, 8)); /* 6 & 1 */
	ck_assert(allows(1, 8, 9)); /* 5 & 1 */
	ck_assert(!allows(2, 8, 8));
	ck_assert(allows(2, 8, 9));
	ck_assert(allows(2, 8, 10));
	ck_assert(!allows(2, 8, 11));
	ck_assert(!allows(3, 8, 12));
	ck_assert(allows(3, 8, 13));
	ck_assert(allows(3, 8, 14));
	ck_assert(!allows(3, 8, 9));
	set_level("path-bits: 127");
	ck_assert(allows(2, 8, 11));
	ck_assert(allows(7, 128, 255));
	ck_assert(!allows(7, 128, 254));
	set_level("");
	ck_assert(allows(7, 128, 200));
	level = NULL;
	ck_assert(allows(7, 128, 200));
}
END_TEST

/* --- rates reported to clients --- */

static uint8_t reported(
	uint8_t rate, unsigned from_caps, unsigned to_caps, bool reversible)
{
	const struct triad_path_decision of = {.rate = rate, .reversible = reversible};
	struct triad_path_ask ask = {.request = &request};

	plan_port(plan, FROM, 1)->port.rate_caps = (uint8_t)from_caps;
	plan_port(plan, TO, 1)->port.rate_caps = (uint8_t)to_caps;
	build();
	ask.paths = paths;
	ask.from = port_of(FROM, 1);
	ask.to = port_of(TO, 1);
	return triad_path_reported_rate(&ask, &of);
}

START_TEST(test_reported_rate_as_both_ends_understand)
{
	ck_assert_uint_eq(reported(16, 0, 0, true), 16);
	ck_assert_uint_eq(reported(20, 0, 7, false), 7);
	ck_assert_uint_eq(reported(20, 7, 0, false), 20);
	ck_assert_uint_eq(reported(20, 7, 0, true), 7);
	ck_assert_uint_eq(reported(19, 7, TRIAD_RATE_CAP_EXTENDED, true), 15);
	ck_assert_uint_eq(reported(22, 7, 7, true), 22);
	plan->sa.rate_limit = 20;
	ck_assert_uint_eq(reported(22, 7, 7, true), 20);
	ck_assert_uint_eq(reported(20, 0, 0, true), 20);
	plan->sa.rate_limit = 0;
	plan->sa.original_rates = true;
	ck_assert_uint_eq(reported(22, 7, 7, true), 18);
	ck_assert_uint_eq(reported(20, 7, 7, false), 7);
	ck_assert_uint_eq(reported(16, 0, 0, true), 16);
}
END_TEST

START_TEST(test_refusal_texts_all_there)
{
	for (int i = 0; i < TRIAD_N_REFUSALS; i++)
		ck_assert_uint_gt(strlen(triad_refusal_text(i)), 10);
	ck_assert_str_eq(triad_refusal_text(TRIAD_N_REFUSALS), "unknown");
}
END_TEST

int main(void)
{
	TCase *cases = tcase_create("decide");

	tcase_add_checked_fixture(cases, set_up, drop_all);
	tcase_add_test(cases, test_mtu_each_selector);
	tcase_add_test(cases, test_rate_each_selector_by_bandwidth);
	tcase_add_test(cases, test_life_each_selector);
	tcase_add_test(cases, test_life_to_oneself_is_0);
	tcase_add_test(cases, test_values_not_asked_for_ignored);
	tcase_add_test(cases, test_level_mtu_limit_lowers);
	tcase_add_test(cases, test_level_rate_limit_lowers_by_bandwidth);
	tcase_add_test(cases, test_level_rate_limit_then_selector);
	tcase_add_test(cases, test_level_packet_life_replaces_the_subnets);
	tcase_add_test(cases, test_sl_level_before_partition);
	tcase_add_test(cases, test_sl_asked_for_must_be_the_levels);
	tcase_add_test(cases, test_sl_on_vl15_refused);
	tcase_add_test(cases, test_every_sl_on_vl15_refused);
	tcase_add_test(cases, test_engine_decides_on_sls);
	tcase_add_test(cases, test_engine_not_asked_for_multipath);
	tcase_add_test(cases, test_pkey_first_in_common_with_its_sl);
	tcase_add_test(cases, test_pkey_asked_for_given_as_it_was_asked);
	tcase_add_test(cases, test_pkey_of_level_the_lowest_that_is_shared);
	tcase_add_test(cases, test_reversible_only_when_there_is_a_return_path);
	tcase_add_test(cases, test_unknown_return_path_leaves_it_to_opensm);
	tcase_add_test(cases, test_ring_is_too_long);
	tcase_add_test(cases, test_tavor_at_an_end_gets_1024_unless_more_is_wanted);
	tcase_add_test(cases, test_path_bits_those_that_the_port_has);
	tcase_add_test(cases, test_reported_rate_as_both_ends_understand);
	tcase_add_test(cases, test_refusal_texts_all_there);
	return run_cases(cases);
}
