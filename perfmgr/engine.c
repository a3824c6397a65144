/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "perfmgr/engine.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "perfmgr/details.h"
#include "perfmgr/rows.h"

#define US_PER_S UINT64_C(1000000)
/* The default limit of details. */
#define DETAILS_OCTETS ((size_t)256 << 20)

struct triad_engine *triad_engine_new(void)
{
	struct triad_engine *engine = calloc(1, sizeof(*engine));

	if (!engine)
		return NULL;
	triad_rows_init(&engine->rows);
	engine->resets = triad_reset_log_new();
	engine->details = triad_details_new(DETAILS_OCTETS);
	if (!engine->resets || !engine->details) {
		triad_engine_free(engine);
		return NULL;
	}
	return engine;
}

struct triad_reset_log *triad_engine_resets(struct triad_engine *engine)
{
	return engine->resets;
}

struct triad_details *triad_engine_details(const struct triad_engine *engine)
{
	return engine->details;
}

void triad_engine_free(struct triad_engine *engine)
{
	if (!engine)
		return;
	triad_rows_clear(&engine->rows);
	triad_reset_log_free(engine->resets);
	triad_details_free(engine->details);
	free(engine);
}

int triad_engine_adopt(struct triad_engine *engine, const struct triad_fabric *fabric,
	uint64_t now_us, uint32_t *rows)
{
	return triad_rows_adopt(&engine->rows, fabric, now_us, rows);
}

size_t triad_engine_octets(const struct triad_engine *engine)
{
	return triad_rows_octets(&engine->rows);
}

/* A time in 32 bits; 0 stands for never. */
static uint32_t to_seconds(uint64_t now_us)
{
	return (uint32_t)(now_us / US_PER_S) + 1;
}

static uint64_t from_seconds(uint32_t seconds)
{
	return seconds ? (seconds - 1) * US_PER_S + 1 : 0;
}

/* --- reading --- */

/* The counters that are known: all that were read, and not forgotten. */
static uint32_t known_counters(const struct triad_row_hot *hot)
{
	uint32_t has = triad_shared_get(&hot->has);

	return triad_shared_get(&hot->state) & TRIAD_ROW_WAIT_UNKNOWN
		? has & ~(1u << TRIAD_PORT_XMIT_WAIT)
		: has;
}

static void unpack_head(const struct triad_row_hot *hot,
	const struct triad_row_cold *cold, struct triad_engine_row *row)
{
	unsigned state = triad_shared_get(&hot->state);

	*row = (struct triad_engine_row){
		.node_guid = triad_shared_get(&hot->node_guid),
		.port = triad_shared_get(&hot->port),
		.has = known_counters(hot),
		.forgotten = triad_shared_get(&hot->has) & ~known_counters(hot),
		.was_asked = state & TRIAD_ROW_WAS_ASKED,
		.answered = state & TRIAD_ROW_ANSWERED,
		.by_sum = state & TRIAD_ROW_BY_SUM,
		.wide_behind = triad_shared_get(&hot->wide_behind),
		.others = {from_seconds(triad_shared_get(&cold->others_reset_s)),
			triad_shared_get(&cold->n_others_resets)},
		.own = {from_seconds(triad_shared_get(&cold->own_reset_s)),
			triad_shared_get(&cold->n_own_resets)},
		.zeroed_us = from_seconds(triad_shared_get(&cold->zeroed_s)),
	};
	for (unsigned i = 0; i < TRIAD_READ_N_PARTS; i++) {
		uint64_t read_us = triad_shared_get(&hot->read_us[i]);

		row->interval_us[i] =
			(uint64_t)triad_shared_get_float(&hot->interval_us[i]);
		if (read_us > row->read_us)
			row->read_us = read_us;
	}
}

static void unpack_counter(const struct triad_row_cold *cold, unsigned counter,
	uint64_t last, uint64_t change, struct triad_engine_row *row)
{
	row->total[counter] = triad_shared_get(&cold->base[counter]) + last;
	row->change[counter] = change;
	if (counter < TRIAD_FIRST_WIDE_COUNTER && row->has & 1u << counter &&
		last == triad_counter_max(counter))
		row->saturated |= 1u << counter;
}

/* Readers do this for every port, so a loop for each width instead of
 * triad_row_last(). */
