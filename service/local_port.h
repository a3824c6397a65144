/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Which of this machine's ports has a GUID. */
#ifndef TRIAD_SERVICE_LOCAL_PORT_H
#define TRIAD_SERVICE_LOCAL_PORT_H

#include <stdbool.h>
#include <stdint.h>

#include <infiniband/umad.h>

/* Sets the name of the CA and the number of the port, as umad_open_port() wants them;
 * returns false when there is none.  After umad_init(). */
bool triad_local_port_find(
	uint64_t port_guid, char ca_name[UMAD_CA_NAME_LEN], int *number);

#endif
