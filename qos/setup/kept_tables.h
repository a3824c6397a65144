/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The QoS tables of a fabric as a list of rows that images keep (history/kept.h,
 * lib/kept_list.h).
 *
 * Model: few ports have unique tables.  So all tables of a port are written once for
 * all ports that have the same ones; then the ports that have them:
 *
 *     u8 1   tables of a port, numbered from 0 in their order:
 *            u8 table   u8 first and last in-port   u8 n   u8 1: policy and SM differ
 *            the value that the SM knows and, if it differs, the policy's:
 *            8 octets of SL2VL, n times VL and weight, or a high limit
 *     u8 2   ports of a node: u64 GUID, then u8 first and last port, u32 tables
 *
 * Thread-safety: functions without state.
 * Memory: 24 octets for each such set of tables, while they are written or read;
 * checked. */
#ifndef TRIAD_QOS_KEPT_TABLES_H
#define TRIAD_QOS_KEPT_TABLES_H

#include "lib/kept_list.h"
#include "qos/setup/port_tables.h"

/* Fills the list.  Returns 0 or ENOMEM. */
int triad_kept_tables_fill(
	struct triad_kept_list *list, const struct triad_desired *desired);

struct triad_kept_tables_reader {
	void *context;
	/* Whether a port's tables are wanted. */
	bool (*wants)(void *context, uint64_t node_guid, uint8_t port);
	void (*take)(void *context, uint64_t node_guid, uint8_t port,
		const struct triad_port_table *table);
};

/* Passes them to the reader in the order of nodes, ports and tables.  Returns 0, ENOMEM
 * or EPROTO (not such a list). */
int triad_kept_tables_read(const struct triad_kept_list *list,
	const struct triad_kept_tables_reader *reader);

#endif