static void unpack(const struct triad_row_hot *hot, const struct triad_row_cold *cold,
	const struct triad_row_large *large, struct triad_engine_row *row)
{
	unpack_head(hot, cold, row);
	for (unsigned i = 0; i < TRIAD_N_SHORT; i++)
		unpack_counter(cold, i, triad_row_short_last(hot, large, i),
			triad_row_short_change(hot, large, i), row);
	unpack_counter(cold, TRIAD_PORT_XMIT_WAIT, triad_shared_get(&hot->wait_last),
		triad_shared_get(&hot->wait_change), row);
	if (triad_shared_get(&hot->state) & TRIAD_ROW_WAIT_FULL)
		row->saturated |= row->has & 1u << TRIAD_PORT_XMIT_WAIT;
	if (triad_shared_get(&hot->state) & TRIAD_ROW_ERRORS_WIDE)
		row->saturated = 0;
	for (unsigned i = 0; i < TRIAD_N_WIDE; i++)
		unpack_counter(cold, TRIAD_FIRST_WIDE_COUNTER + i,
			triad_shared_get(&hot->wide_last[i]),
			triad_shared_get(&hot->wide_change[i]), row);
}

bool triad_engine_read(
	const struct triad_engine *engine, uint32_t row, struct triad_engine_row *copy)
{
	const struct triad_row_hot *hot = triad_rows_hot(&engine->rows, row);
	const struct triad_row_cold *cold;
	const struct triad_row_large *large;
	unsigned before;

	if (!hot)
		return false;
	cold = triad_rows_cold(&engine->rows, row);
	large = triad_rows_large(&engine->rows, row);
	do {
		before = triad_sequence_read_begin(&hot->sequence);
		unpack(hot, cold, large, copy);
	} while (!triad_sequence_is_whole(&hot->sequence, before));
	return true;
}

bool triad_engine_total(const struct triad_engine *engine, uint32_t row,
	uint64_t node_guid, uint8_t port, unsigned counter, uint64_t *total)
{
	const struct triad_row_hot *hot = triad_rows_hot(&engine->rows, row);
	const struct triad_row_cold *cold;
	const struct triad_row_large *large;
	unsigned before;
	bool has;

	if (!hot)
		return false;
	cold = triad_rows_cold(&engine->rows, row);
	large = triad_rows_large(&engine->rows, row);
	/* GUID and port are read under the same sequence: the row may be given to
	 * another port meanwhile. */
	do {
		before = triad_sequence_read_begin(&hot->sequence);
		has = triad_shared_get(&hot->node_guid) == node_guid &&
			triad_shared_get(&hot->port) == port &&
			known_counters(hot) & 1u << counter;
		*total = triad_shared_get(&cold->base[counter]) +
			triad_row_last(hot, large, counter);
	} while (!triad_sequence_is_whole(&hot->sequence, before));
	return has;
}

/* Bit i: counter i changed. */
static uint32_t changed_counters(const struct triad_row_hot *hot)
{
	uint32_t changed = 0;
	unsigned any = 0;

	/* Most ports have no errors: one test finds that. */
	for (unsigned i = 0; i < TRIAD_N_SHORT; i++)
		any |= hot->short_change[i];
	for (unsigned i = 0; any && i < TRIAD_N_SHORT; i++)
		changed |= (uint32_t)(hot->short_change[i] != 0) << i;
	changed |= (uint32_t)(hot->wait_change != 0) << TRIAD_PORT_XMIT_WAIT;
	for (unsigned i = 0; i < TRIAD_N_WIDE; i++)
		changed |= (uint32_t)(hot->wide_change[i] != 0)
			<< (TRIAD_FIRST_WIDE_COUNTER + i);
	return changed;
}

static void copy_changes(const struct triad_row_hot *hot,
	const struct triad_row_large *large, struct triad_engine_changes *changes)
{
	for (uint32_t left = changes->changed; left; left &= left - 1) {
		unsigned i = (unsigned)__builtin_ctz(left);

		changes->change[i] = triad_row_change(hot, large, i);
		if (i < TRIAD_FIRST_WIDE_COUNTER &&
			triad_row_last(hot, large, i) == triad_counter_max(i))
			changes->full |= 1u << i;
	}
	if (hot->state & TRIAD_ROW_ERRORS_WIDE)
		changes->full = 0;
	if (hot->state & TRIAD_ROW_WAIT_FULL)
		changes->full |= changes->changed & 1u << TRIAD_PORT_XMIT_WAIT;
}

