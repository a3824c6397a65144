/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "lib/fields.h"

#include <string.h>

#include "tests/unit/run.h"

struct letter {
	char name[8];
	bool is_new, is_last;
	uint8_t small;
	uint16_t half;
	bool is_other;
	uint32_t word;
	uint64_t wide;
	float value;
};

static const struct triad_field fields[] = {
	TRIAD_TEXT(struct letter, name),
	TRIAD_FLAG(struct letter, is_new, 0x1),
	TRIAD_FLAG(struct letter, is_last, 0x4),
	TRIAD_FIELD(struct letter, small, 1),
	TRIAD_FIELD(struct letter, half, 2),
	TRIAD_FLAG(struct letter, is_other, 0x80),
	TRIAD_FIELD(struct letter, word, 3),
	TRIAD_FIELD(struct letter, wide, 8),
	TRIAD_FIELD(struct letter, value, 4),
};

#define N_FIELDS (sizeof(fields) / sizeof(fields[0]))

static const uint8_t octets[] = {2, 'a', 'b', 0x4, 0x12, 0x34, 0x56, 0x80, 0x01, 0x02,
	0x03, 1, 2, 3, 4, 5, 6, 7, 8, 0x3f, 0x80, 0, 0};

static struct triad_wire read_letter(const uint8_t *from, size_t n, struct letter *to)
{
	struct triad_wire wire;

	triad_wire_init(&wire, (void *)(uintptr_t)from, n);
	triad_fields_get(&wire, fields, N_FIELDS, to);
	return wire;
}

START_TEST(test_put_is_the_table_octet_for_octet)
{
	const struct letter letter = {
		"ab", false, true, 0x12, 0x3456, true, 0x010203, 0x0102030405060708, 1};
	uint8_t to[sizeof(octets)];
	struct triad_wire wire;

	triad_wire_init(&wire, to, sizeof(to));
	triad_fields_put(&wire, fields, N_FIELDS, &letter);
	ck_assert(!wire.failed);
	ck_assert_uint_eq(wire.at, sizeof(octets));
	ck_assert_mem_eq(to, octets, sizeof(octets));
}
END_TEST

START_TEST(test_get_is_what_was_put)
{
	struct letter letter;
	struct triad_wire wire = read_letter(octets, sizeof(octets), &letter);

	ck_assert(!wire.failed);
	ck_assert_uint_eq(wire.at, sizeof(octets));
	ck_assert_str_eq(letter.name, "ab");
	ck_assert(!letter.is_new && letter.is_last && letter.is_other);
	ck_assert_uint_eq(letter.small, 0x12);
	ck_assert_uint_eq(letter.half, 0x3456);
	ck_assert_uint_eq(letter.word, 0x010203);
	ck_assert_uint_eq(letter.wide, 0x0102030405060708);
	ck_assert_float_eq(letter.value, 1);
}
END_TEST

START_TEST(test_get_flags_unknown_are_ignored)
{
	uint8_t from[sizeof(octets)];
	struct letter letter;

	memcpy(from, octets, sizeof(from));
	from[3] = 0xfb;
	ck_assert(!read_letter(from, sizeof(from), &letter).failed);
	ck_assert(letter.is_new && !letter.is_last);
}
END_TEST

START_TEST(test_get_cut_anywhere_fails)
{
	struct letter letter;

	for (size_t n = 0; n < sizeof(octets); n++)
		ck_assert(read_letter(octets, n, &letter).failed);
}
END_TEST

START_TEST(test_text_longer_than_its_member_fails)
{
	uint8_t from[sizeof(octets) + 8] = {8, '1', '2', '3', '4', '5', '6', '7', '8'};
	struct letter letter;

	ck_assert(read_letter(from, sizeof(from), &letter).failed);
	from[0] = 7;
	ck_assert(!read_letter(from, sizeof(from), &letter).failed);
	ck_assert_str_eq(letter.name, "1234567");
	from[3] = 0;
	ck_assert(!read_letter(from, sizeof(from), &letter).failed);
	ck_assert_str_eq(letter.name, "12?4567");
}
END_TEST

START_TEST(test_text_without_end_is_cut)
{
	struct letter letter = {.small = 1};
	uint8_t to[64];
	struct triad_wire wire;

	memset(letter.name, 'x', sizeof(letter.name));
	triad_wire_init(&wire, to, sizeof(to));
	triad_fields_put(&wire, fields, N_FIELDS, &letter);
	ck_assert_uint_eq(to[0], sizeof(letter.name) - 1);
}
END_TEST

int main(void)
{
	TCase *cases = tcase_create("fields");

	tcase_add_test(cases, test_put_is_the_table_octet_for_octet);
	tcase_add_test(cases, test_get_is_what_was_put);
	tcase_add_test(cases, test_get_flags_unknown_are_ignored);
	tcase_add_test(cases, test_get_cut_anywhere_fails);
	tcase_add_test(cases, test_text_longer_than_its_member_fails);
	tcase_add_test(cases, test_text_without_end_is_cut);
	return run_cases(cases);
}
