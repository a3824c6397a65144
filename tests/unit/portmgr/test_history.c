/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "portmgr/history/history.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "tests/random.h"
#include "tests/unit/run.h"

#define N_RECORDS 600
#define N_MEMBERS 4

static uint64_t state;

static uint64_t pick(uint64_t n)
{
	return random_next(&state) % n;
}

static void seed(void)
{
	const char *text = getenv("TRIAD_SEED");

	state = text ? strtoull(text, NULL, 0) : (uint64_t)time(NULL);
	printf("# TRIAD_SEED=%llu\n", (unsigned long long)state);
	fflush(stdout);
}

static struct triad_record a_record(
	uint64_t term, uint64_t number, uint64_t node_guid, uint8_t port)
{
	return (struct triad_record){.term = term,
		.number = number,
		.writer = 1,
		.node_guid = node_guid,
		.port = port,
		.action = TRIAD_ACTION_DISABLE,
		.outcome = TRIAD_OUTCOME_DONE,
		.reason = TRIAD_REASON_EXPECTED};
}

static bool is_same_latest(const struct triad_history *a, const struct triad_history *b)
{
	struct triad_history_digest ours, theirs;

	triad_history_latest_digest(a, &ours);
	triad_history_latest_digest(b, &theirs);
	return !memcmp(&ours, &theirs, sizeof(ours));
}

static bool is_same_digest(const struct triad_history *a, const struct triad_history *b)
{
	struct triad_history_digest ours, theirs;

	triad_history_digest(a, &ours);
	triad_history_digest(b, &theirs);
	return !memcmp(&ours, &theirs, sizeof(ours));
}

START_TEST(test_memory_newer_record_of_port_stays)
{
	struct triad_history *history = triad_history_new();
	struct triad_record old = a_record(3, 9, 5, 1), record = a_record(4, 1, 5, 1);
	uint64_t term, number;

	triad_history_newest(history, &term, &number);
	ck_assert_uint_eq(term + number, 0);
	ck_assert_ptr_null(triad_history_find(history, 5, 1));
	ck_assert_int_eq(triad_history_merge(history, &record), 0);
	ck_assert_int_eq(triad_history_merge(history, &record), EALREADY);
	/* An older one gets into the list alone. */
	ck_assert_int_eq(triad_history_merge(history, &old), ESTALE);
	ck_assert_int_eq(triad_history_merge(history, &old), EALREADY);
	ck_assert_uint_eq(triad_history_find(history, 5, 1)->term, 4);
	ck_assert_ptr_null(triad_history_find(history, 5, 2));
	ck_assert_ptr_null(triad_history_find(history, 6, 1));
	record.number = 2;
	record.outcome = TRIAD_OUTCOME_REFUSED;
	ck_assert_int_eq(triad_history_merge(history, &record), 0);
	ck_assert_uint_eq(triad_history_n(history), 1);
	/* An older record is taken if it is about another port; it isn't the newest. */
	old.port = 2;
	ck_assert_int_eq(triad_history_merge(history, &old), 0);
	triad_history_newest(history, &term, &number);
	ck_assert_uint_eq(term, 4);
	ck_assert_uint_eq(number, 2);
	ck_assert_uint_eq(triad_history_latest(history, 0)->number, 2);
	ck_assert_uint_eq(triad_history_latest(history, 1)->number, 1);
	ck_assert_uint_eq(triad_history_latest(history, 2)->port, 2);
	ck_assert_uint_eq(triad_history_latest(history, 3)->port, 1);
	ck_assert_ptr_null(triad_history_latest(history, 4));
	triad_history_free(history);
}
END_TEST

/* All builds of Triad must compute the same digest.  The expected value was computed by
 * separate code. */
