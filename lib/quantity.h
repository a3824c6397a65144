/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Whole numbers with a unit, as people write and we print them: "10", "10 s", "10s",
 * "5m", "500ms".
 *
 * Thread-safety: functions without state. */
#ifndef TRIAD_LIB_QUANTITY_H
#define TRIAD_LIB_QUANTITY_H

#include <stddef.h>

enum triad_quantity {
	TRIAD_QUANTITY_OK,
	TRIAD_QUANTITY_NO_NUMBER,  /* a sign, a fraction, a word, nothing */
	TRIAD_QUANTITY_OTHER_UNIT, /* the text after the number is no such unit */
	TRIAD_QUANTITY_FRACTION,   /* not a whole number of the unit */
	TRIAD_QUANTITY_TOO_LARGE,  /* over UINT_MAX */
};

/* Reads a whole number of 'unit' ("s", "MB", ""; case counts).  The number may stand
 * alone, or with 'unit' after it; if 'unit' is one of time (ms, s, m, h, d), with any
 * of these.  Leaves '*value' unchanged unless it returns TRIAD_QUANTITY_OK. */
enum triad_quantity triad_quantity_parse(
	const char *text, const char *unit, unsigned *value);

/* Writes why a text is refused; the caller appends what is allowed. */
void triad_quantity_explain(enum triad_quantity refusal, const char *text,
	const char *unit, char *reason, size_t size);

#endif
