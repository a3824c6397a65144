/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "portmgr/history/record.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "tests/unit/run.h"

static struct triad_record a_record(void)
{
	return (struct triad_record){.term = 7340033,
		.number = 12,
		.at_us = UINT64_C(1767323045678901),
		.writer = UINT64_C(0x0002c90300001234),
		.node_guid = UINT64_C(0xfedcba9876543210),
		.remote_guid = 0x42,
		.port = 3,
		.action = TRIAD_ACTION_DISABLE,
		.outcome = TRIAD_OUTCOME_DONE,
		.reason = TRIAD_REASON_MISWIRED,
		.text = "leaf-01 port 3 leads to \"host\" \\ 1"};
}

#define HEAD                                                                           \
	"7340033 12 2026-01-02T03:04:05.678901Z 0x0002c90300001234 "                   \
	"0xfedcba9876543210 3 disable done miswired 0x0000000000000042 "

/* Parses a heap copy of exactly that size, so that a sanitizer reports any read past
 * the end. */
static int parse(const char *line, size_t length, struct triad_record *record)
{
	char *exact = malloc(length ? length : 1);
	int error;

	ck_assert_ptr_nonnull(exact);
	memcpy(exact, line, length);
	error = triad_record_parse(exact, length, record);
	free(exact);
	return error;
}

/* The checksum, so that lines that Triad would never write get a valid one.  It is the
 * CRC of Python's zlib.crc32(). */
static uint32_t crc(const char *text)
{
	uint32_t sum = UINT32_MAX;

	for (; *text; text++) {
		sum ^= (uint8_t)*text;
		for (int i = 0; i < 8; i++)
			sum = sum & 1 ? sum >> 1 ^ 0xedb88320u : sum >> 1;
	}
	return ~sum;
}

static int parse_with_checksum(const char *text, struct triad_record *record)
{
	char line[2 * TRIAD_RECORD_LINE_SIZE];
	int length = snprintf(line, sizeof(line), "%s %08x", text, crc(text));

	return parse(line, (size_t)length, record);
}

START_TEST(test_record_line_is_as_documented)
{
	struct triad_record record = a_record(), again;
	char line[TRIAD_RECORD_LINE_SIZE];
	size_t length = triad_record_format(&record, line);

	ck_assert_uint_eq(length, strlen(line));
	ck_assert_str_eq(
		line, HEAD "\"leaf-01 port 3 leads to \\\"host\\\" \\\\ 1\" 50e70b3f");
	ck_assert_int_eq(parse(line, length, &again), 0);
	ck_assert_int_eq(triad_record_compare(&record, &again), 0);
}
END_TEST

START_TEST(test_record_text_that_is_no_text_is_replaced)
{
	struct triad_record record = a_record(), again;
	char line[TRIAD_RECORD_LINE_SIZE];

	strcpy(record.text,
		"a\nb\tc\x1b[1m\xff"
		"d \xc3\xa4 \xc2\x9b");
	ck_assert_int_eq(parse(line, triad_record_format(&record, line), &again), 0);
	ck_assert_str_eq(again.text, "a?b?c?[1m?d \xc3\xa4 ??");
	triad_record_clean(&record);
	ck_assert_str_eq(record.text, again.text);
}
END_TEST

START_TEST(test_record_longest_fits)
{
	struct triad_record record = a_record(), again;
	char line[TRIAD_RECORD_LINE_SIZE];

	memset(record.text, '"', sizeof(record.text)); /* without a 0 */
	record.term = record.number = TRIAD_RECORD_MAX_TERM;
	record.at_us = UINT64_MAX;
	record.port = 254;
	record.outcome = TRIAD_OUTCOME_UNANSWERED;
	record.reason = TRIAD_REASON_APPLICATION;
	ck_assert_int_eq(parse(line, triad_record_format(&record, line), &again), 0);
	ck_assert_uint_eq(strlen(again.text), sizeof(again.text) - 1);
	ck_assert_ptr_nonnull(strstr(line, " 9999-12-31T23:59:59.999999Z "));
}
END_TEST

