/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "service/collect.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "service/collect_parts.h"
#include "triad/clock.h"
#include "triad/thread.h"

/* Agents have so long to answer; the caller waits a little longer. */
#define ANSWER_US (3 * TRIAD_US_PER_S / 2)
#define WAIT_US (2 * TRIAD_US_PER_S)

/* Something was received. */
static void wake(void *context)
{
	struct triad_collect *collect = context;

	triad_perf_wake(collect->perf);
}

struct triad_collect *triad_collect_new(
	uint64_t port_guid, bool may_manage, struct triad_log *log)
{
	struct triad_collect *collect = calloc(1, sizeof(*collect));

	if (!collect)
		return NULL;
	collect->port_guid = port_guid;
	collect->may_manage = may_manage;
	collect->log = log;
	collect->bus = triad_bus_new(wake, collect, log);
	if (!collect->bus) {
		free(collect);
		return NULL;
	}
	pthread_mutex_init(&collect->lock, NULL);
	triad_condition_init(&collect->answered);
	return collect;
}

struct triad_bus *triad_collect_bus(struct triad_collect *collect)
{
	return collect->bus;
}

void triad_collect_join(struct triad_collect *collect, struct triad_perf *perf)
{
	struct triad_perf_hooks hooks = triad_collect_hooks(collect);

	collect->perf = perf;
	collect->collector = triad_perf_collector(perf);
	triad_perf_set_hooks(perf, &hooks);
}

void triad_collect_stop(struct triad_collect *collect)
{
	pthread_mutex_lock(&collect->lock);
	collect->is_stopped = true;
	pthread_cond_broadcast(&collect->answered);
	pthread_mutex_unlock(&collect->lock);
}

void triad_collect_free(struct triad_collect *collect)
{
	if (!collect)
		return;
	triad_collect_end_member(collect);
	triad_bus_free(collect->bus);
	triad_fabric_unref(collect->own_fabric);
	triad_fabric_unref(collect->shown_fabric);
	triad_conf_unref(collect->conf);
	free(collect->agents);
	pthread_cond_destroy(&collect->answered);
	pthread_mutex_destroy(&collect->lock);
	free(collect);
}

/* --- what others ask --- */

struct triad_collect_status triad_collect_status(struct triad_collect *collect)
{
	struct triad_collect_status status = {.mode = TRIAD_COLLECT_LOCAL};

	pthread_mutex_lock(&collect->lock);
	if (collect->mode != TRIAD_COLLECT_LOCAL)
		status = collect->status;
	pthread_mutex_unlock(&collect->lock);
	return status;
}

struct triad_fabric *triad_collect_fabric(struct triad_collect *collect)
{
	struct triad_fabric *fabric = NULL;

	pthread_mutex_lock(&collect->lock);
	if (collect->mode != TRIAD_COLLECT_LOCAL && collect->shown_fabric)
		fabric = triad_fabric_ref(collect->shown_fabric);
	pthread_mutex_unlock(&collect->lock);
	return fabric;
}

struct triad_collect_agent *triad_collect_agents(
	struct triad_collect *collect, unsigned *n)
{
	struct triad_collect_agent *agents = NULL;

	pthread_mutex_lock(&collect->lock);
	*n = collect->mode == TRIAD_COLLECT_LOCAL ? 0 : collect->n_agents;
	if (*n)
		agents = malloc(*n * sizeof(*agents));
	if (agents)
		memcpy(agents, collect->agents, *n * sizeof(*agents));
	else
		*n = 0;
	pthread_mutex_unlock(&collect->lock);
	return agents;
}

bool triad_collect_is_manager(struct triad_collect *collect)
{
	return collect->mode == TRIAD_COLLECT_MANAGER;
}

/* --- jobs --- */

/* Puts a job into the only place for one.  Returns 0, ETIMEDOUT or ECANCELED. */
static int leave_job(struct triad_collect *collect, struct triad_collect_job *job)
{
	uint64_t until_us = triad_clock_now_us() + WAIT_US;
	int error = 0;

	pthread_mutex_lock(&collect->lock);
	while (collect->job && !collect->is_stopped && !error)
		error = triad_condition_wait(
			&collect->answered, &collect->lock, until_us);
	/* After the stop no thread runs jobs. */
	if (!error && collect->is_stopped)
		error = ECANCELED;
	if (!error)
		collect->job = job;
	pthread_mutex_unlock(&collect->lock);
	return error;
}

