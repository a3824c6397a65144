/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "portmgr/plan/agenda.h"

#include <errno.h>
#include <string.h>

#include "tests/unit/run.h"
#include "tests/unit/scarce_memory.h"
#include "triad/clock.h"

#define MAX_ITEMS 64
#define NODE 0x200
#define S TRIAD_US_PER_S

static struct triad_agenda *agenda;
static struct triad_plan plan;
static struct triad_plan_item items[MAX_ITEMS];
static struct triad_agenda_conf conf;
static const struct triad_agenda_entry *entry;
static uint64_t until_us;

static void begin(void)
{
	conf = (struct triad_agenda_conf){
		.max_actions = 3,
		.grace_us = 60 * S,
		.drain_us = 30 * S,
		.quiet_bps = 1000,
		.name_grace_us = 120 * S,
	};
	agenda = triad_agenda_new();
	triad_agenda_configure(agenda, &conf);
	plan = (struct triad_plan){.items = items};
	entry = NULL;
}

static void end(void)
{
	triad_agenda_free(agenda);
}

/* Appends an item to the plan.  The first item is about port 1, the second about port
 * 2, and so on. */
static struct triad_plan_item *add(
	enum triad_plan_kind kind, enum triad_port_reason reason)
{
	struct triad_plan_item *item = &items[plan.n_items++];

	*item = (struct triad_plan_item){
		.node_guid = NODE,
		.number = (uint8_t)plan.n_items,
		.remote_guid = 0x100 + plan.n_items,
		.kind = (uint8_t)kind,
		.reason = (uint8_t)reason,
	};
	return item;
}

static void add_enables(unsigned n)
{
	while (n--)
		add(TRIAD_PLAN_ENABLE, TRIAD_REASON_EXPECTED);
}

/* Adds an item whose active link must be warned about before it is disabled. */
static struct triad_plan_item *add_gentle(void)
{
	struct triad_plan_item *item = add(TRIAD_PLAN_DISABLE, TRIAD_REASON_EXPECTED);

	item->is_active = true;
	return item;
}

/* Gives the agenda the plan of another sweep. */
static void look(uint64_t now_s)
{
	plan.fabric++;
	ck_assert_int_eq(triad_agenda_look(agenda, &plan, now_s * S), 0);
}

static enum triad_agenda_kind next(uint64_t now_s)
{
	return triad_agenda_next(agenda, now_s * S, &entry, &until_us);
}

/* Checks that nothing is due before 'until_s'. */
static void waits(uint64_t now_s, uint64_t until_s)
{
	ck_assert_int_eq(next(now_s), TRIAD_AGENDA_WAIT);
	ck_assert_uint_eq(until_us, until_s == UINT64_MAX ? UINT64_MAX : until_s * S);
}

static void wants(uint64_t now_s, enum triad_agenda_kind kind, unsigned number)
{
	ck_assert_int_eq(next(now_s), kind);
	ck_assert_uint_eq(entry->number, number);
}

static void done(unsigned number, bool worked, uint64_t now_s)
{
	const struct triad_agenda_entry *found =
		triad_agenda_find(agenda, NODE, (uint8_t)number);

	triad_agenda_done(agenda, NODE, (uint8_t)number, worked,
		found && found->takes_set, now_s * S);
}

static void not_sent(unsigned number, uint64_t now_s)
{
	triad_agenda_done(agenda, NODE, (uint8_t)number, false, false, now_s * S);
}

static void traffic(unsigned number, uint64_t bps, uint64_t now_s)
{
	triad_agenda_traffic(agenda, NODE, (uint8_t)number, bps, now_s * S);
}

static const char *state_of(unsigned number)
{
	const struct triad_agenda_entry *found =
		triad_agenda_find(agenda, NODE, (uint8_t)number);

	return found ? triad_agenda_state_name(found->state) : "none";
}

static struct triad_agenda_status status(void)
{
	struct triad_agenda_status found;

	triad_agenda_status(agenda, &found);
	return found;
}

