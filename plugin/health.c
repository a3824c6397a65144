/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "config.h"

#include "plugin/health.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "ib/node_label.h"
#include "plugin/audit/auditor.h"
#include "plugin/damp/damper.h"
#include "plugin/heal/healer.h"
#include "plugin/reroute/rerouter.h"
#include "service/route_checker.h"
#include "plugin/election/elector.h"
#include "plugin/extended_speeds.h"
#include "plugin/sa/reports.h"
#include "plugin/sa/shield.h"
#include "plugin/instance.h"
#include "plugin/ports/ports.h"
#include "plugin/qos/qos.h"
#include "plugin/qos/tables/tables.h"
#include "plugin/sa/sa_copies.h"
#include "plugin/sm_state.h"
#include "plugin/worker.h"
#include "service/health.h"
#include "service/perf.h"
#include "triad/clock.h"

/* A member whose last message is not older than this is present. */
#define MEMBER_SILENT_US (10 * TRIAD_US_PER_S)

/* With the GUID always, because several may have a name. */
static void format_end(const struct triad_fabric *fabric, uint64_t guid, unsigned port,
	char *text, size_t size)
{
	const struct triad_fabric_node *node = triad_fabric_node_by_guid(fabric, guid);

	if (node)
		snprintf(
			text, size, "%s (0x%016" PRIx64 "):%u", node->name, guid, port);
	else
		snprintf(text, size, "0x%016" PRIx64 ":%u", guid, port);
}

/* Both places of a GUID, and the GUID. */
static bool format_duplicate(
	struct triad_plugin *plugin, const char *error, char *text, size_t size)
{
	struct triad_view *view;
	struct triad_sm_duplicate duplicate;
	char ends[2][TRIAD_NODE_NAME_SIZE + 32];

	if (!triad_sm_errors_duplicate(error, &duplicate))
		return false;
	view = triad_perf_view(plugin->service.perf);
	for (unsigned i = 0; i < 2; i++)
		format_end(view ? view->fabric : NULL, duplicate.at[i],
			duplicate.ports[i], ends[i], sizeof(ends[i]));
	triad_view_unref(view);
	snprintf(text, size, "two devices have GUID 0x%016" PRIx64 ", at %s and at %s",
		duplicate.guid, ends[0], ends[1]);
	return true;
}

/* What OpenSM was told and could not do.  Returns the worst severity. */
static enum triad_severity add_sm_errors(struct triad_health *health,
	struct triad_plugin *plugin, const struct triad_worker_status *worker)
{
	enum triad_severity worst = TRIAD_OK;
	char what[256];

	for (unsigned i = 0; i < TRIAD_SM_N_ERRORS; i++) {
		const struct triad_sm_error_state *state = &worker->errors.of[i];
		struct triad_health_finding finding = {
			.severity = triad_sm_error_severity(i),
			.since_us = state->since_us,
			.at = "SM",
		};

		if (!triad_sm_errors_has(&worker->errors, i))
			continue;
		if (!format_duplicate(plugin, state->text, what, sizeof(what)))
			snprintf(what, sizeof(what), "%s", state->text);
		snprintf(finding.what, sizeof(finding.what), "%s: %.160s",
			triad_sm_error_meaning(i), what);
		snprintf(finding.advice, sizeof(finding.advice), "%s",
			triad_sm_error_advice(i));
		triad_health_add(health, &finding);
		if (triad_severity_is_worse(finding.severity, worst))
			worst = finding.severity;
	}
	if (triad_worker_has_other_engine(worker)) {
		snprintf(what, sizeof(what),
			"routes are made by %s, not by %s, which opensm.conf wants",
			*worker->engine ? worker->engine : "no routing engine",
			worker->engine_wanted);
		triad_health_add_trouble(health, TRIAD_WARNING, "SM", what,
			"this fabric is not what that engine needs, a link or a switch less "
			"perhaps: OpenSM's log says why, 'triadctl links --down' what is "
			"missing");
		if (worst == TRIAD_OK)
			worst = TRIAD_WARNING;
	}
	return worst;
}

/* A fabric in which OpenSM takes ports for slower than they are. */
static enum triad_severity add_speeds(
	struct triad_health *health, struct triad_plugin *plugin)
{
	struct triad_speeds_counts counts =
		triad_speed_reader_counts(plugin->service.speeds);
	char what[256];

