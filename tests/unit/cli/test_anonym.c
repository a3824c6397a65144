/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "cli/anonym.h"

#include <arpa/inet.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/random.h"
#include "tests/unit/run.h"

static struct triad_anonym *anonym;
static GString *to;
static unsigned n_found;

static void set_up(void)
{
	anonym = triad_anonym_new();
	to = g_string_new(NULL);
	n_found = 0;
}

static void tear_down(void)
{
	triad_anonym_free(anonym);
	g_string_free(to, TRUE);
}

/* The text rewritten in pieces of that size, to be freed. */
static char *rewrite_in(const char *text, size_t piece)
{
	size_t size = strlen(text);

	g_string_truncate(to, 0);
	triad_anonym_begin(anonym);
	for (size_t at = 0; at < size; at += piece)
		triad_anonym_rewrite(anonym, text + at,
			size - at < piece ? size - at : piece, false, to);
	triad_anonym_rewrite(anonym, "", 0, true, to);
	return g_strdup(to->str);
}

static char *rewrite(const char *text)
{
	return rewrite_in(text, strlen(text) + 1);
}

/* Of several texts that say the same original in another form, what stands behind 'before'. */
static void expect_other(const char *text)
{
	g_autofree char *made_up = rewrite(text);

	ck_assert_str_ne(made_up, text);
	ck_assert_uint_eq(strlen(made_up), strlen(text));
}

static void expect_same(const char *text)
{
	g_autofree char *made_up = rewrite(text);

	ck_assert_str_eq(made_up, text);
}

static void count_found(void *context, const char *text, size_t size)
{
	(void)context;
	(void)text;
	(void)size;
	n_found++;
}

static unsigned found_in(const char *text)
{
	g_autofree char *none = NULL;

	n_found = 0;
	triad_anonym_report(anonym, count_found, NULL);
	none = rewrite(text);
	triad_anonym_report(anonym, NULL, NULL);
	return n_found;
}

/* --- names --- */

START_TEST(test_word_of_a_name_is_replaced_everywhere)
{
	g_autofree char *once = NULL, *again = NULL;

	triad_anonym_add_name(anonym, TRIAD_ANONYM_SWITCH, "leaf-01");
	triad_anonym_add_name(anonym, TRIAD_ANONYM_HOST, "login-1 mlx5_0");
	once = rewrite("leaf-01");
	ck_assert_int_eq(strncmp(once, "switch-", 7), 0);
	again = rewrite(
		"/var/LEAF-01.log leaf-01: \"leaf-01:3\" osm-leaf-01x leaf-011");
	ck_assert_ptr_null(strstr(again, "LEAF-01"));
	ck_assert_ptr_null(strstr(again, "leaf-01:"));
	ck_assert_ptr_null(strstr(again, "leaf-01\""));
	/* A letter may adjoin, another number may not. */
	ck_assert_ptr_null(strstr(again, "leaf-01x"));
	ck_assert_ptr_nonnull(strstr(again, "leaf-011"));
	ck_assert_ptr_nonnull(strstr(again, once));
}
END_TEST

START_TEST(test_names_stay_alike_or_different)
{
	g_autofree char *one = NULL, *other = NULL, *of_port = NULL;

	triad_anonym_add_name(anonym, TRIAD_ANONYM_HOST, "host-1 mlx5_0");
	triad_anonym_add_name(anonym, TRIAD_ANONYM_HOST, "host-1 mlx5_1");
	triad_anonym_add_name(anonym, TRIAD_ANONYM_HOST, "host-2 HCA-1");
	one = rewrite("host-1 mlx5_0");
	of_port = rewrite("host-1 mlx5_1");
	other = rewrite("host-2 HCA-1");
	ck_assert_int_eq(strncmp(one, of_port, strlen("host-xxxxxx ")), 0);
	ck_assert(g_str_has_suffix(of_port, " mlx5_1"));
	ck_assert(g_str_has_suffix(other, " HCA-1"));
	ck_assert_int_ne(strncmp(one, other, strlen("host-xxxxxx ")), 0);
}
END_TEST

START_TEST(test_longest_name_wins)
{
	g_autofree char *text = NULL;

	triad_anonym_add_name(anonym, TRIAD_ANONYM_HOST, "rack7");
	triad_anonym_add_name(anonym, TRIAD_ANONYM_HOST, "rack7-n2");
	text = rewrite("rack7-n2,rack7");
	ck_assert_uint_eq(strlen(text), strlen("host-xxxxxx,host-xxxxxx"));
	ck_assert_ptr_null(strstr(text, "rack7"));
}
END_TEST

