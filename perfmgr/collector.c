/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "perfmgr/collector.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "triad/clock.h"

/* A step waits no longer than this for an answer, so that it sees what its owner
 * left. */
#define MAX_WAIT_US (20 * TRIAD_US_PER_MS)
/* Answers taken before the window is filled again. */
#define MAX_BATCH 64

/* That are asked for waits of VLs in a sweep, however small the fabric is. */
#define FEW_VL_PORTS 64u

struct triad_collector {
	struct triad_collector_clock clock;
	struct triad_log *log;
	struct triad_log_limit send_limit, reset_limit, max_difference;
	const struct triad_mad_transport *transport;
	struct triad_collector_params params;
	struct triad_engine *engine;
	struct triad_sweep *sweep;
	struct triad_watch *watch;
	bool watch_is_behind;            /* it has not taken up the view */
	struct triad_groups *groups;     /* for the next view */
	bool groups_looked_at;           /* for those without a port */
	struct triad_fabric *fabric;     /* to adopt, or NULL */
	uint16_t pkeys[TRIAD_PKEYS_MAX]; /* of our port, as the view has it */
	uint32_t n_pkeys;
	uint32_t n_apart_logged;
	bool adopt_failed; /* try again before the next sweep */
	uint64_t due_us;
	uint64_t group_due_us[TRIAD_GROUPS_MAX]; /* UINT64_MAX: with all others */
	uint32_t sweeping_groups; /* bit i: the sweep is of group i; 0: of all */
	bool was_cut;             /* the present sweep */
	uint64_t begun_us;        /* the present or last sweep, of whatever */
	uint64_t send_errors, receive_errors, n_impossible;
	unsigned n_unsent;   /* queries in a row */
	uint32_t n_vl_asked; /* ports that wait, in the present sweep */
	bool sweep_asked;

	/* Held for a few instructions, by readers and the owner alike. */
	pthread_mutex_t published_lock;
	struct triad_view *view;
	struct triad_collector_status status;
};

/* --- what the scheduler reports --- */

static uint64_t now(const struct triad_collector *collector)
{
	return collector->clock.now_us(collector->clock.context);
}

static uint32_t row_of(const struct triad_collector *collector, uint32_t port)
{
	return collector->view->rows[port];
}

/* True when the present sweep asks the port.  Ports of a group that is left out, or
 * that share no partition with ours, are in no sweep.  Others are in each sweep of all
 * ports and in those of their group. */
static bool wants_port(void *context, uint32_t port)
{
	const struct triad_collector *collector = context;
	const struct triad_view *view = collector->view;
	unsigned group = view->group[port];

	if (triad_view_is_skipped(view, port))
		return false;
	if (!collector->sweeping_groups)
		return true;
	return group != TRIAD_GROUP_NONE && collector->sweeping_groups & 1u << group;
}

static uint16_t give_pkey_index(void *context, uint32_t port)
{
	const struct triad_collector *collector = context;

	return collector->view->pkey_index[port];
}

static int find_pkey(void *context, uint16_t pkey)
{
	const struct triad_collector *collector = context;

	for (uint32_t i = 0; i < collector->n_pkeys; i++)
		if ((collector->pkeys[i] & 0x7fff) == (pkey & 0x7fff))
			return (int)i;
	/* A table that can't be read is taken for that of the default partition. */
	return !collector->n_pkeys && (pkey & 0x7fff) == 0x7fff ? 0 : -1;
}

static void note_coming(void *context, uint32_t port)
{
	struct triad_collector *collector = context;

	triad_engine_prefetch(collector->engine, row_of(collector, port));
}

static void report_impossible(struct triad_collector *collector, uint32_t port,
	unsigned counter, bool is_believed, uint64_t now_us)
{
	const struct triad_fabric *fabric = collector->view->fabric;
	const struct triad_fabric_port *at = &fabric->ports[port];
	unsigned long suppressed;
	char others[64] = "";

	if (!triad_log_limit_pass(&collector->max_difference, now_us, &suppressed))
		return;
	if (suppressed)
		snprintf(others, sizeof(others), "; %lu such readings before",
			suppressed);
	triad_log_write(collector->log, TRIAD_LOG_WARNING,
		"perfmgr: %s of 0x%016" PRIx64
		" port %u (%s) grew by more than its link "
		"can carry: %s%s",
		triad_counters[counter].name, fabric->nodes[at->node].guid, at->number,
		fabric->nodes[at->node].name,
		is_believed
			? "for the third time; its total goes on from there without it"
			: "this reading is left out, the next one has what it missed",
		others);
}