	if (!counts.n_faster)
		return TRIAD_OK;
	snprintf(what, sizeof(what),
		"OpenSM does not know the speeds of %" PRIu32
		" port%s, for example %.63s: "
		"%s by its own word, %s for OpenSM, whose path records and groups are "
		"slower therefore",
		counts.n_faster, counts.n_faster == 1 ? "" : "s", counts.label,
		counts.rate, counts.source_rate);
	triad_health_add_trouble(health, TRIAD_WARNING, "SM", what,
		triad_extended_speeds_status(plugin->speeds).is_wanted
			? "up to 3.3.23 OpenSM knows no speed above HDR: take a later one for "
			  "these; ports that do not answer when asked again "
			  "('triadctl status --all') are left alone for 10 minutes; path "
			  "records of Triad (qos.enabled) have the true rates"
			: "set sm.extended_speeds: up to 3.3.24 OpenSM does not ask by bit 31 of "
			  "PortInfo, which some devices wait for; up to 3.3.23 it knows no "
			  "speed above HDR: take a later one for these; path records of "
			  "Triad (qos.enabled) have the true rates");
	return TRIAD_WARNING;
}

/* A shield that should look at requests, and does not. */
static enum triad_severity add_shield(
	struct triad_health *health, struct triad_plugin *plugin)
{
	struct triad_shield_status status = triad_shield_status(plugin->shield);
	char what[192];

	if (status.mode == TRIAD_SHIELD_OFF || !status.error)
		return TRIAD_OK;
	snprintf(what, sizeof(what),
		"OpenSM gets all requests to the SA, also harmful ones (shield.mode): %s",
		triad_shield_explain(status.error));
	triad_health_add_trouble(health, TRIAD_WARNING, "SM", what,
		status.error == ENOTSUP ? "build Triad for this OpenSM"
					: "'triadctl reload' tries again");
	return TRIAD_WARNING;
}

/* A client whose requests can end OpenSM, unless an alert says it. */
static enum triad_severity add_harmful(
	struct triad_health *health, struct triad_plugin *plugin)
{
	struct triad_shield_status status = triad_shield_status(plugin->shield);
	bool acts = status.mode == TRIAD_SHIELD_ACT;
	enum triad_severity severity = acts ? TRIAD_WARNING : TRIAD_CRITICAL;
	const struct triad_shield_harm *last = &status.harms[0];
	uint64_t ago_us = triad_clock_now_us() - last->us;
	struct triad_view *view;
	char what[384], who[128] = "its port was not known";

	if (!status.n_harms || ago_us > TRIAD_SHIELD_HARM_US)
		return TRIAD_OK;
	if (acts && last->node_guid && triad_health_alerts_report(&plugin->service))
		return severity;
	if (last->node_guid) {
		view = triad_perf_view(plugin->service.perf);
		format_end(view ? view->fabric : NULL, last->node_guid, last->port, who,
			sizeof(who));
		triad_view_unref(view);
	}
	snprintf(what, sizeof(what),
		"LID %u (%s) asked the SA for %s, %" PRIu64
		" s ago: that can stall or end OpenSM, which %s%s",
		last->lid, who, triad_shield_reason_text(last->reason),
		ago_us / TRIAD_US_PER_S,
		last->passed ? "got it" : "the shield kept it from",
		acts ? "" : ", and would get the next one");
	triad_health_add_trouble(health, severity, "SM", what,
		acts ? "find the program on that host; 'triadctl shield' lists all who "
		       "do so"
		     : "set shield.mode to act, and find the program on that host; "
		       "'triadctl shield' lists all who do so");
	return severity;
}

/* More subscriptions than OpenSM can have reports that wait for an answer: put_madw() of
 * its libvendor, full of these, writes to address 0 when the SM sends an SMP. */
static enum triad_severity add_subscriptions(
	struct triad_health *health, struct triad_plugin *plugin)
{
	size_t n = triad_osm_peek(&plugin->osm->subn.sa_infr_list.count);
	size_t room = triad_reports_room(plugin->osm->p_vendor);
	char what[256], advice[192];

	if (n < room)
		return TRIAD_OK;
	snprintf(what, sizeof(what),
		"hosts have %zu subscriptions to traps, and OpenSM has room for %zu reports "
		"and requests that wait for an answer: an event that is reported to all can "
		"end it",
		n, room);
	snprintf(advice, sizeof(advice),
		"set shield.mode to act, which makes room, or restart OpenSM with "
		"OSM_UMAD_MAX_PENDING=%zu in its environment",
		4 * n);
	triad_health_add_trouble(health, TRIAD_WARNING, "SM", what, advice);
	return TRIAD_WARNING;
}

