/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Alerts and links are read from lines as they were written; lines that Triad never
 * writes are refused. */
#include "history/record.h"

#include <string.h>
#include <time.h>
#include <unistd.h>

#include "ib/ber_target.h"
#include "ib/detail.h"
#include "perfmgr/formats/profile.h"
#include "tests/random.h"
#include "tests/unit/run.h"

#define OFFSET_US INT64_C(1767323045000000)

static uint64_t seed;

static void set_up(void)
{
	seed = (uint64_t)time(NULL) * 1000003 + (uint64_t)getpid();
}

static unsigned below(unsigned n)
{
	return random_below(&seed, n);
}

static uint64_t random_us(void)
{
	return below(4) ? 1 + random_next(&seed) % (UINT64_C(1) << 40) : 0;
}

static void put_name(char name[TRIAD_NODE_NAME_SIZE])
{
	unsigned n = below(TRIAD_NODE_NAME_SIZE);

	for (unsigned i = 0; i < n; i++)
		name[i] = (char)('!' + below(90));
}

static struct triad_alert random_alert(void)
{
	struct triad_alert alert = {.id = random_next(&seed),
		.state = (uint8_t)below(3),
		.n_ends = (uint8_t)(1 + below(2)),
		.forgotten = below(2),
		.n_nodes = (uint32_t)random_next(&seed),
		.n_links = (uint32_t)random_next(&seed),
		.raised_us = random_us(),
		.cleared_us = random_us(),
		.sm = {.kind = (uint8_t)below(3),
			.trap = (uint16_t)below(65536),
			.at_us = random_us()},
		.silence = below(100),
		.silenced_until_us = random_us()};

	for (unsigned i = 0; i < alert.n_ends; i++) {
		alert.ends[i].node_guid = random_next(&seed);
		alert.ends[i].lid = (uint16_t)below(65536);
		alert.ends[i].node_type = (uint8_t)below(4);
		alert.ends[i].port = (uint8_t)below(256);
		put_name(alert.ends[i].node_name);
		alert.more[i] = (uint32_t)random_next(&seed);
	}
	return alert;
}

static struct triad_alert_finding random_finding(void)
{
	return (struct triad_alert_finding){
		.cause = (uint8_t)below(TRIAD_ALERT_N_CAUSES),
		.end = (uint8_t)below(2),
		.raised = below(2),
		.at_least = below(2),
		.judged = below(2),
		.routes = (uint8_t)below(TRIAD_ALERT_N_ROUTES),
		.why = {.field = (uint8_t)below(TRIAD_DETAIL_N_FIELDS + 1),
			.is_only_one = below(2),
			.element = (uint8_t)below(256)},
		.value = (float)below(1000000) / 7,
		.worst = (float)below(1000000) / 3,
		.threshold = {.value = below(1000) / 9.0,
			.unit = (unsigned char)below(TRIAD_THRESHOLD_PERCENT + 1)},
		.ber = {.kind = (uint8_t)below(TRIAD_BER_N_KINDS),
			.low = 1e-15f,
			.high = 3e-12f,
			.target = 1e-12f,
			.in_s = 7},
		.hardware = {.fault = (uint8_t)below(TRIAD_HARDWARE_N_FAULTS),
			.index = (uint8_t)below(256),
			.limit = 75},
		.since_us = random_us(),
		.under_us = random_us(),
	};
}

static struct triad_link random_link(void)
{
	struct triad_link link = {.state = (uint8_t)below(3),
		.rate = {.width = (uint8_t)below(32), .speed = below(TRIAD_N_SPEEDS)},
		.n_seen = below(1000),
		.down_us = random_us(),
		.up_us = random_us(),
		.counted_us = random_us()};

	for (unsigned i = 0; i < 2; i++) {
		link.ends[i].node_guid = random_next(&seed);
		link.ends[i].port_guid = random_next(&seed);
		link.ends[i].n_counted = (uint32_t)random_next(&seed);
		link.ends[i].lid = (uint16_t)below(65536);
		link.ends[i].node_type = (uint8_t)below(4);
		link.ends[i].port = (uint8_t)below(256);
		put_name(link.ends[i].node_name);
	}
	return link;
}

