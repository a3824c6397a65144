/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Histograms of all scopes and of port groups, through a collector on simulated agents,
 * compared with rates that the test computes. */
#include "perfmgr/watch/histograms.h"

#include <errno.h>

#include "tests/unit/perfmgr/fixture.h"
#include "tests/unit/scarce_memory.h"

static struct triad_conf *conf;

static void configure(void)
{
	ck_assert_int_eq(triad_collector_configure(collector, conf), 0);
}

static void add_group(const char *name, const char *nodes, const char *ports)
{
	struct triad_conf_group *group = &conf->groups[conf->n_groups];
	unsigned scope = TRIAD_CONF_N_TYPES + conf->n_groups++;

	*group = (struct triad_conf_group){0};
	strcpy(group->name, name);
	strcpy(group->nodes, nodes);
	strcpy(group->ports, ports);
	for (unsigned i = 0; i < TRIAD_N_COUNTERS; i++)
		conf->thresholds[scope].counter[i].unit = TRIAD_THRESHOLD_INHERIT;
}

static void set_up_histograms(void)
{
	fixture_sink = NULL;
	set_up();
	triad_conf_unref(conf);
	conf = triad_conf_new(1);
	configure();
	sweep(1);
}

struct result {
	int error;
	uint64_t n_zeros, n;
	double median; /* per second */
};

static struct result ask(struct triad_histograms_scope scope, unsigned counter)
{
	struct triad_histogram histogram;
	struct result result;

	result.error = triad_watch_histogram(triad_collector_watch(collector), &scope,
		counter, &histogram, &result.n_zeros);
	result.n = triad_histogram_count(&histogram);
	result.median = triad_histogram_quantile(&histogram, 0, 0.5) /
		TRIAD_HISTOGRAM_STEPS_PER_UNIT;
	triad_histogram_clear(&histogram);
	return result;
}

static const struct triad_histograms_scope all = {.of = TRIAD_HISTOGRAMS_OF_ALL};

static struct triad_histograms_scope node(uint64_t guid)
{
	return (struct triad_histograms_scope){
		.of = TRIAD_HISTOGRAMS_OF_NODE, .node_guid = guid};
}

static struct triad_histograms_scope port(uint64_t guid, unsigned number)
{
	return (struct triad_histograms_scope){
		.of = TRIAD_HISTOGRAMS_OF_PORT, .node_guid = guid, .port = number};
}

static struct triad_histograms_scope group(unsigned index)
{
	return (struct triad_histograms_scope){
		.of = TRIAD_HISTOGRAMS_OF_GROUP, .group = index};
}

static void send_words(uint64_t guid, unsigned number, uint64_t words)
{
	agents->raw[find_port(guid, number)][TRIAD_PORT_XMIT_DATA] += words;
}

START_TEST(test_first_sweep_is_no_sample)
{
	struct result result = ask(all, TRIAD_PORT_XMIT_DATA);

	ck_assert_int_eq(result.error, 0);
	ck_assert_uint_eq(result.n + result.n_zeros, 0);
}
END_TEST

/* Row: M8, M9, A10 */
START_TEST(test_rates_are_in_all_node_and_port)
{
	struct result result;

	for (unsigned i = 0; i < 5; i++) {
		send_words(0x201, 3, 1000000); /* in 10 s */
		sweep(1);
	}
	result = ask(all, TRIAD_PORT_XMIT_DATA);
	ck_assert_uint_eq(result.n, 5);
	ck_assert_uint_eq(result.n_zeros, 5 * (n_ports_with_pma() - 1));
	ck_assert_double_eq_tol(result.median, 100000, 12500);
	result = ask(node(0x201), TRIAD_PORT_XMIT_DATA);
	ck_assert_uint_eq(result.n, 5);
	ck_assert_uint_eq(result.n_zeros, 5 * 11);
	result = ask(node(0x202), TRIAD_PORT_XMIT_DATA);
	ck_assert_uint_eq(result.n, 0);
	ck_assert_uint_eq(result.n_zeros, 5 * 12);
	result = ask(port(0x201, 3), TRIAD_PORT_XMIT_DATA);
	ck_assert_uint_eq(result.n, 5);
	ck_assert_uint_eq(result.n_zeros, 0);
	ck_assert_double_eq_tol(result.median, 100000, 12500);
	ck_assert_uint_eq(ask(port(0x201, 4), TRIAD_PORT_XMIT_DATA).n_zeros, 5);
}
END_TEST

/* Row: M8, A10 */
START_TEST(test_errors_are_in_all_and_node_but_not_in_port)
{
	agents->raw[find_port(0x201, 3)][TRIAD_SYMBOL_ERROR_COUNTER] += 40;
	sweep(1);
	ck_assert_uint_eq(ask(all, TRIAD_SYMBOL_ERROR_COUNTER).n, 1);
	ck_assert_double_eq_tol(
		ask(node(0x201), TRIAD_SYMBOL_ERROR_COUNTER).median, 4, 0.6);
	ck_assert_int_eq(
		ask(port(0x201, 3), TRIAD_SYMBOL_ERROR_COUNTER).error, ENODATA);
}
END_TEST

