/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Multicast trees of random tables, compared with following each copy; and known
 * trees. */
#include "routes/multicast.h"

#include <string.h>
#include <time.h>

#include "tests/random.h"
#include "tests/sim/routed.h"
#include "tests/unit/run.h"

#define N_FABRICS 1000
#define N_MLIDS 4

static struct routed routed;
static struct triad_fabric *fabric;
static struct triad_routes_layout *layout;
static struct triad_routes_multicast found;
static uint16_t masks[ROUTED_SWITCHES][N_MLIDS]; /* ROUTED_PORTS is below 16 */

static void end(void)
{
	triad_routes_layout_free(layout);
	triad_fabric_unref(fabric);
	layout = NULL;
	fabric = NULL;
}

static uint32_t switch_node(unsigned sw)
{
	return triad_fabric_find_node(fabric, 0x1000 + 16 * sw);
}

static void find(void)
{
	end();
	fabric = routed_fabric(&routed);
	fabric->mft = malloc(sizeof(masks));
	memcpy(fabric->mft, masks, sizeof(masks));
	for (unsigned sw = 0; sw < routed.n_switches; sw++) {
		struct triad_fabric_node *node = &fabric->nodes[switch_node(sw)];

		node->mft = (struct triad_fabric_slice){
			.n = N_MLIDS, .at = (size_t)sw * N_MLIDS};
		node->mft_width = 1;
	}
	ck_assert_int_eq(triad_routes_layout_make(fabric, &layout), 0);
	ck_assert_int_eq(triad_routes_multicast_find(layout, &found), 0);
}

/* --- the oracle --- */

static bool leads(unsigned sw, unsigned port, unsigned mlid)
{
	const struct routed_far *far = &routed.far[sw][port];

	return masks[sw][mlid] >> port & 1 && far->kind == ROUTED_SWITCH &&
		!far->is_down && !routed.far[far->to][far->port].is_down;
}

/* Whether a copy that leaves through that port leaves through it a second time. */
static bool comes_again(unsigned sw, unsigned port, unsigned mlid)
{
	bool seen[ROUTED_SWITCHES][ROUTED_PORTS] = {{false}};
	unsigned queue[ROUTED_SWITCHES * ROUTED_PORTS][2], n = 0;

	queue[n][0] = sw;
	queue[n++][1] = port;
	for (unsigned i = 0; i < n; i++) {
		const struct routed_far *far = &routed.far[queue[i][0]][queue[i][1]];

		for (unsigned p = 1; p < ROUTED_PORTS; p++) {
			if (p == far->port || !leads(far->to, p, mlid))
				continue;
			if (far->to == sw && p == port)
				return true;
			if (seen[far->to][p])
				continue;
			seen[far->to][p] = true;
			queue[n][0] = far->to;
			queue[n++][1] = p;
		}
	}
	return false;
}

static bool loops(unsigned mlid)
{
	for (unsigned sw = 0; sw < routed.n_switches; sw++)
		for (unsigned p = 1; p < ROUTED_PORTS; p++)
			if (leads(sw, p, mlid) && comes_again(sw, p, mlid))
				return true;
	return false;
}

/* Checks that each hop of the loop leads to the next one. */
static void check_loop(
	const struct triad_routes_multicast_loop *loop, unsigned long seed)
{
	for (uint32_t i = 0; i < loop->n_hops; i++) {
		uint32_t port = loop->ports[i],
			 next = loop->ports[(i + 1) % loop->n_hops];
		const struct triad_fabric_port *far =
			&fabric->ports[fabric->ports[port].remote];
		unsigned sw = (unsigned)(fabric->ports[next].guid - 0x1000) / 16;

		ck_assert_msg(far->node == fabric->ports[next].node &&
				far->number != fabric->ports[next].number &&
				leads(sw, fabric->ports[next].number,
					loop->mlid - 0xc000u),
			"seed %lu: hop %u", seed, i);
	}
}

