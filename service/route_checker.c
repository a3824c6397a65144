/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "service/route_checker.h"

#include <errno.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/task.h"
#include "triad/clock.h"
#include "triad/thread.h"

#define STOP_US (2 * TRIAD_US_PER_S)
/* When memory was short, the next try; each later one waits twice as long. */
#define AGAIN_US TRIAD_US_PER_S
#define MAX_AGAIN_US (300 * TRIAD_US_PER_S)

/* What 'struct triad_route_result' really is. */
struct counted {
	struct triad_route_result result;
	atomic_uint refs;
};

/* Counts of findings; without padding, because memcmp() compares them. */
struct findings {
	uint64_t n_credit_loops, n_multicast_loops;
	uint64_t n[TRIAD_ROUTES_N_PROBLEMS];
};

struct triad_route_checker {
	struct triad_route_source source;
	struct triad_log *log;
	void (*changed)(void *context);
	void *context;
	struct findings reported; /* of the thread alone: logged last */
	uint64_t again_us;        /* of the thread alone: to wait before the next try */

	pthread_mutex_t lock; /* of what follows */
	struct triad_task task;
	bool enabled;
	struct triad_fabric *fabric; /* the last one; also kept while disabled */
	bool is_due;                 /* 'fabric' must be checked */
	struct triad_route_result *result;
	struct triad_route_status status;
};

static uint64_t check_when_due(void *context);

/* --- results --- */

struct triad_route_result *triad_route_result_ref(struct triad_route_result *result)
{
	atomic_fetch_add_explicit(
		&((struct counted *)result)->refs, 1, memory_order_relaxed);
	return result;
}

void triad_route_result_unref(struct triad_route_result *result)
{
	if (!result || atomic_fetch_sub(&((struct counted *)result)->refs, 1) != 1)
		return;
	triad_routes_check_free(result->check);
	free(result);
}

static struct triad_route_result *make_result(void)
{
	struct counted *counted = calloc(1, sizeof(*counted));

	if (!counted)
		return NULL;
	atomic_init(&counted->refs, 1);
	return &counted->result;
}

/* --- life --- */

struct triad_route_checker *triad_route_checker_new(
	const struct triad_route_source *source, struct triad_log *log)
{
	struct triad_route_checker *checker = calloc(1, sizeof(*checker));

	if (!checker)
		return NULL;
	if (source)
		checker->source = *source;
	checker->log = log;
	pthread_mutex_init(&checker->lock, NULL);
	triad_task_init(&checker->task, &checker->lock, "triad-routes", check_when_due,
		checker);
	return checker;
}

bool triad_route_checker_stop(struct triad_route_checker *checker)
{
	return !checker || triad_task_stop(&checker->task, STOP_US);
}

void triad_route_checker_free(struct triad_route_checker *checker)
{
	if (!checker)
		return;
	triad_fabric_unref(checker->fabric);
	triad_route_result_unref(checker->result);
	triad_task_clear(&checker->task);
	pthread_mutex_destroy(&checker->lock);
	free(checker);
}

void triad_route_checker_set_listener(struct triad_route_checker *checker,
	void (*changed)(void *context), void *context)
{
	checker->changed = changed;
	checker->context = context;
}

static void call_listener(const struct triad_route_checker *checker)
{
	if (checker->changed)
		checker->changed(checker->context);
}

/* With the lock. */
static void forget_result(
	struct triad_route_checker *checker, enum triad_route_state state)
{
	checker->is_due = false;
	triad_route_result_unref(checker->result);
	checker->result = NULL;
	checker->status.state = state;
}

/* With the lock. */
static void check_soon(struct triad_route_checker *checker)
{
	checker->is_due = true;
	if (triad_task_start(&checker->task))
		forget_result(checker, TRIAD_ROUTE_NO_MEMORY);
	triad_task_wake(&checker->task);
}

void triad_route_checker_configure(
	struct triad_route_checker *checker, const struct triad_conf *conf)
{
	bool is_begun;

