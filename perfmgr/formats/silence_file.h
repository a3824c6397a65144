/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Silences as octets of a file, in which they outlive a restart.
 *
 * The file has a line of text with its type and version (lib/format_version.h), the last
 * number used, the number of silences, and their members as lib/fields.h writes them.
 * Other members need another version.
 *
 * Thread-safety: functions without state.  Memory: no allocation. */
#ifndef TRIAD_PERFMGR_FORMATS_SILENCE_FILE_H
#define TRIAD_PERFMGR_FORMATS_SILENCE_FILE_H

#include <stddef.h>

#include "perfmgr/watch/silences.h"

#define TRIAD_SILENCE_FILE_VERSION 1u
/* Enough octets for any silences. */
#define TRIAD_SILENCE_FILE_SIZE                                                        \
	(64 + TRIAD_SILENCES_MAX * (sizeof(struct triad_silence) + 16))

/* Returns the size of what it writes. */
size_t triad_silence_file_write(
	const struct triad_silences *silences, uint8_t octets[TRIAD_SILENCE_FILE_SIZE]);

/* The version of such a file; 0: it is not such a file. */
unsigned triad_silence_file_version(const uint8_t *octets, size_t size);

/* Reads silences that are not over into 'silences', which is all zeros except 'wall_us'.
 * Returns 0; EPROTO if it is not such a file, EPROTONOSUPPORT for one of another version,
 * or EINVAL for one with a wrong value or a cut end: then 'silences' is all zeros. */
int triad_silence_file_read(
	uint8_t *octets, size_t size, struct triad_silences *silences);

#endif
