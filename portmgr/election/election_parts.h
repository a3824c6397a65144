/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Internals of the election, for its own files alone:
 *
 *     election.c          its life, input and output
 *     election_states.c   ELECTING, STANDBY, MASTER: who is master
 *     election_lease.c    claims, promises, rounds: who is configuration manager
 *     election_members.c  the members, and the best of them
 *
 * Every function takes the time from election->now_us, which the inputs set. */
#ifndef TRIAD_PORTMGR_ELECTION_PARTS_H
#define TRIAD_PORTMGR_ELECTION_PARTS_H

#include "portmgr/election/election.h"
#include "portmgr/election/priority.h"
#include "triad/clock.h"

#define MAX_ACTIONS 16u

/* The most answers to one member in 'status_ms', to limit what a faulty one can
 * cause. */
#define MAX_ANSWERS 8u

/* The fraction by which a lease is shorter for its holder than for those who promised
 * it, because the rates of clocks differ. */
#define DRIFT_PARTS 10u

/* The longest that a lease is kept in a planned hand-over. */
#define YIELD_US (10 * TRIAD_US_PER_S)

/* A sender whose term exceeds the highest known by more than this is faulty; following
 * it would soon use up all terms. */
#define MAX_TERM_JUMP (UINT64_C(1) << 32)

/* A member and its last message. */
struct received {
	struct triad_election_message message;
	uint64_t at_us;
	/* Answers to it in the present window of 'status_ms'. */
	uint64_t window_us;
	uint32_t n_answers;
};

/* A question to the members: may I hold the lease? It is repeated until it is answered,
 * and its time counts from the first. */
struct round {
	uint64_t number;
	uint64_t asked_us;
	uint64_t view; /* the view at that time */
	bool is_back;  /* we received our own question */
	bool is_complete;
	uint32_t n_grants;
	uint64_t grants[TRIAD_CLUSTER_MAX_MEMBERS]; /* ids */
};

/* This member's promise. */
struct promise {
	uint64_t holder; /* 0: none was ever made */
	uint64_t term;
	uint64_t until_us;
};

/* The candidate that is skipped for a while, because it did not get the lease. */
struct passed_over {
	uint64_t since_us; /* when the lease became free */
	uint64_t excluded;
	uint64_t until_us;
};

struct triad_election {
	struct triad_election_conf conf;
	uint64_t now_us;
	uint64_t votes_from_us; /* by then a promise made before the start has ended */
	struct triad_election_stored stored;

	/* --- input --- */
	struct triad_cluster_view view; /* number 0: none yet */
	uint64_t view_us;               /* since when */
	bool was_connected;             /* in any view so far */
	uint64_t begun_us;              /* when this process began */
	bool is_confirmed_down;         /* by the operator, for this view */
	uint32_t n_ports, n_good;       /* local ports, damped */
	bool has_port;                  /* one that is good */
	uint8_t preference;
	bool is_sm_master, is_subnet_up;
	enum triad_check check;
	uint64_t generation, hash;

	/* --- members --- */
	uint32_t n_received;
	struct received received[TRIAD_CLUSTER_MAX_MEMBERS];
	struct passed_over passed;

	/* --- states --- */
	enum triad_election_state state;
	uint64_t master;
	uint64_t deadline_us; /* when ELECTING or STANDBY ends */
	uint64_t elected_since_us;
	uint32_t n_shorter, n_longer;
	uint64_t status_due_us;
	uint32_t priority; /* as last sent */
	uint8_t sm_priority;
	uint64_t hand_over_to, hand_over_since_us;
	uint32_t n_own_cedes_ignored;

	/* --- lease --- */
	uint64_t claim; /* the term asked for or held; 0: none */
	uint64_t first_claimed_us, claimed_us, claim_again_us;
	uint64_t not_before_us;
	bool was_refused; /* by a member that knows a higher term */
	struct round round;
	bool is_holder;
	uint64_t held_term;   /* the last one; 0: none */
	uint64_t newest_held; /* by any member, as far as known */
	uint64_t lease_until_us, lease_view;
	uint64_t yields_until_us; /* 0: the lease is not about to be given up */
	bool has_run_out;         /* our last lease ran out, and none followed */
	struct promise promise;

	/* --- disk --- */
	struct triad_election_stored durable;  /* on disk, as far as known */
	struct triad_election_stored previous; /* before the last action STORE */
	bool has_disk_trouble;
	uint64_t store_again_us;

