/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Files that may exist at the path of the control socket. */
#include "service/control_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "tests/unit/mentions.h"
#include "tests/unit/run.h"

/* The linker replaces the system's function with this (--wrap). */
int __real_unlink(const char *path);
int __wrap_unlink(const char *path);

static bool is_unlink_failing;

int __wrap_unlink(const char *path)
{
	errno = EPERM;
	return is_unlink_failing ? -1 : __real_unlink(path);
}

static char folder[TEST_FOLDER_SIZE];
static struct sockaddr_un address = {.sun_family = AF_UNIX};
static struct triad_control_file file;
static char logged[1024];

static void record_line(void *context, enum triad_log_level level, const char *line)
{
	snprintf(logged, sizeof(logged), "%s", line);
}

static struct triad_log test_log = {.write = record_line, .level = TRIAD_LOG_INFO};

static void set_up(void)
{
	make_test_folder(folder);
	snprintf(address.sun_path, sizeof(address.sun_path), "%s/control", folder);
}

static void tear_down(void)
{
	char lock[sizeof(address.sun_path) + 8];

	snprintf(lock, sizeof(lock), "%s.lock", address.sun_path);
	is_unlink_failing = false;
	unlink(lock);
	remove(address.sun_path);
	ck_assert_int_eq(rmdir(folder), 0);
}

static int open_file(void)
{
	return triad_control_file_open(&file, address.sun_path, &test_log);
}

static void leave_dead_socket(void)
{
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(bind(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	close(fd);
}

START_TEST(test_open_dead_socket_replaced)
{
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	leave_dead_socket();
	ck_assert_int_eq(open_file(), 0);
	ck_assert_int_eq(connect(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	ck_assert_str_eq(logged, "");
	close(fd);
	triad_control_file_close(&file);
}
END_TEST

START_TEST(test_open_dead_socket_that_stays_reported)
{
	leave_dead_socket();
	is_unlink_failing = true;
	ck_assert_int_eq(open_file(), EPERM);
	ck_assert_ptr_nonnull(strstr(logged, "control: Operation not permitted;"));
}
END_TEST

START_TEST(test_open_other_file_with_that_name_stays)
{
	struct stat status;

	close(open(address.sun_path, O_CREAT | O_WRONLY, 0600));
	ck_assert_int_eq(open_file(), EEXIST);
	assert_line_with(logged, "not a socket");
	ck_assert_int_eq(lstat(address.sun_path, &status), 0);
	ck_assert(S_ISREG(status.st_mode));
}
END_TEST

START_TEST(test_share_link_with_that_name_is_not_followed)
{
	char target[sizeof(address.sun_path) + 8];
	struct stat status;

	ck_assert_int_eq(open_file(), 0);
	ck_assert_int_eq(triad_control_file_share(&file, true), 0);
	ck_assert_int_eq(stat(address.sun_path, &status), 0);
	ck_assert_uint_eq(status.st_mode & 0777, 0666);
	ck_assert_int_eq(triad_control_file_share(&file, false), 0);
	ck_assert_int_eq(stat(address.sun_path, &status), 0);
	ck_assert_uint_eq(status.st_mode & 0777, 0600);
	snprintf(target, sizeof(target), "%s.target", address.sun_path);
	close(open(target, O_CREAT | O_WRONLY, 0600));
	ck_assert_int_eq(unlink(address.sun_path), 0);
	ck_assert_int_eq(symlink(target, address.sun_path), 0);
	ck_assert_int_eq(triad_control_file_share(&file, true), EEXIST);
	ck_assert_int_eq(stat(target, &status), 0);
	ck_assert_uint_eq(status.st_mode & 0777, 0600);
	ck_assert_int_eq(unlink(target), 0);
	triad_control_file_close(&file);
}
END_TEST

int main(void)
{
	TCase *cases = tcase_create("control_file");

	tcase_add_checked_fixture(cases, set_up, tear_down);
	tcase_add_test(cases, test_open_dead_socket_replaced);
	tcase_add_test(cases, test_open_dead_socket_that_stays_reported);
	tcase_add_test(cases, test_open_other_file_with_that_name_stays);
	tcase_add_test(cases, test_share_link_with_that_name_is_not_followed);
	return run_cases(cases);
}
