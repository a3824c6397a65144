/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The planes of this process's port, as kernels show an XDR port of several planes.
 *
 * Model: the file that TRIAD_LAB_PLANES names has a line for each such node: its name, as
 * SIM_HOST says, and a word with a letter for each plane, 'u' for one that is up and 'd'
 * for one that is down.  The node then has two devices with one GUID: ibsim0, which has
 * IsSMdisabled set and takes all MADs but SMPs; and ibsim_smi, with a port for each plane,
 * umad1 on, which takes SMPs alone.  What is sent by a plane that is down is lost.
 *
 * Thread-safety: no state; each call reads the file.
 * Source: Linux, RDMA devices of type SMI; rdma-core, umad_get_smi_gsi_pairs(3). */
#ifndef LAB_UMAD_PLANES_H
#define LAB_UMAD_PLANES_H

#include <stdbool.h>

#define LAB_MAX_PLANES 8u

/* How many planes the port has; 0: it has one device for all MADs. */
unsigned lab_planes_n(void);

/* Whether a plane, from 1 on, is up. */
bool lab_planes_is_up(unsigned plane);

#endif