static uint32_t add_reading(void *context, uint32_t port,
	enum triad_pma_attribute attribute, const struct triad_pma_reading *reading,
	uint64_t now_us)
{
	struct triad_collector *collector = context;
	const struct triad_fabric *fabric = collector->view->fabric;
	/* From bit/s to words of 4 octets in a microsecond. */
	double words_per_us =
		(double)triad_fabric_port_bps(&fabric->ports[port]) / 32e6;
	bool is_believed;
	uint32_t impossible =
		triad_engine_mark_doubtful(collector->engine, row_of(collector, port),
			attribute, reading, words_per_us, now_us, &is_believed);

	if (impossible) {
		collector->n_impossible++;
		report_impossible(collector, port, (unsigned)__builtin_ctz(impossible),
			is_believed, now_us);
	}
	/* The row stays as it is, so the next reading covers this interval, too. */
	if (!is_believed)
		return 0;
	return triad_engine_update(
		collector->engine, row_of(collector, port), attribute, reading, now_us);
}

/* What VLs a port waits on tells roots of congestion apart (congestion/roots.h). */
static uint32_t choose_details(
	void *context, uint32_t port, const struct triad_pma_reading *reading)
{
	struct triad_collector *collector = context;
	const struct triad_collector_params *params = &collector->params;
	const struct triad_fabric *fabric = collector->view->fabric;
	double words_per_s = (double)triad_fabric_port_bps(&fabric->ports[port]) / 32;
	uint32_t most = FEW_VL_PORTS +
		(uint32_t)(fmin(params->sweep.round_share, 1) * fabric->n_ports);
	struct triad_engine_row row;

	if (!(reading->has & 1u << TRIAD_PORT_XMIT_WAIT) ||
		!reading->raw[TRIAD_PORT_XMIT_WAIT] || params->vl_wait_share <= 0 ||
		params->sweep.round_share <= 0 || collector->n_vl_asked >= most ||
		!triad_engine_read(collector->engine, row_of(collector, port), &row) ||
		!(triad_engine_rate(&row, TRIAD_PORT_XMIT_WAIT) >=
			params->vl_wait_share * words_per_s))
		return 0;
	collector->n_vl_asked++;
	return TRIAD_DETAIL_BIT(TRIAD_PMA_VL_XMIT_WAIT);
}

static void add_detail(void *context, uint32_t port, enum triad_pma_attribute attribute,
	const struct triad_detail_reading *reading, bool after_reset, uint64_t now_us)
{
	struct triad_collector *collector = context;
	const struct triad_details_port of =
		triad_view_details_port(collector->view, port);

	triad_details_update(triad_engine_details(collector->engine), &of, attribute,
		reading, after_reset, now_us);
}

static void confirm_reading(
	void *context, uint32_t port, bool wait_too, uint64_t now_us)
{
	struct triad_collector *collector = context;

	triad_engine_confirm(
		collector->engine, row_of(collector, port), wait_too, now_us);
}

static void expect_reset(void *context, uint32_t port, uint32_t mask)
{
	struct triad_collector *collector = context;

	triad_engine_expect_reset(collector->engine, row_of(collector, port), mask);
}

static void note_reset(void *context, uint32_t port,
	const struct triad_pma_reading *reading, uint64_t now_us)
{
	struct triad_collector *collector = context;
	const struct triad_fabric *fabric = collector->view->fabric;
	const struct triad_fabric_port *at = &fabric->ports[port];
	unsigned long suppressed;
	char others[64] = "";

	triad_engine_reset(collector->engine, row_of(collector, port), reading, now_us);
	if (!triad_log_limit_pass(&collector->reset_limit, now_us, &suppressed))
		return;
	if (suppressed)
		snprintf(others, sizeof(others), "; so were %lu ports before",
			suppressed);
	triad_log_write(collector->log, TRIAD_LOG_INFO,
		"perfmgr: counters of 0x%016" PRIx64 " port %u (%s) were reset in "
		"hardware, totals go on%s",
		fabric->nodes[at->node].guid, at->number, fabric->nodes[at->node].name,
		others);
}

