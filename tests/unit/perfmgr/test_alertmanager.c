/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "perfmgr/formats/alertmanager.h"

#include <string.h>

#include "tests/unit/run.h"
#include "triad/clock.h"

#define S TRIAD_US_PER_S
#define BEGAN (UINT64_C(1767323045) * S) /* 2026-01-02T03:04:05Z */

static char body[2 + 2 * TRIAD_ALERTMANAGER_ALERT_SIZE + 1];
static const struct triad_alertmanager_sender sender = {
	.host = "sm-1", .url = "http://sm-1:9315/metrics"};
static const struct triad_alertmanager_sender unnamed_sender;

static struct triad_outgoing_alert make_alert(void)
{
	struct triad_outgoing_alert reported = {
		.kind = TRIAD_ALERT_KIND_COUNTER,
		.severity = TRIAD_WARNING,
		.cause = TRIAD_SYMBOL_ERROR_COUNTER,
		.n_ends = 2,
		.ends = {{.node_guid = 0x20,
				 .node_type = TRIAD_NODE_SWITCH,
				 .port = 3,
				 .node_name = "leaf-01"},
			{.node_guid = 0x21,
				.node_type = TRIAD_NODE_CA,
				.port = 1,
				.node_name = "node-7 HCA-1"}},
		.began_wall_us = BEGAN,
		.alert = {.id = 5,
			.n_ends = 2,
			.n_findings = 1,
			.findings = {{.cause = TRIAD_SYMBOL_ERROR_COUNTER,
				.worst = 60,
				.threshold = {.value = 10,
					.unit = TRIAD_THRESHOLD_PER_SWEEP}}}},
	};

	memcpy(reported.alert.ends, reported.ends, sizeof(reported.ends));
	return reported;
}

static size_t make_body(const struct triad_outgoing_alert *alerts, size_t n,
	const struct triad_alertmanager_sender *by)
{
	size_t length = triad_alertmanager_body(alerts, n, by, body);

	ck_assert_uint_lt(length, sizeof(body));
	body[length] = '\0';
	return length;
}

START_TEST(test_body_has_labels_annotations_and_times)
{
	struct triad_outgoing_alert reported = make_alert();

	make_body(&reported, 1, &sender);
	ck_assert_str_eq(body,
		"[{\"labels\":{\"alertname\":\"TriadCounter\",\"severity\":\"warning\","
		"\"kind\":\"counter\",\"what\":\"SymbolErrorCounter\","
		"\"node\":\"leaf-01\",\"node_type\":\"switch\","
		"\"guid\":\"0x0000000000000020\",\"port\":\"3\","
		"\"far_end\":\"node-7 HCA-1\","
		"\"far_end_guid\":\"0x0000000000000021\",\"far_end_port\":\"1\"},"
		"\"annotations\":{\"summary\":\"switch leaf-01 (0x0000000000000020) "
		"port 3 - ca node-7 HCA-1 (0x0000000000000021) port 1: "
		"SymbolErrorCounter\","
		"\"description\":\"SymbolErrorCounter 60/sweep (threshold 10/sweep)\","
		"\"advice\":\"check the cable and its plugs\",\"alert\":\"5\","
		"\"host\":\"sm-1\"},"
		"\"startsAt\":\"2026-01-02T03:04:05.000Z\","
		"\"generatorURL\":\"http://sm-1:9315/metrics\"}]");
}
END_TEST

START_TEST(test_body_of_alert_that_is_over_has_its_end)
{
	struct triad_outgoing_alert reported = make_alert();

	reported.ended_wall_us = BEGAN + 90 * S;
	make_body(&reported, 1, &unnamed_sender);
	ck_assert_ptr_nonnull(
		strstr(body, "\"endsAt\":\"2026-01-02T03:05:35.000Z\"}]"));
	ck_assert_ptr_null(strstr(body, "generatorURL"));
	ck_assert_ptr_null(strstr(body, "\"host\""));
}
END_TEST

