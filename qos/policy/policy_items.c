/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "qos/policy/policy_items.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "qos/policy/arena.h"

#define SHOWN 60 /* octets of an item in a message */
#define FIRST_ROOM 2

#define PKEY_MASK 0x7fff

/* --- parts of a value -------------------------------------------------- */

bool triad_policy_is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\n';
}

static void skip_octet(struct triad_policy_item *item)
{
	if (*item->text == '\n')
		item->location =
			(struct triad_source_location){item->location.line + 1, 1};
	else
		item->location.column++;
	item->text++;
	item->size--;
}

struct triad_policy_item triad_policy_trim(struct triad_policy_item item)
{
	while (item.size && triad_policy_is_blank(*item.text))
		skip_octet(&item);
	while (item.size && triad_policy_is_blank(item.text[item.size - 1]))
		item.size--;
	return item;
}

struct triad_policy_item triad_policy_value_whole(
	const struct triad_policy_value *value)
{
	struct triad_policy_item item = triad_policy_trim(
		(struct triad_policy_item){value->text, value->size, value->location});

	if (!value->is_verbatim)
		item.location = value->location;
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

struct triad_policy_item triad_policy_unquote(
	const struct triad_policy_builder *builder, struct triad_policy_item item)
{
	if (item.size && quoted(builder, &item) == item.size) {
		skip_octet(&item);
		item.size--;
	}
	return item;
}

struct triad_policy_items triad_policy_items_of(
	struct triad_policy_builder *builder, const struct triad_policy_value *value)
{
	return (struct triad_policy_items){
		.builder = builder,
		.value = value,
		.rest = {value->text, value->size, value->location},
	};
}

/* Splits at commas.  False at the end. */
bool triad_policy_next_item(
	struct triad_policy_items *items, struct triad_policy_item *item)
{
	struct triad_policy_item *rest = &items->rest;

	if (items->ended || items->builder->stopped)
		return false;
	*item = *rest;
	/* A comma between quotes does not end the item. */
	while (rest->size && *rest->text != ',') {
		size_t n = quoted(items->builder, rest);

		do
			skip_octet(rest);
		while (n && --n);
	}
	item->size -= rest->size;
	items->ended = !rest->size;
	if (rest->size)
		skip_octet(rest);
	*item = triad_policy_trim(*item);
	if (!items->value->is_verbatim)
		item->location = items->value->location;
	return true;
}

/* --- messages ---------------------------------------------------------- */

int triad_policy_shown_length(const struct triad_policy_item *item)
{
	return item->size < SHOWN ? (int)item->size : SHOWN;
}

void triad_policy_report_item(struct triad_policy_builder *builder, const char *what,
	const struct triad_policy_item *item, const char *allowed)
{
	if (item->size)
		triad_policy_report(builder, item->location,
			"%s %.*s%s: allowed are %s", what,
			triad_policy_shown_length(item), item->text,
			item->size > SHOWN ? "..." : "", allowed);
	else
		triad_policy_report(builder, item->location,
			"%s: a value is missing; allowed are %s", what, allowed);
}

void triad_policy_report_number(struct triad_policy_builder *builder, const char *what,
	const struct triad_policy_item *item, const char *more, uint64_t min,
	uint64_t max)
{
	char allowed[256];

	if (max == UINT64_MAX)
		snprintf(allowed, sizeof(allowed), "numbers of up to 64 bits%s", more);
	else
		snprintf(allowed, sizeof(allowed), "%" PRIu64 " to %" PRIu64 "%s", min,
			max, more);
	triad_policy_report_item(builder, what, item, allowed);
}

/* --- lists ------------------------------------------------------------- */

bool triad_policy_item_count(
	struct triad_policy_builder *builder, struct triad_source_location location)
{
	if (builder->stopped)
		return false;
	if (builder->n_items < TRIAD_POLICY_MAX_ITEMS) {
		builder->n_items++;
		return true;
	}
	builder->stopped = true;
	triad_policy_report(builder, location,
		"too much: %u values are allowed in all lists together; what is behind "
		"this place isn't looked at",
		TRIAD_POLICY_MAX_ITEMS);
	return false;
}

void *triad_policy_list_room(
	struct triad_policy_builder *builder, void *items, uint32_t n, size_t size)
{
	void *grown = items;

	/* The room is always a power of two. */
	if (!n || (n >= FIRST_ROOM && !(n & (n - 1))))
		grown = triad_arena_grow(builder->policy->arena, items, n * size,
			(n ? 2 * n : FIRST_ROOM) * size);
	if (!grown)
		triad_policy_out_of_memory(builder);
	return grown;
}

void *triad_policy_list_grow(struct triad_policy_builder *builder, void *items,
	uint32_t n, size_t size, struct triad_source_location location)
{
	return triad_policy_item_count(builder, location)
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

	while (text < end && triad_policy_is_blank(*text))
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
	while (text < end && triad_policy_is_blank(*text))
		text++;
	*number = sum;
	return text;
}

bool triad_policy_range(const struct triad_policy_item *item, uint64_t min,
	uint64_t max, struct triad_range *range)
{
	const char *end = item->text + item->size;
	const char *at = triad_policy_number(item->text, end, &range->first);

	range->last = range->first;
	if (at && at < end && *at == '-')
		at = triad_policy_number(at + 1, end, &range->last);
	if (!at || at < end)
		return false;
	/* OpenSM takes ranges in either order. */
	if (range->first > range->last)
		*range = (struct triad_range){range->last, range->first};
	return range->first >= min && range->last <= max;
}

/* Removes the membership bit [IBA 10.9.2] from both ends of a range.  The range is what
 * lies between them, as in OpenSM; it may begin at 0, which is no P_Key. */
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

/* The service IDs of librdmacm: a port space, followed by a port number of 16 bits [IBA
 * annex A11: RDMA IP CM service; rdma_cm's port spaces for the last two]. */
static const struct {
	const char *name;
	uint64_t base;
} port_spaces[] = {
	{"rdma-tcp", 0x1060000},
	{"rdma-udp", 0x1110000},
	{"rdma-ib", 0x13f0000},
	{"rdma-ipoib", 0x20000},
};

#define N_PORT_SPACES (sizeof(port_spaces) / sizeof(port_spaces[0]))
#define MAX_PORT 0xffff

/* "rdma-tcp", "rdma-tcp 4420" or "rdma-tcp 4420-4430". */
static bool read_port_space(
	const struct triad_policy_item *item, struct triad_range *range)
{
	for (unsigned i = 0; i < N_PORT_SPACES; i++) {
		size_t n = strlen(port_spaces[i].name);
		struct triad_policy_item ports = {
			.text = item->text + n, .size = item->size - n};

		if (item->size < n || strncasecmp(item->text, port_spaces[i].name, n))
			continue;
		if (item->size == n)
			*range = (struct triad_range){0, MAX_PORT};
		else if (!triad_policy_is_blank(*ports.text) ||
			!triad_policy_range(&ports, 0, MAX_PORT, range))
			continue;
		range->first += port_spaces[i].base;
		range->last += port_spaces[i].base;
		return true;
	}
	return false;
}

static bool add_range(struct triad_policy_builder *builder, struct triad_ranges *ranges,
	struct triad_range range, struct triad_source_location location)
{
	void *items = triad_policy_list_grow(
		builder, ranges->items, ranges->n, sizeof(range), location);

	if (!items)
		return false;
	ranges->items = items;
	ranges->items[ranges->n++] = range;
	return true;
}

static void report_range(struct triad_policy_builder *builder, const char *what,
	const struct triad_policy_item *item, enum triad_policy_value_kind kind,
	uint64_t min, uint64_t max)
{
	if (kind == TRIAD_VALUE_PKEYS)
		triad_policy_report_item(builder, what, item,
			"0x0001 to 0x7fff, with or without the membership bit 0x8000, "
			"and ranges of them");
	else
		triad_policy_report_number(builder, what, item,
			kind == TRIAD_VALUE_SERVICES
				? ", and ranges of them; and rdma-tcp, rdma-udp, "
				  "rdma-ib and rdma-ipoib, alone or with a port or a "
				  "range of ports behind it"
				: ", and ranges of them",
			min, max);
}

bool triad_policy_ranges_read(struct triad_policy_builder *builder,
	const struct triad_policy_value *value, const char *what,
	enum triad_policy_value_kind kind, uint64_t min, uint64_t max,
	struct triad_ranges *ranges)
{
	struct triad_policy_items items = triad_policy_items_of(builder, value);
	struct triad_policy_item item;
	bool done = true;

	while (triad_policy_next_item(&items, &item)) {
		struct triad_range range;
		bool is_good = triad_policy_range(&item, min, max, &range);

		/* Continue after a wrong item, to report all of them. */
		if (is_good && kind == TRIAD_VALUE_PKEYS)
			is_good = mask_pkeys(&range);
		if (!is_good && kind == TRIAD_VALUE_SERVICES)
			is_good = read_port_space(&item, &range);
		if (!is_good)
			report_range(builder, what, &item, kind, min, max);
		if (!is_good || !add_range(builder, ranges, range, item.location))
			done = false;
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

		/* Also join neighbours.  'last + 1' must not wrap. */
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
	/* Omit quotes and copy what is between them unchanged.  Elsewhere join blanks
	 * in a row to one. */
	for (; item.size; skip_octet(&item)) {
		bool blank = triad_policy_is_blank(*item.text) && !in_quotes;

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
