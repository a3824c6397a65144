/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "plugin/reroute/reroute_parts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "plugin/election/elector.h"
#include "plugin/physp.h"
#include "plugin/sm_recover.h"
#include "triad/clock.h"

#define TIMEOUT_MS 100u

static bool has_discovered(const struct reroute_loss *loss)
{
	return atomic_load(&loss->rerouter->n_discoveries) != loss->n_discoveries;
}

/* Without a sweep, of whose beginning OpenSM says nothing: it is to, or it does. */
static bool does_route_afresh(const struct triad_rerouter *rerouter)
{
	const struct osm_subn *subn = &rerouter->osm->subn;

	return triad_osm_peek(&subn->force_reroute) ||
		(!atomic_load(&rerouter->is_discovering) &&
			triad_osm_peek(&subn->ignore_existing_lfts));
}

const char *reroute_forbids(const struct reroute_loss *loss)
{
	const struct triad_rerouter *rerouter = loss->rerouter;

	if (osm_exit_flag)
		return "OpenSM ends";
	if (!reroute_is_master(rerouter))
		return "this SM is not the master";
	if (atomic_load(&rerouter->is_configuring) || does_route_afresh(rerouter))
		return "OpenSM writes its tables, or its last sweep did not come to its end";
	if (has_discovered(loss))
		return "OpenSM has discovered the fabric anew since";
	return triad_elector_forbids(rerouter->elector);
}

/* --- blocks --- */

