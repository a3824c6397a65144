/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "perfmgr/watch/watch.h"

#include <errno.h>
#include <stdlib.h>

#include "perfmgr/watch/alert_findings.h"
#include "perfmgr/watch/detail_limits.h"
#include "perfmgr/watch/slow_finder.h"
#include "triad/clock.h"
#include "triad/lists.h"
#include "triad/thread.h"

struct triad_watch {
	struct triad_view *view; /* referenced; the owner's alone; NULL: none, or it was
	                          * not taken up by all */
	/* The fabric last reported, referenced; used only by the owner; NULL: none. */
	struct triad_fabric *reported;
	struct triad_finders finders;         /* the owner's alone */
	struct triad_slow_finder slow_finder; /* the owner's alone */
	pthread_mutex_t lock;                 /* of what follows */
	struct triad_histograms *histograms;
	struct triad_alerts *alerts;
	struct triad_links *links;
	struct triad_bers *bers;
	struct triad_detail_thresholds detail_thresholds;
	struct triad_silences silences;
	/* Version of the silences that alerts were last compared * with. */
	uint64_t looked_version;
	uint64_t walk_us;
	uint64_t looks_since_us; /* see triad_watch_look_from() */
	uint64_t knows_since_us; /* see struct triad_watch_status */
	bool is_part;
	struct triad_slow_counts slow;
	bool links_raise; /* alerts about links; not in a part of the fabric */
	struct triad_changes_sink changes;    /* 'take' is NULL: none */
	struct triad_watch_hardware hardware; /* 'judge' is NULL: none */
};

static void give_slow_links(void *context, struct triad_found *found)
{
	struct triad_watch *watch = context;
	struct triad_slow_counts counts =
		triad_slow_finder_look(&watch->slow_finder, watch->view->fabric);

	pthread_mutex_lock(&watch->lock);
	watch->slow = counts;
	pthread_mutex_unlock(&watch->lock);
	if (watch->links_raise)
		triad_slow_finder_give(&watch->slow_finder, found);
}

struct triad_watch *triad_watch_new(const struct triad_alerts_sink *sink)
{
	struct triad_watch *watch = calloc(1, sizeof(*watch));

	if (!watch)
		return NULL;
	pthread_mutex_init(&watch->lock, NULL);
	watch->histograms = triad_histograms_new();
	watch->alerts = triad_alerts_new(sink, &watch->silences);
	watch->links = triad_links_new();
	watch->bers = triad_bers_new();
	triad_watch_add_finder(watch,
		&(struct triad_finder){.read = give_slow_links, .context = watch});
	if (watch->histograms && watch->alerts && watch->links && watch->bers)
		return watch;
	triad_watch_free(watch);
	return NULL;
}

void triad_watch_free(struct triad_watch *watch)
{
	if (!watch)
		return;
	triad_slow_finder_clear(&watch->slow_finder);
	triad_bers_free(watch->bers);
	triad_links_free(watch->links);
	triad_alerts_free(watch->alerts);
	triad_histograms_free(watch->histograms);
	triad_view_unref(watch->view);
	triad_fabric_unref(watch->reported);
	pthread_mutex_destroy(&watch->lock);
	free(watch);
}

void triad_watch_set_changes(
	struct triad_watch *watch, const struct triad_changes_sink *sink)
{
	pthread_mutex_lock(&watch->lock);
	watch->changes = *sink;
	pthread_mutex_unlock(&watch->lock);
}

void triad_watch_set_hardware(
	struct triad_watch *watch, const struct triad_watch_hardware *hardware)
{
	pthread_mutex_lock(&watch->lock);
	watch->hardware = *hardware;
	pthread_mutex_unlock(&watch->lock);
}

void triad_watch_set_intent(
	struct triad_watch *watch, const struct triad_alerts_intent *intent)
{
	pthread_mutex_lock(&watch->lock);
	triad_alerts_set_intent(watch->alerts, intent);
	pthread_mutex_unlock(&watch->lock);
}

/* A counter is right again below this part of its threshold: a rate that wavers about the
 * threshold is one alert, not many. */
#define CLEAR_BELOW 0.5

/* In a year, of all ports together, at most: so rare that an alert of a bit error rate is
 * believed, while more would find hardly worse links only a little sooner. */
