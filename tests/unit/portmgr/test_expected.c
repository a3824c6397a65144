/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "portmgr/expected/expected.h"

#include <errno.h>
#include <glib.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/mentions.h"

static struct triad_diags diags;
static struct triad_expected *expected;

static int parse_octets(const char *octets, size_t size)
{
	triad_diags_init(&diags, "expected");
	return triad_expected_parse(octets, size, &diags, &expected);
}

static int parse(const char *text)
{
	return parse_octets(text, strlen(text));
}

static char *all_diags(void)
{
	static char text[TRIAD_DIAG_MAX * TRIAD_DIAG_TEXT_SIZE * 2];
	char line[TRIAD_DIAG_TEXT_SIZE * 2];

	text[0] = '\0';
	for (size_t i = 0; i < diags.n; i++) {
		triad_diags_format(&diags, i, line, sizeof(line));
		g_strlcat(text, line + strlen("expected:"), sizeof(text));
		g_strlcat(text, "\n", sizeof(text));
	}
	return text;
}

#define ASSERT_PARSED(text)                                                            \
	ck_assert_msg(!parse(text) && !diags.n_total, "%s gives %s", text, all_diags())

/* Parses 'text' after a line "generation 1", and looks for the words of each line in the mistake that
 * is reported there. */
#define ASSERT_REFUSED(text, words)                                                    \
	do {                                                                           \
		ck_assert_int_eq(parse("generation 1\n" text), EINVAL);                \
		assert_mentions(all_diags(), words);                                   \
	} while (0)

static const char *text_of(uint32_t at)
{
	return triad_expected_text(expected, at);
}

#define NAME_64 "abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyzabcdefghijkl"

/* --- valid tables ------------------------------------------------------ */

/* Row: E11 */
START_TEST(test_row_with_all_columns_read)
{
	const struct triad_expected_port *row;

	ASSERT_PARSED("generation 7\n"
		      "# node,port\n\n"
		      "node,port,state,remote,width,speed,check,comment\n"
		      " \"leaf \"\"1\"\", a\" , 3 ,test, "
		      "port_guid=0x1; node_guid=0x2;name=h*?;vendor=0x2c9;port=254;"
		      ",12x,NDR,name=host-?;ping,\"a, \"\"b\"\"\"\n");
	ck_assert_uint_eq(expected->generation, 7);
	ck_assert_uint_eq(expected->n_ports, 1);
	row = &expected->ports[0];
	ck_assert_str_eq(text_of(row->node_name), "leaf \"1\", a");
	ck_assert_uint_eq(row->node_guid, 0);
	ck_assert_uint_eq(row->line, 5);
	ck_assert_uint_eq(row->port, 3);
	ck_assert_uint_eq(row->state, TRIAD_EXPECTED_TEST);
	ck_assert_uint_eq(row->remote.port_guid, 1);
	ck_assert_uint_eq(row->remote.node_guid, 2);
	ck_assert_uint_eq(row->remote.vendor_id, 0x2c9);
	ck_assert_uint_eq(row->remote.port, 254);
	ck_assert_str_eq(text_of(row->remote.name), "h*?");
	ck_assert_uint_eq(row->width, 8);
	ck_assert_uint_eq(row->speed, TRIAD_SPEED_NDR);
	ck_assert_str_eq(text_of(row->check_name), "host-?");
	ck_assert(row->check_ping);
	ck_assert_str_eq(text_of(row->comment), "a, \"b\"");
	triad_expected_free(expected);
}
END_TEST

START_TEST(test_row_short_rest_empty)
{
	const struct triad_expected_port *row;

	ASSERT_PARSED("generation=1\n0X0002C90000000002,254,disabled");
	row = &expected->ports[0];
	ck_assert_uint_eq(row->node_guid, UINT64_C(0x2c90000000002));
	ck_assert_uint_eq(row->state, TRIAD_EXPECTED_DISABLED);
	ck_assert_uint_eq(row->remote.port + row->width + row->speed, 0);
	ck_assert_uint_eq(row->node_name + row->comment + row->check_name, 0);
	ck_assert_str_eq(text_of(0), "");
	triad_expected_free(expected);
}
END_TEST

