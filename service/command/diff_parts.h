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

/* A part of the answer: a title for people, an array of JSON.  'put' puts its rows, and
 * returns how many there are. */
uint32_t diff_put_part(struct diff *diff, const char *name, const char *title,
	uint32_t (*put)(const struct diff *diff, struct triad_list *list));

/* The counters that grew, and where most. */
uint32_t diff_put_counters(const struct diff *diff, struct triad_list *list);

/* The keys of triad.conf that differ. */
uint32_t diff_put_conf(const struct diff *diff, struct triad_list *list);

/* The switches whose forwarding tables differ. */
uint32_t diff_put_routes(const struct diff *diff, struct triad_list *list);
/* The nodes whose SL2VL or VL arbitration tables differ. */
uint32_t diff_put_qos(const struct diff *diff, struct triad_list *list);

#endif
