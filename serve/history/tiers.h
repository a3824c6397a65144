/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* What flowed between the levels of a fabric, from one image to the next.
 *
 * Model: images are given in the order of time.  Of each but the first there are sums: for
 * the links between two levels (routes/layout.h: 0 are hosts, 1 switches with hosts), what
 * both ends sent since the image before.  A link counts as known if both its ends were read
 * at both times, by one process, and had the same link then; the sums are of those alone.
 * Levels from TRIAD_TIERS_LEVELS - 1 on count as one.
 *
 *     triad_tiers_begin_key(tiers);           for an image that has another key
 *     triad_frame_reader_give(..., triad_tiers_take_line, tiers);
 *     error = triad_tiers_end_key(tiers);
 *     triad_tiers_begin_change(tiers);        unless the image is the key
 *     triad_frame_reader_read(..., triad_tiers_take_row, tiers);
 *     triad_tiers_end(tiers, time_us, port_guid, sums);
 *
 * Thread-safety: none.
 * Memory: 60 octets a port, and while a key is read, that of history/past.h. */
#ifndef TRIAD_SERVE_HISTORY_TIERS_H
#define TRIAD_SERVE_HISTORY_TIERS_H

#include "history/past.h"
#include "service/history_reader.h"

#define TRIAD_TIERS_LEVELS 8u
#define TRIAD_TIERS_MAX_SUMS (TRIAD_TIERS_LEVELS * TRIAD_TIERS_LEVELS)

struct triad_tiers;

/* NULL when memory is short. */
struct triad_tiers *triad_tiers_new(void);
void triad_tiers_free(struct triad_tiers *tiers); /* accepts NULL */

/* Returns 0, ENOMEM, EPROTO or EOVERFLOW; then triad_tiers_message() says why. */
int triad_tiers_begin_key(struct triad_tiers *tiers);
int triad_tiers_end_key(struct triad_tiers *tiers);
const char *triad_tiers_message(const struct triad_tiers *tiers);
/* A triad_line_take(), of lines that are unpacked (unpack.h). */
triad_line_take triad_tiers_take_line;

void triad_tiers_begin_change(struct triad_tiers *tiers);
/* As triad_profile_take_line. */
bool triad_tiers_take_row(void *tiers, enum triad_profile_line kind,
	const struct triad_profile_parser *parser, const char *line, size_t length);

/* Ends an image; returns how many sums there are since the one before. */
unsigned triad_tiers_end(struct triad_tiers *tiers, uint64_t time_us,
	uint64_t port_guid, struct triad_history_sum sums[TRIAD_TIERS_MAX_SUMS]);

#endif
