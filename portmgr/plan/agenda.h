/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* When each item of the plan is done.
 *
 * Each sweep makes a new plan of what is to be done.  The agenda keeps what must
 * outlast plans: since when an item has been due, what was tried, what was approved by
 * hand.
 *
 * - A link that carries traffic, and that the configuration disables, is phased out: a
 *   warning, a grace time, then the agenda looks at its traffic; the link is disabled
 *   when the traffic is small, or when the agenda has waited long enough.  A link that
 *   starts to carry traffic later is phased out from then on; one that goes down by
 *   itself is disabled at once.
 * - A component that differs only in its name gets time to report the expected one;
 *   each new component gets it anew.
 * - At most 'max_actions' are done between two sweeps.  If a plan has more, nothing is
 *   done until an operator approves: so many are probably a mistake in the
 *   configuration.
 * - What a switch refused or did not answer is tried again, later each time.
 *
 * Thread-safety: one thread.  Memory: an entry for each item; checked.  Time: any clock
 * that does not go back, in us. */
#ifndef TRIAD_PORTMGR_AGENDA_H
#define TRIAD_PORTMGR_AGENDA_H

#include "portmgr/plan/plan.h"

struct triad_agenda_conf {
	uint32_t max_actions;
	uint64_t grace_us;      /* between the warning and the end */
	uint64_t drain_us;      /* how long to wait for small traffic then */
	uint64_t quiet_bps;     /* octets a second, both ways, that count as small */
	uint64_t name_grace_us; /* for a name that is not the expected one */
};

enum triad_agenda_kind {
	TRIAD_AGENDA_WAIT,
	TRIAD_AGENDA_WARN,    /* warn that the port will be disabled */
	TRIAD_AGENDA_TRAFFIC, /* read its traffic, and call triad_agenda_traffic() */
	TRIAD_AGENDA_ACT,     /* do it */
};

enum triad_agenda_state {
	TRIAD_AGENDA_DUE,
	TRIAD_AGENDA_NAME,     /* waits for the name */
	TRIAD_AGENDA_GRACE,    /* the warning was given */
	TRIAD_AGENDA_DRAINING, /* traffic was not small */
	TRIAD_AGENDA_AGAIN,    /* an attempt failed */
	TRIAD_AGENDA_DONE,     /* until the next sweep shows it */
};

struct triad_agenda_entry {
	uint64_t node_guid;
	uint8_t number;
	uint8_t kind;   /* enum triad_plan_kind */
	uint8_t reason; /* enum triad_port_reason */
	uint8_t state;  /* enum triad_agenda_state */
	bool is_approved, is_warned;
	bool takes_set;   /* counts as an action, because it sends a Set */
	bool may_be_name; /* as in the last plan */
	uint32_t n_tried;
	uint64_t remote_guid; /* of the port at the far end; 0: none */
	uint64_t since_us, next_us;
	uint64_t traffic_bps; /* seen last */
};

struct triad_agenda;

struct triad_agenda_status {
	uint32_t n;       /* items */
	uint32_t n_open;  /* that take a Set and were not approved */
	bool is_stopped;  /* there are more than max_actions of them */
	uint32_t n_done;  /* Sets since the last sweep */
	uint64_t n_stops; /* how often it was stopped */
};

struct triad_agenda *triad_agenda_new(void);
/* Accepts NULL. */
void triad_agenda_free(struct triad_agenda *agenda);
void triad_agenda_configure(
	struct triad_agenda *agenda, const struct triad_agenda_conf *conf);

/* Forgets all entries, with their warnings, attempts and approvals. */
void triad_agenda_clear(struct triad_agenda *agenda);

/* Takes over a new plan; entries of items that are not in it end.  Returns 0; or
 * ENOMEM, and nothing changed. */
int triad_agenda_look(
	struct triad_agenda *agenda, const struct triad_plan *plan, uint64_t now_us);

/* The next thing to do: '*entry', valid until the next look.  With WAIT, '*until_us' is
 * when to ask again at the latest; UINT64_MAX: after the next look.  It searches the
 * entries only after a look and when a time is over, not in each call. */
enum triad_agenda_kind triad_agenda_next(struct triad_agenda *agenda, uint64_t now_us,
	const struct triad_agenda_entry **entry, uint64_t *until_us);

/* Sets whether the maximum number of tests is running: then items of tests wait. */
void triad_agenda_hold_tests(struct triad_agenda *agenda, bool is_full);

/* The results.  A result that does not fit the entry's state is ignored: one that comes
 * after a look may be about an item that is gone. */
void triad_agenda_warned(struct triad_agenda *agenda, uint64_t node_guid,
	uint8_t number, uint64_t now_us);
/* 'octets_per_s' UINT64_MAX: not known; counts as small. */
void triad_agenda_traffic(struct triad_agenda *agenda, uint64_t node_guid,
	uint8_t number, uint64_t octets_per_s, uint64_t now_us);
/* 'is_sent': a Set was sent for it, which counts as an action until the next sweep. */
void triad_agenda_done(struct triad_agenda *agenda, uint64_t node_guid, uint8_t number,
	bool worked, bool is_sent, uint64_t now_us);

/* Approves all present items, or one, by hand.  Returns how many were approved. */
uint32_t triad_agenda_approve_all(struct triad_agenda *agenda);
bool triad_agenda_approve(
	struct triad_agenda *agenda, uint64_t node_guid, uint8_t number);

const struct triad_agenda_entry *triad_agenda_find(
	const struct triad_agenda *agenda, uint64_t node_guid, uint8_t number);
void triad_agenda_status(
	const struct triad_agenda *agenda, struct triad_agenda_status *status);

/* "due", "name", "grace", ... */
const char *triad_agenda_state_name(unsigned state);

#endif
