/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "ib/fabric_parts.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "ib/link.h"
#include "lib/search.h"

/* The real allocation: a fabric with its reference count, which only this file sees. */
struct counted {
	struct triad_fabric fabric;
	atomic_uint refs;
};

static struct counted *counted_of(struct triad_fabric *fabric)
{
	return (struct counted *)fabric;
}

struct triad_fabric *triad_fabric_new_empty(void)
{
	struct counted *counted = calloc(1, sizeof(*counted));

	if (!counted)
		return NULL;
	atomic_init(&counted->refs, 1);
	return &counted->fabric;
}

struct triad_fabric *triad_fabric_ref(struct triad_fabric *fabric)
{
	atomic_fetch_add_explicit(&counted_of(fabric)->refs, 1, memory_order_relaxed);
	return fabric;
}

void triad_fabric_unref(struct triad_fabric *fabric)
{
	if (!fabric || atomic_fetch_sub(&counted_of(fabric)->refs, 1) != 1)
		return;
	free(fabric->nodes);
	free(fabric->ports);
	free(fabric->pkeys);
	free(fabric->sl2vl);
	free(fabric->vlarb);
	free(fabric->lft);
	free(fabric->mft);
	free(fabric->partitions);
	free(fabric->aliases);
	free(fabric->by_name);
	free(fabric);
}

uint32_t triad_fabric_find_node(const struct triad_fabric *fabric, uint64_t guid)
{
	uint32_t at;

	TRIAD_SEARCH(at, 0, fabric->n_nodes, fabric->nodes[at].guid < guid);
	if (at < fabric->n_nodes && fabric->nodes[at].guid == guid)
		return at;
	return TRIAD_FABRIC_NONE;
}

const struct triad_fabric_node *triad_fabric_node_by_guid(
	const struct triad_fabric *fabric, uint64_t guid)
{
	uint32_t at = fabric ? triad_fabric_find_node(fabric, guid) : TRIAD_FABRIC_NONE;

	return at == TRIAD_FABRIC_NONE ? NULL : &fabric->nodes[at];
}

uint32_t triad_fabric_find_port(
	const struct triad_fabric *fabric, uint32_t node, unsigned number)
{
	uint32_t first, end, at;

	if (node == TRIAD_FABRIC_NONE)
		return TRIAD_FABRIC_NONE;
	first = fabric->nodes[node].first_port;
	end = first + fabric->nodes[node].n_ports;
	/* A switch nearly always has all of its ports, port 0 first. */
	if (number < end - first && fabric->ports[first + number].number == number)
		return first + number;
	TRIAD_SEARCH(at, first, end, fabric->ports[at].number < number);
	return at < end && fabric->ports[at].number == number ? at : TRIAD_FABRIC_NONE;
}

uint32_t triad_fabric_find_lid(const struct triad_fabric *fabric, uint16_t lid)
{
	for (uint32_t i = 0; i < fabric->n_ports; i++) {
		const struct triad_fabric_port *port = &fabric->ports[i];

		if (port->lid && lid >= port->lid && lid - port->lid < 1 << port->lmc)
			return i;
	}
	return TRIAD_FABRIC_NONE;
}

uint32_t triad_fabric_port_at(
	const struct triad_fabric *fabric, uint64_t node_guid, unsigned number)
{
	return triad_fabric_find_port(
		fabric, triad_fabric_find_node(fabric, node_guid), number);
}

uint32_t triad_fabric_find_same_port(const struct triad_fabric *fabric,
	const struct triad_fabric *other, uint32_t port)
{
	const struct triad_fabric_port *at = &other->ports[port];

	if (fabric == other)
		return port;
	return triad_fabric_port_at(fabric, other->nodes[at->node].guid, at->number);
}

bool triad_fabric_is_end_port(const struct triad_fabric *fabric, uint32_t port)
{
	const struct triad_fabric_port *at = &fabric->ports[port];

	return at->number == 0 || fabric->nodes[at->node].type != TRIAD_NODE_SWITCH;
}

