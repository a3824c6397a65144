/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Parses the parts of a value: words, lists, numbers, ranges; and reports mistakes in
 * them.
 * Thread-safety: the parsing thread only. */
#ifndef TRIAD_QOS_POLICY_ITEMS_H
#define TRIAD_QOS_POLICY_ITEMS_H

#include "qos/policy/policy_build.h"

/* A part of a value, without blanks around it. */
struct triad_policy_item {
	const char *text;
	size_t size;
	struct triad_source_location location;
};

bool triad_policy_is_blank(char c);

/* Removes the blanks around it. */
struct triad_policy_item triad_policy_trim(struct triad_policy_item item);

/* Removes the quotes, if the whole item is one quoted text. */
struct triad_policy_item triad_policy_unquote(
	const struct triad_policy_builder *builder, struct triad_policy_item item);

/* The whole value as one item. */
struct triad_policy_item triad_policy_value_whole(
	const struct triad_policy_value *value);

/* A value that is being split at its commas. */
struct triad_policy_items {
	struct triad_policy_builder *builder;
	const struct triad_policy_value *value;
	struct triad_policy_item rest;
	bool ended;
};

struct triad_policy_items triad_policy_items_of(
	struct triad_policy_builder *builder, const struct triad_policy_value *value);

/* False at the end. */
bool triad_policy_next_item(
	struct triad_policy_items *items, struct triad_policy_item *item);

/* Copies an item without quotes, and with one blank between words.  NULL when memory is
 * short, which is reported. */
char *triad_policy_copy(
	struct triad_policy_builder *builder, struct triad_policy_item item);

/* Reads a number, decimal, 0x... or (after a 0) octal, between blanks.  Returns what
 * follows it, or NULL. */
const char *triad_policy_number(const char *text, const char *end, uint64_t *number);

/* Reads "A" or "A-B"; B may be less than A, as in OpenSM. False when it is not a range,
 * or not within the limits. */
bool triad_policy_range(const struct triad_policy_item *item, uint64_t min,
	uint64_t max, struct triad_range *range);

/* Adds a list of numbers and ranges, and reports mistakes.  'what' is its name in
 * messages, 'kind' one of TRIAD_VALUE_RANGES, PKEYS and SERVICES. False when there was
 * a mistake. */
bool triad_policy_ranges_read(struct triad_policy_builder *builder,
	const struct triad_policy_value *value, const char *what,
	enum triad_policy_value_kind kind, uint64_t min, uint64_t max,
	struct triad_ranges *ranges);

/* Sorts ranges, and joins those that overlap or touch. */
void triad_policy_ranges_join(struct triad_ranges *ranges);

/* --- lists --- */

/* Counts an item.  Sets 'stopped' and returns false when all lists together are
 * full. */
bool triad_policy_item_count(
	struct triad_policy_builder *builder, struct triad_source_location location);

/* Makes room for one more item in a list of 'n'; NULL when memory is short. */
void *triad_policy_list_room(
	struct triad_policy_builder *builder, void *items, uint32_t n, size_t size);

/* Counts the item (_count) and makes room for it (_room). */
void *triad_policy_list_grow(struct triad_policy_builder *builder, void *items,
	uint32_t n, size_t size, struct triad_source_location location);

/* --- messages --- */

/* The number of octets of an item that a message shows. */
int triad_policy_shown_length(const struct triad_policy_item *item);

/* Reports that 'what' can't be 'item', and what is allowed. */
void triad_policy_report_item(struct triad_policy_builder *builder, const char *what,
	const struct triad_policy_item *item, const char *allowed);

/* The same, if numbers from 'min' to 'max' are allowed, and 'more', as ", ..." or
 * "". */
void triad_policy_report_number(struct triad_policy_builder *builder, const char *what,
	const struct triad_policy_item *item, const char *more, uint64_t min,
	uint64_t max);

#endif
