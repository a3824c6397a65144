/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Silences: on their own, in a watch, and in their file. */
#include "perfmgr/watch/silences.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "perfmgr/formats/silence_file.h"
#include "perfmgr/watch/watch.h"
#include "tests/random.h"
#include "tests/unit/perfmgr/alert_fixture.h"
#include "triad/clock.h"

#define WALL UINT64_C(1700000000000000) /* the wall clock's present time */

static struct triad_silences silences;

static void set_up_silences(void)
{
	memset(&silences, 0, sizeof(silences));
	triad_silences_advance(&silences, WALL);
	set_up_alerts();
}

static struct triad_silence of_place(
	const char *place, uint64_t from_us, uint64_t until_us)
{
	struct triad_silence silence = {
		.from_us = from_us,
		.until_us = until_us,
		.choice = triad_node_choice_make(place, NULL, 0),
		.by = "root",
		.reason = "new cables",
	};

	snprintf(silence.place, sizeof(silence.place), "%s", place);
	return silence;
}

static uint32_t add(const char *place, uint64_t from_us, uint64_t until_us)
{
	struct triad_silence silence = of_place(place, from_us, until_us);

	return triad_silences_add(&silences, &silence);
}

/* An alert of the link between leaf-01's port 3 and host-1's port 1. */
static struct triad_alert of_link(unsigned cause)
{
	return (struct triad_alert){
		.id = 1,
		.state = TRIAD_ALERT_ACTIVE,
		.n_ends = 2,
		.n_findings = 1,
		.n_nodes = cause == TRIAD_ALERT_NODE_GONE,
		.ends = {{.node_guid = 1,
				 .node_type = TRIAD_NODE_SWITCH,
				 .port = 3,
				 .node_name = "leaf-01"},
			{.node_guid = 2,
				.node_type = TRIAD_NODE_CA,
				.port = 1,
				.node_name = "host-1 HCA-1"}},
		.findings = {{.cause = cause}},
	};
}

static bool is_silenced(const struct triad_alert *alert)
{
	return triad_silences_find(&silences, alert);
}

/* --- silences on their own --- */

START_TEST(test_location_fits_nodes_ports_and_patterns_at_either_end)
{
	static const struct {
		const char *place;
		bool fits;
	} rows[] = {
		{"leaf-01", true},
		{"leaf-01:3", true},
		{"leaf-01/P4", false},
		{"leaf-0", false},
		{"leaf-*", true},
		{"host-1", true},
		{"host-1:1", true},
		{"host-1/HCA-1", true},
		{"0x0000000000000002", true},
		{"0x0000000000000003", false},
		{"spine-*", false},
	};
	struct triad_alert alert = of_link(TRIAD_ALERT_LINK_DOWN);

	for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct triad_silence silence = of_place(rows[i].place, WALL, WALL + 1);

		if (!strncmp(rows[i].place, "0x", 2)) {
			silence.choice.rule = TRIAD_NODE_RULE_GUID;
			silence.choice.guid = (uint64_t)rows[i].place[17] - '0';
		}
		ck_assert_msg(triad_silence_fits(&silence, &alert) == rows[i].fits,
			"%s", rows[i].place);
	}
}
END_TEST

START_TEST(test_silence_of_a_port_does_not_hide_its_node)
{
	struct triad_alert alert = of_link(TRIAD_ALERT_UNANSWERED);

	alert.n_ends = 1;
	alert.ends[0].port = TRIAD_ALERT_NO_PORT;
	add("leaf-01:3", WALL, WALL + 60 * S);
	ck_assert(!is_silenced(&alert));
	add("leaf-01", WALL, WALL + 60 * S);
	ck_assert(is_silenced(&alert));
}
END_TEST

