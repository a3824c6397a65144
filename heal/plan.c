/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "heal/plan.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "heal/capacity.h"
#include "ib/link.h"
#include "portmgr/plan/guard.h"
#include "routes/repair.h"
#include "routes/without.h"

#define NONE TRIAD_FABRIC_NONE
#define BIT(remedy) (1u << TRIAD_HEAL_##remedy)

/* A finding, and what it is about. */
struct placed {
	bool is_node;
	uint32_t about; /* a node, or the lower index of a link's ends */
	struct triad_heal_finding finding;
};

struct planning {
	const struct triad_heal_input *input;
	struct triad_heal_plan *plan;
	struct triad_routes_layout *own_layout; /* where no check has one */
	const struct triad_routes_layout *layout;
	struct triad_heal_capacity *capacity;
	struct triad_guard *guard;
	uint32_t *gone; /* ports of links that are out, but in the fabric, or taken */
	uint32_t n_gone, n_judged;
	/* Pairs without those that are gone, and without one link more; NULL: as routes are
	 * checked, or not known. */
	struct triad_routes_without *now, *then;
};

unsigned triad_heal_rank(unsigned kind)
{
	if (triad_heal_is_of_node(kind))
		return 4;
	return kind <= TRIAD_HEAL_FLAPS ? 1 : kind < TRIAD_HEAL_SLOW ? 2 : 3;
}

/* --- findings become proposals --- */

static int compare_badness(
	const struct triad_heal_finding *a, const struct triad_heal_finding *b)
{
	unsigned rank_a = triad_heal_rank(a->kind), rank_b = triad_heal_rank(b->kind);

	if (rank_a != rank_b)
		return rank_a < rank_b ? -1 : 1;
	if (a->is_sure != b->is_sure)
		return a->is_sure ? -1 : 1;
	if (a->times != b->times)
		return a->times > b->times ? -1 : 1;
	return (a->kind > b->kind) - (a->kind < b->kind);
}

static int compare_placed(const void *a, const void *b)
{
	const struct placed *one = a, *other = b;

	if (one->is_node != other->is_node)
		return one->is_node ? 1 : -1;
	if (one->about != other->about)
		return one->about < other->about ? -1 : 1;
	return compare_badness(&one->finding, &other->finding);
}

/* Copies those that are about a link or a node of the fabric.  Returns how many. */
static uint32_t place_findings(struct planning *planning, struct placed *placed)
{
	const struct triad_heal_input *input = planning->input;
	uint32_t n = 0;

	for (uint32_t i = 0; i < input->n_findings; i++) {
		const struct triad_heal_finding *finding = &input->findings[i];
		bool is_node = triad_heal_is_of_node(finding->kind);
		uint32_t about = finding->node, far;

		if (!is_node) {
			far = input->fabric->ports[finding->port].remote;
			if (far == NONE) {
				planning->plan->n_unlinked++;
				continue;
			}
			about = finding->port < far ? finding->port : far;
		}
		placed[n++] = (struct placed){is_node, about, *finding};
	}
	qsort(placed, n, sizeof(*placed), compare_placed);
	return n;
}

static void add_proposal(struct planning *planning, uint32_t index)
{
	struct triad_heal_plan *plan = planning->plan;
	const struct triad_heal_finding *finding = &plan->findings[index];
	struct triad_heal_proposal *proposal = &plan->proposals[plan->n++];

	*proposal = (struct triad_heal_proposal){
		.node = finding->node,
		.port = NONE,
		.far = NONE,
		.tier = {TRIAD_ROUTES_NO_LEVEL, TRIAD_ROUTES_NO_LEVEL},
		.first = index,
		.why = TRIAD_HEAL_NODE, /* until a link is judged */
		.cost = {.worst = NONE, .at_node = NONE, .share = NAN},
	};
	if (triad_heal_is_of_node(finding->kind))
		return;
	proposal->port = finding->port;
	proposal->far = plan->fabric->ports[finding->port].remote;
	proposal->node = plan->fabric->ports[finding->port].node;
}

static int compare_proposals(const void *a, const void *b, void *context)
{
	const struct triad_heal_proposal *one = a, *other = b;
	const struct triad_heal_plan *plan = context;
	int order = compare_badness(
		&plan->findings[one->first], &plan->findings[other->first]);

	return order ? order : one->first < other->first ? -1 : 1;
}

