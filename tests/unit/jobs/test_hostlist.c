/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "jobs/hostlist.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "tests/random.h"
#include "tests/unit/mentions.h"

static struct triad_hostlist list;
static char reason[128], written[1 << 16];

static void set_up(void)
{
	written[0] = '\0';
}

static void tear_down(void)
{
	triad_hostlist_clear(&list);
}

static int parse(const char *text)
{
	triad_hostlist_clear(&list);
	return triad_hostlist_parse(&list, text, reason, sizeof(reason));
}

static void append(void *context, const char *piece)
{
	(void)context;
	ck_assert_uint_lt(strlen(written) + strlen(piece), sizeof(written));
	strcat(written, piece);
}

static const char *write_list(void)
{
	written[0] = '\0';
	triad_hostlist_write(&list, append, NULL);
	return written;
}

static const struct {
	const char *text, *written;
	unsigned n;
} valid[] = {
	{"login", "login", 1},
	{"host-1,host-2,host-3", "host-[1-3]", 3},
	{"host-[0001-0003,0007]", "host-[0001-0003,0007]", 4},
	{"host[9-11]", "host[9,10-11]", 3},
	{"host[10],host9,host11", "host[9,10-11]", 3},
	{"b2,a1,a,b1,a1", "a,a1,b[1-2]", 4},
	{"rack[1-2]n[1-2]", "rack1n[1-2],rack2n[1-2]", 4},
	{"n[1-2]-ib", "n1-ib,n2-ib", 2},
	{"x[001-002],x[1-2]", "x[1-2,001-002]", 4},
	{"a.b_c-d0", "a.b_c-d0", 1},
	{"n12345678901", "n12345678901", 1},
};

static bool has(const struct triad_hostlist *of, const char *name)
{
	return triad_hostlist_find(of, name) != UINT32_MAX;
}

/* Row: N9 */
START_TEST(test_list_is_read_sorted_and_written)
{
	ck_assert_int_eq(parse(valid[_i].text), 0);
	ck_assert_uint_eq(list.n, valid[_i].n);
	ck_assert_str_eq(write_list(), valid[_i].written);
}
END_TEST

static const struct {
	const char *text, *words;
} invalid[] = {
	{"", "column 1 name missing"},
	{"a,,b", "column 3 name missing"},
	{"a,", "column 3 name missing"},
	{"a[1-2", "column 2 ']' missing"},
	{"a[]", "column 3 number missing"},
	{"a[1-]", "column 5 number missing"},
	{"a[2-1]", "column 3 range"},
	{"a[1;2]", "column 4 number ']'"},
	{"a[1]]", "column 5 character"},
	{"a b", "column 2 character"},
	{"a[1234567890]", "column 3 9 digits"},
	{"a[1-99999999]", "more than 65536 hosts"},
	{"a[1-300]b[1-300]", "more than 65536 hosts"},
	{"a123456789012345678901234567890123456789012345678901234567890123",
		"column 64 63 octets"},
};

START_TEST(test_mistake_is_reported_with_its_column)
{
	ck_assert_int_ne(parse(invalid[_i].text), 0);
	assert_mentions(reason, invalid[_i].words);
}
END_TEST

START_TEST(test_names_are_found_in_a_sorted_list)
{
	ck_assert_int_eq(parse("n[1-20],login"), 0);
	ck_assert(has(&list, "n7"));
	ck_assert(has(&list, "login"));
	ck_assert(!has(&list, "n07"));
	ck_assert(!has(&list, "n21"));
	ck_assert(!has(&list, ""));
}
END_TEST

/* Written lists are read as the same names. */
START_TEST(test_any_names_are_written_so_that_they_are_read_again)
{
	static char names[200][TRIAD_HOSTLIST_NAME_SIZE];
	uint64_t state = (uint64_t)time(NULL) + (uint64_t)_i;
	unsigned n;

	printf("# seed %llu\n", (unsigned long long)state);
	n = 1 + random_below(&state, 199);
	for (unsigned i = 0; i < n; i++) {
		snprintf(names[i], sizeof(names[i]), "%s%0*u%s",
			random_below(&state, 2) ? "n" : "rack1-",
			1 + (int)random_below(&state, 3), random_below(&state, 30),
			random_below(&state, 5) ? "" : "x");
		ck_assert_int_eq(triad_hostlist_add(&list, names[i]), 0);
	}
	triad_hostlist_sort(&list);
	write_list();
	ck_assert_int_eq(parse(written), 0);
	for (unsigned i = 0; i < n; i++)
		ck_assert_msg(has(&list, names[i]), "%s in %s", names[i], written);
	ck_assert_uint_le(list.n, n);
	for (uint32_t i = 1; i < list.n; i++)
		ck_assert_int_lt(
			triad_hostlist_compare(list.names[i - 1], list.names[i]), 0);
}
END_TEST

int main(void)
{
	TCase *cases = tcase_create("hostlist");

	tcase_add_checked_fixture(cases, set_up, tear_down);
	tcase_add_loop_test(cases, test_list_is_read_sorted_and_written, 0,
		sizeof(valid) / sizeof(valid[0]));
	tcase_add_loop_test(cases, test_mistake_is_reported_with_its_column, 0,
		sizeof(invalid) / sizeof(invalid[0]));
	tcase_add_test(cases, test_names_are_found_in_a_sorted_list);
	tcase_add_loop_test(
		cases, test_any_names_are_written_so_that_they_are_read_again, 0, 50);
	return run_cases(cases);
}
