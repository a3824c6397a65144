/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The version of a format, in the first line of a file of ours, or in a message.
 *
 *     Silences of Triad, version 1
 *
 * The line begins with the format's name.  ", version N" follows; version 1 may do
 * without it, and formats of lines may do without the line.  The rest of the line is
 * ignored.
 *
 * A format gets a higher version when a reader of the present one would misunderstand
 * it; an addition that readers may ignore needs none.  A file of an unknown version is
 * not read, and stays as it is.
 *
 * A message of ours begins with its format's magic, four octets, big-endian, and its
 * version, one octet.
 *
 * Thread-safety: functions without state.  Memory: no allocation. */
#ifndef TRIAD_LIB_FORMAT_VERSION_H
#define TRIAD_LIB_FORMAT_VERSION_H

#include <stddef.h>
#include <stdint.h>

/* Room for what triad_format_refusal() writes. */
#define TRIAD_FORMAT_REFUSAL_SIZE 192

/* Returns the version in the first line of 'octets', UINT_MAX if that is no number from
 * 1 on; 0: the line doesn't begin with 'name'. */
unsigned triad_format_version(const char *octets, size_t size, const char *name);

/* Writes why a file of 'version' is not read by a reader of version 'known', and what
 * to do. */
void triad_format_refusal(
	char text[TRIAD_FORMAT_REFUSAL_SIZE], unsigned version, unsigned known);

/* Returns the version of a message with that magic; 0: it has another one. */
unsigned triad_format_message_version(const void *octets, size_t size, uint32_t magic);

/* Writes the rest of a sentence about a sender: that it uses 'version', that 'known' is
 * known here, and what to do. */
void triad_format_disagreement(
	char text[TRIAD_FORMAT_REFUSAL_SIZE], unsigned version, unsigned known);

#endif
