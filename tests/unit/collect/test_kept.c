/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Owners of nodes, and histograms, as lists that images keep. */
#include <errno.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "collect/kept_histograms.h"
#include "collect/kept_owners.h"
#include "tests/random.h"
#include "tests/unit/run.h"

static uint64_t seed;
static struct triad_kept_list list;

static void set_up(void)
{
	seed = (uint64_t)time(NULL) * 1000003 + (uint64_t)getpid();
	triad_kept_list_begin(&list);
}

static void tear_down(void)
{
	triad_kept_list_clear(&list);
}

/* --- owners --- */

#define N_NODES 1000u

START_TEST(test_owner_of_each_node_is_found)
{
	static struct triad_kept_owner owners[N_NODES];
	struct triad_kept_owner owner;
	struct triad_kept_agent agent = {.id = 7,
		.name = "agent-7",
		.address = "10.0.0.7",
		.port = 4222,
		.state = 2,
		.n_nodes = 48000};

	for (uint32_t i = 0; i < N_NODES; i++)
		owners[i] = (struct triad_kept_owner){.node_guid = 10 + 2 * i,
			.id = random_below(&seed, 3),
			.hops = (uint8_t)random_next(&seed)};
	triad_kept_owners_add(&list, owners, N_NODES);
	triad_kept_owners_add_agent(&list, &agent);
	ck_assert_uint_eq(list.n, 1 + (N_NODES + 63) / 64);
	for (uint32_t i = 0; i < N_NODES; i++) {
		ck_assert_int_eq(triad_kept_owners_find(&list, 10 + 2 * i, &owner), 0);
		ck_assert_uint_eq(owner.id, owners[i].id);
		ck_assert_uint_eq(owner.hops, owners[i].hops);
	}
	ck_assert_int_eq(triad_kept_owners_find(&list, 11, &owner), ENOENT);
	memset(&agent, 0, sizeof(agent));
	ck_assert_int_eq(triad_kept_owners_find_agent(&list, 7, &agent), 0);
	ck_assert_str_eq(agent.name, "agent-7");
	ck_assert_str_eq(agent.address, "10.0.0.7");
	ck_assert_uint_eq(agent.port, 4222);
	ck_assert_uint_eq(agent.state, 2);
	ck_assert_uint_eq(agent.n_nodes, 48000);
	ck_assert_int_eq(triad_kept_owners_find_agent(&list, 8, &agent), ENOENT);
}
END_TEST

START_TEST(test_one_node_with_another_owner_changes_one_row)
{
	static struct triad_kept_owner owners[N_NODES];
	struct triad_kept_list other = {0};
	unsigned n_changed = 0;

	for (uint32_t i = 0; i < N_NODES; i++)
		owners[i] = (struct triad_kept_owner){.node_guid = 1 + i, .id = 1};
	triad_kept_owners_add(&list, owners, N_NODES);
	owners[random_below(&seed, N_NODES)].id = 2;
	triad_kept_list_begin(&other);
	triad_kept_owners_add(&other, owners, N_NODES);
	for (uint32_t i = 0; i < list.n; i++)
		n_changed += list.rows[i].hash != other.rows[i].hash;
	ck_assert_uint_eq(n_changed, 1);
	triad_kept_list_clear(&other);
}
END_TEST

START_TEST(test_owners_that_are_cut_are_no_list)
{
	const uint8_t cut[] = {2, 0, 0, 0}, agent[] = {1, 9}, later[] = {9, 1, 2};
	struct triad_kept_owner owner;
	struct triad_kept_agent found;

	triad_kept_list_add(&list, later, sizeof(later));
	ck_assert_int_eq(triad_kept_owners_find(&list, 5, &owner), ENOENT);
	triad_kept_list_add(&list, cut, sizeof(cut));
	triad_kept_list_add(&list, agent, sizeof(agent));
	ck_assert_int_eq(triad_kept_owners_find(&list, 5, &owner), EPROTO);
	ck_assert_int_eq(triad_kept_owners_find_agent(&list, 5, &found), EPROTO);
}
END_TEST

/* --- histograms --- */

static void count(struct triad_histogram *histogram, unsigned n)
{
	while (n--)
		ck_assert(triad_histogram_add(histogram,
			triad_histogram_place((double)(random_next(&seed) >>
				random_below(&seed, 63)))));
}

static bool is_same(const struct triad_histogram *a, const struct triad_histogram *b)
{
	return a->first == b->first && a->n == b->n && a->joined == b->joined &&
		!memcmp(a->counts, b->counts, a->n * sizeof(*a->counts));
}

START_TEST(test_histogram_of_each_group_is_found)
{
	static const char *const groups[] = {"", "storage", "a group with a long name"};
	struct triad_histogram histograms[3];
	struct triad_gather_piece piece;

	for (unsigned i = 0; i < 3; i++) {
		triad_histogram_init(&histograms[i], TRIAD_HISTOGRAM_MOST);
		count(&histograms[i], 1 + random_below(&seed, 3000));
		for (unsigned c = 3; c < 6; c++)
			triad_kept_histograms_add(
				&list, groups[i], c, &histograms[i], c + i);
	}
	for (unsigned i = 0; i < 3; i++)
		for (unsigned c = 3; c < 6; c++) {
			ck_assert_int_eq(
				triad_kept_histograms_find(&list, groups[i], c, &piece),
				0);
			ck_assert_uint_eq(piece.n_zeros, c + i);
			ck_assert(is_same(&piece.histogram, &histograms[i]));
		}
	ck_assert_int_eq(triad_kept_histograms_find(&list, "", 6, &piece), ENOENT);
	ck_assert_int_eq(
		triad_kept_histograms_find(&list, "storag", 3, &piece), ENOENT);
	for (unsigned i = 0; i < 3; i++)
		triad_histogram_clear(&histograms[i]);
}
END_TEST

START_TEST(test_histograms_that_are_cut_are_no_list)
{
	const uint8_t cut[] = {7, 'a'}, none[] = {0, 200, 0};
	struct triad_gather_piece piece;

	triad_kept_list_add(&list, none, sizeof(none));
	ck_assert_int_eq(triad_kept_histograms_find(&list, "", 1, &piece), EPROTO);
	ck_assert_int_eq(triad_kept_histograms_find(&list, "a", 1, &piece), ENOENT);
	triad_kept_list_add(&list, cut, sizeof(cut));
	ck_assert_int_eq(triad_kept_histograms_find(&list, "a", 1, &piece), EPROTO);
}
END_TEST

int main(void)
{
	TCase *cases = tcase_create("kept");

	tcase_add_checked_fixture(cases, set_up, tear_down);
	tcase_add_test(cases, test_owner_of_each_node_is_found);
	tcase_add_test(cases, test_one_node_with_another_owner_changes_one_row);
	tcase_add_test(cases, test_owners_that_are_cut_are_no_list);
	tcase_add_test(cases, test_histogram_of_each_group_is_found);
	tcase_add_test(cases, test_histograms_that_are_cut_are_no_list);
	return run_cases(cases);
}
