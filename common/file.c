/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "triad/file.h"

#include <errno.h>
#include <unistd.h>

int triad_write_all(int fd, const void *octets, size_t size)
{
	const char *rest = octets;

	while (size) {
		ssize_t n = write(fd, rest, size);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n ? errno : EIO;
		rest += n;
		size -= (size_t)n;
	}
	return 0;
}
