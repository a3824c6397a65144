/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Members of a Corosync process group: maps (node, process) to SMs, reads their
 * messages, and makes the view.
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
	uint64_t id; /* 0: not announced yet */
};

struct triad_group {
	struct triad_group_member members[TRIAD_CLUSTER_MAX_MEMBERS];
	size_t n; /* may exceed the array; the rest is not known */
};

/* Starts an empty list. */
void triad_group_begin(struct triad_group *group);

/* Adds a member; takes its id from 'before' if it was there.  Adding it again has no
 * effect. */
void triad_group_add(struct triad_group *group, const struct triad_group *before,
	uint32_t node, uint32_t pid);

/* NULL: there is none. */
struct triad_group_member *triad_group_find(
	struct triad_group *group, uint32_t node, uint32_t pid);

/* Sets a member's id.  False: it isn't in the group. */
bool triad_group_name(
	struct triad_group *group, uint32_t node, uint32_t pid, uint64_t id);

/* Whether a member other than 'but' has the id. */
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
	TRIAD_GROUP_TAKEN,          /* accepted: the member's id is set */
	TRIAD_GROUP_MALFORMED,      /* truncated, oversize, another magic */
	TRIAD_GROUP_UNKNOWN_SENDER, /* the sender is not in the group */
	TRIAD_GROUP_VERSION,        /* of a version that is not known here */
	TRIAD_GROUP_DUPLICATE_ID,   /* with the id of another member */
};

struct triad_group_message {
	struct triad_group_member *from; /* NULL: not in the group */
	uint64_t id;
	bool is_news; /* the member did not have this id before */
	/* Points into the message; NULL: an announcement, or an unknown kind. */
	const uint8_t *payload;
	size_t size;
};

/* Reads a message of a process.  Sets the member's id only if it returns
 * TRIAD_GROUP_TAKEN. */
enum triad_group_verdict triad_group_take(struct triad_group *group, uint32_t node,
	uint32_t pid, const void *octets, size_t size,
	struct triad_group_message *message);

/* --- the view ---------------------------------------------------------- */

/* The nodes that reach each other. */
struct triad_group_ring {
	bool is_known; /* false: a new ring is forming */
	/* n_nodes 0: not known, or too many. */
	uint32_t n_nodes, nodes[TRIAD_CLUSTER_MAX_MEMBERS];
};

/* The view of the group, which this member is in.  Leaves out members on nodes that the
 * ring lacks: when a ring breaks while it is formed, libcpg may keep listing processes
 * of the other side until the next ring.
 *
 * 'n_voters': how many SMs are configured to vote; 0: not known, so there is no quorum.
 * If more members are here, the majority is one of them. */
struct triad_cluster_view triad_group_view(const struct triad_group *group,
	const struct triad_group_ring *ring, uint32_t n_voters);

#endif
