/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "ib/port_condition.h"

#include "tests/sim/fabrics.h"
#include "tests/unit/run.h"

static struct triad_fabric *fabric;

static void set_up(void)
{
	fabric = fabric_row(2, 2);
}

static void tear_down(void)
{
	triad_fabric_unref(fabric);
}

/* A switch's port with a host. */
static uint32_t port_to_host(void)
{
	for (uint32_t i = 0; i < fabric->n_ports; i++)
		if (fabric->ports[i].remote != TRIAD_FABRIC_NONE &&
			fabric->nodes[fabric->ports[i].node].type ==
				TRIAD_NODE_SWITCH &&
			fabric->nodes[fabric->ports[fabric->ports[i].remote].node]
					.type == TRIAD_NODE_CA)
			return i;
	return TRIAD_FABRIC_NONE;
}

START_TEST(test_condition_of_a_port_without_far_end_is_that_of_its_physical_state)
{
	static const struct {
		uint8_t state, phys_state;
		enum triad_port_condition before, after; /* it had a link */
	} cases[] = {
		{TRIAD_PORT_DOWN, 0, TRIAD_CONDITION_UNKNOWN, TRIAD_CONDITION_UNKNOWN},
		{TRIAD_PORT_DOWN, 1, TRIAD_CONDITION_SLEEPING,
			TRIAD_CONDITION_SLEEPING},
		{TRIAD_PORT_DOWN, 2, TRIAD_CONDITION_FREE, TRIAD_CONDITION_POLLING},
		{TRIAD_PORT_DOWN, 3, TRIAD_CONDITION_DISABLED,
			TRIAD_CONDITION_DISABLED},
		{TRIAD_PORT_DOWN, 4, TRIAD_CONDITION_TRAINING,
			TRIAD_CONDITION_TRAINING},
		{TRIAD_PORT_INIT, 5, TRIAD_CONDITION_SILENT, TRIAD_CONDITION_SILENT},
		{TRIAD_PORT_ACTIVE, 5, TRIAD_CONDITION_SILENT, TRIAD_CONDITION_SILENT},
		{TRIAD_PORT_DOWN, 6, TRIAD_CONDITION_TRAINING,
			TRIAD_CONDITION_TRAINING},
		{TRIAD_PORT_DOWN, 9, TRIAD_CONDITION_UNKNOWN, TRIAD_CONDITION_UNKNOWN},
	};
	uint32_t port = port_to_host();

	fabric->ports[port].remote = TRIAD_FABRIC_NONE;
	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		fabric->ports[port].state = cases[i].state;
		fabric->ports[port].phys_state = cases[i].phys_state;
		ck_assert_int_eq(
			triad_port_condition(fabric, port, false), cases[i].before);
		ck_assert_int_eq(
			triad_port_condition(fabric, port, true), cases[i].after);
	}
}
END_TEST

START_TEST(test_condition_of_a_link_that_is_up_is_its_logical_state)
{
	uint32_t port = port_to_host();

	fabric->ports[port].phys_state = TRIAD_PHYS_LINK_UP;
	fabric->ports[port].state = TRIAD_PORT_ACTIVE;
	ck_assert_str_eq(
		triad_port_condition_name(triad_port_condition(fabric, port, false)),
		"active");
	fabric->ports[port].state = TRIAD_PORT_INIT;
	ck_assert_str_eq(
		triad_port_condition_name(triad_port_condition(fabric, port, false)),
		"init");
	/* OpenSM shows its far end until the next sweep. */
	fabric->ports[port].phys_state = TRIAD_PHYS_DISABLED;
	ck_assert_int_eq(
		triad_port_condition(fabric, port, false), TRIAD_CONDITION_DISABLED);
}
END_TEST

/* A source that hides links may hide that of a port that looks silent. */
START_TEST(test_condition_is_unknown_where_links_are_hidden)
{
	uint32_t port = port_to_host();

	fabric->ports[port].remote = TRIAD_FABRIC_NONE;
	fabric->ports[port].phys_state = TRIAD_PHYS_LINK_UP;
	fabric->n_hidden = 1;
	ck_assert_int_eq(
		triad_port_condition(fabric, port, true), TRIAD_CONDITION_UNKNOWN);
}
END_TEST

/* It is kept from the SM, which asked nobody there. */
START_TEST(test_held_port_is_not_silent)
{
	uint32_t port = port_to_host();

	fabric->ports[port].remote = TRIAD_FABRIC_NONE;
	fabric->ports[port].phys_state = TRIAD_PHYS_LINK_UP;
	fabric->ports[port].state = TRIAD_PORT_INIT;
	fabric->ports[port].is_held = true;
	ck_assert_int_eq(
		triad_port_condition(fabric, port, true), TRIAD_CONDITION_INIT);
}
END_TEST

START_TEST(test_port_0_of_a_switch_is_not_silent)
{
	uint32_t port = fabric->nodes[fabric->ports[port_to_host()].node].first_port;

	ck_assert_uint_eq(fabric->ports[port].number, 0);
	fabric->ports[port].phys_state = TRIAD_PHYS_LINK_UP;
	fabric->ports[port].state = TRIAD_PORT_ACTIVE;
	ck_assert_int_eq(
		triad_port_condition(fabric, port, false), TRIAD_CONDITION_ACTIVE);
}
END_TEST

START_TEST(test_condition_of_a_link_is_that_of_the_end_that_tells_more)
{
	ck_assert_int_eq(triad_port_condition_of_link(
				 TRIAD_CONDITION_POLLING, TRIAD_CONDITION_DISABLED),
		TRIAD_CONDITION_DISABLED);
	ck_assert_int_eq(triad_port_condition_of_link(
				 TRIAD_CONDITION_TRAINING, TRIAD_CONDITION_POLLING),
		TRIAD_CONDITION_TRAINING);
	ck_assert_int_eq(triad_port_condition_of_link(
				 TRIAD_CONDITION_UNKNOWN, TRIAD_CONDITION_SILENT),
		TRIAD_CONDITION_SILENT);
	ck_assert_int_eq(triad_port_condition_of_link(
				 TRIAD_CONDITION_POLLING, TRIAD_CONDITION_UNKNOWN),
		TRIAD_CONDITION_POLLING);
}
END_TEST

int main(void)
{
	TCase *cases = tcase_create("port_condition");

	tcase_add_checked_fixture(cases, set_up, tear_down);
	tcase_add_test(cases,
		test_condition_of_a_port_without_far_end_is_that_of_its_physical_state);
	tcase_add_test(cases, test_condition_of_a_link_that_is_up_is_its_logical_state);
	tcase_add_test(cases, test_condition_is_unknown_where_links_are_hidden);
	tcase_add_test(cases, test_held_port_is_not_silent);
	tcase_add_test(cases, test_port_0_of_a_switch_is_not_silent);
	tcase_add_test(
		cases, test_condition_of_a_link_is_that_of_the_end_that_tells_more);
	return run_cases(cases);
}
