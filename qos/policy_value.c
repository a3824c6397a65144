/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "qos/arena.h"
#include "qos/policy_build.h"
#include "triad/fabric.h"

#define SHOWN 60 /* octets of an item in a message */
#define FIRST_ROOM 2

#define PKEY_MASK 0x7fff

/* --- parts of a value -------------------------------------------------- */

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\n';
}

static void step(struct triad_policy_item *item)
{
	if (*item->text == '\n')
		item->place = (struct triad_place){item->place.line + 1, 1};
	else
		item->place.column++;
	item->text++;
	item->size--;
}

/* Without the blanks around it. */
static struct triad_policy_item trim(struct triad_policy_item item)
{
	while (item.size && is_blank(*item.text))
		step(&item);
	while (item.size && is_blank(item.text[item.size - 1]))
		item.size--;
	return item;
}

struct triad_policy_item triad_policy_value_whole(
	const struct triad_policy_value *value)
{
	struct triad_policy_item item = trim(
		(struct triad_policy_item){value->text, value->size, value->place});

	if (!value->is_verbatim)
		item.place = value->place;
	return item;
}

/* The quoted text at the beginning of 'item', quotes included; 0: there is none. */
static size_t quoted(const struct triad_policy_builder *builder,
	const struct triad_policy_item *item)
{
	const char *end;

	if (builder->syntax == TRIAD_POLICY_XML || *item->text != '"')
		return 0;
	end = memchr(item->text + 1, '"', item->size - 1);
	if (!end || memchr(item->text, '\n', (size_t)(end - item->text)))
		return 0;
	return (size_t)(end - item->text) + 1;
}

struct items {
	struct triad_policy_builder *builder;
	const struct triad_policy_value *value;
	struct triad_policy_item rest;
	bool ended;
};

static struct items items_of(
	struct triad_policy_builder *builder, const struct triad_policy_value *value)
{
	return (struct items){
		.builder = builder,
		.value = value,
		.rest = {value->text, value->size, value->place},
	};
}

/* Splits at commas.  False at the end. */
static bool next_item(struct items *items, struct triad_policy_item *item)
{
	struct triad_policy_item *rest = &items->rest;

	if (items->ended || items->builder->stopped)
		return false;
	*item = *rest;
	while (rest->size && *rest->text != ',') {
		size_t n = quoted(items->builder, rest);

		do
			step(rest);
		while (n && --n);
	}
	item->size -= rest->size;
	items->ended = !rest->size;
	if (rest->size)
		step(rest);
	*item = trim(*item);
	if (!items->value->is_verbatim)
		item->place = items->value->place;
	return true;
}

/* --- messages ---------------------------------------------------------- */

static int shown_length(const struct triad_policy_item *item)
{
	return item->size < SHOWN ? (int)item->size : SHOWN;
}

static void report_item(struct triad_policy_builder *builder, const char *what,
	const struct triad_policy_item *item, const char *allowed)
{
	if (item->size)
		triad_policy_report(builder, item->place, "%s %.*s%s: allowed are %s",
			what, shown_length(item), item->text,
			item->size > SHOWN ? "..." : "", allowed);
	else
		triad_policy_report(builder, item->place,
			"%s: a value is missing; allowed are %s", what, allowed);
}

static void report_number(struct triad_policy_builder *builder, const char *what,
	const struct triad_policy_item *item, bool is_list, uint64_t min, uint64_t max)
{
	char allowed[96];

	if (max == UINT64_MAX)
		snprintf(allowed, sizeof(allowed), "numbers of up to 64 bits%s",
			is_list ? ", and ranges of them" : "");
	else
		snprintf(allowed, sizeof(allowed), "%" PRIu64 " to %" PRIu64 "%s", min,
			max, is_list ? ", and ranges of them" : "");
	report_item(builder, what, item, allowed);
}

/* --- lists ------------------------------------------------------------- */

