/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "jobs/slurm_topology.h"

#include <stdio.h>
#include <string.h>

#include "tests/sim/fabrics.h"
#include "tests/sim/fat_tree.h"
#include "tests/unit/run.h"

static struct triad_fabric *fabric;
static struct triad_routes_layout *layout;
static struct triad_slurm_topology *topology;
static char written[1 << 16];

static void make(struct triad_fabric *made)
{
	fabric = made;
	ck_assert_ptr_nonnull(fabric);
	ck_assert_int_eq(triad_routes_layout_make(fabric, &layout), 0);
	ck_assert_int_eq(triad_slurm_topology_make(layout, &topology), 0);
}

static void tear_down(void)
{
	triad_slurm_topology_free(topology);
	triad_routes_layout_free(layout);
	triad_fabric_unref(fabric);
}

static void append(void *context, const char *piece)
{
	(void)context;
	strcat(written, piece);
}

static const char *text_of(const struct triad_hostlist *list)
{
	written[0] = '\0';
	triad_hostlist_write(list, append, NULL);
	return written;
}

static const struct triad_slurm_switch *find(const char *name)
{
	for (uint32_t i = 0; i < topology->n; i++)
		if (!strcmp(topology->switches[i].name, name))
			return &topology->switches[i];
	ck_abort_msg("no line '%s'", name);
	return NULL;
}

static bool has(const struct triad_hostlist *list, const char *name)
{
	return triad_hostlist_find(list, name) != UINT32_MAX;
}

/* Row: N9 */
START_TEST(test_fat_tree_has_edges_pods_and_one_line_above)
{
	make(fat_tree(4));
	/* 8 edges, 4 pods, and one line above these. */
	ck_assert_uint_eq(topology->n_leaves, 8);
	ck_assert_uint_eq(topology->n, 13);
	ck_assert_uint_eq(topology->n_hosts, 16);
	ck_assert_uint_eq(topology->n_roots, 1);
	ck_assert_str_eq(text_of(&find("edge-0-0")->hosts), "host-[0-1]");
	ck_assert_uint_eq(find("edge-0-0")->switches.n, 0);
	ck_assert_str_eq(text_of(&find("aggregation-0-0")->switches), "edge-0-[0-1]");
	ck_assert_str_eq(text_of(&find("core-0")->switches),
		"aggregation-0-0,aggregation-1-0,aggregation-2-0,aggregation-3-0");
	ck_assert_uint_eq(find("core-0")->parent, TRIAD_FABRIC_NONE);
}
END_TEST

/* Each line except the root has one parent, which lists it. */
START_TEST(test_large_tree_is_a_tree)
{
	make(fat_tree(36));
	ck_assert_uint_eq(topology->n_hosts, 11664);
	ck_assert_uint_eq(topology->n_roots, 1);
	ck_assert_uint_eq(topology->n, 648 + 36 + 1);
	for (uint32_t i = 0; i < topology->n; i++) {
		const struct triad_slurm_switch *line = &topology->switches[i];
		unsigned n = 0;

		for (uint32_t k = 0; k < topology->n; k++)
			n += has(&topology->switches[k].switches, line->name);
		ck_assert_uint_eq(n, line->parent != TRIAD_FABRIC_NONE);
		ck_assert(!line->hosts.n != !line->switches.n);
		if (n)
			ck_assert(has(&topology->switches[line->parent].switches,
				line->name));
	}
}
END_TEST

/* All switches have hosts, so the line above them gets its name from no switch. */
START_TEST(test_switches_with_hosts_alone_have_a_line_above)
{
	make(fabric_row(3, 2));
	ck_assert_uint_eq(topology->n_leaves, 3);
	ck_assert_uint_eq(topology->n, 4);
	ck_assert_uint_eq(topology->switches[3].switches.n, 3);
	ck_assert_str_eq(topology->switches[3].name, "set-4");
	ck_assert_uint_eq(topology->n_hosts, 6);
}
END_TEST

START_TEST(test_line_above_has_no_name_that_a_switch_has)
{
	struct triad_fabric *row = fabric_row(3, 2);

	for (uint32_t i = 0; i < row->n_nodes; i++)
		if (!strcmp(row->nodes[i].name, "switch-1"))
			strcpy(row->nodes[i].name, "set-4");
	make(row);
	ck_assert_uint_eq(topology->n, 4);
	ck_assert_str_eq(topology->switches[3].name, "set-5");
}
END_TEST

START_TEST(test_parts_that_are_not_connected_are_counted)
{
	uint64_t gone[] = {0x201};
	struct triad_fabric *row = fabric_row(5, 2);

	make(fabric_without(row, gone, 1, 0, 0));
	triad_fabric_unref(row);
	ck_assert_uint_eq(topology->n_roots, 2);
	ck_assert_uint_eq(topology->n_leaves, 4);
}
END_TEST

