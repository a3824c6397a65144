/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "plugin/opensm.h"

#include "plugin/sa/reports.h"

#include <errno.h>
#include <malloc.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* Of malloc()'s rounding, a page for large tables. */
#define MAX_SLACK 8192u

/* Whether it is a table of its own, as large as it says. */
static bool is_known_table(const vendor_match_tbl_t *table)
{
	size_t size = (size_t)table->max * sizeof(*table->tbl), usable;

	if (table->max <= 0 || !table->tbl)
		return false;
	usable = malloc_usable_size(table->tbl);
	return usable >= size && usable - size <= MAX_SLACK;
}

/* With the mutex. */
static int grow_table(vendor_match_tbl_t *table)
{
	umad_match_t *larger;

	if (!is_known_table(table))
		return ENOTSUP;
	if (table->max >= TRIAD_REPORTS_ROOM)
		return 0;
	larger = calloc(TRIAD_REPORTS_ROOM, sizeof(*larger));
	if (!larger)
		return ENOMEM;
	memcpy(larger, table->tbl, (size_t)table->max * sizeof(*larger));
	free(table->tbl);
	table->tbl = larger;
	triad_osm_poke(&table->max, TRIAD_REPORTS_ROOM);
	return 0;
}

int triad_reports_make_room(struct _osm_vendor *vendor)
{
	int error;

	pthread_mutex_lock(&vendor->match_tbl_mutex);
	error = grow_table(&vendor->mtbl);
	pthread_mutex_unlock(&vendor->match_tbl_mutex);
	return error;
}

size_t triad_reports_room(const struct _osm_vendor *vendor)
{
	return (size_t)triad_osm_peek(&vendor->mtbl.max);
}
