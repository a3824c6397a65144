/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Reads the output of ibnetdiscover: a fabric without an SM.
 *
 * ibnetdiscover lists only links.  Switch ports without a line become ports that are
 * down.
 * Thread-safety: no state. */
#ifndef TRIAD_PORTMGR_NETDISCOVER_H
#define TRIAD_PORTMGR_NETDISCOVER_H

#include <stddef.h>

#include "triad/diag.h"
#include "triad/fabric.h"

#define TRIAD_NETDISCOVER_MAX_OCTETS ((size_t)256 << 20)

/* Returns 0 and a fabric, with one reference; EINVAL with all mistakes in 'diags';
 * E2BIG; ENOMEM. */
int triad_netdiscover_parse(const char *octets, size_t size, struct triad_diags *diags,
	struct triad_fabric **fabric);

#endif