static void mark_done(void *context, uint32_t port, bool answered)
{
	struct triad_collector *collector = context;

	triad_engine_mark(collector->engine, row_of(collector, port), answered);
	/* While the watch is behind, it numbers the ports of an older fabric. */
	if (!answered && !collector->watch_is_behind)
		triad_watch_miss(collector->watch, port, now(collector));
}

/* --- life --- */

/* When each group that has a period of its own is due. */
static void plan_groups(struct triad_collector *collector, uint64_t now_us)
{
	for (unsigned i = 0; i < TRIAD_GROUPS_MAX; i++) {
		const struct triad_conf_group *group =
			i < triad_groups_count(collector->groups)
			? triad_groups_get(collector->groups, i)
			: NULL;

		collector->group_due_us[i] =
			group && group->sweep_period_s && !group->skip
			? now_us + group->sweep_period_s * TRIAD_US_PER_S
			: UINT64_MAX;
	}
}

static void drop_alert(
	void *context, enum triad_alert_change change, const struct triad_alert *alert)
{
}

struct triad_collector *triad_collector_new(const struct triad_collector_clock *clock,
	const struct triad_alerts_sink *alerts_sink, struct triad_log *log)
{
	static const struct triad_alerts_sink nowhere = {.take = drop_alert};
	struct triad_collector *collector = calloc(1, sizeof(*collector));
	struct triad_sweep_sink sink = {
		.context = collector,
		.wants = wants_port,
		.pkey_index = give_pkey_index,
		.find_pkey = find_pkey,
		.coming = note_coming,
		.reading = add_reading,
		.detail = add_detail,
		.wanted_details = choose_details,
		.unchanged = confirm_reading,
		.resetting = expect_reset,
		.reset = note_reset,
		.done = mark_done,
	};

	if (!collector)
		return NULL;
	collector->clock = *clock;
	collector->log = log;
	collector->send_limit =
		(struct triad_log_limit){.burst = 1, .period_us = 60 * TRIAD_US_PER_S};
	collector->reset_limit =
		(struct triad_log_limit){.burst = 10, .period_us = 60 * TRIAD_US_PER_S};
	collector->max_difference =
		(struct triad_log_limit){.burst = 10, .period_us = 60 * TRIAD_US_PER_S};
	pthread_mutex_init(&collector->published_lock, NULL);
	collector->engine = triad_engine_new();
	collector->sweep = triad_sweep_new(&sink);
	collector->watch = triad_watch_new(alerts_sink ? alerts_sink : &nowhere);
	collector->groups = triad_groups_new(NULL);
	if (!collector->engine || !collector->sweep || !collector->watch ||
		!collector->groups) {
		triad_collector_free(collector);
		return NULL;
	}
	plan_groups(collector, 0);
	return collector;
}

void triad_collector_free(struct triad_collector *collector)
{
	if (!collector)
		return;
	triad_watch_free(collector->watch);
	triad_view_unref(collector->view);
	triad_groups_unref(collector->groups);
	triad_sweep_free(collector->sweep);
	triad_engine_free(collector->engine);
	triad_fabric_unref(collector->fabric);
	pthread_mutex_destroy(&collector->published_lock);
	free(collector);
}

/* --- what the owner says --- */

void triad_collector_set_transport(
	struct triad_collector *collector, const struct triad_mad_transport *transport)
{
	collector->transport = transport;
}

void triad_collector_set_params(
	struct triad_collector *collector, const struct triad_collector_params *params)
{
	uint64_t started_us = collector->status.started_us;

