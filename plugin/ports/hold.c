/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "plugin/opensm.h"

#include "plugin/ports/hold.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "plugin/physp.h"
#include "plugin/ports/minhop.h"
#include "triad/clock.h"
#include "triad/thread.h"

struct triad_hold {
	pthread_mutex_t lock; /* protects all but atomic members */
	struct triad_hold_port *ports;
	uint32_t n;
	struct triad_hold_end *ends; /* far ends of held ports; room for 'n' */
	uint64_t longest_us;
	atomic_uint n_held;
};

struct triad_hold *triad_hold_new(void)
{
	struct triad_hold *hold = calloc(1, sizeof(*hold));

	if (hold)
		pthread_mutex_init(&hold->lock, NULL);
	return hold;
}

void triad_hold_free(struct triad_hold *hold)
{
	if (!hold)
		return;
	pthread_mutex_destroy(&hold->lock);
	free(hold->ports);
	free(hold->ends);
	free(hold);
}

/* --- publishing --- */

int triad_hold_compare(const void *a, const void *b)
{
	const struct triad_hold_port *first = a, *second = b;

	if (first->node_guid != second->node_guid)
		return first->node_guid < second->node_guid ? -1 : 1;
	return (int)first->number - second->number;
}

static struct triad_hold_port *find_held(
	const struct triad_hold *hold, uint64_t node_guid, uint8_t number)
{
	const struct triad_hold_port key = {.node_guid = node_guid, .number = number};

	return hold->n
		? bsearch(&key, hold->ports, hold->n, sizeof(key), triad_hold_compare)
		: NULL;
}

/* Copies the state of the old ports to the new ones: held ports stay held until the
 * next mark.  Appends links that routing still avoids though they are no longer
 * published; they stay until they are restored.  Returns the number of these. */
static uint32_t carry_over(
	const struct triad_hold *hold, struct triad_hold_port *ports, uint32_t n)
{
	uint32_t n_gone = 0;

	for (uint32_t i = 0; i < n; i++) {
		const struct triad_hold_port *old =
			find_held(hold, ports[i].node_guid, ports[i].number);

		ports[i].is_held = old && old->is_held;
		ports[i].is_avoided = old && old->is_avoided;
		ports[i].far_guid = old ? old->far_guid : 0;
		ports[i].far_number = old ? old->far_number : 0;
		ports[i].is_gone = false;
	}
	for (uint32_t i = 0; i < hold->n; i++) {
		const struct triad_hold_port *old = &hold->ports[i];

		if (!old->is_avoided ||
			(n &&
				bsearch(old, ports, n, sizeof(*ports),
					triad_hold_compare)))
			continue;
		ports[n + n_gone] = *old;
		ports[n + n_gone].is_held = false;
		ports[n + n_gone++].is_gone = true;
	}
	return n_gone;
}

static void replace(struct triad_hold *hold, struct triad_hold_port *ports,
	struct triad_hold_end *ends, uint32_t n)
{
	uint32_t n_ends = atomic_load(&hold->n_held);

	/* Keep the ends of the last mark: requests for paths are compared with them. */
	if (n_ends > n)
		n_ends = n;
	if (n_ends)
		memcpy(ends, hold->ends, n_ends * sizeof(*ends));
	atomic_store(&hold->n_held, n_ends);
	free(hold->ports);
	free(hold->ends);
	hold->ports = ports;
	hold->ends = ends;
	hold->n = n;
}

int triad_hold_publish(
	struct triad_hold *hold, const struct triad_hold_port *ports, uint32_t n)
{
	struct triad_hold_port *copy;
	struct triad_hold_end *ends;
	uint32_t room = n;

	pthread_mutex_lock(&hold->lock);
	/* carry_over() may append each link that routing avoids. */
	for (uint32_t i = 0; i < hold->n; i++)
		room += hold->ports[i].is_avoided;
	copy = calloc((size_t)room + 1, sizeof(*copy));
	ends = calloc((size_t)room + 1, sizeof(*ends));
	if (copy && ends) {
		if (n)
			memcpy(copy, ports, n * sizeof(*copy));
		n += carry_over(hold, copy, n);
		qsort(copy, n, sizeof(*copy), triad_hold_compare);
		replace(hold, copy, ends, n);
	} else {
		free(copy);
		free(ends);
	}
	pthread_mutex_unlock(&hold->lock);
	return copy && ends ? 0 : ENOMEM;
}

/* --- marking --- */