static enum triad_severity add_not_damped(
	struct triad_health *health, const struct triad_damper_status *status)
{
	char what[256];

	snprintf(what, sizeof(what), "OpenSM sweeps for each trap (damp.mode): %s",
		triad_damper_explain(status->error));
	triad_health_add_trouble(health, TRIAD_WARNING, "SM", what,
		status->error == ENOTSUP ? "build Triad for this OpenSM"
					 : "'triadctl reload' tries again");
	return TRIAD_WARNING;
}

static enum triad_severity add_flapping(struct triad_health *health,
	struct triad_plugin *plugin, const struct triad_damper_status *status)
{
	bool acts = status->mode == TRIAD_DAMP_ACT;
	struct triad_fabric *fabric;
	struct triad_damp_link worst;
	char what[384], name[TRIAD_DAMPER_NAME_SIZE];

	/* There is an alert. */
	if (acts && triad_perf_state(plugin->service.perf) == TRIAD_PERF_RUNNING)
		return TRIAD_OK;
	if (!triad_damper_links(plugin->damper, &worst, 1))
		return TRIAD_OK;
	fabric = triad_ports_fabric(plugin->ports);
	triad_damper_name(fabric, &worst.ends, name);
	triad_fabric_unref(fabric);
	snprintf(what, sizeof(what),
		"%" PRIu64 " link%s go%s down again and again%s: %s, %" PRIu64 " times",
		status->n_held, status->n_held == 1 ? "" : "s",
		status->n_held == 1 ? "es" : "",
		acts ? ", held out of routing" : ", and OpenSM sweeps each time", name,
		worst.n_bounces);
	triad_health_add_trouble(health, TRIAD_WARNING, "SM", what,
		acts ? "mend the cables; 'triadctl damp' has when they return, 'damp release' "
		       "gives one back at once"
		     : "mend the cables; set damp.mode to act, so that such links are held "
		       "out of routing; 'triadctl damp' lists them");
	return TRIAD_WARNING;
}

static void take_worse(enum triad_severity *severity, enum triad_severity other)
{
	if (triad_severity_is_worse(other, *severity))
		*severity = other;
}

/* Links that go down again and again; traps that nobody looks at though they should be. */
static enum triad_severity add_damping(
	struct triad_health *health, struct triad_plugin *plugin)
{
	struct triad_damper_status status = triad_damper_status(plugin->damper);

	if (status.mode != TRIAD_DAMP_OFF && status.error)
		return add_not_damped(health, &status);
	return status.n_held ? add_flapping(health, plugin, &status) : TRIAD_OK;
}

static enum triad_severity add_waiting(struct triad_health *health, uint32_t n_groups)
{
	char text[128];

	snprintf(text, sizeof(text),
		"%" PRIu32 " multicast groups whose tree crossed a lost link wait for "
		"OpenSM's sweep",
		n_groups);
	triad_health_add_trouble(health, TRIAD_WARNING, "SM", text,
		"'triadctl repair history' says why");
	return TRIAD_WARNING;
}

/* Lost links that nobody routes around though repair.mode says so; groups that wait. */
static enum triad_severity add_repair(
	struct triad_health *health, struct triad_plugin *plugin)
{
	struct triad_rerouter_status status = triad_rerouter_status(plugin->rerouter);
	enum triad_route_state routes =
		triad_route_checker_status(plugin->service.routes).state;

	if (status.mode == TRIAD_REPAIR_OFF)
		return TRIAD_OK;
	if (!status.error && routes != TRIAD_ROUTE_OFF)
		return status.n_waiting ? add_waiting(health, status.n_waiting)
					: TRIAD_OK;
	triad_health_add_trouble(health, TRIAD_WARNING, "SM",
		"lost links are not routed around (repair.mode): 'triadctl status --all' "
		"says why",
		routes == TRIAD_ROUTE_OFF
			? "set routes.enabled to true, or repair.mode to off"
			: "'triadctl reload' tries again");
	return TRIAD_WARNING;
}

/* Bad links that stay out, and heal.mode = act without what it needs. */
static enum triad_severity add_healing(
	struct triad_health *health, struct triad_plugin *plugin)
{
	const char *missing = triad_healer_missing(plugin->healer);
	struct triad_healer_status status;
	char text[256];