START_TEST(test_agenda_empty_waits_for_a_plan)
{
	waits(0, UINT64_MAX);
	look(1);
	waits(1, UINT64_MAX);
	ck_assert_uint_eq(status().n, 0);
	ck_assert_ptr_null(triad_agenda_find(agenda, NODE, 1));
	triad_agenda_free(NULL);
}
END_TEST

START_TEST(test_agenda_items_done_in_order)
{
	add_enables(1);
	add(TRIAD_PLAN_DISABLE, TRIAD_REASON_MISWIRED)->is_active = true;
	add(TRIAD_PLAN_DISABLE, TRIAD_REASON_EXPECTED);
	look(5);
	ck_assert_uint_eq(status().n, 3);
	ck_assert_uint_eq(status().n_open, 3);
	wants(5, TRIAD_AGENDA_ACT, 1);
	wants(5, TRIAD_AGENDA_ACT, 1);
	done(1, true, 5);
	ck_assert_str_eq(state_of(1), "done");
	wants(5, TRIAD_AGENDA_ACT, 2);
	done(2, true, 5);
	wants(6, TRIAD_AGENDA_ACT, 3);
	done(3, true, 6);
	/* The items stay done until the next sweep, however late that is. */
	waits(100, UINT64_MAX);
	ck_assert_uint_eq(status().n_done, 3);
	plan.n_items = 0;
	look(101);
	ck_assert_uint_eq(status().n_done, 0);
	ck_assert_str_eq(state_of(1), "none");
}
END_TEST

START_TEST(test_agenda_notes_and_guarded_left_out)
{
	add(TRIAD_PLAN_NOTE, 0)->note = TRIAD_NOTE_WIDTH;
	add(TRIAD_PLAN_ENABLE, TRIAD_REASON_EXPECTED)->guard = TRIAD_GUARD_SPLIT;
	add(TRIAD_PLAN_DISABLE, TRIAD_REASON_MISWIRED)->guard = TRIAD_GUARD_SPLIT;
	items[2].is_overridden = true;
	look(0);
	ck_assert_uint_eq(status().n, 1);
	wants(0, TRIAD_AGENDA_ACT, 3);
}
END_TEST

START_TEST(test_agenda_more_than_max_stopped_until_approved)
{
	add_enables(4);
	look(0);
	ck_assert(status().is_stopped);
	ck_assert_uint_eq(status().n_open, 4);
	ck_assert_uint_eq(status().n_stops, 1);
	waits(0, UINT64_MAX);
	look(10);
	ck_assert_uint_eq(status().n_stops, 1);
	/* The user approves one; the three others are within the limit. */
	ck_assert(triad_agenda_approve(agenda, NODE, 2));
	ck_assert(triad_agenda_approve(agenda, NODE, 2));
	ck_assert(!triad_agenda_approve(agenda, NODE, 9));
	ck_assert(!status().is_stopped);
	ck_assert_uint_eq(status().n_open, 3);
	wants(10, TRIAD_AGENDA_ACT, 1);
	/* A further item exceeds the limit again: only the approved one is done. */
	add_enables(1);
	look(20);
	ck_assert(status().is_stopped);
	ck_assert_uint_eq(status().n_stops, 1);
	wants(20, TRIAD_AGENDA_ACT, 2);
	done(2, true, 20);
	waits(20, UINT64_MAX);
	ck_assert_uint_eq(triad_agenda_approve_all(agenda), 4);
	ck_assert_uint_eq(status().n_open, 0);
	/* Even approved items are done three at a time between two sweeps. */
	wants(20, TRIAD_AGENDA_ACT, 1);
	done(1, true, 20);
	wants(20, TRIAD_AGENDA_ACT, 3);
	done(3, true, 20);
	waits(20, UINT64_MAX);
	ck_assert_uint_eq(status().n_done, 3);
	look(30);
	wants(30, TRIAD_AGENDA_ACT, 1);
}
END_TEST

