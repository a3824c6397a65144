/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "triad/threshold.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <glib.h>

#include "lib/text.h"
#include "ib/counter.h"

/* In the order of enum triad_threshold_unit; the first two are the whole text. */
static const char *const words[] = {"inherit", "off", "/sweep", "/s", "%"};

#define N_UNITS (sizeof(words) / sizeof(words[0]))
#define N_WHOLE 2

/* Whether a counter's threshold can be a percentage of the link's bandwidth. */
static bool has_percent(unsigned counter)
{
	return triad_counters[counter].unit == TRIAD_UNIT_WORDS ||
		triad_counters[counter].unit == TRIAD_UNIT_TICKS;
}

static bool refuse_threshold(
	const char *text, unsigned counter, const char *what, char *reason, size_t size)
{
	snprintf(reason, size,
		"'%.40s' %s; allowed are such as 10/sweep, 0.5/s%s and off", text, what,
		has_percent(counter) ? ", 25%" : "");
	return false;
}

/* Parses a plain number: g_ascii_strtod() alone also takes "inf", "0x1p3", " 1". */
static bool parse_number(const char *text, double *value, const char **end)
{
	char *stop;

	if (!g_ascii_isdigit(*text) && *text != '.')
		return false;
	if (text[0] == '0' && (text[1] == 'x' || text[1] == 'X'))
		return false;
	*value = g_ascii_strtod(text, &stop);
	*end = stop + strspn(stop, " \t");
	return stop > text;
}

/* Returns the index of 'text' among words[first] to words[last - 1]; or 'last'. */
static size_t find_word(const char *text, size_t first, size_t last)
{
	while (first < last && g_ascii_strcasecmp(text, words[first]))
		first++;
	return first;
}

static const char *check_value(double value, size_t unit, unsigned counter)
{
	if (unit == TRIAD_THRESHOLD_PERCENT && !has_percent(counter))
		return "is of the link's bandwidth, which this counter isn't";
	if (!(value > 0))
		return "would be an alert at each sweep: write 'off' for none";
	if (value > TRIAD_THRESHOLD_MAX)
		return "is more than 1e15";
	if (unit == TRIAD_THRESHOLD_PERCENT && value > 100)
		return "is more than 100%";
	return NULL;
}

bool triad_threshold_parse(const char *text, unsigned counter,
	struct triad_threshold *threshold, char *reason, size_t size)
{
	size_t unit = find_word(text, 0, N_WHOLE);
	const char *end, *trouble = NULL;
	double value = 0;

	if (unit == N_WHOLE) {
		if (!parse_number(text, &value, &end))
			return refuse_threshold(
				text, counter, "isn't a threshold", reason, size);
		unit = find_word(end, N_WHOLE, N_UNITS);
		if (unit == N_UNITS && value <= 0 && !*end)
			unit = TRIAD_THRESHOLD_PER_SWEEP; /* a bare 0 means 'off' */
		if (unit == N_UNITS)
			return refuse_threshold(text, counter,
				*end ? "has an unknown unit" : "has no unit", reason,
				size);
		trouble = check_value(value, unit, counter);
	}
	if (trouble)
		return refuse_threshold(text, counter, trouble, reason, size);
	/* Member by member, so that padding stays 0 for memcmp(). */
	threshold->value = value;
	threshold->unit = (unsigned char)unit;
	return true;
}

/* Formats a number with the fewest digits that give the same value again. */
static void format_number(double value, char *text, int size)
{
	static const char *const formats[] = {"%.15g", "%.16g", "%.17g"};

	for (size_t i = 0; i < 3; i++) {
		double again;

		again = g_ascii_strtod(
			g_ascii_formatd(text, size, formats[i], value), NULL);
		if (!(again < value) && !(again > value))
			return;
	}
}

void triad_threshold_format(
	const struct triad_threshold *threshold, char *text, size_t size)
{
	char number[32] = "";

	if (threshold->unit >= N_WHOLE)
		format_number(threshold->value, number, sizeof(number));
	snprintf(text, size, "%s%s", number, words[threshold->unit]);
}
