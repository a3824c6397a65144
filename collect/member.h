/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* One of those that collect together: an agent, or a manager at the top of the tree.
 *
 * Model: the machine puts together who owns what (claims.h), who there is (peers.h),
 * what is told up the tree (reporter.h), what comes from below (aggregator.h at a
 * manager, passed on by others), histograms on their way (gather.h) and the fabric
 * handed down (topology_message.h). It hears octets and says octets; who carries them
 * is its owner's business. What its words are for:
 *
 *     ALL        every agent and manager, the sender too, which leaves its own words
 *     ONE        the agent or manager of an id
 *     MANAGERS   all managers
 *
 * The tree: an agent's master is the agent that its configuration names, or a manager.
 * While that one is not heard, its own master takes its place, up to a manager.  Where
 * masters name each other in a circle, the one with the lowest id reports to a manager;
 * what goes round before they know goes to the managers after a while.
 *
 * A manager's id is the complement of its port's GUID, so that an agent may run beside
 * it on the same port.  Of several managers all get everything; agents take the fabric
 * from the one with the lowest id.
 *
 * Who speaks is what the carrier says, not the octets: a broker can bind it to whom it
 * has authenticated.  What somebody says in another's name is refused, and so is what
 * is not its to say: the fabric is a manager's; a clearing or a request for histograms
 * that of a manager or of one's master; what is passed on, that of an agent on the way
 * up from the sender, by what both and those between them said last of their masters.
 * So a change of master is said before anything goes there, and a former one may pass
 * on what it has for a while.  What is refused all the same, because word of a change
 * was lost, is asked for again by the manager.
 *
 * Thread-safety: none; the thread of its owner's engine.  Memory: that of the parts,
 * and TRIAD_MEMBER_MAX_GATHERS requests for histograms.
 * Source: [monitoring-rfc: Agent behavior], rows M9-M18, A13.4. */
#ifndef TRIAD_COLLECT_MEMBER_H
#define TRIAD_COLLECT_MEMBER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "collect/claims.h"
#include "collect/reporter.h"
#include "collect/gather.h"
#include "collect/aggregator.h"
#include "collect/peers.h"
#include "triad/fabric.h"

#define TRIAD_MEMBER_MAX_GATHERS 8u
#define TRIAD_MEMBER_MANAGERS 0 /* as a master: whoever is the top */

struct triad_member;

enum triad_member_to {
	TRIAD_MEMBER_TO_ALL,
	TRIAD_MEMBER_TO_ONE,
	TRIAD_MEMBER_TO_MANAGERS,
};

/* Who said something, by the carrier's word. */
struct triad_member_sender {
	uint64_t id;
	bool is_manager;
};

struct triad_member_sink {
	void *context;
	void (*send)(void *context, enum triad_member_to to, uint64_t id,
		const uint8_t *octets, size_t size);
	/* Agents: this histogram of one's own; as triad_watch_histogram(). */
	int (*histogram)(void *context, const struct triad_gather_request *request,
		unsigned counter, struct triad_histogram *copy, uint64_t *n_zeros);
	/* Agents: do it. */
	void (*clear)(void *context, const struct triad_collect_clear *clear);
	/* Agents: the manager hands down this fabric; referenced if it is kept.  It is
	 * not in force before triad_member_set_fabric(). */
	void (*fabric)(void *context, struct triad_fabric *fabric, uint64_t hash);
	/* Managers. */
	void (*trap)(void *context, const struct triad_collect_trap *trap);
};

struct triad_member_params {
	uint64_t id;
	uint64_t incarnation;
	uint64_t port_guid; /* of the port that it reads from */
	bool is_manager;
	char name[TRIAD_COLLECT_NAME_SIZE];
	char address[TRIAD_COLLECT_NAME_SIZE];
	uint16_t port;
	uint32_t max_nodes; /* that an agent owns; 0: any number */
	uint64_t seed;
};

/* May change at any time. */
struct triad_member_settings {
	char master[TRIAD_COLLECT_NAME_SIZE]; /* name or GUID of an agent; "":
	                                          manager */
	struct triad_reporter_params reporter;
	uint32_t sweep_ms;
};

struct triad_member_counts {
	uint64_t n_heard, n_said;
	uint64_t octets_heard, octets_said;
	uint64_t n_foreign;       /* no message of ours, or one that makes no sense */
	uint64_t n_other_version; /* of another version of Triad */
	uint64_t n_relayed;
	uint64_t n_traps;         /* said, or heard by a manager */
	uint64_t n_traps_refused; /* of nodes that somebody else reads */
	uint64_t n_duplicate_ids; /* words of another with its own id */
	uint64_t n_refused; /* words in another's name, or not the speaker's to say */
	uint64_t refused;   /* who spoke the last of them */
};