/* Leaves the job for the PerfManager's thread and waits until it is done.  The job lies
 * on the caller's stack.  So a stop takes back a job that has not begun, but waits for
 * one that has; it ends soon, because jobs wait for nothing. */
static int have_done(struct triad_collect *collect, struct triad_collect_job *job)
{
	int error = leave_job(collect, job);

	if (error)
		return error;
	triad_perf_wake(collect->perf);
	pthread_mutex_lock(&collect->lock);
	while (!job->is_done && !(collect->is_stopped && collect->job == job))
		triad_condition_wait(&collect->answered, &collect->lock, UINT64_MAX);
	if (!job->is_done) {
		collect->job = NULL;
		job->error = ECANCELED;
	}
	pthread_mutex_unlock(&collect->lock);
	return job->error;
}

static void find_owner(struct triad_collect *collect, struct triad_collect_job *job)
{
	uint32_t node = TRIAD_FABRIC_NONE;

	job->error = ENODATA;
	if (!collect->member || !collect->fabric)
		return;
	node = triad_fabric_find_node(collect->fabric, job->node_guid);
	job->error = node == TRIAD_FABRIC_NONE ? ENOENT : 0;
	if (!job->error)
		job->owner = triad_claims_owner(
			triad_member_claims(collect->member), node, &job->hops);
}

int triad_collect_owner_of(struct triad_collect *collect, uint64_t node_guid,
	uint64_t *owner, uint8_t *hops)
{
	struct triad_collect_job job = {.run = find_owner, .node_guid = node_guid};
	int error = have_done(collect, &job);

	*owner = job.owner;
	*hops = job.hops;
	return error;
}

/* The caller's fabric may differ from the one in force, so nodes are found by GUID. */
static void find_owners(struct triad_collect *collect, struct triad_collect_job *job)
{
	job->error = ENODATA;
	if (!collect->member || !collect->fabric)
		return;
	for (uint32_t i = 0; i < job->fabric->n_nodes; i++) {
		uint32_t node = triad_fabric_find_node(
			collect->fabric, job->fabric->nodes[i].guid);

		if (node != TRIAD_FABRIC_NONE)
			job->owners[i] = triad_claims_owner(
				triad_member_claims(collect->member), node, NULL);
	}
	job->error = 0;
}

uint64_t *triad_collect_owners(
	struct triad_collect *collect, const struct triad_fabric *fabric)
{
	struct triad_collect_job job = {.run = find_owners, .fabric = fabric};

	if (collect->mode == TRIAD_COLLECT_LOCAL)
		return NULL;
	job.owners = calloc((size_t)fabric->n_nodes + 1, sizeof(*job.owners));
	if (job.owners && have_done(collect, &job)) {
		free(job.owners);
		return NULL;
	}
	return job.owners;
}

static void list_owners(struct triad_collect *collect, struct triad_collect_job *job)
{
	const struct triad_fabric *fabric = collect->fabric;

	job->error = ENODATA;
	if (!collect->member || !fabric)
		return;
	job->listed = calloc((size_t)fabric->n_nodes + 1, sizeof(*job->listed));
	job->error = job->listed ? 0 : ENOMEM;
	for (uint32_t i = 0; job->listed && i < fabric->n_nodes; i++) {
		struct triad_kept_owner *listed = &job->listed[i];

		listed->node_guid = fabric->nodes[i].guid;
		listed->id = triad_claims_owner(
			triad_member_claims(collect->member), i, &listed->hops);
	}
	job->n_listed = fabric->n_nodes;
}

int triad_collect_list_owners(
	struct triad_collect *collect, struct triad_kept_owner **owners, uint32_t *n)
{
	struct triad_collect_job job = {.run = list_owners};
	int error = collect->mode == TRIAD_COLLECT_LOCAL ? ENODATA
							 : have_done(collect, &job);

	*owners = job.listed;
	*n = job.n_listed;
	return error;
}

