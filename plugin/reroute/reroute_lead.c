/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "plugin/reroute/reroute_lead.h"

#include <stdlib.h>

#include "plugin/reroute/reroute_parts.h"
#include "plugin/sm_recover.h"

static const char no_routes[] = "routes are not checked now";

/* --- OpenSM's view, under its lock --- */

static bool is_a_ports(const struct triad_rerouter *rerouter, uint16_t lid)
{
	return osm_get_port_by_lid_ho(&rerouter->osm->subn, lid);
}

/* The switch forwards LIDs up to the highest in use [IBA 14.2.5.4, LinearFDBTop]. */
static bool is_forwarded(
	const struct triad_rerouter *rerouter, uint64_t guid, uint16_t lid)
{
	const osm_switch_t *sw =
		osm_get_switch_by_guid(&rerouter->osm->subn, cl_hton64(guid));

	return sw && lid <= sw->max_lid_ho && lid < sw->lft_size;
}

struct entries {
	const struct triad_rerouter *rerouter;
	const struct triad_reroute_lead *lead;
	bool must_end;
};

/* Of OpenSM's table: no entry becomes the hop's, or the hop's none. */
static bool change_entry(const void *plan, const osm_switch_t *sw,
	const struct reroute_entry *of, uint8_t *octets)
{
	const struct entries *entries = plan;
	const struct triad_reroute_lead *lead = entries->lead;
	uint8_t *entry = &octets[lead->lid % REROUTE_BLOCK_SIZE];
	uint8_t port = lead->hops[of->change].port;
	bool is_ours = !is_a_ports(entries->rerouter, lead->lid);

	(void)sw;
	if (entries->must_end) {
		if (is_ours && *entry == port)
			*entry = OSM_NO_PATH;
		return true;
	}
	if (!is_ours || *entry != OSM_NO_PATH)
		return false;
	*entry = port;
	return true;
}

/* --- writing --- */

/* Without a reference to the last check there is no layout. */
static bool begin(struct reroute_loss *loss, struct triad_rerouter *rerouter,
	struct triad_smp *smp, struct triad_reroute *report)
{
	*loss = (struct reroute_loss){.rerouter = rerouter,
		.smp = smp,
		.n_discoveries = atomic_load(&rerouter->n_discoveries),
		.result = triad_route_checker_result(rerouter->routes),
		.report = report};
	if (!loss->result)
		return false;
	loss->check = loss->result->check;
	loss->fabric = loss->check->layout->fabric;
	return true;
}

static const char *write_entries(
	struct reroute_loss *loss, const struct triad_reroute_lead *lead, bool must_end)
{
	const struct triad_routes_layout *layout = loss->check->layout;
	const struct entries plan = {
		.rerouter = loss->rerouter, .lead = lead, .must_end = must_end};
	struct reroute_table table = reroute_lft;
	struct reroute_writing writing = {.loss = loss, .table = &table, .plan = &plan};
	struct triad_routes_out *out =
		reroute_find_routes(loss, TRIAD_FABRIC_NONE, TRIAD_FABRIC_NONE);
	const char *why = REROUTE_NO_MEMORY;

	table.change = change_entry;
	writing.entries = calloc(lead->n, sizeof(*writing.entries));
	for (uint32_t i = 0; writing.entries && i < lead->n; i++) {
		uint32_t node =
			triad_fabric_find_node(loss->fabric, lead->hops[i].guid);

		if (node != TRIAD_FABRIC_NONE &&
			layout->switch_of_node[node] != TRIAD_FABRIC_NONE)
			writing.entries[writing.n_entries++] = (struct reroute_entry){
				.at = {.sw = layout->switch_of_node[node],
					.number = lead->lid / REROUTE_BLOCK_SIZE},
				.change = i};
	}
	if (out && writing.entries)
		why = reroute_write_blocks(&writing, out);
	triad_routes_out_free(out);
	reroute_writing_clear(&writing);
	return why;
}

/* --- the way --- */

