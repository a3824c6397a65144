/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "collect/detail_message.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "tests/random.h"
#include "tests/unit/run.h"

#define SIZE 65536u

static const struct triad_collect_head head = {
	.kind = TRIAD_COLLECT_DETAILS, .sender = 0x1234, .incarnation = 7};
static uint8_t octets[SIZE];
static uint64_t seed, state;

static uint32_t any_of(uint64_t n)
{
	return (uint32_t)(random_next(&state) % n);
}

static void fill(struct triad_detail_entries *entries, uint64_t guid, uint8_t port)
{
	memset(entries, 0, sizeof(*entries));
	entries->node_guid = guid;
	entries->port = port;
	entries->zeroed_s = any_of(2) ? any_of(100000) : 0;
	for (unsigned a = TRIAD_PMA_FIRST_DETAIL; a < TRIAD_PMA_N_ATTRIBUTES; a++) {
		unsigned n = entries->n, n_slots = triad_detail_n_slots(a);
		bool is_zero = any_of(3) == 0;

		if (any_of(2))
			continue;
		entries->attribute[n] = a;
		/* A row has only one age for all its attributes of zeros. */
		entries->age_ms[n] = is_zero ? 4711 : random_next(&state) >> 20;
		for (unsigned i = 0; i < n_slots && !is_zero; i++) {
			uint64_t most = triad_detail_max(triad_detail_field(a, i));

			entries->report[n].raw[i] = any_of(3) ? any_of(most + 1) : 0;
			entries->report[n].base[i] =
				any_of(3) ? 0 : random_next(&state);
			entries->report[n].n_own_resets = any_of(9);
			entries->report[n].n_others_resets = any_of(9);
		}
		entries->n++;
	}
}

static bool is_all_zero(const struct triad_details_report *report)
{
	static const struct triad_details_report zero;

	return !memcmp(report->raw, zero.raw, sizeof(zero.raw)) &&
		!memcmp(report->base, zero.base, sizeof(zero.base));
}

/* Compares the entry that was read with the one that was written. */
static void check_entry(const struct triad_detail_entry *entry,
	const struct triad_detail_entries *entries)
{
	unsigned i = 0;

	while (i < entries->n && entries->attribute[i] != entry->attribute)
		i++;
	ck_assert_uint_lt(i, entries->n);
	ck_assert_uint_eq(entry->node_guid, entries->node_guid);
	ck_assert_uint_eq(entry->port, entries->port);
	ck_assert_uint_eq(entry->zeroed_s, entries->zeroed_s);
	ck_assert_mem_eq(
		entry->report.raw, entries->report[i].raw, sizeof(entry->report.raw));
	ck_assert_mem_eq(entry->report.base, entries->report[i].base,
		sizeof(entry->report.base));
	if (is_all_zero(&entry->report))
		return;
	ck_assert_uint_eq(entry->age_ms, entries->age_ms[i]);
	ck_assert_uint_eq(entry->report.n_own_resets, entries->report[i].n_own_resets);
	ck_assert_uint_eq(
		entry->report.n_others_resets, entries->report[i].n_others_resets);
}

static void open_message(
	size_t size, struct triad_detail_reader *reader, struct triad_wire *body)
{
	struct triad_collect_head found;

	ck_assert_int_eq(triad_collect_get_head(octets, size, &found, body),
		TRIAD_COLLECT_HEAD_GOOD);
	ck_assert_int_eq(found.kind, TRIAD_COLLECT_DETAILS);
	triad_detail_reader_begin(reader, body);
}

/* Row: M12, N4 */
START_TEST(test_rows_of_any_values_are_read_as_written)
{
	static struct triad_detail_entries entries[40];
	struct triad_detail_writer writer;
	struct triad_detail_reader reader;
	struct triad_wire body;
	unsigned n = 0, n_read = 0;

	/* Each case runs in its own process, so its seed must differ from the
	 * others'. */
	state = seed + (uint64_t)_i;
	triad_detail_writer_begin(&writer, &head, octets, sizeof(octets));
	while (n < 40) {
		fill(&entries[n], 1000 + n / 7, (uint8_t)(n % 7));
		if (!triad_detail_writer_put(&writer, &entries[n]))
			break;
		n++;
	}
	ck_assert_uint_gt(n, 3);
	open_message(writer.wire.at, &reader, &body);
	for (unsigned i = 0; i < n; i++)
		for (unsigned k = 0; k < entries[i].n; k++, n_read++) {
			ck_assert_int_eq(
				triad_detail_reader_next(&reader), TRIAD_DETAIL_ENTRY);
			check_entry(&reader.entry, &entries[i]);
		}
	ck_assert_int_eq(triad_detail_reader_next(&reader), TRIAD_DETAIL_END);
	ck_assert_uint_gt(n_read, 0);
}
END_TEST

