/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Which alerts are evidence against a link or a node. */
#include "heal/evidence.h"

#include <string.h>

#include "ib/detail.h"
#include "tests/sim/routed.h"
#include "tests/unit/run.h"

#define NO_KIND TRIAD_HEAL_N_KINDS

static struct routed routed;
static struct triad_fabric *fabric;
static struct triad_heal_evidence evidence;

/* Leaves 0 to 4 with a spine, 5, on port 1 each, and two hosts each. */
static void begin(void)
{
	uint64_t seed = 1;

	routed_init(&routed, 6);
	for (unsigned leaf = 0; leaf < 5; leaf++) {
		routed_link(&routed, leaf, 5);
		routed_add_host(&routed, leaf);
		routed_add_host(&routed, leaf);
	}
	routed_route(&routed, &seed);
	fabric = routed_fabric(&routed);
	evidence = (struct triad_heal_evidence){.fabric = fabric};
}

static void end(void)
{
	triad_heal_evidence_clear(&evidence);
	triad_fabric_unref(fabric);
}

static struct triad_alert alert_at(unsigned leaf, struct triad_alert_finding finding)
{
	struct triad_alert alert = {.state = TRIAD_ALERT_ACTIVE,
		.n_ends = 2,
		.n_findings = 1,
		.findings = {finding}};

	alert.findings[0].raised = true;
	alert.findings[0].since_us = 5;
	alert.findings[0].worst = finding.value;
	alert.ends[0] = (struct triad_alert_end){.node_guid = 0x1000 + 16 * leaf,
		.node_type = TRIAD_NODE_SWITCH,
		.port = 1};
	alert.ends[1] = (struct triad_alert_end){.node_guid = 0x1000 + 16 * 5,
		.node_type = TRIAD_NODE_SWITCH,
		.port = (uint8_t)(1 + leaf)};
	return alert;
}

static struct triad_alert_finding counter(unsigned cause, float value)
{
	return (struct triad_alert_finding){.cause = (uint8_t)cause,
		.value = value,
		.threshold = {1, TRIAD_THRESHOLD_PER_SWEEP}};
}

/* What an alert with this finding is taken for. */
static unsigned kind_of(struct triad_alert_finding finding)
{
	struct triad_alert alert = alert_at(2, finding);

	evidence.n = 0;
	triad_heal_evidence_add(&evidence, &alert);
	return evidence.n ? evidence.findings[0].kind : NO_KIND;
}

START_TEST(test_evidence_each_counter_is_classed)
{
	static const unsigned errors = 1u << TRIAD_SYMBOL_ERROR_COUNTER |
		1u << TRIAD_LINK_ERROR_RECOVERY_COUNTER | 1u << TRIAD_PORT_RCV_ERRORS |
		1u << TRIAD_LOCAL_LINK_INTEGRITY_ERRORS |
		1u << TRIAD_EXCESSIVE_BUFFER_OVERRUN_ERRORS;

	for (unsigned i = 0; i < TRIAD_N_COUNTERS; i++) {
		ck_assert_msg(kind_of(counter(i, 2)) ==
				(errors >> i & 1 ? TRIAD_HEAL_ERRORS
						: i == TRIAD_LINK_DOWNED_COUNTER
						? TRIAD_HEAL_FLAPS
						: NO_KIND),
			"counter %u", i);
		if (evidence.n) {
			ck_assert(!evidence.findings[0].is_sure);
			ck_assert_double_eq(evidence.findings[0].times, 2);
		}
	}
}
END_TEST

static struct triad_alert_finding detail(unsigned cause, const char *name)
{
	struct triad_alert_finding finding = counter(cause, 2);

	finding.why.field = (uint8_t)(triad_detail_field_find(name) + 1);
	return finding;
}

START_TEST(test_evidence_details_of_what_could_not_be_read_count)
{
	static const struct {
		unsigned cause;
		const char *name;
		bool counts;
	} cases[] = {
		{TRIAD_PORT_RCV_ERRORS, "PortLocalPhysicalErrors", true},
		{TRIAD_PORT_RCV_ERRORS, "PortMalformedPktErrors", false},
		{TRIAD_PORT_RCV_ERRORS, "PortDLIDMappingErrors", false},
		{TRIAD_ALERT_DETAIL, "FECUncorrectableBlockCtrLane", true},
		{TRIAD_ALERT_DETAIL, "PortFECCorrectedSymbolCtr", true},
		{TRIAD_ALERT_DETAIL, "PortVLXmitFlowCtlUpdateErrors", true},
		{TRIAD_ALERT_DETAIL, "PortVLXmitWait", false},
		{TRIAD_ALERT_DETAIL, "PortInactiveDiscards", false},
		{TRIAD_ALERT_DETAIL, "PortPktRcvFECN", false},
	};

	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		ck_assert_msg(kind_of(detail(cases[i].cause, cases[i].name)) ==
				(cases[i].counts ? TRIAD_HEAL_ERRORS : NO_KIND),
			"%s", cases[i].name);
}
END_TEST

