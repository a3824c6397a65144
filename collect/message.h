/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The messages between agents, masters and managers.
 *
 * Model: a message has a head, which names the sender, and a body of its kind:
 *
 *     ALIVE            to all, four times in a liveness time: the sender's state
 *     OWNER            nodes that the sender owns, with their hops: an announcement to
 *                      all, or the answer to WHO_OWNS
 *     WHO_OWNS         to all: who owns these nodes; to one: which nodes it owns
 *     TRAP             up the tree: a counter crossed its threshold, or no longer does
 *     DATA             up the tree: counters of ports (data.h has the rows)
 *     GET_HISTOGRAMS   down the tree
 *     HISTOGRAM        up the tree, merged on the way
 *     CLEAR            down the tree: totals, histograms, hardware
 *     AGAIN            to a sender of DATA: messages were lost, send their ports again
 *     WANT_TOPOLOGY    to the manager
 *     TOPOLOGY         a piece of the fabric, to all
 *     DETAILS          up the tree: detail attributes of ports (detail_message.h)
 *
 * Kind 11 was TOPOLOGY without P_Key tables, and 14 paths for agents; they count as
 * another version.
 *
 * Octets, all numbers big-endian:
 *
 *     0  u16 magic 0x5443  u8 version
 *     3  u4 times it was relayed up the tree  u4 kind
 *     4  u64 sender        port GUID of the port it reads from
 *    12  u64 incarnation   when it started, wall clock, microseconds: greater is newer
 *    20  the body: members in the order of the structures below, without gaps, but
 *        for flags, which share an octet:
 *
 *     ALIVE     ... port, flags (1 manager, 2 draining), n_nodes ...
 *     OWNER     number, as_of, flags (1 list, 2 draining), part, n_parts, load,
 *               address, port, n_nodes, n; n times u64 GUID, u8 hops, u8 load
 *     WHO_OWNS  flags (1 list), n; n times u64 GUID
 *     TRAP      ... cause, flags (1 raised, 2 at least), value ... threshold_unit; with
 *               details: why (its index in the table of ib/detail.c plus 1; 0: not known),
 *               flags (1 it alone), which VL, SL or lane; for a bit error rate its kind,
 *               low, high, target, seconds (floats); for hardware the fault, its number,
 *               the limit (a float)
 *     CLEAR     ... port, flags (1 totals, 2 histograms, 4 hardware)
 *
 * A receiver accepts only its own version, and counts others.  Bodies may grow at their
 * end within a version: a receiver ignores octets that it does not know, but lists end
 * with the message.
 *
 * A text is a length in one octet and as many octets of printable UTF-8; others become
 * '?'.
 *
 * Thread-safety: functions without state.  Memory: lists lie in the caller's octets;
 * nothing is allocated.
 * Source: [monitoring-rfc: Agents Communication]. */
#ifndef TRIAD_COLLECT_MESSAGE_H
#define TRIAD_COLLECT_MESSAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "triad/wire.h"

#define TRIAD_COLLECT_VERSION 1
#define TRIAD_COLLECT_MAX_SIZE (256u * 1024) /* octets of a message */
#define TRIAD_COLLECT_HEAD_SIZE 20u
#define TRIAD_COLLECT_MAX_RELAYS 15u
#define TRIAD_COLLECT_NAME_SIZE 64u    /* with the 0 */
#define TRIAD_COLLECT_MAX_NODES 16384u /* in one OWNER or WHO_OWNS */

enum triad_collect_kind {
	TRIAD_COLLECT_ALIVE = 1,
	TRIAD_COLLECT_OWNER,
	TRIAD_COLLECT_WHO_OWNS,
	TRIAD_COLLECT_TRAP,
	TRIAD_COLLECT_DATA,
	TRIAD_COLLECT_GET_HISTOGRAMS,
	TRIAD_COLLECT_HISTOGRAM,
	TRIAD_COLLECT_CLEAR,
	TRIAD_COLLECT_AGAIN,
	TRIAD_COLLECT_WANT_TOPOLOGY,
	TRIAD_COLLECT_OLD_TOPOLOGY,
	TRIAD_COLLECT_TOPOLOGY,
	TRIAD_COLLECT_DETAILS,
	TRIAD_COLLECT_N_KINDS
};

/* The longest delay of a message of an earlier start, in liveness times: one that comes
 * later is from a new start, before which the sender's clock was set back. */
#define TRIAD_COLLECT_PAST_LIVES 4u

struct triad_collect_head {
	enum triad_collect_kind kind;
	unsigned n_relays; /* 0 to TRIAD_COLLECT_MAX_RELAYS */
	uint64_t sender, incarnation;
};

/* An agent's or manager's state. */
struct triad_collect_alive {
	char name[TRIAD_COLLECT_NAME_SIZE];
	char address[TRIAD_COLLECT_NAME_SIZE]; /* host or IP, for people */
	uint16_t port;                         /* of its metrics there; 0: none */
	bool is_manager;                       /* the top of a tree; owns no nodes */
	bool is_draining;                      /* gives its nodes away */
	uint32_t n_nodes;                      /* owned */
	uint32_t n_ports;                      /* of these, with counters */
	uint32_t n_announced;                  /* OWNER messages that it sent to all */
	uint64_t claims;    /* digest of what it owns, as claims.h has it */
	uint64_t master;    /* reports to; 0: a manager; own id: nobody */
	uint64_t topology;  /* hash of the fabric it works on; 0: none yet */
	uint32_t sweep_ms;  /* period */
	uint32_t lag_ms;    /* from the due time of the last sweep to its end */
	uint32_t n_data;    /* DATA messages that it sent */
	uint64_t n_dropped; /* messages that it could not send */
};