START_TEST(test_silence_of_a_place_does_not_hide_the_fabrics_routes)
{
	struct triad_alert routes = of_link(TRIAD_ALERT_ROUTES);
	struct triad_alert both = of_link(TRIAD_ALERT_UNANSWERED);
	struct triad_silence ack;

	add("leaf-01", WALL, WALL + 60 * S);
	ck_assert(!is_silenced(&routes));
	ck_assert(is_silenced(&both));
	/* Joined by the fault of routes. */
	both.findings[both.n_findings++].cause = TRIAD_ALERT_ROUTES;
	ck_assert(!is_silenced(&both));
	/* Who acknowledges the alert means it. */
	ack = triad_silence_of_alert(&routes);
	ck_assert(triad_silence_fits(&ack, &routes));
	both.n_findings--;
	ack = triad_silence_of_alert(&both);
	ck_assert(triad_silence_fits(&ack, &both));
	both.n_findings++;
	ck_assert(!triad_silence_fits(&ack, &both));
}
END_TEST

START_TEST(test_silence_begins_and_ends_in_time)
{
	struct triad_alert alert = of_link(TRIAD_ALERT_LINK_DOWN);
	uint64_t version;

	add("leaf-01", WALL + 10 * S, WALL + 20 * S);
	ck_assert_uint_eq(triad_silences_advance(&silences, WALL), WALL + 10 * S);
	ck_assert(!is_silenced(&alert));
	version = silences.version;
	ck_assert_uint_eq(
		triad_silences_advance(&silences, WALL + 9 * S), WALL + 10 * S);
	ck_assert_uint_eq(silences.version, version);
	ck_assert_uint_eq(
		triad_silences_advance(&silences, WALL + 10 * S), WALL + 20 * S);
	ck_assert_uint_ne(silences.version, version);
	ck_assert(is_silenced(&alert));
	/* A silence that has begun stays in force even if the clock is set back. */
	ck_assert_uint_eq(triad_silences_advance(&silences, WALL), WALL + 20 * S);
	ck_assert(is_silenced(&alert));
	ck_assert_uint_eq(triad_silences_advance(&silences, WALL + 20 * S), UINT64_MAX);
	ck_assert_uint_eq(silences.n, 0);
	ck_assert(!is_silenced(&alert));
}
END_TEST

START_TEST(test_silence_that_lasts_longest_is_the_alerts)
{
	struct triad_alert alert = of_link(TRIAD_ALERT_LINK_DOWN);

	add("leaf-01", WALL, WALL + 20 * S);
	add("host-1", WALL, WALL + 30 * S);
	add("leaf-*", WALL, WALL + 10 * S);
	ck_assert_uint_eq(triad_silences_find(&silences, &alert)->id, 2);
}
END_TEST

START_TEST(test_numbers_are_given_once)
{
	ck_assert_uint_eq(add("a", WALL, WALL + S), 1);
	ck_assert_uint_eq(add("b", WALL, WALL + S), 2);
	ck_assert(triad_silences_remove(&silences, 2));
	ck_assert(!triad_silences_remove(&silences, 2));
	ck_assert_uint_eq(add("c", WALL, WALL + S), 3);
	while (silences.n < TRIAD_SILENCES_MAX)
		ck_assert_uint_ne(add("d", WALL, WALL + S), 0);
	ck_assert_uint_eq(add("e", WALL, WALL + S), 0);
	ck_assert_uint_eq(silences.last_id, TRIAD_SILENCES_MAX + 1);
}
END_TEST

