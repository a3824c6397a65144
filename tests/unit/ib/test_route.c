/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "ib/route.h"

#include <errno.h>

#include "tests/unit/portmgr/plan_fixture.h"

#define NONE TRIAD_FABRIC_NONE
#define OWN 0x100 /* the host with this SM */
#define LEAF 0x201
#define SPINE(i) (0x210u + (i))
#define FAR 0x202

/* A host, its switch, two spines, and a far switch; the first spine has two links to
 * the far switch. */
static void begin(void)
{
	fixture_begin();
	fixture_add(OWN, TRIAD_NODE_CA, "host-own", 2);
	fixture_add(LEAF, TRIAD_NODE_SWITCH, "leaf", 8);
	fixture_add(SPINE(0), TRIAD_NODE_SWITCH, "spine-0", 8);
	fixture_add(SPINE(1), TRIAD_NODE_SWITCH, "spine-1", 8);
	fixture_add(FAR, TRIAD_NODE_SWITCH, "far", 8);
	fixture_link(OWN, 1, LEAF, 1);
	fixture_link(LEAF, 5, SPINE(0), 1);
	fixture_link(LEAF, 6, SPINE(1), 1);
	fixture_link(SPINE(0), 3, FAR, 5);
	fixture_link(SPINE(0), 4, FAR, 6);
	fixture_link(SPINE(1), 3, FAR, 7);
	fixture_build(OWN + 1);
}

static void end(void)
{
	triad_fabric_unref(fabric);
}

/* The route as "1,5,3"; "": there is none. */
static const char *find(uint64_t guid, uint32_t without)
{
	static char text[4 * TRIAD_ROUTE_MAX_HOPS + 1];
	struct triad_route route;
	size_t n = 0;
	bool *avoided = calloc(fabric->n_ports, sizeof(*avoided));
	int error;

	if (without != TRIAD_FABRIC_NONE)
		avoided[without] = true;
	error = triad_route_find(fabric, node_at(guid), avoided, &route);
	free(avoided);

	text[0] = '\0';
	if (error) {
		ck_assert_int_eq(error, EHOSTUNREACH);
		return text;
	}
	for (unsigned i = 1; i <= route.n_hops; i++)
		n += (size_t)snprintf(text + n, sizeof(text) - n, "%s%u",
			i > 1 ? "," : "", route.ports[i]);
	return text;
}

static void disable(uint64_t guid, unsigned number)
{
	fabric->ports[port_at(guid, number)].phys_state = PHYS_DISABLED;
}

START_TEST(test_route_shortest_taken)
{
	ck_assert_str_eq(find(OWN, NONE), "");
	ck_assert_str_eq(find(LEAF, NONE), "1");
	ck_assert_str_eq(find(FAR, NONE), "1,5,3");
	ck_assert_str_eq(find(SPINE(1), NONE), "1,6");
}
END_TEST

START_TEST(test_route_without_link_by_either_end_leads_elsewhere)
{
	ck_assert_str_eq(find(FAR, port_at(SPINE(0), 3)), "1,5,4");
	ck_assert_str_eq(find(FAR, port_at(FAR, 5)), "1,5,4");
	ck_assert_str_eq(find(FAR, port_at(LEAF, 5)), "1,6,3");
	ck_assert_str_eq(find(LEAF, port_at(LEAF, 1)), "");
}
END_TEST

/* The ports of a disabled link may still be active in OpenSM's tables. */
START_TEST(test_route_disabled_end_passed_by)
{
	disable(SPINE(0), 3);
	ck_assert_str_eq(find(FAR, NONE), "1,5,4");
	disable(FAR, 6);
	ck_assert_str_eq(find(FAR, NONE), "1,6,3");
	ck_assert_str_eq(find(FAR, port_at(LEAF, 6)), "");
	ck_assert_str_eq(find(SPINE(0), NONE), "1,5");
}
END_TEST

START_TEST(test_route_own_port_unknown_is_no_route)
{
	fabric->sm_port = NONE;
	ck_assert_str_eq(find(LEAF, NONE), "");
}
END_TEST

START_TEST(test_route_longer_than_smps_go_is_no_route)
{
	end();
	fixture_begin();
	fixture_add(OWN, TRIAD_NODE_CA, "host-own", 1);
	for (unsigned i = 0; i <= TRIAD_ROUTE_MAX_HOPS; i++)
		fixture_add(0x1000 + i, TRIAD_NODE_SWITCH, "switch", 2);
	fixture_link(OWN, 1, 0x1000, 1);
	for (unsigned i = 0; i < TRIAD_ROUTE_MAX_HOPS; i++)
		fixture_link(0x1000 + i, 2, 0x1001 + i, 1);
	fixture_build(OWN + 1);
	ck_assert_uint_eq(
		strlen(find(0x1000 + TRIAD_ROUTE_MAX_HOPS - 1, NONE)), 2 * 63 - 1);
	ck_assert_str_eq(find(0x1000 + TRIAD_ROUTE_MAX_HOPS, NONE), "");
}
END_TEST

int main(void)
{
	TCase *cases = tcase_create("route");

	tcase_add_checked_fixture(cases, begin, end);
	tcase_add_test(cases, test_route_shortest_taken);
	tcase_add_test(cases, test_route_without_link_by_either_end_leads_elsewhere);
	tcase_add_test(cases, test_route_disabled_end_passed_by);
	tcase_add_test(cases, test_route_own_port_unknown_is_no_route);
	tcase_add_test(cases, test_route_longer_than_smps_go_is_no_route);
	return run_cases(cases);
}
