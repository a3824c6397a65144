/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "perfmgr/watch/links.h"

#include "tests/sim/fabrics.h"
#include "tests/unit/run.h"

#define S UINT64_C(1000000)

/* Switch 0 and its host 3: see tests/sim/fabrics.h. */
#define SWITCH 0x200
#define HOST (0x10000 + 3)

static struct triad_fabric *whole;
static struct triad_links *links;

static void set_up(void)
{
	whole = fabric_row(3, 4);
	links = triad_links_new();
	ck_assert_ptr_nonnull(links);
	ck_assert_int_eq(triad_links_adopt(links, whole, 1 * S), 0);
}

static void tear_down(void)
{
	triad_links_free(links);
	triad_fabric_unref(whole);
}

/* Adopts the fabric without the nodes 'gone' and without the cable at a port. */
static void adopt_without(const uint64_t *gone, unsigned n_gone, uint64_t cut_guid,
	unsigned cut_port, uint64_t now_us)
{
	struct triad_fabric *fabric =
		fabric_without(whole, gone, n_gone, cut_guid, cut_port);

	ck_assert_int_eq(triad_links_adopt(links, fabric, now_us), 0);
	triad_fabric_unref(fabric);
}

static void adopt_whole(uint64_t now_us)
{
	ck_assert_int_eq(triad_links_adopt(links, whole, now_us), 0);
}

static struct triad_link find(uint64_t guid, uint8_t port)
{
	struct triad_link link = {0};

	ck_assert(triad_links_find(links, guid, port, &link));
	return link;
}

static bool is_known(uint64_t guid, uint8_t port)
{
	struct triad_link link;

	return triad_links_find(links, guid, port, &link);
}

static uint32_t index_of(const struct triad_fabric *fabric, uint64_t guid, uint8_t port)
{
	return triad_fabric_find_port(
		fabric, triad_fabric_find_node(fabric, guid), port);
}

START_TEST(test_links_calm_fabric_no_record)
{
	uint32_t cursor = 0;
	struct triad_link link;

	adopt_whole(2 * S);
	ck_assert(!triad_links_next(links, &cursor, &link));
	ck_assert_uint_eq(triad_links_counts(links).n_down, 0);
}
END_TEST

START_TEST(test_links_cut_cable_is_down_with_both_ends)
{
	struct triad_link link;

	adopt_without(NULL, 0, SWITCH, 3, 5 * S);
	link = find(SWITCH, 3);
	ck_assert_uint_eq(link.state, TRIAD_LINK_DOWN);
	ck_assert_uint_eq(link.down_us, 5 * S);
	ck_assert_uint_eq(link.ends[0].node_guid, SWITCH);
	ck_assert_uint_eq(link.ends[0].port, 3);
	ck_assert_uint_eq(link.ends[1].node_guid, HOST);
	ck_assert_str_eq(link.ends[1].node_name,
		whole->nodes[triad_fabric_find_node(whole, HOST)].name);
	/* The link's other end finds the same record. */
	ck_assert_uint_eq(find(HOST, 1).down_us, 5 * S);
	ck_assert_uint_eq(triad_link_n_downs(&link), 1);
	ck_assert_uint_eq(triad_links_counts(links).n_down, 1);
}
END_TEST

START_TEST(test_links_back_is_up_and_keeps_its_times)
{
	struct triad_link link;

	adopt_without(NULL, 0, SWITCH, 3, 5 * S);
	adopt_whole(9 * S);
	link = find(SWITCH, 3);
	ck_assert_uint_eq(link.state, TRIAD_LINK_UP);
	ck_assert_uint_eq(link.down_us, 5 * S);
	ck_assert_uint_eq(link.up_us, 9 * S);
	adopt_without(NULL, 0, SWITCH, 3, 11 * S);
	link = find(SWITCH, 3);
	ck_assert_uint_eq(triad_link_n_downs(&link), 2);
	ck_assert_uint_eq(triad_link_last_down_us(&link), 11 * S);
	ck_assert_uint_eq(link.up_us, 9 * S);
}
END_TEST

START_TEST(test_links_gone_host_is_down_at_its_switch)
{
	uint64_t gone = HOST;

	adopt_without(&gone, 1, 0, 0, 5 * S);
	ck_assert_uint_eq(find(SWITCH, 3).state, TRIAD_LINK_DOWN);
	ck_assert_uint_eq(find(HOST, 1).state, TRIAD_LINK_DOWN);
}
END_TEST

