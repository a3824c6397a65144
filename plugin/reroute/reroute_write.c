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
#define BLOCK_SIZE IB_SMP_DATA_SIZE

/* A block of a switch's forwarding table, in one step. */
struct block {
	uint32_t sw; /* its number in the layout */
	uint16_t step, number;
	uint32_t first, n;          /* its changes */
	uint8_t before[BLOCK_SIZE]; /* what OpenSM has, then what is to be there */
	uint8_t after[BLOCK_SIZE];
};

struct writing {
	struct reroute_loss *loss;
	const struct triad_routes_repair *repair;
	struct triad_routes_change
		*changes; /* by step, the SM's LID first, switch, LID */
	struct block *blocks;
	uint32_t n_blocks;
	struct triad_smp_route *routes; /* of each switch of the layout; lid 0: none */
	struct triad_smp_item *items;   /* of each block */
	bool must_sweep;
};

static bool has_discovered(const struct reroute_loss *loss)
{
	return atomic_load(&loss->rerouter->n_discoveries) != loss->n_discoveries;
}

const char *reroute_forbids(const struct reroute_loss *loss)
{
	const struct triad_rerouter *rerouter = loss->rerouter;
	struct triad_permission permission =
		triad_elector_permission(rerouter->elector);

	if (osm_exit_flag)
		return "OpenSM ends";
	if (!reroute_is_master(rerouter))
		return "this SM is not the master";
	if (atomic_load(&rerouter->is_configuring))
		return "OpenSM writes its tables at this moment";
	if (has_discovered(loss))
		return "OpenSM has discovered the fabric anew since";
	/* Without elections the master alone has a say. */
	if (!permission.is_given && !(permission.reasons & TRIAD_PERMISSION_OFF))
		return "this SM has no permission to enforce; 'port status' says why";
	return NULL;
}

/* --- blocks --- */

static uint64_t guid_of(const struct writing *writing, uint32_t sw)
{
	const struct triad_routes_layout *layout = writing->loss->check->layout;

	return layout->fabric->nodes[layout->switches[sw].node].guid;
}

static unsigned block_of(const struct triad_routes_change *change)
{
	return change->lid / BLOCK_SIZE;
}

static unsigned sm_block(const struct writing *writing)
{
	const struct triad_fabric *fabric = writing->loss->fabric;

	return fabric->ports[fabric->sm_port].lid / BLOCK_SIZE;
}

