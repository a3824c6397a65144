/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "config.h"

#include "service/command/topology_parts.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "ib/cable.h"
#include "ib/link.h"
#include "service/service.h"

#define FULL_MEMBER 0x8000
#define N_SLS 16
#define EXT_SPEEDS_FROM 8 /* bits of extended speeds stand behind those of others */
/* XDR is the fifth extended speed there. */
#define EXT_XDR 0x20
#define CSV_XDR 0x1000

/* --- values --- */

/* A value of which 0 says that it is not known, and a comma. */
static void put_csv_known(uint32_t value, struct triad_output *output)
{
	if (value)
		triad_output_printf(output, "%" PRIu32 ",", value);
	else
		triad_output_printf(output, "N/A,");
}

/* A value that images do not keep, and 'end'. */
static void put_csv_present(const struct triad_moment *moment, unsigned value,
	const char *end, struct triad_output *output)
{
	if (moment->past)
		triad_output_printf(output, "N/A%s", end);
	else
		triad_output_printf(output, "%u%s", value, end);
}

/* And a comma. */
static void put_csv_text(const char *text, struct triad_output *output)
{
	triad_output_put_csv(output, text);
	triad_output_put(output, ",", 1);
}

/* "" is not known. */
static void put_csv_name(const char *text, struct triad_output *output)
{
	if (*text)
		put_csv_text(text, output);
	else
		triad_output_printf(output, "N/A,");
}

/* A bit for each speed, active or possible. */
static uint32_t csv_speeds(uint8_t speeds, uint8_t ext)
{
	return speeds | (ext & 0xfu) << EXT_SPEEDS_FROM | (ext & EXT_XDR ? CSV_XDR : 0);
}

static uint32_t csv_speed_active(const struct triad_fabric_port *port)
{
	uint8_t speed = 0, ext = 0;

	triad_link_speed_codes(
		triad_link_speed(port->speed, port->speed_ext), &speed, &ext);
	return ext ? csv_speeds(0, ext) : csv_speeds(speed, 0);
}

static void put_place(const struct triad_fabric *fabric,
	const struct triad_fabric_port *port, struct triad_output *output)
{
	triad_output_printf(output, "0x%016" PRIx64 ",0x%016" PRIx64 ",%u,",
		fabric->nodes[port->node].guid, port->guid, port->number);
}

/* --- sections --- */

static const struct triad_fabric_port *port_of(const struct triad_fabric *fabric,
	const struct triad_fabric_node *node, uint32_t i)
{
	return &fabric->ports[node->first_port + i];
}

static void put_node(const struct triad_fabric *fabric,
	const struct triad_fabric_node *node, struct triad_output *output)
{
	uint32_t n_rows = node->type == TRIAD_NODE_SWITCH ? 1 : node->n_ports;

	/* An HCA has a row for each port. */
	for (uint32_t i = 0; i < n_rows && i < node->n_ports; i++) {
		const struct triad_fabric_port *port = port_of(fabric, node, i);

		put_csv_text(node->name, output);
		triad_output_printf(output, "%u,%u,0x%016" PRIx64 ",0x%016" PRIx64 ",",
			port_of(fabric, node, node->n_ports - 1)->number, node->type,
			node->guid, port->guid);
		put_csv_known(node->device_id, output);
		put_csv_known(node->vendor_id, output);
		if (node->type == TRIAD_NODE_SWITCH)
			triad_output_printf(output, "N/A\n");
		else
			triad_output_printf(output, "%u\n", port->number);
	}
}

static void put_nodes(const struct triad_fabric *fabric, struct triad_output *output)
{
	triad_output_printf(output,
		"START_NODES\nNodeDesc,NumPorts,NodeType,NodeGUID,PortGUID,DeviceID,"
		"VendorID,LocalPortNum\n");
	for (uint32_t i = 0; i < fabric->n_nodes && !output->failed; i++)
		put_node(fabric, &fabric->nodes[i], output);
	triad_output_printf(output, "END_NODES\n\n");
}

