/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "lib/text.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "tests/unit/run.h"

#define ASSERT_CLEAN(from, to)                                                         \
	do {                                                                           \
		char text_[64];                                                        \
		snprintf(text_, sizeof(text_), "%s", from);                            \
		triad_text_clean(text_);                                               \
		ck_assert_str_eq(text_, to);                                           \
	} while (0)

START_TEST(test_clean_good_text_unchanged)
{
	ASSERT_CLEAN("", "");
	ASSERT_CLEAN("node-1 \tHCA-1", "node-1 \tHCA-1");
	ASSERT_CLEAN("Zürich 機", "Zürich 機");
}
END_TEST

START_TEST(test_clean_control_characters_replaced)
{
	ASSERT_CLEAN("a\nb\r\x1b[31m\x7f", "a?b??[31m?");
	ASSERT_CLEAN("a\xc2\x9b[31m", "a??[31m");
	ASSERT_CLEAN("\xc2\x80,\xc2\x9f,\xc2\xa0", "??,??,\xc2\xa0");
}
END_TEST

/* Characters that change the direction of text, are invisible, or break a line. */
static const char *const unseen[] = {
	"\u200e", "\u200f",                               /* marks of direction */
	"\u202a", "\u202b", "\u202c", "\u202d", "\u202e", /* embeddings, overrides */
	"\u2066", "\u2067", "\u2068", "\u2069",           /* isolates */
	"\u061c",                                         /* Arabic letter mark */
	"\u2028", "\u2029",                               /* separators */
	"\u00ad",                                         /* soft hyphen */
	"\u200b", "\u200c", "\u200d", "\u2060", "\ufeff", /* no width */
	"\ufff9", "\ufffb",                               /* annotations */
	"\U000e0001", "\U000e0041",                       /* tags */
	"\xc2\x80", "\xc2\x85", "\xc2\x9b", "\xc2\x9f",   /* C1 */
};

START_TEST(test_clean_unseen_characters_replaced)
{
	char from[16], to[16];

	snprintf(from, sizeof(from), "a%sz", unseen[_i]);
	snprintf(to, sizeof(to), "a%.*sz", (int)strlen(unseen[_i]), "????");
	ASSERT_CLEAN(from, to);
	ck_assert_uint_eq(triad_text_check(from, strlen(from)), 1);
}
END_TEST

START_TEST(test_clean_invalid_utf8_replaced)
{
	ASSERT_CLEAN("\xff", "?");
	ASSERT_CLEAN("a\xc3", "a?");
	ASSERT_CLEAN("\xe6\xa9x\xfe\xfez", "??x??z");
}
END_TEST

START_TEST(test_check_bad_octet_located)
{
	ck_assert_uint_eq(triad_text_check("a\tb", 3), 3);
	ck_assert_uint_eq(triad_text_check("", 0), 0);
	ck_assert_uint_eq(triad_text_check("ab\0c", 4), 2);
	ck_assert_uint_eq(triad_text_check("ab\x01", 3), 2);
	ck_assert_uint_eq(triad_text_check("a\xff\x01", 3), 1);
	ck_assert_uint_eq(triad_text_check("a\x01\xff", 3), 1);
	ck_assert_uint_eq(triad_text_check("\xc3\xbc", 1), 0);
}
END_TEST

START_TEST(test_append_full_buffer_cut)
{
	char text[8] = "abc";

	triad_text_append(text, sizeof(text), "%s", "defgh");
	ck_assert_str_eq(text, "abcdefg");
	triad_text_append(text, sizeof(text), "%s", "x");
	ck_assert_str_eq(text, "abcdefg");
}
END_TEST

START_TEST(test_number_decimal_read)
{
	unsigned value = 7;

	ck_assert(triad_text_number("0", &value));
	ck_assert_uint_eq(value, 0);
	ck_assert(triad_text_number("4294967295", &value));
	ck_assert_uint_eq(value, UINT_MAX);
	ck_assert(triad_text_number("0060", &value));
	ck_assert_uint_eq(value, 60);
}
END_TEST

