/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "triad/json.h"

#include <math.h>
#include <string.h>

#include "tests/unit/run.h"

static char text[1 << 20];
static size_t used;

static bool collect(
	void *context, enum triad_frame_type type, const char *data, size_t size)
{
	memcpy(text + used, data, size);
	used += size;
	text[used] = 0;
	return true;
}

static bool refuse(
	void *context, enum triad_frame_type type, const char *data, size_t size)
{
	++*(unsigned *)context;
	return false;
}

START_TEST(test_document_nested_written)
{
	struct triad_output output;
	struct triad_json json;

	triad_output_init(&output, collect, NULL);
	triad_json_init(&json, &output);
	triad_json_object_begin(&json, NULL);
	triad_json_array_begin(&json, "a");
	triad_json_uint(&json, NULL, UINT64_MAX);
	triad_json_object_begin(&json, NULL);
	triad_json_object_end(&json);
	triad_json_bool(&json, NULL, false);
	triad_json_array_end(&json);
	triad_json_string(&json, "quote \" \\", "line\nend\x01");
	triad_json_string(&json, "none", NULL);
	triad_json_guid(&json, "guid", 0x1234);
	triad_json_guid(&json, "no guid", 0);
	triad_json_double(&json, "half", 0.5);
	triad_json_double(&json, "nan", NAN);
	triad_json_object_end(&json);
	triad_json_end(&json);
	triad_output_flush(&output);
	ck_assert_str_eq(text,
		"{\"a\":[18446744073709551615,{},false],"
		"\"quote \\\" \\\\\":\"line\\u000aend\\u0001\",\"none\":null,"
		"\"guid\":\"0x0000000000001234\",\"no guid\":null,\"half\":0.5,"
		"\"nan\":null}\n");
}
END_TEST

START_TEST(test_output_large_passed_on_whole)
{
	struct triad_output output;

	triad_output_init(&output, collect, NULL);
	for (unsigned i = 0; i < 50000; i++)
		triad_output_printf(&output, "%05u ", i);
	triad_output_flush(&output);
	ck_assert_uint_eq(used, 300000);
	ck_assert_int_eq(strncmp(text + 6 * 49999, "49999 ", 6), 0);
}
END_TEST

START_TEST(test_output_receiver_gone_stops)
{
	struct triad_output output;
	unsigned calls = 0;

	triad_output_init(&output, refuse, &calls);
	for (unsigned i = 0; i < 50000; i++)
		triad_output_printf(&output, "%05u ", i);
	triad_output_message(&output, TRIAD_FRAME_MESSAGE, "too late");
	ck_assert(output.failed);
	ck_assert_uint_eq(calls, 1);
}
END_TEST

int main(void)
{
	TCase *cases = tcase_create("json");

	tcase_add_test(cases, test_document_nested_written);
	tcase_add_test(cases, test_output_large_passed_on_whole);
	tcase_add_test(cases, test_output_receiver_gone_stops);
	return run_cases(cases);
}
