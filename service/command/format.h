/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* How commands write numbers and lay out text for people.
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

/* By what a number in this unit is multiplied for people: they read octets, not words. */
unsigned triad_command_scale(enum triad_counter_unit unit);

/* Ends the line that has 'column' columns by now with 'text', which is broken at blanks
 * so that no line has more than TRIAD_COMMAND_COLUMNS; further lines begin with 'indent'
 * blanks.  A longer word stays whole, as a path that somebody copies must. */
#define TRIAD_COMMAND_COLUMNS 80
void triad_command_put_wrapped(struct triad_output *output, const char *text,
	unsigned column, unsigned indent);

/* Says that 'n_left_out' of 'n' lines were left out by -n; nothing when none was.  'what'
 * they are: "more". */
void triad_command_put_left_out(
	struct triad_output *output, uint32_t n_left_out, uint32_t n, const char *what);

/* Columns a terminal needs for UTF-8 text, wide characters apart. */
int triad_command_width(const char *text);

#endif
