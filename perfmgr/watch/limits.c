/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "perfmgr/watch/limits.h"

#include <math.h>

static void fill_row(struct triad_limits *row, const struct triad_conf *conf,
	unsigned type, unsigned group)
{
	const struct triad_conf_thresholds *of = conf->thresholds;

	row->watched = 0;
	for (unsigned i = 0; i < TRIAD_N_COUNTERS; i++) {
		/* Start with the general one; a more specific one replaces it. */
		row->of[i] = of[0].counter[i];
		if (of[type].counter[i].unit != TRIAD_THRESHOLD_INHERIT)
			row->of[i] = of[type].counter[i];
		if (group < conf->n_groups &&
			of[TRIAD_LIMITS_N_TYPES + group].counter[i].unit !=
				TRIAD_THRESHOLD_INHERIT)
			row->of[i] = of[TRIAD_LIMITS_N_TYPES + group].counter[i];
		if (row->of[i].unit > TRIAD_THRESHOLD_OFF)
			row->watched |= 1u << i;
	}
}

void triad_limits_fill(struct triad_limits_table *table, const struct triad_conf *conf)
{
	for (unsigned type = 0; type < TRIAD_LIMITS_N_TYPES; type++)
		for (unsigned group = 0; group <= TRIAD_GROUPS_MAX; group++)
			fill_row(&table->rows[type][group], conf, type, group);
}

double triad_limits_measure(const struct triad_threshold *threshold,
	const struct triad_engine_changes *changes, unsigned counter,
	double words_per_us)
{
	double change = 0, percent;
	double interval_us =
		(double)changes->interval_us[triad_engine_part(changes, counter)];

	if (changes->changed & 1u << counter)
		change = (double)changes->change[counter];
	switch (threshold->unit) {
	case TRIAD_THRESHOLD_PER_SWEEP:
		return change;
	case TRIAD_THRESHOLD_PER_S:
		return change * 1e6 / interval_us;
	case TRIAD_THRESHOLD_PERCENT:
		if (!(words_per_us > 0))
			return NAN;
		percent = 100 * change / (interval_us * words_per_us);
		/* Nothing waits for longer than the interval. */
		return counter == TRIAD_PORT_XMIT_WAIT ? fmin(percent, 100) : percent;
	default:
		return NAN;
	}
}
