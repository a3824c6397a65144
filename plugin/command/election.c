/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* 'election', and what 'status' says of it. */
#include "plugin/command/commands.h"

#include <inttypes.h>
#include <stdio.h>

#include "lib/text.h"
#include "plugin/election/elector.h"
#include "plugin/facts.h"
#include "plugin/instance.h"
#include "plugin/worker.h"
#include "portmgr/election/priority.h"
#include "service/command/format.h"
#include "service/command/list.h"
#include "service/command/report.h"
#include "triad/clock.h"

#define PRIORITY_TEXT_SIZE 96

static const char *election_state_of(const struct triad_elector_status *status)
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

/* A witness does not change OpenSM's priority. */
static unsigned sm_priority_of(const struct triad_elector_status *status)
{
	return status->facts.is_witness ? status->sm.own_priority
					: status->election.sm_priority;
}

/* A witness has priority 0, because it counts no ports. */
static void format_priority(char *text, size_t size, uint32_t priority, bool is_witness)
{
	if (is_witness)
		snprintf(text, size, "none: a witness only votes");
	else
		triad_priority_text(priority, text, size);
}

/* How long the permission still lasts. */
static uint64_t left_ms(const struct triad_elector_status *status)
{
	if (!status->permission.is_given)
		return 0;
	return (status->permission.deadline_us - status->now_us) / TRIAD_US_PER_MS;
}

static uint64_t received_ms(const struct triad_elector_status *status,
	const struct triad_election_member *member)
{
	if (member->is_self || status->now_us < member->received_us)
		return 0;
	return (status->now_us - member->received_us) / TRIAD_US_PER_MS;
}

/* 'has_granted' covers only grants in messages; the holder of the lease grants
 * itself. */
static bool has_voted(const struct triad_elector_status *status,
	const struct triad_election_member *member)
{
	return member->has_granted ||
		(member->is_self && status->election.holder == status->id);
}

/* Members of the view whose id is not known yet: it is 0. */
static unsigned n_unknown(const struct triad_cluster_view *view)
{
	unsigned n = 0;

	for (uint32_t i = 0; i < view->n_members; i++)
		n += !view->members[i];
	return n;
}

/* --- members, for both --- */

static void put_member(struct triad_list *list,
	const struct triad_elector_status *status,
	const struct triad_election_member *member)
{
	uint64_t ms = received_ms(status, member);
	char text[PRIORITY_TEXT_SIZE], received[24];

	format_priority(text, sizeof(text), member->priority, member->is_witness);
	triad_list_row(list);
	triad_list_guid(list, "id", "port GUID", member->id);
	triad_list_bool(list, "self", NULL, 0, member->is_self);
	triad_list_text(list, NULL, "", -8, member->is_self ? "this one" : "");
	triad_list_text(
		list, "state", "state", -8, triad_election_state_name(member->state));
	triad_list_uint(list, "priority", NULL, 0, member->priority);
	triad_list_text(list, "priority_text", NULL, 0, text);
	triad_list_bool(list, "able", "able", -4, member->is_able);
	list->next = (struct triad_list_next){.name = "witness", .is_spare = true};
	triad_list_bool(list, NULL, "witness", -7, member->is_witness);
	list->next.is_spare = true;
	triad_list_bool(list, "blacklisted", "listed", -6, member->is_blacklisted);
	triad_list_bool(list, "witness", NULL, 0, member->is_witness);
	triad_list_bool(list, "vote", "vote", -4, has_voted(status, member));
	triad_list_uint(list, "term", NULL, 0, member->term);
	triad_list_uint(list, "claim", NULL, 0, member->claim);
	list->next.is_spare = true;
	triad_list_uint(list, "generation", "generation", 10, member->generation);
	triad_list_guid(list, "hash", NULL, member->hash);
	triad_list_uint(list, "heard_ms", NULL, 0, ms);
	snprintf(received, sizeof(received), "%" PRIu64, ms);
	list->next = (struct triad_list_next){.name = "heard_ms", .value = received};
	triad_list_format(list, "heard", 9, "%" PRIu64 " ms", ms);
	triad_list_blank(list);
	list->next.name = "priority_text";
	triad_list_text(list, NULL, "priority", 0, text);
	triad_list_row_end(list);
}

static void put_members(
	struct triad_report *report, const struct triad_elector_status *status)
{
	struct triad_list list = {.report = report, .indent = "  "};

	triad_report_array(report, "members");
	for (uint32_t i = 0; i < status->election.n_members; i++)
		put_member(&list, status, &status->election.members[i]);
	triad_report_array_end(report);
}

/* --- members over the fabric, for both --- */

