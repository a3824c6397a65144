/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ib/rates.h"
#include "qos/policy/policy_items.h"
#include "triad/fabric.h"

/* --- names ------------------------------------------------------------- */

/* Reads a name; reports it and returns NULL if it can't be one. */
static char *read_name(struct triad_policy_builder *builder, const char *what,
	const struct triad_policy_item *item)
{
	char *name;

	if (!item->size) {
		triad_policy_report(
			builder, item->location, "%s: a name is missing", what);
		return NULL;
	}
	if (item->size > TRIAD_POLICY_MAX_NAME) {
		triad_policy_report(builder, item->location,
			"%s %.*s...: a name has %d characters at most", what,
			triad_policy_shown_length(item), item->text,
			TRIAD_POLICY_MAX_NAME);
		return NULL;
	}
	/* Comparisons of names ignore blanks, so "  " is an empty name. */
	name = triad_policy_copy(builder, *item);
	if (name && !triad_policy_name_compare(name, "")) {
		triad_policy_report(
			builder, item->location, "%s: the name is empty", what);
		return NULL;
	}
	return name;
}

static void set_name(struct triad_policy_builder *builder,
	const struct triad_policy_key *key, const struct triad_policy_value *value)
{
	struct triad_policy_item whole = triad_policy_value_whole(value), item;
	struct triad_policy_items items = triad_policy_items_of(builder, value);
	unsigned n = 0;

	while (triad_policy_next_item(&items, &item))
		n++;
	if (n > 1)
		triad_policy_report(builder, whole.location,
			"%s %.*s: a name has no comma, which stands between names",
			key->name, triad_policy_shown_length(&whole), whole.text);
	else
		*(char **)((char *)builder->element + key->offset) =
			read_name(builder, key->name, &whole);
}

/* Sets a description; cuts one that is too long, because nothing depends on it. */
static void set_use(struct triad_policy_builder *builder,
	const struct triad_policy_key *key, const struct triad_policy_value *value)
{
	char *text = triad_policy_copy(builder, triad_policy_value_whole(value));

	if (text && strlen(text) > TRIAD_POLICY_MAX_NAME) {
		size_t n = TRIAD_POLICY_MAX_NAME;

		/* Don't cut within a character: in UTF-8 the octets behind its first
		 * one are 10xxxxxx. */
		while (n && (text[n] & 0xc0) == 0x80)
			n--;
		text[n] = '\0';
	}
	*(char **)((char *)builder->element + key->offset) = text;
}

static void add_names(struct triad_policy_builder *builder,
	const struct triad_policy_key *key, const struct triad_policy_value *value)
{
	char ***names = (void *)((char *)builder->element + key->offset);
	uint32_t *n = (void *)((char *)builder->element + key->count);
	struct triad_policy_items items = triad_policy_items_of(builder, value);
	struct triad_policy_item item;

	while (triad_policy_next_item(&items, &item)) {
		char *name = read_name(builder, key->name, &item);
		void *grown;

		if (!name)
			continue;
		grown = triad_policy_list_grow(
			builder, *names, *n, sizeof(name), item.location);
		if (!grown)
			return;
		*names = grown;
		(*names)[(*n)++] = name;
	}
}

/* --- references -------------------------------------------------------- */

static void add_groups(struct triad_policy_builder *builder,
	const struct triad_policy_key *key, const struct triad_policy_value *value)
{
	struct triad_policy_items items = triad_policy_items_of(builder, value);
	struct triad_policy_item item;

	while (triad_policy_next_item(&items, &item)) {
		char *name = read_name(builder, key->name, &item);

		if (name)
			triad_policy_refer(
				builder, name, false, key->offset, item.location);
	}
}

static void set_level(struct triad_policy_builder *builder,
	const struct triad_policy_key *key, const struct triad_policy_value *value)
{
	struct triad_policy_item item = triad_policy_value_whole(value);
	char *name = read_name(builder, key->name, &item);

	if (name)
		triad_policy_refer(builder, name, true, key->offset, item.location);
}

