/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Payloads that wait: received ones, and ones that a transport refused. */
#include "lib/inbox.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "tests/unit/run.h"
#include "triad/clock.h"

static struct triad_inbox inbox;
static struct triad_payload payload;

START_TEST(test_payloads_leave_in_their_order)
{
	memset(&inbox, 0, sizeof(inbox));
	ck_assert(triad_inbox_put(&inbox, 7, "first", 5));
	ck_assert(triad_inbox_put(&inbox, 8, NULL, 0));
	ck_assert(triad_inbox_take(&inbox, &payload));
	ck_assert_uint_eq(payload.sender, 7);
	ck_assert_uint_eq(payload.size, 5);
	ck_assert_mem_eq(payload.octets, "first", 5);
	ck_assert(triad_inbox_take(&inbox, &payload));
	ck_assert_uint_eq(payload.sender, 8);
	ck_assert_uint_eq(payload.size, 0);
	ck_assert(!triad_inbox_take(&inbox, &payload));
}
END_TEST

START_TEST(test_what_has_no_room_is_counted)
{
	static uint8_t octets[TRIAD_INBOX_OCTETS + 1];

	memset(&inbox, 0, sizeof(inbox));
	ck_assert(!triad_inbox_put(&inbox, 1, octets, sizeof(octets)));
	for (unsigned i = 0; i < TRIAD_INBOX_ROOM; i++)
		ck_assert(triad_inbox_put(&inbox, i, octets, TRIAD_INBOX_OCTETS));
	ck_assert(!triad_inbox_put(&inbox, 1, octets, 1));
	ck_assert_uint_eq(inbox.n_dropped, 2);
	ck_assert(triad_inbox_take(&inbox, &payload));
	ck_assert_uint_eq(payload.sender, 0);
	triad_inbox_clear(&inbox);
	ck_assert(!triad_inbox_take(&inbox, &payload));
	ck_assert_uint_eq(inbox.n_dropped, 2);
}
END_TEST

/* --- a transport --- */

static struct {
	unsigned n_to_make, n_made, n_sent;
	int error;
} ends;

static size_t make(void *context, void *octets)
{
	if (ends.n_made == ends.n_to_make)
		return 0;
	*(uint8_t *)octets = (uint8_t)ends.n_made++;
	return 1;
}

static int send_one(void *context, const void *octets, size_t size)
{
	ck_assert_uint_eq(size, 1);
	if (!ends.error)
		ck_assert_uint_eq(*(const uint8_t *)octets, ends.n_sent++);
	return ends.error;
}

static const struct triad_outbox_ends calls = {
	.make = make, .send = send_one, .rest_us = 5 * TRIAD_US_PER_MS};

START_TEST(test_what_was_refused_is_sent_first)
{
	struct triad_outbox outbox = {0};

	memset(&ends, 0, sizeof(ends));
	ends.n_to_make = 3;
	ends.error = EAGAIN;
	/* The first retries come soon, as the transport may be free in a moment; later
	 * ones after a pause. */
	for (unsigned i = 0; i < 4; i++)
		ck_assert_uint_eq(
			triad_outbox_send(&outbox, &calls, 100), 100 + TRIAD_US_PER_MS);
	ck_assert_uint_eq(
		triad_outbox_send(&outbox, &calls, 100), 100 + 5 * TRIAD_US_PER_MS);
	ck_assert_uint_eq(ends.n_made, 1);
	ends.error = 0;
	ck_assert_uint_eq(triad_outbox_send(&outbox, &calls, 100), UINT64_MAX);
	ck_assert_uint_eq(ends.n_sent, 3);
	ends.n_to_make = 4;
	ends.error = EAGAIN;
	ck_assert_uint_eq(
		triad_outbox_send(&outbox, &calls, 100), 100 + TRIAD_US_PER_MS);
}
END_TEST

START_TEST(test_one_step_does_not_send_for_ever)
{
	struct triad_outbox outbox = {0};

	memset(&ends, 0, sizeof(ends));
	ends.n_to_make = 100;
	ck_assert_uint_lt(triad_outbox_send(&outbox, &calls, 100), UINT64_MAX);
	ck_assert_uint_lt(ends.n_sent, 100);
	/* Without other members no receiver misses the payloads, so they are
	 * dropped. */
	ends.error = ENOTCONN;
	while (triad_outbox_send(&outbox, &calls, 100) != UINT64_MAX)
		;
	ck_assert_uint_eq(ends.n_made, 100);
}
END_TEST

/* --- another release --- */

static char line[256];
static unsigned n_lines;

static void keep_line(void *context, enum triad_log_level level, const char *text)
{
	snprintf(line, sizeof(line), "%s", text);
	n_lines++;
}

START_TEST(test_another_release_is_reported_once_a_minute)
{
	struct triad_log log = {.write = keep_line, .level = TRIAD_LOG_ERROR};
	struct triad_release release = {
		.about = "election", .magic = 0x54726561, .version = 2, .log = &log};

	memset(&payload, 0, sizeof(payload));
	payload.sender = 0xabc;
	payload.size = 8;
	memcpy(payload.octets, "Trea\x02", 5);
	triad_release_check(&release, &payload);
	memcpy(payload.octets, "Treb\x03", 5); /* another program's magic */
	triad_release_check(&release, &payload);
	ck_assert_uint_eq(n_lines, 0);
	memcpy(payload.octets, "Trea\x03", 5);
	triad_release_check(&release, &payload);
	triad_release_check(&release, &payload);
	ck_assert_uint_eq(n_lines, 1);
	ck_assert_ptr_nonnull(strstr(line,
		"election: SM 0x0000000000000abc sends messages "
		"of version 3"));
}
END_TEST

int main(void)
{
	TCase *cases = tcase_create("inbox");

	tcase_add_test(cases, test_payloads_leave_in_their_order);
	tcase_add_test(cases, test_what_has_no_room_is_counted);
	tcase_add_test(cases, test_what_was_refused_is_sent_first);
	tcase_add_test(cases, test_one_step_does_not_send_for_ever);
	tcase_add_test(cases, test_another_release_is_reported_once_a_minute);
	return run_cases(cases);
}
