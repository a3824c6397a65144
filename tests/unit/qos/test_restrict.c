/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* A restricted request must find the same paths without the level as the original
 * request with the level. */
#include "qos/restrict.h"

#include "qos/decide.h"
#include "ib/rates.h"
#include "tests/unit/qos/path_fixture.h"

#define BIT(n) (UINT64_C(1) << (n))

static unsigned seed;
static struct triad_policy_level level;
static struct triad_range pkeys[2];

/* A request on the wire and decoded. */
struct on_wire {
	uint8_t record[64];
	uint64_t mask;
	struct triad_path_request request;
};

static bool is_multi;

static void set_up(void)
{
	seed = (unsigned)time(NULL);
	srand(seed);
	memset(&level, 0, sizeof(level));
	is_multi = false;
	plan_two_switches(0);
	build();
}

static unsigned dice(unsigned sides)
{
	return (unsigned)rand() % sides;
}

/* --- on the wire --- */

static uint8_t *common_of(struct on_wire *wire)
{
	return wire->record + (is_multi ? 0 : 44);
}

static unsigned first_bit(void)
{
	return is_multi ? 0 : 6;
}

static enum triad_sa_status read_wire(struct on_wire *wire)
{
	if (is_multi)
		return triad_multipath_request_read(wire->record, sizeof(wire->record),
			wire->mask, TRIAD_RATE_MAX, &wire->request);
	return triad_path_request_read(
		wire->record, wire->mask, true, TRIAD_RATE_MAX, &wire->request);
}

static void clear(struct on_wire *wire)
{
	memset(wire, 0, sizeof(*wire));
	wire->mask = is_multi ? BIT(19) | BIT(20) : 0;
}

/* Requests a value with its selector; 'octet' counts from the flow label. */
static void ask_value(struct on_wire *wire, unsigned octet, unsigned bit,
	unsigned selector, unsigned value)
{
	common_of(wire)[octet] = (uint8_t)(selector << 6 | value);
	wire->mask |= BIT(first_bit() + bit) | BIT(first_bit() + bit + 1);
}

#define MTU 10, 10
#define RATE 11, 12
#define LIFE 12, 14

static void ask_sl(struct on_wire *wire, unsigned sl)
{
	common_of(wire)[9] |= (uint8_t)sl;
	wire->mask |= BIT(first_bit() + 9);
}

static void ask_pkey(struct on_wire *wire, unsigned pkey)
{
	common_of(wire)[6] = (uint8_t)(pkey >> 8);
	common_of(wire)[7] = (uint8_t)pkey;
	wire->mask |= BIT(first_bit() + 7);
}

/* --- random --- */

static const uint16_t some_pkeys[] = {0xffff, 0x8001, 0x0001, 0x8002, 0x0200};

static void randomize_plan(void)
{
	static const uint8_t rates[] = {2, 7, 10, 11, 12, 15, 16, 20};

	plan->sa.qos = true;
	plan->sa.subnet_timeout = (uint8_t)dice(64);
	for (unsigned node = 2; node < 6; node++) {
		struct plan_port *port = plan_port(plan, node, 1);

		port->port.mtu_cap = (uint8_t)(1 + dice(5));
		port->port.rate = rates[dice(8)];
		port->n_pkeys = 1 + dice(4);
		for (unsigned i = 0; i < port->n_pkeys; i++)
			port->pkeys[i] = some_pkeys[dice(5)];
		plan_set_sls(port, 0, dice(3) ? 0xffff : 0x0f0f);
	}
	build();
}

static void randomize_level(void)
{
	memset(&level, 0, sizeof(level));
	level.has_sl = dice(2);
	level.sl = (uint8_t)dice(16);
	level.has_mtu_limit = dice(2);
	level.mtu_limit = (uint8_t)(1 + dice(5));
	level.has_rate_limit = dice(2);
	level.rate_limit = (uint8_t)(2 + dice(21));
	level.has_packet_life = dice(2);
	level.packet_life = (uint8_t)dice(64);
	pkeys[0] = (struct triad_range){1, 1 + dice(2)};
	pkeys[1] = (struct triad_range){0x200, 0x7fff};
	level.pkeys.items = pkeys + dice(2);
	level.pkeys.n = dice(3) ? 0 : level.pkeys.items == pkeys ? 1 + dice(2) : 1;
}

