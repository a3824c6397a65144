/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Decides whether a request and a QoS level allow a path from one LID to another, and
 * with which SL, MTU, rate, lifetime and P_Key.
 *
 * Model: the walk from switch to switch gives what the links allow; the level lowers
 * it; the request's selectors choose; the P_Key gives the SL unless the level or the
 * request do.  Both directions use the same level: the reverse of a path belongs to it,
 * and is not matched again with source and destination swapped.
 *
 * The values are those that OpenSM 3.3.23 answers; Triad's levels add TClass and path
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
	TRIAD_REFUSAL_UNSURE, /* the SM must be asked: the snapshot may be outdated */
	TRIAD_REFUSAL_VL15,   /* every SL is dropped somewhere on the path */
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

/* The routing engine's choice of the SL, if it decides on SLs; its argument 'sl' is the
 * SL used otherwise.  A NULL 'sl' function means that the engine can't be asked
 * here. */
struct triad_path_engine {
	uint8_t (*sl)(void *context, uint8_t sl, uint16_t slid, uint16_t dlid);
	void *context;
};

struct triad_path_ask {
	const struct triad_paths *paths;
	const struct triad_path_request *request;
	const struct triad_policy_level *level; /* NULL: no restriction */
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

/* Decides one direction. */
void triad_path_decide_links(const struct triad_path_ask *ask, uint16_t slid,
	uint16_t dlid, struct triad_path_decision *decision);

/* Decides both directions: 'decision' is that of the forward path, with 'reversible'
 * set. */
void triad_path_decide(const struct triad_path_ask *ask, uint16_t slid, uint16_t dlid,
	struct triad_path_decision *decision);

/* True when the level allows paths to that LID of 'to' [qos-rfc 3.2.2]. */
bool triad_path_bits_allow(const struct triad_policy_level *level,
	const struct triad_path_end *to, uint16_t dlid);

/* The rate as clients get it. */
uint8_t triad_path_reported_rate(
	const struct triad_path_ask *ask, const struct triad_path_decision *decision);

#endif