bool triad_policy_item_count(
	struct triad_policy_builder *builder, struct triad_place place)
{
	if (builder->stopped)
		return false;
	if (builder->n_items < TRIAD_POLICY_MAX_ITEMS) {
		builder->n_items++;
		return true;
	}
	builder->stopped = true;
	triad_policy_report(builder, place,
		"too much: %u values are allowed in all lists together; what is behind "
		"this place isn't looked at",
		TRIAD_POLICY_MAX_ITEMS);
	return false;
}

void *triad_policy_list_room(
	struct triad_policy_builder *builder, void *items, uint32_t n, size_t size)
{
	void *grown = items;

	/* There is room for a power of two. */
	if (!n || (n >= FIRST_ROOM && !(n & (n - 1))))
		grown = triad_arena_grow(builder->policy->arena, items, n * size,
			(n ? 2 * n : FIRST_ROOM) * size);
	if (!grown)
		triad_policy_out_of_memory(builder);
	return grown;
}

void *triad_policy_list_grow(struct triad_policy_builder *builder, void *items,
	uint32_t n, size_t size, struct triad_place place)
{
	return triad_policy_item_count(builder, place)
		? triad_policy_list_room(builder, items, n, size)
		: NULL;
}

/* --- numbers and ranges ------------------------------------------------ */

static unsigned digit_value(char c)
{
	if (c >= '0' && c <= '9')
		return (unsigned)(c - '0');
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? (unsigned)(c - 'a') + 10 : 16;
}

const char *triad_policy_number(const char *text, const char *end, uint64_t *number)
{
	const char *digits;
	unsigned base = 10;
	uint64_t sum = 0;

	while (text < end && is_blank(*text))
		text++;
	if (end - text >= 2 && text[0] == '0' && (text[1] | 0x20) == 'x') {
		base = 16;
		text += 2;
	} else if (end - text >= 2 && text[0] == '0') {
		base = 8; /* as in C and OpenSM */
	}
	for (digits = text; text < end && digit_value(*text) < base; text++) {
		if (sum > (UINT64_MAX - digit_value(*text)) / base)
			return NULL;
		sum = sum * base + digit_value(*text);
	}
	if (text == digits || (text < end && digit_value(*text) < 16))
		return NULL;
	while (text < end && is_blank(*text))
		text++;
	*number = sum;
	return text;
}

/* "A" or "A-B"; B may be less than A, as in OpenSM. */
static bool read_range(const struct triad_policy_item *item, uint64_t min, uint64_t max,
	struct triad_range *range)
{
	const char *end = item->text + item->size;
	const char *at = triad_policy_number(item->text, end, &range->first);

	range->last = range->first;
	if (at && at < end && *at == '-')
		at = triad_policy_number(at + 1, end, &range->last);
	if (!at || at < end)
		return false;
	if (range->first > range->last)
		*range = (struct triad_range){range->last, range->first};
	return range->first >= min && range->last <= max;
}

/* Drops the bit that says who is a full member [IBA 10.9.2]; a range is what lies
 * between its ends without it, as in OpenSM, and may begin at 0, which is no P_Key. */
static bool mask_pkeys(struct triad_range *range)
{
	bool is_range = range->first != range->last;
	uint64_t first = range->first & PKEY_MASK, last = range->last & PKEY_MASK;

	*range = (struct triad_range){
		first < last ? first : last, first < last ? last : first};
	if (!range->first && is_range && range->last)
		range->first = 1;
	return range->first > 0;
}

static bool add_range(struct triad_policy_builder *builder, struct triad_ranges *ranges,
	struct triad_range range, struct triad_place place)
{
	void *items = triad_policy_list_grow(
		builder, ranges->items, ranges->n, sizeof(range), place);

	if (!items)
		return false;
	ranges->items = items;
	ranges->items[ranges->n++] = range;
	return true;
}

