/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* What OpenSM wants in multicast tables.  OpenSM's structures are real, its functions are
 * substitutes.  Random fabrics and trees are compared with rows that are entered by hand as the
 * tree is made. */
#include "plugin/opensm.h"

#include "plugin/audit/trees.h"

#include <inttypes.h>
#include <opensm/osm_multicast.h>
#include <opensm/osm_switch.h>
#include <string.h>

#include "tests/random.h"
#include "tests/unit/run.h"

#define MAX_SWITCHES 24u
/* Port 0, hosts' ports, and the rest for links. */
#define N_PORTS 40u
#define N_HOSTS 3u
#define N_POSITIONS 3u
#define MLID 5u
#define LAST_MLID (IB_LID_MCAST_END_HO - IB_LID_MCAST_START_HO)

/* With room for its ports behind it. */
union node {
	osm_node_t node;
	uint8_t room[sizeof(osm_node_t) + N_PORTS * sizeof(osm_physp_t)];
};

struct member {
	osm_mcm_port_t member;
	osm_port_t port;
};

struct host {
	union node node;
	struct member member;
};

static struct osm_opensm osm;
static union node nodes[MAX_SWITCHES];
static osm_switch_t switches[MAX_SWITCHES];
static struct host hosts[MAX_SWITCHES][N_HOSTS];
static struct member port0_members[MAX_SWITCHES];
static uint16_t masks[MAX_SWITCHES][IB_MCAST_BLOCK_SIZE][IB_MCAST_POSITION_MAX + 1];
static uint16_t wanted[MAX_SWITCHES][N_POSITIONS];
static unsigned n_switches, n_links[MAX_SWITCHES];
static osm_mgrp_box_t box;
static osm_mgrp_t group;
static osm_mtree_node_t *branches[MAX_SWITCHES];
static uint8_t mlids_req[LAST_MLID + 1];
static struct osm_routing_engine engine;
static struct triad_trees *trees;
static uint64_t seed; /* of a random fabric */

/* --- substitutes for OpenSM --- */

volatile unsigned int osm_exit_flag;

cl_map_item_t *cl_qmap_get(const cl_qmap_t *map, uint64_t key)
{
	cl_map_item_t *item = cl_qmap_head(map);

	while (item != cl_qmap_end(map) && item->key != key)
		item = cl_qmap_next(item);
	return item;
}

static void map_clear(cl_qmap_t *map)
{
	map->nil.pool_item.list_item.p_next = &map->nil.pool_item.list_item;
	map->nil.pool_item.list_item.p_prev = &map->nil.pool_item.list_item;
	map->count = 0;
	map->state = CL_INITIALIZED;
}

/* Keys come in their order. */
static void map_add(cl_qmap_t *map, cl_map_item_t *item, uint64_t key)
{
	cl_list_item_t *end = &map->nil.pool_item.list_item,
		       *added = &item->pool_item.list_item;

	item->key = key;
	added->p_next = end;
	added->p_prev = end->p_prev;
	end->p_prev->p_next = added;
	end->p_prev = added;
	map->count++;
}

/* --- a fabric --- */

static uint64_t switch_key(unsigned sw)
{
	return 0x100 * (sw + 1);
}

static osm_physp_t *port_of(union node *node, unsigned number)
{
	return (osm_physp_t *)(node->room + offsetof(osm_node_t, physp_table)) + number;
}

static void make_node(union node *node, uint8_t type, uint64_t guid, unsigned n_ports)
{
	memset(node, 0, sizeof(*node));
	node->node.node_info.node_type = type;
	node->node.node_info.node_guid = guid;
	node->node.physp_tbl_size = n_ports;
	for (unsigned i = 0; i < n_ports; i++) {
		port_of(node, i)->port_guid = guid + i;
		port_of(node, i)->port_num = (uint8_t)i;
		port_of(node, i)->p_node = &node->node;
		port_of(node, i)->healthy = TRUE;
	}
}

static void link_ports(osm_physp_t *a, osm_physp_t *b)
{
	a->p_remote_physp = b;
	b->p_remote_physp = a;
}

