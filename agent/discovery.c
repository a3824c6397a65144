/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "agent/discovery.h"

#include <errno.h>

#include <infiniband/ibnetdisc.h>

#include "agent/discovery_asker.h"
#include "ib/link.h"
#include "ib/sa_topology.h"
#include "service/local_port.h"

/* Outstanding SMPs, and the time-out of each: a node that has gone must not delay the
 * whole discovery. */
#define MAX_SMPS 8
#define SMP_MS 200
#define SMP_RETRIES 2

/* --- from libibnetdisc's fabric to ours --- */

static void add_found_node(struct triad_fabric_builder *builder, ibnd_node_t *node)
{
	struct triad_fabric_node added = {
		.guid = node->guid,
		.type = (uint8_t)node->type,
		.vendor_id = mad_get_field(node->info, 0, IB_NODE_VENDORID_F),
		.device_id = (uint16_t)mad_get_field(node->info, 0, IB_NODE_DEVID_F),
	};

	triad_fabric_builder_add_node(builder, &added, node->nodedesc, NULL, 0);
}

/* Adds a port's P_Key table; of a switch that of port 0. */
static void add_pkeys(struct triad_fabric_builder *builder, const ibnd_port_t *port,
	struct triad_discovery_asker *asker)
{
	uint16_t table[TRIAD_DISCOVERY_MAX_PKEYS];

	if (port->node->type != IB_NODE_SWITCH || !port->portnum)
		triad_fabric_builder_add_pkeys(builder, table,
			triad_discovery_asker_pkeys(asker, port, table));
}

/* Whether the port may have an extended speed that it has not told. */
static bool may_withhold_speed(
	const ibnd_port_t *port, const struct triad_fabric_port *read)
{
	bool is_switch = port->node->type == IB_NODE_SWITCH;
	/* A switch has its capabilities at port 0. */
	const ibnd_port_t *capable = is_switch ? port->node->ports[0] : port;
	struct triad_fabric_port of = {0};

	if (capable)
		triad_port_info_read(capable->info, is_switch, &of);
	return port->portnum && read->state >= TRIAD_PORT_INIT && !read->speed_ext &&
		!read->speed_ext_supported && of.rate_caps & TRIAD_RATE_CAP_EXTENDED;
}

static void ask_for_speed(struct triad_discovery_asker *asker, const ibnd_port_t *port,
	struct triad_fabric_port *added)
{
	uint8_t info[IB_SMP_DATA_SIZE] = {0};

	if (!may_withhold_speed(port, added))
		return;
	if (triad_discovery_asker_speeds(asker, port, info))
		triad_link_read(info, added);
	else
		added->speed = added->speed_supported = 0;
}

static void add_found_port(struct triad_fabric_builder *builder,
	const ibnd_node_t *node, const ibnd_port_t *port,
	struct triad_discovery_asker *asker)
{
	bool is_switch = node->type == IB_NODE_SWITCH;
	const ibnd_port_t *remote = port->remoteport;
	struct triad_fabric_port added = {
		.guid = port->guid,
		.lid = is_switch ? node->smalid : port->base_lid,
		.number = (uint8_t)port->portnum,
	};

	triad_port_info_read(port->info, is_switch, &added);
	ask_for_speed(asker, port, &added);
	triad_fabric_builder_add_port(builder, &added, remote ? remote->node->guid : 0,
		remote ? (uint8_t)remote->portnum : 0);
}

static int make_fabric(const ibnd_fabric_t *found, uint64_t port_guid,
	struct triad_discovery_asker *asker, struct triad_fabric **fabric)
{
	struct triad_fabric_builder *builder = triad_fabric_builder_new(NULL);
	int error;

	if (!builder)
		return ENOMEM;
	for (ibnd_node_t *node = found->nodes; node; node = node->next) {
		add_found_node(builder, node);
		for (int i = 0; i <= node->numports; i++) {
			if (!node->ports[i])
				continue;
			add_found_port(builder, node, node->ports[i], asker);
			/* The table belongs to the port that was added last. */
			add_pkeys(builder, node->ports[i], asker);
		}
	}
	error = triad_fabric_build(builder, port_guid, fabric);
	triad_fabric_builder_free(builder);
	return error;
}

/* Counts ports that exist but were not found: ports of switches, and far ends of links
 * that are up. */
static uint32_t count_silent(const ibnd_fabric_t *found)
{
	uint32_t n = 0;

	for (ibnd_node_t *node = found->nodes; node; node = node->next)
		for (int i = 1; i <= node->numports; i++) {
			ibnd_port_t *port = node->ports[i];

			if (!port)
				n += node->type == IB_NODE_SWITCH;
			else if (!port->remoteport)
				n += mad_get_field(
					     port->info, 0, IB_PORT_PHYS_STATE_F) ==
					TRIAD_PHYS_LINK_UP;
		}
	return n;
}

/* --- discovering --- */

int triad_discovery_make(uint64_t port_guid, struct triad_discovery *made)
{
	struct ibnd_config config = {
		.max_smps = MAX_SMPS,
		.timeout_ms = SMP_MS,
		.retries = SMP_RETRIES,
	};
	char ca_name[UMAD_CA_NAME_LEN];
	struct triad_discovery_asker *asker;
	ibnd_fabric_t *found;
	int number, error;

	*made = (struct triad_discovery){0};
	if (umad_init() < 0 ||
		!triad_local_port_find_for_smps(port_guid, ca_name, &number))
		return ENODEV;
	found = ibnd_discover_fabric(ca_name, number, NULL, &config);
	if (!found)
		return EIO; /* the library gives no reason */
	made->n_silent = count_silent(found);
	/* After the discovery: where ibsim stands in for the kernel, the last to
	 * register gets all answers. */
	asker = triad_discovery_asker_open(ca_name, number, port_guid);
	/* Without nodes, even the first SMPs had no answer. */
	error = found->nodes ? make_fabric(found, port_guid, asker, &made->fabric)
			     : EIO;
	made->n_smps = found->total_mads_used + triad_discovery_asker_n_smps(asker);
	triad_discovery_asker_close(asker);
	ibnd_destroy_fabric(found);
	/* A fabric without our own port is of no use. */
	if (!error && made->fabric->sm_port == TRIAD_FABRIC_NONE) {
		triad_fabric_unref(made->fabric);
		made->fabric = NULL;
		error = EIO;
	}
	return error;
}
