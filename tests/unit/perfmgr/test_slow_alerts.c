/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Alerts about slow links: one each, or one for many alike. */
#include "perfmgr/watch/alert_text.h"
#include "tests/unit/mentions.h"
#include "tests/unit/perfmgr/alert_fixture.h"

/* The fixture's row of switches with hosts, whose links all run at 'speed'. */
static struct triad_fabric *fabric_at(unsigned speed)
{
	struct triad_fabric *made = fabric_without(fabric, NULL, 0, 0, 0);

	for (uint32_t i = 0; i < made->n_ports; i++) {
		made->ports[i].width = made->ports[i].width_supported = 2;
		made->ports[i].speed = (uint8_t)speed;
		made->ports[i].speed_supported = 7;
	}
	return made;
}

/* Has the links of the first 'n' hosts of each switch run at 1x. */
static struct triad_fabric *with_narrow_hosts(unsigned n_switches, unsigned n)
{
	struct triad_fabric *made = fabric_at(4);

	for (uint32_t i = 0; i < made->n_ports; i++) {
		struct triad_fabric_port *port = &made->ports[i];
		uint64_t guid = made->nodes[port->node].guid;

		port->width_supported = 3;
		if (guid < 0x10000 || (guid - 0x10000) / 256 >= n_switches ||
			(guid - 0x10000) % 256 > n)
			continue;
		port->width = made->ports[port->remote].width = 1;
	}
	return made;
}

static void begin(void)
{
	set_up_alerts();
	change_fabric(fabric_at(4));
	sweep(1);
	ck_assert_uint_eq(n_seen, 0);
}

static void end(void)
{
	triad_conf_unref(conf);
	tear_down();
}

START_TEST(test_narrow_host_is_an_alert_until_it_is_mended)
{
	const struct triad_alert *alert = &seen[0].alert;
	struct triad_fabric *good = triad_fabric_ref(fabric);
	char text[TRIAD_ALERT_TEXT_SIZE];

	change_fabric(with_narrow_hosts(1, 1));
	sweep(1);
	ck_assert_uint_eq(n_seen, 1);
	expect(0, TRIAD_ALERT_RAISED, TRIAD_ALERT_SLOW_LINK);
	triad_alert_finding_format(alert, &alert->findings[0], text, sizeof(text));
	assert_mentions(text, "slow 1x QDR 4x QDR");
	assert_mentions(triad_alert_advice(alert), "cable");
	ck_assert_int_eq(triad_alert_severity(alert), TRIAD_WARNING);
	ck_assert_str_eq(triad_alert_kind_name(triad_alert_kind(alert)), "slow_link");
	sweep(3);
	change_fabric(good);
	sweep(3);
	ck_assert_uint_eq(n_seen, 2);
	expect(1, TRIAD_ALERT_ENDED, TRIAD_ALERT_SLOW_LINK);
}
END_TEST

START_TEST(test_many_links_alike_are_one_alert_with_their_number)
{
	const struct triad_alert *alert = &seen[0].alert;
	char text[TRIAD_ALERT_TEXT_SIZE];

	change_fabric(with_narrow_hosts(2, 4));
	sweep(1);
	ck_assert_uint_eq(n_seen, 1);
	expect(0, TRIAD_ALERT_RAISED, TRIAD_ALERT_SLOW_LINK);
	triad_alert_finding_format(alert, &alert->findings[0], text, sizeof(text));
	assert_mentions(text, "8 1x QDR");
	/* Up to three are one each. */
	change_fabric(with_narrow_hosts(1, 3));
	sweep(4);
	ck_assert_uint_eq(n_active(), 3);
}
END_TEST

START_TEST(test_silence_of_a_port_covers_its_slow_link)
{
	struct triad_silence silence = {.until_us = UINT64_MAX,
		.choice = triad_node_choice_make("switch-0:1", fabric, 0)};
	struct triad_alert alert;
	uint32_t cursor = 0;

	ck_assert_uint_ne(
		triad_watch_silence(triad_collector_watch(collector), &silence, 1), 0);
	change_fabric(with_narrow_hosts(1, 1));
	sweep(1);
	ck_assert(triad_watch_next_alert(
		triad_collector_watch(collector), &cursor, &alert));
	ck_assert_uint_ne(alert.silence, 0);
}
END_TEST

START_TEST(test_slow_links_are_no_alert_where_links_are_not)
{
	set("alerts.links", "false");
	change_fabric(with_narrow_hosts(1, 1));
	sweep(2);
	ck_assert_uint_eq(n_seen, 0);
}
END_TEST

int main(void)
{
	TCase *cases = tcase_create("slow_alerts");

	tcase_add_checked_fixture(cases, begin, end);
	tcase_add_test(cases, test_narrow_host_is_an_alert_until_it_is_mended);
	tcase_add_test(cases, test_many_links_alike_are_one_alert_with_their_number);
	tcase_add_test(cases, test_silence_of_a_port_covers_its_slow_link);
	tcase_add_test(cases, test_slow_links_are_no_alert_where_links_are_not);
	return run_cases(cases);
}
