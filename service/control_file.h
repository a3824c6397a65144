/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The control socket's file: makes, locks, shares and removes it. */
#ifndef TRIAD_SERVICE_CONTROL_FILE_H
#define TRIAD_SERVICE_CONTROL_FILE_H

#include <stdbool.h>

#include "triad/log.h"

struct triad_control_file {
	int fd;      /* listening */
	int lock_fd; /* of PATH.lock */
	char path[108];
};

/* Makes the folder if it is missing (0755), takes the lock, removes a socket that no
 * process serves, listens with mode 0600.  Returns 0 or an errno, which it has
 * logged. */
int triad_control_file_open(
	struct triad_control_file *file, const char *path, struct triad_log *log);

/* Lets all users connect, or only root and the own user.  Returns 0 or an errno. */
int triad_control_file_share(struct triad_control_file *file, bool is_shared);

/* Removes the socket and gives the lock back. */
void triad_control_file_close(struct triad_control_file *file);

#endif