START_TEST(test_row_without_room_leaves_the_message_as_it_was)
{
	struct triad_detail_entries entries;
	struct triad_detail_writer writer;
	size_t before;

	fill(&entries, 5, 1);
	while (!entries.n)
		fill(&entries, 5, 1);
	triad_detail_writer_begin(&writer, &head, octets, TRIAD_COLLECT_HEAD_SIZE + 12);
	before = writer.wire.at;
	ck_assert(!triad_detail_writer_put(&writer, &entries));
	ck_assert_uint_eq(writer.wire.at, before);
	ck_assert_uint_eq(writer.n_rows, 0);
}
END_TEST

/* A message cut off anywhere is broken, unless the cut is between two nodes' rows. */
START_TEST(test_message_cut_anywhere_ends_without_harm)
{
	struct triad_detail_entries entries;
	struct triad_detail_writer writer;
	size_t ends[3];

	triad_detail_writer_begin(&writer, &head, octets, sizeof(octets));
	ends[0] = writer.wire.at;
	for (unsigned i = 1; i < 3; i++) {
		do
			fill(&entries, i, 1);
		while (!entries.n);
		ck_assert(triad_detail_writer_put(&writer, &entries));
		ends[i] = writer.wire.at;
	}
	for (size_t size = ends[0]; size <= ends[2]; size++) {
		uint8_t *copy =
			malloc(size); /* a sanitizer reports any read past the end */
		struct triad_detail_reader reader;
		struct triad_collect_head found;
		struct triad_wire body;
		enum triad_detail_next next;

		memcpy(copy, octets, size);
		triad_collect_get_head(copy, size, &found, &body);
		triad_detail_reader_begin(&reader, &body);
		do
			next = triad_detail_reader_next(&reader);
		while (next == TRIAD_DETAIL_ENTRY);
		ck_assert_int_eq(next,
			size == ends[0] || size == ends[1] || size == ends[2]
				? TRIAD_DETAIL_END
				: TRIAD_DETAIL_BROKEN);
		free(copy);
	}
}
END_TEST

/* A later Triad may send further attributes and slots. */
START_TEST(test_attribute_that_is_not_known_is_left_out)
{
	static const uint8_t row[] = {
		0, 0, 0, 0, 0, 0, 0, 9, 1, /* node 9, one row */
		3, 0,                      /* port 3, never zeroed */
		0, 0, 0, 0,                /* no zeros */
		0x80, 0, 0, 1 << 3,        /* the first detail, and attribute 31 */
		5, 0, 0, 1, 7, 0,          /* 5 ms ago, slot 0 is 7 */
		5, 0, 0, 0x82, 1, 8, 9, 0, /* slots 1 and 7 are 8 and 9 */
	};
	struct triad_detail_reader reader;
	struct triad_detail_writer writer;
	struct triad_wire body;

	_Static_assert(TRIAD_PMA_FIRST_DETAIL == 3, "as in the row");
	triad_detail_writer_begin(&writer, &head, octets, sizeof(octets));
	memcpy(octets + writer.wire.at, row, sizeof(row));
	open_message(writer.wire.at + sizeof(row), &reader, &body);
	ck_assert_int_eq(triad_detail_reader_next(&reader), TRIAD_DETAIL_ENTRY);
	ck_assert_int_eq(reader.entry.attribute, TRIAD_PMA_RCV_ERROR_DETAILS);
	ck_assert_uint_eq(reader.entry.report.raw[0], 7);
	ck_assert_int_eq(triad_detail_reader_next(&reader), TRIAD_DETAIL_END);
}
END_TEST

/* The value doesn't fit into the counter's 16 bits. */
START_TEST(test_value_beyond_its_counter_is_broken)
{
	struct triad_detail_entries entries = {.node_guid = 9,
		.port = 1,
		.n = 1,
		.attribute = {TRIAD_PMA_RCV_ERROR_DETAILS},
		.report = {{.raw = {0x10000}}}};
	struct triad_detail_writer writer;
	struct triad_detail_reader reader;
	struct triad_wire body;

	triad_detail_writer_begin(&writer, &head, octets, sizeof(octets));
	ck_assert(triad_detail_writer_put(&writer, &entries));
	open_message(writer.wire.at, &reader, &body);
	ck_assert_int_eq(triad_detail_reader_next(&reader), TRIAD_DETAIL_BROKEN);
}
END_TEST

int main(void)
{
	TCase *cases = tcase_create("detail_message");

	state = seed = (uint64_t)time(NULL);
	printf("# seed %llu\n", (unsigned long long)seed);
	tcase_add_loop_test(cases, test_rows_of_any_values_are_read_as_written, 0, 50);
	tcase_add_test(cases, test_row_without_room_leaves_the_message_as_it_was);
	tcase_add_test(cases, test_message_cut_anywhere_ends_without_harm);
	tcase_add_test(cases, test_attribute_that_is_not_known_is_left_out);
	tcase_add_test(cases, test_value_beyond_its_counter_is_broken);
	return run_cases(cases);
}