START_TEST(test_file_with_mark_and_carriage_returns_read)
{
	ASSERT_PARSED("\xef\xbb\xbfgeneration,9223372036854775808,,,,,,\r\n"
		      "leaf,1,enabled\r\n\"generation\",2,enabled,,4x\r\n");
	ck_assert_uint_eq(expected->generation, TRIAD_EXPECTED_MAX_GENERATION);
	ck_assert_uint_eq(expected->n_ports, 2);
	ck_assert_str_eq(text_of(expected->ports[1].node_name), "generation");
	triad_expected_free(expected);
}
END_TEST

START_TEST(test_hash_of_octets_as_given)
{
	static const char text[] = "generation 1\n";
	uint8_t digest[32];
	gsize size = sizeof(digest);
	GChecksum *sum = g_checksum_new(G_CHECKSUM_SHA256);
	uint64_t wanted = 0;

	g_checksum_update(sum, (const guchar *)text, strlen(text));
	g_checksum_get_digest(sum, digest, &size);
	g_checksum_free(sum);
	for (unsigned i = 0; i < 8; i++)
		wanted = wanted << 8 | digest[i];
	ASSERT_PARSED(text);
	ck_assert_uint_eq(expected->hash, wanted);
	triad_expected_free(expected);
	ASSERT_PARSED("generation 1\r\n");
	ck_assert_uint_ne(expected->hash, wanted);
	triad_expected_free(expected);
}
END_TEST

START_TEST(test_names_of_widths_and_speeds)
{
	ck_assert_str_eq(triad_link_width_name(16), "2x");
	ck_assert_str_eq(triad_link_width_name(3), "");
	ck_assert_str_eq(triad_link_speed_name(TRIAD_SPEED_ANY), "");
	ck_assert_int_eq(triad_link_speed(4, 0), TRIAD_SPEED_QDR);
	ck_assert_int_eq(triad_link_speed(4, 2), TRIAD_SPEED_EDR);
	ck_assert_int_eq(triad_link_speed(4, 32), TRIAD_SPEED_XDR);
	ck_assert_int_eq(triad_link_speed(4, 16), TRIAD_SPEED_ANY);
	ck_assert_int_eq(triad_link_speed(0, 0), TRIAD_SPEED_ANY);
	ck_assert_str_eq(triad_expected_state_name(TRIAD_EXPECTED_TEST), "test");
	ck_assert_str_eq(triad_expected_state_name(3), "");
}
END_TEST

/* --- invalid tables ---------------------------------------------------- */

START_TEST(test_generation_missing_wrong_late_twice_refused)
{
	static const char *const wrong[] = {"generation", "generation 0",
		"generation -1", "generation 9223372036854775809",
		"generation 99999999999999999999", "generation 1 2",
		"generation,1,enabled"};

	for (unsigned i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		ck_assert_int_eq(parse(wrong[i]), EINVAL);
		assert_mentions(all_diags(), "1: generation 1 9223372036854775808\n");
	}
	ck_assert_int_eq(parse("leaf,1,enabled\n"), EINVAL);
	assert_mentions(all_diags(), "'generation N' 1 9223372036854775808\n");
	ck_assert_int_eq(parse("#\nleaf,1,enabled\ngeneration 1\n"), EINVAL);
	assert_mentions(all_diags(), "3: generation line 2\n");
	ASSERT_REFUSED("generation 1", "2: generation line 1\n");
}
END_TEST

START_TEST(test_names_of_columns_wrong_or_late_refused)
{
	ASSERT_REFUSED("node,port,status\nleaf,1,enabled\nnode,port\n",
		"2:11: column 'state'\n"
		"4: columns line 2\n");
	ASSERT_REFUSED("leaf,1,enabled\nnode,port\n", "3: columns line 2\n");
}
END_TEST

