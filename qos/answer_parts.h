/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* What the answers to PathRecord (answer.c) and MultiPathRecord (answer_multi.c) share:
 * one request while it is being answered.
 *
 * answer_pair.c works out the paths between two ports for both. */
#ifndef TRIAD_QOS_ANSWER_PARTS_H
#define TRIAD_QOS_ANSWER_PARTS_H

#include "qos/answer.h"

/* An end as the request names it: a port by one of its GUIDs. */
struct triad_answer_end {
	uint32_t port; /* TRIAD_FABRIC_NONE: not named */
	struct triad_gid gid;
};

struct triad_answering {
	const struct triad_answer_snapshot *snapshot;
	const struct triad_path_request *request;
	struct triad_answer *answer;
	uint32_t requester;
	/* The present pair. */
	struct triad_answer_end source, destination;
	struct triad_path_ask ask;
};

/* The possible LIDs of one end. */
struct triad_lid_range {
	uint32_t first, last;
};

static inline const struct triad_paths *paths_of(
	const struct triad_answering *answering)
{
	return answering->snapshot->paths;
}

/* Whether paths may still be added: it neither failed nor was left to OpenSM. */
static inline bool is_open(const struct triad_answering *answering)
{
	return answering->answer->kind == TRIAD_ANSWER_RECORDS;
}

/* --- answer_pair.c: one pair of ports --- */

void triad_answering_fall_back(
	struct triad_answering *answering, enum triad_fallback why);
void triad_answering_fail(
	struct triad_answering *answering, enum triad_sa_status status);

/* Makes this pair the present one, with its level.  False when OpenSM must answer,
 * which is noted in the answer. */
bool triad_answering_set_pair(struct triad_answering *answering,
	const struct triad_answer_end *source,
	const struct triad_answer_end *destination);

/* True when the requester and both ends share partitions. */
bool triad_answering_may_see(const struct triad_answering *answering);

/* Works out one path of the present pair; false when there is none, or when OpenSM must
 * be asked (answer->kind tells).  '*path' is complete then. */
bool triad_answering_work_out(struct triad_answering *answering, uint32_t slid,
	uint32_t dlid, uint8_t preference, struct triad_path_record *path);

/* Adds up to 'max' paths of the present pair between LIDs of the two ranges; paths that
 * share no LID come first.  Returns how many. */
uint32_t triad_answering_add_paths(struct triad_answering *answering,
	struct triad_lid_range sources, struct triad_lid_range destinations,
	uint32_t max);

struct triad_lid_range triad_answering_lids(
	const struct triad_answering *answering, uint32_t port);

/* True for a GID of this subnet: its prefix, or the link-local one. */
bool triad_answering_is_local(
	const struct triad_answering *answering, const struct triad_gid *gid);

/* --- answer_multi.c --- */

/* Answers a MultiPathRecord. */
void triad_answering_multi(struct triad_answering *answering);

#endif
