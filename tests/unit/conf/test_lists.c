/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "triad/lists.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "ib/counter.h"
#include "tests/unit/run.h"

static char reason[256];

#define ASSERT_REASON(word)                                                            \
	ck_assert_msg(strstr(reason, word) != NULL, "'%s' isn't in '%s'", word, reason)

START_TEST(test_list_items_trimmed_empty_ones_passed_over)
{
	const char *at = " ; a b\t;;c;d ; ";
	char item[16];

	ck_assert(triad_list_next(&at, item, sizeof(item)));
	ck_assert_str_eq(item, "a b");
	ck_assert(triad_list_next(&at, item, sizeof(item)));
	ck_assert_str_eq(item, "c");
	ck_assert(triad_list_next(&at, item, sizeof(item)));
	ck_assert_str_eq(item, "d");
	ck_assert(!triad_list_next(&at, item, sizeof(item)));
	ck_assert(!triad_list_next(&at, item, sizeof(item)));
}
END_TEST

START_TEST(test_list_item_too_long_cut)
{
	const char *at = "abcdefgh;i";
	char item[4];

	ck_assert(triad_list_next(&at, item, sizeof(item)));
	ck_assert_str_eq(item, "abc");
	ck_assert(triad_list_next(&at, item, sizeof(item)));
	ck_assert_str_eq(item, "i");
}
END_TEST

START_TEST(test_nodes_guids_checked_patterns_taken)
{
	static const char *const valid[] = {
		"", "*", "0x1; spine-*; 0X00ff", "[a-c]?x", "node with blanks mlx5_0"};
	static const char *const invalid[] = {"0x", "0x0", "a; 0xnode", "0x0002c9*"};

	for (size_t i = 0; i < 5; i++)
		ck_assert(triad_nodes_check(valid[i], reason, sizeof(reason)));
	for (size_t i = 0; i < 4; i++) {
		ck_assert(!triad_nodes_check(invalid[i], reason, sizeof(reason)));
		ASSERT_REASON("GUID");
	}
}
END_TEST

static unsigned count(const uint8_t set[32])
{
	unsigned n = 0;

	for (unsigned i = 0; i < 256; i++)
		n += triad_ports_has(set, (uint8_t)i);
	return n;
}

START_TEST(test_ports_ranges_taken)
{
	uint8_t set[32];

	ck_assert(triad_ports_parse(
		"1-4; 7; 36;200 - 254; 0", set, reason, sizeof(reason)));
	ck_assert_uint_eq(count(set), 4 + 1 + 1 + 55 + 1);
	ck_assert(triad_ports_has(set, 0) && triad_ports_has(set, 1) &&
		triad_ports_has(set, 4) && triad_ports_has(set, 254));
	ck_assert(!triad_ports_has(set, 5) && !triad_ports_has(set, 255));
	ck_assert(triad_ports_parse("3-3", set, reason, sizeof(reason)));
	ck_assert_uint_eq(count(set), 1);
}
END_TEST

START_TEST(test_ports_none_named_are_all)
{
	uint8_t set[32];

	ck_assert(triad_ports_parse(" ;", set, reason, sizeof(reason)));
	ck_assert_uint_eq(count(set), 255);
	ck_assert(!triad_ports_has(set, 255));
}
END_TEST

START_TEST(test_ports_garbage_refused)
{
	static const char *const invalid[] = {"255", "1-255", "4-1", "-4", "1-",
		"1-2-3", "a", "1,2", "+1", "1 2", "4294967297", "-"};
	uint8_t set[32];

	for (size_t i = 0; i < sizeof(invalid) / sizeof(invalid[0]); i++) {
		ck_assert_msg(
			!triad_ports_parse(invalid[i], set, reason, sizeof(reason)),
			"%s taken", invalid[i]);
		ASSERT_REASON("0 to 254");
		ASSERT_REASON(invalid[i]);
	}
}
END_TEST

START_TEST(test_counters_named_by_iba)
{
	uint32_t mask;

	ck_assert(triad_counters_parse(
		"PortXmitData; portrcvdata", &mask, reason, sizeof(reason)));
	ck_assert_uint_eq(mask, 1u << TRIAD_PORT_XMIT_DATA | 1u << TRIAD_PORT_RCV_DATA);
	ck_assert(triad_counters_parse("", &mask, reason, sizeof(reason)));
	ck_assert_uint_eq(mask, 0);
	ck_assert(!triad_counters_parse("PortXmitDate", &mask, reason, sizeof(reason)));
	ASSERT_REASON("did you mean 'PortXmitData'");
	ck_assert(!triad_counters_parse("zzz", &mask, reason, sizeof(reason)));
	ASSERT_REASON("help perf top");
}
END_TEST

