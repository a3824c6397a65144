/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "plugin/reroute/reroute_lead.h"

#include <stdlib.h>

#include "plugin/reroute/reroute_parts.h"
#include "plugin/sm_recover.h"

static const char no_routes[] = "routes are not checked now";
static const char not_there[] = "an end of it is not in the fabric";
static const char no_way[] = "all ways from this SM to one end lead over the other";

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

/* Whether a switch has an entry for it, is to have one, or is not known to have none: packets could
 * go in a circle. */
static bool has_entries(const struct triad_rerouter *rerouter, uint16_t lid)
{
	const cl_qmap_t *switches = &rerouter->osm->subn.sw_guid_tbl;

	for (const cl_map_item_t *item = cl_qmap_head(switches);
		item != cl_qmap_end(switches); item = cl_qmap_next(item)) {
		const osm_switch_t *sw = (const void *)item;

		if (lid < sw->lft_size &&
			((sw->lft && sw->lft[lid] != OSM_NO_PATH) ||
				(sw->new_lft && sw->new_lft[lid] != OSM_NO_PATH)))
			return true;
	}
	return false;
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

/* '*has_begun': some may be there. */
static const char *write_entries(struct reroute_loss *loss,
	const struct triad_reroute_lead *lead, bool must_end, bool *has_begun)
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
	*has_begun = writing.has_begun;
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
		return not_there;
	out = reroute_find_routes(loss, TRIAD_FABRIC_NONE, far);
	if (!out)
		return REROUTE_NO_MEMORY;
	error = triad_routes_out_read(out, near, &way);
	triad_routes_out_free(out);
	at = fabric->ports[fabric->sm_port].node;
	if (error || at == far)
		return no_way;
	for (unsigned i = 1; i <= way.n_hops; i++) {
		uint32_t port = triad_fabric_find_port(fabric, at, way.ports[i]);

		add_hop(fabric, lead, at, way.ports[i]);
		at = fabric->ports[fabric->ports[port].remote].node;
	}
	add_hop(fabric, lead, near, link->number);
	lead->sl = fabric->ports[triad_fabric_find_port(fabric, near, 0)].sl;
	return NULL;
}

static bool is_forwarded_by_all(const struct triad_rerouter *rerouter,
	const struct triad_reroute_lead *lead, uint16_t lid)
{
	bool are_all = true;

	for (unsigned i = 0; i < lead->n && are_all; i++)
		are_all = is_forwarded(rerouter, lead->hops[i].guid, lid);
	return are_all;
}

/* The first that no port has, that no switch has an entry for, and that each switch of the way
 * forwards. */
static const char *choose_lid(struct triad_rerouter *rerouter, const uint16_t *lids,
	size_t n_lids, struct triad_reroute_lead *lead, bool *is_final)
{
	bool are_above = false, have_entries = false;

	cl_plock_acquire(&rerouter->osm->lock);
	for (size_t i = 0; i < n_lids && !lead->lid; i++) {
		if (is_a_ports(rerouter, lids[i]))
			continue;
		if (!is_forwarded_by_all(rerouter, lead, lids[i]))
			are_above = true;
		else if (has_entries(rerouter, lids[i]))
			have_entries = true;
		else
			lead->lid = lids[i];
	}
	cl_plock_release(&rerouter->osm->lock);
	*is_final = !lead->lid && !have_entries;
	if (lead->lid)
		return NULL;
	return have_entries ? "switches have entries for the LID of heal.test_lids"
		: are_above ? "the LID of heal.test_lids is above the highest in use"
			    : "the LID of heal.test_lids is a port's";
}

bool triad_reroute_lead_is_free(
	struct triad_rerouter *rerouter, const struct triad_reroute_lead *lead)
{
	bool is_free;

	cl_plock_acquire(&rerouter->osm->lock);
	is_free = !is_a_ports(rerouter, lead->lid);
	cl_plock_release(&rerouter->osm->lock);
	return is_free;
}

/* --- the end --- */

/* Leaves those hops in the lead whose entry both of OpenSM's copies have.  Returns whether one of
 * them alone has some: as it writes, or a switch did not answer. */
static bool keep_whole(struct triad_rerouter *rerouter, struct triad_reroute_lead *lead)
{
	bool is_ours, has_half = false;
	uint8_t n = 0;

	cl_plock_acquire(&rerouter->osm->lock);
	is_ours = !is_a_ports(rerouter, lead->lid);
	for (unsigned i = 0; i < lead->n && is_ours; i++) {
		const struct triad_reroute_hop *hop = &lead->hops[i];
		const osm_switch_t *sw = osm_get_switch_by_guid(
			&rerouter->osm->subn, cl_hton64(hop->guid));
		bool has, wants;

		if (!sw || !sw->lft || !sw->new_lft || lead->lid >= sw->lft_size)
			continue;
		has = sw->lft[lead->lid] == hop->port;
		wants = sw->new_lft[lead->lid] == hop->port;
		if (has && wants)
			lead->hops[n++] = *hop;
		has_half |= has != wants;
	}
	cl_plock_release(&rerouter->osm->lock);
	lead->n = n;
	return has_half;
}

/* The next routing computes all tables, also where OpenSM keeps those of before ('use_ucast_cache'). */
static void leave_to_opensm(struct triad_rerouter *rerouter)
{
	if (osm_exit_flag || !reroute_is_master(rerouter))
		return;
	cl_plock_excl_acquire(&rerouter->osm->lock);
	osm_ucast_cache_invalidate(&rerouter->osm->sm.ucast_mgr);
	cl_plock_release(&rerouter->osm->lock);
	(void)triad_sm_sweep_as_master(rerouter->osm);
}

const char *triad_reroute_lead(struct triad_rerouter *rerouter, struct triad_smp *smp,
	const struct triad_reroute_link *link, const uint16_t *lids, size_t n_lids,
	struct triad_reroute_lead *lead, bool *is_final)
{
	struct triad_reroute report = {0};
	struct reroute_loss loss;
	bool has_begun = false;
	const char *why;

	*lead = (struct triad_reroute_lead){0};
	*is_final = false;
	if (!begin(&loss, rerouter, smp, &report)) {
		*is_final = triad_route_checker_status(rerouter->routes).state ==
			TRIAD_ROUTE_OFF;
		return no_routes;
	}
	why = atomic_load(&rerouter->is_discovering) ? "OpenSM reads the fabric anew"
						     : find_way(&loss, link, lead);
	/* Other links may be down for a moment. */
	*is_final = why == no_way &&
		!triad_route_checker_status(rerouter->routes).is_behind;
	if (!why)
		why = choose_lid(rerouter, lids, n_lids, lead, is_final);
	if (!why)
		why = write_entries(&loss, lead, false, &has_begun);
	triad_route_result_unref(loss.result);
	if (why && has_begun)
		triad_reroute_lead_end(rerouter, smp, lead);
	if (why)
		lead->lid = 0;
	return why;
}

void triad_reroute_lead_end(struct triad_rerouter *rerouter, struct triad_smp *smp,
	struct triad_reroute_lead *lead)
{
	struct triad_reroute report = {0};
	struct reroute_loss loss;
	const char *why = no_routes;
	bool has_begun, has_half;

	if (!lead->lid)
		return;
	has_half = keep_whole(rerouter, lead);
	if (!lead->n) {
		why = NULL;
	} else if (begin(&loss, rerouter, smp, &report)) {
		why = write_entries(&loss, lead, true, &has_begun);
		triad_route_result_unref(loss.result);
	}
	if (why || has_half)
		leave_to_opensm(rerouter);
	lead->lid = 0;
}
