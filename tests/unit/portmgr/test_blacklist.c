/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "portmgr/election/blacklist.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "tests/random.h"
#include "tests/unit/run.h"

#define N_RANDOM 20000

static uint64_t state;

static uint64_t pick(uint64_t n)
{
	return random_next(&state) % n;
}

static const struct triad_blacklist_entry *entry_of(
	const struct triad_blacklist *list, uint64_t id)
{
	for (uint32_t i = 0; i < list->n; i++)
		if (list->entries[i].id == id)
			return &list->entries[i];
	return NULL;
}

/* Whether both lists have the same entries, in any order. */
static bool is_same(const struct triad_blacklist *a, const struct triad_blacklist *b)
{
	for (uint32_t i = 0; i < a->n; i++) {
		const struct triad_blacklist_entry *ours = &a->entries[i];
		const struct triad_blacklist_entry *theirs = entry_of(b, ours->id);

		if (!theirs || theirs->version != ours->version ||
			theirs->is_listed != ours->is_listed)
			return false;
	}
	return a->n == b->n;
}

/* A random list; its ids are few enough that no entry is ever evicted. */
static struct triad_blacklist any_list(void)
{
	struct triad_blacklist list = {.n = 0};

	for (uint64_t id = 1; id <= TRIAD_BLACKLIST_MAX; id++)
		if (pick(2))
			list.entries[list.n++] = (struct triad_blacklist_entry){
				id, (uint32_t)pick(3) + 1, pick(2)};
	return list;
}

static struct triad_blacklist merged(
	struct triad_blacklist list, const struct triad_blacklist *other)
{
	struct triad_blacklist before = list;
	bool changed = triad_blacklist_merge(&list, other);

	ck_assert_int_eq(changed, !is_same(&before, &list));
	return list;
}

START_TEST(test_merge_of_random_lists_is_commutative_associative_idempotent)
{
	const char *text = getenv("TRIAD_SEED");

	state = text ? strtoull(text, NULL, 0) : (uint64_t)time(NULL);
	printf("# TRIAD_SEED=%llu\n", (unsigned long long)state);
	fflush(stdout);
	for (unsigned i = 0; i < N_RANDOM; i++) {
		struct triad_blacklist a = any_list(), b = any_list(), c = any_list();
		struct triad_blacklist ab = merged(a, &b), ba = merged(b, &a);
		struct triad_blacklist bc = merged(b, &c);
		struct triad_blacklist ab_c = merged(ab, &c), a_bc = merged(a, &bc);
		struct triad_blacklist abb = merged(ab, &b);

		ck_assert(is_same(&ab, &ba));
		ck_assert(is_same(&ab_c, &a_bc));
		ck_assert(is_same(&abb, &ab));
	}
}
END_TEST

START_TEST(test_set_again_reports_already)
{
	struct triad_blacklist list = {.n = 0};

	ck_assert_int_eq(triad_blacklist_set(&list, 7, false), EALREADY);
	ck_assert_int_eq(triad_blacklist_set(&list, 7, true), 0);
	ck_assert_int_eq(triad_blacklist_set(&list, 7, true), EALREADY);
	ck_assert(triad_blacklist_has(&list, 7));
	ck_assert_int_eq(triad_blacklist_set(&list, 7, false), 0);
	ck_assert(!triad_blacklist_has(&list, 7));
	ck_assert(!triad_blacklist_has(&list, 8));
	ck_assert_uint_eq(list.entries[0].version, 2);
}
END_TEST

START_TEST(test_merge_higher_version_wins_equal_listed_wins)
{
	struct triad_blacklist off = {1, {{7, 2, false}}}, on = {1, {{7, 2, true}}};
	struct triad_blacklist old = {1, {{7, 1, true}}};

	ck_assert(!triad_blacklist_merge(&off, &old));
	ck_assert(triad_blacklist_merge(&old, &off));
	ck_assert(!triad_blacklist_has(&old, 7));
	ck_assert(triad_blacklist_merge(&off, &on));
	ck_assert(triad_blacklist_has(&off, 7));
	off.entries[0].is_listed = false;
	ck_assert(!triad_blacklist_merge(&on, &off));
	ck_assert(triad_blacklist_has(&on, 7));
}
END_TEST