static int make_proposals(struct planning *planning)
{
	struct triad_heal_plan *plan = planning->plan;
	size_t room = planning->input->n_findings + 1u;
	struct placed *placed = malloc(room * sizeof(*placed));

	plan->proposals = malloc(room * sizeof(*plan->proposals));
	plan->findings = malloc(room * sizeof(*plan->findings));
	if (!placed || !plan->proposals || !plan->findings) {
		free(placed);
		return ENOMEM;
	}
	plan->n_findings = place_findings(planning, placed);
	for (uint32_t i = 0; i < plan->n_findings; i++) {
		plan->findings[i] = placed[i].finding;
		if (!i || placed[i].is_node != placed[i - 1].is_node ||
			placed[i].about != placed[i - 1].about)
			add_proposal(planning, i);
		plan->proposals[plan->n - 1].n++;
	}
	free(placed);
	qsort_r(plan->proposals, plan->n, sizeof(*plan->proposals), compare_proposals,
		plan);
	return 0;
}

/* --- remedies --- */

static bool are_speeds_shared(const struct triad_fabric_port *a,
	const struct triad_fabric_port *b, enum triad_link_speed speed)
{
	uint8_t code, code_ext;

	triad_link_speed_codes(speed, &code, &code_ext);
	return (a->speed_supported & b->speed_supported & code) ||
		(a->speed_ext_supported & b->speed_ext_supported & code_ext);
}

/* Whether both ends say that they can do less than they do. */
static bool can_be_slower(
	const struct triad_fabric_port *a, const struct triad_fabric_port *b)
{
	struct triad_link_rate rate = triad_link_rate_active(a);
	unsigned widths = a->width_supported & b->width_supported;

	for (unsigned width = 1; width <= widths; width <<= 1) {
		unsigned lanes = triad_link_width_lanes((uint8_t)(widths & width));

		if (lanes && lanes < triad_link_width_lanes(rate.width))
			return true;
	}
	for (unsigned speed = TRIAD_SPEED_SDR; speed < rate.speed; speed++)
		if (are_speeds_shared(a, b, speed))
			return true;
	return false;
}

static uint32_t find_remedies(
	const struct triad_heal_plan *plan, const struct triad_heal_proposal *proposal)
{
	const struct triad_fabric_port *ports = plan->fabric->ports;
	unsigned kind = plan->findings[proposal->first].kind;
	uint32_t remedies = BIT(RETRAIN) | BIT(OUT) | BIT(DISABLE);

	if (proposal->port == NONE)
		return 0;
	if (kind == TRIAD_HEAL_SLOW)
		return BIT(RETRAIN) | BIT(OUT);
	if (kind == TRIAD_HEAL_HOT) /* as hot as before when it is up again */
		remedies &= ~BIT(RETRAIN);
	if (can_be_slower(&ports[proposal->port], &ports[proposal->far]))
		remedies |= BIT(SLOWER);
	return remedies;
}

/* --- the cost --- */

static void find_worst(const struct planning *planning, struct triad_heal_cost *cost)
{
	const struct triad_fabric *fabric = planning->input->fabric;
	const uint32_t *switch_of = planning->layout->switch_of_node;
	const uint64_t *now =
		planning->now ? planning->now->pairs : planning->input->check->pairs;
	const uint64_t *then = planning->then->pairs;

	for (uint32_t i = 0; i < fabric->n_ports; i++) {
		uint32_t far = fabric->ports[i].remote;

		if (then[i] <= now[i] || then[i] <= cost->worst_pairs || far == NONE ||
			switch_of[fabric->ports[i].node] == NONE ||
			switch_of[fabric->ports[far].node] == NONE)
			continue;
		cost->worst = i;
		cost->worst_pairs = then[i];
		cost->worst_before = now[i];
	}
}

/* Counts pairs without the links that are gone and that of 'port' (NONE: no other): 'then'; it
 * stays NULL when that can't be said.  Returns 0 or ENOMEM. */
static int count_pairs(struct planning *planning, uint32_t port)
{
	uint32_t n = planning->n_gone;
	int error;

	triad_routes_without_free(planning->then);
	planning->then = NULL;
	if (port != NONE)
		planning->gone[n++] = port;
	error = triad_routes_without_make(
		planning->input->check, planning->gone, n, &planning->then);
	return error == ENOMEM ? ENOMEM : 0;
}

/* What was counted last is so. */
static void keep_count(struct planning *planning)
{
	triad_routes_without_free(planning->now);
	planning->now = planning->then;
	planning->then = NULL;
}