START_TEST(test_number_anything_else_refused)
{
	static const char *const invalid[] = {"", "-1", "+1", " 1", "1 ", "1.0", "0x10",
		"4294967296", "99999999999999999999999", "1e3", "one"};
	unsigned value = 7;

	for (size_t i = 0; i < sizeof(invalid) / sizeof(invalid[0]); i++)
		ck_assert_msg(
			!triad_text_number(invalid[i], &value), "'%s'", invalid[i]);
	ck_assert_uint_eq(value, 7);
}
END_TEST

START_TEST(test_guid_hex_read)
{
	uint64_t guid = 0;

	ck_assert(triad_text_guid("0x0002c90300001234", &guid));
	ck_assert_uint_eq(guid, UINT64_C(0x2c90300001234));
	ck_assert(triad_text_guid("0XfFfFfFfFfFfFfFfF", &guid));
	ck_assert_uint_eq(guid, UINT64_MAX);
	ck_assert(triad_text_guid("0x1", &guid));
	ck_assert_uint_eq(guid, 1);
}
END_TEST

START_TEST(test_guid_anything_else_refused)
{
	static const char *const invalid[] = {"", "0", "0x", "1234", "0x0",
		"0x0000000000000000", "0x12345678901234567", "0x12g", "0x 1", "x1",
		"1x12", "0y12", "-0x1", "0x1 "};
	uint64_t guid = 7;

	for (size_t i = 0; i < sizeof(invalid) / sizeof(invalid[0]); i++)
		ck_assert_msg(!triad_text_guid(invalid[i], &guid), "'%s'", invalid[i]);
	ck_assert_uint_eq(guid, 7);
}
END_TEST

START_TEST(test_guess_slip_found)
{
	struct triad_text_guess guess = {.word = "windw"};

	ck_assert(!triad_text_guess_try(&guess, "enabled"));
	ck_assert(triad_text_guess_try(&guess, "window"));
	ck_assert(!triad_text_guess_try(&guess, "widow"));
}
END_TEST

START_TEST(test_guess_nearer_name_wins)
{
	struct triad_text_guess guess = {.word = "sweep_perod"};

	ck_assert(triad_text_guess_try(&guess, "sweep_prod"));
	ck_assert(triad_text_guess_try(&guess, "Sweep_Perod"));
	ck_assert(!triad_text_guess_try(&guess, "sweep_period"));
}
END_TEST

START_TEST(test_guess_equally_near_first_wins)
{
	struct triad_text_guess guess = {.word = "windw"};

	ck_assert(triad_text_guess_try(&guess, "window"));
	ck_assert(!triad_text_guess_try(&guess, "windww"));
}
END_TEST

START_TEST(test_guess_far_word_not_taken)
{
	char longest[80];
	struct triad_text_guess guess = {.word = "abc"};

	ck_assert(!triad_text_guess_try(&guess, "xyc"));
	ck_assert(!triad_text_guess_try(&guess, "abcde"));
	guess.word = "";
	ck_assert(!triad_text_guess_try(&guess, "a"));
	memset(longest, 'a', sizeof(longest));
	longest[sizeof(longest) - 1] = '\0';
	guess.word = longest;
	ck_assert(!triad_text_guess_try(&guess, longest));
}
END_TEST

/* The definition of the distance, computed recursively: tries each last step. */
static unsigned naive_distance(const char *a, size_t n_a, const char *b, size_t n_b)
{
	unsigned best, other;

	if (!n_a || !n_b)
		return (unsigned)(n_a + n_b);
	best = naive_distance(a, n_a - 1, b, n_b - 1) + (a[n_a - 1] != b[n_b - 1]);
	other = naive_distance(a, n_a - 1, b, n_b) + 1;
	best = other < best ? other : best;
	other = naive_distance(a, n_a, b, n_b - 1) + 1;
	best = other < best ? other : best;
	if (n_a > 1 && n_b > 1 && a[n_a - 1] == b[n_b - 2] &&
		a[n_a - 2] == b[n_b - 1]) {
		other = naive_distance(a, n_a - 2, b, n_b - 2) + 1;
		best = other < best ? other : best;
	}
	return best;
}