static void make_switch(unsigned i)
{
	osm_switch_t *sw = &switches[i];

	make_node(&nodes[i], IB_NODE_TYPE_SWITCH, switch_key(i), N_PORTS);
	memset(sw, 0, sizeof(*sw));
	nodes[i].node.sw = sw;
	sw->p_node = &nodes[i].node;
	sw->num_ports = N_PORTS;
	sw->switch_info.mcast_cap = cl_hton16(IB_MCAST_BLOCK_SIZE);
	sw->mcast_tbl = (osm_mcast_tbl_t){.num_entries = IB_MCAST_BLOCK_SIZE,
		.num_ports = N_PORTS,
		.max_position = N_POSITIONS - 1,
		.mft_depth = IB_MCAST_BLOCK_SIZE,
		.p_mask_tbl = &masks[i]};
	map_add(&osm.subn.sw_guid_tbl, &sw->map_item, switch_key(i));
	for (unsigned j = 0; j < N_HOSTS; j++) {
		make_node(&hosts[i][j].node, IB_NODE_TYPE_CA,
			UINT64_C(0x10000) * (i + 1) + 0x100 * j, 2);
		link_ports(port_of(&nodes[i], 1 + j), port_of(&hosts[i][j].node, 1));
	}
	n_links[i] = 0;
}

/* The ports at both ends, from the upper ones down, so that all positions are used. */
static void link_switches(unsigned a, unsigned b)
{
	link_ports(port_of(&nodes[a], N_PORTS - ++n_links[a]),
		port_of(&nodes[b], N_PORTS - ++n_links[b]));
}

static void set_up_fabric(unsigned n)
{
	memset(&osm, 0, sizeof(osm));
	memset(masks, 0, sizeof(masks));
	memset(wanted, 0, sizeof(wanted));
	memset(mlids_req, 0, sizeof(mlids_req));
	memset(&engine, 0, sizeof(engine));
	ck_assert_int_eq(cl_plock_init(&osm.lock), CL_SUCCESS);
	osm.sm.mlids_req = mlids_req;
	map_clear(&osm.subn.sw_guid_tbl);
	n_switches = n;
	for (unsigned i = 0; i < n; i++)
		make_switch(i);
	memset(&group, 0, sizeof(group));
	memset(&box, 0, sizeof(box));
	map_clear(&group.mcm_port_tbl);
	cl_qlist_init(&box.mgrp_list);
	group.list_item.p_next = group.list_item.p_prev = &box.mgrp_list.end;
	box.mgrp_list.end.p_next = box.mgrp_list.end.p_prev = &group.list_item;
	box.mgrp_list.count = 1;
	osm.subn.mboxes[MLID] = &box;
}

/* --- a tree --- */

static void enter(uint16_t (*rows)[N_POSITIONS], unsigned sw, unsigned number)
{
	rows[sw][number / 16] |= (uint16_t)(1u << number % 16);
}

static void copy_wanted(void)
{
	for (unsigned i = 0; i < n_switches; i++)
		for (unsigned j = 0; j < N_POSITIONS; j++)
			masks[i][MLID][j] = cl_hton16(wanted[i][j]);
}

static osm_mtree_node_t *make_branch(unsigned sw)
{
	branches[sw] = calloc(1,
		sizeof(osm_mtree_node_t) + N_PORTS * sizeof(struct osm_mtree_node *));
	ck_assert_ptr_nonnull(branches[sw]);
	branches[sw]->p_sw = &switches[sw];
	branches[sw]->max_children = N_PORTS;
	return branches[sw];
}

/* The child at the other end of the parent's last link. */
static void add_branch(unsigned parent, unsigned sw)
{
	unsigned down = N_PORTS - n_links[parent], up = N_PORTS - n_links[sw];

	branches[parent]->child_array[down] = make_branch(sw);
	enter(wanted, parent, down);
	enter(wanted, sw, up);
}

static void add_member(struct member *member, osm_physp_t *physp)
{
	member->port = (osm_port_t){.p_node = physp->p_node, .p_physp = physp};
	member->member.port = &member->port;
	map_add(&group.mcm_port_tbl, &member->member.map_item, physp->port_guid);
}

