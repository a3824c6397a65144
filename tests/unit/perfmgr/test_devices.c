/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* What Triad asks which device, and when; the fabric is two simulated switches with two
 * hosts each. */
#include "perfmgr/devices/devices.h"

#include <errno.h>
#include <string.h>
#include <time.h>

#include "tests/random.h"
#include "tests/sim/fabrics.h"
#include "tests/unit/run.h"

#define S UINT64_C(1000000)
#define MELLANOX 0x0002c9

/* How a node answers. */
enum behaviour { ANSWERS, REFUSES, REFUSES_CABLES, SILENT, BUSY };

static struct triad_fabric *fabric;
static struct triad_view *view;
static struct triad_devices *devices;
static enum behaviour behaviours[8];
static unsigned n_asked[8];
static unsigned n_of_cables; /* questions about cables */
static uint8_t temperature, serial_digit;
static bool is_empty;
static uint64_t now_us;

static struct triad_view *make_view(struct triad_fabric *of)
{
	struct triad_view *made = triad_view_new(NULL, of, NULL);

	ck_assert_ptr_nonnull(made);
	return made;
}

static struct triad_fabric *make_fabric(unsigned n_switches)
{
	struct triad_fabric *made = fabric_row(n_switches, 2);

	for (uint32_t i = 0; i < made->n_nodes; i++)
		made->nodes[i].vendor_id = MELLANOX;
	for (uint32_t i = 0; i < made->n_ports; i++)
		made->ports[i].state = TRIAD_PORT_ACTIVE;
	return made;
}

static void set_up(void)
{
	fabric = make_fabric(2);
	ck_assert_uint_eq(fabric->n_nodes, 6);
	view = make_view(fabric);
	devices = triad_devices_new();
	triad_devices_set_period(devices, 100 * S);
	memset(behaviours, 0, sizeof(behaviours));
	memset(n_asked, 0, sizeof(n_asked));
	n_of_cables = 0;
	temperature = 40;
	serial_digit = '1';
	is_empty = false;
	now_us = 1000 * S;
}

static void tear_down(void)
{
	triad_devices_free(devices);
	triad_view_unref(view);
	triad_fabric_unref(fabric);
}

/* --- devices --- */

static uint32_t node_at(const struct triad_fabric *of, uint16_t lid)
{
	for (uint32_t i = 0; i < of->n_ports; i++)
		if (of->ports[i].lid == lid)
			return of->ports[i].node;
	ck_abort_msg("a question to a LID that nobody has");
	return 0;
}

static void answer_cable(uint8_t *mad)
{
	unsigned first = mad[67], n = mad[71];

	mad[4] = is_empty ? 3 : 0;
	for (unsigned i = 0; i < n; i++) {
		unsigned at = first + i;

		mad[80 + i] = at == 0 || at == 128 ? 0x11
			: at == 147                ? 0xc0 /* active copper */
			: at == 196                ? serial_digit
			: at == 22                 ? temperature
			: at == 26                 ? 0x80
						   : 0;
		if (mad[65] == 3 && at == 128)
			mad[80 + i] = 70; /* the alarm's threshold */
	}
}

static void answer_device(uint8_t *mad)
{
	if (mad[17] == TRIAD_DEVICE_GENERAL_INFO)
		mad[32 + 0x81] = 0x10; /* the device has registers */
	else
		mad[5] = 20; /* but none that Triad asks for */
}

static void answer(const struct triad_devices_question *question)
{
	uint32_t node = node_at(view->fabric, question->to.lid);
	struct triad_mad_reply reply = {.size = TRIAD_MAD_SIZE};

	n_asked[node]++;
	n_of_cables += question->is_smp;
	ck_assert_uint_eq(question->mad[3], TRIAD_MAD_METHOD_GET);
	memcpy(reply.mad, question->mad, TRIAD_MAD_SIZE);
	reply.mad[3] = TRIAD_MAD_METHOD_GET_RESPONSE;
	if (behaviours[node] == SILENT)
		reply.status = ETIMEDOUT;
	else if (behaviours[node] == BUSY)
		reply.mad[5] = 1;
	else if (behaviours[node] == REFUSES ||
		(behaviours[node] == REFUSES_CABLES && question->is_smp))
		reply.mad[5] = 3 << 2;
	else if (question->is_smp)
		answer_cable(reply.mad);
	else
		answer_device(reply.mad);
	triad_devices_answer(devices, &reply, now_us);
}

