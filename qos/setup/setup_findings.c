/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Finds problems of scopes in this fabric [qos-rfc 9 3.1].  Handles 64 scopes at a
 * time, in sets with a bit for each.  Finds which scopes a node's ports fit as
 * out-ports and in-ports, with and without regard to numbers, and which finally apply.
 * Compares the values of these with what the port supports. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "qos/setup/setup_plan_parts.h"
#include "triad/lists.h"

/* Findings about a scope's tables: SL2VL has one, VLArb a low and a high one. */
enum what { WHAT_VL, WHAT_VL_HIGH, WHAT_LONG, WHAT_LONG_HIGH, N_WHATS };

#define N_NUMBER_WORDS (TRIAD_SCOPES_MAX_PORTS / 64)

/* Numbers of ports, a bit for each. */
struct numbers {
	uint64_t words[N_NUMBER_WORDS];
};

/* Facts about one scope. */
struct examined {
	struct numbers named[2];                   /* ports named by 'to'; by 'from' */
	uint8_t top_vl[2];                         /* of low or SL2VL; of high */
	struct triad_setup_finding found[N_WHATS]; /* at this node; n_ports 0: none */
	uint32_t last_port[N_WHATS];               /* that was counted */
};

/* One kind of scopes. */
struct search {
	const struct triad_desired *desired;
	struct triad_setup_plan *plan;
	const struct triad_policy *policy;
	const struct triad_setup_kind *kind;
	bool is_vlarb;
	struct examined *scopes;
	struct triad_scope_set fitting, applied; /* at any node */
	struct triad_scope_set numbered;         /* scopes that name ports */
	struct triad_scope_set only_limit;       /* scopes without a table */
	struct triad_scope_set touched;          /* something was found at this node */
};

bool triad_setup_finding_is_error(const struct triad_setup_finding *finding)
{
	return finding->kind >= TRIAD_FINDING_PORT_BEYOND;
}

/* --- the list --- */

/* Findings about all scopes come first. */
static int compare_findings(const void *a, const void *b)
{
	const struct triad_setup_finding *one = a, *other = b;
	bool is_first = one->scope == TRIAD_SCOPE_NONE;
	bool is_other_first = other->scope == TRIAD_SCOPE_NONE;

	if (is_first != is_other_first)
		return is_first ? -1 : 1;
	if (one->is_vlarb != other->is_vlarb)
		return one->is_vlarb ? 1 : -1;
	if (one->scope != other->scope)
		return one->scope < other->scope ? -1 : 1;
	if (one->node != other->node)
		return one->node < other->node ? -1 : 1;
	if (one->kind != other->kind)
		return one->kind < other->kind ? -1 : 1;
	return (int)one->is_high - (int)other->is_high;
}

static void sort_findings(struct triad_setup_plan *plan)
{
	qsort(plan->findings, plan->n_findings, sizeof(*plan->findings),
		compare_findings);
	if (plan->n_findings > TRIAD_SETUP_MAX_FINDINGS)
		plan->n_findings = TRIAD_SETUP_MAX_FINDINGS;
}

/* Findings come by node but are listed by scope, so only the end shows which ones to
 * keep.  The list has room for twice as many.  When it is full, it is sorted and its
 * last half is dropped.  From then on, a finding behind the first half is not
 * stored. */
static void add_finding(
	struct triad_setup_plan *plan, const struct triad_setup_finding *finding)
{
	plan->n_errors += triad_setup_finding_is_error(finding);
	if (++plan->n_findings_total > 2 * TRIAD_SETUP_MAX_FINDINGS &&
		compare_findings(
			finding, &plan->findings[TRIAD_SETUP_MAX_FINDINGS - 1]) > 0)
		return;
	plan->findings[plan->n_findings++] = *finding;
	if (plan->n_findings == 2 * TRIAD_SETUP_MAX_FINDINGS)
		sort_findings(plan);
}

/* --- numbers --- */