static void join_host(unsigned sw, unsigned i)
{
	add_member(&hosts[sw][i].member, port_of(&hosts[sw][i].node, 1));
	branches[sw]->child_array[1 + i] = OSM_MTREE_LEAF;
	enter(wanted, sw, 1 + i);
}

static void join_switch(unsigned sw)
{
	add_member(&port0_members[sw], port_of(&nodes[sw], 0));
	enter(wanted, sw, 0);
}

/* 0 - 1 - 2, and 3 beside 1; hosts at 0 and 2. */
static void set_up(void)
{
	set_up_fabric(4);
	box.root = make_branch(1);
	link_switches(1, 0);
	add_branch(1, 0);
	link_switches(1, 2);
	add_branch(1, 2);
	link_switches(1, 3);
	join_host(0, 0);
	join_host(2, 1);
	copy_wanted();
	for (unsigned i = 0; i < n_switches; i++)
		switches[i].mcast_tbl.max_block_in_use = 0;
}

static void tear_down(void)
{
	triad_trees_free(trees);
	trees = NULL;
	for (unsigned i = 0; i < MAX_SWITCHES; i++) {
		free(branches[i]);
		branches[i] = NULL;
	}
}

/* --- cases --- */

static void look(void)
{
	triad_trees_free(trees);
	trees = triad_trees_look(&osm);
	ck_assert_ptr_nonnull(trees);
}

static struct triad_trees_row row_at(unsigned sw, unsigned position)
{
	return triad_trees_row(
		trees, &osm, &nodes[sw].node, IB_LID_MCAST_START_HO + MLID, position);
}

static uint16_t copy_at(unsigned sw, unsigned position)
{
	return cl_ntoh16(masks[sw][MLID][position]);
}

static void flip_copy(unsigned sw, unsigned number)
{
	masks[sw][MLID][number / 16] ^= cl_hton16((uint16_t)(1u << number % 16));
}

static void check_rows(void)
{
	for (unsigned i = 0; i < n_switches; i++)
		for (unsigned j = 0; j < N_POSITIONS; j++) {
			struct triad_trees_row row = row_at(i, j);

			ck_assert(row.is_known);
			ck_assert_msg(row.wanted == wanted[i][j],
				"seed %" PRIu64
				", switch %u, position %u: %#x is wanted, not %#x",
				seed, i, j, row.wanted, wanted[i][j]);
			ck_assert(row.is_copy_wrong == (copy_at(i, j) != wanted[i][j]));
		}
}

static bool is_any_known(void)
{
	bool is_known = false;

	for (unsigned i = 0; i < n_switches; i++)
		for (unsigned j = 0; j < N_POSITIONS; j++)
			is_known |= row_at(i, j).is_known;
	return is_known;
}

START_TEST(test_tree_is_wanted_whatever_the_copy_has)
{
	look();
	check_rows();
	/* A link of the tree, one beside it, a member, another host, a port without a link,
	 * and one of a switch that is not in the tree. */
	flip_copy(1, N_PORTS - 1);
	flip_copy(1, N_PORTS - 3);
	flip_copy(0, 1);
	flip_copy(0, 2);
	flip_copy(2, 20);
	flip_copy(3, N_PORTS - 1);
	look();
	check_rows();
}
END_TEST

START_TEST(test_random_trees_are_wanted)
{
	for (unsigned run = 1; run <= 300; run++) {
		uint64_t dice = seed = run;
		unsigned n = 2 + random_below(&dice, MAX_SWITCHES - 2), n_members = 0;

		tear_down();
		set_up_fabric(n);
		box.root = make_branch(0);
		/* What is behind it is not in the tree. */
		for (unsigned i = 1; i < n; i++) {
			unsigned parent = random_below(&dice, i);

			if (n_links[parent] > 20)
				continue;
			link_switches(parent, i);
			if (branches[parent] && random_below(&dice, 4))
				add_branch(parent, i);
		}
		for (unsigned i = 0; i < n; i++)
			switches[i].mcast_tbl.max_block_in_use = 0;
		for (unsigned i = 0; i < n; i++)
			for (unsigned j = 0; branches[i] && j < N_HOSTS; j++)
				if (i + j == 0 || !random_below(&dice, 2)) {
					join_host(i, j);
					n_members++;
				}
		if (n_members < 2)
			continue;
		if (!random_below(&dice, 2))
			join_switch(n - 1);
		copy_wanted();
		for (unsigned i = random_below(&dice, 5); i; i--)
			flip_copy(random_below(&dice, n),
				random_below(&dice, 16 * N_POSITIONS));
		look();
		check_rows();
	}
}
END_TEST

