/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "portmgr/sa/sa_set.h"

#include <errno.h>

#include "tests/random.h"
#include "tests/unit/portmgr/sa_records.h"
#include "tests/unit/scarce_memory.h"

static struct triad_sa_set *set;
static struct list list;
static uint64_t changed[TRIAD_SA_SET_N_GROUPS];

static void set_up(void)
{
	set = triad_sa_set_new();
	ck_assert_ptr_nonnull(set);
}

static void tear_down(void)
{
	triad_sa_set_free(set);
	clear(&list);
}

static unsigned n_changed(void)
{
	unsigned n = 0;

	for (unsigned i = 0; i < TRIAD_SA_SET_N_GROUPS; i++)
		n += (unsigned)__builtin_popcountll(changed[i]);
	return n;
}

static void take(void)
{
	ck_assert_int_eq(triad_sa_set_take(set, list.octets, list.size, changed), 0);
}

static void check_sums(void)
{
	for (unsigned i = 0; i < TRIAD_SA_SET_N_GROUPS; i++) {
		uint64_t sum = 0;

		for (unsigned j = 0; j < TRIAD_SA_SET_PER_GROUP; j++)
			sum += triad_sa_set_bucket(set, i * TRIAD_SA_SET_PER_GROUP + j)
				       .digest;
		ck_assert_uint_eq(sum, triad_sa_set_group_digest(set, i));
	}
}

/* The digest must differ if two records exchange their last octets. */
START_TEST(test_digest_of_exchanged_values_differs)
{
	for (uint64_t port = 0; port < 8; port++) {
		uint64_t sums[2] = {0, 0};

		for (unsigned i = 0; i < 4; i++) {
			struct triad_sa_record record = a_member(1, port + 2 * (i % 2));
			uint8_t octets[TRIAD_SA_RECORD_SIZE];
			size_t n;

			record.member.is_alias = i / 2 == i % 2;
			n = triad_sa_record_encode(&record, octets);
			sums[i / 2] += triad_sa_record_digest(octets, n);
		}
		ck_assert_uint_ne(sums[0], sums[1]);
	}
}
END_TEST

static void check_round_trip(const struct triad_sa_record *record)
{
	uint8_t octets[TRIAD_SA_RECORD_SIZE], again[TRIAD_SA_RECORD_SIZE];
	size_t n = triad_sa_record_encode(record, octets);
	struct triad_sa_record read;

	ck_assert_uint_eq(triad_sa_record_size(octets, n), n);
	ck_assert_uint_eq(triad_sa_record_size(octets, n - 1), 0);
	ck_assert(triad_sa_record_decode(octets, n, &read));
	ck_assert_uint_eq(triad_sa_record_encode(&read, again), n);
	ck_assert_mem_eq(octets, again, n);
	/* The decoder ignores octets that a later release adds at the end. */
	ck_assert(!triad_sa_record_decode(octets, n - 1, &read));
	octets[1]++;
	octets[n] = 9;
	ck_assert(triad_sa_record_decode(octets, n + 1, &read));
	octets[0] = TRIAD_SA_KINDS_END;
	ck_assert(!triad_sa_record_decode(octets, n + 1, &read));
}

