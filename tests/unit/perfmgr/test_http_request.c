/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "perfmgr/formats/http_request.h"

#include <string.h>

#include "tests/unit/mentions.h"

static struct triad_metrics_filter filter;
static char reason[256];

static void set_up(void)
{
	filter = (struct triad_metrics_filter){0};
	reason[0] = '\0';
}

static bool add(const char *name, const char *value)
{
	return triad_http_argument(&filter, name, value, reason, sizeof(reason));
}

/* --- arguments --------------------------------------------------------- */

START_TEST(test_argument_of_each_kind_is_taken)
{
	ck_assert(add("counter", "portxmitdata"));
	ck_assert(add("counter", "VL15Dropped"));
	ck_assert(add("type", "ca"));
	ck_assert(add("type", "router"));
	ck_assert(add("node", "0x0002c90300001234"));
	ck_assert(add("switch", "spine-*"));
	ck_assert_uint_eq(
		filter.counters, 1u << TRIAD_PORT_XMIT_DATA | 1u << TRIAD_VL15_DROPPED);
	ck_assert_uint_eq(filter.types, 1u << TRIAD_NODE_CA | 1u << TRIAD_NODE_ROUTER);
	ck_assert_uint_eq(filter.n_nodes, 2);
	ck_assert(!filter.nodes[0].is_switch);
	ck_assert_uint_eq(filter.nodes[0].guid, UINT64_C(0x0002c90300001234));
	ck_assert(filter.nodes[1].is_switch);
	ck_assert_uint_eq(filter.nodes[1].guid, 0);
	ck_assert_str_eq(filter.nodes[1].pattern, "spine-*");
}
END_TEST

static const struct {
	const char *name, *value, *words;
} mistakes[] = {
	{"counters", "PortXmitData", "no argument 'counters'"},
	{"", "", "no argument ''"},
	{"counter", "PortXmitDat", "counter 'PortXmitDat'"},
	{"counter", "", "no counter ''"},
	{"counter", NULL, "no counter ''"},
	{"type", "hca", "no type 'hca'"},
	{"type", "unknown", "no type 'unknown'"},
	{"node", "", "node ''"},
	{"node", "0x12g", "GUID"},
	{"switch", "0x0", "GUID"},
	{"switch", "a;b", "node 'a;b'"},
	{"node", "12345678901234567890123456789012345678901234567890123456789012345",
		"node"},
	{"type", "\033[31m\xff", "no type '?[31m?'"},
};

START_TEST(test_argument_mistake_is_reported)
{
	static const struct triad_metrics_filter empty;

	ck_assert(!add(mistakes[_i].name, mistakes[_i].value));
	assert_mentions(reason, mistakes[_i].words);
	ck_assert_mem_eq(&filter, &empty, sizeof(filter));
}
END_TEST

START_TEST(test_argument_nodes_beyond_eight_are_refused)
{
	for (unsigned i = 0; i < TRIAD_METRICS_MAX_NODES; i++)
		ck_assert(add("node", "*"));
	ck_assert(!add("node", "*"));
	ck_assert_ptr_nonnull(strstr(reason, "at most 8"));
	ck_assert_uint_eq(filter.n_nodes, TRIAD_METRICS_MAX_NODES);
}
END_TEST

/* --- headers ----------------------------------------------------------- */

static const struct {
	const char *accept;
	bool is_open;
} accepts[] = {
	{NULL, false},
	{"", false},
	{"*/*", false},
	{"text/plain", false},
	{"application/openmetrics-text", true},
	{"application/openmetrics-text; version=1.0.0", true},
	{"Application/OpenMetrics-Text;VERSION=\"1.0.0\" ; charset=utf-8", true},
	{"application/openmetrics-text;version=0.0.1", false},
	{"application/openmetrics-text;version=1.0.0;q=0", false},
	{"application/openmetrics-text;q=0.000", false},
	{"application/openmetrics-text;q=0.001", true},
	{"application/openmetrics-text;q=0.5,text/plain;q=0.6", false},
	{"application/openmetrics-text;q=0.6,text/plain;q=0.5", true},
	{"application/openmetrics-text;q=0.6,*/*", false},
	{"application/openmetrics-text;q=x", false},
	{"application/openmetrics-text;q=2", false},
	{"application/openmetrics-textual", false},
	{"a;b=\",application/openmetrics-text,\"", false},
	{"a;b=\"\\\",application/openmetrics-text,\"", false},
	{"a;b=\"c\",application/openmetrics-text", true},
	{",, ,application/openmetrics-text ,", true},
	/* Prometheus 2.42 */
	{"application/openmetrics-text;version=1.0.0,application/openmetrics-text;"
	 "version=0.0.1;q=0.75,text/plain;version=0.0.4;q=0.5,*/*;q=0.1",
		true},
};