/* A switch is lost with its hosts: the cable to it is down; the links to its hosts are
 * unreachable. */
START_TEST(test_links_gone_part_inner_links_unreachable)
{
	uint64_t gone[16], left = SWITCH + 2;
	unsigned n = fabric_row_guids(2, 3, 4, gone);
	struct triad_link link;

	adopt_without(gone, n, 0, 0, 5 * S);
	ck_assert_uint_eq(find(left, 6).state, TRIAD_LINK_DOWN);
	link = find(left, 1);
	ck_assert_uint_eq(link.state, TRIAD_LINK_UNREACHABLE);
	ck_assert_uint_eq(triad_link_n_downs(&link), 0);
	ck_assert_uint_eq(triad_links_counts(links).n_unreachable, 4);
	ck_assert_uint_eq(triad_links_counts(links).n_down, 1);
	adopt_whole(7 * S);
	ck_assert_uint_eq(triad_links_counts(links).n_unreachable, 0);
	ck_assert_uint_eq(find(left, 1).state, TRIAD_LINK_UP);
}
END_TEST

/* The switch is back without one of its hosts. */
START_TEST(test_links_unreachable_is_down_when_an_end_is_back)
{
	uint64_t gone[16], host = 0x10000 + 2 * 256 + 1;
	unsigned n = fabric_row_guids(2, 3, 4, gone);

	adopt_without(gone, n, 0, 0, 5 * S);
	adopt_without(&host, 1, 0, 0, 7 * S);
	ck_assert_uint_eq(find(host, 1).state, TRIAD_LINK_DOWN);
}
END_TEST

START_TEST(test_links_down_for_long_is_forgotten)
{
	triad_links_configure(links, false, 60 * S);
	adopt_without(NULL, 0, SWITCH, 3, 5 * S);
	triad_links_forget(links, 64 * S);
	ck_assert(is_known(SWITCH, 3));
	triad_links_forget(links, 65 * S);
	ck_assert(!is_known(SWITCH, 3));
	ck_assert(!is_known(HOST, 1));
	ck_assert_uint_eq(triad_links_counts(links).n_down, 0);
}
END_TEST

START_TEST(test_links_flapped_and_up_is_not_forgotten)
{
	triad_links_configure(links, false, 60 * S);
	adopt_without(NULL, 0, SWITCH, 3, 5 * S);
	adopt_whole(9 * S);
	triad_links_forget(links, 1000 * S);
	ck_assert(is_known(SWITCH, 3));
}
END_TEST

/* Moves the host of port 3 to port 9. */
static struct triad_fabric *move_cable(void)
{
	struct triad_fabric_builder *builder = triad_fabric_builder_new(NULL);
	struct triad_fabric_node host = {.guid = HOST, .type = TRIAD_NODE_CA};
	struct triad_fabric_node leaf = {.guid = SWITCH, .type = TRIAD_NODE_SWITCH};
	struct triad_fabric_port port = {.state = TRIAD_PORT_ACTIVE};
	struct triad_fabric *fabric;

	triad_fabric_builder_add_node(builder, &leaf, "leaf", NULL, 0);
	port.number = 3;
	triad_fabric_builder_add_port(builder, &port, 0, 0);
	port.number = 9;
	triad_fabric_builder_add_port(builder, &port, HOST, 1);
	triad_fabric_builder_add_node(builder, &host, "host", NULL, 0);
	port.number = 1;
	triad_fabric_builder_add_port(builder, &port, SWITCH, 9);
	ck_assert_int_eq(triad_fabric_build(builder, 0, &fabric), 0);
	triad_fabric_builder_free(builder);
	return fabric;
}

START_TEST(test_links_moved_cable_has_no_record)
{
	struct triad_fabric *moved = move_cable();

	adopt_without(NULL, 0, SWITCH, 3, 5 * S);
	ck_assert_int_eq(triad_links_adopt(links, moved, 6 * S), 0);
	triad_fabric_unref(moved);
	ck_assert(!is_known(SWITCH, 3));
	ck_assert(!is_known(HOST, 1));
}
END_TEST

