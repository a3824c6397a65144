/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Checks of routes when memory is short: the result is ENOMEM, and no memory leaks. */
#include "routes/check.h"
#include "routes/path.h"
#include "routes/repair.h"
#include "routes/repair_multicast.h"
#include "routes/without.h"

#include <errno.h>

#include "tests/sim/routed.h"
#include "tests/unit/run.h"
#include "tests/unit/scarce_memory.h"

/* More allocations than are needed, so in the end none is refused. */
#define MAX_ALLOCATIONS 400

static const struct triad_routes_options options = {.sls = {.all = 1}};
static struct triad_fabric *fabric;

/* Begins with a ring, which has credit loops, and a multicast tree with a loop. */
static void begin(void)
{
	static struct routed routed;
	uint64_t seed = 1;

	routed_init(&routed, 4);
	for (unsigned i = 0; i < 4; i++)
		routed_link(&routed, i, (i + 1) % 4);
	for (unsigned i = 0; i < 8; i++)
		routed_add_host(&routed, i % 4);
	routed_route(&routed, &seed);
	fabric = routed_fabric(&routed);
	fabric->mft = calloc(1, sizeof(*fabric->mft));
	fabric->mft[0] = 6;
	for (uint32_t i = 0; i < fabric->n_nodes; i++)
		if (fabric->nodes[i].type == TRIAD_NODE_SWITCH) {
			fabric->nodes[i].mft.n = 1;
			fabric->nodes[i].mft_width = 1;
		}
}

static void end(void)
{
	triad_fabric_unref(fabric);
}

START_TEST(test_check_without_memory_fails_and_loses_nothing)
{
	struct triad_routes_check *check = NULL;
	unsigned n = 0;
	int error = ENOMEM;

	while (error && ++n < MAX_ALLOCATIONS) {
		refuse(n);
		error = triad_routes_check_make(fabric, &options, &check);
		ck_assert(refused() == !!error);
		ck_assert(!error || error == ENOMEM);
	}
	ck_assert_int_eq(error, 0);
	ck_assert_uint_gt(n, 20);
	ck_assert_uint_gt(check->credit.n_loops, 0);
	ck_assert_uint_eq(check->multicast.n_looping, 1);
	triad_routes_check_free(check);
}
END_TEST

static bool take_none(void *context, uint32_t from, uint32_t to, uint16_t lid)
{
	(void)context;
	(void)from;
	(void)to;
	(void)lid;
	return false;
}

/* Makes a check, then calls 'step' with it until no allocation is refused. */
static void check_step(int (*step)(const struct triad_routes_check *check))
{
	struct triad_routes_check *check = NULL;
	unsigned n = 0;
	int error = ENOMEM;

	ck_assert_int_eq(triad_routes_check_make(fabric, &options, &check), 0);
	while (error && ++n < MAX_ALLOCATIONS) {
		refuse(n);
		error = step(check);
		ck_assert(refused() == !!error);
		ck_assert(!error || error == ENOMEM);
	}
	ck_assert_int_eq(error, 0);
	ck_assert_uint_gt(n, 2);
	triad_routes_check_free(check);
}

static int move(const struct triad_routes_check *check)
{
	struct triad_routes_check *moved = NULL;
	int error = triad_routes_check_move(check, fabric, &moved);

	/* No assertion here: it would allocate memory itself. */
	if (!error && moved->credit.n_loops != check->credit.n_loops)
		error = EINVAL;
	triad_routes_check_free(moved);
	return error;
}

static int be_without(const struct triad_routes_check *check)
{
	struct triad_routes_without *without = NULL;
	const uint32_t port = 1;
	int error = triad_routes_without_make(check, &port, 1, &without);

	triad_routes_without_free(without);
	return error;
}

static int repair_multicast(const struct triad_routes_check *check)
{
	struct triad_routes_repair_multicast *made = NULL;
	const uint32_t port = 1;
	int error = triad_routes_repair_multicast_make(check->layout, &port, 1, &made);

	if (!error && !made->n_changes)
		error = EINVAL;
	triad_routes_repair_multicast_free(made);
	return error;
}

/* The group's tree is the ring's, but for one link. */
static void open_multicast_ring(void)
{
	triad_fabric_unref(fabric);
	begin();
	free(fabric->mft);
	fabric->mft = malloc(4 * sizeof(*fabric->mft));
	for (uint32_t i = 0, n = 0; i < fabric->n_nodes; i++)
		if (fabric->nodes[i].type == TRIAD_NODE_SWITCH) {
			fabric->mft[n] = fabric->nodes[i].guid == 0x1000 ? 2
				: fabric->nodes[i].guid == 0x1030        ? 2
									 : 6;
			fabric->nodes[i].mft.at = n++;
		}
}

static int repair(const struct triad_routes_check *check)
{
	struct triad_routes_repair *made = NULL;
	const uint32_t port = 1;
	int error = triad_routes_repair_make(check, &port, 1, &made);

	triad_routes_repair_free(made);
	return error;
}

static int list(const struct triad_routes_check *check)
{
	return triad_routes_over(check->layout, 1, take_none, NULL);
}

static int look_for_credit(const struct triad_routes_check *check)
{
	struct triad_routes_credit credit;

	return triad_routes_check_credit(check->layout, &options, &credit);
}

START_TEST(test_steps_without_memory_fail_and_lose_nothing)
{
	check_step(move);
	check_step(be_without);
	check_step(repair);
	open_multicast_ring();
	check_step(repair_multicast);
	check_step(list);
	check_step(look_for_credit);
}
END_TEST

int main(void)
{
	TCase *cases = tcase_create("memory");

	tcase_add_checked_fixture(cases, begin, end);
	tcase_add_test(cases, test_check_without_memory_fails_and_loses_nothing);
	tcase_add_test(cases, test_steps_without_memory_fail_and_lose_nothing);
	return run_cases(cases);
}
