/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "lib/syslog_line.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <syslog.h>
#include <unistd.h>

#include "tests/unit/run.h"

static char folder[64], path[96], line[2048];
static int daemon_fd;

static void setup(void)
{
	snprintf(folder, sizeof(folder), "/tmp/triad-test-syslog-XXXXXX");
	ck_assert(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/log", folder);
	daemon_fd = -1;
}

static void teardown(void)
{
	if (daemon_fd >= 0)
		close(daemon_fd);
	unlink(path);
	rmdir(folder);
}

static void begin_daemon(int type)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};

	snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
	daemon_fd = socket(AF_UNIX, type | SOCK_CLOEXEC, 0);
	ck_assert_int_ge(daemon_fd, 0);
	ck_assert_int_eq(
		bind(daemon_fd, (struct sockaddr *)&address, sizeof(address)), 0);
}

static bool send_text(const char *text)
{
	return triad_syslog_send(path, TRIAD_LOG_WARNING, "triad", text);
}

static void read_line(int fd)
{
	ssize_t size = recv(fd, line, sizeof(line) - 1, 0);

	ck_assert_int_gt(size, 0);
	line[size] = '\0';
}

START_TEST(test_line_has_priority_time_program_and_pid)
{
	char month[4], expected[128];
	int day, hour, minute, second;

	begin_daemon(SOCK_DGRAM);
	ck_assert(send_text("port 3: down"));
	read_line(daemon_fd);
	ck_assert_int_eq(sscanf(line, "<28>%3s %d %d:%d:%d ", month, &day, &hour,
				 &minute, &second),
		5);
	snprintf(expected, sizeof(expected), " %s[%d]: triad: port 3: down",
		program_invocation_short_name, (int)getpid());
	ck_assert_str_eq(line + strlen("<28>Jan  1 00:00:00"), expected);
	ck_assert(triad_syslog_send(path, TRIAD_LOG_ERROR, "triad", "x"));
	read_line(daemon_fd);
	ck_assert(!strncmp(line, "<27>", 4));
}
END_TEST

START_TEST(test_long_line_is_cut)
{
	static char text[4000];

	begin_daemon(SOCK_DGRAM);
	memset(text, 'x', sizeof(text) - 1);
	ck_assert(send_text(text));
	read_line(daemon_fd);
	ck_assert_uint_eq(strlen(line), 1199);
}
END_TEST

/* A test that waited would run out of its time. */
START_TEST(test_daemon_that_hangs_costs_lines_and_no_time)
{
	unsigned n = 0;

	begin_daemon(SOCK_DGRAM);
	while (send_text("before"))
		n++;
	ck_assert_uint_gt(n, 0);
	for (unsigned i = 0; i < 1000; i++)
		ck_assert(!send_text("lost"));
	for (unsigned i = 0; i < n; i++)
		read_line(daemon_fd);
	ck_assert(send_text("after"));
	read_line(daemon_fd);
	ck_assert_ptr_nonnull(strstr(line, "after"));
}
END_TEST

START_TEST(test_daemon_of_streams_gets_lines_that_end)
{
	int fd;

	begin_daemon(SOCK_STREAM);
	ck_assert(!send_text("nobody listens"));
	ck_assert_int_eq(listen(daemon_fd, 1), 0);
	ck_assert(send_text("x"));
	fd = accept(daemon_fd, NULL, NULL);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_gt(recv(fd, line, sizeof(line), 0), 0);
	ck_assert_str_eq(line + strlen(line) - 1, "x");
	close(fd);
	while (send_text("before"))
		;
	ck_assert(!send_text("lost"));
}
END_TEST

START_TEST(test_no_daemon_is_no_trouble)
{
	ck_assert(!send_text("x"));
	begin_daemon(SOCK_DGRAM);
	close(daemon_fd);
	ck_assert(!send_text("x"));
	daemon_fd = -1;
}
END_TEST

int main(void)
{
	TCase *cases = tcase_create("syslog_line");

	tcase_add_checked_fixture(cases, setup, teardown);
	tcase_add_test(cases, test_line_has_priority_time_program_and_pid);
	tcase_add_test(cases, test_long_line_is_cut);
	tcase_add_test(cases, test_daemon_that_hangs_costs_lines_and_no_time);
	tcase_add_test(cases, test_daemon_of_streams_gets_lines_that_end);
	tcase_add_test(cases, test_no_daemon_is_no_trouble);
	return run_cases(cases);
}