bool triad_engine_changes(const struct triad_engine *engine, uint32_t row,
	uint64_t since_us, struct triad_engine_changes *changes)
{
	const struct triad_row_hot *hot = triad_rows_hot(&engine->rows, row);
	const uint32_t wait = 1u << TRIAD_PORT_XMIT_WAIT;
	uint32_t of[TRIAD_READ_N_PARTS];
	bool was_read = false;

	changes->fresh = changes->changed = changes->full = 0;
	if (!hot)
		return false;
	changes->extended =
		hot->has & (uint32_t)hot->from_extended << TRIAD_FIRST_WIDE_COUNTER;
	of[TRIAD_READ_ERRORS] = hot->has & ~changes->extended & ~wait;
	/* The summary said nothing of data counters, so their change spans more than
	 * this interval. */
	if (hot->wide_behind)
		of[TRIAD_READ_ERRORS] &= TRIAD_NARROW_COUNTERS;
	of[TRIAD_READ_WIDE] = changes->extended;
	/* At its maximum since an earlier reading it can't count. */
	of[TRIAD_READ_WAIT] = hot->state & TRIAD_ROW_WAIT_FULL && !hot->wait_change
		? 0
		: hot->has & wait;
	for (unsigned a = 0; a < TRIAD_READ_N_PARTS; a++) {
		bool is_read = hot->read_us[a] && hot->read_us[a] >= since_us;

		was_read |= is_read;
		changes->interval_us[a] = hot->interval_us[a];
		/* The first reading has no interval, and none when the clock went
		 * back. */
		if (is_read && hot->interval_us[a] > 0)
			changes->fresh |= of[a];
	}
	changes->changed = changed_counters(hot) & changes->fresh;
	copy_changes(hot, triad_rows_large(&engine->rows, row), changes);
	return was_read;
}

/* --- counting --- */

/* Counters (bit i) that can be compared with their last value: both values are from the
 * same attribute. */
static uint32_t comparable(const struct triad_row_hot *hot, uint32_t has, bool extended)
{
	uint32_t from = extended ? hot->from_extended
				 : (uint32_t) ~(uint32_t)hot->from_extended;
	uint32_t mask = from << TRIAD_FIRST_WIDE_COUNTER;

	if (extended == !!(hot->state & TRIAD_ROW_ERRORS_WIDE))
		mask |= TRIAD_NARROW_COUNTERS;
	return hot->has & has & mask;
}

/* Adds an error that is, or was, too large for the hot part.  Returns false if it went
 * back. */
static __attribute__((noinline)) bool count_large_on(struct triad_row_hot *hot,
	struct triad_row_large *large, unsigned counter, uint64_t raw)
{
	uint64_t last = triad_row_short_last(hot, large, counter);

	if (raw >= last)
		triad_row_set_short(hot, large, counter, raw, raw - last);
	return raw >= last;
}

/* As count_on(), of errors. */
static uint32_t count_errors_on(struct triad_row_hot *hot,
	struct triad_row_large *large, const struct triad_pma_reading *reading,
	uint32_t mask)
{
	uint32_t back = 0;

	for (unsigned i = 0; i < TRIAD_N_SHORT; i++) {
		uint64_t raw = reading->raw[i];
		uint16_t last = hot->short_last[i];

		if (!(mask & 1u << i))
			continue;
		if (raw >= TRIAD_SHORT_MOST || last >= TRIAD_SHORT_MOST) {
			back |= (uint32_t)!count_large_on(hot, large, i, raw) << i;
			continue;
		}
		back |= (uint32_t)(raw < last) << i;
		if (raw >= last) {
			triad_shared_set(&hot->short_last[i], raw);
			triad_shared_set(&hot->short_change[i], raw - last);
		}
	}
	return back;
}

/* Adds the counters that did not go back, as most do not.  Returns those that did,
 * unchanged. */
