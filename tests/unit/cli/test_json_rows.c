/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "cli/json_rows.h"

#include <string.h>

#include "lib/text.h"
#include "tests/unit/run.h"

static char found[1024];

static void take_member(void *context, const char *name, const char *value)
{
	(void)context;
	triad_text_append(
		found, sizeof(found), "%s=%s ", name, value ? value : "(null)");
}

static void take_end(void *context)
{
	(void)context;
	triad_text_append(found, sizeof(found), "; ");
}

/* The rows of 'json', read in pieces of each size. */
static void expect(const char *json, const char *expected)
{
	for (size_t piece = 1; piece <= strlen(json); piece++) {
		struct triad_json_rows rows = {.member = take_member, .end = take_end};

		found[0] = '\0';
		for (size_t at = 0; at < strlen(json); at += piece)
			triad_json_rows_take(&rows, json + at,
				strlen(json) - at < piece ? strlen(json) - at : piece);
		ck_assert_str_eq(found, expected);
	}
}

START_TEST(test_rows_members_are_found)
{
	expect("[]", "");
	expect("[{}]", "; ");
	expect("[{\"a\":\"x\",\"b\":12,\"c\":null,\"d\":true},{\"a\":\"null\"}]",
		"a=x b=12 c=(null) d=true ; a=null ; ");
	expect(" [ { \"a\" : \"\" , \"b\" : -1.5e3 } ]\n", "a= b=-1.5e3 ; ");
}
END_TEST

START_TEST(test_rows_escapes_are_read)
{
	expect("[{\"a\":\"say \\\"x\\\" \\\\ \\u0041\"}]", "a=say \"x\" \\ A ; ");
	expect("[{\"a\":\"{[,:]}\"}]", "a={[,:]} ; ");
}
END_TEST

START_TEST(test_rows_nested_members_are_skipped)
{
	expect("[{\"a\":1,\"lanes\":[{\"lane\":1},{\"lane\":2}],\"l\":{\"x\":3},\"b\":4}]",
		"a=1 b=4 ; ");
}
END_TEST

START_TEST(test_rows_long_values_are_skipped)
{
	char json[1000] = "[{\"a\":\"", *end = json + strlen(json);

	memset(end, 'x', TRIAD_JSON_ROWS_SIZE);
	strcpy(end + TRIAD_JSON_ROWS_SIZE, "\",\"b\":1}]");
	expect(json, "b=1 ; ");
}
END_TEST

START_TEST(test_rows_of_any_depth)
{
	static const char json[] = "{\"a\":{\"b\":[\"c\",\"d\"],\"e\":1},\"f\":null}";
	struct triad_json_rows rows = {.member = take_member, .at_any_depth = true};

	found[0] = '\0';
	triad_json_rows_take(&rows, json, strlen(json));
	ck_assert_str_eq(found, "b=c b=d e=1 f=(null) ");
}
END_TEST

int main(void)
{
	TCase *cases = tcase_create("json_rows");

	tcase_add_test(cases, test_rows_members_are_found);
	tcase_add_test(cases, test_rows_escapes_are_read);
	tcase_add_test(cases, test_rows_nested_members_are_skipped);
	tcase_add_test(cases, test_rows_long_values_are_skipped);
	tcase_add_test(cases, test_rows_of_any_depth);
	return run_cases(cases);
}
