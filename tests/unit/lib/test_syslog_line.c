/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "lib/syslog_line.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "tests/unit/run.h"

static char folder[TEST_FOLDER_SIZE], path[96], line[2048];
static struct triad_syslog to;
static int daemon_fd;

static void setup(void)
{
	make_test_folder(folder);
	snprintf(path, sizeof(path), "%s/log", folder);
	daemon_fd = -1;
	to = (struct triad_syslog){.path = path, .tag = "OpenSM"};
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
	return triad_syslog_send(&to, TRIAD_LOG_WARNING, "triad: %s", text);
}

static void read_line(int fd)
{
	ssize_t size = recv(fd, line, sizeof(line) - 1, 0);

	ck_assert_int_gt(size, 0);
	line[size] = '\0';
}

/* The head that the C library would write now. */
static void format_head(char *head, size_t size)
{
	time_t now = time(NULL);
	struct tm date;
	size_t n;

	localtime_r(&now, &date);
	n = strftime(head, size, "<28>%b %e %H:%M:%S ", &date);
	snprintf(head + n, size - n, "OpenSM[%d]: ", (int)getpid());
}

START_TEST(test_line_has_priority_time_tag_and_pid)
{
	char before[128], after[128];

	begin_daemon(SOCK_DGRAM);
	format_head(before, sizeof(before));
	ck_assert(send_text("port 3: down"));
	format_head(after, sizeof(after));
	read_line(daemon_fd);
	ck_assert(!strncmp(line, before, strlen(before)) ||
		!strncmp(line, after, strlen(after)));
	ck_assert_str_eq(line + strlen(before), "triad: port 3: down");
	ck_assert(triad_syslog_send(&to, TRIAD_LOG_ERROR, "x"));
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
	ck_assert_uint_eq(strlen(line), 1023);
}
END_TEST

/* A test that waited for each line would run out of its time. */
START_TEST(test_daemon_that_hangs_costs_lines_and_little_time)
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
	ck_assert_ptr_nonnull(strstr(line,
		"]: (1001 earlier lines are lost: syslog did not take them) "
		"triad: after"));
	ck_assert(send_text("later"));
	read_line(daemon_fd);
	ck_assert_ptr_nonnull(strstr(line, "]: triad: later"));
}
END_TEST

static void *read_one(void *unused)
{
	usleep(2000);
	read_line(daemon_fd);
	return unused;
}

/* Once the queue is full, the next line waits until a thread reads one. */
START_TEST(test_daemon_that_is_busy_gets_the_line)
{
	bool is_sent = false;

	begin_daemon(SOCK_DGRAM);
	for (unsigned i = 0; i < 100 && !is_sent; i++) {
		pthread_t thread;

		while (send_text("before"))
			;
		to.n_lost = 0;
		pthread_create(&thread, NULL, read_one, NULL);
		is_sent = send_text("waited");
		pthread_join(thread, NULL);
	}
	ck_assert(is_sent);
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
	tcase_add_test(cases, test_line_has_priority_time_tag_and_pid);
	tcase_add_test(cases, test_long_line_is_cut);
	tcase_add_test(cases, test_daemon_that_hangs_costs_lines_and_little_time);
	tcase_add_test(cases, test_daemon_that_is_busy_gets_the_line);
	tcase_add_test(cases, test_daemon_of_streams_gets_lines_that_end);
	tcase_add_test(cases, test_no_daemon_is_no_trouble);
	return run_cases(cases);
}