static uint32_t count_on(struct triad_row_hot *hot, struct triad_row_large *large,
	const struct triad_pma_reading *reading, uint32_t mask)
{
	uint32_t back = mask & TRIAD_SHORT_COUNTERS
		? count_errors_on(hot, large, reading, mask)
		: 0;

	for (unsigned i = TRIAD_N_SHORT; i < TRIAD_N_COUNTERS; i++) {
		uint64_t last = triad_row_last(hot, large, i);

		if (!(mask & 1u << i))
			continue;
		if (reading->raw[i] >= last)
			triad_row_set_last(
				hot, large, i, reading->raw[i], reading->raw[i] - last);
		else
			back |= 1u << i;
	}
	return back;
}

/* True when the counters in 'back' wrapped at 2^32 instead of being reset: each went
 * from the last quarter of the range to the first one, and another did not go back. */
static bool is_wrap(const struct triad_row_hot *hot,
	const struct triad_row_large *large, const struct triad_pma_reading *reading,
	uint32_t back, bool extended)
{
	const uint64_t quarter = UINT64_C(1) << 30;
	bool others_go_on = false;

	/* 64 bits do not wrap, and counters that we asked to reset went back because of
	 * that. */
	if (extended || hot->asked & back)
		return false;
	for (unsigned i = 0; i < TRIAD_N_COUNTERS; i++) {
		if (!(reading->has & 1u << i))
			continue;
		/* A reset would have taken this one back, too. */
		if (!(back & 1u << i))
			others_go_on |= reading->raw[i] > 0;
		else if (i < TRIAD_N_SHORT ||
			triad_row_last(hot, large, i) < 3 * quarter ||
			reading->raw[i] >= quarter)
			return false;
	}
	return others_go_on;
}

static void note_own_reset(
	struct triad_row_hot *hot, struct triad_row_cold *cold, uint64_t now_us)
{
	triad_shared_set(&cold->own_reset_s, to_seconds(now_us));
	if (cold->n_own_resets < UINT16_MAX)
		triad_shared_set(&cold->n_own_resets, cold->n_own_resets + 1);
}

static void note_reset(struct triad_row_hot *hot, struct triad_row_cold *cold,
	uint32_t back, uint64_t now_us)
{
	bool own = hot->asked & back;

	hot->asked &= ~back;
	/* If we asked for one of the counters, the reset was ours. */
	if (own) {
		note_own_reset(hot, cold, now_us);
		return;
	}
	triad_shared_set(&cold->others_reset_s, to_seconds(now_us));
	if (cold->n_others_resets < UINT16_MAX)
		triad_shared_set(&cold->n_others_resets, cold->n_others_resets + 1);
}

/* Logs a reset of each counter in 'back', before it is counted. */
static void log_resets(struct triad_engine *engine, const struct triad_row_hot *hot,
	const struct triad_row_large *large, uint32_t back, uint64_t now_us)
{
	for (; back; back &= back - 1) {
		unsigned i = (unsigned)__builtin_ctz(back);
		const struct triad_reset reset = {
			.at_us = now_us,
			.node_guid = hot->node_guid,
			.value = triad_row_last(hot, large, i),
			.port = hot->port,
			.counter = (uint8_t)i,
			.is_own = hot->asked & 1u << i,
		};

		triad_reset_log_add(engine->resets, &reset);
	}
}

static void count_back(struct triad_row_hot *hot, struct triad_row_cold *cold,
	struct triad_row_large *large, const struct triad_pma_reading *reading,
	uint32_t back, bool wrapped)
{
	for (unsigned i = 0; i < TRIAD_N_COUNTERS; i++) {
		uint64_t raw = reading->raw[i], last = triad_row_last(hot, large, i);
		uint64_t passed = wrapped ? UINT64_C(1) << 32 : last;

		if (!(back & 1u << i))
			continue;
		triad_shared_set(&cold->base[i], cold->base[i] + passed);
		triad_row_set_last(hot, large, i, raw, raw + passed - last);
	}
}

/* Errors and PortXmitWait are read from the other attribute than before.  What they
 * counted in between is not known, so they have no interval. */
static void change_errors_attribute(struct triad_row_hot *hot)
{
	triad_shared_set(&hot->state, hot->state ^ TRIAD_ROW_ERRORS_WIDE);
	triad_shared_set(&hot->read_us[TRIAD_READ_ERRORS], 0);
	triad_shared_set(&hot->read_us[TRIAD_READ_WAIT], 0);
}

