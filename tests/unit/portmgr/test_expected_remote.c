/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "portmgr/expected/remote.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tests/unit/mentions.h"

#define N_RANDOM 20000

static struct triad_diags diags;
static struct triad_expected *expected;
static struct triad_fabric *fabric;
static const char *leaf_name = "leaf-01";

/* Switch 0x200 "leaf-01": port 1 to host 0x100 "host-0007" port 1, port 2 to
 * nothing. */
static void begin(void)
{
	struct triad_fabric_builder *builder = triad_fabric_builder_new(NULL);
	struct triad_fabric_node leaf = {.guid = 0x200, .type = TRIAD_NODE_SWITCH};
	struct triad_fabric_node host = {
		.guid = 0x100, .type = TRIAD_NODE_CA, .vendor_id = 0x2c9};
	struct triad_fabric_port port = {
		.guid = 0x101, .number = 1, .state = TRIAD_PORT_ACTIVE};

	triad_fabric_builder_add_node(builder, &host, "host-0007", NULL, 0);
	triad_fabric_builder_add_port(builder, &port, 0x200, 1);
	triad_fabric_builder_add_node(builder, &leaf, leaf_name, NULL, 0);
	port.guid = 0x200;
	triad_fabric_builder_add_port(builder, &port, 0x100, 1);
	port.number = 2;
	triad_fabric_builder_add_port(builder, &port, 0, 0);
	ck_assert_int_eq(triad_fabric_build(builder, 0, &fabric), 0);
	triad_fabric_builder_free(builder);
}

static void end(void)
{
	triad_fabric_unref(fabric);
}

static enum triad_remote_match compare(
	unsigned number, const char *remote, char *why, size_t size)
{
	uint32_t port = triad_fabric_find_port(
		fabric, triad_fabric_find_node(fabric, 0x200), number);
	enum triad_remote_match match;
	char text[256];

	snprintf(text, sizeof(text), "generation 1\nleaf-01,9,enabled,%s\n", remote);
	triad_diags_init(&diags, "");
	ck_assert_int_eq(
		triad_expected_parse(text, strlen(text), &diags, &expected), 0);
	match = triad_remote_compare(
		fabric, port, expected, &expected->ports[0].remote, why, size);
	triad_expected_free(expected);
	return match;
}

/* Row: E11 */
START_TEST(test_compare_each_key_fits_or_differs)
{
	static const struct {
		const char *remote;
		enum triad_remote_match match;
	} cases[] = {
		{"", TRIAD_REMOTE_FITS},
		{"port_guid=0x101", TRIAD_REMOTE_FITS},
		{"port_guid=0x100", TRIAD_REMOTE_DIFFERS},
		{"node_guid=0x100", TRIAD_REMOTE_FITS},
		{"node_guid=0x101", TRIAD_REMOTE_DIFFERS},
		{"vendor=0x2c9", TRIAD_REMOTE_FITS},
		{"vendor=0x2c8", TRIAD_REMOTE_DIFFERS},
		{"port=1", TRIAD_REMOTE_FITS},
		{"port=2", TRIAD_REMOTE_DIFFERS},
		{"name=host-*7", TRIAD_REMOTE_FITS},
		{"name=Host-*7", TRIAD_REMOTE_NAME_DIFFERS},
		{"name=x;port=1;node_guid=0x100", TRIAD_REMOTE_NAME_DIFFERS},
		{"name=x;port=2", TRIAD_REMOTE_DIFFERS},
		{"name=host-0007;port=2", TRIAD_REMOTE_DIFFERS},
	};

	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		ck_assert_msg(compare(1, cases[i].remote, NULL, 0) == cases[i].match,
			"%s", cases[i].remote);
}
END_TEST

START_TEST(test_compare_no_far_end_reported_when_one_is_wanted)
{
	char why[256] = "x";

	ck_assert_int_eq(compare(2, "", why, sizeof(why)), TRIAD_REMOTE_FITS);
	ck_assert_str_eq(why, "");
	ck_assert_int_eq(compare(2, "name=*", why, sizeof(why)), TRIAD_REMOTE_NONE);
	assert_mentions(why, "leaf-01 port 2 name=*");
}
END_TEST

