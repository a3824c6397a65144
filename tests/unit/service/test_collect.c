/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* A collector in a group, run by the PerfManager's thread: its turns, requests of other
 * threads, and changes of the fabric.  A list replaces the bus. */
#include "service/collect.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <string.h>

#include "collect/data.h"
#include "perfmgr/collector.h"
#include "service/local_port.h"
#include "tests/sim/fabrics.h"
#include "tests/unit/run.h"
#include "triad/clock.h"
#include "triad/thread.h"

#define HERE UINT64_C(0x10000)  /* the first host of the first switch */
#define AGENT UINT64_C(0x10100) /* the first host of the second one */
#define OTHER UINT64_C(0x10002) /* the third one of the first */
#define MAX_LETTERS 16

static struct triad_collect *collect;
static struct triad_collector *collector;
static struct triad_perf_hooks hooks;
static struct triad_bus_message letters[MAX_LETTERS];
static unsigned n_letters, n_taken;
static uint64_t ahead_us;
static uint16_t own_pkey;         /* of the port; 0: its table can't be read */
static sem_t *sending, *may_send; /* NULL: triad_bus_send() returns at once */
static sem_t *waiting;            /* posted by each thread that waits; or NULL */

/* --- substitutes for the bus and for functions that access the host --- */

struct triad_bus *triad_bus_new(
	void (*wake)(void *context), void *context, struct triad_log *log)
{
	return (struct triad_bus *)&letters;
}

void triad_bus_free(struct triad_bus *bus)
{
}

int triad_bus_configure(struct triad_bus *bus, const struct triad_bus_params *params)
{
	return 0;
}

void triad_bus_send(struct triad_bus *bus, enum triad_member_to to, uint64_t id,
	const uint8_t *octets, size_t size)
{
	if (!sending)
		return;
	sem_post(sending);
	sem_wait(may_send);
}

bool triad_bus_take(struct triad_bus *bus, struct triad_bus_message *message)
{
	struct triad_collect_head head;
	struct triad_wire body;

	if (n_taken == n_letters)
		return false;
	*message = letters[n_taken++];
	/* No member passes on messages here: the sender in the head also sent it. */
	triad_collect_get_head(message->octets, message->size, &head, &body);
	message->speaker.id = head.sender;
	return true;
}

void triad_bus_give_back(struct triad_bus_message *message)
{
	free(message->octets);
}

struct triad_bus_status triad_bus_status(struct triad_bus *bus)
{
	return (struct triad_bus_status){.is_wanted = true, .is_connected = true};
}

void triad_perf_set_hooks(struct triad_perf *perf, const struct triad_perf_hooks *its)
{
	hooks = *its;
}

struct triad_collector *triad_perf_collector(struct triad_perf *perf)
{
	return collector;
}

void triad_perf_wake(struct triad_perf *perf)
{
}

/* The clock, which tests can advance. */
uint64_t __real_triad_clock_now_us(void);
uint64_t __wrap_triad_clock_now_us(void);

uint64_t __wrap_triad_clock_now_us(void)
{
	return __real_triad_clock_now_us() + ahead_us;
}

size_t triad_local_port_pkeys(uint64_t port_guid, uint16_t *pkeys, size_t most)
{
	pkeys[0] = own_pkey;
	return own_pkey != 0;
}

/* The linker replaces the library's function with this (--wrap). */
int __real_triad_condition_wait(
	pthread_cond_t *condition, pthread_mutex_t *mutex, uint64_t until_us);
int __wrap_triad_condition_wait(
	pthread_cond_t *condition, pthread_mutex_t *mutex, uint64_t until_us);

int __wrap_triad_condition_wait(
	pthread_cond_t *condition, pthread_mutex_t *mutex, uint64_t until_us)
{
	if (waiting)
		sem_post(waiting);
	/* If the time is over and there is a signal, the real function may report
	 * either. */
	if (until_us <= triad_clock_now_us())
		return ETIMEDOUT;
	return __real_triad_condition_wait(condition, mutex, until_us);
}

static uint64_t now_us(void *context)
{
	return triad_clock_now_us();
}

/* --- the thread that calls the hooks --- */

