/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* What is ticked off while the cables of the model in model.h are moved. */
#include "cabling/progress.h"

#include <errno.h>
#include <inttypes.h>

#include "tests/unit/cabling/model.h"
#include "tests/unit/mentions.h"
#include "tests/unit/scarce_memory.h"

static struct triad_cabling_progress progress;

static void set_up_progress(void)
{
	set_up();
	progress = (struct triad_cabling_progress){0};
}

static void tear_down_progress(void)
{
	triad_cabling_progress_clear(&progress);
	tear_down();
}

static int take(const struct triad_cabling_cable *cables)
{
	struct triad_cabling_view view;

	triad_cabling_result_free(result);
	result = NULL;
	triad_fabric_unref(fabric);
	build_fabric();
	ck_assert_int_eq(
		triad_cabling_compare(plan, fabric, cables, &diags, &result), 0);
	view = (struct triad_cabling_view){plan, fabric, result};
	return triad_cabling_progress_take(&progress, &view, cables);
}

static void look(void)
{
	ck_assert_int_eq(take(NULL), 0);
}

static void expect_task(uint32_t i, enum triad_cabling_kind kind,
	enum triad_cabling_task_state state, bool is_news)
{
	ck_assert_uint_lt(i, progress.n);
	ck_assert_uint_eq(progress.tasks[i].number, i + 1);
	ck_assert_str_eq(triad_cabling_kind_name(progress.tasks[i].kind),
		triad_cabling_kind_name(kind));
	ck_assert_int_eq(progress.tasks[i].state, state);
	ck_assert_int_eq(progress.tasks[i].is_news, is_news);
}

/* A leaf with four hosts, a spine, and ports that are free. */
static void build_leaf(void)
{
	char name[32];

	add_node("leaf", 8, false);
	add_node("spine", 8, false);
	connect(at(0, 8), at(1, 8));
	for (unsigned i = 0; i < 4; i++) {
		snprintf(name, sizeof(name), "host-%u", i);
		connect(at(0, i + 1), at(add_node(name, 1, true), 1));
	}
	plan_model();
}

/* --- random trees ------------------------------------------------------ */

static uint32_t place(const struct triad_cabling_task *task, uint32_t i)
{
	return (uint32_t)(task->places[i].guid - GUID) * MAX_PORTS +
		task->places[i].number - 1;
}

static void hold_and_move(const struct triad_cabling_task *ring)
{
	uint32_t held = model.far[place(ring, 0)];

	disconnect(place(ring, 0));
	for (uint32_t i = 1; i < ring->n_places; i++)
		move_end(place(ring, i), place(ring, i - 1));
	connect(place(ring, ring->n_places - 1), held);
}

/* Whether the ports that it puts ends in are free. */
static bool is_possible(const struct triad_cabling_task *task)
{
	if (task->kind == TRIAD_CABLING_MOVE)
		return model.far[place(task, 1)] == FREE;
	return task->kind != TRIAD_CABLING_PUT ||
		(model.far[place(task, 0)] == FREE &&
			model.far[place(task, 1)] == FREE);
}

/* Any task that is open and can be done. */
static void do_one(void)
{
	uint32_t i = random_below(&seed, progress.n), n = 0;
	const struct triad_cabling_task *task;

	while (progress.tasks[i].state != TRIAD_CABLING_OPEN ||
		!is_possible(&progress.tasks[i])) {
		i = (i + 1) % progress.n;
		ck_assert_uint_lt(n++, progress.n);
	}
	task = &progress.tasks[i];
	if (task->kind == TRIAD_CABLING_MOVE)
		move_end(place(task, 0), place(task, 1));
	else if (task->kind == TRIAD_CABLING_SWAP)
		swap_ends(place(task, 0), place(task, 1));
	else if (task->kind == TRIAD_CABLING_PUT)
		connect(place(task, 0), place(task, 1));
	else if (task->kind == TRIAD_CABLING_TAKE_OUT)
		disconnect(place(task, 0));
	else
		hold_and_move(task);
}

