/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Files and pipes.  Thread-safety: any thread. */
#ifndef TRIAD_FILE_H
#define TRIAD_FILE_H

#include <stddef.h>

/* Writes all octets to a descriptor that blocks; signals don't cut it short.  Returns 0
 * or an errno: then some may be written. */
int triad_write_all(int fd, const void *octets, size_t size);

#endif
