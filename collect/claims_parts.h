/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* What the parts of the claims machine have in common: claims.c has its life and the
 * time, claims_table.c nodes and agents, claims_round.c what is claimed when,
 * claims_send.c what is said, claims_receive.c what is heard. */
#ifndef TRIAD_COLLECT_CLAIMS_PARTS_H
#define TRIAD_COLLECT_CLAIMS_PARTS_H

#include "collect/claims.h"

#define CLAIMS_NEVER UINT64_MAX
#define CLAIMS_NONE UINT32_MAX    /* no such node */
#define CLAIMS_UNOWNED UINT16_MAX /* as the index of an agent */
#define CLAIMS_SELF 0u            /* its index */
#define CLAIMS_MAX_SAID 4096u     /* entries of a message */
#define CLAIMS_MAX_PARTS 64u      /* of a list */
#define CLAIMS_MAX_LISTS 512u     /* given in a quarter of the liveness time */

struct claims_node {
	uint64_t
		due_us; /* when it is looked at, or claimed; CLAIMS_NEVER: not wanted */
	uint16_t owner; /* index of the agent, or CLAIMS_UNOWNED */
	uint8_t hops, load;   /* as its owner stated them */
	uint8_t own_hops;     /* from here */
	bool has_drawn : 1;   /* due_us is the end of its wait, not the round's
	                          beginning */
	bool is_listed : 1;   /* its owner's list, which is coming, has it */
	bool is_disputed : 1; /* owned here, and somebody claimed it in vain */
	bool is_new : 1;      /* of the fabric that is being taken up */
};

struct claims_agent {
	uint64_t id, incarnation, heard_us;
	bool is_alive, is_draining;
	uint32_t n_nodes; /* that it owns */
	uint64_t digest;  /* of its claims that stand */

	/* Announcements: all up to 'heard' are in; there are 'known' of them. */
	uint32_t heard, known;
	bool needs_list;    /* for another reason than a gap */
	bool has_refused;   /* a claim of its could not be, with this fabric */
	uint64_t behind_us; /* since when something is missing; CLAIMS_NEVER: nothing */
	uint64_t differs_us;  /* since when the digests differ; CLAIMS_NEVER: they
	                          don't */
	uint64_t said_digest; /* the last one that it stated */

	/* Its list. */
	uint64_t asked_us; /* CLAIMS_NEVER: not yet */
	bool is_expected;  /* asked for, and not all here */
	uint64_t parts;    /* that came, a bit for each */
	uint32_t as_of;    /* of these */
	/* The digests differed as they do now when the last list was through. */
	uint64_t settled_us, logged_settled, settled_digest, settled_n_freed;
};

struct triad_claims {
	struct triad_claims_params params;
	struct triad_claims_sink sink;
	uint64_t now_us;  /* of the last call */
	uint64_t away_us; /* since when nobody is heard; CLAIMS_NEVER: not so */
	bool was_called, has_begun, is_draining, has_left;

	uint32_t n;
	uint64_t *guids;
	struct claims_node *nodes;
	uint32_t n_disputed;

	/* [CLAIMS_SELF] is there in an observer, too, and nobody. */
	struct claims_agent agents[TRIAD_CLAIMS_MAX_AGENTS];
	uint16_t order[TRIAD_CLAIMS_MAX_AGENTS]; /* by id, without that */
	unsigned n_agents, n_order;

	uint64_t due_us;     /* no node is due before */
	uint64_t round_us;   /* nothing is claimed before */
	uint64_t asked_us;   /* all, for their lists */
	uint64_t balance_us; /* when loads are looked at */
	uint64_t repeat_us;  /* when disputed claims are said again */
	uint64_t n_balances;
	uint64_t window_us; /* of lists given */
	unsigned n_given;   /* in it */

	/* Counts claims that went or changed, which may have stood in the way of
	 * others. */
	uint64_t n_freed;
	uint32_t number; /* of the last announcement */
	uint64_t changes;
	struct triad_claims_counts counts;
	/* Entries to be announced: none between calls. */
	uint32_t n_said;
	struct triad_collect_claim said[CLAIMS_MAX_SAID];
};

/* --- claims.c --- */

/* Each call from outside begins with it: finds whether it was not running. */
void claims_enter(struct triad_claims *claims, uint64_t now_us);
/* Everything is as when it has just started. */
void claims_begin(struct triad_claims *claims);
/* The agent is dead, its nodes nobody's. */
void claims_bury(struct triad_claims *claims, unsigned index);
/* A list was asked for. */
void claims_expect_list(struct claims_agent *agent, uint64_t asked_us);
void claims_ask_all(struct triad_claims *claims);
bool claims_is_behind(const struct claims_agent *agent);

/* --- claims_table.c --- */

/* The node's index, or CLAIMS_NONE.  Faster when 'guid' comes soon after that of node
 * '*near', which becomes the one found. */
uint32_t claims_find_node(
	const struct triad_claims *claims, uint64_t guid, uint32_t *near);
void claims_set_owner(struct triad_claims *claims, uint32_t node, unsigned owner,
	uint8_t hops, uint8_t load);
/* The agent, or NULL. */
struct claims_agent *claims_find_agent(struct triad_claims *claims, uint64_t id);
/* A new one, in the place of a dead one if need be; NULL: there is no room. */
struct claims_agent *claims_add_agent(struct triad_claims *claims, uint64_t id);
unsigned claims_index(
	const struct triad_claims *claims, const struct claims_agent *agent);
/* Its nodes are nobody's; with 'unlisted' those alone that its list lacked. */
void claims_disown(struct triad_claims *claims, unsigned agent, bool unlisted);

/* --- claims_round.c --- */

/* Whether a claim of agent 'a' for the node wins against the one that stands. */
bool claims_is_better(const struct triad_claims *claims, uint32_t node, unsigned a,
	uint8_t hops, uint8_t load);
/* Puts the node into a round, or takes it out, as it is wanted here. */
void claims_plan(struct triad_claims *claims, uint32_t node);
void claims_plan_all(struct triad_claims *claims);
/* A claim that is due, and those of balance. */
void claims_run_rounds(struct triad_claims *claims);
void claims_run_balance(struct triad_claims *claims);
uint64_t claims_hash(uint64_t a, uint64_t b);

/* --- claims_send.c --- */

void claims_announce(struct triad_claims *claims, uint32_t node, uint8_t hops);
/* Each call from outside ends with it. */
void claims_flush(struct triad_claims *claims);
/* An announcement without entries: its state alone, or that it owns nothing. */
void claims_send_state(struct triad_claims *claims, bool owns_nothing);
void claims_run_repeats(struct triad_claims *claims);

#endif
