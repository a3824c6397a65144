/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Forwarding tables of unicast. */
#include "plugin/reroute/reroute_parts.h"

#include <stdlib.h>
#include <string.h>

#include "plugin/physp.h"
#include "plugin/qos/qos.h"
#include "triad/clock.h"

/* --- OpenSM's two copies --- */

/* False: OpenSM has no such block. */
static bool find_copies(
	const osm_switch_t *sw, uint32_t number, uint8_t **has, uint8_t **wants)
{
	size_t at = (size_t)number * REROUTE_BLOCK_SIZE;

	if (!sw->lft || !sw->new_lft || at + REROUTE_BLOCK_SIZE > sw->lft_size)
		return false;
	*has = sw->lft + at;
	*wants = sw->new_lft + at;
	return true;
}

static bool read_lft(const osm_switch_t *sw, uint32_t number, uint8_t *octets)
{
	uint8_t *has, *wants;

	if (!find_copies(sw, number, &has, &wants) ||
		memcmp(has, wants, REROUTE_BLOCK_SIZE) != 0)
		return false;
	memcpy(octets, has, REROUTE_BLOCK_SIZE);
	return true;
}

static void put_lft(osm_switch_t *sw, uint32_t number, const uint8_t *octets)
{
	uint8_t *has, *wants;

	if (!find_copies(sw, number, &has, &wants))
		return;
	memcpy(has, octets, REROUTE_BLOCK_SIZE);
	memcpy(wants, octets, REROUTE_BLOCK_SIZE);
}

static void make_lft_void(osm_switch_t *sw, uint32_t number)
{
	uint8_t *has, *wants;

	if (find_copies(sw, number, &has, &wants))
		memset(has, 0, REROUTE_BLOCK_SIZE);
}

static bool change_lft(const void *plan, const osm_switch_t *sw,
	const struct reroute_entry *of, uint8_t *octets)
{
	const struct triad_routes_repair *repair = plan;
	const struct triad_routes_change *change = &repair->changes[of->change];
	uint8_t *entry = &octets[change->lid % REROUTE_BLOCK_SIZE];

	if (*entry != change->from || !reroute_carries(sw, change->out))
		return false;
	*entry = change->out;
	return true;
}

const struct reroute_table reroute_lft = {
	.attribute = TRIAD_SMP_LINEAR_FORWARDING_TABLE,
	.forbids = reroute_forbids,
	.read = read_lft,
	.put = put_lft,
	.make_void = make_lft_void,
	.change = change_lft,
};

/* --- OpenSM's links --- */

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
		if (atomic_load(&loss->rerouter->n_discoveries) == loss->n_discoveries)
			unlink_port(osm, loss->fabric, loss->ports[i]);
	cl_plock_release(&osm->lock);
}

/* --- all --- */

static const char *write_lft(
	struct reroute_writing *writing, const struct triad_routes_repair *repair)
{
	const struct triad_fabric *fabric = writing->loss->fabric;
	unsigned sm_block = fabric->ports[fabric->sm_port].lid / REROUTE_BLOCK_SIZE;
	struct triad_routes_out *out = reroute_find_routes(
		writing->loss, TRIAD_FABRIC_NONE, TRIAD_FABRIC_NONE);
	const char *why = REROUTE_NO_MEMORY;

	writing->entries = calloc(repair->n_changes, sizeof(*writing->entries));
	for (uint32_t i = 0; writing->entries && i < repair->n_changes; i++) {
		const struct triad_routes_change *change = &repair->changes[i];
		unsigned block = change->lid / REROUTE_BLOCK_SIZE;

		/* The SM's LID first. */
		writing->entries[writing->n_entries++] =
			(struct reroute_entry){.at = {.step = change->step,
						       .rank = block != sm_block,
						       .sw = change->sw,
						       .number = block},
				.change = i};
	}
	if (out && writing->entries)
		why = reroute_write_blocks(writing, out);
	triad_routes_out_free(out);
	return why;
}

/* Paths are answered from OpenSM's copies until its sweep, not as they were before. */
static void mark_paths(const struct reroute_writing *writing)
{
	const struct triad_routes_layout *layout = writing->loss->check->layout;

	for (uint32_t i = 0; i < writing->n_blocks; i++) {
		const struct reroute_place *at = &writing->blocks[i].at;

		triad_qos_note_route(writing->loss->rerouter->qos,
			layout->fabric->nodes[layout->switches[at->sw].node].guid,
			at->number);
	}
}

void reroute_write_unicast(
	struct reroute_loss *loss, const struct triad_routes_repair *repair)
{
	struct reroute_writing writing = {
		.loss = loss, .table = &reroute_lft, .plan = repair};
	struct triad_reroute *report = loss->report;

	report->why = write_lft(&writing, repair);
	report->n_written = writing.n_written;
	report->outcome = !report->why ? TRIAD_REROUTE_DONE
		: writing.has_begun    ? TRIAD_REROUTE_FAILED
				       : TRIAD_REROUTE_LEFT;
	if (writing.has_begun) {
		report->ended_us = triad_clock_now_us();
		mark_paths(&writing);
	}
	if (!report->why)
		unlink_ports(loss);
	reroute_writing_clear(&writing);
}