START_TEST(test_lid_without_a_group_wants_nothing)
{
	osm.subn.mboxes[MLID] = NULL;
	memset(wanted, 0, sizeof(wanted));
	look();
	check_rows();
	ck_assert(row_at(0, 0).has_no_group);
	/* A group that came and went since the look. */
	osm.subn.mboxes[MLID] = &box;
	flip_copy(1, N_PORTS - 1);
	look();
	osm.subn.mboxes[MLID] = NULL;
	check_rows();
}
END_TEST

START_TEST(test_one_member_wants_nothing)
{
	map_clear(&group.mcm_port_tbl);
	add_member(&hosts[0][0].member, port_of(&hosts[0][0].node, 1));
	box.root = NULL;
	memset(wanted, 0, sizeof(wanted));
	look();
	check_rows();
	ck_assert(!row_at(0, 0).has_no_group);
}
END_TEST

START_TEST(test_tree_that_is_to_be_made_is_not_known)
{
	mlids_req[MLID] = 1;
	look();
	ck_assert(!is_any_known());
	mlids_req[MLID] = 0;
	look();
	check_rows();
	/* After the look. */
	mlids_req[MLID] = 1;
	ck_assert(!is_any_known());
}
END_TEST

START_TEST(test_tree_over_other_links_is_not_known)
{
	osm_physp_t *port = port_of(&nodes[1], N_PORTS - 2);

	port->p_remote_physp = NULL;
	look();
	ck_assert(!is_any_known());
	/* To another switch. */
	link_ports(port, port_of(&nodes[3], 20));
	look();
	ck_assert(!is_any_known());
	/* To a host. */
	link_ports(port, port_of(&hosts[2][1].node, 1));
	look();
	ck_assert(!is_any_known());
}
END_TEST

START_TEST(test_switch_that_was_freed_is_not_followed)
{
	branches[0]->p_sw = (osm_switch_t *)1;
	look();
	ck_assert(!is_any_known());
	branches[0]->p_sw = &switches[0];
	branches[1]->p_sw = (osm_switch_t *)1;
	look();
	ck_assert(!is_any_known());
}
END_TEST

START_TEST(test_last_lid_that_is_not_known_has_its_place)
{
	osm.subn.mboxes[LAST_MLID] = &box;
	branches[0]->p_sw = (osm_switch_t *)1;
	look();
	ck_assert(!triad_trees_row(trees, &osm, &nodes[0].node, IB_LID_MCAST_END_HO, 0)
			   .is_known);
}
END_TEST

START_TEST(test_copy_that_changed_since_the_look_is_not_known)
{
	flip_copy(1, N_PORTS - 1);
	look();
	check_rows();
	flip_copy(1, N_PORTS - 1);
	ck_assert(!row_at(1, (N_PORTS - 1) / 16).is_known);
	look();
	check_rows();
}
END_TEST

START_TEST(test_port_to_a_switch_without_multicast_is_as_in_the_copy)
{
	switches[3].switch_info.mcast_cap = 0;
	flip_copy(1, N_PORTS - 3);
	enter(wanted, 1, N_PORTS - 3);
	look();
	check_rows();
}
END_TEST

static ib_api_status_t build_tree(void *context, osm_mgrp_box_t *of)
{
	(void)context;
	(void)of;
	return IB_SUCCESS;
}

static void use_engine(enum _osm_routing_engine_type type)
{
	engine.mcast_build_stree = build_tree;
	engine.type = type;
	osm.routing_engine_used = &engine;
}

