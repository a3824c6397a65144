/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* PathRecord and MultiPathRecord, octet by octet and bit by bit. */
#include "qos/request.h"

#include <string.h>

#include "ib/rates.h"
#include "tests/unit/run.h"

#define BIT(n) (UINT64_C(1) << (n))

static uint8_t record[256];
static struct triad_path_request request;

static void set_up(void)
{
	memset(record, 0, sizeof(record));
}

/* Sets a valid MTU and rate: a request with invalid ones would be refused. */
static void set_valid(unsigned mtu_at)
{
	record[mtu_at] = 5;
	record[mtu_at + 1] = 7;
}

static enum triad_sa_status read_path(uint64_t mask)
{
	return triad_path_request_read(record, mask, false, TRIAD_RATE_MAX, &request);
}

static enum triad_sa_status read_multi(size_t size, uint64_t mask)
{
	return triad_multipath_request_read(
		record, size, mask, TRIAD_RATE_MAX, &request);
}

#define BOTH_COUNTS (BIT(19) | BIT(20))

/* --- fields --- */

/* Sets each octet to its offset plus one. */
static void fill(size_t size)
{
	for (size_t i = 0; i < size; i++)
		record[i] = (uint8_t)(i + 1);
}

/* Row: Q2 */
START_TEST(test_path_record_fields_where_they_are)
{
	fill(64);
	ck_assert_int_eq(read_path(BIT(2) | BIT(3)), TRIAD_SA_OK);
	ck_assert_uint_eq(request.service_id, UINT64_C(0x0102030405060708));
	ck_assert_uint_eq(request.gids[1].prefix, UINT64_C(0x090a0b0c0d0e0f10));
	ck_assert_uint_eq(request.gids[1].guid, UINT64_C(0x1112131415161718));
	ck_assert_uint_eq(request.gids[0].prefix, UINT64_C(0x191a1b1c1d1e1f20));
	ck_assert_uint_eq(request.gids[0].guid, UINT64_C(0x2122232425262728));
	ck_assert_uint_eq(request.dlid, 0x292a);
	ck_assert_uint_eq(request.slid, 0x2b2c);
	ck_assert(!request.raw);
	ck_assert_uint_eq(request.tclass, 0x31);
	ck_assert(!request.reversible);
	ck_assert_uint_eq(request.n_paths, 0x32);
	ck_assert_uint_eq(request.pkey, 0x3334);
	ck_assert_uint_eq(request.qos_class, 0x353);
	ck_assert_uint_eq(request.sl, 6);
	ck_assert_uint_eq(request.mtu_selector, 0);
	ck_assert_uint_eq(request.mtu, 0x37);
	ck_assert_uint_eq(request.rate, 0x38);
	ck_assert_uint_eq(request.life, 0x39);
	ck_assert_uint_eq(request.n_sources, 1);
	ck_assert_uint_eq(request.n_destinations, 1);
	ck_assert(!request.multi && !request.one);
}
END_TEST

/* Row: Q2 */
START_TEST(test_multipath_record_fields_where_they_are)
{
	fill(64);
	record[15] = record[16] = 1;
	ck_assert_int_eq(read_multi(56, BOTH_COUNTS), TRIAD_SA_OK);
	ck_assert(request.multi && !request.one);
	ck_assert_uint_eq(request.tclass, 5);
	ck_assert_uint_eq(request.n_paths, 6);
	ck_assert_uint_eq(request.pkey, 0x0708);
	ck_assert_uint_eq(request.qos_class, 0x090);
	ck_assert_uint_eq(request.sl, 10);
	ck_assert_uint_eq(request.mtu, 11);
	ck_assert_uint_eq(request.rate, 12);
	ck_assert_uint_eq(request.life, 13);
	ck_assert_uint_eq(request.service_id, UINT64_C(0x0e12131415161718));
	ck_assert_uint_eq(request.n_sources, 1);
	ck_assert_uint_eq(request.n_destinations, 1);
	ck_assert_uint_eq(request.gids[0].prefix, UINT64_C(0x191a1b1c1d1e1f20));
	ck_assert_uint_eq(request.gids[0].guid, UINT64_C(0x2122232425262728));
	ck_assert_uint_eq(request.gids[1].prefix, UINT64_C(0x292a2b2c2d2e2f30));
	ck_assert_uint_eq(request.gids[1].guid, UINT64_C(0x3132333435363738));
}
END_TEST

