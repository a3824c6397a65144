/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Decides which columns of a table a terminal shows, and how wide they are.
 *
 * Thread-safety: none.  Memory: no allocation. */
#ifndef TRIAD_CLI_TABLE_FIT_H
#define TRIAD_CLI_TABLE_FIT_H

#include <stdbool.h>
#include <stdint.h>

#include "triad/table.h"

/* Shorter names would not tell nodes apart. */
#define TRIAD_TABLE_FIT_LEAST 12
/* Most names with a port are no longer: spare columns are left out before these are
 * cut. */
#define TRIAD_TABLE_FIT_WHOLE 24

struct triad_table_fit_column {
	unsigned at;   /* index of the table's column */
	uint8_t flags; /* of that column */
	unsigned width;
	unsigned least; /* width of its title, and of content that is never cut */
	bool is_left_out;
};

struct triad_table_fit {
	unsigned n;
	struct triad_table_fit_column columns[TRIAD_TABLE_MAX_COLUMNS];
};

/* Makes the columns, with 'gap' between them, no wider than 'room':
 *
 *     - leaves spare columns out, from the right, until the others fit with names and
 *       remarks cut to TRIAD_TABLE_FIT_WHOLE;
 *     - leaves others out, from the right, until they fit with names and remarks cut to
 *       TRIAD_TABLE_FIT_LEAST; never the first column;
 *     - cuts the widest of names and remarks until all fits.
 *
 * No column is cut to less than 'least'.  A column that was left out before stays
 * so. */
void triad_table_fit_into(struct triad_table_fit *fit, unsigned gap, unsigned room);

#endif