START_TEST(test_format_of_accept)
{
	ck_assert_int_eq(
		triad_http_format(accepts[_i].accept) == TRIAD_EXPOSITION_OPENMETRICS,
		accepts[_i].is_open);
}
END_TEST

static const struct {
	const char *accept;
	bool takes;
} encodings[] = {
	{NULL, false},
	{"", false},
	{"gzip", true},
	{"x-gzip", true},
	{"deflate, GZIP;q=0.5", true},
	{"gzip;q=0", false},
	{"gzip;q=0, *", false},
	{"*, gzip;q=0", false},
	{"*", true},
	{"*;q=0", false},
	{"identity", false},
	{"gzipped", false},
	{"br;q=1.0, gzip ; q=0.8, *;q=0.1", true},
};

START_TEST(test_gzip_of_accept_encoding)
{
	ck_assert_int_eq(
		triad_http_takes_gzip(encodings[_i].accept), encodings[_i].takes);
}
END_TEST

static const struct {
	const char *authorization;
	bool has;
} tokens[] = {
	{NULL, false},
	{"", false},
	{"Bearer", false},
	{"Bearer ", false},
	{"Bearer correct-horse", true},
	{"bearer   correct-horse", true},
	{"Bearer correct-hors", false},
	{"Bearer correct-horsf", false},
	{"Bearer correct-horse ", false},
	{"Bearer correct-horsecorrect-horse", false},
	{"Basic correct-horse", false},
	{"correct-horse", false},
};

START_TEST(test_token_of_authorization)
{
	ck_assert_int_eq(
		triad_http_has_token(tokens[_i].authorization, "correct-horse"),
		tokens[_i].has);
	ck_assert(!triad_http_has_token(tokens[_i].authorization, ""));
}
END_TEST

/* --- hosts and ETags ----------------------------------------------------- */

static const struct {
	const char *host;
	bool is_ours;
} hosts[] = {
	{"127.0.0.1:9316", true},
	{"127.0.0.1", true},
	{"[::1]:9316", true},
	{"[2001:db8::7]", true},
	{"192.0.2.7:80", true},
	{"localhost:9316", true},
	{"LocalHost", true},
	{"sm.example:9316", true},
	{"SM2.example", true},
	{"sm.example.evil.example:9316", false},
	{"evil.example", false},
	{"localhost.evil.example", false},
	{"127.0.0.1.evil.example", false},
	{"127.0.0.1:9316:1", false},
	{"127.0.0.1:9316/", false},
	{"localhost:x", false},
	{"[::1", false},
	{"[", false},
	{"::1", false},
	{"user@localhost", false},
	{"", false},
	{":9316", false},
	{NULL, false},
};

/* Row: N11 */
START_TEST(test_host_of_others_is_not_ours)
{
	ck_assert_int_eq(
		triad_http_is_our_host(hosts[_i].host, "sm.example; sm2.example"),
		hosts[_i].is_ours);
}
END_TEST

static const struct {
	const char *if_none_match;
	bool has;
} etags[] = {
	{"\"abc\"", true},
	{"W/\"abc\"", true},
	{"\"x\", \"abc\"", true},
	{"\"x,\", W/\"y\" , \"abc\"", true},
	{"*", true},
	{"\"x\"", false},
	{"\"abcd\"", false},
	{"abc", false},
	{"\"ABC\"", false},
	{"W/", false},
	{"", false},
	{NULL, false},
};

START_TEST(test_etag_is_found_in_list)
{
	ck_assert_int_eq(
		triad_http_has_etag(etags[_i].if_none_match, "\"abc\""), etags[_i].has);
}
END_TEST

#define N(array) (int)(sizeof(array) / sizeof(array[0]))

int main(void)
{
	TCase *cases = tcase_create("http_request");

	tcase_add_checked_fixture(cases, set_up, NULL);
	tcase_add_test(cases, test_argument_of_each_kind_is_taken);
	tcase_add_loop_test(cases, test_argument_mistake_is_reported, 0, N(mistakes));
	tcase_add_test(cases, test_argument_nodes_beyond_eight_are_refused);
	tcase_add_loop_test(cases, test_format_of_accept, 0, N(accepts));
	tcase_add_loop_test(cases, test_gzip_of_accept_encoding, 0, N(encodings));
	tcase_add_loop_test(cases, test_token_of_authorization, 0, N(tokens));
	tcase_add_loop_test(cases, test_host_of_others_is_not_ours, 0, N(hosts));
	tcase_add_loop_test(cases, test_etag_is_found_in_list, 0, N(etags));
	return run_cases(cases);
}
