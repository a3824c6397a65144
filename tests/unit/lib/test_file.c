/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Checks whether files are trusted, appending to files, and replacing files. */
#include "triad/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/unit/mentions.h"

/* The linker replaces the system's function with this (--wrap). */
int __real_fsync(int fd);
int __wrap_fsync(int fd);

static unsigned n_files_synced, n_folders_synced;
static bool fails_files, fails_folders;

int __wrap_fsync(int fd)
{
	struct stat status;
	bool is_folder = !fstat(fd, &status) && S_ISDIR(status.st_mode);

	errno = EIO;
	if (is_folder ? fails_folders : fails_files)
		return -1;
	n_folders_synced += is_folder;
	n_files_synced += !is_folder;
	return __real_fsync(fd);
}

static char folder[TEST_FOLDER_SIZE], path[128], other[128],
	reason[TRIAD_FILE_REASON_SIZE];
static const char *why;

static void set_up(void)
{
	umask(022);
	make_test_folder(folder);
	snprintf(path, sizeof(path), "%s/file", folder);
	snprintf(other, sizeof(other), "%s/other", folder);
	n_files_synced = n_folders_synced = 0;
	fails_files = fails_folders = false;
}

static void tear_down(void)
{
	char command[256];

	snprintf(command, sizeof(command), "rm -rf %s", folder);
	ck_assert_int_eq(system(command), 0);
}

static void make(const char *name, mode_t mode)
{
	int fd = open(name, O_WRONLY | O_CREAT | O_EXCL, 0600);

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(fchmod(fd, mode), 0);
	close(fd);
}

static void check_trusted(const char *name)
{
	ck_assert_msg(!triad_file_check_trusted(name, false, reason), "%s", reason);
}

static void check_refused(const char *name, const char *words)
{
	ck_assert_int_eq(triad_file_check_trusted(name, false, reason), EPERM);
	assert_mentions(reason, words);
	assert_mentions(reason, folder);
}

/* --- trust --- */

START_TEST(test_trust_own_file_in_sticky_folder_accepted)
{
	make(path, 0644);
	check_trusted(path);
	ck_assert_int_eq(triad_file_check_folder(path, reason), 0);
	ck_assert_int_eq(chmod(folder, 01777), 0);
	check_trusted(path);
}
END_TEST

START_TEST(test_trust_file_that_others_may_write_refused_until_mended)
{
	char mend[256];

	make(path, _i ? 0666 : 0660);
	check_refused(path, _i ? "write mode 0666" : "write mode 0660");
	snprintf(mend, sizeof(mend), "chmod go-w %s", path);
	ck_assert_msg(strstr(reason, mend) != NULL, "%s", reason);
	ck_assert_int_eq(system(mend), 0);
	check_trusted(path);
}
END_TEST

START_TEST(test_trust_folder_that_others_may_write_refused_until_mended)
{
	char inner[160], mend[256];

	snprintf(inner, sizeof(inner), "%s/inner", folder);
	ck_assert_int_eq(mkdir(inner, 0755), 0);
	strcat(inner, "/file");
	make(inner, 0600);
	ck_assert_int_eq(chmod(folder, _i ? 0777 : 0775), 0);
	check_refused(inner, "write folder");
	ck_assert_int_eq(triad_file_check_folder(inner, reason), EPERM);
	snprintf(mend, sizeof(mend), "chmod go-w %s", folder);
	ck_assert_msg(strstr(reason, mend) != NULL, "%s", reason);
	ck_assert_int_eq(system(mend), 0);
	check_trusted(inner);
}
END_TEST

START_TEST(test_trust_what_belongs_to_others_refused)
{
	if (geteuid())
		return;
	make(path, 0600);
	ck_assert_int_eq(chown(path, 65534, -1), 0);
	check_refused(path, "65534 chown root");
	ck_assert_int_eq(chown(path, 0, -1), 0);
	check_trusted(path);
	ck_assert_int_eq(chown(folder, 65534, -1), 0);
	check_refused(path, "65534 chown root");
	ck_assert_int_eq(chown(folder, 0, -1), 0);
	ck_assert_int_eq(symlink(path, other), 0);
	check_trusted(other);
	ck_assert_int_eq(lchown(other, 65534, -1), 0);
	check_refused(other, "65534 chown -h root");
}
END_TEST

START_TEST(test_trust_links_are_followed_to_what_they_lead_to)
{
	char inner[160], link[160];

	snprintf(inner, sizeof(inner), "%s/inner", folder);
	snprintf(link, sizeof(link), "%s/link", folder);
	ck_assert_int_eq(mkdir(inner, 0777), 0);
	ck_assert_int_eq(chmod(inner, 0777), 0);
	strcat(inner, "/file");
	make(inner, 0600);
	ck_assert_int_eq(symlink("inner/../inner/./file", other), 0);
	ck_assert_int_eq(symlink(other, link), 0);
	check_refused(link, "its folder ");
	inner[strlen(inner) - 5] = '\0';
	ck_assert_int_eq(chmod(inner, 0755), 0);
	check_trusted(link);
	ck_assert_int_eq(symlink(path, path), 0);
	ck_assert_int_eq(triad_file_check_trusted(path, false, reason), ELOOP);
}
END_TEST

