/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Tables of a known fabric, encoded by the test, must give that fabric again. */
#include "ib/sa_topology.h"

#include <errno.h>
#include <string.h>
#include <time.h>

#include "tests/sim/fabrics.h"
#include "tests/unit/run.h"

enum { NODE_STRIDE = 112, PORT_STRIDE = 72, LINK_STRIDE = 8, PKEY_STRIDE = 72 };
#define MAX_RECORDS 4096

static struct triad_fabric *fabric;
static uint8_t node_records[MAX_RECORDS * NODE_STRIDE];
static uint8_t port_records[MAX_RECORDS * PORT_STRIDE];
static uint8_t link_records[MAX_RECORDS * LINK_STRIDE];
static uint8_t pkey_records[MAX_RECORDS * PKEY_STRIDE];
static struct triad_sa_table nodes, ports, links, pkeys;
static struct triad_fabric *known;
static bool links_stand;
static unsigned seed;

static void put(uint8_t *at, unsigned n, uint64_t value)
{
	for (unsigned i = 0; i < n; i++)
		at[i] = (uint8_t)(value >> 8 * (n - 1 - i));
}

static void put_node(const struct triad_fabric_port *port)
{
	const struct triad_fabric_node *node = &fabric->nodes[port->node];
	uint8_t *record = node_records + nodes.size;

	put(record, 2, port->lid);
	record[6] = node->type;
	put(record + 16, 8, node->guid);
	put(record + 24, 8, port->guid);
	put(record + 34, 2, 0x1234);
	put(record + 41, 3, 0x5678);
	memcpy(record + 44, node->name, 64);
	nodes.size += NODE_STRIDE;
}

static void put_port(const struct triad_fabric_port *port)
{
	uint8_t *record = port_records + ports.size, *info = record + 4;

	put(record, 2, port->lid);
	record[2] = port->number;
	info[30] = 3;
	info[31] = 2;
	info[32] = (uint8_t)(7 << 4 | port->state);
	info[33] = 5 << 4;
	info[34] = 1;
	info[35] = 4 << 4;
	info[36] = 4 << 4;
	info[62] = 2 << 4 | 6;
	ports.size += PORT_STRIDE;
}

static void put_link(const struct triad_fabric_port *from)
{
	const struct triad_fabric_port *to = &fabric->ports[from->remote];
	uint8_t *record = link_records + links.size;

	put(record, 2, from->lid);
	record[2] = from->number;
	record[3] = to->number;
	put(record + 4, 2, to->lid);
	links.size += LINK_STRIDE;
}

/* Makes the tables, in random order. */
static void set_up(void)
{
	seed = (unsigned)time(NULL);
	srand(seed);
	fabric = fabric_row(3, 4);
	nodes = (struct triad_sa_table){node_records, 0, NODE_STRIDE};
	ports = (struct triad_sa_table){port_records, 0, PORT_STRIDE};
	links = (struct triad_sa_table){link_records, 0, LINK_STRIDE};
	pkeys = (struct triad_sa_table){pkey_records, 0, PKEY_STRIDE};
	known = NULL;
	links_stand = false;
	memset(pkey_records, 0, sizeof(pkey_records));
	memset(node_records, 0, sizeof(node_records));
	memset(port_records, 0, sizeof(port_records));
	memset(link_records, 0, sizeof(link_records));
	for (uint32_t i = fabric->n_ports; i-- > 0;) {
		const struct triad_fabric_port *port = &fabric->ports[i];
		const struct triad_fabric_node *node = &fabric->nodes[port->node];

		if (node->first_port == i)
			put_node(port);
		put_port(port);
		if (port->remote != TRIAD_FABRIC_NONE)
			put_link(port);
	}
}

static void tear_down(void)
{
	triad_fabric_unref(fabric);
}

static int build_tables(struct triad_fabric **built)
{
	const struct triad_sa_tables tables = {.nodes = nodes,
		.ports = ports,
		.links = links,
		.pkeys = pkeys,
		.known = known,
		.links_stand = links_stand};

	return triad_sa_topology_build(&tables, 77, built);
}

static struct triad_fabric *build(int expected)
{
	struct triad_fabric *built = NULL;

	ck_assert_int_eq(build_tables(&built), expected);
	return built;
}

