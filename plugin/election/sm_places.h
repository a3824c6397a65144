/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Where OpenSM's tables have the ports of other SMs.
 *
 * Thread-safety: any thread. */
#ifndef TRIAD_PLUGIN_ELECTION_SM_PLACES_H
#define TRIAD_PLUGIN_ELECTION_SM_PLACES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct osm_opensm;

struct triad_sm_place {
	uint64_t id;    /* GUID of the port */
	uint64_t m_key; /* of it */
	uint16_t lid;   /* 0: none yet */
};

/* Sets LID and M_Key of those that the tables have; the others stay as they are.  False
 * while OpenSM has its lock, which is not waited for, or ends. */
bool triad_sm_places_read(
	struct osm_opensm *osm, struct triad_sm_place *places, size_t n);

#endif
