/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "damp/traps.h"

#define N_PROBES 8u /* places in which a sender may be */

bool triad_traps_are_damped(uint16_t kind)
{
	return kind == TRIAD_TRAPS_OF_VENDORS || (kind >= 129 && kind <= 131) ||
		(kind >= 256 && kind <= 259);
}

static struct triad_trap_sender *find_sender(
	struct triad_traps *traps, uint16_t lid, uint16_t kind)
{
	uint32_t hash = (lid * 31u + kind) * 2654435761u >> 16;
	struct triad_trap_sender *oldest = NULL;

	for (uint32_t i = 0; i < N_PROBES; i++) {
		struct triad_trap_sender *sender =
			&traps->senders[(hash + i) % TRIAD_TRAPS_N];

		if (sender->heard_us && sender->lid == lid && sender->kind == kind)
			return sender;
		if (!oldest || sender->heard_us < oldest->heard_us)
			oldest = sender;
	}
	*oldest = (struct triad_trap_sender){.lid = lid, .kind = kind};
	return oldest;
}

/* The virtual scheduling algorithm of ITU-T I.371, annex A. */
static bool is_too_early(
	uint64_t due_us, uint64_t period_us, unsigned burst, uint64_t now_us)
{
	return due_us > now_us + (burst - 1) * period_us;
}

static uint64_t next_due(uint64_t due_us, uint64_t period_us, uint64_t now_us)
{
	return (due_us > now_us ? due_us : now_us) + period_us;
}

bool triad_traps_take(
	struct triad_traps *traps, uint16_t lid, uint16_t kind, uint64_t now_us)
{
	struct triad_trap_sender *sender = find_sender(traps, lid, kind);

	sender->heard_us = now_us ? now_us : 1;
	sender->n_heard++;
	traps->n_heard++;
	if (is_too_early(
		    sender->due_us, TRIAD_TRAPS_PERIOD_US, TRIAD_TRAPS_BURST, now_us) ||
		is_too_early(traps->due_us, TRIAD_US_PER_S, TRIAD_TRAPS_BURST_OF_ALL,
			now_us)) {
		sender->n_kept++;
		traps->n_kept++;
		return true;
	}
	sender->due_us = next_due(sender->due_us, TRIAD_TRAPS_PERIOD_US, now_us);
	traps->due_us = next_due(traps->due_us, TRIAD_US_PER_S, now_us);
	return false;
}
