/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Has OpenSM know extended speeds that devices withhold from it (sm.extended_speeds).
 *
 * OpenSM up to 3.3.24 asks for PortInfo without bit 31 of the attribute modifier.  Triad looks
 * at what its SM receives before it does (plugin/takers.h).  A PortInfo in which speeds may
 * be withheld (plugin/withheld.h) does not go to OpenSM: Triad asks for it again, with bit 31
 * and all else that OpenSM's request had, its context as well, and OpenSM gets that answer.  It
 * comes by OpenSM's own queue of SMPs and counts as outstanding, so a sweep waits for it, and
 * what follows in it (routes, paths' rates, groups) knows the speed.  In the same way the
 * answer to a Set is exchanged for that of a Get, since OpenSM believes each of both.
 *
 * Without an answer, or with a status, OpenSM gets what it would have got.
 *
 * An OpenSM that asks with bit 31 itself sees that it has been, and does not ask again.
 *
 * Thread-safety: any thread, but for new, stop and free.  What runs in the vendor's threads
 * takes no lock; the vendor's own one excludes others. */
#ifndef TRIAD_PLUGIN_EXTENDED_SPEEDS_H
#define TRIAD_PLUGIN_EXTENDED_SPEEDS_H

#include <stdbool.h>
#include <stdint.h>

#include "triad/conf.h"
#include "triad/log.h"

struct osm_opensm;
struct triad_extended_speeds;

struct triad_extended_speeds_status {
	bool is_wanted, is_installed;
	uint64_t n_asked;      /* PortInfos asked for again */
	uint64_t n_unanswered; /* of these, those that were refused or not answered */
};

/* NULL when memory is short. */
struct triad_extended_speeds *triad_extended_speeds_new(
	struct osm_opensm *osm, struct triad_log *log);
/* When OpenSM ends: it gets all that it receives.  Accepts NULL. */
void triad_extended_speeds_stop(struct triad_extended_speeds *speeds);
/* After the stop.  Accepts NULL. */
void triad_extended_speeds_free(struct triad_extended_speeds *speeds);

/* Applies sm.extended_speeds.  When it changes in a running master, has it sweep heavily. */
void triad_extended_speeds_configure(
	struct triad_extended_speeds *speeds, const struct triad_conf *conf);

/* From report() of HEAVY_SWEEP_START, before OpenSM asks the first port: never blocks. */
void triad_extended_speeds_note_sweep(struct triad_extended_speeds *speeds);

struct triad_extended_speeds_status triad_extended_speeds_status(
	struct triad_extended_speeds *speeds);

#endif
