/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "qos/paths.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "qos/pkey_sets.h"
#include "ib/rates.h"

#define NO_VL 15 /* packets on VL15 are dropped [IBA 7.6.6] */

/* 'struct triad_paths' with its reference count. */
struct counted {
	struct triad_paths paths;
	atomic_uint refs;
};

static struct counted *counted_of(struct triad_paths *paths)
{
	return (struct counted *)paths;
}

struct triad_paths *triad_paths_ref(struct triad_paths *paths)
{
	atomic_fetch_add_explicit(&counted_of(paths)->refs, 1, memory_order_relaxed);
	return paths;
}

static void free_paths(struct triad_paths *paths)
{
	triad_fabric_unref(paths->fabric);
	free(paths->switches);
	free(paths->switch_of_node);
	free(paths->links);
	free(paths->sls);
	free(paths->ends);
	free(paths->port_of_lid);
	free(paths->aliases);
	free(paths->pkey_sets);
	free(paths->pkeys);
	free((void *)paths->port_marks);
	free((void *)paths->route_marks);
	free(paths);
}

void triad_paths_unref(struct triad_paths *paths)
{
	if (paths && atomic_fetch_sub(&counted_of(paths)->refs, 1) == 1)
		free_paths(paths);
}

/* Allocates zeroed memory and counts its octets. */
static void *allocate(struct triad_paths *paths, size_t n, size_t size)
{
	paths->octets += n * size;
	return calloc(n ? n : 1, size);
}

/* --- SLs --- */

/* The SLs that have a VL from 'in_port' to the port; all SLs if the SM has no
 * tables. */
static uint16_t sls_of(const struct triad_fabric *fabric,
	const struct triad_fabric_port *port, unsigned in_port)
{
	uint16_t sls = 0;

	if (!fabric->sa.qos || in_port >= port->sl2vl.n)
		return TRIAD_PATH_ALL_SLS;
	for (unsigned sl = 0; sl < 16; sl++) {
		uint8_t octet = fabric->sl2vl[port->sl2vl.at + in_port].vl[sl / 2];

		if ((sl % 2 ? octet & 0xf : octet >> 4) != NO_VL)
			sls |= (uint16_t)(1u << sl);
	}
	return sls;
}

uint8_t triad_paths_vl(
	const struct triad_paths *paths, uint32_t port, uint8_t in_port, uint8_t sl)
{
	const struct triad_fabric_port *at = &paths->fabric->ports[port];
	uint8_t octet;

	if (!paths->fabric->sa.qos || in_port >= at->sl2vl.n)
		return sl;
	octet = paths->fabric->sl2vl[at->sl2vl.at + in_port].vl[sl / 2];
	return sl % 2 ? octet & 0xf : octet >> 4;
}

/* Second pass: fills the rows that fill_link() gave to links.  Their number is known
 * only after the first pass. */
static int fill_sls(struct triad_paths *paths, size_t n_sls)
{
	paths->sls = allocate(paths, n_sls, sizeof(*paths->sls));
	if (!paths->sls)
		return ENOMEM;
	for (uint32_t i = 0; i < paths->n_switches; i++) {
		const struct triad_path_switch *sw = &paths->switches[i];

		for (uint32_t number = 0; number < sw->n_links; number++) {
			const struct triad_path_link *link =
				&paths->links[sw->first_link + number];
			uint32_t at =
				triad_fabric_find_port(paths->fabric, sw->node, number);

			if (at == TRIAD_FABRIC_NONE ||
				link->sls_at == TRIAD_FABRIC_NONE)
				continue;
			for (uint32_t in = 0; in < sw->n_links; in++)
				paths->sls[link->sls_at + in] = sls_of(
					paths->fabric, &paths->fabric->ports[at], in);
		}
	}
	return 0;
}

/* --- switches and links --- */

