/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* 'election', and what 'status' says of it. */
#include "plugin/command/commands.h"

#include <inttypes.h>
#include <stdio.h>

#include "lib/text.h"
#include "plugin/election/elector.h"
#include "plugin/instance.h"
#include "plugin/worker.h"
#include "portmgr/election/priority.h"
#include "service/command/report.h"
#include "triad/clock.h"

#define PRIORITY_TEXT_SIZE 96

static const char *state_of(const struct triad_elector_status *status)
{
	return status->is_on ? triad_election_state_name(status->election.state) : NULL;
}

static const char *check_word(enum triad_check check)
{
	static const char *const words[] = {
		[TRIAD_CHECK_OFF] = "off",
		[TRIAD_CHECK_YES] = "yes",
		[TRIAD_CHECK_NO] = "no",
		[TRIAD_CHECK_MISSING] = "missing",
	};

	return words[check];
}

/* Time passes between the copy of the facts and the end of the permission. */
static uint64_t left_ms(const struct triad_elector_status *status)
{
	if (!status->permission.is_given)
		return 0;
	return (status->permission.deadline_us - status->now_us) / TRIAD_US_PER_MS;
}

static uint64_t heard_ms(const struct triad_elector_status *status,
	const struct triad_election_member *member)
{
	if (member->is_self || status->now_us < member->heard_us)
		return 0;
	return (status->now_us - member->heard_us) / TRIAD_US_PER_MS;
}

/* The holder's own grant is not among those that were sent to it. */
static bool has_voted(const struct triad_elector_status *status,
	const struct triad_election_member *member)
{
	return member->has_granted ||
		(member->is_self && status->election.holder == status->id);
}

/* Members of the view that have not said yet who they are. */
static unsigned n_unknown(const struct triad_cluster_view *view)
{
	unsigned n = 0;

	for (uint32_t i = 0; i < view->n_members; i++)
		n += !view->members[i];
	return n;
}

/* --- counters, for both --- */

struct counter {
	const char *name, *label;
	uint64_t value;
	bool is_trouble;
};

#define MAX_COUNTERS 24

static unsigned list_counters(const struct triad_elector_status *status,
	struct counter counters[MAX_COUNTERS])
{
	const struct triad_election_status *e = &status->election;
	const struct triad_sm_control_status *sm = &status->sm;
	const struct counter all[] = {
		{"elections", "elections begun", e->n_elections, false},
		{"won", "elections won", e->n_won, false},
		{"ceded", "mastership ceded", e->n_ceded, false},
		{"leases", "leases held", e->n_leases, false},
		{"leases_lost", "leases lost", e->n_leases_lost, true},
		{"priorities", "SM priorities set", sm->n_priorities, false},
		{"take_overs", "take-overs of OpenSM", sm->n_take_overs, false},
		{"sweeps", "sweeps to hand over", sm->n_sweeps, false},
		{"ceded_ignored", "CEDE not heeded", e->n_ceded_ignored, true},
		{"stale", "old messages", e->n_stale, true},
		{"malformed", "malformed messages", e->n_malformed, true},
		{"versions", "of another version", e->n_versions, true},
		{"dropped", "dropped: too many", status->n_dropped, true},
		{"store_failed", "state not written", status->n_store_failed, true},
		{"late", "ran late", status->n_late, true},
		{"longest_late_ms", "longest, ms",
			status->longest_late_us / TRIAD_US_PER_MS, true},
	};
	unsigned n = sizeof(all) / sizeof(all[0]);

	for (unsigned i = 0; i < n; i++)
		counters[i] = all[i];
	return n;
}

static unsigned list_transport(const struct triad_elector_status *status,
	struct counter counters[MAX_COUNTERS])
{
	const struct triad_cluster_status *t = &status->transport;
	const struct counter all[] = {
		{"sent", "sent", t->n_sent, false},
		{"received", "received", t->n_received, false},
		{"send_failed", "not sent", t->n_send_failed, true},
		{"forged", "datagrams forged", t->n_forged, true},
		{"replayed", "datagrams replayed", t->n_replayed, true},
		{"malformed", "datagrams malformed", t->n_malformed, true},
		{"versions", "of another version", t->n_versions, true},
		{"strangers", "datagrams of unknown senders", t->n_unknown_senders,
			true},
		{"reconnects", "connections made anew", t->n_reconnects, true},
	};
	unsigned n = sizeof(all) / sizeof(all[0]);

	for (unsigned i = 0; i < n; i++)
		counters[i] = all[i];
	return n;
}

/* --- JSON --- */

