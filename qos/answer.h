/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Answers a request for paths, or decides that OpenSM must answer it.
 *
 * Model: it looks up the end ports that the request names.  Each pair of them gets its
 * level (classifier.h) and its paths (decide.h), one for each pair of LIDs, in OpenSM's
 * order.  Without a policy the answer equals OpenSM's, octet for octet; with one,
 * levels lower the links' values.
 *
 * OpenSM must answer requests about multicast, routers or raw traffic; with only one
 * end or none; with unknown GUIDs, requesters or ends; with ends that the running sweep
 * has changed; and if the routing engine decides on SLs and can't be asked here.
 *
 * Thread-safety: any number of threads, each with its own room.  Memory: no
 * allocation. */
#ifndef TRIAD_QOS_ANSWER_H
#define TRIAD_QOS_ANSWER_H

#include "qos/rules/classifier.h"
#include "qos/decide.h"

/* The paths between two ports with 128 LIDs each. */
#define TRIAD_ANSWER_MAX_RECORDS 16384

enum triad_answer_kind {
	TRIAD_ANSWER_RECORDS,   /* possibly none */
	TRIAD_ANSWER_STATUS,    /* an error, as 'status' says */
	TRIAD_ANSWER_FALL_BACK, /* OpenSM must answer */
};

/* Why OpenSM must answer. */
enum triad_fallback {
	TRIAD_FALLBACK_NOT,
	TRIAD_FALLBACK_ENDS, /* an end is missing, or behind a router */
	TRIAD_FALLBACK_MULTICAST,
	TRIAD_FALLBACK_UNKNOWN, /* an unknown GUID: it may be a new alias */
	TRIAD_FALLBACK_RAW,
	TRIAD_FALLBACK_REQUESTER, /* the requester is not known */
	TRIAD_FALLBACK_CHANGED,   /* the running sweep changes an end or a route */
	TRIAD_FALLBACK_ENGINE,    /* the routing engine must be asked */
	TRIAD_FALLBACK_TOO_MANY,  /* too many records */
	TRIAD_N_FALLBACKS,
};

/* "one-end", ...: for counters. */
const char *triad_fallback_name(enum triad_fallback fallback);

/* All that an answer depends on, as one object, so that no answer mixes two states. */
struct triad_answer_snapshot {
	const struct triad_paths *paths;
	const struct triad_classifier *classifier; /* NULL: no policy */
	struct triad_path_engine engine;
};

struct triad_answer {
	enum triad_answer_kind kind;
	enum triad_fallback fallback;
	enum triad_sa_status status;
	uint32_t source, destination; /* of the last pair; without one, the ends as
				       * far as they are named and known, or NONE */
	uint32_t level, rule;         /* of that pair; TRIAD_POLICY_NONE */
	uint32_t n, room;
	struct triad_path_record *records; /* the caller's, for 'room' of them */
};

/* Answers a request that came from 'requester' (a LID). */
void triad_answer_path(const struct triad_answer_snapshot *snapshot,
	const struct triad_path_request *request, uint16_t requester,
	struct triad_answer *answer);

/* The request as rules see it. */
struct triad_class_request triad_answer_class_request(
	const struct triad_path_request *request, uint32_t source,
	uint32_t destination);

/* The level of a request between these ends (TRIAD_FABRIC_NONE: not known), and the
 * rule that matched, if any; TRIAD_POLICY_NONE without a policy. */
uint32_t triad_answer_level(const struct triad_answer_snapshot *snapshot,
	const struct triad_path_request *request, uint32_t source, uint32_t destination,
	uint32_t *rule);

#endif
