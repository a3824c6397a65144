/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* This machine's ports. */
#ifndef TRIAD_SERVICE_LOCAL_PORT_H
#define TRIAD_SERVICE_LOCAL_PORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <infiniband/umad.h>

/* Sets the name of the CA and the number of the port, for umad_open_port(); returns
 * false when there is no such port.  After umad_init().
 *
 * A port of several planes (XDR) appears as two devices with one GUID: one for SMPs,
 * with a port for each plane, and one for all other MADs, which has IsSMdisabled set.
 * _find() finds the latter, _find_for_smps() a port of the former, an ACTIVE one if there
 * is any; for all other ports both find the same.
 * Source: rdma-core, libibumad/umad.c; Linux, RDMA devices of type SMI. */
bool triad_local_port_find(
	uint64_t port_guid, char ca_name[UMAD_CA_NAME_LEN], int *number);
bool triad_local_port_find_for_smps(
	uint64_t port_guid, char ca_name[UMAD_CA_NAME_LEN], int *number);

/* Caches where a port was found, for callers that read it again and again. */
struct triad_local_port {
	uint64_t guid;
	char ca_name[UMAD_CA_NAME_LEN]; /* empty: not found yet */
	int number;
	unsigned n_planes;
};

/* Makes sure that 'port' is where it was, by reading one file, or two of a plane, which
 * must be ACTIVE; else finds it as _find_for_smps(), for which libibumad reads each P_Key
 * of each port of this machine.  False when there is no such port. */
bool triad_local_port_locate(struct triad_local_port *port);

/* Reads the number at the start of a file in the port's sysfs folder: "state",
 * "phys_state", "sm_lid"...  False when it can't be read. */
bool triad_local_port_read(
	const struct triad_local_port *port, const char *name, unsigned long *value);

/* The P_Keys in the table of the port with that GUID, at most 'most'; returns how many
 * there are, 0 when there is no such port. */
size_t triad_local_port_pkeys(uint64_t port_guid, uint16_t *pkeys, size_t most);
/* The same of a port that was found.  After umad_init(). */
size_t triad_local_port_pkeys_at(
	const char *ca_name, int number, uint16_t *pkeys, size_t most);

/* The first InfiniBand port that is ACTIVE; 0 when there is none.  'list' says which
 * ports there are, for people: "mlx5_0/1 0x... Down, ...", or is empty.  After
 * umad_init(). */
uint64_t triad_local_port_choose(char *list, size_t size);

/* The default partition's place in the port's table; 0 when it is not there. */
uint16_t triad_local_port_pkey_index(const umad_port_t *port);

#endif
