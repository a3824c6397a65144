/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The answer to a request for paths, or the word that OpenSM must give it.
 *
 * Model: the ends that the request names are looked up; each pair of them gets its
 * level (classifier.h) and its paths (decide.h), one LID with another, in OpenSM's
 * order.  Without a policy the answer is OpenSM's, octet for octet; with one, levels
 * lower what the links give.
 *
 * What is not answered here: multicast and routers, requests that name only one end or
 * none, GUIDs that nobody has, raw traffic, requesters and ends that are not known or
 * that the running sweep has changed, a routing engine with a word on SLs unless it can
 * be asked.
 *
 * Thread-safety: any number of threads, each with its own room.  Memory: no
 * allocation. */
#ifndef TRIAD_QOS_ANSWER_H
#define TRIAD_QOS_ANSWER_H

#include "qos/rules/classifier.h"
#include "qos/decide.h"

/* Two ports with 128 LIDs each have so many paths. */
#define TRIAD_ANSWER_MAX_RECORDS 16384

enum triad_answer_kind {
	TRIAD_ANSWER_RECORDS,   /* possibly none */
	TRIAD_ANSWER_STATUS,    /* an error, as 'status' says */
	TRIAD_ANSWER_FALL_BACK, /* OpenSM must answer */
};

/* Why OpenSM must. */
enum triad_fallback {
	TRIAD_FALLBACK_NOT,
	TRIAD_FALLBACK_ENDS, /* an end is missing, or behind a router */
	TRIAD_FALLBACK_MULTICAST,
	TRIAD_FALLBACK_UNKNOWN, /* a GUID: it may be an alias that came since */
	TRIAD_FALLBACK_RAW,
	TRIAD_FALLBACK_REQUESTER, /* not known */
	TRIAD_FALLBACK_CHANGED,   /* the sweep is changing it */
	TRIAD_FALLBACK_ENGINE,    /* the routing engine must be asked */
	TRIAD_FALLBACK_TOO_MANY,  /* records */
	TRIAD_N_FALLBACKS,
};

/* "one-end", ...: for counters. */
const char *triad_fallback_name(enum triad_fallback fallback);

/* Everything that an answer follows from; one whole, so that no answer is a mixture. */
struct triad_answer_snapshot {
	const struct triad_paths *paths;
	const struct triad_classifier *classifier; /* NULL: no policy */
	struct triad_path_engine engine;
};

struct triad_answer {
	enum triad_answer_kind kind;
	enum triad_fallback fallback;
	enum triad_sa_status status;
	uint32_t source, destination; /* of the pair looked at last; of none: the ends
	                               * as far as they are named and known, or NONE */
	uint32_t level, rule;         /* of that pair; TRIAD_POLICY_NONE */
	uint32_t n, room;
	struct triad_path_record *records; /* the caller's, for 'room' of them */
};

/* Answers a request that came from 'requester' (a LID). */
void triad_answer_path(const struct triad_answer_snapshot *snapshot,
	const struct triad_path_request *request, uint16_t requester,
	struct triad_answer *answer);

/* What rules look at. */
struct triad_class_request triad_answer_class_request(
	const struct triad_path_request *request, uint32_t source,
	uint32_t destination);

/* The level of a request whose ends are known as far as the arguments say
 * (TRIAD_FABRIC_NONE: not), and the rule, if one matched; TRIAD_POLICY_NONE without a
 * policy. */
uint32_t triad_answer_level(const struct triad_answer_snapshot *snapshot,
	const struct triad_path_request *request, uint32_t source, uint32_t destination,
	uint32_t *rule);

#endif
