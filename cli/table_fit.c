/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "cli/table_fit.h"

#include <stddef.h>

/* What is left of a column that is cut. */
static unsigned least_width(const struct triad_table_fit_column *column)
{
	unsigned least = column->least > TRIAD_TABLE_FIT_LEAST ? column->least
							       : TRIAD_TABLE_FIT_LEAST;

	if (!(column->flags & TRIAD_TABLE_LONG) || column->width < least)
		return column->width;
	return least;
}

/* Columns in all, each as wide as it is, or as narrow as it may be. */
static unsigned sum_widths(const struct triad_table_fit *fit, unsigned gap, bool is_cut)
{
	unsigned sum = 0;

	for (unsigned i = 0; i < fit->n; i++)
		if (!fit->columns[i].is_left_out)
			sum += (i ? gap : 0) +
				(is_cut ? least_width(&fit->columns[i])
					: fit->columns[i].width);
	return sum;
}

/* The next column to be left out; NULL: the first one is all there is. */
static struct triad_table_fit_column *find_victim(struct triad_table_fit *fit)
{
	struct triad_table_fit_column *found = NULL;

	for (unsigned i = 1; i < fit->n; i++) {
		struct triad_table_fit_column *column = &fit->columns[i];
		bool is_spare = column->flags & TRIAD_TABLE_SPARE;

		if (!column->is_left_out &&
			(!found || is_spare || !(found->flags & TRIAD_TABLE_SPARE)))
			found = column;
	}
	return found;
}

static struct triad_table_fit_column *find_widest(struct triad_table_fit *fit)
{
	struct triad_table_fit_column *found = NULL;

	for (unsigned i = 0; i < fit->n; i++) {
		struct triad_table_fit_column *column = &fit->columns[i];

		if (!column->is_left_out && least_width(column) < column->width &&
			(!found || column->width > found->width))
			found = column;
	}
	return found;
}

void triad_table_fit_into(struct triad_table_fit *fit, unsigned gap, unsigned room)
{
	struct triad_table_fit_column *column;
	unsigned sum;

	while (sum_widths(fit, gap, true) > room && (column = find_victim(fit)))
		column->is_left_out = true;
	sum = sum_widths(fit, gap, false);
	/* One column of the terminal at a time: the widest becomes as the second widest,
	 * then both. */
	for (; sum > room && (column = find_widest(fit)); sum--)
		column->width--;
	/* The first column alone is still too wide: then it is cut like a line. */
	if (sum > room && fit->n && room)
		fit->columns[0].width = room;
}
