/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Who reads which node: the claims of all agents, as one of them sees them.
 *
 * Model: every agent knows the fabric and how far each node is from it.  The nearest
 * agent claims a node that nobody owns.  To find out who that is, each agent backs off
 *
 *     (hops + x) x backoff        0 <= x < 1
 *
 * and then claims the node, unless another agent did so before. x comes from the
 * agent's load and, among equals, from a tie-break. So rounds of claims
 * [monitoring-rfc: waves] go out from all agents at once, hop by hop, and stop where
 * they meet. Claims are announced to all. Where two agents claim the same node, all
 * find the same winner:
 *
 *     1. one that is not draining    2. fewer hops    3. lower load, as it stood when
 *     the node was claimed    4. the tie-break: a hash of the node and the agent
 *
 * A better claim takes a node over from its owner: in a round, for fewer hops or
 * because the owner drains; or, a few nodes at a time, because the owner's load is two
 * steps (triad_claims_load()) or more above the claimant's. Claims keep the load that
 * they were made at, so that loads approach each other and do not swing: of what an
 * agent owns, at least half was claimed at its present step or the one below, so others
 * can win enough. When an owner's distance changes, it states its claim anew, in place
 * of the old one. The loser gives way without a message. An owner that receives a worse
 * claim than its own repeats its own.
 *
 * An agent is alive while it is received: after 'liveness_us' without a message it is
 * dead, nobody owns its nodes, and rounds begin anew.  An agent that did not run for as
 * long (paused) finds that by its own clock, and begins as if it had just started,
 * before it announces what it believes to own.  An agent that starts announces that it
 * owns nothing, asks all for what they own, and waits two back-offs before its rounds.
 *
 * OWNER messages to all are numbered, and ALIVE says how many there were, and the
 * digest of all claims of the sender's that stand: who lacks a message, or has another
 * digest for half a liveness time, asks for the list of all that the agent owns, and
 * takes that for the truth about it.
 *
 * What an agent can't ask is out of its reach, whether there is no way to it or no
 * partition in common: it claims no such node, and gives up one that it owns, so that
 * the next best takes it.  A node that nobody can ask is nobody's.
 *
 * An observer (self = 0; a manager) hears the same and claims nothing.
 *
 * Defence: claims with fewer hops than the fabric allows (when 'true_hops' is given),
 * of agents that the fabric lacks, or of more than TRIAD_CLAIMS_MAX_AGENTS agents are
 * refused, and counted; lists that nobody asked for are left alone.  A sender that goes
 * back to an old incarnation is not heard; a newer one begins anew, with nothing owned.
 * The work for a message is bounded by its entries and the nodes of the fabric; lists
 * are given and asked for at bounded rates.
 *
 * Invariants: when no message is lost and nobody comes or goes for 'settle' (two
 * liveness times), each reachable node has one owner, which is the same in the eyes of
 * all; no agent that is alive, does not drain and has fewer hops would have lost it.
 *
 * Thread-safety: none.  Memory: 24 octets a node, 64 KiB for what is said; allocation
 * is checked.
 * Source: [monitoring-rfc: Agent behavior 2, 4], rows M4, M9, M10, M15, M17. */
#ifndef TRIAD_COLLECT_CLAIMS_H
#define TRIAD_COLLECT_CLAIMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "collect/message.h"

#define TRIAD_CLAIMS_MAX_AGENTS 256u
#define TRIAD_CLAIMS_UNREACHABLE UINT8_MAX
#define TRIAD_CLAIMS_NOBODY 0 /* as an agent's id */

struct triad_claims;

/* What the machine wants done; called from within the functions below.  The arrays are
 * borrowed for the call. */
struct triad_claims_sink {
	void *context;
	/* To all (to == TRIAD_CLAIMS_NOBODY) or as an answer to one.  The caller fills
	 * in address and port. */
	void (*send_owner)(void *context, uint64_t to,
		const struct triad_collect_owner *owner,
		const struct triad_collect_claim *claims);
	/* Ask 'to' (TRIAD_CLAIMS_NOBODY: all) for the list of what it owns. */
	void (*ask_list)(void *context, uint64_t to);
	/* Ask all who owns these.  May be NULL. */
	void (*ask_nodes)(void *context, const uint64_t *guids, uint32_t n);
};

struct triad_claims_params {
	uint64_t self;        /* 0: an observer */
	uint64_t incarnation; /* its own */
	uint64_t liveness_us;
	uint64_t backoff_us; /* of a hop, in a round */
	uint32_t max_nodes;  /* that it owns; 0: any number */
	uint64_t seed;       /* of random waits that spread work in time */
	/* How far 'agent' is from the node in truth (index in the fabric of the last
	 * triad_claims_set_nodes(), from that call on), or TRIAD_CLAIMS_UNREACHABLE
	 * when one of them is not in the fabric.  May be NULL. */
	uint8_t (*true_hops)(void *context, uint64_t agent, uint32_t node);
	void *context;
};

