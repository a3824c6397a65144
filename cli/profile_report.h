/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* A report on profiles, as text, JSON and a drawing.
 *
 * Thread-safety: functions without state. */
#ifndef TRIAD_CLI_PROFILE_REPORT_H
#define TRIAD_CLI_PROFILE_REPORT_H

#include "cli/profile_links.h"
#include "cli/profile_stats.h"
#include "triad/output.h"

struct triad_profile_report_data {
	const struct triad_stats *stats;
	const struct triad_links *links;
	unsigned n_files;
	unsigned limit; /* links to show */
};

void triad_report_text(
	const struct triad_profile_report_data *report, struct triad_output *output);
void triad_report_json(
	const struct triad_profile_report_data *report, struct triad_output *output);

/* A self-contained SVG: no script, no font, no external resources. */
void triad_report_svg(
	const struct triad_profile_report_data *report, struct triad_output *output);

#endif