START_TEST(test_record_of_each_kind_is_read_as_it_was_written)
{
	struct triad_sa_record all[] = {some_guids(3, 1), a_group(5), a_member(5, 6),
		a_subscription(7, 66), a_service(8, "name")};

	for (unsigned i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		check_round_trip(&all[i]);
}
END_TEST

START_TEST(test_set_has_what_it_took)
{
	struct triad_sa_record records[] = {a_group(1), a_member(1, 2), a_member(1, 3)};
	struct triad_sa_counts counts;

	for (unsigned i = 0; i < 3; i++)
		add(&list, &records[i]);
	take();
	counts = triad_sa_set_counts(set);
	ck_assert_uint_eq(counts.n[TRIAD_SA_GROUP], 1);
	ck_assert_uint_eq(counts.n[TRIAD_SA_MEMBER], 2);
	ck_assert_uint_eq(counts.octets, list.size);
	ck_assert_uint_ge(n_changed(), 1);
	take();
	ck_assert_uint_eq(n_changed(), 0);
	/* The same records in another order are no change. */
	list.size = 0;
	for (unsigned i = 3; i--;)
		add(&list, &records[i]);
	take();
	ck_assert_uint_eq(n_changed(), 0);
	records[1].member.scope_state = 0x24;
	list.size = 0;
	for (unsigned i = 0; i < 3; i++)
		add(&list, &records[i]);
	take();
	ck_assert_uint_eq(n_changed(), 1);
	list.size = 0;
	take();
	ck_assert_uint_eq(triad_sa_set_counts(set).octets, 0);
	check_sums();
}
END_TEST

START_TEST(test_bucket_replaced_by_what_another_set_has)
{
	struct triad_sa_set *copy = triad_sa_set_new();
	struct triad_sa_record record;

	for (uint64_t i = 0; i < 3000; i++) {
		record = a_member(i % 50, i);
		add(&list, &record);
	}
	take();
	for (unsigned i = 0; i < TRIAD_SA_SET_N_BUCKETS; i++) {
		struct triad_sa_bucket from = triad_sa_set_bucket(set, i);

		if (from.size)
			ck_assert_int_eq(triad_sa_set_put(copy, i, from.digest + 1,
						 from.octets, from.size),
				EINVAL);
		if (from.size > 40)
			ck_assert_int_eq(triad_sa_set_put(copy, i, from.digest,
						 from.octets, from.size - 1),
				EINVAL);
		ck_assert_int_eq(
			triad_sa_set_put(copy, i, from.digest, from.octets, from.size),
			0);
	}
	for (unsigned i = 0; i < TRIAD_SA_SET_N_GROUPS; i++)
		ck_assert_uint_eq(triad_sa_set_group_digest(set, i),
			triad_sa_set_group_digest(copy, i));
	ck_assert_uint_eq(triad_sa_set_counts(copy).n[TRIAD_SA_MEMBER], 3000);
	ck_assert_uint_eq(
		triad_sa_set_counts(copy).octets, triad_sa_set_counts(set).octets);
	triad_sa_set_free(copy);
}
END_TEST

START_TEST(test_set_leaves_out_what_is_over_a_cap)
{
	uint32_t limit = triad_sa_set_limit(TRIAD_SA_GROUP);
	struct triad_sa_record record;

	for (uint64_t i = 0; i < limit + 7; i++) {
		record = a_group(i);
		add(&list, &record);
	}
	take();
	ck_assert_uint_eq(triad_sa_set_counts(set).n[TRIAD_SA_GROUP], limit);
	ck_assert_uint_eq(triad_sa_set_counts(set).n_left_out, 7);
	/* Records with keys chosen to be in one bucket affect only that bucket. */
	list.size = 0;
	for (unsigned i = 0; i < 2000; i++) {
		record = a_service(1, "one");
		add(&list, &record);
	}
	take();
	ck_assert_uint_le(triad_sa_set_counts(set).octets, TRIAD_SA_BUCKET_MAX_OCTETS);
	ck_assert_uint_gt(triad_sa_set_counts(set).n_left_out, 0);
	check_sums();
}
END_TEST

START_TEST(test_set_without_memory_stays_as_it_was)
{
	struct triad_sa_record record;
	struct triad_sa_counts before;

	for (uint64_t i = 0; i < 100; i++) {
		record = a_member(1, i);
		add(&list, &record);
	}
	take();
	before = triad_sa_set_counts(set);
	list.size = 0;
	for (uint64_t i = 50; i < 150; i++) {
		record = a_member(1, i);
		add(&list, &record);
	}
	for (unsigned n = 1;; n++) {
		int error;

		refuse(n);
		error = triad_sa_set_take(set, list.octets, list.size, changed);
		if (!refused())
			break;
		ck_assert_int_eq(error, ENOMEM);
		ck_assert_uint_eq(triad_sa_set_counts(set).octets, before.octets);
		check_sums();
	}
	ck_assert_uint_gt(n_changed(), 50);
	check_sums();
}
END_TEST

int main(void)
{
	TCase *cases = tcase_create("sa_set");

	tcase_add_checked_fixture(cases, set_up, tear_down);
	tcase_add_test(cases, test_digest_of_exchanged_values_differs);
	tcase_add_test(cases, test_record_of_each_kind_is_read_as_it_was_written);
	tcase_add_test(cases, test_set_has_what_it_took);
	tcase_add_test(cases, test_bucket_replaced_by_what_another_set_has);
	tcase_add_test(cases, test_set_leaves_out_what_is_over_a_cap);
	tcase_add_test(cases, test_set_without_memory_stays_as_it_was);
	return run_cases(cases);
}
