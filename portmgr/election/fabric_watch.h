/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Watches other SMs over the fabric itself, from port to port: the election's members,
 * and those that OpenSM knows besides.
 *
 * An SM that has gone silent in the election may be dead, or hung, or only cut off from
 * its host's network.  The fabric tells these apart: if only the network is cut, the SM
 * still answers over the fabric; if the SM hangs, its port answers and the SM does not.
 *
 * Model: peers are identified by the GUIDs of their ports.  Each is asked for SMInfo,
 * which its SM answers; if that is missing, also for NodeInfo, which its port answers.
 * Both answers name the port, so a LID that now belongs to another port is detected.
 * The verdict on a peer follows from its answers and from the questions without a
 * timely answer.  A peer that left the election is still watched: as long as it
 * answers, or else for ten minutes.  An SM outside the election is watched while OpenSM
 * knows it, or while it answers.  Whoever decides something about another SM uses these
 * answers, not OpenSM's table, which a standby renews only when it polls its master.
 *
 * When: a standby asks the master every 'period_us'; all others ask and are asked once
 * a second.  When a member has just gone silent in the election, all members that are
 * silent there are asked every 40 ms, for five seconds.
 *
 * Dead for certain: a peer whose SM, since its last message in the election, has not
 * answered three questions over 250 ms or longer, while its port answered at the same
 * LID.  So the questions did arrive.  A silent port proves nothing: the route to it may
 * be broken.
 *
 * Time is the election's.  Nothing here sends, waits or allocates.
 *
 * Thread-safety: none.  Spec: IBA volume 1, 14.2.5.3 NodeInfo, 14.2.5.13 SMInfo. */
#ifndef TRIAD_PORTMGR_FABRIC_WATCH_H
#define TRIAD_PORTMGR_FABRIC_WATCH_H

#include "ib/smp_mad.h"
#include "portmgr/cluster/cluster.h"

#define TRIAD_FABRIC_MAX_PEERS TRIAD_CLUSTER_MAX_MEMBERS
#define TRIAD_FABRIC_MAX_QUESTIONS 128u /* kept until answered; a power of 2 */

enum triad_fabric_verdict {
	TRIAD_FABRIC_UNKNOWN,   /* no LID, not asked for a while, or no clear answer */
	TRIAD_FABRIC_MASTER,    /* its SM answers, as master */
	TRIAD_FABRIC_STANDBY,   /* its SM answers, in another state */
	TRIAD_FABRIC_NO_SM,     /* its port reports that it has no SM */
	TRIAD_FABRIC_SM_SILENT, /* its port answers, but not its SM */
	TRIAD_FABRIC_PORT_SILENT, /* neither answers */
	TRIAD_FABRIC_N_VERDICTS
};

/* Unanswered questions of one kind to one peer, since its last answer. */
struct triad_fabric_silence {
	unsigned n;
	uint64_t since_us; /* when the first of them was asked */
};

struct triad_fabric_peer {
	uint64_t id;
	uint16_t lid; /* 0: not known */
	uint64_t m_key;
	bool is_member;       /* at present */
	uint64_t received_us; /* last message in the election; 0: never */
	uint64_t listed_us;   /* when OpenSM knew its SM last; 0: never */
	enum triad_fabric_verdict verdict;
	uint64_t answered_us;      /* by its SM; 0: never */
	uint64_t refused_us;       /* by its port, which has no SM; 0: not since */
	uint64_t port_answered_us; /* 0: never */
	bool is_master;            /* as its last answer said */
	uint8_t priority;          /* the same */
	uint64_t asked_us, port_asked_us; /* last; 0: not at this LID */
	struct triad_fabric_silence sm, port;
	struct triad_fabric_silence lost; /* of the SM, since its last message in the
					   * election */
};

struct triad_fabric_question {
	uint32_t tid; /* 0: not in use */
	uint64_t id;  /* 0: the SM at the master's LID, whichever it is */
	uint16_t lid;
	uint64_t m_key;
	uint64_t asked_us;
	enum triad_smp_attribute attribute; /* SM_INFO or NODE_INFO */
	bool is_missed;
};

