/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "lib/quantity.h"

#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* The largest number before a unit: more is too large in any unit. */
#define MAX_NUMBER (UINT64_C(1) << 42)

static const struct {
	const char *name;
	uint32_t ms;
} times[] = {{"ms", 1}, {"s", 1000}, {"m", 60 * 1000}, {"h", 3600 * 1000},
	{"d", 24 * 3600 * 1000}};

/* 0: no unit of time. */
static uint32_t time_ms(const char *unit)
{
	for (unsigned i = 0; i < sizeof(times) / sizeof(times[0]); i++)
		if (!strcmp(unit, times[i].name))
			return times[i].ms;
	return 0;
}

enum triad_quantity triad_quantity_parse(
	const char *text, const char *unit, unsigned *value)
{
	size_t n_digits = strspn(text, "0123456789");
	const char *behind = text + n_digits + strspn(text + n_digits, " \t");
	uint64_t number = 0, from, to;

	/* "1.5 s" is no whole number, rather than one with the unit ".5 s". */
	if (!n_digits || *behind == '.' || *behind == ',')
		return TRIAD_QUANTITY_NO_NUMBER;
	for (size_t i = 0; i < n_digits && number < MAX_NUMBER; i++)
		number = number * 10 + (uint64_t)(text[i] - '0');
	if (number >= MAX_NUMBER)
		return TRIAD_QUANTITY_TOO_LARGE;
	if (*behind && strcmp(behind, unit)) {
		from = time_ms(behind);
		to = time_ms(unit);
		if (!from || !to)
			return TRIAD_QUANTITY_OTHER_UNIT;
		number *= from;
		if (number % to)
			return TRIAD_QUANTITY_FRACTION;
		number /= to;
	}
	if (number > UINT_MAX)
		return TRIAD_QUANTITY_TOO_LARGE;
	*value = (unsigned)number;
	return TRIAD_QUANTITY_OK;
}

void triad_quantity_explain(enum triad_quantity refusal, const char *text,
	const char *unit, char *reason, size_t size)
{
	switch (refusal) {
	case TRIAD_QUANTITY_OK:
	case TRIAD_QUANTITY_NO_NUMBER:
		snprintf(reason, size, "'%.80s' isn't a whole number", text);
		break;
	case TRIAD_QUANTITY_OTHER_UNIT:
		if (time_ms(unit))
			snprintf(reason, size,
				"'%.80s' has another unit than ms, s, m, h or d", text);
		else if (*unit)
			snprintf(reason, size, "'%.80s' has another unit than %s", text,
				unit);
		else
			snprintf(reason, size,
				"'%.80s' has a unit, and this is a mere number", text);
		break;
	case TRIAD_QUANTITY_FRACTION:
		snprintf(
			reason, size, "'%.80s' isn't a whole number of %s", text, unit);
		break;
	case TRIAD_QUANTITY_TOO_LARGE:
		snprintf(reason, size, "%.80s is out of range", text);
		break;
	}
}
