/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Reads the lines of OpenSM's qos-ulps: "ULP : SL" and "ULP, WHAT VALUES : SL".  Each
 * line makes a rule with one condition, and a level for its SL. */
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "qos/policy/arena.h"
#include "qos/policy/policy_items.h"

#define MAX_SL 15
#define SHOWN 60

/* Service IDs [qos-rfc 6; IBA annex A11: RDMA IP CM service]: the low 16 bits are a
 * port number of TCP. */
#define SERVICE_SDP UINT64_C(0x0000000000010000)
#define SERVICE_TCP UINT64_C(0x0000000001060000)
#define PORT_RDS 0x48ca
#define PORT_ISER 0x0cbc
#define MAX_PORT 0xffff
#define PKEY_IPOIB 0x7fff

enum ulp_condition {
	CONDITION_NONE, /* the default level */
	CONDITION_SERVICE,
	CONDITION_PKEY,
	CONDITION_TARGET,
	CONDITION_SOURCE,
	CONDITION_BOTH, /* source and destination, as OpenSM compares them */
};

static const struct ulp {
	const char *name, *what; /* NULL: nothing after the name */
	enum ulp_condition condition;
	uint64_t base;        /* is added to each value */
	uint64_t first, last; /* allowed values; or the value itself, without 'what' */
} ulps[] = {
	{"default", NULL, CONDITION_NONE, 0, 0, 0},
	{"sdp", NULL, CONDITION_SERVICE, SERVICE_SDP, 0, MAX_PORT},
	{"sdp", "port-num", CONDITION_SERVICE, SERVICE_SDP, 0, MAX_PORT},
	{"rds", NULL, CONDITION_SERVICE, SERVICE_TCP, PORT_RDS, PORT_RDS},
	{"rds", "port-num", CONDITION_SERVICE, SERVICE_TCP, 0, MAX_PORT},
	{"iser", NULL, CONDITION_SERVICE, SERVICE_TCP, PORT_ISER, PORT_ISER},
	{"iser", "port-num", CONDITION_SERVICE, SERVICE_TCP, 0, MAX_PORT},
	{"srp", "target-port-guid", CONDITION_TARGET, 0, 0, UINT64_MAX},
	{"ipoib", NULL, CONDITION_PKEY, 0, PKEY_IPOIB, PKEY_IPOIB},
	{"ipoib", "pkey", CONDITION_PKEY, 0, 0, 0xffff},
	{"any", "service-id", CONDITION_SERVICE, 0, 0, UINT64_MAX},
	{"any", "pkey", CONDITION_PKEY, 0, 0, 0xffff},
	{"any", "target-port-guid", CONDITION_TARGET, 0, 0, UINT64_MAX},
	{"any", "source-port-guid", CONDITION_SOURCE, 0, 0, UINT64_MAX},
	{"any", "source-target-port-guid", CONDITION_BOTH, 0, 0, UINT64_MAX},
};

#define N_ULPS (sizeof(ulps) / sizeof(ulps[0]))

/* A line, and the position in it. */
struct line {
	struct triad_policy_builder *builder;
	size_t start, at, end;
};

static void skip_blanks_and_ends(struct line *line)
{
	while (line->at < line->end && strchr(" \t\n", line->builder->text[line->at]))
		line->at++;
}

/* Skips 'word', ignoring case.  A number may follow directly, as in OpenSM. */
static bool skip_word(struct line *line, const char *word)
{
	size_t n = strlen(word);
	const char *text = line->builder->text + line->at;

	if (n > line->end - line->at || strncasecmp(text, word, n) != 0)
		return false;
	if (line->end - line->at > n &&
		((text[n] | 0x20) >= 'a' && (text[n] | 0x20) <= 'z'))
		return false;
	line->at += n;
	return true;
}