START_TEST(test_agenda_planned_anew_without_sweep_no_more_done)
{
	add_enables(4);
	look(0);
	triad_agenda_approve_all(agenda);
	for (unsigned i = 1; i <= 3; i++) {
		wants(0, TRIAD_AGENDA_ACT, i);
		done(i, true, 0);
	}
	waits(0, UINT64_MAX);
	ck_assert_int_eq(triad_agenda_look(agenda, &plan, S), 0);
	ck_assert_uint_eq(status().n_done, 3);
	waits(1, UINT64_MAX);
	look(2);
	wants(2, TRIAD_AGENDA_ACT, 4);
}
END_TEST

/* Only a Set requests a sweep, and only a sweep resets the count.  If attempts without
 * a Set counted, nothing would ever reset it. */
START_TEST(test_agenda_attempts_without_a_set_use_up_no_actions)
{
	uint64_t now_s = 0;

	add_enables(1);
	look(0);
	for (unsigned i = 0; i < 20; i++) {
		wants(now_s, TRIAD_AGENDA_ACT, 1);
		not_sent(1, now_s);
		ck_assert_int_eq(next(now_s), TRIAD_AGENDA_WAIT);
		ck_assert_uint_ne(until_us, UINT64_MAX);
		now_s = until_us / S;
	}
	ck_assert_uint_eq(status().n_done, 0);
}
END_TEST

START_TEST(test_agenda_cleared_nothing_approved)
{
	add_enables(4);
	look(0);
	triad_agenda_approve_all(agenda);
	triad_agenda_clear(agenda);
	ck_assert_uint_eq(status().n, 0);
	waits(0, UINT64_MAX);
	look(1);
	ck_assert(status().is_stopped);
}
END_TEST

START_TEST(test_agenda_approval_ends_with_its_item)
{
	add_enables(4);
	look(0);
	triad_agenda_approve_all(agenda);
	ck_assert(!status().is_stopped);
	look(1);
	ck_assert(!status().is_stopped);
	plan.n_items = 0;
	look(2);
	add_enables(5);
	look(3);
	ck_assert(status().is_stopped);
	waits(3, UINT64_MAX);
	ck_assert(triad_agenda_approve(agenda, NODE, 2));
	ck_assert(status().is_stopped);
	wants(3, TRIAD_AGENDA_ACT, 2);
	ck_assert_uint_eq(status().n_stops, 2);
}
END_TEST

START_TEST(test_agenda_limit_changed_acts_at_once)
{
	add_enables(5);
	look(0);
	waits(0, UINT64_MAX);
	conf.max_actions = 5;
	triad_agenda_configure(agenda, &conf);
	ck_assert(!status().is_stopped);
	wants(0, TRIAD_AGENDA_ACT, 1);
}
END_TEST

START_TEST(test_agenda_tests_without_set_not_counted)
{
	for (unsigned i = 0; i < 10; i++)
		add(TRIAD_PLAN_TEST, TRIAD_REASON_EXPECTED);
	add(TRIAD_PLAN_TEST, TRIAD_REASON_EXPECTED)->is_active = true;
	look(0);
	ck_assert_uint_eq(status().n_open, 1);
	for (unsigned i = 1; i <= 11; i++) {
		wants(0, TRIAD_AGENDA_ACT, i);
		done(i, true, 0);
	}
	ck_assert_uint_eq(status().n_done, 1);
	/* Tests go on although the limit stopped the other items. */
	plan.n_items = 1;
	add_enables(4);
	look(10);
	ck_assert(status().is_stopped);
	wants(10, TRIAD_AGENDA_ACT, 1);
}
END_TEST

START_TEST(test_agenda_active_link_warned_then_watched)
{
	add_gentle();
	look(100);
	ck_assert_str_eq(state_of(1), "grace");
	wants(100, TRIAD_AGENDA_WARN, 1);
	triad_agenda_warned(agenda, NODE, 1, 101 * S);
	waits(101, 161);
	look(120);
	waits(120, 161);
	wants(161, TRIAD_AGENDA_TRAFFIC, 1);
	traffic(1, 1001, 162);
	ck_assert_str_eq(state_of(1), "draining");
	ck_assert_uint_eq(entry->traffic_bps, 1001);
	waits(162, 164);
	wants(164, TRIAD_AGENDA_TRAFFIC, 1);
	traffic(1, 1000, 164);
	ck_assert_str_eq(state_of(1), "due");
	wants(164, TRIAD_AGENDA_ACT, 1);
}
END_TEST

