/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* A simulated cluster: any number of elections (portmgr/election), with clocks of their
 * own, on a network that loses and delays messages, and that can be partitioned and
 * stopped.
 *
 * Model: nodes are numbered from 0.  Time is simulated; one event after the other is
 * taken from a heap, and the same seed gives the same run.  Two transports:
 *
 *     peers  each message takes its own time to each receiver, or is lost; who has been
 *            cut off for a while leaves the view
 *     ring   as Corosync: everybody in a ring gets messages in one order; when somebody
 *            comes or goes a new ring forms after a while, not at the same moment for
 *            everybody; 'bare' nodes have a cluster service and no election.
 *            A cluster service that is stopped keeps what it was
 *            given; when it goes on, it may first hand that back to its sender as if
 *            nothing had happened.
 *
 * The majority is one of all nodes with an election, in both.
 *
 * A node's SM becomes master a moment after its election requests it.
 *
 * Checked at each event: no two nodes have permission to enforce at once, or hold the
 * lease at once, even if one is paused; a permission's term is higher than all terms
 * that another node had before.
 *
 * Aborts when memory is short, as each test has a process of its own. */
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
/* Nodes of different groups don't receive each other's messages; all in group 0: no
 * partition. */
void elections_partition(struct elections *elections, const unsigned *groups);
void elections_link(struct elections *elections, unsigned a, unsigned b, bool is_up);

/* --- of one node --- */
void elections_kill(struct elections *elections, unsigned node);
void elections_start(struct elections *elections, unsigned node);
void elections_pause(struct elections *elections, unsigned node, bool is_paused);
/* Stops its cluster service; together with a pause, the whole host. */
void elections_stop(struct elections *elections, unsigned node, bool is_stopped);
/* Answers each message with STATUS (MASTER, the highest priority, WAS_HOLDER_LAST) and
 * CEDE. */
void elections_runaway(struct elections *elections, unsigned node, bool is_runaway);
/* Its writes fail, and its election is notified. */
void elections_fill_disk(struct elections *elections, unsigned node, bool is_full);
/* By how many parts in a million its clock is too fast. */
void elections_drift(struct elections *elections, unsigned node, int ppm);

/* The election of a node, for commands; NULL while it is dead.  Call elections_poke()
 * afterwards: it does what the election requests. */
struct triad_election *elections_of(struct elections *elections, unsigned node);
uint64_t elections_clock(const struct elections *elections, unsigned node);
void elections_poke(struct elections *elections, unsigned node);

/* Whether two nodes are on one side: in one ring, or connected as peers. */
bool elections_is_together(const struct elections *elections, unsigned a, unsigned b);
bool elections_is_alive(const struct elections *elections, unsigned node);
bool elections_is_running(const struct elections *elections, unsigned node);
uint64_t elections_id(unsigned node);
bool elections_is_permitted(const struct elections *elections, unsigned node);
uint8_t elections_sm_priority(const struct elections *elections, unsigned node);

/* The first violation of what is always checked; NULL: none. */
const char *elections_violation(const struct elections *elections);

/* Checks the state after a time without faults: each side has one master, which the
 * others follow, and one permission if it has a quorum and an able member, else none.
 * Returns NULL, or what is wrong. */
const char *elections_check(struct elections *elections);

#endif
