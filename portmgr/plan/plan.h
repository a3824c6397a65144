/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The plan: what to do so that every switch port is as expected; and what can't be
 * done, and why.
 *
 * Items for each port that the configuration has a row for [election-patent, "enforces
 * configuration"]:
 *
 *     expected     found                                  item
 *     disabled     not disabled                           DISABLE
 *     enabled      disabled, by whomever                  ENABLE
 *       or test    disabled by us as failed               NOTE: to be released by hand
 *     enabled      another far end than expected          DISABLE, miswired
 *     test         a link that was not admitted, or was   TEST
 *                  down since
 *                  a test that failed                     DISABLE, with its reason
 *     test         a link between switches that would be    NOTE
 *                  routed over meanwhile
 *     disabled     no link, while something is missing    NOTE
 *       or test
 *     any          no such switch, another width or speed NOTE
 *
 * A row with a mistake (placed.h) has no item.
 *
 * The guards (guard.h) judge each item that would take a link down, even for a test,
 * after the items before it.  An item that a guard stops stays in the plan, with the
 * verdict.  So of the last two links to a switch, one is tested after the other.  A port
 * without a link can't be judged: it waits until nothing is missing (missing.h).
 *
 * A plan may cut off a switch at the far end of a miswired port, but nothing behind it,
 * unless that switch is expected to be up.  A switch is expected to be up when it has a
 * port that should be up; when it is at the far end of a port that should be up, and
 * belongs there; or when the row of such a port names it by GUID or whole name,
 * wherever it is: swapped cables are no reason to cut off the switches.  A link both of
 * whose ends should be disabled is disabled at the end nearer to the SM, because then
 * the other end may no longer answer.
 *
 * Thread-safety: built by one thread, then immutable.  Memory: bounded by the number of
 * rows; the fabric, configuration and history are borrowed for the build alone. */
#ifndef TRIAD_PORTMGR_PLAN_H
#define TRIAD_PORTMGR_PLAN_H

#include "portmgr/expected/placed.h"
#include "portmgr/expected/remote.h"
#include "portmgr/history/history.h"
#include "portmgr/plan/guard.h"

/* The most links between switches that one plan takes down: after each, judging the
 * next one costs a walk over the fabric.  Others wait for the next plan. */
#define TRIAD_PLAN_MAX_WALKS 64u

enum triad_plan_kind {
	TRIAD_PLAN_DISABLE,
	TRIAD_PLAN_ENABLE,
	TRIAD_PLAN_TEST,
	TRIAD_PLAN_NOTE,
	TRIAD_PLAN_N_KINDS
};

/* What a NOTE is about. */
enum triad_plan_note {
	TRIAD_NOTE_NONE,
	TRIAD_NOTE_NO_SWITCH, /* the row's switch is not in the fabric */
	TRIAD_NOTE_FAILED,    /* disabled by us; waits for a release */
	TRIAD_NOTE_OTHER_END, /* the link's other end is disabled instead */
	TRIAD_NOTE_WIDTH,     /* not as wide as expected */
	TRIAD_NOTE_SPEED,
	TRIAD_NOTE_ENGINE,  /* not tested, because routing would use it meanwhile */
	TRIAD_NOTE_LATER,   /* the plan takes enough links down: left for the next
			    * plan */
	TRIAD_NOTE_MISSING, /* without a link now, but it may lead to what is missing */
	TRIAD_PLAN_N_NOTES
};

struct triad_plan_item {
	uint32_t row;                 /* of the configuration */
	uint32_t port;                /* of the fabric, or TRIAD_FABRIC_NONE */
	struct triad_guard_lost lost; /* with a guard's verdict */
	uint64_t node_guid;
	uint64_t remote_guid; /* of the port at the far end; 0: none */
	uint8_t number;       /* of the port */
	uint8_t kind;         /* enum triad_plan_kind */
	uint8_t reason;       /* enum triad_port_reason */
	uint8_t note;         /* enum triad_plan_note */
	uint8_t guard;        /* enum triad_guard_verdict */
	bool is_overridden;   /* an operator overrode the guard */
	bool is_active;   /* the link carries traffic: it is phased out, or bounced */
	bool may_be_name; /* miswired, but only the name differs */
	bool was_ours;    /* ENABLE, FAILED: we had disabled it */
};

struct triad_plan {
	uint64_t generation; /* of the configuration */
	uint64_t fabric;     /* its snapshot's number */
	uint32_t n_rows;
	uint32_t n_items;
	/* Sorted by (node GUID, port); unknown ones last. */
	struct triad_plan_item *items;
	uint32_t n_of_kind[TRIAD_PLAN_N_KINDS];
	uint32_t n_guarded; /* items that a guard stops */
};

/* An operator's override of a guard, for a port (node GUID, number).  It is valid while
 * those nodes would be lost that the operator was shown, and no others. */
struct triad_plan_override {
	uint64_t node_guid;
	uint64_t fingerprint; /* triad_guard_lost */
	uint8_t port;
};

struct triad_plan_input {
	const struct triad_fabric *fabric;
	const struct triad_expected *expected;
	const struct triad_placed *placed;
	const struct triad_history *history;
	const uint64_t *sm_guids; /* port GUIDs of other SMs */
	uint32_t n_sm_guids;
	const struct triad_plan_override *overrides;
	uint32_t n_overrides;
	/* The routing engine is 'file', which routes over links whatever they are, so those
	 * between switches can't be held. */
	bool routes_by_file;
	const char *missing; /* what triad_missing_find() said; NULL: nothing */
};

/* Returns 0 or ENOMEM. */
int triad_plan_build(const struct triad_plan_input *input, struct triad_plan **plan);
/* Accepts NULL. */
void triad_plan_free(struct triad_plan *plan);

/* The item about a port, or NULL. */
const struct triad_plan_item *triad_plan_find(
	const struct triad_plan *plan, uint64_t node_guid, uint8_t port);

/* Whether the item is to be done: it is not a note, and no guard stops it. */
static inline bool triad_plan_is_open(const struct triad_plan_item *item)
{
	return item->kind != TRIAD_PLAN_NOTE && (!item->guard || item->is_overridden);
}

/* The number of items to be done. */
uint32_t triad_plan_n_open(const struct triad_plan *plan);

/* The reason for an item, in a sentence; 'input' as for the build. */
void triad_plan_describe(const struct triad_plan_input *input,
	const struct triad_plan_item *item, char *text, size_t size);

/* Describes the nodes that would be lost: 'max_named' of them (at most
 * TRIAD_GUARD_MAX_LOST) by name and GUID, the others as a number: "leaf-02
 * (0x0000000000000202) and 3 more nodes". */
void triad_plan_describe_lost(const struct triad_fabric *fabric,
	const struct triad_guard_lost *lost, uint32_t max_named, char *text,
	size_t size);

/* Whether, according to the port's last record, the component with that port GUID has
 * passed its test. */
bool triad_plan_is_admitted(const struct triad_record *record, uint64_t remote_guid);
/* Whether, according to that record, the port failed and was not released. */
bool triad_plan_has_failed(const struct triad_record *record);

/* "disable", "enable", "test", "note"; "failed", ... */
const char *triad_plan_kind_name(unsigned kind);
const char *triad_plan_note_name(unsigned note);

#endif
