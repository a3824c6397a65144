/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Items of a comparison (cabling/compare.h) as sentences for a technician.
 *
 * Thread-safety: functions without state. */
#ifndef TRIAD_CABLING_DESCRIBE_H
#define TRIAD_CABLING_DESCRIBE_H

#include "cabling/compare.h"
#include "ib/node_label.h"

#define TRIAD_CABLING_TEXT_SIZE 1024

/* A comparison, and what was compared; all are borrowed. */
struct triad_cabling_view {
	const struct triad_cabling_plan *plan;
	const struct triad_fabric *fabric;
	const struct triad_cabling_result *result;
};

/* "move", "swap", "ring", ...: for programs. */
const char *triad_cabling_kind_name(enum triad_cabling_kind kind);

/* The item as one line, with 'step' 0; or a step of a ring, 1 to triad_cabling_n_steps().
 * Cut to 'size'. */
void triad_cabling_describe(const struct triad_cabling_view *view,
	const struct triad_cabling_item *item, uint32_t step, char *text, size_t size);

/* Of a ring, one more than its cables; else 0. */
static inline uint32_t triad_cabling_n_steps(const struct triad_cabling_item *item)
{
	return item->n_steps ? item->n_steps + 1 : 0;
}

struct triad_port_label triad_cabling_label(
	const struct triad_cabling_view *view, struct triad_cabling_port port);

#endif