/* Answers questions until none is due; returns their number. */
static unsigned ask_all(void)
{
	struct triad_devices_question question;
	uint64_t due_us;
	unsigned n = 0;

	for (; triad_devices_next(devices, now_us, &question, &due_us); n++) {
		ck_assert_uint_lt(n, 10000);
		answer(&question);
	}
	return n;
}

static unsigned ask_round(void)
{
	now_us += 100 * S;
	return ask_all();
}

static void adopt(struct triad_view *of)
{
	ck_assert_int_eq(triad_devices_adopt(devices, of), 0);
}

static struct triad_cable_known cable_at(uint32_t node, uint8_t number)
{
	struct triad_cable_known known;

	ck_assert(triad_devices_read_port(
		devices, fabric->nodes[node].guid, number, &known));
	return known;
}

/* --- cases --- */

START_TEST(test_nothing_is_asked_without_a_view)
{
	struct triad_devices_question question;
	uint64_t due_us;

	ck_assert(!triad_devices_next(devices, now_us, &question, &due_us));
	ck_assert_uint_eq(due_us, UINT64_MAX);
}
END_TEST

/* Row: N6 */
START_TEST(test_round_reads_devices_and_their_ports_then_waits_for_the_period)
{
	struct triad_devices_question question;
	struct triad_devices_counts counts;
	uint64_t due_us;
	unsigned n_first;

	adopt(view);
	n_first = ask_all();
	ck_assert(!triad_devices_next(devices, now_us, &question, &due_us));
	ck_assert_uint_eq(due_us, now_us + 100 * S);
	counts = triad_devices_counts(devices);
	ck_assert_uint_eq(counts.n_devices, 6);
	ck_assert_uint_eq(counts.n_reported, 6);
	ck_assert_uint_eq(counts.n_refused, 6);
	ck_assert_uint_eq(counts.n_silent, 0);
	ck_assert_uint_eq(counts.n_rounds, 1);
	ck_assert_uint_eq(counts.n_questions, n_first);
	ck_assert_int_eq(cable_at(0, 1).module, TRIAD_MODULE_KNOWN);
	ck_assert_str_eq(cable_at(0, 1).cable.serial, "1");
	/* Later rounds ask only for values that change. */
	temperature = 41;
	ck_assert_uint_eq(ask_round(), 6 + counts.n_cables);
	ck_assert_int_eq(cable_at(0, 1).cable.temperature, 41 * 256);
}
END_TEST

/* Row: N6 */
START_TEST(test_devices_of_other_vendors_are_not_asked)
{
	fabric->nodes[1].vendor_id = 0x00066a;
	adopt(view);
	ask_all();
	ck_assert_uint_eq(n_asked[1], 0);
	ck_assert_uint_gt(n_asked[0], 0);
	ck_assert_uint_eq(triad_devices_counts(devices).n_devices, 5);
}
END_TEST

START_TEST(test_ports_that_are_not_read_here_are_not_asked)
{
	uint32_t first = fabric->nodes[0].first_port;

	for (uint32_t i = first; i < first + fabric->nodes[0].n_ports; i++)
		fabric->ports[i].has_pma = false;
	adopt(view);
	ask_all();
	ck_assert_uint_eq(n_asked[0], 0);
}
END_TEST

/* Row: N6 */
START_TEST(test_silent_device_is_asked_once_until_it_comes_back)
{
	struct triad_fabric *small = make_fabric(1);
	struct triad_view *part = make_view(small), *whole = view;
	struct triad_device_known known;

	behaviours[1] = SILENT;
	adopt(view);
	ask_all();
	ask_round();
	ck_assert_uint_eq(n_asked[1], 1);
	ck_assert_uint_eq(triad_devices_counts(devices).n_silent, 1);
	ck_assert_uint_eq(triad_devices_counts(devices).n_fell_silent, 0);
	ck_assert(triad_devices_read(devices, fabric->nodes[1].guid, &known));
	ck_assert(known.is_silent);
	/* The device stays silent in another view that contains it. */
	whole = make_view(fabric);
	adopt(whole);
	ask_round();
	ck_assert_uint_eq(n_asked[1], 1);
	/* Node 1 is the second switch, which the small fabric lacks. */
	ck_assert_uint_eq(triad_fabric_find_node(small, fabric->nodes[1].guid),
		TRIAD_FABRIC_NONE);
	adopt(part);
	adopt(whole);
	behaviours[1] = ANSWERS;
	ask_all();
	ck_assert_uint_gt(n_asked[1], 1);
	ck_assert_uint_eq(triad_devices_counts(devices).n_silent, 0);
	triad_view_unref(whole);
	triad_view_unref(part);
	triad_fabric_unref(small);
}
END_TEST

