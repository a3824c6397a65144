/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* service/command/format.h: three digits that count, whatever the size. */
#include <math.h>

#include "ib/counter.h"
#include "service/command/format.h"
#include "tests/unit/run.h"

static const struct {
	unsigned counter;
	double value;
	const char *text;
} cases[] = {
	{TRIAD_PORT_XMIT_PKTS, 0, "0"},
	/* The lowest rate that a histogram tells from none. */
	{TRIAD_PORT_XMIT_PKTS, 1.0 / 4096, "0.000244"},
	{TRIAD_PORT_XMIT_PKTS, 0.0625, "0.0625"},
	{TRIAD_PORT_XMIT_PKTS, 1.875, "1.88"},
	{TRIAD_PORT_XMIT_PKTS, 99.949, "99.9"},
	{TRIAD_PORT_XMIT_PKTS, 99.951, "100"},
	{TRIAD_PORT_XMIT_PKTS, 999.4, "999"},
	{TRIAD_PORT_XMIT_PKTS, 999.5, "1.00 k"},
	{TRIAD_PORT_XMIT_PKTS, 53248, "53.2 k"},
	{TRIAD_PORT_XMIT_DATA, 0.0625, "0.25 B"},
	{TRIAD_PORT_XMIT_DATA, 3.2e9, "12.8 GB"},
	{TRIAD_SYMBOL_ERROR_COUNTER, 0.25, "0.25"},
	{TRIAD_SYMBOL_ERROR_COUNTER, 123456, "123456"},
	{TRIAD_SYMBOL_ERROR_COUNTER, NAN, "-"},
};

START_TEST(test_value_has_three_digits_that_count)
{
	char text[32];

	triad_command_format_counter(
		text, sizeof(text), cases[_i].counter, cases[_i].value);
	ck_assert_str_eq(text, cases[_i].text);
}
END_TEST

int main(void)
{
	TCase *values = tcase_create("values");

	tcase_add_loop_test(values, test_value_has_three_digits_that_count, 0,
		sizeof(cases) / sizeof(cases[0]));
	return run_cases(values);
}