/* The digits of a line, between its name and its end. */
static const char *digits_of(const char *line, size_t length, size_t *n)
{
	const char *blank = strrchr(line, ' ');

	ck_assert_uint_lt(length, TRIAD_PROFILE_LINE_SIZE);
	ck_assert_int_eq(line[length - 1], '\n');
	*n = length - (size_t)(blank + 1 - line) - 1;
	return blank + 1;
}

/* Structures have padding, so the test compares the lines written from them. */
START_TEST(test_records_come_back_as_they_were)
{
	char line[TRIAD_PROFILE_LINE_SIZE], again[TRIAD_PROFILE_LINE_SIZE];
	const char *digits;
	size_t n;

	for (unsigned i = 0; i < 2000; i++) {
		struct triad_alert alert = random_alert(), alert_read;
		struct triad_alert_finding finding = random_finding(), finding_read;
		struct triad_link link = random_link(), link_read;

		digits = digits_of(
			line, triad_history_put_alert(line, &alert, OFFSET_US), &n);
		ck_assert(triad_history_get_alert(digits, n, &alert_read, OFFSET_US));
		triad_history_put_alert(again, &alert_read, OFFSET_US);
		ck_assert_str_eq(line, again);
		ck_assert_uint_eq(alert_read.raised_us, alert.raised_us);
		ck_assert_uint_eq(alert_read.more[0], alert.more[0]);
		digits = digits_of(
			line, triad_history_put_finding(line, &finding, OFFSET_US), &n);
		ck_assert(
			triad_history_get_finding(digits, n, &finding_read, OFFSET_US));
		triad_history_put_finding(again, &finding_read, OFFSET_US);
		ck_assert_str_eq(line, again);
		ck_assert(finding_read.value == finding.value);
		ck_assert(finding_read.threshold.value == finding.threshold.value);
		ck_assert_uint_eq(finding_read.since_us, finding.since_us);
		digits = digits_of(
			line, triad_history_put_link(line, &link, OFFSET_US), &n);
		ck_assert(triad_history_get_link(digits, n, &link_read, OFFSET_US));
		triad_history_put_link(again, &link_read, OFFSET_US);
		ck_assert_str_eq(line, again);
		ck_assert_uint_eq(link_read.down_us, link.down_us);
	}
}
END_TEST

START_TEST(test_record_with_an_index_out_of_range_is_refused)
{
	char line[TRIAD_PROFILE_LINE_SIZE];
	struct triad_alert_finding finding = random_finding(), read;
	struct triad_alert alert = random_alert();
	struct triad_link link = random_link();
	const char *digits;
	size_t n;

	finding.cause = TRIAD_ALERT_N_CAUSES;
	digits = digits_of(line, triad_history_put_finding(line, &finding, 0), &n);
	ck_assert(!triad_history_get_finding(digits, n, &read, 0));
	alert.state = TRIAD_ALERT_CLEARED + 1;
	digits = digits_of(line, triad_history_put_alert(line, &alert, 0), &n);
	ck_assert(!triad_history_get_alert(digits, n, &alert, 0));
	digits = digits_of(line, triad_history_put_link(line, &link, 0), &n);
	/* Cut off, with half an octet, with a character that isn't a digit. */
	ck_assert(!triad_history_get_link(digits, n - 2, &link, 0));
	ck_assert(!triad_history_get_link(digits, n - 1, &link, 0));
	line[strlen(line) - 3] = 'x';
	ck_assert(!triad_history_get_link(digits, n, &link, 0));
}
END_TEST

int main(void)
{
	TCase *cases = tcase_create("record");

	tcase_add_checked_fixture(cases, set_up, NULL);
	tcase_add_test(cases, test_records_come_back_as_they_were);
	tcase_add_test(cases, test_record_with_an_index_out_of_range_is_refused);
	return run_cases(cases);
}
