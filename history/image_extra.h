/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Writes an image's lines about ports and devices besides counters (history/extra.h).
 *
 * Internal to image.h. */
#ifndef TRIAD_HISTORY_IMAGE_EXTRA_H
#define TRIAD_HISTORY_IMAGE_EXTRA_H

#include "history/image.h"
#include "history/lines.h"

/* 'key' has room for the hashes.  Returns how many records were left out; sets
 * '*is_key_due' to whether so many cables and devices differ from the key that the next
 * image should be a key. */
uint32_t triad_history_put_extras(const struct triad_history_image *image,
	struct triad_history_key *key, bool is_key, struct triad_history_out *out,
	bool *is_key_due);

#endif