static void start(enum triad_conf_collect mode)
{
	static const struct triad_collector_clock clock = {.now_us = now_us};
	struct triad_collector_params params = {.period_us = 0};
	struct triad_conf *conf = triad_conf_new(HERE);

	n_letters = n_taken = 0;
	ahead_us = 0;
	own_pkey = 0;
	sending = may_send = waiting = NULL;
	collector = triad_collector_new(&clock, NULL, NULL);
	collect = triad_collect_new(HERE, mode == TRIAD_COLLECT_MANAGER, NULL);
	triad_collect_join(collect, NULL);
	ck_assert_ptr_nonnull(conf);
	conf->collect.mode = mode;
	conf->alerts.raise_after_s = 0;
	params.is_part = hooks.configure(hooks.context, conf);
	ck_assert(params.is_part == (mode == TRIAD_COLLECT_AGENT));
	triad_collector_set_params(collector, &params);
	ck_assert_int_eq(triad_collector_configure(collector, conf), 0);
	triad_conf_unref(conf);
}

static void end(void)
{
	triad_collect_free(collect);
	triad_collector_free(collector);
	for (; n_taken < n_letters; n_taken++)
		free(letters[n_taken].octets);
}

static void turn(void)
{
	bool reads = true, has_fabric;

	hooks.step(hooks.context, true, &reads, &has_fabric);
	if (!reads)
		triad_collector_adopt(collector);
}

static void take_fabric(struct triad_fabric *fabric)
{
	if (!hooks.take_fabric(hooks.context, fabric))
		triad_collector_set_fabric(collector, fabric);
	triad_fabric_unref(fabric);
}

/* --- an agent --- */

static uint8_t *new_letter(void)
{
	struct triad_bus_message *letter = &letters[n_letters++];

	ck_assert_uint_le(n_letters, MAX_LETTERS);
	letter->octets = malloc(TRIAD_COLLECT_MAX_SIZE);
	ck_assert_ptr_nonnull(letter->octets);
	return letter->octets;
}

static void report_row(uint32_t number, uint64_t node_guid, uint8_t port)
{
	const struct triad_collect_head head = {
		.kind = TRIAD_COLLECT_DATA, .sender = AGENT, .incarnation = 1};
	const struct triad_collect_data data = {
		.number = number, .clock_us = triad_clock_now_us()};
	const struct triad_collect_row row = {.node_guid = node_guid,
		.port = port,
		.answered = true,
		.has = TRIAD_COLLECT_USUAL,
		.findings = 1u << TRIAD_PORT_RCV_ERRORS};
	struct triad_collect_data_writer writer;
	uint8_t *octets = new_letter();

	triad_collect_data_begin(&writer, &head, &data, octets, TRIAD_COLLECT_MAX_SIZE);
	ck_assert(triad_collect_data_put(&writer, &row));
	letters[n_letters - 1].size = triad_collect_data_end(&writer);
}

static void claim(uint64_t agent, uint64_t node_guid)
{
	const struct triad_collect_head head = {.sender = agent, .incarnation = 1};
	const struct triad_collect_owner owner = {
		.number = 1, .as_of = 1, .n_nodes = 1, .n = 1};
	const struct triad_collect_claim claimed = {.node_guid = node_guid, .hops = 9};
	uint8_t *octets = new_letter();

	letters[n_letters - 1].size = triad_collect_put_owner(
		&head, &owner, &claimed, octets, TRIAD_COLLECT_MAX_SIZE);
}

/* The number of alerts' findings that report_row() causes. */
static unsigned count_alerts(void)
{
	struct triad_watch *watch = triad_collector_watch(collector);
	struct triad_alert alert;
	unsigned n = 0;

	for (uint32_t at = 0; triad_watch_next_alert(watch, &at, &alert);)
		for (unsigned i = 0; i < alert.n_findings; i++)
			n += alert.findings[i].cause == TRIAD_PORT_RCV_ERRORS;
	return n;
}

/* --- cases --- */

/* Row: M5, M6 */
START_TEST(test_row_of_an_owned_node_raises_its_alert)
{
	start(TRIAD_COLLECT_MANAGER);
	take_fabric(fabric_row(2, 30));
	turn();
	claim(AGENT, 0x1011d);
	report_row(1, 0x1011d, 1);
	turn();
	turn();
	ck_assert_uint_eq(count_alerts(), 1);
	end();
}
END_TEST

/* A report about the last port arrives after the fabric lost that port. */
START_TEST(test_row_of_a_port_that_has_left_raises_nothing)
{
	start(TRIAD_COLLECT_MANAGER);
	take_fabric(fabric_row(2, 30));
	turn();
	turn();
	take_fabric(fabric_row(2, 2));
	turn();
	report_row(1, 0x1011d, 1);
	turn();
	turn();
	ck_assert_uint_eq(count_alerts(), 0);
	end();
}
END_TEST