static int compare_uint(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

static int order_places(const void *a, const void *b)
{
	const struct reroute_place *one = a, *other = b;
	int order = compare_uint(one->step, other->step);

	if (!order)
		order = compare_uint(one->rank, other->rank);
	if (!order)
		order = compare_uint(one->sw, other->sw);
	return order ? order : compare_uint(one->number, other->number);
}

static int order_entries(const void *a, const void *b)
{
	const struct reroute_entry *one = a, *other = b;
	int order = order_places(&one->at, &other->at);

	return order ? order : compare_uint(one->change, other->change);
}

static void make_blocks(struct reroute_writing *writing)
{
	qsort(writing->entries, writing->n_entries, sizeof(*writing->entries),
		order_entries);
	for (uint32_t i = 0; i < writing->n_entries; i++) {
		const struct reroute_entry *entry = &writing->entries[i];
		struct reroute_block *last = writing->n_blocks
			? &writing->blocks[writing->n_blocks - 1]
			: NULL;

		if (!last || order_places(&last->at, &entry->at) != 0) {
			last = &writing->blocks[writing->n_blocks++];
			*last = (struct reroute_block){.at = entry->at, .first = i};
		}
		last->n++;
	}
}

static int order_block(const void *place, const void *block)
{
	return order_places(place, &((const struct reroute_block *)block)->at);
}

/* The last block of an earlier step that is the same one; or NULL. */
static const struct reroute_block *find_earlier(
	const struct reroute_writing *writing, const struct reroute_block *block)
{
	struct reroute_place place = block->at;
	const struct reroute_block *earlier = NULL;

	while (!earlier && place.step) {
		place.step--;
		earlier = bsearch(&place, writing->blocks, writing->n_blocks,
			sizeof(*writing->blocks), order_block);
	}
	return earlier;
}

/* --- OpenSM's view, under its lock --- */

osm_switch_t *reroute_switch(const struct reroute_loss *loss, uint32_t sw)
{
	const struct triad_routes_layout *layout = loss->check->layout;

	return osm_get_switch_by_guid(&loss->rerouter->osm->subn,
		cl_hton64(layout->fabric->nodes[layout->switches[sw].node].guid));
}

bool reroute_carries(const osm_switch_t *sw, unsigned number)
{
	const osm_physp_t *physp;

	if (!number)
		return true;
	physp = number < osm_node_get_num_physp(sw->p_node)
		? osm_node_get_physp_ptr(sw->p_node, number)
		: NULL;
	return physp && osm_physp_get_remote(physp) &&
		osm_physp_get_port_state(physp) == IB_LINK_ACTIVE;
}

/* Takes the block from OpenSM, with the changes in it; of an earlier step's block of the same
 * switch what that made of it.  Returns false: something is not as it was planned from. */
static bool take_block(struct reroute_writing *writing, struct reroute_block *block)
{
	const osm_switch_t *sw = reroute_switch(writing->loss, block->at.sw);
	const osm_physp_t *port0 = sw ? osm_node_get_physp_ptr(sw->p_node, 0) : NULL;
	const struct reroute_block *earlier = find_earlier(writing, block);

	if (!port0 || !writing->table->read(sw, block->at.number, block->before))
		return false;
	writing->routes[block->at.sw].m_key =
		cl_ntoh64(ib_port_info_get_m_key(&port0->port_info));
	if (earlier)
		memcpy(block->before, earlier->after, REROUTE_BLOCK_SIZE);
	memcpy(block->after, block->before, REROUTE_BLOCK_SIZE);
	for (uint32_t i = block->first; i < block->first + block->n; i++)
		if (!writing->table->change(
			    writing->plan, sw, &writing->entries[i], block->after))
			return false;
	return true;
}

static const char *take_blocks(struct reroute_writing *writing)
{
	struct osm_opensm *osm = writing->loss->rerouter->osm;
	bool is_as_planned = true;

	cl_plock_acquire(&osm->lock);
	for (uint32_t i = 0; i < writing->n_blocks && is_as_planned; i++)
		is_as_planned = take_block(writing, &writing->blocks[i]);
	cl_plock_release(&osm->lock);
	return is_as_planned ? NULL : REROUTE_DIFFERS;
}

/* After the answer, or its absence: OpenSM's copies get what the switch has, if they are still
 * what it was planned from; else OpenSM writes the block. */
static void note_block(
	struct reroute_writing *writing, struct reroute_block *block, bool is_written)
{
	osm_switch_t *sw = reroute_switch(writing->loss, block->at.sw);
	uint8_t now[REROUTE_BLOCK_SIZE];

	block->is_done = sw && is_written && !has_discovered(writing->loss) &&
		writing->table->read(sw, block->at.number, now) &&
		memcmp(now, block->before, REROUTE_BLOCK_SIZE) == 0;
	if (block->is_done)
		writing->table->put(sw, block->at.number, block->after);
	else if (sw)
		writing->table->make_void(sw, block->at.number);
	writing->must_sweep |= !block->is_done;
}

/* --- sending --- */

static const char *find_routes(
	struct reroute_writing *writing, const struct triad_routes_out *out)
{
	const struct triad_routes_layout *layout = writing->loss->check->layout;

	for (uint32_t i = 0; i < writing->n_blocks; i++) {
		uint32_t sw = writing->blocks[i].at.sw;

		if (triad_routes_out_read(
			    out, layout->switches[sw].node, &writing->routes[sw].path))
			return "a switch can't be reached around the lost link";
	}
	return NULL;
}

static bool may_send(void *context)
{
	struct reroute_writing *writing = context;

	writing->why_stopped = writing->table->forbids(writing->loss);
	return !writing->why_stopped;
}

/* Sends the blocks from 'first' on, of one step; those without an answer once more, one by one
 * until one stays without. */
static void send_step(struct reroute_writing *writing, uint32_t first, uint32_t n)
{
	const struct triad_smp_request request = {.is_set = true,
		.attribute = writing->table->attribute,
		.timeout_ms = TIMEOUT_MS};
	struct triad_smp *smp = writing->loss->smp;

	for (uint32_t i = first; i < first + n; i++) {
		writing->items[i] = (struct triad_smp_item){
			.route = &writing->routes[writing->blocks[i].at.sw],
			.modifier = writing->blocks[i].at.number};
		memcpy(writing->items[i].data, writing->blocks[i].after,
			REROUTE_BLOCK_SIZE);
	}
	(void)triad_smp_ask_all(
		smp, &request, writing->items + first, n, may_send, writing);
	for (uint32_t i = first; i < first + n; i++) {
		struct triad_smp_item *item = &writing->items[i];

		if (item->error != ETIMEDOUT)
			continue;
		memcpy(item->data, writing->blocks[i].after, REROUTE_BLOCK_SIZE);
		(void)triad_smp_ask_all(smp, &request, item, 1, may_send, writing);
		if (item->error == ETIMEDOUT || item->error == ECANCELED)
			break;
	}
}

/* A switch answers with what it has. */
static bool is_taken(const struct reroute_writing *writing, const uint8_t *answer,
	const uint8_t *wanted)
{
	return writing->table->is_taken
		? writing->table->is_taken(answer, wanted)
		: memcmp(answer, wanted, REROUTE_BLOCK_SIZE) == 0;
}

static const char *why_not_written(
	const struct reroute_writing *writing, const struct triad_smp_item *item)
{
	switch (item->error) {
	case ECANCELED:
		return writing->why_stopped;
	case 0:
		return "a switch did not take what was written";
	case ETIMEDOUT:
		return "a switch did not answer";
	case EPROTO:
		return "a switch refused what was written";
	default:
		return "requests could not be sent";
	}
}

/* Returns why it can't go on. */
static const char *note_step(
	struct reroute_writing *writing, uint32_t first, uint32_t n)
{
	struct osm_opensm *osm = writing->loss->rerouter->osm;
	const char *why = NULL;

	cl_plock_excl_acquire(&osm->lock);
	for (uint32_t i = first; i < first + n; i++) {
		struct reroute_block *block = &writing->blocks[i];
		const struct triad_smp_item *item = &writing->items[i];
		bool is_written =
			!item->error && is_taken(writing, item->data, block->after);

		note_block(writing, block, is_written);
		writing->n_written += is_written;
		if (!is_written)
			why = why_not_written(writing, item);
	}
	cl_plock_release(&osm->lock);
	if (!why && writing->must_sweep)
		why = "OpenSM wrote its tables at the same time";
	return why;
}

static const char *write_steps(struct reroute_writing *writing)
{
	const char *why = NULL;

	for (uint32_t first = 0, n; first < writing->n_blocks && !why; first += n) {
		why = writing->table->forbids(writing->loss);
		if (why)
			break;
		n = 1;
		while (first + n < writing->n_blocks &&
			writing->blocks[first + n].at.step ==
				writing->blocks[first].at.step)
			n++;
		send_step(writing, first, n);
		why = note_step(writing, first, n);
	}
	return why;
}

/* From the copies that are taken to the answers. */
static const char *write_blocks(struct reroute_writing *writing)
{
	const char *why = take_blocks(writing);

	if (!why)
		why = writing->table->forbids(writing->loss);
	if (why)
		return why;
	writing->has_begun = true;
	return write_steps(writing);
}

const char *reroute_write_blocks(
	struct reroute_writing *writing, const struct triad_routes_out *out)
{
	struct triad_rerouter *rerouter = writing->loss->rerouter;
	const char *why;

	writing->blocks = calloc(writing->n_entries + 1u, sizeof(*writing->blocks));
	writing->routes = calloc(
		writing->loss->check->layout->n_switches, sizeof(*writing->routes));
	if (!writing->blocks || !writing->routes)
		return REROUTE_NO_MEMORY;
	make_blocks(writing);
	writing->items = calloc(writing->n_blocks + 1u, sizeof(*writing->items));
	if (!writing->items)
		return REROUTE_NO_MEMORY;
	why = find_routes(writing, out);
	if (why)
		return why;
	pthread_mutex_lock(&rerouter->writing);
	why = write_blocks(writing);
	pthread_mutex_unlock(&rerouter->writing);
	if (writing->must_sweep)
		triad_sm_sweep(rerouter->osm);
	return why;
}

void reroute_writing_clear(struct reroute_writing *writing)
{
	free(writing->entries);
	free(writing->blocks);
	free(writing->routes);
	free(writing->items);
}
