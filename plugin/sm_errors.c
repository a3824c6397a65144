/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "plugin/sm_errors.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "lib/text.h"

static const struct {
	enum triad_severity severity;
	bool is_at_start;
	const char *meaning, *advice;
} kinds[TRIAD_SM_N_ERRORS] = {
	[TRIAD_SM_ERROR_DUPLICATE_GUID] = {TRIAD_CRITICAL, false,
		"what OpenSM discovers is not complete",
		"give one of the two devices its own GUID (firmware), or unplug it"},
	[TRIAD_SM_ERROR_PARTITIONS] = {TRIAD_CRITICAL, false,
		"partitions.conf is refused: the default partition alone is in force, and "
		"all are full members",
		"mend the file, then have OpenSM sweep (SIGHUP)"},
	[TRIAD_SM_ERROR_NO_ROUTES] = {TRIAD_CRITICAL, false,
		"no forwarding tables were made",
		"look at routing_engine in opensm.conf"},
	[TRIAD_SM_ERROR_ENGINE] = {TRIAD_WARNING, true, "a routing engine is not used",
		"look at routing_engine in opensm.conf, and at the files that this engine "
		"needs; OpenSM reads it when it starts"},
	[TRIAD_SM_ERROR_ROUTING_FILE] = {TRIAD_WARNING, false,
		"routes are made without a file",
		"mend the file that opensm.conf names; it is read at each heavy sweep"},
	[TRIAD_SM_ERROR_QOS_POLICY] = {TRIAD_WARNING, false,
		"OpenSM's QoS policy is not in force",
		"mend the file, or leave it out; [qos] of triad.conf is another one"},
	[TRIAD_SM_ERROR_PLUGIN] = {TRIAD_WARNING, true, "a plugin is not loaded",
		"look at event_plugin_name in opensm.conf; OpenSM reads it when it starts"},
	[TRIAD_SM_ERROR_FILE] = {TRIAD_WARNING, false, "a file is not used",
		"look at the file that opensm.conf names"},
};

/* Words of messages, in their order; the first that fits counts. */
static const struct {
	enum triad_sm_error kind;
	const char *words[2];
} messages[] = {
	{TRIAD_SM_ERROR_DUPLICATE_GUID, {"Found duplicated node GUID"}},
	{TRIAD_SM_ERROR_PARTITIONS, {"Partition configuration", "in error"}},
	{TRIAD_SM_ERROR_NO_ROUTES, {"No routing engine able"}},
	{TRIAD_SM_ERROR_ENGINE, {"cannot find or setup routing engine"}},
	{TRIAD_SM_ERROR_ENGINE, {"Failed to setup routing engine"}},
	{TRIAD_SM_ERROR_ROUTING_FILE, {"cannot parse", "file"}},
	{TRIAD_SM_ERROR_ROUTING_FILE, {"Problem parsing", "file"}},
	{TRIAD_SM_ERROR_ROUTING_FILE, {"guids file has no valid guids"}},
	{TRIAD_SM_ERROR_ROUTING_FILE, {"Root switch GUID", "not found"}},
	{TRIAD_SM_ERROR_ROUTING_FILE, {"Failed to read", "guid"}},
	{TRIAD_SM_ERROR_QOS_POLICY, {"Failed parsing QoS policy file"}},
	{TRIAD_SM_ERROR_QOS_POLICY, {"Error(s) in QoS policy file"}},
	{TRIAD_SM_ERROR_PLUGIN, {"cannot load plugin"}},
	{TRIAD_SM_ERROR_FILE, {"cannot open file"}},
	{TRIAD_SM_ERROR_FILE, {"fopen(", "failed"}},
};

void triad_sm_errors_init(struct triad_sm_errors *errors)
{
	*errors = (struct triad_sm_errors){.last = TRIAD_SM_N_ERRORS};
}

/* --- lines --- */

/* The message of a line that begins one, and its level; else NULL. */
static const char *find_message(const char *line, unsigned *level)
{
	const char *arrow = strstr(line, "] 0x");

	if (!arrow || sscanf(arrow, "] 0x%2x -> ", level) != 1)
		return NULL;
	arrow = strstr(arrow, " -> ");
	return arrow ? arrow + 4 : NULL;
}

/* Copies what can be shown, behind what 'to' has. */
static void append_message(char to[TRIAD_SM_ERROR_TEXT_SIZE], const char *text)
{
	text += strspn(text, " \t");
	triad_text_append(
		to, TRIAD_SM_ERROR_TEXT_SIZE, "%s%s", *to && *text ? " " : "", text);
	triad_text_clean(to);
}