START_TEST(test_what_is_not_there_is_reported)
{
	ck_assert_int_eq(ask(node(77), TRIAD_PORT_XMIT_DATA).error, ENOENT);
	ck_assert_int_eq(ask(port(0x201, 99), TRIAD_PORT_XMIT_DATA).error, ENOENT);
}
END_TEST

START_TEST(test_silent_port_is_no_sample)
{
	agents->silent_lid = fabric->ports[find_port(0x202, 1)].lid;
	sweep(2);
	ck_assert_uint_eq(ask(node(0x202), TRIAD_PORT_XMIT_DATA).n_zeros, 0);
	ck_assert_uint_eq(ask(node(0x201), TRIAD_PORT_XMIT_DATA).n_zeros, 2 * 12);
}
END_TEST

/* When the switch's summary shows no new errors, its ports' samples are 0. */
START_TEST(test_unchanged_errors_are_samples)
{
	set_mode(TRIAD_SWEEP_TRIAD);
	sweep(4);
	ck_assert_uint_eq(ask(node(0x202), TRIAD_SYMBOL_ERROR_COUNTER).n_zeros, 4 * 12);
}
END_TEST

/* Row: M9 */
START_TEST(test_port_counters_can_be_others)
{
	strcpy(conf->perfmgr.histogram_counters, "SymbolErrorCounter");
	configure();
	agents->raw[find_port(0x201, 3)][TRIAD_SYMBOL_ERROR_COUNTER] += 40;
	sweep(1);
	ck_assert_uint_eq(ask(port(0x201, 3), TRIAD_SYMBOL_ERROR_COUNTER).n, 1);
	ck_assert_int_eq(ask(port(0x201, 3), TRIAD_PORT_XMIT_DATA).error, ENODATA);
}
END_TEST

START_TEST(test_port_is_in_the_last_group_that_it_fits)
{
	add_group("leaves", "switch-*", "");
	add_group("uplinks", "switch-*; 0x10104", "11-12; 1");
	configure();
	sweep(1); /* the collector adopts the groups */
	for (unsigned i = 0; i < 3; i++) {
		send_words(0x201, 3, 1000);
		send_words(0x201, 11, 1000);
		send_words(0x10104, 1, 1000);
		send_words(0x10105, 1, 1000);
		sweep(1);
	}
	ck_assert_uint_eq(ask(group(0), TRIAD_PORT_XMIT_DATA).n, 3);
	ck_assert_uint_eq(ask(group(1), TRIAD_PORT_XMIT_DATA).n, 6);
	ck_assert_uint_eq(ask(all, TRIAD_PORT_XMIT_DATA).n, 12);
}
END_TEST

START_TEST(test_skipped_group_is_not_asked)
{
	struct triad_collector_status status;

	add_group("broken", "switch-2", "");
	conf->groups[0].skip = true;
	configure();
	status = sweep(1);
	ck_assert_uint_eq(status.last.n_ports, n_ports_with_pma() - 12);
	ck_assert_uint_eq(status.last.n_answered, n_ports_with_pma() - 12);
	send_words(0x202, 3, 5);
	sweep(2);
	ck_assert_uint_eq(ask(node(0x202), TRIAD_PORT_XMIT_DATA).n, 0);
	conf->n_groups = 0;
	configure();
	status = sweep(1);
	ck_assert_uint_eq(status.last.n_ports, n_ports_with_pma());
	ck_assert_uint_eq(ask(node(0x202), TRIAD_PORT_XMIT_DATA).n, 1);
}
END_TEST

/* All ports are swept each 10 s, the group each 2 s: four sweeps of the group are
 * between two of all ports. */
START_TEST(test_group_is_swept_faster)
{
	struct triad_collector_status status;
	uint64_t n_before;

	add_group("hot", "switch-1", "");
	conf->groups[0].sweep_period_s = 2;
	configure();
	n_before = sweep(1).n_group_sweeps;
	for (unsigned i = 0; i < 3; i++) {
		send_words(0x201, 3, 1000000);
		status = sweep(1);
	}
	ck_assert_uint_eq(status.n_group_sweeps - n_before, 3 * 4);
	ck_assert_uint_eq(status.last.n_ports, n_ports_with_pma());
	/* There is a sample each 2 s; the words sent in 10 s are in one of them. */
	ck_assert_uint_eq(ask(port(0x201, 3), TRIAD_PORT_XMIT_DATA).n, 3);
	ck_assert_uint_eq(ask(port(0x201, 3), TRIAD_PORT_XMIT_DATA).n_zeros, 3 * 4 + 5);
	ck_assert_double_eq_tol(
		ask(port(0x201, 3), TRIAD_PORT_XMIT_DATA).median, 500000, 62500);
	ck_assert_uint_eq(ask(node(0x202), TRIAD_PORT_XMIT_DATA).n_zeros, 4 * 12);
}
END_TEST