/* Returns 0 or ENOMEM. */
static int find_pairs(
	struct planning *planning, uint32_t port, struct triad_heal_cost *cost)
{
	struct triad_routes_repair *repair;
	int error = triad_routes_repair_make_shortest(
		planning->input->check, &port, 1, &repair);

	if (error)
		return error == ENOMEM ? ENOMEM : 0;
	cost->is_known = true;
	cost->n_moved = repair->n_crossing - repair->n_lost;
	cost->n_lost = repair->n_lost;
	triad_routes_repair_free(repair);
	if (planning->n_judged > planning->input->max_counted)
		return 0;
	error = count_pairs(planning, port);
	if (planning->then)
		find_worst(planning, cost);
	return error;
}

static void find_share(struct planning *planning, struct triad_heal_proposal *proposal)
{
	struct triad_heal_cost *cost = &proposal->cost;
	struct triad_damp_ends ends = {0};
	struct triad_heal_share share;

	(void)triad_damp_ends_at(planning->input->fabric, proposal->port, &ends);
	share = triad_heal_capacity_without(planning->capacity, &ends);
	cost->share = share.left;
	cost->n_hosts_one = share.n_hosts_one;
	if (share.sw != NONE)
		cost->at_node = planning->layout->switches[share.sw].node;
}

/* --- judging --- */

static uint16_t level_of(const struct planning *planning, uint32_t node)
{
	uint32_t sw = planning->layout->switch_of_node[node];

	return sw == NONE ? 0 : planning->layout->switches[sw].level;
}

static void set_tier(
	const struct planning *planning, uint32_t node, uint32_t far, uint16_t tier[2])
{
	uint16_t a = level_of(planning, node), b = level_of(planning, far);

	tier[0] = a < b ? a : b;
	tier[1] = a < b ? b : a;
}

static bool is_of_switches(
	const struct planning *planning, const struct triad_heal_proposal *proposal)
{
	const struct triad_fabric_port *ports = planning->input->fabric->ports;

	return planning->layout->switch_of_node[ports[proposal->port].node] != NONE &&
		planning->layout->switch_of_node[ports[proposal->far].node] != NONE;
}

/* Whether it carries packets no more. */
static bool is_gone(const struct planning *planning, uint32_t port)
{
	const struct triad_fabric_port *ports = planning->input->fabric->ports;
	uint32_t far = ports[port].remote;

	if (far == NONE || !triad_fabric_port_passes_data(&ports[port]) ||
		!triad_fabric_port_passes_data(&ports[far]))
		return true;
	for (uint32_t i = 0; i < planning->n_gone; i++)
		if (planning->gone[i] == port || planning->gone[i] == far)
			return true;
	return false;
}

/* The node's links that carry packets. */
static uint32_t count_links(const struct planning *planning, uint32_t node)
{
	const struct triad_fabric *fabric = planning->input->fabric;
	const struct triad_fabric_node *at = &fabric->nodes[node];
	uint32_t n = 0;

	for (uint32_t i = at->first_port; i < at->first_port + at->n_ports; i++)
		n += !is_gone(planning, i);
	return n;
}

/* Of the ends that are no switches. */
static bool is_last_of_host(
	const struct planning *planning, const struct triad_heal_proposal *proposal)
{
	uint32_t ends[2] = {proposal->port, proposal->far};

	for (unsigned i = 0; i < 2; i++) {
		uint32_t node = planning->input->fabric->ports[ends[i]].node;

		if (planning->layout->switch_of_node[node] == NONE &&
			count_links(planning, node) < 2)
			return true;
	}
	return false;
}

static bool is_of_sm(
	const struct planning *planning, const struct triad_heal_proposal *proposal)
{
	const struct triad_heal_input *input = planning->input;

	for (uint32_t i = 0; i < input->n_sm_guids; i++) {
		uint32_t port =
			triad_fabric_find_alias(input->fabric, input->sm_guids[i]);

		if (port == proposal->port || port == proposal->far)
			return port != NONE;
	}
	return input->fabric->sm_port == proposal->port ||
		input->fabric->sm_port == proposal->far;
}

static enum triad_heal_why ask_guard(
	struct planning *planning, const struct triad_heal_proposal *proposal)
{
	const struct triad_fabric_port *port =
		&planning->input->fabric->ports[proposal->port];
	struct triad_guard_lost lost;

