/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "perfmgr/timeline/event.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "lib/checked_line.h"

/* The header and a manual state this size. */
_Static_assert(sizeof(struct triad_timeline_event) <= 256, "an event's size");
/* A line with the longest texts, each octet of which has a backslash. */
_Static_assert(2 * (2 * TRIAD_NODE_NAME_SIZE + TRIAD_TIMELINE_TEXT_SIZE) + 160 <=
		TRIAD_TIMELINE_LINE_SIZE,
	"the longest line");

static const char *const names[TRIAD_N_TIMELINE_KINDS] = {
	[TRIAD_TIMELINE_STARTED] = "started",
	[TRIAD_TIMELINE_ENDED] = "ended",
	[TRIAD_TIMELINE_LOST] = "lost",
	[TRIAD_TIMELINE_ROLE] = "role",
	[TRIAD_TIMELINE_LOOKS] = "looks",
	[TRIAD_TIMELINE_LOOKS_NO_MORE] = "looks-no-more",
	[TRIAD_TIMELINE_LINK_DOWN] = "link-down",
	[TRIAD_TIMELINE_LINK_UP] = "link-up",
	[TRIAD_TIMELINE_NODE_LEFT] = "node-left",
	[TRIAD_TIMELINE_NODE_CAME] = "node-came",
	[TRIAD_TIMELINE_COUNTED_DOWN] = "counted-down",
	[TRIAD_TIMELINE_ALERT_RAISED] = "alert-raised",
	[TRIAD_TIMELINE_ALERT_JOINED] = "alert-joined",
	[TRIAD_TIMELINE_ALERT_CLEARED] = "alert-cleared",
	[TRIAD_TIMELINE_ALERT_SILENCED] = "alert-silenced",
	[TRIAD_TIMELINE_ALERT_UNSILENCED] = "alert-unsilenced",
	[TRIAD_TIMELINE_RESET] = "reset",
	[TRIAD_TIMELINE_CLEARED] = "cleared",
	[TRIAD_TIMELINE_PORT_MANAGER] = "port-manager",
	[TRIAD_TIMELINE_MORE] = "more",
	[TRIAD_TIMELINE_ROUTES] = "routes",
	[TRIAD_TIMELINE_QOS] = "qos",
	[TRIAD_TIMELINE_SM] = "sm",
	[TRIAD_TIMELINE_CLOCK] = "clock",
	[TRIAD_TIMELINE_DAMP] = "damp",
	[TRIAD_TIMELINE_REPAIR] = "repair",
};

const char *triad_timeline_kind_name(unsigned kind)
{
	return kind && kind < TRIAD_N_TIMELINE_KINDS ? names[kind] : "?";
}

/* 0: none has that name. */
static uint8_t event_kind_of(const char *name)
{
	for (unsigned kind = 1; kind < TRIAD_N_TIMELINE_KINDS; kind++)
		if (!strcmp(names[kind], name))
			return (uint8_t)kind;
	return 0;
}

struct triad_timeline_end triad_timeline_end_of(
	const struct triad_fabric *fabric, uint64_t node_guid, uint8_t port)
{
	const struct triad_fabric_node *node =
		triad_fabric_node_by_guid(fabric, node_guid);
	struct triad_timeline_end end = {.node_guid = node_guid, .port = port};

	if (node)
		memcpy(end.node_name, node->name, sizeof(end.node_name));
	return end;
}

void triad_timeline_event_clean(struct triad_timeline_event *event)
{
	if (event->at_us > TRIAD_CHECKED_LINE_MAX_US)
		event->at_us = TRIAD_CHECKED_LINE_MAX_US;
	event->text[sizeof(event->text) - 1] = '\0';
	triad_checked_line_clean(event->text);
	for (unsigned i = 0; i < 2; i++) {
		struct triad_timeline_end *end = &event->ends[i];

		if (!end->node_guid)
			*end = (struct triad_timeline_end){0};
		end->node_name[sizeof(end->node_name) - 1] = '\0';
		triad_checked_line_clean(end->node_name);
	}
}

