/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The sFlow agent's thread, with a PerfManager that only has a view. */
#include "service/sflow.h"

#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <stdatomic.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/sim/fabrics.h"
#include "tests/sim/sflow_decode.h"
#include "tests/unit/run.h"
#include "triad/clock.h"

static struct triad_engine *engine;
static struct triad_view *view;
static struct triad_sflow *sflow;
static struct triad_sflow_params params;
static int receiver;
static struct sflow_datagram datagram;

/* --- substitutes for service/perf.c --- */

static _Atomic(enum triad_perf_state) state;

enum triad_perf_state triad_perf_state(struct triad_perf *perf)
{
	return atomic_load(&state);
}

struct triad_view *triad_perf_view(struct triad_perf *perf)
{
	return triad_view_ref(view);
}

/* --- cases --- */

static void make_view(void)
{
	struct triad_fabric *fabric = fabric_row(2, 4);
	struct triad_pma_reading reading = {.has = 1u << TRIAD_PORT_XMIT_DATA};

	engine = triad_engine_new();
	view = triad_view_new(engine, fabric, NULL);
	ck_assert_int_eq(triad_engine_adopt(engine, fabric, 1, view->rows), 0);
	for (uint32_t i = 0; i < fabric->n_ports; i++) {
		triad_engine_update(engine, view->rows[i],
			TRIAD_PMA_PORT_COUNTERS_EXTENDED, &reading, 1);
		triad_engine_mark(engine, view->rows[i], true);
	}
	triad_fabric_unref(fabric);
}

static void set_up(void)
{
	struct sockaddr_in address = {
		.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t size = sizeof(address);

	make_view();
	receiver = socket(AF_INET, SOCK_DGRAM, 0);
	ck_assert_int_eq(bind(receiver, (struct sockaddr *)&address, size), 0);
	ck_assert_int_eq(getsockname(receiver, (struct sockaddr *)&address, &size), 0);
	params = (struct triad_sflow_params){
		.collectors = {{.family = AF_INET,
			.octets = {127, 0, 0, 1},
			.port = ntohs(address.sin_port)}},
		.n_collectors = 1,
		.interval_us = TRIAD_SFLOW_MIN_INTERVAL_US,
		.mtu = 1500,
	};
	atomic_store(&state, TRIAD_PERF_RUNNING);
	sflow = triad_sflow_new(NULL, NULL, NULL);
}

static void tear_down(void)
{
	triad_sflow_stop(sflow);
	triad_sflow_free(sflow);
	triad_view_unref(view);
	triad_engine_free(engine);
	close(receiver);
}

static bool receive(int wait_ms)
{
	struct pollfd wait = {.fd = receiver, .events = POLLIN};
	uint8_t octets[2048];
	ssize_t size;

	if (poll(&wait, 1, wait_ms) != 1)
		return false;
	size = recv(receiver, octets, sizeof(octets), 0);
	ck_assert_ptr_null(sflow_decode(octets, (size_t)size, &datagram));
	return true;
}

/* Waits until the agent sends nothing any more. */
static void wait_for_silence(void)
{
	for (unsigned i = 0; receive(300); i++)
		ck_assert_uint_lt(i, 10000);
}

START_TEST(test_agent_sends_while_it_has_collectors)
{
	ck_assert_int_eq(triad_sflow_configure(sflow, &params), 0);
	for (unsigned i = 1; i <= 20; i++) {
		ck_assert(receive(10000));
		ck_assert_uint_eq(datagram.sequence, i);
	}
	params.n_collectors = 0;
	ck_assert_int_eq(triad_sflow_configure(sflow, &params), 0);
	wait_for_silence();
	ck_assert_uint_eq(triad_sflow_status(sflow).n_collectors, 0);
	params.n_collectors = 1; /* this must wake the thread, which sleeps for ever */
	ck_assert_int_eq(triad_sflow_configure(sflow, &params), 0);
	ck_assert(receive(10000));
	ck_assert_uint_eq(datagram.sequence, 1);
}
END_TEST

START_TEST(test_agent_is_silent_while_there_are_no_sweeps)
{
	ck_assert_int_eq(triad_sflow_configure(sflow, &params), 0);
	ck_assert(receive(10000));
	atomic_store(&state, TRIAD_PERF_OTHER_ROLE);
	wait_for_silence();
	atomic_store(&state, TRIAD_PERF_RUNNING);
	ck_assert(receive(10000));
}
END_TEST

START_TEST(test_agent_without_collectors_stops_at_once)
{
	params.n_collectors = 0;
	ck_assert_int_eq(triad_sflow_configure(sflow, &params), 0);
	ck_assert(!receive(100));
	params.n_collectors = 1;
	params.mtu = 1;
	ck_assert_int_eq(triad_sflow_configure(sflow, &params), EINVAL);
	ck_assert(!receive(100));
}
END_TEST

int main(void)
{
	TCase *cases = tcase_create("sflow");

	tcase_add_checked_fixture(cases, set_up, tear_down);
	tcase_add_test(cases, test_agent_sends_while_it_has_collectors);
	tcase_add_test(cases, test_agent_is_silent_while_there_are_no_sweeps);
	tcase_add_test(cases, test_agent_without_collectors_stops_at_once);
	return run_cases(cases);
}