static void randomize_request(struct on_wire *wire)
{
	clear(wire);
	if (!dice(3))
		ask_value(wire, MTU, dice(4), 1 + dice(5));
	if (!dice(3))
		ask_value(wire, RATE, dice(4), 2 + dice(21));
	if (!dice(3))
		ask_value(wire, LIFE, dice(4), dice(64));
	if (!dice(3))
		ask_sl(wire, dice(2) ? level.sl : dice(16));
	if (!dice(4))
		ask_pkey(wire, some_pkeys[dice(5)]);
	ck_assert_int_eq(read_wire(wire), TRIAD_SA_OK);
}

/* --- comparison of both requests --- */

static struct triad_path_decision decide(
	const struct triad_path_request *request, const struct triad_policy_level *with)
{
	const struct triad_path_ask ask = {.paths = paths,
		.request = request,
		.level = with,
		.from = port_of(2, 1),
		.to = port_of(4, 1)};
	struct triad_path_decision decision;

	triad_path_decide_links(&ask, 3, 5, &decision);
	return decision;
}

static bool restrict_wire(struct on_wire *wire)
{
	struct triad_path_request before = wire->request;
	uint16_t pkey =
		triad_path_level_pkey(paths, &level, port_of(2, 1), port_of(4, 1));
	bool left = triad_request_restrict(
		&level, &before, pkey, wire->record, &wire->mask);

	if (left)
		ck_assert_int_eq(read_wire(wire), TRIAD_SA_OK);
	return left;
}

/* Whether restrict.h lists this case as one in which the restricted request finds no
 * path though the level allows one. */
static bool is_excepted(const struct triad_path_request *request)
{
	struct triad_walk walk = walk_to(port_of(2, 1), port_of(4, 1), 5);
	unsigned limit = triad_rate_rank(level.rate_limit);
	unsigned selector = request->rate_selector;

	if (level.has_packet_life &&
		level.packet_life > paths->fabric->sa.subnet_timeout)
		return true;
	if (level.has_mtu_limit && request->has & TRIAD_HAS_MTU &&
		request->mtu_selector == TRIAD_SELECT_GREATER &&
		walk.mtu < level.mtu_limit)
		return true;
	if (!level.has_rate_limit || !(request->has & TRIAD_HAS_RATE))
		return false;
	return selector == TRIAD_SELECT_GREATER
		? walk.rank != limit
		: selector == TRIAD_SELECT_EXACTLY && walk.rank > limit;
}

/* Compares the requests; returns true if both have a path. */
static bool compare(void)
{
	struct on_wire wire;
	struct triad_path_request original;
	struct triad_path_decision with, without = {.refusal = TRIAD_N_REFUSALS};

	randomize_request(&wire);
	original = wire.request;
	with = decide(&original, &level);
	if (restrict_wire(&wire))
		without = decide(&wire.request, NULL);
	if (level.has_packet_life &&
		level.packet_life > paths->fabric->sa.subnet_timeout)
		return false;
	if (!without.refusal) {
		ck_assert_msg(!with.refusal, "seed %u: the level gives no path: %s",
			seed, triad_refusal_text(with.refusal));
		ck_assert_msg(with.mtu == without.mtu && with.rate == without.rate &&
				with.life == without.life && with.sl == without.sl &&
				with.pkey == without.pkey,
			"seed %u: MTU %u and %u, rate %u and %u, life %u and %u, SL %u "
			"and %u, P_Key %x and %x",
			seed, with.mtu, without.mtu, with.rate, without.rate, with.life,
			without.life, with.sl, without.sl, with.pkey, without.pkey);
		return true;
	}
	ck_assert_msg(with.refusal || is_excepted(&original),
		"seed %u: no path is left: %s", seed,
		triad_refusal_text(without.refusal));
	return false;
}

static void compare_many(void)
{
	unsigned n = 0;

	for (unsigned round = 0; round < 300; round++) {
		randomize_plan();
		randomize_level();
		for (unsigned i = 0; i < 100; i++)
			n += compare();
	}
	ck_assert_uint_gt(n, 300);
}