static enum triad_sm_error error_kind_of(const char *message)
{
	for (size_t i = 0; i < sizeof(messages) / sizeof(messages[0]); i++) {
		const char *at = strstr(message, messages[i].words[0]);

		if (at && messages[i].words[1])
			at = strstr(at, messages[i].words[1]);
		if (at)
			return messages[i].kind;
	}
	return TRIAD_SM_N_ERRORS;
}

/* Behind the name of OpenSM's function and the number of its message. */
static const char *without_place(const char *message)
{
	const char *colon = strstr(message, ": ");

	if (colon && !memchr(message, ' ', (size_t)(colon - message)))
		message = colon + 2;
	if (strncmp(message, "ERR ", 4) == 0 && (colon = strstr(message, ": ")))
		message = colon + 2;
	return message;
}

static void begin_text(
	struct triad_sm_errors *errors, enum triad_sm_error kind, const char *message)
{
	struct triad_sm_error_state *state = &errors->of[kind];

	errors->is_continued = !state->is_now;
	if (!errors->is_continued)
		return;
	state->text[0] = '\0';
	append_message(state->text, without_place(message));
	if (kind == TRIAD_SM_ERROR_PARTITIONS && errors->reason[0])
		append_message(state->text, errors->reason);
}

/* OpenSM begins with its version. */
static bool is_start(const char *message)
{
	return strncmp(message, "OpenSM ", 7) == 0 && message[7] >= '0' &&
		message[7] <= '9';
}

static bool is_triad_message(const char *message)
{
	return strncmp(message, "triad: ", 7) == 0;
}

enum triad_sm_error triad_sm_errors_take(
	struct triad_sm_errors *errors, const char *line, uint64_t now_us)
{
	unsigned level = 0;
	const char *message = find_message(line, &level);
	struct triad_sm_error_state *state;
	enum triad_sm_error kind;
	bool begins;

	if (!message) {
		if (errors->last < TRIAD_SM_N_ERRORS && errors->is_continued)
			append_message(errors->of[errors->last].text, line);
		return TRIAD_SM_N_ERRORS;
	}
	errors->last = TRIAD_SM_N_ERRORS;
	if (is_start(message))
		triad_sm_errors_init(errors);
	if (!(level & 1) || is_triad_message(message))
		return TRIAD_SM_N_ERRORS;
	if (strstr(message, "PARSE ERROR")) {
		errors->reason[0] = '\0';
		append_message(errors->reason, without_place(message));
		return TRIAD_SM_N_ERRORS;
	}
	kind = error_kind_of(message);
	if (kind == TRIAD_SM_N_ERRORS) {
		errors->n_others_now++;
		return kind;
	}
	state = &errors->of[kind];
	begins = !triad_sm_errors_has(errors, kind);
	if (begins) {
		state->since_us = now_us;
		state->n = 0;
	}
	begin_text(errors, kind, message);
	state->is_now = true;
	state->n++;
	errors->last = kind;
	return begins ? kind : TRIAD_SM_N_ERRORS;
}

void triad_sm_errors_up(struct triad_sm_errors *errors)
{
	for (unsigned i = 0; i < TRIAD_SM_N_ERRORS; i++) {
		if (kinds[i].is_at_start)
			continue;
		errors->of[i].was_before = errors->of[i].is_now;
		errors->of[i].is_now = false;
	}
	errors->n_others = errors->n_others_now;
	errors->n_others_now = 0;
	errors->reason[0] = '\0';
	errors->last = TRIAD_SM_N_ERRORS;
}

/* --- what they mean --- */

bool triad_sm_errors_has(const struct triad_sm_errors *errors, enum triad_sm_error kind)
{
	return errors->of[kind].is_now || errors->of[kind].was_before;
}

unsigned triad_sm_errors_count(const struct triad_sm_errors *errors)
{
	unsigned n = 0;

	for (unsigned i = 0; i < TRIAD_SM_N_ERRORS; i++)
		n += triad_sm_errors_has(errors, i);
	return n;
}

enum triad_severity triad_sm_error_severity(enum triad_sm_error kind)
{
	return kinds[kind].severity;
}

const char *triad_sm_error_meaning(enum triad_sm_error kind)
{
	return kinds[kind].meaning;
}

const char *triad_sm_error_advice(enum triad_sm_error kind)
{
	return kinds[kind].advice;
}

bool triad_sm_errors_duplicate(const char *text, struct triad_sm_duplicate *duplicate)
{
	const char *at = strstr(text, "Node 0x");

	return at &&
		sscanf(at,
			"Node 0x%" SCNx64
			" port %*u is reachable from remote node 0x%" SCNx64
			" port %u and remote node 0x%" SCNx64 " port %u",
			&duplicate->guid, &duplicate->at[0], &duplicate->ports[0],
			&duplicate->at[1], &duplicate->ports[1]) == 5;
}
