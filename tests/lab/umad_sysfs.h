/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The files of /sys/class/infiniband and /sys/class/infiniband_mad: a folder that
 * contains them, with the values that ibsim reports for the port.
 *
 * Model: the folder is created in the one that TRIAD_LAB_SYS names, or in /tmp, and has
 * one HCA, ibsim0, with the process's port; a second one, if that has planes.  Before a file of the port is opened, the
 * files are written again if ibsim's answer has changed.  Besides the kernel's files,
 * there is infiniband_mad/umad0/lab_counters.
 *
 * Thread-safety: all functions but lab_sysfs_remove(), which a signal handler may
 * call. */
#ifndef LAB_UMAD_SYSFS_H
#define LAB_UMAD_SYSFS_H

#include "tests/lab/umad_port.h"

#define LAB_SYSFS_PATH_SIZE 512

struct lab_sysfs;

/* Makes the folder.  Returns 0 or an errno; prints an error on standard error. */
int lab_sysfs_new(struct lab_port *port, struct lab_sysfs **sysfs);

/* Whether a path is in sysfs' InfiniBand folders. */
bool lab_sysfs_has(const char *path);

/* The file that replaces 'path', brought up to date; 'path' itself if 'buffer' is too
 * small. */
const char *lab_sysfs_resolve(
	struct lab_sysfs *sysfs, const char *path, char buffer[LAB_SYSFS_PATH_SIZE]);

/* Removes the folder with all files. */
void lab_sysfs_remove(struct lab_sysfs *sysfs);

#endif
