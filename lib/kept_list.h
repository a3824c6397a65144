/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* A list of rows, each of some octets, that is filled anew and compared with what it was:
 * rows have hashes; and that is read in pieces, where a row has a place.
 *
 * Model: who fills a list begins it and adds rows, or says why there are none; or leaves it
 * as it was while its stamp says that nothing has changed.  Who reads one says how many rows
 * it has, and puts each into its place.
 *
 * Thread-safety: none.
 * Memory: 16 octets a row, and TRIAD_KEPT_MAX_OCTETS in all, twice that when it is read;
 * checked.  A list that gets too long has no rows, and says so. */
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
	uint32_t at, size; /* among the octets; size 0: it is not there */
};

struct triad_kept_list {
	bool is_kept; /* something is said of it: rows, or why there are none */
	bool is_left_out;
	char why[TRIAD_KEPT_WHY_SIZE]; /* there are no rows, and why; "": there are */
	uint64_t stamp;                /* of who fills it: what it was filled from */
	uint32_t n, n_octets;
	struct triad_kept_row *rows;
	uint8_t *octets;
	size_t rows_room, octets_room;
};

/* --- filling --- */

/* Has no rows, and is kept. */
void triad_kept_list_begin(struct triad_kept_list *list);
/* Has none, because of 'why': a sentence without its command's name. */
void triad_kept_list_refuse(struct triad_kept_list *list, const char *why);
/* Adds a row of 1 to TRIAD_KEPT_ROW_SIZE octets.  A list that can't take it is refused. */
void triad_kept_list_add(struct triad_kept_list *list, const void *octets, size_t size);

/* --- reading --- */

/* Has 'n' rows: the first of those that it had, others that are not there.  Returns 0,
 * EOVERFLOW or ENOMEM. */
int triad_kept_list_resize(struct triad_kept_list *list, uint32_t n);
/* Puts a row in its place, which is less than 'n'.  Returns the same. */
int triad_kept_list_put(
	struct triad_kept_list *list, uint32_t place, const void *octets, size_t size);
/* Whether each row is there. */
bool triad_kept_list_is_whole(const struct triad_kept_list *list);

/* The octets of a row. */
static inline const uint8_t *triad_kept_list_row(
	const struct triad_kept_list *list, uint32_t place, uint32_t *size)
{
	*size = list->rows[place].size;
	return list->octets + list->rows[place].at;
}

/* Has no memory afterwards. */
void triad_kept_list_clear(struct triad_kept_list *list);

#endif
