/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Writes an expected configuration that describes the present fabric.
 *
 * Each external port of each switch has a line: enabled with its far end, width and
 * speed where there is a link; disabled where the port is disabled (PortPhysicalState
 * 3); enabled, with nothing expected, where nothing is plugged in.
 *
 * Thread-safety: no state. */
#ifndef TRIAD_PORTMGR_EXPECTED_WRITE_H
#define TRIAD_PORTMGR_EXPECTED_WRITE_H

#include "triad/fabric.h"

/* 'put' gets one line at a time, with its end.  The result can be parsed; a plan for
 * the same fabric with it has nothing to do.  Lines identify switches by GUID, with the
 * name in the comment, and far ends by node GUID and port number. */
void triad_expected_write(const struct triad_fabric *fabric, uint64_t generation,
	void (*put)(void *context, const char *line), void *context);

#endif