static void assert_address(const char *text, unsigned default_port, const char *host,
	int family, unsigned port)
{
	struct triad_address address;
	uint8_t octets[16] = {0};

	memset(&address, 0xff, sizeof(address));
	ck_assert_msg(triad_address_parse(
			      text, default_port, &address, reason, sizeof(reason)),
		"%s", reason);
	ck_assert_int_eq(inet_pton(family, host, octets), 1);
	ck_assert_int_eq(address.family, family);
	ck_assert_mem_eq(address.octets, octets, 16);
	ck_assert_uint_eq(address.port, port);
}

START_TEST(test_address_of_both_families_taken)
{
	assert_address("127.0.0.1:9315", 0, "127.0.0.1", AF_INET, 9315);
	assert_address("[::1]:1", 0, "::1", AF_INET6, 1);
	assert_address("[2001:db8::1]:65535", 6343, "2001:db8::1", AF_INET6, 65535);
	assert_address("10.0.0.1", 6343, "10.0.0.1", AF_INET, 6343);
	assert_address("[::]", 6343, "::", AF_INET6, 6343);
}
END_TEST

START_TEST(test_address_garbage_refused)
{
	static const char *const invalid[] = {"", ":", ":1", "*:1", "localhost:1",
		"10.0.0.1:", "10.0.0.1:0", "10.0.0.1:65536", "10.0.0.1:1:2", "::1",
		"::1:9315", "[::1", "[::1]x:1", "[::1]9315", "[::1]:", "[10.0.0.1]:1",
		"10.0.0:1", "[fe80::1%eth0]:1", "10.0.0.1 :1"};
	struct triad_address address;

	for (size_t i = 0; i < sizeof(invalid) / sizeof(invalid[0]); i++) {
		ck_assert_msg(!triad_address_parse(invalid[i], 6343, &address, reason,
				      sizeof(reason)),
			"%s taken", invalid[i]);
		ASSERT_REASON("ADDRESS[:PORT]");
	}
	ck_assert(
		!triad_address_parse("10.0.0.1", 0, &address, reason, sizeof(reason)));
	ASSERT_REASON("ADDRESS:PORT");
}
END_TEST

START_TEST(test_addresses_bounded)
{
	struct triad_address addresses[2];
	size_t n;

	ck_assert(triad_addresses_parse(
		"10.0.0.1; [::1]:7", 6343, addresses, 2, &n, reason, sizeof(reason)));
	ck_assert_uint_eq(n, 2);
	ck_assert_uint_eq(addresses[0].port, 6343);
	ck_assert_uint_eq(addresses[1].port, 7);
	ck_assert(triad_addresses_parse(
		"", 6343, addresses, 2, &n, reason, sizeof(reason)));
	ck_assert_uint_eq(n, 0);
	ck_assert(!triad_addresses_parse("10.0.0.1; 10.0.0.2; 10.0.0.3", 6343,
		addresses, 2, &n, reason, sizeof(reason)));
	ASSERT_REASON("more than 2");
	ck_assert(!triad_addresses_parse(
		"10.0.0.1; x", 6343, addresses, 2, &n, reason, sizeof(reason)));
	ASSERT_REASON("'x'");
}
END_TEST

START_TEST(test_ip_without_port)
{
	struct triad_address address;

	ck_assert(triad_ip_parse("10.0.0.1", &address, reason, sizeof(reason)));
	ck_assert_int_eq(address.family, AF_INET);
	ck_assert(triad_ip_parse("::1", &address, reason, sizeof(reason)));
	ck_assert_int_eq(address.family, AF_INET6);
	ck_assert_uint_eq(address.port, 0);
	ck_assert(!triad_ip_parse("10.0.0.1:1", &address, reason, sizeof(reason)));
	ASSERT_REASON("numeric address");
}
END_TEST

static void check_mask(const char *text, const char *expected)
{
	char shown[64];

	triad_servers_mask(text, shown, sizeof(shown));
	ck_assert_str_eq(shown, expected);
}