#define BER_FALSE_ALARMS 1

void triad_watch_configure(struct triad_watch *watch, const struct triad_conf *conf,
	bool is_part, uint64_t now_us)
{
	struct triad_alerts_params params = {
		.enabled = conf->alerts.enabled,
		.links = conf->alerts.links && !is_part,
		.raise_after_us = conf->alerts.raise_after_s * TRIAD_US_PER_S,
		.clear_after_us = conf->alerts.clear_after_s * TRIAD_US_PER_S,
		.forget_after_us = TRIAD_LINKS_FORGET_AFTER_US,
		.clear_below = CLEAR_BELOW,
		.unanswered_sweeps = conf->alerts.unanswered_sweeps,
	};
	struct triad_bers_params bers = {
		.enabled = conf->alerts.ber,
		.false_alarms = BER_FALSE_ALARMS,
	};
	struct triad_detail_thresholds thresholds = {0};
	char reason[TRIAD_DIAG_TEXT_SIZE];
	uint32_t counters = 0;

	/* They were checked when triad.conf was read. */
	(void)triad_counters_parse(
		conf->perfmgr.histogram_counters, &counters, reason, sizeof(reason));
	(void)triad_ber_targets_parse(
		conf->alerts.ber_targets, &bers.targets, reason, sizeof(reason));
	(void)triad_detail_thresholds_parse(
		conf->alerts.details, &thresholds, reason, sizeof(reason));
	pthread_mutex_lock(&watch->lock);
	triad_histograms_set_port_counters(watch->histograms, counters);
	triad_alerts_configure(watch->alerts, &params, conf, now_us);
	triad_links_configure(watch->links, is_part, params.forget_after_us);
	triad_bers_configure(watch->bers, &bers);
	watch->detail_thresholds = thresholds;
	watch->is_part = is_part;
	watch->links_raise = params.links;
	pthread_mutex_unlock(&watch->lock);
}

void triad_watch_look_from(struct triad_watch *watch, uint64_t now_us)
{
	watch->looks_since_us = now_us;
	pthread_mutex_lock(&watch->lock);
	watch->knows_since_us = now_us;
	pthread_mutex_unlock(&watch->lock);
}

/* Reports changes, but not of a fabric that is a part: others read what is behind its
 * ends. */
static void report_changes(struct triad_watch *watch, struct triad_fabric *fabric)
{
	/* When memory is short, the next fabric is compared with the old one. */
	if (watch->reported && !watch->is_part && watch->changes.take &&
		triad_changes_report(watch->reported, fabric, &watch->changes))
		return;
	triad_fabric_unref(watch->reported);
	watch->reported = triad_fabric_ref(fabric);
}

/* In slices, because each alert is compared with all silences. */
static void settle_alerts(struct triad_watch *watch, uint64_t now_us)
{
	uint32_t cursor = 0;
	bool is_more;

	do {
		is_more = TRIAD_LOCKED(&watch->lock,
			triad_alerts_settle(watch->alerts, now_us, &cursor,
				TRIAD_WATCH_ALERT_SLICE));
	} while (is_more);
}

int triad_watch_adopt(
	struct triad_watch *watch, struct triad_view *view, uint64_t now_us)
{
	int error;

	pthread_mutex_lock(&watch->lock);
	error = triad_histograms_adopt(watch->histograms, view);
	if (!error)
		error = triad_alerts_adopt(watch->alerts, view, now_us);
	if (!error)
		error = triad_links_adopt(watch->links, view->fabric, now_us);
	if (!error)
		error = triad_bers_adopt(watch->bers, view);
	pthread_mutex_unlock(&watch->lock);
	settle_alerts(watch, now_us);
	/* After an error some parts have the new view and others the old one, so a
	 * port's index means different ports to them. */
	triad_view_unref(watch->view);
	watch->view = error ? NULL : triad_view_ref(view);
	report_changes(watch, view->fabric);
	return error;
}