static void add_hop(const struct triad_fabric *fabric, struct triad_reroute_lead *lead,
	uint32_t node, uint8_t port)
{
	if (fabric->nodes[node].type == TRIAD_NODE_SWITCH)
		lead->hops[lead->n++] = (struct triad_reroute_hop){
			.guid = fabric->nodes[node].guid, .port = port};
}

static const char *find_way(const struct reroute_loss *loss,
	const struct triad_reroute_link *link, struct triad_reroute_lead *lead)
{
	const struct triad_fabric *fabric = loss->fabric;
	uint32_t near = triad_fabric_find_node(fabric, link->guid),
		 far = triad_fabric_find_node(fabric, link->far_guid), at;
	struct triad_routes_out *out;
	struct triad_route way;
	int error;

	if (near == TRIAD_FABRIC_NONE || far == TRIAD_FABRIC_NONE ||
		fabric->sm_port == TRIAD_FABRIC_NONE)
		return "an end of it is not in the fabric";
	out = reroute_find_routes(loss, TRIAD_FABRIC_NONE, far);
	if (!out)
		return REROUTE_NO_MEMORY;
	error = triad_routes_out_read(out, near, &way);
	triad_routes_out_free(out);
	at = fabric->ports[fabric->sm_port].node;
	if (error || at == far)
		return "all ways from this SM to one end lead over the other";
	for (unsigned i = 1; i <= way.n_hops; i++) {
		uint32_t port = triad_fabric_find_port(fabric, at, way.ports[i]);

		add_hop(fabric, lead, at, way.ports[i]);
		at = fabric->ports[fabric->ports[port].remote].node;
	}
	add_hop(fabric, lead, near, link->number);
	lead->sl = fabric->ports[triad_fabric_find_port(fabric, near, 0)].sl;
	return NULL;
}

/* The first that no port has, and that each switch of the way forwards. */
static const char *choose_lid(struct triad_rerouter *rerouter, const uint16_t *lids,
	size_t n_lids, struct triad_reroute_lead *lead)
{
	bool is_free = false, is_below = false;

	cl_plock_acquire(&rerouter->osm->lock);
	for (size_t i = 0; i < n_lids && !(is_free && is_below); i++) {
		is_free = !is_a_ports(rerouter, lids[i]);
		is_below = true;
		for (unsigned hop = 0; hop < lead->n && is_below; hop++)
			is_below =
				is_forwarded(rerouter, lead->hops[hop].guid, lids[i]);
		lead->lid = lids[i];
	}
	cl_plock_release(&rerouter->osm->lock);
	if (is_free && is_below)
		return NULL;
	lead->lid = 0;
	return is_free ? "the LID of heal.test_lids is above the highest in use"
		       : "the LID of heal.test_lids is a port's";
}

const char *triad_reroute_lead(struct triad_rerouter *rerouter, struct triad_smp *smp,
	const struct triad_reroute_link *link, const uint16_t *lids, size_t n_lids,
	struct triad_reroute_lead *lead, bool *is_final)
{
	struct triad_reroute report = {0};
	struct reroute_loss loss;
	const char *why;

	*lead = (struct triad_reroute_lead){0};
	*is_final = false;
	if (!begin(&loss, rerouter, smp, &report))
		return no_routes;
	why = find_way(&loss, link, lead);
	if (!why)
		why = choose_lid(rerouter, lids, n_lids, lead);
	*is_final = why;
	if (!why)
		why = write_entries(&loss, lead, false);
	triad_route_result_unref(loss.result);
	/* Some may be there. */
	if (why && !*is_final)
		triad_reroute_lead_end(rerouter, smp, lead);
	return why;
}

void triad_reroute_lead_end(struct triad_rerouter *rerouter, struct triad_smp *smp,
	struct triad_reroute_lead *lead)
{
	struct triad_reroute report = {0};
	struct reroute_loss loss;
	const char *why = no_routes;

	if (!lead->lid)
		return;
	if (begin(&loss, rerouter, smp, &report)) {
		why = write_entries(&loss, lead, true);
		triad_route_result_unref(loss.result);
	}
	/* A sweep routes anew, and its tables have none. */
	if (why && reroute_is_master(rerouter))
		triad_sm_sweep(rerouter->osm);
	lead->lid = 0;
}
