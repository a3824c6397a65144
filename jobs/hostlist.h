/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Lists of host names in Slurm's form: "host-[0001-0064,70],login1".
 *
 * Model: a list has each name once, sorted by prefix (the text before the number at the
 * name's end), by the number of digits, then by the number.  So names that differ only
 * in the number are neighbours, and are written as ranges.
 *
 * A number in brackets has as many digits as the first one of its range.  A name may
 * have several brackets.
 *
 * Thread-safety: none; the caller's.  Memory: TRIAD_HOSTLIST_MAX names at most.
 * Source: scontrol(1), "show hostlist". */
#ifndef TRIAD_JOBS_HOSTLIST_H
#define TRIAD_JOBS_HOSTLIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TRIAD_HOSTLIST_MAX 65536u
#define TRIAD_HOSTLIST_NAME_SIZE 64u /* with the 0 */

struct triad_hostlist {
	char (*names)[TRIAD_HOSTLIST_NAME_SIZE];
	uint32_t n;
	size_t room;
};

/* Frees the names and leaves an empty list, which is all zeros. */
void triad_hostlist_clear(struct triad_hostlist *list);

/* Adds the names of 'text' and sorts.  Returns 0; EINVAL (not a list; 'reason' has why
 * and where); E2BIG; ENOMEM.  The caller clears the list in any case. */
int triad_hostlist_parse(
	struct triad_hostlist *list, const char *text, char *reason, size_t size);

/* Adds a name, cut to what fits, at the end; see triad_hostlist_sort().  Returns 0,
 * E2BIG or ENOMEM. */
int triad_hostlist_add(struct triad_hostlist *list, const char *name);

/* Sorts, and removes repeated names. */
void triad_hostlist_sort(struct triad_hostlist *list);

/* The index of a name in a sorted list; UINT32_MAX: it is not there. */
uint32_t triad_hostlist_find(const struct triad_hostlist *list, const char *name);

/* Writes a sorted list in pieces, one after the other. */
void triad_hostlist_write(const struct triad_hostlist *list,
	void (*put)(void *context, const char *piece), void *context);

/* Compares names in a list's order: below, above or equal to 0, as strcmp(). */
int triad_hostlist_compare(const char *a, const char *b);

#endif