int triad_watch_restore(struct triad_watch *watch, struct triad_view *past,
	const struct triad_alert *alerts, uint32_t n_alerts,
	const struct triad_link *links, uint32_t n_links, uint64_t now_us)
{
	int error;

	if (watch->is_part)
		return 0;
	pthread_mutex_lock(&watch->lock);
	error = triad_alerts_restore(watch->alerts, past, alerts, n_alerts, now_us);
	if (!error)
		error = triad_links_restore(
			watch->links, past->fabric, links, n_links, now_us);
	if (!error)
		watch->knows_since_us = 0;
	pthread_mutex_unlock(&watch->lock);
	settle_alerts(watch, now_us);
	triad_fabric_unref(watch->reported);
	watch->reported = triad_fabric_ref(past->fabric);
	if (watch->view)
		report_changes(watch, watch->view->fabric);
	return error;
}

/* --- a sweep --- */

static void count_downs(
	struct triad_watch *watch, uint32_t port, uint64_t n, uint64_t now_us)
{
	const struct triad_fabric *fabric = watch->view->fabric;

	triad_links_count(watch->links, port, n, now_us);
	if (watch->changes.take)
		watch->changes.take(watch->changes.context, TRIAD_CHANGE_COUNTED_DOWN,
			fabric, fabric->ports[port].node, port, n);
}

void triad_watch_begin_sweep(struct triad_watch *watch, bool is_part)
{
	if (watch->view)
		triad_alerts_begin_sweep(watch->alerts, is_part);
}

void triad_watch_miss(struct triad_watch *watch, uint32_t port, uint64_t now_us)
{
	/* No lock: no reader sees what this changes. */
	if (watch->view)
		triad_alerts_miss(watch->alerts, port, now_us);
}

void triad_watch_note_trouble(
	struct triad_watch *watch, uint32_t port, struct triad_pma_trouble trouble)
{
	/* No lock, as in triad_watch_miss(). */
	if (watch->view)
		triad_alerts_note_trouble(watch->alerts, port, trouble);
}

/* Gives the verdict to the alerts as judged, since it waited for enough data. */
static void judge_ber(struct triad_watch *watch, uint32_t port,
	const struct triad_engine_changes *changes, uint64_t now_us)
{
	struct triad_bers_rate rates[TRIAD_BER_N_KINDS];
	struct triad_alert_finding found = {0};
	enum triad_ber_kind kind = 0;
	enum triad_bers_change change =
		triad_bers_look(watch->bers, port, changes, now_us, &kind);

	if (change == TRIAD_BERS_NOTHING)
		return;
	if (change == TRIAD_BERS_WORSE) {
		triad_bers_read(watch->bers, watch->view, port, rates);
		found = triad_alert_finding_of_ber(kind, &rates[kind]);
	}
	triad_alerts_take(watch->alerts, port, TRIAD_ALERT_BER,
		change == TRIAD_BERS_WORSE ? &found : NULL, now_us);
}

static void judge_details(
	struct triad_watch *watch, uint32_t port, uint64_t since_us, uint64_t now_us)
{
	const struct triad_alert_why known = triad_alerts_detail(watch->alerts, port);
	struct triad_alert_finding found;

	switch (triad_detail_limits_look(&watch->detail_thresholds, watch->view, port,
		known, since_us, &found)) {
	case TRIAD_DETAIL_IS_OVER:
		triad_alerts_take(
			watch->alerts, port, TRIAD_ALERT_DETAIL, &found, now_us);
		break;
	case TRIAD_DETAIL_IS_UNDER:
		triad_alerts_take(
			watch->alerts, port, TRIAD_ALERT_DETAIL, NULL, now_us);
		break;
	case TRIAD_DETAIL_NOTHING_NEW:
		break;
	}
}

static void judge_part(struct triad_watch *watch, uint32_t port, unsigned cause,
	uint64_t guid, uint8_t number, uint64_t now_us)
{
	struct triad_hardware_finding finding;
	struct triad_alert_finding found;
	bool is_wrong =
		watch->hardware.judge(watch->hardware.context, guid, number, &finding);

	if (is_wrong)
		found = triad_alert_finding_of_hardware(&finding);
	triad_alerts_take(watch->alerts, port, cause, is_wrong ? &found : NULL, now_us);
}

