/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The folder of a file that Triad writes, opened name by name.
 *
 * Whoever may write to a folder on the way can put a link in the place of the next one, at
 * any moment.  So no link is followed but those of root or of the process's own user, in
 * folders where nobody else could have put them (triad/file.h).  What is then done to the
 * file (open, rename, remove) goes by the descriptor of its folder.
 *
 * Thread-safety: any thread. */
#ifndef TRIAD_FOLDER_H
#define TRIAD_FOLDER_H

#include <sys/stat.h>

/* Opens the folder of a path, for calls that end in 'at' (O_PATH); '*name' is the path's
 * last name.  Returns a descriptor or -errno: EPERM for a link that is not followed. */
int triad_folder_open(const char *path, const char **name);

/* lstat() by way of that folder.  Returns 0 or an errno. */
int triad_folder_stat(const char *path, struct stat *status);

#endif
