/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The damper's state, for its files alone. */
#ifndef TRIAD_PLUGIN_DAMPER_PARTS_H
#define TRIAD_PLUGIN_DAMPER_PARTS_H

#include "plugin/opensm.h"

#include <pthread.h>
#include <stdatomic.h>

#include "damp/copy.h"
#include "damp/ports.h"
#include "lib/ring.h"
#include "lib/task.h"
#include "plugin/damp/damper.h"
#include "plugin/ports/smp.h"
#include "triad/fabric.h"

/* Room in the queue: OpenSM has its lock for seconds when it routes, and 100 links that flap
 * send 150 traps in each. */
#define DAMPER_N_TRAPS 4096u
#define DAMPER_N_LIDS 0xc000u
#define DAMPER_MAX_SWITCHES 8192u
#define DAMPER_MAX_HELD 256u
#define DAMPER_N_TOLD 8u   /* payloads of the master that wait for the thread */
#define DAMPER_MAX_KEPT 4u /* traps of one switch that wait for its look */

struct damper_trap {
	osm_madw_t *madw; /* NULL: OpenSM has it */
	uint16_t lid;
	bool is_other; /* it is only to be repressed */
};

struct damper_told {
	size_t size;
	uint8_t octets[TRIAD_DAMP_COPY_SIZE];
};

/* A switch that sent a trap, or has a held link.  Of the thread alone. */
struct damper_switch {
	uint64_t guid;
	uint64_t due_us; /* of the next look; UINT64_MAX: none */
	uint64_t looked_us;
	bool has_held;
	bool is_clear;     /* the last look left PortStateChange cleared */
	unsigned n_failed; /* looks in a row that came to nothing */
	unsigned n_silent; /* in which what is beyond a held link did not answer */
	unsigned n_kept;
	osm_madw_t *kept[DAMPER_MAX_KEPT];
	struct triad_damp_switch ports;
};

struct triad_damper {
	struct osm_opensm *osm;
	struct triad_ports *ports; /* has the fabric */
	struct triad_elector *elector;
	struct triad_recorder *recorder;
	struct triad_log *log;
	struct triad_smp *smp;

	struct triad_damp_ends
		named; /* in an alert; of the thread that finds these alone */

	atomic_int mode, error;
	atomic_bool hosts;
	atomic_uint n_started, n_ended; /* heavy sweeps */
	atomic_ulong n_traps, n_kept, n_told, n_looks, n_smps, n_bounces;
	/* LIDs of switches with a held link: a bit each. */
	atomic_ulong held_lids[DAMPER_N_LIDS / (8 * sizeof(unsigned long))];

	pthread_mutex_t lock; /* of what follows, held for a copy */
	struct triad_task task;
	struct triad_ring ring;
	struct damper_trap queue[DAMPER_N_TRAPS];
	struct triad_traps traps;
	struct triad_ring told_ring;
	struct damper_told told[DAMPER_N_TOLD];

	pthread_mutex_t links_lock; /* of the links; held while they are reviewed */
	struct triad_damp_links *links;

	pthread_mutex_t
		held_lock; /* of the links that OpenSM is not shown, for a copy */
	uint32_t n_held;
	struct triad_damp_ends held[DAMPER_MAX_HELD];

	/* Of the thread alone. */
	struct triad_fabric *fabric; /* a reference */
	uint64_t reviewed;           /* the generation of that one that was reviewed */
	struct damper_switch *switches[DAMPER_MAX_SWITCHES]; /* by GUID */
	uint32_t n_switches;
	uint32_t n_ended_seen, n_ended_checked;
	unsigned n_not_out; /* sweeps in a row that left a held link in */
	uint64_t polled_us;
	bool knows_before; /* what was held before, by the history or the master */
	struct triad_damp_copy copy; /* of the list that the master tells */
	uint32_t round;              /* of the list that standbys are told */
	uint64_t tells_us;           /* when the next one is due */
};

static inline void damper_count(atomic_ulong *counter)
{
	atomic_fetch_add_explicit(counter, 1, memory_order_relaxed);
}

static inline bool damper_acts(const struct triad_damper *damper)
{
	return atomic_load(&damper->mode) == TRIAD_DAMP_ACT;
}

static inline bool damper_is_master(const struct triad_damper *damper)
{
	return triad_osm_peek(&damper->osm->subn.sm_state) == IB_SMINFO_STATE_MASTER;
}

static inline bool damper_is_sweeping(const struct triad_damper *damper)
{
	return atomic_load(&damper->n_started) != atomic_load(&damper->n_ended);
}

/* --- damper_look.c: the thread, without locks --- */

/* The switch's record; made if there is room.  NULL: there is none. */
struct damper_switch *damper_find_switch(
	struct triad_damper *damper, uint64_t guid, bool must);
/* Reads the switch, finds what bounced, and has OpenSM told if it must be. */
void damper_look(struct triad_damper *damper, struct damper_switch *of);
/* Whether PortStateChange is set, or can't be read. */
bool damper_has_changed(struct triad_damper *damper, const struct damper_switch *of);

/* Answers a trap as OpenSM would, and gives it back to OpenSM's pool. */
void damper_repress(struct triad_damper *damper, osm_madw_t *madw);

/* --- damper_hold.c --- */

/* With links_lock: holds what is over the limit and may be held, lets go what is due or must
 * not be held any more (a standby: as the master tells it), publishes it.  Returns whether
 * OpenSM must sweep. */
bool damper_review(struct triad_damper *damper, uint64_t now_us);
/* With links_lock: lets a held link go, and says why; published by the next review. */
void damper_let_go(struct triad_damper *damper, const struct triad_damp_ends *ends,
	const char *why);
/* Writes to the log and the history what became of a link; the latter as the event's count. */
enum damper_hold { DAMPER_NOT_HELD, DAMPER_HELD, DAMPER_PINNED, DAMPER_PINNED_BY_HEAL };
void damper_note(struct triad_damper *damper, const struct triad_fabric *fabric,
	const struct triad_damp_ends *ends, enum damper_hold hold, const char *what);
/* With links_lock: puts links over the limit that were held when this process began, by the
 * history.  Returns false: that is still being read. */
bool damper_hold_as_before(struct triad_damper *damper);
/* A guard of the fabric, without the links that are held; with links_lock.  NULL: memory is
 * short. */
struct triad_guard *damper_make_guard(
	struct triad_damper *damper, const struct triad_fabric *fabric);
/* Whether one end of the link is a host's. */
bool damper_is_of_host(
	const struct triad_fabric *fabric, const struct triad_damp_ends *ends);
/* Why a link may not be held; NULL: it may.  With links_lock. */
const char *damper_refusal(struct triad_damper *damper,
	const struct triad_fabric *fabric, struct triad_guard *guard,
	const struct triad_damp_ends *ends);

#endif
