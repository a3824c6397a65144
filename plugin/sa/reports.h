/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Room for what OpenSM sent and waits to be answered, reports to subscribers above all.
 *
 * Model: OpenSM's vendor library has a table of those, with room for 1000 unless the variable
 * OSM_UMAD_MAX_PENDING says otherwise.  An event is a report for each subscription to it, and one
 * that nobody answers waits for some time-outs.  Full of reports, put_madw() writes to address 0
 * when the SM sends an SMP, and OpenSM ends.  A larger table does not fill up: put_madw() goes
 * through all that waits, so that reports time out as fast as others are sent long before.
 *
 * Source: osm_vendor_ibumad.c of OpenSM 3.3.21 to 3.3.24, which reaches the table under its mutex
 * alone, and frees it when OpenSM ends.
 * Thread-safety: any thread, while the vendor is there; takes that mutex for a moment.
 * Memory: 3 MiB, of which only what waited at one time is touched. */
#ifndef TRIAD_PLUGIN_SA_REPORTS_H
#define TRIAD_PLUGIN_SA_REPORTS_H

#include <stddef.h>

#define TRIAD_REPORTS_ROOM 131072

struct _osm_vendor;

/* Gives the vendor a table of TRIAD_REPORTS_ROOM, if it has a smaller one.  Returns 0, ENOMEM, or
 * ENOTSUP when its table is not as this OpenSM's should be; then nothing changes. */
int triad_reports_make_room(struct _osm_vendor *vendor);

/* How many may wait. */
size_t triad_reports_room(const struct _osm_vendor *vendor);

#endif
