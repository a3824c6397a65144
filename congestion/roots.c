/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "congestion/roots.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "congestion/roots_parts.h"

/* The share that counts as "most" of a port's traffic coming from ports that wait. */
#define MOST 0.5
/* The share that counts as all traffic of one link leaving by one other. */
#define NEARLY_ALL 0.8
#define MAX_LINKS 64u

/* --- which ports are roots --- */

static bool leads_to_host(const struct triad_congestion_finder *finder, uint32_t port)
{
	uint32_t far = finder->fabric->ports[port].remote;

	return far != TRIAD_FABRIC_NONE &&
		finder->layout->host_of_port[far] != TRIAD_FABRIC_NONE;
}

/* Whether a port other than 'but' can hold up packets that enter switch 'sw' by port
 * number 'in'. */
static bool has_other_cause(const struct triad_congestion_finder *finder, uint32_t sw,
	uint32_t in, uint32_t but)
{
	const struct triad_routes_switch *at = &finder->layout->switches[sw];

	for (uint32_t i = 0; i < at->n_links; i++) {
		uint32_t out = finder->turns->ports[at->first_link + i];

		if (out != TRIAD_FABRIC_NONE && out != but &&
			(triad_congestion_waits(finder, out) ||
				triad_congestion_is_busy(finder, out)) &&
			triad_congestion_turn(finder->turns, sw, in, i))
			return true;
	}
	return false;
}

/* Whether a port that sends all the time holds up others. */
static bool holds_up(struct triad_congestion_finder *finder, uint32_t port)
{
	uint32_t sw = triad_congestion_switch(finder, port);
	const struct triad_routes_switch *at = &finder->layout->switches[sw];
	uint8_t number = finder->fabric->ports[port].number;
	double share = 0;

	for (uint32_t in = 0; in < at->n_links; in++) {
		uint32_t from = finder->turns->from[at->first_link + in];

		if (from == TRIAD_FABRIC_NONE ||
			!triad_congestion_waits(finder, from) ||
			!triad_congestion_turn(finder->turns, sw, in, number))
			continue;
		if (!has_other_cause(finder, sw, in, port))
			return true;
		triad_congestion_estimate_make(
			&finder->estimate, finder->turns, finder->loads, sw);
		share += triad_congestion_share_of_out(&finder->estimate, in, number);
	}
	return share >= MOST;
}

static bool is_root(struct triad_congestion_finder *finder, uint32_t port)
{
	uint32_t sw = triad_congestion_switch(finder, port);

	if (sw == TRIAD_FABRIC_NONE ||
		finder->fabric->ports[port].remote == TRIAD_FABRIC_NONE)
		return false;
	if (triad_congestion_waits(finder, port))
		return leads_to_host(finder, port);
	return triad_congestion_is_busy(finder, port) && holds_up(finder, port);
}

/* The busy port by which most traffic of 'port' leaves the next switch; or NONE. */
static uint32_t next_busy(struct triad_congestion_finder *finder, uint32_t port)
{
	const struct triad_fabric_port *far =
		&finder->fabric->ports[finder->fabric->ports[port].remote];
	uint32_t sw = finder->layout->switch_of_node[far->node];
	const struct triad_routes_switch *at;

	if (sw == TRIAD_FABRIC_NONE)
		return TRIAD_FABRIC_NONE;
	at = &finder->layout->switches[sw];
	triad_congestion_estimate_make(
		&finder->estimate, finder->turns, finder->loads, sw);
	for (uint32_t i = 0; i < at->n_links; i++) {
		uint32_t out = finder->turns->ports[at->first_link + i];

		if (out != TRIAD_FABRIC_NONE && triad_congestion_is_busy(finder, out) &&
			triad_congestion_turn(finder->turns, sw, far->number, i) &&
			triad_congestion_share_of_in(
				&finder->estimate, far->number, i) >= NEARLY_ALL)
			return out;
	}
	return TRIAD_FABRIC_NONE;
}

/* Traffic of many hosts to one host fills all links after the paths have met.  The root
 * is then the port to the host: returns that port, or else 'port'. */
static uint32_t follow_to_host(struct triad_congestion_finder *finder, uint32_t port)
{
	uint32_t at = port;

	for (unsigned i = 0; i < MAX_LINKS && at != TRIAD_FABRIC_NONE; i++) {
		if (leads_to_host(finder, at))
			return at;
		at = next_busy(finder, at);
	}
	return port;
}

/* --- their trees --- */

