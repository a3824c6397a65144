/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "portmgr/history/record.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "lib/checked_line.h"

static const char *const actions[TRIAD_N_ACTIONS] = {
	[TRIAD_ACTION_DISABLE] = "disable",
	[TRIAD_ACTION_ENABLE] = "enable",
	[TRIAD_ACTION_BOUNCE] = "bounce",
	[TRIAD_ACTION_TEST] = "test",
	[TRIAD_ACTION_ADMIT] = "admit",
	[TRIAD_ACTION_FAIL] = "fail",
	[TRIAD_ACTION_RELEASE] = "release",
	[TRIAD_ACTION_TAKE] = "take",
	[TRIAD_ACTION_RETURN] = "return",
};

static const char *const outcomes[TRIAD_N_OUTCOMES] = {
	[TRIAD_OUTCOME_INTENDED] = "intended",
	[TRIAD_OUTCOME_DONE] = "done",
	[TRIAD_OUTCOME_REFUSED] = "refused",
	[TRIAD_OUTCOME_UNANSWERED] = "unanswered",
	[TRIAD_OUTCOME_DROPPED] = "dropped",
};

static const char *const reasons[TRIAD_N_REASONS] = {
	[TRIAD_REASON_EXPECTED] = "expected",
	[TRIAD_REASON_MISWIRED] = "miswired",
	[TRIAD_REASON_PRESENCE] = "presence",
	[TRIAD_REASON_QUALITY] = "quality",
	[TRIAD_REASON_APPLICATION] = "application",
	[TRIAD_REASON_TIMER] = "timer",
	[TRIAD_REASON_BY_HAND] = "by-hand",
	[TRIAD_REASON_HEAL] = "heal",
};

static const char *name_of(const char *const *names, unsigned n, unsigned value)
{
	return value && value < n ? names[value] : "?";
}

/* The value with that name, or 0. */
static uint8_t value_of(const char *const *names, unsigned n, const char *name)
{
	for (unsigned value = 1; value < n; value++)
		if (!strcmp(names[value], name))
			return (uint8_t)value;
	return 0;
}

const char *triad_port_action_name(unsigned action)
{
	return name_of(actions, TRIAD_N_ACTIONS, action);
}

const char *triad_outcome_name(unsigned outcome)
{
	return name_of(outcomes, TRIAD_N_OUTCOMES, outcome);
}

const char *triad_port_reason_name(unsigned reason)
{
	return name_of(reasons, TRIAD_N_REASONS, reason);
}

static int compare_numbers(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

int triad_record_compare(const struct triad_record *a, const struct triad_record *b)
{
	/* Term and number decide.  The other fields make the order total, so that all
	 * members choose the same record even if two have the same term and number. */
	const int orders[] = {compare_numbers(a->term, b->term),
		compare_numbers(a->number, b->number),
		compare_numbers(a->at_us, b->at_us),
		compare_numbers(a->writer, b->writer),
		compare_numbers(a->node_guid, b->node_guid),
		compare_numbers(a->port, b->port),
		compare_numbers(a->action, b->action),
		compare_numbers(a->outcome, b->outcome),
		compare_numbers(a->reason, b->reason),
		compare_numbers(a->remote_guid, b->remote_guid)};

	for (size_t i = 0; i < sizeof(orders) / sizeof(*orders); i++)
		if (orders[i])
			return orders[i];
	return strncmp(a->text, b->text, sizeof(a->text));
}

void triad_record_clean(struct triad_record *record)
{
	if (record->at_us > TRIAD_CHECKED_LINE_MAX_US)
		record->at_us = TRIAD_CHECKED_LINE_MAX_US;
	record->text[sizeof(record->text) - 1] = '\0';
	triad_checked_line_clean(record->text);
}

/* --- the line --- */

size_t triad_record_format(
	const struct triad_record *record, char line[TRIAD_RECORD_LINE_SIZE])
{
	struct triad_record clean = *record;
	char moment[TRIAD_CHECKED_LINE_TIME_SIZE];
	size_t at;

	/* A clean record fits into the line: its text is short enough, and its year has
	 * four digits. */
	triad_record_clean(&clean);
	triad_checked_line_time(clean.at_us, moment);
	at = (size_t)snprintf(line, TRIAD_RECORD_LINE_SIZE,
		"%" PRIu64 " %" PRIu64 " %s 0x%016" PRIx64 " 0x%016" PRIx64
		" %u %s %s %s 0x%016" PRIx64 " ",
		clean.term, clean.number, moment, clean.writer, clean.node_guid,
		clean.port, triad_port_action_name(clean.action),
		triad_outcome_name(clean.outcome), triad_port_reason_name(clean.reason),
		clean.remote_guid);
	at += triad_checked_line_quote(line + at, clean.text);
	return triad_checked_line_end(line, at);
}

static bool parse_fields(const char *line, struct triad_record *record)
{
	char moment[TRIAD_CHECKED_LINE_TIME_SIZE], action[16], outcome[16], reason[16];
	const char *text;
	int behind = 0;

	if (sscanf(line,
		    "%20" SCNu64 " %20" SCNu64 " %27s 0x%16" SCNx64 " 0x%16" SCNx64
		    " %3" SCNu8 " %15s %15s %15s 0x%16" SCNx64 " %n",
		    &record->term, &record->number, moment, &record->writer,
		    &record->node_guid, &record->port, action, outcome, reason,
		    &record->remote_guid, &behind) != 10 ||
		!behind)
		return false;
	/* An unknown name gives 0, which is_sound() refuses. */
	record->action = value_of(actions, TRIAD_N_ACTIONS, action);
	record->outcome = value_of(outcomes, TRIAD_N_OUTCOMES, outcome);
	record->reason = value_of(reasons, TRIAD_N_REASONS, reason);
	text = line + behind;
	return triad_checked_line_parse_time(moment, &record->at_us) &&
		triad_checked_line_parse_quoted(
			&text, record->text, sizeof(record->text));
}

static bool is_sound(const struct triad_record *record)
{
	return record->term <= TRIAD_RECORD_MAX_TERM && record->number &&
		record->number <= TRIAD_RECORD_MAX_TERM && record->writer &&
		record->node_guid && record->port && record->port < UINT8_MAX &&
		record->action && record->outcome && record->reason;
}

/* Checks the checksum first, because it finds nearly all bad lines.  At the end,
 * formats the record and compares: this refuses lines that sscanf() accepts but no
 * writer makes. */
int triad_record_parse(const char *line, size_t length, struct triad_record *record)
{
	char copy[TRIAD_RECORD_LINE_SIZE], again[TRIAD_RECORD_LINE_SIZE];

	if (length >= sizeof(copy) || memchr(line, '\0', length) ||
		!triad_checked_line_is_whole(line, length))
		return EINVAL;
	memcpy(copy, line, length);
	copy[length] = '\0';
	memset(record, 0, sizeof(*record));
	if (!parse_fields(copy, record) || !is_sound(record))
		return EINVAL;
	return triad_record_format(record, again) == length && !strcmp(copy, again)
		? 0
		: EINVAL;
}