bool triad_policy_ranges_read(struct triad_policy_builder *builder,
	const struct triad_policy_value *value, const char *what, bool are_pkeys,
	uint64_t min, uint64_t max, struct triad_ranges *ranges)
{
	struct items items = items_of(builder, value);
	struct triad_policy_item item;
	bool done = true;

	while (next_item(&items, &item)) {
		struct triad_range range;

		if (!read_range(&item, min, max, &range)) {
			report_number(
				builder, what, &item, true, are_pkeys ? 1 : min, max);
			done = false;
		} else if (are_pkeys && !mask_pkeys(&range)) {
			report_item(builder, what, &item,
				"0x0001 to 0x7fff, with or without the membership bit "
				"0x8000, and ranges of them");
			done = false;
		} else if (!add_range(builder, ranges, range, item.place)) {
			done = false;
		}
	}
	return done && !builder->stopped;
}

static int compare_ranges(const void *a, const void *b)
{
	const struct triad_range *left = a, *right = b;

	return (left->first > right->first) - (left->first < right->first);
}

void triad_policy_ranges_join(struct triad_ranges *ranges)
{
	uint32_t n = 0;

	if (ranges->n < 2)
		return;
	qsort(ranges->items, ranges->n, sizeof(ranges->items[0]), compare_ranges);
	for (uint32_t i = 1; i < ranges->n; i++) {
		struct triad_range *last = &ranges->items[n], next = ranges->items[i];

		if (last->last != UINT64_MAX && next.first > last->last + 1)
			ranges->items[++n] = next;
		else if (next.last > last->last)
			last->last = next.last;
	}
	ranges->n = n + 1;
}

/* --- texts ------------------------------------------------------------- */

char *triad_policy_copy(
	struct triad_policy_builder *builder, struct triad_policy_item item)
{
	char *copy = triad_arena_take(builder->policy->arena, item.size + 1);
	size_t n = 0, in_quotes = 0;

	if (!copy) {
		triad_policy_out_of_memory(builder);
		return NULL;
	}
	for (; item.size; step(&item)) {
		bool blank = is_blank(*item.text) && !in_quotes;

		if (!in_quotes && (in_quotes = quoted(builder, &item))) {
			in_quotes--;
			continue;
		}
		if (in_quotes && !--in_quotes)
			continue;
		if (!blank)
			copy[n++] = *item.text;
		else if (n && copy[n - 1] != ' ')
			copy[n++] = ' ';
	}
	copy[n] = '\0';
	return copy;
}

/* NULL, and reported, when it can't be a name. */
static char *read_name(struct triad_policy_builder *builder, const char *what,
	const struct triad_policy_item *item)
{
	char *name;

	if (!item->size) {
		triad_policy_report(
			builder, item->place, "%s: a name is missing", what);
		return NULL;
	}
	if (item->size > TRIAD_POLICY_MAX_NAME) {
		triad_policy_report(builder, item->place,
			"%s %.*s...: a name has %d characters at most", what,
			shown_length(item), item->text, TRIAD_POLICY_MAX_NAME);
		return NULL;
	}
	name = triad_policy_copy(builder, *item);
	if (name && !triad_policy_name_compare(name, "")) {
		triad_policy_report(
			builder, item->place, "%s: the name is empty", what);
		return NULL;
	}
	return name;
}

static void set_name(struct triad_policy_builder *builder,
	const struct triad_policy_key *key, const struct triad_policy_value *value)
{
	struct triad_policy_item whole = triad_policy_value_whole(value), item;
	struct items items = items_of(builder, value);
	unsigned n = 0;

	while (next_item(&items, &item))
		n++;
	if (n > 1)
		triad_policy_report(builder, whole.place,
			"%s %.*s: a name has no comma, which stands between names",
			key->name, shown_length(&whole), whole.text);
	else
		*(char **)((char *)builder->element + key->offset) =
			read_name(builder, key->name, &whole);
}

