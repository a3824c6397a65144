/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The lines of an image that say what is known of ports and devices besides counters
 * (history/extra.h).
 *
 * Internal to image.h. */
#ifndef TRIAD_HISTORY_IMAGE_EXTRA_H
#define TRIAD_HISTORY_IMAGE_EXTRA_H

#include "history/image.h"

/* 'key' has room for them.  Returns how many were left out, and whether so many cables and
 * devices differ from the key that the next image should be one. */
uint32_t triad_history_put_extras(const struct triad_history_image *image,
	struct triad_history_key *key, bool is_key, struct triad_frame_writer *out,
	bool *is_key_due);

#endif