/* Whether packets that enter the switch by 'in' wait for 'port': the port that sends
 * them then belongs to the tree. */
static bool is_feeder(const struct triad_congestion_finder *finder, uint32_t port,
	uint32_t sw, uint32_t in)
{
	uint32_t from =
		finder->turns->from[finder->layout->switches[sw].first_link + in];

	return from != TRIAD_FABRIC_NONE && triad_congestion_waits(finder, from) &&
		triad_congestion_turn(
			finder->turns, sw, in, finder->fabric->ports[port].number);
}

/* Queues the waiting ports that hold packets for 'port'.  Returns their number,
 * including those that were queued already. */
static uint32_t add_feeders(
	struct triad_congestion_finder *finder, uint32_t port, uint32_t *n)
{
	uint32_t sw = triad_congestion_switch(finder, port), n_feeders = 0;
	uint32_t n_links =
		sw == TRIAD_FABRIC_NONE ? 0 : finder->layout->switches[sw].n_links;

	for (uint32_t in = 0; in < n_links; in++) {
		uint32_t from;

		if (!is_feeder(finder, port, sw, in))
			continue;
		n_feeders++;
		from = finder->turns
			       ->from[finder->layout->switches[sw].first_link + in];
		if (finder->in_tree[from] == finder->mark)
			continue;
		finder->in_tree[from] = finder->mark;
		finder->is_sure[from] = false;
		finder->queue[(*n)++] = from;
	}
	return n_feeders;
}

/* Marks ports that certainly carry packets for the root: those that only the root can
 * hold up, and further away the only feeder of such a port. */
static void mark_sure(struct triad_congestion_finder *finder, uint32_t port,
	bool is_root, uint32_t n_feeders)
{
	uint32_t sw = triad_congestion_switch(finder, port);
	const uint32_t *from;

	if (!n_feeders || (!is_root && (n_feeders > 1 || !finder->is_sure[port])))
		return;
	from = finder->turns->from + finder->layout->switches[sw].first_link;
	for (uint32_t in = 0; in < finder->layout->switches[sw].n_links; in++)
		if (is_feeder(finder, port, sw, in) &&
			!has_other_cause(finder, sw, in, port))
			finder->is_sure[from[in]] = true;
}

static double most_lost_bps(const struct triad_congestion_finder *finder, uint32_t port)
{
	const struct triad_congestion_load *load = &finder->loads[port];

	return (load->at_least ? 1 : (double)load->wait) *
		triad_congestion_link_bps(finder->fabric, port);
}

/* Fills in the root's tree and loss.  'begin' is the first full link towards the root,
 * mostly the root itself. */
static int fill_root(struct triad_congestion_finder *finder,
	struct triad_congestion_root *root, uint32_t begin)
{
	uint32_t n = 0;

	root->wait = finder->loads[root->port].wait;
	root->at_least = finder->loads[root->port].at_least;
	root->sent = finder->loads[root->port].sent;
	for (uint32_t port = begin;; port = next_busy(finder, port)) {
		mark_sure(finder, port, true, add_feeders(finder, port, &n));
		finder->in_tree[port] = finder->mark;
		if (port == root->port)
			break;
	}
	for (uint32_t i = 0; i < n; i++) {
		uint32_t port = finder->queue[i];
		uint32_t n_feeders = add_feeders(finder, port, &n);

		mark_sure(finder, port, false, n_feeders);
		/* No port waits for this one: count what it could have sent as lost. */
		if (!n_feeders)
			root->loss_bps += most_lost_bps(finder, port);
	}
	/* The root has no tree: count its own wait. */
	if (!n && triad_congestion_waits(finder, root->port))
		root->loss_bps = most_lost_bps(finder, root->port);
	root->n_waiting = n;
	root->waiting = malloc((n + 1u) * sizeof(*root->waiting));
	if (!root->waiting)
		return ENOMEM;
	memcpy(root->waiting, finder->queue, n * sizeof(*root->waiting));
	return triad_congestion_find_hosts(finder, root);
}

static int compare_roots(const void *a, const void *b)
{
	const struct triad_congestion_root *one = a, *other = b;

	if (one->loss_bps != other->loss_bps)
		return one->loss_bps > other->loss_bps ? -1 : 1;
	if (one->port != other->port)
		return one->port < other->port ? -1 : 1;
	return one->vl - other->vl;
}

/* The VL of a root in the present plane; if the plane has several there, the one that
 * waited longest.  NO_VL if no port of the tree counts VLs. */