static void put_peer(struct triad_list *list, const struct triad_elector_status *status,
	const struct triad_fabric_peer *peer)
{
	/* It may have answered since the time was read. */
	uint64_t ms = peer->answered_us < status->now_us
		? (status->now_us - peer->answered_us) / TRIAD_US_PER_MS
		: 0;
	char digits[24], text[32] = "-";

	snprintf(digits, sizeof(digits), "%" PRIu64, ms);
	if (peer->answered_us)
		snprintf(text, sizeof(text), "%s ms", digits);
	triad_list_row(list);
	triad_list_guid(list, "id", "port GUID", peer->id);
	triad_list_uint(list, "lid", "LID", 5, peer->lid);
	triad_list_text(list, "sm", NULL, 0, triad_fabric_verdict_word(peer->verdict));
	triad_list_text(
		list, NULL, "SM", -11, triad_fabric_verdict_text(peer->verdict));
	if (peer->answered_us)
		triad_list_uint(list, "answered_ms", NULL, 0, ms);
	else
		triad_list_text(list, "answered_ms", NULL, 0, NULL);
	list->next = (struct triad_list_next){
		.name = "answered_ms", .value = peer->answered_us ? digits : NULL};
	triad_list_text(list, NULL, "answered", 10, text);
	triad_list_bool(
		list, "elects", "elects", -6, triad_elector_hears(status, peer));
	triad_list_row_end(list);
}

static void put_fabric(
	struct triad_report *report, const struct triad_elector_status *status)
{
	struct triad_list list = {.report = report, .indent = "  "};

	triad_report_array(report, "fabric");
	for (uint32_t i = 0; i < status->fabric.n_peers; i++)
		put_peer(&list, status, &status->fabric.peers[i]);
	triad_report_array_end(report);
}

/* The general text fits every case; this one also says whether another SM has the
 * lease. */
static const char *reason_text(const struct triad_elector_status *status, unsigned bit)
{
	if (1u << bit != TRIAD_PERMISSION_NOT_ELECTED || !status->is_on)
		return triad_permission_text(bit);
	return status->election.holder
		? "this SM does not have the lease: another one has it"
		: "this SM does not have the lease: nobody has it yet";
}

/* Why it may enforce, or not: words for programs, sentences for people. */
static void put_reasons(
	struct triad_report *report, const struct triad_elector_status *status)
{
	const char *label = "why";

	triad_report_array(report, "reasons");
	for (unsigned i = 0; i < TRIAD_PERMISSION_N_REASONS; i++) {
		if (!(status->permission.reasons >> i & 1))
			continue;
		triad_report_text(report, NULL, label,
			report->as_json ? triad_permission_word(i)
					: reason_text(status, i));
		label = "";
	}
	triad_report_array_end(report);
}

static void put_permission(
	struct triad_report *report, const struct triad_elector_status *status)
{
	const struct triad_permission *permission = &status->permission;
	char text[80] = "no";

	if (permission->is_given)
		snprintf(text, sizeof(text),
			"yes, in term %" PRIu64 ", for %" PRIu64 " ms more",
			permission->term, left_ms(status));
	if (report->as_json)
		triad_json_bool(&report->json, "may_enforce", permission->is_given);
	else
		triad_report_text(report, NULL, "may enforce", text);
	put_reasons(report, status);
}

static void put_blacklist(
	struct triad_report *report, const struct triad_blacklist *blacklist)
{
	triad_report_array(report, "blacklist");
	for (uint32_t i = 0; i < blacklist->n; i++)
		if (blacklist->entries[i].is_listed)
			triad_report_guid(
				report, NULL, "blacklisted", blacklist->entries[i].id);
	triad_report_array_end(report);
}

/* --- JSON --- */

static void put_facts_json(
	struct triad_report *report, const struct triad_elector_status *status)
{
	const struct triad_election_status *election = &status->election;
	struct triad_json *json = &report->json;

	triad_json_bool(json, "enabled", status->is_on);
	triad_json_string(json, "cluster", status->cluster);
	triad_json_guid(json, "id", status->id);
	triad_json_string(json, "state", election_state_of(status));
	triad_json_guid(json, "master", election->master);
	triad_json_guid(json, "holder", election->holder);
	triad_json_uint(json, "term", election->term);
	triad_json_uint(json, "priority", election->priority);
	triad_json_uint(json, "sm_priority", sm_priority_of(status));
	triad_json_uint(json, "own_sm_priority", status->sm.own_priority);
	triad_json_bool(json, "quorate", election->view.is_quorate);
	triad_json_bool(json, "connected", election->view.is_connected);
	triad_json_uint(json, "members_here", election->view.n_members);
	triad_json_uint(json, "votes_needed", election->view.n_votes_needed);
	put_permission(report, status);
	triad_json_uint(json, "deadline_ms", left_ms(status));
	triad_json_uint(json, "preference", status->preference);
	triad_json_string(json, "check", check_word(status->check));
	triad_json_uint(json, "ports", status->n_ports);
	triad_json_uint(json, "ports_good", status->n_good);
	triad_json_uint(json, "ports_up", status->n_up);
	triad_json_guid(json, "port_absent", status->absent_port);
	triad_json_uint(json, "generation", status->generation);
	triad_json_guid(json, "hash", status->hash);
	triad_json_string(json, "trouble", status->trouble[0] ? status->trouble : NULL);
}