static void fill_link(struct triad_paths *paths, uint32_t at, uint32_t n_ports,
	size_t *n_sls, struct triad_path_link *link)
{
	const struct triad_fabric *fabric = paths->fabric;
	const struct triad_fabric_port *port = &fabric->ports[at], *far;
	bool alike = true;

	link->mtu = port->mtu_cap;
	link->rank = triad_rate_rank(port->rate);
	link->remote = port->remote;
	/* Most switches treat all in-ports alike: the link then has the SLs itself.
	 * Otherwise it gets a row in 'sls' with an entry for each in-port. */
	link->sls = sls_of(fabric, port, 0);
	for (uint32_t in = 1; in < n_ports && alike; in++)
		alike = sls_of(fabric, port, in) == link->sls;
	if (!alike) {
		link->sls_at = (uint32_t)*n_sls;
		*n_sls += n_ports;
	}
	if (port->remote == TRIAD_FABRIC_NONE)
		return;
	/* Copy the values of the far port that walks need: this saves an access to the
	 * fabric at each hop. */
	far = &fabric->ports[port->remote];
	link->in_port = far->number;
	link->in_mtu = far->mtu_cap;
	link->in_rank = triad_rate_rank(far->rate);
	link->next = paths->switch_of_node[far->node];
}

static int fill_links(struct triad_paths *paths)
{
	size_t n_sls = 0;

	/* A fabric may lack ports of a switch.  Their numbers keep these values, so
	 * that a route through them leads nowhere. */
	for (uint32_t i = 0; i < paths->n_links; i++)
		paths->links[i] = (struct triad_path_link){.remote = TRIAD_FABRIC_NONE,
			.next = TRIAD_FABRIC_NONE,
			.sls_at = TRIAD_FABRIC_NONE,
			.sls = TRIAD_PATH_ALL_SLS};
	for (uint32_t i = 0; i < paths->n_switches; i++) {
		const struct triad_path_switch *sw = &paths->switches[i];
		const struct triad_fabric_node *node = &paths->fabric->nodes[sw->node];

		for (uint32_t j = 0; j < node->n_ports; j++) {
			uint32_t at = node->first_port + j;

			fill_link(paths, at, sw->n_links, &n_sls,
				&paths->links[sw->first_link +
					paths->fabric->ports[at].number]);
		}
	}
	return fill_sls(paths, n_sls);
}

static int build_switches(struct triad_paths *paths)
{
	const struct triad_fabric *fabric = paths->fabric;

	/* Count the switches for the allocation.  Then 'n_switches' starts again as the
	 * index of the next one. */
	for (uint32_t i = 0; i < fabric->n_nodes; i++)
		paths->n_switches += fabric->nodes[i].type == TRIAD_NODE_SWITCH;
	paths->switches = allocate(paths, paths->n_switches, sizeof(*paths->switches));
	paths->switch_of_node =
		allocate(paths, fabric->n_nodes, sizeof(*paths->switch_of_node));
	if (!paths->switches || !paths->switch_of_node)
		return ENOMEM;
	paths->n_switches = 0;
	for (uint32_t i = 0; i < fabric->n_nodes; i++) {
		const struct triad_fabric_node *node = &fabric->nodes[i];
		struct triad_path_switch *sw = &paths->switches[paths->n_switches];

		paths->switch_of_node[i] = TRIAD_FABRIC_NONE;
		if (node->type != TRIAD_NODE_SWITCH)
			continue;
		paths->switch_of_node[i] = paths->n_switches++;
		*sw = (struct triad_path_switch){.node = i,
			.first_link = paths->n_links,
			.lft = node->lft.at,
			.n_lids = node->lft.n};
		/* Links are indexed by port number; the last port has the highest. */
		if (node->n_ports)
			sw->n_links =
				fabric->ports[node->first_port + node->n_ports - 1]
					.number +
				1u;
		paths->n_links += sw->n_links;
	}
	paths->links = allocate(paths, paths->n_links, sizeof(*paths->links));
	return paths->links ? fill_links(paths) : ENOMEM;
}

/* --- ends --- */

/* Devices that are faster with packets of 1,024 octets [OpenSM's enable_quirks]. */
static bool is_tavor(const struct triad_fabric_node *node)
{
	return node->device_id == 23108 &&
		(node->vendor_id == 0x0002c9 || node->vendor_id == 0x0005ad ||
			node->vendor_id == 0x00066a || node->vendor_id == 0x0008f1);
}

static void add_lids(struct triad_paths *paths, uint32_t port)
{
	const struct triad_fabric_port *at = &paths->fabric->ports[port];
	uint32_t end = at->lid + (1u << paths->ends[port].lmc);

	if (!at->lid)
		return;
	/* Nobody has checked the LIDs: cut a range that reaches into the multicast
	 * LIDs. */
	for (uint32_t lid = at->lid; lid < end && lid < TRIAD_PATH_N_LIDS; lid++)
		paths->port_of_lid[lid] = port;
}