static int compare_uint(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

static int order_changes(const void *a, const void *b, void *context)
{
	const struct triad_routes_change *one = a, *other = b;
	unsigned first = *(const unsigned *)context;
	int order = compare_uint(one->step, other->step);

	if (!order)
		order = compare_uint(block_of(one) != first, block_of(other) != first);
	if (!order)
		order = compare_uint(one->sw, other->sw);
	return order ? order : compare_uint(one->lid, other->lid);
}

static bool is_in_block(
	const struct block *block, const struct triad_routes_change *change)
{
	return block->sw == change->sw && block->step == change->step &&
		block->number == block_of(change);
}

static void make_blocks(struct writing *writing)
{
	unsigned first = sm_block(writing);

	memcpy(writing->changes, writing->repair->changes,
		writing->repair->n_changes * sizeof(*writing->changes));
	qsort_r(writing->changes, writing->repair->n_changes, sizeof(*writing->changes),
		order_changes, &first);
	for (uint32_t i = 0; i < writing->repair->n_changes; i++) {
		const struct triad_routes_change *change = &writing->changes[i];
		struct block *last = writing->n_blocks
			? &writing->blocks[writing->n_blocks - 1]
			: NULL;

		if (!last || !is_in_block(last, change)) {
			last = &writing->blocks[writing->n_blocks++];
			*last = (struct block){.sw = change->sw,
				.step = change->step,
				.number = (uint16_t)block_of(change),
				.first = i};
		}
		last->n++;
	}
}

/* --- OpenSM's view, under its lock --- */

/* The block in OpenSM's two copies; false: it has none. */
static bool find_copies(
	const osm_switch_t *sw, unsigned number, uint8_t **has, uint8_t **wants)
{
	size_t at = (size_t)number * BLOCK_SIZE;

	if (!sw || !sw->lft || !sw->new_lft || at + BLOCK_SIZE > sw->lft_size)
		return false;
	*has = sw->lft + at;
	*wants = sw->new_lft + at;
	return true;
}

static bool carries(const osm_switch_t *sw, uint8_t number)
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
static bool take_block(struct writing *writing, struct block *block)
{
	const osm_switch_t *sw =
		osm_get_switch_by_guid(&writing->loss->rerouter->osm->subn,
			cl_hton64(guid_of(writing, block->sw)));
	uint8_t *has, *wants;

	if (!find_copies(sw, block->number, &has, &wants) ||
		memcmp(has, wants, BLOCK_SIZE) != 0)
		return false;
	memcpy(block->before, has, BLOCK_SIZE);
	for (const struct block *earlier = writing->blocks;
		block->step && earlier < block; earlier++)
		if (earlier->sw == block->sw && earlier->number == block->number)
			memcpy(block->before, earlier->after, BLOCK_SIZE);
	memcpy(block->after, block->before, BLOCK_SIZE);
	for (uint32_t i = block->first; i < block->first + block->n; i++) {
		const struct triad_routes_change *change = &writing->changes[i];
		uint8_t *entry = &block->after[change->lid % BLOCK_SIZE];

		if (*entry != change->from || !carries(sw, change->out))
			return false;
		*entry = change->out;
	}
	return true;
}

static bool find_m_key(struct writing *writing, const struct block *block)
{
	const osm_physp_t *physp = triad_physp_find(
		writing->loss->rerouter->osm, guid_of(writing, block->sw), 0);

	if (physp)
		writing->routes[block->sw].m_key =
			cl_ntoh64(ib_port_info_get_m_key(&physp->port_info));
	return physp;
}

static const char *take_blocks(struct writing *writing)
{
	struct osm_opensm *osm = writing->loss->rerouter->osm;
	bool is_as_planned = true;

	cl_plock_acquire(&osm->lock);
	for (uint32_t i = 0; i < writing->n_blocks && is_as_planned; i++)
		is_as_planned = take_block(writing, &writing->blocks[i]) &&
			find_m_key(writing, &writing->blocks[i]);
	cl_plock_release(&osm->lock);
	return is_as_planned
		? NULL
		: "OpenSM's tables or links are not those that were checked";
}

/* After the answer, or its absence: OpenSM's copies get what the switch has, if they are still
 * what it was planned from; else OpenSM writes the block. */
static void note_block(
	struct writing *writing, const struct block *block, bool is_written)
{
	const osm_switch_t *sw =
		osm_get_switch_by_guid(&writing->loss->rerouter->osm->subn,
			cl_hton64(guid_of(writing, block->sw)));
	uint8_t *has, *wants;

	if (!find_copies(sw, block->number, &has, &wants)) {
		writing->must_sweep = true;
	} else if (is_written && !has_discovered(writing->loss) &&
		memcmp(has, block->before, BLOCK_SIZE) == 0 &&
		memcmp(wants, block->before, BLOCK_SIZE) == 0) {
		memcpy(has, block->after, BLOCK_SIZE);
		memcpy(wants, block->after, BLOCK_SIZE);
	} else {
		memset(has, 0, BLOCK_SIZE);
		writing->must_sweep = true;
	}
}

static void unlink_port(
	struct osm_opensm *osm, const struct triad_fabric *fabric, uint32_t port)
{
	const struct triad_fabric_port *ends[] = {
		&fabric->ports[port], &fabric->ports[fabric->ports[port].remote]};
	osm_physp_t *near = triad_physp_find(
			    osm, fabric->nodes[ends[0]->node].guid, ends[0]->number),
		    *far = triad_physp_find(
			    osm, fabric->nodes[ends[1]->node].guid, ends[1]->number);

	/* One that is not ACTIVE was read by OpenSM meanwhile: it may be up again. */
	if (!near || !far || osm_physp_get_remote(near) != far ||
		osm_physp_get_port_state(near) != IB_LINK_ACTIVE ||
		osm_physp_get_port_state(far) != IB_LINK_ACTIVE)
		return;
	if (osm->sm.ucast_mgr.cache_valid)
		osm_ucast_cache_add_link(&osm->sm.ucast_mgr, near, far);
	osm_node_unlink(osm_physp_get_node_ptr(near), ends[0]->number,
		osm_physp_get_node_ptr(far), ends[1]->number);
	ib_port_info_set_port_state(&near->port_info, IB_LINK_DOWN);
	ib_port_info_set_port_state(&far->port_info, IB_LINK_DOWN);
}

static void unlink_ports(struct reroute_loss *loss)
{
	struct osm_opensm *osm = loss->rerouter->osm;

	cl_plock_excl_acquire(&osm->lock);
	for (uint32_t i = 0; i < loss->report->n_links; i++)
		if (!has_discovered(loss))
			unlink_port(osm, loss->fabric, loss->ports[i]);
	cl_plock_release(&osm->lock);
}

/* --- sending --- */

static const char *find_routes(struct writing *writing)
{
	const struct triad_routes_layout *layout = writing->loss->check->layout;
	struct triad_routes_out *out = reroute_find_routes(
		writing->loss, TRIAD_FABRIC_NONE, TRIAD_FABRIC_NONE);
	const char *why = NULL;

	if (!out)
		return "memory is short";
	for (uint32_t i = 0; i < writing->n_blocks && !why; i++) {
		uint32_t sw = writing->blocks[i].sw;

		if (triad_routes_out_read(
			    out, layout->switches[sw].node, &writing->routes[sw].path))
			why = "a switch can't be reached around the lost link";
	}
	triad_routes_out_free(out);
	return why;
}

static bool is_written(const struct writing *writing, uint32_t i)
{
	const struct triad_smp_item *item = &writing->items[i];

	/* A switch answers with what it has. */
	return !item->error &&
		memcmp(item->data, writing->blocks[i].after, BLOCK_SIZE) == 0;
}

/* Sends the blocks from 'first' on, of one step; those without an answer once more. */
static void send_step(struct writing *writing, uint32_t first, uint32_t n)
{
	const struct triad_smp_request request = {.is_set = true,
		.attribute = TRIAD_SMP_LINEAR_FORWARDING_TABLE,
		.timeout_ms = TIMEOUT_MS};
	struct triad_smp *smp = writing->loss->rerouter->smp;

	for (uint32_t i = first; i < first + n; i++) {
		writing->items[i] = (struct triad_smp_item){
			.route = &writing->routes[writing->blocks[i].sw],
			.modifier = writing->blocks[i].number};
		memcpy(writing->items[i].data, writing->blocks[i].after, BLOCK_SIZE);
	}
	(void)triad_smp_ask_all(smp, &request, writing->items + first, n);
	for (uint32_t i = first; i < first + n; i++) {
		if (writing->items[i].error != ETIMEDOUT ||
			reroute_forbids(writing->loss))
			continue;
		memcpy(writing->items[i].data, writing->blocks[i].after, BLOCK_SIZE);
		(void)triad_smp_ask_all(smp, &request, &writing->items[i], 1);
	}
}

/* Returns why it can't go on. */
static const char *note_step(struct writing *writing, uint32_t first, uint32_t n)
{
	struct osm_opensm *osm = writing->loss->rerouter->osm;
	const char *why = NULL;

	cl_plock_excl_acquire(&osm->lock);
	for (uint32_t i = first; i < first + n; i++) {
		bool is_ours = is_written(writing, i);

		note_block(writing, &writing->blocks[i], is_ours);
		writing->loss->report->n_written += is_ours;
		if (!is_ours)
			why = writing->items[i].error
				? "a switch did not answer"
				: "a switch did not take what was written";
	}
	cl_plock_release(&osm->lock);
	if (!why && writing->must_sweep)
		why = "OpenSM wrote its tables at the same time";
	return why;
}

static const char *write_steps(struct writing *writing)
{
	const char *why = NULL;

	for (uint32_t first = 0, n; first < writing->n_blocks && !why; first += n) {
		why = reroute_forbids(writing->loss);
		if (why)
			break;
		n = 1;
		while (first + n < writing->n_blocks &&
			writing->blocks[first + n].step == writing->blocks[first].step)
			n++;
		send_step(writing, first, n);
		why = note_step(writing, first, n);
	}
	return why;
}

static const char *write_all(struct writing *writing)
{
	const struct triad_routes_repair *repair = writing->repair;
	struct triad_reroute *report = writing->loss->report;
	const char *why;

	writing->changes = calloc(repair->n_changes, sizeof(*writing->changes));
	writing->blocks = calloc(repair->n_changes, sizeof(*writing->blocks));
	writing->routes = calloc(
		writing->loss->check->layout->n_switches, sizeof(*writing->routes));
	if (!writing->changes || !writing->blocks || !writing->routes)
		return "memory is short";
	make_blocks(writing);
	writing->items = calloc(writing->n_blocks, sizeof(*writing->items));
	if (!writing->items)
		return "memory is short";
	why = find_routes(writing);
	if (!why)
		why = take_blocks(writing);
	if (!why)
		why = reroute_forbids(writing->loss);
	if (why)
		return why;
	report->outcome = TRIAD_REROUTE_FAILED;
	why = write_steps(writing);
	report->ended_us = triad_clock_now_us();
	return why;
}

void reroute_write(struct reroute_loss *loss, const struct triad_routes_repair *repair)
{
	struct writing writing = {.loss = loss, .repair = repair};

	loss->report->outcome = TRIAD_REROUTE_LEFT;
	loss->report->why = write_all(&writing);
	if (!loss->report->why) {
		loss->report->outcome = TRIAD_REROUTE_DONE;
		unlink_ports(loss);
	}
	if (writing.must_sweep)
		triad_sm_sweep(loss->rerouter->osm);
	free(writing.changes);
	free(writing.blocks);
	free(writing.routes);
	free(writing.items);
}
