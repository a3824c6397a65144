/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "collect/gather.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "tests/unit/run.h"

enum { N_AGENTS = 7 };

static const struct triad_collect_head head = {
	.kind = TRIAD_COLLECT_HISTOGRAM, .sender = 5, .incarnation = 6};
static uint8_t octets[TRIAD_GATHER_MESSAGE_SIZE];

static struct triad_wire body_of(size_t size)
{
	struct triad_collect_head found;
	struct triad_wire body;

	ck_assert_int_eq(triad_collect_get_head(octets, size, &found, &body),
		TRIAD_COLLECT_HEAD_GOOD);
	return body;
}

static unsigned any_place(void)
{
	return (unsigned)rand() % TRIAD_HISTOGRAM_MOST;
}

static void check_equal(
	const struct triad_histogram *a, const struct triad_histogram *b)
{
	ck_assert_uint_eq(a->n, b->n);
	ck_assert_uint_eq(a->joined, b->joined);
	ck_assert_uint_eq(a->first, b->first);
	ck_assert(!a->n || !memcmp(a->counts, b->counts, a->n * sizeof(*a->counts)));
}

/* Row: M8 */
START_TEST(test_histograms_of_many_are_that_of_one_over_the_same_samples)
{
	unsigned seed = (unsigned)time(NULL);

	srand(seed);
	printf("# seed %u\n", seed);
	for (unsigned round = 0; round < 100; round++) {
		struct triad_gather whole, one, all;

		triad_gather_init(&whole, 9, 0x5);
		triad_gather_init(&all, 9, 0x5);
		for (unsigned i = 0; i < N_AGENTS; i++) {
			unsigned n = (unsigned)rand() % 200;
			size_t size;
			struct triad_wire body;

			triad_gather_init(&one, 9, 0x5);
			one.n_agents = one.n_asked = 1;
			for (unsigned j = 0; j < n; j++) {
				unsigned counter = rand() % 2 ? 2 : 0;
				unsigned place = any_place();

				ck_assert(triad_histogram_add(
					&one.histograms[counter], place));
				ck_assert(triad_histogram_add(
					&whole.histograms[counter], place));
			}
			one.n_zeros[0] = whole.n_zeros[0] ? 3 : 1;
			whole.n_zeros[0] += one.n_zeros[0];
			size = triad_gather_put(&one, &head, octets);
			ck_assert_uint_gt(size, 0);
			body = body_of(size);
			ck_assert(triad_gather_take(&all, &body));
			triad_gather_clear(&one);
		}
		ck_assert_uint_eq(all.n_agents, N_AGENTS);
		ck_assert_uint_eq(all.n_zeros[0], whole.n_zeros[0]);
		check_equal(&all.histograms[0], &whole.histograms[0]);
		check_equal(&all.histograms[2], &whole.histograms[2]);
		triad_gather_clear(&all);
		triad_gather_clear(&whole);
	}
}
END_TEST

START_TEST(test_answer_to_another_request_is_left)
{
	struct triad_gather one, all;
	struct triad_wire body;
	size_t size;

	triad_gather_init(&one, 9, 1);
	triad_gather_init(&all, 10, 1);
	size = triad_gather_put(&one, &head, octets);
	body = body_of(size);
	ck_assert(!triad_gather_take(&all, &body));
	triad_gather_clear(&one);
	triad_gather_clear(&all);
}
END_TEST

START_TEST(test_answer_of_more_agents_than_were_asked_adds_nothing)
{
	struct triad_gather one, all;
	struct triad_wire body;
	size_t size;

	triad_gather_init(&one, 9, 1);
	triad_gather_init(&all, 9, 1);
	ck_assert(triad_histogram_add(&one.histograms[0], any_place()));
	one.n_agents = 2;
	one.n_asked = 1;
	size = triad_gather_put(&one, &head, octets);
	body = body_of(size);
	ck_assert(!triad_gather_take(&all, &body));
	ck_assert_uint_eq(all.n_agents, 0);
	ck_assert_uint_eq(all.n_asked, 0);
	ck_assert_uint_eq(triad_histogram_count(&all.histograms[0]), 0);
	triad_gather_clear(&one);
	triad_gather_clear(&all);
}
END_TEST

START_TEST(test_answer_cut_anywhere_adds_nothing)
{
	struct triad_gather one, all;
	size_t size;

	triad_gather_init(&one, 9, 1);
	for (unsigned i = 0; i < 50; i++)
		ck_assert(triad_histogram_add(&one.histograms[0], any_place()));
	size = triad_gather_put(&one, &head, octets);
	for (size_t cut = TRIAD_COLLECT_HEAD_SIZE + 13; cut < size; cut++) {
		struct triad_wire body = body_of(cut);

		triad_gather_init(&all, 9, 1);
		ck_assert(!triad_gather_take(&all, &body));
		ck_assert_uint_eq(triad_histogram_count(&all.histograms[0]), 0);
		triad_gather_clear(&all);
	}
	triad_gather_clear(&one);
}
END_TEST

START_TEST(test_request_comes_back_as_it_was)
{
	const struct triad_gather_request request = {.request = 77,
		.scope = {.of = TRIAD_HISTOGRAMS_OF_PORT, .node_guid = 5, .port = 3},
		.group = "gpu",
		.counters = 0x14,
		.wait_ms = 900};
	struct triad_gather_request found;
	struct triad_collect_head asking = head;
	struct triad_wire body;
	size_t size;

	asking.kind = TRIAD_COLLECT_GET_HISTOGRAMS;
	size = triad_gather_put_request(&request, &asking, octets);
	body = body_of(size);
	ck_assert(triad_gather_get_request(&body, &found));
	ck_assert_uint_eq(found.request, 77);
	ck_assert_int_eq(found.scope.of, TRIAD_HISTOGRAMS_OF_PORT);
	ck_assert_uint_eq(found.scope.node_guid, 5);
	ck_assert_uint_eq(found.scope.port, 3);
	ck_assert_str_eq(found.group, "gpu");
	ck_assert_uint_eq(found.counters, 0x14);
	ck_assert_uint_eq(found.wait_ms, 900);
	for (size_t cut = TRIAD_COLLECT_HEAD_SIZE; cut < size; cut++) {
		body = body_of(cut);
		ck_assert(!triad_gather_get_request(&body, &found));
	}
}
END_TEST

int main(void)
{
	TCase *cases = tcase_create("gather");

	tcase_add_test(
		cases, test_histograms_of_many_are_that_of_one_over_the_same_samples);
	tcase_add_test(cases, test_answer_to_another_request_is_left);
	tcase_add_test(cases, test_answer_of_more_agents_than_were_asked_adds_nothing);
	tcase_add_test(cases, test_answer_cut_anywhere_adds_nothing);
	tcase_add_test(cases, test_request_comes_back_as_it_was);
	return run_cases(cases);
}
