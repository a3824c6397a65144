/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "lib/inbox.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "lib/format_version.h"
#include "triad/clock.h"

#define MAX_SENT 16u             /* payloads in one step */
#define AGAIN_US TRIAD_US_PER_MS /* the transport is busy with its own payloads */

bool triad_inbox_put(
	struct triad_inbox *inbox, uint64_t sender, const void *octets, size_t size)
{
	struct triad_payload *payload;

	if (size > TRIAD_INBOX_OCTETS || inbox->ring.n == TRIAD_INBOX_ROOM) {
		inbox->n_dropped++;
		return false;
	}
	payload = &inbox->payloads[triad_ring_put(&inbox->ring, TRIAD_INBOX_ROOM)];
	payload->sender = sender;
	payload->size = size;
	if (size)
		memcpy(payload->octets, octets, size);
	return true;
}

bool triad_inbox_take(struct triad_inbox *inbox, struct triad_payload *payload)
{
	if (!inbox->ring.n)
		return false;
	*payload = inbox->payloads[triad_ring_take(&inbox->ring, TRIAD_INBOX_ROOM)];
	return true;
}

void triad_inbox_clear(struct triad_inbox *inbox)
{
	inbox->ring = (struct triad_ring){0};
}

uint64_t triad_outbox_send(struct triad_outbox *outbox,
	const struct triad_outbox_ends *ends, uint64_t now_us)
{
	for (unsigned i = 0; i < MAX_SENT; i++) {
		if (!outbox->size)
			outbox->size = ends->make(ends->context, outbox->octets);
		if (!outbox->size)
			return UINT64_MAX;
		if (ends->send(ends->context, outbox->octets, outbox->size) == EAGAIN) {
			/* At first its turn may come soon: retry quickly. */
			outbox->n_refused++;
			return now_us +
				(outbox->n_refused < ends->rest_us / AGAIN_US
						? AGAIN_US
						: ends->rest_us);
		}
		outbox->size = 0;
		outbox->n_refused = 0;
	}
	return now_us + AGAIN_US;
}

void triad_release_check(
	struct triad_release *release, const struct triad_payload *payload)
{
	unsigned version = triad_format_message_version(
		payload->octets, payload->size, release->magic);
	char why[TRIAD_FORMAT_REFUSAL_SIZE];
	unsigned long suppressed;

	if (!release->limit.burst) {
		release->limit.burst = 1;
		release->limit.period_us = 60 * TRIAD_US_PER_S;
	}
	if (!version || version == release->version ||
		!triad_log_limit_pass(
			&release->limit, triad_clock_now_us(), &suppressed))
		return;
	triad_format_disagreement(why, version, release->version);
	triad_log_write(release->log, TRIAD_LOG_ERROR,
		"%s: SM 0x%016" PRIx64 " %s (%lu more times before)", release->about,
		payload->sender, why, suppressed);
}