/* What was done with its link says nothing of whether the port failed, or was disabled. */
START_TEST(test_memory_record_of_link_does_not_hide_that_of_port)
{
	static const uint8_t of_link[] = {TRIAD_ACTION_TAKE, TRIAD_ACTION_RETURN};
	struct triad_history *history = triad_history_new();
	struct triad_record disabled = a_record(1, 1, 7, 3), last;
	struct triad_history_digest before, after;

	ck_assert_int_eq(triad_history_merge(history, &disabled), 0);
	for (unsigned i = 0; i < 2; i++) {
		triad_history_digest(history, &before);
		last = a_record(1, 2 + i, 7, 3);
		last.action = of_link[i];
		ck_assert_int_eq(triad_history_merge(history, &last), 0);
		/* Members must agree on it. */
		triad_history_digest(history, &after);
		ck_assert_int_ne(memcmp(&before, &after, sizeof(before)), 0);
		ck_assert_uint_eq(triad_history_find(history, 7, 3)->number, 1);
		ck_assert(triad_history_is_last(history, &last));
		ck_assert(triad_history_is_last(history, &disabled));
	}
	ck_assert_uint_eq(triad_history_n(history), 2);
	disabled = a_record(1, 9, 7, 3);
	disabled.action = TRIAD_ACTION_RELEASE;
	ck_assert_int_eq(triad_history_merge(history, &disabled), 0);
	ck_assert_uint_eq(triad_history_find(history, 7, 3)->number, 9);
	ck_assert(triad_history_is_last(history, &last));
	triad_history_free(history);
}
END_TEST

START_TEST(test_memory_digest_is_a_known_number)
{
	struct triad_history *history = triad_history_new();
	struct triad_record record = a_record(7, 3, UINT64_C(0x0002c90300001234), 3);
	struct triad_history_digest digest;

	triad_history_digest(history, &digest);
	for (unsigned i = 0; i < TRIAD_HISTORY_N_BUCKETS; i++)
		ck_assert_uint_eq(digest.buckets[i], 0);
	ck_assert_int_eq(triad_history_merge(history, &record), 0);
	triad_history_digest(history, &digest);
	for (unsigned i = 0; i < TRIAD_HISTORY_N_BUCKETS; i++)
		ck_assert_uint_eq(
			digest.buckets[i], i == 16 ? UINT64_C(0x5fe7df17532bdee0) : 0);
	triad_history_free(history);
}
END_TEST

START_TEST(test_memory_digest_depends_on_every_field)
{
	struct triad_history *ours = triad_history_new();
	struct triad_record record = a_record(7, 3, 5, 1);
	struct triad_record others[11];

	for (unsigned i = 0; i < 11; i++)
		others[i] = record;
	others[0].term++;
	others[1].number++;
	others[2].at_us++;
	others[3].writer++;
	others[4].node_guid++;
	others[5].port++;
	others[6].action++;
	others[7].outcome++;
	others[8].reason++;
	others[9].remote_guid++;
	others[10].text[0] = 'x';
	triad_history_merge(ours, &record);
	for (unsigned i = 0; i < 11; i++) {
		struct triad_history *theirs = triad_history_new();

		triad_history_merge(theirs, &others[i]);
		ck_assert_msg(!is_same_digest(ours, theirs), "field %u", i);
		ck_assert_msg(!is_same_latest(ours, theirs), "field %u", i);
		triad_history_merge(theirs, &record);
		triad_history_merge(ours, &others[i]);
		ck_assert(i == 4 || i == 5 || is_same_digest(ours, theirs));
		ck_assert(is_same_latest(ours, theirs));
		triad_history_free(theirs);
		triad_history_free(ours);
		ours = triad_history_new();
		triad_history_merge(ours, &record);
	}
	triad_history_free(ours);
}
END_TEST

/* The other history gets the record from a line, like those of a journal or the
 * network. */
