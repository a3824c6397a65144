/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* A list of rows, each of some octets.  A writer fills it anew and compares rows with
 * the last ones by their hashes.  A reader gets it in pieces, row by row at given
 * places.
 *
 * Model: a writer begins the list and adds rows, or refuses it with a reason; or it
 * leaves the list unchanged while its stamp shows that nothing has changed.  A reader
 * sets the number of rows, and puts each row at its place.
 *
 * Thread-safety: none.
 * Memory: 16 octets a row, and TRIAD_KEPT_MAX_OCTETS in all, twice that when it is
 * read; checked.  A list that gets too long drops its rows and says why. */
#ifndef TRIAD_LIB_KEPT_LIST_H
#define TRIAD_LIB_KEPT_LIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TRIAD_KEPT_MAX_ROWS (1u << 20)
#define TRIAD_KEPT_ROW_SIZE 8192u
#define TRIAD_KEPT_MAX_OCTETS (1u << 24)
#define TRIAD_KEPT_WHY_SIZE 240

struct triad_kept_row {
	uint64_t hash;
	uint32_t at, size; /* in 'octets'; size 0: the row is absent */
};

struct triad_kept_list {
	bool is_kept; /* it has rows, or a reason for having none */
	bool is_left_out;
	char why[TRIAD_KEPT_WHY_SIZE]; /* why there are no rows; "": there may be */
	uint64_t stamp;                /* the writer's: what the list was filled from */
	uint32_t n, n_octets;
	struct triad_kept_row *rows;
	uint8_t *octets;
	size_t rows_room, octets_room;
};

/* --- filling --- */

/* Empties the list, and marks it as kept. */
void triad_kept_list_begin(struct triad_kept_list *list);
/* Empties the list because of 'why', a sentence without its command's name. */
void triad_kept_list_refuse(struct triad_kept_list *list, const char *why);
/* Adds a row of 1 to TRIAD_KEPT_ROW_SIZE octets; if it can't, refuses the list. */
void triad_kept_list_add(struct triad_kept_list *list, const void *octets, size_t size);

/* --- reading --- */

/* Sets the number of rows to 'n': keeps the first rows, and adds absent ones.  Returns
 * 0, EOVERFLOW or ENOMEM. */
int triad_kept_list_resize(struct triad_kept_list *list, uint32_t n);
/* Puts a row at 'place', less than 'n'.  Returns the same. */
int triad_kept_list_put(
	struct triad_kept_list *list, uint32_t place, const void *octets, size_t size);
/* Whether no row is absent. */
bool triad_kept_list_is_whole(const struct triad_kept_list *list);

/* The octets of a row. */
static inline const uint8_t *triad_kept_list_row(
	const struct triad_kept_list *list, uint32_t place, uint32_t *size)
{
	*size = list->rows[place].size;
	return list->octets + list->rows[place].at;
}

/* Frees its memory. */
void triad_kept_list_clear(struct triad_kept_list *list);

#endif