	/* What SMPs don't reach is not guarded. */
	if (!triad_guard_reaches(planning->guard, port->node))
		return TRIAD_HEAL_NO_SM;
	switch (triad_guard_judge(planning->guard, proposal->port, NONE, &lost)) {
	case TRIAD_GUARD_FREE:
		return TRIAD_HEAL_TAKE;
	case TRIAD_GUARD_OWN_PATH:
	case TRIAD_GUARD_SM_PATH:
		return TRIAD_HEAL_WAY_TO_SM;
	case TRIAD_GUARD_SPLIT:
		return TRIAD_HEAL_ONLY_WAY;
	default:
		return TRIAD_HEAL_NO_SM;
	}
}

/* What hangs on it. */
static enum triad_heal_why judge_place(
	struct planning *planning, const struct triad_heal_proposal *proposal)
{
	if (is_gone(planning, proposal->port))
		return TRIAD_HEAL_IS_OUT;
	if (is_of_switches(planning, proposal))
		return ask_guard(planning, proposal);
	if (is_of_sm(planning, proposal))
		return TRIAD_HEAL_WAY_TO_SM;
	return is_last_of_host(planning, proposal) ? TRIAD_HEAL_LAST_OF_HOST
						   : TRIAD_HEAL_OF_HOST;
}

static bool is_of_tier(const uint16_t a[2], const uint16_t b[2])
{
	return a[0] == b[0] && a[1] == b[1];
}

/* How many links of a tier were taken, by this plan or before. */
static uint32_t count_out(const struct planning *planning, const uint16_t tier[2])
{
	const struct triad_heal_input *input = planning->input;
	const struct triad_heal_plan *plan = planning->plan;
	uint32_t n = 0;

	for (uint32_t i = 0; i < input->n_out; i++) {
		const struct triad_damp_ends *ends = &input->out[i].ends;
		uint32_t node, far;
		uint16_t of_it[2];

		if (!input->out[i].is_taken)
			continue;
		node = triad_fabric_find_node(input->fabric, ends->guid);
		far = triad_fabric_find_node(input->fabric, ends->far_guid);
		if (node == NONE || far == NONE)
			continue;
		set_tier(planning, node, far, of_it);
		n += is_of_tier(tier, of_it);
	}
	for (uint32_t i = 0; i < plan->n; i++)
		n += plan->proposals[i].port != NONE &&
			plan->proposals[i].why == TRIAD_HEAL_TAKE &&
			is_of_tier(tier, plan->proposals[i].tier);
	return n;
}

static bool is_sure(
	const struct triad_heal_plan *plan, const struct triad_heal_proposal *proposal)
{
	for (uint32_t i = 0; i < proposal->n; i++)
		if (plan->findings[proposal->first + i].is_sure)
			return true;
	return false;
}

/* What is known of it, and what may be out. */
static enum triad_heal_why judge_limits(
	const struct planning *planning, const struct triad_heal_proposal *proposal)
{
	const struct triad_heal_input *input = planning->input;

	if (isnan(proposal->cost.share))
		return TRIAD_HEAL_NO_TIERS;
	if (!is_sure(planning->plan, proposal))
		return TRIAD_HEAL_NOT_SURE;
	if (count_out(planning, proposal->tier) >= input->max_out)
		return TRIAD_HEAL_TIER_FULL;
	if (proposal->cost.share < input->min_capacity)
		return TRIAD_HEAL_CAPACITY;
	return TRIAD_HEAL_TAKE;
}

static void take_link(struct planning *planning, uint32_t port)
{
	struct triad_damp_ends ends = {0};

	(void)triad_damp_ends_at(planning->input->fabric, port, &ends);
	planning->gone[planning->n_gone++] = port;
	triad_heal_capacity_remove(planning->capacity, &ends);
	triad_guard_remove(planning->guard, port);
}

/* One of the first: its cost, and whether it may be taken if its place allows that.  Returns 0 or
 * ENOMEM. */
static int judge_cost(struct planning *planning, struct triad_heal_proposal *proposal,
	enum triad_heal_why *why)
{
	const struct triad_heal_input *input = planning->input;

	if (*why == TRIAD_HEAL_IS_OUT)
		return 0;
	find_share(planning, proposal);
	if (*why == TRIAD_HEAL_TAKE)
		*why = judge_limits(planning, proposal);
	if (input->check && (input->max_counted || *why == TRIAD_HEAL_TAKE) &&
		find_pairs(planning, proposal->port, &proposal->cost))
		return ENOMEM;
	if (*why == TRIAD_HEAL_TAKE && !proposal->cost.is_known)
		*why = TRIAD_HEAL_NO_ROUTES;
	return 0;
}

