/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* A plan's items in words. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "portmgr/plan/plan.h"

/* How many lost nodes a line of a plan names. */
#define MAX_NAMED 3u

struct text {
	char *at;
	size_t size, used;
};

static void add_words(struct text *text, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static void add_words(struct text *text, const char *format, ...)
{
	va_list args;
	int n;

	va_start(args, format);
	n = vsnprintf(text->at + text->used, text->size - text->used, format, args);
	va_end(args);
	if (n > 0)
		text->used += (size_t)n;
	if (text->used >= text->size)
		text->used = text->size - 1;
}

#define FAILED "it failed"

/* Uses the record's text, which begins with the reason.  Skips FAILED, which this file
 * put before it when the port was disabled. */
static void add_why(
	struct text *text, const struct triad_record *record, unsigned reason)
{
	const char *words = record ? record->text : "";

	while (!strncmp(words, FAILED ": ", sizeof(FAILED ": ") - 1))
		words += sizeof(FAILED ": ") - 1;
	if (*words)
		add_words(text, ": %s", words);
	else
		add_words(text, ": %s", triad_port_reason_name(reason));
}

static void add_disable(struct text *text, const struct triad_plan_input *input,
	const struct triad_plan_item *item, const struct triad_record *record)
{
	enum triad_remote_match match;
	char why[256] = "";

	switch (item->reason) {
	case TRIAD_REASON_EXPECTED:
		add_words(text, "expected disabled");
		if (item->is_active)
			add_words(text, "; its link is active, and is phased out");
		break;
	case TRIAD_REASON_MISWIRED:
		/* The record only says that the port was miswired.  If it still is, the
		 * comparison gives details. */
		match = triad_remote_compare(input->fabric, item->port, input->expected,
			&input->expected->ports[item->row].remote, why, sizeof(why));
		if (match == TRIAD_REMOTE_DIFFERS ||
			match == TRIAD_REMOTE_NAME_DIFFERS) {
			add_words(text, "miswired: %s", why);
			if (item->may_be_name)
				add_words(text,
					" (its name alone; it may still be starting)");
			break;
		}
		/* fall through */
	default:
		add_words(text, FAILED);
		add_why(text, record, item->reason);
	}
}

static void add_note(struct text *text, const struct triad_plan_input *input,
	const struct triad_plan_item *item, const struct triad_record *record)
{
	const struct triad_expected_port *row = &input->expected->ports[item->row];
	const struct triad_fabric_port *port = item->port == TRIAD_FABRIC_NONE
		? NULL
		: &input->fabric->ports[item->port];

	switch (item->note) {
	case TRIAD_NOTE_NO_SWITCH:
		add_words(text, "line %u: there is no such port in the fabric",
			row->line);
		break;
	case TRIAD_NOTE_FAILED:
		add_words(text, "disabled%s as failed",
			item->was_ours ? " by the port manager" : "");
		add_why(text, record, item->reason);
		add_words(text, "; 'port release' when it is mended");
		break;
	case TRIAD_NOTE_OTHER_END:
		add_words(text, "the other end of the link is disabled instead");
		break;
	case TRIAD_NOTE_WIDTH:
		add_words(text, "the link is %s wide, expected is %s",
			triad_link_width_name(port->width),
			triad_link_width_name(row->width));
		break;
	case TRIAD_NOTE_SPEED:
		add_words(text, "the link is %s, expected is %s",
			triad_link_speed_name(
				triad_link_speed(port->speed, port->speed_ext)),
			triad_link_speed_name(row->speed));
		break;
	case TRIAD_NOTE_ENGINE:
		add_words(text,
			"a link between switches is not tested with this routing "
			"engine: it would route over it meanwhile");
		break;
	case TRIAD_NOTE_LATER:
		add_words(text,
			"%u links between switches are taken down at once: the next "
			"plan has this one",
			TRIAD_PLAN_MAX_WALKS);
		break;
	case TRIAD_NOTE_MISSING:
		add_words(text,
			"not disabled: it has no link now and may be the way to what is "
			"missing: %s; done when that is there, or a link comes up here",
			input->missing ? input->missing : "");
		break;
	}
}

static void add_node_words(
	struct text *text, const struct triad_fabric *fabric, uint32_t at)
{
	const struct triad_fabric_node *node = &fabric->nodes[at];

	add_words(text, "%s (0x%016" PRIx64 ")",
		node->name[0] ? node->name : "a node without a name", node->guid);
}

static void add_lost(struct text *text, const struct triad_fabric *fabric,
	const struct triad_guard_lost *lost, uint32_t max_named)
{
	uint32_t n = lost->n < max_named ? lost->n : max_named, n_more = lost->n - n;

	for (uint32_t i = 0; i < n; i++) {
		if (i)
			add_words(text, i + 1 == n && !n_more ? " and " : ", ");
		add_node_words(text, fabric, lost->nodes[i]);
	}
	if (n_more)
		add_words(text, " and %" PRIu32 " more node%s", n_more,
			n_more == 1 ? "" : "s");
}

void triad_plan_describe_lost(const struct triad_fabric *fabric,
	const struct triad_guard_lost *lost, uint32_t max_named, char *text,
	size_t size)
{
	struct text out = {.at = text, .size = size};

	*text = '\0';
	add_lost(&out, fabric, lost, max_named);
}

static void add_guard(struct text *text, const struct triad_plan_input *input,
	const struct triad_plan_item *item)
{
	const char *done = item->is_overridden ? "approved by hand" : "not done";
	const char *end =
		item->is_overridden ? "" : "; 'port approve NODE PORT' overrides this";
	uint32_t n_others = item->lost.n ? item->lost.n - 1 : 0;

	switch (item->guard) {
	case TRIAD_GUARD_OWN_PATH:
		add_words(text, " -- not done: it is this SM's own link");
		break;
	case TRIAD_GUARD_SM_PATH:
		add_words(text, " -- %s: ", done);
		add_node_words(text, input->fabric, item->lost.nodes[0]);
		add_words(text, " runs another SM, and could no longer be reached");
		if (n_others)
			add_words(text, ", nor could %" PRIu32 " more node%s", n_others,
				n_others == 1 ? "" : "s");
		add_words(text, "%s", end);
		break;
	case TRIAD_GUARD_SPLIT:
		add_words(text, " -- %s: ", done);
		add_lost(text, input->fabric, &item->lost, MAX_NAMED);
		add_words(text, " could no longer be reached%s", end);
		break;
	case TRIAD_GUARD_UNKNOWN:
		add_words(text, " -- %s: this SM's own port is not in its fabric%s",
			done, end);
		break;
	}
}

void triad_plan_describe(const struct triad_plan_input *input,
	const struct triad_plan_item *item, char *text, size_t size)
{
	const struct triad_record *record =
		triad_history_find(input->history, item->node_guid, item->number);
	struct text out = {.at = text, .size = size};

	*text = '\0';
	switch (item->kind) {
	case TRIAD_PLAN_DISABLE:
		add_disable(&out, input, item, record);
		break;
	case TRIAD_PLAN_ENABLE:
		add_words(&out, "expected %s; disabled by %s",
			triad_expected_state_name(
				input->expected->ports[item->row].state),
			item->was_ours ? "the port manager" : "somebody else");
		break;
	case TRIAD_PLAN_TEST:
		add_words(&out, "expected to be tested%s",
			item->is_active
				? "; its link is active, and is taken down first"
				: "");
		break;
	default:
		add_note(&out, input, item, record);
	}
	add_guard(&out, input, item);
}

const char *triad_plan_kind_name(unsigned kind)
{
	static const char *const names[] = {"disable", "enable", "test", "note"};

	return kind < TRIAD_PLAN_N_KINDS ? names[kind] : "?";
}

const char *triad_plan_note_name(unsigned note)
{
	static const char *const names[] = {"", "no_switch", "failed", "other_end",
		"width", "speed", "engine", "later", "missing"};

	return note < TRIAD_PLAN_N_NOTES ? names[note] : "?";
}
