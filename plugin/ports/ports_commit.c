/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "plugin/opensm.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "plugin/election/elector.h"
#include "plugin/ports/ports_parts.h"
#include "service/recorder.h"

/* How often to retry the journal while there is nothing to write. */
#define RETRY_US (5 * TRIAD_US_PER_S)
/* How long to wait for a majority. */
#define AGREE_US TRIAD_US_PER_S
#define AGREE_STEP_US (5 * TRIAD_US_PER_MS)

void ports_open_journal(struct triad_ports *ports)
{
	char path[TRIAD_SOURCE_PATH_SIZE], reason[sizeof(ports->records.trouble)];

	snprintf(path, sizeof(path), "%s/ports-0x%016" PRIx64 ".journal",
		ports->conf->election.state_dir, ports->id);
	if (ports->records.journal && strcmp(path, ports->records.journal_path) == 0)
		return;
	/* election.state_dir has changed, or the last attempt failed. */
	triad_journal_close(ports->records.journal);
	ports->records.journal = NULL;
	snprintf(ports->records.journal_path, sizeof(ports->records.journal_path), "%s",
		path);
	/* Keep the lock, though this reads a disk: it fills the history, which commands
	 * read. */
	if (triad_journal_open(path, ports->records.history, &ports->records.journal,
		    reason, sizeof(reason))) {
		if (strcmp(reason, ports->records.trouble) != 0)
			triad_log_write(ports->log, TRIAD_LOG_ERROR,
				"ports: %s; no port is touched without a journal",
				reason);
		snprintf(ports->records.trouble, sizeof(ports->records.trouble), "%s",
			reason);
		return;
	}
	if (triad_journal_n_bad(ports->records.journal))
		triad_log_write(ports->log, TRIAD_LOG_ERROR,
			"ports: %s: %" PRIu64 " lines can't be read and are left out",
			path, triad_journal_n_bad(ports->records.journal));
	ports->records.trouble[0] = '\0';
}

/* The timeline gets only outcomes; intents are only in the journal. */
static void note_in_history(
	struct triad_ports *ports, const struct triad_record *record)
{
	struct triad_timeline_event event = {.kind = TRIAD_TIMELINE_PORT_MANAGER,
		.at_us = record->at_us,
		.ends[0] = {.node_guid = record->node_guid, .port = record->port}};
	const char *name = ports_node_name(ports, record->node_guid);

	if (record->outcome == TRIAD_OUTCOME_INTENDED)
		return;
	if (strcmp(name, "?") != 0)
		snprintf(event.ends[0].node_name, sizeof(event.ends[0].node_name), "%s",
			name);
	snprintf(event.text, sizeof(event.text), "%s %s (%s): %.*s",
		triad_port_action_name(record->action),
		triad_outcome_name(record->outcome),
		triad_port_reason_name(record->reason), (int)sizeof(event.text) / 2,
		record->text);
	triad_recorder_note(ports->recorder, &event);
}

int ports_journal(
	struct triad_ports *ports, const struct triad_record *record, bool is_last)
{
	char text[sizeof(ports->records.trouble)] = "";
	int error;

	if (!ports->records.journal)
		ports_open_journal(ports);
	if (!ports->records.journal)
		return EIO;
	ports_begin_wait(ports);
	error = triad_journal_append(ports->records.journal, record, is_last);
	ports_end_wait(ports);
	if (!error && is_last)
		note_in_history(ports, record);
	/* Each step tries again: log only when the reason changes. */
	if (error)
		snprintf(text, sizeof(text),
			"%.150s: can't be written: %s; no port is touched until it can",
			ports->records.journal_path, strerror(error));
	if (error && strcmp(text, ports->records.trouble) != 0)
		triad_log_write(ports->log, TRIAD_LOG_ERROR, "ports: %s", text);
	snprintf(ports->records.trouble, sizeof(ports->records.trouble), "%s", text);
	return error;
}

void ports_retry_journal(struct triad_ports *ports, uint64_t now_us)
{
	struct ports_records *records = &ports->records;
	int error;

	if (!records->trouble[0] || now_us < records->retry_us)
		return;
	records->retry_us = now_us + RETRY_US;
	if (!records->journal) {
		ports_open_journal(ports);
		return;
	}
	ports_begin_wait(ports);
	error = triad_journal_probe(records->journal);
	ports_end_wait(ports);
	if (error)
		return;
	records->trouble[0] = '\0';
	triad_log_write(ports->log, TRIAD_LOG_INFO, "ports: %s: can be written again",
		records->journal_path);
}

int ports_record(struct triad_ports *ports, struct triad_record *record)
{
	int error;

	if (!ports->term.number)
		return EPERM;
	record->term = ports->term.number;
	record->number = ports->term.n_records + 1;
	record->at_us = triad_clock_wall_us();
	record->writer = ports->id;
	/* Write to disk first: a record that members receive must survive a restart of
	 * this SM. */
	error = ports_journal(ports, record, true);
	if (error)
		return error;
	ports->term.n_records++;
	error = triad_history_merge(ports->records.history, record);
	if (error)
		return error;
	triad_replica_send(ports->records.replica, record, triad_clock_boot_us());
	ports_pump(ports);
	return 0;
}

int ports_commit(struct triad_ports *ports, struct triad_record *record)
{
	uint64_t since_us = triad_clock_boot_us();
	int error = ports_may_act(ports) ? ports_record(ports, record) : EPERM;

	while (!error && !ports_is_agreed(ports, since_us)) {
		uint64_t now_us = triad_clock_boot_us();

		if (now_us > since_us + AGREE_US)
			return ETIMEDOUT;
		/* The lease may end during the wait. */
		if (!ports_may_act(ports))
			return EPERM;
		if (!ports_wait_for_members(ports, now_us + AGREE_STEP_US))
			return ECANCELED;
		ports_pump(ports);
	}
	return error;
}