/* The switch has only storage and routers, or hosts whose names aren't unique. */
START_TEST(test_switch_without_named_hosts_is_in_no_line)
{
	static const char *const names[] = {"n<1>", "n<2>", "other", "other"};
	uint32_t n = 0;

	fabric = fabric_row(4, 1);
	for (uint32_t i = 0; i < fabric->n_nodes; i++)
		if (fabric->nodes[i].type == TRIAD_NODE_CA && n < 4)
			strcpy(fabric->nodes[i].name, names[n++]);
	make(fabric);
	ck_assert_uint_eq(topology->n_leaves, 1);
	ck_assert_uint_eq(topology->n, 1);
	ck_assert_uint_eq(topology->n_again, 1);
	ck_assert_uint_eq(topology->n_unnamed, 2);
	ck_assert_str_eq(text_of(&topology->switches[0].hosts), "other");
	ck_assert_uint_eq(topology->switches[0].parent, TRIAD_FABRIC_NONE);
}
END_TEST

/* A host with a rail at each of four switches is one host. */
START_TEST(test_host_at_several_switches_counts_once)
{
	fabric = fabric_row(4, 1);
	for (uint32_t i = 0; i < fabric->n_nodes; i++)
		if (fabric->nodes[i].type == TRIAD_NODE_CA)
			strcpy(fabric->nodes[i].name, "rails mlx5_0");
	make(fabric);
	ck_assert_uint_eq(topology->n_hosts, 1);
	ck_assert_uint_eq(topology->n_again, 1);
}
END_TEST

/* Row: N7, N9 */
START_TEST(test_aggregation_node_is_no_host)
{
	fabric = fabric_row(3, 1);
	for (uint32_t i = 0; i < fabric->n_nodes; i++)
		if (fabric->nodes[i].guid == 0x10000 + 256 + 1)
			strcpy(fabric->nodes[i].name,
				"Mellanox Technologies Aggregation Node");
	make(fabric);
	ck_assert_uint_eq(topology->n_leaves, 2);
	ck_assert_uint_eq(topology->n_hosts, 2);
	ck_assert(layout->is_tree);
	ck_assert_uint_eq(layout->n_levels, 2);
	/* Routes lead there nevertheless. */
	ck_assert_uint_eq(layout->n_goals, 3 + 3);
	ck_assert_uint_eq(layout->n_host_goals, 2);
}
END_TEST

START_TEST(test_host_names_end_at_the_first_blank)
{
	char name[TRIAD_HOSTLIST_NAME_SIZE];

	triad_slurm_host_name("host-1 HCA-2", name);
	ck_assert_str_eq(name, "host-1");
	triad_slurm_host_name("host<1> HCA", name);
	ck_assert_str_eq(name, "");
	triad_slurm_host_name("MT4129 ConnectX7   Mellanox Technologies", name);
	ck_assert_str_eq(name, "");
	triad_slurm_host_name("localhost mlx5_0", name);
	ck_assert_str_eq(name, "");
	triad_slurm_host_name("localhost.localdomain HCA-1", name);
	ck_assert_str_eq(name, "");
	triad_slurm_host_name("localhost-7 HCA-1", name);
	ck_assert_str_eq(name, "localhost-7");
	triad_slurm_host_name(" HCA", name);
	ck_assert_str_eq(name, "");
	triad_slurm_host_name("", name);
	ck_assert_str_eq(name, "");
}
END_TEST

/* Switches may have equal node descriptions, or empty ones. */
START_TEST(test_switches_of_one_name_are_distinguished)
{
	fabric = fabric_row(3, 1);
	for (uint32_t i = 0; i < fabric->n_nodes; i++)
		if (fabric->nodes[i].type == TRIAD_NODE_SWITCH)
			strcpy(fabric->nodes[i].name,
				i % 2 ? "MF0;sw:QM8700/U1 x" : "MF0;sw:QM8700/U1");
	make(fabric);
	for (uint32_t i = 0; i < topology->n_leaves; i++) {
		ck_assert_ptr_nonnull(
			strstr(topology->switches[i].name, "MF0_sw_QM8700_U1-0000"));
		for (uint32_t k = 0; k < i; k++)
			ck_assert_str_ne(
				topology->switches[i].name, topology->switches[k].name);
	}
}
END_TEST

int main(void)
{
	TCase *cases = tcase_create("slurm_topology");

	tcase_add_checked_fixture(cases, NULL, tear_down);
	tcase_add_test(cases, test_fat_tree_has_edges_pods_and_one_line_above);
	tcase_add_test(cases, test_large_tree_is_a_tree);
	tcase_add_test(cases, test_switches_with_hosts_alone_have_a_line_above);
	tcase_add_test(cases, test_line_above_has_no_name_that_a_switch_has);
	tcase_add_test(cases, test_parts_that_are_not_connected_are_counted);
	tcase_add_test(cases, test_switch_without_named_hosts_is_in_no_line);
	tcase_add_test(cases, test_host_at_several_switches_counts_once);
	tcase_add_test(cases, test_aggregation_node_is_no_host);
	tcase_add_test(cases, test_host_names_end_at_the_first_blank);
	tcase_add_test(cases, test_switches_of_one_name_are_distinguished);
	return run_cases(cases);
}
