/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Which of this machine's ports has a GUID. */
#ifndef TRIAD_SERVICE_LOCAL_PORT_H
#define TRIAD_SERVICE_LOCAL_PORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <infiniband/umad.h>

/* Sets the name of the CA and the number of the port, as umad_open_port() wants them;
 * returns false when there is none.  After umad_init(). */
bool triad_local_port_find(
	uint64_t port_guid, char ca_name[UMAD_CA_NAME_LEN], int *number);

#define TRIAD_LOCAL_PORT_MAX_PKEYS 128

/* The P_Keys in the table of the port with that GUID, at most 'most'; returns how many
 * there are, 0 when there is no such port. */
size_t triad_local_port_pkeys(uint64_t port_guid, uint16_t *pkeys, size_t most);

#endif
