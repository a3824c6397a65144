/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* System calls on an open umad file, with the kernel's results and errors.
 *
 * Thread-safety: any thread, except at the same time as the close of the same file.
 * Source: the kernel's ib_umad, include/rdma/ib_user_mad.h. */
#ifndef LAB_UMAD_CALLS_H
#define LAB_UMAD_CALLS_H

#include "tests/lab/umad_port.h"

/* write() and ioctl(); -1 with errno on failure. */
ssize_t lab_file_write(struct lab_file *file, const void *buffer, size_t size);
int lab_file_ioctl(struct lab_file *file, unsigned long request, void *argument);

/* Removes the file's agents, with their sends and messages.  The caller closes the
 * program's descriptor. */
void lab_file_close(struct lab_file *file);

#endif