START_TEST(test_everybodys_word_is_replaced_only_as_a_name)
{
	g_autofree char *json = NULL;

	triad_anonym_add_common(anonym, "node_name");
	triad_anonym_add_name(anonym, TRIAD_ANONYM_HOST, "node");
	triad_anonym_add_name(anonym, TRIAD_ANONYM_HOST, "a");
	expect_same("node a of the fabric");
	expect_same("{\"node\":1,\"type\":\"node\"}");
	json = rewrite("{\"node_name\":\"node\",\"type\":\"node\",\"end\":\"a:3\"}");
	ck_assert_ptr_null(strstr(json, "\"node_name\":\"node\""));
	ck_assert_ptr_nonnull(strstr(json, "\"type\":\"node\""));
	ck_assert_ptr_null(strstr(json, "\"a:3\""));
	ck_assert_ptr_nonnull(strstr(json, ":3\"}"));
}
END_TEST

START_TEST(test_name_ex_factory_stays)
{
	static const char name[] =
		"{\"name\":\"Mellanox Technologies Aggregation Node\"}";

	triad_anonym_add_name(
		anonym, TRIAD_ANONYM_HOST, "Mellanox Technologies Aggregation Node");
	expect_same(name);
	triad_anonym_add_name(anonym, TRIAD_ANONYM_SWITCH, "MF0;leafa7:MQM9700/U1");
	expect_same("MF0; MQM9700/U1");
	ck_assert_uint_eq(found_in("MF0;leafa7:MQM9700/U1"), 1);
}
END_TEST

START_TEST(test_serial_keeps_its_shape)
{
	g_autofree char *serial = NULL;

	triad_anonym_add_name(anonym, TRIAD_ANONYM_SERIAL, "MT2101VS00001");
	serial = rewrite("MT2101VS00001");
	ck_assert_str_ne(serial, "MT2101VS00001");
	for (size_t i = 0; serial[i]; i++)
		ck_assert_int_eq(g_ascii_isdigit(serial[i]),
			g_ascii_isdigit("MT2101VS00001"[i]));
}
END_TEST

START_TEST(test_word_within_a_number_stays)
{
	triad_anonym_add_name(anonym, TRIAD_ANONYM_HOST, "c17");
	triad_anonym_add_name(anonym, TRIAD_ANONYM_HOST, "17c");
	expect_same("0x1c17 0x12c17 0x0001c17c : 003");
	ck_assert_uint_eq(found_in("\"one line\\nc17\\tc17\\\\nc17\""), 2);
}
END_TEST

/* --- numbers --- */

/* The hexadecimal digits, without colons; all of them of an address of IPv6. */
static void append_digits(const char *text, GString *digits)
{
	unsigned char octets[16];

	if (inet_pton(AF_INET6, text, octets) == 1 && strstr(text, "::")) {
		for (unsigned i = 0; i < sizeof(octets); i++)
			g_string_append_printf(digits, "%02x", octets[i]);
		return;
	}
	for (; *text; text++)
		if (*text != ':')
			g_string_append_c(digits, g_ascii_tolower(*text));
}

/* All forms of one GUID become forms of one other. */
START_TEST(test_guid_is_the_same_in_each_form)
{
	static const char *const forms[] = {"0x0002c9030011aa21", "0x2c9030011aa21",
		"0002c9030011aa21", "0002C9030011AA21", "00:02:c9:03:00:11:aa:21",
		"0002:c903:0011:aa21", "fe80:0000:0000:0000:0002:c903:0011:aa21",
		"fe80::2:c903:11:aa21", "783964676663841"};
	g_autofree char *first = NULL;

	triad_anonym_add_guid(anonym, 0x0002c9030011aa21);
	first = rewrite(forms[0]);
	ck_assert_int_eq(strncmp(first, "0xacde48", 8), 0);
	ck_assert_str_eq(first + 16, "21");
	for (size_t i = 0; i < G_N_ELEMENTS(forms) - 1; i++) {
		g_autofree char *made_up = rewrite(forms[i]);
		g_autoptr(GString) digits = g_string_new(NULL);

		append_digits(made_up, digits);
		ck_assert_msg(g_str_has_suffix(digits->str, first + 2), "%s became %s",
			forms[i], made_up);
		ck_assert_uint_eq(found_in(forms[i]), 1);
		ck_assert_uint_eq(found_in(made_up), 0);
	}
	expect_other(forms[6]);
	ck_assert_uint_eq(found_in(forms[8]), 1);
	expect_same("783964676663842");
}
END_TEST