static int build_ends(struct triad_paths *paths)
{
	const struct triad_fabric *fabric = paths->fabric;

	paths->ends = allocate(paths, fabric->n_ports, sizeof(*paths->ends));
	paths->port_of_lid =
		allocate(paths, TRIAD_PATH_N_LIDS, sizeof(*paths->port_of_lid));
	if (!paths->ends || !paths->port_of_lid)
		return ENOMEM;
	memset(paths->port_of_lid, 0xff,
		TRIAD_PATH_N_LIDS * sizeof(*paths->port_of_lid));
	for (uint32_t i = 0; i < fabric->n_ports; i++) {
		const struct triad_fabric_port *port = &fabric->ports[i];

		paths->ends[i] = (struct triad_path_end){
			.node_switch = paths->switch_of_node[port->node],
			.lid = port->lid,
			.lmc = port->lmc < 8 ? port->lmc : 7,
			.mtu = port->mtu_cap,
			.rank = triad_rate_rank(port->rate),
			.rate_caps = port->rate_caps,
			.sls = sls_of(fabric, port, 0),
			.is_end = triad_fabric_is_end_port(fabric, i),
			.is_tavor = is_tavor(&fabric->nodes[port->node]),
		};
		if (paths->ends[i].is_end)
			add_lids(paths, i);
	}
	return 0;
}

/* --- aliases --- */

/* Sorts as OpenSM's maps do: by GUIDs in wire order, read as numbers of this host. */
static int compare_aliases(const void *a, const void *b)
{
	const struct triad_fabric_alias *one = a, *other = b;
	uint64_t key = __builtin_bswap64(one->guid);
	uint64_t other_key = __builtin_bswap64(other->guid);

	if (one->port != other->port)
		return one->port < other->port ? -1 : 1;
	return (key > other_key) - (key < other_key);
}

static int build_aliases(struct triad_paths *paths)
{
	const struct triad_fabric *fabric = paths->fabric;
	/* One more than needed, because malloc(0) may return NULL. */
	size_t size = (fabric->n_aliases + 1) * sizeof(struct triad_fabric_alias);
	struct triad_fabric_alias *sorted = malloc(size);

	paths->aliases = allocate(paths, fabric->n_aliases, sizeof(*paths->aliases));
	if (!sorted || !paths->aliases) {
		free(sorted);
		return ENOMEM;
	}
	if (fabric->n_aliases)
		memcpy(sorted, fabric->aliases, size - sizeof(*sorted));
	qsort(sorted, fabric->n_aliases, sizeof(*sorted), compare_aliases);
	for (uint32_t i = 0; i < fabric->n_aliases; i++) {
		struct triad_path_end *end = &paths->ends[sorted[i].port];

		/* They are sorted by port, so those of one port lie together. */
		if (!end->n_aliases++)
			end->first_alias = i;
		paths->aliases[i] = sorted[i].guid;
		paths->has_aliases |=
			sorted[i].guid != fabric->ports[sorted[i].port].guid;
	}
	free(sorted);
	return 0;
}

/* --- marks --- */

static size_t route_mark(uint32_t sw, unsigned block)
{
	return (size_t)sw * (TRIAD_PATH_N_LIDS / 64) + block;
}

static int build_marks(struct triad_paths *paths)
{
	size_t routes = route_mark(paths->n_switches, 0);

	paths->port_marks = allocate(paths, paths->fabric->n_ports / 8 + 1, 1);
	paths->route_marks = allocate(paths, routes / 8 + 1, 1);
	return paths->port_marks && paths->route_marks ? 0 : ENOMEM;
}

void triad_paths_mark_port(struct triad_paths *paths, uint64_t guid)
{
	uint32_t port = triad_fabric_find_alias(paths->fabric, guid);

	if (port == TRIAD_FABRIC_NONE)
		return;
	/* Set the bit before 'marked': readers look at bits only if 'marked' is set. */
	atomic_fetch_or(&paths->port_marks[port / 8], (uint8_t)(1u << port % 8));
	atomic_store(&paths->marked, true);
}

