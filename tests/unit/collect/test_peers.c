/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "collect/peers.h"

#include <stdio.h>
#include <string.h>

#include "tests/unit/run.h"

#define S UINT64_C(1000000)
#define PAST_US (10 * S)

static struct triad_peers peers;

static void set_up(void)
{
	memset(&peers, 0, sizeof(peers));
}

static bool receive_from(
	uint64_t id, uint64_t incarnation, const char *name, uint64_t now_us)
{
	const struct triad_collect_head head = {
		.sender = id, .incarnation = incarnation};
	struct triad_collect_alive alive = {.sweep_ms = (uint32_t)incarnation};

	snprintf(alive.name, sizeof(alive.name), "%s", name);
	return triad_peers_receive(&peers, &head, &alive, PAST_US, now_us);
}

START_TEST(test_last_word_is_there)
{
	ck_assert(receive_from(7, 1, "a", 100 * S));
	ck_assert(receive_from(7, 1, "b", 101 * S));
	ck_assert_uint_eq(peers.n, 1);
	ck_assert_str_eq(triad_peers_find(&peers, 7)->alive.name, "b");
	ck_assert_uint_eq(triad_peers_find(&peers, 7)->received_us, 101 * S);
	ck_assert_ptr_null(triad_peers_find(&peers, 8));
}
END_TEST

START_TEST(test_word_of_a_past_start_is_refused_until_it_was_silent)
{
	ck_assert(receive_from(7, 2, "new", 100 * S));
	ck_assert(!receive_from(7, 1, "old", 100 * S + PAST_US));
	ck_assert_str_eq(triad_peers_find(&peers, 7)->alive.name, "new");
	ck_assert(receive_from(7, 1, "set back", 100 * S + PAST_US + 1));
	ck_assert_uint_eq(triad_peers_find(&peers, 7)->incarnation, 1);
}
END_TEST

START_TEST(test_peers_full_entry_of_who_is_gone_is_reused)
{
	for (uint64_t id = 1; id <= TRIAD_PEERS_MAX; id++)
		ck_assert(receive_from(id, 1, "x", (100 + id) * S));
	ck_assert(!receive_from(1000, 1, "new", 101 * S + PAST_US));
	ck_assert(receive_from(1000, 1, "new", 101 * S + PAST_US + 1));
	ck_assert_uint_eq(peers.n, TRIAD_PEERS_MAX);
	ck_assert_ptr_null(triad_peers_find(&peers, 1));
	ck_assert_ptr_nonnull(triad_peers_find(&peers, 2));
	ck_assert_ptr_nonnull(triad_peers_find(&peers, 1000));
}
END_TEST

START_TEST(test_found_by_name_or_guid_when_received_since)
{
	receive_from(0x1f, 1, "node-a", 100 * S);
	ck_assert_ptr_eq(triad_peers_find_name(&peers, "node-a", 100 * S),
		triad_peers_find(&peers, 0x1f));
	ck_assert_ptr_eq(triad_peers_find_name(&peers, "0x1f", 100 * S),
		triad_peers_find(&peers, 0x1f));
	ck_assert_ptr_null(triad_peers_find_name(&peers, "node-a", 101 * S));
	ck_assert_ptr_null(triad_peers_find_name(&peers, "0x1f", 101 * S));
	ck_assert_ptr_null(triad_peers_find_name(&peers, "node", 0));
	ck_assert_ptr_null(triad_peers_find_name(&peers, "0x1fg", 0));
	ck_assert_ptr_null(triad_peers_find_name(&peers, "", 0));
}
END_TEST

int main(void)
{
	TCase *cases = tcase_create("peers");

	tcase_add_checked_fixture(cases, set_up, NULL);
	tcase_add_test(cases, test_last_word_is_there);
	tcase_add_test(cases, test_word_of_a_past_start_is_refused_until_it_was_silent);
	tcase_add_test(cases, test_peers_full_entry_of_who_is_gone_is_reused);
	tcase_add_test(cases, test_found_by_name_or_guid_when_received_since);
	return run_cases(cases);
}