START_TEST(test_agenda_traffic_waited_for_no_longer_than_limit)
{
	add_gentle();
	look(0);
	wants(0, TRIAD_AGENDA_WARN, 1);
	triad_agenda_warned(agenda, NODE, 1, 10 * S);
	wants(70, TRIAD_AGENDA_TRAFFIC, 1);
	traffic(1, 5000, 70);
	traffic(1, 5000, 99);
	/* The limit ends the wait: it's one second away, the next look would be two. */
	waits(99, 100);
	traffic(1, 5000, 100);
	wants(100, TRIAD_AGENDA_ACT, 1);
}
END_TEST

START_TEST(test_agenda_unknown_traffic_counts_as_small)
{
	add_gentle();
	look(0);
	triad_agenda_warned(agenda, NODE, 1, 0);
	wants(60, TRIAD_AGENDA_TRAFFIC, 1);
	traffic(1, UINT64_MAX, 60);
	wants(60, TRIAD_AGENDA_ACT, 1);
}
END_TEST

START_TEST(test_agenda_link_down_meanwhile_due)
{
	struct triad_plan_item *item = add_gentle();

	look(0);
	triad_agenda_warned(agenda, NODE, 1, 0);
	item->is_active = false;
	item->remote_guid = 0;
	look(10);
	ck_assert_str_eq(state_of(1), "due");
	wants(10, TRIAD_AGENDA_ACT, 1);
}
END_TEST

START_TEST(test_agenda_link_active_meanwhile_warned)
{
	struct triad_plan_item *item = add(TRIAD_PLAN_DISABLE, TRIAD_REASON_EXPECTED);

	look(0);
	wants(0, TRIAD_AGENDA_ACT, 1);
	item->is_active = true;
	/* The warning comes even if the SM doesn't know the far end. */
	item->remote_guid = 0;
	look(10);
	wants(10, TRIAD_AGENDA_WARN, 1);
	triad_agenda_warned(agenda, NODE, 1, 10 * S);
	wants(70, TRIAD_AGENDA_TRAFFIC, 1);
	traffic(1, 0, 70);
	look(71);
	/* The agenda doesn't warn a second time. */
	wants(71, TRIAD_AGENDA_ACT, 1);
	done(1, false, 71);
	look(72);
	ck_assert_str_eq(state_of(1), "again");
}
END_TEST

START_TEST(test_agenda_tried_in_vain_then_active_warned_later)
{
	struct triad_plan_item *item = add(TRIAD_PLAN_DISABLE, TRIAD_REASON_EXPECTED);

	look(0);
	done(1, false, 0);
	item->is_active = true;
	look(1);
	waits(1, 5);
	wants(5, TRIAD_AGENDA_WARN, 1);
}
END_TEST

START_TEST(test_agenda_late_answers_ignored)
{
	struct triad_plan_item *item = add_gentle();

	look(0);
	traffic(1, 0, 0); /* before the warning */
	wants(0, TRIAD_AGENDA_WARN, 1);
	item->kind = TRIAD_PLAN_ENABLE;
	look(1);
	done(1, true, 1);
	traffic(1, 0, 2);
	triad_agenda_warned(agenda, NODE, 1, 2 * S);
	ck_assert_str_eq(state_of(1), "done");
	waits(3, UINT64_MAX);
	/* The agenda also ignores answers about a port that it has no item for. */
	done(7, true, 3);
	traffic(7, 0, 3);
	triad_agenda_warned(agenda, NODE, 7, 3 * S);
	ck_assert_uint_eq(status().n_done, 1);
}
END_TEST

START_TEST(test_agenda_other_name_given_time)
{
	struct triad_plan_item *item = add(TRIAD_PLAN_DISABLE, TRIAD_REASON_MISWIRED);

	item->may_be_name = true;
	look(0);
	ck_assert_str_eq(state_of(1), "name");
	waits(0, 120);
	look(60);
	waits(60, 120);
	/* The wait starts again for another component. */
	item->remote_guid++;
	look(100);
	waits(100, 220);
	wants(220, TRIAD_AGENDA_ACT, 1);
}
END_TEST