/* A node and how far it is: entries of OWNER. */
#define TRIAD_COLLECT_HOPS_GIVEN_UP 255u /* the sender gave the node up */
struct triad_collect_claim {
	uint64_t node_guid;
	uint8_t hops;
	uint8_t load; /* triad_claims_load() of what it owned as it claimed this */
};

struct triad_collect_owner {
	uint32_t number;  /* of announcements, from 1 on; 0: an answer */
	uint32_t as_of;   /* of an answer: the last number before it; else 'number' */
	bool is_list;     /* all that the sender owns, */
	uint16_t part;    /* in parts, from 0 on, */
	uint16_t n_parts; /* so many of them; 0, and no entries: it owns nothing */
	uint8_t load;     /* triad_claims_load() of what it owns */
	bool is_draining;
	char address[TRIAD_COLLECT_NAME_SIZE];
	uint16_t port;
	uint32_t n_nodes; /* that it owns */
	uint32_t n;       /* entries, at most TRIAD_COLLECT_MAX_NODES */
};

struct triad_collect_who_owns {
	bool wants_list; /* all that the receiver owns, instead of certain nodes */
	uint32_t n;      /* GUIDs */
};

/* One finding: see alerts.h. */
struct triad_collect_trap {
	uint64_t wall_us; /* when it was found */
	uint64_t node_guid;
	uint8_t port;  /* TRIAD_ALERT_NO_PORT: the node as a whole */
	uint8_t cause; /* enum triad_alert_cause */
	bool is_raised;
	bool is_at_least;
	float value;
	float threshold;
	uint8_t threshold_unit; /* enum triad_threshold_unit, as triad/threshold.h */
	uint8_t why_field;      /* struct triad_alert_why */
	bool why_is_only_one;
	uint8_t why_element;
	/* Of a bit error rate, as struct triad_alert_finding has it; 0: not given. */
	uint8_t ber_kind;
	float ber_low, ber_high, ber_target, ber_in_s;
	/* Of hardware, the same. */
	uint8_t hardware_fault, hardware_index;
	float hardware_limit;
};

struct triad_collect_again {
	uint32_t from; /* number of the first DATA that did not come */
};

struct triad_collect_clear {
	uint64_t request;
	uint64_t node_guid; /* 0: all nodes */
	uint8_t port;       /* TRIAD_ALERT_NO_PORT: all ports */
	bool totals, histograms, hardware;
};

/* Increments the relay count of a message with a valid head. */
void triad_collect_count_relay(uint8_t *octets);

/* Writes the head, for messages that are written piece by piece. */
void triad_collect_put_head(
	struct triad_wire *to, const struct triad_collect_head *head);

/* Begins a message of that kind in 'to', of 'size' octets, with the head; the caller
 * adds its fields. */
struct triad_wire triad_collect_begin(uint8_t *to, size_t size,
	const struct triad_collect_head *head, enum triad_collect_kind kind);
/* Its octets, 0 when 'to' was too small. */
size_t triad_collect_end(const struct triad_wire *wire);

/* --- encoding: into 'to', of 'size' octets; returns their number, 0 when 'to' is too
 * small --- */

size_t triad_collect_put_alive(const struct triad_collect_head *head,
	const struct triad_collect_alive *alive, uint8_t *to, size_t size);
/* 'claims' has owner->n of them. */
size_t triad_collect_put_owner(const struct triad_collect_head *head,
	const struct triad_collect_owner *owner,
	const struct triad_collect_claim *claims, uint8_t *to, size_t size);
size_t triad_collect_put_who_owns(const struct triad_collect_head *head,
	const struct triad_collect_who_owns *who, const uint64_t *guids, uint8_t *to,
	size_t size);
size_t triad_collect_put_trap(const struct triad_collect_head *head,
	const struct triad_collect_trap *trap, uint8_t *to, size_t size);
size_t triad_collect_put_again(const struct triad_collect_head *head,
	const struct triad_collect_again *again, uint8_t *to, size_t size);
size_t triad_collect_put_clear(const struct triad_collect_head *head,
	const struct triad_collect_clear *clear, uint8_t *to, size_t size);

/* --- decoding: false for malformed octets --- */

/* Reads the head; 'body' becomes a cursor behind it, on the whole message. */
enum triad_collect_head_is {
	TRIAD_COLLECT_HEAD_GOOD,
	TRIAD_COLLECT_HEAD_FOREIGN,       /* not a message of ours */
	TRIAD_COLLECT_HEAD_OTHER_VERSION, /* 'head' has sender and incarnation */
	TRIAD_COLLECT_HEAD_UNKNOWN_KIND,
};
enum triad_collect_head_is triad_collect_get_head(uint8_t *octets, size_t size,
	struct triad_collect_head *head, struct triad_wire *body);

bool triad_collect_get_alive(
	struct triad_wire *body, struct triad_collect_alive *alive);
/* Then owner->n times triad_collect_get_claim(). */
bool triad_collect_get_owner(
	struct triad_wire *body, struct triad_collect_owner *owner);
bool triad_collect_get_claim(
	struct triad_wire *body, struct triad_collect_claim *claim);
/* Then who->n times triad_wire_get64(). */
bool triad_collect_get_who_owns(
	struct triad_wire *body, struct triad_collect_who_owns *who);
bool triad_collect_get_trap(struct triad_wire *body, struct triad_collect_trap *trap);
bool triad_collect_get_again(
	struct triad_wire *body, struct triad_collect_again *again);
bool triad_collect_get_clear(
	struct triad_wire *body, struct triad_collect_clear *clear);

#endif