START_TEST(test_links_count_of_an_end_is_a_record)
{
	struct triad_link link;

	triad_links_count(links, index_of(whole, HOST, 1), 2, 3 * S);
	link = find(SWITCH, 3);
	ck_assert_uint_eq(link.state, TRIAD_LINK_UP);
	ck_assert_uint_eq(link.down_us, 0);
	ck_assert_uint_eq(triad_link_last_down_us(&link), 3 * S);
	ck_assert_uint_eq(triad_link_n_downs(&link), 2);
	/* The other end counted the same two events. */
	triad_links_count(links, index_of(whole, SWITCH, 3), 2, 4 * S);
	link = find(SWITCH, 3);
	ck_assert_uint_eq(triad_link_n_downs(&link), 2);
	triad_links_count(links, index_of(whole, SWITCH, 3), UINT64_MAX, 5 * S);
	link = find(SWITCH, 3);
	ck_assert_uint_eq(triad_link_n_downs(&link), UINT32_MAX);
}
END_TEST

/* A switch's port counts the event when the host has already left the fabric. */
START_TEST(test_links_count_at_a_down_link_is_its)
{
	struct triad_fabric *cut = fabric_without(whole, NULL, 0, SWITCH, 3);
	struct triad_link link;

	ck_assert_int_eq(triad_links_adopt(links, cut, 5 * S), 0);
	triad_links_count(links, index_of(cut, SWITCH, 3), 1, 6 * S);
	/* A port that never had a cable has no link to count for. */
	triad_links_count(links, index_of(cut, SWITCH, 0), 1, 6 * S);
	triad_fabric_unref(cut);
	link = find(HOST, 1);
	ck_assert_uint_eq(link.ends[0].n_counted, 1);
	ck_assert_uint_eq(triad_link_n_downs(&link), 1);
	ck_assert(!is_known(SWITCH, 0));
}
END_TEST

START_TEST(test_links_part_of_a_fabric_loses_nothing)
{
	triad_links_configure(links, true, 60 * S);
	adopt_without(NULL, 0, SWITCH, 3, 5 * S);
	ck_assert(!is_known(SWITCH, 3));
}
END_TEST

/* Many links come and go: when records are removed, the others can still be found. */
START_TEST(test_links_many_come_and_go)
{
	struct triad_fabric *large = fabric_row(20, 60);
	uint64_t gone[1300], first = 0x10000;
	unsigned n = 0;
	uint32_t cursor = 0, n_found = 0;
	struct triad_link link;

	ck_assert_int_eq(triad_links_adopt(links, large, 10 * S), 0);
	triad_fabric_unref(whole);
	whole = large;
	triad_links_configure(links, false, 60 * S);
	for (unsigned i = 0; i < 20; i++)
		for (unsigned j = 1; j <= 60; j += 2)
			gone[n++] = first + i * 256 + j;
	adopt_without(gone, n, 0, 0, 20 * S);
	ck_assert_uint_eq(triad_links_counts(links).n_down, 600);
	adopt_whole(30 * S);
	for (unsigned i = 0; i < n; i++)
		gone[i]++;
	adopt_without(gone, n, 0, 0, 40 * S);
	triad_links_forget(links, 100 * S);
	ck_assert_uint_eq(triad_links_counts(links).n_down, 0);
	while (triad_links_next(links, &cursor, &link)) {
		ck_assert(is_known(link.ends[0].node_guid, link.ends[0].port));
		ck_assert(is_known(link.ends[1].node_guid, link.ends[1].port));
		n_found++;
	}
	ck_assert_uint_eq(n_found, 600);
}
END_TEST

int main(void)
{
	TCase *tcase = tcase_create("links");

	tcase_add_checked_fixture(tcase, set_up, tear_down);
	tcase_add_test(tcase, test_links_calm_fabric_no_record);
	tcase_add_test(tcase, test_links_cut_cable_is_down_with_both_ends);
	tcase_add_test(tcase, test_links_back_is_up_and_keeps_its_times);
	tcase_add_test(tcase, test_links_gone_host_is_down_at_its_switch);
	tcase_add_test(tcase, test_links_gone_part_inner_links_unreachable);
	tcase_add_test(tcase, test_links_unreachable_is_down_when_an_end_is_back);
	tcase_add_test(tcase, test_links_down_for_long_is_forgotten);
	tcase_add_test(tcase, test_links_flapped_and_up_is_not_forgotten);
	tcase_add_test(tcase, test_links_moved_cable_has_no_record);
	tcase_add_test(tcase, test_links_count_of_an_end_is_a_record);
	tcase_add_test(tcase, test_links_count_at_a_down_link_is_its);
	tcase_add_test(tcase, test_links_part_of_a_fabric_loses_nothing);
	tcase_add_test(tcase, test_links_many_come_and_go);
	return run_cases(tcase);
}
