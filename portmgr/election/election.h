/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Which SM is master, and which of them is the configuration manager.
 *
 * Two questions, answered by one machine from the same messages:
 *
 * 1.  Who is master?  As in the document [election-patent]: an SM is ELECTING, STANDBY
 * or MASTER.  One that is electing becomes master when its election timeout has passed;
 * it comes sooner for who hears worse candidates and later for who hears better ones, a
 *    bounded number of times.  A master says STATUS again and again; a standby that has
 *    not heard one for the keep-alive timeout elects.  Who is not electing answers a
 *    STATUS with CEDE when its own priority is higher, else with TAKEOVER.  Every part
 * of a cluster that can talk has a master, with or without quorum: the fabric needs an
 * SM.
 *
 * 2. Who is the configuration manager?  At most one of all, so it needs more than 1.: a
 *    lease.  The best candidate among those that are able (not blacklisted, with the
 *    newest configuration, allowed by the operator's own check) claims it for a term
 * that no one ever had; the members grant it, each to one claimant a term, and promise
 * to grant nobody else anything until the lease has passed since.  Who has grants of a
 *    majority, and has got its own question back, holds the lease until 'lease_ms'
 * after it *asked*: before any promise made upon that question ends.  So two never hold
 * it at once, whatever is lost, late, doubled or paused, as long as clocks run at rates
 *    that differ by less than a tenth; nobody needs to notice a failure for that.  Who
 *    holds it has the highest priority, IS_CONF_MANAGER, and becomes master.
 *
 * Additions to the document, each for a fault that it leaves open:
 * - A CEDE is heeded only from a sender whose priority is higher than the receiver's,
 * and IS_CONF_MANAGER counts only of the sender to whom the receiver has given its
 * promise: a runaway that says CEDE to everything is not obeyed.
 * - A TAKEOVER is heeded from the master (a planned hand-over), and otherwise only when
 * no better master is known.
 * - Who elects and has heard all members of the view, none of them better, does not
 * wait.
 * - A member whose disk doesn't take its vote gives none: it might give it again, to
 *   another, after a restart.
 * - A member that has only just started promises nothing for the time of a lease,
 * because it may have made a promise before.
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

struct triad_election_conf {
	uint64_t id;           /* the port's GUID, not 0 */
	uint32_t status_ms;    /* a master says STATUS this often */
	uint32_t keepalive_ms; /* a standby waits for it so long */
	uint32_t timeout_ms;   /* an election takes so long, */
	uint32_t step_ms;      /* more or less by that for each candidate heard, */
	uint32_t n_steps;      /* at most so many times either way */
	uint32_t lease_ms;
	bool is_witness;  /* votes, and is never master */
	bool has_cluster; /* false: alone by configuration; who is silent is not
	                      missed */
};

/* What has to survive a restart.  Losing it is safe for the length of a lease, but the
 * terms that journals refer to may then be given again. */
struct triad_election_stored {
	uint64_t term;                  /* the highest that was ever heard of */
	uint64_t voted_term, voted_for; /* the last vote; 0: none */
	uint32_t lease_ms;   /* the longest that may be promised to somebody */
	uint64_t generation; /* the newest that was ever heard of */
	struct triad_blacklist blacklist;
};

enum triad_election_action_kind {
	/* Write 'stored' to disk before anything that follows is done; when that fails,
	 * triad_election_store_failed() before the next action is taken. */
	TRIAD_ELECTION_STORE,
	TRIAD_ELECTION_SEND,         /* 'message' to all */
	TRIAD_ELECTION_SET_PRIORITY, /* of the SM, 'sm_priority' */
	TRIAD_ELECTION_TAKE_OVER,    /* the SM is to become master */
	TRIAD_ELECTION_STEP_DOWN,    /* another SM is, or will be */
};

struct triad_election_action {
	enum triad_election_action_kind kind;
	union {
		struct triad_election_message message;
		struct triad_election_stored stored;
		uint8_t sm_priority;
	};
};

/* What is known of a member, for people. */
struct triad_election_member {
	uint64_t id;
	enum triad_election_state state;
	uint32_t priority;
	uint64_t term, claim, generation, hash;
	uint64_t heard_us; /* 0: not yet */
	bool is_able, is_witness, is_blacklisted, is_self;
	bool has_granted; /* our present claim, or is who we have promised to */
};

struct triad_election_status {
	enum triad_election_state state;
	uint64_t master; /* 0: none known */
	uint64_t holder; /* of the lease, as far as known here; 0: none */
	uint64_t term;   /* of that lease, or the highest known */
	uint32_t priority;
	uint8_t sm_priority;
	struct triad_cluster_view view;
	struct triad_blacklist blacklist;
	uint32_t n_members;
	struct triad_election_member members[TRIAD_CLUSTER_MAX_MEMBERS];
	/* How often since the start. */
	uint64_t n_elections, n_won, n_ceded, n_ceded_ignored, n_malformed, n_versions;
	uint64_t n_leases, n_leases_lost, n_stale;
};

struct triad_election;

/* NULL when memory is short.  'stored' is what the last action STORE had, or zeroes. */
struct triad_election *triad_election_new(const struct triad_election_conf *conf,
	const struct triad_election_stored *stored, uint64_t now_us);
void triad_election_free(struct triad_election *election);

/* --- what happens -------------------------------------------------------- */

void triad_election_view(struct triad_election *election,
	const struct triad_cluster_view *view, uint64_t now_us);

/* A payload that 'sender' sent; this one's own come back here, too. */
void triad_election_payload(struct triad_election *election, uint64_t sender,
	const void *payload, size_t size, uint64_t now_us);

/* Local ports, and how many of them are in good state; damped by the caller. */
void triad_election_ports(struct triad_election *election, uint32_t n_ports,
	uint32_t n_good, uint64_t now_us);

/* Whether the SM here is master, and has brought the subnet up as such. */
void triad_election_sm(
	struct triad_election *election, bool is_master, bool is_up, uint64_t now_us);

void triad_election_check(
	struct triad_election *election, enum triad_check check, uint64_t now_us);

/* The expected configuration that is in force here; 0, 0: none. */
void triad_election_config(struct triad_election *election, uint64_t generation,
	uint64_t hash, uint64_t now_us);

/* What the operator asks for: a preference from 0 to 15; an id on or off the blacklist
 * (0, EALREADY or ENOSPC); and the word that members that are missing are down, which
 * stands in for their votes until somebody comes or goes (0, or EINVAL when nobody is
 * missing). */
void triad_election_prefer(
	struct triad_election *election, uint8_t preference, uint64_t now_us);
int triad_election_blacklist(
	struct triad_election *election, uint64_t id, bool is_listed, uint64_t now_us);
int triad_election_confirm(struct triad_election *election, uint64_t now_us);

/* Gives up the lease and mastership before the SM ends. */
void triad_election_resign(struct triad_election *election, uint64_t now_us);

/* Time has passed.  To be called at the latest at triad_election_next_us(). */
void triad_election_run(struct triad_election *election, uint64_t now_us);
uint64_t triad_election_next_us(const struct triad_election *election);

/* --- what is to be done -------------------------------------------------- */

/* The next action, in the order in which they are to be done; false when there are no
 * more.  To be asked after each of the functions above. */
bool triad_election_take_action(
	struct triad_election *election, struct triad_election_action *action);

/* The last action was to store, and that has failed.  What it held is forgotten when
 * this process dies, so it must not be told to anybody: a vote that isn't on disk
 * counts for nobody, this member's own claim neither.  Votes and claims of before,
 * which are on disk, stay.  Storing is asked for again after 'status_ms', until it
 * doesn't fail. */
void triad_election_store_failed(struct triad_election *election);

void triad_election_status(const struct triad_election *election, uint64_t now_us,
	struct triad_election_status *status);

/* Another member that said within the keep-alive time that its SM is the fabric's
 * master; 0: none did. */
uint64_t triad_election_sm_master(
	const struct triad_election *election, uint64_t now_us);

/* What permission to enforce hangs on, for triad_permission_judge(). */
void triad_election_facts(
	const struct triad_election *election, struct triad_permission_facts *facts);

#endif
