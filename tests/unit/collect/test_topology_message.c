/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "collect/topology_message.h"

#include <errno.h>
#include <string.h>

#include "collect/distance.h"
#include "tests/sim/fabrics.h"
#include "tests/sim/fat_tree.h"
#include "tests/unit/run.h"

#define ROOM (TRIAD_TOPOLOGY_PIECE_SIZE + 64)

static const struct triad_collect_head head = {
	.kind = TRIAD_COLLECT_TOPOLOGY, .sender = 5, .incarnation = 6};
static uint8_t octets[ROOM];

static int take(struct triad_topology_pieces *pieces, size_t size, uint64_t known,
	struct triad_fabric **fabric, uint64_t *hash)
{
	struct triad_topology_octets whole;
	struct triad_collect_head found;
	struct triad_wire body;
	int error;

	ck_assert_int_eq(triad_collect_get_head(octets, size, &found, &body),
		TRIAD_COLLECT_HEAD_GOOD);
	error = triad_topology_pieces_add(pieces, &body, known, &whole);
	if (error)
		return error;
	*hash = whole.hash;
	error = triad_topology_decode(&whole, fabric);
	triad_topology_octets_free(&whole);
	return error;
}

/* Compares P_Keys of ports that are queried by LID; messages omit those of others. */
static void check_same_pkeys(const struct triad_fabric *a,
	const struct triad_fabric_port *p, const struct triad_fabric *b,
	const struct triad_fabric_port *q)
{
	if (a->nodes[p->node].type == TRIAD_NODE_SWITCH && p->number)
		return;
	ck_assert_uint_eq(p->pkeys.n, q->pkeys.n);
	for (uint32_t i = 0; i < p->pkeys.n; i++)
		ck_assert_uint_eq(a->pkeys[p->pkeys.at + i], b->pkeys[q->pkeys.at + i]);
}

static void check_same(const struct triad_fabric *a, const struct triad_fabric *b)
{
	ck_assert_uint_eq(a->n_nodes, b->n_nodes);
	ck_assert_uint_eq(a->n_ports, b->n_ports);
	for (uint32_t i = 0; i < a->n_nodes; i++) {
		ck_assert_uint_eq(a->nodes[i].guid, b->nodes[i].guid);
		ck_assert_uint_eq(a->nodes[i].type, b->nodes[i].type);
		ck_assert_uint_eq(a->nodes[i].n_ports, b->nodes[i].n_ports);
		ck_assert_str_eq(a->nodes[i].name, b->nodes[i].name);
	}
	for (uint32_t i = 0; i < a->n_ports; i++) {
		const struct triad_fabric_port *p = &a->ports[i], *q = &b->ports[i];

		ck_assert_uint_eq(p->guid, q->guid);
		ck_assert_uint_eq(p->number, q->number);
		ck_assert_uint_eq(p->lid, q->lid);
		ck_assert_uint_eq(p->remote, q->remote);
		ck_assert_uint_eq(p->state, q->state);
		ck_assert_uint_eq(p->sl, q->sl);
		ck_assert_uint_eq(p->width, q->width);
		ck_assert_uint_eq(p->width_supported, q->width_supported);
		ck_assert_uint_eq(p->speed_supported, q->speed_supported);
		ck_assert_uint_eq(p->speed_ext_supported, q->speed_ext_supported);
		ck_assert_int_eq(p->has_pma, q->has_pma);
		ck_assert_uint_eq(triad_fabric_port_bps(p), triad_fabric_port_bps(q));
		check_same_pkeys(a, p, b, q);
	}
}