bool triad_hold_routes_over_all(const struct osm_opensm *osm)
{
	const struct osm_routing_engine *engine;

	/* OpenSM frees its engines before it ends its plugins. */
	if (osm_exit_flag)
		return true;
	engine = osm->routing_engine_used ? osm->routing_engine_used
					  : osm->routing_engine_list;
	if (!engine)
		return false; /* the default is min-hop */
	switch (engine->type) {
	case OSM_ROUTING_ENGINE_TYPE_MINHOP:
	case OSM_ROUTING_ENGINE_TYPE_DOR:
	case OSM_ROUTING_ENGINE_TYPE_FTREE:
	case OSM_ROUTING_ENGINE_TYPE_NUE:
	case OSM_ROUTING_ENGINE_TYPE_SSSP:
	case OSM_ROUTING_ENGINE_TYPE_DFSSSP:
		return false;
	default:
		return true;
	}
}

static void add_end(struct triad_hold *hold, const osm_physp_t *far)
{
	uint32_t n = atomic_load(&hold->n_held);

	hold->ends[n] = (struct triad_hold_end){
		.guid = cl_ntoh64(osm_physp_get_port_guid(far)),
		.lid = cl_ntoh16(osm_physp_get_base_lid(far)),
		.lmc = ib_port_info_get_lmc(&far->port_info),
	};
	atomic_store(&hold->n_held, n + 1);
}

/* Finds the port and its far end in OpenSM's tables; false when there is no link. */
static bool find_link(struct osm_opensm *osm, const struct triad_hold_port *port,
	osm_node_t **node, osm_physp_t **physp, osm_physp_t **far)
{
	uint64_t guid = cl_hton64(port->node_guid);

	/* Ports are sorted by node: keep the node of the last call. */
	if (!*node || osm_node_get_node_guid(*node) != guid)
		*node = osm_get_node_by_guid(&osm->subn, guid);
	if (!*node || !(*node)->sw || port->number >= osm_node_get_num_physp(*node))
		return false;
	*physp = osm_node_get_physp_ptr(*node, port->number);
	*far = *physp ? osm_physp_get_remote(*physp) : NULL;
	return *far;
}

/* Which ports one walk may hold. */
struct rules {
	enum triad_hold_whom whom;
	bool holds_links; /* also links between switches */
};

static bool must_hold(const struct triad_hold_port *port, const osm_physp_t *far,
	const struct rules *rules)
{
	/* Never hold the port of an SM: it could not take over. */
	if (far->port_info.capability_mask & IB_PORT_CAP_IS_SM)
		return false;
	if (port->is_gone || (far->p_node->sw && !rules->holds_links) ||
		port->admitted == cl_ntoh64(osm_physp_get_port_guid(far)))
		return false;
	return port->is_remembered || rules->whom == TRIAD_HOLD_ALL ||
		(rules->whom == TRIAD_HOLD_HELD && port->is_held);
}

/* Marks both ends healthy.  Finds the far end by node and number, because OpenSM may no
 * longer link the two. */
static void give_back(struct osm_opensm *osm, struct triad_hold_port *port)
{
	osm_physp_t *near = triad_physp_find(osm, port->node_guid, port->number);
	osm_physp_t *far = triad_physp_find(osm, port->far_guid, port->far_number);

	if (near)
		osm_physp_set_health(near, TRUE);
	if (far)
		osm_physp_set_health(far, TRUE);
	port->is_avoided = false;
}

/* Makes routing avoid a link that must be held.  Skips one that OpenSM itself has
 * marked unhealthy: give_back() must not mark it healthy. */
static void avoid_port(struct triad_hold_port *port, osm_physp_t *physp,
	osm_physp_t *far, const struct rules *rules)
{
	if (!far->p_node->sw || osm_physp_get_port_state(physp) != IB_LINK_INIT ||
		!must_hold(port, far, rules) || !osm_link_is_healthy(physp))
		return;
	osm_physp_set_health(physp, FALSE);
	osm_physp_set_health(far, FALSE);
	port->is_avoided = true;
	port->far_guid = cl_ntoh64(osm_node_get_node_guid(far->p_node));
	port->far_number = osm_physp_get_port_num(far);
}

static void mark_port(struct triad_hold *hold, struct triad_hold_port *port,
	osm_physp_t *physp, osm_physp_t *far, const struct rules *rules)
{
	bool is_held = osm_physp_get_port_state(physp) == IB_LINK_INIT &&
		must_hold(port, far, rules);

	port->is_held = is_held;
	if (!is_held)
		return;
	/* OpenSM's link manager skips a port whose copy of the state is DOWN.  The next
	 * sweep reads the copy anew. */
	ib_port_info_set_port_state(&physp->port_info, IB_LINK_DOWN);
	ib_port_info_set_port_state(&far->port_info, IB_LINK_DOWN);
	/* If the far end is a switch, hold only the link: the switch may have
	 * others. */
	if (!far->p_node->sw)
		add_end(hold, far);
}