START_TEST(test_evidence_other_causes_are_classed)
{
	static const struct {
		unsigned cause, kind;
	} cases[] = {
		{TRIAD_ALERT_UNANSWERED, TRIAD_HEAL_SILENT},
		{TRIAD_ALERT_LINK_DOWN, NO_KIND}, /* once */
		{TRIAD_ALERT_NODE_GONE, NO_KIND},
		{TRIAD_ALERT_BER, TRIAD_HEAL_BIT_ERRORS},
		{TRIAD_ALERT_DEVICE, NO_KIND},
		{TRIAD_ALERT_ROUTES, NO_KIND},
		{TRIAD_ALERT_CONGESTION, NO_KIND},
		{TRIAD_ALERT_SLOW_LINK, TRIAD_HEAL_SLOW},
	};
	struct triad_alert_finding finding;

	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		ck_assert_msg(kind_of(counter(cases[i].cause, 1)) == cases[i].kind,
			"cause %u", cases[i].cause);
	ck_assert_uint_eq(kind_of(counter(TRIAD_ALERT_LINK_DOWN, 3)), TRIAD_HEAL_FLAPS);
	ck_assert(evidence.findings[0].is_sure);
	ck_assert_uint_eq(
		kind_of(counter(TRIAD_ALERT_NODE_GONE, 3)), TRIAD_HEAL_RESTARTS);
	ck_assert_uint_eq(evidence.findings[0].node,
		triad_fabric_find_node(fabric, 0x1000 + 16 * 2));
	finding = counter(TRIAD_ALERT_MODULE, 80);
	finding.hardware.fault = TRIAD_HARDWARE_MODULE_HOT;
	finding.hardware.limit = 40;
	ck_assert_uint_eq(kind_of(finding), TRIAD_HEAL_HOT);
	ck_assert_double_eq(evidence.findings[0].times, 2);
	finding.hardware.fault = TRIAD_HARDWARE_MODULE_DARK;
	ck_assert_uint_eq(kind_of(finding), TRIAD_HEAL_DARK);
}
END_TEST

START_TEST(test_evidence_says_how_sure_it_is)
{
	struct triad_alert_finding finding = {
		.cause = TRIAD_ALERT_BER, .ber = {.target = 1e-12f, .low = 4e-12f}};

	ck_assert_uint_eq(kind_of(finding), TRIAD_HEAL_BIT_ERRORS);
	ck_assert(evidence.findings[0].is_sure);
	ck_assert_double_eq_tol(evidence.findings[0].times, 4, 0.01);
	/* It lasts no longer. */
	finding.under_us = 7;
	ck_assert_uint_eq(kind_of(finding), TRIAD_HEAL_BIT_ERRORS);
	ck_assert(!evidence.findings[0].is_sure);
	finding = counter(TRIAD_LINK_DOWNED_COUNTER, 3);
	finding.under_us = 7;
	ck_assert_uint_eq(kind_of(finding), TRIAD_HEAL_FLAPS);
	ck_assert(evidence.findings[0].is_sure);
	/* In a second it may be one of some seconds. */
	finding.threshold.unit = TRIAD_THRESHOLD_PER_S;
	ck_assert_uint_eq(kind_of(finding), TRIAD_HEAL_FLAPS);
	ck_assert(!evidence.findings[0].is_sure);
	/* One of many slow links alike. */
	ck_assert_uint_eq(kind_of(counter(TRIAD_ALERT_SLOW_LINK, 1)), TRIAD_HEAL_SLOW);
	ck_assert(evidence.findings[0].is_sure);
	ck_assert_uint_eq(kind_of(counter(TRIAD_ALERT_SLOW_LINK, 9)), TRIAD_HEAL_SLOW);
	ck_assert(!evidence.findings[0].is_sure);
}
END_TEST