/* 'aggregator' is a manager's, NULL for agents. 'params' and 'sink' are copied. NULL
 * when memory is short. */
struct triad_member *triad_member_new(const struct triad_member_params *params,
	const struct triad_member_sink *sink, struct triad_aggregator *aggregator,
	uint64_t liveness_us, uint64_t backoff_us);
void triad_member_free(struct triad_member *member);
void triad_member_configure(
	struct triad_member *member, const struct triad_member_settings *settings);

/* The P_Keys of the port that an agent reads from, in force from the next
 * triad_member_set_fabric() on: a node that shares no partition with it counts as out
 * of reach, so that another agent claims it.  None: not known, every node can be asked.
 * At most TRIAD_PKEYS_MAX.  Returns whether they are others than before. */
bool triad_member_set_pkeys(
	struct triad_member *member, const uint16_t *pkeys, uint32_t n);

/* The fabric that it works on, referenced; 'hash' as handed down, or 0.  A manager says
 * it to those who lack it.  Returns 0 or ENOMEM; then the last one goes on. */
int triad_member_set_fabric(struct triad_member *member, struct triad_fabric *fabric,
	uint64_t hash, uint64_t now_us);

void triad_member_receive(struct triad_member *member,
	const struct triad_member_sender *speaker, uint8_t *octets, size_t size,
	uint64_t now_us);
/* Does what is due; returns when to call it again, at the latest. */
uint64_t triad_member_step(struct triad_member *member, uint64_t now_us);

/* There is nobody to hear or to be heard by: then nobody is taken for dead, and nothing
 * is claimed; what is owned stays. */
void triad_member_cut_off(
	struct triad_member *member, bool is_cut_off, uint64_t now_us);

void triad_member_drain(struct triad_member *member, bool drain, uint64_t now_us);
/* Says farewell. */
void triad_member_leave(struct triad_member *member, uint64_t now_us);

/* --- agents --- */

/* A sweep ended: tells of it. */
void triad_member_send_sweep(struct triad_member *member, struct triad_view *view,
	const uint32_t *findings, uint32_t n_silent, uint32_t lag_ms, uint64_t now_us);
void triad_member_send_trap(struct triad_member *member,
	const struct triad_collect_trap *trap, uint64_t now_us);
/* Whether it owns the node (index in its fabric). */
bool triad_member_owns(const struct triad_member *member, uint32_t node);
/* Whom it reports to at present: an agent's id, or TRIAD_MEMBER_MANAGERS. */
uint64_t triad_member_master(const struct triad_member *member, uint64_t now_us);
/* Nodes that share no partition with its port. */
uint32_t triad_member_n_apart(const struct triad_member *member);
/* Agents whose nodes are next to its own; their ids, at most 'most'.  Returns how many
 * there are. */
unsigned triad_member_neighbours(
	const struct triad_member *member, uint64_t *ids, unsigned most);

/* --- managers --- */

/* Asks for histograms.  'done' is called once, from hear() or turn(), when all have
 * answered or 'wait_us' is over.  Returns 0, EBUSY (too many at a time) or ENOMEM. */
int triad_member_ask_histograms(struct triad_member *member,
	const struct triad_gather_request *request, uint64_t wait_us, uint64_t now_us,
	void (*done)(void *context, struct triad_gather *gather), void *context);
/* Sends it down the tree. */
void triad_member_clear(struct triad_member *member,
	const struct triad_collect_clear *clear, uint64_t now_us);

/* Nodes that nobody owns and that share no partition with any agent alive, by the
 * fabric's P_Keys. */
uint32_t triad_member_n_apart_from_all(const struct triad_member *member);

/* Asks 'agent' for its DATA from 'number' on again. */
void triad_member_ask_again(
	struct triad_member *member, uint64_t agent, uint32_t number);

/* --- what is so --- */

struct triad_claims *triad_member_claims(struct triad_member *member);
const struct triad_peers *triad_member_peers(const struct triad_member *member);
/* Whether it was heard within the liveness time. */
bool triad_member_is_received(
	const struct triad_member *member, uint64_t id, uint64_t now_us);
uint64_t triad_member_topology(const struct triad_member *member);
struct triad_member_counts triad_member_counts(const struct triad_member *member);
struct triad_reporter_counts triad_member_reporter_counts(
	const struct triad_member *member);

#endif