/* Labels identify an alert, so they must not contain anything that changes. */
START_TEST(test_labels_stay_while_findings_change)
{
	struct triad_outgoing_alert reported = make_alert();
	char labels[1024];
	size_t n;

	make_body(&reported, 1, &sender);
	n = (size_t)(strstr(body, "\"annotations\"") - body);
	ck_assert_uint_lt(n, sizeof(labels));
	memcpy(labels, body, n);
	reported.alert.findings[0].cause = TRIAD_ALERT_NODE_GONE;
	reported.alert.findings[0].worst = 99;
	reported.alert.n_nodes = 12;
	reported.alert.ends[0] = reported.ends[1];
	reported.alert.id = 6;
	make_body(&reported, 1, &sender);
	ck_assert_int_eq(memcmp(labels, body, n), 0);
	ck_assert_ptr_nonnull(strstr(body, "left the fabric, with 11 more nodes"));
}
END_TEST

START_TEST(test_labels_of_a_node_have_no_port)
{
	struct triad_outgoing_alert reported = make_alert();

	reported.n_ends = 1;
	reported.ends[0].port = TRIAD_ALERT_NO_PORT;
	reported.ends[0].node_name[0] = '\0';
	make_body(&reported, 1, &sender);
	ck_assert_ptr_null(strstr(body, "\"port\""));
	ck_assert_ptr_null(strstr(body, "\"far_end"));
	ck_assert_ptr_null(strstr(body, "\"node\""));
}
END_TEST

START_TEST(test_body_without_alerts_is_an_empty_list)
{
	ck_assert_uint_eq(make_body(NULL, 0, &sender), 2);
	ck_assert_str_eq(body, "[]");
}
END_TEST

/* All strings have their maximal length, and each character needs an escape. */
START_TEST(test_body_of_the_longest_alerts_is_whole)
{
	struct triad_outgoing_alert alerts[2] = {make_alert(), make_alert()};
	struct triad_alertmanager_sender by;
	size_t length;

	memset(by.host, '"', sizeof(by.host) - 1);
	memset(by.url, '"', sizeof(by.url) - 1);
	by.host[sizeof(by.host) - 1] = by.url[sizeof(by.url) - 1] = '\0';
	for (unsigned i = 0; i < 2; i++) {
		struct triad_alert *alert = &alerts[i].alert;

		for (unsigned k = 0; k < 2; k++) {
			struct triad_alert_end *end = &alerts[i].ends[k];

			memset(end->node_name, '"', TRIAD_NODE_NAME_SIZE - 1);
			end->node_name[TRIAD_NODE_NAME_SIZE - 1] = '\0';
			alert->ends[k] = *end;
			alert->more[k] = (1u << TRIAD_N_COUNTERS) - 1;
		}
		alert->n_findings = TRIAD_ALERT_MAX_FINDINGS;
		for (unsigned k = 1; k < TRIAD_ALERT_MAX_FINDINGS; k++)
			alert->findings[k] = alert->findings[0];
		alerts[i].ended_wall_us = BEGAN + S;
	}
	length = make_body(alerts, 2, &by);
	ck_assert_uint_lt(length, 2 + 2 * TRIAD_ALERTMANAGER_ALERT_SIZE);
	ck_assert_str_eq(body + length - 3, "\"}]");
}
END_TEST

int main(void)
{
	TCase *cases = tcase_create("alertmanager");

	tcase_add_test(cases, test_body_has_labels_annotations_and_times);
	tcase_add_test(cases, test_body_of_alert_that_is_over_has_its_end);
	tcase_add_test(cases, test_labels_stay_while_findings_change);
	tcase_add_test(cases, test_labels_of_a_node_have_no_port);
	tcase_add_test(cases, test_body_without_alerts_is_an_empty_list);
	tcase_add_test(cases, test_body_of_the_longest_alerts_is_whole);
	return run_cases(cases);
}