	/* The next sweep was due by the old period. */
	if (started_us && params->period_us != collector->params.period_us)
		collector->due_us = started_us + params->period_us;
	collector->params = *params;
	/* Readers compare the age of the last sweep with it, before the next one. */
	pthread_mutex_lock(&collector->published_lock);
	collector->status.period_us = params->period_us;
	pthread_mutex_unlock(&collector->published_lock);
}

int triad_collector_configure(
	struct triad_collector *collector, const struct triad_conf *conf)
{
	struct triad_groups *groups = triad_groups_new(conf);

	triad_watch_configure(
		collector->watch, conf, collector->params.is_part, now(collector));
	if (!groups)
		return ENOMEM;
	/* Equal groups stay the same object: the view and its histograms go on. */
	if (triad_groups_are_equal(groups, collector->groups)) {
		triad_groups_unref(groups);
		return 0;
	}
	triad_groups_unref(collector->groups);
	collector->groups = groups;
	collector->groups_looked_at = false;
	plan_groups(collector, now(collector));
	/* The view says which port is in which group, so the present fabric is adopted
	 * again.  A fabric that waits gets the new groups anyway. */
	if (collector->view && !collector->fabric)
		triad_collector_set_fabric(collector, collector->view->fabric);
	return 0;
}

void triad_collector_set_fabric(
	struct triad_collector *collector, struct triad_fabric *fabric)
{
	triad_fabric_unref(collector->fabric);
	collector->fabric = triad_fabric_ref(fabric);
	collector->adopt_failed = false;
}

void triad_collector_sweep_now(struct triad_collector *collector)
{
	collector->sweep_asked = true;
}

/* --- what readers see --- */

static void publish_view(struct triad_collector *collector, struct triad_view *view)
{
	pthread_mutex_lock(&collector->published_lock);
	collector->view = view;
	pthread_mutex_unlock(&collector->published_lock);
}

struct triad_view *triad_collector_view(struct triad_collector *collector)
{
	struct triad_view *view = NULL;

	pthread_mutex_lock(&collector->published_lock);
	if (collector->view)
		view = triad_view_ref(collector->view);
	pthread_mutex_unlock(&collector->published_lock);
	return view;
}

static void publish_status(struct triad_collector *collector)
{
	struct triad_collector_status *status = &collector->status;

	pthread_mutex_lock(&collector->published_lock);
	status->period_us = collector->params.period_us;
	status->window = triad_sweep_window(collector->sweep);
	status->progress = triad_sweep_progress(collector->sweep);
	status->counts = triad_sweep_counts(collector->sweep);
	status->send_errors = collector->send_errors;
	status->receive_errors = collector->receive_errors;
	status->n_impossible = collector->n_impossible;
	status->details = triad_details_counts(triad_engine_details(collector->engine));
	pthread_mutex_unlock(&collector->published_lock);
}

struct triad_collector_status triad_collector_status(struct triad_collector *collector)
{
	struct triad_collector_status status;

	pthread_mutex_lock(&collector->published_lock);
	status = collector->status;
	pthread_mutex_unlock(&collector->published_lock);
	return status;
}

struct triad_engine *triad_collector_engine(struct triad_collector *collector)
{
	return collector->engine;
}

struct triad_watch *triad_collector_watch(struct triad_collector *collector)
{
	return collector->watch;
}

/* --- resets --- */

void triad_collector_reset(
	struct triad_collector *collector, const struct triad_selection *selection)
{
	const struct triad_view *view = selection->view;
	const struct triad_fabric *swept;
	uint64_t now_us = now(collector);
	struct triad_engine_row row;

	for (uint32_t i = 0; i < view->fabric->n_ports; i++) {
		const struct triad_fabric_port *port = &view->fabric->ports[i];
		uint32_t node, at;

		if (!selection->chosen[i])
			continue;
		/* Since the view was made, its row may have gone to another port. */
		if (triad_view_read(view, i, &row))
			triad_engine_zero(collector->engine, view->rows[i], now_us);
		/* No fabric may be swept now, or another one, without the port. */
		if (!selection->hardware || !collector->view)
			continue;
		swept = collector->view->fabric;
		node = triad_fabric_find_node(
			swept, view->fabric->nodes[port->node].guid);
		at = triad_fabric_find_port(swept, node, port->number);
		if (at != TRIAD_FABRIC_NONE)
			triad_sweep_want_reset(collector->sweep, at);
	}
	/* The resets are sent in a sweep. */
	collector->sweep_asked |= selection->hardware;
}