/* Counters read for the first time, or from the other attribute than before. */
static void count_first(struct triad_row_hot *hot, struct triad_row_cold *cold,
	struct triad_row_large *large, const struct triad_pma_reading *reading,
	uint32_t first, bool extended)
{
	if (first & TRIAD_NARROW_COUNTERS &&
		extended != !!(hot->state & TRIAD_ROW_ERRORS_WIDE))
		change_errors_attribute(hot);
	for (unsigned i = 0; i < TRIAD_N_COUNTERS; i++) {
		if (!(first & 1u << i))
			continue;
		/* The other attribute may show another value.  The total stays. */
		if (hot->has & 1u << i)
			triad_shared_set(&cold->base[i],
				cold->base[i] + triad_row_last(hot, large, i) -
					reading->raw[i]);
		triad_row_set_last(hot, large, i, reading->raw[i], 0);
		if (i >= TRIAD_FIRST_WIDE_COUNTER) {
			unsigned bit = 1u << (i - TRIAD_FIRST_WIDE_COUNTER);

			hot->from_extended =
				(uint8_t)(extended ? hot->from_extended | bit
						   : hot->from_extended & ~bit);
		}
	}
	triad_shared_set(&hot->has, hot->has | first);
}

static void note_read(
	struct triad_row_hot *hot, enum triad_reading_part part, uint64_t now_us)
{
	uint64_t last_us = hot->read_us[part];

	triad_shared_set_float(&hot->interval_us[part],
		last_us && now_us > last_us ? (float)(now_us - last_us) : 0);
	triad_shared_set(&hot->read_us[part], now_us);
	if (part == TRIAD_READ_ERRORS)
		triad_shared_set(&hot->state, hot->state & ~TRIAD_ROW_BY_SUM);
	if (part == TRIAD_READ_WAIT)
		triad_shared_set(&hot->state,
			hot->state & ~(TRIAD_ROW_WAIT_UNKNOWN | TRIAD_ROW_WAIT_FULL));
}

/* Without an interval there is no rate.  The next reading's interval begins where the
 * last one ended. */
static void forget_wait(struct triad_row_hot *hot)
{
	triad_shared_set(&hot->state, hot->state | TRIAD_ROW_WAIT_UNKNOWN);
	triad_shared_set_float(&hot->interval_us[TRIAD_READ_WAIT], 0);
}

/* A moment in which the port waited less than 'before' shows, whose counter was full,
 * does not make that less: the two become one interval, with a lower bound. */
static void keep_lower_bound(
	struct triad_row_hot *hot, uint64_t change_before, float us_before)
{
	float us = hot->interval_us[TRIAD_READ_WAIT];

	if ((double)hot->wait_change * (double)us_before >=
		(double)change_before * (double)us)
		return;
	triad_shared_set(&hot->wait_change, hot->wait_change + change_before);
	triad_shared_set_float(&hot->interval_us[TRIAD_READ_WAIT], us + us_before);
	triad_shared_set(&hot->state, hot->state | TRIAD_ROW_WAIT_FULL);
}

