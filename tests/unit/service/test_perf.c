/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The PerfManager's thread, with simulated agents instead of libibumad. */
#include "service/perf.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <unistd.h>

#include "service/umad.h"
#include "tests/sim/agents.h"
#include "tests/sim/fabrics.h"
#include "tests/unit/run.h"
#include "triad/clock.h"

#define S TRIAD_US_PER_S

static struct triad_fabric *fabric;
static struct agents *agents;
static struct triad_perf *perf;

/* --- substitutes for service/umad.c --- */

static atomic_bool answering;
static atomic_int open_error;
static sem_t *opening, *may_open; /* NULL: the port opens at once */

static int receive(void *context, uint64_t wait_us, struct triad_mad_reply *reply)
{
	if (atomic_load(&answering))
		return agents->transport.receive(context, wait_us, reply);
	usleep(1000);
	return EAGAIN;
}

static struct triad_mad_transport transport;

int triad_umad_open(uint64_t port_guid, int mgmt_class, struct triad_umad **umad)
{
	if (opening) {
		sem_post(opening);
		sem_wait(may_open);
	}
	*umad = atomic_load(&open_error) ? NULL : (struct triad_umad *)&transport;
	return atomic_load(&open_error);
}

void triad_umad_close(struct triad_umad *umad, bool in_flight)
{
}

const struct triad_mad_transport *triad_umad_transport(struct triad_umad *umad)
{
	return &transport;
}

/* --- cases --- */

/* Configures the PerfManager; its thread keeps the only reference. */
static void configure(bool enabled)
{
	struct triad_conf *conf = triad_conf_new(1);

	ck_assert_ptr_nonnull(conf);
	conf->perfmgr.enabled = enabled;
	triad_perf_configure(perf, conf);
	triad_conf_unref(conf);
}

static void set_up(void)
{
	fabric = fabric_row(2, 4);
	agents = agents_new(fabric, 1);
	transport = agents->transport;
	transport.receive = receive;
	atomic_store(&answering, true);
	atomic_store(&open_error, 0);
	opening = NULL;
	perf = triad_perf_new(1, NULL, NULL);
	configure(true);
	triad_perf_set_sm(perf, TRIAD_SM_MASTER);
}

static void tear_down(void)
{
	triad_perf_stop(perf);
	triad_perf_free(perf);
	agents_free(agents);
	triad_fabric_unref(fabric);
}

static void sweep(void)
{
	triad_perf_set_fabric(perf, fabric, TRIAD_SM_MASTER);
	ck_assert_int_eq(
		triad_perf_wait_sweep(perf, triad_perf_ask_sweep(perf), 30 * S), 0);
}

static void wait_until_sweeping(bool sweeping)
{
	while (triad_perf_status(perf).sweeping != sweeping)
		usleep(1000);
}

START_TEST(test_state_follows_at_once)
{
	ck_assert_int_eq(triad_perf_state(perf), TRIAD_PERF_NO_FABRIC);
	triad_perf_set_fabric(perf, fabric, TRIAD_SM_MASTER);
	ck_assert_int_eq(triad_perf_state(perf), TRIAD_PERF_RUNNING);
	configure(false);
	ck_assert_int_eq(triad_perf_state(perf), TRIAD_PERF_DISABLED);
}
END_TEST

START_TEST(test_configurations_replaced_while_adopted)
{
	for (unsigned i = 0; i < 2000; i++)
		configure(true);
	sweep();
}
END_TEST

START_TEST(test_sweep_cut_short_waiter_reported)
{
	uint64_t ticket;

	sweep();
	atomic_store(&answering, false);
	ticket = triad_perf_ask_sweep(perf);
	wait_until_sweeping(true);
	configure(false);
	wait_until_sweeping(false);
	ck_assert_int_eq(triad_perf_wait_sweep(perf, ticket, S), ECANCELED);
}
END_TEST

/* Another SM may have given the LIDs to other ports. */
START_TEST(test_master_again_old_fabric_not_swept)
{
	sweep();
	triad_perf_set_sm(perf, TRIAD_SM_OTHER);
	triad_perf_set_sm(perf, TRIAD_SM_MASTER);
	ck_assert_int_eq(triad_perf_state(perf), TRIAD_PERF_NO_FABRIC);
	ck_assert_int_eq(
		triad_perf_wait_sweep(perf, triad_perf_ask_sweep(perf), S), ECANCELED);
	sweep();
}
END_TEST

static atomic_bool asking;

static void *ask_on_and_on(void *argument)
{
	while (atomic_load(&asking))
		triad_perf_ask_sweep(perf);
	return NULL;
}

/* The next sweep begins before the threads that waited for the last one run. */
START_TEST(test_sweeps_without_pause_waiters_woken)
{
	pthread_t asker;

	sweep();
	atomic_store(&asking, true);
	pthread_create(&asker, NULL, ask_on_and_on, NULL);
	for (unsigned i = 0; i < 50; i++)
		ck_assert_int_eq(
			triad_perf_wait_sweep(perf, triad_perf_ask_sweep(perf), 5 * S),
			0);
	atomic_store(&asking, false);
	pthread_join(asker, NULL);
}
END_TEST

START_TEST(test_port_slow_to_open_no_caller_waits)
{
	sem_t entered, gate;

	sem_init(&entered, 0, 0);
	sem_init(&gate, 0, 0);
	may_open = &gate;
	opening = &entered;
	triad_perf_set_fabric(perf, fabric, TRIAD_SM_MASTER);
	sem_wait(&entered);
	configure(true);
	ck_assert_int_eq(triad_perf_state(perf), TRIAD_PERF_RUNNING);
	sem_post(&gate);
	sweep();
}
END_TEST

START_TEST(test_port_not_there_reported)
{
	atomic_store(&open_error, ENODEV);
	triad_perf_set_fabric(perf, fabric, TRIAD_SM_MASTER);
	ck_assert_int_eq(
		triad_perf_wait_sweep(perf, triad_perf_ask_sweep(perf), 30 * S),
		ECANCELED);
	ck_assert_int_eq(triad_perf_state(perf), TRIAD_PERF_NO_TRANSPORT);
}
END_TEST

int main(void)
{
	TCase *cases = tcase_create("perf");

	tcase_add_checked_fixture(cases, set_up, tear_down);
	tcase_add_test(cases, test_state_follows_at_once);
	tcase_add_test(cases, test_configurations_replaced_while_adopted);
	tcase_add_test(cases, test_sweep_cut_short_waiter_reported);
	tcase_add_test(cases, test_master_again_old_fabric_not_swept);
	tcase_add_test(cases, test_sweeps_without_pause_waiters_woken);
	tcase_add_test(cases, test_port_slow_to_open_no_caller_waits);
	tcase_add_test(cases, test_port_not_there_reported);
	return run_cases(cases);
}
