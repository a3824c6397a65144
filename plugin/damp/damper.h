/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Keeps links that go down again and again, and traps that say nothing new, from making
 * OpenSM sweep without an end.
 *
 * Model: as a taker of what comes to the SM (plugin/takers.h) it sees each trap before OpenSM.
 * Traps that change nothing pass at a rate (damp/traps.h).  A trap 128 (the state of a link
 * changed) goes to OpenSM at once, unless the switch has a link that is held; and the thread
 * reads all ports of that switch by SMPs of its own, to see which link it was (damp/ports.h).
 * Links that bounce too often are held (damp/links.h): out of routing, though their ports
 * may be in INIT.
 *
 * A switch with a held link is looked at instead of swept: at each trap of it, and each
 * second.  If PortStateChange is set there, it is cleared, as OpenSM does after a sweep, and
 * then all ports are read: in the other order a change between the two would be lost.  If any
 * port but the held one differs from what OpenSM has, or if the switch does not answer, OpenSM
 * is told to sweep.  The trap is repressed in its place: OpenSM would drop it if it had ten like
 * it in 5 s, for whatever port.  So clients that subscribed to traps 128 are not told of it.
 *
 * What a look must be newer than: ports are read after the bit was cleared, and compared with
 * what OpenSM has after that; while OpenSM sweeps, with the last reading, and the switch is
 * looked at once more when the sweep is through.  The bit is not cleared while OpenSM sweeps,
 * because SwitchInfo has other values that OpenSM sets then.
 *
 * OpenSM is shown the ports of held links as down: the answers to its own Get(PortInfo) are
 * changed before it gets them, at both ends.  So its discovery asks nothing over such a link and
 * waits for no time-out there, its link manager does not bring the link up, and its routing engine
 * does not see it: from the sweep on in which the link was first down, no packet is sent over it.
 * Its light sweeps are shown no change at such a switch: that is looked for by the thread.
 * A link of which OpenSM had read an end before it was held has OpenSM sweep again.  A link that
 * is the only way to a switch must not be held: guards see to that, and let a link go when another
 * one has failed.
 *
 * With the election, the master tells standbys which links are held, each two seconds and when
 * that changes (damp/copy.h), so a new master's first sweep does not have them.  After a restart
 * of OpenSM the history says which were held.
 *
 * Thread-safety: any thread, but for new, stop and free.  Memory: 1.6 MiB, and 600 octets for
 * each switch that sent a trap; most of it touched when needed. */
#ifndef TRIAD_PLUGIN_DAMPER_H
#define TRIAD_PLUGIN_DAMPER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "damp/links.h"
#include "damp/traps.h"
#include "ib/node_label.h"
#include "triad/conf.h"
#include "triad/fabric.h"
#include "triad/log.h"

struct osm_opensm;
struct triad_damper;
struct triad_elector;
struct triad_ports;
struct triad_found;
struct triad_recorder;

struct triad_damper_status {
	enum triad_damp_mode mode;
	bool is_installed; /* traps are looked at */
	/* Why not, though they should: as that of the shield; 0: OpenSM has not bound yet. */
	int error;
	uint64_t n_traps; /* 128 */
	uint64_t n_kept;  /* of these, repressed in OpenSM's place */
	uint64_t n_told;  /* looks after which OpenSM was told to sweep */
	uint64_t n_looks; /* at a switch */
	uint64_t n_smps;  /* sent for that */
	uint64_t n_bounces, n_together;
	uint64_t n_held, n_known;       /* links */
	uint64_t n_other, n_other_kept; /* traps that change nothing */
};

/* NULL when memory is short. */
struct triad_damper *triad_damper_new(struct osm_opensm *osm, uint64_t port_guid,
	struct triad_ports *ports, struct triad_elector *elector,
	struct triad_recorder *recorder, struct triad_log *log);
/* When OpenSM ends: it gets all traps.  Accepts NULL. */
void triad_damper_stop(struct triad_damper *damper);
/* After OpenSM unbound its SM.  Accepts NULL. */
void triad_damper_free(struct triad_damper *damper);

/* Applies [damp]. */
void triad_damper_configure(struct triad_damper *damper, const struct triad_conf *conf);

/* From report(): of HEAVY_SWEEP_START and SUBNET_UP; they never block. */
void triad_damper_note_sweep(struct triad_damper *damper);
void triad_damper_note_up(struct triad_damper *damper);

struct triad_damper_status triad_damper_status(struct triad_damper *damper);
/* Why traps are not looked at, for people: of an error of the status. */
const char *triad_damper_explain(int error);

/* Copies links of which bounces are known, those held first, then by penalty; at most 'room' (at least 1).
 * Sets each one's penalty to that of now.  Returns how many. */
size_t triad_damper_links(
	struct triad_damper *damper, struct triad_damp_link *links, size_t room);
/* What a link is called for people: "leaf-01:5 - spine-01:1".  'fabric' may be NULL. */
#define TRIAD_DAMPER_NAME_SIZE (2 * TRIAD_PORT_LABEL_SIZE + 4)
void triad_damper_name(const struct triad_fabric *fabric,
	const struct triad_damp_ends *ends, char name[TRIAD_DAMPER_NAME_SIZE]);

/* Copies senders of traps that change nothing, those of most first. */
size_t triad_damper_senders(
	struct triad_damper *damper, struct triad_trap_sender senders[TRIAD_TRAPS_N]);

/* Whether a link of the switch is held, so that OpenSM does not get its traps of links. */
bool triad_damper_looks_at(struct triad_damper *damper, uint64_t node_guid);
/* Whether the link of a port is held. */
bool triad_damper_holds(
	struct triad_damper *damper, uint64_t node_guid, uint8_t number);

/* Adds the links that are held to an alert's findings (perfmgr/watch/finders.h). */
void triad_damper_give(void *damper, struct triad_found *found);
/* Copies the ends of links that are held; at most 'room'.  Returns how many. */
size_t triad_damper_held(
	struct triad_damper *damper, struct triad_damp_ends *held, size_t room);

/* Forgives all bounces of the link, and lets it go if it is held; 'what' says that, for people.
 * Returns 0 or ENOENT: nothing is known of such a link. */
int triad_damper_release(struct triad_damper *damper, uint64_t node_guid,
	uint8_t number, const char *what);
/* Holds the link of a port of the fabric until it is released, whether it is held already or not;
 * 'by_heal': for the port manager, which heals it; 'what' as above.  Returns 0;
 * ENOENT: it has no link; EBUSY: it may not be held, '*why' says why; or ENOMEM. */
int triad_damper_pin(struct triad_damper *damper, const struct triad_fabric *fabric,
	uint32_t port, bool by_heal, const char *what, const char **why);
/* Releases the link if it is held for the port manager; others may hold it by now. */
void triad_damper_release_healed(struct triad_damper *damper,
	const struct triad_damp_ends *ends, const char *what);
/* Whether links that are to be held are: damp.mode is act. */
bool triad_damper_acts(const struct triad_damper *damper);
/* Whether it would be: the same, and nothing changes. */
int triad_damper_would_pin(struct triad_damper *damper,
	const struct triad_fabric *fabric, uint32_t port, const char **why);
/* Copies what is known of a link.  False: nothing is. */
bool triad_damper_find(struct triad_damper *damper, const struct triad_damp_ends *ends,
	struct triad_damp_link *link);

#endif
