/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "qos/clients.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "tests/unit/run.h"

static struct triad_clients clients;
static struct triad_path_client top[64];

static void count(unsigned lid, unsigned n, unsigned n_refused)
{
	for (unsigned i = 0; i < n; i++)
		triad_clients_count(&clients, (uint16_t)lid, i < n_refused);
}

START_TEST(test_top_nobody_asked_none)
{
	ck_assert_uint_eq(triad_clients_top(&clients, top, 64), 0);
}
END_TEST

START_TEST(test_top_those_that_asked_most_first)
{
	count(7, 3, 1);
	count(0xbfff, 9, 9);
	count(1, 5, 0);
	count(200, 1, 0);
	ck_assert_uint_eq(triad_clients_top(&clients, top, 64), 4);
	ck_assert_uint_eq(top[0].lid, 0xbfff);
	ck_assert_uint_eq(top[0].n_requests, 9);
	ck_assert_uint_eq(top[0].n_refused, 9);
	ck_assert_uint_eq(top[1].lid, 1);
	ck_assert_uint_eq(top[1].n_refused, 0);
	ck_assert_uint_eq(top[2].lid, 7);
	ck_assert_uint_eq(top[2].n_refused, 1);
	ck_assert_uint_eq(top[3].lid, 200);
}
END_TEST

START_TEST(test_top_less_room_than_clients_least_left_out)
{
	memset(top, 0xee, sizeof(top));
	for (unsigned lid = 1; lid <= 10; lid++)
		count(lid, lid % 2 ? lid : 20 - lid, 0);
	ck_assert_uint_eq(triad_clients_top(&clients, top, 3), 3);
	ck_assert_uint_eq(top[0].lid, 2);
	ck_assert_uint_eq(top[1].lid, 4);
	ck_assert_uint_eq(top[2].lid, 6);
	ck_assert_uint_eq(top[3].lid, 0xeeee);
	ck_assert_uint_eq(triad_clients_top(&clients, top, 0), 0);
}
END_TEST

START_TEST(test_top_counts_what_was_not_taken)
{
	count(9, 2, 0);
	count(3, 1, 0);
	for (unsigned i = 0; i < 5; i++)
		triad_clients_count_not_taken(&clients, 3);
	triad_clients_count_not_taken(&clients, 0xffff);
	ck_assert_uint_eq(triad_clients_top(&clients, top, 64), 2);
	ck_assert_uint_eq(top[0].lid, 3);
	ck_assert_uint_eq(top[0].n_requests, 1);
	ck_assert_uint_eq(top[0].n_not_taken, 5);
	ck_assert_uint_eq(top[1].n_not_taken, 0);
}
END_TEST

START_TEST(test_top_alike_by_lid)
{
	count(9, 2, 0);
	count(3, 2, 0);
	count(5, 2, 0);
	ck_assert_uint_eq(triad_clients_top(&clients, top, 2), 2);
	ck_assert_uint_eq(top[0].lid, 3);
	ck_assert_uint_eq(top[1].lid, 5);
}
END_TEST

START_TEST(test_count_lid_beyond_unicast_ignored)
{
	count(0xc000, 1, 1);
	count(0xffff, 1, 1);
	ck_assert_uint_eq(triad_clients_top(&clients, top, 64), 0);
}
END_TEST

START_TEST(test_top_random_counts_in_order_and_all_there)
{
	unsigned seed = (unsigned)time(NULL), n_above = 0;
	size_t n;

	srand(seed);
	for (unsigned lid = 0; lid < 1000; lid++)
		count(lid, 1 + (unsigned)rand() % 50, 0);
	n = triad_clients_top(&clients, top, 40);
	ck_assert_uint_eq(n, 40);
	for (unsigned i = 1; i < n; i++)
		ck_assert_msg(
			top[i - 1].n_requests >= top[i].n_requests, "seed %u", seed);
	for (unsigned lid = 0; lid < 1000; lid++)
		n_above += clients.of_lid[lid].n_requests > top[39].n_requests;
	ck_assert_msg(n_above < 40, "seed %u: %u", seed, n_above);
}
END_TEST

int main(void)
{
	TCase *cases = tcase_create("clients");

	tcase_add_test(cases, test_top_nobody_asked_none);
	tcase_add_test(cases, test_top_those_that_asked_most_first);
	tcase_add_test(cases, test_top_less_room_than_clients_least_left_out);
	tcase_add_test(cases, test_top_counts_what_was_not_taken);
	tcase_add_test(cases, test_top_alike_by_lid);
	tcase_add_test(cases, test_count_lid_beyond_unicast_ignored);
	tcase_add_test(cases, test_top_random_counts_in_order_and_all_there);
	return run_cases(cases);
}
