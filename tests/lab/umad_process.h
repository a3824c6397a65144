/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* A process's part of a lab: its port and its files, from start to end.
 *
 * Model: a process becomes a client of ibsim when it first accesses one of the paths.
 * It disconnects when it exits, and when it is ended by a signal that it doesn't
 * handle: ibsim keeps the slot of a client that doesn't disconnect, and has ten.  For a
 * process that is killed, a guardian disconnects (umad_guardian.h).  A forked child
 * connects anew; files inherited from its parent return ENODEV.
 *
 * Invariants: a process has one port, so the implementation has static state.
 *
 * Thread-safety: all functions. */
#ifndef LAB_UMAD_PROCESS_H
#define LAB_UMAD_PROCESS_H

#include "tests/lab/umad_sysfs.h"

/* Whether the process has a port.  Connects at the first call only, and prints an error
 * then. */
bool lab_process_is_ready(void);

/* Whether the path is one of the port's devices. */
bool lab_process_is_device(const char *path);

/* Opens a device and sets 'fd', to -1 with errno on failure; false when the path is no
 * device. */
bool lab_process_open(const char *path, int flags, int *fd);

/* The file behind a descriptor; NULL: the descriptor is no umad file. */
struct lab_file *lab_process_file(int fd);

/* To be called before any descriptor is closed. */
void lab_process_close(int fd);

/* The path to use instead of 'path'; it differs for paths in sysfs. */
const char *lab_process_resolve(const char *path, char buffer[LAB_SYSFS_PATH_SIZE]);

#endif