static void put_reasons_json(
	struct triad_json *json, const struct triad_permission *permission)
{
	triad_json_array_begin(json, "reasons");
	for (unsigned i = 0; i < TRIAD_PERMISSION_N_REASONS; i++)
		if (permission->reasons >> i & 1)
			triad_json_string(json, NULL, triad_permission_word(i));
	triad_json_array_end(json);
}

static void put_generation_json(
	struct triad_json *json, uint64_t generation, uint64_t hash)
{
	triad_json_uint(json, "generation", generation);
	triad_json_guid(json, "hash", hash);
}

static void put_member_json(struct triad_json *json,
	const struct triad_elector_status *status,
	const struct triad_election_member *member)
{
	char text[PRIORITY_TEXT_SIZE];

	triad_priority_text(member->priority, text, sizeof(text));
	triad_json_object_begin(json, NULL);
	triad_json_guid(json, "id", member->id);
	triad_json_bool(json, "self", member->is_self);
	triad_json_string(json, "state", triad_election_state_name(member->state));
	triad_json_uint(json, "priority", member->priority);
	triad_json_string(json, "priority_text", text);
	triad_json_bool(json, "able", member->is_able);
	triad_json_bool(json, "blacklisted", member->is_blacklisted);
	triad_json_bool(json, "witness", member->is_witness);
	triad_json_bool(json, "vote", has_voted(status, member));
	triad_json_uint(json, "term", member->term);
	triad_json_uint(json, "claim", member->claim);
	put_generation_json(json, member->generation, member->hash);
	triad_json_uint(json, "heard_ms", heard_ms(status, member));
	triad_json_object_end(json);
}

static void put_lists_json(
	struct triad_json *json, const struct triad_elector_status *status)
{
	const struct triad_blacklist *blacklist = &status->election.blacklist;

	triad_json_array_begin(json, "members");
	for (uint32_t i = 0; i < status->election.n_members; i++)
		put_member_json(json, status, &status->election.members[i]);
	triad_json_array_end(json);
	triad_json_array_begin(json, "blacklist");
	for (uint32_t i = 0; i < blacklist->n; i++)
		if (blacklist->entries[i].is_listed)
			triad_json_guid(json, NULL, blacklist->entries[i].id);
	triad_json_array_end(json);
}

static void put_counters_json(struct triad_json *json, const char *name,
	const struct counter *counters, unsigned n)
{
	triad_json_object_begin(json, name);
	for (unsigned i = 0; i < n; i++)
		triad_json_uint(json, counters[i].name, counters[i].value);
	triad_json_object_end(json);
}

static void put_facts_json(
	struct triad_json *json, const struct triad_elector_status *status)
{
	const struct triad_election_status *election = &status->election;

	triad_json_bool(json, "enabled", status->is_on);
	triad_json_string(json, "cluster", status->cluster);
	triad_json_guid(json, "id", status->id);
	triad_json_string(json, "state", state_of(status));
	triad_json_guid(json, "master", election->master);
	triad_json_guid(json, "holder", election->holder);
	triad_json_uint(json, "term", election->term);
	triad_json_uint(json, "priority", election->priority);
	triad_json_uint(json, "sm_priority", election->sm_priority);
	triad_json_uint(json, "own_sm_priority", status->sm.own_priority);
	triad_json_bool(json, "quorate", election->view.is_quorate);
	triad_json_bool(json, "connected", election->view.is_connected);
	triad_json_uint(json, "members_here", election->view.n_members);
	triad_json_uint(json, "votes_needed", election->view.n_votes_needed);
	triad_json_bool(json, "may_enforce", status->permission.is_given);
	put_reasons_json(json, &status->permission);
	triad_json_uint(json, "deadline_ms", left_ms(status));
	triad_json_uint(json, "preference", status->preference);
	triad_json_string(json, "check", check_word(status->check));
	triad_json_uint(json, "ports", status->n_ports);
	triad_json_uint(json, "ports_good", status->n_good);
	triad_json_guid(json, "port_absent", status->absent_port);
	put_generation_json(json, status->generation, status->hash);
	triad_json_string(json, "trouble", status->trouble[0] ? status->trouble : NULL);
}

/* 'sm_trouble': what is wrong with OpenSM as the master, or "". */
static void put_json(const struct triad_elector_status *status, const char *sm_trouble,
	struct triad_output *output)
{
	struct counter counters[MAX_COUNTERS];
	struct triad_json json;

	triad_json_init(&json, output);
	triad_json_object_begin(&json, NULL);
	put_facts_json(&json, status);
	triad_json_string(&json, "sm_trouble", *sm_trouble ? sm_trouble : NULL);
	put_lists_json(&json, status);
	put_counters_json(
		&json, "transport", counters, list_transport(status, counters));
	put_counters_json(&json, "counters", counters, list_counters(status, counters));
	triad_json_object_end(&json);
	triad_json_end(&json);
}

