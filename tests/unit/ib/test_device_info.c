/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Data of devices about themselves: which queries Triad sends, and registers in
 * mstflint's layout. */
#include "ib/device_info.h"

#include <stdio.h>
#include <string.h>

#include "tests/unit/run.h"

static struct triad_device_info info;
static uint8_t mad[TRIAD_MAD_SIZE];

static void set_up(void)
{
	memset(&info, 0, sizeof(info));
	memset(mad, 0, sizeof(mad));
}

/* An answer to 'query' without data. */
static void begin_answer(const struct triad_device_query *query)
{
	triad_device_encode(mad, query, 1);
	mad[3] = TRIAD_MAD_METHOD_GET_RESPONSE;
}

static void put(unsigned at, size_t n, uint64_t value)
{
	for (size_t i = 0; i < n; i++)
		mad[at + i] = (uint8_t)(value >> 8 * (n - 1 - i));
}

enum { GENERAL = 32, REGISTER = 36 };

static void tell_general(bool has_registers)
{
	const struct triad_device_query query = {.part = TRIAD_DEVICE_GENERAL};

	begin_answer(&query);
	put(GENERAL, 2, 0xa0);
	put(GENERAL + 2, 2, 0xd2f0);
	put(GENERAL + 0x1c, 4, 12345);
	memcpy(mad + GENERAL + 0x30, "MT_0000000063\0\0\0", 16);
	put(GENERAL + 0x44, 4, 27);
	put(GENERAL + 0x48, 4, 2010);
	put(GENERAL + 0x4c, 4, 3118);
	put(GENERAL + 0x80, 4, has_registers ? 1u << 20 : 0);
	ck_assert_int_eq(triad_device_take(&info, &query, mad), TRIAD_DEVICE_ANSWERED);
}

/* The queries in their order, as "0 1 3/2": part, or part/instance. */
static const char *questions(void)
{
	static char text[256];
	struct triad_device_query query, last;
	bool has_last = false;

	text[0] = '\0';
	while (triad_device_next(&info, has_last ? &last : NULL, &query)) {
		char part[16];

		snprintf(part, sizeof(part), query.index ? "%s%d/%d" : "%s%d",
			text[0] ? " " : "", query.part, query.index);
		strcat(text, part);
		last = query;
		has_last = true;
	}
	return text;
}

/* Row: N6 */
START_TEST(test_general_info_has_firmware_and_whether_there_are_registers)
{
	ck_assert_str_eq(questions(), "0");
	tell_general(false);
	ck_assert_uint_eq(info.firmware[0], 27);
	ck_assert_uint_eq(info.firmware[1], 2010);
	ck_assert_uint_eq(info.firmware[2], 3118);
	ck_assert_str_eq(info.psid, "MT_0000000063");
	ck_assert_uint_eq(info.uptime_s, 12345);
	ck_assert_uint_eq(info.device_id, 0xd2f0);
	ck_assert_uint_eq(info.hardware_revision, 0xa0);
	ck_assert_str_eq(questions(), "0");
	tell_general(true);
	ck_assert_str_eq(questions(), "0 1 2 4 6 7");
}
END_TEST

START_TEST(test_old_device_has_the_short_version)
{
	const struct triad_device_query query = {.part = TRIAD_DEVICE_GENERAL};

	begin_answer(&query);
	put(GENERAL + 0x21, 1, 7);
	put(GENERAL + 0x22, 1, 4);
	put(GENERAL + 0x23, 1, 2);
	put(GENERAL + 0x44, 4, 0x00010203); /* the software's */
	triad_device_take(&info, &query, mad);
	ck_assert_uint_eq(info.firmware[0], 7);
	ck_assert_uint_eq(info.firmware[1], 4);
	ck_assert_uint_eq(info.firmware[2], 2);
}
END_TEST

static void take_answer(
	enum triad_device_part part, uint8_t index, void (*fill)(uint8_t *octets))
{
	const struct triad_device_query query = {.part = part, .index = index};