START_TEST(test_acknowledgement_ends_with_its_alert_or_when_it_gets_worse)
{
	struct triad_alert alert = of_link(TRIAD_SYMBOL_ERROR_COUNTER), worse = alert;
	struct triad_silence ack = triad_silence_of_alert(&alert);

	ck_assert_str_eq(ack.place, "leaf-01:3 - host-1 HCA-1:1");
	ack.from_us = WALL;
	ack.until_us = WALL + 60 * S;
	triad_silences_add(&silences, &ack);
	triad_silences_note(&silences, &alert);
	ck_assert(is_silenced(&alert));
	worse.findings[0].cause = TRIAD_ALERT_LINK_DOWN;
	ck_assert(!is_silenced(&worse));
	triad_silences_note(&silences, &worse);
	ck_assert_uint_eq(silences.n, 0);

	/* An alert of the same kind, but critical. */
	alert.findings[0].cause = TRIAD_ALERT_NODE_GONE;
	alert.ends[0].node_type = TRIAD_NODE_CA;
	ack = triad_silence_of_alert(&alert);
	ack.until_us = WALL + 60 * S;
	alert.n_nodes = 9;
	triad_silences_add(&silences, &ack);
	triad_silences_note(&silences, &alert);
	ck_assert_uint_eq(silences.n, 0);

	triad_silences_add(&silences, &ack);
	alert.state = TRIAD_ALERT_CLEARED;
	triad_silences_note(&silences, &alert);
	ck_assert_uint_eq(silences.n, 0);

	/* A silence of a location stays. */
	add("leaf-01", WALL, WALL + 60 * S);
	triad_silences_note(&silences, &alert);
	ck_assert_uint_eq(silences.n, 1);
}
END_TEST

/* --- in a watch --- */

static uint32_t n_silenced(void)
{
	return triad_watch_status(triad_collector_watch(collector)).alerts.n_silenced;
}

static void raise_an_alert(void)
{
	agents->raw[find_port(0x201, 3)][TRIAD_SYMBOL_ERROR_COUNTER] += 20;
	sweep(1);
}

START_TEST(test_watch_reports_alerts_silenced_and_no_longer_silenced)
{
	struct triad_watch *watch = triad_collector_watch(collector);
	struct triad_silence silence = of_place("switch-1", WALL, WALL + 60 * S), ended;
	uint64_t version;
	uint32_t id;

	raise_an_alert();
	ck_assert_uint_eq(n_seen, 1);
	id = triad_watch_silence(watch, &silence, WALL);
	ck_assert_uint_eq(n_seen, 2);
	expect(1, TRIAD_ALERT_SILENCED, TRIAD_SYMBOL_ERROR_COUNTER);
	ck_assert_uint_eq(seen[1].alert.silence, id);
	ck_assert_uint_eq(seen[1].alert.silenced_until_us, WALL + 60 * S);
	ck_assert_uint_eq(n_silenced(), 1);
	ck_assert(triad_watch_end_silence(watch, id, WALL, &ended));
	ck_assert_str_eq(ended.place, "switch-1");
	ck_assert_uint_eq(n_seen, 3);
	expect(2, TRIAD_ALERT_UNSILENCED, TRIAD_SYMBOL_ERROR_COUNTER);
	ck_assert_uint_eq(n_silenced(), 0);
	triad_watch_silence(watch, &silence, WALL);
	ck_assert_uint_eq(n_seen, 4);
	triad_watch_advance_silences(watch, WALL + 60 * S, &version);
	ck_assert_uint_eq(n_seen, 5);
	expect(4, TRIAD_ALERT_UNSILENCED, TRIAD_SYMBOL_ERROR_COUNTER);
}
END_TEST

START_TEST(test_alert_that_is_raised_silenced_is_reported_as_such)
{
	struct triad_watch *watch = triad_collector_watch(collector);
	struct triad_silence silence = of_place("switch-1", WALL, WALL + 60 * S);

	triad_watch_silence(watch, &silence, WALL);
	raise_an_alert();
	ck_assert_uint_eq(n_seen, 1);
	expect(0, TRIAD_ALERT_RAISED, TRIAD_SYMBOL_ERROR_COUNTER);
	ck_assert_uint_eq(seen[0].alert.silence, 1);
	sweep(3); /* the alert clears */
	ck_assert_uint_eq(n_seen, 2);
	expect(1, TRIAD_ALERT_ENDED, TRIAD_SYMBOL_ERROR_COUNTER);
	ck_assert_uint_eq(n_silenced(), 0);
	ck_assert_uint_eq(triad_watch_status(watch).n_silences, 1);
}
END_TEST