START_TEST(test_record_every_word_is_read_back)
{
	struct triad_record record = a_record(), again;
	char line[TRIAD_RECORD_LINE_SIZE];

	for (unsigned i = 0; i < TRIAD_N_ACTIONS * 64u * 8u; i++) {
		bool is_good;

		record.action = (uint8_t)(i % 8);
		record.outcome = (uint8_t)(i / 8 % 8);
		record.reason = (uint8_t)(i / 64 % 8);
		is_good = record.action && record.action < TRIAD_N_ACTIONS &&
			record.outcome && record.outcome < TRIAD_N_OUTCOMES &&
			record.reason && record.reason < TRIAD_N_REASONS;
		ck_assert_int_eq(
			parse(line, triad_record_format(&record, line), &again),
			is_good ? 0 : EINVAL);
		if (is_good)
			ck_assert_int_eq(triad_record_compare(&record, &again), 0);
	}
	ck_assert_str_eq(triad_port_action_name(0), "?");
	ck_assert_str_eq(triad_outcome_name(TRIAD_N_OUTCOMES), "?");
	ck_assert_str_eq(triad_port_reason_name(TRIAD_REASON_BY_HAND), "by-hand");
}
END_TEST

START_TEST(test_record_torn_line_is_refused)
{
	struct triad_record record = a_record(), again;
	char line[TRIAD_RECORD_LINE_SIZE];
	size_t length = triad_record_format(&record, line);

	for (size_t shorter = 0; shorter < length; shorter++)
		ck_assert_int_eq(parse(line, shorter, &again), EINVAL);
	ck_assert_int_eq(parse(line, length + 1, &again), EINVAL);
}
END_TEST

START_TEST(test_record_altered_line_is_refused)
{
	struct triad_record record = a_record(), again;
	char line[TRIAD_RECORD_LINE_SIZE];
	size_t length = triad_record_format(&record, line);

	for (size_t i = 0; i < length; i++)
		for (int bit = 0; bit < 8; bit++) {
			line[i] ^= (char)(1 << bit);
			ck_assert_int_eq(parse(line, length, &again), EINVAL);
			line[i] ^= (char)(1 << bit);
		}
	ck_assert_int_eq(parse(line, length, &again), 0);
}
END_TEST

#define TAIL " 0x0000000000000042 \"x\""
#define MIDDLE " 2026-01-02T03:04:05.678901Z 0x0000000000000001 0x0000000000000002 "

/* Lines to refuse although each gets a valid checksum. */
static const char *const hostile[] = {
	"",
	"x",
	"9223372036854775809 1" MIDDLE "3 disable done miswired" TAIL,
	"1 9223372036854775809" MIDDLE "3 disable done miswired" TAIL,
	"18446744073709551617 1" MIDDLE "3 disable done miswired" TAIL,
	"-1 1" MIDDLE "3 disable done miswired" TAIL,
	"1 0" MIDDLE "3 disable done miswired" TAIL,
	"01 1" MIDDLE "3 disable done miswired" TAIL,
	"1  1" MIDDLE "3 disable done miswired" TAIL,
	"1 1" MIDDLE "0 disable done miswired" TAIL,
	"1 1" MIDDLE "255 disable done miswired" TAIL,
	"1 1" MIDDLE "259 disable done miswired" TAIL,
	"1 1" MIDDLE "3 Disable done miswired" TAIL,
	"1 1" MIDDLE "3 ? done miswired" TAIL,
	"1 1" MIDDLE "3 disable gone miswired" TAIL,
	"1 1" MIDDLE "3 disable done bywire" TAIL,
	"1 1" MIDDLE "3 disable done miswired" TAIL " more",
	"1 1" MIDDLE "3 disable done miswired 0x0000000000000042 \"x",
	"1 1" MIDDLE "3 disable done miswired 0x0000000000000042 \"x\\\"",
	"1 1" MIDDLE "3 disable done miswired 0x0000000000000042 \"x\\",
	"1 1" MIDDLE "3 disable done miswired 0x0000000000000042 \"\\x\"",
	"1 1" MIDDLE "3 disable done miswired 0x0000000000000042 \"\n\"",
	"1 1" MIDDLE "3 disable done miswired 0x42 \"x\"",
	"1 1" MIDDLE "3 disable done miswired 0x000000000000004A \"x\"",
	"1 1 2026-02-30T03:04:05.678901Z 0x0000000000000001 0x0000000000000002 "
	"3 disable done miswired" TAIL,
	"1 1 2026-01-02T03:04:05.6Z 0x0000000000000001 0x0000000000000002 "
	"3 disable done miswired" TAIL,
	"1 1 1926-01-02T03:04:05.678901Z 0x0000000000000001 0x0000000000000002 "
	"3 disable done miswired" TAIL,
	"1 1 2026-01-02T03:04:05.678901Z 0x0000000000000000 0x0000000000000002 "
	"3 disable done miswired" TAIL,
	"1 1 2026-01-02T03:04:05.678901Z 0x0000000000000001 0x0000000000000000 "
	"3 disable done miswired" TAIL,
};

