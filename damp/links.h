/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Which links go down so often that they are better left out of routing,
 * and for how long.
 *
 * Model: as BGP's route flap damping has it [RFC 2439, 4.2 and 4.8.3].  Each time that a link
 * goes down (a bounce) its penalty grows by TRIAD_DAMP_PENALTY; it halves in each half-life,
 * and never exceeds TRIAD_DAMP_CEILING.  At TRIAD_DAMP_LIMIT, which three bounces within half
 * of a half-life reach, the link is to be held.  It returns when it has been up without a
 * break for as long as its penalty at the last bounce needs to fall to TRIAD_DAMP_REUSE,
 * multiplied by the number of times that it was held lately, and at most
 * TRIAD_DAMP_MAX_HALF_LIVES.  A link that is held but down costs nothing, and waits.
 *
 * RFC 7196 raised BGP's limit because one event far away arrives as many updates.  Here each
 * bounce was seen at the port itself; the limit is RFC 2439's order of magnitude.
 *
 * No flap: links of one node that go down together, TRIAD_DAMP_MANY or all that it has, within
 * TRIAD_DAMP_TOGETHER_US: the node restarts, or is cabled anew.  So a bounce counts only when
 * that time is over.
 *
 * Who holds a link decides whether it may be (guards), and says so.
 *
 * Thread-safety: one thread.  Memory: TRIAD_DAMP_MAX_LINKS of 120 octets; of more, those with
 * the least penalty are forgotten, held ones never. */
#ifndef TRIAD_DAMP_LINKS_H
#define TRIAD_DAMP_LINKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "triad/clock.h"
#include "triad/fabric.h"

#define TRIAD_DAMP_PENALTY 1000.0
#define TRIAD_DAMP_LIMIT 2500.0
#define TRIAD_DAMP_REUSE 750.0
#define TRIAD_DAMP_CEILING 12000.0
#define TRIAD_DAMP_MAX_HALF_LIVES 16u
#define TRIAD_DAMP_TOGETHER_US (300 * TRIAD_US_PER_MS)
#define TRIAD_DAMP_MANY 4u
/* In place of a number of links: the node is a host. */
#define TRIAD_DAMP_HOST UINT32_MAX
/* Two bounces of a link that are less apart are one, of which its ends tell. */
#define TRIAD_DAMP_APART_US (500 * TRIAD_US_PER_MS)
#define TRIAD_DAMP_MAX_LINKS 4096u

/* A link, by its ends: the one with the lower GUID (then number) first. */
struct triad_damp_ends {
	uint64_t guid, far_guid; /* of nodes */
	uint8_t number, far_number;
};

/* Brings the ends into that order. */
struct triad_damp_ends triad_damp_ends_of(
	uint64_t guid, uint8_t number, uint64_t far_guid, uint8_t far_number);
/* Those of the link at the fabric's port.  False: it has none, or the port is TRIAD_FABRIC_NONE. */
bool triad_damp_ends_at(
	const struct triad_fabric *fabric, uint32_t port, struct triad_damp_ends *ends);
bool triad_damp_is_same(
	const struct triad_damp_ends *a, const struct triad_damp_ends *b);
/* The port of one end, if the fabric has a link there now; else TRIAD_FABRIC_NONE. */
uint32_t triad_damp_linked_port(
	const struct triad_fabric *fabric, const struct triad_damp_ends *ends);
/* Whether both ends are of switches that the fabric has, linked or not. */
bool triad_damp_is_of_switches(
	const struct triad_fabric *fabric, const struct triad_damp_ends *ends);
/* Whether the port is one of them. */
bool triad_damp_has_end(
	const struct triad_damp_ends *ends, uint64_t guid, uint8_t number);

struct triad_damp_link {
	struct triad_damp_ends ends;
	double penalty;                 /* at 'at_us' */
	uint64_t at_us;                 /* all times are monotonic */
	uint64_t n_bounces, bounced_us; /* the last one */
	bool is_held, is_pinned;        /* pinned: until it is released */
	bool is_by_heal;                /* pinned by the port manager, which heals it */
	bool is_host;                   /* one of its ends */
	bool is_up;                     /* a held link is in INIT at both ends */
	bool is_far_seen;  /* what answers over it, since it came up, is its far end */
	bool must_read;    /* it is held, and its ends were not read since */
	uint64_t held_us;  /* since when, or when it was released last; 0: never */
	uint64_t quiet_us; /* how long a held link is to be up without a break */
	uint64_t up_us;    /* since when it is */
	uint32_t n_holds;  /* lately */
	uint32_t told_round; /* of the master that told of it (damp/copy.h) */
	const char
		*refused; /* why it is not held though it is over the limit; or NULL */
};

struct triad_damp_links;

/* NULL when memory is short. */
struct triad_damp_links *triad_damp_links_new(void);
/* Accepts NULL. */
void triad_damp_links_free(struct triad_damp_links *links);
/* Of what follows; an earlier one is kept by what was decided with it. */
void triad_damp_links_set_half_life(struct triad_damp_links *links, uint64_t us);
uint64_t triad_damp_links_half_life(const struct triad_damp_links *links);

/* Takes a bounce; a held link is down from then on.  'n_near', 'n_far': how many links between switches the nodes of both
 * ends have, in their order; 0: not known; or TRIAD_DAMP_HOST. */
void triad_damp_links_bounce(struct triad_damp_links *links,
	const struct triad_damp_ends *ends, unsigned n_near, unsigned n_far,
	uint64_t now_us);
/* Counts the bounces of which is known by now that they are those of a link.  Returns when
 * to call again (UINT64_MAX: after the next bounce). */
uint64_t triad_damp_links_settle(struct triad_damp_links *links, uint64_t now_us);

/* The next link that is over the limit, not held, and of which that was not refused since its
 * last bounce; or NULL. */
struct triad_damp_link *triad_damp_links_next_over(
	struct triad_damp_links *links, uint64_t now_us);
void triad_damp_link_hold(const struct triad_damp_links *links,
	struct triad_damp_link *link, uint64_t now_us);
/* 'why' is a text that stays. */
void triad_damp_link_refuse(struct triad_damp_link *link, const char *why);
/* Lets a link go: by time, or 'forgive': as one that never bounced. */
void triad_damp_link_release(
	struct triad_damp_link *link, bool forgive, uint64_t now_us);
/* Says whether a held link is up at this moment. */
void triad_damp_link_set_up(struct triad_damp_link *link, bool is_up, uint64_t now_us);
/* When a held link is to return; UINT64_MAX: not by time (it is down, or pinned). */
uint64_t triad_damp_link_returns_us(const struct triad_damp_link *link);

double triad_damp_link_penalty(const struct triad_damp_links *links,
	const struct triad_damp_link *link, uint64_t now_us);

/* Links, in no order; a pointer is valid until the next settle() or find(). */
size_t triad_damp_links_n(const struct triad_damp_links *links);
struct triad_damp_link *triad_damp_links_at(struct triad_damp_links *links, size_t i);
/* NULL: it is not known; 'must': or there is no room. */
struct triad_damp_link *triad_damp_links_find(
	struct triad_damp_links *links, const struct triad_damp_ends *ends, bool must);

/* Bounces that counted for no link, because many of a node's came together. */
uint64_t triad_damp_links_n_together(const struct triad_damp_links *links);

#endif
