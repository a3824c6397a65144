/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "triad/folder.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "tests/unit/run.h"
#include "triad/file.h"
#include "triad/line_file.h"

#define NOBODY 65534
#define LINE "twenty octets or more of it\n"

/* FOLDER/real/file, and FOLDER/link, which leads to FOLDER/real. */
static char folder[TEST_FOLDER_SIZE], real[96], real_file[128], by_link[96],
	linked[128];

static void put_link(const char *target)
{
	(void)unlink(by_link);
	ck_assert_int_eq(symlink(target, by_link), 0);
}

static void begin(void)
{
	int fd;

	make_test_folder(folder);
	snprintf(real, sizeof(real), "%s/real", folder);
	snprintf(real_file, sizeof(real_file), "%s/file", real);
	snprintf(by_link, sizeof(by_link), "%s/link", folder);
	snprintf(linked, sizeof(linked), "%s/file", by_link);
	ck_assert_int_eq(mkdir(real, 0755), 0);
	fd = open(real_file, O_WRONLY | O_CREAT | O_CLOEXEC, 0640);
	ck_assert_int_ge(fd, 0);
	close(fd);
}

static void end(void)
{
	char command[160];

	snprintf(command, sizeof(command), "rm -rf '%s'", folder);
	ck_assert_int_eq(system(command), 0);
}

/* Whether the path leads to the real file. */
static int look(const char *path)
{
	struct stat found, status;
	int error = triad_folder_stat(path, &found);

	ck_assert_int_eq(stat(real_file, &status), 0);
	if (!error)
		ck_assert_uint_eq(found.st_ino, status.st_ino);
	return error;
}

START_TEST(test_path_without_links_leads_there)
{
	char path[256];
	const char *name;
	int fd;

	ck_assert_int_eq(look(real_file), 0);
	snprintf(path, sizeof(path), "%s/./real//../real/file", folder);
	ck_assert_int_eq(look(path), 0);
	ck_assert_int_eq(chdir(folder), 0);
	ck_assert_int_eq(look("real/file"), 0);
	ck_assert_int_eq(look("missing/file"), ENOENT);
	ck_assert_int_eq(look("real/file/file"), ENOTDIR);
	fd = triad_folder_open("/name", &name);
	ck_assert_int_ge(fd, 0);
	ck_assert_str_eq(name, "name");
	close(fd);
}
END_TEST

START_TEST(test_own_link_where_nobody_else_writes_followed)
{
	put_link(real);
	ck_assert_int_eq(look(linked), 0);
	put_link("real");
	ck_assert_int_eq(look(linked), 0);
	put_link("link");
	ck_assert_int_eq(look(linked), ELOOP);
}
END_TEST

START_TEST(test_link_where_others_write_not_followed)
{
	const char *why;

	put_link(real);
	ck_assert_int_eq(chmod(folder, 0777), 0);
	ck_assert_int_eq(look(linked), EPERM);
	ck_assert_int_eq(look(real_file), 0);
	snprintf(linked, sizeof(linked), "%s/link/new", folder);
	ck_assert_int_eq(triad_file_open_output(linked, O_WRONLY, 0640, &why), -EPERM);
	ck_assert_ptr_nonnull(why);
	ck_assert_int_eq(triad_file_replace(linked, "x", 1, 0600), EPERM);
	snprintf(real_file, sizeof(real_file), "%s/real/new", folder);
	ck_assert_int_eq(access(real_file, F_OK), -1);
}
END_TEST

START_TEST(test_link_of_others_in_sticky_folder_not_followed)
{
	put_link(real);
	ck_assert_int_eq(chmod(folder, 01777), 0);
	ck_assert_int_eq(look(linked), 0);
	if (geteuid())
		return;
	ck_assert_int_eq(lchown(by_link, NOBODY, NOBODY), 0);
	ck_assert_int_eq(look(linked), EPERM);
}
END_TEST

/* Somebody replaces the folder of an open file by a link. */
START_TEST(test_folder_swapped_nothing_renamed_behind_the_link)
{
	struct triad_line_file_params params = {
		.mode = 0640, .max_octets = 20, .keep = 2};
	char ours[96], renamed[192];
	struct triad_line_file file;
	struct stat status;

	ck_assert_int_eq(mkdir(by_link, 0755), 0);
	strcpy(params.path, linked);
	triad_line_file_init(&file);
	triad_line_file_configure(&file, &params);
	ck_assert_int_eq(triad_line_file_write(&file, LINE, sizeof(LINE) - 1), 0);
	ck_assert_int_eq(chmod(folder, 0777), 0);
	snprintf(ours, sizeof(ours), "%s/ours", folder);
	ck_assert_int_eq(rename(by_link, ours), 0);
	put_link(real);
	ck_assert_int_eq(triad_line_file_write(&file, LINE, sizeof(LINE) - 1), EPERM);
	ck_assert_ptr_nonnull(file.why);
	ck_assert_int_eq(stat(real_file, &status), 0);
	ck_assert_int_eq(status.st_size, 0);
	snprintf(renamed, sizeof(renamed), "%s.1", real_file);
	ck_assert_int_eq(access(renamed, F_OK), -1);
	/* When it is back, it goes on. */
	ck_assert_int_eq(unlink(by_link), 0);
	ck_assert_int_eq(rename(ours, by_link), 0);
	ck_assert_int_eq(triad_line_file_write(&file, LINE, sizeof(LINE) - 1), 0);
	triad_line_file_close(&file);
}
END_TEST

int main(void)
{
	TCase *cases = tcase_create("folder");

	tcase_add_checked_fixture(cases, begin, end);
	tcase_add_test(cases, test_path_without_links_leads_there);
	tcase_add_test(cases, test_own_link_where_nobody_else_writes_followed);
	tcase_add_test(cases, test_link_where_others_write_not_followed);
	tcase_add_test(cases, test_link_of_others_in_sticky_folder_not_followed);
	tcase_add_test(cases, test_folder_swapped_nothing_renamed_behind_the_link);
	return run_cases(cases);
}