static void put_switches(const struct triad_fabric *fabric,
	const struct triad_moment *moment, struct triad_output *output)
{
	triad_output_printf(output,
		"START_SWITCHES\nNodeGUID,LinearFDBTop,OptimizedSLVLMapping,ENPort0\n");
	for (uint32_t i = 0; i < fabric->n_nodes && !output->failed; i++) {
		const struct triad_fabric_node *node = &fabric->nodes[i];

		if (node->type != TRIAD_NODE_SWITCH)
			continue;
		triad_output_printf(output, "0x%016" PRIx64 ",", node->guid);
		put_csv_known(node->lft.n ? node->lft.n - 1 : 0, output);
		put_csv_present(moment, node->optimized_sl2vl, ",", output);
		put_csv_present(moment, node->enhanced_port0, "\n", output);
	}
	triad_output_printf(output, "END_SWITCHES\n\n");
}

static void put_port(const struct triad_fabric *fabric,
	const struct triad_fabric_port *port, const struct triad_moment *moment,
	struct triad_output *output)
{
	put_place(fabric, port, output);
	put_csv_known(port->lid, output);
	put_csv_known(port->width, output);
	put_csv_known(port->width_supported, output);
	put_csv_known(port->width_enabled, output);
	put_csv_known(csv_speeds(port->speed_enabled, port->speed_ext_enabled), output);
	put_csv_known(csv_speed_active(port), output);
	put_csv_present(moment, port->lmc, ",", output);
	put_csv_known(port->phys_state, output);
	put_csv_known(port->state, output);
	put_csv_known(
		csv_speeds(port->speed_supported, port->speed_ext_supported), output);
	put_csv_known(port->vl_cap, output);
	put_csv_known(port->mtu, output);
	put_csv_known(port->op_vls, output);
	put_csv_known(port->mtu_cap, output);
	put_csv_present(moment, port->sm_sl, "\n", output);
}

static void put_ports(const struct triad_fabric *fabric,
	const struct triad_moment *moment, struct triad_output *output)
{
	triad_output_printf(output,
		"START_PORTS\nNodeGuid,PortGuid,PortNum,LID,LinkWidthActv,LinkWidthSup,"
		"LinkWidthEn,LinkSpeedEn,LinkSpeedActv,LMC,PortPhyState,PortState,"
		"LinkSpeedSup,VLCap,NMTU,OpVLs,MTUCap,MSMSL\n");
	for (uint32_t i = 0; i < fabric->n_ports && !output->failed; i++)
		put_port(fabric, &fabric->ports[i], moment, output);
	triad_output_printf(output, "END_PORTS\n\n");
}

static void put_links(const struct triad_fabric *fabric, struct triad_output *output)
{
	triad_output_printf(
		output, "START_LINKS\nNodeGuid1,PortNum1,NodeGuid2,PortNum2\n");
	for (uint32_t i = 0; i < fabric->n_ports && !output->failed; i++) {
		const struct triad_fabric_port *port = &fabric->ports[i], *far;

		if (port->remote == TRIAD_FABRIC_NONE || port->remote < i)
			continue;
		far = &fabric->ports[port->remote];
		triad_output_printf(output, "0x%016" PRIx64 ",%u,0x%016" PRIx64 ",%u\n",
			fabric->nodes[port->node].guid, port->number,
			fabric->nodes[far->node].guid, far->number);
	}
	triad_output_printf(output, "END_LINKS\n\n");
}

static void put_pkeys(const struct triad_fabric *fabric, struct triad_output *output)
{
	enum { OF_BLOCK = 32 };

	triad_output_printf(output,
		"START_PKEY\nNodeGUID,PortGUID,PortNum,BlockNum,Index,PKey,Membership\n");
	for (uint32_t i = 0; i < fabric->n_ports && !output->failed; i++) {
		const struct triad_fabric_port *port = &fabric->ports[i];

		for (uint32_t at = 0; at < port->pkeys.n; at++) {
			uint16_t pkey = fabric->pkeys[port->pkeys.at + at];

			if (!pkey)
				continue;
			put_place(fabric, port, output);
			triad_output_printf(output, "%u,%u,0x%04x,%s\n", at / OF_BLOCK,
				at % OF_BLOCK, pkey,
				pkey & FULL_MEMBER ? "Full" : "Limited");
		}
	}
	triad_output_printf(output, "END_PKEY\n\n");
}

/* --- QoS tables --- */

static void put_sl2vl_row(const struct triad_fabric *fabric,
	const struct triad_fabric_port *port, uint32_t from, uint32_t to,
	struct triad_output *output)
{
	const struct triad_sl2vl *table = &fabric->sl2vl[port->sl2vl.at + from];

