/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "lib/hash.h"

#include "tests/unit/run.h"

/* Messages contain hashes, so the functions must never change. */
START_TEST(test_hashes_are_the_known_ones)
{
	/* [FNV-1a, test vectors of its authors] */
	ck_assert_uint_eq(triad_hash_octets(TRIAD_HASH_START, "", 0),
		UINT64_C(0xcbf29ce484222325));
	ck_assert_uint_eq(triad_hash_octets(TRIAD_HASH_START, "foobar", 6),
		UINT64_C(0x85944171f73967e8));
	/* [FIPS 180-2, B.1] */
	ck_assert_uint_eq(triad_hash_sha256("abc", 3), UINT64_C(0xba7816bf8f01cfea));
}
END_TEST

START_TEST(test_hash_of_pieces_is_that_of_the_whole)
{
	uint64_t hash = triad_hash_octets(TRIAD_HASH_START, "foo", 3);

	ck_assert_uint_eq(
		triad_hash_octets(hash, "bar", 3), UINT64_C(0x85944171f73967e8));
}
END_TEST

START_TEST(test_hash_of_words_differs_in_the_low_and_the_high_half)
{
	for (unsigned bit = 0; bit < 64; bit++) {
		uint64_t changed = triad_hash_word(1, 7) ^
			triad_hash_word(1, 7 ^ UINT64_C(1) << bit);

		ck_assert_uint_ne((uint32_t)changed, 0);
		ck_assert_uint_ne(changed >> 32, 0);
	}
}
END_TEST

int main(void)
{
	TCase *cases = tcase_create("hash");

	tcase_add_test(cases, test_hashes_are_the_known_ones);
	tcase_add_test(cases, test_hash_of_pieces_is_that_of_the_whole);
	tcase_add_test(cases, test_hash_of_words_differs_in_the_low_and_the_high_half);
	return run_cases(cases);
}