/* For one turn, the new fabric is in force but the view has the old one: nodes have
 * different indices in the two. */
START_TEST(test_owner_is_looked_up_by_guid_while_the_view_is_older)
{
	start(TRIAD_COLLECT_MANAGER);
	take_fabric(fabric_row(2, 2));
	turn();
	claim(AGENT, 0x10101);
	turn();
	take_fabric(fabric_row(2, 30));
	claim(OTHER, 0x10003); /* it has the former index of 0x10101 */
	report_row(1, 0x10101, 1);
	turn();
	turn();
	ck_assert_uint_eq(count_alerts(), 1);
	end();
}
END_TEST

/* The number of nodes apart that the status reports some seconds later. */
static uint32_t n_apart_later(unsigned seconds)
{
	ahead_us += seconds * TRIAD_US_PER_S;
	turn();
	return triad_collect_status(collect).n_apart;
}

/* No event announces a change of the port's P_Keys; the collector reads them
 * regularly. */
START_TEST(test_p_keys_of_the_port_that_change_are_found)
{
	start(TRIAD_COLLECT_AGENT);
	own_pkey = 0x8005; /* no host has this P_Key */
	take_fabric(fabric_row(2, 2));
	turn();
	ck_assert_uint_eq(n_apart_later(1), 4);
	own_pkey = 0;
	ck_assert_uint_eq(n_apart_later(11), 4);
	own_pkey = 0x8001;
	ck_assert_uint_eq(n_apart_later(1), 4);
	ck_assert_uint_eq(n_apart_later(10), 0);
	end();
}
END_TEST

static void *drain(void *result)
{
	*(int *)result = triad_collect_drain(collect, true);
	return NULL;
}

static void *turn_until_asked(void *unused)
{
	while (sem_trywait(sending)) /* posted when the job, or a turn, sends */
		turn();
	return unused;
}

/* The job's memory belongs to its caller, so the caller must wait for the job's end. */
START_TEST(test_job_that_was_begun_is_waited_for_at_the_end)
{
	sem_t begun, released;
	struct timespec until;
	pthread_t asker, perf;
	int result = -1;

	start(TRIAD_COLLECT_AGENT);
	take_fabric(fabric_row(2, 2));
	turn();
	sem_init(&begun, 0, 0);
	sem_init(&released, 0, 0);
	sending = &begun;
	may_send = &released;
	pthread_create(&asker, NULL, drain, &result);
	pthread_create(&perf, NULL, turn_until_asked, NULL);
	sem_wait(&begun);
	triad_collect_stop(collect);
	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec++;
	ck_assert_int_eq(pthread_timedjoin_np(asker, NULL, &until), ETIMEDOUT);
	for (unsigned i = 0; i < 100; i++)
		sem_post(&released);
	pthread_join(asker, NULL);
	sem_post(&begun);
	pthread_join(perf, NULL);
	ck_assert_int_eq(result, 0);
	sending = NULL;
	end();
	sem_destroy(&begun);
	sem_destroy(&released);
}
END_TEST

START_TEST(test_job_that_finds_another_there_waits_and_is_done)
{
	int results[2] = {-1, -1};
	pthread_t askers[2];
	sem_t waits;

	start(TRIAD_COLLECT_AGENT);
	take_fabric(fabric_row(2, 2));
	turn();
	sem_init(&waits, 0, 0);
	waiting = &waits;
	for (unsigned i = 0; i < 2; i++) {
		pthread_create(&askers[i], NULL, drain, &results[i]);
		sem_wait(&waits);
	}
	for (unsigned i = 0; i < 2; i++) {
		while (pthread_tryjoin_np(askers[i], NULL))
			turn();
		ck_assert_int_eq(results[i], 0);
	}
	end();
	sem_destroy(&waits);
}
END_TEST

int main(void)
{
	TCase *cases = tcase_create("collect");

	tcase_add_test(cases, test_row_of_an_owned_node_raises_its_alert);
	tcase_add_test(cases, test_row_of_a_port_that_has_left_raises_nothing);
	tcase_add_test(cases, test_owner_is_looked_up_by_guid_while_the_view_is_older);
	tcase_add_test(cases, test_p_keys_of_the_port_that_change_are_found);
	tcase_add_test(cases, test_job_that_was_begun_is_waited_for_at_the_end);
	tcase_add_test(cases, test_job_that_finds_another_there_waits_and_is_done);
	return run_cases(cases);
}
