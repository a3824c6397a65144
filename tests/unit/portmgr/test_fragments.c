/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Datagrams in fragments, one per MAD: in whatever order fragments arrive, a
 * reassembled datagram equals one that was sent. */
#include "portmgr/cluster/fragments.h"

#include <string.h>

#include "tests/unit/run.h"

#define GUID UINT64_C(0x0002c90300000001)

static uint8_t datagram[TRIAD_SEAL_MAX_SIZE];
static uint8_t mads[TRIAD_FRAGMENT_MAX][TRIAD_MAD_SIZE];
static struct triad_fragments fragments;

static void set_up(void)
{
	memset(&fragments, 0, sizeof(fragments));
	for (size_t i = 0; i < sizeof(datagram); i++)
		datagram[i] = (uint8_t)(i * 31 + i / 7);
}

/* Makes the MADs of a datagram; returns their number. */
static unsigned make(uint32_t number, size_t size)
{
	unsigned n = triad_fragment_count(size);

	ck_assert_uint_le(n, TRIAD_FRAGMENT_MAX);
	for (unsigned i = 0; i < n; i++)
		triad_fragment_make(mads[i], GUID, number, datagram, size, i);
	return n;
}

/* Row: E1 */
START_TEST(test_every_size_arrives)
{
	for (size_t size = 1; size <= TRIAD_SEAL_MAX_SIZE; size++) {
		unsigned n = make((uint32_t)size, size);

		for (unsigned i = 0; i < n; i++) {
			ck_assert_uint_eq(
				triad_fragment_sender(mads[i], TRIAD_MAD_SIZE), GUID);
			ck_assert_uint_eq(triad_fragments_add(&fragments, mads[i]),
				i + 1 < n ? 0 : size);
		}
		ck_assert_mem_eq(fragments.octets, datagram, size);
	}
	ck_assert_uint_eq(TRIAD_FRAGMENT_MAX, 6);
}
END_TEST

START_TEST(test_order_and_repetition_do_not_matter)
{
	make(7, 500);
	ck_assert_uint_eq(triad_fragments_add(&fragments, mads[2]), 0);
	ck_assert_uint_eq(triad_fragments_add(&fragments, mads[0]), 0);
	ck_assert_uint_eq(triad_fragments_add(&fragments, mads[0]), 0);
	ck_assert_uint_eq(triad_fragments_add(&fragments, mads[2]), 0);
	ck_assert_uint_eq(triad_fragments_add(&fragments, mads[1]), 500);
	ck_assert_mem_eq(fragments.octets, datagram, 500);
}
END_TEST

START_TEST(test_datagram_that_lacks_a_part_does_not_mix_with_the_next)
{
	make(7, 500);
	triad_fragments_add(&fragments, mads[0]);
	triad_fragments_add(&fragments, mads[1]);
	for (size_t i = 0; i < sizeof(datagram); i++)
		datagram[i] ^= 0xff;
	make(8, 500);
	ck_assert_uint_eq(triad_fragments_add(&fragments, mads[2]), 0);
	ck_assert_uint_eq(triad_fragments_add(&fragments, mads[1]), 0);
	ck_assert_uint_eq(fragments.n_cut, 1);
	ck_assert_uint_eq(triad_fragments_add(&fragments, mads[0]), 500);
	ck_assert_mem_eq(fragments.octets, datagram, 500);
	make(9, 100);
	ck_assert_uint_eq(triad_fragments_add(&fragments, mads[0]), 100);
	ck_assert_uint_eq(fragments.n_cut, 1);
}
END_TEST

/* Checks that the first MAD is refused with 'value' as the octet 'at'. */
static void check_refused(size_t at, uint8_t value)
{
	uint8_t mad[TRIAD_MAD_SIZE];

	make(7, 100);
	memcpy(mad, mads[0], sizeof(mad));
	mad[at] = value;
	ck_assert_uint_eq(triad_fragment_sender(mad, TRIAD_MAD_SIZE), 0);
	ck_assert_uint_eq(triad_fragments_add(&fragments, mad), 0);
}

START_TEST(test_what_is_no_fragment_is_refused)
{
	check_refused(1, 0x3c);  /* class */
	check_refused(3, 0x83);  /* method */
	check_refused(38, 0x55); /* OUI */
	check_refused(40, 'X');  /* magic */
	check_refused(44, 2);    /* version */
	check_refused(45, 1);    /* index behind the end */
	check_refused(46, 0x04); /* size: 0x0464 is more than there can be */
	make(7, 100);
	ck_assert_uint_eq(triad_fragment_sender(mads[0], TRIAD_MAD_SIZE - 1), 0);
	mads[0][47] = 0; /* size */
	ck_assert_uint_eq(triad_fragment_sender(mads[0], TRIAD_MAD_SIZE), 0);
}
END_TEST

int main(void)
{
	TCase *cases = tcase_create("fragments");

	tcase_add_checked_fixture(cases, set_up, NULL);
	tcase_add_test(cases, test_every_size_arrives);
	tcase_add_test(cases, test_order_and_repetition_do_not_matter);
	tcase_add_test(
		cases, test_datagram_that_lacks_a_part_does_not_mix_with_the_next);
	tcase_add_test(cases, test_what_is_no_fragment_is_refused);
	return run_cases(cases);
}