START_TEST(test_multicast_random_tables_equals_copies)
{
	unsigned n_all = 0, n_none = 0;

	for (unsigned i = 0; i < N_FABRICS; i++) {
		unsigned long seed = (unsigned long)time(NULL) * 100000 + i;
		uint64_t state = seed;
		unsigned n = 0, one_in;

		routed_random(&routed, &state);
		one_in = 1 + random_below(&state, 6);
		memset(masks, 0, sizeof(masks));
		for (unsigned sw = 0; sw < routed.n_switches; sw++)
			for (unsigned mlid = 0; mlid < N_MLIDS; mlid++)
				for (unsigned p = 0; p < ROUTED_PORTS; p++)
					masks[sw][mlid] |=
						(uint16_t)(!random_below(&state, one_in)
							<< p);
		for (unsigned mlid = 0; mlid < N_MLIDS; mlid++)
			n += loops(mlid);
		find();
		ck_assert_msg(found.n_looping == n, "seed %lu: %u loop, not %u", seed,
			found.n_looping, n);
		ck_assert_msg(found.n_shown == n, "seed %lu: shown", seed);
		for (uint32_t j = 0; j < found.n_shown; j++)
			check_loop(&found.loops[j], seed);
		n_all += n;
		n_none += !n;
	}
	ck_assert_uint_gt(n_all, N_FABRICS / 2);
	ck_assert_uint_gt(n_none, N_FABRICS / 10);
}
END_TEST

/* Makes a ring of three switches, each with a host on port 3.  A valid tree leaves out
 * one link. */
static void make_ring(void)
{
	routed_init(&routed, 3);
	for (unsigned i = 0; i < 3; i++)
		routed_link(&routed, i, (i + 1) % 3);
	for (unsigned i = 0; i < 3; i++)
		routed_add_host(&routed, i);
	memset(masks, 0, sizeof(masks));
	for (unsigned i = 0; i < 3; i++)
		masks[i][1] = 1u << 1 | 1u << 2 | 1u << 3;
}

/* Row: N7 */
START_TEST(test_multicast_ring_loops_until_a_link_is_left_out)
{
	make_ring();
	find();
	ck_assert_uint_eq(found.n_mlids, 1);
	ck_assert_uint_eq(found.n_looping, 1);
	ck_assert_uint_eq(found.loops[0].mlid, 0xc001);
	ck_assert_uint_eq(found.loops[0].n_hops, 3);
	/* Port 1 of switch 0 leads to port 1 of switch 1. */
	masks[0][1] &= (uint16_t) ~(1u << 1);
	masks[1][1] &= (uint16_t) ~(1u << 1);
	find();
	ck_assert_uint_eq(found.n_mlids, 1);
	ck_assert_uint_eq(found.n_looping, 0);
}
END_TEST

START_TEST(test_multicast_cut_table_is_reported)
{
	make_ring();
	find();
	ck_assert(!found.is_cut);
	fabric->nodes[switch_node(1)].mft_is_cut = true;
	ck_assert_int_eq(triad_routes_multicast_find(layout, &found), 0);
	ck_assert(found.is_cut);
}
END_TEST

START_TEST(test_group_crosses_a_link_that_either_end_sends_by)
{
	uint32_t port;

	routed_init(&routed, 3);
	routed_link(&routed, 0, 1);
	routed_link(&routed, 1, 2);
	memset(masks, 0, sizeof(masks));
	masks[1][2] = 1 << 1; /* to switch 0 */
	find();
	port = triad_fabric_find_port(fabric, switch_node(0), 1);
	ck_assert(triad_routes_multicast_crosses(layout, &port, 1, 0xc002));
	ck_assert(!triad_routes_multicast_crosses(layout, &port, 1, 0xc001));
	ck_assert(!triad_routes_multicast_crosses(
		layout, &port, 1, 0xc000 + N_MLIDS)); /* beyond the table */
	port = triad_fabric_find_port(fabric, switch_node(1), 1);
	ck_assert(triad_routes_multicast_crosses(layout, &port, 1, 0xc002));
	port = triad_fabric_find_port(fabric, switch_node(2), 1);
	ck_assert(!triad_routes_multicast_crosses(layout, &port, 1, 0xc002));
}
END_TEST

int main(void)
{
	TCase *cases = tcase_create("multicast");

	tcase_add_checked_fixture(cases, NULL, end);
	tcase_add_test(cases, test_multicast_random_tables_equals_copies);
	tcase_add_test(cases, test_multicast_ring_loops_until_a_link_is_left_out);
	tcase_add_test(cases, test_multicast_cut_table_is_reported);
	tcase_add_test(cases, test_group_crosses_a_link_that_either_end_sends_by);
	return run_cases(cases);
}
