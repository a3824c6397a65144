/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Closes many descriptors at once, also where the C library or the kernel is older than
 * the system call for it (Linux 5.9). */
#ifndef TRIAD_CLOSE_RANGE_H
#define TRIAD_CLOSE_RANGE_H

#include <sys/syscall.h>
#include <unistd.h>

#ifndef SYS_close_range
#define SYS_close_range 436 /* the same on all architectures */
#endif

/* Closes those descriptors of 'first' to 'last' that are open.  May be called between
 * fork() and exec(). */
static inline void triad_close_range(unsigned first, unsigned last)
{
	long n_open = sysconf(_SC_OPEN_MAX);

	if (first > last || !syscall(SYS_close_range, first, last, 0))
		return;
	for (unsigned fd = first; fd <= last && (long)fd < n_open; fd++)
		close((int)fd);
}

#endif
