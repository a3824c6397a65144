/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "config.h"

#include "service/command/topology_parts.h"

#include <inttypes.h>
#include <stdio.h>

#define NO_PATH 255
#define FIRST_MLID 0xc000u
#define PORTS_OF_MASK 16u

/* --- unicast --- */

/* "0x002a : 003  : 00   : yes".  By hand: a large fabric has a hundred million of them. */
static void put_fdb_line(uint32_t lid, uint8_t port, struct triad_output *output)
{
	static const char digits[] = "0123456789abcdef";
	char line[] = "0x0000 : 000  : 00   : yes\n";

	for (unsigned i = 0; i < 4; i++)
		line[2 + i] = digits[lid >> (12 - 4 * i) & 0xf];
	line[9] = digits[port / 100];
	line[10] = digits[port / 10 % 10];
	line[11] = digits[port % 10];
	if (port == NO_PATH)
		triad_output_printf(output, "%.8s UNREACHABLE\n", line);
	else
		triad_output_put(output, line, sizeof(line) - 1);
}

static void put_fdb(const struct triad_fabric *fabric,
	const struct triad_fabric_node *node, struct triad_output *output)
{
	triad_output_printf(output,
		"\nosm_ucast_mgr_dump_ucast_routes: Switch 0x%016" PRIx64
		"\nLID    : Port : Hops : Optimal\n",
		node->guid);
	for (uint32_t lid = 1; lid < node->lft.n && !output->failed; lid++)
		put_fdb_line(lid, fabric->lft[node->lft.at + lid], output);
}

/* 'what' is the table, for people. */
static void put_unknown(const struct triad_fabric_node *node, const char *what,
	struct triad_output *output)
{
	triad_output_printf(output, "\n# Switch 0x%016" PRIx64 " \"%s\": %s\n",
		node->guid, node->name, what);
}

void triad_topology_put_fdbs(
	const struct triad_fabric *fabric, struct triad_output *output)
{
	triad_output_printf(output,
		"# Forwarding tables as in ibdiagnet2.fdbs, by Triad " PACKAGE_VERSION
		"; hops are not counted\n");
	for (uint32_t i = 0; i < fabric->n_nodes && !output->failed; i++) {
		const struct triad_fabric_node *node = &fabric->nodes[i];

		if (node->type != TRIAD_NODE_SWITCH)
			continue;
		if (node->lft.n)
			put_fdb(fabric, node, output);
		else
			put_unknown(
				node, "its forwarding table is not known here", output);
	}
}

/* --- multicast --- */

static void put_mcfdb_line(uint32_t mlid, const uint16_t *masks, unsigned width,
	struct triad_output *output)
{
	bool is_first = true;

	for (unsigned port = 0; port < width * PORTS_OF_MASK; port++) {
		if (!(masks[port / PORTS_OF_MASK] >> port % PORTS_OF_MASK & 1))
			continue;
		if (is_first)
			triad_output_printf(output, "0x%04X :", mlid);
		is_first = false;
		triad_output_printf(output, " 0x%03X ", port);
	}
	if (!is_first)
		triad_output_printf(output, "\n");
}

void triad_topology_put_mcfdbs(
	const struct triad_fabric *fabric, struct triad_output *output)
{
	triad_output_printf(output,
		"# Multicast forwarding tables as in ibdiagnet2.mcfdbs, by "
		"Triad " PACKAGE_VERSION "\n");
	for (uint32_t i = 0; i < fabric->n_nodes && !output->failed; i++) {
		const struct triad_fabric_node *node = &fabric->nodes[i];
		uint32_t n = node->mft_width ? node->mft.n / node->mft_width : 0;

		if (node->type != TRIAD_NODE_SWITCH)
			continue;
		if (!n) {
			put_unknown(node, "no multicast table is known of it", output);
			continue;
		}
		triad_output_printf(output,
			"\nSwitch 0x%016" PRIx64 "\nLID    : Out Port(s)\n",
			node->guid);
		for (uint32_t at = 0; at < n && !output->failed; at++)
			put_mcfdb_line(FIRST_MLID + at,
				&fabric->mft[node->mft.at + at * node->mft_width],
				node->mft_width, output);
		if (node->mft_is_cut)
			triad_output_printf(output,
				"# further multicast LIDs of it are not known here\n");
	}
}
