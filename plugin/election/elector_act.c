/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "plugin/opensm.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "plugin/election/elector_parts.h"
#include "plugin/election/state_file.h"
#include "portmgr/election/priority.h"
#include "triad/clock.h"
#include "triad/file.h"

/* --- the machine's actions --- */

static void store(
	struct triad_elector *elector, const struct triad_election_stored *stored)
{
	const char *dir = elector->conf->election.state_dir;
	char path[256], why[TRIAD_FILE_REASON_SIZE] = "";
	int error = triad_state_file_name(dir, elector->id, path, sizeof(path));

	if (!error && triad_file_check_folder(path, why) == EPERM)
		error = EPERM;
	if (!error)
		error = triad_state_file_write(path, stored, why);
	if (error)
		triad_election_store_failed(elector->election);
	elector->n_store_failed += error != 0;
	if (error && !elector->has_store_trouble)
		triad_log_write(elector->log, TRIAD_LOG_ERROR,
			"election: %s: can't be written: %s; this SM gives no vote and "
			"may not enforce in a new term until it can, which is tried "
			"again and again (election.state_dir)",
			path, *why ? why : strerror(error));
	if (!error && elector->has_store_trouble)
		triad_log_write(elector->log, TRIAD_LOG_INFO,
			"election: %s: is written again: this SM votes", path);
	elector->has_store_trouble = error != 0;
}

static void carry_out(
	struct triad_elector *elector, const struct triad_election_action *action)
{
	uint8_t octets[TRIAD_ELECTION_MESSAGE_SIZE];
	size_t size;

	switch (action->kind) {
	case TRIAD_ELECTION_STORE:
		store(elector, &action->stored);
		break;
	case TRIAD_ELECTION_SEND:
		/* Ignore errors: the machine repeats its messages, and the transport
		 * counts its failures. */
		size = triad_election_message_encode(&action->message, octets);
		(void)elector->cluster->ops->send(elector->cluster, octets, size);
		break;
	case TRIAD_ELECTION_SET_PRIORITY:
		elector->target.is_set = true;
		elector->target.priority = action->sm_priority;
		break;
	case TRIAD_ELECTION_TAKE_OVER:
		elector->target.is_master = true;
		break;
	case TRIAD_ELECTION_STEP_DOWN:
		elector->target.is_master = false;
		break;
	}
}

/* --- publishing the result --- */

/* Whether the SM reports that it is the fabric's master, and may be reached there. */
static bool is_master_here(
	struct triad_elector *elector, const struct triad_election_member *member)
{
	struct triad_fabric_peer peer;

	return member->is_sm_master &&
		!(triad_fabric_ask_peer(elector->fabric, member->id, &peer) &&
			peer.verdict == TRIAD_FABRIC_PORT_SILENT);
}

static void set_target_members(struct triad_elector *elector,
	const struct triad_election_status *status, struct triad_sm_target *target)
{
	target->is_quorate = status->view.is_connected && status->view.is_quorate;
	target->n_standby_needed =
		status->view.n_votes_needed ? status->view.n_votes_needed - 1 : 0;
	for (uint32_t i = 0; i < status->n_members; i++) {
		const struct triad_election_member *member = &status->members[i];

		if (member->is_self)
			continue;
		target->members[target->n_members++] = member->id;
		if (member->state == TRIAD_ELECTION_STANDBY &&
			member->received_us >= status->elected_us)
			target->standby[target->n_standby++] = member->id;
		if (!target->other_master && is_master_here(elector, member))
			target->other_master = member->id;
	}
}

/* Looks whether the fabric is divided, so that this SM is to be master of its part. */
static void look_at_division(struct triad_elector *elector,
	const struct triad_election_status *status, struct triad_sm_target *target)
{
	struct triad_divided *divided = &elector->divided;
	struct triad_fabric_report fabric;

	triad_fabric_ask_report(elector->fabric, &fabric);
	/* Behind a port that is down, all are silent. */
	if (!elector->health.seen_good || elector->conf->election.witness)
		memset(divided, 0, sizeof(*divided));
	else if (triad_divided_look(divided, status, fabric.peers, fabric.n_all,
			 triad_clock_boot_us()))
		triad_log_write(elector->log, TRIAD_LOG_INFO,
			divided->leads
				? "election: the fabric is divided: the election hears "
				  "the master, and its port does not answer: this SM "
				  "is master of its own part until it does"
				: "election: this SM follows the elected master again, "
				  "or another SM is master of its part of the fabric");
	if (!divided->leads)
		return;
	target->is_master = true;
	target->priority = TRIAD_PRIORITY_SM_OF_PART;
}

static void update_target(struct triad_elector *elector)
{
	struct triad_sm_target target;
	struct triad_election_status status;

	triad_election_status(elector->election, triad_clock_boot_us(), &status);
	memset(&target, 0, sizeof(target));
	target.is_set = elector->target.is_set;
	target.priority = elector->target.priority;
	target.is_master = elector->target.is_master;
	set_target_members(elector, &status, &target);
	if (target.is_set)
		look_at_division(elector, &status, &target);
	/* Pass only changes: each wakes triad-sm. */
	if (!memcmp(&elector->given, &target, sizeof(target)))
		return;
	elector->given = target;
	triad_sm_control_set(elector->sm, &target);
}

static void name_reasons(uint32_t reasons, char *text, size_t size)
{
	size_t n = 0;

	*text = '\0';
	for (unsigned i = 0; i < TRIAD_PERMISSION_N_REASONS && n < size; i++)
		if (reasons >> i & 1)
			n += (size_t)snprintf(text + n, size - n, "%s%s", n ? " " : "",
				triad_permission_word(i));
}

