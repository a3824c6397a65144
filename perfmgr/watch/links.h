/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Links over time: which went down, when, how often, and what was at their ends.
 *
 * Model: a link is two ports that are joined by a cable, named by their nodes' GUIDs and
 * their numbers.  It gets a record when it goes down, or when one of its ends counts
 * that it did (LinkDownedCounter): a link that is down for less than the time between
 * two looks at the fabric shows there alone.
 *
 *     up            in the present fabric
 *     down          one of its nodes is there still, or was when it went down
 *     unreachable   between two nodes that are gone with a part of the fabric
 *
 * The record stays as long as the cable does.  It goes when an end is plugged in
 * elsewhere, and when the link has been down for 'forget_after_us': then it counts as
 * removed on purpose.
 *
 * Topology and the counters of the two ends each miss some of the times that a link
 * went down, and none invents one: the largest of the three is how often it did, at
 * least (triad_link_n_downs()).
 *
 * Thread-safety: none; the caller excludes readers from writers.  Memory: at most
 * TRIAD_LINKS_MAX records of some 250 octets, taken as they are needed; what does not
 * fit is counted. */
#ifndef TRIAD_PERFMGR_LINKS_H
#define TRIAD_PERFMGR_LINKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ib/link.h"
#include "triad/fabric.h"

#define TRIAD_LINKS_MAX 65536u

enum triad_link_state {
	TRIAD_LINK_UP,
	TRIAD_LINK_DOWN,
	TRIAD_LINK_UNREACHABLE,
};

struct triad_link_end {
	uint64_t node_guid, port_guid;
	uint32_t n_counted; /* times that it counted since we know of the link */
	uint16_t lid;
	uint8_t node_type;
	uint8_t port;
	char node_name[TRIAD_NODE_NAME_SIZE];
};

struct triad_link {
	struct triad_link_end ends[2]; /* the one with the lower GUID and port first */
	uint8_t state;                 /* enum triad_link_state */
	struct triad_link_rate rate;   /* that it had last */
	uint32_t n_seen;               /* times that it went down in the topology */
	/* Monotonic; 0: never. */
	uint64_t down_us;    /* when it was seen to go down last */
	uint64_t up_us;      /* when it came back last */
	uint64_t counted_us; /* when an end was seen to have counted last */
};

/* Describes a port of a fabric; 'n_counted' is 0. */
void triad_link_end_describe(struct triad_link_end *end,
	const struct triad_fabric *fabric, const struct triad_fabric_port *port);

struct triad_links_counts {
	uint32_t n_down, n_unreachable;
	uint64_t n_not_kept; /* records beyond TRIAD_LINKS_MAX, or for want of memory */
};

struct triad_links;

/* NULL when memory is short. */
struct triad_links *triad_links_new(void);
void triad_links_free(struct triad_links *links);

/* 'is_part': fabrics are parts of one, whose many ends are no lost links. */
void triad_links_configure(
	struct triad_links *links, bool is_part, uint64_t forget_after_us);

/* 'fabric' (referenced) is the present one from now on.  Returns 0 or ENOMEM; then the
 * one before goes on. */
int triad_links_adopt(
	struct triad_links *links, struct triad_fabric *fabric, uint64_t now_us);

/* Drops what has been down for too long. */
void triad_links_forget(struct triad_links *links, uint64_t now_us);

/* LinkDownedCounter of 'port' (index in the present fabric) grew by 'n'. */
void triad_links_count(
	struct triad_links *links, uint32_t port, uint64_t n, uint64_t now_us);

/* --- reading --- */

/* Copies the record at '*cursor' (0 to begin with) and moves on; false: no more.  One
 * that comes or goes between two calls may be missed. */
bool triad_links_next(
	const struct triad_links *links, uint32_t *cursor, struct triad_link *copy);

/* The record of the link at a port; false: it has none, so it never went down. */
bool triad_links_find(const struct triad_links *links, uint64_t node_guid, uint8_t port,
	struct triad_link *copy);

/* How many records there are. */
uint32_t triad_links_n(const struct triad_links *links);

/* As of the last fabric that was adopted, without what has been forgotten since. */
struct triad_links_counts triad_links_counts(const struct triad_links *links);
size_t triad_links_octets(const struct triad_links *links);

/* How often it went down, at least. */
uint32_t triad_link_n_downs(const struct triad_link *link);
/* When it did last, as far as was seen; 0: never. */
uint64_t triad_link_last_down_us(const struct triad_link *link);

#endif
