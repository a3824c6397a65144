/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Would taking a link down cut off something that must not be cut off?
 *
 * Three things are guarded: the SM's own way to the fabric, another SM's, and every
 * node that could no longer be reached from here, whether the configuration names it or
 * not.  The host or router at the link's far end is not counted among those: to cut
 * that off is what the action is for; nor is a switch that the caller names, for the
 * same reason, but what is behind it is.
 *
 * Model: the switches and the links between them, as a graph; CAs and routers pass
 * nothing on.  It is looked at twice: with all links, as SMPs see it, and with those
 * alone that carry traffic, because a port that is held back for its test is up and yet
 * no way for anybody.  What is reached in one of the two must stay reached there.
 * Links that a plan has decided to take down are taken out of both, so that actions
 * that are harmless one by one are judged together.
 *
 * Whether a link is the only way to what is behind it is read off a depth-first walk,
 * for all links at once: a child from whose subtree no other link leads to where the
 * walk had been before is reached by the link to its parent alone.
 *
 * An SM on a switch's port 0 has no link of its own; what would cut its switch off is
 * another SM's way nevertheless.
 *
 * Thread-safety: one thread.  Memory: some octets for each node and port; checked.  The
 * fabric is borrowed for the guard's life. */
#ifndef TRIAD_PORTMGR_GUARD_H
#define TRIAD_PORTMGR_GUARD_H

#include <stdbool.h>
#include <stdint.h>

#include "triad/fabric.h"

enum triad_guard_verdict {
	TRIAD_GUARD_FREE,    /* nothing speaks against it */
	TRIAD_GUARD_OWN_WAY, /* this SM's link */
	TRIAD_GUARD_SM_WAY,  /* another SM's, or the only way to one */
	TRIAD_GUARD_SPLIT,   /* nodes would be lost */
	TRIAD_GUARD_UNKNOWN, /* where this SM is on the fabric is not known */
	TRIAD_GUARD_N_VERDICTS
};

#define TRIAD_GUARD_MAX_LOST 8u

/* Nodes of the fabric that would be lost, the first of them by index; of SM_WAY the
 * SM's comes first. */
struct triad_guard_lost {
	uint32_t n; /* all of them */
	uint32_t nodes[TRIAD_GUARD_MAX_LOST];
};

struct triad_guard;

/* 'sm_guids': the port GUIDs of the other SMs.  Returns 0 or ENOMEM. */
int triad_guard_new(const struct triad_fabric *fabric, const uint64_t *sm_guids,
	uint32_t n_sm_guids, struct triad_guard **guard);
/* Accepts NULL. */
void triad_guard_free(struct triad_guard *guard);

/* 'port': index in the fabric's ports, of a switch.  'spared': a node that may be lost,
 * or TRIAD_FABRIC_NONE.  '*lost' gets what would be lost, with SM_WAY and SPLIT.  Takes
 * a walk over all switches when the link is between two and such a link was removed
 * before, and one over what would be lost. */
enum triad_guard_verdict triad_guard_judge(struct triad_guard *guard, uint32_t port,
	uint32_t spared, struct triad_guard_lost *lost);

/* The port's link is going to be taken down. */
void triad_guard_remove(struct triad_guard *guard, uint32_t port);

/* Links between this SM's node and a switch, before any was removed; UINT32_MAX: it is
 * not reached, or no switch. */
uint32_t triad_guard_distance(const struct triad_guard *guard, uint32_t node);

/* A word for programs ("own_way"). */
const char *triad_guard_word(enum triad_guard_verdict verdict);

#endif