static void report_trace(struct triad_elector *elector, int error)
{
	const struct triad_line_file *trace = &elector->trace;

	switch (triad_file_report(
		&elector->reported_trace, trace->params.path, error)) {
	case TRIAD_FILE_IN_TROUBLE:
		triad_log_write(elector->log, TRIAD_LOG_ERROR,
			"election: %s: no trace is written: %s; it is tried again with "
			"each change (election.trace_file)",
			trace->params.path, trace->why);
		break;
	case TRIAD_FILE_WELL_AGAIN:
		triad_log_write(elector->log, TRIAD_LOG_INFO,
			"election: %s: the trace is written again", trace->params.path);
		break;
	default:
		break;
	}
}

/* Writes a line when the permission changes or its deadline moves:
 *     BOOTTIME_US given TERM DEADLINE_US
 *     BOOTTIME_US refused REASON ... */
static void trace(
	struct triad_elector *elector, const struct triad_permission *permission)
{
	const struct triad_permission *last = &elector->traced;
	char line[512], reasons[400];
	int size, error;

	if (!elector->trace.params.path[0] ||
		(permission->reasons == last->reasons &&
			permission->term == last->term &&
			permission->deadline_us == last->deadline_us))
		return;
	name_reasons(permission->reasons, reasons, sizeof(reasons));
	if (permission->is_given)
		size = snprintf(line, sizeof(line),
			"%" PRIu64 " given %" PRIu64 " %" PRIu64 "\n",
			triad_clock_boot_us(), permission->term,
			permission->deadline_us);
	else
		size = snprintf(line, sizeof(line), "%" PRIu64 " refused %s\n",
			triad_clock_boot_us(), reasons);
	error = triad_line_file_write(&elector->trace, line, (size_t)size);
	report_trace(elector, error);
	if (!error)
		elector->traced = *permission;
}

static void report_permission(
	struct triad_elector *elector, const struct triad_permission *permission)
{
	const struct triad_permission *reported = &elector->reported;
	char reasons[400];

	if (permission->is_given == reported->is_given &&
		permission->term == reported->term)
		return;
	name_reasons(permission->reasons, reasons, sizeof(reasons));
	if (permission->is_given)
		triad_log_write(elector->log, TRIAD_LOG_INFO,
			"election: this SM may enforce, in term %" PRIu64,
			permission->term);
	else
		triad_log_write(elector->log, TRIAD_LOG_INFO,
			"election: this SM may not enforce any more: %s", reasons);
	elector->reported = *permission;
}

static void report_state(
	struct triad_elector *elector, const struct triad_election_status *status)
{
	if (status->state == elector->reported_state &&
		status->master == elector->reported_master)
		return;
	elector->reported_state = status->state;
	elector->reported_master = status->master;
	if (status->state == TRIAD_ELECTION_STANDBY && !status->master)
		triad_log_write(elector->log, TRIAD_LOG_INFO,
			"election: STANDBY; no master is known");
	else if (status->state == TRIAD_ELECTION_STANDBY)
		triad_log_write(elector->log, TRIAD_LOG_INFO,
			"election: STANDBY; master is 0x%016" PRIx64, status->master);
	else
		triad_log_write(elector->log, TRIAD_LOG_INFO, "election: %s",
			triad_election_state_name(status->state));
}

void elector_act(struct triad_elector *elector)
{
	struct triad_election_action action;
	struct triad_election_status status;
	struct triad_permission_facts facts;
	struct triad_permission permission;
	bool has_acted = false;

	/* Keep the order: the machine stores a promise before it sends it. */
	while (triad_election_take_action(elector->election, &action)) {
		carry_out(elector, &action);
		has_acted = true;
	}
	/* Publish the facts for threads that evaluate permission themselves and must
	 * not wait for 'lock'. */
	triad_election_facts(elector->election, &facts);
	pthread_mutex_lock(&elector->facts_lock);
	elector->facts = facts;
	pthread_mutex_unlock(&elector->facts_lock);
	permission = triad_permission_judge(&facts, triad_clock_boot_us());
	update_target(elector);
	trace(elector, &permission);
	report_permission(elector, &permission);
	if (!has_acted)
		return;
	triad_election_status(elector->election, triad_clock_boot_us(), &status);
	report_state(elector, &status);
}

void elector_look_at_fabric(struct triad_elector *elector)
{
	struct triad_fabric_member members[TRIAD_CLUSTER_MAX_MEMBERS];
	struct triad_election_status status;
	uint64_t now_us = triad_clock_boot_us();
	size_t n = 0;

	triad_election_status(elector->election, now_us, &status);
	for (uint32_t i = 0; i < status.n_members; i++)
		if (!status.members[i].is_self)
			members[n++] =
				(struct triad_fabric_member){.id = status.members[i].id,
					.received_us = status.members[i].received_us};
	triad_fabric_ask_members(elector->fabric, members, n, status.master);
}

/* A trace of 100 MB has a day of lines; the five that are kept renamed take half a
 * gigabyte. */
#define TRACE_MAX_OCTETS UINT64_C(100000000)
#define TRACE_KEEP 5

void elector_open_trace(struct triad_elector *elector)
{
	const struct triad_conf *conf = elector->conf;
	struct triad_line_file_params params = {
		.mode = 0644,
		.max_octets = TRACE_MAX_OCTETS,
		.keep = TRACE_KEEP,
	};

	memcpy(params.path, conf->election.trace_file, sizeof(params.path));
	triad_line_file_configure(&elector->trace, &params);
	if (params.path[0])
		report_trace(elector, triad_line_file_open(&elector->trace));
}
