/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "service/web/stream.h"

#include <stdio.h>
#include <string.h>

#include "tests/unit/run.h"

static struct triad_stream stream;
static struct triad_stream_state state;
static uint64_t now_us;
static char text[2048];

static void set_up(void)
{
	state = (struct triad_stream_state){
		.process = 0xabc, .numbers = {10, 20, 30, 17, 1}};
	now_us = 5000000;
}

/* Returns all that the stream would have sent by now. */
static const char *read_stream(void)
{
	size_t n;

	memset(text, 0, sizeof(text));
	while (triad_stream_look(&stream, &state, now_us) &&
		(n = triad_stream_take(&stream, text + strlen(text), 100)))
		;
	return text;
}

static const char *begin(const char *last_event_id)
{
	triad_stream_begin(&stream, last_event_id, &state, now_us);
	return read_stream();
}

/* Row: N11 */
START_TEST(test_change_is_one_event_with_its_state)
{
	ck_assert_str_eq(begin(NULL),
		"retry: 3000\n\n"
		"event: begin\nid: abc.10.20.30.17.1\ndata: {\"number\":0}\n\n");
	ck_assert_str_eq(read_stream(), "");
	state.numbers[TRIAD_STREAM_SWEEP] = 12;
	state.numbers[TRIAD_STREAM_ROLE] = 18;
	ck_assert_str_eq(read_stream(),
		"event: sweep\nid: abc.12.20.30.17.1\ndata: {\"number\":12}\n\n"
		"event: role\nid: abc.12.20.30.18.1\ndata: {\"number\":18}\n\n");
	ck_assert_str_eq(read_stream(), "");
}
END_TEST

START_TEST(test_client_that_comes_back_gets_what_it_missed)
{
	ck_assert_str_eq(begin("abc.10.19.30.17.1"),
		"retry: 3000\n\n"
		"event: alert\nid: abc.10.20.30.17.1\ndata: {\"number\":20}\n\n");
}
END_TEST

START_TEST(test_other_process_is_reported_whole)
{
	begin("abd.10.20.30.17.1");
	for (unsigned i = 0; i < TRIAD_STREAM_N_EVENTS; i++)
		ck_assert_ptr_nonnull(strstr(text, triad_stream_event_name(i)));
	ck_assert_ptr_nonnull(strstr(text, "id: abc.10.20.30.17.1\n"));
}
END_TEST

START_TEST(test_unknown_id_is_a_new_client)
{
	static const char *const ids[] = {
		"", "abc", "abc.1.2.3.4", "abc.1.2.3.4.5.6", "abc.1.2.3.4.5x", "....."};

	for (size_t i = 0; i < sizeof(ids) / sizeof(ids[0]) - 1; i++)
		ck_assert_ptr_nonnull(strstr(begin(ids[i]), "event: begin\n"));
}
END_TEST

START_TEST(test_largest_state_fits)
{
	state.process = UINT64_MAX;
	for (unsigned i = 0; i < TRIAD_STREAM_N_EVENTS; i++)
		state.numbers[i] = UINT64_MAX;
	begin("1.1.1.1.1.1");
	ck_assert_ptr_nonnull(strstr(text, "event: configuration\n"));
	ck_assert_str_eq(text + strlen(text) - strlen("551615}\n\n"), "551615}\n\n");
}
END_TEST

START_TEST(test_silence_is_broken_and_life_ends)
{
	begin(NULL);
	now_us += TRIAD_STREAM_BEAT_US - 1;
	ck_assert_str_eq(read_stream(), "");
	now_us++;
	ck_assert_str_eq(read_stream(), ": still here\n\n");
	ck_assert(!triad_stream_has_ended(&stream, now_us));
	now_us = 5000000 + TRIAD_STREAM_LIFE_US;
	state.numbers[0]++;
	ck_assert(triad_stream_look(&stream, &state, now_us));
	ck_assert_msg(!triad_stream_has_ended(&stream, now_us), "it has text left");
	ck_assert_ptr_nonnull(strstr(read_stream(), "event: sweep\n"));
	ck_assert(triad_stream_has_ended(&stream, now_us));
}
END_TEST

int main(void)
{
	TCase *cases = tcase_create("stream");

	tcase_add_checked_fixture(cases, set_up, NULL);
	tcase_add_test(cases, test_change_is_one_event_with_its_state);
	tcase_add_test(cases, test_client_that_comes_back_gets_what_it_missed);
	tcase_add_test(cases, test_other_process_is_reported_whole);
	tcase_add_test(cases, test_unknown_id_is_a_new_client);
	tcase_add_test(cases, test_largest_state_fits);
	tcase_add_test(cases, test_silence_is_broken_and_life_ends);
	return run_cases(cases);
}
