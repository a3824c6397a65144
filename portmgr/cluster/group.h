/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Members of a process group of Corosync's: which (node, process) is which SM, what
 * they send, and the view that comes of it.
 *
 * A message, big-endian: magic "TrCg" (4 octets), version 1, kind (1 announcement,
 * 2 payload), 2 octets of 0, the sender's id (8), the payload.
 *
 * Thread-safety: none.  Pure. */
#ifndef TRIAD_PORTMGR_GROUP_H
#define TRIAD_PORTMGR_GROUP_H

#include "portmgr/cluster/cluster.h"

struct triad_group_member {
	uint32_t node, pid;
	uint64_t id; /* 0: not said yet */
};

struct triad_group {
	struct triad_group_member members[TRIAD_CLUSTER_MAX_MEMBERS];
	size_t n; /* may be more than there is room for; the rest is not known */
};

/* Begins a list anew. */
void triad_group_begin(struct triad_group *group);

/* The id is kept of one that was in 'before'; one that is there already is no other. */
void triad_group_add(struct triad_group *group, const struct triad_group *before,
	uint32_t node, uint32_t pid);

/* NULL: there is none. */
struct triad_group_member *triad_group_find(
	struct triad_group *group, uint32_t node, uint32_t pid);

/* False: it isn't in the group. */
bool triad_group_name(
	struct triad_group *group, uint32_t node, uint32_t pid, uint64_t id);

/* Whether one other than 'but' has the id. */
bool triad_group_has_other(const struct triad_group *group,
	const struct triad_group_member *but, uint64_t id);

/* --- messages ---------------------------------------------------------- */

#define TRIAD_GROUP_HEADER_SIZE 16u

enum triad_group_kind {
	TRIAD_GROUP_ANNOUNCEMENT = 1,
	TRIAD_GROUP_PAYLOAD = 2,
};

void triad_group_put_header(uint8_t header[TRIAD_GROUP_HEADER_SIZE],
	enum triad_group_kind kind, uint64_t id);

enum triad_group_verdict {
	TRIAD_GROUP_TAKEN,     /* the member has said, or says again, who it is */
	TRIAD_GROUP_MALFORMED, /* truncated, oversize, another magic */
	TRIAD_GROUP_STRANGER,  /* from nobody in the group */
	TRIAD_GROUP_VERSION,   /* of a version that is not known here */
	TRIAD_GROUP_DOUBLE,    /* with the id of another member */
};

struct triad_group_message {
	struct triad_group_member *from; /* NULL: nobody in the group */
	uint64_t id;
	bool is_news; /* the member had not this id before */
	/* NULL: an announcement, or of a kind that is not known.  In the message. */
	const uint8_t *payload;
	size_t size;
};

/* What a process sent; only when it is taken, does its id count. */
enum triad_group_verdict triad_group_take(struct triad_group *group, uint32_t node,
	uint32_t pid, const void *octets, size_t size,
	struct triad_group_message *message);

/* --- the view ---------------------------------------------------------- */

struct triad_group_ring {
	uint32_t node;
	uint64_t seq; /* 0: not known */
};

/* What Corosync says of its cluster, by connections of their own. */
struct triad_group_quorum {
	struct triad_group_ring ring;        /* of the group's members */
	struct triad_group_ring quorum_ring; /* in which the quorum was found */
	bool is_quorate, has_majority;
	/* The nodes of 'ring'; 0: they are not known, or too many. */
	uint32_t n_nodes, nodes[TRIAD_CLUSTER_MAX_MEMBERS];
};

/* Whether the quorum is that of the members' ring. */
bool triad_group_is_settled(const struct triad_group_quorum *quorum);

/* The view of a group that this member is in.  Members on nodes that the ring lacks are
 * left out: when a ring breaks while it is formed, libcpg may go on listing processes of
 * the other side, until the next ring. */
struct triad_cluster_view triad_group_view(
	const struct triad_group *group, const struct triad_group_quorum *quorum);

#endif
