/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Faults of cables and devices: a sweep raises their alerts, and a sweep ends them. */
#include <string.h>

#include "perfmgr/watch/alert_text.h"
#include "perfmgr/watch/watch.h"
#include "tests/unit/mentions.h"
#include "tests/unit/perfmgr/alert_fixture.h"

/* The fault of a port, or with number 0 of a device. */
static struct {
	uint64_t guid;
	uint8_t number;
	struct triad_hardware_finding finding;
} fault;
static unsigned n_judged;

static bool judge(void *context, uint64_t guid, uint8_t number,
	struct triad_hardware_finding *finding)
{
	n_judged++;
	if (!fault.guid || guid != fault.guid || number != fault.number)
		return false;
	*finding = fault.finding;
	return true;
}

static void set_up_hardware(void)
{
	const struct triad_watch_hardware hardware = {.judge = judge};

	memset(&fault, 0, sizeof(fault));
	n_judged = 0;
	set_up_alerts();
	triad_watch_set_hardware(triad_collector_watch(collector), &hardware);
}

static void tear_down_hardware(void)
{
	triad_conf_unref(conf);
	conf = NULL;
	tear_down();
}

static void break_part(
	uint64_t guid, uint8_t number, const struct triad_hardware_finding *finding)
{
	fault.guid = guid;
	fault.number = number;
	fault.finding = *finding;
}

/* Row: N6 */
START_TEST(test_hot_module_is_an_alert_of_its_link_until_it_is_cool)
{
	const struct triad_hardware_finding hot = {
		.fault = TRIAD_HARDWARE_MODULE_HOT, .value = 78, .limit = 75};
	const struct triad_alert *alert = &seen[0].alert;
	char text[TRIAD_ALERT_TEXT_SIZE];

	break_part(0x201, 3, &hot);
	sweep(1);
	ck_assert_uint_eq(n_seen, 1);
	expect(0, TRIAD_ALERT_RAISED, TRIAD_ALERT_MODULE);
	ck_assert_int_eq(triad_alert_kind(alert), TRIAD_ALERT_KIND_HARDWARE);
	ck_assert_uint_eq(alert->ends[0].node_guid, 0x201);
	ck_assert_uint_eq(alert->ends[0].port, 3);
	ck_assert_uint_eq(alert->n_ends, 2);
	triad_alert_findings_format(alert, text, sizeof(text));
	ck_assert_str_eq(text, "module temperature 78.0 C (alarm above 75.0 C)");
	ck_assert_ptr_nonnull(strstr(triad_alert_advice(alert), "air flow"));
	/* Further sweeps raise no second alert while the fault lasts. */
	sweep(3);
	ck_assert_uint_eq(n_seen, 1);
	fault.guid = 0;
	sweep(1);
	ck_assert_uint_eq(n_seen, 2);
	expect(1, TRIAD_ALERT_ENDED, TRIAD_ALERT_MODULE);
}
END_TEST

/* Row: N6 */
START_TEST(test_fan_that_stands_is_an_alert_of_the_device)
{
	const struct triad_hardware_finding stands = {
		.fault = TRIAD_HARDWARE_FAN_STANDS, .index = 4};
	const struct triad_alert *alert = &seen[0].alert;
	char text[TRIAD_ALERT_TEXT_SIZE];

	break_part(0x202, 0, &stands);
	sweep(2);
	ck_assert_uint_eq(n_seen, 1);
	expect(0, TRIAD_ALERT_RAISED, TRIAD_ALERT_DEVICE);
	ck_assert_uint_eq(alert->n_ends, 1);
	ck_assert_uint_eq(alert->ends[0].node_guid, 0x202);
	ck_assert_uint_eq(alert->ends[0].port, TRIAD_ALERT_NO_PORT);
	triad_alert_findings_format(alert, text, sizeof(text));
	ck_assert_str_eq(text, "fan 4 stands");
	fault.guid = 0;
	sweep(1);
	expect(1, TRIAD_ALERT_ENDED, TRIAD_ALERT_DEVICE);
}
END_TEST

START_TEST(test_each_port_and_each_node_is_judged_once_a_sweep)
{
	unsigned n_ports = 0, n_nodes = 0;

	for (uint32_t i = 0; i < fabric->n_ports; i++)
		n_ports += fabric->ports[i].has_pma && fabric->ports[i].number;
	n_nodes = fabric->n_nodes;
	sweep(1);
	ck_assert_uint_eq(n_judged, n_ports + n_nodes);
}
END_TEST

/* An agent found the fault; it reports only the cause to its manager. */
START_TEST(test_cause_alone_names_the_agent_that_knows_more)
{
	struct triad_watch *watch = triad_collector_watch(collector);
	uint32_t port = find_port(0x201, 3);
	uint64_t now_us = agents->now_us + 60 * S;
	char text[TRIAD_ALERT_TEXT_SIZE];

	triad_watch_match(watch, port, 1u << TRIAD_ALERT_MODULE, now_us);
	triad_watch_settle(watch, now_us);
	expect(0, TRIAD_ALERT_RAISED, TRIAD_ALERT_MODULE);
	triad_alert_findings_format(&seen[0].alert, text, sizeof(text));
	assert_mentions(text, "hardware agent");
	triad_watch_match(watch, port, 0, now_us);
	triad_watch_settle(watch, now_us);
	expect(1, TRIAD_ALERT_ENDED, TRIAD_ALERT_MODULE);
}
END_TEST

START_TEST(test_findings_have_names_and_advice)
{
	for (unsigned i = 0; i < TRIAD_HARDWARE_N_FAULTS; i++) {
		const struct triad_hardware_finding finding = {
			.fault = i, .index = 2, .value = -13, .limit = -10};
		char text[128];

		triad_hardware_finding_format(&finding, text, sizeof(text));
		ck_assert(text[0] && *triad_hardware_fault_name(i) &&
			*triad_hardware_advice(i));
		if (i == TRIAD_HARDWARE_MODULE_DARK)
			ck_assert_str_eq(text,
				"received power of lane 2 -13.0 dBm (alarm below -10.0 "
				"dBm)");
	}
}
END_TEST

int main(void)
{
	TCase *cases = tcase_create("hardware_alerts");

	tcase_add_checked_fixture(cases, set_up_hardware, tear_down_hardware);
	tcase_add_test(cases, test_hot_module_is_an_alert_of_its_link_until_it_is_cool);
	tcase_add_test(cases, test_fan_that_stands_is_an_alert_of_the_device);
	tcase_add_test(cases, test_each_port_and_each_node_is_judged_once_a_sweep);
	tcase_add_test(cases, test_cause_alone_names_the_agent_that_knows_more);
	tcase_add_test(cases, test_findings_have_names_and_advice);
	return run_cases(cases);
}