static bool skip_mark(struct line *line, char mark)
{
	skip_blanks_and_ends(line);
	if (line->at == line->end || line->builder->text[line->at] != mark)
		return false;
	line->at++;
	skip_blanks_and_ends(line);
	return true;
}

static bool try_ulp(struct line *line, const struct ulp *ulp)
{
	size_t at = line->at;

	if (skip_word(line, ulp->name)) {
		skip_blanks_and_ends(line);
		/* "sdp" and "sdp, port-num" are two rows: what follows decides. */
		if (!ulp->what && line->builder->text[line->at] == ':')
			return true;
		if (ulp->what && skip_mark(line, ',') && skip_word(line, ulp->what))
			return true;
	}
	line->at = at;
	return false;
}

/* --- the parts of a rule --- */

static bool read_ranges(struct line *line, const struct ulp *ulp, size_t colon,
	struct triad_ranges *ranges)
{
	struct triad_policy_builder *builder = line->builder;
	enum triad_policy_value_kind kind = TRIAD_VALUE_RANGES;
	struct triad_policy_value value = {
		.text = builder->text + line->at,
		.size = colon - line->at,
		.location = triad_policy_location(builder, line->at),
		.is_verbatim = true,
	};

	/* With a base, the values are port numbers that are added to it later. */
	if (ulp->condition == CONDITION_PKEY)
		kind = TRIAD_VALUE_PKEYS;
	else if (ulp->condition == CONDITION_SERVICE && !ulp->base)
		kind = TRIAD_VALUE_SERVICES;
	if (ulp->what)
		return triad_policy_ranges_read(builder, &value, ulp->what, kind,
			ulp->first, ulp->last, ranges);
	ranges->items = triad_policy_list_grow(
		builder, NULL, 0, sizeof(*ranges->items), value.location);
	if (!ranges->items)
		return false;
	ranges->items[ranges->n++] = (struct triad_range){ulp->first, ulp->last};
	return true;
}

static bool add_to_list(struct triad_policy_builder *builder,
	struct triad_group_list *list, uint32_t index,
	struct triad_source_location location)
{
	list->items = triad_policy_list_grow(
		builder, list->items, list->n, sizeof(index), location);
	if (!list->items)
		return false;
	list->items[list->n++] = index;
	return true;
}

/* Adds a group that no other rule can name. */
static bool add_group(struct triad_policy_builder *builder, const struct ulp *ulp,
	const struct triad_ranges *guids, struct triad_source_location location,
	uint32_t *index)
{
	struct triad_policy_group *group =
		triad_policy_add(builder, TRIAD_BLOCK_PORT_GROUP, location);
	char name[64];

	if (!group)
		return false;
	snprintf(name, sizeof(name), "%s of line %u", ulp->what, location.line);
	*group = (struct triad_policy_group){
		.name = triad_arena_text(builder->policy->arena, name, strlen(name)),
		.location = location,
		.guids = *guids,
	};
	if (!group->name)
		triad_policy_out_of_memory(builder);
	*index = builder->elements[TRIAD_BLOCK_PORT_GROUP].n - 1;
	return true;
}

static bool set_groups(struct triad_policy_builder *builder, const struct ulp *ulp,
	const struct triad_ranges *guids, struct triad_policy_rule *rule)
{
	uint32_t index;

	/* Rules compare ports by groups: make a group of the line's GUIDs. */
	if (!add_group(builder, ulp, guids, rule->location, &index))
		return false;
	if (ulp->condition != CONDITION_TARGET &&
		!add_to_list(builder, &rule->sources, index, rule->location))
		return false;
	return ulp->condition == CONDITION_SOURCE ||
		add_to_list(builder, &rule->destinations, index, rule->location);
}

