/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* 'repair plan' of links and tables that are not, or no longer, known. */
#include <string.h>

#include "service/command/commands.h"
#include "service/command/routes_parts.h"
#include "service/service.h"
#include "tests/sim/routed.h"
#include "tests/unit/mentions.h"
#include "tests/unit/run.h"
#include "triad/control.h"

static struct triad_fabric *fabric; /* that routes were checked of */
static struct triad_view view;
static struct triad_route_result result;
static char answer[8192], refusal[1024];

/* --- what the command asks --- */

struct triad_route_result *__wrap_triad_routes_command_result(
	struct triad_service *service, const char *verb, struct triad_output *output);
void __wrap_triad_route_result_unref(struct triad_route_result *unused);
struct triad_view *__wrap_triad_perf_view(struct triad_perf *perf);
void __wrap_triad_view_unref(struct triad_view *unused);

struct triad_route_result *__wrap_triad_routes_command_result(
	struct triad_service *service, const char *verb, struct triad_output *output)
{
	(void)service;
	(void)verb;
	(void)output;
	return &result;
}

void __wrap_triad_route_result_unref(struct triad_route_result *unused)
{
	(void)unused;
}

struct triad_view *__wrap_triad_perf_view(struct triad_perf *perf)
{
	(void)perf;
	return &view;
}

void __wrap_triad_view_unref(struct triad_view *unused)
{
	(void)unused;
}

static bool keep(
	void *context, enum triad_frame_type type, const char *data, size_t size)
{
	char *to = type == TRIAD_FRAME_MESSAGE ? refusal : answer;

	(void)context;
	strncat(to, data, size);
	return true;
}

/* --- the fabric --- */

static struct triad_fabric *make_fabric(bool lacks_table, uint64_t generation)
{
	static struct routed routed;
	struct triad_fabric *made;
	uint64_t seed = 1;

	routed_init(&routed, 4);
	for (unsigned i = 0; i < 4; i++) {
		routed_link(&routed, i / 2, 2 + i % 2);
		routed_add_host(&routed, i / 2);
	}
	routed_route(&routed, &seed);
	made = routed_fabric(&routed);
	made->generation = generation;
	if (lacks_table)
		made->nodes[triad_fabric_find_node(made, 0x1020)].lft.n = 0;
	return made;
}

static void check_routes(bool lacks_table)
{
	static const struct triad_routes_options options = {.sls = {.all = 1}};

	fabric = make_fabric(lacks_table, 7);
	ck_assert_int_eq(triad_routes_check_make(fabric, &options, &result.check), 0);
	result.generation = fabric->generation;
	result.hash = triad_routes_hash(fabric);
}

static void end(void)
{
	triad_routes_check_free(result.check);
	triad_fabric_unref(fabric);
	triad_fabric_unref(view.fabric);
	view.fabric = NULL;
}

static int plan(void)
{
	static struct triad_service service;
	struct triad_command command = {.node = "switch-0:1", .port = -1, .json = true};
	struct triad_output output;
	int status;

	answer[0] = refusal[0] = '\0';
	triad_output_init(&output, keep, NULL);
	status = triad_command_run_repair_plan(&service, &command, &output);
	triad_output_flush(&output);
	return status;
}

START_TEST(test_plan_of_older_links_is_refused)
{
	check_routes(false);
	/* A later sweep that found the same. */
	view.fabric = make_fabric(false, 8);
	ck_assert_int_eq(plan(), TRIAD_CONTROL_DONE);
	ck_assert_ptr_nonnull(strstr(answer, "\"changes\""));
	/* And one that found a link that is down. */
	view.fabric
		->ports[triad_fabric_find_port(
			view.fabric, triad_fabric_find_node(view.fabric, 0x1000), 2)]
		.state = TRIAD_PORT_DOWN;
	ck_assert_int_eq(plan(), TRIAD_CONTROL_FAILED);
	ck_assert_str_eq(answer, "");
	ck_assert(mentions(refusal, "links tables changed try again"));
	/* The sweep's part that reads counters may be behind. */
	view.fabric->generation = 6;
	ck_assert_int_eq(plan(), TRIAD_CONTROL_DONE);
}
END_TEST

START_TEST(test_plan_without_a_table_is_refused)
{
	check_routes(true);
	view.fabric = make_fabric(true, 7);
	ck_assert_int_eq(plan(), TRIAD_CONTROL_FAILED);
	ck_assert_str_eq(answer, "");
	ck_assert(mentions(refusal, "table switch-2 OpenSM's log"));
	ck_assert(!mentions(refusal, "other switches"));
}
END_TEST

int main(void)
{
	TCase *cases = tcase_create("repair_plan");

	tcase_add_checked_fixture(cases, NULL, end);
	tcase_add_test(cases, test_plan_of_older_links_is_refused);
	tcase_add_test(cases, test_plan_without_a_table_is_refused);
	return run_cases(cases);
}