START_TEST(test_fabric_comes_back_as_it_was_whatever_the_order_of_its_pieces)
{
	struct triad_fabric *fabric = fat_tree(24), *found = NULL;
	struct triad_topology_pieces *pieces = triad_topology_pieces_new();
	struct triad_topology_octets encoded;
	uint64_t hash = 0;
	unsigned n;
	int error = EAGAIN;

	/* For every second port, the supported widths and speeds are unknown. */
	for (uint32_t i = 0; i < fabric->n_ports; i += 2) {
		fabric->ports[i].width_supported = 3;
		fabric->ports[i].speed_supported = 7;
		fabric->ports[i].speed_ext_supported = (uint8_t)(i % 16);
	}

	ck_assert_int_eq(triad_topology_encode(fabric, &encoded), 0);
	n = triad_topology_n_pieces(&encoded);
	for (unsigned i = n; i-- > 0;) {
		size_t size =
			triad_topology_write_piece(&encoded, i, &head, octets, ROOM);

		ck_assert_int_eq(error, EAGAIN);
		error = take(pieces, size, 0, &found, &hash);
		if (i) /* a repeated piece does no harm */
			ck_assert_int_eq(take(pieces, size, 0, &found, &hash), EAGAIN);
	}
	ck_assert_int_eq(error, 0);
	ck_assert_uint_eq(hash, encoded.hash);
	check_same(fabric, found);
	triad_fabric_unref(found);
	ck_assert_int_eq(
		take(pieces,
			triad_topology_write_piece(&encoded, 0, &head, octets, ROOM),
			encoded.hash, &found, &hash),
		EALREADY);
	triad_topology_octets_free(&encoded);
	triad_topology_pieces_free(pieces);
	triad_fabric_unref(fabric);
}
END_TEST

START_TEST(test_another_fabric_in_between_begins_anew)
{
	struct triad_fabric *one = fat_tree(24), *other = fabric_row(3, 2),
			    *found = NULL;
	struct triad_topology_pieces *pieces = triad_topology_pieces_new();
	struct triad_topology_octets first, second;
	uint64_t hash = 0;
	size_t size;

	ck_assert_int_eq(triad_topology_encode(one, &first), 0);
	ck_assert_int_eq(triad_topology_encode(other, &second), 0);
	ck_assert_uint_ne(first.hash, second.hash);
	if (triad_topology_n_pieces(&first) > 1) {
		size = triad_topology_write_piece(&first, 0, &head, octets, ROOM);
		ck_assert_int_eq(take(pieces, size, 0, &found, &hash), EAGAIN);
	}
	size = triad_topology_write_piece(&second, 0, &head, octets, ROOM);
	ck_assert_int_eq(take(pieces, size, 0, &found, &hash), 0);
	check_same(other, found);
	triad_fabric_unref(found);
	triad_topology_octets_free(&first);
	triad_topology_octets_free(&second);
	triad_topology_pieces_free(pieces);
	triad_fabric_unref(one);
	triad_fabric_unref(other);
}
END_TEST

START_TEST(test_piece_with_any_octet_changed_gives_the_fabric_or_nothing)
{
	struct triad_fabric *fabric = fabric_row(3, 2), *found;
	struct triad_topology_octets encoded;
	size_t size;

	ck_assert_int_eq(triad_topology_encode(fabric, &encoded), 0);
	size = triad_topology_write_piece(&encoded, 0, &head, octets, ROOM);
	for (size_t i = TRIAD_COLLECT_HEAD_SIZE; i < size; i++) {
		struct triad_topology_pieces *pieces = triad_topology_pieces_new();
		uint64_t hash = 0;

		octets[i] ^= 0x55;
		found = NULL;
		if (!take(pieces, size, 0, &found, &hash))
			check_same(fabric, found);
		triad_fabric_unref(found);
		octets[i] ^= 0x55;
		triad_topology_pieces_free(pieces);
	}
	triad_topology_octets_free(&encoded);
	triad_fabric_unref(fabric);
}
END_TEST

/* For each of 'n_tables' tables of two P_Keys, a switch and its three hosts; the table
 * of every fourth host is unknown. */
static struct triad_fabric *many_tables(unsigned n_tables)
{
	struct triad_fabric_builder *builder = triad_fabric_builder_new(NULL);
	struct triad_fabric *made;

