/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "lib/line_cutter.h"

#include <string.h>

bool triad_line_cutter_put(
	struct triad_line_cutter *cutter, const char *piece, size_t size)
{
	bool goes_on = true;

	while (size && goes_on) {
		const char *end = memchr(piece, '\n', size);
		size_t n = end ? (size_t)(end - piece) : size;
		size_t room = cutter->room - cutter->used;
		bool is_direct = end && !cutter->used;

		if (is_direct) {
			goes_on = cutter->take(cutter->context, piece, n);
		} else {
			if (n > room) {
				n = room;
				end = NULL;
			}
			memcpy(cutter->buffer + cutter->used, piece, n);
			cutter->used += n;
		}
		if (!is_direct && (end || cutter->used == cutter->room)) {
			size_t length = cutter->used;

			cutter->used = 0;
			goes_on = cutter->take(cutter->context, cutter->buffer, length);
		}
		piece += n + (end != NULL);
		size -= n + (end != NULL);
	}
	return goes_on;
}
