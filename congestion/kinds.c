/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Classifies roots, and gives advice. */
#include "congestion/roots_parts.h"

/* Routes are imbalanced if load and pairs of the other links are below these shares. */
#define PEERS_SENT 0.7
#define PEERS_PAIRS 0.7

/* The other links of the switch that lead to the same level. */
struct peers {
	uint32_t n;
	double bps, sent, pairs; /* the greatest rate, and means */
};

static uint32_t level_at(const struct triad_congestion_finder *finder, uint32_t port)
{
	uint32_t far = finder->fabric->ports[port].remote;
	uint32_t sw = finder->layout->switch_of_node[finder->fabric->ports[far].node];

	return sw == TRIAD_FABRIC_NONE ? 0 : finder->layout->switches[sw].level;
}

static double pairs_over(
	const struct triad_congestion_finder *finder, uint32_t sw, uint32_t out)
{
	double pairs = 0;

	for (uint32_t in = 0; in < finder->layout->switches[sw].n_links; in++)
		pairs += triad_congestion_turn(finder->turns, sw, in, out);
	return pairs;
}

static struct peers peers_of(
	const struct triad_congestion_finder *finder, uint32_t port)
{
	uint32_t sw = triad_congestion_switch(finder, port);
	const struct triad_routes_switch *at = &finder->layout->switches[sw];
	struct peers peers = {0};

	for (uint32_t i = 0; i < at->n_links; i++) {
		uint32_t out = finder->turns->ports[at->first_link + i];
		double bps;

		if (out == TRIAD_FABRIC_NONE || out == port ||
			finder->fabric->ports[out].remote == TRIAD_FABRIC_NONE ||
			level_at(finder, out) != level_at(finder, port))
			continue;
		bps = triad_congestion_link_bps(finder->fabric, out);
		peers.bps = bps > peers.bps ? bps : peers.bps;
		peers.sent += finder->loads[out].sent > 0
			? (double)finder->loads[out].sent
			: 0;
		peers.pairs += pairs_over(finder, sw, i);
		peers.n++;
	}
	if (peers.n) {
		peers.sent /= peers.n;
		peers.pairs /= peers.n;
	}
	return peers;
}

/* True when both ends support a width with a higher rate than the active one. */
static bool could_be_wider(const struct triad_fabric *fabric, uint32_t port)
{
	const struct triad_fabric_port *one = &fabric->ports[port];
	const struct triad_fabric_port *other = &fabric->ports[one->remote];
	struct triad_fabric_port best = *one;
	uint8_t widths = one->width_supported & other->width_supported;
	uint64_t bps = triad_fabric_port_bps(one);

	for (unsigned bit = 0; bit < 8; bit++) {
		best.width = (uint8_t)(1u << bit);
		if (widths & 1u << bit && triad_fabric_port_bps(&best) > bps)
			return true;
	}
	return false;
}

enum triad_congestion_kind triad_congestion_kind_of(
	const struct triad_congestion_finder *finder,
	const struct triad_congestion_root *root)
{
	struct peers peers = peers_of(finder, root->port);
	double bps = triad_congestion_link_bps(finder->fabric, root->port);
	uint32_t sw = triad_congestion_switch(finder, root->port);

	if (!level_at(finder, root->port) && triad_congestion_waits(finder, root->port))
		return TRIAD_CONGESTION_SLOW_HOST;
	/* If all peers run at the same rate, that is the fabric's rate, even if ports
	 * support more. */
	if (peers.n ? peers.bps > bps : could_be_wider(finder->fabric, root->port))
		return TRIAD_CONGESTION_WEAK_LINK;
	if (!level_at(finder, root->port))
		return TRIAD_CONGESTION_INCAST;
	if (peers.n && peers.sent < PEERS_SENT &&
		peers.pairs < PEERS_PAIRS *
				pairs_over(finder, sw,
					finder->fabric->ports[root->port].number))
		return TRIAD_CONGESTION_IMBALANCE;
	return TRIAD_CONGESTION_FULL_LINK;
}

const char *triad_congestion_kind_name(enum triad_congestion_kind kind)
{
	static const char *const names[] = {[TRIAD_CONGESTION_SLOW_HOST] = "slow host",
		[TRIAD_CONGESTION_INCAST] = "incast",
		[TRIAD_CONGESTION_WEAK_LINK] = "weak link",
		[TRIAD_CONGESTION_IMBALANCE] = "imbalance of routes",
		[TRIAD_CONGESTION_FULL_LINK] = "full link"};

	return kind < TRIAD_CONGESTION_N_KINDS ? names[kind] : "?";
}

const char *triad_congestion_role_name(enum triad_congestion_role role)
{
	static const char *const names[] = {
		[TRIAD_CONGESTION_CONTRIBUTOR] = "contributor",
		[TRIAD_CONGESTION_VICTIM] = "victim",
		[TRIAD_CONGESTION_UNDECIDED] = "undecided"};

	return role < TRIAD_CONGESTION_N_ROLES ? names[role] : "?";
}

const char *triad_congestion_advice(enum triad_congestion_kind kind)
{
	static const char *const texts[] = {
		[TRIAD_CONGESTION_SLOW_HOST] =
			"the host takes data more slowly than its link brings it: see "
			"its PCIe width and speed, its memory, IOMMU and load; until "
			"then keep traffic away from it",
		[TRIAD_CONGESTION_INCAST] =
			"more is sent to the host than its link carries: spread the "
			"senders' target over more hosts or ports, or slow the senders "
			"down (congestion control)",
		[TRIAD_CONGESTION_WEAK_LINK] =
			"the link is narrower or slower than it could be: look at its "
			"cable ('triadctl links'), reseat or replace it",
		[TRIAD_CONGESTION_IMBALANCE] =
			"routes put more on this link than on those beside it: see "
			"'triadctl routes' and choose another routing engine, or have "
			"OpenSM route anew",
		[TRIAD_CONGESTION_FULL_LINK] =
			"more is sent over the link than it carries: place jobs nearer "
			"together, add links, or use adaptive routing"};

	return kind < TRIAD_CONGESTION_N_KINDS ? texts[kind] : "";
}