	put_place(fabric, port, output);
	triad_output_printf(output, "%" PRIu32 ",%" PRIu32, from, to);
	for (unsigned sl = 0; sl < N_SLS; sl++)
		triad_output_printf(
			output, ",%u", table->vl[sl / 2] >> (sl % 2 ? 0 : 4) & 0xf);
	triad_output_printf(output, "\n");
}

/* OpenSM has zeros for ports whose tables it does not read. */
static bool has_qos_tables(
	const struct triad_fabric *fabric, const struct triad_fabric_port *port)
{
	const struct triad_fabric_node *node = &fabric->nodes[port->node];

	return port->state > TRIAD_PORT_DOWN &&
		(node->type != TRIAD_NODE_SWITCH || port->number ||
			node->enhanced_port0);
}

/* In-ports in a row that have the same table share a line. */
static void put_sl2vl(const struct triad_fabric *fabric,
	const struct triad_fabric_port *port, struct triad_output *output)
{
	const struct triad_fabric_node *node = &fabric->nodes[port->node];
	const struct triad_sl2vl *tables = &fabric->sl2vl[port->sl2vl.at];
	uint32_t n = port->sl2vl.n, from = 0;

	/* OpenSM has room for one port more. */
	if (n > port_of(fabric, node, node->n_ports - 1)->number + 1u)
		n = port_of(fabric, node, node->n_ports - 1)->number + 1u;
	for (uint32_t in = 1; has_qos_tables(fabric, port) && in <= n; in++) {
		if (in < n && !memcmp(&tables[in], &tables[from], sizeof(tables[in])))
			continue;
		put_sl2vl_row(fabric, port, from, in - 1, output);
		from = in;
	}
}

static void put_sl2vls(const struct triad_fabric *fabric, struct triad_output *output)
{
	triad_output_printf(output,
		"START_TRIAD_SL2VL\nNodeGUID,PortGUID,PortNum,FromInPort,ToInPort");
	for (unsigned sl = 0; sl < N_SLS; sl++)
		triad_output_printf(output, ",SL%u", sl);
	triad_output_printf(output, "\n");
	for (uint32_t i = 0; i < fabric->n_ports && !output->failed; i++)
		put_sl2vl(fabric, &fabric->ports[i], output);
	triad_output_printf(output, "END_TRIAD_SL2VL\n\n");
}

/* "0:64 1:32", VLs with their weights. */
static void put_vlarb_entries(const struct triad_vlarb_entry *entries, unsigned n,
	struct triad_output *output)
{
	for (unsigned i = 0; i < n; i++)
		triad_output_printf(output, "%s%u:%u", i ? " " : "", entries[i].vl,
			entries[i].weight);
}

static void put_vlarbs(const struct triad_fabric *fabric, struct triad_output *output)
{
	triad_output_printf(output,
		"START_TRIAD_VL_ARBITRATION\nNodeGUID,PortGUID,PortNum,HighLimit,Low,"
		"High\n");
	for (uint32_t i = 0; i < fabric->n_ports && !output->failed; i++) {
		const struct triad_fabric_port *port = &fabric->ports[i];
		const struct triad_vlarb_entry *entries =
			fabric->vlarb + port->vlarb.at;
		unsigned n_low = port->vlarb_low_cap;

		if (!has_qos_tables(fabric, port) || port->vlarb.n <= n_low)
			continue;
		put_place(fabric, port, output);
		triad_output_printf(output, "%u,", port->high_limit);
		put_vlarb_entries(entries, n_low, output);
		triad_output_printf(output, ",");
		put_vlarb_entries(entries + n_low, port->vlarb.n - n_low, output);
		triad_output_printf(output, "\n");
	}
	triad_output_printf(output, "END_TRIAD_VL_ARBITRATION\n\n");
}

/* --- counters --- */

static void put_counters(const struct triad_fabric *fabric, uint32_t index,
	const struct triad_view *view, struct triad_output *output)
{
	uint32_t of_view = view->fabric == fabric
		? index
		: triad_fabric_find_same_port(view->fabric, fabric, index);
	struct triad_engine_row row;

	if (of_view == TRIAD_FABRIC_NONE || !triad_view_read(view, of_view, &row) ||
		!row.has)
		return;
	put_place(fabric, &fabric->ports[index], output);
	for (unsigned i = 0; i < TRIAD_N_COUNTERS; i++) {
		const char *end = i + 1 < TRIAD_N_COUNTERS ? "," : "\n";

		if (row.has >> i & 1)
			triad_output_printf(output, "%" PRIu64 "%s", row.total[i], end);
		else
			triad_output_printf(output, "N/A%s", end);
	}
}