/* --- a sweep --- */

/* Says which groups have no port: most likely a name is misspelt.  Once for each
 * configuration. */
static void log_empty_groups(struct triad_collector *collector)
{
	const struct triad_view *view = collector->view;
	uint32_t some = 0;

	if (collector->groups_looked_at)
		return;
	collector->groups_looked_at = true;
	for (uint32_t i = 0; i < view->fabric->n_ports; i++)
		if (view->group[i] != TRIAD_GROUP_NONE)
			some |= 1u << view->group[i];
	for (unsigned i = 0; i < triad_groups_count(collector->groups); i++)
		if (!(some & 1u << i))
			triad_log_write(collector->log, TRIAD_LOG_WARNING,
				"perfmgr: no port is in [group %s]: none fits it, or "
				"those that do fit a later group as well",
				triad_groups_get(collector->groups, i)->name);
}

/* Our port's table may have changed since the last fabric. */
static void choose_pkeys(struct triad_collector *collector, struct triad_view *view)
{
	const struct triad_mad_transport *transport = collector->transport;

	collector->n_pkeys = transport && transport->pkeys
		? (uint32_t)transport->pkeys(
			  transport->context, collector->pkeys, TRIAD_PKEYS_MAX)
		: 0;
	triad_view_choose_pkeys(view, collector->pkeys, collector->n_pkeys);
}

/* Publishes how many ports the partitions leave out, and logs each change once. */
static void log_apart(struct triad_collector *collector)
{
	struct triad_collector_status *status = &collector->status;
	uint32_t n = collector->view->partitions.n_apart;

	pthread_mutex_lock(&collector->published_lock);
	status->partitions = collector->view->partitions;
	pthread_mutex_unlock(&collector->published_lock);
	if (n && n != collector->n_apart_logged)
		triad_log_write(collector->log, TRIAD_LOG_WARNING,
			"perfmgr: %" PRIu32 " ports share no partition with this port: "
			"not asked, because they would drop it; make this port a full "
			"member of a partition that they are in (partitions.conf of "
			"OpenSM)",
			n);
	else if (!n && collector->n_apart_logged)
		triad_log_write(collector->log, TRIAD_LOG_INFO,
			"perfmgr: all ports share a partition with this port again");
	collector->n_apart_logged = n;
}

/* Adopts the fabric that waits; 'reads': this port reads its counters.  The scheduler
 * reports ports of the new fabric at once, so the view comes first. */
static int adopt(struct triad_collector *collector, bool reads)
{
	struct triad_fabric *fabric = collector->fabric;
	struct triad_view *view =
		triad_view_new(collector->engine, fabric, collector->groups);
	struct triad_view *old = collector->view;
	bool was_behind = collector->watch_is_behind;
	int error;

	if (!view)
		return ENOMEM;
	if (reads)
		choose_pkeys(collector, view);
	error = triad_engine_adopt(
		collector->engine, fabric, now(collector), view->rows);
	if (!error) {
		publish_view(collector, view);
		collector->watch_is_behind = true;
		error = triad_sweep_adopt(collector->sweep, fabric);
		if (error) {
			publish_view(collector, old);
			collector->watch_is_behind = was_behind;
		}
	}
	if (error) {
		triad_view_unref(view);
		return error;
	}
	triad_view_unref(old);
	triad_fabric_unref(collector->fabric);
	collector->fabric = NULL;
	log_empty_groups(collector);
	log_apart(collector);
	/* When the watch lacks memory, sweeps go on, and the next one tries again. */
	collector->watch_is_behind =
		triad_watch_adopt(collector->watch, view, now(collector));
	return 0;
}

