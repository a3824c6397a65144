/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Who reads which node: the claims of all agents, as one of them sees them.
 *
 * Model: every agent knows the fabric and how far each node is from it.  The nearest
 * agent claims a node that nobody owns.  To find out who that is, each agent backs off
 *
 *     (hops + x) x backoff        0 <= x < 1
 *
 * and then claims the node, unless another agent did so before. x comes from the
 * agent's load and, among equals, from a tie-break.  So rounds of claims
 * [monitoring-rfc: waves] go out from all agents at once, hop by hop, and stop where
 * they meet.  Claims are announced to all.  Where two agents claim the same node, all
 * find the same winner:
 *
 *     1. one that is not draining    2. fewer hops    3. lower load, as it stood when
 *     the node was claimed    4. the tie-break: a hash of the node and the agent
 *
 * A better claim takes a node over from its owner: in a round, for fewer hops or
 * because the owner drains; or, a few nodes at a time, because the owner's load is two
 * steps (triad_claims_load()) or more above the claimant's.  Claims keep the load that
 * they were made at, so that loads approach each other and do not swing: of what an
 * agent owns, at least half was claimed at its present step or the one below, so others
 * can win enough.  When an owner's distance changes, it states its claim anew, in place
 * of the old one. The loser gives way without a message. An owner that receives a worse
 * claim than its own repeats its own.
 *
 * An agent is alive while its messages arrive: after 'liveness_us' without one it is
 * dead, nobody owns its nodes, and rounds begin anew.  An agent that did not run for as
 * long (paused) finds that by its own clock, and begins as if it had just started,
 * before it announces what it believes to own.  An agent that starts announces that it
 * owns nothing, asks all for what they own, and waits two back-offs before its rounds.
 *
 * OWNER messages to all are numbered.  ALIVE gives their number so far and a digest of
 * the sender's valid claims.  An agent that misses a message, or has had another digest
 * for an eighth of the liveness time, requests the list of all that the sender owns;
 * the list replaces what it knew.
 *
 * An agent can't reach a node to which there is no route, or with which it shares no
 * partition.  It claims no such node, and gives up one that it owns, so that the next
 * best agent takes it.  A node that no agent can reach has no owner.
 *
 * An observer (self = 0; a manager) receives the same messages and claims nothing.
 *
 * Defence: the machine refuses and counts claims with fewer hops than the fabric allows
 * (when 'true_hops' is given), claims of agents that the fabric lacks, and agents
 * beyond TRIAD_CLAIMS_MAX_AGENTS. It ignores lists that it did not request, and senders
 * that go back to an old incarnation; a newer incarnation starts with nothing owned.  A
 * message's entries and the fabric's nodes bound the work for it.  Lists are sent and
 * requested at bounded rates.
 *
 * Invariants: when no message is lost and no agent starts or ends for two liveness
 * times, each reachable node has one owner, and all agents agree on it; no other agent
 * that is alive and not draining has fewer hops to the node.
 *
 * Thread-safety: none.  Memory: 24 octets a node, 64 KiB for outgoing messages;
 * allocation is checked.
 * Source: [monitoring-rfc: Agent behavior 2, 4], rows M4, M9, M10, M15, M17. */
#ifndef TRIAD_COLLECT_CLAIMS_H
#define TRIAD_COLLECT_CLAIMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "collect/message.h"

#define TRIAD_CLAIMS_MAX_AGENTS 256u
#define TRIAD_CLAIMS_UNREACHABLE UINT8_MAX
#define TRIAD_CLAIMS_NO_AGENT 0 /* as an agent's id */

struct triad_claims;

/* The machine's output, called from within the functions below. Arrays are borrowed for
 * the call. */
struct triad_claims_sink {
	void *context;
	/* To all (to == TRIAD_CLAIMS_NO_AGENT), or to one as an answer.  The callback
	 * fills in address and port. */
	void (*send_owner)(void *context, uint64_t to,
		const struct triad_collect_owner *owner,
		const struct triad_collect_claim *claims);
	/* Request the list of what 'to' owns (TRIAD_CLAIMS_NO_AGENT: what each
	 * owns). */
	void (*ask_list)(void *context, uint64_t to);
	/* Ask all agents who owns these nodes.  May be NULL. */
	void (*ask_nodes)(void *context, const uint64_t *guids, uint32_t n);
};

struct triad_claims_params {
	uint64_t self;        /* 0: an observer */
	uint64_t incarnation; /* its own */
	uint64_t liveness_us;
	uint64_t backoff_us; /* of a hop, in a round */
	uint32_t max_nodes;  /* that it owns; 0: any number */
	uint64_t seed;       /* of random waits that spread work in time */
	/* The true number of hops from 'agent' to the node (its index in the fabric of
	 * the last triad_claims_set_nodes(), valid from that call on), or
	 * TRIAD_CLAIMS_UNREACHABLE when one of them is not in the fabric.  May be
	 * NULL. */
	uint8_t (*true_hops)(void *context, uint64_t agent, uint32_t node);
	void *context;
};

