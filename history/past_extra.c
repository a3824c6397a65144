/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Restores images' records about ports and devices besides counters. */
#include "history/past_parts.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "history/record.h"
#include "lib/grow.h"

/* --- taking --- */

/* Takes a record; skips one that this version does not know. */
static bool take_record(struct triad_past *past, uint32_t at, size_t size)
{
	struct triad_extra extra;

	if (!triad_extra_get(past->octets + at, size, &extra, past->offset_us))
		return true;
	if (triad_grow(&past->extras, &past->extras_room, past->n_extras + 1,
		    sizeof(*past->extras), 64))
		return triad_past_no_memory(past);
	past->extras[past->n_extras++] = (struct triad_past_extra){
		.node_guid = extra.node_guid,
		.port = extra.port,
		.kind = extra.kind,
		.part = extra.part,
		.is_gone = extra.is_gone,
		.at = at,
		.size = (uint32_t)size,
	};
	return true;
}

/* Takes the complete records; the rest of an incomplete one follows in the next
 * line. */
static bool take_records(struct triad_past *past)
{
	uint32_t *at = &past->building->extra_at;
	size_t size;

	while (past->n_octets - *at >= TRIAD_EXTRA_HEADER_SIZE) {
		size = triad_extra_size(past->octets + *at);
		if (!size)
			return triad_past_fail(
				past, EPROTO, "a line 'triad-extra' is malformed");
		if (past->n_octets - *at < size)
			return true;
		if (!take_record(past, *at, size))
			return false;
		*at += (uint32_t)size;
	}
	return true;
}

bool triad_past_take_extra(struct triad_past *past, const char *digits, size_t n)
{
	size_t needed = past->n_octets + n / 2;

	if (!n)
		return true;
	if (needed > TRIAD_PAST_MAX_OCTETS ||
		triad_grow(&past->octets, &past->octets_room, needed, 1, 4096))
		return triad_past_no_memory(past);
	if (!triad_history_get_hex(digits, n, past->octets + past->n_octets))
		return triad_past_fail(
			past, EPROTO, "a line 'triad-extra' is malformed");
	past->n_octets = (uint32_t)needed;
	return take_records(past);
}

bool triad_past_take_left_out(struct triad_past *past, const char *text)
{
	uint32_t n;

	if (sscanf(text, "%" SCNu32, &n) == 1)
		past->building->head.n_left_out += n;
	return true;
}

/* Whether to ignore such a record of a key image, because each image has all of its
 * own. */
static bool is_of_image_alone(const struct triad_past_extra *extra)
{
	return extra->kind == TRIAD_EXTRA_DETAIL || extra->kind == TRIAD_EXTRA_BER;
}

void triad_past_begin_extras(struct triad_past *past)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < past->n_extras; i++)
		if (!is_of_image_alone(&past->extras[i]))
			past->extras[n++] = past->extras[i];
	past->n_extras = n;
	past->n_octets = past->building->extra_at;
}

bool triad_past_end_extras(struct triad_past *past)
{
	return past->n_octets == past->building->extra_at ||
		triad_past_fail(past, EPROTO, "its last line 'triad-extra' is missing");
}

/* --- finding --- */

static int compare_places(const void *a, const void *b)
{
	const struct triad_past_extra *x = a, *y = b;

	if (x->node_guid != y->node_guid)
		return x->node_guid < y->node_guid ? -1 : 1;
	if (x->port != y->port)
		return x->port - y->port;
	return x->kind != y->kind ? x->kind - y->kind : x->part - y->part;
}

/* Sorts by place; of one place, later records come last. */
static int compare_extras(const void *a, const void *b)
{
	const struct triad_past_extra *x = a, *y = b;
	int order = compare_places(a, b);

	return order ? order : (x->at > y->at) - (x->at < y->at);
}

/* Sorts the records, and replaces those of the key by those of the image. */
void triad_past_sort_extras(struct triad_past *past)
{
	uint32_t n = 0;

	if (!past->n_extras)
		return;
	qsort(past->extras, past->n_extras, sizeof(*past->extras), compare_extras);
	for (uint32_t i = 0; i < past->n_extras; i++)
		if (i + 1 == past->n_extras ||
			compare_places(&past->extras[i], &past->extras[i + 1]) != 0)
			past->extras[n++] = past->extras[i];
	past->n_extras = n;
}

bool triad_past_find_extra(const struct triad_past *past, enum triad_extra_kind kind,
	uint64_t node_guid, uint8_t port, unsigned part, struct triad_extra *extra)
{
	const struct triad_past_extra wanted = {.node_guid = node_guid,
		.port = port,
		.kind = (uint8_t)kind,
		.part = (uint8_t)part};
	const struct triad_past_extra *found = past->n_extras
		? bsearch(&wanted, past->extras, past->n_extras, sizeof(wanted),
			  compare_places)
		: NULL;

	return found && !found->is_gone &&
		triad_extra_get(
			past->octets + found->at, found->size, extra, past->offset_us);
}

bool triad_past_has_extras(const struct triad_past *past, enum triad_extra_kind kind)
{
	for (uint32_t i = 0; i < past->n_extras; i++)
		if (past->extras[i].kind == kind && !past->extras[i].is_gone)
			return true;
	return false;
}
