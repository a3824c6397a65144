/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "heal/data_test.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "lib/backoff.h"
#include "triad/clock.h"

#define CONFIDENCE_BITS 3.0 /* -ln 0.05, and a little */
#define FIRST_BURST 4u
#define SETTLE_US (4 * TRIAD_US_PER_S)
#define READ_AGAIN_US (TRIAD_US_PER_S / 4)
#define AGAIN_US TRIAD_US_PER_S
#define MOST_AGAIN_US (300 * TRIAD_US_PER_S)

void triad_data_test_begin(struct triad_data_test *test, double ber)
{
	*test = (struct triad_data_test){.n_wanted = (uint64_t)ceil(CONFIDENCE_BITS /
						 ber / TRIAD_DATA_TEST_PACKET_BITS)};
}

enum triad_data_test_request triad_data_test_request(
	const struct triad_data_test *test, uint64_t now_us, uint32_t *burst)
{
	uint64_t left, most;

	*burst = 0;
	if (test->way == 2)
		return TRIAD_DATA_TEST_END;
	if (test->must_clear)
		return TRIAD_DATA_TEST_CLEAR;
	if (now_us < test->next_us)
		return TRIAD_DATA_TEST_WAIT;
	if (!test->is_led)
		return TRIAD_DATA_TEST_LEAD;
	if (!test->has_before || test->n_sent)
		return TRIAD_DATA_TEST_READ;
	left = test->n_wanted - test->ways[test->way].n_sent;
	most = test->ways[test->way].n_sent ? TRIAD_DATA_TEST_BURST : FIRST_BURST;
	*burst = (uint32_t)(left < most ? left : most);
	return TRIAD_DATA_TEST_SEND;
}

/* --- one way --- */

/* The other way does not matter when one is bad. */
static void next_way(struct triad_data_test *test)
{
	bool is_bad = test->ways[test->way].verdict == TRIAD_DATA_TEST_BAD;

	test->way = is_bad ? 2 : test->way + 1;
	test->has_failed = false;
	test->n_vain = 0;
	test->next_us = 0;
}

static void stop_leading(struct triad_data_test *test)
{
	test->must_clear = test->is_led;
	test->has_before = false;
	test->n_sent = 0;
}

static void conclude(struct triad_data_test *test, enum triad_data_test_verdict verdict,
	const char *why)
{
	struct triad_data_test_way *way = &test->ways[test->way];

	way->verdict = (uint8_t)verdict;
	way->why = why;
	stop_leading(test);
	if (!test->is_led)
		next_way(test);
}

static void try_again(struct triad_data_test *test, const char *why, uint64_t now_us)
{
	test->ways[test->way].why = why;
	test->next_us = now_us + triad_backoff(++test->n_vain, AGAIN_US, MOST_AGAIN_US);
	stop_leading(test);
}

void triad_data_test_led(
	struct triad_data_test *test, const char *why, bool is_final, uint64_t now_us)
{
	if (test->way == 2)
		return;
	if (why && is_final)
		conclude(test, TRIAD_DATA_TEST_UNKNOWN, why);
	else if (why)
		try_again(test, why, now_us);
	else
		test->is_led = true;
}

void triad_data_test_cleared(struct triad_data_test *test)
{
	if (test->way == 2)
		return;
	test->is_led = test->must_clear = false;
	if (test->ways[test->way].verdict != TRIAD_DATA_TEST_OPEN)
		next_way(test);
}

void triad_data_test_waits(struct triad_data_test *test, const char *why)
{
	if (test->way < 2)
		test->ways[test->way].why = why;
}

void triad_data_test_sent(struct triad_data_test *test, uint32_t n, uint64_t now_us)
{
	if (test->way == 2)
		return;
	if (!n) {
		try_again(test, "packets could not be sent", now_us);
		return;
	}
	test->n_sent = n;
	test->settle_us = now_us + SETTLE_US;
}

/* --- counters --- */

static bool has_gone_back(const struct triad_data_test_counts *now,
	const struct triad_data_test_counts *before)
{
	return now->left < before->left || now->dropped < before->dropped ||
		now->came < before->came;
}

