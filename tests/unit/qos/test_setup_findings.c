/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Findings about scopes: compared with a simple implementation, and as text. */
#include "triad/lists.h"

#include "tests/unit/mentions.h"
#include "tests/unit/qos/plan_fixture.h"

/* --- findings, simple implementation --- */

/* Checks that the next finding of the list is this one. */
static void expect(uint32_t *at, const struct triad_setup_finding *finding)
{
	const struct triad_setup_finding *found = &plan->findings[*at];

	ck_assert_uint_lt(*at, plan->n_findings);
	ck_assert_int_eq(found->kind, finding->kind);
	ck_assert_int_eq(found->is_vlarb, finding->is_vlarb);
	ck_assert_int_eq(found->is_high, finding->is_high);
	ck_assert_uint_eq(found->scope, finding->scope);
	ck_assert_uint_eq(found->node, finding->node);
	ck_assert_uint_eq(found->port, finding->port);
	ck_assert_uint_eq(found->n_ports, finding->n_ports);
	ck_assert_uint_eq(found->sl, finding->sl);
	ck_assert_uint_eq(found->vl, finding->vl);
	ck_assert_uint_eq(found->asked, finding->asked);
	ck_assert_uint_eq(found->has, finding->has);
	++*at;
}

static const struct triad_policy_scope *scope_of(bool is_vlarb, uint32_t scope)
{
	return is_vlarb ? &policy->vlarb[scope].scope : &policy->sl2vl[scope].scope;
}

/* Whether the port has tables that the scope sets. */
static bool has_tables(uint32_t port, bool is_vlarb, uint32_t scope)
{
	if (!is_vlarb)
		return naive_n_sl2vl(&naive, port) > 0;
	if (policy->vlarb[scope].has_low || policy->vlarb[scope].has_high)
		return naive_n_vlarb(&naive, port, false) >= 0;
	return naive_has_limit(&naive, port);
}

static unsigned n_ins(uint32_t port, bool is_vlarb)
{
	return is_vlarb ? 1 : naive_n_sl2vl(&naive, port);
}

enum degree {
	FITS_ASIDE,
	FITS,
	APPLIES,
};

static bool holds_at(uint32_t port, bool is_vlarb, uint32_t index, enum degree degree)
{
	const struct triad_policy_scope *scope = scope_of(is_vlarb, index);

	if (!has_tables(port, is_vlarb, index))
		return false;
	if (is_vlarb)
		return degree == APPLIES
			? naive_vlarb_scope(&naive, port) == index
			: naive_out_fits(&naive, scope, port, degree == FITS_ASIDE);
	for (unsigned in = 0; in < n_ins(port, is_vlarb); in++)
		if (degree == APPLIES ? naive_sl2vl_scope(&naive, port, in) == index
				      : naive_out_fits(&naive, scope, port,
						degree == FITS_ASIDE) &&
					naive_in_fits(&naive, scope, port, in,
						degree == FITS_ASIDE))
			return true;
	return false;
}

static bool holds_at_node(
	uint32_t node, bool is_vlarb, uint32_t scope, enum degree degree)
{
	const struct triad_fabric_node *at = &fabric->nodes[node];

	for (uint32_t i = at->first_port; i < at->first_port + at->n_ports; i++)
		if (holds_at(i, is_vlarb, scope, degree))
			return true;
	return false;
}

static bool holds_anywhere(bool is_vlarb, uint32_t scope, enum degree degree)
{
	for (uint32_t i = 0; i < fabric->n_nodes; i++)
		if (holds_at_node(i, is_vlarb, scope, degree))
			return true;
	return false;
}

