/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Whatever a PMA answers: the scheduler must take it without harm, and every port must
 * still be reported once.  The input is cut into answers to the queries of a sweep:
 * an octet of what to do, then the octets laid over a proper answer. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "perfmgr/sweep.h"
#include "tests/sim/fabrics.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static unsigned n_done;

static void take_reading(void *context, uint32_t port,
	enum triad_pma_attribute attribute, const struct triad_pma_reading *reading,
	uint64_t now_us)
{
	if (reading->has >> TRIAD_N_COUNTERS)
		abort();
}

static void take_done(void *context, uint32_t port, bool answered)
{
	n_done++;
}

/* Lays up to 40 octets of the input over the answer, where its first octet says. */
static size_t spoil(uint8_t *mad, const uint8_t *data, size_t size)
{
	size_t at = size ? data[0] : 0, n = size < 40 ? size : 40;

	if (at + n > TRIAD_MAD_SIZE)
		n = TRIAD_MAD_SIZE - at;
	memcpy(mad + at, data, n);
	return n ? n : 1;
}

static void run(struct triad_sweep *sweep, const uint8_t *data, size_t size)
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
		}
		now_us = triad_sweep_deadline(sweep);
		triad_sweep_expire(sweep, now_us);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct triad_sweep_sink sink = {
		.reading = take_reading, .done = take_done};
	const struct triad_sweep_params params = {
		.window = 5, .node_window = 2, .retries = 1, .timeout_us = 1000};
	struct triad_fabric *fabric = fabric_row(2, 2);
	struct triad_sweep *sweep = triad_sweep_new(&sink);
	struct triad_sweep_progress progress;

	if (triad_sweep_adopt(sweep, fabric))
		abort();
	for (unsigned i = 0; i < 2; i++) {
		n_done = 0;
		if (triad_sweep_start(sweep, &params))
			abort();
		run(sweep, data, size);
		progress = triad_sweep_progress(sweep);
		if (n_done != progress.n_ports ||
			progress.n_answered + progress.n_unanswered != n_done)
			abort();
	}
	triad_sweep_free(sweep);
	triad_fabric_unref(fabric);
	return 0;
}