static unsigned ask_after_an_hour(void)
{
	now_us += TRIAD_DEVICES_AGAIN_US;
	return ask_all();
}

/* A lost MAD must not hide a device for good. */
START_TEST(test_silent_device_is_asked_again_after_an_hour)
{
	unsigned n_whole;

	behaviours[1] = SILENT;
	adopt(view);
	ask_all();
	ask_after_an_hour();
	ck_assert_uint_eq(n_asked[1], 2);
	ck_assert_uint_eq(triad_devices_counts(devices).n_silent, 1);
	/* It counts from the last question. */
	ask_round();
	ck_assert_uint_eq(n_asked[1], 2);
	behaviours[1] = ANSWERS;
	ask_after_an_hour();
	ck_assert_uint_eq(triad_devices_counts(devices).n_silent, 0);
	n_whole = n_asked[1];
	ck_assert_uint_gt(n_whole, 3);
	ask_round();
	ck_assert_uint_gt(n_asked[1], n_whole);
}
END_TEST

/* One that answers a part stays silent: what it said of itself before may not hold. */
START_TEST(test_device_stays_silent_until_it_answers_all)
{
	struct triad_devices_question question;
	uint64_t due_us;

	behaviours[1] = SILENT;
	adopt(view);
	ask_all();
	behaviours[1] = ANSWERS;
	now_us += TRIAD_DEVICES_AGAIN_US;
	while (triad_devices_next(devices, now_us, &question, &due_us)) {
		bool is_its = node_at(fabric, question.to.lid) == 1;

		answer(&question);
		if (is_its)
			behaviours[1] = SILENT;
	}
	ck_assert_uint_eq(n_asked[1], 3);
	ck_assert_uint_eq(triad_devices_counts(devices).n_silent, 1);
	ask_round();
	ck_assert_uint_eq(n_asked[1], 3);
}
END_TEST

/* One or two lost MADs don't make a device silent. */
START_TEST(test_device_that_answered_is_silent_after_three_rounds_without_an_answer)
{
	unsigned n_before;

	adopt(view);
	ask_all();
	for (unsigned n = 0; n < 2; n++) {
		behaviours[1] = SILENT;
		ask_round();
		ask_round();
		ck_assert_uint_eq(triad_devices_counts(devices).n_silent, 0);
		behaviours[1] = ANSWERS;
		ask_round();
	}
	behaviours[1] = SILENT;
	n_before = n_asked[1];
	for (unsigned n = 0; n < 5; n++)
		ask_round();
	ck_assert_uint_eq(triad_devices_counts(devices).n_silent, 1);
	ck_assert_uint_eq(triad_devices_counts(devices).n_fell_silent, 1);
	ck_assert_uint_eq(n_asked[1], n_before + 3);
}
END_TEST

START_TEST(test_clear_forgets_silence_and_refusals)
{
	behaviours[1] = SILENT;
	behaviours[2] = REFUSES;
	adopt(view);
	ask_all();
	ck_assert_uint_eq(n_asked[2], 2);
	triad_devices_clear(devices);
	ck_assert_uint_eq(triad_devices_counts(devices).n_devices, 0);
	adopt(view);
	ask_all();
	ck_assert_uint_eq(n_asked[1], 2);
	ck_assert_uint_eq(n_asked[2], 4);
}
END_TEST