START_TEST(test_quotes_and_fields_wrong_refused)
{
	ASSERT_REFUSED("leaf,1,\"enabled\n"
		       "  \"leaf\" x,2,enabled\n"
		       "le\"af,3,enabled\n"
		       "leaf,4,enabled,,,,,a,b, c\n",
		"2:8: quote\n"
		"3:10: quote comma\n"
		"4:3: quote\n"
		"5:22: 8 fields\n");
}
END_TEST

START_TEST(test_values_wrong_all_reported)
{
	ASSERT_REFUSED(",,on,,3x,ZDR\n"
		       "0x0,0,enabled\n"
		       "leaf,255,Enabled,,4,edr\n",
		"2:1: node missing\n"
		"2:2: port missing 1 254\n"
		"2:3: state 'on' enabled disabled test\n"
		"2:7: width '3x' 1x 2x 4x 8x 12x\n"
		"2:10: speed 'ZDR' SDR DDR QDR FDR EDR HDR NDR XDR\n"
		"3:1: 0x0 GUID\n"
		"3:5: port 0 1 254\n"
		"4:6: port 255 1 254\n"
		"4:10: state 'Enabled' enabled disabled test\n"
		"4:19: width '4' 1x 2x 4x 8x 12x\n"
		"4:21: speed 'edr' SDR DDR QDR FDR EDR HDR NDR XDR\n");
}
END_TEST

START_TEST(test_remote_wrong_all_reported)
{
	ASSERT_REFUSED(
		"leaf,1,enabled,node_guid=2;guid=0x1;port=0;port=1;vendor=0x1000000\n"
		"leaf,2,enabled,name;name=x;port_guid=\n"
		"leaf,3,enabled,name=\n",
		"2:16: node_guid 2: a GUID is 0x and 1 to 16 hexadecimal digits, not "
		"all 0\n"
		"2:16: remote: no key 'guid'; allowed are port_guid=, node_guid=, "
		"name=, vendor=, port=\n"
		"2:16: the remote port 0: allowed are 1 to 254\n"
		"2:16: remote: 'port' is there twice\n"
		"2:16: vendor=0x1000000: a vendor id is 0x and 1 to 6 hexadecimal "
		"digits, not all 0\n"
		"3:16: remote: 'name' needs '=' and a value\n"
		"3:16: remote: 'name' is there twice\n"
		"3:16: port_guid : a GUID is 0x and 1 to 16 hexadecimal digits, not "
		"all 0\n"
		"4:16: name= has no name behind it\n");
}
END_TEST

START_TEST(test_check_wrong_or_without_test_refused)
{
	ASSERT_REFUSED("leaf,1,disabled,,,,ping\n"
		       "leaf,2,enabled,,,,name=x\n"
		       "leaf,3,test,,,,ping=1;pong;ping;name=a;name=b\n",
		"2:20: check test disabled\n"
		"3:19: check test enabled\n"
		"4:16: check 'ping'\n"
		"4:16: check 'pong' name= ping\n"
		"4:16: check 'ping' twice\n"
		"4:16: check 'name' twice\n");
}
END_TEST

START_TEST(test_same_port_twice_reported_with_first_line)
{
	ASSERT_REFUSED("leaf,1,enabled\n0x01,1,test\n\nleaf,2,enabled\n"
		       "\"leaf\",01,disabled\n0x1,1,test\nleaf,1,enabled\n",
		"6: same line 2\n"
		"7: same line 3\n"
		"8: same line 2\n");
}
END_TEST

START_TEST(test_name_not_text_or_long_refused)
{
	ASSERT_PARSED("generation 1\n" NAME_64 ",1,test,name=" NAME_64 "\n");
	ck_assert_str_eq(text_of(expected->ports[0].remote.name), NAME_64);
	triad_expected_free(expected);
	ASSERT_REFUSED(NAME_64 "x,1,test,name=" NAME_64 "x\n"
			       "a\tb,2,test,,,,name=c\td\n"
			       "\xc3\x28,3,test\n"
			       "leaf\x1b[2J,4,test\n",
		"2:1: name abcdefghijklmnopqrstuvwxyzabcdefghijklmn... 64\n"
		"2:74: pattern abcdefghijklmnopqrstuvwxyzabcdefghijklmn... 64\n"
		"3:1: a\tb\n"
		"3:15: c\td\n"
		"4:1: 0xc3 UTF-8\n"
		"5:5: 0x1b UTF-8\n");
}
END_TEST