static void run_tree(uint64_t run)
{
	unsigned n_tries, n_done = 0;
	uint32_t n;

	seed = run;
	build_tree();
	plan_model();
	n_tries = random_below(&seed, 12);
	for (unsigned i = 0; i < n_tries; i++)
		(void)miscable();
	look();
	n = progress.n;
	ck_assert_uint_eq(progress.n_open, n);
	while (result->n_items) {
		do_one();
		look();
		ck_assert_msg(progress.n == n && progress.n_done == ++n_done &&
				progress.n_open == n - n_done,
			"run %" PRIu64 ": %u open, %u done of %u", run, progress.n_open,
			progress.n_done, progress.n);
	}
	ck_assert_uint_eq(n_done, n);
}

START_TEST(test_progress_ticks_off_each_item_that_is_carried_out_and_no_other)
{
	for (uint64_t run = 1; run <= 2000; run++) {
		run_tree(run);
		tear_down_progress();
		set_up_progress();
	}
}
END_TEST

/* --- one at a time ----------------------------------------------------- */

/* A host whose cable is out has left the fabric: nothing is known of it. */
START_TEST(test_progress_half_of_a_swap_is_not_done)
{
	build_leaf();
	swap_ends(at(0, 1), at(0, 2));
	look();
	expect_task(0, TRIAD_CABLING_SWAP, TRIAD_CABLING_OPEN, true);
	disconnect(at(0, 1));
	disconnect(at(0, 2));
	model.is_lost[2] = model.is_lost[3] = true;
	look();
	ck_assert_uint_eq(progress.n, 1);
	expect_task(0, TRIAD_CABLING_SWAP, TRIAD_CABLING_OPEN, false);
	model.is_lost[2] = false;
	connect(at(0, 1), at(2, 1));
	look();
	ck_assert_uint_eq(progress.n, 1);
	expect_task(0, TRIAD_CABLING_SWAP, TRIAD_CABLING_OPEN, false);
	model.is_lost[3] = false;
	connect(at(0, 2), at(3, 1));
	look();
	expect_task(0, TRIAD_CABLING_SWAP, TRIAD_CABLING_IS_DONE, true);
	look();
	expect_task(0, TRIAD_CABLING_SWAP, TRIAD_CABLING_IS_DONE, false);
}
END_TEST

START_TEST(test_progress_another_mistake_replaces_a_task)
{
	build_leaf();
	move_end(at(0, 1), at(0, 6));
	look();
	expect_task(0, TRIAD_CABLING_MOVE, TRIAD_CABLING_OPEN, true);
	move_end(at(0, 6), at(0, 7));
	look();
	ck_assert_uint_eq(progress.n, 2);
	expect_task(0, TRIAD_CABLING_MOVE, TRIAD_CABLING_REPLACED, true);
	expect_task(1, TRIAD_CABLING_MOVE, TRIAD_CABLING_OPEN, true);
	assert_mentions(progress.tasks[1].text, "leaf:7 leaf:1");
	move_end(at(0, 7), at(0, 1));
	look();
	ck_assert_uint_eq(progress.n_open + progress.n_done, 1);
	expect_task(1, TRIAD_CABLING_MOVE, TRIAD_CABLING_IS_DONE, true);
}
END_TEST

START_TEST(test_progress_what_was_done_and_is_undone_is_a_new_task)
{
	build_leaf();
	disconnect(at(0, 8));
	look();
	connect(at(0, 8), at(1, 8));
	look();
	expect_task(0, TRIAD_CABLING_PUT, TRIAD_CABLING_IS_DONE, true);
	disconnect(at(0, 8));
	look();
	ck_assert_uint_eq(progress.n, 2);
	expect_task(0, TRIAD_CABLING_PUT, TRIAD_CABLING_IS_DONE, false);
	expect_task(1, TRIAD_CABLING_PUT, TRIAD_CABLING_OPEN, true);
}
END_TEST