/* --- text --- */

static void format_sm(char *text, size_t size,
	const struct triad_elector_status *status, uint64_t guid)
{
	if (!guid)
		snprintf(text, size, "nobody known");
	else
		snprintf(text, size, "0x%016" PRIx64 "%s", guid,
			guid == status->id ? " (this one)" : "");
}

static void format_sm_priority(
	char *text, size_t size, const struct triad_elector_status *status)
{
	snprintf(text, size, "%u (without elections: %u)", status->election.sm_priority,
		status->sm.own_priority);
}

static void format_quorum(
	char *text, size_t size, const struct triad_cluster_view *view)
{
	snprintf(text, size, "%s: %" PRIu32 " member%s here",
		!view->is_connected        ? "no, cut off"
			: view->is_quorate ? "yes"
					   : "no",
		view->n_members, view->n_members == 1 ? "" : "s");
	/* Corosync has its own votes, and says only whether there are enough. */
	if (view->is_quorate || view->n_votes_needed > view->n_members)
		triad_text_append(text, size, ", %" PRIu32 " vote%s needed",
			view->n_votes_needed, view->n_votes_needed == 1 ? "" : "s");
	else if (view->is_connected)
		triad_text_append(text, size, ", no majority of the cluster");
	if (n_unknown(view))
		triad_text_append(text, size, "; %u not known yet", n_unknown(view));
}

static void put_reasons(
	struct triad_report *report, const struct triad_permission *permission)
{
	const char *label = "why";

	for (unsigned i = 0; i < TRIAD_PERMISSION_N_REASONS; i++) {
		if (!(permission->reasons >> i & 1))
			continue;
		triad_report_text(report, NULL, label, triad_permission_text(i));
		label = "";
	}
}

static void format_permission(
	char *text, size_t size, const struct triad_elector_status *status)
{
	if (status->permission.is_given)
		snprintf(text, size,
			"yes, in term %" PRIu64 ", for %" PRIu64 " ms more",
			status->permission.term, left_ms(status));
	else
		snprintf(text, size, "no");
}

static void put_permission(
	struct triad_report *report, const struct triad_elector_status *status)
{
	char text[80];

	format_permission(text, sizeof(text), status);
	triad_report_text(report, NULL, "may enforce", text);
	put_reasons(report, &status->permission);
}

static void put_self(struct triad_report *report,
	const struct triad_elector_status *status, const char *sm_trouble)
{
	char text[128];

	triad_report_section(report, NULL, "This SM");
	triad_report_guid(report, NULL, "port GUID", status->id);
	triad_report_text(report, NULL, "state", state_of(status));
	format_sm_priority(text, sizeof(text), status);
	triad_report_text(report, NULL, "SM priority", text);
	triad_priority_text(status->election.priority, text, sizeof(text));
	triad_report_text(report, NULL, "priority", text);
	snprintf(text, sizeof(text), "%" PRIu32 " of %" PRIu32 " in good state",
		status->n_good, status->n_ports);
	triad_report_text(report, NULL, "local ports", text);
	if (status->absent_port) {
		snprintf(text, sizeof(text), "0x%016" PRIx64 ": see election.ports",
			status->absent_port);
		triad_report_text(report, NULL, "not on this machine", text);
	}
	triad_report_text(report, NULL, "external check", check_word(status->check));
	triad_report_uint(report, NULL, "generation", status->generation, "");
	triad_report_text(report, NULL, "cluster", status->cluster);
	triad_report_text(
		report, NULL, "trouble", status->trouble[0] ? status->trouble : "none");
	if (*sm_trouble)
		triad_report_text(report, NULL, "trouble of OpenSM", sm_trouble);
}

static void put_cluster(
	struct triad_report *report, const struct triad_elector_status *status)
{
	const struct triad_election_status *election = &status->election;
	char text[128];

	triad_report_section(report, NULL, "Who may enforce");
	put_permission(report, status);
	triad_report_uint(report, NULL, "term", election->term, "");
	format_sm(text, sizeof(text), status, election->holder);
	triad_report_text(report, NULL, "has the lease", text);
	format_sm(text, sizeof(text), status, election->master);
	triad_report_text(report, NULL, "master", text);
	format_quorum(text, sizeof(text), &election->view);
	triad_report_text(report, NULL, "quorum", text);
	for (uint32_t i = 0; i < election->blacklist.n; i++)
		if (election->blacklist.entries[i].is_listed)
			triad_report_guid(report, NULL, "blacklisted",
				election->blacklist.entries[i].id);
}

static const char *mark(bool is_so, const char *word)
{
	return is_so ? word : "-";
}

