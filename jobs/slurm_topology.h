/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The fabric as a tree for topology.conf of Slurm's topology/tree.
 *
 * Model: in Slurm's tree a switch has hosts or switches below it, and one parent.  In a
 * fat tree a switch has many parents.  So a line above the leaves stands for a set of
 * switches: one line for each switch with hosts; above them, level by level
 * (routes/layout.h), one line for each set of switches that are connected by switches
 * up to that level, if the set joins several lines.  Such a line has the name of one of
 * its switches.  So hosts that are close in the fabric are close in the tree, whatever
 * the fabric's shape.  A switch at which no host is listed has no line.
 *
 * Names: a host's is its node's description up to the first blank; a switch's the same
 * and 40 octets at most,
 * with '_' for characters that a name can't have, and with the GUID where names would
 * be equal or empty.  A host at several switches is listed at the first one.
 *
 * Thread-safety: none; the caller's.  Memory: some octets for each switch and host.
 * Source: topology.conf(5) of Slurm 22.05. */
#ifndef TRIAD_JOBS_SLURM_TOPOLOGY_H
#define TRIAD_JOBS_SLURM_TOPOLOGY_H

#include "jobs/hostlist.h"
#include "routes/layout.h"

/* A line. */
struct triad_slurm_switch {
	char name[TRIAD_HOSTLIST_NAME_SIZE];
	struct triad_hostlist hosts;    /* or: */
	struct triad_hostlist switches; /* names of other lines */
	uint32_t parent;                /* TRIAD_FABRIC_NONE: none */
};

struct triad_slurm_topology {
	struct triad_slurm_switch *switches; /* those with hosts first, by name */
	uint32_t n, n_leaves, n_hosts;
	uint32_t n_roots; /* more than one: parts that are not connected */
	uint32_t n_again; /* hosts at several switches */
	uint32_t
		n_unnamed; /* ports of hosts left out because they have no valid name */
};

/* Returns 0 or ENOMEM. */
int triad_slurm_topology_make(const struct triad_routes_layout *layout,
	struct triad_slurm_topology **topology);
void triad_slurm_topology_free(struct triad_slurm_topology *topology);

/* The host name in a node's description; "" if there is no valid one, as in a factory's
 * ("MT4129 ConnectX7 ...") or that of "localhost". */
void triad_slurm_host_name(
	const char *description, char name[TRIAD_HOSTLIST_NAME_SIZE]);

#endif
