/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Chooses the P_Key with which this port asks each port of a fabric.
 *
 * Model: a query carries the index of a P_Key in the sender's table.  A port silently
 * drops queries in a partition that it is not in.  So the index is chosen by both
 * tables (triad_pkey_match()): that of the asking port, from the kernel, and that of
 * the port whose LID is asked, from the fabric; a switch has one at its port 0.  A port
 * that shares no P_Key is not asked.  If either table is unknown, the default partition
 * is tried.
 *
 * The reader of counters chooses when it adopts a fabric (view.h); the source of a
 * fabric only decides which tables are in it.
 *
 * Thread-safety: functions without state.
 * Spec: IBA volume 1, 10.9.3 (P_Key matching), 10.9.2 (tables). */
#ifndef TRIAD_IB_PARTITIONS_H
#define TRIAD_IB_PARTITIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "triad/fabric.h"

#define TRIAD_PKEY_NONE UINT16_MAX /* an index: no partition is shared */
#define TRIAD_PKEYS_MAX 128u       /* of our own table that are used */

struct triad_partitions_counts {
	uint32_t n_apart;   /* ports with counters, but no partition shared */
	uint32_t n_guessed; /* ports with counters whose table is not known */
};

/* Sets 'indexes' (room for all ports of 'fabric') to the index in 'ours' for each.
 * 'n_ours' 0: our own table is not known; at most TRIAD_PKEYS_MAX. */
struct triad_partitions_counts triad_partitions_choose(
	const struct triad_fabric *fabric, const uint16_t *ours, uint32_t n_ours,
	uint16_t *indexes);

/* Clears the marks in 'nodes' (one for each node of 'fabric') of nodes that can be
 * asked: the others have ports with counters, none of which shares a partition with
 * 'ours'.  Returns how many marks remain. */
uint32_t triad_partitions_retain_apart(const struct triad_fabric *fabric,
	const uint16_t *ours, uint32_t n_ours, bool *nodes);

#endif