void triad_paths_mark_route(
	struct triad_paths *paths, uint64_t node_guid, unsigned block)
{
	uint32_t node = triad_fabric_find_node(paths->fabric, node_guid), sw;
	size_t mark;

	sw = node == TRIAD_FABRIC_NONE ? node : paths->switch_of_node[node];
	if (sw == TRIAD_FABRIC_NONE || block >= TRIAD_PATH_N_LIDS / 64)
		return;
	mark = route_mark(sw, block);
	atomic_fetch_or(&paths->route_marks[mark / 8], (uint8_t)(1u << mark % 8));
	atomic_store(&paths->marked, true);
}

void triad_paths_mark_all(struct triad_paths *paths)
{
	atomic_store(&paths->all_marked, true);
	atomic_store(&paths->marked, true);
}

bool triad_paths_port_is_marked(const struct triad_paths *paths, uint32_t port)
{
	if (!atomic_load_explicit(&paths->marked, memory_order_acquire))
		return false;
	return atomic_load(&paths->all_marked) ||
		(atomic_load(&paths->port_marks[port / 8]) >> port % 8 & 1);
}

static bool route_is_marked(const struct triad_paths *paths, uint32_t sw, uint16_t lid)
{
	size_t mark = route_mark(sw, lid / 64);

	return atomic_load(&paths->route_marks[mark / 8]) >> mark % 8 & 1;
}

/* --- walks --- */

static void narrow(struct triad_walk *walk, uint8_t mtu, uint8_t rank)
{
	if (walk->mtu > mtu)
		walk->mtu = mtu;
	if (walk->rank > rank)
		walk->rank = rank;
}

static void note_hop(struct triad_walk *walk, uint32_t port, uint8_t in_port,
	uint8_t mtu, uint8_t rank, uint16_t sls)
{
	if (walk->n_hops < sizeof(walk->hops) / sizeof(walk->hops[0]))
		walk->hops[walk->n_hops++] = (struct triad_walk_hop){.port = port,
			.in_port = in_port,
			.mtu = mtu,
			.rank = rank,
			.sls = sls};
}

/* The link by which switch 'sw' forwards packets to 'dlid'; NULL when it drops them.
 * If the fabric lacks that port, the link's 'remote' is NONE. */
static const struct triad_path_link *route(
	const struct triad_paths *paths, uint32_t sw, uint16_t dlid)
{
	const struct triad_path_switch *at = &paths->switches[sw];
	uint8_t number;

	if (dlid >= at->n_lids)
		return NULL;
	number = paths->fabric->lft[at->lft + dlid];
	return number < at->n_links ? &paths->links[at->first_link + number] : NULL;
}

/* Passes through switch 'sw', which the walk entered by 'in_port'.  Returns the link
 * by which it leaves, or NULL when it ends here. */
static const struct triad_path_link *pass(const struct triad_paths *paths, uint32_t sw,
	uint8_t in_port, uint16_t dlid, bool first, bool record,
	struct triad_walk *walk)
{
	const struct triad_path_link *link = route(paths, sw, dlid);
	uint16_t sls;

	walk->end = TRIAD_WALK_NO_ROUTE;
	if (!link)
		return NULL;
	if (atomic_load_explicit(&paths->marked, memory_order_relaxed) &&
		route_is_marked(paths, sw, dlid)) {
		walk->end = TRIAD_WALK_MARKED;
		return NULL;
	}
	sls = link->sls_at == TRIAD_FABRIC_NONE ? link->sls
						: paths->sls[link->sls_at + in_port];
	walk->sls &= sls;
	/* For a switch's own packets, its port 0 sets the limits. */
	if (!first)
		narrow(walk, link->mtu, link->rank);
	if (record) {
		const struct triad_path_switch *at = &paths->switches[sw];
		uint32_t number = (uint32_t)(link - &paths->links[at->first_link]);
		uint32_t port = triad_fabric_find_port(paths->fabric, at->node, number);

		if (port == TRIAD_FABRIC_NONE)
			return NULL;
		note_hop(walk, port, in_port, link->mtu, link->rank, sls);
	}
	if (walk->sls)
		return link;
	/* When recording, show every hop, also after the one that drops all SLs. */
	walk->end = TRIAD_WALK_NO_SL;
	return record ? link : NULL;
}

