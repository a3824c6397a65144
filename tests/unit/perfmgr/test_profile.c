/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "perfmgr/formats/profile.h"

#include <string.h>
#include <time.h>

#include "tests/unit/mentions.h"

#define HEADER                                                                         \
	"time,node_guid,port,remote_guid,remote_port,gbps,PortXmitData,PortRcvData"
#define TIME "2026-01-02T03:04:05.678Z"
#define TIME_US UINT64_C(1767323045678000)

static struct triad_profile_parser parser;
static char text[TRIAD_PROFILE_LINE_SIZE];

static enum triad_profile_line parse(const char *line)
{
	return triad_profile_parse(&parser, line, strlen(line));
}

static void set_up(void)
{
	triad_profile_parser_init(&parser);
}

static void set_up_rows(void)
{
	set_up();
	ck_assert_int_eq(parse(HEADER), TRIAD_PROFILE_HEADER);
}

/* Checks that the parser refuses 'line' as line 2, at that column, with that
 * message. */
#define ASSERT_WRONG(line, column_, words)                                             \
	do {                                                                           \
		set_up_rows();                                                         \
		ck_assert_int_eq(parse(line), TRIAD_PROFILE_WRONG);                    \
		assert_mentions(parser.message, "line 2 column " #column_ " " words);  \
		ck_assert_uint_eq(parser.column, column_);                             \
	} while (0)

/* Row: M3, A11 */
START_TEST(test_row_rendered_as_documented)
{
	struct triad_profile_row row = {.node_guid = 0x2c90300001234,
		.port = 1,
		.remote_guid = 0x2c90300005678,
		.remote_port = 36,
		.mbps = 100000,
		.has = TRIAD_PROFILE_DATA_COUNTERS | 1u << TRIAD_PORT_XMIT_WAIT};

	row.total[TRIAD_PORT_XMIT_DATA] = UINT64_MAX;
	row.total[TRIAD_PORT_XMIT_WAIT] = 10;
	triad_profile_render_row(text, TIME, &row, 0);
	ck_assert_str_eq(text,
		TIME ",0x0002c90300001234,1,0x0002c90300005678,36,100,"
		     "18446744073709551615,0\n");
	row.remote_guid = 0;
	row.mbps = 2500;
	row.has &= ~(1u << TRIAD_PORT_RCV_DATA);
	triad_profile_render_row(text, TIME, &row,
		1u << TRIAD_PORT_XMIT_WAIT | 1u << TRIAD_VL15_DROPPED);
	ck_assert_str_eq(
		text, TIME ",0x0002c90300001234,1,,,2.5,18446744073709551615,,,10\n");
	row.mbps = 54545;
	row.has = 0;
	triad_profile_render_row(text, TIME, &row, 0);
	ck_assert_str_eq(text, TIME ",0x0002c90300001234,1,,,54.545,,\n");
	row.mbps = 0;
	triad_profile_render_row(text, TIME, &row, 0);
	ck_assert_str_eq(text, TIME ",0x0002c90300001234,1,,,,,\n");
}
END_TEST

/* Row: A11 */
START_TEST(test_header_has_every_counter_once)
{
	triad_profile_render_header(text, 0);
	ck_assert_str_eq(text, HEADER "\n");
	triad_profile_render_header(text, TRIAD_PROFILE_ALL_COUNTERS);
	ck_assert(!strncmp(text, HEADER, strlen(HEADER)));
	for (unsigned i = 0; i < TRIAD_N_COUNTERS; i++) {
		char *found = strstr(text, triad_counters[i].name);

		ck_assert_ptr_nonnull(found);
	}
	text[strlen(text) - 1] = '\0';
	ck_assert_int_eq(parse(text), TRIAD_PROFILE_HEADER);
	ck_assert_uint_eq(parser.n_counters, TRIAD_N_COUNTERS);
}
END_TEST

START_TEST(test_longest_row_fits)
{
	struct triad_profile_row row = {.node_guid = UINT64_MAX,
		.port = 255,
		.remote_guid = UINT64_MAX,
		.remote_port = 255,
		.mbps = 999999999,
		.has = TRIAD_PROFILE_ALL_COUNTERS};

	for (unsigned i = 0; i < TRIAD_N_COUNTERS; i++)
		row.total[i] = UINT64_MAX;
	ck_assert_uint_lt(
		triad_profile_render_row(text, TIME, &row, TRIAD_PROFILE_ALL_COUNTERS),
		TRIAD_PROFILE_LINE_SIZE);
}
END_TEST

/* Row: N4 */
START_TEST(test_detail_is_a_comment_that_fits)
{
	uint64_t totals[16] = {0, 0, 17};

	ck_assert_uint_eq(
		triad_profile_render_detail(text, 0x1234, 7,
			&triad_detail_fields[triad_detail_field_find("PortVLXmitWait")],
			totals),
		strlen(text));
	ck_assert_str_eq(text,
		"# triad-detail 0x0000000000001234,7,PortVLXmitWait,"
		"0,0,17,0,0,0,0,0,0,0,0,0,0,0,0,0\n");
	text[strlen(text) - 1] = '\0';
	ck_assert_int_eq(parse(text), TRIAD_PROFILE_COMMENT);
	memset(totals, 0xff, sizeof(totals));
	for (unsigned i = 0; i < TRIAD_DETAIL_N_FIELDS; i++)
		ck_assert_uint_lt(triad_profile_render_detail(text, UINT64_MAX, 255,
					  &triad_detail_fields[i], totals),
			TRIAD_PROFILE_LINE_SIZE);
}
END_TEST

START_TEST(test_info_returns_the_values_given)
{
	struct triad_profile_info info = {.time_us = TIME_US,
		.sm_guid = 0x1234,
		.started_us = TIME_US - 1000,
		.sweep = TRIAD_PROFILE_SWEEP_ALL,
		.min_change_octets = 4000};

	triad_profile_render_info(text, &info);
	ck_assert_str_eq(text,
		"# triad-profile version=1 time=" TIME " sm=0x0000000000001234 "
		"started=2026-01-02T03:04:05.677Z sweep=all min_change=4000\n");
	text[strlen(text) - 1] = '\0';
	ck_assert_int_eq(parse(text), TRIAD_PROFILE_INFO);
	ck_assert_uint_eq(parser.info.time_us, info.time_us);
	ck_assert_uint_eq(parser.info.sm_guid, info.sm_guid);
	ck_assert_uint_eq(parser.info.started_us, info.started_us);
	ck_assert_int_eq(parser.info.sweep, info.sweep);
	ck_assert_uint_eq(parser.info.min_change_octets, info.min_change_octets);
	ck_assert_int_eq(parse("# triad-profile version=1 color=red sm=red=1"),
		TRIAD_PROFILE_WRONG);
	ck_assert_int_eq(
		parse("# triad-profile color=red sweep=part"), TRIAD_PROFILE_INFO);
	ck_assert_int_eq(parser.info.sweep, TRIAD_PROFILE_SWEEP_PART);
	ck_assert_uint_eq(parser.info.time_us, 0);
	ck_assert(parser.info.min_change_octets == UINT64_MAX);
	ck_assert_int_eq(parse("# anything"), TRIAD_PROFILE_COMMENT);
	ck_assert_int_eq(parse("# triad-profile version=2"), TRIAD_PROFILE_WRONG);
	assert_mentions(parser.message, "line 5 column 26 version 1");
}
END_TEST

START_TEST(test_row_parsed_as_it_stands)
{
	ck_assert_int_eq(parse(HEADER ",PortXmitWait"), TRIAD_PROFILE_HEADER);
	ck_assert_int_eq(
		parse(TIME ",0x0002c90300001234,1,0x0002c90300005678,36,2.5,7,,9"),
		TRIAD_PROFILE_ROW);
	ck_assert_uint_eq(parser.row.time_us, TIME_US);
	ck_assert_uint_eq(parser.row.node_guid, 0x2c90300001234);
	ck_assert_uint_eq(parser.row.port, 1);
	ck_assert_uint_eq(parser.row.remote_guid, 0x2c90300005678);
	ck_assert_uint_eq(parser.row.remote_port, 36);
	ck_assert_uint_eq(parser.row.mbps, 2500);
	ck_assert_uint_eq(parser.row.has,
		1u << TRIAD_PORT_XMIT_DATA | 1u << TRIAD_PORT_XMIT_WAIT);
	ck_assert_uint_eq(parser.row.total[TRIAD_PORT_XMIT_DATA], 7);
	ck_assert_uint_eq(parser.row.total[TRIAD_PORT_XMIT_WAIT], 9);
}
END_TEST

START_TEST(test_row_mistakes_reported_with_their_column)
{
	ASSERT_WRONG("", 1, "time missing 2026-01-02T03:04:05.678Z");
	ASSERT_WRONG("2026-02-29T03:04:05.678Z,0x0002c90300001234,1,,,,,", 1,
		"time 2026-01-02T03:04:05.678Z");
	ASSERT_WRONG(TIME ";0x0002c90300001234,1,,,,,", 25, "comma");
	ASSERT_WRONG(TIME ",0x2c90300001234,1,,,,,,,,", 26, "node_guid GUID");
	ASSERT_WRONG(TIME ",0x0002C90300001234,1,,,,,", 26, "node_guid GUID");
	ASSERT_WRONG(TIME ",0x0000000000000000,1,,,,,", 26, "node_guid 0");
	ASSERT_WRONG(TIME ",0x0002c90300001234,256,,,,,", 45, "255");
	ASSERT_WRONG(TIME ",0x0002c90300001234,01,,,,,", 45, "port 0");
	ASSERT_WRONG(TIME ",0x0002c90300001234,,,,,,", 45, "missing");
	ASSERT_WRONG(TIME ",0x0002c90300001234,1,0x0002c90300005678,,,,", 66,
		"remote_port missing");
	ASSERT_WRONG(TIME ",0x0002c90300001234,1,,3,,,", 48, "comma");
	ASSERT_WRONG(TIME ",0x0002c90300001234,1,,,2.50,,", 53, "gbps 0");
	ASSERT_WRONG(
		TIME ",0x0002c90300001234,1,,,2.5555,,", 54, "gbps three decimals");
	ASSERT_WRONG(TIME ",0x0002c90300001234,1,,,0,,", 50, "0");
	ASSERT_WRONG(TIME ",0x0002c90300001234,1,,,,18446744073709551616,", 50,
		"PortXmitData 18446744073709551615");
	ASSERT_WRONG(TIME ",0x0002c90300001234,1,,,,-1,", 50, "PortXmitData missing");
	ASSERT_WRONG(TIME ",0x0002c90300001234,1,,,,1", 51, "line ends");
	ASSERT_WRONG(TIME ",0x0002c90300001234,1,,,,1,2,3", 53, "header columns");
}
END_TEST

START_TEST(test_header_mistakes_reported)
{
	ASSERT_WRONG("time,port", 1, "a header begins with " HEADER);
	ASSERT_WRONG(HEADER ",Nothing", 75, "no counter");
	ASSERT_WRONG(HEADER ",portxmitwait", 75, "no counter");
	ASSERT_WRONG(HEADER ",PortRcvData", 75, "column twice order");
	ASSERT_WRONG(
		HEADER ",VL15Dropped,SymbolErrorCounter", 87, "column twice order");
}
END_TEST

START_TEST(test_row_without_header_refused)
{
	ck_assert_int_eq(parse(TIME ",0x0002c90300001234,1,,,,,"), TRIAD_PROFILE_WRONG);
	assert_mentions(parser.message, "line 1 column 1 header");
	set_up_rows();
	ck_assert_int_eq(parse("# triad-profile version=1"), TRIAD_PROFILE_INFO);
	ck_assert_int_eq(parse(TIME ",0x0002c90300001234,1,,,,,"), TRIAD_PROFILE_WRONG);
}
END_TEST

START_TEST(test_line_too_long_refused)
{
	char line[TRIAD_PROFILE_LINE_SIZE + 1];

	memset(line, '#', sizeof(line));
	line[TRIAD_PROFILE_LINE_SIZE] = '\0';
	ck_assert_int_eq(parse(line), TRIAD_PROFILE_WRONG);
	line[TRIAD_PROFILE_LINE_SIZE - 1] = '\0';
	ck_assert_int_eq(parse(line), TRIAD_PROFILE_COMMENT);
}
END_TEST

START_TEST(test_every_time_read_as_written)
{
	unsigned seed = (unsigned)time(NULL);

	srand(seed);
	for (unsigned i = 0; i < 100000; i++) {
		char time_text[TRIAD_CLOCK_TEXT_SIZE];
		uint64_t ms = ((uint64_t)rand() << 20 ^ (uint64_t)rand()) %
			UINT64_C(253402300800000); /* the year 10000 */
		struct triad_profile_row row = {.node_guid = 1};

		triad_clock_format(ms * 1000, time_text);
		set_up_rows();
		triad_profile_render_row(text, time_text, &row, 0);
		text[strlen(text) - 1] = '\0';
		ck_assert_msg(
			parse(text) == TRIAD_PROFILE_ROW, "seed %u: %s", seed, text);
		ck_assert_msg(parser.row.time_us == ms * 1000, "seed %u: %s", seed,
			time_text);
	}
}
END_TEST

int main(void)
{
	TCase *cases = tcase_create("profile");

	tcase_add_checked_fixture(cases, set_up, NULL);
	tcase_add_test(cases, test_row_rendered_as_documented);
	tcase_add_test(cases, test_header_has_every_counter_once);
	tcase_add_test(cases, test_longest_row_fits);
	tcase_add_test(cases, test_detail_is_a_comment_that_fits);
	tcase_add_test(cases, test_info_returns_the_values_given);
	tcase_add_test(cases, test_row_parsed_as_it_stands);
	tcase_add_test(cases, test_row_mistakes_reported_with_their_column);
	tcase_add_test(cases, test_header_mistakes_reported);
	tcase_add_test(cases, test_row_without_header_refused);
	tcase_add_test(cases, test_line_too_long_refused);
	tcase_add_test(cases, test_every_time_read_as_written);
	return run_cases(cases);
}