static uint8_t vl_of_root(const struct triad_congestion_finder *finder,
	const struct triad_congestion_root *root)
{
	uint32_t known = finder->vl_waits[root->port];
	bool is_known = known != 0;
	unsigned best = TRIAD_CONGESTION_NO_VL;
	uint16_t vls;

	if (!finder->by_vl)
		return TRIAD_CONGESTION_NO_VL;
	for (uint32_t i = 0; !is_known && i < root->n_waiting; i++)
		is_known = finder->vl_waits[root->waiting[i]] != 0;
	vls = triad_congestion_plane_vls(
		finder->by_vl->planes, finder->plane, root->port);
	for (; is_known && vls; vls &= (uint16_t)(vls - 1)) {
		unsigned vl = (unsigned)__builtin_ctz(vls);
		const float *waits =
			known ? finder->by_vl->waits[known - 1].wait : NULL;

		if (best == TRIAD_CONGESTION_NO_VL ||
			(waits && waits[vl] > waits[best]))
			best = vl;
	}
	return (uint8_t)best;
}

static void free_root(struct triad_congestion_root *root)
{
	free(root->waiting);
	free(root->hosts);
	*root = (struct triad_congestion_root){0};
}

/* Adds the root that 'begin' is or leads to.  Returns 0 or ENOMEM. */
static int add_root(struct triad_congestion_finder *finder,
	struct triad_congestion *found, uint32_t n_before, uint32_t begin)
{
	struct triad_congestion_root *root = &found->roots[found->n_roots];
	uint32_t port = triad_congestion_waits(finder, begin)
		? begin
		: follow_to_host(finder, begin);
	uint8_t vl;
	int error;

	/* The root was found in this plane before: it does not matter from which
	 * port. */
	for (uint32_t i = n_before; i < found->n_roots; i++)
		if (found->roots[i].port == port)
			return 0;
	if (found->n_roots == TRIAD_CONGESTION_MAX_ROOTS) {
		found->n_more++;
		return 0;
	}
	*root = (struct triad_congestion_root){.port = port};
	finder->mark++;
	error = fill_root(finder, root, begin);
	if (error)
		return error;
	vl = vl_of_root(finder, root);
	/* Two planes may show the same waits. */
	if (triad_congestion_find_root(found, port, vl) != TRIAD_FABRIC_NONE) {
		free_root(root);
		return 0;
	}
	root->vl = vl;
	root->kind = (uint8_t)triad_congestion_kind_of(finder, root);
	found->n_roots++;
	return 0;
}

static int find_roots(
	struct triad_congestion_finder *finder, struct triad_congestion *found)
{
	uint32_t n_before = found->n_roots;
	int error = 0;

	for (uint32_t i = 0; i < finder->fabric->n_ports && !error; i++)
		if (is_root(finder, i))
			error = add_root(finder, found, n_before, i);
	return error;
}

/* --- planes --- */

/* Clears waits that are not congestion: a busy port's VL waits although nothing behind
 * it holds it up, so it waits only for other VLs of the port. */
static void clear_turns(struct triad_congestion_finder *finder)
{
	for (uint32_t i = 0; i < finder->fabric->n_ports; i++) {
		const struct triad_fabric_port *far;
		uint32_t sw;

		if (!triad_congestion_waits(finder, i) ||
			!triad_congestion_is_busy(finder, i) ||
			finder->fabric->ports[i].remote == TRIAD_FABRIC_NONE)
			continue;
		far = &finder->fabric->ports[finder->fabric->ports[i].remote];
		sw = finder->layout->switch_of_node[far->node];
		if (sw == TRIAD_FABRIC_NONE ||
			!has_other_cause(finder, sw, far->number, TRIAD_FABRIC_NONE)) {
			finder->loads[i].wait = 0;
			finder->loads[i].at_least = false;
		}
	}
}

/* Sets the ports' waits to those of a plane.  Returns whether any port waits. */
static bool enter_plane(struct triad_congestion_finder *finder, uint32_t plane)
{
	const struct triad_congestion_by_vl *by_vl = finder->by_vl;
	bool any = false;

	finder->plane = plane;
	memcpy(finder->loads, finder->all_loads,
		finder->fabric->n_ports * sizeof(*finder->loads));
	for (uint32_t i = 0; i < by_vl->n; i++) {
		const struct triad_congestion_vl_waits *waits = &by_vl->waits[i];
		uint16_t vls =
			triad_congestion_plane_vls(by_vl->planes, plane, waits->port);
		float sum = 0;

		for (; vls; vls &= (uint16_t)(vls - 1))
			sum += waits->wait[__builtin_ctz(vls)];
		finder->loads[waits->port].wait = sum < 1 ? sum : 1;
		finder->loads[waits->port].at_least &= sum > 0;
	}
	clear_turns(finder);
	for (uint32_t i = 0; i < finder->fabric->n_ports && !any; i++)
		any = triad_congestion_waits(finder, i);
	return any;
}

