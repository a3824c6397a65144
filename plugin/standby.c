/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "plugin/standby.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "perfmgr/sa_topology.h"
#include "plugin/sa.h"
#include "triad/thread.h"
#include "triad/clock.h"

/* Without a report the tables are read again so often. */
#define REFRESH_US (60 * TRIAD_US_PER_S)
/* Reports come in bursts: as many ports as a switch has. */
#define SETTLE_US (TRIAD_US_PER_S / 2)
#define AGAIN_US (5 * TRIAD_US_PER_S)
/* So often the thread looks whether it is to end. */
#define SLICE_US (TRIAD_US_PER_S / 4)
/* A table of a large fabric is many packets. */
#define TABLE_US (30 * TRIAD_US_PER_S)
#define ANSWER_US (5 * TRIAD_US_PER_S)

struct triad_standby {
	uint64_t port_guid;
	struct triad_perf *perf;
	struct triad_log *log;
	pthread_mutex_t lock; /* of what follows */
	pthread_cond_t changed;
	bool has_thread, stop, wanted;
	struct triad_standby_status status;
	pthread_t thread;

	/* Of the thread alone. */
	struct triad_sa *sa;
	uint64_t due_us;
	uint64_t generation;
	int error_said;
};

struct triad_standby *triad_standby_new(
	uint64_t port_guid, struct triad_perf *perf, struct triad_log *log)
{
	struct triad_standby *standby = calloc(1, sizeof(*standby));

	if (!standby)
		return NULL;
	standby->port_guid = port_guid;
	standby->perf = perf;
	standby->log = log;
	pthread_mutex_init(&standby->lock, NULL);
	triad_condition_init(&standby->changed);
	return standby;
}

void triad_standby_free(struct triad_standby *standby)
{
	if (!standby)
		return;
	pthread_mutex_lock(&standby->lock);
	standby->stop = true;
	pthread_cond_signal(&standby->changed);
	pthread_mutex_unlock(&standby->lock);
	if (standby->has_thread)
		pthread_join(standby->thread, NULL);
	pthread_cond_destroy(&standby->changed);
	pthread_mutex_destroy(&standby->lock);
	free(standby);
}

struct triad_standby_status triad_standby_status(struct triad_standby *standby)
{
	struct triad_standby_status status;

	pthread_mutex_lock(&standby->lock);
	status = standby->status;
	pthread_mutex_unlock(&standby->lock);
	return status;
}

static bool is_wanted(void *context)
{
	struct triad_standby *standby = context;
	bool wanted;

	pthread_mutex_lock(&standby->lock);
	wanted = standby->wanted && !standby->stop;
	pthread_mutex_unlock(&standby->lock);
	return wanted;
}

/* --- the tables --- */

enum { NODES, PORTS, LINKS, N_TABLES };

static int read_tables(
	struct triad_standby *standby, struct triad_sa_answer answers[N_TABLES])
{
	static const uint16_t attributes[N_TABLES] = {
		[NODES] = TRIAD_SA_NODE_RECORD,
		[PORTS] = TRIAD_SA_PORT_INFO_RECORD,
		[LINKS] = TRIAD_SA_LINK_RECORD,
	};
	int error = 0;

	for (unsigned i = 0; i < N_TABLES && !error; i++)
		error = is_wanted(standby)
			? triad_sa_get_table(
				  standby->sa, attributes[i], TABLE_US, &answers[i])
			: ECANCELED;
	return error;
}

static int make_fabric(
	struct triad_standby *standby, const struct triad_sa_answer *answers)
{
	struct triad_sa_table tables[N_TABLES];
	struct triad_fabric *fabric;
	int error;

	for (unsigned i = 0; i < N_TABLES; i++)
		tables[i] = (struct triad_sa_table){
			answers[i].records, answers[i].size, answers[i].stride};
	error = triad_sa_topology_build(&tables[NODES], &tables[PORTS], &tables[LINKS],
		standby->port_guid, triad_sa_pkey_index(standby->sa), &fabric);
	if (error)
		return error;
	fabric->generation = ++standby->generation;
	fabric->taken_us = triad_clock_now_us();
	fabric->consistent = true;
	triad_perf_set_fabric(standby->perf, fabric, TRIAD_SM_STANDBY);
	triad_fabric_unref(fabric);
	return 0;
}

static void note_refresh(struct triad_standby *standby, int error)
{
	pthread_mutex_lock(&standby->lock);
	standby->status.error = error;
	standby->status.n_refreshes += !error;
	standby->status.n_failed += error != 0;
	pthread_mutex_unlock(&standby->lock);
	if (error && error != ECANCELED && error != standby->error_said)
		triad_log_write(standby->log, TRIAD_LOG_ERROR,
			"standby: the master's SA gives no topology: %s; counters are "
			"read of the ports known before, and it is asked again each 5 s",
			strerror(error));
	standby->error_said = error;
}