/* 'sm_trouble': what is wrong with OpenSM as the master, or "". */
static void put_election_json(struct triad_plugin *plugin,
	const struct triad_elector_status *status, const char *sm_trouble,
	struct triad_output *output)
{
	struct triad_report report = {.output = output, .as_json = true};

	triad_report_begin(&report);
	put_facts_json(&report, status);
	triad_json_string(&report.json, "sm_trouble", *sm_trouble ? sm_trouble : NULL);
	put_members(&report, status);
	put_fabric(&report, status);
	put_blacklist(&report, &status->election.blacklist);
	triad_command_report_sa_copies(&report, plugin);
	triad_report_section(&report, "transport", NULL);
	triad_report_facts(&report, triad_transport_facts, status);
	triad_report_section_end(&report);
	triad_report_section(&report, "counters", NULL);
	triad_report_facts(&report, triad_elector_facts, status);
	triad_report_section_end(&report);
	triad_report_end(&report);
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

static void format_quorum(
	char *text, size_t size, const struct triad_cluster_view *view)
{
	snprintf(text, size, "%s: %" PRIu32 " member%s here",
		!view->is_connected        ? "no, cut off"
			: view->is_quorate ? "yes"
					   : "no",
		view->n_members, view->n_members == 1 ? "" : "s");
	if (view->n_votes_needed)
		triad_text_append(text, size, ", %" PRIu32 " vote%s needed",
			view->n_votes_needed, view->n_votes_needed == 1 ? "" : "s");
	else
		triad_text_append(text, size, ", how many vote is not known yet");
	if (n_unknown(view))
		triad_text_append(text, size, "; %u not known yet", n_unknown(view));
}

static void put_self(struct triad_report *report,
	const struct triad_elector_status *status, const char *sm_trouble)
{
	char text[128];

	triad_report_section(report, NULL, "This SM");
	triad_report_guid(report, NULL, "port GUID", status->id);
	triad_report_text(report, NULL, "state", election_state_of(status));
	snprintf(text, sizeof(text), "%u (without elections: %u)",
		sm_priority_of(status), status->sm.own_priority);
	triad_report_text(report, NULL, "SM priority", text);
	format_priority(text, sizeof(text), status->election.priority,
		status->facts.is_witness);
	triad_report_text(report, NULL, "priority", text);
	snprintf(text, sizeof(text), "%" PRIu32 " of %" PRIu32 " in good state",
		status->n_good, status->n_ports);
	if (status->n_up > status->n_good)
		triad_text_append(text, sizeof(text),
			"; %" PRIu32 " up, which flapped: they count later",
			status->n_up);
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
	put_blacklist(report, &election->blacklist);
}

static void put_election_text(struct triad_plugin *plugin,
	const struct triad_elector_status *status, const char *sm_trouble,
	struct triad_output *output)
{
	struct triad_report report = {.output = output};

	put_self(&report, status, sm_trouble);
	put_cluster(&report, status);
	triad_report_section(&report, NULL, "Members");
	put_members(&report, status);
	if (status->fabric.n_peers) {
		triad_report_section(&report, NULL, "Members over the fabric");
		put_fabric(&report, status);
	}
	triad_command_report_sa_copies(&report, plugin);
	triad_report_section(&report, NULL, "Since the start");
	triad_report_facts(&report, triad_elector_facts, status);
	triad_report_section(&report, NULL, "Messages");
	triad_report_facts(&report, triad_transport_facts, status);
}

static void print_off(struct triad_plugin *plugin, struct triad_output *output)
{
	const struct triad_conf *conf = triad_service_conf(&plugin->service);
	const char *idle = triad_service_idle(&plugin->service);

	triad_command_put_wrapped(output,
		idle ? idle
			: conf->election.enabled
			? "Elections are off, though election.enabled is true: "
			  "OpenSM's log says why"
			: "Elections are off: 'enabled = true' in [election] of "
			  "triad.conf turns them on, or 'set election.enabled true' "
			  "until the next reload or start",
		0, 0);
	triad_conf_unref(conf);
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
		put_election_json(plugin, &status, sm_trouble, output);
	else if (!status.is_on)
		print_off(plugin, output);
	else
		put_election_text(plugin, &status, sm_trouble, output);
	return TRIAD_CONTROL_DONE;
}

/* --- status --- */

void triad_command_report_election(
	struct triad_report *report, struct triad_plugin *plugin)
{
	struct triad_elector_status status;
	char text[64];

	triad_elector_status(plugin->elector, &status);
	triad_report_section(report, "election", "Election");
	triad_report_text(report, "state", "state",
		status.is_on ? election_state_of(&status) : "off");
	if (status.is_on || report->as_json) {
		triad_report_text(report, "cluster", "cluster", status.cluster);
		format_sm(text, sizeof(text), &status, status.election.master);
		if (report->as_json)
			triad_json_guid(
				&report->json, "master", status.election.master);
		else
			triad_report_text(report, NULL, "master", text);
		triad_report_uint(report, "term", "term", status.election.term, "");
		put_permission(report, &status);
		triad_report_text(report, "trouble", "trouble",
			status.trouble[0] ? status.trouble : NULL);
	}
	triad_report_section_end(report);
}
