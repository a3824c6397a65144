/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Internals of the claims machine, for its own files alone; each calls those above it:
 *
 *     claims_table.c    nodes and agents: who owns what, which claim wins, what is due
 *     claims_send.c     outgoing messages
 *     claims_round.c    claims what is due, and balances loads
 *     claims_fabric.c   another fabric's nodes
 *     claims_receive.c  incoming messages
 *     claims.c          the interface: its life, pauses, steps */
#ifndef TRIAD_COLLECT_CLAIMS_PARTS_H
#define TRIAD_COLLECT_CLAIMS_PARTS_H

#include "collect/claims.h"

#define CLAIMS_NEVER UINT64_MAX
#define CLAIMS_NONE UINT32_MAX    /* no such node */
#define CLAIMS_UNOWNED UINT16_MAX /* as the index of an agent */
#define CLAIMS_SELF 0u            /* its index */
#define CLAIMS_MAX_OUTGOING 4096u /* entries of a message */
#define CLAIMS_MAX_PARTS 64u      /* of a list */
#define CLAIMS_MAX_LISTS 512u     /* given in a quarter of the liveness time */

struct claims_node {
	uint64_t due_us; /* when to reconsider or claim it; CLAIMS_NEVER: not wanted */
	uint16_t owner;  /* index of the agent, or CLAIMS_UNOWNED */
	uint8_t hops, load;   /* as its owner stated them */
	uint8_t own_hops;     /* from here */
	bool has_drawn : 1;   /* due_us is the end of its wait, not the round's
	                          beginning */
	bool is_listed : 1;   /* its owner's list, which is coming, has it */
	bool is_disputed : 1; /* an own node that another agent claimed in vain */
	bool is_new : 1;      /* of the fabric that is being adopted */
};

struct claims_agent {
	uint64_t id, incarnation, received_us;
	bool is_alive, is_draining;
	uint32_t n_nodes; /* that it owns */
	uint64_t digest;  /* of its valid claims */

	/* Announcements: the sender made 'known' of them, and all up to 'received' have
	 * arrived. */
	uint32_t received, known;
	bool needs_list;    /* for a reason other than a gap */
	bool has_refused;   /* one of its claims was impossible in this fabric */
	uint64_t behind_us; /* since when something is missing; CLAIMS_NEVER: nothing */
	uint64_t differs_us;       /* since when digests differ; CLAIMS_NEVER: equal */
	uint64_t announced_digest; /* the last one that it announced */

	/* Its list. */
	uint64_t asked_us; /* CLAIMS_NEVER: not yet */
	bool is_expected;  /* requested, and not complete yet */
	uint64_t parts;    /* parts received, a bit for each */
	uint32_t as_of;    /* the announcement number that they are valid as of */
	/* The state when its last list was complete, to tell whether digests still
	 * differ as then. */
	uint64_t settled_us, logged_settled, settled_digest, settled_n_freed;
};

struct triad_claims {
	struct triad_claims_params params;
	struct triad_claims_sink sink;
	uint64_t now_us; /* of the last call */
	/* Since when no message can arrive; CLAIMS_NEVER: it can. */
	uint64_t suspended_us;
	bool was_called, has_begun, is_draining, has_left;

	uint32_t n;
	uint64_t *guids;
	struct claims_node *nodes;
	uint32_t n_disputed;

	/* [CLAIMS_SELF] exists in an observer, too, and owns nothing. */
	struct claims_agent agents[TRIAD_CLAIMS_MAX_AGENTS];
	uint16_t order[TRIAD_CLAIMS_MAX_AGENTS]; /* agents by id, without CLAIMS_SELF */
	unsigned n_agents, n_order;

	uint64_t due_us;     /* no node is due before */
	uint64_t round_us;   /* nothing is claimed before */
	uint64_t asked_us;   /* all, for their lists */
	uint64_t balance_us; /* when to compare loads next */
	uint64_t repeat_us;  /* when disputed claims are repeated */
	uint64_t n_balances;
	uint64_t window_us; /* of lists given */
	unsigned n_given;   /* lists given in the window */