START_TEST(test_path_record_narrowed_finds_what_the_level_gives)
{
	compare_many();
}
END_TEST

START_TEST(test_multipath_record_narrowed_finds_what_the_level_gives)
{
	is_multi = true;
	compare_many();
}
END_TEST

/* --- by hand --- */

START_TEST(test_level_without_limits_changes_nothing)
{
	struct on_wire wire, before;

	clear(&wire);
	ask_value(&wire, MTU, 1, 4);
	ck_assert_int_eq(read_wire(&wire), TRIAD_SA_OK);
	before = wire;
	level.has_tclass = true;
	level.tclass = 9;
	level.path_bits = (struct triad_ranges){pkeys, 1};
	ck_assert(restrict_wire(&wire));
	ck_assert_mem_eq(wire.record, before.record, sizeof(wire.record));
	ck_assert_uint_eq(wire.mask, before.mask);
}
END_TEST

START_TEST(test_octets_and_bits_of_a_narrowed_path_record)
{
	struct on_wire wire;

	clear(&wire);
	wire.record[52] = 0xab;
	wire.record[53] = 0xc5;
	ck_assert_int_eq(read_wire(&wire), TRIAD_SA_OK);
	level = (struct triad_policy_level){.has_sl = true,
		.sl = 9,
		.has_mtu_limit = true,
		.mtu_limit = 3,
		.has_rate_limit = true,
		.rate_limit = 11,
		.has_packet_life = true,
		.packet_life = 0,
		.pkeys = {pkeys, 1}};
	pkeys[0] = (struct triad_range){0x1234, 0x1240};
	ck_assert(triad_request_restrict(
		&level, &wire.request, 0, wire.record, &wire.mask));
	ck_assert_uint_eq(wire.mask,
		BIT(13) | BIT(15) | BIT(16) | BIT(17) | BIT(18) | BIT(19) | BIT(20) |
			BIT(21));
	ck_assert_uint_eq(wire.record[50], 0x12);
	ck_assert_uint_eq(wire.record[51], 0x34);
	ck_assert_uint_eq(wire.record[52], 0xab);
	ck_assert_uint_eq(wire.record[53], 0xc9);
	ck_assert_uint_eq(wire.record[54], 0x44);
	ck_assert_uint_eq(wire.record[55], 0x40 | 6);
	/* "Less than 1" never has a path. */
	ck_assert_uint_eq(wire.record[56], 0x80);
}
END_TEST

START_TEST(test_pkey_of_the_path_taken_when_it_is_the_levels)
{
	struct on_wire wire;

	level.pkeys = (struct triad_ranges){pkeys, 2};
	pkeys[0] = (struct triad_range){1, 2};
	pkeys[1] = (struct triad_range){0x200, 0x200};
	clear(&wire);
	ck_assert_int_eq(read_wire(&wire), TRIAD_SA_OK);
	ck_assert(triad_request_restrict(
		&level, &wire.request, 0x8200, wire.record, &wire.mask));
	ck_assert_uint_eq(wire.record[50] << 8 | wire.record[51], 0x8200);
	ck_assert(triad_request_restrict(
		&level, &wire.request, 0xffff, wire.record, &wire.mask));
	ck_assert_uint_eq(wire.record[50] << 8 | wire.record[51], 1);
}
END_TEST

static bool is_left(void (*ask)(struct on_wire *wire))
{
	struct on_wire wire;

	clear(&wire);
	ask(&wire);
	ck_assert_int_eq(read_wire(&wire), TRIAD_SA_OK);
	return restrict_wire(&wire);
}

static void ask_sl_5(struct on_wire *wire)
{
	ask_sl(wire, 5);
}

static void ask_mtu_above_3(struct on_wire *wire)
{
	ask_value(wire, MTU, TRIAD_SELECT_GREATER, 3);
}

static void ask_40_gbps(struct on_wire *wire)
{
	ask_value(wire, RATE, TRIAD_SELECT_EXACTLY, 7);
}

static void ask_pkey_7(struct on_wire *wire)
{
	ask_pkey(wire, 0x8007);
}

