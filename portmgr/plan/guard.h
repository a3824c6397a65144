/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Decides whether taking a link down would cut off something that must stay reachable.
 *
 * It guards three things: this SM's own link to the fabric, another SM's link, and all
 * nodes reachable from here, whether the configuration names them or not.  The host or
 * router at the link's far end does not count, because the action is meant to cut it
 * off.  Nor does a switch that the caller names; but the nodes behind it count.
 *
 * Model: the switches and the links between them are a graph; CAs and routers forward
 * nothing.  The guard has two views of it: all links, which SMPs can use, and only the
 * links that carry traffic, because a port that is held for its test is up but carries
 * none.  Nodes reachable in one of the views must stay reachable in it.  Links that a
 * plan has decided to take down are removed from both, so that actions are judged
 * together that are harmless one by one.
 *
 * One depth-first walk finds all links that are the only way to what is behind them
 * (bridges): if no other link leads from a child's subtree to a switch entered before
 * the child, then only the link to its parent reaches the child.
 *
 * An SM on a switch's port 0 has no link of its own; cutting off its switch counts as
 * cutting off another SM.
 *
 * Thread-safety: one thread.  Memory: some octets for each node and port; checked.  The
 * fabric is borrowed for the guard's life. */
#ifndef TRIAD_PORTMGR_GUARD_H
#define TRIAD_PORTMGR_GUARD_H

#include <stdbool.h>
#include <stdint.h>

#include "triad/fabric.h"

enum triad_guard_verdict {
	TRIAD_GUARD_FREE,     /* no objection */
	TRIAD_GUARD_OWN_PATH, /* this SM's link */
	TRIAD_GUARD_SM_PATH,  /* another SM's, or the only way to one */
	TRIAD_GUARD_SPLIT,    /* nodes would become unreachable */
	TRIAD_GUARD_UNKNOWN,  /* it is not known where this SM is on the fabric */
	TRIAD_GUARD_N_VERDICTS
};

#define TRIAD_GUARD_MAX_LOST 8u

/* Nodes of the fabric that would become unreachable, the first of them by index; with
 * SM_PATH, the SM's node comes first. */
struct triad_guard_lost {
	uint32_t n;           /* all of them */
	uint64_t fingerprint; /* of the GUIDs of all of them, in any order */
	uint32_t nodes[TRIAD_GUARD_MAX_LOST];
};

struct triad_guard;

/* 'sm_guids': the port GUIDs of the other SMs.  Returns 0 or ENOMEM. */
int triad_guard_new(const struct triad_fabric *fabric, const uint64_t *sm_guids,
	uint32_t n_sm_guids, struct triad_guard **guard);
/* Accepts NULL. */
void triad_guard_free(struct triad_guard *guard);

/* 'port': index in the fabric's ports, of a switch.  'spared': a node that may be lost,
 * or TRIAD_FABRIC_NONE. With SM_PATH and SPLIT '*lost' gets the nodes that would become
 * unreachable.  Cost: if the link is between two switches and such a link was removed
 * before, a walk over all switches; and one over the nodes that would be lost. */
enum triad_guard_verdict triad_guard_judge(struct triad_guard *guard, uint32_t port,
	uint32_t spared, struct triad_guard_lost *lost);

/* Removes the port's link from the graph: it will be taken down. */
void triad_guard_remove(struct triad_guard *guard, uint32_t port);

/* The number of links between this SM's node and a switch, before any link was removed;
 * UINT32_MAX: not reachable, or not a switch. */
uint32_t triad_guard_distance(const struct triad_guard *guard, uint32_t node);

/* Whether SMPs reach a switch from this SM's node by links that were not removed.  Cost: if
 * links were removed since the last call, a walk over all switches. */
bool triad_guard_reaches(struct triad_guard *guard, uint32_t node);

/* A word for programs ("own_way"). */
const char *triad_guard_word(enum triad_guard_verdict verdict);

#endif
