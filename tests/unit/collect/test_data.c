/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "collect/data.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "collect/varint.h"
#include "tests/unit/run.h"

static const struct triad_collect_head head = {
	.kind = TRIAD_COLLECT_DATA, .sender = 0x1234, .incarnation = 7};
static const struct triad_collect_data data = {.number = 3,
	.clock_us = 1234567890123,
	.n_sweeps = 12,
	.n_ports = 77,
	.n_silent = 2,
	.again_from = 1,
	.again_since = 2};
static uint8_t octets[65536];

static uint64_t any(void)
{
	unsigned bits = (unsigned)rand() % 65;
	uint64_t value =
		((uint64_t)rand() << 42) ^ ((uint64_t)rand() << 21) ^ (uint64_t)rand();

	return bits == 0 ? 0 : value >> (64 - bits);
}

static void fill_row(struct triad_collect_row *row, uint64_t guid, uint8_t port)
{
	memset(row, 0, sizeof(*row));
	row->node_guid = guid;
	row->port = port;
	row->answered = rand() % 2;
	row->has_wide_errors = rand() % 2;
	row->age_ms = (uint32_t)any();
	row->zeroed_s = rand() % 2 ? (uint32_t)any() : 0;
	row->has = rand() % 2 ? TRIAD_COLLECT_USUAL
			      : (uint32_t)rand() & TRIAD_COLLECT_USUAL;
	row->findings = rand() % 2 ? (uint32_t)any() : 0;
	row->n_others_resets = rand() % 4 ? 0 : (uint32_t)any();
	row->n_own_resets = rand() % 4 ? 0 : (uint32_t)any();
	for (unsigned i = 0; i < TRIAD_N_COUNTERS; i++) {
		if (!(row->has & 1u << i))
			continue;
		row->raw[i] = any();
		row->base[i] = rand() % 3 ? 0 : any();
	}
	if (rand() % 2)
		row->raw[TRIAD_PORT_UNICAST_XMIT_PKTS] =
			row->has & 1u << TRIAD_PORT_UNICAST_XMIT_PKTS
			? row->raw[TRIAD_PORT_XMIT_PKTS] -
				row->raw[TRIAD_PORT_MULTICAST_XMIT_PKTS]
			: 0;
}

static void open_message(size_t size, struct triad_collect_data_reader *reader,
	struct triad_wire *body, struct triad_collect_data *read)
{
	struct triad_collect_head found;

	ck_assert_int_eq(triad_collect_get_head(octets, size, &found, body),
		TRIAD_COLLECT_HEAD_GOOD);
	ck_assert_uint_eq(found.sender, head.sender);
	ck_assert_uint_eq(found.incarnation, head.incarnation);
	ck_assert(triad_collect_data_open(reader, body, read));
}

/* Compares field by field, as padding has any value. */
static void check_data(const struct triad_collect_data *read)
{
	ck_assert_uint_eq(read->number, data.number);
	ck_assert_uint_eq(read->clock_us, data.clock_us);
	ck_assert_uint_eq(read->n_sweeps, data.n_sweeps);
	ck_assert_uint_eq(read->n_ports, data.n_ports);
	ck_assert_uint_eq(read->n_silent, data.n_silent);
	ck_assert_uint_eq(read->again_from, data.again_from);
	ck_assert_uint_eq(read->again_since, data.again_since);
}

static void check_row(
	const struct triad_collect_row *row, const struct triad_collect_row *expected)
{
	ck_assert_uint_eq(row->node_guid, expected->node_guid);
	ck_assert_uint_eq(row->port, expected->port);
	ck_assert_int_eq(row->answered, expected->answered);
	ck_assert_int_eq(row->has_wide_errors, expected->has_wide_errors);
	ck_assert_uint_eq(row->age_ms, expected->age_ms);
	ck_assert_uint_eq(row->zeroed_s, expected->zeroed_s);
	ck_assert_uint_eq(row->has, expected->has);
	ck_assert_uint_eq(row->findings, expected->findings);
	ck_assert_uint_eq(row->n_others_resets, expected->n_others_resets);
	ck_assert_uint_eq(row->n_own_resets, expected->n_own_resets);
	ck_assert_mem_eq(row->raw, expected->raw, sizeof(row->raw));
	ck_assert_mem_eq(row->base, expected->base, sizeof(row->base));
}

