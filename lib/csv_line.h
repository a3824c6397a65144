/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* A line of a CSV file [RFC 4180], but without line breaks in a field.
 *
 * Spaces around a field are ignored.  A field in quotes may have commas, and quotes, each
 * written twice.  A line with mistakes has fields all the same, so that later checks can
 * add theirs.
 *
 * Thread-safety: none.  Memory: a line owns its text. */
#ifndef TRIAD_LIB_CSV_LINE_H
#define TRIAD_LIB_CSV_LINE_H

#include <stddef.h>
#include <stdint.h>

#include "triad/diag.h"

#define TRIAD_CSV_MAX_LINE 4096u /* octets */
#define TRIAD_CSV_MAX_FIELDS 32u

struct triad_csv_line {
	uint32_t number;
	unsigned n_fields;
	const char *fields[TRIAD_CSV_MAX_FIELDS]; /* in 'text'; "" for missing ones */
	unsigned columns[TRIAD_CSV_MAX_FIELDS];   /* where they begin, from 1 */
	char text[TRIAD_CSV_MAX_LINE + 1];
};

/* Splits 'size' octets, TRIAD_CSV_MAX_LINE at most, into fields without quotes; the
 * caller has set 'number'.  More than 'max_fields' (TRIAD_CSV_MAX_FIELDS at most) are a
 * mistake.  Octets that aren't text become '?'. */
void triad_csv_line_cut(struct triad_csv_line *line, const char *octets, size_t size,
	unsigned max_fields, struct triad_diags *diags);

#endif
