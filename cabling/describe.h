/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Items of a comparison (cabling/compare.h) as sentences for a technician.
 *
 * Thread-safety: functions without state. */
#ifndef TRIAD_CABLING_DESCRIBE_H
#define TRIAD_CABLING_DESCRIBE_H

#include "cabling/compare.h"

#define TRIAD_CABLING_TEXT_SIZE 1024

/* A comparison, and what was compared; all are borrowed. */
struct triad_cabling_view {
	const struct triad_cabling_plan *plan;
	const struct triad_fabric *fabric;
	const struct triad_cabling_cable *cables; /* NULL: not known */
	const struct triad_cabling_result *result;
};

/* One line, cut to 'size'. */
void triad_cabling_describe(const struct triad_cabling_view *view,
	const struct triad_cabling_item *item, char *text, size_t size);

/* Step 'i' of a ring, 0 to 'n_steps'. */
void triad_cabling_describe_step(const struct triad_cabling_view *view,
	const struct triad_cabling_item *item, uint32_t i, char *text, size_t size);

#endif
