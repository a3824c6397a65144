/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "lib/quantity.h"

#include <string.h>

#include "tests/unit/mentions.h"

static void check(const char *text, const char *unit, unsigned expected)
{
	unsigned value = 0;

	ck_assert_msg(triad_quantity_parse(text, unit, &value) == TRIAD_QUANTITY_OK &&
			value == expected,
		"'%s' in '%s': %u", text, unit, value);
}

#define ASSERT_REFUSED(text, unit, refusal, words)                                     \
	do {                                                                           \
		unsigned value = 77;                                                   \
		char reason[128];                                                      \
                                                                                       \
		ck_assert_int_eq(triad_quantity_parse(text, unit, &value), refusal);   \
		ck_assert_uint_eq(value, 77);                                          \
		triad_quantity_explain(refusal, text, unit, reason, sizeof(reason));   \
		assert_mentions(reason, words);                                        \
	} while (0)

START_TEST(test_number_alone_or_with_its_unit)
{
	check("10", "s", 10);
	check("10", "", 10);
	check("10 s", "s", 10);
	check("10s", "s", 10);
	check("10 \ts", "s", 10);
	check("7 MB", "MB", 7);
	check("50%", "%", 50);
	check("3 sweeps", "sweeps", 3);
	check("0", "s", 0);
	check("4294967295", "kB", 4294967295u);
}
END_TEST

START_TEST(test_time_in_another_unit_converted)
{
	check("5m", "s", 300);
	check("2h", "s", 7200);
	check("2 h", "ms", 7200000);
	check("500ms", "ms", 500);
	check("3000 ms", "s", 3);
	check("0 ms", "h", 0);
	check("1d", "h", 24);
	check("120 m", "h", 2);
	check("49710 d", "s", 4294944000u);
}
END_TEST

START_TEST(test_others_refused_with_the_reason)
{
	ASSERT_REFUSED("", "s", TRIAD_QUANTITY_NO_NUMBER, "'' whole number");
	ASSERT_REFUSED("-1", "s", TRIAD_QUANTITY_NO_NUMBER, "'-1' whole number");
	ASSERT_REFUSED("0.5 h", "s", TRIAD_QUANTITY_NO_NUMBER, "'0.5 h' whole number");
	ASSERT_REFUSED("s", "s", TRIAD_QUANTITY_NO_NUMBER, "'s' whole number");
	ASSERT_REFUSED("10 MB", "s", TRIAD_QUANTITY_OTHER_UNIT, "'10 MB' ms s m h d");
	ASSERT_REFUSED("10 S", "s", TRIAD_QUANTITY_OTHER_UNIT, "'10 S' ms s m h d");
	ASSERT_REFUSED("10 s", "MB", TRIAD_QUANTITY_OTHER_UNIT, "'10 s' MB");
	ASSERT_REFUSED("10 s", "", TRIAD_QUANTITY_OTHER_UNIT, "'10 s' unit");
	ASSERT_REFUSED("500ms", "s", TRIAD_QUANTITY_FRACTION, "'500ms' whole s");
	ASSERT_REFUSED("90 m", "h", TRIAD_QUANTITY_FRACTION, "'90 m' whole h");
	ASSERT_REFUSED("4294967296", "s", TRIAD_QUANTITY_TOO_LARGE, "4294967296 range");
	ASSERT_REFUSED("50 d", "ms", TRIAD_QUANTITY_TOO_LARGE, "50 d range");
	ASSERT_REFUSED("99999999999999999999999999", "s", TRIAD_QUANTITY_TOO_LARGE,
		"99999999999999999999999999 range");
}
END_TEST

int main(void)
{
	TCase *cases = tcase_create("quantity");

	tcase_add_test(cases, test_number_alone_or_with_its_unit);
	tcase_add_test(cases, test_time_in_another_unit_converted);
	tcase_add_test(cases, test_others_refused_with_the_reason);
	return run_cases(cases);
}