START_TEST(test_evidence_only_of_raised_findings_of_active_alerts)
{
	struct triad_alert alert = alert_at(2, counter(TRIAD_SYMBOL_ERROR_COUNTER, 2));

	alert.silence = 9;
	triad_heal_evidence_add(&evidence, &alert);
	ck_assert_uint_eq(evidence.n, 1);
	ck_assert_uint_eq(evidence.findings[0].silence, 9);
	ck_assert_uint_eq(evidence.findings[0].since_us, 5);
	ck_assert_uint_gt(strlen(evidence.findings[0].text), 0);
	ck_assert_uint_eq(evidence.findings[0].port,
		triad_fabric_port_at(fabric, 0x1000 + 16 * 2, 1));
	alert.state = TRIAD_ALERT_CLEARED;
	triad_heal_evidence_add(&evidence, &alert);
	alert.state = TRIAD_ALERT_PENDING;
	triad_heal_evidence_add(&evidence, &alert);
	alert.state = TRIAD_ALERT_ACTIVE;
	alert.findings[0].raised = false;
	triad_heal_evidence_add(&evidence, &alert);
	alert.findings[0].raised = true;
	alert.findings[0].held = true;
	triad_heal_evidence_add(&evidence, &alert);
	/* The node left, or has no such port. */
	alert.findings[0].held = false;
	alert.ends[0].port = 77;
	triad_heal_evidence_add(&evidence, &alert);
	alert.ends[0].node_guid = 3;
	triad_heal_evidence_add(&evidence, &alert);
	ck_assert_uint_eq(evidence.n, 1);
}
END_TEST

static void add_flap(unsigned leaf, bool at_both_ends)
{
	struct triad_alert alert =
		alert_at(leaf, counter(TRIAD_LINK_DOWNED_COUNTER, 1));

	if (at_both_ends) {
		alert.findings[1] = alert.findings[0];
		alert.findings[1].end = 1;
		alert.n_findings = 2;
	}
	triad_heal_evidence_add(&evidence, &alert);
}

START_TEST(test_evidence_links_of_one_node_are_its_restart)
{
	for (unsigned leaf = 0; leaf < 3; leaf++)
		add_flap(leaf, true);
	triad_heal_evidence_end(&evidence);
	ck_assert_uint_eq(evidence.n, 6); /* three of five */
	add_flap(3, false);
	triad_heal_evidence_end(&evidence);
	ck_assert_uint_eq(evidence.n, 1);
	ck_assert_uint_eq(evidence.findings[0].kind, TRIAD_HEAL_RESTARTS);
	ck_assert_uint_eq(evidence.findings[0].node,
		triad_fabric_find_node(fabric, 0x1000 + 16 * 5));
	ck_assert_uint_eq(evidence.findings[0].port, TRIAD_FABRIC_NONE);
	ck_assert_uint_eq(evidence.findings[0].since_us, 5);
	ck_assert_ptr_nonnull(strstr(evidence.findings[0].text, "4"));
}
END_TEST

START_TEST(test_evidence_flaps_that_are_sure_stay_those_of_links)
{
	for (unsigned leaf = 0; leaf < 4; leaf++) {
		struct triad_alert alert =
			alert_at(leaf, counter(TRIAD_LINK_DOWNED_COUNTER, 5));

		triad_heal_evidence_add(&evidence, &alert);
	}
	triad_heal_evidence_end(&evidence);
	ck_assert_uint_eq(evidence.n, 4);
	ck_assert_uint_eq(evidence.findings[3].kind, TRIAD_HEAL_FLAPS);
}
END_TEST

START_TEST(test_evidence_of_too_many_is_left_out_and_counted)
{
	struct triad_alert alert = alert_at(2, counter(TRIAD_SYMBOL_ERROR_COUNTER, 2));

	for (unsigned i = 0; i < TRIAD_HEAL_MAX_FINDINGS + 3; i++)
		triad_heal_evidence_add(&evidence, &alert);
	ck_assert_uint_eq(evidence.n, TRIAD_HEAL_MAX_FINDINGS);
	ck_assert_uint_eq(evidence.n_left_out, 3);
	ck_assert(!evidence.is_short);
}
END_TEST

int main(void)
{
	TCase *cases = tcase_create("evidence");

	tcase_add_checked_fixture(cases, begin, end);
	tcase_add_test(cases, test_evidence_each_counter_is_classed);
	tcase_add_test(cases, test_evidence_details_of_what_could_not_be_read_count);
	tcase_add_test(cases, test_evidence_other_causes_are_classed);
	tcase_add_test(cases, test_evidence_says_how_sure_it_is);
	tcase_add_test(cases, test_evidence_only_of_raised_findings_of_active_alerts);
	tcase_add_test(cases, test_evidence_links_of_one_node_are_its_restart);
	tcase_add_test(cases, test_evidence_flaps_that_are_sure_stay_those_of_links);
	tcase_add_test(cases, test_evidence_of_too_many_is_left_out_and_counted);
	return run_cases(cases);
}