	triad_healer_status(plugin->healer, &status);
	if (status.n_stay_out) {
		snprintf(text, sizeof(text), "%" PRIu32 " bad link%s out of routing",
			status.n_stay_out,
			status.n_stay_out == 1 ? " stays" : "s stay");
		triad_health_add_trouble(health, TRIAD_WARNING, "SM", text,
			"'triadctl heal' says why, and when each is tested again, if it is; mend the cable: a link "
			"that was down for half a minute is tested at once");
	}
	if (status.mode != TRIAD_HEAL_ACT || (!status.error && !missing))
		return status.n_stay_out ? TRIAD_WARNING : TRIAD_OK;
	snprintf(text, sizeof(text), "bad links are not taken out (heal.mode): %s",
		status.error ? "there is no thread for it" : missing);
	triad_health_add_trouble(health, TRIAD_WARNING, "SM", text,
		"switch that on, or set heal.mode to propose");
	return TRIAD_WARNING;
}

static void add_sm(struct triad_health *health, struct triad_plugin *plugin)
{
	uint64_t up_us = triad_clock_now_us() - plugin->service.started_us;
	struct triad_worker_status worker = triad_worker_status(plugin->worker);
	enum triad_severity severity = add_sm_errors(health, plugin, &worker);
	char text[512], up[TRIAD_CLOCK_TEXT_SIZE];

	take_worse(&severity, add_speeds(health, plugin));
	take_worse(&severity, add_harmful(health, plugin));
	take_worse(&severity, add_shield(health, plugin));
	take_worse(&severity, add_subscriptions(health, plugin));
	take_worse(&severity, add_damping(health, plugin));
	take_worse(&severity, add_repair(health, plugin));
	if (strcmp(triad_sm_state(plugin->osm), "master") == 0)
		take_worse(&severity, add_healing(health, plugin));
	for (unsigned i = 0; i < TRIAD_SM_N_TROUBLES; i++) {
		/* An SM that sweeps often does its work. */
		enum triad_severity one =
			i == TRIAD_SM_SWEEPS_OFTEN ? TRIAD_WARNING : TRIAD_CRITICAL;

		if (!worker.sm.is_raised[i])
			continue;
		take_worse(&severity, one);
		triad_sm_watch_text(
			&worker.sm, (enum triad_sm_trouble)i, text, sizeof(text));
		triad_health_add_trouble(health, one, "SM", text, "");
	}
	/* This is also true for a moment at the start, during the first sweep. */
	if (triad_osm_peek(&plugin->osm->subn.sm_state) ==
		IB_SMINFO_STATE_DISCOVERING) {
		severity = TRIAD_UNKNOWN;
		triad_health_add_trouble(health, severity, "SM",
			"it is neither master nor standby: it is looking for the "
			"fabric",
			"look at the link of the local port and at OpenSM's log");
	}
	triad_clock_format_length(up_us, up);
	triad_sm_watch_summary(&worker.sm, text, sizeof(text));
	triad_health_line(health, "sm", "SM", severity, "%s, OpenSM %s, up %s%s%s%s",
		triad_sm_state(plugin->osm), TRIAD_OPENSM_VERSION, up,
		*text ? "; " : "", text,
		worker.reads_log ? "" : "; its log can't be read for errors");
}

/* --- the audit --- */

/* Unless an alert says it. */
static void add_difference(struct triad_health *health, struct triad_plugin *plugin,
	const struct triad_audit_status *status)
{
	struct triad_health_finding finding = {
		.severity = TRIAD_WARNING, .since_us = status->oldest.since_us};
	struct triad_fabric *fabric = triad_qos_fabric(plugin->qos);
	char object[TRIAD_AUDIT_TEXT_SIZE];

	format_end(fabric, status->oldest.place.node_guid, status->oldest.place.port,
		finding.at, sizeof(finding.at));
	triad_fabric_unref(fabric);
	snprintf(finding.what, sizeof(finding.what),
		"%zu settings and entries of devices are not as OpenSM wants them, the "
		"oldest: %s, %s",
		status->n, triad_audit_kind_name(status->oldest.place.kind),
		triad_audit_object(&status->oldest, object));
	snprintf(finding.advice, sizeof(finding.advice),
		"'triadctl audit' lists them, and what traffic they touch");
	triad_health_add(health, &finding);
}

