/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "service/command/format.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "ib/counter.h"
#include "lib/text.h"

/* "1.23 GB", "0.0625": three significant digits. */
static void format_scaled(char *text, size_t size, double value, const char *unit)
{
	static const char *const prefixes[] = {"", "k", "M", "G", "T", "P", "E"};
	unsigned i = 0;

	while (value >= 999.5 && i < 6) {
		value /= 1000;
		i++;
	}
	if (i == 0 && value < 99.95)
		/* A small rate needs its digits behind the zeros. */
		snprintf(text, size, "%.3g%s%s", value, unit[0] ? " " : "", unit);
	else
		snprintf(text, size, "%.*f%s%s%s",
			value >= 99.95           ? 0
				: value >= 9.995 ? 1
						 : 2,
			value, prefixes[i][0] || unit[0] ? " " : "", prefixes[i], unit);
}

void triad_command_format_counter(
	char *text, size_t size, enum triad_counter_unit unit, double value)
{
	if (isnan(value))
		snprintf(text, size, "-");
	else if (unit == TRIAD_UNIT_EVENTS && value < 1e7)
		snprintf(text, size, value < 100 ? "%.4g" : "%.0f", value);
	else
		format_scaled(text, size, value * triad_command_scale(unit),
			unit == TRIAD_UNIT_WORDS ? "B" : "");
}

unsigned triad_command_scale(enum triad_counter_unit unit)
{
	return unit == TRIAD_UNIT_WORDS ? 4 : 1;
}

void triad_command_put_wrapped(
	struct triad_output *output, const char *text, unsigned column, unsigned indent)
{
	for (;;) {
		unsigned room = column < TRIAD_COMMAND_COLUMNS
			? TRIAD_COMMAND_COLUMNS - column
			: 1;
		size_t n = triad_text_fit_words(text, room);

		triad_output_printf(output, "%.*s\n", (int)n, text);
		text += n;
		text += strspn(text, " ");
		if (!*text)
			return;
		triad_output_printf(output, "%*s", (int)indent, "");
		column = indent;
	}
}

void triad_command_put_left_out(
	struct triad_output *output, uint32_t n_left_out, uint32_t n, const char *what)
{
	if (n_left_out)
		triad_output_printf(output,
			"%" PRIu32 " %s; '-n %" PRIu32 "' shows them too\n", n_left_out,
			what, n);
}

int triad_command_width(const char *text)
{
	int width = 0;

	for (; *text; text++)
		width += (*text & 0xc0) != 0x80;
	return width;
}
