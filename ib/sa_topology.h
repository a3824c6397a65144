/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Builds a fabric from tables of subnet administration: NodeRecord, PortInfoRecord and
 * LinkRecord; and P_KeyTableRecord, which an SA gives only to trusted clients.
 *
 * Model: the records are as far apart as the table's stride; octets beyond those we
 * know are ignored.  Ports find their node by its LID, links find ports by LID and
 * number.  A record that refers to something absent is dropped: the tables were read
 * one after the other.
 *
 * The SM knows more than these tables have.  They lack the SLs of paths, so all ports
 * are asked with SL 0; forwarding and SL2VL tables; and whether port 0 of a switch is
 * an enhanced one, so it is not asked.
 *
 * An SA shows a port only ports that share a partition with it, and only links whose
 * ends also share one with each other.  Two limited members share none.  So while
 * switches enforce partitions, nobody sees the links of hosts that are limited members,
 * because the switch's port has the host's table then.  Ports that are up without a far
 * end show how many links are hidden: 'n_hidden' of the fabric.  A link between two
 * such ports that is known from elsewhere is added.
 *
 * Thread-safety: functions without state.
 * Memory: some 24 octets a record during the call.
 * Spec: IBA volume 1, 15.2.5.2 NodeRecord, 15.2.5.3 PortInfoRecord, 15.2.5.13
 * LinkRecord; [perf-manager-arch 1]. */
#ifndef TRIAD_IB_SA_TOPOLOGY_H
#define TRIAD_IB_SA_TOPOLOGY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "triad/fabric.h"

enum {
	TRIAD_SA_NODE_RECORD = 0x11,
	TRIAD_SA_PORT_INFO_RECORD = 0x12,
	TRIAD_SA_LINK_RECORD = 0x20,
	TRIAD_SA_PKEY_TABLE_RECORD = 0x33,
};

/* The component PortNum of a P_KeyTableRecord. */
#define TRIAD_SA_PKEY_MASK_PORT (UINT64_C(1) << 2)

struct triad_sa_table {
	const uint8_t *records;
	size_t size;   /* octets */
	size_t stride; /* from one record to the next */
};

struct triad_sa_tables {
	struct triad_sa_table nodes, ports, links;
	struct triad_sa_table pkeys; /* may be empty */
	/* A fabric from another source, for P_Keys that 'pkeys' lacks; NULL: none.
	 * 'links_stand': also for links that 'links' lacks. */
	const struct triad_fabric *known;
	bool links_stand;
};

/* Sets '*fabric' to the fabric, with one reference.  Returns 0, ENODATA (no node),
 * EPROTO (records too short), ENOMEM, EOVERFLOW, or EINVAL. */
int triad_sa_topology_build(const struct triad_sa_tables *from, uint64_t sm_port_guid,
	struct triad_fabric **fabric);

/* Decodes a PortInfo of 64 octets into '*port', whose 'lid' and 'number' are set;
 * derives from that whether its counters can be read. */
void triad_port_info_read(
	const uint8_t *info, bool is_switch, struct triad_fabric_port *port);

#endif