START_TEST(test_lids_are_unicast_and_bounded)
{
	static const char *const invalid[] = {"0", "0xc000", "-1", "+1", "a", "1-2",
		"1,2", "4294967297", "0x", "1; x"};
	uint16_t lids[3];
	size_t n;

	ck_assert(triad_lids_parse(
		" 1; 0xbfff ; 49151", lids, 3, &n, reason, sizeof(reason)));
	ck_assert_uint_eq(n, 3);
	ck_assert(lids[0] == 1 && lids[1] == 0xbfff && lids[2] == 49151);
	ck_assert(triad_lids_parse("010", lids, 3, &n, reason, sizeof(reason)));
	ck_assert_uint_eq(lids[0], 10);
	ck_assert(triad_lids_parse("", lids, 3, &n, reason, sizeof(reason)) && n == 0);
	ck_assert(!triad_lids_parse("1;2;3;4", lids, 3, &n, reason, sizeof(reason)));
	for (size_t i = 0; i < sizeof(invalid) / sizeof(invalid[0]); i++)
		ck_assert_msg(!triad_lids_parse(
				      invalid[i], lids, 3, &n, reason, sizeof(reason)),
			"%s", invalid[i]);
}
END_TEST

START_TEST(test_bit_error_rate_has_bounds)
{
	static const char *const invalid[] = {
		"", "0", "1e-12", "1e-3", "-1e-8", "1e-8x", "nan", "inf", "off"};
	double ber;

	ck_assert(triad_ber_parse("1e-8", &ber, reason, sizeof(reason)));
	ck_assert(ber > .9e-8 && ber < 1.1e-8);
	for (size_t i = 0; i < sizeof(invalid) / sizeof(invalid[0]); i++)
		ck_assert_msg(
			!triad_ber_parse(invalid[i], &ber, reason, sizeof(reason)),
			"%s", invalid[i]);
}
END_TEST

START_TEST(test_servers_passwords_masked)
{
	check_mask("", "");
	check_mask("nats://h:4222; tls://h2", "nats://h:4222; tls://h2");
	check_mask("nats://u:p@h:4222", "nats://***@h:4222");
	check_mask("nats://token@h; tls://u:p@ss@h2;nats://h3",
		"nats://***@h; tls://***@h2;nats://h3");
	check_mask("nats://u:a://b@h; nats://h", "nats://***@h; nats://h");
	check_mask("who@where; name", "who@where; name");
	check_mask("nats://u:p@0123456789012345678901234567890123456789012345678901234",
		"nats://***@0123456789012345678901234567890123456789012345678901");
}
END_TEST

START_TEST(test_servers_have_a_host_and_a_port_and_a_whole_user)
{
	static const char *const good[] = {"nats://h", "tls://h:4222",
		"nats://[::1]:4222", "nats://[::1]", "nats://token@h", "nats://u:p@h:1",
		"nats://u:p@ss:w@h:65535", "nats://u:/?#@10.0.0.1:4222"};
	static const char *const bad[] = {"nats://", "nats://:4222",
		"nats://h:", "nats://h:0", "nats://h:4222x", "nats://h:65536",
		"nats://h:1:2", "nats://h/", "nats://h:4222/x", "nats://@h",
		"nats://u:@h", "nats://:p@h", "nats://u:p@", "nats://[::1",
		"nats://[]x", "nats://u:a b@h"};

	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
		ck_assert_msg(triad_servers_check(good[i], reason, sizeof(reason)),
			"%s: %s", good[i], reason);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		ck_assert_msg(!triad_servers_check(bad[i], reason, sizeof(reason)),
			"%s", bad[i]);
}
END_TEST

START_TEST(test_servers_refused_without_their_password)
{
	ck_assert(!triad_servers_check("http://u:secret@h", reason, sizeof(reason)));
	ASSERT_REASON("'@h' is no broker");
	ck_assert(!triad_servers_check("nats://u:secret@h h", reason, sizeof(reason)));
	ck_assert_ptr_null(strstr(reason, "secret"));
}
END_TEST

int main(void)
{
	TCase *cases = tcase_create("lists");

	tcase_add_test(cases, test_list_items_trimmed_empty_ones_passed_over);
	tcase_add_test(cases, test_list_item_too_long_cut);
	tcase_add_test(cases, test_nodes_guids_checked_patterns_taken);
	tcase_add_test(cases, test_ports_ranges_taken);
	tcase_add_test(cases, test_ports_none_named_are_all);
	tcase_add_test(cases, test_ports_garbage_refused);
	tcase_add_test(cases, test_counters_named_by_iba);
	tcase_add_test(cases, test_address_of_both_families_taken);
	tcase_add_test(cases, test_address_garbage_refused);
	tcase_add_test(cases, test_addresses_bounded);
	tcase_add_test(cases, test_ip_without_port);
	tcase_add_test(cases, test_lids_are_unicast_and_bounded);
	tcase_add_test(cases, test_bit_error_rate_has_bounds);
	tcase_add_test(cases, test_servers_passwords_masked);
	tcase_add_test(cases, test_servers_have_a_host_and_a_port_and_a_whole_user);
	tcase_add_test(cases, test_servers_refused_without_their_password);
	return run_cases(cases);
}
