/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "cli/table_fit.h"

#include <limits.h>
#include <stddef.h>

/* The width of a column that is cut to 'least', or to its own least width. */
static unsigned least_width(const struct triad_table_fit_column *column, unsigned least)
{
	if (least < column->least)
		least = column->least;
	if (!(column->flags & TRIAD_TABLE_LONG) || column->width < least)
		return column->width;
	return least;
}

/* The width of all columns when those that may be cut have 'least'. */
static unsigned sum_widths(
	const struct triad_table_fit *fit, unsigned gap, unsigned least)
{
	unsigned sum = 0;

	for (unsigned i = 0; i < fit->n; i++)
		if (!fit->columns[i].is_left_out)
			sum += (i ? gap : 0) + least_width(&fit->columns[i], least);
	return sum;
}

/* Finds the next column to leave out; NULL: none.  The first column stays. */
static struct triad_table_fit_column *find_victim(
	struct triad_table_fit *fit, uint8_t flags)
{
	for (unsigned i = fit->n; i-- > 1;)
		if (!fit->columns[i].is_left_out &&
			(fit->columns[i].flags & flags) == flags)
			return &fit->columns[i];
	return NULL;
}

static struct triad_table_fit_column *find_widest(struct triad_table_fit *fit)
{
	struct triad_table_fit_column *found = NULL;

	for (unsigned i = 0; i < fit->n; i++) {
		struct triad_table_fit_column *column = &fit->columns[i];

		if (!column->is_left_out &&
			least_width(column, TRIAD_TABLE_FIT_LEAST) < column->width &&
			(!found || column->width > found->width))
			found = column;
	}
	return found;
}

void triad_table_fit_into(struct triad_table_fit *fit, unsigned gap, unsigned room)
{
	struct triad_table_fit_column *column;
	unsigned sum;

	while (sum_widths(fit, gap, TRIAD_TABLE_FIT_WHOLE) > room &&
		(column = find_victim(fit, TRIAD_TABLE_SPARE)))
		column->is_left_out = true;
	while (sum_widths(fit, gap, TRIAD_TABLE_FIT_LEAST) > room &&
		(column = find_victim(fit, 0)))
		column->is_left_out = true;
	sum = sum_widths(fit, gap, UINT_MAX);
	/* Take one character at a time from the widest column, so that the widest ones
	 * become equal. */
	for (; sum > room && (column = find_widest(fit)); sum--)
		column->width--;
	/* The first column by itself is still too wide: cut it to the terminal. */
	if (sum > room && fit->n && room)
		fit->columns[0].width = room;
}
