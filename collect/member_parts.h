/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Internals of a member, for its own files alone; each calls those above it:
 *
 *     member_send.c        sending; from whom messages are received
 *     member_tree.c        masters, relaying up and down, histograms
 *     member_topology.c    sending and receiving the fabric
 *     member_partitions.c  nodes that an agent can't ask
 *     member_receive.c     who may send what, and what each kind of message brings
 *     member.c             its life, the fabric, steps */
#ifndef TRIAD_COLLECT_MEMBER_PARTS_H
#define TRIAD_COLLECT_MEMBER_PARTS_H

#include "collect/member.h"
#include "collect/topology_message.h"
#include "ib/partitions.h"

#define TRIAD_MEMBER_MAX_CLEARS 8u

/* A request for histograms: the answers so far. */
struct triad_member_gather {
	bool is_used;
	uint64_t asker; /* 0: ourselves */
	uint64_t until_us;
	struct triad_gather gather;
	unsigned n_children; /* that have not answered */
	uint64_t children[TRIAD_PEERS_MAX];
	void (*done)(void *context, struct triad_gather *gather);
	void *context;
};

struct triad_member {
	struct triad_member_params params;
	struct triad_member_sink sink;
	struct triad_member_settings settings;
	uint64_t liveness_us;
	struct triad_claims *claims;
	struct triad_peers peers;
	struct triad_reporter *reporter;
	struct triad_detail_reporter *detail_reporter;
	struct triad_aggregator *aggregator; /* a manager's; not ours */
	struct triad_member_counts counts;

	struct triad_fabric *fabric;
	uint64_t hash;
	uint16_t pkeys[TRIAD_PKEYS_MAX]; /* of the port that it reads from */
	uint32_t n_pkeys;
	uint32_t n_apart;
	uint8_t *distances[TRIAD_CLAIMS_MAX_AGENTS]; /* of claims' agents; see below */
	uint64_t distance_of[TRIAD_CLAIMS_MAX_AGENTS];
	unsigned n_distances, oldest_distances;

	bool is_cut_off;
	uint64_t alive_us; /* when ALIVE was sent last; 0: never */
	uint64_t master;   /* the master that it named: all reports go there */
	uint32_t lag_ms, n_ports;
	uint64_t n_dropped;

	struct triad_topology_pieces *pieces; /* being assembled; agents */
	struct triad_topology_octets encoded; /* to be sent; managers */
	uint64_t handed_us, wanted_us;
	bool is_wanted;
	unsigned next_piece, n_pieces; /* still to be sent */

	struct triad_member_gather gathers[TRIAD_MEMBER_MAX_GATHERS];
	uint64_t cleared[TRIAD_MEMBER_MAX_CLEARS]; /* requests seen last */
	unsigned n_cleared;

	uint8_t octets[TRIAD_COLLECT_MAX_SIZE]; /* of the message being made */
};

/* Sends octets; nothing when 'size' is 0. */
void triad_member_send(struct triad_member *member, enum triad_member_to to,
	uint64_t id, const uint8_t *octets, size_t size);
/* Sends member->octets to one, or to all (TRIAD_CLAIMS_NO_AGENT). */
void triad_member_send_to(struct triad_member *member, uint64_t to, size_t size);
/* How long an earlier incarnation of a sender is remembered. */
uint64_t triad_member_past_us(const struct triad_member *member);

/* Sets the distance of nodes that share no partition with this port to unreachable;
 * '*n_apart' is their number.  Returns 0 or ENOMEM. */
int triad_member_exclude_apart(const struct triad_member *member,
	const struct triad_fabric *fabric, uint8_t *hops, uint32_t *n_apart);

/* Sends up the tree, to the master that the last ALIVE named.  Relaying members know
 * from that ALIVE that it may come. */
void triad_member_send_up(
	struct triad_member *member, const uint8_t *octets, size_t size);
/* Whether a message that 'sender' sent up the tree may arrive by way of 'by': the
 * master that it named, one further up, or the sender itself.  One that was on the way
 * up a moment ago may still have something to relay. */
bool triad_member_is_on_path_up(const struct triad_member *member, uint64_t sender,
	uint64_t by, uint64_t now_us);
void triad_member_receive_up(struct triad_member *member,
	const struct triad_collect_head *head, struct triad_wire *body,
	uint64_t now_us);
void triad_member_receive_get_histograms(struct triad_member *member,
	const struct triad_collect_head *head, struct triad_wire *body,
	uint64_t now_us);
void triad_member_receive_histogram(struct triad_member *member,
	const struct triad_collect_head *head, struct triad_wire *body);
void triad_member_receive_clear(struct triad_member *member,
	const struct triad_collect_head *head, struct triad_wire *body,
	uint64_t now_us);
/* Ends requests that waited long enough; returns when the next one has. */
uint64_t triad_member_step_gathers(struct triad_member *member, uint64_t now_us);

void triad_member_receive_topology(struct triad_member *member,
	const struct triad_collect_head *head, struct triad_wire *body,
	uint64_t now_us);
void triad_member_receive_want_topology(struct triad_member *member);
/* Encodes a manager's new fabric, to be sent to agents. */
void triad_member_encode(struct triad_member *member);
uint64_t triad_member_step_topology(struct triad_member *member, uint64_t now_us);

#endif