	pthread_mutex_lock(&checker->lock);
	is_begun = !checker->enabled && conf->routes.enabled;
	if (checker->enabled && !conf->routes.enabled)
		forget_result(checker, TRIAD_ROUTE_OFF);
	else if (is_begun)
		checker->status.state = TRIAD_ROUTE_NO_FABRIC;
	checker->enabled = conf->routes.enabled;
	/* Check the known fabric: the SM may route nothing anew for days. */
	if (is_begun && checker->fabric)
		check_soon(checker);
	pthread_mutex_unlock(&checker->lock);
	call_listener(checker);
}

void triad_route_checker_set_fabric(
	struct triad_route_checker *checker, struct triad_fabric *fabric)
{
	pthread_mutex_lock(&checker->lock);
	/* Ignore a copy that the SM changed while it was made: its tables may not
	 * belong together. */
	if (!fabric || fabric->consistent) {
		triad_fabric_unref(checker->fabric);
		checker->fabric = fabric ? triad_fabric_ref(fabric) : NULL;
		if (checker->enabled && fabric)
			check_soon(checker);
		else if (checker->enabled)
			forget_result(checker, TRIAD_ROUTE_NO_FABRIC);
	}
	pthread_mutex_unlock(&checker->lock);
	if (!fabric)
		call_listener(checker);
}

struct triad_route_status triad_route_checker_status(
	struct triad_route_checker *checker)
{
	struct triad_route_status status;

	pthread_mutex_lock(&checker->lock);
	status = checker->status;
	status.is_behind = checker->fabric && checker->result &&
		checker->result->generation != checker->fabric->generation;
	pthread_mutex_unlock(&checker->lock);
	return status;
}

struct triad_route_result *triad_route_checker_result(
	struct triad_route_checker *checker)
{
	return TRIAD_LOCKED(&checker->lock,
		checker->result ? triad_route_result_ref(checker->result) : NULL);
}

enum triad_route_state triad_route_state_of_error(int error)
{
	return !error              ? TRIAD_ROUTE_CHECKED
		: error == ENXIO   ? TRIAD_ROUTE_NO_SWITCHES
		: error == ENODATA ? TRIAD_ROUTE_NO_TABLES
				   : TRIAD_ROUTE_NO_MEMORY;
}

const char *triad_route_state_text(enum triad_route_state state)
{
	switch (state) {
	case TRIAD_ROUTE_OFF:
		return "routes are not checked: 'set routes.enabled true' begins it";
	case TRIAD_ROUTE_NO_FABRIC:
		return "no routes are known here: the plugin in the SM that is master has "
		       "them, once it has brought up the subnet; ask on its host";
	case TRIAD_ROUTE_NO_SWITCHES:
		return "the fabric has no switch, so there are no routes: there is "
		       "nothing to check";
	case TRIAD_ROUTE_NO_TABLES:
		return "the SM has no forwarding tables yet: see OpenSM's log";
	case TRIAD_ROUTE_NO_MEMORY:
		return "not enough memory to check routes; it is tried again, at least "
		       "each 5 minutes";
	case TRIAD_ROUTE_CHECKED:
		break;
	}
	return NULL;
}

const char *triad_route_credit_text(enum triad_route_credit credit)
{
	switch (credit) {
	case TRIAD_ROUTE_CREDIT_CHECKED:
		break;
	case TRIAD_ROUTE_CREDIT_NO_SLS:
		return "the routing engine decides on SLs, and could not be asked";
	case TRIAD_ROUTE_CREDIT_NO_TABLES:
		return "the routing engine decides on SLs, but OpenSM programs no SL2VL "
		       "tables: 'qos TRUE' in opensm.conf";
	case TRIAD_ROUTE_CREDIT_TOO_MANY:
		return "the routing engine decides on SLs, and there are too many pairs "
		       "to ask it about all";
	}
	return NULL;
}

/* --- the thread --- */

static bool must_stop_checking(void *context)
{
	struct triad_route_checker *checker = context;

	return TRIAD_LOCKED(&checker->lock,
		checker->task.must_end || !checker->enabled || !checker->fabric);
}

/* Asks the routing engine for its SLs, and checks credit loops again.  Called only if
 * the engine chooses SLs and the links by themselves could form a credit loop. */
