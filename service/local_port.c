/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "service/local_port.h"

#include <endian.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/text.h"
#include "triad/fabric.h"
#include "triad/file.h"

/* PortInfo:CapabilityMask.IsSMdisabled [IBA 14.2.5.6]. */
#define SM_DISABLED (1u << 10)

/* How well a port suits; 0: not at all. */
enum fit { OF_OTHER_KIND = 1, OTHER_AND_ACTIVE, OF_KIND, OF_KIND_AND_ACTIVE };

/* What was found of a port's devices. */
struct search {
	uint64_t guid;
	bool for_smps;
	unsigned fit;
	unsigned n_of_kind;
	char *ca_name;
	int *number;
};

static bool is_infiniband(const umad_port_t *port)
{
	/* Old kernels name no link layer: these know only InfiniBand. */
	return !port->link_layer[0] || strcmp(port->link_layer, "InfiniBand") == 0;
}

static void look_at_device(struct search *search, const char *name, const umad_ca_t *ca)
{
	for (int i = 0; i <= ca->numports; i++) {
		const umad_port_t *port = ca->ports[i];
		bool is_of_kind;
		unsigned fit;

		if (!port || be64toh(port->port_guid) != search->guid ||
			!is_infiniband(port))
			continue;
		is_of_kind =
			!(be32toh(port->capmask) & SM_DISABLED) == search->for_smps;
		search->n_of_kind += is_of_kind;
		fit = (is_of_kind ? OF_KIND : OF_OTHER_KIND) +
			(port->state == TRIAD_PORT_ACTIVE);
		if (fit <= search->fit)
			continue;
		search->fit = fit;
		memcpy(search->ca_name, name, UMAD_CA_NAME_LEN);
		*search->number = i;
	}
}

/* Finds the port with that GUID that suits best: of the kind that 'for_smps' asks for,
 * and ACTIVE.  Returns how many there are of that kind, or 1 if only another kind was
 * found; 0: no such port. */
static unsigned find_best_port(
	uint64_t port_guid, bool for_smps, char ca_name[UMAD_CA_NAME_LEN], int *number)
{
	struct search search = {.guid = port_guid,
		.for_smps = for_smps,
		.ca_name = ca_name,
		.number = number};
	char names[UMAD_MAX_DEVICES][UMAD_CA_NAME_LEN];
	int n = umad_get_cas_names(names, UMAD_MAX_DEVICES);

	/* All planes of a port are ports of one device. */
	for (int i = 0; i < n && search.fit < OF_KIND; i++) {
		umad_ca_t ca;

		if (umad_get_ca(names[i], &ca))
			continue;
		look_at_device(&search, names[i], &ca);
		umad_release_ca(&ca);
	}
	return search.fit && !search.n_of_kind ? 1 : search.n_of_kind;
}

bool triad_local_port_find(
	uint64_t port_guid, char ca_name[UMAD_CA_NAME_LEN], int *number)
{
	return find_best_port(port_guid, false, ca_name, number);
}

bool triad_local_port_find_for_smps(
	uint64_t port_guid, char ca_name[UMAD_CA_NAME_LEN], int *number)
{
	return find_best_port(port_guid, true, ca_name, number);
}

/* --- one port again and again --- */

static bool read_port_file(
	const struct triad_local_port *port, const char *name, char *text, size_t size)
{
	char path[128];
	size_t n;

	snprintf(path, sizeof(path), "/sys/class/infiniband/%s/ports/%d/%s",
		port->ca_name, port->number, name);
	if (triad_file_read(path, text, size - 1, &n))
		return false;
	text[n] = '\0';
	return true;
}

/* Whether the port's first GID ends with its GUID. */
static bool is_there_still(const struct triad_local_port *port)
{
	char text[64];
	unsigned parts[4];

	if (!port->ca_name[0] || !read_port_file(port, "gids/0", text, sizeof(text)) ||
		sscanf(text, "%*x:%*x:%*x:%*x:%4x:%4x:%4x:%4x", &parts[0], &parts[1],
			&parts[2], &parts[3]) != 4)
		return false;
	return ((uint64_t)parts[0] << 48 | (uint64_t)parts[1] << 32 |
		       (uint64_t)parts[2] << 16 | parts[3]) == port->guid;
}

bool triad_local_port_locate(struct triad_local_port *port)
{
	unsigned long state;

	/* Another plane may have come up. */
	if (is_there_still(port) &&
		(port->n_planes < 2 ||
			(triad_local_port_read(port, "state", &state) &&
				state == TRIAD_PORT_ACTIVE)))
		return true;
	port->n_planes = find_best_port(port->guid, true, port->ca_name, &port->number);
	return port->n_planes;
}

bool triad_local_port_read(
	const struct triad_local_port *port, const char *name, unsigned long *value)
{
	char text[64], *end;

	if (!read_port_file(port, name, text, sizeof(text)))
		return false;
	*value = strtoul(text, &end, 0);
	return end != text;
}

/* --- P_Keys --- */

size_t triad_local_port_pkeys(uint64_t port_guid, uint16_t *pkeys, size_t most)
{
	char ca_name[UMAD_CA_NAME_LEN];
	int number;

	if (umad_init() || !triad_local_port_find(port_guid, ca_name, &number))
		return 0;
	return triad_local_port_pkeys_at(ca_name, number, pkeys, most);
}

size_t triad_local_port_pkeys_at(
	const char *ca_name, int number, uint16_t *pkeys, size_t most)
{
	umad_port_t port;
	size_t n = 0;

	if (umad_get_port(ca_name, number, &port))
		return 0;
	for (; n < port.pkeys_size && n < most; n++)
		pkeys[n] = port.pkeys[n]; /* in host order, unlike GUIDs */
	umad_release_port(&port);
	return n;
}

/* Adds the port to 'list'; returns its GUID if MADs can be sent from it now, else 0. */
static uint64_t list_port(const umad_port_t *port, char *list, size_t size)
{
	uint64_t guid = be64toh(port->port_guid);

	if (!is_infiniband(port))
		return 0;
	triad_text_append(list, size, "%s%s/%d 0x%016" PRIx64 " is %s",
		list[0] ? ", " : "", port->ca_name, port->portnum, guid,
		triad_port_state_name(port->state));
	return port->state == TRIAD_PORT_ACTIVE ? guid : 0;
}

uint64_t triad_local_port_choose(char *list, size_t size)
{
	char names[UMAD_MAX_DEVICES][UMAD_CA_NAME_LEN];
	int n = umad_get_cas_names(names, UMAD_MAX_DEVICES);
	uint64_t chosen = 0;

	list[0] = '\0';
	for (int i = 0; i < n && !chosen; i++) {
		umad_ca_t ca;

		if (umad_get_ca(names[i], &ca))
			continue;
		for (int port = 0; port <= ca.numports && !chosen; port++)
			if (ca.ports[port])
				chosen = list_port(ca.ports[port], list, size);
		umad_release_ca(&ca);
	}
	return chosen;
}

uint16_t triad_local_port_pkey_index(const umad_port_t *port)
{
	/* The default partition, as a full or a limited member; else the first
	 * entry. */
	for (unsigned i = 0; i < port->pkeys_size; i++)
		if ((port->pkeys[i] & 0x7fff) == 0x7fff)
			return (uint16_t)i;
	return 0;
}
