/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* What diff.c and diff_counters.c share. */
#ifndef TRIAD_SERVICE_COMMAND_DIFF_PARTS_H
#define TRIAD_SERVICE_COMMAND_DIFF_PARTS_H

#include "service/command/list.h"
#include "service/command/moment.h"

struct diff {
	const struct triad_command *command;
	struct triad_output *output;
	struct triad_report report;
	struct triad_moment from, to;
};

/* Writes a part of the answer: a title for people, an array in JSON.  'put' writes its
 * rows, and returns how many. */
uint32_t diff_put_part(struct diff *diff, const char *name, const char *title,
	uint32_t (*put)(const struct diff *diff, struct triad_list *list));

/* Writes the counters that grew, and where they grew most.  Nothing unless the totals of both
 * moments have one base (triad_moment_shares_base()). */
uint32_t diff_put_counters(const struct diff *diff, struct triad_list *list);

/* Writes the keys of triad.conf that differ. */
uint32_t diff_put_conf(const struct diff *diff, struct triad_list *list);

/* Of how many nodes that are there at both moments such tables were compared, and of how many
 * they can't be, as one moment has none of theirs. */
struct diff_compared {
	uint32_t n, n_unknown;
};
struct diff_compared diff_compare_tables(
	const struct diff *diff, enum triad_history_tables tables);

/* Writes the switches whose forwarding tables differ. */
uint32_t diff_put_routes(const struct diff *diff, struct triad_list *list);
/* Writes the nodes whose SL2VL or VL arbitration tables differ. */
uint32_t diff_put_qos(const struct diff *diff, struct triad_list *list);

#endif
