/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Names of files in state.dir.
 *
 * OpenSM and triad-agent may run on one host and at one port, so both are in the name.
 *
 * Thread-safety: functions without state. */
#ifndef TRIAD_SERVICE_STATE_PATH_H
#define TRIAD_SERVICE_STATE_PATH_H

#include <stddef.h>
#include <stdint.h>

/* Makes DIR/WHAT-PROGRAM-0xGUID, the program in lower case.  Returns 0 or ENAMETOOLONG;
 * then 'path' is "". */
int triad_state_path(const char *dir, const char *what, const char *program,
	uint64_t port_guid, char *path, size_t size);

#endif
