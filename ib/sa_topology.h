/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* A fabric out of the tables of subnet administration: NodeRecord, PortInfoRecord and
 * LinkRecord; and P_KeyTableRecord, which is not given to everybody.
 *
 * Model: a record is so many octets as the table's stride; what is longer than we know
 * is passed over.  Ports find their node by its LID, links find ports by LID and
 * number.  What refers to nothing that is there (the tables were read one after the
 * other) is left out.
 *
 * Of what the SM knows these tables lack: paths' SLs, so all ports are asked with SL 0;
 * forwarding and SL2VL tables; whether port 0 of a switch is an enhanced one, so it is
 * not asked.
 *
 * An SA shows a port only those that share a partition with it, and a link only where
 * its ends, besides, share one with each other.  Two limited members share none: so the
 * links of hosts that are limited members are shown to nobody while their switches
 * enforce partitions, because the switch's port has the host's table then.  How much is
 * hidden can be told by ports that are up: 'n_hidden' of the fabric.  A link between
 * two such ports that is known otherwise is taken up.
 *
 * Thread-safety: functions without state.  Memory: some 24 octets a record while it
 * works.
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
	struct triad_sa_table pkeys; /* may have nothing */
	/* One that was had otherwise, for the P_Keys that 'pkeys' doesn't have; NULL:
	 * none.  'links_stand': and for the links that 'links' doesn't have. */
	const struct triad_fabric *known;
	bool links_stand;
};

/* Gives the fabric, with one reference, to '*fabric'.  Returns 0, ENODATA (no node),
 * EPROTO (records shorter than they must be), ENOMEM, EOVERFLOW, or EINVAL. */
int triad_sa_topology_build(const struct triad_sa_tables *from, uint64_t sm_port_guid,
	struct triad_fabric **fabric);

/* Takes what a PortInfo of 64 octets says into '*port', whose 'lid' and 'number' are
 * set, and from that whether it has counters to be asked for. */
void triad_port_info_read(
	const uint8_t *info, bool is_switch, struct triad_fabric_port *port);

#endif
