/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* How commands write numbers and lay out text for people.
 *
 * Thread-safety: functions without state. */
#ifndef TRIAD_SERVICE_COMMAND_FORMAT_H
#define TRIAD_SERVICE_COMMAND_FORMAT_H

#include <stddef.h>

/* "1.23 GB", "0.0625": three significant digits. */
void triad_command_format_scaled(
	char *text, size_t size, double value, const char *unit);

/* A value of enum triad_counter 'counter', or a rate of it; data in octets.  "-" for
 * NAN. */
void triad_command_format_counter(
	char *text, size_t size, unsigned counter, double value);

/* Columns a terminal needs for UTF-8 text, wide characters apart. */
int triad_command_width(const char *text);

#endif