static void expect_beyond(uint32_t *at, uint32_t node, bool is_vlarb, uint32_t index)
{
	const struct triad_policy_scope *scope = scope_of(is_vlarb, index);
	const struct triad_fabric_node *is = &fabric->nodes[node];
	unsigned highest = fabric->ports[is->first_port + is->n_ports - 1].number;
	struct triad_setup_finding finding = {.kind = TRIAD_FINDING_PORT_BEYOND,
		.is_vlarb = is_vlarb,
		.scope = (uint16_t)index,
		.node = node,
		.has = (uint8_t)highest};

	if (!holds_at_node(node, is_vlarb, index, FITS_ASIDE))
		return;
	for (unsigned number = highest + 1; number < 256; number++) {
		bool in_to =
			!scope->to_any && triad_ports_has(scope->to, (uint8_t)number);
		bool in_from = !scope->from_any &&
			triad_ports_has(scope->from, (uint8_t)number);

		if (!in_to && (!in_from || is_vlarb || is->type != TRIAD_NODE_SWITCH))
			continue;
		if (!finding.n_ports++)
			finding.port = (uint8_t)number;
	}
	if (finding.n_ports)
		expect(at, &finding);
}

/* Whether the port can't have the scope's table; then fills in 'finding', whose kind
 * and table are set.  Only for ports to which the scope applies. */
static bool is_wrong_at(uint32_t port, struct triad_setup_finding *finding)
{
	unsigned n_vls = triad_vls_n(naive_op_vls(&naive, port));
	const struct triad_policy_vlarb *vlarb;
	unsigned n;

	if (finding->kind == TRIAD_FINDING_SL2VL_VL) {
		const uint8_t *vl = policy->sl2vl[finding->scope].vl;

		finding->has = (uint8_t)n_vls;
		for (finding->sl = 0; finding->sl < 16; finding->sl++) {
			finding->vl = vl[finding->sl];
			if (finding->vl != 15 && finding->vl >= n_vls)
				return true;
		}
		return false;
	}
	vlarb = &policy->vlarb[finding->scope];
	n = finding->is_high ? vlarb->n_high : vlarb->n_low;
	if (finding->kind == TRIAD_FINDING_VLARB_LONG) {
		finding->asked = (uint8_t)n;
		finding->has = (uint8_t)naive_n_vlarb(&naive, port, finding->is_high);
		return finding->asked > finding->has;
	}
	finding->has = (uint8_t)n_vls;
	for (unsigned i = 0; i < n; i++) {
		finding->vl = finding->is_high ? vlarb->high[i].vl : vlarb->low[i].vl;
		if (finding->vl >= n_vls)
			return true;
	}
	return false;
}

static void expect_wrong(uint32_t *at, uint32_t node, uint32_t scope,
	enum triad_setup_finding_kind kind, bool is_high)
{
	const struct triad_fabric_node *is = &fabric->nodes[node];
	struct triad_setup_finding first = {0},
				   finding = {.kind = kind,
					   .is_vlarb = kind != TRIAD_FINDING_SL2VL_VL,
					   .is_high = is_high,
					   .scope = (uint16_t)scope,
					   .node = node};
	uint32_t n_ports = 0;

	for (uint32_t i = is->first_port; i < is->first_port + is->n_ports; i++) {
		if (!holds_at(i, finding.is_vlarb, scope, APPLIES) ||
			!is_wrong_at(i, &finding))
			continue;
		if (!n_ports++) {
			first = finding;
			first.port = fabric->ports[i].number;
		}
	}
	first.n_ports = n_ports;
	if (n_ports)
		expect(at, &first);
}

static void expect_of_scope(uint32_t *at, bool is_vlarb, uint32_t scope)
{
	struct triad_setup_finding finding = {.is_vlarb = is_vlarb,
		.scope = (uint16_t)scope,
		.node = TRIAD_FABRIC_NONE};

	for (uint32_t i = 0; i < fabric->n_nodes; i++) {
		for (unsigned high = 0; is_vlarb && high < 2; high++)
			expect_wrong(at, i, scope, TRIAD_FINDING_VLARB_VL, high);
		expect_beyond(at, i, is_vlarb, scope);
		if (!is_vlarb)
			expect_wrong(at, i, scope, TRIAD_FINDING_SL2VL_VL, false);
		for (unsigned high = 0; is_vlarb && high < 2; high++)
			expect_wrong(at, i, scope, TRIAD_FINDING_VLARB_LONG, high);
	}
	finding.kind = holds_anywhere(is_vlarb, scope, FITS) ? TRIAD_FINDING_HIDDEN
							     : TRIAD_FINDING_NO_TARGET;
	if (!holds_anywhere(is_vlarb, scope, APPLIES))
		expect(at, &finding);
}