START_TEST(test_trust_second_name_in_shared_folder_refused)
{
	make(path, 0600);
	ck_assert_int_eq(link(path, other), 0);
	check_trusted(path);
	ck_assert_int_eq(chmod(folder, 01777), 0);
	check_refused(path, "second name");
	ck_assert_int_eq(unlink(other), 0);
	check_trusted(path);
}
END_TEST

START_TEST(test_trust_secret_that_others_may_read_refused)
{
	make(path, 0640);
	check_trusted(path);
	ck_assert_int_eq(triad_file_check_trusted(path, true, reason), EPERM);
	assert_mentions(reason, "0640 chmod 600");
}
END_TEST

START_TEST(test_trust_missing_file_reported)
{
	ck_assert_int_eq(triad_file_check_trusted(path, false, reason), ENOENT);
	ck_assert_str_eq(reason, strerror(ENOENT));
	ck_assert_int_eq(triad_file_check_folder(path, reason), 0);
}
END_TEST

START_TEST(test_trust_relative_path_is_looked_at_from_here)
{
	make(path, 0600);
	ck_assert_int_eq(chdir(folder), 0);
	check_trusted("file");
	ck_assert_int_eq(triad_file_check_folder("file", reason), 0);
	ck_assert_int_eq(chmod(folder, 0777), 0);
	check_refused("file", "write folder");
	ck_assert_int_eq(chdir("/"), 0);
}
END_TEST

/* --- output --- */

static int open_output(void)
{
	int fd = triad_file_open_output(path, O_WRONLY, 0640, &why);

	if (fd >= 0)
		close(fd);
	return fd < 0 ? fd : 0;
}

START_TEST(test_read_gets_all_pieces_to_the_end_or_what_is_asked_for)
{
	char octets[8];
	int ends[2];
	size_t n;

	/* A read from a pipe may return less than was asked for. */
	ck_assert_int_eq(pipe(ends), 0);
	ck_assert_int_eq(triad_write_all(ends[1], "abc", 3), 0);
	ck_assert_int_eq(triad_write_all(ends[1], "defgh", 5), 0);
	close(ends[1]);
	ck_assert_int_eq(triad_read_all(ends[0], octets, 2, &n), 0);
	ck_assert_uint_eq(n, 2);
	ck_assert_int_eq(triad_read_all(ends[0], octets, sizeof(octets), &n), 0);
	ck_assert_uint_eq(n, 6);
	ck_assert_int_eq(memcmp(octets, "cdefgh", 6), 0);
	close(ends[0]);
	ck_assert_int_eq(triad_read_all(ends[0], octets, sizeof(octets), &n), EBADF);
	ck_assert_uint_eq(n, 0);
}
END_TEST

START_TEST(test_output_is_made_with_its_mode)
{
	struct stat status;

	umask(_i ? 0777 : 0);
	ck_assert_int_eq(open_output(), 0);
	umask(022);
	ck_assert_int_eq(stat(path, &status), 0);
	ck_assert_uint_eq(status.st_mode & 07777, 0640);
	/* An existing file keeps the mode that the administrator gave it. */
	ck_assert_int_eq(chmod(path, 0644), 0);
	ck_assert_int_eq(open_output(), 0);
	ck_assert_int_eq(stat(path, &status), 0);
	ck_assert_uint_eq(status.st_mode & 07777, 0644);
}
END_TEST

static void check_output_refused(int error, const char *words)
{
	ck_assert_int_eq(open_output(), -error);
	assert_mentions(why, words);
}

START_TEST(test_output_links_are_not_followed)
{
	ck_assert_int_eq(symlink(other, path), 0);
	check_output_refused(EMEDIUMTYPE, "symbolic link");
	ck_assert_int_ne(access(other, F_OK), 0);
	ck_assert_int_eq(unlink(path), 0);
	make(other, 0600);
	ck_assert_int_eq(link(other, path), 0);
	check_output_refused(EPERM, "a hard link");
	ck_assert_int_eq(unlink(other), 0);
	ck_assert_int_eq(open_output(), 0);
}
END_TEST

START_TEST(test_output_of_others_is_refused)
{
	make(path, 0666);
	check_output_refused(EPERM, "write chmod go-w");
	ck_assert_int_eq(chmod(path, 0640), 0);
	ck_assert_int_eq(open_output(), 0);
	if (geteuid())
		return;
	ck_assert_int_eq(chown(path, 65534, -1), 0);
	check_output_refused(EPERM, "belongs to another user");
}
END_TEST

