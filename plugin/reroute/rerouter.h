/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Leads packets around a link between switches that was lost, before OpenSM has swept
 * ([repair]).
 *
 * Model: as a taker of what comes to the SM (plugin/takers.h) it sees each trap 128, and takes
 * none: OpenSM sweeps as ever.  The thread triad-repair reads the ports of the switch that sent
 * it, and those at the other end, by SMPs of its own; plans a way around those that are down
 * (routes/repair.h), some milliseconds at 10,000 hosts, so nothing is planned beforehand; and with
 * mode act writes the blocks of forwarding tables that change, step by step; then those of
 * multicast tables, which connect groups again (routes/repair_multicast.h).  Links with a switch in
 * common are one loss: a link, a bundle, or a whole switch.
 *
 * What an act must be newer than.  The plan is made from tables that were checked (the route
 * checker's last result), and nothing is written unless, under OpenSM's lock:
 *   - OpenSM has not ended a discovery since the ports were read: from then to the end of that
 *     sweep it writes tables itself, and the link may be up again in its view.  In discovery it
 *     does not, and begins it anew at the trap;
 *   - each block is in OpenSM's two copies alike, with the entries that were planned from: so no
 *     newer table, and no Set of OpenSM's, is on its way;
 *   - each port that packets are sent to is ACTIVE and linked in OpenSM's view;
 *   - this SM is the master and, with the election, has permission to enforce: looked at right
 *     before each Set, since answers to those before may be long in coming.
 * The first two must hold again for each block when its answer has come: then both copies get it.  If
 * they don't, or no answer came, OpenSM's copy of what the switch has is made void, as OpenSM
 * does it before its own Set, so that its next routing writes the block.
 *
 * Of multicast tables OpenSM has one copy, which has what it wants as soon as a Set is under way,
 * and it computes trees between sweeps, too, when a host joins or leaves.  Instead of the second
 * condition, for these:
 *   - OpenSM is in discovery: the thread that computes and writes trees has waited for all
 *     answers before it began, and joins wait in its queue.  It is waited for, for half a second;
 *   - no Set of OpenSM's went without an answer before it;
 *   - a group's rows are those that were planned from, at all switches; and the switches where
 *     it gets new ones have room for it, and come to forward it.  Groups for which that is not so
 *     are left, others are repaired.
 * All blocks that OpenSM has used it writes anew in this sweep, ours among them.
 *
 * Multicast is repaired also where the plan for unicast is not proven: nobody looks for credit
 * loops by multicast packets, nor does OpenSM, but for torus-2QoS, whose trees are left.
 *
 * When all of unicast is written, the lost links are unlinked in OpenSM's view, and their ports
 * are down in it, as it does itself when it finds that: a path or a tree that it computes before
 * its sweep does not use them.  Until then requests for paths by entries that changed are left to
 * it.  Where damping keeps the trap from OpenSM, it is told to sweep.
 *
 * What it leaves to OpenSM's sweep: a plan that is not proven; groups whose tables are no tree, or
 * of which links that are left do not connect all members (what they connect is written);
 * tables from a file; losses without a switch in common; the third loss of a link in a minute,
 * and more than eight losses in one.
 *
 * Thread-safety: any thread, but for new, stop and free.  OpenSM's lock is taken for copies.
 * Memory: 64 KiB, and a plan while it is carried out. */
#ifndef TRIAD_PLUGIN_REROUTER_H
#define TRIAD_PLUGIN_REROUTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "triad/conf.h"
#include "triad/fabric.h"
#include "triad/log.h"

struct osm_opensm;
struct triad_damper;
struct triad_elector;
struct triad_qos;
struct triad_recorder;
struct triad_rerouter;
struct triad_route_checker;

enum triad_reroute_outcome {
	TRIAD_REROUTE_DONE,    /* written, each block as its switch answered */
	TRIAD_REROUTE_WOULD,   /* mode plan: it would have been written */
	TRIAD_REROUTE_NOTHING, /* no entry had to change */
	TRIAD_REROUTE_LEFT,    /* to OpenSM's sweep; nothing was written */
	TRIAD_REROUTE_FAILED,  /* not all of it was written; OpenSM's sweep does */
};

struct triad_reroute_link {
	uint64_t guid, far_guid; /* of nodes */
	uint8_t number, far_number;
};

#define TRIAD_REROUTE_N_SHOWN 8u

/* A loss and what was done; the outcome is that of unicast.  Times are monotonic, 0: it did
 * not come to that. */
struct triad_reroute {
	enum triad_reroute_outcome outcome;
	const char *why; /* it was left, or failed; NULL else */
	bool is_switch;  /* all links of the switch at the near ends */
	uint32_t n_links;
	struct triad_reroute_link links[TRIAD_REROUTE_N_SHOWN]; /* the first ones */
	/* Of the first link, as they were: one may have left the fabric. */
	struct triad_fabric_node near, far;
	uint64_t n_crossing, n_lost; /* pairs, as of routes/repair.h */
	uint32_t n_entries, n_blocks, n_switches, n_steps;
	uint32_t n_written; /* blocks that their switch answered */
	/* Multicast groups whose tree crosses the links; of these, those that were connected
	 * again, and those left to OpenSM's sweep (mode plan: that would be). */
	uint32_t n_groups, n_groups_repaired, n_groups_left;
	bool are_groups_known;     /* all of them */
	const char *why_groups;    /* the first one was left; NULL else */
	uint32_t n_groups_written; /* blocks of theirs that their switch answered */
	uint64_t trap_us, found_us, planned_us, ended_us, groups_ended_us;
};

struct triad_rerouter_status {
	enum triad_repair_mode mode;
	bool is_installed; /* traps are looked at */
	int error; /* why not, though they should be; 0: OpenSM has not bound yet */
	bool is_waiting;   /* until routes are checked anew: another loss is left */
	uint64_t n_losses; /* of these: */
	uint64_t n_done, n_would, n_nothing, n_left, n_failed;
	uint64_t n_blocks;                                   /* written */
	uint64_t n_groups, n_groups_repaired, n_groups_left; /* as of a loss */
	uint32_t n_waiting;         /* groups that were left, until OpenSM has swept */
	uint64_t last_us, worst_us; /* from a trap to the last answer, of those done */
};

/* NULL when memory is short. */
struct triad_rerouter *triad_rerouter_new(struct osm_opensm *osm, uint64_t port_guid,
	struct triad_damper *damper, struct triad_qos *qos,
	struct triad_elector *elector, struct triad_route_checker *routes,
	struct triad_recorder *recorder, struct triad_log *log);
/* When OpenSM ends.  Accepts NULL. */
void triad_rerouter_stop(struct triad_rerouter *rerouter);
/* After OpenSM unbound its SM.  Accepts NULL. */
void triad_rerouter_free(struct triad_rerouter *rerouter);

/* Applies [repair]. */
void triad_rerouter_configure(
	struct triad_rerouter *rerouter, const struct triad_conf *conf);

/* From report(), they never block: a heavy sweep begins, its discovery has ended, it has
 * ended; OpenSM has routed anew without one. */
void triad_rerouter_note_sweep(struct triad_rerouter *rerouter);
void triad_rerouter_note_discovered(struct triad_rerouter *rerouter);
void triad_rerouter_note_up(struct triad_rerouter *rerouter);
void triad_rerouter_note_rerouted(struct triad_rerouter *rerouter);

struct triad_rerouter_status triad_rerouter_status(struct triad_rerouter *rerouter);
/* Copies the last losses, the newest first; at most 'room'.  Returns how many. */
#define TRIAD_REROUTE_N_KEPT 64u
size_t triad_rerouter_history(
	struct triad_rerouter *rerouter, struct triad_reroute *losses, size_t room);
/* "done", "would be done", "nothing to do", "left to OpenSM", "failed". */
const char *triad_reroute_outcome_text(enum triad_reroute_outcome outcome);
/* The same for people: "done in part" where some pairs have no other way. */
const char *triad_reroute_outcome_shown(const struct triad_reroute *loss);

#endif
