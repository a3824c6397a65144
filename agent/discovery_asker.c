/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "agent/discovery_asker.h"

#include <stdlib.h>
#include <string.h>

#include "ib/smp_mad.h"

#define BLOCK_ENTRIES 32u
/* Time-out of one try; short, because the node answered a moment ago. */
#define SMP_MS 200
#define SMP_TRIES 2
#define MAX_MISSES 8

struct triad_discovery_asker {
	struct ibmad_port *from;
	uint64_t port_guid;
	uint64_t n_smps;
	unsigned n_missed; /* in a row */
};

struct triad_discovery_asker *triad_discovery_asker_open(
	char *ca_name, int number, uint64_t port_guid)
{
	int classes[] = {IB_SMI_DIRECT_CLASS};
	struct triad_discovery_asker *asker = calloc(1, sizeof(*asker));

	if (!asker)
		return NULL;
	asker->port_guid = port_guid;
	asker->from = mad_rpc_open_port(ca_name, number, classes, 1);
	if (!asker->from) {
		free(asker);
		return NULL;
	}
	mad_rpc_set_retries(asker->from, SMP_TRIES);
	mad_rpc_set_timeout(asker->from, SMP_MS);
	return asker;
}

void triad_discovery_asker_close(struct triad_discovery_asker *asker)
{
	if (!asker)
		return;
	mad_rpc_close_port(asker->from);
	free(asker);
}

uint64_t triad_discovery_asker_n_smps(const struct triad_discovery_asker *asker)
{
	return asker ? asker->n_smps : 0;
}

/* Finds the directed route to a port: for a switch, the node's; for others, the one to
 * the far end and one hop more, because the discovery may have reached the node by
 * another of its ports. */
static bool find_route(const struct triad_discovery_asker *asker,
	const ibnd_port_t *port, ib_portid_t *to)
{
	ib_dr_path_t *path = &to->drpath;

	if (port->node->type == IB_NODE_SWITCH) {
		*to = port->node->path_portid;
		return true;
	}
	memset(to, 0, sizeof(*to));
	if (port->guid == asker->port_guid)
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
static int read_block(struct triad_discovery_asker *asker, ib_portid_t *to,
	unsigned block, uint16_t *table)
{
	uint8_t data[IB_SMP_DATA_SIZE] = {0};
	int n = 0;

	asker->n_smps++;
	if (!smp_query_via(data, to, IB_ATTR_PKEY_TBL, block, SMP_MS, asker->from))
		return -1;
	for (unsigned i = 0; i < BLOCK_ENTRIES; i++) {
		table[i] = (uint16_t)(data[2 * i] << 8 | data[2 * i + 1]);
		if (table[i])
			n = (int)i + 1;
	}
	return n;
}

uint32_t triad_discovery_asker_pkeys(
	struct triad_discovery_asker *asker, const ibnd_port_t *port, uint16_t *table)
{
	unsigned cap = mad_get_field(port->node->info, 0, IB_NODE_PARTITION_CAP_F);
	unsigned n_blocks = (cap + BLOCK_ENTRIES - 1) / BLOCK_ENTRIES;
	ib_portid_t to;
	uint32_t n_used = 0;

	/* After some misses in a row, read no more tables: each miss costs
	 * time-outs. */
	if (!asker || asker->n_missed >= MAX_MISSES || !find_route(asker, port, &to))
		return 0;
	for (unsigned i = 0;
		i < n_blocks && (i + 1) * BLOCK_ENTRIES <= TRIAD_DISCOVERY_MAX_PKEYS;
		i++) {
		int n = read_block(asker, &to, i, table + i * BLOCK_ENTRIES);

		asker->n_missed = n < 0 ? asker->n_missed + 1 : 0;
		if (n < 0)
			return 0;
		/* An empty block counts as the end of the table. */
		if (!n)
			break;
		n_used = i * BLOCK_ENTRIES + (uint32_t)n;
	}
	return n_used;
}

bool triad_discovery_asker_speeds(
	struct triad_discovery_asker *asker, const ibnd_port_t *port, uint8_t *info)
{
	ib_portid_t to;
	bool has;

	if (!asker || asker->n_missed >= MAX_MISSES || !find_route(asker, port, &to))
		return false;
	asker->n_smps++;
	has = smp_query_via(info, &to, IB_ATTR_PORT_INFO,
		TRIAD_SMP_EXTENDED_SPEEDS | (unsigned)port->portnum, SMP_MS,
		asker->from);
	asker->n_missed = has ? 0 : asker->n_missed + 1;
	return has;
}
