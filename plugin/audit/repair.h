/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Writes into blocks of devices what OpenSM wants there, by hand.
 *
 * Model: only tables that OpenSM writes and never reads back: of PortInfo and SwitchInfo its
 * next heavy sweep adopts what the device has, and writes what it wants itself.  An act must
 * be newer than the newest table: after the difference was confirmed no sweep may begin, and
 * right before each Set OpenSM must want the same as then, the device must be the same and
 * have the same as then.  OpenSM may have written between our reading and our Set all the same,
 * for a sweep, a join or an alias, and a Set has all of its block: what it wants afterwards in
 * any of the block's entries is written, until both agree.  So OpenSM's own copy, which is what
 * it wants, stays true.  Entries that differed before and were not chosen stay as they were.
 *
 * SMPs go by directed route, since tables on the way may be wrong, from a descriptor of our
 * own (plugin/ports/smp.h).  Each Set is sent once, and its block is read back.
 *
 * Thread-safety: blocks, a second or two; call it from a thread that may.  Takes osm->lock,
 * shared, for a moment.  Memory: none is kept. */
#ifndef TRIAD_PLUGIN_AUDIT_REPAIR_H
#define TRIAD_PLUGIN_AUDIT_REPAIR_H

#include "plugin/audit/wishes.h"

struct triad_plugin;
struct triad_smp;

/* What somebody asks for by hand. */
struct triad_audit_repair {
	bool (*is_chosen)(
		void *context, const struct triad_audit_difference *difference);
	/* Called for each chosen difference.  'why_not' is NULL: the device has what is
	 * wanted now. */
	void (*note)(void *context, const struct triad_fabric *fabric,
		const struct triad_audit_difference *difference, const char *why_not);
	void *context;
};

/* An audit that repairs, after its second reading. */
struct triad_repair {
	struct triad_plugin *plugin;
	const struct triad_wish_source *source;
	const struct triad_audit_repair *asked;
	/* Why nothing may be written now, or NULL; asked right before each Set, and after
	 * it.  The text lasts. */
	const char *(*why_not)(void *context);
	/* Waits for the end of sweeps, so that 'why_not' counts from then on.  Returns
	 * false: they do not end, or nobody waits. */
	bool (*settle)(void *context);
	void *context;
};

/* Whether the device of the port, an index, answers by directed route. */
bool triad_repair_is_there(
	const struct triad_wish_source *source, struct triad_smp *smp, uint32_t port);

/* Repairs what is chosen of the '*n' differences, which are sorted, and leaves out what is
 * repaired: the device has what OpenSM wants.  The timeline and the log have each block
 * before its first Set and at its end.  Returns 0 or ENOMEM. */
int triad_repair_chosen(const struct triad_repair *repair,
	struct triad_audit_difference *differences, size_t *n);

#endif
