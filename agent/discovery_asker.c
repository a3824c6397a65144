/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "agent/discovery_pkeys.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define BLOCK_ENTRIES 32u
/* Time-out of one try; short, because the node answered a moment ago. */
#define SMP_MS 200
#define SMP_TRIES 2
#define MAX_MISSES 8

struct triad_discovery_pkeys {
	struct ibmad_port *from;
	uint64_t port_guid;
	uint64_t n_smps;
	unsigned n_missed; /* in a row */
};

struct triad_discovery_pkeys *triad_discovery_pkeys_open(
	char *ca_name, int number, uint64_t port_guid)
{
	int classes[] = {IB_SMI_DIRECT_CLASS};
	struct triad_discovery_pkeys *pkeys = calloc(1, sizeof(*pkeys));

	if (!pkeys)
		return NULL;
	pkeys->port_guid = port_guid;
	pkeys->from = mad_rpc_open_port(ca_name, number, classes, 1);
	if (!pkeys->from) {
		free(pkeys);
		return NULL;
	}
	mad_rpc_set_retries(pkeys->from, SMP_TRIES);
	mad_rpc_set_timeout(pkeys->from, SMP_MS);
	return pkeys;
}

void triad_discovery_pkeys_close(struct triad_discovery_pkeys *pkeys)
{
	if (!pkeys)
		return;
	mad_rpc_close_port(pkeys->from);
	free(pkeys);
}

uint64_t triad_discovery_pkeys_n_smps(const struct triad_discovery_pkeys *pkeys)
{
	return pkeys ? pkeys->n_smps : 0;
}

/* Finds the directed route to a port: for a switch, the node's; for others, the one to
 * the far end and one hop more, because the discovery may have reached the node by
 * another of its ports. */
static bool find_route(const struct triad_discovery_pkeys *pkeys,
	const ibnd_port_t *port, ib_portid_t *to)
{
	ib_dr_path_t *path = &to->drpath;

	if (port->node->type == IB_NODE_SWITCH) {
		*to = port->node->path_portid;
		return true;
	}
	memset(to, 0, sizeof(*to));
	if (port->guid == pkeys->port_guid)
		return true;
	if (!port->remoteport)
		return false;
	*to = port->remoteport->node->path_portid;
	if (path->cnt + 1 >= IB_SUBNET_PATH_HOPS_MAX)
		return false;
	path->p[++path->cnt] = (uint8_t)port->remoteport->portnum;
	return true;
}

/* Returns the number of entries up to the last one that is used, or -1. */
static int read_block(struct triad_discovery_pkeys *pkeys, ib_portid_t *to,
	unsigned block, uint16_t *table)
{
	uint8_t data[IB_SMP_DATA_SIZE] = {0};
	int n = 0;

	pkeys->n_smps++;
	if (!smp_query_via(data, to, IB_ATTR_PKEY_TBL, block, SMP_MS, pkeys->from))
		return -1;
	for (unsigned i = 0; i < BLOCK_ENTRIES; i++) {
		table[i] = (uint16_t)(data[2 * i] << 8 | data[2 * i + 1]);
		if (table[i])
			n = (int)i + 1;
	}
	return n;
}

uint32_t triad_discovery_pkeys_read(
	struct triad_discovery_pkeys *pkeys, const ibnd_port_t *port, uint16_t *table)
{
	unsigned cap = mad_get_field(port->node->info, 0, IB_NODE_PARTITION_CAP_F);
	unsigned n_blocks = (cap + BLOCK_ENTRIES - 1) / BLOCK_ENTRIES;
	ib_portid_t to;
	uint32_t n_used = 0;

	/* After some misses in a row, read no more tables: each miss costs
	 * time-outs. */
	if (!pkeys || pkeys->n_missed >= MAX_MISSES || !find_route(pkeys, port, &to))
		return 0;
	for (unsigned i = 0;
		i < n_blocks && (i + 1) * BLOCK_ENTRIES <= TRIAD_DISCOVERY_MAX_PKEYS;
		i++) {
		int n = read_block(pkeys, &to, i, table + i * BLOCK_ENTRIES);

		pkeys->n_missed = n < 0 ? pkeys->n_missed + 1 : 0;
		if (n < 0)
			return 0;
		/* An empty block counts as the end of the table. */
		if (!n)
			break;
		n_used = i * BLOCK_ENTRIES + (uint32_t)n;
	}
	return n_used;
}
