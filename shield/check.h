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
 *   GUIDInfoRecord (0x30)    set_guidinfo() replaces an alias GUID that is a member of a
 *                            multicast group, which del_guidinfo() does not.  When another
 *                            port gets that alias and joins, osm_mgrp_add_port() reads what
 *                            it freed, and once that port goes, drop_mgr_remove_port()
 *                            loops for ever with the SM's lock
 *   ServiceRecord (0x31)     sr_rcv_process_set_method() writes to a record after it gave up
 *                            the lock; osm_sr_rcv_lease_cb() may have freed one whose lease
 *                            is less than two seconds.  Records are kept for ever, and each
 *                            Set goes through the list of all
 *   InformInfo (0x03)        subscriptions, too.  Each trap goes to all; with as many reports
 *                            that wait for an answer as the vendor library has room for,
 *                            put_madw() ends OpenSM when the SM sends an SMP
 *   PathRecord (0x35)        pr_rcv_process_world() makes a record for each pair of ports if
 *                            the request names none, with the SM's lock: in 5,007 nodes that
 *                            takes half a minute and 5.8 GB.  pr_rcv_get_path_parms() logs
 *                            each pair that does not share the P_Key in the request
 *
 * A request that is legal gets the answer that OpenSM would give.  A port that a node has
 * not matches nothing [IBA 15.2.5: records that match the components].
 * Deviation: leases of one second, registrations beyond TRIAD_SHIELD_MAX_SERVICES and
 * TRIAD_SHIELD_MAX_SUBSCRIPTIONS, and paths between all of more ports than
 * TRIAD_SHIELD_MAX_PAIRS allows, are refused.
 *
 * Thread-safety: functions without state. */
#ifndef TRIAD_SHIELD_CHECK_H
#define TRIAD_SHIELD_CHECK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TRIAD_SHIELD_MAD_SIZE 256
#define TRIAD_SHIELD_N_ALIASES 8u        /* of a block of GUIDs */
#define TRIAD_SHIELD_MAX_SERVICES 65536u /* of all clients: records do not say whose */
#define TRIAD_SHIELD_MAX_SUBSCRIPTIONS 64u /* of one LID */
/* Events, each reported to all subscriptions, for whose reports there is room. */
#define TRIAD_SHIELD_N_EVENTS 8u
/* Of ports in one table of paths: 500 ports.  OpenSM needs a second for it and 64 MB, and
 * whoever asks has waited in vain by then, unless told to wait longer. */
#define TRIAD_SHIELD_MAX_PAIRS 250000u

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
	TRIAD_SHIELD_NOT_ROUTED,   /* a switch without routes yet */
	TRIAD_SHIELD_ALIAS_IN_USE, /* to be replaced while it is in a multicast group */
	TRIAD_SHIELD_SHORT_LEASE,  /* of a service */
	TRIAD_SHIELD_REGISTRATIONS, /* more services or subscriptions than there is room
				     * for */
	TRIAD_SHIELD_PATHS_OF_ALL, /* from and to nowhere, of many ports or with a P_Key */
	TRIAD_SHIELD_ATTRIBUTE,    /* OpenSM's SA does not have it */
	TRIAD_SHIELD_METHOD,       /* not of this attribute */
	TRIAD_SHIELD_RATE,         /* more than shield.rate */
	TRIAD_SHIELD_QUEUE,        /* too many are to be judged or answered */
	TRIAD_SHIELD_N_REASONS
};

/* "no_such_port", as in metrics and JSON. */
const char *triad_shield_reason_name(enum triad_shield_reason reason);
/* For people, as a heading: "no such port". */
const char *triad_shield_reason_label(enum triad_shield_reason reason);
/* The same in a sentence: "a port that the switch has not". */
const char *triad_shield_reason_text(enum triad_shield_reason reason);

struct triad_shield_judgement {
	enum triad_shield_verdict verdict;
	enum triad_shield_reason reason;
	uint16_t status; /* of an answer, in host byte order [IBA 15.2.4.3] */
};

/* Judges a request by its octets. */
struct triad_shield_judgement triad_shield_look(
	const uint8_t mad[TRIAD_SHIELD_MAD_SIZE]);

/* Whether it asks for records of the whole fabric: OpenSM needs long for it, up to a second,
 * and others wait. */
bool triad_shield_is_table(const uint8_t mad[TRIAD_SHIELD_MAD_SIZE]);

/* The LID in a request that is to be judged by the subnet; 0: it names none. */
uint16_t triad_shield_lid(const uint8_t mad[TRIAD_SHIELD_MAD_SIZE]);

/* What the subnet has.  Of switches: of the one with that LID (LMC included), or of all switches if
 * the request names none. */
struct triad_shield_facts {
	bool has_switch;      /* there is one */
	uint16_t least, most; /* ports of the one, or of the one, port 0 included, that
				  * has fewest and most */
	bool has_unrouted;    /* one has no routes yet */
	/* The block of GUIDInfoRecord: those that are in a multicast group; 0: others. */
	uint64_t used_aliases[TRIAD_SHIELD_N_ALIASES];
	size_t n_services;                           /* of all */
	size_t n_subscriptions, n_all_subscriptions; /* of who asks; of all */
	size_t n_reports; /* may wait for an answer at a time */
	uint64_t n_ports; /* of all: between these there are paths */
	bool has_service; /* the one in the request; needed if there is no room */
};

struct triad_shield_judgement triad_shield_judge(
	const uint8_t mad[TRIAD_SHIELD_MAD_SIZE],
	const struct triad_shield_facts *facts);

#endif