/* On failure the old fabric goes on. */
static void adopt_or_log(struct triad_collector *collector, bool reads)
{
	int error = adopt(collector, reads);

	collector->adopt_failed = error;
	if (error)
		triad_log_write(collector->log, TRIAD_LOG_ERROR,
			"perfmgr: the new topology can't be taken over: %s; sweeping "
			"the old one, and trying again before the next sweep",
			strerror(error));
}

void triad_collector_adopt(struct triad_collector *collector)
{
	if (collector->fabric && !collector->adopt_failed)
		adopt_or_log(collector, false);
}

/* The next multiple of the period after the last due time that lies ahead. */
static uint64_t next_due(const struct triad_collector *collector, uint64_t now_us)
{
	uint64_t period_us = collector->params.period_us;
	uint64_t due_us = collector->due_us ? collector->due_us : now_us;

	/* Periods that have passed are left out, so that sweeps do not pile up. */
	if (now_us >= due_us)
		due_us += ((now_us - due_us) / period_us + 1) * period_us;
	return due_us;
}

/* Groups that are due before the next sweep of all ports: bit i. */
static uint32_t due_groups(const struct triad_collector *collector, uint64_t now_us)
{
	uint32_t due = 0;

	for (unsigned i = 0; i < TRIAD_GROUPS_MAX; i++)
		due |= (uint32_t)(collector->group_due_us[i] <= now_us) << i;
	return due;
}

static uint64_t next_group_due(const struct triad_collector *collector)
{
	uint64_t due_us = UINT64_MAX;

	for (unsigned i = 0; i < TRIAD_GROUPS_MAX; i++)
		if (collector->group_due_us[i] < due_us)
			due_us = collector->group_due_us[i];
	return due_us;
}

/* A group's next sweep is a period behind the beginning of one that it was in. */
static void note_groups_begun(struct triad_collector *collector, uint64_t now_us)
{
	for (unsigned i = 0; i < triad_groups_count(collector->groups); i++) {
		const struct triad_conf_group *group =
			triad_groups_get(collector->groups, i);
		bool is_in = !collector->sweeping_groups ||
			collector->sweeping_groups & 1u << i;

		if (collector->group_due_us[i] != UINT64_MAX && is_in)
			collector->group_due_us[i] =
				now_us + group->sweep_period_s * TRIAD_US_PER_S;
	}
}

/* How much of its rounds a sweep does: a sweep of all ports as much as time has passed
 * since the last one, a sweep of groups nothing. */
static void plan_rounds(const struct triad_collector *collector,
	struct triad_sweep_params *params, uint32_t groups, uint64_t now_us)
{
	uint64_t last_us = collector->status.started_us;

	for (unsigned i = 0; i < TRIAD_N_ROUNDS; i++) {
		uint64_t period_us = collector->params.round_period_us[i];

		params->round_part[i] = 0;
		if (!groups && last_us && period_us)
			params->round_part[i] =
				fmin(1, (double)(now_us - last_us) / (double)period_us);
	}
	if (groups)
		params->round_share = 0;
}

/* Begins a sweep of 'groups', or of all ports when it is 0. */
static int begin_sweep(
	struct triad_collector *collector, uint32_t groups, uint64_t now_us)
{
	struct triad_collector_status *status = &collector->status;
	struct triad_sweep_params params = collector->params.sweep;
	int error;

	if (collector->fabric && collector->adopt_failed)
		adopt_or_log(collector, true);
	if (!collector->view)
		return ENODATA;
	if (collector->watch_is_behind)
		collector->watch_is_behind =
			triad_watch_adopt(collector->watch, collector->view, now_us);
	collector->sweeping_groups = groups;
	collector->was_cut = false;
	collector->n_vl_asked = 0;
	triad_watch_begin_sweep(collector->watch, groups);
	/* Somebody waits for this sweep, so it also asks agents in back-off. */
	params.ask_silent = collector->sweep_asked && !groups;
	plan_rounds(collector, &params, groups, now_us);
	error = triad_sweep_start(collector->sweep, &params);
	if (error)
		return error;
	collector->begun_us = now_us;
	note_groups_begun(collector, now_us);
	pthread_mutex_lock(&collector->published_lock);
	status->sweeping = true;
	if (!groups)
		status->started_us = now_us;
	status->octets = triad_engine_octets(collector->engine);
	pthread_mutex_unlock(&collector->published_lock);
	return 0;
}

