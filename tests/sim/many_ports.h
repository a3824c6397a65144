/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* A fabric of a million ports, made without an SM. */
#ifndef TRIAD_TESTS_SIM_MANY_PORTS_H
#define TRIAD_TESTS_SIM_MANY_PORTS_H

#include "triad/fabric.h"

/* 'n_groups' (over 385) of 24 switches: each has a host, a link to each other one of
 * its group, and 16 to other groups.  1,017 groups: 48,816 nodes, 976,320 ports of
 * switches and 24,408 of hosts, 1,000,728 in all; no node is more than 9 hops from
 * another.  Host i has GUID MANY_PORTS_HOST_GUID(i), its port that and 1.  NULL when
 * memory is short. */
struct triad_fabric *many_ports(unsigned n_groups);

#define MANY_PORTS_HOST_GUID(i) (UINT64_C(0x2000000) + 16 * (uint64_t)(i))

#endif
