/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "heal/data_test.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define CONFIDENCE_BITS 3.0 /* -ln 0.05, and a little */
#define FIRST_BURST 4u
#define MAX_TRIES 5u

void triad_data_test_begin(struct triad_data_test *test, double ber)
{
	*test = (struct triad_data_test){.n_wanted = (uint64_t)ceil(CONFIDENCE_BITS /
						 ber / TRIAD_DATA_TEST_PACKET_BITS)};
}

static struct triad_data_test_way *present_way(struct triad_data_test *test)
{
	return test->way < 2 ? &test->ways[test->way] : NULL;
}

enum triad_data_test_request triad_data_test_request(
	const struct triad_data_test *test, uint32_t *burst)
{
	uint64_t left = test->n_wanted - test->n_sent,
		 most = test->n_sent ? TRIAD_DATA_TEST_BURST : FIRST_BURST;

	*burst = 0;
	if (test->way == 2)
		return TRIAD_DATA_TEST_END;
	if (test->ways[test->way].verdict != TRIAD_DATA_TEST_OPEN)
		return TRIAD_DATA_TEST_CLEAR;
	if (!test->is_led)
		return TRIAD_DATA_TEST_LEAD;
	if (!test->has_before || test->must_read)
		return TRIAD_DATA_TEST_READ;
	*burst = (uint32_t)(left < most ? left : most);
	return TRIAD_DATA_TEST_SEND;
}

/* --- one way --- */

static void conclude(struct triad_data_test *test, enum triad_data_test_verdict verdict,
	const char *why)
{
	struct triad_data_test_way *way = present_way(test);

	way->verdict = (uint8_t)verdict;
	way->why = why;
}

/* Counts and packets begin anew, unless that was done too often. */
static void try_again(struct triad_data_test *test, const char *why, bool is_final)
{
	if (is_final || ++test->n_tries == MAX_TRIES) {
		conclude(test, TRIAD_DATA_TEST_UNKNOWN, why);
		return;
	}
	/* Entries that are there are written again all the same: packets may be lost for
	 * want of one. */
	test->is_led = test->has_before = test->must_read = false;
	test->n_sent = 0;
}

void triad_data_test_led(struct triad_data_test *test, const char *why, bool is_final)
{
	if (test->way == 2)
		return;
	if (why)
		try_again(test, why, is_final);
	else
		test->is_led = true;
}

/* The other way does not matter when one is bad. */
void triad_data_test_cleared(struct triad_data_test *test)
{
	if (test->way == 2)
		return;
	test->way =
		present_way(test)->verdict == TRIAD_DATA_TEST_BAD ? 2 : test->way + 1;
	test->n_tries = 0;
	test->is_led = test->has_before = test->must_read = false;
	test->n_sent = 0;
}

void triad_data_test_sent(struct triad_data_test *test, uint32_t n)
{
	if (test->way == 2)
		return;
	test->n_sent += n;
	test->must_read = true;
	if (!n)
		try_again(test, "packets could not be sent", false);
}

/* --- counters --- */

static bool has_gone_back(const struct triad_data_test_counts *now,
	const struct triad_data_test_counts *before)
{
	return now->left < before->left || now->dropped < before->dropped ||
		now->came < before->came || now->errors < before->errors;
}

static void judge(
	struct triad_data_test *test, const struct triad_data_test_counts *now)
{
	const struct triad_data_test_counts *before = &test->before;
	struct triad_data_test_way *way = present_way(test);

	way->n_left = now->left - before->left;
	way->n_came = now->came - before->came;
	if (now->errors > before->errors)
		conclude(test, TRIAD_DATA_TEST_BAD, "errors were counted");
	else if (way->n_came < way->n_left)
		conclude(test, TRIAD_DATA_TEST_BAD, "packets were lost on it");
	else if (way->n_left >= test->n_sent)
		test->n_sent >= test->n_wanted
			? conclude(test, TRIAD_DATA_TEST_GOOD, NULL)
			: (void)0;
	else if (now->dropped > before->dropped)
		conclude(test, TRIAD_DATA_TEST_BAD, "it takes no data");
	else
		try_again(test, "packets did not come to it", false);
}

void triad_data_test_read(
	struct triad_data_test *test, const struct triad_data_test_counts *counts)
{
	if (test->way == 2)
		return;
	test->must_read = false;
	if (!counts) {
		try_again(test, "counters could not be read", false);
	} else if (!test->has_before) {
		test->before = *counts;
		test->has_before = true;
	} else if (has_gone_back(counts, &test->before)) {
		try_again(test, "counters were set back", false);
	} else {
		judge(test, counts);
	}
}

/* --- verdict --- */

enum triad_data_test_verdict triad_data_test_verdict(const struct triad_data_test *test)
{
	uint8_t first = test->ways[0].verdict, second = test->ways[1].verdict;

	if (test->way < 2)
		return TRIAD_DATA_TEST_OPEN;
	if (first == TRIAD_DATA_TEST_BAD || second == TRIAD_DATA_TEST_BAD)
		return TRIAD_DATA_TEST_BAD;
	return first == second ? first : TRIAD_DATA_TEST_UNKNOWN;
}

static const struct triad_data_test_way *find_way(
	const struct triad_data_test *test, enum triad_data_test_verdict verdict)
{
	return test->ways[0].verdict == verdict ? &test->ways[0] : &test->ways[1];
}

void triad_data_test_text(const struct triad_data_test *test, char *text, size_t size)
{
	double bits = (double)test->n_wanted * TRIAD_DATA_TEST_PACKET_BITS;
	const struct triad_data_test_way *way;

	switch (triad_data_test_verdict(test)) {
	case TRIAD_DATA_TEST_OPEN:
		snprintf(text, size,
			"data, way %u of 2: %" PRIu64 " of %" PRIu64
			" packets sent (in all %.1e bits)",
			test->way + 1, test->n_sent, test->n_wanted, bits);
		break;
	case TRIAD_DATA_TEST_GOOD:
		snprintf(text, size,
			"%" PRIu64 " packets of data each way (%.1e bits), none lost",
			test->n_wanted, bits);
		break;
	case TRIAD_DATA_TEST_BAD:
		way = find_way(test, TRIAD_DATA_TEST_BAD);
		snprintf(text, size,
			"data: %s: %" PRIu64 " packets left, %" PRIu64 " came",
			way->why, way->n_left, way->n_came);
		break;
	default:
		way = find_way(test, TRIAD_DATA_TEST_GOOD);
		snprintf(text, size, "%s is not known: %s",
			way->verdict == TRIAD_DATA_TEST_GOOD
				? "data passes one way; the other"
				: "how it carries data",
			find_way(test, TRIAD_DATA_TEST_UNKNOWN)->why);
		break;
	}
}
