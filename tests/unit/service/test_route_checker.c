/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The thread that checks routes: its results for new fabrics, and with an owner that
 * knows SLs. */
#include "service/route_checker.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "tests/sim/routed.h"
#include "tests/unit/run.h"

static char logged[8192];

static void write_log(void *context, enum triad_log_level level, const char *line)
{
	size_t length = strlen(logged);

	(void)context;
	(void)level;
	snprintf(logged + length, sizeof(logged) - length, "%s\n", line);
}

static struct triad_log test_log = {.write = write_log, .level = TRIAD_LOG_INFO};
static struct triad_route_checker *checker;
static struct triad_conf *conf;
static struct triad_route_source source;
static struct routed routed;
static atomic_uint n_asked;
static int answer; /* the owner's: 0 or an errno */

/* The SLs of the ring's pairs of hosts: a pair has the SL with the index of its
 * switch. */
static int ask(void *context, const struct triad_routes_layout *layout, uint16_t *sls,
	bool (*is_stopped)(void *), void *stop_context)
{
	(void)context;
	ck_assert(!is_stopped(stop_context));
	for (uint32_t goal = 0; goal < layout->n_goals; goal++)
		for (uint32_t sw = 0; sw < layout->n_switches; sw++)
			sls[goal * layout->n_switches + sw] = (uint16_t)(1u << sw);
	atomic_fetch_add(&n_asked, 1);
	return answer;
}

/* Memory is short for so many checks. */
static atomic_uint n_short;

int __real_triad_routes_check_make(struct triad_fabric *fabric,
	const struct triad_routes_options *options, struct triad_routes_check **check);
int __wrap_triad_routes_check_make(struct triad_fabric *fabric,
	const struct triad_routes_options *options, struct triad_routes_check **check);

int __wrap_triad_routes_check_make(struct triad_fabric *fabric,
	const struct triad_routes_options *options, struct triad_routes_check **check)
{
	if (n_short) {
		n_short--;
		return ENOMEM;
	}
	return __real_triad_routes_check_make(fabric, options, check);
}

static void make_ring(void)
{
	uint64_t seed = 1;

	routed_init(&routed, 5);
	for (unsigned i = 0; i < 5; i++)
		routed_link(&routed, i, (i + 1) % 5);
	for (unsigned i = 0; i < 5; i++)
		routed_add_host(&routed, i);
	routed_route(&routed, &seed);
}

static struct triad_fabric *make_fabric(void)
{
	struct triad_fabric *fabric = routed_fabric(&routed);
	static uint64_t generation;

	fabric->generation = ++generation;
	fabric->consistent = true;
	return fabric;
}

static void begin(void)
{
	conf = triad_conf_new(1);
	source = (struct triad_route_source){0};
	logged[0] = '\0';
	answer = 0;
	atomic_store(&n_asked, 0);
	make_ring();
}

static void start(void)
{
	checker = triad_route_checker_new(&source, &test_log);
	ck_assert_ptr_nonnull(checker);
	triad_route_checker_configure(checker, conf);
}

static void end(void)
{
	ck_assert(triad_route_checker_stop(checker));
	triad_route_checker_free(checker);
	triad_conf_unref(conf);
	checker = NULL;
}

static struct triad_route_result *wait_for(uint64_t generation)
{
	struct triad_route_result *result = NULL;

	for (unsigned i = 0; i < 20000; i++) {
		result = triad_route_checker_result(checker);
		if (result && result->generation == generation)
			return result;
		triad_route_result_unref(result);
		usleep(1000);
	}
	ck_abort_msg("no result");
	return NULL;
}

/* Gives a fabric to the checker, and waits for its result. */
static struct triad_route_result *give(struct triad_fabric *fabric)
{
	uint64_t generation = fabric->generation;

	triad_route_checker_set_fabric(checker, fabric);
	triad_fabric_unref(fabric);
	return wait_for(generation);
}