/* All of the burst has left, and has come. */
static void take_burst(struct triad_data_test *test)
{
	struct triad_data_test_way *way = &test->ways[test->way];

	way->n_sent += test->n_sent;
	way->n_left = way->n_came = way->n_sent;
	way->why = NULL;
	test->has_failed = false;
	test->n_sent = test->n_vain = 0;
	if (way->n_sent >= test->n_wanted)
		conclude(test, TRIAD_DATA_TEST_GOOD, NULL);
}

static void judge(struct triad_data_test *test,
	const struct triad_data_test_counts *now, uint64_t now_us)
{
	const struct triad_data_test_counts before = test->before;
	struct triad_data_test_way *way = &test->ways[test->way];
	uint64_t left = now->left - before.left, came = now->came - before.came_before;

	if (left >= test->n_sent && came >= left) {
		test->before = *now;
		take_burst(test);
		return;
	}
	if (now_us < test->settle_us) {
		test->next_us = now_us + READ_AGAIN_US;
		return;
	}
	if (came >= left && now->dropped == before.dropped) {
		try_again(test,
			now->dropped == UINT64_MAX
				? "packets did not come to it, or were dropped: its count "
				  "of these is full"
				: "packets did not come to it",
			now_us);
		return;
	}
	/* Its end may not have been active; or others have set the count back, and from
	 * so little that it has not gone back. */
	if (!test->has_failed && (came >= left || before.came <= left)) {
		test->has_failed = true;
		try_again(test,
			came >= left
				? "packets were dropped before it"
				: "packets were lost on it, or others have set its "
				  "counts back",
			now_us);
		return;
	}
	way->n_sent += test->n_sent;
	way->n_left += left;
	way->n_came += came;
	conclude(test, TRIAD_DATA_TEST_BAD,
		came < left ? "packets were lost on it" : "it takes no data");
}

void triad_data_test_read(struct triad_data_test *test,
	const struct triad_data_test_counts *counts, uint64_t now_us)
{
	if (test->way == 2)
		return;
	if (!counts) {
		try_again(test, "counters could not be read", now_us);
	} else if (!test->has_before) {
		test->before = *counts;
		test->has_before = true;
	} else if (counts->are_wide != test->before.are_wide) {
		try_again(test, "counters could not be read as before", now_us);
	} else if (has_gone_back(counts, &test->before)) {
		try_again(test, "counters were set back", now_us);
	} else {
		judge(test, counts, now_us);
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

static const char *const way_names[] = {"there", "back"};

static unsigned find_way(
	const struct triad_data_test *test, enum triad_data_test_verdict verdict)
{
	return test->ways[0].verdict == verdict ? 0 : 1;
}

static void describe_unknown(
	const struct triad_data_test *test, char *text, size_t size)
{
	unsigned unknown = find_way(test, TRIAD_DATA_TEST_UNKNOWN);
	const char *why = test->ways[unknown].why;

	if (test->ways[!unknown].verdict == TRIAD_DATA_TEST_GOOD)
		snprintf(text, size, "data passes %s; %s is not known: %s",
			way_names[!unknown], way_names[unknown], why);
	else
		snprintf(text, size, "how it carries data is not known: %s", why);
}

void triad_data_test_text(const struct triad_data_test *test, char *text, size_t size)
{
	double bits = (double)test->n_wanted * TRIAD_DATA_TEST_PACKET_BITS;
	const struct triad_data_test_way *way;
	unsigned bad;

	switch (triad_data_test_verdict(test)) {
	case TRIAD_DATA_TEST_OPEN:
		way = &test->ways[test->way];
		snprintf(text, size,
			"data %s: %" PRIu64 " of %" PRIu64
			" packets (%.1e bits each way) have passed%s%s",
			way_names[test->way], way->n_sent, test->n_wanted, bits,
			way->why ? "; " : "", way->why ? way->why : "");
		break;
	case TRIAD_DATA_TEST_GOOD:
		snprintf(text, size,
			"%" PRIu64 " packets of data each way (%.1e bits), none lost",
			test->n_wanted, bits);
		break;
	case TRIAD_DATA_TEST_BAD:
		bad = find_way(test, TRIAD_DATA_TEST_BAD);
		way = &test->ways[bad];
		snprintf(text, size,
			"data %s: %s: %" PRIu64 " packets were sent, %" PRIu64
			" left, %" PRIu64 " came",
			way_names[bad], way->why, way->n_sent, way->n_left,
			way->n_came);
		break;
	default:
		describe_unknown(test, text, size);
		break;
	}
}