/* Judges what is plugged in at the port; with a node's first port, the node itself. */
static void judge_hardware(struct triad_watch *watch, uint32_t port, uint64_t now_us)
{
	const struct triad_fabric *fabric = watch->view->fabric;
	const struct triad_fabric_port *at = &fabric->ports[port];
	const struct triad_fabric_node *node = &fabric->nodes[at->node];

	if (!watch->hardware.judge)
		return;
	if (at->number)
		judge_part(watch, port, TRIAD_ALERT_MODULE, node->guid, at->number,
			now_us);
	if (port == node->first_port || !fabric->ports[port - 1].has_pma)
		judge_part(watch, port, TRIAD_ALERT_DEVICE, node->guid, 0, now_us);
}

/* Drops changes whose interval began before counters were read here.  Such a change is
 * a right rate, so only thresholds and link counts ignore it. */
static void leave_gap_out(const struct triad_watch *watch,
	struct triad_engine_changes *changes, uint64_t now_us)
{
	double looked_us = (double)(now_us - watch->looks_since_us);

	for (uint32_t left = changes->fresh; left; left &= left - 1) {
		unsigned i = (unsigned)__builtin_ctz(left);

		if ((double)changes->interval_us[triad_engine_part(changes, i)] >
			looked_us)
			changes->fresh &= ~(1u << i);
	}
	changes->changed &= changes->fresh;
	changes->full &= changes->fresh;
}

static void look_at_port(
	struct triad_watch *watch, uint32_t port, uint64_t since_us, uint64_t now_us)
{
	const struct triad_view *view = watch->view;
	struct triad_engine_changes changes;
	bool is_read = triad_engine_changes(
		view->engine, view->rows[port], since_us, &changes);

	judge_ber(watch, port, is_read ? &changes : NULL, now_us);
	judge_details(watch, port, since_us, now_us);
	judge_hardware(watch, port, now_us);
	if (!is_read)
		return;
	triad_histograms_add(watch->histograms, port, &changes);
	if (watch->looks_since_us)
		leave_gap_out(watch, &changes, now_us);
	triad_alerts_look(watch->alerts, port, &changes, now_us);
	if (changes.changed & 1u << TRIAD_LINK_DOWNED_COUNTER)
		count_downs(
			watch, port, changes.change[TRIAD_LINK_DOWNED_COUNTER], now_us);
}

/* Slices, so that a reader gets its turn. */
static void look_at_ports(struct triad_watch *watch, uint64_t since_us, uint64_t now_us)
{
	uint32_t n = watch->view->fabric->n_ports;

	for (uint32_t i = 0; i < n; i++) {
		if (i % TRIAD_WATCH_SLICE == 0)
			pthread_mutex_lock(&watch->lock);
		if (watch->view->fabric->ports[i].has_pma)
			look_at_port(watch, i, since_us, now_us);
		if ((i + 1) % TRIAD_WATCH_SLICE == 0 || i + 1 == n)
			pthread_mutex_unlock(&watch->lock);
	}
}

/* --- findings of finders --- */

void triad_watch_add_finder(
	struct triad_watch *watch, const struct triad_finder *finder)
{
	if (watch->finders.n_finders < TRIAD_MAX_FINDERS)
		watch->finders.finders[watch->finders.n_finders++] = *finder;
}

static void look_at_finders(struct triad_watch *watch, uint64_t now_us)
{
	triad_finders_look(&watch->finders, watch->alerts, watch->view->fabric,
		&watch->lock, now_us);
}

void triad_watch_look_at_finders(struct triad_watch *watch, uint64_t now_us)
{
	if (!watch->view)
		return;
	look_at_finders(watch, now_us);
	settle_alerts(watch, now_us);
}

void triad_watch_set_idle(struct triad_watch *watch, bool is_idle, uint64_t now_us)
{
	pthread_mutex_lock(&watch->lock);
	triad_alerts_set_idle(watch->alerts, is_idle, now_us);
	pthread_mutex_unlock(&watch->lock);
	triad_watch_look_at_finders(watch, now_us);
}

void triad_watch_end_sweep(
	struct triad_watch *watch, uint64_t since_us, bool cut, uint64_t now_us)
{
	uint64_t begun_us = triad_clock_now_us();

	if (!watch->view)
		return;
	look_at_ports(watch, since_us, now_us);
	look_at_finders(watch, now_us);
	pthread_mutex_lock(&watch->lock);
	triad_alerts_end_sweep(watch->alerts, cut, now_us);
	triad_links_forget(watch->links, now_us);
	pthread_mutex_unlock(&watch->lock);
	settle_alerts(watch, now_us);
	pthread_mutex_lock(&watch->lock);
	watch->walk_us = triad_clock_now_us() - begun_us;
	pthread_mutex_unlock(&watch->lock);
}