START_TEST(test_clear_forgets_all)
{
	send_words(0x201, 3, 1000);
	sweep(2);
	triad_watch_clear_histograms(triad_collector_watch(collector));
	ck_assert_uint_eq(ask(all, TRIAD_PORT_XMIT_DATA).n_zeros, 0);
	ck_assert_uint_eq(ask(port(0x201, 3), TRIAD_PORT_XMIT_DATA).n, 0);
	sweep(1);
	ck_assert_uint_eq(ask(all, TRIAD_PORT_XMIT_DATA).n_zeros, n_ports_with_pma());
}
END_TEST

START_TEST(test_node_that_leaves_keeps_its_histogram)
{
	struct triad_fabric *whole = triad_fabric_ref(fabric);
	uint64_t gone = 0x10103;

	send_words(gone, 1, 1000);
	sweep(1);
	change_fabric(fabric_without(whole, &gone, 1, 0, 0));
	sweep(2);
	change_fabric(whole);
	sweep(1);
	ck_assert_uint_eq(ask(node(gone), TRIAD_PORT_XMIT_DATA).n, 1);
	ck_assert_uint_eq(ask(port(gone, 1), TRIAD_PORT_XMIT_DATA).n, 1);
}
END_TEST

/* The test needs its own histograms: it can't access those of the collector. */
static struct triad_histograms *new_histograms(void)
{
	struct triad_histograms *histograms = triad_histograms_new();
	struct triad_view *view = triad_collector_view(collector);

	ck_assert_ptr_nonnull(histograms);
	ck_assert_int_eq(triad_histograms_adopt(histograms, view), 0);
	triad_histograms_set_port_counters(histograms, 1u << TRIAD_PORT_XMIT_DATA);
	triad_view_unref(view);
	return histograms;
}

static void add_words(struct triad_histograms *histograms, uint64_t words)
{
	const struct triad_engine_changes changes = {
		.fresh = 1u << TRIAD_PORT_XMIT_DATA,
		.changed = 1u << TRIAD_PORT_XMIT_DATA,
		.interval_us = {[TRIAD_READ_ERRORS] = (float)S},
		.change = {[TRIAD_PORT_XMIT_DATA] = words},
	};

	triad_histograms_add(histograms, find_port(0x201, 3), &changes);
}

START_TEST(test_octets_are_those_of_buckets_in_all_node_and_port)
{
	struct triad_histograms *histograms = new_histograms();
	size_t empty = triad_histograms_octets(histograms);

	add_words(histograms, 1);
	ck_assert_uint_eq(triad_histograms_octets(histograms), empty + 3 * 4 * 8);
	add_words(histograms, 2); /* an octave has four buckets: this is the fifth */
	ck_assert_uint_eq(triad_histograms_octets(histograms), empty + 3 * 8 * 8);
	triad_histograms_clear(histograms);
	ck_assert_uint_eq(triad_histograms_octets(histograms), empty);
	triad_histograms_free(histograms);
}
END_TEST

/* Memory is refused to the histogram of all ports, of the node, of the port. */
START_TEST(test_sample_without_memory_is_counted_as_dropped)
{
	struct triad_histograms *histograms = new_histograms();

	for (unsigned i = 1; i <= 3; i++) {
		triad_histograms_clear(histograms);
		refuse(i);
		add_words(histograms, 1);
		ck_assert(refused());
		ck_assert_uint_eq(triad_histograms_dropped(histograms), i);
	}
	triad_histograms_free(histograms);
}
END_TEST

int main(void)
{
	TCase *cases = tcase_create("histograms");

	tcase_add_checked_fixture(cases, set_up_histograms, tear_down);
	tcase_add_test(cases, test_first_sweep_is_no_sample);
	tcase_add_test(cases, test_rates_are_in_all_node_and_port);
	tcase_add_test(cases, test_errors_are_in_all_and_node_but_not_in_port);
	tcase_add_test(cases, test_what_is_not_there_is_reported);
	tcase_add_test(cases, test_silent_port_is_no_sample);
	tcase_add_test(cases, test_unchanged_errors_are_samples);
	tcase_add_test(cases, test_port_counters_can_be_others);
	tcase_add_test(cases, test_port_is_in_the_last_group_that_it_fits);
	tcase_add_test(cases, test_skipped_group_is_not_asked);
	tcase_add_test(cases, test_group_is_swept_faster);
	tcase_add_test(cases, test_clear_forgets_all);
	tcase_add_test(cases, test_node_that_leaves_keeps_its_histogram);
	tcase_add_test(cases, test_octets_are_those_of_buckets_in_all_node_and_port);
	tcase_add_test(cases, test_sample_without_memory_is_counted_as_dropped);
	return run_cases(cases);
}
