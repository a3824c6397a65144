/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* A fabric, arranged so that a path through it is found in a few hundred nanoseconds.
 *
 * Model: each port of a switch has the other end of its link and the link's MTU and
 * rate.  LIDs, end ports and GUIDs are indexed.  Equal P_Key tables are stored once.
 * The forwarding tables stay in the fabric.  A walk goes from switch to switch as
 * packets would [IBA 14.3.2.2].
 *
 * While the SM sweeps, its changes are marked here, and a request that meets a mark is
 * left to the SM. Only the marks ever change in 'struct triad_paths'.
 *
 * Thread-safety: built by one thread, then shared by reference count; marks are atomic
 * and may be set from any thread.
 * Memory: owns its arrays and a reference to the fabric; sized by the fabric, whose
 * sizes are capped. */
#ifndef TRIAD_QOS_PATHS_H
#define TRIAD_QOS_PATHS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "triad/fabric.h"

#define TRIAD_PATH_MAX_HOPS 64 /* switches after the source, as in OpenSM */
#define TRIAD_PATH_N_LIDS 49152
#define TRIAD_PATH_ALL_SLS 0xffff

/* One port of a switch, and its link. */
struct triad_path_link {
	uint32_t remote;   /* index in the fabric's ports, or TRIAD_FABRIC_NONE */
	uint32_t next;     /* the switch there, or TRIAD_FABRIC_NONE: an end port */
	uint32_t sls_at;   /* in 'sls', by in-port; TRIAD_FABRIC_NONE: all alike */
	uint16_t sls;      /* a bit for each SL that has a VL, if all are alike */
	uint8_t in_port;   /* number at the other end */
	uint8_t mtu, rank; /* of this port; MTU coded, rate by rank */
	uint8_t in_mtu, in_rank; /* of the port at the other end */
};

struct triad_path_switch {
	uint32_t node;       /* index in the fabric's nodes */
	uint32_t first_link; /* of port 0, in 'links' */
	uint32_t n_links;
	uint32_t n_lids; /* that its table has, from LID 0 on */
	size_t lft;      /* of LID 0, in the fabric's */
};

/* P_Keys of a port: one of each partition, in OpenSM's order of search. */
struct triad_pkey_set {
	uint32_t at, n;    /* in 'pkeys' */
	uint16_t any_full; /* the first full member, or 0 */
};

/* A port as the start or end of a path; by index in the fabric's ports. */
struct triad_path_end {
	uint32_t node_switch; /* the switch whose port 0 it is, else NONE */
	uint32_t pkey_set;
	uint32_t first_alias, n_aliases; /* in 'aliases' */
	uint16_t lid;
	uint16_t sls; /* only of an end port; a switch's links have their own */
	uint8_t lmc, mtu, rank, rate_caps;
	bool is_end, is_tavor;
};

struct triad_paths {
	struct triad_fabric *fabric;
	uint32_t n_switches;
	struct triad_path_switch *switches;
	uint32_t *switch_of_node;
	uint32_t n_links;
	struct triad_path_link *links;
	uint16_t *sls;
	struct triad_path_end *ends; /* by index in the fabric's ports */
	uint32_t *port_of_lid;       /* TRIAD_PATH_N_LIDS; or TRIAD_FABRIC_NONE */
	bool has_aliases;            /* GUIDs that are not a port's own */
	uint64_t *aliases; /* GUIDs of end ports, in the order of OpenSM's map */
	struct triad_pkey_set *pkey_sets;
	uint32_t n_pkey_sets;
	uint16_t *pkeys;
	size_t octets;

	atomic_bool marked; /* anything at all */
	atomic_bool all_marked;
	_Atomic uint8_t *port_marks;  /* a bit for each of the fabric's ports */
	_Atomic uint8_t *route_marks; /* a bit for each switch and 64 LIDs */
};

/* Takes a reference to 'fabric'.  Returns 0 or ENOMEM. */
int triad_paths_build(struct triad_fabric *fabric, struct triad_paths **paths);
struct triad_paths *triad_paths_ref(struct triad_paths *paths);
void triad_paths_unref(struct triad_paths *paths); /* accepts NULL */

/* --- marks --- */

/* Marks the end port with this GUID or alias as changed; ignores unknown ones.  Takes
 * some hundred nanoseconds at most. */
void triad_paths_mark_port(struct triad_paths *paths, uint64_t guid);

/* Marks the routes of this node to 64 LIDs from 64 * 'block' on as changed. */
void triad_paths_mark_route(
	struct triad_paths *paths, uint64_t node_guid, unsigned block);

/* Marks everything. */
void triad_paths_mark_all(struct triad_paths *paths);

/* True when the end port carries a mark. */
bool triad_paths_port_is_marked(const struct triad_paths *paths, uint32_t port);

/* --- P_Keys --- */

/* The P_Key by which 'from' can send to 'to', with the membership of 'from': the first
 * in OpenSM's order; 0: none [IBA 10.9.3]. */
uint16_t triad_paths_common_pkey(
	const struct triad_paths *paths, uint32_t from, uint32_t to);

/* True when both ports are in the partition of 'pkey' and may communicate in it. */
bool triad_paths_share_this_pkey(
	const struct triad_paths *paths, uint32_t a, uint32_t b, uint16_t pkey);

/* True when they share a partition in which they may communicate; also, as in OpenSM,
 * when the table of one was never read. */
bool triad_paths_share_pkey(const struct triad_paths *paths, uint32_t a, uint32_t b);

/* SL of the partition of 'pkey'; 0, OpenSM's default, when it is not known. */
uint8_t triad_paths_partition_sl(const struct triad_paths *paths, uint16_t pkey);

/* --- walks --- */

enum triad_walk_end {
	TRIAD_WALK_ARRIVED,
	TRIAD_WALK_NO_SL,    /* no SL has a VL on every hop */
	TRIAD_WALK_TOO_LONG, /* TRIAD_PATH_MAX_HOPS */
	TRIAD_WALK_NO_ROUTE, /* a table leads nowhere, or elsewhere */
	TRIAD_WALK_MARKED,   /* the SM is changing something on the path */
};

/* One port that packets leave by. */
struct triad_walk_hop {
	uint32_t port;   /* index in the fabric's ports */
	uint8_t in_port; /* by which they came in; 0 at the source */
	uint8_t mtu, rank;
	uint16_t sls; /* SLs with a VL, from 'in_port' to 'port' */
};

struct triad_walk {
	enum triad_walk_end end;
	uint16_t sls; /* with a VL on every hop */
	uint8_t mtu, rank;
	unsigned links;                                      /* passed */
	unsigned n_hops;                                     /* recorded in */
	struct triad_walk_hop hops[TRIAD_PATH_MAX_HOPS + 2]; /* when asked for */
};

/* Walks from the end port 'from' to 'to' like packets to 'dlid', one of the LIDs of
 * 'to'.  'record': also records each hop, for display.  The caller sets the initial
 * 'walk->mtu' and 'rank'.  Never blocks or allocates. */
void triad_paths_walk(const struct triad_paths *paths, uint32_t from, uint32_t to,
	uint16_t dlid, bool record, struct triad_walk *walk);

/* VL that packets with 'sl' take from 'in_port' out of 'port'; 'sl' itself when the SM
 * programs no tables. */
uint8_t triad_paths_vl(
	const struct triad_paths *paths, uint32_t port, uint8_t in_port, uint8_t sl);

#endif