static void put_members(
	struct triad_output *output, const struct triad_elector_status *status)
{
	const struct triad_election_status *election = &status->election;
	char text[PRIORITY_TEXT_SIZE];

	triad_output_printf(output, "%sMembers%s\n", output->color ? "\033[1m" : "",
		output->color ? "\033[0m" : "");
	triad_output_printf(output,
		"  %-18s %-8s %-8s %-4s %-7s %-6s %-4s %10s %9s  %s\n", "port GUID", "",
		"state", "able", "witness", "listed", "vote", "generation", "heard",
		"priority");
	for (uint32_t i = 0; i < election->n_members; i++) {
		const struct triad_election_member *member = &election->members[i];

		triad_priority_text(member->priority, text, sizeof(text));
		triad_output_printf(output,
			"  0x%016" PRIx64 " %-8s %-8s %-4s %-7s %-6s %-4s %10" PRIu64
			" %6" PRIu64 " ms  %s\n",
			member->id, member->is_self ? "this one" : "",
			triad_election_state_name(member->state),
			mark(member->is_able, "yes"), mark(member->is_witness, "yes"),
			mark(member->is_blacklisted, "yes"),
			mark(has_voted(status, member), "yes"), member->generation,
			heard_ms(status, member), text);
	}
}

static void put_counters(struct triad_report *report, const char *title,
	const struct counter *counters, unsigned n)
{
	bool has_title = false;

	for (unsigned i = 0; i < n; i++) {
		if (counters[i].is_trouble && !counters[i].value)
			continue;
		if (!has_title)
			triad_report_section(report, NULL, title);
		has_title = true;
		triad_report_uint(
			report, NULL, counters[i].label, counters[i].value, "");
	}
}

static void put_text(const struct triad_elector_status *status, const char *sm_trouble,
	struct triad_output *output)
{
	struct triad_report report = {.output = output};
	struct counter counters[MAX_COUNTERS];

	put_self(&report, status, sm_trouble);
	put_cluster(&report, status);
	put_members(output, status);
	put_counters(
		&report, "Since the start", counters, list_counters(status, counters));
	put_counters(&report, "Messages", counters, list_transport(status, counters));
}

static void print_off(struct triad_plugin *plugin, struct triad_output *output)
{
	struct triad_conf conf;

	triad_service_get_conf(&plugin->service, &conf);
	triad_output_printf(output, "Elections are off%s\n",
		conf.election.enabled
			? ", though election.enabled is true: OpenSM's log says why"
			: ": 'enabled = true' in [election] of triad.conf turns them "
			  "on, or 'set election.enabled true' until the next reload "
			  "or start");
}

int triad_command_run_election(struct triad_plugin *plugin,
	const struct triad_command *command, struct triad_output *output)
{
	struct triad_worker_status worker = triad_worker_status(plugin->worker);
	struct triad_elector_status status;
	char sm_trouble[128];

	triad_elector_status(plugin->elector, &status);
	triad_sm_watch_summary(&worker.sm, sm_trouble, sizeof(sm_trouble));
	if (command->json)
		put_json(&status, sm_trouble, output);
	else if (!status.is_on)
		print_off(plugin, output);
	else
		put_text(&status, sm_trouble, output);
	return TRIAD_CONTROL_DONE;
}

/* --- status --- */

static void report_permission(
	struct triad_report *report, const struct triad_elector_status *status)
{
	char text[80];

	if (report->as_json) {
		triad_json_bool(
			&report->json, "may_enforce", status->permission.is_given);
		put_reasons_json(&report->json, &status->permission);
		return;
	}
	format_permission(text, sizeof(text), status);
	triad_report_text(report, "may_enforce", "may enforce", text);
	put_reasons(report, &status->permission);
}

void triad_command_report_election(
	struct triad_report *report, struct triad_plugin *plugin)
{
	struct triad_elector_status status;
	char text[64];

	triad_elector_status(plugin->elector, &status);
	triad_report_section(report, "election", "Election");
	triad_report_text(
		report, "state", "state", status.is_on ? state_of(&status) : "off");
	if (status.is_on || report->as_json) {
		triad_report_text(report, "cluster", "cluster", status.cluster);
		format_sm(text, sizeof(text), &status, status.election.master);
		if (report->as_json)
			triad_json_guid(
				&report->json, "master", status.election.master);
		else
			triad_report_text(report, NULL, "master", text);
		triad_report_uint(report, "term", "term", status.election.term, "");
		report_permission(report, &status);
		triad_report_text(report, "trouble", "trouble",
			status.trouble[0] ? status.trouble : NULL);
	}
	triad_report_section_end(report);
}
