/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The profile file: whole frames, one after the other.
 *
 * Model: the file is a regular one, and its own: symbolic links aren't followed, and it
 * is locked (flock) while it is open.  So of two OpenSMs with the same path one writes
 * and the other reports that.  A frame is appended in pieces and then kept; one that
 * fails is cut off again.
 *
 * An existing file is continued, so that an OpenSM which starts often leaves no heap of
 * small files:
 *
 *     it ends with a whole frame     appended to
 *     it ends within a frame         that is cut off: its writer was killed
 *     something within is no frame   put aside as it is, for somebody to look at
 *     over 4 GiB                     put aside: finding the end of its last frame would
 *                                    take too long
 *     it is no profile               left alone, and an error
 *
 * Thread-safety: none; one thread.  Calls wait for the disk.
 * Memory: a path; of the file only its size is kept. */
#ifndef TRIAD_PERFMGR_EXPORT_PROFILE_FILE_H
#define TRIAD_PERFMGR_EXPORT_PROFILE_FILE_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "triad/conf.h"

#define TRIAD_PROFILE_WALK_OCTETS (UINT64_C(4) << 30)

struct triad_profile_file {
	int fd; /* -1: not open */
	char path[PATH_MAX];
	dev_t device;
	ino_t inode;
	uint64_t size;       /* octets of whole frames */
	uint64_t begun_us;   /* wall time of its first frame; 0: it has none */
	uint64_t last_us;    /* of its last one when it was opened; 0: not known */
	uint64_t cut_octets; /* cut off after the last whole frame at opening */
	bool must_be_aside;  /* put it aside before anything is written */
	const char *why;     /* what is wrong, if the errno does not say it */
};

void triad_profile_file_init(struct triad_profile_file *file);

/* Opens or makes the file.  Returns 0 or an errno, perhaps with 'why': EBUSY (another
 * process writes it), EMEDIUMTYPE (it is not a regular file, or no profile), or an
 * error of the system. */
int triad_profile_file_open(struct triad_profile_file *file, const char *path);

/* Has no effect when it isn't open. */
void triad_profile_file_close(struct triad_profile_file *file);

/* True when it is open and the path still names it: it was neither moved nor
 * removed. */
bool triad_profile_file_is_there(const struct triad_profile_file *file);

/* Renames the file by its path and the wall time, and closes it.  Returns 0, or an
 * errno with the file still open. */
int triad_profile_file_put_aside(struct triad_profile_file *file, uint64_t now_us);

/* Appends octets of a frame.  Returns 0 or an errno: then drop the frame. */
int triad_profile_file_append(
	struct triad_profile_file *file, const void *data, size_t size);

/* Keeps what was appended: it is a whole frame. */
void triad_profile_file_keep(struct triad_profile_file *file);

/* Cuts off what was appended.  If that fails, closes the file; the next opening repairs
 * it. */
void triad_profile_file_drop(struct triad_profile_file *file);

#endif
