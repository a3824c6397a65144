/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* A list of all mistakes in a file.
 *
 * A parser adds a diagnostic for each mistake and goes on; its caller shows them all
 * and then fails.  The list is bounded: mistakes past TRIAD_DIAG_MAX are only counted,
 * and the last entry shows their number.
 *
 * Memory: the list owns its texts; no allocation.
 * Thread-safety: none. */
#ifndef TRIAD_DIAG_H
#define TRIAD_DIAG_H

#include <stddef.h>

#define TRIAD_DIAG_MAX 64
#define TRIAD_DIAG_TEXT_SIZE 320

struct triad_diag {
	unsigned line;   /* from 1; 0: the file as a whole */
	unsigned column; /* in octets, from 1; 0: the line as a whole */
	char text[TRIAD_DIAG_TEXT_SIZE];
};

struct triad_diags {
	char source[256]; /* the file's name, or what else was parsed */
	size_t n;         /* entries used in 'entries' */
	size_t n_total;   /* entries asked for */
	struct triad_diag entries[TRIAD_DIAG_MAX];
};

/* Empties the list; 'source' is copied, cut to its room. */
void triad_diags_init(struct triad_diags *diags, const char *source);

/* Adds one mistake, in words: object, what, what is allowed.  Control characters
 * and what isn't UTF-8 become '?'. */
void triad_diags_add(struct triad_diags *diags, unsigned line, unsigned column,
	const char *format, ...) __attribute__((format(printf, 4, 5)));

/* Writes entry 'i' as "SOURCE:LINE:COLUMN: TEXT" (without the zero parts). */
void triad_diags_format(
	const struct triad_diags *diags, size_t i, char *text, size_t size);

#endif
