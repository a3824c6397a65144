/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Any answers of a PMA: the scheduler must take them without harm and must report each
 * port exactly once.  The input is cut into answers to the queries of a sweep: an octet
 * of flags, then the octets that overwrite a part of a proper answer. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "perfmgr/sweep/sweep.h"
#include "tests/sim/fabrics.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static unsigned n_done;
static bool adopted;

static uint32_t take_reading(void *context, uint32_t port,
	enum triad_pma_attribute attribute, const struct triad_pma_reading *reading,
	uint64_t now_us)
{
	if (reading->has >> TRIAD_N_COUNTERS)
		abort();
	return reading->has;
}

static void take_detail(void *context, uint32_t port,
	enum triad_pma_attribute attribute, const struct triad_detail_reading *reading,
	bool after_reset, uint64_t now_us)
{
	if (!triad_detail_attribute(attribute))
		abort();
}

static void take_coming(void *context, uint32_t port)
{
}

static void take_unchanged(
	void *context, uint32_t port, enum triad_wait_news wait, uint64_t now_us)
{
}

static void take_resetting(void *context, uint32_t port, uint32_t mask)
{
}

static void take_reset(void *context, uint32_t port,
	const struct triad_pma_reading *reading, uint64_t now_us)
{
	take_reading(context, port, TRIAD_PMA_PORT_COUNTERS, reading, now_us);
}

static void take_done(void *context, uint32_t port, bool answered)
{
	n_done++;
}

/* Overwrites up to 40 octets of the answer with the input, at the offset in its first
 * octet. */
static size_t spoil(uint8_t *mad, const uint8_t *data, size_t size)
{
	size_t at = size ? data[0] : 0, n = size < 40 ? size : 40;

	if (at + n > TRIAD_MAD_SIZE)
		n = TRIAD_MAD_SIZE - at;
	memcpy(mad + at, data, n);
	return n ? n : 1;
}

/* Adopts the fabric 'other' during the sweep when the input has that flag. */
static void run(struct triad_sweep *sweep, struct triad_fabric *other,
	const uint8_t *data, size_t size)
{
	struct triad_sweep_query query;
	struct triad_mad_reply reply;
	uint64_t now_us = 0;

	while (!triad_sweep_is_done(sweep)) {
		while (triad_sweep_next(sweep, now_us, &query)) {
			uint8_t what = size ? data[0] : 0;

			reply = (struct triad_mad_reply){
				.lid = query.to.lid, .size = TRIAD_MAD_SIZE};
			memcpy(reply.mad, query.mad, TRIAD_MAD_SIZE);
			reply.mad[3] = 0x81;
			if (query.mad[17] == 1)
				reply.mad[66] = 0x13; /* capabilities, as ibsim's */
			if (size) {
				size_t used = 1;

				if (what & 1)
					used += spoil(reply.mad, data + 1, size - 1);
				data += used < size ? used : size;
				size -= used < size ? used : size;
			}
			reply.status = what & 2 ? 110 : 0;
			if (what & 4)
				reply.size = what;
			if (!(what & 8))
				triad_sweep_reply(sweep, &reply, now_us);
			if (what & 16)
				triad_sweep_reply(sweep, &reply, now_us);
			if (!(what & 32))
				continue;
			adopted = true;
			if (triad_sweep_adopt(sweep, other))
				abort();
		}
		now_us = triad_sweep_deadline(sweep);
		triad_sweep_expire(sweep, now_us);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct triad_sweep_sink sink = {
		.coming = take_coming,
		.reading = take_reading,
		.detail = take_detail,
		.unchanged = take_unchanged,
		.resetting = take_resetting,
		.reset = take_reset,
		.done = take_done,
	};
	struct triad_sweep_params params = {.window = 5,
		.node_window = 2,
		.retries = 1,
		.timeout_us = 1000,
		.reset_near_full = true,
		.round_part = {1, 1, 1},
		.round_share = 1,
		.waits_apart = true,
		.most_hold_us = 1000000};
	struct triad_fabric *fabric = fabric_row(2, 2), *other = fabric_row(3, 1);
	struct triad_sweep *sweep = triad_sweep_new(&sink);
	struct triad_sweep_progress progress;

	for (unsigned i = 0; i < 6; i++) {
		if (triad_sweep_adopt(sweep, fabric))
			abort();
		n_done = 0;
		adopted = false;
		params.mode = i % 3;
		if (i == 4)
			triad_sweep_want_reset(sweep, 1);
		if (triad_sweep_start(sweep, &params))
			abort();
		run(sweep, other, data, size);
		progress = triad_sweep_progress(sweep);
		if (!adopted && n_done != progress.n_ports)
			abort();
		if (progress.n_answered + progress.n_unanswered != progress.n_ports)
			abort();
	}
	triad_sweep_free(sweep);
	triad_fabric_unref(fabric);
	triad_fabric_unref(other);
	return 0;
}
