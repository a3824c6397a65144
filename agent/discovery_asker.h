/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Asks discovered ports, by SMPs along the directed routes of the discovery, for what
 * libibnetdisc doesn't read: P_Key tables, and speeds that devices tell only to who asks
 * for them by bit 31 of PortInfo's attribute modifier (perfmgr/devices/speeds.h).
 *
 * Model: blocks of 32 P_Keys are read in order up to an empty one, because SMs fill tables
 * from the front.  What has no answer is not known.  After several of these in a row no
 * further port is asked: each costs time-outs, and the discovery must end.
 *
 * Thread-safety: none.
 * Spec: IBA volume 1, 14.2.5.6 PortInfo, 14.2.5.7 P_KeyTable. */
#ifndef TRIAD_AGENT_DISCOVERY_ASKER_H
#define TRIAD_AGENT_DISCOVERY_ASKER_H

#include <stdbool.h>
#include <stdint.h>

#include <infiniband/ibnetdisc.h>

#define TRIAD_DISCOVERY_MAX_PKEYS 1024u

struct triad_discovery_asker;

/* NULL when the port can't be opened, or memory is short: then nothing is known. */
struct triad_discovery_asker *triad_discovery_asker_open(
	char *ca_name, int number, uint64_t port_guid);

/* Accepts NULL. */
void triad_discovery_asker_close(struct triad_discovery_asker *asker);

/* Reads the table of an end port, or of port 0 of a switch, into 'table' (room for
 * TRIAD_DISCOVERY_MAX_PKEYS).  Returns how many entries there are, 0 when it is not
 * known.  'asker' may be NULL. */
uint32_t triad_discovery_asker_pkeys(
	struct triad_discovery_asker *asker, const ibnd_port_t *port, uint16_t *table);

/* Reads PortInfo with the extended speeds, 64 octets.  False: not known.  'asker' may be
 * NULL. */
bool triad_discovery_asker_speeds(
	struct triad_discovery_asker *asker, const ibnd_port_t *port, uint8_t *info);

/* How many SMPs were sent. */
uint64_t triad_discovery_asker_n_smps(const struct triad_discovery_asker *asker);

#endif
