/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "plugin/console_session.h"

#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/unit/run.h"

/* How long what must not happen has to happen. */
#define PATIENCE_MS 50

uint64_t __wrap_triad_clock_now_us(void);

static int user[2], opensm[2]; /* the session has the first of each */
static int stop, closed;       /* eventfds */

/* Each look at the clock is an hour after the last one. */
uint64_t __wrap_triad_clock_now_us(void)
{
	static _Atomic uint64_t now_us;

	return atomic_fetch_add(&now_us, UINT64_C(3600000000));
}

static int open_end(void *context, char why[TRIAD_CONSOLE_WHY_SIZE])
{
	(void)context;
	(void)why;
	return opensm[0];
}

static void close_end(void *context)
{
	uint64_t one = 1;

	(void)context;
	close(opensm[0]);
	ck_assert_int_eq(write(closed, &one, sizeof(one)), sizeof(one));
}

static void *run_session(void *argument)
{
	const struct triad_runner runner = {0};
	const struct triad_peer peer = {0};
	const struct triad_console_ends ends = {.user_in = user[0],
		.user_out = user[0],
		.opensm_in = -1,
		.opensm_out = -1,
		.stop = stop,
		.open = open_end,
		.close = close_end};

	triad_console_session_run(&runner, &peer, &ends);
	return argument;
}

/* Begins a session whose user goes at once, and returns when OpenSM could see that. */
static pthread_t leave_at_once(void)
{
	const int type = SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC;
	struct pollfd end;
	pthread_t thread;
	char octet;

	/* Triad's threads block it. */
	signal(SIGPIPE, SIG_IGN);
	ck_assert(!socketpair(AF_UNIX, type, 0, user));
	ck_assert(!socketpair(AF_UNIX, type, 0, opensm));
	stop = eventfd(0, EFD_CLOEXEC);
	closed = eventfd(0, EFD_CLOEXEC);
	ck_assert(stop >= 0 && closed >= 0);
	ck_assert(!pthread_create(&thread, NULL, run_session, NULL));
	close(user[1]);
	end = (struct pollfd){.fd = opensm[1], .events = POLLIN};
	ck_assert_int_eq(poll(&end, 1, -1), 1);
	ck_assert_int_eq(read(opensm[1], &octet, 1), 0);
	return thread;
}

static bool is_closed_within(int wait_ms)
{
	struct pollfd end = {.fd = closed, .events = POLLIN};

	return poll(&end, 1, wait_ms) == 1;
}

static void end_session(pthread_t thread)
{
	ck_assert(!pthread_join(thread, NULL));
	ck_assert(is_closed_within(0));
	close(user[0]);
	close(opensm[1]);
	close(stop);
	close(closed);
}

START_TEST(test_place_that_opensm_has_not_left_stays_taken)
{
	pthread_t thread = leave_at_once();

	/* An answer shows the session that its user has gone. */
	ck_assert_int_eq(write(opensm[1], "OpenSM $ ", 9), 9);
	ck_assert(!is_closed_within(PATIENCE_MS));
	ck_assert(!shutdown(opensm[1], SHUT_WR));
	end_session(thread);
}
END_TEST

START_TEST(test_stop_does_not_wait_for_opensm)
{
	pthread_t thread = leave_at_once();
	uint64_t one = 1;

	ck_assert_int_eq(write(stop, &one, sizeof(one)), sizeof(one));
	end_session(thread);
}
END_TEST

int main(void)
{
	TCase *cases = tcase_create("console_session");

	tcase_add_test(cases, test_place_that_opensm_has_not_left_stays_taken);
	tcase_add_test(cases, test_stop_does_not_wait_for_opensm);
	return run_cases(cases);
}