/* Row: N6 */
START_TEST(test_refusal_is_of_one_attribute)
{
	struct triad_device_known known;
	unsigned n_cables;

	behaviours[0] = REFUSES_CABLES;
	adopt(view);
	ask_all();
	/* GeneralInfo, four registers, which the device refuses, and a question about a
	 * cable. */
	ck_assert_uint_eq(n_asked[0], 7);
	ck_assert(triad_devices_read(devices, fabric->nodes[0].guid, &known));
	ck_assert(known.refuses_cables && !known.is_silent);
	n_cables = n_of_cables;
	n_asked[0] = 0;
	ask_round();
	ck_assert_uint_eq(n_asked[0], 1);
	ck_assert_uint_gt(n_of_cables, n_cables);
}
END_TEST

START_TEST(test_cables_that_are_not_wanted_are_not_asked_for)
{
	triad_devices_set_cables(devices, false);
	adopt(view);
	ask_all();
	ck_assert_uint_eq(n_of_cables, 0);
	ck_assert_uint_eq(triad_devices_counts(devices).n_reported, 6);
	triad_devices_set_cables(devices, true);
	ask_round();
	ck_assert_uint_gt(n_of_cables, 0);
}
END_TEST

START_TEST(test_busy_device_is_asked_again_in_the_next_round)
{
	unsigned n;

	behaviours[0] = BUSY;
	adopt(view);
	ask_all();
	n = n_asked[0];
	ck_assert_uint_gt(n, 1);
	ck_assert_int_eq(cable_at(0, 1).module, TRIAD_MODULE_UNREAD);
	ask_round();
	ck_assert_uint_eq(n_asked[0], 2 * n);
	behaviours[0] = ANSWERS;
	ask_round();
	ck_assert_int_eq(cable_at(0, 1).module, TRIAD_MODULE_KNOWN);
}
END_TEST

START_TEST(test_unsent_question_is_counted_and_leaves_the_device_known)
{
	struct triad_devices_question question;
	uint64_t due_us;

	adopt(view);
	ck_assert(triad_devices_next(devices, now_us, &question, &due_us));
	triad_devices_answer(devices, NULL, now_us);
	ask_all();
	ck_assert_uint_eq(triad_devices_counts(devices).n_errors, 1);
	ck_assert_uint_eq(triad_devices_counts(devices).n_silent, 0);
	ck_assert_uint_eq(triad_devices_counts(devices).n_reported, 5);
	ask_round();
	ck_assert_uint_eq(triad_devices_counts(devices).n_reported, 6);
}
END_TEST

/* Row: N6 */
START_TEST(test_cable_is_read_anew_when_its_link_changes_and_after_a_day)
{
	struct triad_fabric *other = make_fabric(2);
	struct triad_view *next = make_view(other);
	uint32_t port = triad_fabric_find_port(other, 0, 1);

	adopt(view);
	ask_all();
	serial_digit = '2';
	ask_round();
	ck_assert_str_eq(cable_at(0, 1).cable.serial, "1");
	other->ports[other->ports[port].remote].remote = TRIAD_FABRIC_NONE;
	other->ports[port].remote = TRIAD_FABRIC_NONE;
	adopt(next);
	ask_round();
	ck_assert_str_eq(cable_at(0, 1).cable.serial, "2");
	ck_assert_str_eq(cable_at(0, 2).cable.serial, "1");
	now_us += TRIAD_DEVICES_ANEW_US;
	ask_all();
	ck_assert_str_eq(cable_at(0, 2).cable.serial, "2");
	triad_view_unref(next);
	triad_fabric_unref(other);
}
END_TEST

START_TEST(test_cable_that_is_pulled_is_gone)
{
	adopt(view);
	ask_all();
	ck_assert_uint_gt(triad_devices_counts(devices).n_cables, 0);
	is_empty = true;
	ask_round();
	ck_assert_uint_eq(triad_devices_counts(devices).n_cables, 0);
	ck_assert_int_eq(cable_at(0, 1).module, TRIAD_MODULE_EMPTY);
}
END_TEST

