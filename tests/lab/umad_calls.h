/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* What a program can do with an open umad file: the kernel's answers, errors included.
 *
 * Thread-safety: any thread, but for a file that is closed at the same time.
 * Source: the kernel's ib_umad, include/rdma/ib_user_mad.h. */
#ifndef LAB_UMAD_CALLS_H
#define LAB_UMAD_CALLS_H

#include "tests/lab/umad_port.h"

/* write() and ioctl(); -1 with errno on failure. */
ssize_t lab_file_write(struct lab_file *file, const void *buffer, size_t size);
int lab_file_ioctl(struct lab_file *file, unsigned long request, void *argument);

/* Ends the file's agents, and with them what is in flight.  The program's descriptor is
 * the caller's to close. */
void lab_file_close(struct lab_file *file);

#endif
