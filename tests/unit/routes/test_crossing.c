/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "routes/crossing.h"

#include "tests/random.h"
#include "tests/sim/routed.h"
#include "tests/unit/run.h"

static struct routed routed;
static struct triad_fabric *fabric;

/* Leaves 0 to 3, each with two hosts, and with spines 4 and 5. */
static void set_up(void)
{
	uint64_t seed = 1;

	routed_init(&routed, 6);
	for (unsigned leaf = 0; leaf < 4; leaf++)
		for (unsigned spine = 4; spine < 6; spine++)
			routed_link(&routed, leaf, spine);
	for (unsigned host = 0; host < 8; host++)
		routed_add_host(&routed, host / 2);
	routed_route(&routed, &seed);
	fabric = routed_fabric(&routed);
}

static void tear_down(void)
{
	triad_fabric_unref(fabric);
}

static uint32_t node_of(unsigned sw)
{
	return triad_fabric_find_node(fabric, 0x1000 + 16 * sw);
}

START_TEST(test_hosts_are_those_whose_route_leaves_by_the_switch)
{
	struct triad_routes_layout *layout;

	ck_assert_int_eq(triad_routes_layout_make(fabric, &layout), 0);
	for (unsigned to = 0; to < 8; to++)
		for (unsigned sw = 0; sw < 6; sw++) {
			unsigned n = 0;

			for (unsigned from = 0; from < 8; from++) {
				struct routed_walk walk;
				bool crosses = false;

				if (from == to)
					continue;
				walk = routed_walk(&routed, routed.host_switch[from],
					routed.host_port[from], routed_host_lid(to));
				for (unsigned i = 0; i < walk.n; i++)
					crosses |= walk.sw[i] == sw;
				n += crosses;
			}
			ck_assert_uint_eq(triad_routes_n_crossing(layout, node_of(sw),
						  (uint16_t)routed_host_lid(to)),
				n);
		}
	/* Nobody has this LID. */
	ck_assert_uint_eq(triad_routes_n_crossing(layout, node_of(0), 63), 0);
	triad_routes_layout_free(layout);
}
END_TEST

int main(void)
{
	TCase *cases = tcase_create("crossing");

	tcase_add_checked_fixture(cases, set_up, tear_down);
	tcase_add_test(cases, test_hosts_are_those_whose_route_leaves_by_the_switch);
	return run_cases(cases);
}
