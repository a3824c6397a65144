/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Finds where the frames of a zstd file end, without decompressing them.
 *
 * Model: a frame is a header and blocks, each with its size before it; so a frame of a
 * megabyte takes a few reads of some octets.  A file that its writer could not finish
 * ends within a frame; anything else that is no frame is damage.
 *
 * It uses read() and no mapping: a file that becomes shorter under a mapping would kill
 * the process, which is the SM's.
 *
 * Thread-safety: functions without state.
 * Memory: none is allocated.
 * Source: [RFC 8878 3.1]. */
#ifndef TRIAD_PERFMGR_EXPORT_ZSTD_FRAME_H
#define TRIAD_PERFMGR_EXPORT_ZSTD_FRAME_H

#include <stdbool.h>
#include <stdint.h>

struct triad_zstd_frame {
	uint64_t size;     /* octets in total */
	bool is_skippable; /* nothing to be decompressed */
};

/* Measures the frame that begins at 'offset' in a file of 'file_size' octets.  Returns
 * 0; ENODATA: the file ends within the frame (or there); EILSEQ: this is no frame; or
 * an errno of reading. */
int triad_zstd_frame_measure(
	int fd, uint64_t offset, uint64_t file_size, struct triad_zstd_frame *frame);

#endif
