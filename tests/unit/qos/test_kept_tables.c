/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* QoS tables as a list that images keep, with random fabrics and policies. */
#include "qos/setup/kept_tables.h"

#include <errno.h>

#include "tests/random.h"
#include "tests/unit/qos/plan_fixture.h"

static struct triad_desired desired;
static struct triad_kept_list list;

static void fill(void)
{
	ck_assert_int_eq(triad_desired_resolve(&desired, setup, fabric), 0);
	ck_assert_int_eq(triad_kept_tables_fill(&list, &desired), 0);
	ck_assert_str_eq(list.why, "");
}

static void tear_down(void)
{
	triad_kept_list_clear(&list);
	drop_all();
}

/* Like ck_assert_msg(), but fast if the condition holds. */
#define NEED(condition)                                                                \
	do {                                                                           \
		if (!(condition))                                                      \
			ck_abort_msg("seed %u: %s", seed, #condition);                 \
	} while (0)

/* --- comparison of the tables read with those of the fabric --- */

struct reading {
	uint32_t port;
	unsigned in, n_tables; /* the port's in-ports and tables so far */
	uint32_t n_ports;
	bool wants_none;
};

/* Counts the tables of a port, and its in-ports separately. */
static void count_table(
	void *context, uint32_t port, const struct triad_port_table *table)
{
	(void)port;
	(void)table;
	++*(unsigned *)context;
}

static void end_port(struct reading *reading)
{
	unsigned n = 0;

	if (reading->port == TRIAD_FABRIC_NONE)
		return;
	triad_port_tables_each(&desired, reading->port, count_table, &n);
	NEED(n == reading->n_tables);
}

static bool wants(void *context, uint64_t guid, uint8_t number)
{
	struct reading *reading = context;

	end_port(reading);
	reading->port = triad_fabric_find_port(
		fabric, triad_fabric_find_node(fabric, guid), number);
	NEED(reading->port != TRIAD_FABRIC_NONE);
	reading->in = reading->n_tables = 0;
	reading->n_ports++;
	if (!reading->wants_none)
		return true;
	reading->port = TRIAD_FABRIC_NONE;
	return false;
}

/* The table to find, identified by its contents. */
struct wanted {
	const struct triad_port_table *of;
	unsigned in;
	bool is_found;
};

static void compare_table(
	void *context, uint32_t port, const struct triad_port_table *table)
{
	struct wanted *wanted = context;

	(void)port;
	if (table->table != wanted->of->table ||
		(table->table == TRIAD_SETUP_SL2VL && table->in_first != wanted->in))
		return;
	wanted->is_found = true;
	NEED(table->n == wanted->of->n);
	NEED(triad_port_table_is_same(
		table->table, table->n, &table->sm, &wanted->of->sm));
	NEED(triad_port_table_is_same(
		table->table, table->n, &table->policy, &wanted->of->policy));
}

static void take(void *context, uint64_t guid, uint8_t number,
	const struct triad_port_table *table)
{
	struct reading *reading = context;

	(void)guid;
	(void)number;
	for (unsigned in = table->in_first; in <= table->in_last; in++) {
		struct wanted wanted = {.of = table, .in = in};

		triad_port_tables_each(&desired, reading->port, compare_table, &wanted);
		NEED(wanted.is_found);
		reading->n_tables++;
	}
}

static int read_list(struct reading *reading)
{
	const struct triad_kept_tables_reader reader = {
		.context = reading, .wants = wants, .take = take};
	int error = triad_kept_tables_read(&list, &reader);

	if (!error)
		end_port(reading);
	return error;
}

static uint32_t n_ports_with_tables(void)
{
	uint32_t n_ports = 0;

	for (uint32_t i = 0; i < fabric->n_ports; i++) {
		unsigned n = 0;

		triad_port_tables_each(&desired, i, count_table, &n);
		n_ports += n != 0;
	}
	return n_ports;
}

/* Row: N10 */
START_TEST(test_tables_are_read_as_they_were)
{
	for (unsigned i = 0; i < 100; i++) {
		static struct script script;
		struct reading reading = {.port = TRIAD_FABRIC_NONE};

		srand(seed + i);
		sketch_by_chance(seed + i, i % 3 == 0);
		script.n = 0;
		say_policy(&script);
		make(i % 4 ? script.text : NULL);
		fill();
		ck_assert_int_eq(read_list(&reading), 0);
		ck_assert_uint_eq(reading.n_ports, n_ports_with_tables());
		triad_desired_clear(&desired);
	}
}
END_TEST

START_TEST(test_ports_with_the_same_tables_share_them)
{
	struct reading reading = {.port = TRIAD_FABRIC_NONE, .wants_none = true};
	unsigned n_nodes = 0;

	sketch_two_switches();
	make(NULL);
	fill();
	ck_assert_int_eq(read_list(&reading), 0);
	for (uint32_t i = 0; i < list.n; i++)
		n_nodes += list.octets[list.rows[i].at] == 2;
	ck_assert_uint_eq(n_nodes, 6);
	/* A row per host, and two of switches. */
	ck_assert_uint_eq(list.n, n_nodes + 2);
	triad_desired_clear(&desired);
}
END_TEST

/* --- damaged lists --- */

static bool wants_any(void *context, uint64_t guid, uint8_t number)
{
	(void)context;
	(void)guid;
	(void)number;
	return true;
}

/* Reads all octets of a table: they must be within the list. */
static void look(void *context, uint64_t guid, uint8_t number,
	const struct triad_port_table *table)
{
	(void)guid;
	(void)number;
	NEED(table->table < TRIAD_SETUP_N_TABLES);
	NEED(table->n <= TRIAD_VLARB_MAX);
	++*(uint64_t *)context;
}

START_TEST(test_octets_that_are_others_do_no_harm)
{
	uint64_t chance = seed, n_tables = 0;
	const struct triad_kept_tables_reader reader = {
		.context = &n_tables, .wants = wants_any, .take = look};
	unsigned n_refused = 0;

	sketch_two_switches();
	make(NULL);
	for (unsigned i = 0; i < 1000; i++) {
		fill();
		for (unsigned k = 0; k < 3; k++)
			list.octets[random_next(&chance) % list.n_octets] =
				(uint8_t)random_next(&chance);
		n_refused += triad_kept_tables_read(&list, &reader) == EPROTO;
		triad_desired_clear(&desired);
	}
	ck_assert_uint_gt(n_refused, 0);
	ck_assert_uint_gt(n_tables, 0);
}
END_TEST

int main(void)
{
	TCase *cases = tcase_create("kept_tables");

	tcase_add_checked_fixture(cases, set_up, tear_down);
	tcase_add_test(cases, test_tables_are_read_as_they_were);
	tcase_add_test(cases, test_ports_with_the_same_tables_share_them);
	tcase_add_test(cases, test_octets_that_are_others_do_no_harm);
	return run_cases(cases);
}
