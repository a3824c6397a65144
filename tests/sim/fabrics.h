/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Fabrics for tests, made without an SM. */
#ifndef TRIAD_TESTS_SIM_FABRICS_H
#define TRIAD_TESTS_SIM_FABRICS_H

#include "triad/fabric.h"

/* 'n_switches' in a row, each with 'n_hosts' one-port hosts on ports 1 to n_hosts, the
 * neighbours on the two ports behind them.  Switch i has GUID 0x200 + i and LID 1 + i;
 * host j of it GUID 0x10000 + i * 256 + j and LID 1000 + i * 256 + j. */
struct triad_fabric *fabric_row(unsigned n_switches, unsigned n_hosts);

/* The GUIDs in such a row of switches 'first' to under 'end' and their hosts; returns
 * how many there are. */
unsigned fabric_row_guids(
	unsigned first, unsigned end, unsigned n_hosts, uint64_t *guids);

/* The same row with other LIDs for its hosts: 'lid_shift' more. */
struct triad_fabric *fabric_row_moved(
	unsigned n_switches, unsigned n_hosts, unsigned lid_shift);

/* 'fabric' without the 'n_gone' nodes whose GUIDs are in 'gone', and without the link
 * at port 'cut_port' of node 'cut_guid' (0: none is cut). */
struct triad_fabric *fabric_without(const struct triad_fabric *fabric,
	const uint64_t *gone, unsigned n_gone, uint64_t cut_guid, unsigned cut_port);

/* 'n' ports (at least 1), 40 on a node; active, 4x HDR, without links.  NULL when there
 * are too many. */
struct triad_fabric *fabric_of_ports(unsigned n);

/* A fabric for policies: 'n_hosts' with one port each, every 16th with two; every 32nd
 * is a router; a switch with 40 ports for every 20.  Node i has GUID 0x100000 + 16 * i,
 * its port n that and n.  Names have one to three words, and are not unique.
 * 'n_partitions' (under 32,768): partition i has P_Key 1 + i and the name "part-i";
 * every port is in up to 4 of them and in the default one, and has an empty entry; 40
 * nodes in a row are in the same, but for one in 16.  The SM is at the last node.  The
 * same seed gives the same. */
struct triad_fabric *fabric_partitioned(
	unsigned n_hosts, unsigned n_partitions, uint64_t seed);

/* The GUID of node 'i' there. */
#define FABRIC_PARTITIONED_GUID(i) (UINT64_C(0x100000) + 16 * (uint64_t)(i))

#endif
