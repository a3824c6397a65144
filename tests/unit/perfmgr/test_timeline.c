/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "perfmgr/timeline/timeline.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "lib/checked_line.h"
#include "perfmgr/timeline/reader.h"
#include "tests/unit/run.h"

#define S UINT64_C(1000000)
#define AT_US UINT64_C(1767323045678901) /* 2026-01-02T03:04:05.678901Z */

static const struct triad_timeline_event cut = {
	.at_us = AT_US,
	.kind = TRIAD_TIMELINE_LINK_DOWN,
	.count = 7,
	.text = "a \"quoted\" text \\",
	.ends = {{.node_guid = 0x200, .port = 3, .node_name = "leaf-01"},
		{.node_guid = 0x10003, .port = 1, .node_name = "host-0001 HCA-1"}},
};

static struct triad_timeline_event event_of(uint32_t count)
{
	return (struct triad_timeline_event){
		.at_us = AT_US + count, .kind = TRIAD_TIMELINE_RESET, .count = count};
}

/* --- a line --- */

START_TEST(test_event_line_is_as_documented)
{
	char line[TRIAD_TIMELINE_LINE_SIZE];
	size_t length = triad_timeline_event_format(&cut, line);
	static const char begin[] =
		"2026-01-02T03:04:05.678901Z link-down 7 0x0000000000000200 3 "
		"\"leaf-01\" 0x0000000000010003 1 \"host-0001 HCA-1\" "
		"\"a \\\"quoted\\\" text \\\\\" ";

	ck_assert_uint_eq(length, strlen(line));
	ck_assert_uint_eq(length, strlen(begin) + 8);
	ck_assert(!strncmp(line, begin, strlen(begin)));
}
END_TEST

START_TEST(test_event_with_fields_of_a_later_triad_is_read)
{
	struct triad_timeline_event event;
	char line[TRIAD_TIMELINE_LINE_SIZE];
	size_t length = triad_timeline_event_format(&cut, line);

	length -= TRIAD_CHECKED_LINE_SUM_LENGTH;
	length += (size_t)sprintf(line + length, " 17 \"more\"");
	length = triad_checked_line_end(line, length);
	ck_assert_int_eq(triad_timeline_event_parse(line, length, &event), 0);
	ck_assert_str_eq(event.text, cut.text);
	/* The text goes on where the next field should begin. */
	length = triad_timeline_event_format(&cut, line);
	length -= TRIAD_CHECKED_LINE_SUM_LENGTH;
	line[length++] = 'x';
	length = triad_checked_line_end(line, length);
	ck_assert_int_eq(triad_timeline_event_parse(line, length, &event), EINVAL);
}
END_TEST

START_TEST(test_event_of_each_kind_is_read_back)
{
	char line[TRIAD_TIMELINE_LINE_SIZE];

	for (unsigned kind = 1; kind < TRIAD_N_TIMELINE_KINDS; kind++) {
		struct triad_timeline_event event = cut, again;

		event.kind = (uint8_t)kind;
		event.ends[kind % 2] = (struct triad_timeline_end){0};
		ck_assert_int_eq(
			triad_timeline_event_parse(line,
				triad_timeline_event_format(&event, line), &again),
			0);
		ck_assert_uint_eq(again.kind, kind);
		ck_assert_uint_eq(again.at_us, event.at_us);
		ck_assert_uint_eq(again.count, event.count);
		ck_assert_str_eq(again.text, event.text);
		for (unsigned i = 0; i < 2; i++) {
			ck_assert_uint_eq(
				again.ends[i].node_guid, event.ends[i].node_guid);
			ck_assert_uint_eq(again.ends[i].port, event.ends[i].port);
			ck_assert_str_eq(
				again.ends[i].node_name, event.ends[i].node_name);
		}
	}
}
END_TEST

START_TEST(test_event_line_altered_anywhere_is_refused)
{
	char line[TRIAD_TIMELINE_LINE_SIZE];
	size_t length = triad_timeline_event_format(&cut, line);
	struct triad_timeline_event event;

	for (size_t i = 0; i < length; i++) {
		line[i] ^= 1;
		ck_assert_int_eq(
			triad_timeline_event_parse(line, length, &event), EINVAL);
		line[i] ^= 1;
		ck_assert_int_eq(triad_timeline_event_parse(line, i, &event), EINVAL);
	}
	ck_assert_int_eq(triad_timeline_event_parse(line, length, &event), 0);
}
END_TEST