static void set_drain(struct triad_collect *collect, struct triad_collect_job *job)
{
	job->error = ENODATA;
	if (!collect->member || collect->mode != TRIAD_COLLECT_AGENT)
		return;
	triad_member_drain(collect->member, job->drain, triad_clock_now_us());
	job->error = 0;
}

int triad_collect_drain(struct triad_collect *collect, bool drain)
{
	struct triad_collect_job job = {.run = set_drain, .drain = drain};

	return have_done(collect, &job);
}

static void clear_histograms(
	struct triad_collect *collect, struct triad_collect_job *job)
{
	const struct triad_collect_clear clear = {
		.request = triad_clock_wall_us() + ++collect->n_requests,
		.port = TRIAD_ALERT_NO_PORT,
		.histograms = true,
	};

	job->error = ENODATA;
	if (!collect->member)
		return;
	triad_member_clear(collect->member, &clear, triad_clock_now_us());
	job->error = 0;
}

int triad_collect_clear_histograms(struct triad_collect *collect)
{
	struct triad_collect_job job = {.run = clear_histograms};

	return have_done(collect, &job);
}

/* --- histograms --- */

/* Called in the PerfManager's thread when all agents have answered, or their time is
 * over. */
static void receive_histograms(void *context, struct triad_gather *gather)
{
	struct triad_collect *collect = context;

	pthread_mutex_lock(&collect->lock);
	if (collect->asked.request == gather->request) {
		collect->asked.gather = *gather; /* with its memory */
		collect->asked.is_done = true;
		triad_gather_init(gather, 0, 0);
		pthread_cond_broadcast(&collect->answered);
	}
	pthread_mutex_unlock(&collect->lock);
}

static void ask_histograms(struct triad_collect *collect, struct triad_collect_job *job)
{
	job->error = ENODATA;
	if (collect->member && collect->mode == TRIAD_COLLECT_MANAGER)
		job->error = triad_member_ask_histograms(collect->member, &job->request,
			ANSWER_US, triad_clock_now_us(), receive_histograms, collect);
}

/* Takes the only place for a request; false when another caller has it. */
static bool begin_asking(struct triad_collect *collect, uint64_t request)
{
	bool is_free;

	pthread_mutex_lock(&collect->lock);
	is_free = !collect->asked.request;
	if (is_free)
		collect->asked = (struct triad_collect_asked){.request = request};
	pthread_mutex_unlock(&collect->lock);
	return is_free;
}

/* Waits for the answer, and gives the place back. */
static int end_asking(
	struct triad_collect *collect, int error, struct triad_gather *gather)
{
	uint64_t until_us = triad_clock_now_us() + WAIT_US;

	pthread_mutex_lock(&collect->lock);
	while (!error && !collect->asked.is_done && !collect->is_stopped)
		error = triad_condition_wait(
			&collect->answered, &collect->lock, until_us);
	if (collect->asked.is_done) {
		*gather = collect->asked.gather;
		error = 0;
	} else if (!error) {
		error = ECANCELED;
	}
	collect->asked = (struct triad_collect_asked){.request = 0};
	pthread_mutex_unlock(&collect->lock);
	return error;
}

int triad_collect_histogram(struct triad_collect *collect,
	const struct triad_histograms_scope *scope, const char *group, unsigned counter,
	struct triad_histogram *copy, uint64_t *n_zeros, uint32_t *n_agents,
	uint32_t *n_asked)
{
	struct triad_collect_job job = {
		.run = ask_histograms,
		.request = {.request = triad_clock_wall_us(),
			.scope = *scope,
			.counters = 1u << counter},
	};
	struct triad_gather gather;
	int error;

	if (!begin_asking(collect, job.request.request))
		return EBUSY;
	snprintf(
		job.request.group, sizeof(job.request.group), "%s", group ? group : "");
	triad_gather_init(&gather, 0, 0);
	error = end_asking(collect, have_done(collect, &job), &gather);
	if (!error) {
		triad_histogram_init(copy, TRIAD_HISTOGRAM_MOST);
		if (!triad_histogram_merge(copy, &gather.histograms[counter]))
			error = ENOMEM;
		*n_zeros = gather.n_zeros[counter];
		*n_agents = gather.n_agents;
		*n_asked = gather.n_asked;
	}
	triad_gather_clear(&gather);
	return error;
}