/* Row: A1 */
START_TEST(test_tables_give_the_fabric_again)
{
	struct triad_fabric *built = build(0);

	ck_assert_uint_eq(built->n_nodes, fabric->n_nodes);
	ck_assert_uint_eq(built->n_ports, fabric->n_ports);
	for (uint32_t i = 0; i < fabric->n_nodes; i++) {
		ck_assert_uint_eq(built->nodes[i].guid, fabric->nodes[i].guid);
		ck_assert_uint_eq(built->nodes[i].type, fabric->nodes[i].type);
		ck_assert_str_eq(built->nodes[i].name, fabric->nodes[i].name);
		ck_assert_uint_eq(built->nodes[i].vendor_id, 0x5678);
		ck_assert_uint_eq(built->nodes[i].device_id, 0x1234);
	}
	for (uint32_t i = 0; i < fabric->n_ports; i++) {
		const struct triad_fabric_port *a = &built->ports[i];
		const struct triad_fabric_port *b = &fabric->ports[i];

		ck_assert_uint_eq(a->node, b->node);
		ck_assert_uint_eq(a->number, b->number);
		ck_assert_uint_eq(a->remote, b->remote);
		ck_assert_uint_eq(a->lid, b->lid);
		ck_assert_uint_eq(a->guid, b->guid);
		ck_assert_uint_eq(a->state, b->state);
		ck_assert_uint_eq(a->has_pma, b->has_pma);
		ck_assert_uint_eq(triad_fabric_port_bps(a), UINT64_C(100000000000));
		ck_assert_uint_eq(a->width_supported, 3);
		ck_assert_uint_eq(a->speed_supported, 7);
		ck_assert_uint_eq(a->speed_ext_supported, 6);
		ck_assert_uint_eq(a->mtu, 4);
		ck_assert_uint_eq(a->phys_state, 5);
	}
	triad_fabric_unref(built);
}
END_TEST

static void put_pkeys(uint16_t lid, uint16_t block, uint8_t port, unsigned n)
{
	uint8_t *record = pkey_records + pkeys.size;

	put(record, 2, lid);
	put(record + 2, 2, block);
	record[4] = port;
	for (unsigned i = 0; i < n; i++)
		put(record + 8 + 2 * i, 2, 0x8001 + i);
	pkeys.size += PKEY_STRIDE;
}

static void check_pkeys(const struct triad_fabric *built, uint64_t guid,
	unsigned number, uint32_t n, uint16_t last)
{
	uint32_t node = triad_fabric_find_node(built, guid);
	const struct triad_fabric_port *port =
		&built->ports[triad_fabric_find_port(built, node, number)];

	ck_assert_uint_eq(port->pkeys.n, n);
	if (n)
		ck_assert_uint_eq(built->pkeys[port->pkeys.at + n - 1], last);
}

START_TEST(test_tables_of_partitions_are_those_of_end_ports_and_switches)
{
	struct triad_fabric *built;

	put_pkeys(1001, 2, 1, 3); /* in no order */
	put_pkeys(2, 0, 0, 5);
	put_pkeys(1001, 0, 1, 32);
	put_pkeys(1001, 1 << 8, 1, 32); /* as OpenSM turns it round */
	put_pkeys(2, 0, 3, 9);          /* a switch's other port */
	put_pkeys(4711, 0, 1, 9);       /* no port has this LID */
	put_pkeys(1002, 0, 1, 0);       /* empty: not read by the SM yet */
	put_pkeys(1257, 40, 1, 2);      /* beyond the blocks that are read */
	built = build(0);
	check_pkeys(built, 0x10001, 1, 67, 0x8003);
	check_pkeys(built, 0x201, 0, 5, 0x8005);
	check_pkeys(built, 0x201, 3, 0, 0);
	check_pkeys(built, 0x10002, 1, 0, 0);
	check_pkeys(built, 0x10101, 1, 0, 0);
	triad_fabric_unref(built);
}
END_TEST

START_TEST(test_tables_that_are_not_given_are_those_known_otherwise)
{
	struct triad_fabric *built;

	known = fabric; /* in it hosts have two P_Keys */
	put_pkeys(1001, 0, 1, 1);
	built = build(0);
	check_pkeys(built, 0x10001, 1, 1, 0x8001);
	check_pkeys(built, 0x10002, 1, 2, 0x8001);
	check_pkeys(built, 0x201, 0, 0, 0);
	triad_fabric_unref(built);
}
END_TEST

START_TEST(test_links_to_what_is_not_shown_are_counted)
{
	struct triad_fabric *built = build(0);

	ck_assert_uint_eq(built->n_hidden, 0);
	triad_fabric_unref(built);
	links.size -= 2 * LINK_STRIDE; /* without the links of two ports */
	built = build(0);
	ck_assert_uint_ge(built->n_hidden, 2);
	triad_fabric_unref(built);
}
END_TEST

/* The SA's tables have both ends of the first host's link, but not the link. */
static uint32_t hide_link_of_first_host(void)
{
	uint32_t host = triad_fabric_find_node(fabric, 0x10001);
	uint32_t port = fabric->nodes[host].first_port;

	links.size = 0;
	for (uint32_t i = 0; i < fabric->n_ports; i++)
		if (fabric->ports[i].remote != TRIAD_FABRIC_NONE && i != port &&
			fabric->ports[i].remote != port)
			put_link(&fabric->ports[i]);
	return port;
}

START_TEST(test_links_that_are_not_shown_are_those_known_otherwise)
{
	uint32_t port = hide_link_of_first_host();
	struct triad_fabric *built;

	known = fabric;
	built = build(0);
	ck_assert_uint_eq(built->n_hidden, 2);
	triad_fabric_unref(built);
	links_stand = true;
	built = build(0);
	ck_assert_uint_eq(built->n_hidden, 0);
	ck_assert_uint_eq(built->n_discovered, 2);
	for (uint32_t i = 0; i < fabric->n_ports; i++)
		ck_assert_uint_eq(built->ports[i].remote, fabric->ports[i].remote);
	ck_assert_uint_ne(built->ports[port].remote, TRIAD_FABRIC_NONE);
	triad_fabric_unref(built);
}
END_TEST

