/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Preloaded, it makes allocations fail while the file that TRIAD_SCARCE names exists: that of a
 * credit loop search's result; or, if the file has a number N, one in N of all that Triad's
 * threads make, also in libraries that they call.
 *
 * Thread-safety: any thread. */
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "routes/credit.h"

#define EXPORT __attribute__((visibility("default")))

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t n, size_t size);
void *__libc_realloc(void *old, size_t size);

static bool is_in_thread_of_triad(void)
{
	char name[16] = "";

	return !prctl(PR_GET_NAME, name) && !strncmp(name, "triad", 5);
}

/* One of the 'in' that are counted here, but not each time the same one. */
static bool is_this_one(unsigned in)
{
	static _Atomic uint32_t n;
	uint32_t mixed = ++n * UINT32_C(2654435761);

	return (mixed >> 8) % in == 0;
}

static bool is_scarce(size_t size)
{
	const char *file = getenv("TRIAD_SCARCE");
	int error = errno, fd = file ? open(file, O_RDONLY | O_CLOEXEC) : -1;
	char text[8] = "";
	unsigned in;
	bool is;

	if (fd >= 0 && read(fd, text, sizeof(text) - 1) < 0)
		text[0] = '\0';
	if (fd >= 0)
		close(fd);
	in = (unsigned)atoi(text);
	is = fd >= 0 &&
		(in ? is_in_thread_of_triad() && is_this_one(in)
		    : size == sizeof(struct triad_routes_credit));
	errno = is ? ENOMEM : error;
	return is;
}

EXPORT void *malloc(size_t size)
{
	return is_scarce(size) ? NULL : __libc_malloc(size);
}

EXPORT void *calloc(size_t n, size_t size)
{
	return is_scarce(n == 1 ? size : 0) ? NULL : __libc_calloc(n, size);
}

EXPORT void *realloc(void *old, size_t size)
{
	return size && is_scarce(0) ? NULL : __libc_realloc(old, size);
}