/* An agent as this one sees it. */
enum triad_claims_agent_state {
	TRIAD_CLAIMS_ALIVE,
	TRIAD_CLAIMS_DRAINING,
	TRIAD_CLAIMS_DEAD, /* kept for display until another needs its entry */
};
struct triad_claims_agent {
	uint64_t id, incarnation;
	enum triad_claims_agent_state state;
	uint64_t received_us;
	uint32_t n_nodes; /* owned nodes */
	bool is_behind; /* one of its messages is missing, and its list was requested */
};

struct triad_claims_counts {
	uint64_t n_claimed, n_given_up, n_lost; /* nodes, of its own */
	uint64_t n_deaths;
	uint64_t n_conflicts; /* received claims that were worse than the owner's */
	uint64_t n_refused;   /* impossible claims; senders without room */
	uint64_t refused_agent, refused_node; /* GUIDs of the last of these; or 0 */
	uint64_t n_lists;                     /* asked for */
	uint64_t n_stalls; /* times that this agent did not run for a liveness time */
};

/* NULL when memory is short.  'params' and 'sink' are copied. */
struct triad_claims *triad_claims_new(
	const struct triad_claims_params *params, const struct triad_claims_sink *sink);
void triad_claims_free(struct triad_claims *claims);

/* Sets the fabric's nodes ('n' GUIDs, ascending) and the distance of each from here.
 * Nodes that stay keep their owners.  Own nodes at a new distance are announced anew;
 * unreachable ones are given up.  Returns 0; or ENOMEM, and nothing changed. */
int triad_claims_set_nodes(struct triad_claims *claims, const uint64_t *guids,
	const uint8_t *hops, uint32_t n, uint64_t now_us);

/* While suspended, no message arrives and triad_claims_step() is not called: owned
 * nodes stay owned, whatever becomes of the fabric. Afterwards the machine behaves as
 * after a pause. */
void triad_claims_set_suspended(
	struct triad_claims *claims, bool is_suspended, uint64_t now_us);

/* Draining: gives own nodes away and claims none. */
void triad_claims_drain(struct triad_claims *claims, bool drain, uint64_t now_us);

/* Announces that all own nodes are given up, and claims no more. */
void triad_claims_leave(struct triad_claims *claims, uint64_t now_us);

/* Messages received.  The sender's own messages come back to it and are ignored. */
void triad_claims_receive_alive(struct triad_claims *claims,
	const struct triad_collect_head *head, const struct triad_collect_alive *alive,
	uint64_t now_us);
void triad_claims_receive_owner(struct triad_claims *claims,
	const struct triad_collect_head *head, const struct triad_collect_owner *owner,
	const struct triad_collect_claim *entries, uint64_t now_us);
/* Answers with those of the nodes that this agent owns, or with the list. */
void triad_claims_receive_who_owns(struct triad_claims *claims,
	const struct triad_collect_head *head, const struct triad_collect_who_owns *who,
	const uint64_t *guids, uint64_t now_us);

/* Does what is due.  Returns when to call it again at the latest; call it also after
 * each of the functions above, which may have made something due. */
uint64_t triad_claims_step(struct triad_claims *claims, uint64_t now_us);

/* --- state --- */

/* Fills in ALIVE's n_nodes, n_announced, claims and is_draining.  Call it after
 * triad_claims_step(), which detects a pause of this agent. */
void triad_claims_fill_alive(
	const struct triad_claims *claims, struct triad_collect_alive *alive);

/* Counts changes of own nodes: a caller that keeps the number sees whether there was
 * one. */
uint64_t triad_claims_changes(const struct triad_claims *claims);

/* The owner of the node (index in the fabric), its hops in '*hops' (may be NULL). */
uint64_t triad_claims_owner(
	const struct triad_claims *claims, uint32_t node, uint8_t *hops);
static inline bool triad_claims_is_own(
	const struct triad_claims *claims, uint32_t node, uint64_t self)
{
	return triad_claims_owner(claims, node, NULL) == self;
}

/* Nodes without an owner that, as far as is known here, some living agent can reach. */
uint32_t triad_claims_n_unowned(const struct triad_claims *claims);

/* The i-th known agent, in ascending order of ids, this one included; managers are no
 * agents.  False behind the last. */
bool triad_claims_agent(const struct triad_claims *claims, unsigned i,
	struct triad_claims_agent *agent);

struct triad_claims_counts triad_claims_counts(const struct triad_claims *claims);
size_t triad_claims_octets(const struct triad_claims *claims);

/* The load step of a number of owned nodes: 0 below 16, then one more for each
 * doubling. */
uint8_t triad_claims_load(uint32_t n_nodes);

#endif
