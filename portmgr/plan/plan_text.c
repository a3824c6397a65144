/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* A plan's items in words. */
#include <inttypes.h>
#include <string.h>

#include "lib/text.h"

#include "portmgr/plan/plan.h"

/* How many lost nodes a line of a plan names. */
#define MAX_NAMED 3u

#define FAILED "it failed"

/* Uses the record's text, which begins with the reason.  Skips FAILED, which this file
 * put before it when the port was disabled. */
static void add_why(struct triad_text_buffer *text, const struct triad_record *record,
	unsigned reason)
{
	const char *words = record ? record->text : "";

	while (!strncmp(words, FAILED ": ", sizeof(FAILED ": ") - 1))
		words += sizeof(FAILED ": ") - 1;
	if (*words)
		triad_text_add(text, ": %s", words);
	else
		triad_text_add(text, ": %s", triad_port_reason_name(reason));
}

static void add_disable(struct triad_text_buffer *text,
	const struct triad_plan_input *input, const struct triad_plan_item *item,
	const struct triad_record *record)
{
	enum triad_remote_match match;
	char why[256] = "";

	switch (item->reason) {
	case TRIAD_REASON_EXPECTED:
		triad_text_add(text, "expected disabled");
		if (item->is_active)
			triad_text_add(text, "; its link is active, and is phased out");
		break;
	case TRIAD_REASON_MISWIRED:
		/* The record only says that the port was miswired.  If it still is, the
		 * comparison gives details. */
		match = triad_remote_compare(input->fabric, item->port, input->expected,
			&input->expected->ports[item->row].remote, why, sizeof(why));
		if (match == TRIAD_REMOTE_DIFFERS ||
			match == TRIAD_REMOTE_NAME_DIFFERS) {
			triad_text_add(text, "miswired: %s", why);
			if (item->may_be_name)
				triad_text_add(text,
					" (its name alone; it may still be starting)");
			break;
		}
		/* fall through */
	default:
		triad_text_add(text, FAILED);
		add_why(text, record, item->reason);
	}
}

static void add_note(struct triad_text_buffer *text,
	const struct triad_plan_input *input, const struct triad_plan_item *item,
	const struct triad_record *record)
{
	const struct triad_expected_port *row = &input->expected->ports[item->row];
	const struct triad_fabric_port *port = item->port == TRIAD_FABRIC_NONE
		? NULL
		: &input->fabric->ports[item->port];

	switch (item->note) {
	case TRIAD_NOTE_NO_SWITCH:
		triad_text_add(text, "line %u: there is no such port in the fabric",
			row->line);
		break;
	case TRIAD_NOTE_FAILED:
		triad_text_add(text, "disabled%s as failed",
			item->was_ours ? " by the port manager" : "");
		add_why(text, record, item->reason);
		triad_text_add(text, "; 'port release' when it is mended");
		break;
	case TRIAD_NOTE_OTHER_END:
		triad_text_add(text, "the other end of the link is disabled instead");
		break;
	case TRIAD_NOTE_WIDTH:
		triad_text_add(text, "the link is %s wide, expected is %s",
			triad_link_width_name(port->width),
			triad_link_width_name(row->width));
		break;
	case TRIAD_NOTE_SPEED:
		triad_text_add(text, "the link is %s, expected is %s",
			triad_link_speed_name(
				triad_link_speed(port->speed, port->speed_ext)),
			triad_link_speed_name(row->speed));
		break;
	case TRIAD_NOTE_ENGINE:
		triad_text_add(text,
			"a link between switches is not tested with the routing "
			"engine 'file': it would route over it meanwhile");
		break;
	case TRIAD_NOTE_LATER:
		triad_text_add(text,
			"%u links between switches are taken down at once: the next "
			"plan has this one",
			TRIAD_PLAN_MAX_WALKS);
		break;
	case TRIAD_NOTE_MISSING:
		triad_text_add(text,
			"not disabled: it has no link now and may be the way to what is "
			"missing: %s; done when that is there, or a link comes up here",
			input->missing ? input->missing : "");
		break;
	}
}

static void add_node_words(
	struct triad_text_buffer *text, const struct triad_fabric *fabric, uint32_t at)
{
	const struct triad_fabric_node *node = &fabric->nodes[at];

	triad_text_add(text, "%s (0x%016" PRIx64 ")",
		node->name[0] ? node->name : "a node without a name", node->guid);
}

static void add_lost(struct triad_text_buffer *text, const struct triad_fabric *fabric,
	const struct triad_guard_lost *lost, uint32_t max_named)
{
	uint32_t n = lost->n < max_named ? lost->n : max_named, n_more = lost->n - n;

	for (uint32_t i = 0; i < n; i++) {
		if (i)
			triad_text_add(text, i + 1 == n && !n_more ? " and " : ", ");
		add_node_words(text, fabric, lost->nodes[i]);
	}
	if (n_more)
		triad_text_add(text, " and %" PRIu32 " more node%s", n_more,
			n_more == 1 ? "" : "s");
}

void triad_plan_describe_lost(const struct triad_fabric *fabric,
	const struct triad_guard_lost *lost, uint32_t max_named, char *text,
	size_t size)
{
	struct triad_text_buffer out = {.text = text, .size = size};

	*text = '\0';
	add_lost(&out, fabric, lost, max_named);
}

static void add_guard(struct triad_text_buffer *text,
	const struct triad_plan_input *input, const struct triad_plan_item *item)
{
	const char *done = item->is_overridden ? "approved by hand" : "not done";
	const char *end =
		item->is_overridden ? "" : "; 'port approve NODE PORT' overrides this";
	uint32_t n_others = item->lost.n ? item->lost.n - 1 : 0;

	switch (item->guard) {
	case TRIAD_GUARD_OWN_PATH:
		triad_text_add(text, " -- not done: it is this SM's own link");
		break;
	case TRIAD_GUARD_SM_PATH:
		triad_text_add(text, " -- %s: ", done);
		add_node_words(text, input->fabric, item->lost.nodes[0]);
		triad_text_add(
			text, " runs another SM, and could no longer be reached");
		if (n_others)
			triad_text_add(text, ", nor could %" PRIu32 " more node%s",
				n_others, n_others == 1 ? "" : "s");
		triad_text_add(text, "%s", end);
		break;
	case TRIAD_GUARD_SPLIT:
		triad_text_add(text, " -- %s: ", done);
		add_lost(text, input->fabric, &item->lost, MAX_NAMED);
		triad_text_add(text, " could no longer be reached%s", end);
		break;
	case TRIAD_GUARD_UNKNOWN:
		triad_text_add(text,
			" -- %s: this SM's own port is not in its fabric%s", done, end);
		break;
	}
}

void triad_plan_describe(const struct triad_plan_input *input,
	const struct triad_plan_item *item, char *text, size_t size)
{
	const struct triad_record *record =
		triad_history_find(input->history, item->node_guid, item->number);
	struct triad_text_buffer out = {.text = text, .size = size};

	*text = '\0';
	switch (item->kind) {
	case TRIAD_PLAN_DISABLE:
		add_disable(&out, input, item, record);
		break;
	case TRIAD_PLAN_ENABLE:
		triad_text_add(&out, "expected %s; disabled by %s",
			triad_expected_state_name(
				input->expected->ports[item->row].state),
			item->was_ours ? "the port manager" : "somebody else");
		break;
	case TRIAD_PLAN_TEST:
		triad_text_add(&out, "expected to be tested%s",
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
