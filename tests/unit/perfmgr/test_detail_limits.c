/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Thresholds of details, their alerts, and the distribution of rates. */
#include "perfmgr/watch/detail_limits.h"

#include <errno.h>
#include <string.h>

#include "perfmgr/watch/detail_histogram.h"
#include "perfmgr/watch/alert_text.h"
#include "tests/unit/mentions.h"
#include "tests/unit/perfmgr/alert_fixture.h"
#include "triad/lists.h"

#define S UINT64_C(1000000)
#define ERRORS TRIAD_PMA_RCV_ERROR_DETAILS

static struct triad_view *view;
static uint32_t port;
static struct triad_detail_thresholds thresholds;
static struct triad_alert_finding found;

static void set_up_details(void)
{
	set_up_alerts();
	agents->details = triad_detail_attributes(TRIAD_DETAIL_ERRORS);
	port = find_port(0x201, 3);
	view = triad_collector_view(collector);
}

static void tear_down_details(void)
{
	triad_view_unref(view);
	triad_conf_unref(conf);
	tear_down();
}

/* --- through a collector --- */

/* Sweeps after one more error: that is below the counter's own threshold, but makes
 * Triad read the port's details. */
static void sweep_with(unsigned physical, unsigned overruns)
{
	agents->raw[port][TRIAD_PORT_RCV_ERRORS]++;
	agents->detail[port][ERRORS].raw[0] += physical;
	agents->detail[port][ERRORS].raw[2] += overruns;
	sweep(1);
}

/* Row: N4 */
START_TEST(test_detail_over_its_threshold_is_an_alert_until_it_is_under)
{
	char text[TRIAD_ALERT_TEXT_SIZE];

	set("alerts.details", "PortLocalPhysicalErrors 5/s; PortLoopingErrors 1/s");
	sweep_with(3, 0);
	sweep_with(49, 0);
	ck_assert_uint_eq(n_seen, 0);
	sweep_with(120, 9999);
	ck_assert_uint_eq(n_seen, 1);
	expect(0, TRIAD_ALERT_RAISED, TRIAD_ALERT_DETAIL);
	triad_alert_findings_format(&seen[0].alert, text, sizeof(text));
	ck_assert_msg(strstr(text, "PortLocalPhysicalErrors 12/s (threshold 5/s)"),
		"%s", text);
	assert_mentions(triad_alert_advice(&seen[0].alert), "cable");
	ck_assert_str_eq(
		triad_alert_kind_name(triad_alert_kind(&seen[0].alert)), "detail");
	/* Without a new reading Triad can't clear the alert. */
	sweep(20);
	ck_assert_uint_eq(n_active(), 1);
	sweep_with(1, 0);
	ck_assert_uint_eq(n_active(), 0);
	expect(1, TRIAD_ALERT_ENDED, TRIAD_ALERT_DETAIL);
}
END_TEST

START_TEST(test_alert_of_a_threshold_that_is_taken_away_ends)
{
	set("alerts.details", "PortLocalPhysicalErrors 5/s");
	sweep_with(1, 0);
	sweep_with(100, 0);
	ck_assert_uint_eq(n_active(), 1);
	set("alerts.details", "PortLocalPhysicalErrors off");
	sweep(1);
	ck_assert_uint_eq(n_active(), 0);
	expect(1, TRIAD_ALERT_ENDED, TRIAD_ALERT_DETAIL);
	/* The alert ends at once, but not before it began. */
	ck_assert_uint_gt(
		seen[1].alert.findings[0].under_us, seen[1].alert.findings[0].since_us);
}
END_TEST

/* --- one look --- */

static const char *limits(const char *text)
{
	static char reason[256];

	reason[0] = '\0';
	if (!triad_detail_thresholds_parse(text, &thresholds, reason, sizeof(reason)))
		ck_assert_str_ne(reason, "");
	return reason;
}

static void reported(enum triad_pma_attribute attribute, unsigned slot, uint32_t first,
	uint32_t second)
{
	const struct triad_details_port of = triad_view_details_port(view, port);
	struct triad_details *details = triad_engine_details(view->engine);
	struct triad_detail_reading reading = {{0}};

	reading.raw[slot] = first;
	triad_details_update(details, &of, attribute, &reading, false, 100 * S);
	reading.raw[slot] = second;
	triad_details_update(details, &of, attribute, &reading, false, 200 * S);
}

static enum triad_detail_verdict look(uint8_t known, uint64_t since_us)
{
	const struct triad_alert_why why = {.field = known};

	memset(&found, 0, sizeof(found));
	return triad_detail_limits_look(&thresholds, view, port, why, since_us, &found);
}

START_TEST(test_each_vl_is_compared_and_the_worst_of_all_is_found)
{
	char text[TRIAD_ALERT_TEXT_SIZE];
	struct triad_alert alert = {.n_ends = 1, .n_findings = 1};

	ck_assert_str_eq(limits("portvlxmitwait 10/s; PortVLOpPackets 1/s"), "");
	reported(TRIAD_PMA_VL_XMIT_WAIT, 3, 1000, 2100);
	reported(TRIAD_PMA_VL_OP_PACKETS, 9, 1, 301);
	ck_assert_int_eq(look(0, 150 * S), TRIAD_DETAIL_IS_OVER);
	ck_assert_str_eq(triad_alert_why_name(found.why), "PortVLOpPackets");
	ck_assert_uint_eq(found.why.element, 9);
	alert.findings[0] = found;
	alert.findings[0].cause = TRIAD_ALERT_DETAIL;
	alert.findings[0].worst = found.value;
	triad_alert_findings_format(&alert, text, sizeof(text));
	ck_assert_str_eq(text, "PortVLOpPackets9 3/s (threshold 1/s)");
	/* An earlier sweep already judged that reading. */
	ck_assert_int_eq(look(0, 250 * S), TRIAD_DETAIL_NOTHING_NEW);
}
END_TEST