	begin_answer(&query);
	fill(mad + REGISTER);
	ck_assert_int_eq(triad_device_take(&info, &query, mad), TRIAD_DEVICE_ANSWERED);
}

static void fill_msgi(uint8_t *octets)
{
	memcpy(octets, "MT2113X01234", 12);
	memcpy(octets + 0x20, "MQM8790-HS2F", 12);
	memcpy(octets + 0x38, "AG\x1b ", 4);
	memcpy(octets + 0x40, "Jaguar", 6);
}

static void fill_sensor_map(uint8_t *octets)
{
	octets[15] = 0x05; /* sensors 0 and 2 */
	octets[8] = 0x80;  /* and 63 */
}

static void fill_temperature(uint8_t *octets)
{
	memcpy(octets + 4, "\0\0\x02\x08", 4);   /* 65 */
	memcpy(octets + 8, "\x80\0\x02\x80", 4); /* 80, measured */
	memcpy(octets + 12, "\0\0\x03\x48", 4);  /* 105 */
	memcpy(octets + 0x18, "asic\0\0\0\0", 8);
}

static void fill_frost(uint8_t *octets)
{
	memcpy(octets + 4, "\0\0\xff\xe6", 4);
	memcpy(octets + 12, "\0\0\x03\x48", 4);
}

static void fill_fan_map(uint8_t *octets)
{
	octets[4] = 0x04; /* tachometer 10 */
	octets[5] = 0x02; /* and 1 */
}

static void fill_fan(uint8_t *octets)
{
	memcpy(octets + 4, "\0\0\x18\x38", 4);
}

static void fill_slow_and_fast(uint8_t *octets)
{
	octets[0] = 0x04; /* tachometer 10 is slow */
	octets[5] = 0x02; /* and 1 fast */
}

static void fill_fast(uint8_t *octets)
{
	octets[5] = 0x0a;
}

static void fill_nothing(uint8_t *octets)
{
	(void)octets;
}

static void fill_supplies(uint8_t *octets)
{
	memcpy(octets, "\x50\0\0\x10\0\0\0\x02\x80\0\0\x7b", 12);
	memcpy(octets + 16, "SN1234567890", 12);
	memcpy(octets + 48, "MTEF-PSF-AC-A   ", 16);
	memcpy(octets + 0x50, "\x50\0\0\x00\0\0\0\x03", 8);
}

/* Row: N6 */
START_TEST(test_registers_have_sensors_fans_and_supplies)
{
	tell_general(true);
	take_answer(TRIAD_DEVICE_MSGI, 0, fill_msgi);
	ck_assert_str_eq(info.serial, "MT2113X01234");
	ck_assert_str_eq(info.part, "MQM8790-HS2F");
	ck_assert_str_eq(info.revision, "AG?");
	ck_assert_str_eq(info.product, "Jaguar");
	take_answer(TRIAD_DEVICE_MTCAP, 0, fill_sensor_map);
	take_answer(TRIAD_DEVICE_MFCR, 0, fill_fan_map);
	/* Triad doesn't query constant data again. */
	ck_assert_str_eq(questions(), "0 3 3/2 3/63 5/1 5/10 6 7");
	take_answer(TRIAD_DEVICE_MTMP, 0, fill_temperature);
	take_answer(TRIAD_DEVICE_MTMP, 2, fill_frost);
	take_answer(TRIAD_DEVICE_MTMP, 0, fill_temperature);
	ck_assert_uint_eq(info.n_sensors, 2);
	ck_assert_str_eq(info.sensors[0].name, "asic");
	ck_assert_int_eq(info.sensors[0].now, 65 * 8);
	ck_assert_int_eq(info.sensors[0].most, 80 * 8);
	ck_assert_int_eq(info.sensors[0].limit, 105 * 8);
	ck_assert_int_eq(info.sensors[1].now, -26);
	ck_assert_int_eq(info.sensors[1].most, 0);
	take_answer(TRIAD_DEVICE_MFSM, 10, fill_fan);
	ck_assert_uint_eq(info.n_fans, 1);
	ck_assert_uint_eq(info.fans[0].index, 10);
	ck_assert_uint_eq(info.fans[0].rpm, 6200);
	take_answer(TRIAD_DEVICE_MSPS, 0, fill_supplies);
	ck_assert_uint_eq(info.n_supplies, 2);
	ck_assert_uint_eq(info.supplies[0].state, TRIAD_SUPPLY_OK);
	ck_assert_uint_eq(info.supplies[0].fan, TRIAD_SUPPLY_OK);
	ck_assert_uint_eq(info.supplies[0].watts, 123);
	ck_assert_str_eq(info.supplies[0].serial, "SN1234567890");
	ck_assert_str_eq(info.supplies[0].part, "MTEF-PSF-AC-A");
	ck_assert_uint_eq(info.supplies[1].state, TRIAD_SUPPLY_FAILED);
	ck_assert_uint_eq(info.supplies[1].fan, TRIAD_SUPPLY_UNKNOWN);
}
END_TEST