static void end_full_sweep(struct triad_collector *collector, uint64_t now_us)
{
	struct triad_collector_status *status = &collector->status;
	uint64_t took_us = now_us - status->started_us;
	bool late = took_us > collector->params.period_us;

	collector->due_us = next_due(collector, now_us);
	publish_status(collector);
	pthread_mutex_lock(&collector->published_lock);
	status->sweeping = false;
	status->last_started_us = status->started_us;
	status->finished_us = status->ended_us = now_us;
	status->duration_us = took_us;
	status->last = status->progress;
	status->n_sweeps++;
	status->n_late += late;
	pthread_mutex_unlock(&collector->published_lock);
	triad_log_write(collector->log, late ? TRIAD_LOG_INFO : TRIAD_LOG_VERBOSE,
		"perfmgr: sweep %" PRIu64 " of %" PRIu32 " ports took %" PRIu64
		" ms%s; %" PRIu32 " unanswered",
		status->n_sweeps, status->last.n_ports, took_us / TRIAD_US_PER_MS,
		late ? ", longer than sweep_period" : "", status->last.n_unanswered);
}

void triad_collector_note_round(struct triad_collector *collector,
	const struct triad_sweep_progress *progress, uint64_t started_us)
{
	struct triad_collector_status *status = &collector->status;
	uint64_t now_us = now(collector);

	pthread_mutex_lock(&collector->published_lock);
	status->period_us = collector->params.period_us;
	status->started_us = status->last_started_us = started_us;
	status->finished_us = status->ended_us = now_us;
	status->duration_us = now_us - started_us;
	status->progress = status->last = *progress;
	status->octets = triad_engine_octets(collector->engine);
	status->n_sweeps++;
	pthread_mutex_unlock(&collector->published_lock);
	triad_watch_end_round(collector->watch, now_us);
}

static void end_sweep(struct triad_collector *collector, uint64_t now_us)
{
	triad_watch_end_sweep(
		collector->watch, collector->begun_us, collector->was_cut, now_us);
	if (!collector->sweeping_groups) {
		end_full_sweep(collector, now_us);
		return;
	}
	publish_status(collector);
	pthread_mutex_lock(&collector->published_lock);
	collector->status.sweeping = false;
	collector->status.ended_us = now_us;
	collector->status.n_group_sweeps++;
	pthread_mutex_unlock(&collector->published_lock);
}

/* Nothing can be sent.  To go on would cost a time-out for each query, and make all
 * agents look silent. */
static void cut_sweep(struct triad_collector *collector, int error)
{
	unsigned long suppressed;

	collector->was_cut = true;
	triad_sweep_cut(collector->sweep);
	if (triad_log_limit_pass(&collector->send_limit, now(collector), &suppressed))
		triad_log_write(collector->log, TRIAD_LOG_ERROR,
			"perfmgr: queries can't be sent: %s; the sweep is cut short, "
			"and ports that were not read are unanswered (%lu sweeps before "
			"were not logged)",
			strerror(error), suppressed);
}

static void send_queries(struct triad_collector *collector)
{
	const struct triad_mad_transport *transport = collector->transport;
	uint64_t timeout_us = collector->params.sweep.timeout_us;
	struct triad_sweep_query query;

	while (triad_sweep_next(collector->sweep, now(collector), &query)) {
		int error = transport->send(transport->context, &query.to, query.mad,
			(unsigned)(timeout_us / TRIAD_US_PER_MS));

		if (error == EAGAIN && triad_sweep_in_flight(collector->sweep) > 1) {
			/* Room comes with the next answer. */
			triad_sweep_unsend(collector->sweep, query.tid);
			return;
		}
		collector->n_unsent = error ? collector->n_unsent + 1 : 0;
		if (!error)
			continue;
		/* The query stays in flight: it times out, and is sent again then. */
		collector->send_errors++;
		/* More failures in a row than the window has queries are the fault of
		 * the transport, not of an address. */
		if (collector->n_unsent > triad_sweep_window(collector->sweep)) {
			collector->n_unsent = 0;
			cut_sweep(collector, error);
			return;
		}
	}
}

