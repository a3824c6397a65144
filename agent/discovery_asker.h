/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Reads the P_Key tables of discovered ports by SMPs along the directed routes of the
 * discovery: libibnetdisc doesn't read them.
 *
 * Model: blocks of 32 are read in order up to an empty one, because SMs fill tables
 * from the front.  A table without an answer is not known.  After several of these in a
 * row no further port is asked: each costs time-outs, and the discovery must end.
 *
 * Thread-safety: none.
 * Spec: IBA volume 1, 14.2.5.7 P_KeyTable. */
#ifndef TRIAD_AGENT_DISCOVERY_PKEYS_H
#define TRIAD_AGENT_DISCOVERY_PKEYS_H

#include <stdint.h>

#include <infiniband/ibnetdisc.h>

#define TRIAD_DISCOVERY_MAX_PKEYS 1024u

struct triad_discovery_pkeys;

/* NULL when the port can't be opened, or memory is short: then no table is known. */
struct triad_discovery_pkeys *triad_discovery_pkeys_open(
	char *ca_name, int number, uint64_t port_guid);

/* Accepts NULL. */
void triad_discovery_pkeys_close(struct triad_discovery_pkeys *pkeys);

/* Reads the table of an end port, or of port 0 of a switch, into 'table' (room for
 * TRIAD_DISCOVERY_MAX_PKEYS).  Returns how many entries there are, 0 when it is not
 * known.  'pkeys' may be NULL. */
uint32_t triad_discovery_pkeys_read(
	struct triad_discovery_pkeys *pkeys, const ibnd_port_t *port, uint16_t *table);

/* How many SMPs were sent. */
uint64_t triad_discovery_pkeys_n_smps(const struct triad_discovery_pkeys *pkeys);

#endif
