/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "plugin/opensm.h"

#include "plugin/ports/hold.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "triad/clock.h"

struct triad_hold {
	pthread_mutex_t lock; /* of all but 'n_held' */
	struct triad_hold_port *ports;
	uint32_t n;
	struct triad_hold_end *ends; /* as many as ports; of those that are held */
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

static int compare(const void *a, const void *b)
{
	const struct triad_hold_port *first = a, *second = b;

	if (first->node_guid != second->node_guid)
		return first->node_guid < second->node_guid ? -1 : 1;
	return (int)first->number - second->number;
}

static struct triad_hold_port *find(
	const struct triad_hold *hold, uint64_t node_guid, uint8_t number)
{
	const struct triad_hold_port key = {.node_guid = node_guid, .number = number};

	return hold->n ? bsearch(&key, hold->ports, hold->n, sizeof(key), compare)
		       : NULL;
}

/* What is held goes on being so, until the next mark. */
static void carry_over(
	const struct triad_hold *hold, struct triad_hold_port *ports, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		const struct triad_hold_port *old =
			find(hold, ports[i].node_guid, ports[i].number);

		ports[i].is_held = old && old->is_held;
	}
}

int triad_hold_publish(
	struct triad_hold *hold, const struct triad_hold_port *ports, uint32_t n)
{
	struct triad_hold_port *copy = calloc((size_t)n + 1, sizeof(*copy));
	struct triad_hold_end *ends = calloc((size_t)n + 1, sizeof(*ends));
	uint32_t n_ends;

	if (!copy || !ends) {
		free(copy);
		free(ends);
		return ENOMEM;
	}
	if (n)
		memcpy(copy, ports, n * sizeof(*copy));
	pthread_mutex_lock(&hold->lock);
	carry_over(hold, copy, n);
	n_ends = atomic_load(&hold->n_held);
	if (n_ends > n)
		n_ends = n;
	if (n_ends)
		memcpy(ends, hold->ends, n_ends * sizeof(*ends));
	atomic_store(&hold->n_held, n_ends);
	free(hold->ports);
	free(hold->ends);
	hold->ports = copy;
	hold->ends = ends;
	hold->n = n;
	pthread_mutex_unlock(&hold->lock);
	return 0;
}

/* --- marking --- */

static void set_down(osm_physp_t *physp)
{
	ib_port_info_set_port_state(&physp->port_info, IB_LINK_DOWN);
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

static void mark_port(struct triad_hold *hold, struct triad_hold_port *port,
	osm_node_t *node, bool may_begin)
{
	osm_physp_t *physp = osm_node_get_physp_ptr(node, port->number);
	osm_physp_t *far = physp ? osm_physp_get_remote(physp) : NULL;
	bool was_held = port->is_held;

	port->is_held = false;
	if (!far || osm_physp_get_port_state(physp) != IB_LINK_INIT)
		return;
	if (port->admitted == cl_ntoh64(osm_physp_get_port_guid(far)))
		return;
	if (!was_held && !port->is_remembered && !may_begin)
		return;
	set_down(physp);
	set_down(far);
	port->is_held = true;
	/* Of a switch at the far end only the link waits; the switch has other ones. */
	if (!far->p_node->sw)
		add_end(hold, far);
}

static void mark_all(struct triad_hold *hold, struct osm_opensm *osm, bool may_begin)
{
	osm_node_t *node = NULL;
	uint64_t guid = 0;

	atomic_store(&hold->n_held, 0);
	for (uint32_t i = 0; i < hold->n; i++) {
		struct triad_hold_port *port = &hold->ports[i];

		if (!node || guid != port->node_guid) {
			guid = port->node_guid;
			node = osm_get_node_by_guid(&osm->subn, cl_hton64(guid));
		}
		if (node && node->sw && port->number < osm_node_get_num_physp(node))
			mark_port(hold, port, node, may_begin);
		else
			port->is_held = false;
	}
}

void triad_hold_mark(struct triad_hold *hold, struct osm_opensm *osm, bool may_begin)
{
	uint64_t begun_us, took_us;

	pthread_mutex_lock(&hold->lock);
	if (hold->n) {
		cl_plock_excl_acquire(&osm->lock);
		begun_us = triad_clock_now_us();
		mark_all(hold, osm, may_begin);
		took_us = triad_clock_now_us() - begun_us;
		cl_plock_release(&osm->lock);
		if (took_us > hold->longest_us)
			hold->longest_us = took_us;
	}
	pthread_mutex_unlock(&hold->lock);
}

/* --- asking --- */

bool triad_hold_is_held(struct triad_hold *hold, uint64_t node_guid, uint8_t number)
{
	const struct triad_hold_port *port;
	bool is_held;

	pthread_mutex_lock(&hold->lock);
	port = find(hold, node_guid, number);
	is_held = port && port->is_held;
	pthread_mutex_unlock(&hold->lock);
	return is_held;
}

bool triad_hold_has_any(const struct triad_hold *hold)
{
	return atomic_load_explicit(&hold->n_held, memory_order_relaxed) > 0;
}

static bool is_end(const struct triad_hold_end *end, uint16_t lid, uint64_t guid)
{
	return (guid && end->guid == guid) ||
		(lid && end->lid && lid >= end->lid &&
			lid < end->lid + (1u << end->lmc));
}

bool triad_hold_has_end(struct triad_hold *hold, uint16_t lid, uint64_t guid)
{
	bool has_it = false;

	pthread_mutex_lock(&hold->lock);
	for (uint32_t i = 0; i < atomic_load(&hold->n_held) && !has_it; i++)
		has_it = is_end(&hold->ends[i], lid, guid);
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
	uint64_t longest_us;

	pthread_mutex_lock(&hold->lock);
	longest_us = hold->longest_us;
	pthread_mutex_unlock(&hold->lock);
	return longest_us;
}