uint32_t triad_fabric_find_alias(const struct triad_fabric *fabric, uint64_t guid)
{
	uint32_t at;

	TRIAD_SEARCH(at, 0, fabric->n_aliases, fabric->aliases[at].guid < guid);
	if (at < fabric->n_aliases && fabric->aliases[at].guid == guid)
		return fabric->aliases[at].port;
	return TRIAD_FABRIC_NONE;
}

static size_t slices_end(size_t so_far, struct triad_fabric_slice slice)
{
	return slice.at + slice.n > so_far ? slice.at + slice.n : so_far;
}

size_t triad_fabric_octets(const struct triad_fabric *fabric)
{
	size_t lft = 0, mft = 0, pkeys = 0, sl2vl = 0, vlarb = 0;

	for (uint32_t i = 0; i < fabric->n_nodes; i++) {
		lft = slices_end(lft, fabric->nodes[i].lft);
		mft = slices_end(mft, fabric->nodes[i].mft);
	}
	for (uint32_t i = 0; i < fabric->n_ports; i++) {
		pkeys = slices_end(pkeys, fabric->ports[i].pkeys);
		sl2vl = slices_end(sl2vl, fabric->ports[i].sl2vl);
		vlarb = slices_end(vlarb, fabric->ports[i].vlarb);
	}
	return sizeof(struct counted) + fabric->n_nodes * sizeof(*fabric->nodes) +
		fabric->n_ports * sizeof(*fabric->ports) +
		pkeys * sizeof(*fabric->pkeys) + sl2vl * sizeof(*fabric->sl2vl) + lft +
		mft * sizeof(*fabric->mft) + vlarb * sizeof(*fabric->vlarb) +
		fabric->n_partitions * sizeof(*fabric->partitions) +
		fabric->n_aliases * sizeof(*fabric->aliases) +
		((size_t)fabric->name_mask + 1) * sizeof(*fabric->by_name);
}

unsigned triad_vls_n(uint8_t code)
{
	static const uint8_t n[] = {1, 1, 2, 4, 8, 15};

	return code < sizeof(n) ? n[code] : 1;
}

uint8_t triad_fabric_op_vls(const struct triad_fabric *fabric, uint32_t port)
{
	const struct triad_fabric_port *at = &fabric->ports[port];
	uint8_t code = at->op_vls, limit = fabric->qos.max_op_vls;

	/* As OpenSM sets it: what both ends of the link can do, within the configured
	 * limit.  An active link keeps a lower value that it has already. */
	if (at->remote != TRIAD_FABRIC_NONE) {
		code = fabric->ports[at->remote].vl_cap;
		if (at->vl_cap < code)
			code = at->vl_cap;
	}
	if (!code)
		code = 1;
	if (limit && limit < code)
		code = limit;
	if (at->state == TRIAD_PORT_ACTIVE && at->op_vls && at->op_vls < code)
		code = at->op_vls;
	return code;
}

struct triad_vl_weight triad_fabric_vl_weight(
	const struct triad_fabric *fabric, uint32_t port, bool high, uint8_t vl)
{
	const struct triad_fabric_port *at = &fabric->ports[port];
	uint32_t first = high ? at->vlarb_low_cap : 0;
	uint32_t end = high ? at->vlarb.n : at->vlarb_low_cap;
	struct triad_vl_weight found = {0};

	for (uint32_t i = first; i < end && i < at->vlarb.n; i++) {
		const struct triad_vlarb_entry *entry =
			&fabric->vlarb[at->vlarb.at + i];

		found.total += entry->weight;
		if (entry->vl == vl)
			found.weight += entry->weight;
	}
	return found;
}

enum triad_qos_port_kind triad_fabric_qos_kind(
	const struct triad_fabric *fabric, uint32_t port)
{
	const struct triad_fabric_port *at = &fabric->ports[port];

	switch (fabric->nodes[at->node].type) {
	case TRIAD_NODE_SWITCH:
		return at->number ? TRIAD_QOS_PORT_SWITCH : TRIAD_QOS_PORT_SWITCH0;
	case TRIAD_NODE_ROUTER:
		return TRIAD_QOS_PORT_ROUTER;
	default:
		return TRIAD_QOS_PORT_CA;
	}
}