START_TEST(test_memory_text_not_clean_has_digest_of_clean_one)
{
	struct triad_history *ours = triad_history_new(), *theirs = triad_history_new();
	struct triad_record record = a_record(7, 3, 5, 1), read;
	char line[TRIAD_RECORD_LINE_SIZE];

	strcpy(record.text, "a\tb\xff");
	ck_assert_int_eq(triad_history_merge(ours, &record), 0);
	ck_assert_int_eq(
		triad_record_parse(line, triad_record_format(&record, line), &read), 0);
	ck_assert_int_eq(triad_history_merge(theirs, &read), 0);
	ck_assert(is_same_digest(ours, theirs));
	ck_assert_int_eq(triad_history_merge(ours, &read), EALREADY);
	triad_history_free(ours);
	triad_history_free(theirs);
}
END_TEST

/* Compares the history with a search of the whole list. */
static void check_against_list(const struct triad_history *history,
	const struct triad_record *records, unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		const struct triad_record *found = triad_history_find(
			history, records[i].node_guid, records[i].port);
		bool is_one_of_them = false;

		ck_assert_ptr_nonnull(found);
		ck_assert_int_ge(triad_record_compare(found, &records[i]), 0);
		for (unsigned j = 0; j < n; j++)
			is_one_of_them |= !triad_record_compare(found, &records[j]);
		ck_assert(is_one_of_them);
	}
}

static unsigned count_all(const struct triad_history *history)
{
	unsigned n = 0;

	for (unsigned bucket = 0; bucket <= TRIAD_HISTORY_N_BUCKETS; bucket++)
		for (uint32_t i = 0; triad_history_at(history, bucket, i); i++)
			n++;
	return n;
}

static void merge_all_at(struct triad_history *to, const struct triad_history *from)
{
	const struct triad_record *record;

	for (unsigned bucket = 0; bucket < TRIAD_HISTORY_N_BUCKETS; bucket++)
		for (uint32_t i = 0; (record = triad_history_at(from, bucket, i)); i++)
			triad_history_merge(to, record);
}

/* The records include some with equal number and term, which SMs should never write. */
START_TEST(test_memories_of_same_records_in_any_order_are_same)
{
	static struct triad_record records[N_RECORDS];
	struct triad_history *members[N_MEMBERS];

	seed();
	for (unsigned i = 0; i < N_RECORDS; i++)
		records[i] = a_record(
			pick(20), 1 + pick(20), 1 + pick(30), (uint8_t)(1 + pick(5)));
	for (unsigned i = 0; i < N_MEMBERS; i++) {
		members[i] = triad_history_new();
		for (unsigned n = 0; n < N_RECORDS / 2; n++)
			triad_history_merge(members[i], &records[pick(N_RECORDS)]);
	}
	/* Each record gets into at least one history. */
	for (unsigned i = 0; i < N_RECORDS; i++)
		triad_history_merge(members[pick(N_MEMBERS)], &records[i]);
	for (unsigned round = 0; round < 2; round++)
		for (unsigned i = 0; i < N_MEMBERS; i++)
			merge_all_at(members[(i + 1) % N_MEMBERS], members[i]);
	for (unsigned i = 0; i < N_MEMBERS; i++) {
		ck_assert(is_same_digest(members[0], members[i]));
		check_against_list(members[i], records, N_RECORDS);
		ck_assert_uint_eq(count_all(members[i]), triad_history_n(members[i]));
	}
	for (unsigned i = 0; i < N_MEMBERS; i++)
		triad_history_free(members[i]);
}
END_TEST

START_TEST(test_memory_history_keeps_latest)
{
	struct triad_history *history = triad_history_new();

	for (uint32_t i = 1; i <= TRIAD_HISTORY_N_LATEST + 10; i++) {
		struct triad_record record =
			a_record(1, i, 1 + i / 200, (uint8_t)(1 + i % 200));

		ck_assert_int_eq(triad_history_merge(history, &record), 0);
	}
	ck_assert_uint_eq(
		triad_history_latest(history, 0)->number, TRIAD_HISTORY_N_LATEST + 10);
	ck_assert_uint_eq(
		triad_history_latest(history, TRIAD_HISTORY_N_LATEST - 1)->number, 11);
	ck_assert_ptr_null(triad_history_latest(history, TRIAD_HISTORY_N_LATEST));
	ck_assert(!triad_history_is_in_latest(
		history, triad_history_find(history, 1, 11)));
	ck_assert(triad_history_is_in_latest(
		history, triad_history_find(history, 1, 12)));
	triad_history_free(history);
}
END_TEST