/* --- findings of agents --- */

void triad_watch_take(struct triad_watch *watch, uint32_t port, unsigned cause,
	const struct triad_alert_finding *found, uint64_t now_us)
{
	if (!watch->view)
		return;
	pthread_mutex_lock(&watch->lock);
	triad_alerts_take(watch->alerts, port, cause, found, now_us);
	pthread_mutex_unlock(&watch->lock);
}

void triad_watch_match(
	struct triad_watch *watch, uint32_t port, uint32_t causes, uint64_t now_us)
{
	if (!watch->view)
		return;
	pthread_mutex_lock(&watch->lock);
	triad_alerts_match(watch->alerts, port, causes, now_us);
	pthread_mutex_unlock(&watch->lock);
}

void triad_watch_settle(struct triad_watch *watch, uint64_t now_us)
{
	if (watch->view)
		settle_alerts(watch, now_us);
}

void triad_watch_count_downs(
	struct triad_watch *watch, uint32_t port, uint64_t n, uint64_t now_us)
{
	if (!watch->view)
		return;
	pthread_mutex_lock(&watch->lock);
	count_downs(watch, port, n, now_us);
	pthread_mutex_unlock(&watch->lock);
}

void triad_watch_end_round(struct triad_watch *watch, uint64_t now_us)
{
	if (!watch->view)
		return;
	look_at_finders(watch, now_us);
	pthread_mutex_lock(&watch->lock);
	triad_alerts_note_sweep(watch->alerts, now_us);
	triad_links_forget(watch->links, now_us);
	pthread_mutex_unlock(&watch->lock);
	settle_alerts(watch, now_us);
}

/* --- reading --- */

void triad_watch_note_sm(struct triad_watch *watch, uint16_t trap, uint16_t lid,
	uint8_t port, uint64_t now_us)
{
	pthread_mutex_lock(&watch->lock);
	triad_alerts_note_sm(watch->alerts, trap, lid, port, now_us);
	pthread_mutex_unlock(&watch->lock);
}

/* --- silences --- */

/* Ends and begins what is due.  Then compares alerts with silences if these changed,
 * also without a command: an acknowledgement ends with one alert and may have silenced
 * another.  In slices, because each alert is compared with each silence. */
uint64_t triad_watch_advance_silences(
	struct triad_watch *watch, uint64_t wall_us, uint64_t *version)
{
	uint64_t due_us;
	uint32_t cursor = 0;
	bool must_look;

	pthread_mutex_lock(&watch->lock);
	due_us = triad_silences_advance(&watch->silences, wall_us);
	*version = watch->silences.version;
	must_look = *version != watch->looked_version;
	watch->looked_version = *version;
	pthread_mutex_unlock(&watch->lock);
	while (must_look) {
		must_look = TRIAD_LOCKED(&watch->lock,
			triad_alerts_silence(
				watch->alerts, &cursor, TRIAD_WATCH_ALERT_SLICE));
	}
	return due_us;
}

uint32_t triad_watch_silence(struct triad_watch *watch,
	const struct triad_silence *silence, uint64_t wall_us)
{
	uint64_t version;
	uint32_t id;

	id = TRIAD_LOCKED(&watch->lock, triad_silences_add(&watch->silences, silence));
	triad_watch_advance_silences(watch, wall_us, &version);
	return id;
}

bool triad_watch_end_silence(struct triad_watch *watch, uint32_t id, uint64_t wall_us,
	struct triad_silence *ended)
{
	const struct triad_silence *silence;
	uint64_t version;

	pthread_mutex_lock(&watch->lock);
	silence = triad_silences_get(&watch->silences, id);
	if (silence) {
		*ended = *silence;
		triad_silences_remove(&watch->silences, id);
	}
	pthread_mutex_unlock(&watch->lock);
	triad_watch_advance_silences(watch, wall_us, &version);
	return silence;
}

