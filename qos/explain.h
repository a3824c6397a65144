/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Explains the answer to a request for a path: rule, level, every hop, the answer.
 *
 * Thread-safety: functions without state, on a snapshot that the caller holds.
 * Memory: no allocation; an explanation takes some 5 KiB. */
#ifndef TRIAD_QOS_EXPLAIN_H
#define TRIAD_QOS_EXPLAIN_H

#include "qos/answer.h"

#define TRIAD_EXPLAIN_MAX_NEAR 8

/* A rule before the matching one, with exactly one condition that does not hold.  Rules
 * with other conditions, which hold, come first. */
struct triad_near_miss {
	uint32_t rule;
	struct triad_class_mismatch mismatch;
};

struct triad_explanation {
	uint32_t source, destination; /* end ports, by index in the fabric's */
	uint32_t rule, level;         /* or TRIAD_POLICY_NONE */
	unsigned n_near;              /* in 'near' */
	unsigned n_more_near;         /* those without room in 'near' */
	struct triad_near_miss near[TRIAD_EXPLAIN_MAX_NEAR];
	uint16_t slid, dlid;           /* of the path that is shown */
	struct triad_walk there, back; /* with their hops */
	uint8_t sl;                    /* used to look up VLs */
	struct triad_path_decision decision;
	struct triad_answer answer;
	struct triad_path_record record; /* the answer's, if it has one */
};

/* Explains the answer to 'request', which comes from its source and asks for one path;
 * its GIDs need not be set. */
void triad_explain(const struct triad_answer_snapshot *snapshot,
	const struct triad_path_request *request, uint32_t source, uint32_t destination,
	struct triad_explanation *explanation);

/* The end port that 'text' names, in the form of ib/node_choice.h: one node, and a port
 * number unless it has only one end port.  TRIAD_FABRIC_NONE, with the reason in
 * 'reason', if there is none or there are several. */
uint32_t triad_explain_find_end(
	const struct triad_paths *paths, const char *text, char *reason, size_t size);

#endif
