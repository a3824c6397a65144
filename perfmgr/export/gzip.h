/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Settings for answers packed by gzip.
 *
 * Lines of answers are short and alike: a window of 8 KiB sees 80 of them, for an
 * eighth of the memory that zlib takes by default.
 *
 * Thread-safety: functions without state. */
#ifndef TRIAD_PERFMGR_EXPORT_GZIP_H
#define TRIAD_PERFMGR_EXPORT_GZIP_H

#include <stdbool.h>

#include <zlib.h>

/* zlib's levels: the cheapest, and its own compromise. */
#define TRIAD_GZIP_FAST 1
#define TRIAD_GZIP_DEFAULT 6

/* 'packer' is all zeros.  False: memory is short.  End it with deflateEnd(). */
static inline bool triad_gzip_begin(z_stream *packer, int level)
{
	const int window_bits = 13, gzip_format = 16, memory = 6;

	return deflateInit2(packer, level, Z_DEFLATED, window_bits + gzip_format,
		       memory, Z_DEFAULT_STRATEGY) == Z_OK;
}

#endif