static int ask_engine(struct triad_route_checker *checker,
	struct triad_routes_options *options, struct triad_route_result *result)
{
	const struct triad_routes_layout *layout = result->check->layout;
	size_t n = (size_t)layout->n_goals * layout->n_switches;
	uint16_t *of;
	int error = EAGAIN;

	if (!layout->fabric->sa.qos) {
		result->credit = TRIAD_ROUTE_CREDIT_NO_TABLES;
		return 0;
	}
	of = calloc(n ? n : 1, sizeof(*of));
	if (!of)
		return ENOMEM;
	if (checker->source.ask_sls)
		error = checker->source.ask_sls(checker->source.context, layout, of,
			must_stop_checking, checker);
	result->credit = error == E2BIG ? TRIAD_ROUTE_CREDIT_TOO_MANY
		: error == ENOTSUP      ? TRIAD_ROUTE_CREDIT_NO_TABLES
		: error                 ? TRIAD_ROUTE_CREDIT_NO_SLS
					: TRIAD_ROUTE_CREDIT_CHECKED;
	options->sls.of = of;
	if (!error)
		error = triad_routes_check_credit(
			layout, options, &result->check->credit);
	else if (error != ECANCELED)
		error = 0;
	free(of);
	return error;
}

static int check_fabric(struct triad_route_checker *checker,
	struct triad_fabric *fabric, struct triad_route_result *result)
{
	struct triad_routes_options options = {
		.is_stopped = must_stop_checking, .context = checker};
	int error;

	if (!fabric->sa.engine_has_sl) {
		result->sls = triad_routes_sls_of(fabric);
		if (fabric->sa.qos && checker->source.more_sls)
			result->sls |=
				checker->source.more_sls(checker->source.context);
	}
	options.sls.all = result->sls;
	error = triad_routes_check_make(fabric, &options, &result->check);
	if (!error && result->check->credit.state == TRIAD_ROUTES_CREDIT_NO_SLS)
		error = ask_engine(checker, &options, result);
	if (!error && result->check->credit.state == TRIAD_ROUTES_CREDIT_TOO_LARGE)
		result->credit = TRIAD_ROUTE_CREDIT_TOO_MANY;
	return error;
}

static struct findings findings_of(const struct triad_routes_check *check)
{
	struct findings findings = {.n_credit_loops = check->credit.n_loops,
		.n_multicast_loops = check->multicast.n_looping};

	for (unsigned i = 0; i < TRIAD_ROUTES_N_PROBLEMS; i++)
		if (i != TRIAD_ROUTES_LONGER)
			findings.n[i] = check->problems[i].n;
	return findings;
}

/* Logs one line when findings come, change or are over. */
static void log_findings(
	struct triad_route_checker *checker, const struct triad_route_result *result)
{
	static const struct findings none;
	struct findings now = findings_of(result->check);

	if (!memcmp(&now, &checker->reported, sizeof(now)))
		return;
	checker->reported = now;
	if (!memcmp(&now, &none, sizeof(now))) {
		triad_log_write(checker->log, TRIAD_LOG_INFO,
			"routes: what was wrong is right again");
		return;
	}
	triad_log_write(checker->log, TRIAD_LOG_WARNING,
		"routes: credit loops: %" PRIu64
		", unreachable pairs of hosts: %" PRIu64
		", dead ways between the SM and a switch: %" PRIu64
		", forwarding loops: %" PRIu64 ", entries to dead ports: %" PRIu64
		", turns from down to up: %" PRIu64
		", multicast trees that loop: %" PRIu64
		"; 'triadctl routes check' shows them",
		now.n_credit_loops, now.n[TRIAD_ROUTES_UNREACHABLE],
		now.n[TRIAD_ROUTES_SWITCHES], now.n[TRIAD_ROUTES_LOOPS],
		now.n[TRIAD_ROUTES_DEAD_ENTRIES], now.n[TRIAD_ROUTES_TURNS],
		now.n_multicast_loops);
}

/* Whether the last result is also valid for 'fabric': its tables are the same, and the
 * result does not depend on SLs of a routing engine or a policy, which are in no
 * table. */
