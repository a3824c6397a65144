/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Links that are slower than they should be.
 *
 * Model: nothing says what a link should run at, so its rate is compared with
 *
 *     parallel links  between the same two switches: the fastest of them
 *     alike links     links of hosts; links between switches of the same two levels: what most
 *                     of them run at, or are faster than.  A switch most of whose hosts are as
 *                     slow is an older part of the fabric
 *     its own ends    the best that both support, where they tell
 *
 * in this order.  A slow link is a fault, or a note where nothing is to be mended: an end that
 * can't do better, or is set to no more; ends that could where nearly no link alike does, as
 * their cables can't.
 *
 * Levels are distances from hosts, so they may be wrong in what is no tree; then links that
 * differ are compared, and a link is slow only if most are faster.  Aggregation nodes are no
 * hosts, and, as routers, have no links alike.  A link whose rate is not known is counted.
 *
 * Thread-safety: a function of its argument; the result is immutable.
 * Memory: bounded by the fabric's links; the result is the caller's, for free(). */
#ifndef TRIAD_IB_SLOW_LINKS_H
#define TRIAD_IB_SLOW_LINKS_H

#include <stdbool.h>
#include <stdint.h>

#include "ib/link.h"
#include "triad/fabric.h"

/* What is faster. */
enum triad_slow_link_kind {
	TRIAD_SLOW_BELOW_PARALLEL,
	TRIAD_SLOW_BELOW_ALIKE,
	TRIAD_SLOW_BELOW_ENDS,
	TRIAD_SLOW_N_KINDS
};

struct triad_slow_link {
	uint32_t port;  /* its first end in the fabric */
	uint32_t class; /* the same for links alike */
	uint8_t kind;   /* enum triad_slow_link_kind */
	bool is_note;
	bool is_limited; /* an end is set to no more; a note */
	struct triad_link_rate rate, expected;
	double ratio; /* of their data rates: above 0, below 1 */
};

struct triad_slow_links {
	uint32_t n, n_notes;
	uint32_t n_unknown;             /* links whose rate is not known */
	struct triad_slow_link links[]; /* faults before notes, the slowest first */
};

/* NULL when memory is short. */
struct triad_slow_links *triad_slow_links_find(const struct triad_fabric *fabric);

/* "parallel", "alike", "ends"; and in words, before the expected rate: "both ends can". */
const char *triad_slow_link_kind_name(unsigned kind);
const char *triad_slow_link_kind_text(unsigned kind);

/* Appends "slow link: it runs at 1xEDR; both ends can 4xEDR"; 'n': so many links alike. */
void triad_slow_link_append(struct triad_link_rate rate,
	struct triad_link_rate expected, unsigned kind, uint64_t n, char *text,
	size_t size);

#endif
