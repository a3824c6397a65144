/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* A comparison of a plan with the fabric, for the files of 'cabling' alone. */
#ifndef TRIAD_CLI_CABLING_PARTS_H
#define TRIAD_CLI_CABLING_PARTS_H

#include "cabling/describe.h"
#include "cli/cabling_command.h"
#include "triad/output.h"

struct triad_cabling_checking {
	const struct triad_cabling_command *command;
	const struct triad_cabling_asker *asker;
	struct triad_cabling_plan *plan;
	struct triad_fabric *fabric;
	struct triad_cabling_cable *cables; /* or NULL */
	struct triad_cabling_result *result;
	struct triad_cabling_view view; /* of those */
	struct triad_output output;
};

/* Reads the fabric, and compares it with the plan, which was read.  Returns 0 or an errno,
 * having printed why; then the last comparison is still there. */
int triad_cabling_look(struct triad_cabling_checking *checking);

/* "7 of 11 cables are as planned; to do: 3", and what is not known; without an end of line. */
void triad_cabling_put_summary(struct triad_cabling_checking *checking);

/* All of the answer as a page. */
void triad_cabling_put_html(struct triad_cabling_checking *checking);

uint32_t triad_cabling_count_not_known(const struct triad_cabling_checking *checking);

/* Compares again and again, and shows what was done.  Returns an exit status. */
int triad_cabling_watch(struct triad_cabling_checking *checking);

#endif