START_TEST(test_event_longest_texts_fit_a_line)
{
	struct triad_timeline_event event = cut, again;
	char line[TRIAD_TIMELINE_LINE_SIZE];

	event.at_us = UINT64_MAX;
	event.count = UINT32_MAX;
	event.kind = TRIAD_TIMELINE_LOOKS_NO_MORE;
	memset(event.text, '"', sizeof(event.text));
	for (unsigned i = 0; i < 2; i++) {
		event.ends[i].node_guid = UINT64_MAX;
		event.ends[i].port = TRIAD_TIMELINE_NO_PORT;
		memset(event.ends[i].node_name, '\\', sizeof(event.ends[i].node_name));
	}
	ck_assert_int_eq(triad_timeline_event_parse(line,
				 triad_timeline_event_format(&event, line), &again),
		0);
	ck_assert_uint_eq(strlen(again.text), sizeof(again.text) - 1);
}
END_TEST

START_TEST(test_event_is_at_its_ends_and_a_node_at_all_its_ports)
{
	struct triad_node_choice choice = triad_node_choice_make("leaf-01/P3", NULL, 0);
	struct triad_timeline_event event = cut;

	ck_assert(triad_timeline_event_is_at(&event, &choice));
	choice = triad_node_choice_make("host-0001", NULL, 0);
	ck_assert(triad_timeline_event_is_at(&event, &choice));
	choice = triad_node_choice_make("0x200", NULL, 0);
	ck_assert(triad_timeline_event_is_at(&event, &choice));
	choice = triad_node_choice_make("leaf-01/P4", NULL, 0);
	ck_assert(!triad_timeline_event_is_at(&event, &choice));
	event.ends[0].port = TRIAD_TIMELINE_NO_PORT;
	ck_assert(triad_timeline_event_is_at(&event, &choice));
	choice = triad_node_choice_make("leaf-02", NULL, 0);
	ck_assert(!triad_timeline_event_is_at(&event, &choice));
}
END_TEST

/* --- the ring --- */

START_TEST(test_timeline_oldest_is_replaced_and_counted)
{
	struct triad_timeline *timeline = triad_timeline_new(4);
	struct triad_timeline_counts counts;

	for (uint32_t i = 0; i < 6; i++) {
		struct triad_timeline_event event = event_of(i);

		triad_timeline_add(timeline, &event);
	}
	counts = triad_timeline_counts(timeline);
	ck_assert_uint_eq(counts.n, 4);
	ck_assert_uint_eq(counts.n_displaced, 2);
	ck_assert_uint_eq(
		triad_timeline_get(timeline, triad_timeline_first(timeline))->count, 2);
	ck_assert_uint_eq(
		triad_timeline_get(timeline, triad_timeline_end(timeline) - 1)->count,
		5);
	ck_assert_ptr_null(
		triad_timeline_get(timeline, triad_timeline_first(timeline) - 1));
	ck_assert_ptr_null(triad_timeline_get(timeline, triad_timeline_end(timeline)));
	triad_timeline_free(timeline);
}
END_TEST

START_TEST(test_timeline_older_ones_come_before_while_there_is_room)
{
	struct triad_timeline *timeline = triad_timeline_new(3);
	struct triad_timeline_event event = event_of(10);
	uint64_t number = triad_timeline_end(timeline);

	triad_timeline_add(timeline, &event);
	event = event_of(9);
	ck_assert(triad_timeline_prepend(timeline, &event));
	event = event_of(8);
	ck_assert(triad_timeline_prepend(timeline, &event));
	ck_assert(!triad_timeline_prepend(timeline, &event));
	/* Events keep their numbers. */
	ck_assert_uint_eq(triad_timeline_get(timeline, number)->count, 10);
	ck_assert_uint_eq(triad_timeline_get(timeline, number - 2)->count, 8);
	event = event_of(11);
	triad_timeline_add(timeline, &event);
	ck_assert_ptr_null(triad_timeline_get(timeline, number - 2));
	ck_assert_uint_eq(triad_timeline_get(timeline, number - 1)->count, 9);
	triad_timeline_free(timeline);
}
END_TEST

/* For 100,000 links that go down at once the timeline has some events, and one with the
 * number of the others.  Earlier events and events of other kinds stay. */
