/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "lib/kept_list.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/grow.h"
#include "lib/hash.h"
#include "lib/text.h"

/* --- filling --- */

void triad_kept_list_begin(struct triad_kept_list *list)
{
	list->is_kept = true;
	list->is_left_out = false;
	list->why[0] = '\0';
	list->n = list->n_octets = 0;
}

void triad_kept_list_refuse(struct triad_kept_list *list, const char *why)
{
	triad_kept_list_begin(list);
	snprintf(list->why, sizeof(list->why), "%s", why);
	/* It becomes the end of a line: replace unprintable characters. */
	triad_text_clean(list->why);
}

static int put_row_octets(struct triad_kept_list *list, struct triad_kept_row *row,
	const void *octets, size_t size, uint32_t most)
{
	if (!size || size > TRIAD_KEPT_ROW_SIZE || size > most - list->n_octets)
		return EOVERFLOW;
	if (triad_grow(
		    &list->octets, &list->octets_room, list->n_octets + size, 1, 4096))
		return ENOMEM;
	memcpy(list->octets + list->n_octets, octets, size);
	*row = (struct triad_kept_row){
		.hash = triad_hash_octets(TRIAD_HASH_START, octets, size) | 1,
		.at = list->n_octets,
		.size = (uint32_t)size};
	list->n_octets += (uint32_t)size;
	return 0;
}

void triad_kept_list_add(struct triad_kept_list *list, const void *octets, size_t size)
{
	struct triad_kept_row row;
	int error;

	if (list->why[0])
		return;
	error = list->n < TRIAD_KEPT_MAX_ROWS
		? put_row_octets(list, &row, octets, size, TRIAD_KEPT_MAX_OCTETS)
		: EOVERFLOW;
	if (!error)
		error = triad_grow(
			&list->rows, &list->rows_room, list->n + 1, sizeof(row), 64);
	if (!error) {
		list->rows[list->n++] = row;
		return;
	}
	triad_kept_list_refuse(list,
		error == ENOMEM
			? "there was not enough memory to keep it"
			: "it was too long to be kept: over 16 MiB, or a million rows");
	list->is_left_out = true;
}

/* --- reading --- */

int triad_kept_list_resize(struct triad_kept_list *list, uint32_t n)
{
	if (n > TRIAD_KEPT_MAX_ROWS)
		return EOVERFLOW;
	if (triad_grow(&list->rows, &list->rows_room, n, sizeof(*list->rows), 64))
		return ENOMEM;
	if (n > list->n)
		memset(&list->rows[list->n], 0, (n - list->n) * sizeof(*list->rows));
	list->n = n;
	return 0;
}

int triad_kept_list_put(
	struct triad_kept_list *list, uint32_t place, const void *octets, size_t size)
{
	/* Twice the limit: rows of a key image, and the rows of an image that replace
	 * them. */
	return put_row_octets(
		list, &list->rows[place], octets, size, 2 * TRIAD_KEPT_MAX_OCTETS);
}

bool triad_kept_list_is_whole(const struct triad_kept_list *list)
{
	for (uint32_t i = 0; i < list->n; i++)
		if (!list->rows[i].size)
			return false;
	return true;
}

void triad_kept_list_clear(struct triad_kept_list *list)
{
	free(list->rows);
	free(list->octets);
	*list = (struct triad_kept_list){0};
}
