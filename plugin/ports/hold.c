/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "plugin/opensm.h"

#include "plugin/ports/hold.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "lib/hash.h"
#include "plugin/physp.h"
#include "plugin/sm_state.h"
#include "triad/clock.h"
#include "triad/thread.h"

/* A link between switches that OpenSM does not have while it routes. */
struct hidden {
	uint64_t guid, far_guid; /* of nodes */
	uint8_t number, far_number;
};

struct triad_hold {
	pthread_mutex_t lock; /* protects all but atomic members */
	struct triad_hold_port *ports;
	uint32_t n;
	struct hidden *hidden; /* room for 'n' */
	uint32_t n_hidden;
	uint64_t routed_without; /* hash of the links that were hidden last; 0: none */
	bool is_rerouted;        /* since, with all links */
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
	free(hold->hidden);
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

struct lists {
	struct triad_hold_port *ports;
	struct hidden *hidden;
	struct triad_hold_end *ends;
};

/* Takes the lists over.  Held ports stay held until the next mark, what is hidden until it is shown again,
 * and the ends of the last mark stay: requests for paths are compared with them. */
static void replace(struct triad_hold *hold, const struct lists *lists, uint32_t n)
{
	uint32_t n_ends = atomic_load(&hold->n_held);

	for (uint32_t i = 0; i < n; i++) {
		const struct triad_hold_port *old = find_held(
			hold, lists->ports[i].node_guid, lists->ports[i].number);

		lists->ports[i].is_held = old && old->is_held;
	}
	if (n_ends > n)
		n_ends = n;
	if (n_ends)
		memcpy(lists->ends, hold->ends, n_ends * sizeof(*lists->ends));
	if (hold->n_hidden)
		memcpy(lists->hidden, hold->hidden,
			hold->n_hidden * sizeof(*lists->hidden));
	atomic_store(&hold->n_held, n_ends);
	free(hold->ports);
	free(hold->hidden);
	free(hold->ends);
	hold->ports = lists->ports;
	hold->hidden = lists->hidden;
	hold->ends = lists->ends;
	hold->n = n;
}

int triad_hold_publish(
	struct triad_hold *hold, const struct triad_hold_port *ports, uint32_t n)
{
	struct lists lists;
	size_t n_hidden;
	bool has_all;

	pthread_mutex_lock(&hold->lock);
	n_hidden = n > hold->n_hidden ? n : hold->n_hidden;
	lists.ports = calloc((size_t)n + 1, sizeof(*lists.ports));
	lists.hidden = calloc(n_hidden + 1, sizeof(*lists.hidden));
	lists.ends = calloc((size_t)n + 1, sizeof(*lists.ends));
	has_all = lists.ports && lists.hidden && lists.ends;
	if (has_all) {
		if (n)
			memcpy(lists.ports, ports, n * sizeof(*ports));
		replace(hold, &lists, n);
	} else {
		free(lists.ports);
		free(lists.hidden);
		free(lists.ends);
	}
	pthread_mutex_unlock(&hold->lock);
	return has_all ? 0 : ENOMEM;
}

/* --- marking --- */

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
	bool holds_links; /* also those between switches */
};

static bool must_hold(const struct triad_hold_port *port, const osm_physp_t *far,
	const struct rules *rules)
{
	/* Never hold the port of an SM: it could not take over. */
	if (far->port_info.capability_mask & IB_PORT_CAP_IS_SM)
		return false;
	if ((far->p_node->sw && !rules->holds_links) ||
		port->admitted == cl_ntoh64(osm_physp_get_port_guid(far)))
		return false;
	return port->is_remembered || rules->whom == TRIAD_HOLD_ALL ||
		(rules->whom == TRIAD_HOLD_HELD && port->is_held);
}

static void hide_link(struct triad_hold *hold, const struct triad_hold_port *port,
	osm_physp_t *physp, osm_physp_t *far, const struct rules *rules)
{
	if (!far->p_node->sw || osm_physp_get_port_state(physp) != IB_LINK_INIT ||
		!must_hold(port, far, rules))
		return;
	osm_physp_unlink(physp, far);
	hold->hidden[hold->n_hidden++] = (struct hidden){
		.guid = port->node_guid,
		.number = port->number,
		.far_guid = cl_ntoh64(osm_node_get_node_guid(far->p_node)),
		.far_number = osm_physp_get_port_num(far),
	};
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

/* OpenSM with 'use_ucast_cache' routes anew only where it has seen a change. */
static void have_routed_anew(struct triad_hold *hold, struct osm_opensm *osm)
{
	uint64_t without = 0;

	for (uint32_t i = 0; i < hold->n_hidden; i++)
		without = triad_hash_word(
			triad_hash_word(without + 1, hold->hidden[i].guid),
			hold->hidden[i].number);
	if (without != hold->routed_without || hold->is_rerouted)
		osm_ucast_cache_invalidate(&osm->sm.ucast_mgr);
	hold->is_rerouted = false;
	hold->routed_without = without;
}

/* What was hidden in a sweep that did not come to its mark, OpenSM has linked anew since. */
static void hide_all(
	struct triad_hold *hold, struct osm_opensm *osm, const struct rules *rules)
{
	osm_physp_t *physp, *far;
	osm_node_t *node = NULL;

	hold->n_hidden = 0;
	for (uint32_t i = 0; i < hold->n; i++)
		if (find_link(osm, &hold->ports[i], &node, &physp, &far))
			hide_link(hold, &hold->ports[i], physp, far, rules);
	have_routed_anew(hold, osm);
}

static void show_again(struct triad_hold *hold, struct osm_opensm *osm)
{
	for (uint32_t i = 0; i < hold->n_hidden; i++) {
		const struct hidden *link = &hold->hidden[i];
		osm_physp_t *near = triad_physp_find(osm, link->guid, link->number),
			    *far = triad_physp_find(
				    osm, link->far_guid, link->far_number);

		if (near && far && !osm_physp_get_remote(near) &&
			!osm_physp_get_remote(far))
			osm_physp_link(near, far);
	}
	hold->n_hidden = 0;
}

static void mark_all(
	struct triad_hold *hold, struct osm_opensm *osm, const struct rules *rules)
{
	osm_physp_t *physp, *far;
	osm_node_t *node = NULL;

	show_again(hold, osm);
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
		.holds_links = !triad_sm_routes_by_file(osm),
	};
	uint64_t begun_us, took_us;

	pthread_mutex_lock(&hold->lock);
	if (hold->n || hold->n_hidden || hold->routed_without) {
		/* Exclusively: the walk changes links and states that OpenSM's threads
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

void triad_hold_hide(
	struct triad_hold *hold, struct osm_opensm *osm, enum triad_hold_whom whom)
{
	walk_ports(hold, osm, whom, hide_all);
}

void triad_hold_mark(
	struct triad_hold *hold, struct osm_opensm *osm, enum triad_hold_whom whom)
{
	walk_ports(hold, osm, whom, mark_all);
}

bool triad_hold_note_rerouted(struct triad_hold *hold)
{
	bool must_sweep;

	pthread_mutex_lock(&hold->lock);
	must_sweep = hold->routed_without;
	hold->is_rerouted = must_sweep;
	pthread_mutex_unlock(&hold->lock);
	return must_sweep;
}

/* --- asking --- */

bool triad_hold_has_links(struct triad_hold *hold)
{
	return TRIAD_LOCKED(&hold->lock, hold->routed_without) != 0;
}

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