static void expect_of_engine(uint32_t *at)
{
	struct triad_setup_finding finding = {.kind = TRIAD_FINDING_OVERRIDDEN,
		.scope = TRIAD_SCOPE_NONE,
		.node = TRIAD_FABRIC_NONE};

	if (fabric->qos.engine_has_tables) {
		expect(at, &finding);
	} else if (fabric->sa.engine_has_sl && policy->n_sl2vl) {
		finding.kind = TRIAD_FINDING_DEADLOCK;
		expect(at, &finding);
	}
}

static void check_findings(void)
{
	uint32_t at = 0, n_errors = 0;

	if (policy)
		expect_of_engine(&at);
	for (uint32_t i = 0; policy && i < policy->n_sl2vl; i++)
		expect_of_scope(&at, false, i);
	for (uint32_t i = 0; policy && i < policy->n_vlarb; i++)
		expect_of_scope(&at, true, i);
	ck_assert_uint_eq(plan->n_findings, at);
	ck_assert_uint_eq(plan->n_findings_total, at);
	for (uint32_t i = 0; i < at; i++)
		n_errors += plan->findings[i].kind == TRIAD_FINDING_PORT_BEYOND ||
			plan->findings[i].kind == TRIAD_FINDING_SL2VL_VL ||
			plan->findings[i].kind == TRIAD_FINDING_VLARB_LONG;
	ck_assert_uint_eq(plan->n_errors, n_errors);
}

static void let_engine_choose_sls(void)
{
	fabric->sa.engine_has_sl = true;
	triad_setup_plan_free(plan);
	plan = NULL;
	ck_assert_int_eq(triad_setup_plan_make(setup, fabric, &plan), 0);
}

START_TEST(test_findings_random_are_as_slow_ones)
{
	unsigned n[TRIAD_N_FINDINGS] = {0};

	printf("# seed %u\n", seed);
	for (unsigned i = 0; i < 100; i++) {
		make_by_chance(seed + i);
		if (i % 2)
			let_engine_choose_sls();
		check_findings();
		for (uint32_t f = 0; f < plan->n_findings; f++)
			n[plan->findings[f].kind]++;
	}
	for (unsigned i = 0; i < TRIAD_N_FINDINGS; i++)
		ck_assert_msg(n[i] > 0, "no finding of kind %u", i);
	drop_all();
}
END_TEST

/* --- the text of each finding --- */

/* All findings, one per line. */
static const char *texts(void)
{
	static char all[4096];
	char text[512];
	size_t n = 0;

	all[0] = '\0';
	for (uint32_t i = 0; i < plan->n_findings; i++) {
		triad_setup_finding_format(
			&plan->findings[i], policy, fabric, text, sizeof(text));
		n += (size_t)snprintf(all + n, sizeof(all) - n, "%s%s: %s",
			i ? "\n" : "",
			triad_setup_finding_is_error(&plan->findings[i]) ? "error"
									 : "warning",
			text);
	}
	return all;
}

#define AS_IT_IS TABLE("0,1,2,3,4,5,6,7,0,1,2,3,4,5,6,7")
#define LINE_1 "28" /* the line of the first scope in SL2VL() and VLARB() */