static bool set_condition(struct triad_policy_builder *builder, const struct ulp *ulp,
	const struct triad_ranges *ranges, struct triad_policy_rule *rule)
{
	switch (ulp->condition) {
	case CONDITION_SERVICE:
		rule->service_ids = *ranges;
		for (uint32_t i = 0; i < ranges->n; i++) {
			ranges->items[i].first += ulp->base;
			ranges->items[i].last += ulp->base;
		}
		return true;
	case CONDITION_PKEY:
		rule->pkeys = *ranges;
		return true;
	default:
		return set_groups(builder, ulp, ranges, rule);
	}
}

static void add_rule(
	struct line *line, const struct ulp *ulp, size_t colon, uint32_t level)
{
	struct triad_policy_builder *builder = line->builder;
	struct triad_policy_rule made = {
		.location = triad_policy_location(builder, line->start),
		.level = level};
	struct triad_policy_rule *rule;
	struct triad_ranges ranges = {0};
	size_t length = colon - line->start;

	if (!read_ranges(line, ulp, colon, &ranges))
		return;
	triad_policy_ranges_join(&ranges);
	/* Use the line's text, without the SL, as the rule's description. */
	while (length && strchr(" \t\n", builder->text[line->start + length - 1]))
		length--;
	made.use = triad_policy_copy(builder,
		(struct triad_policy_item){builder->text + line->start,
			length < SHOWN ? length : SHOWN, made.location});
	if (!made.use)
		return;
	if (!set_condition(builder, ulp, &ranges, &made))
		return;
	rule = triad_policy_add(builder, TRIAD_BLOCK_ULPS, made.location);
	if (rule)
		*rule = made;
}

/* --- a line ------------------------------------------------------------ */

/* Reads the SL after the ':'; returns more than MAX_SL if it is none. */
static unsigned read_sl(struct line *line, size_t colon)
{
	struct triad_policy_builder *builder = line->builder;
	struct triad_policy_value value = {
		.text = builder->text + colon + 1,
		.size = line->end - colon - 1,
		.location = triad_policy_location(builder, colon + 1),
		.is_verbatim = true,
	};
	struct triad_policy_item item = triad_policy_value_whole(&value);
	const char *end = item.text + item.size;
	uint64_t sl;

	if (triad_policy_number(item.text, end, &sl) == end && sl <= MAX_SL)
		return (unsigned)sl;
	triad_policy_report(builder, item.location, "SL %.*s: allowed are 0 to 15",
		(int)(item.size < SHOWN ? item.size : SHOWN), item.text);
	return MAX_SL + 1;
}

static void report_unknown(struct line *line)
{
	size_t n = line->end - line->start;

	triad_policy_report(line->builder,
		triad_policy_location(line->builder, line->start),
		"'%.*s' is no rule of qos-ulps: those are default, sdp, rds, iser, "
		"ipoib, and, with what is compared behind a ',', srp and any",
		(int)(n < SHOWN ? n : SHOWN), line->builder->text + line->start);
}

void triad_policy_ulp_read(struct triad_policy_builder *builder, size_t at, size_t end)
{
	struct line line = {builder, at, at, end};
	const char *colon = memchr(builder->text + at, ':', end - at);
	const struct ulp *ulp = NULL;
	unsigned sl;
	uint32_t level;

	if (!colon) {
		triad_policy_report(builder, triad_policy_location(builder, at),
			"a ':' and an SL are missing");
		return;
	}
	for (size_t i = 0; i < N_ULPS && !ulp; i++)
		if (try_ulp(&line, &ulps[i]))
			ulp = &ulps[i];
	if (!ulp) {
		report_unknown(&line);
		return;
	}
	/* A wrong SL was reported.  Continue with any level to find other mistakes in
	 * the line; a policy with a mistake is not used. */
	sl = read_sl(&line, (size_t)(colon - builder->text));
	level = sl > MAX_SL ? 0
			    : triad_policy_ulp_level(
				      builder, sl, triad_policy_location(builder, at));
	if (ulp->condition == CONDITION_NONE)
		builder->ulp_default = level;
	else
		add_rule(&line, ulp, (size_t)(colon - builder->text), level);
}
