/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Keeps ports that are under test from becoming active.
 *
 * After routing, and before OpenSM brings links up, hold.c sets OpenSM's copy of the
 * state of both ends to DOWN.  OpenSM's link manager then skips them, and the port
 * stays in INIT.  This lasts for one heavy sweep, so each sweep marks the ports anew; a
 * port that is no longer marked becomes active in the next heavy sweep.
 *
 * Routes must not go over a link between switches meanwhile.  So, before routing, hold.c
 * takes the link out of OpenSM's tables, and puts it back when routing is done: each engine
 * routes as if it were not there, but for 'file', with which no link between switches is
 * held.  If a sweep ends in between, the next one finds the link anew.  What somebody has OpenSM
 * route without a sweep goes over it, until the sweep that is asked for at once.
 *
 * The port manager's thread publishes the ports that may be held: those that are
 * expected to be tested.  The mark decides which of them are held: those whose link is
 * in INIT and whose component was not admitted since the link was last active.  Three
 * cases hold a port: this SM has permission to enforce; the port was held before; the
 * history says that its test has begun.  So a hand-over admits no untested port.  An SM
 * that has permission but could not test for a while, for example with a full disk,
 * holds only those whose test has begun.
 *
 * A port to which an SM is attached is never held, above all this SM's own.
 *
 * Thread-safety: publishing and asking from any thread; the mark in OpenSM's thread.
 * Locks: 'lock', held for the walk over the ports; OpenSM's, exclusively, around it. */
#ifndef TRIAD_PLUGIN_PORTS_HOLD_H
#define TRIAD_PLUGIN_PORTS_HOLD_H

#include <stdbool.h>
#include <stdint.h>

struct osm_opensm;
struct triad_hold;

/* The port manager fills the members above the line; the mark at a sweep fills the one
 * below. */
struct triad_hold_port {
	uint64_t node_guid;
	uint64_t admitted; /* port GUID that may become active; 0: none */
	uint8_t number;
	bool is_remembered; /* a test of it has begun, and was not passed */
	/* --- */
	bool is_held; /* by the last mark */
};

/* A held port, for requests for paths: the far end's GUID and LIDs. */
struct triad_hold_end {
	uint64_t guid;
	uint16_t lid;
	uint8_t lmc;
};

/* NULL: no memory. */
struct triad_hold *triad_hold_new(void);
/* Accepts NULL. */
void triad_hold_free(struct triad_hold *hold);

/* Compares two ports by (node GUID, number), for qsort() and bsearch(). */
int triad_hold_compare(const void *a, const void *b);

/* Publishes the ports that may be held, sorted by (node GUID, number); they are copied.
 * Returns 0 or ENOMEM. */
int triad_hold_publish(
	struct triad_hold *hold, const struct triad_hold_port *ports, uint32_t n);

enum triad_hold_whom {
	TRIAD_HOLD_BEGUN, /* ports whose test has begun */
	TRIAD_HOLD_HELD,  /* and those that were held before */
	TRIAD_HOLD_ALL,   /* all that are published */
};

/* From report() of HEAVY_SWEEP_DONE, before routing, with none of OpenSM's locks
 * held. */
void triad_hold_hide(
	struct triad_hold *hold, struct osm_opensm *osm, enum triad_hold_whom whom);

/* From report() of UCAST_ROUTING_DONE in a heavy sweep, with none of OpenSM's locks
 * held. */
void triad_hold_mark(
	struct triad_hold *hold, struct osm_opensm *osm, enum triad_hold_whom whom);

/* From report() of UCAST_ROUTING_DONE without a sweep: OpenSM has routed over held links, too.
 * Returns whether there are any: it must sweep at once. */
bool triad_hold_note_rerouted(struct triad_hold *hold);

/* Whether OpenSM routes without links between switches that are held. */
bool triad_hold_has_links(struct triad_hold *hold);
/* Whether the last mark held the port. */
bool triad_hold_is_held(struct triad_hold *hold, uint64_t node_guid, uint8_t number);

/* Whether anything is held; a single load. */
bool triad_hold_has_any(const struct triad_hold *hold);

/* Whether the end port with this LID or this GUID is held; 0: not given. */
bool triad_hold_has_end(struct triad_hold *hold, uint16_t lid, uint64_t guid);

uint32_t triad_hold_n_held(struct triad_hold *hold);
/* The longest that a mark held OpenSM's lock, us. */
uint64_t triad_hold_longest_us(struct triad_hold *hold);

#endif
