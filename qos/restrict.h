/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Narrows a request that OpenSM will answer to what a QoS level allows.
 *
 * OpenSM knows nothing of our levels; but a client could have asked for the level's SL,
 * for an MTU below its limit, for its P_Key.  So the request is changed to ask for
 * that, and what OpenSM finds follows the level.
 *
 * What can't be asked for so: a TClass in the answer, path bits, a packet lifetime
 * above the subnet's, another SL where the routing engine has the last word, the
 * largest MTU where OpenSM's quirks want 1,024 octets.  And a request for more than a
 * value that has a limit becomes one for the limit itself, so that a path in between is
 * not found.  A rate is met exactly or not at all: one over links that are faster than
 * the limit is not found either when the request is for exactly the limit, or for more
 * than a value.  What is found is always what the level gives, but for the lifetime.
 *
 * Thread-safety: functions without state. */
#ifndef TRIAD_QOS_RESTRICT_H
#define TRIAD_QOS_RESTRICT_H

#include "qos/paths.h"
#include "qos/policy/policy.h"
#include "qos/request.h"

/* 'record' is the attribute that 'request' was read from, 'mask' its component mask;
 * both are changed.  'pkey' (0: none) is what the path would get, for a level with
 * several P_Keys: triad_path_level_pkey().  Returns false when nothing is left that
 * both want: then there are no records, and '*record' and '*mask' may have been
 * changed. */
bool triad_request_restrict(const struct triad_policy_level *level,
	const struct triad_path_request *request, uint16_t pkey, uint8_t *record,
	uint64_t *mask);

#endif