void triad_watch_adopt_silences(struct triad_watch *watch,
	const struct triad_silences *silences, uint64_t wall_us)
{
	uint64_t version;

	pthread_mutex_lock(&watch->lock);
	watch->silences = *silences;
	watch->looked_version = UINT64_MAX;
	pthread_mutex_unlock(&watch->lock);
	triad_watch_advance_silences(watch, wall_us, &version);
}

bool triad_watch_is_link_silenced(
	struct triad_watch *watch, const struct triad_link *link)
{
	bool is_silenced = false;

	pthread_mutex_lock(&watch->lock);
	for (unsigned i = 0; i < 2; i++)
		is_silenced |= triad_silences_fit_end(&watch->silences,
			link->ends[i].node_guid, link->ends[i].node_name,
			link->ends[i].port);
	pthread_mutex_unlock(&watch->lock);
	return is_silenced;
}

uint64_t triad_watch_copy_silences(
	struct triad_watch *watch, struct triad_silences *copy)
{
	pthread_mutex_lock(&watch->lock);
	*copy = watch->silences;
	pthread_mutex_unlock(&watch->lock);
	return copy->version;
}

int triad_watch_histogram(struct triad_watch *watch,
	const struct triad_histograms_scope *scope, unsigned counter,
	struct triad_histogram *copy, uint64_t *n_zeros)
{
	return TRIAD_LOCKED(&watch->lock,
		triad_histograms_get(watch->histograms, scope, counter, copy, n_zeros));
}

void triad_watch_clear_histograms(struct triad_watch *watch)
{
	pthread_mutex_lock(&watch->lock);
	triad_histograms_clear(watch->histograms);
	pthread_mutex_unlock(&watch->lock);
}

bool triad_watch_next_alert(
	struct triad_watch *watch, uint32_t *cursor, struct triad_alert *copy)
{
	return TRIAD_LOCKED(
		&watch->lock, triad_alerts_next(watch->alerts, cursor, copy));
}

bool triad_watch_next_link(
	struct triad_watch *watch, uint32_t *cursor, struct triad_link *copy)
{
	return TRIAD_LOCKED(&watch->lock, triad_links_next(watch->links, cursor, copy));
}

bool triad_watch_find_link(struct triad_watch *watch, uint64_t node_guid, uint8_t port,
	struct triad_link *copy)
{
	return TRIAD_LOCKED(
		&watch->lock, triad_links_find(watch->links, node_guid, port, copy));
}

void triad_watch_read_bers(struct triad_watch *watch, const struct triad_view *view,
	uint32_t port, struct triad_bers_rate rates[TRIAD_BER_N_KINDS])
{
	pthread_mutex_lock(&watch->lock);
	triad_bers_read(watch->bers, view, port, rates);
	pthread_mutex_unlock(&watch->lock);
}

struct triad_link *triad_watch_copy_links(struct triad_watch *watch, uint32_t *n)
{
	uint32_t room, cursor = 0;
	struct triad_link *copy;
	bool some = true;

	room = TRIAD_LOCKED(&watch->lock, triad_links_n(watch->links));
	copy = calloc((size_t)room + 1, sizeof(*copy));
	*n = 0;
	while (copy && some && *n < room) {
		pthread_mutex_lock(&watch->lock);
		for (uint32_t i = 0; some && i < TRIAD_WATCH_SLICE && *n < room; i++) {
			some = triad_links_next(watch->links, &cursor, &copy[*n]);
			*n += some;
		}
		pthread_mutex_unlock(&watch->lock);
	}
	return copy;
}

struct triad_watch_status triad_watch_status(struct triad_watch *watch)
{
	struct triad_watch_status status;

	pthread_mutex_lock(&watch->lock);
	status = (struct triad_watch_status){
		.alerts = triad_alerts_counts(watch->alerts),
		.links = triad_links_counts(watch->links),
		.slow = watch->slow,
		.n_silences = watch->silences.n,
		.silences_version = watch->silences.version,
		.samples_dropped = triad_histograms_dropped(watch->histograms),
		.bers_dropped = triad_bers_dropped(watch->bers),
		.walk_us = watch->walk_us,
		.knows_since_us = watch->knows_since_us,
		.octets = triad_histograms_octets(watch->histograms) +
			triad_alerts_octets(watch->alerts) +
			triad_links_octets(watch->links) +
			triad_bers_octets(watch->bers),
	};
	pthread_mutex_unlock(&watch->lock);
	return status;
}