static int find_in_planes(
	struct triad_congestion_finder *finder, struct triad_congestion *found)
{
	uint32_t n_ports = finder->fabric->n_ports;
	int error = 0;

	memcpy(finder->loads, finder->all_loads, n_ports * sizeof(*finder->loads));
	if (!finder->by_vl)
		error = find_roots(finder, found);
	for (uint32_t i = 0; finder->by_vl && i < finder->by_vl->n; i++)
		finder->vl_waits[finder->by_vl->waits[i].port] = i + 1;
	for (uint32_t i = 0; finder->by_vl && i < finder->by_vl->planes->n && !error;
		i++)
		if (enter_plane(finder, i))
			error = find_roots(finder, found);
	for (uint32_t i = 0; i < n_ports; i++) {
		bool waits = triad_congestion_load_waits(
			&finder->all_loads[i], &finder->limits);
		bool is_open = triad_congestion_load_is_open(
			&finder->all_loads[i], &finder->limits);
		bool has_link = finder->fabric->ports[i].remote != TRIAD_FABRIC_NONE;

		found->n_links += has_link;
		found->n_known +=
			has_link && !is_open && !isnan(finder->all_loads[i].wait);
		found->n_open += has_link && is_open;
		found->n_waiting += waits;
		found->n_unexplained +=
			waits && !finder->in_tree[i] && !leads_to_host(finder, i);
	}
	qsort(found->roots, found->n_roots, sizeof(*found->roots), compare_roots);
	return error;
}

int triad_congestion_find(const struct triad_congestion_turns *turns,
	const struct triad_congestion_load *loads,
	const struct triad_congestion_limits *limits,
	const struct triad_congestion_by_vl *by_vl,
	const struct triad_congestion_matrix *matrix, struct triad_congestion **found)
{
	struct triad_congestion_finder finder = {.turns = turns,
		.layout = turns->layout,
		.fabric = turns->layout->fabric,
		.all_loads = loads,
		.by_vl = by_vl && by_vl->n && by_vl->planes->n ? by_vl : NULL,
		.limits = *limits,
		.matrix = matrix};
	struct triad_congestion *made = calloc(1, sizeof(*made));
	size_t n = finder.fabric->n_ports + 1u;
	int error = triad_congestion_estimate_init(&finder.estimate, turns->layout);

	finder.loads = malloc(n * sizeof(*finder.loads));
	finder.vl_waits = calloc(n, sizeof(*finder.vl_waits));
	finder.queue = malloc(n * sizeof(*finder.queue));
	finder.in_tree = calloc(n, sizeof(*finder.in_tree));
	finder.is_sure = calloc(n, sizeof(*finder.is_sure));
	if (made)
		made->roots =
			calloc(TRIAD_CONGESTION_MAX_ROOTS + 1u, sizeof(*made->roots));
	if (!finder.loads || !finder.vl_waits || !finder.queue || !finder.in_tree ||
		!finder.is_sure || !made || !made->roots)
		error = ENOMEM;
	if (!error)
		error = find_in_planes(&finder, made);
	triad_congestion_estimate_clear(&finder.estimate);
	free(finder.loads);
	free(finder.vl_waits);
	free(finder.queue);
	free(finder.in_tree);
	free(finder.is_sure);
	*found = error ? NULL : made;
	if (error)
		triad_congestion_free(made);
	return error;
}

void triad_congestion_free(struct triad_congestion *found)
{
	if (!found)
		return;
	/* Also free the next root, which may have been begun when memory was short. */
	for (uint32_t i = 0; found->roots && i <= found->n_roots; i++)
		free_root(&found->roots[i]);
	free(found->roots);
	free(found);
}

uint32_t triad_congestion_find_root(
	const struct triad_congestion *found, uint32_t port, uint8_t vl)
{
	for (uint32_t i = 0; i < found->n_roots; i++)
		if (found->roots[i].port == port && found->roots[i].vl == vl)
			return i;
	return TRIAD_FABRIC_NONE;
}
