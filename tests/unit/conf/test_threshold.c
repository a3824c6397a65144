/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "triad/threshold.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ib/counter.h"
#include "tests/unit/run.h"

static struct triad_threshold threshold;
static char reason[256];

static bool parse(const char *text, unsigned counter)
{
	reason[0] = '\0';
	return triad_threshold_parse(text, counter, &threshold, reason, sizeof(reason));
}

#define ASSERT_PARSED(text, counter, value_, unit_)                                    \
	do {                                                                           \
		ck_assert_msg(parse(text, counter), "%s: %s", text, reason);           \
		ck_assert_double_eq(threshold.value, value_);                          \
		ck_assert_uint_eq(threshold.unit, unit_);                              \
	} while (0)

#define ASSERT_REFUSED(text, counter, word)                                            \
	do {                                                                           \
		threshold = (struct triad_threshold){7, 7};                            \
		ck_assert_msg(!parse(text, counter), "%s taken", text);                \
		ck_assert_msg(strstr(reason, word) != NULL, "'%s' isn't in '%s'",      \
			word, reason);                                                 \
		ck_assert_double_eq(threshold.value, 7);                               \
		ck_assert_uint_eq(threshold.unit, 7);                                  \
	} while (0)

START_TEST(test_threshold_units_taken)
{
	ASSERT_PARSED("10/sweep", 0, 10, TRIAD_THRESHOLD_PER_SWEEP);
	ASSERT_PARSED("0.5/s", 0, 0.5, TRIAD_THRESHOLD_PER_S);
	ASSERT_PARSED(".5 /S", 0, 0.5, TRIAD_THRESHOLD_PER_S);
	ASSERT_PARSED("25%", TRIAD_PORT_XMIT_WAIT, 25, TRIAD_THRESHOLD_PERCENT);
	ASSERT_PARSED("100 %", TRIAD_PORT_XMIT_DATA, 100, TRIAD_THRESHOLD_PERCENT);
	ASSERT_PARSED("1e15/sweep", 0, 1e15, TRIAD_THRESHOLD_PER_SWEEP);
	ASSERT_PARSED("OFF", 0, 0, TRIAD_THRESHOLD_OFF);
	ASSERT_PARSED("inherit", 0, 0, TRIAD_THRESHOLD_INHERIT);
}
END_TEST

START_TEST(test_threshold_garbage_refused)
{
	static const char *const invalid[] = {"", " ", "ten/sweep", "-1/s", "+1/s",
		" 1/s", "inf/s", "nan/s", "0x10/s", "/s", "%", "off/s", "1/s off"};

	for (size_t i = 0; i < sizeof(invalid) / sizeof(invalid[0]); i++)
		ASSERT_REFUSED(invalid[i], 0, "10/sweep");
	ASSERT_REFUSED("10", 0, "has no unit");
	ASSERT_REFUSED("10/h", 0, "unknown unit");
	ASSERT_REFUSED("1e/s", 0, "unknown unit");
	ASSERT_REFUSED("1,5/s", 0, "unknown unit");
}
END_TEST

START_TEST(test_threshold_zero_is_to_be_written_off)
{
	ASSERT_REFUSED("0/sweep", 0, "write 'off'");
	ASSERT_REFUSED("0", 0, "write 'off'");
	ASSERT_REFUSED("0.0/s", 0, "write 'off'");
	ASSERT_REFUSED("1e-999/s", 0, "write 'off'");
	ASSERT_REFUSED("0%", TRIAD_PORT_XMIT_WAIT, "write 'off'");
}
END_TEST

START_TEST(test_threshold_too_large_refused)
{
	ASSERT_REFUSED("1.001e15/s", 0, "more than 1e15");
	ASSERT_REFUSED("1e999/s", 0, "more than 1e15");
	ASSERT_REFUSED("100.5%", TRIAD_PORT_XMIT_WAIT, "more than 100%");
}
END_TEST

START_TEST(test_threshold_percent_of_bandwidth_alone)
{
	for (unsigned i = 0; i < TRIAD_N_COUNTERS; i++) {
		bool may = i == TRIAD_PORT_XMIT_WAIT || i == TRIAD_PORT_XMIT_DATA ||
			i == TRIAD_PORT_RCV_DATA;

		ck_assert_msg(parse("50%", i) == may, "%s", triad_counters[i].name);
		ck_assert(may == !strstr(reason, "bandwidth"));
		ck_assert(parse("50/s", i));
	}
}
END_TEST

static void assert_same_again(double value, enum triad_threshold_unit unit)
{
	struct triad_threshold first = {value, (unsigned char)unit};
	char text[TRIAD_THRESHOLD_TEXT_SIZE];

	triad_threshold_format(&first, text, sizeof(text));
	ASSERT_PARSED(text, TRIAD_PORT_XMIT_WAIT, value, unit);
}

START_TEST(test_threshold_format_parses_to_the_same)
{
	char text[TRIAD_THRESHOLD_TEXT_SIZE];

	ck_assert(parse("0.1/s", 0));
	triad_threshold_format(&threshold, text, sizeof(text));
	ck_assert_str_eq(text, "0.1/s");
	assert_same_again(0, TRIAD_THRESHOLD_OFF);
	assert_same_again(0, TRIAD_THRESHOLD_INHERIT);
	assert_same_again(1e15, TRIAD_THRESHOLD_PER_SWEEP);
	assert_same_again(5e-324, TRIAD_THRESHOLD_PER_S);
	srand(44);
	for (int i = 0; i < 10000; i++)
		assert_same_again(100.0 * (rand() + 1.0) / (RAND_MAX + 1.0),
			TRIAD_THRESHOLD_PER_SWEEP + i % 3);
}
END_TEST

int main(void)
{
	TCase *cases = tcase_create("threshold");

	tcase_add_test(cases, test_threshold_units_taken);
	tcase_add_test(cases, test_threshold_garbage_refused);
	tcase_add_test(cases, test_threshold_zero_is_to_be_written_off);
	tcase_add_test(cases, test_threshold_too_large_refused);
	tcase_add_test(cases, test_threshold_percent_of_bandwidth_alone);
	tcase_add_test(cases, test_threshold_format_parses_to_the_same);
	return run_cases(cases);
}