/* An agent, as it is seen. */
enum triad_claims_agent_state {
	TRIAD_CLAIMS_ALIVE,
	TRIAD_CLAIMS_DRAINING,
	TRIAD_CLAIMS_DEAD, /* kept to be shown, until another needs its place */
};
struct triad_claims_agent {
	uint64_t id, incarnation;
	enum triad_claims_agent_state state;
	uint64_t heard_us;
	uint32_t n_nodes; /* that it owns, as seen from here */
	bool is_behind;   /* a message of its is missing, and its list was asked for */
};

struct triad_claims_counts {
	uint64_t n_claimed, n_given_up, n_lost; /* nodes, of its own */
	uint64_t n_deaths;
	uint64_t n_conflicts; /* claims heard that were worse than the owner's */
	uint64_t n_refused;   /* claims that can't be, senders there is no room for */
	uint64_t refused_agent, refused_node; /* GUIDs, of the last of these; or 0 */
	uint64_t n_lists;                     /* asked for */
	uint64_t n_stalls; /* times that it was not running for a liveness time */
};

/* NULL when memory is short.  'params' and 'sink' are copied. */
struct triad_claims *triad_claims_new(
	const struct triad_claims_params *params, const struct triad_claims_sink *sink);
void triad_claims_free(struct triad_claims *claims);

/* The nodes of the fabric ('guids' ascending, 'n' of them) and how far each is from
 * here.  Owners of nodes that stay are kept.  Owned nodes that are another distance
 * away are announced anew, those out of reach given up.  Returns 0 or ENOMEM; then
 * nothing changed. */
int triad_claims_set_nodes(struct triad_claims *claims, const uint64_t *guids,
	const uint8_t *hops, uint32_t n, uint64_t now_us);

/* Nobody can be heard, and triad_claims_step() is not called, until it is told
 * otherwise: what is owned stays, whatever becomes of the fabric meanwhile.  Then it is
 * as if it had not been running. */
void triad_claims_set_away(struct triad_claims *claims, bool is_away, uint64_t now_us);

/* Gives what it owns away, and claims nothing, until it is told otherwise. */
void triad_claims_drain(struct triad_claims *claims, bool drain, uint64_t now_us);

/* The agent ends: gives up all, in words to all, and claims no more. */
void triad_claims_leave(struct triad_claims *claims, uint64_t now_us);

/* What was heard; the sender's own words come back to it and are left alone. */
void triad_claims_receive_alive(struct triad_claims *claims,
	const struct triad_collect_head *head, const struct triad_collect_alive *alive,
	uint64_t now_us);
void triad_claims_receive_owner(struct triad_claims *claims,
	const struct triad_collect_head *head, const struct triad_collect_owner *owner,
	const struct triad_collect_claim *entries, uint64_t now_us);
/* Answers with what of it is owned here, or with the list. */
void triad_claims_receive_who_owns(struct triad_claims *claims,
	const struct triad_collect_head *head, const struct triad_collect_who_owns *who,
	const uint64_t *guids, uint64_t now_us);

/* Does what is due.  Returns when to call it again, at the latest; and after each of
 * the functions above, which may have made something due. */
uint64_t triad_claims_step(struct triad_claims *claims, uint64_t now_us);

/* --- what is so --- */

/* What ALIVE is to say: n_nodes, n_announced, claims, is_draining.  After
 * triad_claims_step(), which finds out whether this agent was paused. */
void triad_claims_fill_alive(
	const struct triad_claims *claims, struct triad_collect_alive *alive);

/* Counts changes of what is owned here: a caller who keeps the number sees whether
 * there was one. */
uint64_t triad_claims_changes(const struct triad_claims *claims);

/* The owner of the node (index in the fabric), its hops in '*hops' (may be NULL). */
uint64_t triad_claims_owner(
	const struct triad_claims *claims, uint32_t node, uint8_t *hops);
static inline bool triad_claims_is_own(
	const struct triad_claims *claims, uint32_t node, uint64_t self)
{
	return triad_claims_owner(claims, node, NULL) == self;
}

/* Nodes that nobody owns, of those that some agent alive can reach as far as is known
 * here. */
uint32_t triad_claims_n_unowned(const struct triad_claims *claims);

/* The i-th agent known, this one included, in ascending order of ids; false behind the
 * last.  Managers are none. */
bool triad_claims_agent(const struct triad_claims *claims, unsigned i,
	struct triad_claims_agent *agent);

struct triad_claims_counts triad_claims_counts(const struct triad_claims *claims);
size_t triad_claims_octets(const struct triad_claims *claims);

/* The step that a number of owned nodes is on: 0 for less than 16, then one for each
 * doubling. */
uint8_t triad_claims_load(uint32_t n_nodes);

#endif
