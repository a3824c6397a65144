/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Which columns of a table have room on a terminal, and how wide they are.
 *
 * Thread-safety: none.  Memory: no allocation. */
#ifndef TRIAD_CLI_TABLE_FIT_H
#define TRIAD_CLI_TABLE_FIT_H

#include <stdbool.h>
#include <stdint.h>

#include "triad/table.h"

/* A name of fewer characters tells nodes apart no longer. */
#define TRIAD_TABLE_FIT_LEAST 12

struct triad_table_fit_column {
	unsigned at;   /* which of the table's columns */
	uint8_t flags; /* its */
	unsigned width;
	unsigned least; /* of its title */
	bool is_left_out;
};

struct triad_table_fit {
	unsigned n;
	struct triad_table_fit_column columns[TRIAD_TABLE_MAX_COLUMNS];
};

/* Makes the columns, with 'gap' between them, no wider than 'room': cuts the widest of
 * those that may be cut, down to TRIAD_TABLE_FIT_LEAST or their titles; where that is not
 * enough, leaves spare columns out, from the right, then others; never the first.  A
 * column that was left out before stays so. */
void triad_table_fit_into(struct triad_table_fit *fit, unsigned gap, unsigned room);

#endif