	/* --- out --- */
	uint32_t n_actions;
	struct triad_election_action actions[MAX_ACTIONS];
	struct triad_election_status counts; /* the counters alone */
};

static inline uint64_t election_us(uint32_t ms)
{
	return ms * TRIAD_US_PER_MS;
}

/* --- election.c --- */
struct triad_election_action *election_act(
	struct triad_election *e, enum triad_election_action_kind kind);
void election_store(struct triad_election *e);
/* Repeats a STORE that failed. */
void election_store_again(struct triad_election *e);
/* Sends STATUS to all, or an answer to 'to'. */
void election_send(struct triad_election *e, enum triad_election_kind kind,
	const struct triad_election_message *to, uint64_t grant);

/* --- election_members.c --- */
void members_note(
	struct triad_election *e, const struct triad_election_message *message);
void members_keep_view(struct triad_election *e);
/* Whether to answer a STATUS of this member; counts the answer. */
bool members_may_answer(struct triad_election *e, uint64_t id);
const struct received *members_find(const struct triad_election *e, uint64_t id);
bool members_in_view(const struct triad_election *e, uint64_t id);
bool members_is_fresh(const struct triad_election *e, const struct received *received);
/* A member's priority as this member honours it: with IS_CONF_MANAGER only if it has
 * our promise, with WAS_HOLDER_LAST only if that is not known to be wrong. */
uint32_t members_priority(
	const struct triad_election *e, const struct triad_election_message *message);
bool members_is_better(
	const struct triad_election *e, const struct triad_election_message *message);
/* A master, received recently, that is better than this SM; 0: none. */
uint64_t members_better_master(const struct triad_election *e);
/* Whether messages of all others in the view came since 'since_us', and none is
 * better. */
bool members_all_worse(const struct triad_election *e, uint64_t since_us);
/* Whether all members were heard in this view, or had the time of a lease to be. */
bool members_are_heard(const struct triad_election *e);
/* Who should be the configuration manager; 0: nobody is able. */
uint64_t members_candidate(struct triad_election *e);
bool members_is_able(
	const struct triad_election *e, const struct triad_election_message *message);
/* Whether a promise to the member would last as long as it relies on, and its expected
 * configuration doesn't contradict ours. */
bool members_agrees(
	const struct triad_election *e, const struct triad_election_message *message);
bool members_has_other_config(const struct triad_election *e);
/* The member that the operator has preferred to this master for long enough; 0:
 * none. */
uint64_t members_preferred(struct triad_election *e);

/* --- election_states.c --- */
void states_elect(struct triad_election *e);
void states_become_master(struct triad_election *e);
void states_become_standby(struct triad_election *e, uint64_t master);
void states_status(struct triad_election *e, const struct triad_election_message *m);
void states_takeover(struct triad_election *e, const struct triad_election_message *m);
void states_cede(struct triad_election *e, const struct triad_election_message *m);
void states_view(struct triad_election *e);
void states_run(struct triad_election *e);
uint64_t states_next_us(const struct triad_election *e);
/* Computes the priority; sends STATUS when it changed. */
void states_update_priority(struct triad_election *e);

/* --- election_lease.c --- */
/* The votes of a majority; of the present members, once the operator has confirmed that
 * the others are down. */
uint32_t lease_votes_needed(const struct triad_election *e);
bool lease_is_quorate(const struct triad_election *e);
void lease_view(struct triad_election *e);
void lease_run(struct triad_election *e);
uint64_t lease_next_us(const struct triad_election *e);
/* Starts a round for the claim: the next STATUS asks for it. */
void lease_ask(struct triad_election *e);
/* Our own STATUS came back. */
void lease_back(struct triad_election *e, const struct triad_election_message *m);
/* Returns the claim that is granted to the sender of a STATUS, or 0. */
uint64_t lease_vote(struct triad_election *e, const struct triad_election_message *m);
void lease_granted(struct triad_election *e, const struct triad_election_message *m);
void lease_give_up(struct triad_election *e);
/* Gives the lease up in a planned hand-over, once the SM here is no longer master.
 * That takes a sweep; until then this SM may still enforce, and no other can. */
void lease_yield(struct triad_election *e);
/* Ends the lease when its time is over. */
void lease_run_out(struct triad_election *e);
/* Whether the vote for 'to' in this term is on disk. */
bool lease_is_on_disk(const struct triad_election *e, uint64_t to, uint64_t term);
/* Takes back the vote and the claim that aren't on disk. */
void lease_unstored(struct triad_election *e);

#endif