static void add_audit(struct triad_health *health, struct triad_plugin *plugin)
{
	struct triad_audit_status status = triad_auditor_status(plugin->auditor);
	enum triad_severity severity = TRIAD_OK;
	char ago[TRIAD_CLOCK_TEXT_SIZE], took[TRIAD_CLOCK_TEXT_SIZE];

	/* Without a period nobody looks whether it lasts. */
	if (!status.period_s)
		return;
	if (status.n && !triad_health_alerts_report(&plugin->service))
		add_difference(health, plugin, &status);
	if (strcmp(triad_sm_state(plugin->osm), "master") != 0) {
		triad_health_line_off(health, "audit", "Audit", "the master does it");
		return;
	}
	if (!status.ended_us) {
		triad_health_line(health, "audit", "Audit",
			status.n_failed ? TRIAD_UNKNOWN : TRIAD_OK,
			"none has ended yet since this SM is master%s",
			status.n_failed ? "; tries before failed" : "");
		return;
	}
	if (status.n)
		severity = TRIAD_WARNING;
	else if (status.n_unread)
		severity = TRIAD_UNKNOWN;
	triad_clock_format_length(triad_clock_now_us() - status.ended_us, ago);
	triad_clock_format_length(status.took_us, took);
	triad_health_line(health, "audit", "Audit", severity,
		"%zu differences, %" PRIu64 " blocks not read, %s ago, in %s", status.n,
		status.n_unread, ago, took);
}

/* --- QoS --- */

static bool is_bad(enum triad_qos_state state)
{
	return state > TRIAD_QOS_ANSWERING;
}

static void add_qos(struct triad_health *health, struct triad_plugin *plugin)
{
	struct triad_qos_status qos = triad_qos_status(plugin->qos);
	struct triad_tables_status tables = triad_qos_tables_status(plugin->qos);
	bool has_tables_trouble = tables.state == TRIAD_TABLES_NO_QOS ||
		tables.state == TRIAD_TABLES_DIFFERENT ||
		tables.state >= TRIAD_TABLES_REFUSED;
	const char *problem = triad_qos_problem(&qos);
	enum triad_severity severity = TRIAD_OK;

	if (qos.state == TRIAD_QOS_OFF && tables.state == TRIAD_TABLES_OFF) {
		triad_health_line_off(health, "qos", "QoS",
			"off: OpenSM answers requests for paths itself");
		return;
	}
	if (is_bad(qos.state) || problem || has_tables_trouble || tables.unlooked)
		severity = TRIAD_WARNING;
	if (qos.has_failed && *qos.why)
		triad_health_add_trouble(health, severity, "QoS policy", qos.why,
			"it is not in force: mend the file, then 'triadctl reload'; "
			"'triadctl qos check FILE' shows all mistakes");
	else if (is_bad(qos.state))
		triad_health_add_trouble(health, severity, "QoS",
			triad_qos_state_name(qos.state),
			"'triadctl qos check FILE' shows mistakes; OpenSM's log has "
			"the reason");
	if (problem && !qos.has_failed)
		triad_health_add_trouble(health, severity, "QoS policy", problem, "");
	if (has_tables_trouble)
		triad_health_add_trouble(health, severity, "QoS tables",
			triad_tables_state_name(tables.state),
			"'triadctl qos plan' shows which tables, and why");
	if (tables.unlooked) {
		char what[160];

		snprintf(what, sizeof(what),
			"whether they close a credit loop is not known: %s",
			tables.unlooked);
		triad_health_add_trouble(health, severity, "QoS tables", what,
			"'triadctl qos plan' looks again; Triad does so after the next "
			"sweep");
	}
	if (qos.state == TRIAD_QOS_STANDBY && severity == TRIAD_OK) {
		triad_health_line(health, "qos", "QoS", severity,
			"the master SM answers requests for paths%s",
			tables.state == TRIAD_TABLES_STANDBY
				? ", and programs the tables"
				: "");
		return;
	}
	triad_health_line(health, "qos", "QoS", severity,
		"paths: %s; %" PRIu32 " rules; tables: %s",
		triad_qos_state_name(qos.state), qos.n_rules,
		triad_tables_state_name(tables.state));
}

/* --- the SA's records --- */

static void add_copy_trouble(
	struct triad_health *health, const struct triad_sa_copies_status *status)
{
	char what[128], length[TRIAD_CLOCK_TEXT_SIZE];