static int compare_records(const void *a, const void *b)
{
	return triad_record_compare(b, a);
}

/* More than are kept, of few ports, in any order, some twice: the list is that of all of
 * them, sorted. */
START_TEST(test_memory_latest_records_are_the_newest_of_all_in_their_order)
{
	enum { N = TRIAD_HISTORY_N_LATEST + 2000 };
	static struct triad_record records[N];
	struct triad_history *history = triad_history_new();
	struct triad_history *other = triad_history_new();
	uint32_t n_in = 0, at = 0;

	seed();
	for (uint32_t i = 0; i < N; i++)
		records[i] = a_record(pick(9), 1 + i, 1 + pick(3), 1);
	for (uint32_t i = 0; i < N; i++) {
		uint32_t k = (uint32_t)pick(i + 1);
		struct triad_record swapped = records[i];

		records[i] = records[k];
		records[k] = swapped;
	}
	for (uint32_t i = 0; i < N; i++) {
		triad_history_merge(history, &records[i]);
		triad_history_merge(history, &records[pick(i + 1)]);
		triad_history_merge(other, &records[N - 1 - i]);
	}
	qsort(records, N, sizeof(*records), compare_records);
	for (uint32_t i = 0; i < TRIAD_HISTORY_N_LATEST; i++)
		ck_assert(!triad_record_compare(
			triad_history_latest(history, i), &records[i]));
	ck_assert_ptr_null(triad_history_latest(history, TRIAD_HISTORY_N_LATEST));
	ck_assert(is_same_latest(history, other));
	ck_assert(is_same_digest(history, other));
	/* Each is in one bucket. */
	for (unsigned bucket = 0; bucket < TRIAD_HISTORY_N_BUCKETS; bucket++, at = 0)
		while (triad_history_latest_in(history, bucket, &at))
			n_in++;
	ck_assert_uint_eq(n_in, TRIAD_HISTORY_N_LATEST);
	triad_history_free(history);
	triad_history_free(other);
}
END_TEST

START_TEST(test_memory_full_takes_no_more_ports)
{
	struct triad_history *history = triad_history_new();
	struct triad_record record;

	for (uint32_t i = 0; i < TRIAD_HISTORY_MAX_PORTS; i++) {
		record = a_record(1, i + 1, 1 + i / 254, (uint8_t)(1 + i % 254));
		if (triad_history_merge(history, &record))
			ck_abort_msg("port %u", i);
	}
	ck_assert_uint_eq(triad_history_n(history), TRIAD_HISTORY_MAX_PORTS);
	record = a_record(1, 1, 99999, 1);
	ck_assert_int_eq(triad_history_merge(history, &record), ENOSPC);
	ck_assert_ptr_null(triad_history_find(history, 99999, 1));
	record = a_record(2, 1, 1, 1);
	ck_assert_int_eq(triad_history_merge(history, &record), 0);
	triad_history_free(history);
}
END_TEST

int main(void)
{
	TCase *cases = tcase_create("memory");

	tcase_add_test(cases, test_memory_newer_record_of_port_stays);
	tcase_add_test(cases, test_memory_record_of_link_does_not_hide_that_of_port);
	tcase_add_test(cases, test_memory_digest_is_a_known_number);
	tcase_add_test(cases, test_memory_digest_depends_on_every_field);
	tcase_add_test(cases, test_memory_text_not_clean_has_digest_of_clean_one);
	tcase_add_test(cases, test_memories_of_same_records_in_any_order_are_same);
	tcase_add_test(cases, test_memory_history_keeps_latest);
	tcase_add_test(
		cases, test_memory_latest_records_are_the_newest_of_all_in_their_order);
	tcase_add_test(cases, test_memory_full_takes_no_more_ports);
	return run_cases(cases);
}