START_TEST(test_acknowledged_alert_that_joins_something_worse_is_reported)
{
	struct triad_watch *watch = triad_collector_watch(collector);
	struct triad_silence ack;

	raise_an_alert();
	ack = triad_silence_of_alert(&seen[0].alert);
	ack.from_us = WALL;
	ack.until_us = WALL + 60 * S;
	triad_watch_silence(watch, &ack, WALL);
	ck_assert_uint_eq(n_seen, 2);
	/* Another counter doesn't make the alert more severe. */
	agents->raw[find_port(0x201, 3)][TRIAD_SYMBOL_ERROR_COUNTER] += 20;
	agents->raw[find_port(0x201, 3)][TRIAD_LINK_DOWNED_COUNTER] += 2;
	sweep(1);
	ck_assert_uint_eq(n_seen, 3);
	expect(2, TRIAD_ALERT_JOINED, TRIAD_LINK_DOWNED_COUNTER);
	ck_assert_uint_ne(seen[2].alert.silence, 0);
	sweep(4);
	ck_assert_int_eq(seen[n_seen - 1].change, TRIAD_ALERT_ENDED);
	ck_assert_uint_eq(triad_watch_status(watch).n_silences, 0);
}
END_TEST

/* --- in their file --- */

static uint8_t octets[TRIAD_SILENCE_FILE_SIZE];

static size_t write_some(void)
{
	struct triad_alert alert = of_link(TRIAD_ALERT_LINK_DOWN);
	struct triad_silence ack = triad_silence_of_alert(&alert);

	ack.until_us = WALL + 90 * S;
	add("leaf-01:3", WALL + S, WALL + 60 * S);
	triad_silences_add(&silences, &ack);
	add("over", WALL, WALL + 5 * S);
	triad_silences_remove(&silences, add("gone", WALL, WALL + 60 * S));
	return triad_silence_file_write(&silences, octets);
}

START_TEST(test_file_gives_back_what_is_not_over)
{
	struct triad_silences read = {.wall_us = WALL + 10 * S};
	size_t size = write_some();

	ck_assert_int_eq(triad_silence_file_read(octets, size, &read), 0);
	ck_assert_uint_eq(read.n, 2);
	ck_assert_uint_eq(read.last_id, 4);
	ck_assert_uint_eq(read.list[0].id, 1);
	ck_assert_uint_eq(read.list[0].from_us, WALL + S);
	ck_assert_int_eq(read.list[0].choice.port, 3);
	ck_assert_str_eq(read.list[0].choice.name, "leaf-01");
	ck_assert_str_eq(read.list[0].reason, "new cables");
	ck_assert(read.list[1].is_ack);
	ck_assert_uint_eq(read.list[1].node_guid, 1);
	ck_assert_uint_eq(read.list[1].port, 3);
	ck_assert_int_eq(read.list[1].choice.port, -1);
}
END_TEST

START_TEST(test_file_has_room_for_the_longest)
{
	struct triad_silence silence = of_place("x", WALL, WALL + S);
	struct triad_silences read = {.wall_us = WALL};
	size_t size;

	memset(silence.choice.name, 'n', sizeof(silence.choice.name) - 1);
	memset(silence.place, 'p', sizeof(silence.place) - 1);
	memset(silence.by, 'b', sizeof(silence.by) - 1);
	memset(silence.reason, 'r', sizeof(silence.reason) - 1);
	while (triad_silences_add(&silences, &silence))
		;
	size = triad_silence_file_write(&silences, octets);
	ck_assert_int_eq(triad_silence_file_read(octets, size, &read), 0);
	ck_assert_uint_eq(read.n, TRIAD_SILENCES_MAX);
	ck_assert_str_eq(read.list[TRIAD_SILENCES_MAX - 1].place, silence.place);
}
END_TEST