START_TEST(test_ports_keep_their_distance_from_the_node)
{
	g_autofree char *node = rewrite("0x0002c9030011aa20");
	g_autofree char *port = rewrite("0x0002c9030011aa21");
	g_autofree char *other = rewrite("0x0002c9030011ab20");

	ck_assert_int_eq(strncmp(node, port, 16), 0);
	ck_assert_int_ne(strncmp(node, other, 16), 0);
}
END_TEST

START_TEST(test_address_is_replaced)
{
	expect_other("0c:42:a1:11:22:33");
	ck_assert_uint_eq(found_in("peer 10.20.30.40:4711"), 1);
	ck_assert_uint_eq(found_in("80:00:00:48:fe:80:00:00:00:00:00:00:00:02:c9:03:00:"
				   "11:22:33"),
		1);
	ck_assert_uint_eq(found_in("2a02:8071::1:2"), 1);
	ck_assert_uint_eq(found_in("ff12:601b:ffff::1:ff11:2233"), 1);
}
END_TEST

START_TEST(test_address_of_nobody_stays)
{
	static const char *const texts[] = {"127.0.0.1", "0.0.0.0", "255.255.255.255",
		"224.0.0.1", "3.3.24", "Nov 29 22:37:48 035451", "::1",
		"::", "fe80::", "2026-11-29T22:37:48.446Z", "ff12:401b:ffff::ffff:ffff",
		"00:00:00:00:00:00", "ff:ff:ff:ff:ff:ff", "0x0000000000000000",
		"0xffffffffffffffff", "0xfe80000000000000", "0x0000000000010083",
		"0x0001 : 003  : 00   : yes", "1764454189123456", "leaf-01:3",
		"std::string", "0xacde480011223344"};

	for (size_t i = 0; i < G_N_ELEMENTS(texts); i++) {
		expect_same(texts[i]);
		ck_assert_uint_eq(found_in(texts[i]), 0);
	}
}
END_TEST

START_TEST(test_small_guid_is_replaced_if_it_is_known)
{
	g_autofree char *text = NULL;

	expect_same("0x0000000000200001");
	triad_anonym_add_guid(anonym, 0x200001);
	text = rewrite("0x0000000000200001 0x200001 0x00200002");
	ck_assert_ptr_null(strstr(text, "200001"));
	ck_assert_ptr_nonnull(strstr(text, "0x00200002"));
}
END_TEST

/* --- pieces --- */

START_TEST(test_pieces_of_any_size_give_the_same)
{
	g_autoptr(GString) text = g_string_new("leaf-01 0x0002c9030011aa21");
	g_autofree char *whole = NULL;

	triad_anonym_add_name(anonym, TRIAD_ANONYM_SWITCH, "leaf-01");
	for (unsigned i = 0; i < 100; i++)
		g_string_append_printf(text,
			",{\"n\":%u,\"at\":\"leaf-01:%u\","
			"\"guid\":\"0x0002c9030011aa%02x\",\"ip\":\"10.1.2.%u\"}\n",
			i, i, i, i);
	whole = rewrite(text->str);
	ck_assert_ptr_null(strstr(whole, "leaf-01"));
	ck_assert_ptr_null(strstr(whole, "2c903"));
	for (size_t piece = 1; piece < 700; piece += 7) {
		g_autofree char *pieces = rewrite_in(text->str, piece);

		ck_assert_str_eq(pieces, whole);
	}
}
END_TEST

/* Texts of what names, numbers and punctuation there are, in any order. */
static void append_random(GString *text, uint64_t *seed)
{
	static const char *const parts[] = {"leaf-01", "Rack7", "rack7-n2", "a", "node",
		"MT2101VS00001", "0x", "0x0002c9030011aa21", "0002c9030011aa21",
		"fe80::", "2:c903:11:aa21", "10.1.2.3", "0c:42:a1:11:22:33", ":",
		"::", "-", "_", ".", ",", " ", "\n", "\"", "\":", "{\"name\":\"", "\\",
		"7", "ff", "x", "\xc3\xa4", "783964676663841",
		"ff12:601b:ffff::1:ff11:2233", "/"};

	for (unsigned n = 1 + (unsigned)(random_next(seed) % 30); n; n--)
		g_string_append(text, parts[random_next(seed) % G_N_ELEMENTS(parts)]);
}