START_TEST(test_scope_without_fault_has_no_finding)
{
	sketch_two_switches();
	make(SL2VL("sl2vl-scope\ngroup: switches\nfrom: 1-6\nto: 0-6\n" AS_IT_IS
		   "sl2vl-scope\ngroup: hosts\nfrom: 1-254\nto: 1\n" AS_IT_IS));
	ck_assert_str_eq(texts(), "");
	drop_all();
}
END_TEST

/* OpenSM also sends tables for in-ports that it hasn't discovered. */
START_TEST(test_scope_from_port_that_is_not_there_fits)
{
	sketch_two_switches();
	plan_port(sketch, 0, 3)->is_there = false;
	make(SL2VL("sl2vl-scope\ngroup: one\nfrom: 3\n" AS_IT_IS));
	ck_assert_str_eq(texts(), "");
	ck_assert_uint_eq(plan->n_tables, 2 * 5 * 7 + 4 + 2 * (10 + 4));
	make(SL2VL("sl2vl-scope\ngroup: one\nfrom: 3\n" AS_IT_IS
		   "sl2vl-scope\ngroup: one\n" AS_IT_IS));
	assert_mentions(
		texts(), "warning sl2vl-scope " LINE_1 " later scope no effect");
	drop_all();
}
END_TEST

START_TEST(test_numbers_beside_any_are_no_error)
{
	sketch_two_switches();
	make(SL2VL("sl2vl-scope\ngroup: one\nto: *\nto: 1-9\n" AS_IT_IS));
	ck_assert_str_eq(texts(), "");
	make(SL2VL("sl2vl-scope\ngroup: one\nto: *\nto: 1-9\nfrom: 1,9\n" AS_IT_IS));
	ck_assert_uint_eq(plan->n_findings, 1);
	ck_assert_uint_eq(plan->findings[0].port, 9);
	drop_all();
}
END_TEST

/* Row: Q6 */
START_TEST(test_scope_without_ports_warned_of)
{
	sketch_two_switches();
	make(SL2VL("sl2vl-scope\ngroup: nobody\n" AS_IT_IS));
	assert_mentions(texts(), "warning sl2vl-scope " LINE_1 " no port no effect");
	make(VLARB(
		"vlarb-scope\ngroup: switches\nto: 3\nvl-high-limit: 1\nend-vlarb-scope\n"));
	assert_mentions(texts(), "warning vlarb-scope " LINE_1 " no port no effect");
	drop_all();
}
END_TEST

START_TEST(test_scope_of_limit_that_no_port_gets_warned_of)
{
	const char *limit = VLARB(
		"vlarb-scope\ngroup: host2\nvl-high-limit: 1\nend-vlarb-scope\n"
		"vlarb-scope\ngroup: switches\nto: 3\nvl-high-limit: 1\nend-vlarb-scope\n");

	sketch_two_switches();
	plan_port(sketch, 0, 3)->port.state = TRIAD_PORT_INIT;
	plan_port(sketch, 2, 1)->port.vlarb_high_cap = 0;
	make(limit);
	ck_assert_uint_eq(plan->n_findings, 1);
	ck_assert_int_eq(plan->findings[0].kind, TRIAD_FINDING_NO_TARGET);
	ck_assert_uint_eq(plan->findings[0].scope, 1);
	plan_port(sketch, 2, 1)->port.vlarb_low_cap = 0;
	make(limit);
	ck_assert_uint_eq(plan->n_findings, 2);
	ck_assert_uint_eq(plan->findings[0].scope, 0);
	/* A scope with a table is reported even if the port has no arbitration
	 * tables. */
	make(VLARB("vlarb-scope\ngroup: host2\nvlarb-low: 0:1\nvl-high-limit: 1\n"
		   "end-vlarb-scope\n"));
	ck_assert_uint_eq(plan->n_findings, 1);
	ck_assert_int_eq(plan->findings[0].kind, TRIAD_FINDING_VLARB_LONG);
	drop_all();
}
END_TEST

