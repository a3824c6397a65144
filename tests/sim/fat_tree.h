/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* A large fabric with all that a plan of QoS tables reads. */
#ifndef TRIAD_TESTS_SIM_FAT_TREE_H
#define TRIAD_TESTS_SIM_FAT_TREE_H

#include "triad/fabric.h"

/* Three levels of switches with 'radix' ports (even, 2 to 48): radix pods of radix / 2
 * edges ("edge-POD-N") and as many aggregations ("aggregation-POD-N"), (radix / 2)^2
 * cores ("core-N"), radix^3 / 4 hosts ("host-N").  Radix 36: 11,664 hosts, 1,620
 * switches.  LIDs of switches come first.  Its routes have no loops and are the same
 * each time.  All ports are up, have 8 data VLs, SL2VL tables and 8 entries of each
 * arbitration table, and OpenSM's defaults in them; ports 0 are enhanced, all others
 * have counters.  The SM is at host 0. */
struct triad_fabric *fat_tree(unsigned radix);

#define FAT_TREE_HOST_GUID(i) (UINT64_C(0x1000000) + 16 * (uint64_t)(i))

#endif