START_TEST(test_fabric_is_checked_and_reported_once)
{
	struct triad_route_result *result;

	start();
	ck_assert_int_eq(
		triad_route_checker_status(checker).state, TRIAD_ROUTE_NO_FABRIC);
	result = give(make_fabric());
	ck_assert_uint_eq(result->check->credit.n_loops, 2);
	ck_assert_uint_eq(result->sls, 1);
	triad_route_result_unref(result);
	/* The next fabric has the same tables. */
	result = give(make_fabric());
	ck_assert_uint_eq(result->check->credit.n_loops, 2);
	ck_assert_uint_eq(
		result->check->layout->fabric->generation, result->generation);
	triad_route_result_unref(result);
	ck_assert_uint_eq(triad_route_checker_status(checker).n_checks, 1);
	ck_assert_uint_eq(triad_route_checker_status(checker).n_unchanged, 1);
	ck_assert_ptr_nonnull(strstr(logged, "credit loops: 2"));
	ck_assert_ptr_null(strstr(strstr(logged, "routes:") + 1, "routes:"));
}
END_TEST

START_TEST(test_what_is_right_again_is_reported)
{
	struct triad_route_result *result;

	start();
	triad_route_result_unref(give(make_fabric()));
	/* Without one of its links the ring is a row. */
	routed.far[4][2].is_down = true;
	routed.far[0][2].is_down = true;
	routed_route(&routed, &(uint64_t){1});
	result = give(make_fabric());
	ck_assert(triad_routes_check_is_clean(result->check));
	triad_route_result_unref(result);
	ck_assert_ptr_nonnull(strstr(logged, "right again"));
}
END_TEST

START_TEST(test_engine_is_asked_where_links_could_loop)
{
	struct triad_fabric *fabric = make_fabric();
	struct triad_route_result *result;

	source.ask_sls = ask;
	start();
	fabric->sa.engine_has_sl = true;
	fabric->sa.qos = true;
	for (uint32_t i = 0; i < fabric->n_nodes; i++)
		fabric->nodes[i].optimized_sl2vl = false;
	result = give(fabric);
	ck_assert_uint_eq(atomic_load(&n_asked), 1);
	ck_assert_int_eq(result->credit, TRIAD_ROUTE_CREDIT_CHECKED);
	/* Without SL2VL tables all of these SLs have one VL. */
	ck_assert_uint_eq(result->check->credit.n_loops, 2);
	triad_route_result_unref(result);
}
END_TEST

static const struct {
	int answer;
	bool qos;
	enum triad_route_credit credit;
} mute[] = {
	{E2BIG, true, TRIAD_ROUTE_CREDIT_TOO_MANY},
	{EAGAIN, true, TRIAD_ROUTE_CREDIT_NO_SLS},
	{0, false, TRIAD_ROUTE_CREDIT_NO_TABLES},
};

START_TEST(test_engine_that_is_mute_makes_no_alarm)
{
	struct triad_fabric *fabric = make_fabric();
	struct triad_route_result *result;

	source.ask_sls = ask;
	answer = mute[_i].answer;
	start();
	fabric->sa.engine_has_sl = true;
	fabric->sa.qos = mute[_i].qos;
	result = give(fabric);
	ck_assert_int_eq(result->credit, mute[_i].credit);
	ck_assert_ptr_nonnull(triad_route_credit_text(result->credit));
	ck_assert(triad_routes_check_is_clean(result->check));
	ck_assert_str_eq(logged, "");
	triad_route_result_unref(result);
}
END_TEST

/* The last fabric may be days old: no new one need come when the checker is switched
 * on. */
START_TEST(test_off_forgets_and_on_checks_the_last_fabric)
{
	struct triad_fabric *fabric = make_fabric();
	uint64_t generation = fabric->generation;

	start();
	triad_route_result_unref(give(make_fabric()));
	conf->routes.enabled = false;
	triad_route_checker_configure(checker, conf);
	ck_assert_ptr_null(triad_route_checker_result(checker));
	triad_route_checker_set_fabric(checker, fabric);
	triad_fabric_unref(fabric);
	ck_assert_int_eq(triad_route_checker_status(checker).state, TRIAD_ROUTE_OFF);
	conf->routes.enabled = true;
	triad_route_checker_configure(checker, conf);
	triad_route_result_unref(wait_for(generation));
	triad_route_result_unref(give(make_fabric()));
}
END_TEST

START_TEST(test_past_fabric_is_not_checked_when_switched_on)
{
	start();
	triad_route_result_unref(give(make_fabric()));
	conf->routes.enabled = false;
	triad_route_checker_configure(checker, conf);
	triad_route_checker_set_fabric(checker, NULL);
	conf->routes.enabled = true;
	triad_route_checker_configure(checker, conf);
	ck_assert_int_eq(
		triad_route_checker_status(checker).state, TRIAD_ROUTE_NO_FABRIC);
	triad_route_result_unref(give(make_fabric()));
	ck_assert_uint_eq(triad_route_checker_status(checker).n_checks, 2);
}
END_TEST

