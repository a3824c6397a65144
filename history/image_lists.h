/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Writes an image's lines with rows of commands' lists (history/kept.h).
 *
 * Internal to image.h. */
#ifndef TRIAD_HISTORY_IMAGE_LISTS_H
#define TRIAD_HISTORY_IMAGE_LISTS_H

#include "history/image.h"
#include "history/lines.h"

/* Makes room in the key for the rows of the image.  Returns 0 or ENOMEM. */
int triad_history_reserve_lists(
	const struct triad_history_image *image, struct triad_history_key *key);

/* Returns how many lists were left out; sets '*is_key_due' to whether so many rows
 * differ from the key that the next image should be a key. */
uint32_t triad_history_put_lists(const struct triad_history_image *image,
	struct triad_history_key *key, bool is_key, struct triad_history_out *out,
	bool *is_key_due);

void triad_history_clear_lists(struct triad_history_key *key);

#endif