/* --- single numbers ---------------------------------------------------- */

static bool read_number(const struct triad_policy_item *item, uint64_t *number)
{
	const char *end = item->text + item->size;

	return triad_policy_number(item->text, end, number) == end;
}

static void store_number(struct triad_policy_builder *builder,
	const struct triad_policy_key *key, uint64_t number)
{
	*((uint8_t *)builder->element + key->offset) = (uint8_t)number;
	*(bool *)((char *)builder->element + key->has) = true;
}

static void set_number(struct triad_policy_builder *builder,
	const struct triad_policy_key *key, const struct triad_policy_value *value)
{
	struct triad_policy_item item = triad_policy_value_whole(value);
	uint64_t number;

	if (read_number(&item, &number) && number >= key->min && number <= key->max)
		store_number(builder, key, number);
	else
		triad_policy_report_number(builder, key->name, &item,
			key->hint ? key->hint : "", key->min, key->max);
}

#define BASE_TENTHS 25 /* 2.5 Gb/s: one lane at the lowest speed */
#define MAX_WIDTHS 1000

/* In XML the value is a multiple of 2.5 Gb/s, width times speed [qos-rfc 3.2.2]; in
 * text it is the code of PathRecord, as in OpenSM. */
static void set_rate(struct triad_policy_builder *builder,
	const struct triad_policy_key *key, const struct triad_policy_value *value)
{
	struct triad_policy_item item = triad_policy_value_whole(value);
	bool is_xml = builder->syntax == TRIAD_POLICY_XML;
	uint64_t number, min = is_xml ? 1 : TRIAD_RATE_MIN,
			 max = is_xml ? MAX_WIDTHS : TRIAD_RATE_MAX;

	if (!read_number(&item, &number) || number < min || number > max)
		triad_policy_report_item(builder, key->name, &item,
			is_xml ? "1 to 1000, times 2.5 Gb/s"
			       : "PathRecord's codes of rates, 2 to 24");
	else
		store_number(builder, key,
			is_xml ? triad_rate_below(number * BASE_TENTHS) : number);
}

/* --- port names -------------------------------------------------------- */

/* Finds the port's number, after the last '/' and a P; NULL: there is none. */
static const char *find_port_number(const struct triad_policy_item *item)
{
	const char *end = item->text + item->size, *at = end;

	while (at > item->text && at[-1] != '/')
		at--;
	return at > item->text && at < end && (*at | 0x20) == 'p' ? at + 1 : NULL;
}

/* HOST/HCA: the first two words of a description [qos-rfc 3]. */
static bool has_words(const struct triad_policy_item *node)
{
	const char *slash = memchr(node->text, '/', node->size);

	if (!slash || slash == node->text || slash == node->text + node->size - 1 ||
		memchr(slash + 1, '/', (size_t)(node->text + node->size - slash) - 1))
		return false;
	for (size_t i = 0; i < node->size; i++)
		if (triad_policy_is_blank(node->text[i]))
			return false;
	return true;
}

static bool read_port_name(struct triad_policy_builder *builder,
	struct triad_policy_item item, struct triad_port_name *name)
{
	const char *port = find_port_number(&item), *end = item.text + item.size;
	uint64_t number;

	if (!port || triad_policy_number(port, end, &number) != end || number > 254)
		return false;
	item.size = (size_t)(port - 2 - item.text); /* without the "/P" */
	item = triad_policy_trim(item);
	if (!item.size || item.size > TRIAD_POLICY_MAX_NAME)
		return false;
	name->words = builder->syntax == TRIAD_POLICY_XML && has_words(&item);
	name->number = (uint8_t)number;
	name->node = triad_policy_copy(builder, item);
	/* It is compared with a node description, which has blanks between words. */
	if (name->node && name->words)
		*strchr(name->node, '/') = ' ';
	return true;
}

