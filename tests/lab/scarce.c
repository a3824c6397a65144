/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Preloaded, it makes the allocation of a credit loop search's result fail while the
 * file that TRIAD_SCARCE names exists. */
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

#include "routes/credit.h"

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t n, size_t size);

static bool is_scarce(size_t size)
{
	const char *file = getenv("TRIAD_SCARCE");

	return size == sizeof(struct triad_routes_credit) && file &&
		!access(file, F_OK);
}

__attribute__((visibility("default"))) void *malloc(size_t size)
{
	return is_scarce(size) ? NULL : __libc_malloc(size);
}

__attribute__((visibility("default"))) void *calloc(size_t n, size_t size)
{
	return n == 1 && is_scarce(size) ? NULL : __libc_calloc(n, size);
}