START_TEST(test_agenda_more_than_the_name_is_due)
{
	struct triad_plan_item *item = add(TRIAD_PLAN_DISABLE, TRIAD_REASON_MISWIRED);

	item->may_be_name = true;
	look(0);
	item->may_be_name = false;
	look(10);
	ck_assert_str_eq(state_of(1), "due");
	wants(10, TRIAD_AGENDA_ACT, 1);
	/* When only the name differs again, the agenda waits again. */
	item->may_be_name = true;
	look(20);
	waits(20, 140);
}
END_TEST

START_TEST(test_agenda_tried_in_vain_again_later_each_time)
{
	static const uint64_t waits_s[] = {5, 10, 20, 40, 80, 160, 320, 600, 600, 600};
	uint64_t now_s = 0;

	add_enables(1);
	look(0);
	for (unsigned i = 0; i < sizeof(waits_s) / sizeof(waits_s[0]); i++) {
		wants(now_s, TRIAD_AGENDA_ACT, 1);
		done(1, i % 2, now_s);
		look(now_s);
		ck_assert_str_eq(state_of(1), "again");
		waits(now_s, now_s + waits_s[i]);
		now_s += waits_s[i];
	}
	ck_assert_uint_eq(triad_agenda_find(agenda, NODE, 1)->n_tried, 10);
}
END_TEST

START_TEST(test_agenda_tried_in_vain_without_sweep_again)
{
	add_enables(2);
	look(0);
	done(1, false, 0);
	wants(0, TRIAD_AGENDA_ACT, 2);
	done(2, true, 1);
	waits(1, 5);
	wants(5, TRIAD_AGENDA_ACT, 1);
	/* A failed attempt counts, too. */
	ck_assert_uint_eq(status().n_done, 2);
	done(1, false, 5);
	waits(20, UINT64_MAX);
}
END_TEST

START_TEST(test_agenda_item_that_comes_back_begins_anew)
{
	struct triad_plan_item *item = add_gentle();

	look(0);
	triad_agenda_warned(agenda, NODE, 1, 0);
	plan.n_items = 0;
	look(50);
	ck_assert_str_eq(state_of(1), "none");
	waits(60, UINT64_MAX);
	plan.n_items = 1;
	look(61);
	wants(61, TRIAD_AGENDA_WARN, 1);
	/* With another reason the item begins anew but stays approved. */
	triad_agenda_approve_all(agenda);
	item->reason = TRIAD_REASON_MISWIRED;
	look(62);
	wants(62, TRIAD_AGENDA_ACT, 1);
	ck_assert(entry->is_approved);
	ck_assert_uint_eq(entry->since_us, 62 * S);
	item->kind = TRIAD_PLAN_ENABLE;
	look(63);
	wants(63, TRIAD_AGENDA_ACT, 1);
	ck_assert(!entry->is_approved);
	ck_assert_uint_eq(entry->since_us, 63 * S);
}
END_TEST

START_TEST(test_agenda_entries_found_among_many)
{
	uint32_t n = 0;

	for (uint64_t guid = 1; guid <= 8; guid++)
		for (uint8_t number = 2; number <= 8; number += 2) {
			add(TRIAD_PLAN_TEST, TRIAD_REASON_EXPECTED);
			items[n].node_guid = guid;
			items[n++].number = number;
		}
	look(0);
	for (uint64_t guid = 0; guid <= 9; guid++)
		for (uint8_t number = 0; number <= 9; number++) {
			const struct triad_agenda_entry *found =
				triad_agenda_find(agenda, guid, number);
			bool is_there = guid >= 1 && guid <= 8 && number >= 2 &&
				number <= 8 && number % 2 == 0;

			ck_assert_int_eq(found != NULL, is_there);
			ck_assert(!found ||
				(found->node_guid == guid && found->number == number));
		}
}
END_TEST

