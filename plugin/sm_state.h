/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* What this SM is at the moment, and which other is master. */
#ifndef TRIAD_PLUGIN_SM_STATE_H
#define TRIAD_PLUGIN_SM_STATE_H

#include <stdbool.h>
#include <stdint.h>

struct osm_opensm;

/* "master", "standby", "discovering", "not-active" or "starting"; each has one address,
 * so that states may be compared by it.  Takes no lock: OpenSM writes an octet. */
const char *triad_sm_state(const struct osm_opensm *osm);

/* As master, in its first sweep, in which OpenSM empties its SA and drops requests; or about to
 * begin it. */
bool triad_sm_is_in_first_sweep(const struct osm_opensm *osm);

/* Another SM is master, or is to be. */
bool triad_sm_is_standby(const struct osm_opensm *osm);

/* Another SM that was master when this one, the master, last asked it: '*guid' of its
 * port, or 0; and whether this one waits for it to hand over.  Returns false and
 * leaves both as they are when OpenSM's lock is not free: it does not wait for it. */
bool triad_sm_other_master(struct osm_opensm *osm, uint64_t *guid, bool *waits);

/* SMPs that OpenSM waits for, and those that it has sent and received since its start. */
void triad_sm_smps(
	const struct osm_opensm *osm, uint32_t *n_outstanding, uint32_t *n_moved);

/* The SM_Key of who is trusted by the SA, as this SM has it. */
uint64_t triad_sm_sa_key(const struct osm_opensm *osm);

#endif
