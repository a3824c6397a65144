/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "history/image_lists.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "history/lines.h"
#include "lib/grow.h"
#include "triad/wire.h"

#define PLACE_SIZE 6u /* octets of the head before each row */

static uint32_t n_rows(const struct triad_kept_list *list)
{
	return list->is_kept && !list->why[0] ? list->n : 0;
}

int triad_history_reserve_lists(
	const struct triad_history_image *image, struct triad_history_key *key)
{
	int error = 0;

	for (unsigned kind = 0; image->lists && kind < TRIAD_N_KEPT && !error; kind++) {
		struct triad_history_key_rows *rows = &key->lists[kind];

		error = triad_grow(&rows->hashes, &rows->room,
			n_rows(&image->lists[kind]), sizeof(*rows->hashes), 64);
	}
	return error;
}

static void put_kept_row(struct triad_history_lines *lines,
	const struct triad_kept_list *list, uint32_t i)
{
	uint8_t place[PLACE_SIZE];
	struct triad_wire wire;
	uint32_t size;
	const uint8_t *octets = triad_kept_list_row(list, i, &size);

	triad_wire_init(&wire, place, sizeof(place));
	triad_wire_put(&wire, 4, i);
	triad_wire_put(&wire, 2, size);
	triad_history_lines_put(lines, place, sizeof(place));
	triad_history_lines_put(lines, octets, size);
}

/* Writes the rows that the key lacks; returns how many. */
static uint32_t put_kept_rows(const struct triad_kept_list *list,
	struct triad_history_key_rows *key, bool is_key, struct triad_history_out *out)
{
	struct triad_history_lines lines;
	uint32_t n = n_rows(list), n_put = 0;

	if (is_key)
		key->n = 0;
	triad_history_lines_begin(&lines, out, "# triad-list-rows ");
	for (uint32_t i = 0; i < n && !out->to->failed; i++) {
		if (i < key->n && key->hashes[i] == list->rows[i].hash)
			continue;
		put_kept_row(&lines, list, i);
		n_put++;
	}
	triad_history_lines_end(&lines);
	for (uint32_t i = 0; is_key && i < n; i++)
		key->hashes[i] = list->rows[i].hash;
	if (is_key)
		key->n = n;
	return n_put;
}

static void put_list_head(enum triad_kept_kind kind, const struct triad_kept_list *list,
	struct triad_history_out *out)
{
	char *line = triad_history_line(out);
	const char *name = triad_kept_name(kind);

	triad_history_add(out,
		(size_t)(list->why[0] ? sprintf(line, "# triad-no-list %s %s\n", name,
						list->why)
				      : sprintf(line, "# triad-list %s %" PRIu32 "\n",
						name, list->n)));
}

uint32_t triad_history_put_lists(const struct triad_history_image *image,
	struct triad_history_key *key, bool is_key, struct triad_history_out *out,
	bool *is_key_due)
{
	uint32_t n_left_out = 0;

	*is_key_due = false;
	for (unsigned kind = 0; image->lists && kind < TRIAD_N_KEPT; kind++) {
		const struct triad_kept_list *list = &image->lists[kind];
		uint32_t n;

		n_left_out += list->is_left_out;
		if (list->is_kept)
			put_list_head(kind, list, out);
		n = put_kept_rows(list, &key->lists[kind], is_key, out);
		*is_key_due |= !is_key && !triad_kept_is_fluid(kind) &&
			n > n_rows(list) / 4 + 1;
	}
	return n_left_out;
}

void triad_history_clear_lists(struct triad_history_key *key)
{
	for (unsigned kind = 0; kind < TRIAD_N_KEPT; kind++)
		free(key->lists[kind].hashes);
}
