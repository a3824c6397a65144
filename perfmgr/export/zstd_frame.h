/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Finds the ends of the frames of a zstd file, without reading their contents.
 *
 * Model: a frame has a header and blocks, each preceded by its size; so a frame of a
 * megabyte needs only a few small reads.  A file whose writer was interrupted ends within a
 * frame; anything else that is not a frame is damage.
 *
 * It reads the file instead of mapping it: if a mapped file became shorter, the process
 * would be killed, and it is the SM's.
 *
 * Thread-safety: functions without state.  Memory: none is allocated.
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
