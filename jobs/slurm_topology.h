/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The fabric as a tree, as Slurm's topology/tree takes it in topology.conf.
 *
 * Model: Slurm knows switches with hosts, and switches with switches, each of which has
 * one parent.  A fat tree has many; so what is written are sets of switches: one line for
 * each switch with hosts, and above them one for each set that is connected by switches
 * up to some level (routes/layout.h), where that joins several lines.  A line above has
 * the name of one of its switches.  Hosts that are close in the fabric so are close in the
 * tree, whatever the fabric is like.  A switch without a host that has a name is in no
 * line.
 *
 * Names: of a host, what stands before the first blank of its node's description; of a
 * switch, the same with '_' for what is in no name, and its GUID where that is not
 * enough.  A host at several switches is at the first one.
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
	uint32_t n_roots;   /* more than one: parts that are not connected */
	uint32_t n_again;   /* hosts that are at another switch, too */
	uint32_t n_unnamed; /* hosts whose names can't be a host's: left out */
};

/* Returns 0 or ENOMEM. */
int triad_slurm_topology_make(const struct triad_routes_layout *layout,
	struct triad_slurm_topology **topology);
void triad_slurm_topology_free(struct triad_slurm_topology *topology);

/* The name of the host that a node is, by its description; "" if it is none. */
void triad_slurm_host_name(
	const char *description, char name[TRIAD_HOSTLIST_NAME_SIZE]);

#endif