/* Returns 0 or ENOMEM. */
static int judge(struct planning *planning, struct triad_heal_proposal *proposal)
{
	const struct triad_fabric_port *ports = planning->input->fabric->ports;
	enum triad_heal_why why;

	proposal->remedies = find_remedies(planning->plan, proposal);
	if (proposal->port == NONE)
		return 0; /* TRIAD_HEAL_NODE */
	set_tier(planning, ports[proposal->port].node, ports[proposal->far].node,
		proposal->tier);
	why = judge_place(planning, proposal);
	if (planning->n_judged++ < planning->input->max_judged) {
		if (judge_cost(planning, proposal, &why))
			return ENOMEM;
	} else if (why == TRIAD_HEAL_TAKE) {
		why = TRIAD_HEAL_TOO_MANY;
	}
	/* To be out or disabled is no remedy where something hangs on it. */
	if (why >= TRIAD_HEAL_LAST_OF_HOST && why <= TRIAD_HEAL_ONLY_WAY)
		proposal->remedies &= ~(BIT(OUT) | BIT(DISABLE));
	proposal->why = why;
	if (why != TRIAD_HEAL_TAKE)
		return 0;
	planning->plan->n_take++;
	if (planning->then)
		keep_count(planning);
	take_link(planning, proposal->port);
	return 0;
}

/* --- all of it --- */

/* Links that are out may be in the fabric all the same, as those held by hand may be. */
static int remove_out(struct planning *planning)
{
	const struct triad_heal_input *input = planning->input;
	int error = 0;

	for (uint32_t i = 0; i < input->n_out; i++) {
		const struct triad_damp_ends *ends = &input->out[i].ends;
		uint32_t port =
			triad_fabric_port_at(input->fabric, ends->guid, ends->number);

		triad_heal_capacity_remove(planning->capacity, ends);
		if (port == NONE ||
			input->fabric->ports[port].remote !=
				triad_fabric_port_at(input->fabric, ends->far_guid,
					ends->far_number) ||
			input->fabric->ports[port].remote == NONE)
			continue;
		planning->gone[planning->n_gone++] = port;
		triad_guard_remove(planning->guard, port);
	}
	if (input->check && planning->n_gone && input->max_counted)
		error = count_pairs(planning, NONE);
	keep_count(planning);
	return error;
}

static int begin_planning(struct planning *planning)
{
	const struct triad_heal_input *input = planning->input;
	int error = 0;

	if (!input->check)
		error = triad_routes_layout_make(input->fabric, &planning->own_layout);
	if (error)
		return error;
	planning->layout = input->check ? input->check->layout : planning->own_layout;
	planning->gone = malloc(((size_t)input->n_out + input->n_findings + 1) *
		sizeof(*planning->gone));
	if (!planning->gone)
		return ENOMEM;
	error = triad_heal_capacity_new(planning->layout, &planning->capacity);
	if (error)
		return error;
	return triad_guard_new(
		input->fabric, input->sm_guids, input->n_sm_guids, &planning->guard);
}

static int run_planning(struct planning *planning)
{
	struct triad_heal_plan *plan = planning->plan;
	int error = begin_planning(planning);

	if (!error)
		error = make_proposals(planning);
	if (!error)
		error = remove_out(planning);
	for (uint32_t i = 0; i < plan->n && !error; i++)
		error = judge(planning, &plan->proposals[i]);
	return error;
}

int triad_heal_plan_make(
	const struct triad_heal_input *input, struct triad_heal_plan **plan)
{
	struct planning planning = {
		.input = input, .plan = calloc(1, sizeof(*planning.plan))};
	int error;

	if (!planning.plan)
		return ENOMEM;
	planning.plan->fabric = triad_fabric_ref(input->fabric);
	error = run_planning(&planning);
	triad_guard_free(planning.guard);
	triad_heal_capacity_free(planning.capacity);
	triad_routes_layout_free(planning.own_layout);
	triad_routes_without_free(planning.now);
	triad_routes_without_free(planning.then);
	free(planning.gone);
	if (error)
		triad_heal_plan_free(planning.plan);
	else
		*plan = planning.plan;
	return error;
}

void triad_heal_plan_free(struct triad_heal_plan *plan)
{
	if (!plan)
		return;
	triad_fabric_unref(plan->fabric);
	free(plan->proposals);
	free(plan->findings);
	free(plan);
}