START_TEST(test_scope_hidden_by_later_ones_warned_of)
{
	sketch_two_switches();
	make(SL2VL("sl2vl-scope\ngroup: one\n" AS_IT_IS
		   "sl2vl-scope\ngroup: switches\n" AS_IT_IS));
	assert_mentions(
		texts(), "warning sl2vl-scope " LINE_1 " later scope no effect");
	drop_all();
}
END_TEST

START_TEST(test_engine_with_tables_warned_of_once)
{
	sketch_two_switches();
	sketch->qos.engine_has_tables = true;
	make(SL2VL("sl2vl-scope\ngroup: one\n" AS_IT_IS));
	assert_mentions(texts(), "warning scopes routing engine SL2VL VL arbitration");
	make(NULL);
	ck_assert_uint_eq(plan->n_findings, 0);
	drop_all();
}
END_TEST

START_TEST(test_engine_that_chooses_sls_warned_of_once)
{
	sketch_two_switches();
	sketch->sa.engine_has_sl = true;
	make(SL2VL("sl2vl-scope\ngroup: one\n" AS_IT_IS
		   "sl2vl-scope\ngroup: hosts\n" AS_IT_IS
		   "sl2vl-scope\ngroup: nobody\n" AS_IT_IS));
	ck_assert_uint_eq(plan->n_findings, 2);
	ck_assert_uint_eq(plan->n_errors, 0);
	ck_assert_int_eq(plan->findings[1].kind, TRIAD_FINDING_NO_TARGET);
	plan->n_findings = 1;
	assert_mentions(texts(), "warning scopes deadlocks SLs VL");
	/* VL arbitration doesn't affect deadlocks. */
	make(VLARB("vlarb-scope\ngroup: one\nvl-high-limit: 1\nend-vlarb-scope\n"));
	ck_assert_uint_eq(plan->n_findings, 0);
	make(NULL);
	ck_assert_uint_eq(plan->n_findings, 0);
	/* The warning that the engine may replace tables includes this one. */
	sketch->qos.engine_has_tables = true;
	make(SL2VL("sl2vl-scope\ngroup: one\n" AS_IT_IS));
	ck_assert_uint_eq(plan->n_findings, 1);
	ck_assert_int_eq(plan->findings[0].kind, TRIAD_FINDING_OVERRIDDEN);
	drop_all();
}
END_TEST

/* Row: Q6 */
START_TEST(test_number_beyond_ports_is_error)
{
	sketch_two_switches();
	make(SL2VL("sl2vl-scope\ngroup: switches\nfrom: 1-8\n" AS_IT_IS));
	assert_mentions(texts(),
		"error sl2vl-scope " LINE_1
		" 'switch-0' 0x0000000000001000 no port 7 'from' port 6 1 more\n"
		"error sl2vl-scope " LINE_1
		" 'switch-1' 0x0000000000002000 no port 7 'from' port 6 1 more");
	make(SL2VL("sl2vl-scope\ngroup: host2\nfrom: 1-8\nto: 1,2\n" AS_IT_IS));
	assert_mentions(texts(),
		"error sl2vl-scope " LINE_1
		" 'host-2' 0x0000000000003000 no port 2 'to' port 1");
	make(SL2VL("sl2vl-scope\ngroup: one\nfrom: 1,9\nto: 1,9\n" AS_IT_IS));
	assert_mentions(texts(),
		"error sl2vl-scope " LINE_1
		" 'switch-0' 0x0000000000001000 no port 9 'from' 'to' port 6");
	make(SL2VL("sl2vl-scope\ngroup: one\nto: 1,9,70,254\n" AS_IT_IS));
	ck_assert_uint_eq(plan->n_findings, 1);
	ck_assert_uint_eq(plan->findings[0].port, 9);
	ck_assert_uint_eq(plan->findings[0].n_ports, 3);
	drop_all();
}
END_TEST

