/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* A port's table of paths, and its file. */
#include "qos/path_rows.h"

#include <errno.h>
#include <stdlib.h>

#include "tests/unit/qos/path_fixture.h"

#define GUID(node) (UINT64_C(0x1000) * (1 + (node)) + ((node) > 1))
#define HOST 2u /* the host that the table is for */

static struct triad_path_table *table;

static void set_up(void)
{
	plan_two_switches(0);
	build();
}

static void tear_down(void)
{
	triad_path_table_unref(table);
	table = NULL;
	drop_all();
}

static int make(uint64_t guid)
{
	const struct triad_answer_snapshot snapshot = {
		.paths = paths, .classifier = classifier};

	triad_path_table_unref(table);
	table = NULL;
	return triad_path_rows_make(&snapshot, guid, &table);
}

static unsigned lid_of(unsigned node)
{
	return plan_port(plan, node, node > 1)->port.lid;
}

/* Compares the row with the answer that a client at that port gets. */
static void check_row(const struct triad_path_row *row)
{
	const struct triad_answer_snapshot snapshot = {
		.paths = paths, .classifier = classifier};
	const struct triad_path_request request = {
		.has = TRIAD_HAS_SLID | TRIAD_HAS_DLID | TRIAD_HAS_REVERSIBLE,
		.one = true,
		.reversible = true,
		.slid = table->lid,
		.dlid = row->lid};
	struct triad_path_record record;
	struct triad_answer answer = {.records = &record, .room = 1};

	triad_answer_path(&snapshot, &request, table->lid, &answer);
	ck_assert_int_eq(answer.kind, TRIAD_ANSWER_RECORDS);
	ck_assert_uint_eq(answer.n, row->has_path);
	if (!row->has_path)
		return;
	ck_assert_uint_eq(record.sl, row->sl);
	ck_assert_uint_eq(record.mtu, row->mtu);
	ck_assert_uint_eq(record.rate, row->rate);
	ck_assert_uint_eq(record.pkey, row->pkey);
}

START_TEST(test_rows_are_the_answers_of_all_lids)
{
	unsigned n_lids = 6u << _i;

	plan_two_switches((unsigned)_i);
	build();
	use_policy("port-groups\nport-group\nname: two\nport-guid: 0x3001\n"
		   "end-port-group\nport-group\nname: four\nport-guid: 0x5001\n"
		   "end-port-group\nend-port-groups\n"
		   "qos-levels\nqos-level\nname: DEFAULT\nsl: 1\nend-qos-level\n"
		   "qos-level\nname: L\nsl: 3\nend-qos-level\nend-qos-levels\n"
		   "qos-match-rules\nqos-match-rule\nsource: two\ndestination: four\n"
		   "qos-level-name: L\nend-qos-match-rule\nend-qos-match-rules\n");
	ck_assert_int_eq(make(GUID(HOST)), 0);
	ck_assert_uint_eq(table->guid, GUID(HOST));
	ck_assert_uint_eq(table->lid, lid_of(HOST));
	/* A base switch port 0 has only one LID. */
	ck_assert_uint_ge(table->n, n_lids - 2 * ((1u << _i) - 1));
	ck_assert_uint_gt(table->n_paths, 4);
	for (uint32_t i = 0; i < table->n; i++) {
		check_row(&table->rows[i]);
		ck_assert(!i || table->rows[i].lid > table->rows[i - 1].lid);
		ck_assert_ptr_eq(triad_path_table_find(table, table->rows[i].lid),
			&table->rows[i]);
	}
	ck_assert_uint_eq(triad_path_table_find(table, (uint16_t)lid_of(4))->sl, 3);
	ck_assert_uint_eq(triad_path_table_find(table, (uint16_t)lid_of(5))->sl, 1);
	ck_assert_ptr_null(triad_path_table_find(table, 0xbfff));
}
END_TEST

START_TEST(test_port_that_is_not_there_has_no_table)
{
	ck_assert_int_eq(make(0x777), ENOENT);
	ck_assert_ptr_null(triad_path_table_new(TRIAD_PATH_TABLE_MAX_ROWS + 1));
}
END_TEST

START_TEST(test_marked_port_has_no_path)
{
	triad_paths_mark_port(paths, GUID(4));
	ck_assert_int_eq(make(GUID(HOST)), 0);
	ck_assert(!triad_path_table_find(table, (uint16_t)lid_of(4))->has_path);
	ck_assert(triad_path_table_find(table, (uint16_t)lid_of(5))->has_path);
}
END_TEST

/* --- the file --- */

static char *write_text(uint32_t *n_written)
{
	size_t size = triad_path_table_text_size(table->n);
	char *text = malloc(size);

	ck_assert_uint_eq(
		triad_path_table_write(table, text, size, n_written), strlen(text));
	return text;
}

START_TEST(test_file_has_own_port_last_and_paths_behind_it)
{
	char *text, line[64];
	const char *own;
	uint32_t n;

	ck_assert_int_eq(make(GUID(HOST)), 0);
	text = write_text(&n);
	ck_assert_uint_eq(n, table->n_paths);
	snprintf(line, sizeof(line), "Channel Adapter 0x%016llx, base LID %u, LMC 0, ",
		(unsigned long long)GUID(HOST), lid_of(HOST));
	own = strstr(text, line);
	ck_assert_ptr_nonnull(own);
	ck_assert_ptr_null(strstr(own + strlen(line), "base LID"));
	ck_assert_ptr_nonnull(strstr(text, "Switch 0x0000000000001000, base LID "));
	snprintf(line, sizeof(line), "\n0x%04X : 0 : ", lid_of(4));
	ck_assert_ptr_nonnull(strstr(own, line));
	free(text);
}
END_TEST

/* In the file only base LIDs belong to a port. */
START_TEST(test_file_has_base_lids_alone)
{
	uint32_t n, n_bases = 0;
	char *text;

	plan_two_switches(2);
	build();
	ck_assert_int_eq(make(GUID(HOST)), 0);
	for (uint32_t i = 0; i < table->n; i++)
		n_bases += table->rows[i].has_path &&
			(!i || table->rows[i].guid != table->rows[i - 1].guid);
	text = write_text(&n);
	ck_assert_uint_eq(n, n_bases);
	ck_assert_uint_lt(n, table->n_paths);
	free(text);
}
END_TEST

START_TEST(test_file_leaves_out_other_partitions)
{
	uint32_t n, n_all;
	char *text;

	ck_assert_int_eq(make(GUID(HOST)), 0);
	n_all = table->n_paths;
	table->rows[0].pkey = 0x8001;
	table->rows[1].pkey = 0x7fff;
	text = write_text(&n);
	ck_assert_uint_eq(n, n_all - table->rows[0].has_path);
	free(text);
}
END_TEST

int main(void)
{
	TCase *cases = tcase_create("path_rows");

	tcase_add_checked_fixture(cases, set_up, tear_down);
	tcase_add_loop_test(cases, test_rows_are_the_answers_of_all_lids, 0, 3);
	tcase_add_test(cases, test_port_that_is_not_there_has_no_table);
	tcase_add_test(cases, test_marked_port_has_no_path);
	tcase_add_test(cases, test_file_has_own_port_last_and_paths_behind_it);
	tcase_add_test(cases, test_file_has_base_lids_alone);
	tcase_add_test(cases, test_file_leaves_out_other_partitions);
	return run_cases(cases);
}