static void refresh(struct triad_standby *standby)
{
	struct triad_sa_answer answers[N_TABLES] = {0};
	int error = read_tables(standby, answers);

	if (!error)
		error = make_fabric(standby, answers);
	for (unsigned i = 0; i < N_TABLES; i++)
		free(answers[i].mad);
	note_refresh(standby, error);
	standby->due_us = triad_clock_now_us() + (error ? AGAIN_US : REFRESH_US);
}

/* --- reports --- */

/* Again before each refresh: another master knows nothing of it. */
static void subscribe(struct triad_standby *standby)
{
	static const uint16_t traps[] = {
		TRIAD_SA_TRAP_IN_SERVICE, TRIAD_SA_TRAP_OUT_OF_SERVICE};
	bool subscribed = true;

	for (unsigned i = 0; i < 2 && subscribed; i++)
		subscribed = is_wanted(standby) &&
			!triad_sa_subscribe(standby->sa, traps[i], ANSWER_US);
	pthread_mutex_lock(&standby->lock);
	standby->status.subscribed = subscribed;
	pthread_mutex_unlock(&standby->lock);
}

static void note_reports(struct triad_standby *standby, unsigned n)
{
	uint64_t soon_us = triad_clock_now_us() + SETTLE_US;

	if (!n)
		return;
	pthread_mutex_lock(&standby->lock);
	standby->status.n_reports += n;
	pthread_mutex_unlock(&standby->lock);
	if (soon_us < standby->due_us)
		standby->due_us = soon_us;
}

/* Until the tables are due, or something is wrong with the port. */
static int listen_for_reports(struct triad_standby *standby)
{
	uint64_t now_us;
	uint16_t trap;

	note_reports(standby, triad_sa_take_missed(standby->sa));
	while (is_wanted(standby) &&
		(now_us = triad_clock_now_us()) < standby->due_us) {
		uint64_t wait_us = standby->due_us - now_us;
		int error = triad_sa_wait_report(
			standby->sa, wait_us < SLICE_US ? wait_us : SLICE_US, &trap);

		if (!error)
			note_reports(standby,
				trap == TRIAD_SA_TRAP_IN_SERVICE ||
					trap == TRIAD_SA_TRAP_OUT_OF_SERVICE);
		else if (error != EAGAIN)
			return error;
	}
	return 0;
}

/* --- the thread --- */

/* One time as standby: until it is not wanted any more, or the port fails. */
static void serve(struct triad_standby *standby)
{
	int error = triad_sa_open(standby->port_guid, is_wanted, standby, &standby->sa);

	if (error) {
		note_refresh(standby, error);
		return;
	}
	while (is_wanted(standby) && !error) {
		subscribe(standby);
		refresh(standby);
		error = standby->status.error ? standby->status.error
					      : listen_for_reports(standby);
	}
	triad_sa_close(standby->sa);
	standby->sa = NULL;
}

static void *run(void *argument)
{
	struct triad_standby *standby = argument;

	pthread_mutex_lock(&standby->lock);
	while (!standby->stop) {
		if (!standby->wanted) {
			triad_condition_wait(
				&standby->changed, &standby->lock, UINT64_MAX);
			continue;
		}
		standby->status.active = true;
		pthread_mutex_unlock(&standby->lock);
		serve(standby);
		pthread_mutex_lock(&standby->lock);
		standby->status.active = standby->status.subscribed = false;
		if (standby->wanted && !standby->stop)
			triad_condition_wait(&standby->changed, &standby->lock,
				triad_clock_now_us() + AGAIN_US);
	}
	pthread_mutex_unlock(&standby->lock);
	return NULL;
}

void triad_standby_set_wanted(struct triad_standby *standby, bool wanted)
{
	int error = 0;

	pthread_mutex_lock(&standby->lock);
	if (wanted && !standby->has_thread) {
		error = triad_thread_start(
			&standby->thread, "triad-standby", run, standby);
		standby->has_thread = !error;
	}
	if (standby->wanted != wanted)
		pthread_cond_signal(&standby->changed);
	standby->wanted = wanted;
	pthread_mutex_unlock(&standby->lock);
	if (error)
		triad_log_write(standby->log, TRIAD_LOG_ERROR,
			"standby: no thread: %s; the topology stays as this SM "
			"discovered it",
			strerror(error));
}