	triad_clock_format_length(status->incomplete_us, length);
	if (status->copier.received_us &&
		status->now_us - status->copier.received_us <
			TRIAD_SA_COPIES_PATIENCE_US) {
		snprintf(what, sizeof(what),
			"no complete copy of the SA's records for %s", length);
		triad_health_add_trouble(health, TRIAD_WARNING, "election.replicate_sa",
			what,
			"look for lost messages in 'triadctl election'; as master this "
			"SM would have clients register anew");
	} else {
		snprintf(what, sizeof(what),
			"no master has said for %s which records its SA has", length);
		triad_health_add_trouble(health, TRIAD_WARNING, "election.replicate_sa",
			what,
			"the key must be true on all SMs that elect, and the master one "
			"of them: compare 'triadctl election' there");
	}
}

static bool add_sa_copies(struct triad_health *health, struct triad_plugin *plugin)
{
	uint32_t n_before = health->n_of[TRIAD_WARNING];
	struct triad_sa_copies_status status;
	char what[128];

	triad_sa_copies_status(plugin->sa_copies, &status);
	if (!status.is_on)
		return false;
	if (status.trouble)
		triad_health_add_trouble(health, TRIAD_WARNING, "election.replicate_sa",
			"records of the SA are not restored here", status.trouble);
	else if (status.error)
		triad_health_add_trouble(health, TRIAD_WARNING, "election.replicate_sa",
			status.error_text,
			"records of the SA can't be written to election.state_dir: "
			"look at its disk; it is tried again");
	else if (status.incomplete_us > TRIAD_SA_COPIES_PATIENCE_US)
		add_copy_trouble(health, &status);
	if (status.copier.n_left_out) {
		snprintf(what, sizeof(what),
			"%" PRIu32 " records of the SA are too many to be copied",
			status.copier.n_left_out);
		triad_health_add_trouble(health, TRIAD_WARNING, "election.replicate_sa",
			what,
			"their clients lack them at a new master until they register "
			"anew: leave no_clients_rereg FALSE in opensm.conf");
	}
	return health->n_of[TRIAD_WARNING] > n_before;
}

/* --- the election --- */

static const char *election_trouble(
	const struct triad_elector_status *status, const char **advice)
{
	const struct triad_cluster_view *view = &status->election.view;

	*advice = "'triadctl election' shows the members, and who is missing";
	if (!view->is_connected)
		return "cut off from the cluster";
	if (!status->facts.is_quorate)
		return "no majority of the cluster here: nobody here may enforce";
	if (!status->election.holder)
		return "nobody has the lease";
	return NULL;
}

/* Adds that the operator has confirmed the missing members to be down. */
static bool add_confirmed(
	struct triad_health *health, const struct triad_elector_status *status)
{
	if (!status->facts.by_hand_view)
		return false;
	triad_health_add_trouble(health, TRIAD_WARNING, "election",
		"no majority of the cluster here: the missing SMs count as down, by "
		"'port confirm'",
		"bring them back; until then, what only they have recorded of ports is "
		"not known here");
	return true;
}

/* Members with different leases give each other no votes. */
static bool add_other_lease(
	struct triad_health *health, const struct triad_elector_status *status)
{
	const struct triad_election_status *election = &status->election;
	char text[160];
	bool has_other = false;

	for (uint32_t i = 0; i < election->n_members; i++) {
		const struct triad_election_member *member = &election->members[i];

		if (member->is_self || !member->received_us ||
			member->lease_ms == status->lease_ms ||
			status->now_us - member->received_us > MEMBER_SILENT_US)
			continue;
		has_other = true;
		snprintf(text, sizeof(text),
			"SM 0x%016" PRIx64 " has election.lease = %" PRIu32
			" ms, and here it is %" PRIu32
			" ms: neither votes for the other",
			member->id, member->lease_ms, status->lease_ms);
		triad_health_add_trouble(health, TRIAD_WARNING, "election.lease", text,
			"stop OpenSM on all hosts, give all of them the same lease, and "
			"start it again");
	}
	return has_other;
}

/* Describes a member that answers over the fabric, but is silent in the election. */
static const char *describe_cut(const struct triad_fabric_peer *peer,
	bool elects_over_fabric, char *text, size_t size)
{
	if (!elects_over_fabric) {
		snprintf(text, size,
			"the network between SMs is cut, or one does not elect: SM "
			"0x%016" PRIx64
			" is not heard in the election, and answers over the fabric as %s",
			peer->id, triad_fabric_verdict_text(peer->verdict));
		return "look at 'triadctl health' there, whether it elects; if it does, "
		       "mend the network between the SMs' hosts, or Corosync on its";
	}
	snprintf(text, size,
		"SM 0x%016" PRIx64
		" does not elect here, and answers over the fabric as %s",
		peer->id, triad_fabric_verdict_text(peer->verdict));
	return "compare election.cluster, election.peers and the key on its host with "
	       "those here; 'triadctl election' shows when it is heard again";
}

