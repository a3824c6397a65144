/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The distinct P_Key tables of a fabric's end ports: thousands of ports have the same
 * one.
 *
 * paths.h has the functions that use them, such as triad_paths_share_pkey(). */
#ifndef TRIAD_QOS_PKEY_SETS_H
#define TRIAD_QOS_PKEY_SETS_H

#include "qos/paths.h"

/* Fills 'pkey_sets', 'pkeys' and the 'pkey_set' of each end of 'paths'.  Returns 0 or
 * ENOMEM. */
int triad_pkey_sets_build(struct triad_paths *paths);

#endif