	for (unsigned i = 0; i < 4 * n_tables; i++) {
		struct triad_fabric_node node = {.guid = 1 + i,
			.type = i % 4 ? TRIAD_NODE_CA : TRIAD_NODE_SWITCH};
		uint16_t pkeys[] = {
			0x7fff, (uint16_t)(0x8000 | (1 + i * 7 % n_tables))};

		triad_fabric_builder_add_node(builder, &node, "", NULL, 0);
		for (unsigned j = i % 4 != 0; j < 2; j++) {
			struct triad_fabric_port port = {
				.guid = 1 + i, .lid = 1, .number = (uint8_t)j};

			triad_fabric_builder_add_port(builder, &port, 0, 0);
			if (i % 16 != 3)
				triad_fabric_builder_add_pkeys(builder, pkeys, 2);
		}
	}
	ck_assert_int_eq(triad_fabric_build(builder, 0, &made), 0);
	triad_fabric_builder_free(builder);
	return made;
}

START_TEST(test_tables_of_partitions_come_back_however_many_there_are)
{
	static const unsigned numbers[] = {1, 3, 16, 17, 100};

	for (unsigned i = 0; i < 5; i++) {
		struct triad_fabric *fabric = many_tables(numbers[i]), *found = NULL;
		struct triad_topology_octets encoded;

		ck_assert_int_eq(triad_topology_encode(fabric, &encoded), 0);
		ck_assert_int_eq(triad_topology_decode(&encoded, &found), 0);
		check_same(fabric, found);
		triad_topology_octets_free(&encoded);
		triad_fabric_unref(found);
		triad_fabric_unref(fabric);
	}
}
END_TEST

START_TEST(test_port_has_two_octets_less_where_all_have_the_same_table)
{
	/* A million ports: 25,000 nodes of 40.  What a port took with one P_Key of its
	 * own is 24 octets less the GUID that is the same. */
	struct triad_fabric *fabric = fabric_of_ports(4000);
	struct triad_topology_octets encoded;

	ck_assert_int_eq(triad_topology_encode(fabric, &encoded), 0);
	ck_assert_uint_le(encoded.size, 16 + 100 * 17 + 100 * 8 + 4000 * 14);
	triad_topology_octets_free(&encoded);
	triad_fabric_unref(fabric);
}
END_TEST

START_TEST(test_hand_out_of_the_first_form_is_of_another_version)
{
	static const struct triad_collect_head old = {
		.kind = TRIAD_COLLECT_OLD_TOPOLOGY, .sender = 5, .incarnation = 6};
	struct triad_collect_head found;
	struct triad_wire w;

	triad_wire_init(&w, octets, sizeof(octets));
	triad_collect_put_head(&w, &old);
	ck_assert_uint_eq(octets[3], 11);
	ck_assert_int_eq(triad_collect_get_head(octets, w.at, &found, &w),
		TRIAD_COLLECT_HEAD_UNKNOWN_KIND);
}
END_TEST

static void put32(uint8_t *to, uint32_t value)
{
	for (unsigned i = 0; i < 4; i++)
		to[i] = (uint8_t)(value >> (24 - 8 * i));
}

/* The first of two pieces, of a fabric that has 'size' octets when it is unpacked. */
static int take_first_of(uint32_t size)
{
	struct triad_fabric *fabric = fabric_row(3, 2), *found = NULL;
	struct triad_topology_pieces *pieces = triad_topology_pieces_new();
	uint8_t *body = octets + TRIAD_COLLECT_HEAD_SIZE;
	struct triad_topology_octets encoded;
	uint64_t hash = 0;
	int error;

	ck_assert_int_eq(triad_topology_encode(fabric, &encoded), 0);
	memset(octets, 0, ROOM);
	triad_topology_write_piece(&encoded, 0, &head, octets, ROOM);
	put32(body + 8, size);
	put32(body + 12, TRIAD_TOPOLOGY_PIECE_SIZE + 1);
	put32(body + 16, 2); /* the piece's number 0, of 2 */
	error = take(pieces, TRIAD_COLLECT_HEAD_SIZE + 20 + TRIAD_TOPOLOGY_PIECE_SIZE,
		0, &found, &hash);
	triad_topology_octets_free(&encoded);
	triad_topology_pieces_free(pieces);
	triad_fabric_unref(fabric);
	return error;
}

