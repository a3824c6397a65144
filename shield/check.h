/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Which requests OpenSM's SA must not get: those that end it, make it read beyond its
 * tables, or for which it only writes a long line in its log.
 *
 * Model: a request is judged by its octets first.  Those of a few attributes are judged
 * again by what the subnet has at that moment (struct triad_shield_facts).  Read in
 * OpenSM's sources, 3.3.21 to 3.3.24:
 *
 *   SL2VLTableRecord (0x13)  sa_slvl_by_comp_mask() takes numbers of a switch's ports as
 *                            they are, reads beyond the node's ports, and does not end
 *                            its loop for 255
 *   LFTRecord (0x15)         osm_switch_get_lft_block() copies from a table that a switch
 *                            has only once routes were calculated for it
 *
 * A request that is legal gets the answer that OpenSM would give.  A port that a node has
 * not matches nothing [IBA 15.2.5: records that match the components].
 *
 * Thread-safety: functions without state. */
#ifndef TRIAD_SHIELD_CHECK_H
#define TRIAD_SHIELD_CHECK_H

#include <stdbool.h>
#include <stdint.h>

#define TRIAD_SHIELD_MAD_SIZE 256

enum triad_shield_verdict {
	TRIAD_SHIELD_PASS,
	TRIAD_SHIELD_ASK,    /* judge it by the subnet */
	TRIAD_SHIELD_ANSWER, /* with a status; no records if that is 0 */
	TRIAD_SHIELD_DROP,   /* as OpenSM does: no answer */
};

enum triad_shield_reason {
	TRIAD_SHIELD_GOOD,
	TRIAD_SHIELD_NO_SUCH_PORT, /* of the switch */
	TRIAD_SHIELD_PORTS_OF_ALL, /* a port that some switches have not, of all of them */
	TRIAD_SHIELD_NOT_ROUTED, /* a switch without routes yet */
	TRIAD_SHIELD_ATTRIBUTE,  /* OpenSM's SA does not have it */
	TRIAD_SHIELD_METHOD,     /* not of this attribute */
	TRIAD_SHIELD_RATE,       /* more than shield.rate */
	TRIAD_SHIELD_QUEUE,      /* too many are to be judged or answered */
	TRIAD_SHIELD_N_REASONS
};

/* "no_such_port", as in metrics and JSON. */
const char *triad_shield_reason_name(enum triad_shield_reason reason);
/* For people: "a port that the switch has not". */
const char *triad_shield_reason_text(enum triad_shield_reason reason);

struct triad_shield_judgement {
	enum triad_shield_verdict verdict;
	enum triad_shield_reason reason;
	uint16_t status; /* of an answer, in host byte order [IBA 15.2.4.3] */
};

/* Judges a request by its octets. */
struct triad_shield_judgement triad_shield_look(
	const uint8_t mad[TRIAD_SHIELD_MAD_SIZE]);

/* The LID in a request that is to be judged by the subnet; 0: it names none. */
uint16_t triad_shield_lid(const uint8_t mad[TRIAD_SHIELD_MAD_SIZE]);

/* What the subnet has: of the switch with that LID (LMC included), or of all switches if
 * the request names none. */
struct triad_shield_facts {
	bool has_switch;      /* there is one */
	uint16_t least, most; /* ports of the one, or of the one, port 0 included, that
				  * has fewest and most */
	bool has_unrouted;    /* one has no routes yet */
};

struct triad_shield_judgement triad_shield_judge(
	const uint8_t mad[TRIAD_SHIELD_MAD_SIZE],
	const struct triad_shield_facts *facts);

#endif
