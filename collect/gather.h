/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Histograms of many agents, merged: GET_HISTOGRAMS down the tree, HISTOGRAM up.
 *
 * GET_HISTOGRAMS, after the head:
 *
 *    20  u64 request   chosen by the asker
 *    28  u8  of        enum in triad_histograms_scope
 *    29  text group    by name, because each agent numbers groups itself
 *        u64 node GUID   u8 port
 *        u24 counters    bit i: counter i
 *        u16 wait        how long the asker waits, milliseconds
 *
 * HISTOGRAM:
 *
 *    20  u64 request   u16 agents merged in it   u16 agents that were asked
 *        counters, up to the end:
 *        u8 counter   v zeros   u8 joined   u8 first bucket   u8 n   n times v: counts
 *
 * Merging is exact in any order (watch/histogram.h) if the maximum number of buckets is
 * the same; it is the same for all ports and groups.
 *
 * Thread-safety: none.  Memory: at most 252 buckets for each counter, checked.
 * Source: [monitoring-rfc: Get Histograms, Histogram], rows M8, M13. */
#ifndef TRIAD_COLLECT_GATHER_H
#define TRIAD_COLLECT_GATHER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "collect/message.h"
#include "perfmgr/watch/histograms.h"
#include "triad/conf.h"

/* The most octets of either message. */
#define TRIAD_GATHER_MESSAGE_SIZE                                                      \
	(64u + TRIAD_N_COUNTERS * (16 + TRIAD_HISTOGRAM_MOST * 10u))

struct triad_gather_request {
	uint64_t request;
	struct triad_histograms_scope scope; /* its group is not used */
	char group[TRIAD_CONF_GROUP_NAME_SIZE];
	uint32_t counters;
	uint32_t wait_ms; /* at most 65535 */
};

/* The merged histograms so far. */
struct triad_gather {
	uint64_t request;
	uint32_t counters; /* requested */
	uint32_t n_agents; /* merged in it */
	uint32_t n_asked;
	struct triad_histogram histograms[TRIAD_N_COUNTERS];
	uint64_t n_zeros[TRIAD_N_COUNTERS];
};

void triad_gather_init(
	struct triad_gather *gather, uint64_t request, uint32_t counters);
void triad_gather_clear(struct triad_gather *gather);

/* Adds a histogram of this agent.  Returns false when memory is short. */
bool triad_gather_add(struct triad_gather *gather, unsigned counter,
	const struct triad_histogram *histogram, uint64_t n_zeros);
/* Adds a HISTOGRAM ('body' is after the head).  Returns false, with nothing added, when
 * it is malformed or answers another request. */
bool triad_gather_take(struct triad_gather *gather, const struct triad_wire *body);

/* Write a message of at most TRIAD_GATHER_MESSAGE_SIZE octets; return its size. */
size_t triad_gather_put(const struct triad_gather *gather,
	const struct triad_collect_head *head, uint8_t *to);
size_t triad_gather_put_request(const struct triad_gather_request *request,
	const struct triad_collect_head *head, uint8_t *to);
bool triad_gather_get_request(
	struct triad_wire *body, struct triad_gather_request *request);

/* --- one counter's histogram as octets, as in HISTOGRAM --- */

/* The most octets of it. */
#define TRIAD_GATHER_PIECE_SIZE (16u + TRIAD_HISTOGRAM_MOST * 10u)

struct triad_gather_piece {
	unsigned counter;
	uint64_t n_zeros;
	struct triad_histogram histogram; /* its counts are those below */
	uint64_t counts[TRIAD_HISTOGRAM_MOST];
};

void triad_gather_put_piece(struct triad_wire *w, unsigned counter,
	const struct triad_histogram *histogram, uint64_t n_zeros);
/* False, with 'piece' undefined, if it is malformed. */
bool triad_gather_get_piece(struct triad_wire *w, struct triad_gather_piece *piece);

#endif
