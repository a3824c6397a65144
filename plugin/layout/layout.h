/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Offsets in OpenSM's structures, for each option of OpenSM's configure that changes
 * them.
 *
 * OpenSM compares only versions when it loads a plugin.  --enable-debug adds members to
 * its lists and maps, and --disable-perf-mgr leaves out its PerfMgr, so an opensm of
 * the same version may have another layout than the headers of Triad's build.
 *
 * Model: each layout is compiled from the same headers with another osm_config.h.
 * OpenSM's structures point at each other: the running opensm has the layout at whose
 * offsets those pointers are found. --enable-perf-mgr-profile and the console options
 * change no offset.
 *
 * Thread-safety: none needed; all is constant.  Never blocks or allocates. */
#ifndef TRIAD_PLUGIN_LAYOUT_LAYOUT_H
#define TRIAD_PLUGIN_LAYOUT_LAYOUT_H

#include <stdbool.h>
#include <stddef.h>

struct osm_opensm;

struct triad_layout {
	const char *options; /* options of OpenSM's configure, for messages */
	bool has_debug;
	bool has_perfmgr;
	/* Offsets of pointers in osm_opensm_t, in octets ... */
	size_t subn_osm;
	size_t sm_subn;
	size_t sm_lock;
	size_t sa_subn;
	size_t sa_lock;
	size_t sa_log;
	/* ... and offsets of what they point at. */
	size_t subn;
	size_t lock;
	size_t log;
};

extern const struct triad_layout triad_layout_stock;
extern const struct triad_layout triad_layout_debug;
extern const struct triad_layout triad_layout_no_perfmgr;
extern const struct triad_layout triad_layout_debug_no_perfmgr;

/* The layout of a running opensm; NULL when it is none of these. */
const struct triad_layout *triad_layout_find(const struct osm_opensm *osm);

/* The layout of an OpenSM that was configured with these options. */
const struct triad_layout *triad_layout_of(bool has_debug, bool has_perfmgr);

/* OpenSM's log in 'osm', which has that layout: an osm_log_t. */
void *triad_layout_log(const struct triad_layout *layout, struct osm_opensm *osm);

#endif
