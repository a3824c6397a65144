/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The file format of silences, which outlive a restart.
 *
 * The file has a line of text with its name and version (lib/format_version.h), the
 * last number given out, the number of silences, and their members as lib/fields.h
 * writes them.  A change of members is another version.
 *
 * Thread-safety: functions without state.
 * Memory: no allocation. */
#ifndef TRIAD_PERFMGR_FORMATS_SILENCE_FILE_H
#define TRIAD_PERFMGR_FORMATS_SILENCE_FILE_H

#include <stddef.h>

#include "perfmgr/watch/silences.h"

#define TRIAD_SILENCE_FILE_VERSION 1u
/* Room for any silences. */
#define TRIAD_SILENCE_FILE_SIZE                                                        \
	(64 + TRIAD_SILENCES_MAX * (sizeof(struct triad_silence) + 16))

/* Returns the size of what it writes. */
size_t triad_silence_file_write(
	const struct triad_silences *silences, uint8_t octets[TRIAD_SILENCE_FILE_SIZE]);

/* The version of such a file; 0: it is not such a file. */
unsigned triad_silence_file_version(const uint8_t *octets, size_t size);

/* Reads the silences that are not over into 'silences', which is all zeros but for
 * 'wall_us'.  Returns 0; EPROTO: this is no such file; EPROTONOSUPPORT: it has another
 * version; EINVAL: it has a wrong value, or is cut.  After an error 'silences' is all
 * zeros. */
int triad_silence_file_read(
	uint8_t *octets, size_t size, struct triad_silences *silences);

#endif