START_TEST(test_known_link_whose_other_end_is_down_is_none)
{
	uint32_t port = hide_link_of_first_host(), far = fabric->ports[port].remote;
	uint8_t *far_state = NULL, state;
	struct triad_fabric *built;

	known = fabric;
	links_stand = true;
	for (size_t at = 0; at < ports.size; at += PORT_STRIDE)
		if (port_records[at] << 8 == (fabric->ports[far].lid & 0xff00) &&
			port_records[at + 1] == (fabric->ports[far].lid & 0xff) &&
			port_records[at + 2] == fabric->ports[far].number)
			far_state = &port_records[at + 4 + 32];
	ck_assert_ptr_nonnull(far_state);
	state = *far_state;
	*far_state = TRIAD_PORT_DOWN;
	built = build(0);
	ck_assert_uint_eq(built->n_hidden, 1);
	ck_assert_uint_eq(built->n_discovered, 0);
	ck_assert_uint_eq(built->ports[port].remote, TRIAD_FABRIC_NONE);
	triad_fabric_unref(built);
	*far_state = state;
	built = build(0);
	ck_assert_uint_eq(built->n_hidden, 0);
	triad_fabric_unref(built);
}
END_TEST

START_TEST(test_longer_records_are_read_too)
{
	static uint8_t wide[MAX_RECORDS * 80];
	struct triad_fabric *built;

	for (size_t i = 0; i < ports.size / PORT_STRIDE; i++)
		memcpy(wide + i * 80, port_records + i * PORT_STRIDE, PORT_STRIDE);
	ports = (struct triad_sa_table){wide, ports.size / PORT_STRIDE * 80, 80};
	built = build(0);
	ck_assert_uint_eq(built->n_ports, fabric->n_ports);
	triad_fabric_unref(built);
}
END_TEST

START_TEST(test_what_refers_to_nothing_is_left_out)
{
	struct triad_fabric *built;

	nodes.size -= NODE_STRIDE; /* without the fabric's first node, a switch */
	built = build(0);
	ck_assert_uint_eq(built->n_nodes, fabric->n_nodes - 1);
	ck_assert_uint_eq(built->n_ports, fabric->n_ports - fabric->nodes[0].n_ports);
	for (uint32_t i = 0; i < built->n_ports; i++)
		if (built->ports[i].remote != TRIAD_FABRIC_NONE)
			ck_assert_uint_lt(built->ports[i].remote, built->n_ports);
	triad_fabric_unref(built);
}
END_TEST

START_TEST(test_no_node_or_short_records_are_refused)
{
	nodes.stride = 104;
	build(EPROTO);
	nodes.stride = NODE_STRIDE;
	ports.stride = 64;
	build(EPROTO);
	ports.stride = PORT_STRIDE;
	links.stride = 0;
	build(EPROTO);
	links = (struct triad_sa_table){0};
	nodes.size = 0;
	build(ENODATA);
}
END_TEST

/* Garbage from an SA never causes a crash, nor links whose ends don't match. */
START_TEST(test_garbage_is_a_fabric_or_an_error)
{
	for (unsigned round = 0; round < 500; round++) {
		struct triad_fabric *built = NULL;

		for (unsigned i = 0; i < 200; i++) {
			node_records[(unsigned)rand() % nodes.size] = (uint8_t)rand();
			port_records[(unsigned)rand() % ports.size] = (uint8_t)rand();
			link_records[(unsigned)rand() % links.size] = (uint8_t)rand();
		}
		if (build_tables(&built))
			continue;
		for (uint32_t i = 0; i < built->n_ports; i++) {
			uint32_t remote = built->ports[i].remote;

			if (remote != TRIAD_FABRIC_NONE)
				ck_assert_msg(built->ports[remote].remote == i,
					"seed %u", seed);
		}
		triad_fabric_unref(built);
	}
}
END_TEST

int main(void)
{
	TCase *cases = tcase_create("sa_topology");

	tcase_add_checked_fixture(cases, set_up, tear_down);
	tcase_add_test(cases, test_tables_give_the_fabric_again);
	tcase_add_test(
		cases, test_tables_of_partitions_are_those_of_end_ports_and_switches);
	tcase_add_test(cases, test_tables_that_are_not_given_are_those_known_otherwise);
	tcase_add_test(cases, test_links_to_what_is_not_shown_are_counted);
	tcase_add_test(cases, test_links_that_are_not_shown_are_those_known_otherwise);
	tcase_add_test(cases, test_known_link_whose_other_end_is_down_is_none);
	tcase_add_test(cases, test_longer_records_are_read_too);
	tcase_add_test(cases, test_what_refers_to_nothing_is_left_out);
	tcase_add_test(cases, test_no_node_or_short_records_are_refused);
	tcase_add_test(cases, test_garbage_is_a_fabric_or_an_error);
	return run_cases(cases);
}
