/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Finds impossible readings: a counter grew by more than the link can have carried. */
#include "perfmgr/engine.h"

#include "perfmgr/rows.h"
#include "triad/clock.h"

/* The link may have been faster in that interval than it is now. */
#define MARGIN 16
/* Answers may be delayed. */
#define SLACK_US TRIAD_US_PER_S
/* For a link of unknown rate: 800 Gb/s. */
#define FASTEST_WORDS_PER_US 25000.0
/* The shortest packet: LRH, BTH and CRCs [IBA 6.1]. */
#define WORDS_PER_PACKET 6.0

/* Counters (bit i) that grew by more than 'most_words', or by more packets than fit
 * into these.  A counter that went back was reset, so it grew by its value.  An error
 * that comes most often is that of a symbol, of which a word has four: so these have a
 * quarter of the margin. */
static uint32_t find_impossible(const struct triad_row_hot *hot,
	const struct triad_row_large *large, const struct triad_pma_reading *reading,
	double most_words)
{
	uint32_t errors = hot->state & TRIAD_ROW_ERRORS_WIDE ? TRIAD_SHORT_COUNTERS : 0;
	uint32_t comparable = reading->has & hot->has &
		((uint32_t)hot->from_extended << TRIAD_FIRST_WIDE_COUNTER | errors);
	uint32_t impossible = 0;

	for (; comparable; comparable &= comparable - 1) {
		unsigned i = (unsigned)__builtin_ctz(comparable);
		uint64_t raw = reading->raw[i];
		uint64_t last = triad_row_last(hot, large, i);
		double change = (double)(raw >= last ? raw - last : raw);

		if (triad_counters[i].unit == TRIAD_UNIT_PACKETS)
			change *= WORDS_PER_PACKET;
		if (change > most_words)
			impossible |= 1u << i;
	}
	return impossible;
}

/* Lets the totals of such counters go on from the present values, without a change. */
static void go_on_from(struct triad_row_hot *hot, struct triad_row_cold *cold,
	struct triad_row_large *large, const struct triad_pma_reading *reading,
	uint32_t impossible)
{
	triad_sequence_write_begin(&hot->sequence);
	for (; impossible; impossible &= impossible - 1) {
		unsigned i = (unsigned)__builtin_ctz(impossible);
		uint64_t last = triad_row_last(hot, large, i);

		triad_shared_set(
			&cold->base[i], cold->base[i] + last - reading->raw[i]);
		triad_row_set_last(hot, large, i, reading->raw[i],
			triad_row_change(hot, large, i));
	}
	triad_sequence_write_end(&hot->sequence);
}

uint32_t triad_engine_mark_implausible(struct triad_engine *engine, uint32_t row,
	enum triad_pma_attribute attribute, const struct triad_pma_reading *reading,
	double words_per_us, uint64_t now_us, bool *is_believed)
{
	struct triad_row_hot *hot = triad_rows_hot(&engine->rows, row);
	struct triad_row_cold *cold;
	struct triad_row_large *large;
	uint64_t last_us;
	uint32_t impossible;

	*is_believed = true;
	if (!hot || attribute != TRIAD_PMA_PORT_COUNTERS_EXTENDED)
		return 0;
	last_us = hot->read_us[TRIAD_READ_WIDE];
	if (!last_us || now_us < last_us)
		return 0;
	if (words_per_us <= 0)
		words_per_us = FASTEST_WORDS_PER_US;
	large = triad_rows_large(&engine->rows, row);
	impossible = find_impossible(hot, large, reading,
		MARGIN * words_per_us * (double)(now_us - last_us + SLACK_US));
	cold = triad_rows_cold(&engine->rows, row);
	if (!impossible) {
		/* Most rows have none, and need not be written to. */
		if (cold->n_implausible_readings)
			cold->n_implausible_readings = 0;
		return 0;
	}
	*is_believed = ++cold->n_implausible_readings >= TRIAD_ENGINE_MAX_DOUBTS;
	if (*is_believed) {
		cold->n_implausible_readings = 0;
		go_on_from(hot, cold, large, reading, impossible);
	}
	return impossible;
}
