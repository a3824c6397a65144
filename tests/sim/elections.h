/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* A simulated cluster that elects: any number of elections (portmgr/election), with
 * clocks of their own, on a network that loses, delays, parts and stops.
 *
 * Model: nodes are numbered from 0.  Time is simulated; one event after the other is
 * taken from a heap, and the same seed gives the same run.  Two transports:
 *
 *     peers  each message takes its own time to each receiver, or is lost; who has been
 *            cut off for a while leaves the view; the majority is one of all nodes
 *     ring   as Corosync: everybody in a ring gets messages in one order; when somebody
 *            comes or goes a new ring forms after a while, not at the same moment for
 *            everybody; 'bare' nodes have a cluster service and no election, but count
 *            for its quorum.  A cluster service that is stopped keeps what it was
 *            given; when it goes on, it may first hand that back to its sender as if
 *            nothing had happened.
 *
 * A node's SM becomes master a moment after its election says so.
 *
 * Watched at every event: no two nodes have permission to enforce at once, or only hold
 * the lease, not even one that is paused; a permission's term is higher than all that
 * another node had before.
 *
 * Tests have a process of their own: memory that is short aborts. */
#ifndef TRIAD_TESTS_SIM_ELECTIONS_H
#define TRIAD_TESTS_SIM_ELECTIONS_H

#include "portmgr/election/election.h"

#define ELECTIONS_MAX_NODES 16u

enum elections_kind { ELECTIONS_PEERS, ELECTIONS_RING };

struct elections;

struct elections *elections_new(
	enum elections_kind kind, unsigned n_nodes, unsigned n_bare, uint64_t seed);
void elections_free(struct elections *elections);

void elections_run(struct elections *elections, uint64_t us);
uint64_t elections_now_us(const struct elections *elections);
uint64_t elections_n_events(const struct elections *elections);
uint64_t elections_random(struct elections *elections, uint64_t below);

/* --- faults: of the whole network --- */
void elections_loss(struct elections *elections, unsigned percent);
void elections_delay(struct elections *elections, uint64_t min_us, uint64_t max_us);
/* Nodes of different groups don't hear each other; all in group 0: a whole network. */
void elections_partition(struct elections *elections, const unsigned *groups);
void elections_link(struct elections *elections, unsigned a, unsigned b, bool is_up);

/* --- of one node --- */
void elections_kill(struct elections *elections, unsigned node);
void elections_start(struct elections *elections, unsigned node);
void elections_pause(struct elections *elections, unsigned node, bool is_paused);
/* Its cluster service; the whole host, with pause. */
void elections_stop(struct elections *elections, unsigned node, bool is_stopped);
/* Says STATUS (MASTER, the highest priority, it held the lease last) and CEDE to
 * whatever it hears. */
void elections_runaway(struct elections *elections, unsigned node, bool is_runaway);
/* What it is to store is lost; it is told so. */
void elections_fill_disk(struct elections *elections, unsigned node, bool is_full);
/* How many parts in a million its clock is too fast. */
void elections_drift(struct elections *elections, unsigned node, int ppm);

/* The election of a node, to tell it things; NULL while it is dead.  Afterwards,
 * elections_poke() does what it asks for. */
struct triad_election *elections_of(struct elections *elections, unsigned node);
uint64_t elections_clock(const struct elections *elections, unsigned node);
void elections_poke(struct elections *elections, unsigned node);

/* Whether two nodes are on one side: in one ring, or hear each other. */
bool elections_is_together(const struct elections *elections, unsigned a, unsigned b);
bool elections_is_alive(const struct elections *elections, unsigned node);
bool elections_is_running(const struct elections *elections, unsigned node);
uint64_t elections_id(unsigned node);
bool elections_is_permitted(const struct elections *elections, unsigned node);
uint8_t elections_sm_priority(const struct elections *elections, unsigned node);

/* The first violation of what is always watched; NULL: none. */
const char *elections_violation(const struct elections *elections);

/* Whether it is now as it must be after a quiet while: on each side one master, which
 * the others follow, and one permission where there is a quorum and somebody able, else
 * none.  Returns NULL, or what is wrong. */
const char *elections_check(struct elections *elections);

#endif