static void read_ports(const uint8_t ports[32], bool any, struct numbers *numbers)
{
	for (unsigned i = 0; !any && i < 256; i++)
		if (triad_ports_has(ports, (uint8_t)i))
			numbers->words[i / 64] |= UINT64_C(1) << i % 64;
}

static void look_beyond(
	struct search *search, uint32_t node, uint32_t scope, bool has_ins)
{
	const struct numbers *named = &search->scopes[scope].named[has_ins];
	unsigned first = search->desired->nodes[node].n_numbers;
	struct triad_setup_finding finding = {.kind = TRIAD_FINDING_PORT_BEYOND,
		.is_vlarb = search->is_vlarb,
		.scope = (uint16_t)scope,
		.node = node,
		.has = (uint8_t)(first - 1)};

	for (unsigned i = first / 64; i < N_NUMBER_WORDS; i++) {
		uint64_t word = named->words[i];

		/* Leave out the numbers in this word that the node has. */
		if (i == first / 64)
			word &= ~UINT64_C(0) << first % 64;
		if (word && !finding.n_ports)
			finding.port =
				(uint8_t)(i * 64 + (unsigned)__builtin_ctzll(word));
		finding.n_ports += (unsigned)__builtin_popcountll(word);
	}
	if (finding.n_ports)
		add_finding(search->plan, &finding);
}

static void look_at_numbers(
	struct search *search, uint32_t node, const struct triad_setup_fits *fits)
{
	const struct triad_setup_kind *kind = search->kind;
	bool has_ins = !search->is_vlarb &&
		search->desired->fabric->nodes[node].type == TRIAD_NODE_SWITCH;
	struct triad_scope_set targets;
	uint32_t scope = 0;

	/* Check only scopes that fit this node except for port numbers: these can name
	 * ports that the node lacks. */
	for (uint32_t i = 0; i < kind->n_words; i++)
		targets.words[i] = fits->out_aside.words[i] & fits->in_aside.words[i] &
			search->numbered.words[i];
	for (; triad_scope_set_next(&targets, kind->n_words, &scope); scope++)
		look_beyond(search, node, scope, has_ins);
}

/* --- scopes that apply --- */

/* Notes a finding at this node and counts each port once.  Keeps the facts of the first
 * port as an example. */
static void find_at(struct search *search, uint32_t port, enum what what,
	const struct triad_setup_finding *like)
{
	struct examined *examined = &search->scopes[like->scope];
	struct triad_setup_finding *found = &examined->found[what];

	if (!found->n_ports) {
		*found = *like;
		found->is_vlarb = search->is_vlarb;
		found->is_high = what == WHAT_VL_HIGH || what == WHAT_LONG_HIGH;
		found->node = search->desired->fabric->ports[port].node;
		found->port = search->desired->fabric->ports[port].number;
		triad_scope_set_add(&search->touched, like->scope);
	} else if (examined->last_port[what] == port) {
		return;
	}
	found->n_ports++;
	examined->last_port[what] = port;
}

static void examine_sl2vl(struct search *search, uint32_t port, uint16_t scope)
{
	unsigned n_vls = triad_vls_n(search->desired->ports[port].op_vls);
	const uint8_t *vl = search->policy->sl2vl[scope].vl;
	unsigned sl = 0;

	triad_scope_set_add(&search->applied, scope);
	/* The common case: the port has all VLs that the scope names. */
	if (search->scopes[scope].top_vl[0] < n_vls)
		return;
	while (vl[sl] == TRIAD_DESIRED_NO_VL || vl[sl] < n_vls)
		sl++;
	find_at(search, port, WHAT_VL,
		&(struct triad_setup_finding){.kind = TRIAD_FINDING_SL2VL_VL,
			.scope = scope,
			.sl = (uint8_t)sl,
			.vl = vl[sl],
			.has = (uint8_t)n_vls});
}

