/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Lines of a file that end in a checksum, which shows that a line was torn or altered.
 *
 * A line has fields, separated by a space:
 *
 *     2026-01-02T03:04:05.678901Z 3 "a \"quoted\" text" 1f2e3d4c
 *
 * In a quoted text, a backslash stands before a quote and a backslash.  The checksum is
 * the CRC-32, as in Ethernet and zip, of everything before its space.
 *
 * Thread-safety: functions without state.
 * Memory: no allocation. */
#ifndef TRIAD_LIB_CHECKED_LINE_H
#define TRIAD_LIB_CHECKED_LINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TRIAD_CHECKED_LINE_TIME_SIZE 28 /* with its 0 */
/* The end of the year 9999 in microseconds since 1970: the last time that has a
 * text. */
#define TRIAD_CHECKED_LINE_MAX_US (UINT64_C(253402300800000000) - 1)
#define TRIAD_CHECKED_LINE_SUM_LENGTH 9u /* with the space before it */

/* Makes the text fit for a line: replaces unprintable characters, and tabs, by '?'. */
void triad_checked_line_clean(char *text);

/* Writes "2026-01-02T03:04:05.678901Z". */
void triad_checked_line_time(uint64_t at_us, char text[TRIAD_CHECKED_LINE_TIME_SIZE]);
/* Reads that; false for anything else. */
bool triad_checked_line_parse_time(const char *text, uint64_t *at_us);

/* Writes 'text' in quotes, without a 0; returns the number of octets, at most twice its
 * length and 2. */
size_t triad_checked_line_quote(char *line, const char *text);
/* Reads a quoted text of less than 'size' octets.  '*at' is its first quote, and moves
 * past the last one.  False when it is no such text. */
bool triad_checked_line_parse_quoted(const char **at, char *text, size_t size);

/* Appends the checksum to a line of 'length' octets, with a 0, and returns the new
 * length. */
size_t triad_checked_line_end(char *line, size_t length);
/* Whether a line of 'length' octets ends in its checksum. */
bool triad_checked_line_is_whole(const char *line, size_t length);

#endif
