/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Reads LID and M_Key of other SMs' ports from OpenSM's tables.
 *
 * Thread-safety: any thread. */
#ifndef TRIAD_PLUGIN_ELECTION_SM_PLACES_H
#define TRIAD_PLUGIN_ELECTION_SM_PLACES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct osm_opensm;

struct triad_sm_tables {
	uint64_t id;    /* GUID of the port */
	uint64_t m_key; /* of that port */
	uint16_t lid;   /* 0: none yet */
};

/* Sets LID and M_Key of the ports in the tables; leaves the others unchanged.  Returns
 * false if OpenSM's lock is not free (it never waits), or OpenSM is ending. */
bool triad_sm_places_read(
	struct osm_opensm *osm, struct triad_sm_tables *places, size_t n);

/* The GUIDs of the ports at which OpenSM knows SMs, at most 'max'; '*n' is their number.
 * Returns false as triad_sm_places_read(). */
bool triad_sm_list(struct osm_opensm *osm, uint64_t *ids, size_t max, size_t *n);

#endif