/* Returns false when the transport is broken. */
static bool receive_replies(struct triad_collector *collector)
{
	const struct triad_mad_transport *transport = collector->transport;
	uint64_t now_us = now(collector);
	uint64_t deadline_us = triad_sweep_deadline(collector->sweep);
	uint64_t wait_us = deadline_us > now_us ? deadline_us - now_us : 0;
	struct triad_mad_reply reply;

	if (wait_us > MAX_WAIT_US)
		wait_us = MAX_WAIT_US;
	for (unsigned i = 0; i < MAX_BATCH; i++) {
		int error = transport->receive(transport->context, wait_us, &reply);

		if (error == EAGAIN)
			return true;
		if (error) {
			collector->receive_errors++;
			return false;
		}
		triad_sweep_reply(collector->sweep, &reply, now(collector));
		/* Only the first answer is waited for. */
		wait_us = 0;
	}
	return true;
}

/* Returns how long the owner may sleep. */
static uint64_t go_on(struct triad_collector *collector)
{
	bool works;

	triad_sweep_expire(collector->sweep, now(collector));
	send_queries(collector);
	works = receive_replies(collector);
	if (triad_sweep_is_done(collector->sweep))
		end_sweep(collector, now(collector));
	else
		publish_status(collector);
	/* A broken transport returns at once: sleep, or the caller would spin. */
	return works ? 0 : MAX_WAIT_US;
}

/* Begins the sweep that is due.  Returns how long until there is one; 0 when one has
 * begun. */
static uint64_t begin_due_sweep(struct triad_collector *collector, uint64_t now_us)
{
	struct triad_collector_status *status = &collector->status;
	uint64_t due_us = collector->due_us, group_due_us = next_group_due(collector);
	uint32_t groups = 0;

	/* A sweep of all ports goes first: it includes the groups. */
	if (!collector->sweep_asked && now_us < due_us) {
		groups = due_groups(collector, now_us);
		if (!groups)
			return (due_us < group_due_us ? due_us : group_due_us) - now_us;
	}
	if (!groups)
		collector->due_us = next_due(collector, now_us);
	if (begin_sweep(collector, groups, now_us)) {
		/* There is no fabric yet, or no memory.  A group that stayed overdue
		 * would be tried again at once. */
		plan_groups(collector, now_us);
		return collector->due_us - now_us;
	}
	if (groups)
		return 0;
	/* The first sweep has no due time, and one that was asked for has no delay. */
	if (due_us && !collector->sweep_asked) {
		pthread_mutex_lock(&collector->published_lock);
		status->delay_us = now_us - due_us;
		if (status->delay_us > status->delay_max_us)
			status->delay_max_us = status->delay_us;
		pthread_mutex_unlock(&collector->published_lock);
	}
	collector->sweep_asked = false;
	return 0;
}

uint64_t triad_collector_step(struct triad_collector *collector)
{
	uint64_t wait_us = 0;

	if (!collector->transport)
		return UINT64_MAX;
	if (collector->fabric && !collector->adopt_failed)
		adopt_or_log(collector, true);
	if (!collector->status.sweeping)
		wait_us = begin_due_sweep(collector, now(collector));
	return wait_us ? wait_us : go_on(collector);
}

bool triad_collector_drain(struct triad_collector *collector, uint64_t wait_us)
{
	const struct triad_mad_transport *transport = collector->transport;
	unsigned in_flight = triad_sweep_in_flight(collector->sweep);
	uint64_t end_us = now(collector) + wait_us, now_us;
	struct triad_mad_reply reply;

	triad_sweep_abort(collector->sweep);
	pthread_mutex_lock(&collector->published_lock);
	collector->status.sweeping = false;
	pthread_mutex_unlock(&collector->published_lock);
	while (transport && in_flight && (now_us = now(collector)) < end_us) {
		int error =
			transport->receive(transport->context, end_us - now_us, &reply);

		if (!error)
			in_flight--;
		else if (error != EAGAIN)
			break;
	}
	return !in_flight;
}