uint32_t triad_engine_update(struct triad_engine *engine, uint32_t row,
	enum triad_pma_attribute attribute, const struct triad_pma_reading *reading,
	uint64_t now_us)
{
	struct triad_row_hot *hot = triad_rows_hot(&engine->rows, row);
	struct triad_row_large *large;
	bool extended = attribute == TRIAD_PMA_PORT_COUNTERS_EXTENDED;
	uint32_t known, back, errors = reading->has & TRIAD_SHORT_COUNTERS;
	bool is_again = reading->has == 1u << TRIAD_PORT_XMIT_WAIT;
	uint64_t wait_before;
	float wait_us_before;

	if (!hot)
		return 0;
	large = triad_rows_large(&engine->rows, row);
	is_again = is_again && hot->state & TRIAD_ROW_WAIT_FULL;
	wait_before = hot->wait_change;
	wait_us_before = hot->interval_us[TRIAD_READ_WAIT];
	triad_sequence_write_begin(&hot->sequence);
	known = comparable(hot, reading->has, extended);
	back = count_on(hot, large, reading, known);
	/* A counter that did not go back was not reset: expect no reset of it. */
	hot->asked &= ~(known & ~back);
	if (back) {
		struct triad_row_cold *cold = triad_rows_cold(&engine->rows, row);
		bool wrapped = is_wrap(hot, large, reading, back, extended);

		/* Log first: count_back() changes the last values, and note_reset()
		 * what was asked for. */
		if (!wrapped)
			log_resets(engine, hot, large, back, now_us);
		count_back(hot, cold, large, reading, back, wrapped);
		if (!wrapped)
			note_reset(hot, cold, back, now_us);
	}
	if (known != reading->has)
		count_first(hot, triad_rows_cold(&engine->rows, row), large, reading,
			reading->has & ~known, extended);
	if (reading->has & ~(1u << TRIAD_PORT_XMIT_WAIT) && !extended) {
		if (hot->wide_behind)
			triad_shared_set(&hot->wide_behind, hot->wide_behind - 1);
		note_read(hot, TRIAD_READ_ERRORS, now_us);
	}
	if (extended && reading->has & ~TRIAD_NARROW_COUNTERS)
		note_read(hot, TRIAD_READ_WIDE, now_us);
	if (extended && errors)
		note_read(hot, TRIAD_READ_ERRORS, now_us);
	if (reading->has & 1u << TRIAD_PORT_XMIT_WAIT)
		note_read(hot, TRIAD_READ_WAIT, now_us);
	if (!extended && reading->has & 1u << TRIAD_PORT_XMIT_WAIT &&
		reading->raw[TRIAD_PORT_XMIT_WAIT] ==
			triad_counter_max(TRIAD_PORT_XMIT_WAIT))
		triad_shared_set(&hot->state, hot->state | TRIAD_ROW_WAIT_FULL);
	else if (is_again)
		keep_lower_bound(hot, wait_before, wait_us_before);
	triad_sequence_write_end(&hot->sequence);
	return errors ? changed_counters(hot) & errors : 0;
}

void triad_engine_confirm(
	struct triad_engine *engine, uint32_t row, bool wait_too, uint64_t now_us)
{
	struct triad_row_hot *hot = triad_rows_hot(&engine->rows, row);

	if (!hot)
		return;
	triad_sequence_write_begin(&hot->sequence);
	for (unsigned i = 0; i < TRIAD_N_SHORT; i++)
		triad_shared_set(&hot->short_change[i], 0);
	if (wait_too) {
		triad_shared_set(&hot->wait_change, 0);
		note_read(hot, TRIAD_READ_WAIT, now_us);
	}
	/* The wide counters in PortCounters were last read before this interval.  The
	 * next reading's change spans both intervals; that of the one after it is
	 * right. */
	triad_shared_set(&hot->wide_behind, 2);
	note_read(hot, TRIAD_READ_ERRORS, now_us);
	triad_shared_set(&hot->state, hot->state | TRIAD_ROW_BY_SUM);
	triad_sequence_write_end(&hot->sequence);
}

void triad_engine_forget_wait(struct triad_engine *engine, uint32_t row)
{
	struct triad_row_hot *hot = triad_rows_hot(&engine->rows, row);

	if (!hot || hot->state & TRIAD_ROW_WAIT_UNKNOWN)
		return;
	triad_sequence_write_begin(&hot->sequence);
	forget_wait(hot);
	triad_sequence_write_end(&hot->sequence);
}

/* --- resets --- */

void triad_engine_expect_reset(struct triad_engine *engine, uint32_t row, uint32_t mask)
{
	struct triad_row_hot *hot = triad_rows_hot(&engine->rows, row);

	if (hot) /* no sequence: readers never see 'asked' */
		hot->asked = mask ? hot->asked | mask : 0;
}

/* Skips a counter that reads no less than before: it was not reset, whatever the agent
 * says.  The interval and its changes go on, so that the changes add up to the
 * total. */