/* Somebody may have disabled the ports; the cable is still there. */
START_TEST(test_progress_cable_behind_disabled_ports_is_not_out)
{
	build_leaf();
	connect(at(0, 7), at(1, 7));
	look();
	expect_task(0, TRIAD_CABLING_TAKE_OUT, TRIAD_CABLING_OPEN, true);
	disconnect(at(0, 7));
	model.phys_state[at(0, 7)] = model.phys_state[at(1, 7)] = TRIAD_PHYS_DISABLED;
	look();
	expect_task(0, TRIAD_CABLING_TAKE_OUT, TRIAD_CABLING_OPEN, false);
	model.phys_state[at(0, 7)] = model.phys_state[at(1, 7)] = 0;
	look();
	expect_task(0, TRIAD_CABLING_TAKE_OUT, TRIAD_CABLING_IS_DONE, true);
}
END_TEST

/* The cable that was put in may be as long as the one before. */
START_TEST(test_progress_replaced_cable_is_done_when_its_length_is_known)
{
	static struct triad_cabling_cable cables[32];

	build_leaf();
	for (uint32_t i = 0; i < plan->n_links; i++)
		plan->links[i].length_dm = 30;
	for (unsigned i = 0; i < 32; i++)
		cables[i].length_dm = i == 7 || i == 15 ? 50 : 30;
	ck_assert_int_eq(take(cables), 0);
	ck_assert_uint_eq(progress.n, 1);
	expect_task(0, TRIAD_CABLING_REPLACE, TRIAD_CABLING_OPEN, true);
	cables[7].length_dm = cables[15].length_dm = 0;
	ck_assert_int_eq(take(cables), 0);
	expect_task(0, TRIAD_CABLING_REPLACE, TRIAD_CABLING_OPEN, false);
	cables[15].length_dm = 30;
	ck_assert_int_eq(take(cables), 0);
	expect_task(0, TRIAD_CABLING_REPLACE, TRIAD_CABLING_IS_DONE, true);
}
END_TEST

/* A ring's steps are told with it; one of them makes something else of the rest. */
START_TEST(test_progress_ring_is_done_as_a_whole)
{
	uint32_t held;

	build_leaf();
	swap_ends(at(0, 1), at(0, 2));
	swap_ends(at(0, 2), at(0, 3));
	look();
	ck_assert_uint_eq(progress.n, 1);
	expect_task(0, TRIAD_CABLING_RING, TRIAD_CABLING_OPEN, true);
	ck_assert_ptr_nonnull(strchr(progress.tasks[0].text, '\n'));
	held = port_at(result->steps[result->items[0].first_step]);
	model.is_lost[model.far[held] / MAX_PORTS] = true;
	look();
	ck_assert_uint_eq(progress.n_done, 0);
	model.is_lost[model.far[held] / MAX_PORTS] = false;
	look();
	carry_out_ring(&result->items[0]);
	look();
	ck_assert_uint_eq(progress.n_open, 0);
}
END_TEST

/* Two cables are missing, and come crosswise; one comes to a wrong port. */
START_TEST(test_progress_cables_put_in_wrong_are_told)
{
	add_node("leaf", 8, false);
	add_node("spine", 8, false);
	for (unsigned i = 1; i <= 8; i++)
		connect(at(0, i), at(1, i));
	disconnect(at(0, 1));
	plan_model();
	disconnect(at(0, 7));
	disconnect(at(0, 8));
	look();
	ck_assert_uint_eq(progress.n, 2);
	expect_task(0, TRIAD_CABLING_PUT, TRIAD_CABLING_OPEN, true);
	connect(at(0, 7), at(1, 8));
	connect(at(0, 8), at(1, 7));
	look();
	expect_task(0, TRIAD_CABLING_PUT, TRIAD_CABLING_REPLACED, true);
	expect_task(1, TRIAD_CABLING_PUT, TRIAD_CABLING_REPLACED, true);
	expect_task(2, TRIAD_CABLING_SWAP, TRIAD_CABLING_OPEN, true);
	disconnect(at(0, 7));
	disconnect(at(0, 8));
	connect(at(0, 7), at(1, 7));
	look();
	expect_task(2, TRIAD_CABLING_SWAP, TRIAD_CABLING_REPLACED, true);
	expect_task(3, TRIAD_CABLING_PUT, TRIAD_CABLING_OPEN, true);
	connect(at(0, 8), at(1, 1));
	look();
	expect_task(3, TRIAD_CABLING_PUT, TRIAD_CABLING_REPLACED, true);
	expect_task(4, TRIAD_CABLING_MOVE, TRIAD_CABLING_OPEN, true);
	move_end(at(1, 1), at(1, 8));
	look();
	ck_assert_uint_eq(progress.n_open, 0);
}
END_TEST

