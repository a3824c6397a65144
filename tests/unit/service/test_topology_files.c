/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* 'topology' in the forms of ibdiagnet's files: names of any kind, and a receiver that goes. */
#include "service/command/topology_parts.h"

#include <string.h>

#include "tests/sim/fabrics.h"
#include "tests/unit/run.h"

static char written[1 << 16];
static struct triad_output output;
static struct triad_fabric *fabric;

static bool keep_written(
	void *context, enum triad_frame_type type, const char *data, size_t size)
{
	(void)context;
	(void)type;
	strncat(written, data, size);
	return true;
}

static bool refuse(
	void *context, enum triad_frame_type type, const char *data, size_t size)
{
	(void)context;
	(void)type;
	(void)data;
	(void)size;
	++*(unsigned *)context;
	return false;
}

static void set_up(void)
{
	written[0] = '\0';
	fabric = fabric_row(3, 4);
	triad_output_init(&output, keep_written, NULL);
}

static void tear_down(void)
{
	triad_fabric_unref(fabric);
}

static void write_past(void)
{
	struct triad_past past = {0};
	struct triad_moment moment = {.past = &past};

	triad_topology_put_db_csv(fabric, &moment, &output);
	triad_output_flush(&output);
}

START_TEST(test_name_with_quotes_and_commas_is_one_value)
{
	strcpy(fabric->nodes[0].name, "a \"b\", c");
	write_past();
	ck_assert_ptr_nonnull(strstr(written, "\"a \"\"b\"\", c\","));
}
END_TEST

START_TEST(test_past_that_keeps_no_value_has_none)
{
	write_past();
	ck_assert_ptr_nonnull(strstr(written, "\n0x0000000000000200,N/A,N/A,N/A\n"));
	ck_assert_ptr_null(strstr(written, "START_CABLE_INFO"));
	ck_assert_ptr_null(strstr(written, "START_PM_INFO"));
}
END_TEST

START_TEST(test_link_is_there_once)
{
	write_past();
	ck_assert_ptr_nonnull(
		strstr(written, "\n0x0000000000000200,5,0x0000000000000201,6\n"));
	ck_assert_ptr_null(
		strstr(written, "\n0x0000000000000201,6,0x0000000000000200,5\n"));
}
END_TEST

START_TEST(test_table_that_is_not_known_is_a_comment)
{
	fabric->nodes[triad_fabric_find_node(fabric, 0x201)].lft.n = 0;
	triad_topology_put_fdbs(fabric, &output);
	triad_output_flush(&output);
	ck_assert_ptr_nonnull(strstr(written, "\n# Switch 0x0000000000000201"));
	ck_assert_ptr_null(strstr(written, "routes: Switch 0x0000000000000201"));
}
END_TEST

START_TEST(test_receiver_that_is_gone_ends_it)
{
	struct triad_past past = {0};
	struct triad_moment moment = {.past = &past};
	unsigned n = 0;

	triad_fabric_unref(fabric);
	fabric = fabric_row(30, 30);
	triad_output_init(&output, refuse, &n);
	triad_topology_put_db_csv(fabric, &moment, &output);
	triad_output_flush(&output);
	ck_assert_uint_eq(n, 1);
}
END_TEST

int main(void)
{
	TCase *cases = tcase_create("topology_files");

	tcase_add_checked_fixture(cases, set_up, tear_down);
	tcase_add_test(cases, test_name_with_quotes_and_commas_is_one_value);
	tcase_add_test(cases, test_past_that_keeps_no_value_has_none);
	tcase_add_test(cases, test_link_is_there_once);
	tcase_add_test(cases, test_table_that_is_not_known_is_a_comment);
	tcase_add_test(cases, test_receiver_that_is_gone_ends_it);
	return run_cases(cases);
}