static void examine_vlarb_table(
	struct search *search, uint32_t port, uint16_t scope, bool high)
{
	const struct triad_policy_vlarb *given = &search->policy->vlarb[scope];
	const struct triad_vlarb_entry *entries = high ? given->high : given->low;
	unsigned n = high ? given->n_high : given->n_low;
	unsigned n_there = triad_desired_n_vlarb(search->desired, port, high);
	unsigned n_vls = triad_vls_n(search->desired->ports[port].op_vls);

	if (n > n_there)
		find_at(search, port, high ? WHAT_LONG_HIGH : WHAT_LONG,
			&(struct triad_setup_finding){.kind = TRIAD_FINDING_VLARB_LONG,
				.scope = scope,
				.asked = (uint8_t)n,
				.has = (uint8_t)n_there});
	if (search->scopes[scope].top_vl[high] < n_vls)
		return;
	while (entries->vl < n_vls)
		entries++;
	find_at(search, port, high ? WHAT_VL_HIGH : WHAT_VL,
		&(struct triad_setup_finding){.kind = TRIAD_FINDING_VLARB_VL,
			.scope = scope,
			.vl = entries->vl,
			.has = (uint8_t)n_vls});
}

static void examine_vlarb(struct search *search, uint32_t port, uint16_t scope)
{
	const struct triad_policy_vlarb *given = &search->policy->vlarb[scope];

	/* A scope with only a high limit has no effect on a port without one. */
	if (triad_scope_set_has(&search->only_limit, scope) &&
		!triad_desired_has_high_limit(search->desired, port))
		return;
	triad_scope_set_add(&search->applied, scope);
	if (given->has_low)
		examine_vlarb_table(search, port, scope, false);
	if (given->has_high)
		examine_vlarb_table(search, port, scope, true);
}

static void examine_port(struct search *search, uint32_t port)
{
	const struct triad_desired_port *is = &search->desired->ports[port];
	uint16_t scope;

	if (!triad_setup_has_tables(search->desired, port, search->is_vlarb))
		return;
	if (search->is_vlarb) {
		if (is->vlarb != TRIAD_SCOPE_NONE)
			examine_vlarb(search, port, is->vlarb);
		return;
	}
	for (unsigned i = 0; i < triad_desired_n_rows(search->desired, port); i++) {
		scope = search->desired->rows[is->first_row + i].scope;
		if (scope != TRIAD_SCOPE_NONE)
			examine_sl2vl(search, port, scope);
	}
}

/* Reports the findings at this node. */
static void report_findings(struct search *search)
{
	uint32_t n_words = search->kind->n_words;

	for (uint32_t scope = 0;
		triad_scope_set_next(&search->touched, n_words, &scope); scope++)
		for (unsigned what = 0; what < N_WHATS; what++) {
			struct triad_setup_finding *found =
				&search->scopes[scope].found[what];

			if (found->n_ports)
				add_finding(search->plan, found);
			found->n_ports = 0;
		}
	triad_scope_set_clear(&search->touched, n_words);
}

/* --- the search --- */

static void search_node(struct search *search, uint32_t node)
{
	const struct triad_fabric_node *at = &search->desired->fabric->nodes[node];
	struct triad_setup_fits fits;

	triad_setup_fit_node(
		search->desired, node, search->is_vlarb, &search->only_limit, &fits);
	for (uint32_t i = 0; i < search->kind->n_words; i++)
		search->fitting.words[i] |= fits.out.words[i] & fits.in.words[i];
	look_at_numbers(search, node, &fits);
	for (uint32_t i = at->first_port; i < at->first_port + at->n_ports; i++)
		examine_port(search, i);
	report_findings(search);
}

static void report_unapplied_scopes(struct search *search)
{
	for (uint32_t scope = 0; scope < search->kind->n; scope++) {
		struct triad_setup_finding finding = {
			.kind = triad_scope_set_has(&search->fitting, scope)
				? TRIAD_FINDING_HIDDEN
				: TRIAD_FINDING_NO_TARGET,
			.is_vlarb = search->is_vlarb,
			.scope = (uint16_t)scope,
			.node = TRIAD_FABRIC_NONE};

		if (!triad_scope_set_has(&search->applied, scope))
			add_finding(search->plan, &finding);
	}
}