START_TEST(test_what_was_not_read_again_stays_as_it_was)
{
	int wait = triad_detail_field_find("PortVLXmitWait") + 1;
	int packets = triad_detail_field_find("PortVLOpPackets") + 1;

	limits("PortVLXmitWait 100/s; PortVLOpPackets 1/s");
	reported(TRIAD_PMA_VL_XMIT_WAIT, 3, 1000, 2100);
	ck_assert_int_eq(look((uint8_t)packets, 150 * S), TRIAD_DETAIL_NOTHING_NEW);
	ck_assert_int_eq(look((uint8_t)wait, 150 * S), TRIAD_DETAIL_IS_UNDER);
	limits("PortVLOpPackets 1/s");
	ck_assert_int_eq(look((uint8_t)wait, 250 * S), TRIAD_DETAIL_IS_UNDER);
}
END_TEST

/* --- the distribution of rates --- */

static uint64_t values_of(const char *field, const struct triad_histograms_scope *scope,
	uint64_t *n_zeros)
{
	struct triad_histogram histogram;
	uint64_t n;

	ck_assert_int_eq(
		triad_detail_histogram(view, scope,
			(unsigned)triad_detail_field_find(field), &histogram, n_zeros),
		0);
	n = triad_histogram_count(&histogram);
	if (n)
		ck_assert_double_eq_tol(triad_histogram_quantile(&histogram, 0, 0.99) /
				TRIAD_HISTOGRAM_STEPS_PER_UNIT,
			11, 11 * triad_histogram_error(&histogram));
	triad_histogram_clear(&histogram);
	return n;
}

START_TEST(test_rates_of_each_vl_are_in_the_histogram_of_its_port)
{
	uint64_t node_guid = fabric->nodes[fabric->ports[port].node].guid, n_zeros;
	const struct triad_histograms_scope all = {.of = TRIAD_HISTOGRAMS_OF_ALL},
					    node = {.of = TRIAD_HISTOGRAMS_OF_NODE,
						    .node_guid = node_guid},
					    group = {.of = TRIAD_HISTOGRAMS_OF_GROUP,
						    .group = 1},
					    here = {.of = TRIAD_HISTOGRAMS_OF_PORT,
						    .node_guid = node_guid,
						    .port = 3},
					    there = {.of = TRIAD_HISTOGRAMS_OF_PORT,
						    .node_guid = node_guid,
						    .port = 2},
					    nowhere = {.of = TRIAD_HISTOGRAMS_OF_NODE,
						    .node_guid = 0x999};
	struct triad_histogram histogram;

	reported(TRIAD_PMA_VL_XMIT_WAIT, 3, 1000, 2100);
	ck_assert_uint_eq(values_of("PortVLXmitWait", &all, &n_zeros), 1);
	ck_assert_uint_eq(n_zeros, 15);
	ck_assert_uint_eq(values_of("PortVLXmitWait", &node, &n_zeros), 1);
	ck_assert_uint_eq(values_of("PortVLXmitWait", &here, &n_zeros), 1);
	ck_assert_uint_eq(n_zeros, 15);
	ck_assert_uint_eq(values_of("PortVLXmitWait", &there, &n_zeros), 0);
	ck_assert_uint_eq(n_zeros, 0);
	ck_assert_uint_eq(values_of("PortVLXmitWait", &group, &n_zeros), 0);
	ck_assert_uint_eq(values_of("PortVLOpData", &all, &n_zeros), 0);
	ck_assert_int_eq(
		triad_detail_histogram(view, &nowhere, 0, &histogram, &n_zeros),
		ENOENT);
}
END_TEST

START_TEST(test_mistakes_in_thresholds_are_reported)
{
	assert_mentions(
		limits("PortVLXmitWait"), "'PortVLXmitWait' PortVLXmitWait 10000/s");
	assert_mentions(
		limits("PortVLXmitWaits 1/s"), "'PortVLXmitWaits' 'PortVLXmitWait'");
	ck_assert_ptr_nonnull(strstr(limits("Nonsense 1/s"), "no detail 'Nonsense'; "));
	ck_assert_ptr_nonnull(strstr(limits("PortVLXmitWait 1/sweep"), "a rate"));
	ck_assert_ptr_nonnull(strstr(limits("PortVLXmitWait 1"), "has no unit"));
	ck_assert_str_eq(limits("PortVLXmitWait off"), "");
	ck_assert_uint_eq(thresholds.attributes, 0);
}
END_TEST

int main(void)
{
	TCase *cases = tcase_create("detail_limits");

	tcase_add_checked_fixture(cases, set_up_details, tear_down_details);
	tcase_add_test(
		cases, test_detail_over_its_threshold_is_an_alert_until_it_is_under);
	tcase_add_test(cases, test_alert_of_a_threshold_that_is_taken_away_ends);
	tcase_add_test(cases, test_each_vl_is_compared_and_the_worst_of_all_is_found);
	tcase_add_test(cases, test_what_was_not_read_again_stays_as_it_was);
	tcase_add_test(cases, test_rates_of_each_vl_are_in_the_histogram_of_its_port);
	tcase_add_test(cases, test_mistakes_in_thresholds_are_reported);
	return run_cases(cases);
}