static void random_word(char *word, size_t size)
{
	size_t n = 1 + (size_t)rand() % (size - 2);

	for (size_t i = 0; i < n; i++)
		word[i] = (char)('a' + rand() % 3);
	word[n] = '\0';
}

START_TEST(test_guess_random_words_as_naive_distance)
{
	char a[9], b[9];

	srand(20240607);
	for (int i = 0; i < 3000; i++) {
		struct triad_text_guess guess = {.word = a};
		unsigned n;

		random_word(a, sizeof(a));
		random_word(b, sizeof(b));
		n = naive_distance(a, strlen(a), b, strlen(b));
		ck_assert_msg(triad_text_guess_try(&guess, b) ==
				(n <= (strlen(a) > 5 ? 2u : 1u)),
			"seed 20240607: '%s' and '%s' are %u apart", a, b, n);
	}
}
END_TEST

static const char *nearest_of(const char *word, const char *const *names)
{
	struct triad_text_nearest nearest = {.word = word};
	static char text[400];

	text[0] = '\0';
	for (; *names; names++)
		triad_text_nearest_try(&nearest, *names);
	triad_text_nearest_append(&nearest, text, sizeof(text));
	return text;
}

START_TEST(test_nearest_alike_before_beginning_before_part)
{
	static const char *const names[] = {
		"perf show", "show all", "shwo", "zzz", "qos show", "shwo", NULL};
	static const char *const many[] = {"leaf-10", "leaf-1", "Leaf-2", "leaf-2",
		"leaf-01", "spine-leaf-1", NULL};

	ck_assert_str_eq(
		nearest_of("show", names), "'shwo', 'show all' or 'perf show'");
	ck_assert_str_eq(
		nearest_of("SHOW", names), "'shwo', 'show all' or 'perf show'");
	ck_assert_str_eq(nearest_of("leaf-1", many), "'leaf-1', 'leaf-10' or 'Leaf-2'");
}
END_TEST

START_TEST(test_nearest_few_or_none)
{
	static const char *const names[] = {"window", "node_window", NULL};
	static const char *const blank[] = {"", NULL};

	ck_assert_str_eq(nearest_of("windw", names), "'window'");
	ck_assert_str_eq(nearest_of("w", blank), "");
	ck_assert_str_eq(nearest_of("window", names), "'window' or 'node_window'");
	ck_assert_str_eq(nearest_of("far", names), "");
	ck_assert_str_eq(nearest_of("w", names), "");
	ck_assert_str_eq(nearest_of("", names), "");
}
END_TEST

int main(void)
{
	TCase *cases = tcase_create("text");

	tcase_add_test(cases, test_clean_good_text_unchanged);
	tcase_add_test(cases, test_clean_control_characters_replaced);
	tcase_add_loop_test(cases, test_clean_unseen_characters_replaced, 0,
		(int)(sizeof(unseen) / sizeof(*unseen)));
	tcase_add_test(cases, test_clean_invalid_utf8_replaced);
	tcase_add_test(cases, test_check_bad_octet_located);
	tcase_add_test(cases, test_append_full_buffer_cut);
	tcase_add_test(cases, test_number_decimal_read);
	tcase_add_test(cases, test_number_anything_else_refused);
	tcase_add_test(cases, test_guid_hex_read);
	tcase_add_test(cases, test_guid_anything_else_refused);
	tcase_add_test(cases, test_guess_slip_found);
	tcase_add_test(cases, test_guess_nearer_name_wins);
	tcase_add_test(cases, test_guess_equally_near_first_wins);
	tcase_add_test(cases, test_guess_far_word_not_taken);
	tcase_add_test(cases, test_guess_random_words_as_naive_distance);
	tcase_add_test(cases, test_nearest_alike_before_beginning_before_part);
	tcase_add_test(cases, test_nearest_few_or_none);
	return run_cases(cases);
}
