/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The files of /sys/class/infiniband and /sys/class/infiniband_mad: a folder of our own
 * that has them, true to what ibsim says about the port.
 *
 * Model: the folder is made in the one that TRIAD_LAB_SYS names, or /tmp, and has one
 * HCA, ibsim0, with the port the process is on.  Before a file of the port is opened,
 * it is written again if ibsim's answer changed.  Beside what the kernel has, there is
 * infiniband_mad/umad0/lab_counters.
 *
 * Thread-safety: all functions, but for lab_sysfs_remove(), which a signal handler may
 * call. */
#ifndef LAB_UMAD_SYSFS_H
#define LAB_UMAD_SYSFS_H

#include "tests/lab/umad_port.h"

#define LAB_SYSFS_PATH_SIZE 512

struct lab_sysfs;

/* Makes the folder.  Returns 0 or an errno, told on standard error. */
int lab_sysfs_new(struct lab_port *port, struct lab_sysfs **sysfs);

/* Whether a path is one of ours. */
bool lab_sysfs_has(const char *path);

/* The file that stands for 'path', brought up to date; 'path' as it is if it has no
 * place in 'buffer'. */
const char *lab_sysfs_resolve(
	struct lab_sysfs *sysfs, const char *path, char buffer[LAB_SYSFS_PATH_SIZE]);

/* Removes the folder with all files. */
void lab_sysfs_remove(struct lab_sysfs *sysfs);

#endif
