/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* What flowed between the levels of a fabric, from one image to the next.
 *
 * Model: images are given in the order of time.  Of each but the first there are sums: for
 * the links between two levels (routes/layout.h: 0 are hosts, 1 switches with hosts), what
 * both ends sent since the image before.  A link counts as known if both its ends were read
 * at both times, by one process, and had the same link then; the sums are of those alone.
 * Levels from TRIAD_LEVEL_SUMS_LEVELS - 1 on count as one.
 *
 *     triad_level_sums_begin_key(levels);           for an image that has another key
 *     triad_frame_reader_give(..., triad_level_sums_take_line, levels);
 *     error = triad_level_sums_end_key(levels);
 *     triad_level_sums_begin_change(levels);        unless the image is the key
 *     triad_frame_reader_read(..., triad_level_sums_take_row, levels);
 *     triad_level_sums_end(levels, time_us, port_guid, sums);
 *
 * Thread-safety: none.
 * Memory: 60 octets a port, and while a key is read, that of history/past.h. */
#ifndef TRIAD_SERVE_HISTORY_LEVEL_SUMS_H
#define TRIAD_SERVE_HISTORY_LEVEL_SUMS_H

#include "history/past.h"
#include "service/history_reader.h"

#define TRIAD_LEVEL_SUMS_LEVELS 8u
#define TRIAD_LEVEL_SUMS_MAX (TRIAD_LEVEL_SUMS_LEVELS * TRIAD_LEVEL_SUMS_LEVELS)

struct triad_level_sums;

/* NULL when memory is short. */
struct triad_level_sums *triad_level_sums_new(void);
void triad_level_sums_free(struct triad_level_sums *levels); /* accepts NULL */

/* Returns 0, ENOMEM, EPROTO or EOVERFLOW; then triad_level_sums_message() says why. */
int triad_level_sums_begin_key(struct triad_level_sums *levels);
int triad_level_sums_end_key(struct triad_level_sums *levels);
const char *triad_level_sums_message(const struct triad_level_sums *levels);
/* A triad_line_take(), of lines that are unpacked (unpack.h). */
triad_line_take triad_level_sums_take_line;

void triad_level_sums_begin_change(struct triad_level_sums *levels);
/* As triad_profile_take_line. */
bool triad_level_sums_take_row(void *levels, enum triad_profile_line kind,
	const struct triad_profile_parser *parser, const char *line, size_t length);

/* Ends an image; returns how many sums there are since the one before. */
unsigned triad_level_sums_end(struct triad_level_sums *levels, uint64_t time_us,
	uint64_t port_guid, struct triad_history_sum sums[TRIAD_LEVEL_SUMS_MAX]);

#endif