START_TEST(test_progress_cable_to_a_switch_that_is_off_is_not_out)
{
	build_leaf();
	add_node("new", 4, false);
	connect(at(0, 7), at(6, 1));
	look();
	expect_task(0, TRIAD_CABLING_TAKE_OUT, TRIAD_CABLING_OPEN, true);
	model.is_lost[6] = true;
	look();
	expect_task(0, TRIAD_CABLING_TAKE_OUT, TRIAD_CABLING_OPEN, false);
	model.is_lost[6] = false;
	disconnect(at(0, 7));
	look();
	expect_task(0, TRIAD_CABLING_TAKE_OUT, TRIAD_CABLING_IS_DONE, true);
}
END_TEST

/* The plan has names; a host gets another adapter. */
START_TEST(test_progress_node_that_is_replaced_ends_its_tasks)
{
	build_leaf();
	for (uint32_t i = 0; i < plan->n_links; i++)
		for (unsigned end = 0; end < 2; end++)
			if (plan->links[i].ends[end].guid == GUID + 2)
				plan->links[i].ends[end] = end_by_name(at(2, 1));
	move_end(at(0, 1), at(0, 6));
	look();
	expect_task(0, TRIAD_CABLING_MOVE, TRIAD_CABLING_OPEN, true);
	disconnect(at(0, 6));
	model.is_lost[2] = true;
	connect(at(0, 1), at(add_node("host-0", 1, true), 1));
	look();
	ck_assert_uint_eq(result->n_items, 0);
	expect_task(0, TRIAD_CABLING_MOVE, TRIAD_CABLING_IS_DONE, true);
}
END_TEST

START_TEST(test_progress_short_of_memory_says_so)
{
	struct triad_cabling_view view;
	int error = ENOMEM;
	unsigned n = 0;

	build_leaf();
	swap_ends(at(0, 1), at(0, 2));
	disconnect(at(0, 8));
	look();
	view = (struct triad_cabling_view){plan, fabric, result};
	while (error) {
		triad_cabling_progress_clear(&progress);
		refuse(++n);
		error = triad_cabling_progress_take(&progress, &view, NULL);
		ck_assert_int_eq(error, refused() ? ENOMEM : 0);
	}
	ck_assert_uint_gt(n, 4);
	ck_assert_uint_eq(progress.n, 2);
}
END_TEST

int main(void)
{
	TCase *cases = tcase_create("progress");

	tcase_add_checked_fixture(cases, set_up_progress, tear_down_progress);
	tcase_add_test(cases,
		test_progress_ticks_off_each_item_that_is_carried_out_and_no_other);
	tcase_add_test(cases, test_progress_half_of_a_swap_is_not_done);
	tcase_add_test(cases, test_progress_another_mistake_replaces_a_task);
	tcase_add_test(cases, test_progress_what_was_done_and_is_undone_is_a_new_task);
	tcase_add_test(cases, test_progress_cable_behind_disabled_ports_is_not_out);
	tcase_add_test(
		cases, test_progress_replaced_cable_is_done_when_its_length_is_known);
	tcase_add_test(cases, test_progress_ring_is_done_as_a_whole);
	tcase_add_test(cases, test_progress_cables_put_in_wrong_are_told);
	tcase_add_test(cases, test_progress_cable_to_a_switch_that_is_off_is_not_out);
	tcase_add_test(cases, test_progress_node_that_is_replaced_ends_its_tasks);
	tcase_add_test(cases, test_progress_short_of_memory_says_so);
	return run_cases(cases);
}