/* If memory is short, min-hop counts them. */
static void keep_from_minhop(struct triad_hold *hold, struct osm_opensm *osm)
{
	struct triad_minhop_link *links = NULL;
	uint32_t n = 0;

	for (uint32_t i = 0; i < hold->n; i++)
		n += hold->ports[i].is_avoided;
	if (n)
		links = calloc(n, sizeof(*links));
	n = 0;
	for (uint32_t i = 0; links && i < hold->n; i++) {
		const struct triad_hold_port *port = &hold->ports[i];

		if (port->is_avoided)
			links[n++] = (struct triad_minhop_link){
				.guid = port->node_guid,
				.number = port->number,
				.far_guid = port->far_guid,
				.far_number = port->far_number,
			};
	}
	triad_minhop_avoid(osm, links, n);
}

static void avoid_all(
	struct triad_hold *hold, struct osm_opensm *osm, const struct rules *rules)
{
	osm_physp_t *physp, *far;
	osm_node_t *node = NULL;

	/* Restore all links first.  Those that are unhealthy after this were marked by
	 * OpenSM. */
	for (uint32_t i = 0; i < hold->n; i++)
		if (hold->ports[i].is_avoided)
			give_back(osm, &hold->ports[i]);
	for (uint32_t i = 0; i < hold->n; i++)
		if (find_link(osm, &hold->ports[i], &node, &physp, &far))
			avoid_port(&hold->ports[i], physp, far, rules);
	keep_from_minhop(hold, osm);
}

static void mark_all(
	struct triad_hold *hold, struct osm_opensm *osm, const struct rules *rules)
{
	osm_physp_t *physp, *far;
	osm_node_t *node = NULL;

	atomic_store(&hold->n_held, 0);
	for (uint32_t i = 0; i < hold->n; i++)
		if (find_link(osm, &hold->ports[i], &node, &physp, &far))
			mark_port(hold, &hold->ports[i], physp, far, rules);
		else
			hold->ports[i].is_held = false;
}

/* One walk over the ports, under OpenSM's lock. */
static void walk_ports(struct triad_hold *hold, struct osm_opensm *osm,
	enum triad_hold_whom whom,
	void (*visit_all)(
		struct triad_hold *, struct osm_opensm *, const struct rules *))
{
	const struct rules rules = {
		.whom = whom,
		.holds_links = !triad_hold_routes_over_all(osm),
	};
	uint64_t begun_us, took_us;

	pthread_mutex_lock(&hold->lock);
	if (hold->n) {
		/* Exclusively: the walk changes flags and states that OpenSM's threads
		 * read. */
		cl_plock_excl_acquire(&osm->lock);
		begun_us = triad_clock_now_us();
		visit_all(hold, osm, &rules);
		took_us = triad_clock_now_us() - begun_us;
		if (took_us > hold->longest_us)
			hold->longest_us = took_us;
		cl_plock_release(&osm->lock);
	}
	pthread_mutex_unlock(&hold->lock);
}

void triad_hold_avoid(
	struct triad_hold *hold, struct osm_opensm *osm, enum triad_hold_whom whom)
{
	walk_ports(hold, osm, whom, avoid_all);
}

void triad_hold_mark(
	struct triad_hold *hold, struct osm_opensm *osm, enum triad_hold_whom whom)
{
	walk_ports(hold, osm, whom, mark_all);
}

/* --- asking --- */

bool triad_hold_is_held(struct triad_hold *hold, uint64_t node_guid, uint8_t number)
{
	const struct triad_hold_port *port;
	bool is_held;

	pthread_mutex_lock(&hold->lock);
	port = find_held(hold, node_guid, number);
	is_held = port && port->is_held;
	pthread_mutex_unlock(&hold->lock);
	return is_held;
}

bool triad_hold_has_any(const struct triad_hold *hold)
{
	return atomic_load_explicit(&hold->n_held, memory_order_relaxed) > 0;
}

bool triad_hold_has_end(struct triad_hold *hold, uint16_t lid, uint64_t guid)
{
	bool has_it = false;

	pthread_mutex_lock(&hold->lock);
	for (uint32_t i = 0; i < atomic_load(&hold->n_held) && !has_it; i++) {
		const struct triad_hold_end *end = &hold->ends[i];

		/* Compare the GUID, too: a port may lack a LID yet. */
		has_it = (guid && end->guid == guid) ||
			(lid && end->lid && lid >= end->lid &&
				lid < end->lid + (1u << end->lmc));
	}
	pthread_mutex_unlock(&hold->lock);
	return has_it;
}

uint32_t triad_hold_n_held(struct triad_hold *hold)
{
	uint32_t n = 0;

	pthread_mutex_lock(&hold->lock);
	for (uint32_t i = 0; i < hold->n; i++)
		n += hold->ports[i].is_held;
	pthread_mutex_unlock(&hold->lock);
	return n;
}

uint64_t triad_hold_longest_us(struct triad_hold *hold)
{
	return TRIAD_LOCKED(&hold->lock, hold->longest_us);
}
