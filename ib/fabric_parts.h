/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* What fabric.c, which has what fabrics are asked, and fabric_build.c share. */
#ifndef TRIAD_IB_FABRIC_PARTS_H
#define TRIAD_IB_FABRIC_PARTS_H

#include "triad/fabric.h"

/* Of nothing, with one reference; its arrays are to come from malloc().  NULL: no memory. */
struct triad_fabric *triad_fabric_new_empty(void);

#endif
