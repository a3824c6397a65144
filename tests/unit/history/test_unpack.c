/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "serve/history/unpack.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collect/nats/repack.h"
#include "history/lines.h"
#include "tests/sim/fat_tree.h"
#include "tests/unit/run.h"

#define TEXT_SIZE 1000000u

static char given[TEXT_SIZE];
static unsigned n_wanted; /* lines that are still wanted */

static bool give(void *context, const char *line, size_t length)
{
	size_t n = strlen(given);

	(void)context;
	ck_assert_uint_lt(n + length + 2, sizeof(given));
	memcpy(given + n, line, length);
	memcpy(given + n + length, "\n", 2);
	return n_wanted && --n_wanted;
}

/* --- lines of an image --- */

static bool append(
	void *text, enum triad_frame_type type, const char *data, size_t size)
{
	(void)type;
	strncat(text, data, size);
	return true;
}

/* As the writer of images has them. */
static void write_fabric(const struct triad_topology_octets *octets, char *text)
{
	struct triad_history_lines lines;
	struct triad_history_out out;
	struct triad_output output;

	sprintf(text, "# triad-topology 0x%016lx %u %u\n", (unsigned long)octets->hash,
		octets->size, octets->n_octets);
	triad_output_init(&output, append, text);
	out.to = &output;
	triad_history_lines_begin(&lines, &out, "# triad-octets ");
	triad_history_lines_put(&lines, octets->octets, octets->n_octets);
	triad_history_lines_end(&lines);
	triad_output_flush(&output);
}

static char plain[TEXT_SIZE], packed[TEXT_SIZE];

static void set_up(void)
{
	struct triad_fabric *fabric = fat_tree(8);
	struct triad_topology_octets one, other;

	ck_assert_int_eq(triad_topology_encode(fabric, &one), 0);
	ck_assert_int_eq(triad_topology_pack(&one, &other), 0);
	write_fabric(&one, plain);
	write_fabric(&other, packed);
	ck_assert_uint_lt(strlen(packed), strlen(plain));
	triad_topology_octets_free(&one);
	triad_topology_octets_free(&other);
	triad_fabric_unref(fabric);
	given[0] = '\0';
	n_wanted = UINT32_MAX;
}

/* Gives the lines of 'text'; returns whether all were wanted. */
static bool put_text(struct triad_history_unpack *unpack, const char *text)
{
	bool is_wanted = true;
	size_t n;

	for (; *text && is_wanted; text += n + 1) {
		n = strcspn(text, "\n");
		is_wanted = triad_history_unpack_line(unpack, text, n);
	}
	return is_wanted;
}

static void check_given(const char *before, const char *fabric, const char *after)
{
	ck_assert_uint_eq(
		strlen(given), strlen(before) + strlen(fabric) + strlen(after));
	ck_assert(!strncmp(given, before, strlen(before)));
	ck_assert(!strncmp(given + strlen(before), fabric, strlen(fabric)));
	ck_assert_str_eq(given + strlen(before) + strlen(fabric), after);
}

START_TEST(test_packed_fabric_comes_unpacked_between_its_neighbours)
{
	const char *const fabrics[] = {plain, packed};

	for (unsigned i = 0; i < 2; i++) {
		struct triad_history_unpack unpack = {.give = give};

		given[0] = '\0';
		ck_assert(put_text(&unpack, "# triad-image version=1\n"));
		ck_assert(put_text(&unpack, fabrics[i]));
		ck_assert(put_text(&unpack, "# triad-routes 0x1,0x2\n1,2,3\n"));
		ck_assert(triad_history_unpack_end(&unpack));
		check_given("# triad-image version=1\n", plain,
			"# triad-routes 0x1,0x2\n1,2,3\n");
	}
}
END_TEST

/* It says what is wrong where the image is put together. */
START_TEST(test_fabric_that_is_cut_off_or_malformed_is_given_all_the_same)
{
	static const char *const after[] = {
		"", "# triad-octets xyz\n", "# triad-octets 00\n", "1,2,3\n"};

	for (unsigned i = 0; i < 4; i++) {
		struct triad_history_unpack unpack = {.give = give};
		char *last = strrchr(packed, '\n');

		given[0] = '\0';
		if (i != 2) { /* without the last digits */
			last[-2] = '\n';
			last[-1] = '\0';
		}
		ck_assert(put_text(&unpack, packed));
		ck_assert(put_text(&unpack, after[i]));
		ck_assert(triad_history_unpack_end(&unpack));
		ck_assert_ptr_null(unpack.packed.octets);
		ck_assert(!strncmp(given, "# triad-topology ", 17));
		ck_assert_ptr_nonnull(strstr(given, "# triad-octets "));
		ck_assert_str_eq(given + strlen(given) - strlen(after[i]), after[i]);
		if (i != 2)
			memcpy(last - 2, "00\n", 4);
	}
}
END_TEST

START_TEST(test_head_alone_and_head_without_octets_are_given)
{
	struct triad_history_unpack unpack = {.give = give};

	ck_assert(put_text(&unpack, "# triad-topology 0x1 2 3\n"));
	ck_assert_str_eq(given, "");
	ck_assert(put_text(&unpack, "# triad-topology\n"));
	ck_assert_str_eq(given, "# triad-topology 0x1 2 3\n# triad-topology\n");
	ck_assert(put_text(&unpack, "row\n# triad-octets 28b52ffd\n"));
	ck_assert_str_eq(given,
		"# triad-topology 0x1 2 3\n# triad-topology\nrow\n"
		"# triad-octets 28b52ffd\n");
	ck_assert(triad_history_unpack_end(&unpack));
}
END_TEST

START_TEST(test_nothing_is_given_to_whom_no_more_wants)
{
	struct triad_history_unpack unpack = {.give = give};

	n_wanted = 2;
	ck_assert(!put_text(&unpack, packed));
	ck_assert_uint_eq(n_wanted, 0);
	ck_assert_ptr_null(unpack.packed.octets);
	ck_assert_ptr_nonnull(strchr(given, '\n'));
	ck_assert_ptr_null(strchr(strchr(strchr(given, '\n') + 1, '\n') + 1, '\n'));
}
END_TEST

int main(void)
{
	TCase *cases = tcase_create("unpack");

	tcase_add_checked_fixture(cases, set_up, NULL);
	tcase_add_test(cases, test_packed_fabric_comes_unpacked_between_its_neighbours);
	tcase_add_test(
		cases, test_fabric_that_is_cut_off_or_malformed_is_given_all_the_same);
	tcase_add_test(cases, test_head_alone_and_head_without_octets_are_given);
	tcase_add_test(cases, test_nothing_is_given_to_whom_no_more_wants);
	return run_cases(cases);
}