static struct triad_blacklist full_list(void)
{
	struct triad_blacklist list = {.n = 0};

	for (uint64_t id = 1; id <= TRIAD_BLACKLIST_MAX; id++)
		ck_assert_int_eq(triad_blacklist_set(&list, id, true), 0);
	return list;
}

START_TEST(test_full_list_takes_no_more_until_one_is_off)
{
	struct triad_blacklist list = full_list(), more = {1, {{99, 1, true}}};

	ck_assert_int_eq(triad_blacklist_set(&list, 99, true), ENOSPC);
	ck_assert(!triad_blacklist_merge(&list, &more));
	ck_assert_int_eq(triad_blacklist_set(&list, 5, false), 0);
	more.entries[0].is_listed = false;
	ck_assert(!triad_blacklist_merge(&list, &more));
	more.entries[0].is_listed = true;
	ck_assert(triad_blacklist_merge(&list, &more));
	ck_assert(triad_blacklist_has(&list, 99));
	ck_assert_uint_eq(list.n, TRIAD_BLACKLIST_MAX);
	for (uint64_t id = 1; id <= TRIAD_BLACKLIST_MAX; id++)
		ck_assert_int_eq(triad_blacklist_has(&list, id), id != 5);
}
END_TEST

/* This list evicted an entry that another member still has.  That old entry must not
 * undo a later entry for the same id. */
START_TEST(test_id_that_made_room_listed_again_is_newer_than_before)
{
	struct triad_blacklist list = full_list(), other;

	ck_assert_int_eq(triad_blacklist_set(&list, 5, false), 0);
	other = list;
	ck_assert_int_eq(triad_blacklist_set(&list, 99, true), 0);
	ck_assert_int_eq(triad_blacklist_set(&list, 6, false), 0);
	ck_assert_int_eq(triad_blacklist_set(&list, 5, true), 0);
	triad_blacklist_merge(&list, &other);
	ck_assert(triad_blacklist_has(&list, 5));
	ck_assert_int_eq(triad_blacklist_set(&other, 6, false), 0);
	triad_blacklist_merge(&other, &list);
	ck_assert(triad_blacklist_has(&other, 5));
}
END_TEST

/* Versions never wrap to 0: other members would refuse a message with such an entry. */
/* An entry with the highest version can only take its id off the list; no later version
 * is left to put it on again. */
START_TEST(test_set_at_highest_version_can_only_take_off)
{
	struct triad_blacklist list = {1, {{7, UINT32_MAX - 1, true}}};

	ck_assert_int_eq(triad_blacklist_set(&list, 7, false), 0);
	ck_assert_uint_eq(list.entries[0].version, UINT32_MAX);
	ck_assert_int_eq(triad_blacklist_set(&list, 7, true), ENOSPC);
	ck_assert_int_eq(triad_blacklist_set(&list, 99, true), 0);
	list = (struct triad_blacklist){1, {{7, UINT32_MAX - 1, false}}};
	ck_assert_int_eq(triad_blacklist_set(&list, 7, true), ENOSPC);
}
END_TEST

int main(void)
{
	TCase *cases = tcase_create("blacklist");

	tcase_add_test(cases,
		test_merge_of_random_lists_is_commutative_associative_idempotent);
	tcase_add_test(cases, test_set_again_reports_already);
	tcase_add_test(cases, test_merge_higher_version_wins_equal_listed_wins);
	tcase_add_test(cases, test_full_list_takes_no_more_until_one_is_off);
	tcase_add_test(cases, test_id_that_made_room_listed_again_is_newer_than_before);
	tcase_add_test(cases, test_set_at_highest_version_can_only_take_off);
	return run_cases(cases);
}