START_TEST(test_fabric_that_a_sweep_spoilt_is_not_checked)
{
	struct triad_fabric *fabric = make_fabric();

	start();
	fabric->consistent = false;
	triad_route_checker_set_fabric(checker, fabric);
	triad_fabric_unref(fabric);
	triad_route_result_unref(give(make_fabric()));
	ck_assert_uint_eq(triad_route_checker_status(checker).n_checks, 1);
}
END_TEST

START_TEST(test_past_fabric_has_no_result)
{
	start();
	triad_route_result_unref(give(make_fabric()));
	triad_route_checker_set_fabric(checker, NULL);
	ck_assert_ptr_null(triad_route_checker_result(checker));
	ck_assert_int_eq(
		triad_route_checker_status(checker).state, TRIAD_ROUTE_NO_FABRIC);
}
END_TEST

START_TEST(test_fabric_without_tables_is_reported)
{
	struct triad_fabric *fabric = make_fabric();

	start();
	for (uint32_t i = 0; i < fabric->n_nodes; i++)
		fabric->nodes[i].lft.n = 0;
	triad_route_checker_set_fabric(checker, fabric);
	triad_fabric_unref(fabric);
	for (unsigned i = 0; i < 20000 &&
		triad_route_checker_status(checker).state != TRIAD_ROUTE_NO_TABLES;
		i++)
		usleep(1000);
	ck_assert_int_eq(
		triad_route_checker_status(checker).state, TRIAD_ROUTE_NO_TABLES);
	ck_assert_ptr_nonnull(triad_route_state_text(TRIAD_ROUTE_NO_TABLES));
}
END_TEST

START_TEST(test_fabric_without_switches_has_nothing_to_check)
{
	struct triad_fabric *fabric = make_fabric();

	/* Of the ring, two hosts that are cabled to each other. */
	for (uint32_t i = 0; i < fabric->n_nodes; i++)
		fabric->nodes[i].type = TRIAD_NODE_CA;
	start();
	triad_route_checker_set_fabric(checker, fabric);
	triad_fabric_unref(fabric);
	for (unsigned i = 0; i < 20000 &&
		triad_route_checker_status(checker).state == TRIAD_ROUTE_NO_FABRIC;
		i++)
		usleep(1000);
	ck_assert_int_eq(
		triad_route_checker_status(checker).state, TRIAD_ROUTE_NO_SWITCHES);
	ck_assert_ptr_nonnull(triad_route_state_text(TRIAD_ROUTE_NO_SWITCHES));
}
END_TEST

START_TEST(test_memory_short_for_a_moment_checked_again)
{
	struct triad_fabric *fabric = make_fabric();

	n_short = 2;
	start();
	triad_route_checker_set_fabric(checker, fabric);
	triad_route_result_unref(wait_for(fabric->generation));
	ck_assert_uint_eq(triad_route_checker_status(checker).n_failed, 2);
	ck_assert_int_eq(
		triad_route_checker_status(checker).state, TRIAD_ROUTE_CHECKED);
	triad_fabric_unref(fabric);
}
END_TEST

int main(void)
{
	TCase *cases = tcase_create("route_checker");

	tcase_add_checked_fixture(cases, begin, end);
	tcase_add_test(cases, test_fabric_is_checked_and_reported_once);
	tcase_add_test(cases, test_what_is_right_again_is_reported);
	tcase_add_test(cases, test_engine_is_asked_where_links_could_loop);
	tcase_add_loop_test(cases, test_engine_that_is_mute_makes_no_alarm, 0,
		sizeof(mute) / sizeof(mute[0]));
	tcase_add_test(cases, test_off_forgets_and_on_checks_the_last_fabric);
	tcase_add_test(cases, test_past_fabric_is_not_checked_when_switched_on);
	tcase_add_test(cases, test_fabric_that_a_sweep_spoilt_is_not_checked);
	tcase_add_test(cases, test_past_fabric_has_no_result);
	tcase_add_test(cases, test_fabric_without_tables_is_reported);
	tcase_add_test(cases, test_fabric_without_switches_has_nothing_to_check);
	tcase_add_test(cases, test_memory_short_for_a_moment_checked_again);
	return run_cases(cases);
}