bool triad_timeline_event_is_at(const struct triad_timeline_event *event,
	const struct triad_node_choice *choice)
{
	for (unsigned i = 0; i < 2; i++) {
		const struct triad_timeline_end *end = &event->ends[i];

		if (end->node_guid &&
			triad_node_choice_has(choice, end->node_name, end->node_guid) &&
			(choice->port < 0 || choice->port == end->port ||
				end->port == TRIAD_TIMELINE_NO_PORT))
			return true;
	}
	return false;
}

/* --- the line --- */

size_t triad_timeline_event_format(
	const struct triad_timeline_event *event, char line[TRIAD_TIMELINE_LINE_SIZE])
{
	struct triad_timeline_event clean = *event;
	char moment[TRIAD_CHECKED_LINE_TIME_SIZE];
	size_t at;

	triad_timeline_event_clean(&clean);
	triad_checked_line_time(clean.at_us, moment);
	at = (size_t)snprintf(line, TRIAD_TIMELINE_LINE_SIZE, "%s %s %" PRIu32, moment,
		triad_timeline_kind_name(clean.kind), clean.count);
	for (unsigned i = 0; i < 2; i++) {
		const struct triad_timeline_end *end = &clean.ends[i];

		at += (size_t)snprintf(line + at, TRIAD_TIMELINE_LINE_SIZE - at,
			" 0x%016" PRIx64 " %u ", end->node_guid, end->port);
		at += triad_checked_line_quote(line + at, end->node_name);
	}
	line[at++] = ' ';
	at += triad_checked_line_quote(line + at, clean.text);
	return triad_checked_line_end(line, at);
}

/* Parses a blank and an end at '*at', and moves '*at' past them. */
static bool parse_end(const char **at, struct triad_timeline_end *end)
{
	int behind = 0;

	if (sscanf(*at, " 0x%16" SCNx64 " %3" SCNu8 " %n", &end->node_guid, &end->port,
		    &behind) != 2 ||
		!behind)
		return false;
	*at += behind;
	return triad_checked_line_parse_quoted(
		at, end->node_name, sizeof(end->node_name));
}

static bool parse_fields(const char *line, struct triad_timeline_event *event)
{
	char moment[TRIAD_CHECKED_LINE_TIME_SIZE], kind[20];
	int behind = 0;

	if (sscanf(line, "%27s %19s %10" SCNu32 "%n", moment, kind, &event->count,
		    &behind) != 3 ||
		!behind)
		return false;
	event->kind = event_kind_of(kind);
	line += behind;
	return event->kind && triad_checked_line_parse_time(moment, &event->at_us) &&
		parse_end(&line, &event->ends[0]) &&
		parse_end(&line, &event->ends[1]) && *line++ == ' ' &&
		triad_checked_line_parse_quoted(
			&line, event->text, sizeof(event->text));
}

/* Whether the line is what Triad writes for the event; a later Triad may add fields
 * after the text. */
static bool is_as_written(
	const char *line, size_t length, const struct triad_timeline_event *event)
{
	char again[TRIAD_TIMELINE_LINE_SIZE];
	size_t n = triad_timeline_event_format(event, again);

	if (n > length)
		return false;
	n -= TRIAD_CHECKED_LINE_SUM_LENGTH;
	return !memcmp(line, again, n) && line[n] == ' ';
}

/* Checks the checksum first, because it finds nearly all bad lines.  At the end formats
 * the event again: this refuses a line that sscanf() takes but Triad never writes. */
int triad_timeline_event_parse(
	const char *line, size_t length, struct triad_timeline_event *event)
{
	char copy[TRIAD_TIMELINE_LINE_SIZE];

	if (length >= sizeof(copy) || memchr(line, '\0', length) ||
		!triad_checked_line_is_whole(line, length))
		return EINVAL;
	memcpy(copy, line, length);
	copy[length] = '\0';
	memset(event, 0, sizeof(*event));
	return parse_fields(copy, event) && is_as_written(copy, length, event) ? 0
									       : EINVAL;
}
