/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Restores rows of commands' lists: the key's rows, replaced by those of the image. */
#include "history/past_parts.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "history/record.h"
#include "triad/wire.h"

#define NAME_SIZE 32

/* Begins the image's lists: it names each of them and gives the number of rows. */
void triad_past_begin_lists(struct triad_past *past)
{
	for (unsigned kind = 0; kind < TRIAD_N_KEPT; kind++)
		past->lists[kind].is_kept = false;
	past->building->list = TRIAD_N_KEPT;
	past->building->n_row = 0;
}

static bool fail_with(struct triad_past *past, int error)
{
	return error == ENOMEM
		? triad_past_no_memory(past)
		: triad_past_fail(past, EPROTO,
			  "a list, or a row of it, has a size that none has");
}

/* Begins a list; skips one of a later version of Triad, with its rows. */
static bool begin_list(struct triad_past *past, const char *name)
{
	struct triad_past_building *building = past->building;

	if (building->n_row)
		return triad_past_fail(past, EPROTO, "a row of a list is cut off");
	building->list = triad_kept_find(name);
	if (building->list == TRIAD_N_KEPT)
		return true;
	past->lists[building->list].is_kept = true;
	past->lists[building->list].why[0] = '\0';
	return true;
}

bool triad_past_take_list(struct triad_past *past, const char *text)
{
	char name[NAME_SIZE];
	uint32_t n;
	int error;

	if (!past->wants_lists)
		return true;
	if (sscanf(text, "%31s %" SCNu32, name, &n) != 2)
		return triad_past_fail(
			past, EPROTO, "a line 'triad-list' is malformed");
	if (!begin_list(past, name))
		return false;
	if (past->building->list == TRIAD_N_KEPT)
		return true;
	error = triad_kept_list_resize(&past->lists[past->building->list], n);
	return !error || fail_with(past, error);
}

bool triad_past_take_no_list(struct triad_past *past, const char *text)
{
	struct triad_past_building *building = past->building;
	char name[NAME_SIZE], why[TRIAD_KEPT_WHY_SIZE];

	if (!past->wants_lists)
		return true;
	if (sscanf(text, "%31s %239[^\n]", name, why) != 2)
		return triad_past_fail(
			past, EPROTO, "a line 'triad-no-list' is malformed");
	if (!begin_list(past, name))
		return false;
	if (building->list != TRIAD_N_KEPT)
		triad_kept_list_refuse(&past->lists[building->list], why);
	/* A refused list has no rows. */
	building->list = TRIAD_N_KEPT;
	return true;
}

/* The size of the row that is being read; 0: not known yet. */
static uint32_t size_of_row(const struct triad_past_building *building)
{
	const uint8_t *row = building->row;

	return building->n_row < TRIAD_PAST_ROW_HEAD
		? 0
		: (uint32_t)triad_wire_bits(row, 32, 16);
}

/* Takes the complete row. */
static bool take_row(struct triad_past *past)
{
	struct triad_past_building *building = past->building;
	struct triad_kept_list *list = &past->lists[building->list];
	uint32_t place = (uint32_t)triad_wire_bits(building->row, 0, 32);
	int error;

	if (place >= list->n)
		return triad_past_fail(
			past, EPROTO, "a list has a row beyond its last one");
	error = triad_kept_list_put(list, place, building->row + TRIAD_PAST_ROW_HEAD,
		size_of_row(building));
	building->n_row = 0;
	return !error || fail_with(past, error);
}

/* Collects octets: first the row's head, which has the size, then the row. */
static bool take_octets(struct triad_past *past, const uint8_t *octets, size_t n)
{
	struct triad_past_building *building = past->building;

	while (n) {
		uint32_t size = size_of_row(building), lacking, piece;

		if (size > TRIAD_KEPT_ROW_SIZE)
			return fail_with(past, EOVERFLOW);
		lacking = TRIAD_PAST_ROW_HEAD + size - building->n_row;
		piece = lacking < n ? lacking : (uint32_t)n;
		memcpy(building->row + building->n_row, octets, piece);
		building->n_row += piece;
		octets += piece;
		n -= piece;
		if (building->n_row == TRIAD_PAST_ROW_HEAD + size_of_row(building) &&
			!take_row(past))
			return false;
	}
	return true;
}

bool triad_past_take_list_rows(struct triad_past *past, const char *digits, size_t n)
{
	uint8_t octets[TRIAD_PROFILE_LINE_SIZE / 2];

	if (!past->wants_lists || past->building->list == TRIAD_N_KEPT)
		return true;
	if (n / 2 > sizeof(octets) || !triad_history_get_hex(digits, n, octets))
		return triad_past_fail(
			past, EPROTO, "a line 'triad-list-rows' is malformed");
	return take_octets(past, octets, n / 2);
}

bool triad_past_end_lists(struct triad_past *past)
{
	struct triad_past_building *building = past->building;

	if (building->part > TRIAD_PAST_IMAGE || !past->wants_lists)
		return true;
	if (building->n_row)
		return triad_past_fail(past, EPROTO, "a row of a list is cut off");
	for (unsigned kind = 0; kind < TRIAD_N_KEPT; kind++)
		if (past->lists[kind].is_kept && !past->lists[kind].why[0] &&
			!triad_kept_list_is_whole(&past->lists[kind]))
			return triad_past_fail(
				past, EPROTO, "rows of a list are missing");
	return true;
}