START_TEST(test_timeline_storm_pushes_out_nothing_and_is_reported)
{
	struct triad_timeline *timeline = triad_timeline_new(6400);
	struct triad_timeline_event event = event_of(1);
	uint32_t n_kept = 0;
	uint64_t first = triad_timeline_end(timeline);

	triad_timeline_add(timeline, &event);
	for (uint32_t i = 0; i < 100000; i++) {
		if (!triad_timeline_admits(timeline, TRIAD_TIMELINE_LINK_DOWN, S + i))
			continue;
		n_kept++;
		triad_timeline_add(timeline, &cut);
	}
	ck_assert_uint_eq(n_kept, 100);
	ck_assert(triad_timeline_admits(timeline, TRIAD_TIMELINE_RESET, S));
	triad_timeline_report_omitted(timeline, 5 * S, AT_US, false);
	ck_assert_uint_eq(triad_timeline_counts(timeline).n, 101);
	triad_timeline_report_omitted(timeline, 12 * S, AT_US, false);
	triad_timeline_report_omitted(timeline, 30 * S, AT_US, false);
	ck_assert_uint_eq(triad_timeline_counts(timeline).n, 102);
	event = *triad_timeline_get(timeline, triad_timeline_end(timeline) - 1);
	ck_assert_uint_eq(event.kind, TRIAD_TIMELINE_MORE);
	ck_assert_uint_eq(event.count, 99900);
	ck_assert_str_eq(event.text, "link-down");
	ck_assert_ptr_nonnull(triad_timeline_get(timeline, first));
	/* After the storm, events are kept again. */
	ck_assert(triad_timeline_admits(timeline, TRIAD_TIMELINE_LINK_DOWN, 31 * S));
	triad_timeline_free(timeline);
}
END_TEST

/* A storm that doesn't end is reported repeatedly, and some of its events are kept each
 * time. */
START_TEST(test_timeline_endless_storm_is_reported_each_time)
{
	struct triad_timeline *timeline = triad_timeline_new(6400);
	uint32_t n_reported = 0;

	for (uint64_t at_us = S; at_us < 61 * S; at_us += 1000) {
		if (triad_timeline_admits(timeline, TRIAD_TIMELINE_LINK_UP, at_us))
			triad_timeline_add(timeline, &cut);
		if (at_us % S == 0)
			triad_timeline_report_omitted(timeline, at_us, AT_US, false);
	}
	triad_timeline_report_omitted(timeline, 61 * S, AT_US, true);
	for (uint64_t i = triad_timeline_first(timeline);
		i < triad_timeline_end(timeline); i++) {
		const struct triad_timeline_event *event =
			triad_timeline_get(timeline, i);

		if (event->kind == TRIAD_TIMELINE_MORE)
			n_reported += event->count;
	}
	ck_assert_uint_eq(n_reported, 60000 - 6 * 100);
	ck_assert_uint_eq(triad_timeline_counts(timeline).n_not_kept, n_reported);
	triad_timeline_free(timeline);
}
END_TEST

/* --- reading --- */

START_TEST(test_reader_skips_invalid_lines_however_they_are_cut)
{
	char text[5 * TRIAD_TIMELINE_LINE_SIZE];
	size_t size = 0;

	for (uint32_t i = 0; i < 3; i++) {
		struct triad_timeline_event event = event_of(i);

		size += triad_timeline_event_format(&event, text + size);
		text[size++] = '\n';
		if (i == 1)
			size += (size_t)sprintf(text + size, "garbage\n%0700d\n", 0);
	}
	size -= 5; /* the last line is torn */
	for (size_t piece = 1; piece < 200; piece += 7) {
		struct triad_timeline *timeline = triad_timeline_new(8);
		struct triad_timeline_reader reader;

		triad_timeline_reader_init(&reader, timeline);
		for (size_t at = 0; at < size; at += piece)
			triad_timeline_reader_take(&reader, text + at,
				size - at < piece ? size - at : piece);
		ck_assert(triad_timeline_reader_is_torn(&reader));
		triad_timeline_reader_end(&reader);
		ck_assert_uint_eq(reader.n_lines, 2);
		ck_assert_uint_eq(reader.n_bad, 3);
		ck_assert_uint_eq(triad_timeline_counts(timeline).n, 2);
		triad_timeline_free(timeline);
	}
}
END_TEST

int main(void)
{
	TCase *tcase = tcase_create("timeline");

	tcase_add_test(tcase, test_event_line_is_as_documented);
	tcase_add_test(tcase, test_event_with_fields_of_a_later_triad_is_read);
	tcase_add_test(tcase, test_event_of_each_kind_is_read_back);
	tcase_add_test(tcase, test_event_line_altered_anywhere_is_refused);
	tcase_add_test(tcase, test_event_longest_texts_fit_a_line);
	tcase_add_test(tcase, test_event_is_at_its_ends_and_a_node_at_all_its_ports);
	tcase_add_test(tcase, test_timeline_oldest_is_replaced_and_counted);
	tcase_add_test(tcase, test_timeline_older_ones_come_before_while_there_is_room);
	tcase_add_test(tcase, test_timeline_storm_pushes_out_nothing_and_is_reported);
	tcase_add_test(tcase, test_timeline_endless_storm_is_reported_each_time);
	tcase_add_test(tcase, test_reader_skips_invalid_lines_however_they_are_cut);
	return run_cases(tcase);
}
