/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "lib/grow.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int triad_grow(void *array, size_t *room, size_t n, size_t size, size_t least)
{
	size_t wanted = *room ? *room : least;
	void *items;

	if (n <= *room)
		return 0;
	if (n > SIZE_MAX / 2 / size)
		return ENOMEM;
	while (wanted < n)
		wanted *= 2;
	/* Copy the pointer: it has the owner's type, so reading it as a void pointer is
	 * not allowed. */
	memcpy(&items, array, sizeof(items));
	items = realloc(items, wanted * size);
	if (!items)
		return ENOMEM;
	memcpy(array, &items, sizeof(items));
	*room = wanted;
	return 0;
}