uint64_t triad_fabric_port_bps(const struct triad_fabric_port *port)
{
	return triad_link_rate_bps(triad_link_rate_active(port));
}

double triad_fabric_port_words_per_us(const struct triad_fabric_port *port)
{
	return (double)triad_fabric_port_bps(port) / 32e6;
}

uint64_t triad_fabric_port_signal_bps(const struct triad_fabric_port *port)
{
	return triad_link_rate_signal_bps(triad_link_rate_active(port));
}

struct triad_fabric_counts triad_fabric_count(const struct triad_fabric *fabric)
{
	struct triad_fabric_counts counts = {
		.n_nodes = fabric->n_nodes, .n_ports = fabric->n_ports};
	uint32_t ends = 0;

	for (uint32_t i = 0; i < fabric->n_nodes; i++)
		counts.n_switches += fabric->nodes[i].type == TRIAD_NODE_SWITCH;
	for (uint32_t i = 0; i < fabric->n_ports; i++)
		ends += fabric->ports[i].remote != TRIAD_FABRIC_NONE;
	counts.n_links = ends / 2;
	return counts;
}

/* Queues the node at the far end of port 'port', if it was not met before. */
static uint32_t meet(const struct triad_fabric *fabric, uint32_t port, uint32_t *hops,
	uint32_t *queue, uint32_t n)
{
	uint32_t remote = fabric->ports[port].remote, node;

	if (remote == TRIAD_FABRIC_NONE)
		return n;
	node = fabric->ports[remote].node;
	if (hops[node] != TRIAD_FABRIC_NONE)
		return n;
	hops[node] = hops[fabric->ports[port].node] + 1;
	queue[n] = node;
	return n + 1;
}

/* Walks breadth first from the node of 'from'.  Only switches forward; from a CA the
 * walk starts only at port 'from'. */
void triad_fabric_hops(const struct triad_fabric *fabric, uint32_t from, uint32_t *hops,
	uint32_t *queue)
{
	uint32_t first = fabric->ports[from].node, n = 1;

	memset(hops, 0xff, fabric->n_nodes * sizeof(*hops));
	hops[first] = 0;
	queue[0] = first;
	if (fabric->nodes[first].type != TRIAD_NODE_SWITCH)
		n = meet(fabric, from, hops, queue, n);
	for (uint32_t at = 0; at < n; at++) {
		const struct triad_fabric_node *node = &fabric->nodes[queue[at]];

		for (uint32_t i = 0;
			node->type == TRIAD_NODE_SWITCH && i < node->n_ports; i++)
			n = meet(fabric, node->first_port + i, hops, queue, n);
	}
}

const char *triad_node_type_name(unsigned type)
{
	static const char *const names[] = {"unknown", "ca", "switch", "router"};

	return names[type <= TRIAD_NODE_ROUTER ? type : 0];
}

bool triad_fabric_is_aggregation_node(const struct triad_fabric_node *node)
{
	return strstr(node->name, "Aggregation Node");
}

const char *triad_port_state_name(unsigned state)
{
	static const char *const names[] = {"nop", "down", "init", "armed", "active"};

	return state <= TRIAD_PORT_ACTIVE ? names[state] : "unknown";
}

int triad_pkey_match(
	const uint16_t *ours, size_t n_ours, const uint16_t *theirs, size_t n_theirs)
{
	int found = -1;

	for (size_t i = 0; i < n_ours; i++)
		for (size_t j = 0; j < n_theirs; j++) {
			/* P_Keys match when they are equal but for the membership bit,
			 * and not both limited [IBA 10.9.3]. */
			if (!(ours[i] & 0x7fff) || (ours[i] ^ theirs[j]) & 0x7fff ||
				!((ours[i] | theirs[j]) & 0x8000))
				continue;
			/* The default partition is preferred to any other. */
			if ((ours[i] & 0x7fff) == 0x7fff)
				return (int)i;
			if (found < 0)
				found = (int)i;
		}
	return found;
}