/* Row: M12 */
START_TEST(test_rows_of_all_sorts_come_back_as_they_were)
{
	enum { N = 60 };
	static struct triad_collect_row rows[N];
	struct triad_collect_data_writer writer;
	struct triad_collect_data_reader reader;
	struct triad_collect_data read;
	struct triad_collect_row row;
	struct triad_wire body;
	unsigned seed = (unsigned)time(NULL);

	srand(seed);
	printf("# seed %u\n", seed);
	for (unsigned round = 0; round < 200; round++) {
		ck_assert(triad_collect_data_begin(
			&writer, &head, &data, octets, sizeof(octets)));
		for (unsigned i = 0; i < N; i++) {
			fill_row(&rows[i], 1 + i / 7, (uint8_t)(i % 7));
			ck_assert(triad_collect_data_put(&writer, &rows[i]));
		}
		open_message(triad_collect_data_end(&writer), &reader, &body, &read);
		check_data(&read);
		for (unsigned i = 0; i < N; i++) {
			ck_assert_int_eq(triad_collect_data_next(&reader, &row),
				TRIAD_COLLECT_ROW);
			check_row(&row, &rows[i]);
		}
		ck_assert_int_eq(
			triad_collect_data_next(&reader, &row), TRIAD_COLLECT_END);
	}
}
END_TEST

/* Row: M12 */
START_TEST(test_row_without_room_is_left_whole_for_the_next_message)
{
	struct triad_collect_data_writer writer;
	struct triad_collect_data_reader reader;
	struct triad_collect_data read;
	struct triad_collect_row row;
	struct triad_wire body;
	unsigned n = 0;

	ck_assert(triad_collect_data_begin(&writer, &head, &data, octets, 700));
	fill_row(&row, 5, 1);
	row.raw[TRIAD_PORT_XMIT_DATA] = UINT64_MAX;
	while (triad_collect_data_put(&writer, &row)) {
		n++;
		row.port++;
	}
	ck_assert_uint_gt(n, 0);
	ck_assert_uint_le(triad_collect_data_end(&writer), 700);
	open_message(triad_collect_data_end(&writer), &reader, &body, &read);
	while (triad_collect_data_next(&reader, &row) == TRIAD_COLLECT_ROW)
		n--;
	ck_assert_uint_eq(n, 0);
}
END_TEST

START_TEST(test_message_cut_anywhere_is_broken_or_ends_at_a_node)
{
	struct triad_collect_data_writer writer;
	size_t size;

	ck_assert(triad_collect_data_begin(
		&writer, &head, &data, octets, sizeof(octets)));
	for (unsigned i = 0; i < 6; i++) {
		struct triad_collect_row row;

		fill_row(&row, 1 + i / 2, (uint8_t)(i % 2));
		ck_assert(triad_collect_data_put(&writer, &row));
	}
	size = triad_collect_data_end(&writer);
	for (size_t cut = TRIAD_COLLECT_HEAD_SIZE + 32; cut < size; cut++) {
		struct triad_collect_data_reader reader;
		struct triad_collect_data read;
		struct triad_collect_row row;
		struct triad_wire body;
		enum triad_collect_next next;
		unsigned n = 0;

		open_message(cut, &reader, &body, &read);
		while ((next = triad_collect_data_next(&reader, &row)) ==
			TRIAD_COLLECT_ROW)
			n++;
		ck_assert(next == TRIAD_COLLECT_BROKEN || n % 2 == 0);
		ck_assert_uint_lt(n, 6);
	}
}
END_TEST

START_TEST(test_idle_port_takes_few_octets)
{
	struct triad_collect_data_writer writer;
	struct triad_collect_row row = {
		.node_guid = 1, .answered = true, .has = TRIAD_COLLECT_USUAL};
	size_t before;

	ck_assert(triad_collect_data_begin(
		&writer, &head, &data, octets, sizeof(octets)));
	ck_assert(triad_collect_data_put(&writer, &row));
	before = triad_collect_data_end(&writer);
	row.port = 1;
	ck_assert(triad_collect_data_put(&writer, &row));
	ck_assert_uint_le(triad_collect_data_end(&writer) - before, 7);
}
END_TEST

START_TEST(test_varint_of_more_than_64_bits_fails)
{
	uint8_t eleven[11] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 2};
	struct triad_wire w;

	triad_wire_init(&w, eleven, sizeof(eleven));
	triad_varint_get(&w);
	ck_assert(w.failed);
	eleven[9] = 1;
	triad_wire_init(&w, eleven, sizeof(eleven));
	ck_assert_uint_eq(triad_varint_get(&w), UINT64_MAX);
	ck_assert(!w.failed);
}
END_TEST

int main(void)
{
	TCase *cases = tcase_create("data");

	tcase_add_test(cases, test_rows_of_all_sorts_come_back_as_they_were);
	tcase_add_test(cases, test_row_without_room_is_left_whole_for_the_next_message);
	tcase_add_test(cases, test_message_cut_anywhere_is_broken_or_ends_at_a_node);
	tcase_add_test(cases, test_idle_port_takes_few_octets);
	tcase_add_test(cases, test_varint_of_more_than_64_bits_fails);
	return run_cases(cases);
}