static void put_pm_info(const struct triad_fabric *fabric,
	const struct triad_view *view, struct triad_output *output)
{
	triad_output_printf(output, "START_PM_INFO\nNodeGUID,PortGUID,PortNumber");
	for (unsigned i = 0; i < TRIAD_N_COUNTERS; i++)
		triad_output_printf(output, ",%s", triad_counters[i].name);
	triad_output_printf(output, "\n");
	for (uint32_t i = 0; i < fabric->n_ports && !output->failed; i++)
		put_counters(fabric, i, view, output);
	triad_output_printf(output, "END_PM_INFO\n\n");
}

/* --- cables --- */

/* The last columns; "2.5 m" of a cable, not of a module for a separate fibre. */
static void put_cable_kind(const struct triad_cable *cable, struct triad_output *output)
{
	const char *technology = triad_cable_technology(cable);
	bool is_copper = strstr(technology, "copper") != NULL;

	if (cable->length_dm)
		triad_output_printf(output, "\"%u.%u m\",", cable->length_dm / 10,
			cable->length_dm % 10);
	else
		triad_output_printf(output, "N/A,");
	triad_output_printf(output, "%u,", cable->identifier);
	if (!strcmp(technology, "unknown"))
		triad_output_printf(output, "N/A,");
	else
		triad_output_printf(
			output, "\"%s%s\",", is_copper ? "" : "Optical, ", technology);
	if (triad_cable_has_state(cable))
		triad_output_printf(output, "\"%.0fC\"\n", cable->temperature / 256.0);
	else
		triad_output_printf(output, "N/A\n");
}

/* False: no cable is known there. */
static bool read_cable(const struct triad_fabric *fabric, uint32_t port,
	const struct triad_moment *moment, struct triad_cable_known *known)
{
	const struct triad_fabric_port *at = &fabric->ports[port];

	return triad_moment_read_cable(
		       moment, fabric->nodes[at->node].guid, at->number, known) &&
		known->module == TRIAD_MODULE_KNOWN;
}

static void put_cable_row(const struct triad_fabric *fabric, uint32_t port,
	const struct triad_cable *cable, struct triad_output *output)
{
	put_place(fabric, &fabric->ports[port], output);
	put_csv_name(cable->vendor, output);
	triad_output_printf(output, "0x%06" PRIx32 ",", cable->oui & 0xffffff);
	put_csv_name(cable->part, output);
	put_csv_name(cable->serial, output);
	put_csv_name(cable->revision, output);
	put_cable_kind(cable, output);
}

/* A section without rows would look as if there were no cables. */
static void put_cables(const struct triad_fabric *fabric,
	const struct triad_moment *moment, struct triad_output *output)
{
	struct triad_cable_known known;
	bool is_begun = false;

	for (uint32_t i = 0; i < fabric->n_ports && !output->failed; i++) {
		if (!read_cable(fabric, i, moment, &known))
			continue;
		if (!is_begun)
			triad_output_printf(output,
				"START_CABLE_INFO\nNodeGuid,PortGuid,PortNum,Vendor,OUI,"
				"PN,SN,Rev,LengthCopperOrActive,Identifier,TypeDesc,"
				"Temperature\n");
		is_begun = true;
		put_cable_row(fabric, i, &known.cable, output);
	}
	triad_output_printf(output,
		is_begun ? "END_CABLE_INFO\n"
			 : "# no CABLE_INFO: no cable is known here\n");
}

/* --- all --- */

void triad_topology_put_db_csv(const struct triad_fabric *fabric,
	const struct triad_moment *moment, struct triad_output *output)
{
	triad_output_printf(output,
		"# The fabric as in ibdiagnet2.db_csv, by Triad " PACKAGE_VERSION
		", generation %" PRIu64 "\n",
		fabric->generation);
	put_nodes(fabric, output);
	put_switches(fabric, moment, output);
	put_ports(fabric, moment, output);
	put_links(fabric, output);
	put_pkeys(fabric, output);
	put_sl2vls(fabric, output);
	put_vlarbs(fabric, output);
	if (moment->view)
		put_pm_info(fabric, moment->view, output);
	else
		triad_output_printf(
			output, "# no PM_INFO: counters are not read here\n");
	put_cables(fabric, moment, output);
}
