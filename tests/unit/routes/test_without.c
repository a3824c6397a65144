/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Routes after the loss of links: in trees with known results, and in random fabrics,
 * where each pair that is still connected must arrive. */
#include "routes/without.h"

#include <inttypes.h>
#include <time.h>

#include "tests/random.h"
#include "tests/sim/routed.h"
#include "tests/unit/run.h"

#define N_FABRICS 500

static struct routed routed;
static struct triad_fabric *fabric;
static struct triad_routes_check *check;
static struct triad_routes_without *without;

static void end(void)
{
	triad_routes_without_free(without);
	triad_routes_check_free(check);
	triad_fabric_unref(fabric);
	without = NULL;
	check = NULL;
	fabric = NULL;
}

static uint32_t switch_port(unsigned sw, unsigned number)
{
	return triad_fabric_find_port(
		fabric, triad_fabric_find_node(fabric, 0x1000 + 16 * sw), number);
}

static uint32_t host_port(unsigned host)
{
	return triad_fabric_find_port(
		fabric, triad_fabric_find_node(fabric, 0x100000 + 16 * host), 1);
}

static void make_check(void)
{
	static const struct triad_routes_options options = {.sls = {.all = 1}};

	fabric = routed_fabric(&routed);
	ck_assert_int_eq(triad_routes_check_make(fabric, &options, &check), 0);
}

static void take(const uint32_t *ports, uint32_t n)
{
	triad_routes_without_free(without);
	without = NULL;
	ck_assert_int_eq(triad_routes_without_make(check, ports, n, &without), 0);
}

/* Makes leaves 0 to 3, each with two hosts on its last ports, and with spines 4 and 5
 * on its ports 1 and 2. */
static void make_tree(void)
{
	uint64_t seed = 1;

	routed_init(&routed, 6);
	for (unsigned leaf = 0; leaf < 4; leaf++)
		for (unsigned spine = 4; spine < 6; spine++)
			routed_link(&routed, leaf, spine);
	for (unsigned host = 0; host < 8; host++)
		routed_add_host(&routed, host / 2);
	routed_route(&routed, &seed);
	make_check();
}

START_TEST(test_without_nothing_is_as_before)
{
	make_tree();
	take(NULL, 0);
	ck_assert_uint_eq(without->n_moved, 0);
	ck_assert_uint_eq(without->n_lost, 0);
	ck_assert_mem_eq(
		without->pairs, check->pairs, fabric->n_ports * sizeof(*check->pairs));
}
END_TEST

START_TEST(test_without_one_of_two_uplinks_other_has_all)
{
	uint32_t gone;

	make_tree();
	gone = switch_port(0, 1);
	take(&gone, 1);
	ck_assert_uint_eq(without->n_lost, 0);
	ck_assert_uint_eq(without->n_hosts_lost, 0);
	ck_assert_uint_eq(without->pairs[gone], 0);
	ck_assert_uint_eq(without->pairs[fabric->ports[gone].remote], 0);
	/* Two hosts send to six others, and receive from them. */
	ck_assert_uint_eq(without->pairs[switch_port(0, 2)], 12);
	ck_assert_uint_eq(without->pairs[fabric->ports[switch_port(0, 2)].remote], 12);
	ck_assert_uint_eq(without->n_moved,
		check->pairs[gone] + check->pairs[fabric->ports[gone].remote]);
}
END_TEST

START_TEST(test_without_its_link_host_is_lost)
{
	uint32_t gone;

	make_tree();
	gone = host_port(5);
	take(&gone, 1);
	ck_assert_uint_eq(without->n_hosts_lost, 1);
	ck_assert_uint_eq(without->hosts_lost[0], gone);
	ck_assert_uint_eq(without->n_lost, 14);
	ck_assert_uint_eq(without->n_moved, 0);
}
END_TEST

START_TEST(test_without_both_uplinks_leaf_keeps_its_own)
{
	uint32_t gone[2];

	make_tree();
	gone[0] = switch_port(0, 1);
	gone[1] = switch_port(0, 2);
	take(gone, 2);
	ck_assert_uint_eq(without->n_hosts_lost, 0); /* both can reach each other */
	ck_assert_uint_eq(without->n_lost, 2 * 2 * 6);
	ck_assert_uint_eq(without->pairs[host_port(0)], 1);
}
END_TEST

static bool is_live(unsigned host)
{
	return !routed.far[routed.host_switch[host]][routed.host_port[host]].is_down;
}

/* The number of pairs connected by links that are up; each LID counts. */
static uint64_t count_connected(void)
{
	uint64_t n = 0;

	for (unsigned a = 0; a < routed.n_hosts; a++)
		for (unsigned b = 0; b < routed.n_hosts; b++)
			if (a != b && is_live(a) && is_live(b) &&
				routed_distance(&routed, routed.host_switch[a],
					routed.host_switch[b]) != ROUTED_NONE)
				n += 1u << routed.lmc;
	return n;
}

START_TEST(test_without_random_links_what_is_connected_arrives)
{
	for (unsigned i = 0; i < N_FABRICS; i++) {
		uint64_t state, sum = 0, delivered = 0;
		unsigned long seed = (unsigned long)time(NULL) * 100000 + i;
		uint32_t gone[4];
		unsigned n = 0;

		state = seed;
		routed_random(&routed, &state);
		routed_route(&routed, &state); /* valid tables */
		end();
		make_check();
		ck_assert_msg(check->n_arriving == count_connected(), "seed %lu", seed);
		while (n < random_below(&state, 4)) {
			unsigned sw = random_below(&state, routed.n_switches);
			unsigned p = 1 + random_below(&state, ROUTED_PORTS - 1);

			if (routed.far[sw][p].kind == ROUTED_NOTHING)
				break;
			gone[n++] = switch_port(sw, p);
			routed.far[sw][p].is_down = true;
		}
		take(gone, n);
		for (unsigned host = 0; host < routed.n_hosts; host++) {
			sum += without->pairs[host_port(host)];
			delivered += without->pairs[switch_port(
				routed.host_switch[host], routed.host_port[host])];
		}
		ck_assert_msg(sum == count_connected() && delivered == sum,
			"seed %lu: %" PRIu64 " begin, %" PRIu64 " arrive, %" PRIu64
			" are connected",
			seed, sum, delivered, count_connected());
		ck_assert_msg(
			without->n_lost == check->n_arriving - sum, "seed %lu", seed);
	}
}
END_TEST

int main(void)
{
	TCase *cases = tcase_create("without");

	tcase_add_checked_fixture(cases, NULL, end);
	tcase_add_test(cases, test_without_nothing_is_as_before);
	tcase_add_test(cases, test_without_one_of_two_uplinks_other_has_all);
	tcase_add_test(cases, test_without_its_link_host_is_lost);
	tcase_add_test(cases, test_without_both_uplinks_leaf_keeps_its_own);
	tcase_add_test(cases, test_without_random_links_what_is_connected_arrives);
	return run_cases(cases);
}