/* What is too long is cut between two characters. */
static void set_use(struct triad_policy_builder *builder,
	const struct triad_policy_key *key, const struct triad_policy_value *value)
{
	char *text = triad_policy_copy(builder, triad_policy_value_whole(value));

	if (text && strlen(text) > TRIAD_POLICY_MAX_NAME) {
		size_t n = TRIAD_POLICY_MAX_NAME;

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
	struct items items = items_of(builder, value);
	struct triad_policy_item item;

	while (next_item(&items, &item)) {
		char *name = read_name(builder, key->name, &item);
		void *grown;

		if (!name)
			continue;
		grown = triad_policy_list_grow(
			builder, *names, *n, sizeof(name), item.place);
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
	struct items items = items_of(builder, value);
	struct triad_policy_item item;

	while (next_item(&items, &item)) {
		char *name = read_name(builder, key->name, &item);

		if (name)
			triad_policy_refer(
				builder, name, false, key->offset, item.place);
	}
}

static void set_level(struct triad_policy_builder *builder,
	const struct triad_policy_key *key, const struct triad_policy_value *value)
{
	struct triad_policy_item item = triad_policy_value_whole(value);
	char *name = read_name(builder, key->name, &item);

	if (name)
		triad_policy_refer(builder, name, true, key->offset, item.place);
}

/* --- single numbers ---------------------------------------------------- */

static bool read_number(const struct triad_policy_item *item, uint64_t *number)
{
	const char *end = item->text + item->size;

	return triad_policy_number(item->text, end, number) == end;
}

static void put_number(struct triad_policy_builder *builder,
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
		put_number(builder, key, number);
	else
		report_number(builder, key->name, &item, false, key->min, key->max);
}

#define MIN_RATE 2
#define MAX_RATE 22

/* In hundreds of Mb/s, by code [IBA 15.2.5.16: RATE]. */
static const uint16_t rates[MAX_RATE + 1] = {
	[2] = 25,
	[3] = 100,
	[4] = 300,
	[5] = 50,
	[6] = 200,
	[7] = 400,
	[8] = 600,
	[9] = 800,
	[10] = 1200,
	[11] = 140,
	[12] = 560,
	[13] = 1120,
	[14] = 1680,
	[15] = 250,
	[16] = 1000,
	[17] = 2000,
	[18] = 3000,
	[19] = 280,
	[20] = 500,
	[21] = 4000,
	[22] = 6000,
};

#define BASE_RATE 25 /* one lane at the lowest speed */
#define MAX_WIDTHS 1000

/* The highest rate that isn't above that many times the lowest. */
static unsigned rate_of_widths(uint64_t n)
{
	unsigned best = MIN_RATE;

	for (unsigned code = MIN_RATE; code <= MAX_RATE; code++)
		if (rates[code] <= n * BASE_RATE && rates[code] > rates[best])
			best = code;
	return best;
}

/* In XML a multiple of 2.5 Gb/s, width times speed [qos-rfc 3.2.2]; in text the code
 * of PathRecord, as in OpenSM. */
static void set_rate(struct triad_policy_builder *builder,
	const struct triad_policy_key *key, const struct triad_policy_value *value)
{
	struct triad_policy_item item = triad_policy_value_whole(value);
	bool is_xml = builder->syntax == TRIAD_POLICY_XML;
	uint64_t number, min = is_xml ? 1 : MIN_RATE,
			 max = is_xml ? MAX_WIDTHS : MAX_RATE;

	if (!read_number(&item, &number) || number < min || number > max)
		report_item(builder, key->name, &item,
			is_xml ? "1 to 1000, times 2.5 Gb/s"
			       : "PathRecord's codes of rates, 2 to 22");
	else
		put_number(builder, key, is_xml ? rate_of_widths(number) : number);
}

/* --- port names -------------------------------------------------------- */

/* Where the port's number begins, behind the last '/' and a P; NULL: nowhere. */
static const char *find_port(const struct triad_policy_item *item)
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
		if (is_blank(node->text[i]))
			return false;
	return true;
}

static bool read_port_name(struct triad_policy_builder *builder,
	struct triad_policy_item item, struct triad_port_name *name)
{
	const char *port = find_port(&item), *end = item.text + item.size;
	uint64_t number;

	if (!port || triad_policy_number(port, end, &number) != end || number > 254)
		return false;
	item.size = (size_t)(port - 2 - item.text);
	item = trim(item);
	if (!item.size || item.size > TRIAD_POLICY_MAX_NAME)
		return false;
	name->words = builder->syntax == TRIAD_POLICY_XML && has_words(&item);
	name->number = (uint8_t)number;
	name->node = triad_policy_copy(builder, item);
	if (name->node && name->words)
		*strchr(name->node, '/') = ' ';
	return true;
}

/* A port's name in quotes is the same without. */
static struct triad_policy_item unquote(
	const struct triad_policy_builder *builder, struct triad_policy_item item)
{
	if (item.size && quoted(builder, &item) == item.size) {
		step(&item);
		item.size--;
	}
	return item;
}

static void add_port_names(struct triad_policy_builder *builder,
	const struct triad_policy_key *key, const struct triad_policy_value *value)
{
	struct triad_policy_group *group = builder->element;
	struct items items = items_of(builder, value);
	struct triad_policy_item item;

	while (next_item(&items, &item)) {
		struct triad_port_name name;
		void *grown;

		if (!read_port_name(builder, unquote(builder, item), &name)) {
			report_item(builder, key->name, &item,
				builder->syntax == TRIAD_POLICY_XML
					? "HOST/HCA/P1 and 'node description/P1'"
					: "a node's description, '/P' and the number "
					  "of a port, 0 to 254");
			continue;
		}
		grown = triad_policy_list_grow(builder, group->port_names,
			group->n_port_names, sizeof(name), item.place);
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
	struct items items = items_of(builder, value);
	struct triad_policy_item item;

	while (next_item(&items, &item)) {
		size_t i;

		for (i = 0; i < N_NODE_TYPES; i++)
			if (strlen(node_types[i].name) == item.size &&
				!strncasecmp(item.text, node_types[i].name, item.size))
				break;
		if (i == N_NODE_TYPES) {
			report_item(builder, key->name, &item,
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
	struct items items = items_of(builder, value);

	if (whole.size == 1 && *whole.text == '*') {
		*(bool *)((char *)builder->element + key->has) = true;
		return;
	}
	while (next_item(&items, &item)) {
		struct triad_range range;

		if (!read_range(&item, 0, key->max, &range)) {
			report_item(builder, key->name, &item,
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
	struct items items = items_of(builder, value);
	struct triad_policy_item item;
	size_t n = 0;

	for (; next_item(&items, &item); n++) {
		uint64_t vl = 0;

		if (!read_number(&item, &vl) || vl > key->max)
			report_number(builder, key->name, &item, false, 0, key->max);
		else if (n < TRIAD_POLICY_N_VLS)
			table->vl[n] = (uint8_t)vl;
	}
	item = triad_policy_value_whole(value);
	if (n != TRIAD_POLICY_N_VLS)
		triad_policy_report(builder, item.place,
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
	struct items items = items_of(builder, value);
	struct triad_policy_item item;

	*(bool *)((char *)builder->element + key->has) = true;
	while (next_item(&items, &item)) {
		struct triad_vlarb_entry entry;

		if (!read_vlarb(&item, &entry)) {
			report_item(builder, key->name, &item,
				"VL:WEIGHT, a VL from 0 to 14, a weight from 0 to 255");
		} else if (*n == TRIAD_POLICY_MAX_VLARB) {
			triad_policy_report(builder, item.place,
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
	triad_policy_ranges_read(builder, value, key->name,
		key->kind == TRIAD_VALUE_PKEYS, key->min, key->max,
		(void *)((char *)builder->element + key->offset));
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
