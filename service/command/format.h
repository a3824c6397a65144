/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Formats numbers and lays out text for people.
 *
 * Thread-safety: functions without state. */
#ifndef TRIAD_SERVICE_COMMAND_FORMAT_H
#define TRIAD_SERVICE_COMMAND_FORMAT_H

#include <stddef.h>

#include "ib/counter.h"
#include "triad/output.h"

/* A counter's value, or a rate of it; data in octets.  "-" for NAN. */
void triad_command_format_counter(
	char *text, size_t size, enum triad_counter_unit unit, double value);

/* The factor of a unit for people: they read octets, not words. */
unsigned triad_command_scale(enum triad_counter_unit unit);

/* Appends 'text' to a line that has 'column' columns already.  Breaks it at blanks, so
 * that no line has more than TRIAD_COMMAND_COLUMNS; further lines begin with 'indent'
 * blanks.  A longer word stays whole, because users copy paths. */
#define TRIAD_COMMAND_COLUMNS 80
void triad_command_put_wrapped(struct triad_output *output, const char *text,
	unsigned column, unsigned indent);

/* Writes that -n left out 'n_left_out' of 'n' lines; nothing if it left out none.
 * 'what' names the lines: "more". */
void triad_command_put_left_out(
	struct triad_output *output, uint32_t n_left_out, uint32_t n, const char *what);

/* Columns a terminal needs for UTF-8 text, wide characters apart. */
int triad_command_width(const char *text);

#endif