void triad_engine_reset(struct triad_engine *engine, uint32_t row,
	const struct triad_pma_reading *reading, uint64_t now_us)
{
	struct triad_row_hot *hot = triad_rows_hot(&engine->rows, row);
	struct triad_row_cold *cold;
	struct triad_row_large *large;

	if (!hot)
		return;
	cold = triad_rows_cold(&engine->rows, row);
	large = triad_rows_large(&engine->rows, row);
	triad_sequence_write_begin(&hot->sequence);
	for (unsigned i = 0; i < TRIAD_N_COUNTERS; i++) {
		uint64_t raw = reading->raw[i], last = triad_row_last(hot, large, i);

		/* A counter at 0 shows no reset: expect none. */
		if (reading->has & 1u << i && !last)
			hot->asked &= ~(1u << i);
		if (!(reading->has & hot->has & 1u << i) || raw >= last)
			continue;
		/* The log takes this as the sign of our own reset. */
		hot->asked |= 1u << i;
		log_resets(engine, hot, large, 1u << i, now_us);
		triad_shared_set(&cold->base[i], cold->base[i] + last);
		triad_row_set_last(
			hot, large, i, raw, triad_row_change(hot, large, i) + raw);
		hot->asked &= ~(1u << i);
	}
	note_own_reset(hot, cold, now_us);
	triad_sequence_write_end(&hot->sequence);
}

void triad_engine_zero(struct triad_engine *engine, uint32_t row, uint64_t now_us)
{
	struct triad_row_hot *hot = triad_rows_hot(&engine->rows, row);
	struct triad_row_cold *cold;
	struct triad_row_large *large;

	if (!hot)
		return;
	cold = triad_rows_cold(&engine->rows, row);
	large = triad_rows_large(&engine->rows, row);
	triad_sequence_write_begin(&hot->sequence);
	/* total = base + last, modulo 2^64.  The hardware goes on as it is. */
	for (unsigned i = 0; i < TRIAD_N_COUNTERS; i++)
		triad_shared_set(&cold->base[i], 0 - triad_row_last(hot, large, i));
	triad_shared_set(&cold->zeroed_s, to_seconds(now_us));
	triad_sequence_write_end(&hot->sequence);
	triad_details_zero(engine->details,
		&(struct triad_details_port){
			.row = row, .number = hot->port, .node_guid = hot->node_guid});
}

/* --- reading --- */

/* The state of a port that was asked. */
static uint8_t state_of_asked(const struct triad_row_hot *hot, bool answered)
{
	return (uint8_t)(TRIAD_ROW_WAS_ASKED | (answered ? TRIAD_ROW_ANSWERED : 0) |
		(hot->state &
			(TRIAD_ROW_WAIT_UNKNOWN | TRIAD_ROW_WAIT_FULL |
				TRIAD_ROW_ERRORS_WIDE | TRIAD_ROW_BY_SUM)));
}

void triad_engine_take(struct triad_engine *engine, uint32_t row,
	const struct triad_engine_report *report)
{
	struct triad_row_hot *hot = triad_rows_hot(&engine->rows, row);
	const uint32_t wait = 1u << TRIAD_PORT_XMIT_WAIT;
	struct triad_row_cold *cold;
	struct triad_row_large *large;

	if (!hot)
		return;
	cold = triad_rows_cold(&engine->rows, row);
	large = triad_rows_large(&engine->rows, row);
	triad_sequence_write_begin(&hot->sequence);
	for (uint32_t left = report->has; left; left &= left - 1) {
		unsigned i = (unsigned)__builtin_ctz(left);
		uint64_t before = cold->base[i] + triad_row_last(hot, large, i);
		uint64_t change = report->base[i] + report->raw[i] - before;

		/* As with a first reading, what came before is no change.  Nor is there
		 * one when it went back. */
		if (!(hot->has & 1u << i) || change > INT64_MAX)
			change = 0;
		triad_shared_set(&cold->base[i], report->base[i]);
		triad_row_set_last(hot, large, i, report->raw[i], change);
	}
	/* A report without it: the other process does not know it any more. */
	if (hot->has & wait & ~report->has)
		forget_wait(hot);
	triad_shared_set(&hot->has, report->has | (hot->has & wait));
	hot->from_extended = UINT8_MAX;
	triad_shared_set(&hot->wide_behind, 0);
	triad_shared_set(&hot->state,
		(state_of_asked(hot, report->answered) & ~TRIAD_ROW_ERRORS_WIDE) |
			(report->has_wide_errors ? TRIAD_ROW_ERRORS_WIDE : 0));
	if (report->n_others_resets > cold->n_others_resets)
		triad_shared_set(&cold->others_reset_s, to_seconds(report->read_us));
	if (report->n_own_resets > cold->n_own_resets)
		triad_shared_set(&cold->own_reset_s, to_seconds(report->read_us));
	triad_shared_set(&cold->n_others_resets, report->n_others_resets);
	triad_shared_set(&cold->n_own_resets, report->n_own_resets);
	/* A report names no attribute, so each part gets its time. */
	for (unsigned i = 0; i < TRIAD_READ_N_PARTS; i++)
		if (i != TRIAD_READ_WAIT || report->has & wait)
			note_read(hot, i, report->read_us);
	triad_sequence_write_end(&hot->sequence);
}