/* The agenda skipped an entry that wasn't due; it returns to it once it is due. */
START_TEST(test_agenda_earlier_entry_due_later_not_missed)
{
	add_gentle();
	add_enables(2);
	look(0);
	wants(0, TRIAD_AGENDA_WARN, 1);
	triad_agenda_warned(agenda, NODE, 1, 0);
	wants(0, TRIAD_AGENDA_ACT, 2);
	done(2, false, 58);
	wants(59, TRIAD_AGENDA_ACT, 3);
	wants(60, TRIAD_AGENDA_TRAFFIC, 1);
	traffic(1, 9999, 60);
	wants(61, TRIAD_AGENDA_ACT, 3);
	traffic(1, 0, 61);
	wants(61, TRIAD_AGENDA_ACT, 1);
	done(1, true, 62);
	wants(62, TRIAD_AGENDA_ACT, 3);
	wants(63, TRIAD_AGENDA_ACT, 2);
}
END_TEST

START_TEST(test_agenda_memory_short_as_it_was)
{
	add_enables(2);
	look(0);
	plan.n_items = 1;
	refuse(1);
	ck_assert_int_eq(triad_agenda_look(agenda, &plan, S), ENOMEM);
	ck_assert(refused());
	ck_assert_uint_eq(status().n, 2);
	wants(1, TRIAD_AGENDA_ACT, 1);
}
END_TEST

START_TEST(test_agenda_state_names_all_known)
{
	ck_assert_str_eq(triad_agenda_state_name(TRIAD_AGENDA_DUE), "due");
	ck_assert_str_eq(triad_agenda_state_name(TRIAD_AGENDA_DONE), "done");
	ck_assert_str_eq(triad_agenda_state_name(TRIAD_AGENDA_DONE + 1), "?");
}
END_TEST

int main(void)
{
	TCase *cases = tcase_create("agenda");

	tcase_add_checked_fixture(cases, begin, end);
	tcase_add_test(cases, test_agenda_empty_waits_for_a_plan);
	tcase_add_test(cases, test_agenda_items_done_in_order);
	tcase_add_test(cases, test_agenda_notes_and_guarded_left_out);
	tcase_add_test(cases, test_agenda_more_than_max_stopped_until_approved);
	tcase_add_test(cases, test_agenda_approval_ends_with_its_item);
	tcase_add_test(cases, test_agenda_planned_anew_without_sweep_no_more_done);
	tcase_add_test(cases, test_agenda_attempts_without_a_set_use_up_no_actions);
	tcase_add_test(cases, test_agenda_cleared_nothing_approved);
	tcase_add_test(cases, test_agenda_limit_changed_acts_at_once);
	tcase_add_test(cases, test_agenda_tests_without_set_not_counted);
	tcase_add_test(cases, test_agenda_active_link_warned_then_watched);
	tcase_add_test(cases, test_agenda_traffic_waited_for_no_longer_than_limit);
	tcase_add_test(cases, test_agenda_unknown_traffic_counts_as_small);
	tcase_add_test(cases, test_agenda_link_down_meanwhile_due);
	tcase_add_test(cases, test_agenda_link_active_meanwhile_warned);
	tcase_add_test(cases, test_agenda_tried_in_vain_then_active_warned_later);
	tcase_add_test(cases, test_agenda_late_answers_ignored);
	tcase_add_test(cases, test_agenda_other_name_given_time);
	tcase_add_test(cases, test_agenda_more_than_the_name_is_due);
	tcase_add_test(cases, test_agenda_tried_in_vain_again_later_each_time);
	tcase_add_test(cases, test_agenda_tried_in_vain_without_sweep_again);
	tcase_add_test(cases, test_agenda_item_that_comes_back_begins_anew);
	tcase_add_test(cases, test_agenda_entries_found_among_many);
	tcase_add_test(cases, test_agenda_earlier_entry_due_later_not_missed);
	tcase_add_test(cases, test_agenda_memory_short_as_it_was);
	tcase_add_test(cases, test_agenda_state_names_all_known);
	return run_cases(cases);
}
