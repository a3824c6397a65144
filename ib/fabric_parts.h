/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Shared by fabric.c (reading fabrics) and fabric_build.c (making them). */
#ifndef TRIAD_IB_FABRIC_PARTS_H
#define TRIAD_IB_FABRIC_PARTS_H

#include "triad/fabric.h"

/* Makes an empty fabric with one reference; its arrays must come from malloc().  NULL:
 * no memory. */
struct triad_fabric *triad_fabric_new_empty(void);

#endif