/* Row: Q6 */
START_TEST(test_vl_beyond_those_of_port_is_error)
{
	sketch_two_switches();
	make(SL2VL("sl2vl-scope\ngroup: host2\n" TABLE(
		"0,1,2,3,4,9,6,7,8,1,2,3,4,5,15,14")));
	assert_mentions(texts(),
		"error sl2vl-scope " LINE_1
		" 'host-2' 0x0000000000003000 port 1: SL 5 VL 9 8 data VLs VL 0 7 SL 5 8 15 dropped");
	plan_port(sketch, 0, 5)->port.vl_cap = 1;
	make(SL2VL("sl2vl-scope\ngroup: switches\nto: 5\n" TABLE(
		"0,1,0,0,0,0,0,0,0,0,0,0,0,0,0,0")));
	assert_mentions(texts(),
		"error sl2vl-scope " LINE_1
		" 'switch-0' 0x0000000000001000 port 5: SL 1 VL 1 1 data VL VL 0 SL 1 dropped\n"
		"error sl2vl-scope " LINE_1
		" 'switch-1' 0x0000000000002000 port 5: SL 1 VL 1 1 data VL VL 0 SL 1 dropped");
	make(SL2VL("sl2vl-scope\nacross-to: hosts\n" TABLE(
		"0,1,8,0,0,0,0,0,0,0,0,0,0,0,0,0")));
	assert_line_with(texts(),
		"'switch-1' 0x0000000000002000 port 1: SL 2 VL 8 8 data VLs VL 0 7 SL 2 dropped 1 more");
	drop_all();
}
END_TEST

#define EIGHT "0:1,1:1,2:1,3:1,4:1,5:1,6:1,7:1"

/* Row: Q6 */
START_TEST(test_vlarb_longer_than_ports_is_error)
{
	sketch_two_switches();
	make(VLARB("vlarb-scope\ngroup: host2\nvlarb-high: " EIGHT "\nvlarb-low: " EIGHT
		   ",0:1\nend-vlarb-scope\n"));
	assert_mentions(texts(),
		"error vlarb-scope " LINE_1
		" 'host-2' 0x0000000000003000 port 1: low table 9 8 default");
	plan_port(sketch, 1, 1)->port.vlarb_high_cap = 0;
	plan_port(sketch, 1, 5)->port.vlarb_high_cap = 1;
	make(VLARB("vlarb-scope\ngroup: switches\nvlarb-high: 0:1,1:1\n"
		   "end-vlarb-scope\n"));
	assert_mentions(texts(),
		"error vlarb-scope " LINE_1
		" 'switch-1' 0x0000000000002000 port 1: high table 2 none default 1 more");
	drop_all();
}
END_TEST

/* Row: Q6 */
START_TEST(test_vlarb_quoting_lacking_vl_warned_of)
{
	sketch_two_switches();
	make(VLARB("vlarb-scope\ngroup: host2\nvlarb-high: 0:1,8:1,9:2\n"
		   "end-vlarb-scope\n"));
	assert_mentions(texts(),
		"warning vlarb-scope " LINE_1
		" 'host-2' 0x0000000000003000 port 1: high table VL 8 8 data VLs VL 0 7 weight 0");
	/* The table is also too long, so the port doesn't get it at all. */
	make(VLARB("vlarb-scope\ngroup: host2\nvlarb-low: " EIGHT ",8:1\n"
		   "end-vlarb-scope\n"));
	assert_mentions(texts(),
		"warning vlarb-scope " LINE_1
		" 'host-2' 0x0000000000003000 port 1: low table VL 8 8 data VLs VL 0 7 weight 0\n"
		"error vlarb-scope " LINE_1
		" 'host-2' 0x0000000000003000 port 1: low table 9 8 default");
	drop_all();
}
END_TEST

