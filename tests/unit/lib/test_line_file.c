/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "triad/line_file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/unit/run.h"
#include "triad/file.h"

static char folder[TEST_FOLDER_SIZE], paths[5][96];
static struct triad_line_file file;

static void setup(void)
{
	struct triad_line_file_params params = {
		.mode = 0640, .max_octets = 20, .keep = 2};

	make_test_folder(folder);
	snprintf(paths[0], sizeof(paths[0]), "%s/log", folder);
	for (unsigned i = 1; i < 5; i++)
		snprintf(paths[i], sizeof(paths[i]), "%s/log.%u", folder, i);
	snprintf(params.path, sizeof(params.path), "%s", paths[0]);
	triad_line_file_init(&file);
	triad_line_file_configure(&file, &params);
}

static void teardown(void)
{
	triad_line_file_close(&file);
	for (unsigned i = 0; i < 5; i++)
		unlink(paths[i]);
	rmdir(folder);
}

static int write_line(const char *line)
{
	return triad_line_file_write(&file, line, strlen(line));
}

static void assert_has(unsigned i, const char *text)
{
	char found[128] = "";
	FILE *from = fopen(paths[i], "r");
	size_t n = from ? fread(found, 1, sizeof(found) - 1, from) : 0;

	if (from)
		fclose(from);
	found[n] = '\0';
	ck_assert_str_eq(found, text);
}

START_TEST(test_full_file_renamed_and_oldest_lost)
{
	char line[16];

	for (unsigned i = 0; i < 9; i++) {
		snprintf(line, sizeof(line), "line %u...\n", i);
		ck_assert_int_eq(write_line(line), 0);
	}
	assert_has(0, "line 8...\n");
	assert_has(1, "line 6...\nline 7...\n");
	assert_has(2, "line 4...\nline 5...\n");
	ck_assert_int_eq(access(paths[3], F_OK), -1);
}
END_TEST

START_TEST(test_line_longer_than_allowed_written_alone)
{
	ck_assert_int_eq(write_line("one\n"), 0);
	ck_assert_int_eq(write_line("a line of more than twenty octets\n"), 0);
	assert_has(0, "a line of more than twenty octets\n");
	assert_has(1, "one\n");
}
END_TEST

START_TEST(test_file_renamed_or_removed_by_others_opened_anew)
{
	struct stat status;

	ck_assert_int_eq(write_line("one\n"), 0);
	ck_assert_int_eq(rename(paths[0], paths[4]), 0);
	ck_assert_int_eq(write_line("two\n"), 0);
	assert_has(0, "two\n");
	assert_has(4, "one\n");
	ck_assert_int_eq(unlink(paths[0]), 0);
	ck_assert_int_eq(write_line("three\n"), 0);
	assert_has(0, "three\n");
	ck_assert_int_eq(stat(paths[0], &status), 0);
	ck_assert_uint_eq(status.st_mode & 07777, 0640);
}
END_TEST

START_TEST(test_link_with_its_name_not_followed)
{
	ck_assert_int_eq(write_line("one\n"), 0);
	ck_assert_int_eq(rename(paths[0], paths[4]), 0);
	ck_assert_int_eq(symlink(paths[4], paths[0]), 0);
	ck_assert_int_ne(write_line("two\n"), 0);
	ck_assert_ptr_nonnull(file.why);
	assert_has(4, "one\n");
	ck_assert_int_eq(unlink(paths[0]), 0);
	ck_assert_int_eq(write_line("three\n"), 0);
	assert_has(0, "three\n");
}
END_TEST

START_TEST(test_renaming_link_moves_the_link)
{
	ck_assert_int_eq(symlink(paths[4], paths[1]), 0);
	ck_assert_int_eq(write_line("twenty octets are it\n"), 0);
	ck_assert_int_eq(write_line("another\n"), 0);
	assert_has(1, "twenty octets are it\n");
	ck_assert_int_eq(access(paths[4], F_OK), -1);
	ck_assert_int_eq(unlink(paths[2]), 0);
}
END_TEST

START_TEST(test_reported_once_for_file_and_errno)
{
	struct triad_file_report reported = {0};

	ck_assert_int_eq(triad_file_report(&reported, "/a", 0), TRIAD_FILE_NO_NEWS);
	ck_assert_int_eq(
		triad_file_report(&reported, "/a", ENOSPC), TRIAD_FILE_IN_TROUBLE);
	ck_assert_int_eq(
		triad_file_report(&reported, "/a", ENOSPC), TRIAD_FILE_NO_NEWS);
	ck_assert_int_eq(
		triad_file_report(&reported, "/a", EIO), TRIAD_FILE_IN_TROUBLE);
	/* An error that was reported before isn't reported again. */
	ck_assert_int_eq(
		triad_file_report(&reported, "/a", ENOSPC), TRIAD_FILE_NO_NEWS);
	/* The same errno of another file is reported. */
	ck_assert_int_eq(
		triad_file_report(&reported, "/b", ENOSPC), TRIAD_FILE_IN_TROUBLE);
	ck_assert_int_eq(
		triad_file_report(&reported, "/b", ENOSPC), TRIAD_FILE_NO_NEWS);
	ck_assert_int_eq(triad_file_report(&reported, "/b", 0), TRIAD_FILE_WELL_AGAIN);
	ck_assert_int_eq(triad_file_report(&reported, "/b", 0), TRIAD_FILE_NO_NEWS);
	ck_assert_int_eq(
		triad_file_report(&reported, "/b", ENOSPC), TRIAD_FILE_IN_TROUBLE);
	/* Another file without errors causes no report. */
	ck_assert_int_eq(triad_file_report(&reported, "/c", 0), TRIAD_FILE_NO_NEWS);
}
END_TEST

int main(void)
{
	TCase *cases = tcase_create("line_file");

	tcase_add_checked_fixture(cases, setup, teardown);
	tcase_add_test(cases, test_full_file_renamed_and_oldest_lost);
	tcase_add_test(cases, test_line_longer_than_allowed_written_alone);
	tcase_add_test(cases, test_file_renamed_or_removed_by_others_opened_anew);
	tcase_add_test(cases, test_link_with_its_name_not_followed);
	tcase_add_test(cases, test_renaming_link_moves_the_link);
	tcase_add_test(cases, test_reported_once_for_file_and_errno);
	return run_cases(cases);
}