START_TEST(test_piece_of_a_fabric_that_is_too_small_or_too_large_is_refused)
{
	ck_assert_int_eq(take_first_of(1 << 20), EAGAIN);
	ck_assert_int_eq(take_first_of(TRIAD_TOPOLOGY_MAX_SIZE), EAGAIN);
	ck_assert_int_eq(take_first_of(0), EPROTO);
	ck_assert_int_eq(take_first_of(1), EPROTO);
	ck_assert_int_eq(take_first_of(TRIAD_TOPOLOGY_MAX_SIZE + 1), EPROTO);
}
END_TEST

/* --- distance.h --- */

START_TEST(test_hops_are_links_from_the_port_on)
{
	struct triad_fabric *fabric = fat_tree(4);
	uint8_t *hops = malloc(fabric->n_nodes);
	uint32_t host = triad_fabric_find_node(fabric, FAT_TREE_HOST_GUID(0));
	uint32_t next = triad_fabric_find_node(fabric, FAT_TREE_HOST_GUID(1));
	uint32_t last = triad_fabric_find_node(fabric, FAT_TREE_HOST_GUID(15));
	uint64_t guid = fabric->ports[fabric->nodes[host].first_port].guid;

	ck_assert_int_eq(triad_distance_hops(fabric, guid, hops), 0);
	ck_assert_uint_eq(hops[host], 0);
	ck_assert_uint_eq(hops[next], 2);
	ck_assert_uint_eq(hops[last], 6);
	ck_assert_int_eq(triad_distance_hops(fabric, 12345, hops), 0);
	ck_assert_uint_eq(hops[host], TRIAD_DISTANCE_NONE);
	free(hops);
	triad_fabric_unref(fabric);
}
END_TEST

START_TEST(test_part_has_own_nodes_and_the_far_ends_of_their_links)
{
	struct triad_fabric *fabric = fabric_row(4, 2), *part;
	bool is_own[16] = {false};
	uint32_t own = triad_fabric_find_node(fabric, 0x201), at;

	is_own[own] = true;
	ck_assert_int_eq(triad_distance_part(fabric, is_own, &part), 0);
	/* the switch itself, two hosts, two neighbouring switches */
	ck_assert_uint_eq(part->n_nodes, 5);
	at = triad_fabric_find_node(part, 0x201);
	ck_assert_uint_eq(part->nodes[at].n_ports, fabric->nodes[own].n_ports);
	for (uint32_t i = 0; i < part->n_ports; i++) {
		const struct triad_fabric_port *port = &part->ports[i];

		if (port->node != at) {
			ck_assert(!port->has_pma);
			ck_assert_uint_eq(part->ports[port->remote].node, at);
		}
	}
	at = triad_fabric_find_node(part, 0x10101);
	ck_assert_uint_eq(part->ports[part->nodes[at].first_port].pkeys.n, 2);
	triad_fabric_unref(part);
	triad_fabric_unref(fabric);
}
END_TEST

START_TEST(test_part_of_nothing_is_empty)
{
	struct triad_fabric *fabric = fabric_row(2, 1), *part;
	bool is_own[8] = {false};

	ck_assert_int_eq(triad_distance_part(fabric, is_own, &part), 0);
	ck_assert_uint_eq(part->n_nodes, 0);
	triad_fabric_unref(part);
	triad_fabric_unref(fabric);
}
END_TEST

int main(void)
{
	TCase *cases = tcase_create("pieces");

	tcase_add_test(cases,
		test_fabric_comes_back_as_it_was_whatever_the_order_of_its_pieces);
	tcase_add_test(cases, test_another_fabric_in_between_begins_anew);
	tcase_add_test(
		cases, test_piece_with_any_octet_changed_gives_the_fabric_or_nothing);
	tcase_add_test(
		cases, test_tables_of_partitions_come_back_however_many_there_are);
	tcase_add_test(
		cases, test_port_has_two_octets_less_where_all_have_the_same_table);
	tcase_add_test(cases, test_hand_out_of_the_first_form_is_of_another_version);
	tcase_add_test(cases,
		test_piece_of_a_fabric_that_is_too_small_or_too_large_is_refused);
	tcase_add_test(cases, test_hops_are_links_from_the_port_on);
	tcase_add_test(cases, test_part_has_own_nodes_and_the_far_ends_of_their_links);
	tcase_add_test(cases, test_part_of_nothing_is_empty);
	return run_cases(cases);
}
