/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "service/local_port.h"

#include <endian.h>
#include <string.h>

bool triad_local_port_find(
	uint64_t port_guid, char ca_name[UMAD_CA_NAME_LEN], int *number)
{
	char names[UMAD_MAX_DEVICES][UMAD_CA_NAME_LEN];
	int n = umad_get_cas_names(names, UMAD_MAX_DEVICES);
	bool found = false;

	for (int i = 0; i < n && !found; i++) {
		umad_ca_t ca;

		if (umad_get_ca(names[i], &ca))
			continue;
		for (int port = 0; port <= ca.numports && !found; port++)
			if (ca.ports[port] &&
				be64toh(ca.ports[port]->port_guid) == port_guid) {
				memcpy(ca_name, names[i], UMAD_CA_NAME_LEN);
				*number = port;
				found = true;
			}
		umad_release_ca(&ca);
	}
	return found;
}

size_t triad_local_port_pkeys(uint64_t port_guid, uint16_t *pkeys, size_t most)
{
	char ca_name[UMAD_CA_NAME_LEN];
	umad_port_t port;
	int number;
	size_t n = 0;

	if (umad_init() || !triad_local_port_find(port_guid, ca_name, &number) ||
		umad_get_port(ca_name, number, &port))
		return 0;
	for (; n < port.pkeys_size && n < most; n++)
		pkeys[n] = port.pkeys[n];
	umad_release_port(&port);
	return n;
}
