/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The history of links: which went down, when, how often, and what was at their ends.
 *
 * Model: a link is two ports joined by a cable, identified by node GUIDs and port
 * numbers.  It gets a record when it goes down in the topology, or when an end counts
 * that it did (LinkDownedCounter).  A link that is down for less than the time between
 * two topologies shows in the counters only.
 *
 *     up            in the present fabric
 *     down          one of its nodes is still present, or was when it went down
 *     unreachable   between two nodes that are gone with a part of the fabric
 *
 * The record lasts as long as the cable stays.  It is dropped when an end is plugged in
 * elsewhere, and when the link has been down for 'forget_after_us': then it counts as
 * removed on purpose.
 *
 * The topology and the counters of the two ends may each miss times that a link went
 * down, but never invent one.  So the largest of the three is how often it went down,
 * at least (triad_link_n_downs()).
 *
 * Thread-safety: none; the caller excludes readers from writers.
 * Memory: at most TRIAD_LINKS_MAX records of some 250 octets, allocated as needed;
 * records that find no room are counted. */
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
	uint32_t n_counted; /* times it counted since the record began */
	uint16_t lid;
	uint8_t node_type;
	uint8_t port;
	char node_name[TRIAD_NODE_NAME_SIZE];
};

struct triad_link {
	struct triad_link_end ends[2]; /* the one with the lower GUID and port first */
	uint8_t state;                 /* enum triad_link_state */
	struct triad_link_rate rate;   /* the last one */
	uint32_t n_seen;               /* times it went down in the topology */
	/* Monotonic; 0: never. */
	uint64_t down_us;    /* when the topology last lost it */
	uint64_t up_us;      /* when it came back last */
	uint64_t counted_us; /* when an end last counted */
};

/* Describes a port of a fabric; 'n_counted' is 0. */
void triad_link_end_describe(struct triad_link_end *end,
	const struct triad_fabric *fabric, const struct triad_fabric_port *port);

struct triad_links_counts {
	uint32_t n_down, n_unreachable;
	uint64_t n_not_kept; /* records dropped: over TRIAD_LINKS_MAX, or no memory */
};

struct triad_links;

/* NULL when memory is short. */
struct triad_links *triad_links_new(void);
void triad_links_free(struct triad_links *links);

/* What is down for so long counts as removed on purpose: who repairs a link or a node, does so
 * within a day or knows of it. */
#define TRIAD_LINKS_FORGET_AFTER_US (UINT64_C(86400) * 1000000)

/* 'is_part': each fabric is a part of a larger one, so a port without a far end is no
 * lost link. */
void triad_links_configure(
	struct triad_links *links, bool is_part, uint64_t forget_after_us);

/* Makes 'fabric' (referenced) the present one.  Returns 0, or ENOMEM and keeps the last
 * one. */
int triad_links_adopt(
	struct triad_links *links, struct triad_fabric *fabric, uint64_t now_us);

/* Goes on from what was known before this process looked, or while another one did: 'past' is
 * the fabric then, 'known' its records, which replace those here.  What 'past' had and the
 * present fabric, if there is one, lacks went down.  Returns 0, or ENOMEM: some may be
 * missing. */
int triad_links_restore(struct triad_links *links, struct triad_fabric *past,
	const struct triad_link *known, uint32_t n, uint64_t now_us);

/* Drops links that have been down for too long. */
void triad_links_forget(struct triad_links *links, uint64_t now_us);

/* LinkDownedCounter of 'port' (index in the present fabric) grew by 'n'. */
void triad_links_count(
	struct triad_links *links, uint32_t port, uint64_t n, uint64_t now_us);

/* --- reading --- */

/* Copies the record at '*cursor' (0 at first) and moves on; false: no more.  May miss
 * one that comes or goes between two calls. */
bool triad_links_next(
	const struct triad_links *links, uint32_t *cursor, struct triad_link *copy);

/* The record of the link at a port; false: it has none, so it never went down. */
bool triad_links_find(const struct triad_links *links, uint64_t node_guid, uint8_t port,
	struct triad_link *copy);

/* The number of records. */
uint32_t triad_links_n(const struct triad_links *links);

/* Counts as of the last fabric adopted, without records forgotten since. */
struct triad_links_counts triad_links_counts(const struct triad_links *links);
size_t triad_links_octets(const struct triad_links *links);

/* How often the link went down, at least. */
uint32_t triad_link_n_downs(const struct triad_link *link);
/* When it last went down, as far as was noticed; 0: never. */
uint64_t triad_link_last_down_us(const struct triad_link *link);

#endif