START_TEST(test_file_that_is_cut_or_other_is_refused)
{
	size_t size = write_some();

	for (size_t cut = 0; cut < size; cut++) {
		struct triad_silences read = {.wall_us = WALL};

		ck_assert_int_ne(triad_silence_file_read(octets, cut, &read), 0);
		ck_assert_uint_eq(read.n, 0);
	}
	octets[size] = 0;
	ck_assert_int_eq(triad_silence_file_read(
				 octets, size + 1, &(struct triad_silences){.n = 0}),
		EINVAL);
	octets[0] ^= 1;
	ck_assert_int_eq(
		triad_silence_file_read(octets, size, &(struct triad_silences){.n = 0}),
		EPROTO);
}
END_TEST

START_TEST(test_file_of_a_later_version_is_refused_as_such)
{
	char later[] = "Silences of Triad, version 2\nwhatever";
	struct triad_silences read = {.wall_us = 1};

	ck_assert_int_eq(
		triad_silence_file_read((uint8_t *)later, strlen(later), &read),
		EPROTONOSUPPORT);
	ck_assert_uint_eq(
		triad_silence_file_version((uint8_t *)later, strlen(later)), 2);
	ck_assert_uint_eq(read.n, 0);
}
END_TEST

/* Silences that were read from a damaged file can be written and read again. */
START_TEST(test_file_of_random_octets_harms_nothing)
{
	uint64_t start = triad_clock_now_us(), random = start;

	printf("# seed %" PRIu64 "\n", start);
	for (unsigned i = 0; i < 20000; i++) {
		struct triad_silences read = {.wall_us = 1}, again = {.wall_us = 1};
		size_t size;

		memset(&silences, 0, sizeof(silences));
		silences.wall_us = WALL;
		size = write_some();
		for (unsigned k = 0; k < 4; k++)
			octets[random_below(&random, (unsigned)size)] =
				(uint8_t)random_below(&random, 256);
		if (triad_silence_file_read(octets, size, &read))
			continue;
		size = triad_silence_file_write(&read, octets);
		ck_assert_int_eq(triad_silence_file_read(octets, size, &again), 0);
		ck_assert_uint_eq(again.n, read.n);
	}
}
END_TEST

int main(void)
{
	TCase *cases = tcase_create("silences");

	tcase_add_checked_fixture(cases, set_up_silences, tear_down);
	tcase_add_test(
		cases, test_location_fits_nodes_ports_and_patterns_at_either_end);
	tcase_add_test(cases, test_silence_of_a_port_does_not_hide_its_node);
	tcase_add_test(cases, test_silence_of_a_place_does_not_hide_the_fabrics_routes);
	tcase_add_test(cases, test_silence_begins_and_ends_in_time);
	tcase_add_test(cases, test_silence_that_lasts_longest_is_the_alerts);
	tcase_add_test(cases, test_numbers_are_given_once);
	tcase_add_test(
		cases, test_acknowledgement_ends_with_its_alert_or_when_it_gets_worse);
	tcase_add_test(
		cases, test_watch_reports_alerts_silenced_and_no_longer_silenced);
	tcase_add_test(cases, test_alert_that_is_raised_silenced_is_reported_as_such);
	tcase_add_test(
		cases, test_acknowledged_alert_that_joins_something_worse_is_reported);
	tcase_add_test(cases, test_file_gives_back_what_is_not_over);
	tcase_add_test(cases, test_file_has_room_for_the_longest);
	tcase_add_test(cases, test_file_that_is_cut_or_other_is_refused);
	tcase_add_test(cases, test_file_of_a_later_version_is_refused_as_such);
	tcase_add_test(cases, test_file_of_random_octets_harms_nothing);
	return run_cases(cases);
}