static uint8_t top_of_vlarb(const struct triad_vlarb_entry *entries, unsigned n)
{
	uint8_t top = 0;

	for (unsigned i = 0; i < n; i++)
		if (entries[i].vl > top)
			top = entries[i].vl;
	return top;
}

static void examine_scope(struct search *search, uint32_t at)
{
	const struct triad_policy_scope *scope = search->is_vlarb
		? &search->policy->vlarb[at].scope
		: &search->policy->sl2vl[at].scope;
	struct examined *examined = &search->scopes[at];

	if (!scope->to_any || !scope->from_any)
		triad_scope_set_add(&search->numbered, at);
	read_ports(scope->to, scope->to_any, &examined->named[false]);
	examined->named[true] = examined->named[false];
	read_ports(scope->from, search->is_vlarb || scope->from_any,
		&examined->named[true]);
	if (search->is_vlarb) {
		const struct triad_policy_vlarb *given = &search->policy->vlarb[at];

		if (!given->has_low && !given->has_high)
			triad_scope_set_add(&search->only_limit, at);
		examined->top_vl[0] = top_of_vlarb(given->low, given->n_low);
		examined->top_vl[1] = top_of_vlarb(given->high, given->n_high);
		return;
	}
	for (unsigned sl = 0; sl < TRIAD_POLICY_N_VLS; sl++) {
		uint8_t vl = search->policy->sl2vl[at].vl[sl];

		if (vl != TRIAD_DESIRED_NO_VL && vl > examined->top_vl[0])
			examined->top_vl[0] = vl;
	}
}

static int search_kind(const struct triad_desired *desired,
	struct triad_setup_plan *plan, bool is_vlarb)
{
	const struct triad_setup *setup = desired->setup;
	struct search search = {.desired = desired,
		.plan = plan,
		.policy = triad_setup_policy(setup),
		.kind = is_vlarb ? &setup->vlarb : &setup->sl2vl,
		.is_vlarb = is_vlarb};

	/* First examine each scope, then each node with all scopes, then report scopes
	 * that applied nowhere. */
	if (!search.kind->n)
		return 0;
	search.scopes = calloc(search.kind->n, sizeof(*search.scopes));
	if (!search.scopes)
		return ENOMEM;
	for (uint32_t i = 0; i < search.kind->n; i++)
		examine_scope(&search, i);
	for (uint32_t i = 0; i < desired->fabric->n_nodes; i++)
		search_node(&search, i);
	report_unapplied_scopes(&search);
	free(search.scopes);
	return 0;
}

/* A routing engine with its own tables replaces those of scopes.  An engine that
 * chooses SLs but has no tables relies on OpenSM's, which give each SL its own VL as
 * far as VLs suffice. */
static void look_at_engine(
	const struct triad_desired *desired, struct triad_setup_plan *plan)
{
	const struct triad_fabric *fabric = desired->fabric;
	struct triad_setup_finding finding = {
		.scope = TRIAD_SCOPE_NONE, .node = TRIAD_FABRIC_NONE};

	if (fabric->qos.engine_has_tables)
		finding.kind = TRIAD_FINDING_OVERRIDDEN;
	else if (fabric->sa.engine_has_sl && desired->setup->sl2vl.n)
		finding.kind = TRIAD_FINDING_DEADLOCK;
	else
		return;
	add_finding(plan, &finding);
}

int triad_setup_find(const struct triad_desired *desired, struct triad_setup_plan *plan)
{
	int error;

	if (!desired->setup)
		return 0;
	plan->findings = malloc(2 * TRIAD_SETUP_MAX_FINDINGS * sizeof(*plan->findings));
	if (!plan->findings)
		return ENOMEM;
	look_at_engine(desired, plan);
	error = search_kind(desired, plan, false);
	if (!error)
		error = search_kind(desired, plan, true);
	sort_findings(plan);
	return error;
}