START_TEST(test_nothing_left_that_both_want_reported)
{
	level = (struct triad_policy_level){.has_sl = true, .sl = 5};
	ck_assert(is_left(ask_sl_5));
	level.sl = 4;
	ck_assert(!is_left(ask_sl_5));
	level = (struct triad_policy_level){.has_mtu_limit = true, .mtu_limit = 4};
	ck_assert(is_left(ask_mtu_above_3));
	level.mtu_limit = 3;
	ck_assert(!is_left(ask_mtu_above_3));
	/* The rate is 14 Gb/s, although its code is above that of 40 Gb/s. */
	level = (struct triad_policy_level){.has_rate_limit = true, .rate_limit = 11};
	ck_assert(!is_left(ask_40_gbps));
	level.rate_limit = 12;
	ck_assert(is_left(ask_40_gbps));
	level.rate_limit = 7;
	ck_assert(is_left(ask_40_gbps));
	pkeys[0] = (struct triad_range){1, 7};
	level = (struct triad_policy_level){.pkeys = {pkeys, 1}};
	ck_assert(is_left(ask_pkey_7));
	pkeys[0].last = 6;
	ck_assert(!is_left(ask_pkey_7));
}
END_TEST

/* --- levels that a request can't express --- */

START_TEST(test_exception_lifetime_above_the_subnets_not_given)
{
	struct on_wire wire;

	level = (struct triad_policy_level){.has_packet_life = true, .packet_life = 20};
	clear(&wire);
	ck_assert_int_eq(read_wire(&wire), TRIAD_SA_OK);
	ck_assert_uint_eq(decide(&wire.request, &level).life, 20);
	ck_assert(restrict_wire(&wire));
	ck_assert_uint_eq(decide(&wire.request, NULL).life, 18);
}
END_TEST

START_TEST(test_exception_mtu_in_between_not_found)
{
	struct on_wire wire;

	plan_port(plan, 4, 1)->port.mtu_cap = 3;
	build();
	level = (struct triad_policy_level){.has_mtu_limit = true, .mtu_limit = 4};
	clear(&wire);
	ask_value(&wire, MTU, TRIAD_SELECT_GREATER, 2);
	ck_assert_int_eq(read_wire(&wire), TRIAD_SA_OK);
	ck_assert_uint_eq(decide(&wire.request, &level).mtu, 3);
	ck_assert(restrict_wire(&wire));
	ck_assert_int_eq(decide(&wire.request, NULL).refusal, TRIAD_REFUSAL_MTU);
}
END_TEST

START_TEST(test_exception_rate_above_something_on_faster_links_not_found)
{
	struct on_wire wire;

	level = (struct triad_policy_level){.has_rate_limit = true, .rate_limit = 7};
	clear(&wire);
	ask_value(&wire, RATE, TRIAD_SELECT_GREATER, 3);
	ck_assert_int_eq(read_wire(&wire), TRIAD_SA_OK);
	ck_assert_uint_eq(decide(&wire.request, &level).rate, 7);
	ck_assert(restrict_wire(&wire));
	ck_assert_int_eq(decide(&wire.request, NULL).refusal, TRIAD_REFUSAL_RATE);
}
END_TEST

int main(void)
{
	TCase *cases = tcase_create("restrict");

	tcase_add_checked_fixture(cases, set_up, drop_all);
	tcase_add_test(cases, test_path_record_narrowed_finds_what_the_level_gives);
	tcase_add_test(
		cases, test_multipath_record_narrowed_finds_what_the_level_gives);
	tcase_add_test(cases, test_level_without_limits_changes_nothing);
	tcase_add_test(cases, test_octets_and_bits_of_a_narrowed_path_record);
	tcase_add_test(cases, test_pkey_of_the_path_taken_when_it_is_the_levels);
	tcase_add_test(cases, test_nothing_left_that_both_want_reported);
	tcase_add_test(cases, test_exception_lifetime_above_the_subnets_not_given);
	tcase_add_test(cases, test_exception_mtu_in_between_not_found);
	tcase_add_test(
		cases, test_exception_rate_above_something_on_faster_links_not_found);
	return run_cases(cases);
}
