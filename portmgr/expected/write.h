/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Writes an expected configuration from a fabric as it is.
 *
 * Each external port of each switch has a line: enabled with its far end, width and
 * speed where there is a link; disabled where the port is disabled (PortPhysicalState
 * 3); enabled, with nothing asked for, where nothing is plugged in.
 *
 * Thread-safety: no state. */
#ifndef TRIAD_PORTMGR_EXPECTED_WRITE_H
#define TRIAD_PORTMGR_EXPECTED_WRITE_H

#include "triad/fabric.h"

/* 'put' gets a line at a time, with its end.  What it makes can be parsed again, and a
 * plan for the fabric that it is from has nothing to do.  Switches are named by GUID,
 * with their names in the comment; far ends by node GUID and port number. */
void triad_expected_write(const struct triad_fabric *fabric, uint64_t generation,
	void (*put)(void *context, const char *line), void *context);

#endif
