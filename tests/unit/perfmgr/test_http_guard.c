/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The test makes libmicrohttpd really panic: it suspends a connection of a daemon that
 * doesn't allow that. */
#include "perfmgr/export/http_guard.h"

#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "perfmgr/export/microhttpd.h"

#include "tests/unit/run.h"

/* A daemon that panicked can't be stopped.  These pointers keep leak checkers quiet. */
static struct MHD_Daemon *daemons[3], *daemon_;
static char reason[200];

static triad_http_result suspend(void *context, struct MHD_Connection *connection,
	const char *url, const char *method, const char *version,
	const char *upload_data, size_t *upload_size, void **request_context)
{
	MHD_suspend_connection(connection);
	return MHD_YES;
}

static void run(void *context)
{
	for (unsigned i = 0; i < 10; i++)
		(void)MHD_run(daemon_);
}

static void set_flag(void *context)
{
	*(bool *)context = true;
}

START_TEST(test_guard_call_that_returns_is_done)
{
	bool done = false;

	ck_assert(triad_http_guard(set_flag, &done, reason, sizeof(reason)));
	ck_assert(done);
}
END_TEST

START_TEST(test_guard_library_gives_up_caller_goes_on)
{
	static const char request[] = "GET / HTTP/1.0\r\n\r\n";
	struct sockaddr address = {.sa_family = AF_UNIX};
	bool done = false;

	for (unsigned i = 0; i < 3; i++) {
		int ends[2];

		reason[0] = '\0';
		ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
		ck_assert_int_eq(write(ends[1], request, sizeof(request) - 1),
			sizeof(request) - 1);
		daemon_ = MHD_start_daemon(MHD_USE_EPOLL | MHD_USE_NO_LISTEN_SOCKET, 0,
			NULL, NULL, suspend, NULL, MHD_OPTION_END);
		ck_assert_ptr_nonnull(daemon_);
		daemons[i] = daemon_;
		ck_assert_int_eq(
			MHD_add_connection(daemon_, ends[0], &address, sizeof(address)),
			MHD_YES);
		ck_assert(!triad_http_guard(run, NULL, reason, sizeof(reason)));
		ck_assert_msg(strlen(reason) > 5, "%s", reason);
		ck_assert(triad_http_guard(set_flag, &done, reason, sizeof(reason)));
		close(ends[1]);
	}
	ck_assert(done);
}
END_TEST

int main(void)
{
	TCase *cases = tcase_create("http_guard");

	tcase_add_test(cases, test_guard_call_that_returns_is_done);
	tcase_add_test(cases, test_guard_library_gives_up_caller_goes_on);
	return run_cases(cases);
}
