/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* What became of losses. */
#include "plugin/reroute/reroute_parts.h"

#include <glib.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "ib/node_label.h"
#include "plugin/takers.h"
#include "service/recorder.h"
#include "triad/clock.h"

const char *triad_reroute_outcome_text(enum triad_reroute_outcome outcome)
{
	static const char *const texts[] = {
		[TRIAD_REROUTE_DONE] = "done",
		[TRIAD_REROUTE_WOULD] = "would be done",
		[TRIAD_REROUTE_NOTHING] = "nothing to do",
		[TRIAD_REROUTE_LEFT] = "left to OpenSM",
		[TRIAD_REROUTE_FAILED] = "failed",
	};

	return texts[outcome];
}

const char *triad_reroute_outcome_shown(const struct triad_reroute *loss)
{
	if (loss->n_lost && loss->outcome == TRIAD_REROUTE_DONE)
		return "done in part";
	if (loss->n_lost && loss->outcome == TRIAD_REROUTE_WOULD)
		return "would in part";
	return triad_reroute_outcome_text(loss->outcome);
}

static void describe_paths(
	const struct triad_reroute *report, char text[TRIAD_TIMELINE_TEXT_SIZE])
{
	char ms[32] = "";

	if (report->outcome == TRIAD_REROUTE_DONE)
		snprintf(ms, sizeof(ms), ", %.1f ms after the trap",
			(double)(report->ended_us - report->trap_us) / 1000);
	snprintf(text, TRIAD_TIMELINE_TEXT_SIZE, "routed around: %s%s%s%s",
		triad_reroute_outcome_shown(report), report->why ? ": " : "",
		report->why ? report->why : "", ms);
}

static void describe_groups(
	const struct reroute_loss *loss, char text[TRIAD_TIMELINE_TEXT_SIZE])
{
	const struct triad_reroute *report = loss->report;

	snprintf(text, TRIAD_TIMELINE_TEXT_SIZE,
		"%" PRIu32 " of %" PRIu32 " multicast groups %sconnected again",
		report->n_groups - report->n_groups_left, report->n_groups,
		atomic_load(&loss->rerouter->mode) == TRIAD_REPAIR_ACT ? ""
								       : "would be ");
}

static void note_loss(struct reroute_loss *loss)
{
	const struct triad_reroute *report = loss->report;
	const struct triad_fabric_port *near = &loss->fabric->ports[loss->ports[0]];
	struct triad_timeline_event event = {.kind = TRIAD_TIMELINE_REPAIR};
	char groups[TRIAD_TIMELINE_TEXT_SIZE] = "";

	event.ends[0] = triad_timeline_end_of(
		loss->fabric, report->links[0].guid, report->links[0].number);
	event.ends[1] = triad_timeline_end_of(
		loss->fabric, report->links[0].far_guid, report->links[0].far_number);
	if (report->n_groups) {
		describe_groups(loss, groups);
		memcpy(event.text, groups, sizeof(groups));
		triad_recorder_note(loss->rerouter->recorder, &event);
	}
	describe_paths(report, event.text);
	triad_recorder_note(loss->rerouter->recorder, &event);
	triad_log_write(loss->rerouter->log,
		report->outcome == TRIAD_REROUTE_FAILED ? TRIAD_LOG_ERROR
							: TRIAD_LOG_INFO,
		"repair: %s - %s%s: lost; %s%s%s%s%s",
		triad_port_label(loss->fabric, loss->ports[0]).text,
		triad_port_label(loss->fabric, near->remote).text,
		report->n_links > 1 ? " and others" : "", event.text,
		report->n_groups ? "; " : "", groups, report->why_groups ? ": " : "",
		report->why_groups ? report->why_groups : "");
}

/* Until OpenSM has swept, if it has not done so meanwhile. */
static void note_waiting(struct reroute_loss *loss)
{
	struct triad_rerouter *rerouter = loss->rerouter;

	if (atomic_load(&rerouter->mode) != TRIAD_REPAIR_ACT)
		return;
	atomic_fetch_add(&rerouter->n_waiting, loss->report->n_groups_left);
	if (atomic_load(&rerouter->n_discoveries) != loss->n_discoveries &&
		!atomic_load(&rerouter->is_configuring))
		atomic_store(&rerouter->n_waiting, 0);
}

static void keep_loss(struct reroute_loss *loss)
{
	struct triad_rerouter *rerouter = loss->rerouter;
	const struct triad_reroute *report = loss->report;
	struct triad_rerouter_status *counts = &rerouter->counts;

	pthread_mutex_lock(&rerouter->lock);
	counts->n_done += report->outcome == TRIAD_REROUTE_DONE;
	counts->n_would += report->outcome == TRIAD_REROUTE_WOULD;
	counts->n_nothing += report->outcome == TRIAD_REROUTE_NOTHING;
	counts->n_left += report->outcome == TRIAD_REROUTE_LEFT;
	counts->n_failed += report->outcome == TRIAD_REROUTE_FAILED;
	counts->n_blocks += report->n_written + report->n_groups_written;
	counts->n_groups += report->n_groups;
	counts->n_groups_repaired += report->n_groups_repaired;
	counts->n_groups_left += report->n_groups_left;
	if (report->outcome == TRIAD_REROUTE_DONE) {
		counts->last_us = report->ended_us - report->trap_us;
		if (counts->last_us > counts->worst_us)
			counts->worst_us = counts->last_us;
	}
	rerouter->kept[counts->n_losses++ % TRIAD_REROUTE_N_KEPT] = *report;
	pthread_mutex_unlock(&rerouter->lock);
}

void reroute_note(struct reroute_loss *loss)
{
	const struct triad_fabric_port *near = &loss->fabric->ports[loss->ports[0]];

	loss->report->near = loss->fabric->nodes[near->node];
	loss->report->far = loss->fabric->nodes[loss->fabric->ports[near->remote].node];
	note_loss(loss);
	keep_loss(loss);
	note_waiting(loss);
}

struct triad_rerouter_status triad_rerouter_status(struct triad_rerouter *rerouter)
{
	struct triad_route_result *routes =
		triad_route_checker_result(rerouter->routes);
	struct triad_rerouter_status status;

	pthread_mutex_lock(&rerouter->lock);
	status = rerouter->counts;
	status.is_waiting = routes && rerouter->n_handled &&
		rerouter->generation == routes->generation;
	pthread_mutex_unlock(&rerouter->lock);
	triad_route_result_unref(routes);
	status.mode = (enum triad_repair_mode)atomic_load(&rerouter->mode);
	/* The next master's sweep computes them, of which this one hears nothing. */
	status.n_waiting =
		reroute_is_master(rerouter) ? atomic_load(&rerouter->n_waiting) : 0;
	status.is_installed = triad_taker_is_asked(TRIAD_TAKER_LOSSES);
	status.error = status.is_installed ? 0 : atomic_load(&rerouter->error);
	return status;
}

size_t triad_rerouter_history(
	struct triad_rerouter *rerouter, struct triad_reroute *losses, size_t room)
{
	uint64_t n_losses;
	size_t n;

	pthread_mutex_lock(&rerouter->lock);
	n_losses = rerouter->counts.n_losses;
	n = MIN(MIN(n_losses, TRIAD_REROUTE_N_KEPT), room);
	for (size_t i = 0; i < n; i++)
		losses[i] = rerouter->kept[(n_losses - 1 - i) % TRIAD_REROUTE_N_KEPT];
	pthread_mutex_unlock(&rerouter->lock);
	return n;
}