/* Flags and selectors share octets with the fields after them. */
static void check_shared_octets(unsigned at, enum triad_sa_status (*read)(void))
{
	record[at] = 0x80;
	record[at + 5] = 0x80;
	record[at + 10] = 0x80 | 5;
	record[at + 11] = 0x40 | 22;
	record[at + 12] = 0xc0 | 63;
	ck_assert_int_eq(read(), TRIAD_SA_OK);
	ck_assert(request.raw && request.reversible);
	ck_assert_uint_eq(request.n_paths, 0);
	ck_assert_uint_eq(request.mtu_selector, TRIAD_SELECT_EXACTLY);
	ck_assert_uint_eq(request.mtu, 5);
	ck_assert_uint_eq(request.rate_selector, TRIAD_SELECT_LESS);
	ck_assert_uint_eq(request.rate, 22);
	ck_assert_uint_eq(request.life_selector, TRIAD_SELECT_BEST);
	ck_assert_uint_eq(request.life, 63);
	record[at] = 0x7f;
	record[at + 5] = 0x7f;
	ck_assert_int_eq(read(), TRIAD_SA_OK);
	ck_assert(!request.raw && !request.reversible);
	ck_assert_uint_eq(request.n_paths, 127);
}

static enum triad_sa_status read_path_of_nothing(void)
{
	return read_path(0);
}

static enum triad_sa_status read_multi_of_nothing(void)
{
	return read_multi(24, BOTH_COUNTS);
}

START_TEST(test_flags_and_selectors_apart_from_values)
{
	check_shared_octets(44, read_path_of_nothing);
	set_up();
	check_shared_octets(0, read_multi_of_nothing);
}
END_TEST

START_TEST(test_path_record_get_is_for_one)
{
	ck_assert_int_eq(
		triad_path_request_read(record, 0, true, TRIAD_RATE_MAX, &request),
		TRIAD_SA_OK);
	ck_assert(request.one);
}
END_TEST

/* --- the component mask --- */

/* The bits of 'has' for each component bit, or for each pair of a selector's and a
 * value's bit. */
struct component {
	unsigned first, n;
	unsigned has;
};

static const struct component of_path[] = {{0, 2, TRIAD_HAS_SERVICE_ID},
	{2, 1, TRIAD_HAS_DGID}, {3, 1, TRIAD_HAS_SGID}, {4, 1, TRIAD_HAS_DLID},
	{5, 1, TRIAD_HAS_SLID}, {6, 1, TRIAD_HAS_RAW}, {10, 1, TRIAD_HAS_TCLASS},
	{11, 1, TRIAD_HAS_REVERSIBLE}, {12, 1, TRIAD_HAS_N_PATHS},
	{13, 1, TRIAD_HAS_PKEY}, {14, 1, TRIAD_HAS_QOS_CLASS}, {15, 1, TRIAD_HAS_SL},
	{16, 2, TRIAD_HAS_MTU}, {18, 2, TRIAD_HAS_RATE}, {20, 2, TRIAD_HAS_LIFE}};

static const struct component of_multi[] = {{0, 1, TRIAD_HAS_RAW},
	{4, 1, TRIAD_HAS_TCLASS}, {5, 1, TRIAD_HAS_REVERSIBLE},
	{6, 1, TRIAD_HAS_N_PATHS}, {7, 1, TRIAD_HAS_PKEY}, {8, 1, TRIAD_HAS_QOS_CLASS},
	{9, 1, TRIAD_HAS_SL}, {10, 2, TRIAD_HAS_MTU}, {12, 2, TRIAD_HAS_RATE},
	{14, 2, TRIAD_HAS_LIFE}};

#define N(array) (sizeof(array) / sizeof((array)[0]))

static unsigned expected_has(const struct component *of, size_t n, uint64_t mask)
{
	unsigned has = 0;

	for (size_t i = 0; i < n; i++) {
		uint64_t bits = (of[i].n == 2 ? UINT64_C(3) : UINT64_C(1))
			<< of[i].first;

		if ((mask & bits) == bits)
			has |= of[i].has;
	}
	return has;
}

START_TEST(test_path_mask_each_bit_and_pair)
{
	set_valid(54);
	for (unsigned a = 0; a < 64; a++)
		for (unsigned b = 0; b < 64; b++) {
			uint64_t mask = BIT(a) | BIT(b);
			bool half = (mask & 3) == 1 || (mask & 3) == 2;

			ck_assert_int_eq(read_path(mask),
				half ? TRIAD_SA_INSUFFICIENT_COMPONENTS : TRIAD_SA_OK);
			if (!half)
				ck_assert_uint_eq(request.has,
					expected_has(of_path, N(of_path), mask));
			if (mask & BIT(3))
				ck_assert(half || request.n_sources == 1);
		}
}
END_TEST