struct triad_fabric_answer {
	uint32_t tid;
	bool is_refused; /* the port answered with an error status: it has no SM */
	uint64_t guid;   /* of the port; 0 when it refused */
	uint8_t state, priority; /* of SMInfo */
};

struct triad_fabric_watch {
	uint64_t period_us; /* 0: nobody is asked */
	uint64_t late_us;   /* a member that was silent in the election for so long
			     * is asked often */
	uint64_t master;    /* the election's; 0: none */
	/* LID of the SM that manages our own port, as that port has it; 0: not
	 * known. */
	uint16_t master_lid;
	uint64_t master_m_key, master_lid_us, master_asked_us;
	uint32_t last_tid;
	struct triad_fabric_question questions[TRIAD_FABRIC_MAX_QUESTIONS];
	uint32_t n_peers;
	struct triad_fabric_peer peers[TRIAD_FABRIC_MAX_PEERS];
	uint64_t n_asked, n_missed;
};

/* Starts without peers.  'status_ms': how often members send STATUS in the election. */
void triad_fabric_watch_init(
	struct triad_fabric_watch *watch, uint32_t period_ms, uint32_t status_ms);

/* --- input --- */

struct triad_fabric_member {
	uint64_t id, received_us;
};

/* Sets the present members, without this one, and the election's master.  Former
 * members that are not among them count as lost. */
void triad_fabric_watch_members(struct triad_fabric_watch *watch,
	const struct triad_fabric_member *members, size_t n, uint64_t master);

/* Sets a peer's LID from a table that may be old; it counts unless the peer answers at
 * another LID. */
void triad_fabric_watch_address(struct triad_fabric_watch *watch, uint64_t id,
	uint16_t lid, uint64_t m_key, uint64_t now_us);

/* OpenSM knows an SM at this port. */
void triad_fabric_watch_listed(
	struct triad_fabric_watch *watch, uint64_t id, uint64_t now_us);

/* Sets the LID of the SM that our own port names; 0: it names none.  'm_key' is used
 * for the port there if that port is unknown. */
void triad_fabric_watch_master_lid(struct triad_fabric_watch *watch, uint16_t lid,
	uint64_t m_key, uint64_t now_us);

/* Takes the next question that is due; it then counts as asked.  False: none is due. */
bool triad_fabric_watch_next(struct triad_fabric_watch *watch, uint64_t now_us,
	struct triad_fabric_question *question);
/* The question could not be sent: it does not count. */
void triad_fabric_watch_unsent(struct triad_fabric_watch *watch, uint32_t tid);

/* Passes an answer; it may be late, or fit no question. */
void triad_fabric_watch_answer(struct triad_fabric_watch *watch,
	const struct triad_fabric_answer *answer, uint64_t now_us);

/* Counts questions without a timely answer, and judges all peers. */
void triad_fabric_watch_run(struct triad_fabric_watch *watch, uint64_t now_us);
/* When there is something to ask or to judge; UINT64_MAX: never. */
uint64_t triad_fabric_watch_next_us(
	const struct triad_fabric_watch *watch, uint64_t now_us);

/* --- output --- */

/* The peers that are dead for certain at this moment. */
struct triad_fabric_dead {
	uint32_t n;
	uint64_t ids[TRIAD_FABRIC_MAX_PEERS];
	/* The one of them that is at the LID of the SM that manages our own port: then
	 * no SM outside the election has replaced it. 0: none. */
	uint64_t master;
};
void triad_fabric_watch_dead(const struct triad_fabric_watch *watch, uint64_t now_us,
	struct triad_fabric_dead *dead);

/* "master", "standby", "no_sm", "sm_silent", "port_silent", "unknown"; and for
 * people. */
const char *triad_fabric_verdict_word(enum triad_fabric_verdict verdict);
const char *triad_fabric_verdict_text(enum triad_fabric_verdict verdict);
/* Whether it elects, or did. */
bool triad_fabric_peer_elects(const struct triad_fabric_peer *peer);
/* Whether its SM answers over the fabric. */
bool triad_fabric_verdict_is_alive(enum triad_fabric_verdict verdict);

#endif
