/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Whether there is a path from one LID to another that a request and a QoS level allow,
 * and with what SL, MTU, rate, lifetime and P_Key.
 *
 * Model: the walk from switch to switch gives what the links allow; the level lowers
 * it; the request's selectors choose; the P_Key gives the SL unless the level or the
 * request do.  Both directions are decided with one level: the reverse of a path
 * belongs to it, and is not matched with source and destination swapped.
 *
 * What a path gets is what OpenSM 3.3.23 answers; levels of ours add TClass and path
 * bits [qos-rfc 3.2.2].
 *
 * Thread-safety: functions without state.  Memory: no allocation. */
#ifndef TRIAD_QOS_DECIDE_H
#define TRIAD_QOS_DECIDE_H

#include "qos/paths.h"
#include "qos/policy/policy.h"
#include "qos/request.h"

/* Why there is no path. */
enum triad_refusal {
	TRIAD_REFUSAL_NONE,
	TRIAD_REFUSAL_UNSURE, /* the SM must be asked: what is known is in doubt */
	TRIAD_REFUSAL_VL15,   /* every SL is dropped somewhere on the way */
	TRIAD_REFUSAL_TOO_LONG,
	TRIAD_REFUSAL_LEVEL_SL, /* the level's SL is dropped somewhere */
	TRIAD_REFUSAL_MTU,
	TRIAD_REFUSAL_RATE,
	TRIAD_REFUSAL_LIFE,
	TRIAD_REFUSAL_PKEY_NOT_SHARED, /* the one that was asked for */
	TRIAD_REFUSAL_PKEY_NOT_OF_LEVEL,
	TRIAD_REFUSAL_NO_PKEY,
	TRIAD_REFUSAL_NO_PKEY_OF_LEVEL,
	TRIAD_REFUSAL_SL_NOT_OF_LEVEL, /* the one that was asked for */
	TRIAD_REFUSAL_SL_VL15,         /* the one that was chosen */
	TRIAD_REFUSAL_SL_NOT_OF_ENGINE,
	TRIAD_REFUSAL_NOT_REVERSIBLE,
	TRIAD_N_REFUSALS,
};

/* "no SL has a VL on every hop", ...: a reason in words. */
const char *triad_refusal_text(enum triad_refusal refusal);

/* The routing engine's word on SLs, where it has one: 'sl' is what would be taken.  A
 * NULL 'sl' function means that it can't be asked here. */
struct triad_path_engine {
	uint8_t (*sl)(void *context, uint8_t sl, uint16_t slid, uint16_t dlid);
	void *context;
};

struct triad_path_ask {
	const struct triad_paths *paths;
	const struct triad_path_request *request;
	const struct triad_policy_level *level; /* NULL: none restricts it */
	struct triad_path_engine engine;
	uint32_t from, to; /* end ports, by index in the fabric's */
};

struct triad_path_decision {
	enum triad_refusal refusal;
	uint8_t mtu, rate, life, sl; /* coded */
	uint16_t pkey;
	uint8_t links;
	bool reversible;
};

/* The P_Key that the level gives to a path between two end ports, without the
 * membership bit: the lowest of its own that both share.  0: none, or it has none of
 * its own. */
uint16_t triad_path_level_pkey(const struct triad_paths *paths,
	const struct triad_policy_level *level, uint32_t from, uint32_t to);

/* One direction. */
void triad_path_decide_way(const struct triad_path_ask *ask, uint16_t slid,
	uint16_t dlid, struct triad_path_decision *decision);

/* Both: 'decision' is that of the way there, with 'reversible' set. */
void triad_path_decide(const struct triad_path_ask *ask, uint16_t slid, uint16_t dlid,
	struct triad_path_decision *decision);

/* True when the level lets paths go to that one of the LIDs of 'to' [qos-rfc 3.2.2]. */
bool triad_path_bits_allow(const struct triad_policy_level *level,
	const struct triad_path_end *to, uint16_t dlid);

/* The rate as it is told to clients. */
uint8_t triad_path_reported_rate(
	const struct triad_path_ask *ask, const struct triad_path_decision *decision);

#endif