static void fill_all_ones(uint8_t *octets)
{
	memset(octets, 0xff, TRIAD_MAD_SIZE - REGISTER);
}

START_TEST(test_more_sensors_and_fans_than_there_is_room_for_are_not_asked)
{
	struct triad_device_query query, last;
	unsigned n = 0;

	tell_general(true);
	take_answer(TRIAD_DEVICE_MTCAP, 0, fill_all_ones);
	take_answer(TRIAD_DEVICE_MFCR, 0, fill_all_ones);
	for (bool has_last = false;
		triad_device_next(&info, has_last ? &last : NULL, &query);
		has_last = true, n++) {
		begin_answer(&query);
		last = query;
		if (query.part == TRIAD_DEVICE_MTMP || query.part == TRIAD_DEVICE_MFSM)
			triad_device_take(&info, &query, mad);
	}
	ck_assert_uint_eq(info.n_sensors, TRIAD_DEVICE_MAX_SENSORS);
	ck_assert_uint_eq(info.n_fans, TRIAD_DEVICE_MAX_FANS);
	ck_assert_uint_eq(n, TRIAD_DEVICE_MAX_SENSORS + TRIAD_DEVICE_MAX_FANS + 4u);
	/* There is no room for answers to queries that weren't sent either. */
	take_answer(TRIAD_DEVICE_MTMP, 63, fill_temperature);
	take_answer(TRIAD_DEVICE_MFSM, 99, fill_fan);
	ck_assert_uint_eq(info.n_sensors, TRIAD_DEVICE_MAX_SENSORS);
	ck_assert_uint_eq(info.n_fans, TRIAD_DEVICE_MAX_FANS);
}
END_TEST

/* Row: N6 */
START_TEST(test_what_is_refused_is_not_asked_again)
{
	const struct triad_device_query msps = {.part = TRIAD_DEVICE_MSPS};
	const struct triad_device_query general = {.part = TRIAD_DEVICE_GENERAL};

	tell_general(true);
	begin_answer(&msps);
	put(4, 2, 20);
	ck_assert_int_eq(triad_device_take(&info, &msps, mad), TRIAD_DEVICE_REFUSED);
	ck_assert_str_eq(questions(), "0 1 2 4 7");
	/* Triad repeats a query to a busy device. */
	begin_answer(&general);
	put(4, 2, 1);
	ck_assert_int_eq(triad_device_take(&info, &general, mad), TRIAD_DEVICE_BUSY);
	ck_assert_str_eq(questions(), "0 1 2 4 7");
	/* An answer with another attribute counts as a refusal. */
	begin_answer(&msps);
	ck_assert_int_eq(triad_device_take(&info, &general, mad), TRIAD_DEVICE_REFUSED);
	ck_assert_str_eq(questions(), "1 2 4 7");
}
END_TEST