	/* Counts claims that ended or changed, which may have blocked others. */
	uint64_t n_freed;
	uint32_t number; /* of the last announcement */
	uint64_t changes;
	struct triad_claims_counts counts;
	/* Entries of the next announcement; none between calls. */
	uint32_t n_outgoing;
	struct triad_collect_claim outgoing[CLAIMS_MAX_OUTGOING];
};

/* --- claims_table.c --- */

/* A hash of a pair of numbers. */
uint64_t claims_hash(uint64_t a, uint64_t b);
/* The agent's tie-break for the node; the lower one wins. */
uint64_t claims_tie_break(
	const struct triad_claims *claims, uint32_t node, unsigned agent);
/* Whether a claim of agent 'a' for the node wins against the present one. */
bool claims_is_better(const struct triad_claims *claims, uint32_t node, unsigned a,
	uint8_t hops, uint8_t load);
/* Whether this agent claims nodes at all. */
bool claims_is_claiming(const struct triad_claims *claims);
/* Schedules the node for a claim round, or removes it, as the present state demands. */
void claims_plan(struct triad_claims *claims, uint32_t node);
void claims_plan_all(struct triad_claims *claims);

/* The node's index, or CLAIMS_NONE.  Faster when 'guid' comes soon after that of node
 * '*near', which becomes the one found. */
uint32_t claims_find_node(
	const struct triad_claims *claims, uint64_t guid, uint32_t *near);
void claims_set_owner(struct triad_claims *claims, uint32_t node, unsigned owner,
	uint8_t hops, uint8_t load);
/* Takes the agent's nodes from it; with 'unlisted' only those that its list lacked. */
void claims_disown(struct triad_claims *claims, unsigned agent, bool unlisted);

/* The agent, or NULL. */
struct claims_agent *claims_find_agent(struct triad_claims *claims, uint64_t id);
/* Adds an agent, replacing a dead one if need be; NULL: there is no room. */
struct claims_agent *claims_add_agent(struct triad_claims *claims, uint64_t id);
unsigned claims_index(
	const struct triad_claims *claims, const struct claims_agent *agent);
/* A list was requested. */
void claims_expect_list(struct claims_agent *agent, uint64_t asked_us);
bool claims_is_behind(const struct claims_agent *agent);
/* Marks the agent dead; its nodes have no owner. */
void claims_bury(struct triad_claims *claims, unsigned index);

/* --- claims_send.c --- */

void claims_announce(struct triad_claims *claims, uint32_t node, uint8_t hops);
/* Each function of the interface ends with it: sends what was collected. */
void claims_flush(struct triad_claims *claims);
/* Sends an announcement without entries: the state alone, or that nothing is owned. */
void claims_send_state(struct triad_claims *claims, bool owns_nothing);
void claims_run_repeats(struct triad_claims *claims);
/* Asks all agents for their lists. */
void claims_ask_all(struct triad_claims *claims);
/* Answers a WHO_OWNS with nodes or the list. */
void claims_answer(struct triad_claims *claims, const struct triad_collect_head *head,
	const struct triad_collect_who_owns *who, const uint64_t *guids);

/* --- claims_round.c --- */

/* Claims what is due; the second takes over nodes to balance loads. */
void claims_run_rounds(struct triad_claims *claims);
void claims_run_balance(struct triad_claims *claims);

/* --- claims_fabric.c --- */

/* Nodes that stay keep their owners.  Returns 0 and how many are new; or ENOMEM, and
 * the nodes are the old ones. */
int claims_replace_nodes(struct triad_claims *claims, const uint64_t *guids,
	const uint8_t *hops, uint32_t n, uint32_t *n_added);
/* Asks who owns the new nodes, and puts claims off until answers can be here. */
void claims_ask_for_added(struct triad_claims *claims, uint32_t n_added);
/* After the nodes were replaced: announces own ones at their new distance. */
void claims_restate(struct triad_claims *claims);

/* --- claims_receive.c --- */

void claims_receive_alive(struct triad_claims *claims,
	const struct triad_collect_head *head, const struct triad_collect_alive *alive);
void claims_receive_owner(struct triad_claims *claims,
	const struct triad_collect_head *head, const struct triad_collect_owner *owner,
	const struct triad_collect_claim *entries);

#endif