/* Describes a member that the election hears, and whose port is silent. */
static const char *describe_divided(const struct triad_elector_status *status,
	const struct triad_fabric_peer *peer, char *text, size_t size)
{
	if (peer->verdict != TRIAD_FABRIC_PORT_SILENT)
		return NULL;
	snprintf(text, size,
		"the fabric is divided, or the way to SM 0x%016" PRIx64
		" is broken: the election hears it, and its port does not answer%s",
		peer->id,
		status->leads_part ? "; this SM is master of its own part of the fabric"
				   : "");
	return "look at the links between the switches, and at that of its port";
}

/* Describes, from the fabric, a member that is silent in the election. */
static const char *describe_lost(const struct triad_fabric_peer *peer,
	bool elects_over_fabric, char *text, size_t size)
{
	if (triad_fabric_verdict_is_alive(peer->verdict))
		return describe_cut(peer, elects_over_fabric, text, size);
	if (peer->verdict == TRIAD_FABRIC_SM_SILENT) {
		snprintf(text, size,
			"SM 0x%016" PRIx64
			" hangs or has ended: neither the election nor the fabric hears "
			"it, and its port answers",
			peer->id);
		return "look at opensm on its host, and start it again";
	}
	if (peer->verdict == TRIAD_FABRIC_PORT_SILENT) {
		snprintf(text, size,
			"SM 0x%016" PRIx64
			" is dead or cut off: neither the election nor the fabric hears "
			"it, nor does its port answer",
			peer->id);
		return "look at its host and at the link of its port";
	}
	return NULL;
}

static bool add_lost(
	struct triad_health *health, const struct triad_elector_status *status)
{
	const struct triad_fabric_report *fabric = &status->fabric;
	bool elects_over_fabric = strcmp(status->cluster, "fabric") == 0;
	bool has_lost = false;

	for (uint32_t i = 0; i < fabric->n_peers; i++) {
		const char *advice;
		char text[256];

		if (triad_elector_hears(status, &fabric->peers[i]))
			advice = describe_divided(
				status, &fabric->peers[i], text, sizeof(text));
		else
			advice = describe_lost(&fabric->peers[i], elects_over_fabric,
				text, sizeof(text));
		if (advice)
			triad_health_add_trouble(
				health, TRIAD_WARNING, "election", text, advice);
		has_lost |= advice != NULL;
	}
	return has_lost;
}

static void add_election(struct triad_health *health, struct triad_plugin *plugin)
{
	enum triad_severity severity = TRIAD_OK;
	struct triad_elector_status status;
	const char *trouble, *advice;
	bool lacks_copies = add_sa_copies(health, plugin), is_warned;

	triad_elector_status(plugin->elector, &status);
	if (!status.is_on) {
		triad_health_line_off(health, "election", "Election",
			"off: OpenSM elects the master by itself");
		return;
	}
	trouble = election_trouble(&status, &advice);
	if (trouble) {
		severity = TRIAD_CRITICAL;
		triad_health_add_trouble(health, severity, "election", trouble, advice);
	}
	if (status.trouble[0]) {
		severity = trouble ? severity : TRIAD_WARNING;
		triad_health_add_trouble(health, TRIAD_WARNING, "election",
			status.trouble, "OpenSM's log has more");
	} else if (!trouble && status.n_good < status.n_ports) {
		bool are_up = status.n_up == status.n_ports;

		severity = TRIAD_WARNING;
		triad_health_add_trouble(health, severity, "election",
			are_up ? "local ports flapped, and count as bad for a while"
			       : "a local port that counts is in bad state",
			are_up ? "they are up: if they stay so, they count again within 5 "
				 "minutes"
			       : "'triadctl election' shows how many; see election.ports");
	}
	is_warned = add_confirmed(health, &status);
	is_warned |= add_lost(health, &status);
	is_warned |= add_other_lease(health, &status);
	if ((is_warned || lacks_copies) && severity == TRIAD_OK)
		severity = TRIAD_WARNING;
	triad_health_line(health, "election", "Election", severity,
		"%s, %s enforce, term %" PRIu64 ", %" PRIu32 " members here%s",
		triad_election_state_name(status.election.state),
		status.permission.is_given ? "may" : "may not", status.election.term,
		status.election.view.n_members,
		status.election.view.is_quorate ? ", quorate" : "");
}

/* --- the port manager --- */