START_TEST(test_output_no_file_is_refused)
{
	ck_assert_int_eq(mkfifo(path, 0600), 0);
	check_output_refused(EMEDIUMTYPE, "regular file");
	ck_assert_int_eq(unlink(path), 0);
	ck_assert_int_eq(mkdir(path, 0700), 0);
	check_output_refused(EMEDIUMTYPE, "folder");
	ck_assert_int_eq(rmdir(path), 0);
	strcat(path, "/none");
	check_output_refused(ENOENT, strerror(ENOENT));
}
END_TEST

/* --- replaced --- */

static void check_text(const char *expected)
{
	char text[32] = "";
	int fd = open(path, O_RDONLY);

	ck_assert_int_ge(fd, 0);
	ck_assert_int_ge(read(fd, text, sizeof(text) - 1), 0);
	close(fd);
	ck_assert_str_eq(text, expected);
}

START_TEST(test_replace_is_on_disk_with_its_name)
{
	struct stat status;

	ck_assert_int_eq(triad_file_replace(path, "one", 3, 0600), 0);
	ck_assert_uint_eq(n_files_synced, 1);
	ck_assert_uint_eq(n_folders_synced, 1);
	ck_assert_int_eq(triad_file_replace(path, "two", 3, 0600), 0);
	check_text("two");
	ck_assert_int_eq(stat(path, &status), 0);
	ck_assert_uint_eq(status.st_mode & 07777, 0600);
	ck_assert_uint_eq(n_folders_synced, 2);
}
END_TEST

START_TEST(test_replace_that_fails_is_reported)
{
	char beside[160];

	snprintf(beside, sizeof(beside), "%s.new", path);
	ck_assert_int_eq(triad_file_replace(path, "one", 3, 0600), 0);
	fails_files = true;
	ck_assert_int_eq(triad_file_replace(path, "two", 3, 0600), EIO);
	check_text("one");
	ck_assert_int_ne(access(beside, F_OK), 0);
	fails_files = false;
	/* The file has its new name, but a crash may undo that. */
	fails_folders = true;
	ck_assert_int_eq(triad_file_replace(path, "two", 3, 0600), EIO);
	fails_folders = false;
	ck_assert_int_eq(triad_file_replace(path, "two", 3, 0600), 0);
	check_text("two");
}
END_TEST

/* A link that another user put at the temporary name is replaced, not followed. */
START_TEST(test_replace_file_beside_is_no_way_out)
{
	char beside[160];

	snprintf(beside, sizeof(beside), "%s.new", path);
	make(other, 0600);
	ck_assert_int_eq(symlink(other, beside), 0);
	ck_assert_int_eq(triad_file_replace(path, "one", 3, 0600), 0);
	check_text("one");
	strcpy(path, other);
	check_text("");
}
END_TEST

START_TEST(test_replace_folder_missing_is_made)
{
	ck_assert_int_eq(rmdir(folder), 0);
	ck_assert_int_eq(triad_file_replace(path, "one", 3, 0600), 0);
	check_text("one");
	strcpy(other, path);
	strcat(path, "/a/b");
	ck_assert_int_eq(triad_file_replace(path, "one", 3, 0600), ENOTDIR);
}
END_TEST

int main(void)
{
	TCase *cases = tcase_create("file");

	tcase_add_checked_fixture(cases, set_up, tear_down);
	tcase_add_test(cases, test_trust_own_file_in_sticky_folder_accepted);
	tcase_add_loop_test(cases,
		test_trust_file_that_others_may_write_refused_until_mended, 0, 2);
	tcase_add_loop_test(cases,
		test_trust_folder_that_others_may_write_refused_until_mended, 0, 2);
	tcase_add_test(cases, test_trust_what_belongs_to_others_refused);
	tcase_add_test(cases, test_trust_links_are_followed_to_what_they_lead_to);
	tcase_add_test(cases, test_trust_second_name_in_shared_folder_refused);
	tcase_add_test(cases, test_trust_secret_that_others_may_read_refused);
	tcase_add_test(cases, test_trust_missing_file_reported);
	tcase_add_test(cases, test_trust_relative_path_is_looked_at_from_here);
	tcase_add_loop_test(cases, test_output_is_made_with_its_mode, 0, 2);
	tcase_add_test(cases, test_output_links_are_not_followed);
	tcase_add_test(cases, test_output_of_others_is_refused);
	tcase_add_test(
		cases, test_read_gets_all_pieces_to_the_end_or_what_is_asked_for);
	tcase_add_test(cases, test_output_no_file_is_refused);
	tcase_add_test(cases, test_replace_is_on_disk_with_its_name);
	tcase_add_test(cases, test_replace_that_fails_is_reported);
	tcase_add_test(cases, test_replace_file_beside_is_no_way_out);
	tcase_add_test(cases, test_replace_folder_missing_is_made);
	return run_cases(cases);
}
