/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Finds the groups of a policy that each end port of a fabric is in [qos-rfc 9 3.1].
 *
 * Model: end ports have positions, sorted by the type of their node and then by their
 * own GUID. So a node type is one run of positions.  A range of GUIDs is one run for
 * each type.  A name, and the SM's own port, is a run of one.  Partitions and P_Keys of
 * groups become runs of P_Keys; a port is in the group if its P_Key table has one of
 * them, with either membership.  There is no list of the ports of each group, because
 * it would be as long as groups times ports.
 *
 * What a group's items mean:
 * - a GUID is compared with the port's own, not with its aliases;
 * - a port's name needs a node of that name, or with these first two words, and a port
 *   of that number there; at a switch any of its numbers means the switch, because
 *   port 0 is the end port of them all;
 * - a partition's name means the first partition, by P_Key, with exactly that name, else
 *   the first whose name differs only in case;
 * - an entry 0 of a port's P_Key table is an empty entry.
 *
 * Thread-safety: resolved by one thread, then immutable.
 * Memory: capped at TRIAD_MEMBERSHIP_MAX_SPANS; owned until triad_membership_clear().
 * The policy and the fabric are borrowed for as long. */
#ifndef TRIAD_QOS_MEMBERSHIP_H
#define TRIAD_QOS_MEMBERSHIP_H

#include "qos/policy/policy.h"
#include "triad/fabric.h"

#define TRIAD_MEMBERSHIP_MAX_SPANS (1u << 22) /* of each kind */
#define TRIAD_N_PKEYS 0x8000                  /* without the membership bit */
#define TRIAD_MEMBERSHIP_N_TYPES 4            /* enum triad_node_type; 0: others */

/* From 'first' to before 'end'. */
struct triad_group_span {
	uint32_t first, end;
	uint32_t group;
};

struct triad_group_spans {
	struct triad_group_span *items;
	uint32_t n;
	size_t room;
};

struct triad_membership {
	const struct triad_policy *policy;
	const struct triad_fabric *fabric;
	uint32_t *ports; /* the end port at each position */
	uint32_t n_ports;
	uint32_t types[TRIAD_MEMBERSHIP_N_TYPES + 1]; /* where each type begins */
	struct triad_group_spans by_port;             /* of positions */
	struct triad_group_spans by_pkey;             /* of P_Keys */
};

/* A name or number in a policy that the fabric lacks. */
enum triad_group_miss_kind {
	TRIAD_MISS_GUID,      /* item of 'guids' that no end port has */
	TRIAD_MISS_PORT_NAME, /* item of 'port_names' */
	TRIAD_MISS_PARTITION, /* item of 'partitions', not set up or without ports */
	TRIAD_MISS_PKEY,      /* item of 'pkeys' that no end port has */
	TRIAD_MISS_PARTITION_LEVEL, /* a partition's level; the partition isn't set
	                                up */
};

struct triad_group_miss {
	enum triad_group_miss_kind kind;
	uint32_t group; /* or index of the partition's level */
	uint32_t item;  /* index in the group's list */
	struct triad_source_location location;
};

#define TRIAD_GROUP_REPORT_MAX_MISSES 32
#define TRIAD_GROUP_REPORT_MAX_NODES 10

/* The first misses and nodes, and the number of all. */
struct triad_group_report {
	struct triad_group_miss misses[TRIAD_GROUP_REPORT_MAX_MISSES];
	uint32_t n_misses;
	uint32_t nodes[TRIAD_GROUP_REPORT_MAX_NODES]; /* with no port in any group */
	uint32_t n_nodes;
};

/* 'report' may be NULL.  Returns 0, ENOMEM or EOVERFLOW; on error there is nothing to
 * clear. */
int triad_membership_resolve(struct triad_membership *membership,
	const struct triad_policy *policy, const struct triad_fabric *fabric,
	struct triad_group_report *report);

void triad_membership_clear(struct triad_membership *membership);

/* Writes the groups of the end port 'port' (an index in the fabric's ports), ascending,
 * into 'groups', at most 'max'; returns the number of all.  It examines all spans, so
 * use it only for display. */
uint32_t triad_membership_groups(const struct triad_membership *membership,
	uint32_t port, uint32_t *groups, uint32_t max);

/* Finds the nodes without a port in any group; 'is_lonely' has an entry for each node
 * of the fabric.  Returns 0 or ENOMEM. */
int triad_membership_find_lonely(
	const struct triad_membership *membership, bool *is_lonely);

/* The P_Keys of the end port 'port'; '*n' of them. */
static inline const uint16_t *triad_membership_pkeys(
	const struct triad_fabric *fabric, uint32_t port, uint32_t *n)
{
	*n = fabric->ports[port].pkeys.n;
	return fabric->pkeys + fabric->ports[port].pkeys.at;
}

/* --- names --- */

struct triad_partition_name {
	const char *name; /* the partition's own */
	uint16_t pkey;
};

/* Partitions by name. */
struct triad_partition_names {
	struct triad_partition_name *items;
	uint32_t n;
};

/* Borrows the names of the 'n' partitions.  Returns 0 or ENOMEM; on error there is
 * nothing to free ('items' is NULL). */
int triad_partition_names_init(struct triad_partition_names *names,
	const struct triad_fabric_partition *partitions, uint32_t n);

/* Without the membership bit; 0 when there is none of that name. */
uint16_t triad_partition_names_find(
	const struct triad_partition_names *names, const char *name);

#endif