static bool is_unchanged(struct triad_route_checker *checker,
	const struct triad_fabric *fabric, uint64_t hash)
{
	struct triad_route_result *last = triad_route_checker_result(checker);
	bool is_same = last && last->hash == hash &&
		(last->check->credit.by_links ||
			(!fabric->sa.engine_has_sl &&
				(!fabric->sa.qos || !checker->source.more_sls)));

	triad_route_result_unref(last);
	return is_same;
}

static struct triad_route_result *result_for(struct triad_route_checker *checker,
	struct triad_fabric *fabric, uint64_t hash, int *error)
{
	struct triad_route_result *last = triad_route_checker_result(checker);
	struct triad_route_result *result = make_result();
	uint64_t begun_us = triad_clock_now_us();
	bool is_same = is_unchanged(checker, fabric, hash);

	*error = result ? 0 : ENOMEM;
	if (!*error && is_same) {
		/* Refer to the new fabric, so that the old one can be freed. */
		*error = triad_routes_check_move(last->check, fabric, &result->check);
		result->credit = last->credit;
		result->sls = last->sls;
		result->took_us = last->took_us;
	} else if (!*error) {
		*error = check_fabric(checker, fabric, result);
		result->took_us = triad_clock_now_us() - begun_us;
	}
	triad_route_result_unref(last);
	if (*error) {
		triad_route_result_unref(result);
		return NULL;
	}
	result->generation = fabric->generation;
	result->hash = hash;
	result->checked_us = triad_clock_now_us();
	pthread_mutex_lock(&checker->lock);
	checker->status.n_unchanged += is_same;
	checker->status.n_checks += !is_same;
	pthread_mutex_unlock(&checker->lock);
	return result;
}

static void check_next(struct triad_route_checker *checker, struct triad_fabric *fabric)
{
	int error = 0;
	struct triad_route_result *result =
		result_for(checker, fabric, triad_routes_hash(fabric), &error);

	if (result)
		log_findings(checker, result);
	pthread_mutex_lock(&checker->lock);
	checker->status.n_failed += error == ENOMEM;
	/* Meanwhile the check may have been disabled, or this SM has lost its role. */
	if (!checker->enabled || !checker->fabric) {
		triad_route_result_unref(result);
	} else if (result) {
		triad_route_result_unref(checker->result);
		checker->result = result;
		checker->status.state = TRIAD_ROUTE_CHECKED;
		checker->status.took_us = result->took_us;
		checker->status.checked_us = result->checked_us;
	} else if (error == ENXIO || error == ENODATA || error == ENOMEM) {
		/* Drop the old result: readers would take it for the present one. */
		triad_route_result_unref(checker->result);
		checker->result = NULL;
		checker->status.state = triad_route_state_of_error(error);
	}
	pthread_mutex_unlock(&checker->lock);
	call_listener(checker);
}

/* With the lock.  The SM may route nothing anew for days. */
static uint64_t wait_for_memory(struct triad_route_checker *checker)
{
	checker->is_due = true;
	checker->again_us = checker->again_us ? 2 * checker->again_us : AGAIN_US;
	if (checker->again_us > MAX_AGAIN_US)
		checker->again_us = MAX_AGAIN_US;
	return triad_clock_now_us() + checker->again_us;
}

static uint64_t check_when_due(void *context)
{
	struct triad_route_checker *checker = context;
	struct triad_fabric *fabric;

	if (!checker->is_due)
		return TRIAD_TASK_DONE;
	checker->is_due = false;
	fabric = triad_fabric_ref(checker->fabric);
	pthread_mutex_unlock(&checker->lock);
	check_next(checker, fabric);
	triad_fabric_unref(fabric);
	pthread_mutex_lock(&checker->lock);
	if (checker->status.state != TRIAD_ROUTE_NO_MEMORY)
		checker->again_us = 0;
	else if (!checker->is_due && checker->fabric)
		return wait_for_memory(checker);
	return checker->is_due ? triad_clock_now_us() : TRIAD_TASK_DONE;
}