START_TEST(test_compare_reports_found_and_expected)
{
	char why[256], small[12];

	compare(1, "port=2;node_guid=0x9;vendor=0x8;port_guid=0x7;name=h*", why,
		sizeof(why));
	assert_mentions(why,
		"leaf-01 port 1 host-0007 0x0000000000000100 port 1 0x0000000000000101 0x0002c9 port_guid=0x0000000000000007;node_guid=0x0000000000000009;name=h*;vendor=0x000008;port=2");
	ck_assert_int_eq(
		compare(1, "port=3", small, sizeof(small)), TRIAD_REMOTE_DIFFERS);
	ck_assert_str_eq(small, "leaf-01 por");
}
END_TEST

START_TEST(test_compare_names_the_switch_or_has_its_guid)
{
	static const struct {
		const char *name, *reported;
	} cases[] = {
		{"", "0x0000000000000200 port 2 leads to nothing"},
		{"x", "x port 2 leads to nothing"},
	};
	char why[256];

	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		end();
		leaf_name = cases[i].name;
		begin();
		compare(2, "name=*", why, sizeof(why));
		ck_assert_msg(strstr(why, cases[i].reported) == why, "%s", why);
	}
}
END_TEST

START_TEST(test_name_fits_patterns)
{
	ck_assert(triad_name_fits("", ""));
	ck_assert(triad_name_fits("*", ""));
	ck_assert(!triad_name_fits("?", ""));
	ck_assert(triad_name_fits("**?", "x"));
	ck_assert(triad_name_fits("a*b*c", "axbbxc"));
	ck_assert(!triad_name_fits("a*b*c", "axbbxcx"));
	ck_assert(!triad_name_fits("", "x"));
	ck_assert(triad_name_fits("host-[1]", "host-[1]"));
}
END_TEST

/* A search that backtracks to every * takes exponential time with this pattern. */
START_TEST(test_name_fits_many_stars_ends)
{
	char pattern[65], name[65];

	for (unsigned i = 0; i < 64; i++)
		pattern[i] = i % 2 ? '*' : 'a';
	memset(name, 'a', 64);
	pattern[64] = name[64] = '\0';
	pattern[62] = 'b';
	ck_assert(!triad_name_fits(pattern, name));
}
END_TEST

/* The same by simple, slow recursion. */
static bool fits_naively(const char *pattern, const char *name)
{
	if (!*pattern)
		return !*name;
	if (*pattern == '*')
		return fits_naively(pattern + 1, name) ||
			(*name && fits_naively(pattern, name + 1));
	return *name && (*pattern == '?' || *pattern == *name) &&
		fits_naively(pattern + 1, name + 1);
}

static void any_text(char *text, unsigned max, const char *letters)
{
	unsigned n = (unsigned)rand() % (max + 1);

	for (unsigned i = 0; i < n; i++)
		text[i] = letters[(size_t)rand() % strlen(letters)];
	text[n] = '\0';
}

START_TEST(test_name_fits_random_as_naive)
{
	const char *text = getenv("TRIAD_SEED");
	unsigned seed = text ? (unsigned)strtoul(text, NULL, 0) : (unsigned)time(NULL);
	char pattern[9], name[9];

	printf("# TRIAD_SEED=%u\n", seed);
	fflush(stdout);
	srand(seed);
	for (unsigned i = 0; i < N_RANDOM; i++) {
		any_text(pattern, 8, "ab*?");
		any_text(name, 8, "ab");
		ck_assert_msg(
			triad_name_fits(pattern, name) == fits_naively(pattern, name),
			"%s %s", pattern, name);
	}
}
END_TEST

int main(void)
{
	TCase *cases = tcase_create("remote");

	tcase_add_checked_fixture(cases, begin, end);
	tcase_add_test(cases, test_compare_each_key_fits_or_differs);
	tcase_add_test(cases, test_compare_no_far_end_reported_when_one_is_wanted);
	tcase_add_test(cases, test_compare_reports_found_and_expected);
	tcase_add_test(cases, test_compare_names_the_switch_or_has_its_guid);
	tcase_add_test(cases, test_name_fits_patterns);
	tcase_add_test(cases, test_name_fits_many_stars_ends);
	tcase_add_test(cases, test_name_fits_random_as_naive);
	return run_cases(cases);
}
