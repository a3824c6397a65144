/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "plugin/log_tail.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/unit/run.h"

static struct triad_log_tail tail;
static char folder[TEST_FOLDER_SIZE], path[TEST_FOLDER_SIZE + 8],
	other[TEST_FOLDER_SIZE + 8];
static char taken[4 * TRIAD_LOG_TAIL_SIZE]; /* lines, each with '|' behind it */

static void set_up(void)
{
	make_test_folder(folder);
	snprintf(path, sizeof(path), "%s/log", folder);
	snprintf(other, sizeof(other), "%s/other", folder);
	triad_log_tail_init(&tail, path);
}

static void tear_down(void)
{
	triad_log_tail_clear(&tail);
	unlink(path);
	unlink(other);
	rmdir(folder);
}

static void add_to(const char *file, const char *text)
{
	FILE *stream = fopen(file, "a");

	ck_assert_ptr_nonnull(stream);
	ck_assert_int_ge(fputs(text, stream), 0);
	ck_assert_int_eq(fclose(stream), 0);
}

static void take(void *context, const char *line)
{
	(void)context;
	ck_assert_uint_lt(strlen(line), TRIAD_LOG_TAIL_LINE);
	ck_assert_uint_lt(strlen(taken) + strlen(line) + 2, sizeof(taken));
	strcat(strcat(taken, line), "|");
}

static const char *read_lines(void)
{
	taken[0] = '\0';
	ck_assert(!triad_log_tail_read(&tail, take, NULL));
	return taken;
}

START_TEST(test_tail_takes_whole_lines_once)
{
	ck_assert_str_eq(read_lines(), "");
	ck_assert(!triad_log_tail_is_open(&tail));
	add_to(path, "one\ntwo\nthr");
	ck_assert_str_eq(read_lines(), "one|two|");
	ck_assert(triad_log_tail_is_open(&tail));
	ck_assert_str_eq(read_lines(), "");
	add_to(path, "ee\n\n");
	ck_assert_str_eq(read_lines(), "three||");
}
END_TEST

START_TEST(test_tail_follows_a_file_that_is_replaced_or_cut)
{
	add_to(path, "one\nend without a li");
	ck_assert_str_eq(read_lines(), "one|");
	ck_assert_int_eq(rename(path, other), 0);
	ck_assert_str_eq(read_lines(), "");
	ck_assert(!triad_log_tail_is_open(&tail));
	add_to(path, "new\n");
	ck_assert_str_eq(read_lines(), "new|");
	ck_assert_int_eq(truncate(path, 0), 0);
	ck_assert_str_eq(read_lines(), "");
	add_to(path, "n\n");
	ck_assert_str_eq(read_lines(), "n|");
}
END_TEST

static void add_lines(unsigned n)
{
	FILE *stream = fopen(path, "a");

	for (unsigned i = 0; i < n; i++)
		fprintf(stream, "line %u\n", i);
	ck_assert_int_eq(fclose(stream), 0);
}

START_TEST(test_tail_begins_near_the_end_with_a_whole_line)
{
	unsigned first = 0;

	add_lines(20000);
	ck_assert_int_eq(sscanf(read_lines(), "line %u|", &first), 1);
	ck_assert_uint_gt(first, 10000);
	ck_assert_ptr_nonnull(strstr(taken, "|line 19999|"));
	/* That is no loss. */
	ck_assert_uint_eq(tail.n_skipped, 0);
}
END_TEST

START_TEST(test_tail_skips_what_comes_too_fast)
{
	unsigned first = 0;

	add_to(path, "a part of a");
	ck_assert_str_eq(read_lines(), "");
	add_lines(20000);
	ck_assert_int_eq(sscanf(read_lines(), "line %u|", &first), 1);
	ck_assert_ptr_nonnull(strstr(taken, "|line 19999|"));
	ck_assert_uint_gt(tail.n_skipped, 0);
	add_to(path, "one\n");
	ck_assert_str_eq(read_lines(), "one|");
}
END_TEST

START_TEST(test_tail_cuts_long_lines_and_shows_no_zeros)
{
	char line[3 * TRIAD_LOG_TAIL_LINE];
	FILE *stream;

	memset(line, 'x', sizeof(line));
	line[sizeof(line) - 1] = '\0';
	add_to(path, line);
	add_to(path, "\nshort\n");
	ck_assert_uint_eq(strlen(read_lines()), TRIAD_LOG_TAIL_LINE - 1 + 1 + 6);
	stream = fopen(path, "a");
	fwrite("a\0b\n", 4, 1, stream);
	fclose(stream);
	ck_assert_str_eq(read_lines(), "a?b|");
}
END_TEST

START_TEST(test_tail_of_what_is_no_file)
{
	ck_assert_int_eq(mkfifo(path, 0600), 0);
	ck_assert_str_eq(read_lines(), "");
	ck_assert(!triad_log_tail_is_open(&tail));
	triad_log_tail_init(&tail, NULL);
	ck_assert_str_eq(read_lines(), "");
}
END_TEST

int main(void)
{
	TCase *cases = tcase_create("log tail");

	tcase_add_checked_fixture(cases, set_up, tear_down);
	tcase_add_test(cases, test_tail_takes_whole_lines_once);
	tcase_add_test(cases, test_tail_follows_a_file_that_is_replaced_or_cut);
	tcase_add_test(cases, test_tail_begins_near_the_end_with_a_whole_line);
	tcase_add_test(cases, test_tail_skips_what_comes_too_fast);
	tcase_add_test(cases, test_tail_cuts_long_lines_and_shows_no_zeros);
	tcase_add_test(cases, test_tail_of_what_is_no_file);
	return run_cases(cases);
}
