/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Renders the section of a profile (profile.h) that one sweep gives, from a view.
 *
 * Model: a section has rows of ports that answered in the sweep, and whose data changed
 * by more than min_change since their last row (change_filter.h); with all counters, also
 * of ports that waited for as much or counted an error.  It has the details that were read
 * in the sweep.  After triad_profile_sections_forget() the next section has every port
 * that answered and all known details: a file begins with such a one, and it follows one
 * that was lost.
 *
 * Thread-safety: none; one thread at a time.
 * Memory: 56 octets a port (the change filter). */
#ifndef TRIAD_PERFMGR_PROFILE_SECTION_H
#define TRIAD_PERFMGR_PROFILE_SECTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "perfmgr/view.h"

struct triad_profile_sections;

struct triad_profile_section_params {
	bool all_counters, details;
	uint64_t min_change_octets;
	uint64_t period_us; /* of sweeps */
};

/* Where the lines go. */
struct triad_profile_sink {
	/* Takes a line with its newline.  False: no more of them. */
	bool (*put)(void *context, const char *line, size_t size);
	void *context;
};

/* 'port_guid' is that of the port that reads counters; readers tell collectors apart by
 * it.  Totals begin at 'started_us' (wall clock).  NULL when memory is short. */
struct triad_profile_sections *triad_profile_sections_new(
	uint64_t port_guid, uint64_t started_us);

/* Accepts NULL. */
void triad_profile_sections_free(struct triad_profile_sections *sections);

/* The next section has all there is. */
void triad_profile_sections_forget(struct triad_profile_sections *sections);

/* Renders the section of the sweep that began at 'since_us' (monotonic), wall time
 * 'wall_us', which is written in whole milliseconds.  'view' is borrowed for the call.
 * Returns false when the sink took no more: then the filter counts rows as reported that
 * were not, and the owner calls triad_profile_sections_forget(). */
bool triad_profile_sections_put(struct triad_profile_sections *sections,
	const struct triad_profile_section_params *params,
	const struct triad_view *view, uint64_t wall_us, uint64_t since_us,
	const struct triad_profile_sink *sink);

#endif