START_TEST(test_tree_that_an_engine_does_not_keep_is_inferred)
{
	use_engine(OSM_ROUTING_ENGINE_TYPE_DFSSSP);
	/* An earlier engine's. */
	box.root = NULL;
	look();
	ck_assert_uint_eq(triad_trees_n_not_kept(trees), 1);
	check_rows();
	/* Each port that one switch has or lacks by mistake. */
	for (unsigned sw = 0; sw < n_switches; sw++)
		for (unsigned number = 0; number < N_PORTS; number++) {
			flip_copy(sw, number);
			look();
			check_rows();
			flip_copy(sw, number);
		}
	/* Without the member and its switch there is less of a tree. */
	map_clear(&group.mcm_port_tbl);
	add_member(&hosts[0][0].member, port_of(&hosts[0][0].node, 1));
	memset(wanted, 0, sizeof(wanted));
	look();
	ck_assert_uint_eq(triad_trees_n_not_kept(trees), 0);
	check_rows();
}
END_TEST

START_TEST(test_copies_that_make_no_tree_are_not_known)
{
	use_engine(OSM_ROUTING_ENGINE_TYPE_DFSSSP);
	flip_copy(1, N_PORTS - 2);
	flip_copy(2, N_PORTS - 1);
	look();
	ck_assert(!is_any_known());
}
END_TEST

START_TEST(test_members_that_engines_leave_out_are_no_part_of_a_tree)
{
	use_engine(OSM_ROUTING_ENGINE_TYPE_SSSP);
	/* At a switch that is not in it. */
	make_branch(3);
	join_host(3, 0);
	memset(wanted[3], 0, sizeof(wanted[3]));
	look();
	ck_assert(!is_any_known());
	port_of(&hosts[3][0].node, 1)->healthy = FALSE;
	look();
	check_rows();
	port_of(&hosts[3][0].node, 1)->healthy = TRUE;
	hosts[3][0].node.node.node_info.node_type = IB_NODE_TYPE_ROUTER;
	look();
	check_rows();
}
END_TEST

START_TEST(test_torus_has_a_tree_for_one_member)
{
	use_engine(OSM_ROUTING_ENGINE_TYPE_TORUS_2QOS);
	map_clear(&group.mcm_port_tbl);
	add_member(&hosts[0][0].member, port_of(&hosts[0][0].node, 1));
	branches[1]->child_array[N_PORTS - 2] = NULL;
	wanted[1][(N_PORTS - 2) / 16] &= (uint16_t) ~(1u << (N_PORTS - 2) % 16);
	memset(wanted[2], 0, sizeof(wanted[2]));
	look();
	check_rows();
	ck_assert_uint_eq(triad_trees_n_not_kept(trees), 0);
}
END_TEST

int main(void)
{
	TCase *cases = tcase_create("trees");

	tcase_add_checked_fixture(cases, set_up, tear_down);
	tcase_add_test(cases, test_tree_is_wanted_whatever_the_copy_has);
	tcase_add_test(cases, test_random_trees_are_wanted);
	tcase_add_test(cases, test_lid_without_a_group_wants_nothing);
	tcase_add_test(cases, test_one_member_wants_nothing);
	tcase_add_test(cases, test_tree_that_is_to_be_made_is_not_known);
	tcase_add_test(cases, test_tree_over_other_links_is_not_known);
	tcase_add_test(cases, test_switch_that_was_freed_is_not_followed);
	tcase_add_test(cases, test_last_lid_that_is_not_known_has_its_place);
	tcase_add_test(cases, test_copy_that_changed_since_the_look_is_not_known);
	tcase_add_test(
		cases, test_port_to_a_switch_without_multicast_is_as_in_the_copy);
	tcase_add_test(cases, test_tree_that_an_engine_does_not_keep_is_inferred);
	tcase_add_test(cases, test_copies_that_make_no_tree_are_not_known);
	tcase_add_test(
		cases, test_members_that_engines_leave_out_are_no_part_of_a_tree);
	tcase_add_test(cases, test_torus_has_a_tree_for_one_member);
	return run_cases(cases);
}
