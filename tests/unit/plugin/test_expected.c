/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "plugin/election/expected.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/unit/run.h"

static char path[] = "/tmp/expected-XXXXXX", reason[200];
static uint64_t generation, hash;

static void set_up(void)
{
	close(mkstemp(path));
	generation = hash = 99;
	*reason = '\0';
}

static void tear_down(void)
{
	unlink(path);
}

static int identify(const char *text, size_t size)
{
	FILE *file = fopen(path, "w");

	ck_assert_ptr_nonnull(file);
	ck_assert_uint_eq(fwrite(text, 1, size, file), size);
	fclose(file);
	return triad_expected_identify(
		path, &generation, &hash, reason, sizeof(reason));
}

static int identify_text(const char *text)
{
	return identify(text, strlen(text));
}

static const struct {
	const char *text;
	uint64_t generation;
} good[] = {
	{"generation 7\n", 7},
	{"# x\n\n  generation = 8\nport 1\n", 8},
	{"generation=9", 9},
	{"generation 9223372036854775808\n", UINT64_C(1) << 63},
	{"generation 0\ngeneration 3\n", 3},
	{"generation 3\ngeneration 4\n", 3},
};

START_TEST(test_expected_with_generation_is_identified)
{
	ck_assert_int_eq(identify_text(good[_i].text), 0);
	ck_assert_uint_eq(generation, good[_i].generation);
	ck_assert_uint_ne(hash, 0);
}
END_TEST

/* The first octets of SHA-256, so that everyone has the same. */
START_TEST(test_expected_hash_is_of_the_octets)
{
	ck_assert_int_eq(identify_text("generation 7\n"), 0);
	ck_assert_uint_eq(hash, UINT64_C(0xbe0139b4cd2333bd));
}
END_TEST

START_TEST(test_expected_with_other_contents_has_another_hash)
{
	uint64_t before;

	ck_assert_int_eq(identify_text("generation 7\nport 1\n"), 0);
	before = hash;
	ck_assert_int_eq(identify_text("generation 7\nport 2\n"), 0);
	ck_assert_uint_ne(hash, before);
}
END_TEST

START_TEST(test_expected_with_other_octets_behind_a_zero_has_another_hash)
{
	uint64_t before;

	ck_assert_int_eq(identify("generation 7\na\0b\n", 17), 0);
	before = hash;
	ck_assert_int_eq(identify("generation 7\na\0c\n", 17), 0);
	ck_assert_uint_ne(hash, before);
}
END_TEST

static const char *const bad[] = {"", "port 1\n", "generation\n", "generation x\n",
	"generation 0\n", "# generation 7\n", "generations 7\n", "generation -7\n",
	"generation 99999999999999999999\n", "generation 7x\n"};

START_TEST(test_expected_without_generation_is_refused)
{
	ck_assert_int_eq(identify_text(bad[_i]), EINVAL);
	ck_assert_uint_eq(generation, 0);
	ck_assert_uint_eq(hash, 0);
	ck_assert_ptr_nonnull(strstr(reason, "no line 'generation N'"));
}
END_TEST

START_TEST(test_expected_of_line_that_is_long_is_not_one_in_its_middle)
{
	char text[5000];

	memset(text, ' ', sizeof(text));
	text[0] = 'x';
	memcpy(text + 4095, "generation 7\n", 14);
	ck_assert_int_eq(identify_text(text), EINVAL);
}
END_TEST

START_TEST(test_expected_missing_reason_says_so)
{
	ck_assert_int_eq(triad_expected_identify("/nowhere/x", &generation, &hash,
				 reason, sizeof(reason)),
		ENOENT);
	ck_assert_str_eq(reason, "/nowhere/x: No such file or directory");
	ck_assert_uint_eq(generation, 0);
}
END_TEST

START_TEST(test_expected_that_is_a_fifo_or_folder_does_not_hang)
{
	ck_assert_int_eq(triad_expected_identify(
				 "/tmp", &generation, &hash, reason, sizeof(reason)),
		EINVAL);
	unlink(path);
	ck_assert_int_eq(mkfifo(path, 0600), 0);
	ck_assert_int_eq(triad_expected_identify(
				 path, &generation, &hash, reason, sizeof(reason)),
		EINVAL);
}
END_TEST

int main(void)
{
	TCase *cases = tcase_create("expected");

	tcase_add_checked_fixture(cases, set_up, tear_down);
	tcase_add_loop_test(cases, test_expected_with_generation_is_identified, 0,
		sizeof(good) / sizeof(*good));
	tcase_add_test(cases, test_expected_hash_is_of_the_octets);
	tcase_add_test(cases, test_expected_with_other_contents_has_another_hash);
	tcase_add_test(
		cases, test_expected_with_other_octets_behind_a_zero_has_another_hash);
	tcase_add_loop_test(cases, test_expected_without_generation_is_refused, 0,
		sizeof(bad) / sizeof(*bad));
	tcase_add_test(
		cases, test_expected_of_line_that_is_long_is_not_one_in_its_middle);
	tcase_add_test(cases, test_expected_missing_reason_says_so);
	tcase_add_test(cases, test_expected_that_is_a_fifo_or_folder_does_not_hang);
	return run_cases(cases);
}