/* Row: N6 */
START_TEST(test_hot_module_is_a_finding_until_it_is_cool)
{
	struct triad_hardware_finding finding;
	uint64_t guid = fabric->nodes[0].guid;

	adopt(view);
	ask_all();
	ck_assert(!triad_devices_judge(devices, guid, 1, &finding));
	temperature = 71;
	ask_round();
	ck_assert(triad_devices_judge(devices, guid, 1, &finding));
	ck_assert_int_eq(finding.fault, TRIAD_HARDWARE_MODULE_HOT);
	ck_assert_double_eq(finding.value, 71);
	ck_assert_double_eq(finding.limit, 70);
	ck_assert(!triad_devices_judge(devices, guid, 0, &finding));
	ck_assert(!triad_devices_judge(devices, guid, 200, &finding));
	ck_assert(!triad_devices_judge(devices, 0xdead, 1, &finding));
	temperature = 60;
	ask_round();
	ck_assert(!triad_devices_judge(devices, guid, 1, &finding));
}
END_TEST

START_TEST(test_fault_of_a_device_that_falls_silent_is_a_finding_no_longer)
{
	struct triad_hardware_finding finding;
	uint64_t guid = fabric->nodes[0].guid;

	adopt(view);
	temperature = 71;
	ask_all();
	ck_assert(triad_devices_judge(devices, guid, 1, &finding));
	behaviours[0] = SILENT;
	for (unsigned n = 0; n < TRIAD_DEVICES_MISSED; n++) {
		ck_assert(triad_devices_judge(devices, guid, 1, &finding));
		ask_round();
	}
	ck_assert(!triad_devices_judge(devices, guid, 1, &finding));
}
END_TEST

/* Views change in mid-round.  In the end Triad has asked every device, and no silent
 * one twice. */
START_TEST(test_views_that_change_in_a_round_lose_no_device)
{
	unsigned seed = (unsigned)time(NULL);
	struct triad_fabric *fabrics[] = {make_fabric(1), fabric};
	struct triad_view *views[] = {make_view(fabrics[0]), make_view(fabric)};
	uint64_t state = seed;
	struct triad_devices_question question;
	uint64_t due_us;

	for (unsigned i = 0; i < 3000; i++) {
		if (random_below(&state, 7) == 0) {
			unsigned which = random_below(&state, 2);
			struct triad_view *old = view;

			view = triad_view_ref(views[which]);
			triad_view_unref(old);
			adopt(view);
		}
		if (triad_devices_next(devices, now_us, &question, &due_us))
			answer(&question);
		else
			now_us += 10 * S;
	}
	triad_view_unref(view);
	view = triad_view_ref(views[1]);
	adopt(view);
	ask_round();
	ask_round();
	ck_assert_msg(triad_devices_counts(devices).n_reported == 6, "seed %u", seed);
	triad_view_unref(views[0]);
	triad_view_unref(views[1]);
	triad_fabric_unref(fabrics[0]);
}
END_TEST

int main(void)
{
	TCase *cases = tcase_create("devices");

	tcase_add_checked_fixture(cases, set_up, tear_down);
	tcase_add_test(cases, test_nothing_is_asked_without_a_view);
	tcase_add_test(cases,
		test_round_reads_devices_and_their_ports_then_waits_for_the_period);
	tcase_add_test(cases, test_devices_of_other_vendors_are_not_asked);
	tcase_add_test(cases, test_ports_that_are_not_read_here_are_not_asked);
	tcase_add_test(cases, test_silent_device_is_asked_once_until_it_comes_back);
	tcase_add_test(cases, test_silent_device_is_asked_again_after_an_hour);
	tcase_add_test(cases, test_device_stays_silent_until_it_answers_all);
	tcase_add_test(cases,
		test_device_that_answered_is_silent_after_three_rounds_without_an_answer);
	tcase_add_test(cases, test_clear_forgets_silence_and_refusals);
	tcase_add_test(cases, test_refusal_is_of_one_attribute);
	tcase_add_test(cases, test_cables_that_are_not_wanted_are_not_asked_for);
	tcase_add_test(cases, test_busy_device_is_asked_again_in_the_next_round);
	tcase_add_test(
		cases, test_unsent_question_is_counted_and_leaves_the_device_known);
	tcase_add_test(
		cases, test_cable_is_read_anew_when_its_link_changes_and_after_a_day);
	tcase_add_test(cases, test_cable_that_is_pulled_is_gone);
	tcase_add_test(
		cases, test_fault_of_a_device_that_falls_silent_is_a_finding_no_longer);
	tcase_add_test(cases, test_hot_module_is_a_finding_until_it_is_cool);
	tcase_add_test(cases, test_views_that_change_in_a_round_lose_no_device);
	return run_cases(cases);
}
