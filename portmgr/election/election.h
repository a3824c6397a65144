/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The election: which SM is master, and which one is the configuration manager.
 *
 * Model: one machine answers two questions from the same messages.
 *
 * 1. Who is master?  As in [election-patent], an SM is ELECTING, STANDBY or MASTER. An
 *    electing SM becomes master when its election timeout ends.  STATUS of worse candidates
 *    shortens the timeout, and STATUS of better ones extends it, a bounded number of times.
 *    A master sends STATUS at intervals; a standby that receives none for the keep-alive
 *    timeout starts an election.  An SM that is not electing answers a STATUS with CEDE
 *    when its own priority is higher, else with TAKEOVER. Each part of a divided cluster
 *    has a master, with or without quorum: the fabric needs an SM.
 *
 * 2. Who is the configuration manager?  At most one SM of all, so this needs a lease.  The
 *    best candidate among those that are able (not blacklisted, with a port that is up and
 *    the newest configuration, allowed by the operator's check) claims the lease for a new
 *    term.  Members grant a term to one claimant, and promise to grant nothing else until
 *    the lease time has passed.  A claimant that has grants of a majority, and has received
 *    its own question back, holds the lease until 'lease_ms' after it *asked*: before any
 *    promise for that question ends.  So two SMs never hold it at once, even if messages
 *    are lost, late or doubled, or a process pauses, as long as the rates of clocks differ
 *    by less than a tenth.  No SM needs to detect a failure for that.  The holder has the
 *    highest priority, IS_CONF_MANAGER, and becomes master.
 *
 * Additions to the document, each for a fault that the document does not handle:
 *
 * - A receiver obeys a CEDE only of a sender with a higher priority than its own, and
 *   honours IS_CONF_MANAGER only of the sender to which it gave its promise.  So it does
 *   not obey a faulty SM that sends CEDE to everything.
 * - An electing SM answers no STATUS, but gives its promise to a sender that says it
 *   holds the lease, so as to honour its IS_CONF_MANAGER.
 * - A receiver obeys a TAKEOVER of the master (a planned hand-over), and otherwise
 *   only when it knows no better master.
 * - In a planned hand-over the old master keeps the lease, without the priority that comes
 *   with it, until its SM is no longer master.  An SM needs a sweep to hand over, and
 *   during that time no other SM could enforce.
 * - An electing SM that has received STATUS of all members of the view, none of them
 *   better, does not wait.
 * - A member that can't write its vote to disk does not vote: after a restart it might give
 *   the same vote to another claimant.
 * - A member that has just started promises nothing for the time of a lease, because
 *   it may have made a promise before.
 *
 * Time is monotonic and comes in as an argument; it may stand still, but never goes
 * back.  Nothing here sleeps, sends or allocates after triad_election_new().
 *
 * Thread-safety: none. */
#ifndef TRIAD_PORTMGR_ELECTION_H
#define TRIAD_PORTMGR_ELECTION_H

#include "portmgr/cluster/cluster.h"
#include "portmgr/election/message.h"
#include "portmgr/election/permission.h"
#include "portmgr/election/port_health.h"

/* How long a standby waits for a STATUS: longer than a lease, so that a master that is silent
 * has lost its own before another one is elected.  In ms, as 'lease_ms'. */
static inline uint32_t triad_election_keepalive_ms(uint32_t lease_ms)
{
	return lease_ms * 5 / 3;
}

struct triad_election_conf {
	uint64_t id;           /* the port's GUID, not 0 */
	uint32_t status_ms;    /* between a master's STATUS messages */
	uint32_t keepalive_ms; /* how long a standby waits for a STATUS */
	uint32_t timeout_ms;   /* the length of an election, */
	uint32_t step_ms;      /* which each candidate changes by this, */
	uint32_t n_steps;      /* at most this often in either direction */
	uint32_t lease_ms;
	bool is_witness;  /* votes, and is never master */
	bool has_cluster; /* false: alone by configuration, so nobody is missing */
};

/* What must survive a restart.  Losing it is safe after the length of a lease, but then
 * terms that journals refer to may be used again. */
struct triad_election_stored {
	uint64_t term;                  /* the highest ever seen */
	uint64_t voted_term, voted_for; /* the last vote; 0: none */
	uint32_t lease_ms;              /* the longest lease that may have been
					 * promised */
	uint64_t generation;            /* the newest ever seen */
	struct triad_blacklist blacklist;
};

enum triad_election_action_kind {
	/* Write 'stored' to disk before carrying out any later action.  If that fails,
	 * call triad_election_store_failed() before taking the next action. */
	TRIAD_ELECTION_STORE,
	TRIAD_ELECTION_SEND,         /* 'message' to all */
	TRIAD_ELECTION_SET_PRIORITY, /* of the SM, 'sm_priority' */
	TRIAD_ELECTION_TAKE_OVER,    /* the SM is to become master */
	TRIAD_ELECTION_STEP_DOWN,    /* another SM is or will be master */
};

struct triad_election_action {
	enum triad_election_action_kind kind;
	union {
		struct triad_election_message message;
		struct triad_election_stored stored;
		uint8_t sm_priority;
	};
};

/* A member, for display. */
struct triad_election_member {
	uint64_t id;
	enum triad_election_state state;
	uint32_t priority;
	uint64_t term, claim, generation, hash;
	uint64_t received_us; /* 0: not yet */
	uint32_t lease_ms;
	bool is_able, is_witness, is_blacklisted, is_self;
	bool is_sm_master; /* its SM is the fabric's master, as it said within the
			    * keep-alive time */
	bool has_granted;  /* our present claim */
};

struct triad_election_status {
	enum triad_election_state state;
	uint64_t master;     /* 0: none known */
	uint64_t elected_us; /* when its last election began; 0: never */
	uint64_t holder;     /* of the lease, if known; 0: none */
	uint64_t term;       /* of that lease, or the highest known */
	uint32_t priority;
	uint8_t sm_priority;
	struct triad_cluster_view view;
	struct triad_blacklist blacklist;
	uint32_t n_members;
	struct triad_election_member members[TRIAD_CLUSTER_MAX_MEMBERS];
	/* Counts since the start. */
	uint64_t n_elections, n_won, n_ceded, n_ceded_ignored, n_malformed, n_versions;
	uint64_t n_leases, n_leases_lost, n_stale;
};

struct triad_election;

/* NULL when memory is short.  'stored' is from the last action STORE, or zeroes. */
struct triad_election *triad_election_new(const struct triad_election_conf *conf,
	const struct triad_election_stored *stored, uint64_t now_us);
void triad_election_free(struct triad_election *election);

/* --- input --- */

void triad_election_view(struct triad_election *election,
	const struct triad_cluster_view *view, uint64_t now_us);

/* A payload from 'sender'; this member's own payloads come back here, too. */
void triad_election_payload(struct triad_election *election, uint64_t sender,
	const void *payload, size_t size, uint64_t now_us);

/* The health of the local ports. */
void triad_election_ports(struct triad_election *election,
	const struct triad_port_health *health, uint64_t now_us);

/* Whether the SM here is master, and as master has brought the subnet up. */
void triad_election_sm(
	struct triad_election *election, bool is_master, bool is_up, uint64_t now_us);

void triad_election_check(
	struct triad_election *election, enum triad_check check, uint64_t now_us);

/* Sets the expected configuration in force here; 0, 0: none. */
void triad_election_config(struct triad_election *election, uint64_t generation,
	uint64_t hash, uint64_t now_us);

/* The operator's commands: a preference from 0 to 15; an id on or off the blacklist (0,
 * EALREADY or ENOSPC); and the confirmation that missing members are down, which counts
 * as their votes until the view changes (0; or EINVAL when none is missing). */
void triad_election_prefer(
	struct triad_election *election, uint8_t preference, uint64_t now_us);
int triad_election_blacklist(
	struct triad_election *election, uint64_t id, bool is_listed, uint64_t now_us);
int triad_election_confirm(struct triad_election *election, uint64_t now_us);

/* Gives up the lease and mastership before the SM ends. */
void triad_election_resign(struct triad_election *election, uint64_t now_us);

/* Does what is due; call it at triad_election_next_us() at the latest. */
void triad_election_run(struct triad_election *election, uint64_t now_us);
uint64_t triad_election_next_us(const struct triad_election *election);

/* --- output --- */

/* The next action, in order; false when there are no more.  Ask for all of them after
 * each of the functions above. */
bool triad_election_take_action(
	struct triad_election *election, struct triad_election_action *action);

/* The last action, STORE, has failed.  What it contained would be lost with this
 * process, so nobody may learn of it: a vote that is not on disk does not count, not
 * even for this member's own claim.  Earlier votes and claims, which are on disk, stay
 * valid.  The machine asks for STORE again every 'status_ms' until it succeeds. */
void triad_election_store_failed(struct triad_election *election);

void triad_election_status(const struct triad_election *election, uint64_t now_us,
	struct triad_election_status *status);

/* The facts from which triad_permission_judge() derives the permission to enforce. */
void triad_election_facts(
	const struct triad_election *election, struct triad_permission_facts *facts);

#endif