/* A line of 'n' octets in total. */
static char *line_of(size_t n)
{
	GString *text = g_string_new("generation 1\nleaf,1,enabled,,,,,");

	while (text->len < n + strlen("generation 1\n"))
		g_string_append_c(text, 'x');
	g_string_append(text, "\nleaf,300,test\n");
	return g_string_free(text, FALSE);
}

START_TEST(test_line_too_long_reported_and_next_one_read)
{
	char *text = line_of(TRIAD_EXPECTED_MAX_LINE + 1);

	ck_assert_int_eq(parse(text), EINVAL);
	assert_mentions(all_diags(),
		"2: 4096\n"
		"3:6: port 300 1 254\n");
	g_free(text);
	text = line_of(TRIAD_EXPECTED_MAX_LINE);
	ck_assert_int_eq(parse(text), EINVAL);
	assert_mentions(all_diags(), "3:6: port 300 1 254\n");
	g_free(text);
}
END_TEST

START_TEST(test_nul_octet_reported_and_rest_read)
{
	static const char text[] = "generation 1\nle\0af,1,\0on\nx,0,test";

	ck_assert_int_eq(parse_octets(text, sizeof(text) - 1), EINVAL);
	assert_mentions(all_diags(),
		"2:3: 0 text\n"
		"2:9: state '?on' enabled disabled test\n"
		"3:3: port 0 1 254\n");
}
END_TEST

/* --- both ends of a link ----------------------------------------------- */

START_TEST(test_link_disabled_at_one_end_refused)
{
	ASSERT_REFUSED("0x1,1,test,node_guid=0x2;port=2\n0x2,2,disabled\n",
		"2: 0x0000000000000001 port 1: 0x0000000000000002 port 2 disabled line 3\n");
	ASSERT_PARSED("generation 1\n"
		      "0x1,1,disabled,node_guid=0x2;port=2\n0x2,2,disabled\n"
		      "0x1,2,disabled,node_guid=0x2;port=3\n0x2,3,enabled\n");
	triad_expected_free(expected);
}
END_TEST

START_TEST(test_link_that_leads_elsewhere_refused)
{
	ASSERT_REFUSED("a,1,enabled,name=b;port=2\nb,2,enabled,name=c;port=1\n"
		       "d,1,enabled,name=e;port=2\ne,2,enabled,port=3\n"
		       "f,1,enabled,name=f;port=2\nf,2,enabled,name=f;port=3\n",
		"2: a port 1: b port 2 line 3 name=c;port=1\n"
		"4: d port 1: e port 2 line 5 port=3\n"
		"6: f port 1: f port 2 line 7 name=f;port=3\n");
}
END_TEST

/* Only with a fabric can Triad decide whether a GUID and a name are of the same
 * node. */
START_TEST(test_link_named_in_two_ways_accepted)
{
	ASSERT_PARSED("generation 1\n"
		      "a,1,enabled,node_guid=0x2;port=2\n"
		      "0x2,2,enabled,name=a;port=1\n"
		      "0x2,3,enabled,node_guid=0x7;port=2\n"
		      "b,1,enabled,name=c*;port=9\n"
		      "c*,9,disabled\n");
	triad_expected_free(expected);
}
END_TEST

START_TEST(test_plug_that_leads_back_accepted)
{
	ASSERT_PARSED("generation 1\nf,1,test,name=f;port=1\n");
	triad_expected_free(expected);
}
END_TEST

/* --- caps -------------------------------------------------------------- */

