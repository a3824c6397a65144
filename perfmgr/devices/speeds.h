/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Asks ports for speeds that a fabric's source does not know: which port is asked, when,
 * and what is known.
 *
 * A device may tell its extended speeds (FDR and faster) only to who asks for them by bit
 * 31 of the attribute modifier of PortInfo.  OpenSM up to 3.3.24 does not, and takes such
 * links for what LinkSpeedActive says, often SDR.
 *
 * Model: a port is in question while its link is up, its device supports extended speeds,
 * and its source shows none, not even supported ones.  When a fabric has been made, and
 * before anybody else knows it, triad_speeds_lay_over() gives such ports what is known of
 * them, or a speed of 0, "not known".  triad_speeds_adopt() then takes the fabric's ports
 * in question as those to be asked.  What is known of a port is kept while it has the same
 * far end and width.  After a later fabric it is asked again: a link may have trained again at
 * another speed.  With each fabric the owner says how long after the last answer at the
 * earliest.
 *
 *     while (triad_speeds_next(speeds, now, &question, &due))
 *             send(&question);
 *     ... triad_speeds_answer(speeds, tid, what came, now) ...
 *
 * Restraint: at most TRIAD_SPEEDS_WINDOW questions are under way, and TRIAD_SPEEDS_GAP_US
 * lie between two; ports of which nothing is known come first.  A port without an answer
 * is asked again after TRIAD_SPEEDS_AGAIN_US, then after twice that, up to 64 times.
 *
 * Thread-safety: none; the owner excludes others (service/speeds.h).
 * Memory: 56 octets for each port in question.
 * Spec: IBA volume 1, 14.2.5.6. */
#ifndef TRIAD_PERFMGR_SPEEDS_H
#define TRIAD_PERFMGR_SPEEDS_H

#include <stdbool.h>
#include <stdint.h>

#include "triad/clock.h"
#include "triad/fabric.h"

#define TRIAD_SPEEDS_WINDOW 4u
#define TRIAD_SPEEDS_GAP_US TRIAD_US_PER_MS
#define TRIAD_SPEEDS_AGAIN_US (10 * TRIAD_US_PER_S)
/* The SA's tables are read each minute, also when nothing has changed. */
#define TRIAD_SPEEDS_OF_SA_AGAIN_US (600 * TRIAD_US_PER_S)

struct triad_speeds;

/* A Get(PortInfo) by LID, with TRIAD_SMP_EXTENDED_SPEEDS. */
struct triad_speeds_question {
	uint64_t node_guid;
	uint16_t lid;
	uint8_t number;
	uint32_t tid;
};

struct triad_speeds_counts {
	uint32_t n_ports;  /* of which the source goes by LinkSpeedActive */
	uint32_t n_known;  /* of these, ports whose speed is known */
	uint32_t n_faster; /* of these, ports with an extended speed */
	uint64_t n_questions, n_unanswered;
	/* One of 'n_faster', and its speed: "leaf-01:3", "4x NDR", and the source's.  "":
	 * there is none. */
	char label[96], rate[16], source_rate[16];
};

/* 'm_keys': the owner knows the M_Keys of devices; else those are not asked that answer
 * only with theirs.  NULL when memory is short. */
struct triad_speeds *triad_speeds_new(bool m_keys);
/* Accepts NULL. */
void triad_speeds_free(struct triad_speeds *speeds);

/* Writes what is known into a fabric that nobody else has yet. */
void triad_speeds_lay_over(
	const struct triad_speeds *speeds, struct triad_fabric *fabric);

/* Takes the ports to be asked from a fabric that triad_speeds_lay_over() has seen; those
 * that have answered are asked 'again_us' after that at the earliest.
 * Returns 0, or ENOMEM and keeps the last ones. */
int triad_speeds_adopt(struct triad_speeds *speeds, const struct triad_fabric *fabric,
	uint64_t again_us, uint64_t now_us);

/* Gives the next question.  False: none before '*due_us' (monotonic; UINT64_MAX: before
 * the next fabric or answer). */
bool triad_speeds_next(struct triad_speeds *speeds, uint64_t now_us,
	struct triad_speeds_question *question, uint64_t *due_us);

/* Questions under way. */
unsigned triad_speeds_n_asked(const struct triad_speeds *speeds);

/* Takes the end of a question: the PortInfo of the answer, 64 octets; NULL: there was
 * none.  Ignores a 'tid' that is not under way. */
void triad_speeds_answer(struct triad_speeds *speeds, uint32_t tid, const uint8_t *info,
	uint64_t now_us);

/* Ends the questions that were asked 'patience_us' ago or earlier. */
void triad_speeds_expire(
	struct triad_speeds *speeds, uint64_t patience_us, uint64_t now_us);

/* Whether the last fabric should be made again, because answers have told something that
 * it does not have.  True once for each, when all ports of which nothing was known have
 * been asked, or some seconds later. */
bool triad_speeds_take_news(struct triad_speeds *speeds, uint64_t now_us);

struct triad_speeds_counts triad_speeds_counts(const struct triad_speeds *speeds);

#endif
