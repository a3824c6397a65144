/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Writes into one block of a device what OpenSM wants there, by hand.
 *
 * Model: only tables that OpenSM writes and never reads back: of PortInfo and SwitchInfo its
 * next heavy sweep adopts what the device has, and writes what it wants itself.  An act must
 * be newer than the newest table: after the difference was confirmed no sweep may begin, and
 * right before each Set OpenSM must want the same as then, the device must be the same and
 * have the same as then.  When a sweep begins after a Set all the same, OpenSM may have
 * written before it: what it wants afterwards is written, until both agree.  So OpenSM's own
 * copy, which is what it wants, stays true.
 *
 * SMPs go by directed route, since tables on the way may be wrong, from a descriptor of our
 * own (plugin/ports/smp.h).  Each Set is sent once, and its block is read back.
 *
 * Thread-safety: blocks, a second or two; call it from a thread that may.  Takes osm->lock,
 * shared, for a moment.  Memory: none is kept. */
#ifndef TRIAD_PLUGIN_AUDIT_REPAIR_H
#define TRIAD_PLUGIN_AUDIT_REPAIR_H

#include "plugin/audit/wishes.h"

struct triad_smp;

struct triad_repair {
	const struct triad_wish_source *source;
	struct triad_smp *smp;
	/* Why nothing may be written now, or NULL; asked right before each Set, and after
	 * it. */
	const char *(*why_not)(void *context);
	/* Waits for the end of sweeps, so that 'why_not' counts from then on.  Returns
	 * false: they do not end, or nobody waits. */
	bool (*settle)(void *context);
	/* Right before the first Set of the block. */
	void (*begin)(void *context);
	void *context;
};

/* Whether the device of the port, an index, answers by directed route. */
bool triad_repair_is_there(
	const struct triad_wish_source *source, struct triad_smp *smp, uint32_t port);

/* Why differences of that kind are not to be repaired; NULL: they are. */
const char *triad_repair_refuses_kind(unsigned kind);

/* Repairs the 'n' differences, all of one block.  Returns NULL when the device has what
 * OpenSM wants, else why not: a text that lasts. */
const char *triad_repair_block(const struct triad_repair *repair,
	const struct triad_audit_difference *differences, size_t n);

#endif