static void add_port_names(struct triad_policy_builder *builder,
	const struct triad_policy_key *key, const struct triad_policy_value *value)
{
	struct triad_policy_group *group = builder->element;
	struct triad_policy_items items = triad_policy_items_of(builder, value);
	struct triad_policy_item item;

	while (triad_policy_next_item(&items, &item)) {
		struct triad_port_name name;
		void *grown;

		if (!read_port_name(
			    builder, triad_policy_unquote(builder, item), &name)) {
			triad_policy_report_item(builder, key->name, &item,
				builder->syntax == TRIAD_POLICY_XML
					? "HOST/HCA/P1 and 'node description/P1'"
					: "a node's description, '/P' and the number "
					  "of a port, 0 to 254");
			continue;
		}
		grown = triad_policy_list_grow(builder, group->port_names,
			group->n_port_names, sizeof(name), item.location);
		if (!name.node || !grown)
			return;
		group->port_names = grown;
		group->port_names[group->n_port_names++] = name;
	}
}

/* --- node types -------------------------------------------------------- */

#define BIT(type) (1u << TRIAD_NODE_##type)

static const struct {
	const char *name;
	uint8_t types;
	bool self;
} node_types[] = {
	{"CA", BIT(CA), false},
	{"HCA", BIT(CA), false},
	{"SWITCH", BIT(SWITCH), false},
	{"ROUTER", BIT(ROUTER), false},
	{"ALL", BIT(CA) | BIT(SWITCH) | BIT(ROUTER), false},
	{"SELF", 0, true},
};

#define N_NODE_TYPES (sizeof(node_types) / sizeof(node_types[0]))

static void add_node_types(struct triad_policy_builder *builder,
	const struct triad_policy_key *key, const struct triad_policy_value *value)
{
	struct triad_policy_group *group = builder->element;
	struct triad_policy_items items = triad_policy_items_of(builder, value);
	struct triad_policy_item item;

	while (triad_policy_next_item(&items, &item)) {
		size_t i;

		for (i = 0; i < N_NODE_TYPES; i++)
			if (strlen(node_types[i].name) == item.size &&
				!strncasecmp(item.text, node_types[i].name, item.size))
				break;
		if (i == N_NODE_TYPES) {
			triad_policy_report_item(builder, key->name, &item,
				"CA (or HCA), SWITCH, ROUTER, ALL and SELF");
			continue;
		}
		group->node_types |= node_types[i].types;
		group->self = group->self || node_types[i].self;
	}
}

/* --- tables ------------------------------------------------------------ */

static void add_ports(struct triad_policy_builder *builder,
	const struct triad_policy_key *key, const struct triad_policy_value *value)
{
	struct triad_policy_item whole = triad_policy_value_whole(value), item;
	uint8_t *set = (uint8_t *)builder->element + key->offset;
	struct triad_policy_items items = triad_policy_items_of(builder, value);

	if (whole.size == 1 && *whole.text == '*') {
		*(bool *)((char *)builder->element + key->has) = true;
		return;
	}
	while (triad_policy_next_item(&items, &item)) {
		struct triad_range range;

		if (!triad_policy_range(&item, 0, key->max, &range)) {
			triad_policy_report_item(builder, key->name, &item,
				"'*', or ports, 0 to 254, and ranges of them");
			continue;
		}
		for (uint64_t port = range.first; port <= range.last; port++)
			set[port / 8] |= (uint8_t)(1u << port % 8);
	}
}

static void set_sl2vl(struct triad_policy_builder *builder,
	const struct triad_policy_key *key, const struct triad_policy_value *value)
{
	struct triad_policy_sl2vl *table = builder->element;
	struct triad_policy_items items = triad_policy_items_of(builder, value);
	struct triad_policy_item item;
	size_t n = 0;

	for (; triad_policy_next_item(&items, &item); n++) {
		uint64_t vl = 0;

		if (!read_number(&item, &vl) || vl > key->max)
			triad_policy_report_number(
				builder, key->name, &item, "", 0, key->max);
		else if (n < TRIAD_POLICY_N_VLS)
			table->vl[n] = (uint8_t)vl;
	}
	/* Values beyond the table were only counted. */
	item = triad_policy_value_whole(value);
	if (n != TRIAD_POLICY_N_VLS)
		triad_policy_report(builder, item.location,
			"%s has %zu values: it needs %d, the VL of each SL", key->name,
			n, TRIAD_POLICY_N_VLS);
}