START_TEST(test_record_hostile_line_is_refused)
{
	struct triad_record record;

	ck_assert_int_eq(parse_with_checksum(hostile[_i], &record), EINVAL);
	ck_assert_int_eq(parse_with_checksum(
				 "0 1" MIDDLE "3 disable done miswired" TAIL, &record),
		0);
}
END_TEST

START_TEST(test_record_text_too_long_is_refused)
{
	struct triad_record record;
	char text[TRIAD_RECORD_TEXT_SIZE + 1], line[TRIAD_RECORD_LINE_SIZE];

	for (size_t n = TRIAD_RECORD_TEXT_SIZE - 1; n <= TRIAD_RECORD_TEXT_SIZE; n++) {
		memset(text, 'x', n);
		text[n] = '\0';
		snprintf(line, sizeof(line), HEAD "\"%s\"", text);
		ck_assert_int_eq(parse_with_checksum(line, &record),
			n < TRIAD_RECORD_TEXT_SIZE ? 0 : EINVAL);
	}
}
END_TEST

START_TEST(test_records_are_ordered_by_term_then_number)
{
	struct triad_record a = a_record(), b = a_record();

	b.number++;
	ck_assert_int_lt(triad_record_compare(&a, &b), 0);
	ck_assert_int_gt(triad_record_compare(&b, &a), 0);
	a.term++;
	ck_assert_int_gt(triad_record_compare(&a, &b), 0);
	b = a;
	b.action = TRIAD_ACTION_ENABLE;
	ck_assert_int_ne(triad_record_compare(&a, &b), 0);
	ck_assert_int_eq(
		triad_record_compare(&a, &b) > 0, triad_record_compare(&b, &a) < 0);
	b = a;
	b.text[0] = 'm';
	ck_assert_int_lt(triad_record_compare(&a, &b), 0);
}
END_TEST

int main(void)
{
	TCase *cases = tcase_create("record");

	tcase_add_test(cases, test_record_line_is_as_documented);
	tcase_add_test(cases, test_record_text_that_is_no_text_is_replaced);
	tcase_add_test(cases, test_record_longest_fits);
	tcase_add_test(cases, test_record_every_word_is_read_back);
	tcase_add_test(cases, test_record_torn_line_is_refused);
	tcase_add_test(cases, test_record_altered_line_is_refused);
	tcase_add_loop_test(cases, test_record_hostile_line_is_refused, 0,
		sizeof(hostile) / sizeof(*hostile));
	tcase_add_test(cases, test_record_text_too_long_is_refused);
	tcase_add_test(cases, test_records_are_ordered_by_term_then_number);
	return run_cases(cases);
}