START_TEST(test_ten_million_lines_refused_with_mistakes_before)
{
	static const char head[] = "generation 1\nleaf,0,enabled\n";
	const size_t n_lines = 10000000, head_size = strlen(head);
	char *text = malloc(head_size + 2 * n_lines);

	ck_assert_ptr_nonnull(text);
	memcpy(text, head, head_size);
	for (size_t i = 0; i < n_lines; i++)
		memcpy(text + head_size + 2 * i, "#\n", 2);
	ck_assert_int_eq(parse_octets(text, head_size + 2 * n_lines), E2BIG);
	assert_mentions(all_diags(),
		"2000000 lines\n"
		"2:6: port 0 1 254\n");
	free(text);
}
END_TEST

START_TEST(test_too_many_ports_refused_with_mistakes_before)
{
	const unsigned n = TRIAD_EXPECTED_MAX_PORTS;
	GString *text = g_string_new("generation 1\nleaf,0,enabled\n");
	char guids[16], ports[254][16];

	for (unsigned port = 0; port < 254; port++)
		snprintf(ports[port], sizeof(ports[port]), ",%u,test\n", 1 + port);
	for (unsigned i = 0; i <= n; i++) {
		if (i % 254 == 0)
			snprintf(guids, sizeof(guids), "0x%x", 1 + i / 254);
		g_string_append(text, guids);
		g_string_append(text, ports[i % 254]);
	}
	ck_assert_int_eq(parse_octets(text->str, text->len), E2BIG);
	assert_mentions(all_diags(),
		"2:6: port 0 1 254\n"
		"1000003: 1000000 ports\n");
	g_string_free(text, TRUE);
}
END_TEST

START_TEST(test_too_many_octets_refused_with_mistakes_before)
{
	const size_t size = TRIAD_EXPECTED_MAX_OCTETS + 1;
	static const char head[] = "leaf,0,enabled\n";
	char *text = malloc(size);

	ck_assert_ptr_nonnull(text);
	memset(text, '#', size);
	memcpy(text, head, strlen(head));
	ck_assert_int_eq(parse_octets(text, size), E2BIG);
	assert_mentions(all_diags(),
		"64 MiB\n"
		"1:6: port 0 1 254\n"
		"'generation N' 1 9223372036854775808\n");
	free(text);
}
END_TEST

int main(void)
{
	TCase *cases = tcase_create("expected");

	tcase_add_test(cases, test_row_with_all_columns_read);
	tcase_add_test(cases, test_row_short_rest_empty);
	tcase_add_test(cases, test_file_with_mark_and_carriage_returns_read);
	tcase_add_test(cases, test_hash_of_octets_as_given);
	tcase_add_test(cases, test_names_of_widths_and_speeds);
	tcase_add_test(cases, test_generation_missing_wrong_late_twice_refused);
	tcase_add_test(cases, test_names_of_columns_wrong_or_late_refused);
	tcase_add_test(cases, test_quotes_and_fields_wrong_refused);
	tcase_add_test(cases, test_values_wrong_all_reported);
	tcase_add_test(cases, test_remote_wrong_all_reported);
	tcase_add_test(cases, test_check_wrong_or_without_test_refused);
	tcase_add_test(cases, test_same_port_twice_reported_with_first_line);
	tcase_add_test(cases, test_name_not_text_or_long_refused);
	tcase_add_test(cases, test_line_too_long_reported_and_next_one_read);
	tcase_add_test(cases, test_nul_octet_reported_and_rest_read);
	tcase_add_test(cases, test_link_disabled_at_one_end_refused);
	tcase_add_test(cases, test_link_that_leads_elsewhere_refused);
	tcase_add_test(cases, test_link_named_in_two_ways_accepted);
	tcase_add_test(cases, test_plug_that_leads_back_accepted);
	tcase_add_test(cases, test_ten_million_lines_refused_with_mistakes_before);
	tcase_add_test(cases, test_too_many_ports_refused_with_mistakes_before);
	tcase_add_test(cases, test_too_many_octets_refused_with_mistakes_before);
	return run_cases(cases);
}