/* When the row's values were read.  A port that did not answer in full may have
 * answered in part: then the time of the older part. */
static uint64_t when_read(const struct triad_row_hot *hot)
{
	uint64_t newest_us = 0, oldest_us = UINT64_MAX;

	/* PortXmitWait may have been left out for long. */
	for (unsigned i = 0; i <= TRIAD_READ_WIDE; i++) {
		if (hot->read_us[i] > newest_us)
			newest_us = hot->read_us[i];
		if (hot->read_us[i] && hot->read_us[i] < oldest_us)
			oldest_us = hot->read_us[i];
	}
	return hot->state & TRIAD_ROW_ANSWERED || !newest_us ? newest_us : oldest_us;
}

bool triad_engine_describe(const struct triad_engine *engine, uint32_t row,
	struct triad_engine_report *report)
{
	const struct triad_row_hot *hot = triad_rows_hot(&engine->rows, row);
	const struct triad_row_cold *cold;
	const struct triad_row_large *large;

	if (!hot)
		return false;
	cold = triad_rows_cold(&engine->rows, row);
	large = triad_rows_large(&engine->rows, row);
	*report = (struct triad_engine_report){
		.has = known_counters(hot),
		.answered = hot->state & TRIAD_ROW_ANSWERED,
		.has_wide_errors = hot->state & TRIAD_ROW_ERRORS_WIDE,
		.n_others_resets = cold->n_others_resets,
		.n_own_resets = cold->n_own_resets,
		.zeroed_s = cold->zeroed_s,
	};
	report->read_us = when_read(hot);
	for (unsigned i = 0; i < TRIAD_N_COUNTERS; i++) {
		uint64_t most = i < TRIAD_FIRST_WIDE_COUNTER ? triad_counter_max(i)
							     : UINT64_MAX;
		uint64_t last = triad_row_last(hot, large, i);

		report->raw[i] = last < most ? last : most;
		report->base[i] = cold->base[i] + last - report->raw[i];
	}
	return true;
}

/* --- the rest --- */

void triad_engine_mark(struct triad_engine *engine, uint32_t row, bool answered)
{
	struct triad_row_hot *hot = triad_rows_hot(&engine->rows, row);

	if (!hot || hot->state == state_of_asked(hot, answered))
		return;
	triad_sequence_write_begin(&hot->sequence);
	triad_shared_set(&hot->state, state_of_asked(hot, answered));
	triad_sequence_write_end(&hot->sequence);
}

void triad_engine_prefetch(const struct triad_engine *engine, uint32_t row)
{
	const struct triad_row_hot *hot = triad_rows_hot(&engine->rows, row);

	for (unsigned i = 0; hot && i < sizeof(*hot); i += 64)
		__builtin_prefetch((const char *)hot + i, 1);
}

double triad_engine_rate(const struct triad_engine_row *row, unsigned counter)
{
	uint64_t interval_us = row->interval_us[TRIAD_READ_ERRORS];

	/* At its maximum since an earlier reading it can't count. */
	if (row->saturated >> counter & 1 && !row->change[counter])
		return NAN;
	/* A counter that is in both attributes is read from the extended one where
	 * the agent has it; then that one has an interval. */
	if (counter == TRIAD_PORT_XMIT_WAIT)
		interval_us = row->interval_us[TRIAD_READ_WAIT];
	else if (triad_counters[counter].ext_offset &&
		row->interval_us[TRIAD_READ_WIDE])
		interval_us = row->interval_us[TRIAD_READ_WIDE];
	else if (counter >= TRIAD_FIRST_WIDE_COUNTER && row->wide_behind)
		interval_us = 0;
	return interval_us ? (double)row->change[counter] * 1e6 / (double)interval_us
			   : NAN;
}

bool triad_engine_rate_is_least(const struct triad_engine_row *row, unsigned counter)
{
	return row->saturated >> counter & 1 && triad_engine_rate(row, counter) > 0;
}
