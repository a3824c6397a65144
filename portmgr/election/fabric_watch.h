/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* What the SMs of the election's members say over the fabric itself, from port to port.
 *
 * An SM that the election hears no longer may be dead, or hung, or only cut off from the
 * network of its host.  The fabric tells these apart: where the network is cut, the SM
 * still answers there; where it hangs, its port answers for itself and the SM does not.
 *
 * Model: peers are known by the GUIDs of their ports.  Each is asked for SMInfo, which
 * its SM answers, and while that is missing for NodeInfo, which its port answers.  Both
 * name the port, so a LID that is another port's by now is noticed.  Every answer and
 * every question that none came to in time adds to the evidence, from which a verdict
 * follows.  A peer that the election has lost is watched on: while it answers without
 * end, else for ten minutes.
 *
 * When: a standby asks the master every 'period_us'; everybody else asks and is asked
 * once a second.  When somebody has just gone silent in the election, all that are silent
 * there are asked every 40 ms, for five seconds.
 *
 * Dead for certain: a peer that since the election heard it last has been asked three
 * times without an answer of its SM, over 250 ms or longer, while its port answered at
 * the same LID.  So the questions did arrive.  A port that is silent proves nothing: the
 * way there may be broken.
 *
 * Time is the election's.  Nothing here sends, waits or allocates.
 *
 * Thread-safety: none.  Spec: IBA volume 1, 14.2.5.3 NodeInfo, 14.2.5.13 SMInfo. */
#ifndef TRIAD_PORTMGR_FABRIC_WATCH_H
#define TRIAD_PORTMGR_FABRIC_WATCH_H

#include "ib/smp_mad.h"
#include "portmgr/cluster/cluster.h"

#define TRIAD_FABRIC_MAX_PEERS TRIAD_CLUSTER_MAX_MEMBERS
#define TRIAD_FABRIC_MAX_QUESTIONS 128u /* that are remembered, a power of 2 */

enum triad_fabric_verdict {
	TRIAD_FABRIC_UNKNOWN,   /* no LID, not asked for a while, or no clear answer */
	TRIAD_FABRIC_MASTER,    /* its SM answers, as master */
	TRIAD_FABRIC_STANDBY,   /* it answers, as anything else */
	TRIAD_FABRIC_NO_SM,     /* its port says that nobody there answers for an SM */
	TRIAD_FABRIC_SM_SILENT, /* its port answers, its SM does not */
	TRIAD_FABRIC_PORT_SILENT, /* neither does */
	TRIAD_FABRIC_N_VERDICTS
};

/* Questions of one kind to one peer that had no answer, since the last that had. */
struct triad_fabric_silence {
	unsigned n;
	uint64_t since_us; /* when the first of them was asked */
};

struct triad_fabric_peer {
	uint64_t id;
	uint16_t lid; /* 0: not known */
	uint64_t m_key;
	bool is_member;    /* at present */
	uint64_t heard_us; /* by the election */
	enum triad_fabric_verdict verdict;
	uint64_t answered_us;      /* by its SM; 0: never */
	uint64_t refused_us;       /* by its port, which has no SM; 0: not since */
	uint64_t port_answered_us; /* 0: never */
	bool is_master;            /* as it last said */
	uint64_t asked_us, port_asked_us; /* last; 0: not at this LID */
	struct triad_fabric_silence sm, port;
	struct triad_fabric_silence lost; /* of the SM, since the election heard it */
};

struct triad_fabric_question {
	uint32_t tid; /* 0: not in use */
	uint64_t id;  /* 0: whoever is at the master's LID */
	uint16_t lid;
	uint64_t m_key;
	uint64_t asked_us;
	enum triad_smp_attribute attribute; /* SM_INFO or NODE_INFO */
	bool is_missed;
};

struct triad_fabric_answer {
	uint32_t tid;
	bool is_refused; /* the port answered with a status: it has no such thing */
	uint64_t guid;   /* of the port; 0 when it refused */
	uint8_t state;   /* of SMInfo */
};

struct triad_fabric_watch {
	uint64_t period_us; /* 0: nobody is asked */
	uint64_t late_us;   /* a member that was not heard for so long is asked often */
	uint64_t master;    /* the election's; 0: none */
	/* The SM's that rules our own port, by what that port says; 0: not known. */
	uint16_t master_lid;
	uint64_t master_m_key, master_lid_us, master_asked_us;
	uint32_t last_tid;
	struct triad_fabric_question questions[TRIAD_FABRIC_MAX_QUESTIONS];
	uint32_t n_peers;
	struct triad_fabric_peer peers[TRIAD_FABRIC_MAX_PEERS];
	uint64_t n_asked, n_missed;
};

/* Begins anew, without peers.  'status_ms': how often members are heard. */
void triad_fabric_watch_init(
	struct triad_fabric_watch *watch, uint32_t period_ms, uint32_t status_ms);

/* --- input --- */

struct triad_fabric_member {
	uint64_t id, heard_us;
};

/* The members at present, without this one, and the election's master.  Others that were
 * members are lost. */
void triad_fabric_watch_members(struct triad_fabric_watch *watch,
	const struct triad_fabric_member *members, size_t n, uint64_t master);

/* Where a peer is, by a table that may be old: it counts while the peer does not answer
 * at another LID. */
void triad_fabric_watch_address(struct triad_fabric_watch *watch, uint64_t id,
	uint16_t lid, uint64_t m_key, uint64_t now_us);

/* The LID of the SM that our own port names; 0: it names none.  'm_key' is for whoever is
 * there, if that is not known. */
void triad_fabric_watch_master_lid(struct triad_fabric_watch *watch, uint16_t lid,
	uint64_t m_key, uint64_t now_us);

/* The next question that is due, which is then asked; false: none is. */
bool triad_fabric_watch_next(struct triad_fabric_watch *watch, uint64_t now_us,
	struct triad_fabric_question *question);
/* It could not be sent: it counts for nothing. */
void triad_fabric_watch_unsent(struct triad_fabric_watch *watch, uint32_t tid);

/* An answer, which may be late, or to nothing that was asked. */
void triad_fabric_watch_answer(struct triad_fabric_watch *watch,
	const struct triad_fabric_answer *answer, uint64_t now_us);

/* Counts what was not answered in time, and judges all. */
void triad_fabric_watch_run(struct triad_fabric_watch *watch, uint64_t now_us);
/* When there is something to ask or to judge; UINT64_MAX: never. */
uint64_t triad_fabric_watch_next_us(
	const struct triad_fabric_watch *watch, uint64_t now_us);

/* --- output --- */

/* Who is dead for certain at this moment. */
struct triad_fabric_dead {
	uint32_t n;
	uint64_t ids[TRIAD_FABRIC_MAX_PEERS];
	/* The one of them that is at the LID of the SM that rules our own port: then no
	 * SM that the election does not know has taken its place.  0: none. */
	uint64_t master;
};
void triad_fabric_watch_dead(const struct triad_fabric_watch *watch, uint64_t now_us,
	struct triad_fabric_dead *dead);

/* "master", "standby", "no_sm", "sm_silent", "port_silent", "unknown"; and for
 * people. */
const char *triad_fabric_verdict_word(enum triad_fabric_verdict verdict);
const char *triad_fabric_verdict_text(enum triad_fabric_verdict verdict);
/* Whether its SM answers over the fabric. */
bool triad_fabric_verdict_is_alive(enum triad_fabric_verdict verdict);

#endif