#define MAX_DATA_VL 14 /* VL 15 isn't arbitrated [IBA 7.6.9] */

static bool read_vlarb(
	const struct triad_policy_item *item, struct triad_vlarb_entry *entry)
{
	const char *end = item->text + item->size;
	uint64_t vl, weight;
	const char *at = triad_policy_number(item->text, end, &vl);

	if (!at || at == end || *at != ':' ||
		triad_policy_number(at + 1, end, &weight) != end || vl > MAX_DATA_VL ||
		weight > 255)
		return false;
	*entry = (struct triad_vlarb_entry){(uint8_t)vl, (uint8_t)weight};
	return true;
}

static void add_vlarb(struct triad_policy_builder *builder,
	const struct triad_policy_key *key, const struct triad_policy_value *value)
{
	struct triad_vlarb_entry *entries =
		(void *)((char *)builder->element + key->offset);
	uint8_t *n = (uint8_t *)builder->element + key->count;
	struct triad_policy_items items = triad_policy_items_of(builder, value);
	struct triad_policy_item item;

	/* Even with wrong entries the table is there: don't report it as missing. */
	*(bool *)((char *)builder->element + key->has) = true;
	while (triad_policy_next_item(&items, &item)) {
		struct triad_vlarb_entry entry;

		if (!read_vlarb(&item, &entry)) {
			triad_policy_report_item(builder, key->name, &item,
				"VL:WEIGHT, a VL from 0 to 14, a weight from 0 to 255");
		} else if (*n == TRIAD_POLICY_MAX_VLARB) {
			triad_policy_report(builder, item.location,
				"%s: a table has %d entries at most", key->name,
				TRIAD_POLICY_MAX_VLARB);
			return;
		} else {
			entries[(*n)++] = entry;
		}
	}
}

/* --- all --------------------------------------------------------------- */

static void add_ranges(struct triad_policy_builder *builder,
	const struct triad_policy_key *key, const struct triad_policy_value *value)
{
	triad_policy_ranges_read(builder, value, key->name, key->kind, key->min,
		key->max, (void *)((char *)builder->element + key->offset));
}

void triad_policy_value_read(struct triad_policy_builder *builder,
	const struct triad_policy_key *key, const struct triad_policy_value *value)
{
	static void (*const readers[])(struct triad_policy_builder *,
		const struct triad_policy_key *, const struct triad_policy_value *) = {
		[TRIAD_VALUE_NAME] = set_name,
		[TRIAD_VALUE_USE] = set_use,
		[TRIAD_VALUE_SERIAL] = NULL,
		[TRIAD_VALUE_NAMES] = add_names,
		[TRIAD_VALUE_NUMBER] = set_number,
		[TRIAD_VALUE_RATE] = set_rate,
		[TRIAD_VALUE_RANGES] = add_ranges,
		[TRIAD_VALUE_PKEYS] = add_ranges,
		[TRIAD_VALUE_SERVICES] = add_ranges,
		[TRIAD_VALUE_PORT_NAMES] = add_port_names,
		[TRIAD_VALUE_NODE_TYPES] = add_node_types,
		[TRIAD_VALUE_GROUPS] = add_groups,
		[TRIAD_VALUE_LEVEL] = set_level,
		[TRIAD_VALUE_PORTS] = add_ports,
		[TRIAD_VALUE_SL2VL] = set_sl2vl,
		[TRIAD_VALUE_VLARB] = add_vlarb,
	};

	if (readers[key->kind])
		readers[key->kind](builder, key, value);
}