START_TEST(test_multi_mask_each_bit_and_pair)
{
	set_valid(10);
	record[15] = record[16] = 1;
	for (unsigned a = 0; a < 64; a++)
		for (unsigned b = 0; b < 64; b++) {
			uint64_t mask = BOTH_COUNTS | BIT(a) | BIT(b);
			bool half = !(mask & BIT(16)) != !(mask & BIT(21));

			ck_assert_int_eq(read_multi(56, mask),
				half ? TRIAD_SA_INSUFFICIENT_COMPONENTS : TRIAD_SA_OK);
			if (half)
				continue;
			ck_assert_uint_eq(request.has,
				expected_has(of_multi, N(of_multi), mask) |
					(mask & BIT(16) ? TRIAD_HAS_SERVICE_ID : 0));
		}
}
END_TEST

START_TEST(test_multi_without_both_counts_refused)
{
	record[15] = record[16] = 1;
	ck_assert_int_eq(read_multi(56, BIT(19)), TRIAD_SA_INSUFFICIENT_COMPONENTS);
	ck_assert_int_eq(read_multi(56, BIT(20)), TRIAD_SA_INSUFFICIENT_COMPONENTS);
	ck_assert_int_eq(read_multi(56, 0), TRIAD_SA_INSUFFICIENT_COMPONENTS);
}
END_TEST

/* --- values --- */

START_TEST(test_mtu_or_rate_that_is_none_refused_when_asked_for)
{
	for (unsigned value = 0; value < 64; value++) {
		bool is_mtu = value >= 1 && value <= 5;
		bool is_rate = value >= 2 && value <= TRIAD_RATE_MAX;

		record[54] = record[10] = (uint8_t)(0x80 | value);
		record[55] = record[11] = (uint8_t)(0x80 | value);
		ck_assert_int_eq(read_path(BIT(16) | BIT(17)),
			is_mtu ? TRIAD_SA_OK : TRIAD_SA_REQUEST_INVALID);
		ck_assert_int_eq(read_path(BIT(18) | BIT(19)),
			is_rate ? TRIAD_SA_OK : TRIAD_SA_REQUEST_INVALID);
		ck_assert_int_eq(read_path(BIT(16) | BIT(19)), TRIAD_SA_OK);
		ck_assert_int_eq(read_multi(24, BOTH_COUNTS | BIT(10) | BIT(11)),
			is_mtu ? TRIAD_SA_OK : TRIAD_SA_REQUEST_INVALID);
		ck_assert_int_eq(read_multi(24, BOTH_COUNTS | BIT(12) | BIT(13)),
			is_rate ? TRIAD_SA_OK : TRIAD_SA_REQUEST_INVALID);
	}
}
END_TEST

/* --- lists of GIDs --- */

START_TEST(test_multi_gids_beyond_the_record_refused)
{
	record[15] = 2;
	record[16] = 1;
	ck_assert_int_eq(read_multi(24 + 48, BOTH_COUNTS), TRIAD_SA_OK);
	ck_assert_int_eq(read_multi(24 + 47, BOTH_COUNTS), TRIAD_SA_REQUEST_INVALID);
	ck_assert_int_eq(read_multi(24, BOTH_COUNTS), TRIAD_SA_REQUEST_INVALID);
	ck_assert_int_eq(read_multi(23, BOTH_COUNTS), TRIAD_SA_REQUEST_INVALID);
	ck_assert_int_eq(read_multi(0, BOTH_COUNTS), TRIAD_SA_REQUEST_INVALID);
	ck_assert_int_eq(read_multi(23, 0), TRIAD_SA_REQUEST_INVALID);
}
END_TEST

static void check_counts(unsigned sources, unsigned destinations, unsigned read_sources,
	unsigned read_destinations)
{
	record[15] = (uint8_t)sources;
	record[16] = (uint8_t)destinations;
	for (unsigned i = 0; i < 14; i++)
		record[24 + 16 * i + 15] = (uint8_t)(i + 1);
	ck_assert_int_eq(read_multi(sizeof(record), BOTH_COUNTS), TRIAD_SA_OK);
	ck_assert_uint_eq(request.n_sources, read_sources);
	ck_assert_uint_eq(request.n_destinations, read_destinations);
	for (unsigned i = 0; i < read_sources + read_destinations; i++)
		ck_assert_uint_eq(request.gids[i].guid, i + 1);
}

