/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Internals of plan_read.h: the forms that are CSV files of others.
 *
 * Thread-safety: functions without state. */
#ifndef TRIAD_CABLING_PLAN_CSV_H
#define TRIAD_CABLING_PLAN_CSV_H

#include "cabling/plan_read.h"
#include "lib/csv_line.h"

/* Whether the line has the names of an NDT file's columns. */
bool triad_cabling_is_ndt(const struct triad_csv_line *line);
/* Whether the line can be one of a topoconfig file. */
bool triad_cabling_is_topoconfig(const struct triad_csv_line *line);

/* Adds what the file has to 'plan', and mistakes to 'diags'. */
void triad_cabling_csv_read(const char *octets, size_t size, struct triad_diags *diags,
	struct triad_cabling_plan *plan);

#endif