START_TEST(test_findings_of_two_scopes_by_scope_then_node)
{
	sketch_two_switches();
	make(SL2VL("sl2vl-scope\ngroup: switches\nto: 0-7\n" AS_IT_IS
		   "sl2vl-scope\ngroup: one\nto: 1,7\n" AS_IT_IS));
	ck_assert_uint_eq(plan->n_findings, 3);
	ck_assert_uint_eq(plan->findings[0].scope, 0);
	ck_assert_uint_eq(plan->findings[0].node, 0);
	ck_assert_uint_eq(plan->findings[1].scope, 0);
	ck_assert_uint_eq(plan->findings[1].node, 1);
	ck_assert_uint_eq(plan->findings[2].scope, 1);
	ck_assert_uint_eq(plan->findings[2].node, 0);
	drop_all();
}
END_TEST

/* 150 hosts and 20 scopes; each scope names a port that no host has. */
START_TEST(test_findings_of_many_cut_by_scope)
{
	struct script script = {.n = 0};

	drop_all();
	sketch = plan_new();
	for (unsigned i = 0; i < 150; i++)
		plan_add_host(sketch, 1);
	plan_use_qos(sketch, 4, 8);
	append(&script, LEVELS GROUPS "qos-setup\nsl2vl-tables\n");
	for (unsigned i = 0; i < 20; i++)
		append(&script, "sl2vl-scope\ngroup: hosts\nto: 1,2\n" AS_IT_IS);
	append(&script, "end-sl2vl-tables\nend-qos-setup\n");
	make(script.text);
	ck_assert_uint_eq(plan->n_findings_total, 20 * 150 + 19);
	ck_assert_uint_eq(plan->n_errors, 20 * 150);
	ck_assert_uint_eq(plan->n_findings, TRIAD_SETUP_MAX_FINDINGS);
	for (uint32_t i = 0; i < plan->n_findings; i++) {
		ck_assert_uint_eq(plan->findings[i].scope, i / 151);
		ck_assert_uint_eq(plan->findings[i].node,
			i % 151 < 150 ? i % 151 : TRIAD_FABRIC_NONE);
	}
	drop_all();
}
END_TEST

START_TEST(test_text_cut_to_its_room)
{
	char text[32];

	sketch_two_switches();
	make(SL2VL("sl2vl-scope\ngroup: nobody\n" AS_IT_IS));
	memset(text, 'x', sizeof(text));
	triad_setup_finding_format(&plan->findings[0], policy, fabric, text, 20);
	ck_assert_str_eq(text, "sl2vl-scope on line");
	ck_assert_int_eq(text[20], 'x');
	drop_all();
}
END_TEST

int main(void)
{
	TCase *cases = tcase_create("setup findings");

	tcase_add_checked_fixture(cases, set_up, NULL);
	tcase_add_test(cases, test_findings_random_are_as_slow_ones);
	tcase_add_test(cases, test_scope_without_fault_has_no_finding);
	tcase_add_test(cases, test_scope_from_port_that_is_not_there_fits);
	tcase_add_test(cases, test_numbers_beside_any_are_no_error);
	tcase_add_test(cases, test_scope_without_ports_warned_of);
	tcase_add_test(cases, test_scope_of_limit_that_no_port_gets_warned_of);
	tcase_add_test(cases, test_scope_hidden_by_later_ones_warned_of);
	tcase_add_test(cases, test_engine_with_tables_warned_of_once);
	tcase_add_test(cases, test_engine_that_chooses_sls_warned_of_once);
	tcase_add_test(cases, test_number_beyond_ports_is_error);
	tcase_add_test(cases, test_vl_beyond_those_of_port_is_error);
	tcase_add_test(cases, test_vlarb_longer_than_ports_is_error);
	tcase_add_test(cases, test_vlarb_quoting_lacking_vl_warned_of);
	tcase_add_test(cases, test_findings_of_two_scopes_by_scope_then_node);
	tcase_add_test(cases, test_findings_of_many_cut_by_scope);
	tcase_add_test(cases, test_text_cut_to_its_room);
	return run_cases(cases);
}
