/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Which of OpenSM's PortInfos is asked for again because speeds may be withheld in it. */
#include "plugin/withheld.h"

#include "tests/unit/run.h"
#include "triad/fabric.h"

#define HCA UINT64_C(0x100000)
#define SWITCH UINT64_C(0x200000)
#define HDR 4
#define INVALID_FIELD 0x1c
/* Octets into PortInfo. */
enum { CAPABILITIES = 22, STATE = 32, SPEED = 35, EXT2 = 56, EXT = 62 };

static struct triad_withheld *withheld;
static uint32_t now_s;
static uint8_t info[64];

static void set_up(void)
{
	withheld = triad_withheld_new();
	now_s = 1000;
	for (unsigned i = 0; i < sizeof(info); i++)
		info[i] = 0;
	info[CAPABILITIES] = 0x40;
	info[STATE] = TRIAD_PORT_ACTIVE;
	info[SPEED] = 1 << 4;
}

static void tear_down(void)
{
	triad_withheld_free(withheld);
}

/* OpenSM asked, and this is 'info'. */
static enum triad_withheld_step first(uint64_t guid, uint8_t number)
{
	const struct triad_withheld_end end = {
		.node_guid = guid, .number = number, .info = info};

	return triad_withheld_take(withheld, &end, now_s);
}

static enum triad_withheld_step second(uint64_t guid, uint16_t status, bool is_answered)
{
	const struct triad_withheld_end end = {.node_guid = guid,
		.number = 1,
		.has_bit = true,
		.is_second = true,
		.status = status,
		.info = is_answered ? info : NULL};

	return triad_withheld_take(withheld, &end, now_s);
}

START_TEST(test_port_that_shows_no_extended_speed_is_asked_again)
{
	for (uint8_t state = TRIAD_PORT_INIT; state <= TRIAD_PORT_ACTIVE; state++) {
		info[STATE] = state;
		ck_assert_int_eq(first(HCA, 1), TRIAD_WITHHELD_ASK);
	}
	ck_assert_int_eq(first(HCA, 2), TRIAD_WITHHELD_ASK);
}
END_TEST

START_TEST(test_port_that_is_down_is_not)
{
	info[STATE] = TRIAD_PORT_DOWN;
	ck_assert_int_eq(first(HCA, 1), TRIAD_WITHHELD_PASS);
	info[STATE] = 0;
	ck_assert_int_eq(first(HCA, 1), TRIAD_WITHHELD_PASS);
}
END_TEST

START_TEST(test_port_that_shows_an_extended_speed_is_not)
{
	info[EXT] = HDR << 4;
	ck_assert_int_eq(first(HCA, 1), TRIAD_WITHHELD_PASS);
	/* It runs at another, and supports one. */
	info[EXT] = HDR;
	ck_assert_int_eq(first(HCA, 1), TRIAD_WITHHELD_PASS);
	/* XDR has fields of its own, active and supported. */
	info[EXT] = 0;
	info[EXT2] = 1 << 5;
	ck_assert_int_eq(first(HCA, 1), TRIAD_WITHHELD_PASS);
	info[EXT2] = 1 << 3;
	ck_assert_int_eq(first(HCA, 1), TRIAD_WITHHELD_PASS);
}
END_TEST

START_TEST(test_device_without_the_capability_is_not)
{
	info[CAPABILITIES] = 0xbf;
	ck_assert_int_eq(first(HCA, 1), TRIAD_WITHHELD_PASS);
	ck_assert_int_eq(first(SWITCH, 0), TRIAD_WITHHELD_PASS);
	ck_assert_int_eq(first(SWITCH, 1), TRIAD_WITHHELD_PASS);
}
END_TEST

START_TEST(test_ports_of_a_switch_have_the_capability_of_its_port_0)
{
	ck_assert_int_eq(first(SWITCH, 0), TRIAD_WITHHELD_PASS);
	info[CAPABILITIES] = 0;
	ck_assert_int_eq(first(SWITCH, 1), TRIAD_WITHHELD_ASK);
	ck_assert_int_eq(first(SWITCH + 1, 1), TRIAD_WITHHELD_PASS);
	/* Another firmware. */
	ck_assert_int_eq(first(SWITCH, 0), TRIAD_WITHHELD_PASS);
	ck_assert_int_eq(first(SWITCH, 1), TRIAD_WITHHELD_PASS);
}
END_TEST

START_TEST(test_answer_with_a_status_or_bit_31_and_no_answer_are_opensms)
{
	struct triad_withheld_end end = {.node_guid = HCA, .number = 1, .info = info};

	end.status = INVALID_FIELD;
	ck_assert_int_eq(
		triad_withheld_take(withheld, &end, now_s), TRIAD_WITHHELD_PASS);
	end.status = 0;
	end.has_bit = true;
	ck_assert_int_eq(
		triad_withheld_take(withheld, &end, now_s), TRIAD_WITHHELD_PASS);
	end.has_bit = false;
	end.info = NULL;
	ck_assert_int_eq(
		triad_withheld_take(withheld, &end, now_s), TRIAD_WITHHELD_PASS);
	/* Port 0, too. */
	end.number = 0;
	ck_assert_int_eq(
		triad_withheld_take(withheld, &end, now_s), TRIAD_WITHHELD_PASS);
}
END_TEST