static enum triad_severity add_port_troubles(
	struct triad_health *health, const struct triad_ports_status *status)
{
	/* While it may change ports, it does so; else a deviation stays. */
	uint32_t n_deviations = status->may_act
		? 0
		: status->n_of_kind[TRIAD_PLAN_DISABLE] +
			status->n_of_kind[TRIAD_PLAN_ENABLE];
	uint32_t n_before = health->n_of[TRIAD_WARNING];
	char text[640];

	if (n_deviations) {
		snprintf(text, sizeof(text),
			"%" PRIu32 " %s what the expected configuration says",
			n_deviations, n_deviations == 1 ? "is not" : "are not");
		triad_health_add_trouble(health, TRIAD_WARNING, "switch ports", text,
			"'triadctl port plan' shows which and why: a miswired cable, a "
			"port that is enabled or disabled");
	}
	if (status->may_act && status->n_guarded) {
		snprintf(text, sizeof(text), "%" PRIu32 " change%s stopped by a guard",
			status->n_guarded, status->n_guarded == 1 ? " is" : "s are");
		triad_health_add_trouble(health, TRIAD_WARNING, "switch ports", text,
			"'triadctl port plan' shows which, and who would be cut off");
	}
	if (status->trouble[0])
		triad_health_add_trouble(health, TRIAD_WARNING, "port manager",
			status->trouble, "'triadctl status --all' has its section");
	if (status->n_mistakes) {
		snprintf(text, sizeof(text), "%zu mistake%s, the first: %.160s",
			status->n_mistakes, status->n_mistakes == 1 ? "" : "s",
			status->mistake);
		triad_health_add_trouble(health, TRIAD_WARNING,
			"expected configuration", text,
			"'triadctl port check FILE' shows all");
	}
	if (status->n_failed) {
		snprintf(text, sizeof(text), "%" PRIu32 " disabled as failed",
			status->n_failed);
		triad_health_add_trouble(health, TRIAD_WARNING, "switch ports", text,
			"'triadctl port list --failed' shows which; 'port release' "
			"enables one");
	}
	if (status->may_act && status->agenda.is_stopped)
		triad_health_add_trouble(health, TRIAD_WARNING, "port manager",
			"the plan has more changes than port.max_actions: nothing is "
			"done",
			"look at 'triadctl port plan', then 'port approve'");
	if (status->is_enforcing && status->permission.reasons & TRIAD_PERMISSION_OFF)
		triad_health_add_trouble(health, TRIAD_WARNING, "port manager",
			"port.mode is enforce, and nothing is done: elections are off",
			"set election.enabled to true; a single SM uses "
			"election.cluster = none");
	return health->n_of[TRIAD_WARNING] > n_before ? TRIAD_WARNING : TRIAD_OK;
}

/* Describes what the port manager does, and why it does not do more. */
static const char *describe_port_actions(const struct triad_ports_status *status)
{
	if (!status->is_enforcing)
		return "observes";
	if (status->may_act)
		return "enforces";
	if (status->permission.reasons & TRIAD_PERMISSION_OFF)
		return "may not enforce, elections are off";
	if (status->permission.reasons & TRIAD_PERMISSION_BLACKLISTED)
		return "may not enforce, blacklisted";
	return "would enforce";
}

static void add_port_manager(struct triad_health *health, struct triad_plugin *plugin)
{
	struct triad_ports_status status;
	enum triad_severity severity;
	uint32_t n_items = 0;

	triad_ports_status(plugin->ports, &status);
	if (!status.is_enabled) {
		triad_health_line_off(health, "ports_manager", "Port manager", "off");
		return;
	}
	severity = add_port_troubles(health, &status);
	for (unsigned i = 0; i < TRIAD_PLAN_N_KINDS; i++)
		if (i != TRIAD_PLAN_NOTE)
			n_items += status.n_of_kind[i];
	triad_health_line(health, "ports_manager", "Port manager", severity,
		"%s; %" PRIu32 " port%s expected, %" PRIu32 " to change, %" PRIu32
		" held, %" PRIu32 " failed",
		describe_port_actions(&status), status.n_rows,
		status.n_rows == 1 ? "" : "s", n_items, status.n_held, status.n_failed);
}

void triad_plugin_add_health(void *context, struct triad_health *health)
{
	struct triad_plugin *plugin = context;

	add_sm(health, plugin);
	add_audit(health, plugin);
	add_qos(health, plugin);
	add_election(health, plugin);
	add_port_manager(health, plugin);
}