/* Walks from switch 'sw' on, which it entered by 'in_port'. */
static void walk_switches(const struct triad_paths *paths, uint32_t sw, uint8_t in_port,
	uint32_t to, uint16_t dlid, bool record, struct triad_walk *walk)
{
	bool first = walk->links == 0; /* the source is a switch */
	uint32_t goal = paths->ends[to].node_switch;

	/* Don't count a switch that is itself the source as a hop.  The limit also ends
	 * walks through tables that lead in a circle. */
	for (unsigned n = first ? 0 : 1; n <= TRIAD_PATH_MAX_HOPS; n++) {
		const struct triad_path_link *link =
			pass(paths, sw, in_port, dlid, first, record, walk);

		if (!link)
			return;
		/* Port 0 is the switch itself. */
		if (link == &paths->links[paths->switches[sw].first_link]) {
			walk->end = sw != goal ? TRIAD_WALK_NO_ROUTE
				: walk->sls    ? TRIAD_WALK_ARRIVED
					       : TRIAD_WALK_NO_SL;
			return;
		}
		if (link->remote == TRIAD_FABRIC_NONE) {
			walk->end = TRIAD_WALK_NO_ROUTE;
			return;
		}
		walk->links++;
		narrow(walk, link->in_mtu, link->in_rank);
		/* The far end is no switch, so the walk ends there: at 'to', or
		 * elsewhere. */
		if (link->next == TRIAD_FABRIC_NONE) {
			walk->end = link->remote != to ? TRIAD_WALK_NO_ROUTE
				: walk->sls            ? TRIAD_WALK_ARRIVED
						       : TRIAD_WALK_NO_SL;
			return;
		}
		first = false;
		sw = link->next;
		in_port = link->in_port;
	}
	walk->end = TRIAD_WALK_TOO_LONG;
}

void triad_paths_walk(const struct triad_paths *paths, uint32_t from, uint32_t to,
	uint16_t dlid, bool record, struct triad_walk *walk)
{
	const struct triad_path_end *start = &paths->ends[from];
	const struct triad_fabric_port *port = &paths->fabric->ports[from], *far;

	walk->end = TRIAD_WALK_ARRIVED;
	walk->sls = TRIAD_PATH_ALL_SLS;
	walk->mtu = start->mtu;
	walk->rank = start->rank;
	walk->links = walk->n_hops = 0;
	if (start->node_switch != TRIAD_FABRIC_NONE) {
		walk_switches(paths, start->node_switch, 0, to, dlid, record, walk);
		return;
	}
	walk->sls = start->sls;
	if (record)
		note_hop(walk, from, 0, start->mtu, start->rank, start->sls);
	/* As in pass(): when recording, show the rest of the path, too. */
	if (!walk->sls) {
		walk->end = TRIAD_WALK_NO_SL;
		if (!record)
			return;
	}
	if (from == to)
		return;
	walk->end = TRIAD_WALK_NO_ROUTE;
	if (port->remote == TRIAD_FABRIC_NONE)
		return;
	far = &paths->fabric->ports[port->remote];
	walk->links++;
	narrow(walk, far->mtu_cap, triad_rate_rank(far->rate));
	/* Two end ports may be linked without a switch. */
	if (port->remote == to)
		walk->end = walk->sls ? TRIAD_WALK_ARRIVED : TRIAD_WALK_NO_SL;
	else if (paths->switch_of_node[far->node] != TRIAD_FABRIC_NONE)
		walk_switches(paths, paths->switch_of_node[far->node], far->number, to,
			dlid, record, walk);
}

/* --- the whole --- */

int triad_paths_build(struct triad_fabric *fabric, struct triad_paths **paths)
{
	struct counted *counted = calloc(1, sizeof(*counted));
	struct triad_paths *built = &counted->paths;
	int error;

	if (!counted)
		return ENOMEM;
	atomic_init(&counted->refs, 1);
	built->fabric = triad_fabric_ref(fabric);
	built->octets = sizeof(*counted);
	/* Keep the order.  Ends need switches; P_Key sets and aliases need ends; marks
	 * need switches. */
	error = build_switches(built);
	if (!error)
		error = build_ends(built);
	if (!error)
		error = build_aliases(built);
	if (!error)
		error = triad_pkey_sets_build(built);
	if (!error)
		error = build_marks(built);
	if (error) {
		free_paths(built);
		return error;
	}
	*paths = built;
	return 0;
}
