/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Reads one line of ibnetdiscover's output.
 *
 *     switchguid=0x200000200000020(200000200000020)
 *     Switch	36 "S-0200000200000020"	# "spine-01" base port 0 lid 3 lmc 0
 *     [1]	"S-0200000200000010"[19]	# "leaf-01" lid 2 4xEDR
 *     Ca	1 "H-0200000100000050"	# "host-0005 HCA-1"
 *     [1](200000100000051)	"S-0200000200000010"[5]	# lid 7 lmc 0 "leaf-01" lid 2
 * 4xEDR
 *
 * With grouping, "[ext 3]" follows port numbers, and there are lines about chassis.
 * With all details, "s=4 w=2 v=4" ends the lines of links.  Where switches tell what is
 * written at their ports, "(1/2/1)" follows port numbers.
 *
 * Thread-safety: functions without state.  Memory: none is allocated. */
#ifndef TRIAD_PORTMGR_NETDISCOVER_LINE_H
#define TRIAD_PORTMGR_NETDISCOVER_LINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "triad/fabric.h"

enum triad_netdiscover_kind {
	TRIAD_NETDISCOVER_NOTHING, /* a comment, a chassis, a blank line */
	TRIAD_NETDISCOVER_VENDOR,
	TRIAD_NETDISCOVER_DEVICE,
	TRIAD_NETDISCOVER_GUIDS, /* of a switch: its own and port 0's */
	TRIAD_NETDISCOVER_NODE,
	TRIAD_NETDISCOVER_LINK,
};

struct triad_netdiscover_line {
	enum triad_netdiscover_kind kind;
	uint64_t number;    /* a vendor id or device id */
	uint64_t guid;      /* of a node, or of a link's far node */
	uint64_t port_guid; /* of port 0, or of a link's near port; 0: not given */
	unsigned port;      /* of a link; for a node, the number of its ports */
	unsigned far_port;
	uint16_t lid; /* of port 0, or of a link's near port; 0: not given */
	uint8_t lmc;
	uint8_t type; /* of a node: enum triad_node_type */
	bool enhanced_port0;
	uint8_t width, speed, speed_ext; /* as PortInfo; 0: not known */
	char name[TRIAD_NODE_NAME_SIZE]; /* of a node */
};

/* Returns NULL, or what is wrong; then '*at' is the offset of the mistake. */
const char *triad_netdiscover_line_read(const char *octets, size_t size,
	struct triad_netdiscover_line *line, size_t *at);

#endif
