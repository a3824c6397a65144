/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Narrows a request that OpenSM will answer to what a QoS level allows.
 *
 * OpenSM does not know Triad's levels.  But a client can request an SL, an MTU limit, a
 * P_Key.  So Triad changes the request to ask for the level's values, and OpenSM's
 * answer follows the level.
 *
 * This can't express: a TClass in the answer, path bits, a packet lifetime above the
 * subnet's, another SL where the routing engine decides, the largest MTU where OpenSM's
 * quirks require 1,024 octets.  A request for more than a value becomes, with a limit,
 * a request for exactly the limit, so paths with values in between are not found.
 * OpenSM meets a rate exactly or not at all: if the request is for exactly the limit,
 * or for more than a value, a path over links that are faster than the limit is not
 * found either.  The paths that are found always follow the level, except for the
 * lifetime.
 *
 * Thread-safety: functions without state. */
#ifndef TRIAD_QOS_RESTRICT_H
#define TRIAD_QOS_RESTRICT_H

#include "qos/paths.h"
#include "qos/policy/policy.h"
#include "qos/request.h"

/* 'record' is the attribute that 'request' was read from, 'mask' its component mask;
 * both are changed.  'pkey' (0: none) is what the path would get, for a level with
 * several P_Keys: triad_path_level_pkey().  Returns false when no value satisfies both:
 * then there are no records, and '*record' and '*mask' may have been changed. */
bool triad_request_restrict(const struct triad_policy_level *level,
	const struct triad_path_request *request, uint16_t pkey, uint8_t *record,
	uint64_t *mask);

#endif
