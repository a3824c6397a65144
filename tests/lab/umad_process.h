/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* A process's share of a lab: its port, its files, and when they come and go.
 *
 * Model: a process becomes a client of ibsim when it first looks at one of the paths,
 * and says goodbye when it exits, or is ended by a signal that it left alone: ibsim
 * keeps the place of a client that does not, and has ten.  For a process that is killed
 * another one does it (umad_guardian.h).  A forked child starts anew;
 * what it inherited from its parent answers ENODEV.
 *
 * Invariants: the process has one port, so there is state of the process's here.
 *
 * Thread-safety: all functions. */
#ifndef LAB_UMAD_PROCESS_H
#define LAB_UMAD_PROCESS_H

#include "tests/lab/umad_sysfs.h"

/* Whether the process has a port.  Connects the first time, and tries once: what failed
 * has been said then. */
bool lab_process_is_ready(void);

/* Whether it is one of the port's devices. */
bool lab_process_is_device(const char *path);

/* Opens a device, into 'fd', which is -1 with errno on failure; false when the path is
 * none. */
bool lab_process_open(const char *path, int flags, int *fd);

/* The file behind a descriptor; NULL when it is somebody else's. */
struct lab_file *lab_process_file(int fd);

/* Before a descriptor, of whatever, is closed. */
void lab_process_close(int fd);

/* The path that stands for 'path': another one for those of sysfs. */
const char *lab_process_resolve(const char *path, char buffer[LAB_SYSFS_PATH_SIZE]);

#endif
