/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "perfmgr/formats/exposition.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include <glib.h>

/* --- headers --- */

static const char *unit_of(const char *name, enum triad_metric_type type)
{
	static const char *const units[] = {"bytes_per_second", "seconds", "bytes"};
	size_t length = strlen(name);

	if (type == TRIAD_METRIC_INFO)
		return NULL;
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		size_t n = strlen(units[i]);

		if (length > n + 1 && name[length - n - 1] == '_' &&
			!strcmp(name + length - n, units[i]))
			return units[i];
	}
	return NULL;
}

const char *triad_exposition_suffix(enum triad_metric_type type)
{
	static const char *const suffixes[] = {"_total", "", "_info", ""};

	return suffixes[type];
}

static void put_header_line(struct triad_exposition *writer, const char *what,
	const char *name, const char *suffix, const char *text)
{
	triad_exposition_puts(writer, what);
	triad_exposition_puts(writer, name);
	triad_exposition_puts(writer, suffix);
	triad_exposition_put(writer, " ", 1);
	triad_exposition_puts(writer, text);
	triad_exposition_put(writer, "\n", 1);
}

void triad_exposition_header(struct triad_exposition *writer,
	enum triad_exposition_format format, enum triad_metric_type type,
	const char *name, const char *help)
{
	static const char *const types[] = {"counter", "gauge", "info", "histogram"};
	bool is_open = format == TRIAD_EXPOSITION_OPENMETRICS;
	const char *suffix = is_open ? "" : triad_exposition_suffix(type);
	const char *unit = is_open ? unit_of(name, type) : NULL;

	put_header_line(writer, "# HELP ", name, suffix, help);
	put_header_line(writer, "# TYPE ", name, suffix,
		!is_open && type == TRIAD_METRIC_INFO ? "gauge" : types[type]);
	if (unit)
		put_header_line(writer, "# UNIT ", name, "", unit);
}

/* --- labels --- */

void triad_exposition_value(
	struct triad_exposition *writer, const char *text, size_t length)
{
	for (size_t i = 0; i < length; i++) {
		if (text[i] == '\n')
			triad_exposition_put(writer, "\\n", 2);
		else if (text[i] == '"')
			triad_exposition_put(writer, "\\\"", 2);
		else if (text[i] == '\\')
			triad_exposition_put(writer, "\\\\", 2);
		else
			triad_exposition_put(writer, &text[i], 1);
	}
}

void triad_exposition_guid(struct triad_exposition *writer, uint64_t guid)
{
	char text[18] = "0x";

	for (unsigned i = 0; i < 16; i++)
		text[2 + i] = "0123456789abcdef"[guid >> (60 - 4 * i) & 15];
	triad_exposition_put(writer, text, sizeof(text));
}

/* --- numbers --- */

/* Two digits at a time: a division for each. */
static const char pairs[] = "00010203040506070809"
			    "10111213141516171819"
			    "20212223242526272829"
			    "30313233343536373839"
			    "40414243444546474849"
			    "50515253545556575859"
			    "60616263646566676869"
			    "70717273747576777879"
			    "80818283848586878889"
			    "90919293949596979899";

void triad_exposition_uint(struct triad_exposition *writer, uint64_t number)
{
	char text[20], *at = text + sizeof(text);

	for (; number >= 100; number /= 100)
		memcpy(at -= 2, &pairs[number % 100 * 2], 2);
	if (number >= 10)
		memcpy(at -= 2, &pairs[number * 2], 2);
	else
		*--at = (char)('0' + number);
	triad_exposition_put(writer, at, (size_t)(text + sizeof(text) - at));
}

void triad_exposition_octets(struct triad_exposition *writer, uint64_t words)
{
	uint64_t low;

	if (words <= UINT64_MAX / 4) {
		triad_exposition_uint(writer, words * 4);
		return;
	}
	/* More than 18 digits: those before the last two, then these. */
	triad_exposition_uint(writer, words / 25);
	low = words % 25 * 4;
	triad_exposition_put(writer, &pairs[low * 2], 2);
}

void triad_exposition_double(struct triad_exposition *writer, double number)
{
	char text[G_ASCII_DTOSTR_BUF_SIZE];

	if (isnan(number)) {
		triad_exposition_puts(writer, "NaN");
	} else if (isinf(number)) {
		triad_exposition_puts(writer, number > 0 ? "+Inf" : "-Inf");
	} else if (number >= 0 && number < 9007199254740992.0 &&
		number == (double)(uint64_t)number) {
		triad_exposition_uint(writer, (uint64_t)number);
	} else {
		/* The fewest digits that give the same number back; 17 always do. */
		for (int digits = 15; digits <= 17; digits++) {
			char format[8];

			snprintf(format, sizeof(format), "%%.%dg", digits);
			g_ascii_formatd(text, sizeof(text), format, number);
			if (g_ascii_strtod(text, NULL) == number)
				break;
		}
		triad_exposition_puts(writer, text);
	}
}