START_TEST(test_nothing_is_found_in_what_was_rewritten)
{
	uint64_t seed = 7;

	triad_anonym_add_name(anonym, TRIAD_ANONYM_SWITCH, "leaf-01");
	triad_anonym_add_name(anonym, TRIAD_ANONYM_HOST, "rack7");
	triad_anonym_add_name(anonym, TRIAD_ANONYM_HOST, "rack7-n2");
	triad_anonym_add_name(anonym, TRIAD_ANONYM_HOST, "a");
	triad_anonym_add_name(anonym, TRIAD_ANONYM_HOST, "node");
	triad_anonym_add_name(anonym, TRIAD_ANONYM_SERIAL, "MT2101VS00001");
	triad_anonym_add_guid(anonym, 0x0002c9030011aa21);
	for (unsigned i = 0; i < 20000; i++) {
		g_autoptr(GString) text = g_string_new(NULL);
		g_autofree char *once = NULL, *pieces = NULL;

		append_random(text, &seed);
		once = rewrite(text->str);
		pieces = rewrite_in(text->str, 1 + random_next(&seed) % 9);
		ck_assert_str_eq(once, pieces);
		ck_assert_msg(!found_in(once), "'%s' became '%s'", text->str, once);
	}
}
END_TEST

START_TEST(test_first_word_of_a_host_is_its_name)
{
	triad_anonym_add_name(anonym, TRIAD_ANONYM_HOST, "ib17 HCA-1");
	triad_anonym_add_name(anonym, TRIAD_ANONYM_HOST, "4711 mlx5_0");
	triad_anonym_add_name(
		anonym, TRIAD_ANONYM_HOST, "MT4123 ConnectX6 Mellanox Technologies");
	ck_assert_uint_eq(found_in("link of ib17:1"), 1);
	ck_assert_uint_eq(found_in("{\"node_name\":\"4711 mlx5_0\"}"), 1);
	ck_assert_uint_eq(found_in("MT4123 has 4711 errors at HCA-1"), 0);
}
END_TEST

static int order_swapped(const void *a, const void *b)
{
	uint64_t one = GUINT64_SWAP_LE_BE(*(const uint64_t *)a),
		 other = GUINT64_SWAP_LE_BE(*(const uint64_t *)b);

	return (one > other) - (one < other);
}

/* That of OpenSM's maps on the machines that it runs on. */
START_TEST(test_known_guids_stay_in_their_order)
{
	uint64_t seed = 7, guids[500], before = 0;

	for (unsigned i = 0; i < 500; i++) {
		guids[i] = random_next(&seed) >> (i % 3 * 20);
		/* Nodes and ports of a device are neighbours. */
		if (i % 5)
			guids[i] = guids[i - 1] + i % 2 * 64;
		triad_anonym_add_guid(anonym, guids[i]);
	}
	qsort(guids, 500, sizeof(guids[0]), order_swapped);
	for (unsigned i = 1; i < 500; i++) {
		g_autofree char *made_up = NULL;
		uint64_t swapped;
		char text[32];

		if (guids[i] == guids[i - 1])
			continue;
		snprintf(text, sizeof(text), "0x%016" PRIx64, guids[i]);
		made_up = rewrite(text);
		ck_assert_str_ne(made_up, text);
		swapped = GUINT64_SWAP_LE_BE(g_ascii_strtoull(made_up, NULL, 16));
		ck_assert_uint_gt(swapped, before);
		before = swapped;
	}
}
END_TEST

int main(void)
{
	TCase *cases = tcase_create("anonym");

	tcase_add_checked_fixture(cases, set_up, tear_down);
	tcase_add_test(cases, test_word_of_a_name_is_replaced_everywhere);
	tcase_add_test(cases, test_names_stay_alike_or_different);
	tcase_add_test(cases, test_longest_name_wins);
	tcase_add_test(cases, test_everybodys_word_is_replaced_only_as_a_name);
	tcase_add_test(cases, test_name_ex_factory_stays);
	tcase_add_test(cases, test_word_within_a_number_stays);
	tcase_add_test(cases, test_serial_keeps_its_shape);
	tcase_add_test(cases, test_guid_is_the_same_in_each_form);
	tcase_add_test(cases, test_ports_keep_their_distance_from_the_node);
	tcase_add_test(cases, test_address_is_replaced);
	tcase_add_test(cases, test_address_of_nobody_stays);
	tcase_add_test(cases, test_small_guid_is_replaced_if_it_is_known);
	tcase_add_test(cases, test_first_word_of_a_host_is_its_name);
	tcase_add_test(cases, test_known_guids_stay_in_their_order);
	tcase_add_test(cases, test_pieces_of_any_size_give_the_same);
	tcase_add_test(cases, test_nothing_is_found_in_what_was_rewritten);
	return run_cases(cases);
}