/* Row: N6 */
START_TEST(test_device_is_judged_by_its_answers)
{
	double value, limit;
	unsigned index;

	tell_general(true);
	take_answer(TRIAD_DEVICE_MTMP, 0, fill_temperature);
	take_answer(TRIAD_DEVICE_MFSM, 3, fill_fan);
	ck_assert_int_eq(
		triad_device_judge(&info, &index, &value, &limit), TRIAD_DEVICE_FINE);
	take_answer(TRIAD_DEVICE_MSPS, 0, fill_supplies);
	ck_assert_int_eq(triad_device_judge(&info, &index, &value, &limit),
		TRIAD_DEVICE_SUPPLY_FAILED);
	ck_assert_uint_eq(index, 1);
	take_answer(TRIAD_DEVICE_FORE, 0, fill_fast);
	ck_assert_int_eq(triad_device_judge(&info, &index, &value, &limit),
		TRIAD_DEVICE_FAN_FAST);
	ck_assert_uint_eq(index, 1);
	take_answer(TRIAD_DEVICE_FORE, 0, fill_slow_and_fast);
	ck_assert_int_eq(triad_device_judge(&info, &index, &value, &limit),
		TRIAD_DEVICE_FAN_SLOW);
	ck_assert_uint_eq(index, 10);
	take_answer(TRIAD_DEVICE_FORE, 0, fill_nothing);
	ck_assert_int_eq(triad_device_judge(&info, &index, &value, &limit),
		TRIAD_DEVICE_SUPPLY_FAILED);
	info.fans[0].rpm = 0;
	ck_assert_int_eq(triad_device_judge(&info, &index, &value, &limit),
		TRIAD_DEVICE_FAN_STANDS);
	ck_assert_uint_eq(index, 3);
	info.sensors[0].now = 105 * 8 + 1;
	ck_assert_int_eq(
		triad_device_judge(&info, &index, &value, &limit), TRIAD_DEVICE_HOT);
	ck_assert_double_eq(limit, 105);
}
END_TEST

START_TEST(test_question_is_a_get_of_the_vendors_class)
{
	const struct triad_device_query general = {.part = TRIAD_DEVICE_GENERAL};
	const struct triad_device_query sensor = {
		.part = TRIAD_DEVICE_MTMP, .index = 2};
	const struct triad_device_query fan = {
		.part = TRIAD_DEVICE_MFSM, .index = 0x1a};

	triad_device_encode(mad, &general, 7);
	ck_assert_mem_eq(mad, "\x01\x0a\x01\x01\0\0\0\0\0\0\0\0\0\0\0\x07\0\x17", 18);
	triad_device_encode(mad, &sensor, 7);
	ck_assert_mem_eq(mad + 16, "\0\x51\0\0\0\0\x90\x0a", 8);
	ck_assert_mem_eq(mad + 36, "\0\0\0\x02", 4);
	triad_device_encode(mad, &fan, 7);
	ck_assert_mem_eq(mad + 16, "\0\x51\0\0\0\0\x90\x03", 8);
	ck_assert_mem_eq(mad + 36, "\x1a\0\0\0", 4);
}
END_TEST

START_TEST(test_vendors_that_are_asked)
{
	ck_assert(triad_device_is_known_vendor(0x0002c9));
	ck_assert(triad_device_is_known_vendor(0x0008f1));
	ck_assert(!triad_device_is_known_vendor(0x00066a));
	ck_assert(!triad_device_is_known_vendor(0));
}
END_TEST

int main(void)
{
	TCase *cases = tcase_create("device_info");

	tcase_add_checked_fixture(cases, set_up, NULL);
	tcase_add_test(
		cases, test_general_info_has_firmware_and_whether_there_are_registers);
	tcase_add_test(cases, test_old_device_has_the_short_version);
	tcase_add_test(cases, test_registers_have_sensors_fans_and_supplies);
	tcase_add_test(
		cases, test_more_sensors_and_fans_than_there_is_room_for_are_not_asked);
	tcase_add_test(cases, test_what_is_refused_is_not_asked_again);
	tcase_add_test(cases, test_device_is_judged_by_its_answers);
	tcase_add_test(cases, test_question_is_a_get_of_the_vendors_class);
	tcase_add_test(cases, test_vendors_that_are_asked);
	return run_cases(cases);
}