START_TEST(test_multi_first_11_gids_taken)
{
	check_counts(0, 0, 0, 0);
	check_counts(0, 3, 0, 3);
	check_counts(5, 6, 5, 6);
	check_counts(5, 9, 5, 6);
	check_counts(11, 1, 11, 0);
	check_counts(14, 2, 11, 0);
	check_counts(255, 255, 11, 0);
	check_counts(1, 255, 1, 10);
}
END_TEST

/* --- answers --- */

static const struct triad_path_record some_path = {
	.dgid = {UINT64_C(0xfe80000000000001), UINT64_C(0x0102030405060708)},
	.sgid = {UINT64_C(0xfe80000000000002), UINT64_C(0x1112131415161718)},
	.dlid = 0x2122,
	.slid = 0x3132,
	.pkey = 0x8142,
	.tclass = 0x51,
	.reversible = true,
	.sl = 0xb,
	.mtu = 4,
	.rate = 16,
	.life = 18,
	.preference = 2,
};

START_TEST(test_path_record_written_octet_for_octet)
{
	static const uint8_t expected[64] = {0, 0, 0, 0, 0, 0, 0, 0, 0xfe, 0x80, 0, 0,
		0, 0, 0, 1, 1, 2, 3, 4, 5, 6, 7, 8, 0xfe, 0x80, 0, 0, 0, 0, 0, 2, 0x11,
		0x12, 0x13, 0x14, 0x15, 0x16, 0x17, 0x18, 0x21, 0x22, 0x31, 0x32, 0, 0,
		0, 0, 0x51, 0x80, 0x81, 0x42, 0, 0x0b, 0x84, 0x90, 0x92, 2};

	memset(record, 0xee, sizeof(record));
	triad_path_record_write(&some_path, record);
	ck_assert_mem_eq(record, expected, 64);
	ck_assert_uint_eq(record[64], 0xee);
}
END_TEST

START_TEST(test_path_record_read_back_is_the_same)
{
	struct triad_path_record path;

	memset(&path, 0xee, sizeof(path));
	triad_path_record_write(&some_path, record);
	triad_path_record_read(record, &path);
	ck_assert_uint_eq(path.dgid.prefix, some_path.dgid.prefix);
	ck_assert_uint_eq(path.dgid.guid, some_path.dgid.guid);
	ck_assert_uint_eq(path.sgid.prefix, some_path.sgid.prefix);
	ck_assert_uint_eq(path.sgid.guid, some_path.sgid.guid);
	ck_assert_uint_eq(path.dlid, some_path.dlid);
	ck_assert_uint_eq(path.slid, some_path.slid);
	ck_assert_uint_eq(path.pkey, some_path.pkey);
	ck_assert_uint_eq(path.tclass, some_path.tclass);
	ck_assert(path.reversible);
	ck_assert_uint_eq(path.sl, some_path.sl);
	ck_assert_uint_eq(path.mtu, some_path.mtu);
	ck_assert_uint_eq(path.rate, some_path.rate);
	ck_assert_uint_eq(path.life, some_path.life);
	ck_assert_uint_eq(path.preference, some_path.preference);
	ck_assert_uint_eq(path.links, 0);
}
END_TEST

int main(void)
{
	TCase *cases = tcase_create("request");

	tcase_add_checked_fixture(cases, set_up, NULL);
	tcase_add_test(cases, test_path_record_fields_where_they_are);
	tcase_add_test(cases, test_multipath_record_fields_where_they_are);
	tcase_add_test(cases, test_flags_and_selectors_apart_from_values);
	tcase_add_test(cases, test_path_record_get_is_for_one);
	tcase_add_test(cases, test_path_mask_each_bit_and_pair);
	tcase_add_test(cases, test_multi_mask_each_bit_and_pair);
	tcase_add_test(cases, test_multi_without_both_counts_refused);
	tcase_add_test(cases, test_mtu_or_rate_that_is_none_refused_when_asked_for);
	tcase_add_test(cases, test_multi_gids_beyond_the_record_refused);
	tcase_add_test(cases, test_multi_first_11_gids_taken);
	tcase_add_test(cases, test_path_record_written_octet_for_octet);
	tcase_add_test(cases, test_path_record_read_back_is_the_same);
	return run_cases(cases);
}