START_TEST(test_second_answer_is_opensms_whatever_it_says)
{
	ck_assert_int_eq(second(HCA, 0, true), TRIAD_WITHHELD_PASS);
	info[STATE] = TRIAD_PORT_DOWN;
	ck_assert_int_eq(second(HCA, 0, true), TRIAD_WITHHELD_PASS);
}
END_TEST

START_TEST(test_what_was_asked_for_plainly_is_opensms)
{
	const struct triad_withheld_end end = {
		.node_guid = HCA, .number = 1, .is_last = true, .info = info};

	ck_assert_int_eq(
		triad_withheld_take(withheld, &end, now_s), TRIAD_WITHHELD_PASS);
}
END_TEST

START_TEST(test_device_that_refuses_is_left_alone_for_a_time)
{
	ck_assert_int_eq(second(HCA, INVALID_FIELD, true), TRIAD_WITHHELD_PLAIN);
	ck_assert_int_eq(first(HCA, 1), TRIAD_WITHHELD_PASS);
	ck_assert_int_eq(first(HCA + 1, 1), TRIAD_WITHHELD_ASK);
	now_s += TRIAD_WITHHELD_SILENT_S - 1;
	ck_assert_int_eq(first(HCA, 1), TRIAD_WITHHELD_PASS);
	now_s++;
	ck_assert_int_eq(first(HCA, 1), TRIAD_WITHHELD_ASK);
}
END_TEST

START_TEST(test_device_that_misses_in_a_row_is_left_alone)
{
	for (unsigned i = 1; i < TRIAD_WITHHELD_MISSES; i++) {
		ck_assert_int_eq(second(HCA, 0, false), TRIAD_WITHHELD_PLAIN);
		ck_assert_int_eq(first(HCA, 1), TRIAD_WITHHELD_ASK);
	}
	/* A MAD was lost now and then. */
	ck_assert_int_eq(second(HCA, 0, true), TRIAD_WITHHELD_PASS);
	for (unsigned i = 1; i < TRIAD_WITHHELD_MISSES; i++) {
		ck_assert_int_eq(second(HCA, 0, false), TRIAD_WITHHELD_PLAIN);
		ck_assert_int_eq(first(HCA, 1), TRIAD_WITHHELD_ASK);
	}
	ck_assert_int_eq(second(HCA, 0, false), TRIAD_WITHHELD_PLAIN);
	ck_assert_int_eq(first(HCA, 1), TRIAD_WITHHELD_PASS);
}
END_TEST

START_TEST(test_refusal_keeps_the_capability_of_a_switch)
{
	(void)first(SWITCH, 0);
	(void)second(SWITCH, INVALID_FIELD, true);
	now_s += TRIAD_WITHHELD_SILENT_S;
	info[CAPABILITIES] = 0;
	ck_assert_int_eq(first(SWITCH, 1), TRIAD_WITHHELD_ASK);
}
END_TEST

/* 48,000 switches have room, and a million more take the place of others. */
START_TEST(test_fabric_of_any_size_has_bounds)
{
	const uint8_t extended = info[CAPABILITIES];
	unsigned n_asked = 0;

	for (uint64_t guid = 1; guid <= 1048576; guid++)
		(void)first(SWITCH + guid * 64, 0);
	for (uint64_t guid = 1; guid <= 48000; guid++)
		(void)first((guid << 24) + 2, 0);
	info[CAPABILITIES] = 0;
	for (uint64_t guid = 48000 - 4000; guid <= 48000; guid++)
		n_asked += first((guid << 24) + 2, 1) == TRIAD_WITHHELD_ASK;
	/* Those of which the last was heard. */
	ck_assert_uint_gt(n_asked, 3000);
	tear_down();
	set_up();
	info[CAPABILITIES] = extended;
	for (uint64_t guid = 1; guid <= 48000; guid++)
		(void)first((guid << 24) + 2, 0);
	info[CAPABILITIES] = 0;
	n_asked = 0;
	for (uint64_t guid = 1; guid <= 48000; guid++)
		n_asked += first((guid << 24) + 2, 1) == TRIAD_WITHHELD_ASK;
	ck_assert_uint_ge(n_asked, 47900);
}
END_TEST

int main(void)
{
	TCase *cases = tcase_create("withheld");

	tcase_add_checked_fixture(cases, set_up, tear_down);
	tcase_add_test(cases, test_port_that_shows_no_extended_speed_is_asked_again);
	tcase_add_test(cases, test_port_that_is_down_is_not);
	tcase_add_test(cases, test_port_that_shows_an_extended_speed_is_not);
	tcase_add_test(cases, test_device_without_the_capability_is_not);
	tcase_add_test(cases, test_ports_of_a_switch_have_the_capability_of_its_port_0);
	tcase_add_test(
		cases, test_answer_with_a_status_or_bit_31_and_no_answer_are_opensms);
	tcase_add_test(cases, test_second_answer_is_opensms_whatever_it_says);
	tcase_add_test(cases, test_what_was_asked_for_plainly_is_opensms);
	tcase_add_test(cases, test_device_that_refuses_is_left_alone_for_a_time);
	tcase_add_test(cases, test_device_that_misses_in_a_row_is_left_alone);
	tcase_add_test(cases, test_refusal_keeps_the_capability_of_a_switch);
	tcase_add_test(cases, test_fabric_of_any_size_has_bounds);
	return run_cases(cases);
}
