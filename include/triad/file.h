/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Files and pipes.
 *
 * Triad trusts files that decide what it does (configuration, keys, policies, state)
 * only when nobody but root and the process's own user can have put them there:
 *
 *   - the file and every folder above it, up to and including /, belong to one of those
 *     two, and neither group nor others may write to them;
 *   - so do symbolic links on the way, and the folders they lead through;
 *   - a folder that anybody may write to is accepted when it is sticky, as /tmp is:
 *     others can't rename or remove root's files there.  A file with a second name is
 *     not accepted: others may have given it that name.
 *
 * Other users can't change a path that is trusted, so it is checked first and opened
 * after that.
 *
 * Files that Triad writes to (alerts, traces, profiles) may lie in folders that others
 * can write to, as /var/log sometimes is.  There Triad opens only a regular file of its
 * own with one name, and follows no link to it, nor one of others on the way
 * (triad/folder.h).
 *
 * Thread-safety: any thread. */
#ifndef TRIAD_FILE_H
#define TRIAD_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "triad/clock.h"

/* Writes all octets to a blocking descriptor; a signal does not interrupt it.  Returns
 * 0 or an errno: then some octets may be written. */
int triad_write_all(int fd, const void *octets, size_t size);

/* Reads up to 'size' octets; '*n' is less than that only at the end of the file.  A
 * signal does not interrupt it.  Returns 0 or an errno. */
int triad_read_all(int fd, void *octets, size_t size, size_t *n);

/* The same of a small file, which is no link; does not wait for a FIFO's writer. */
int triad_file_read(const char *path, void *octets, size_t size, size_t *n);

/* --- trust (file_trust.c) ------------------------------------------------ */

#define TRIAD_FILE_REASON_SIZE 256

/* Checks a path.  Returns 0; EPERM when it isn't trusted; or the errno why it can't be
 * checked (ENOENT...).  On an error 'reason' tells the administrator what to type.
 * 'is_secret': others may not even read the file. */
int triad_file_check_trusted(
	const char *path, bool is_secret, char reason[TRIAD_FILE_REASON_SIZE]);

/* The same for the folder in which a file is, or will be. */
int triad_file_check_folder(const char *path, char reason[TRIAD_FILE_REASON_SIZE]);

/* --- files to append to */

/* Opens a file to append to, made with 'mode' whatever the umask is; 'access' is
 * O_WRONLY or O_RDWR.  Never blocks on a FIFO.  Returns a descriptor; or -errno with a
 * sentence in '*why': EMEDIUMTYPE for what is no regular file, EPERM for one that has
 * another owner or a second name, or that others may write to. */
int triad_file_open_output(const char *path, int access, mode_t mode, const char **why);

/* --- reporting trouble */

/* Reports each errno of a file once until the trouble is over, however often it is
 * tried again.  All zeros at first. */
struct triad_file_report {
	uint64_t path;      /* its hash */
	uint64_t errors[3]; /* a bit for each errno */
};

enum triad_file_news {
	TRIAD_FILE_NO_NEWS,
	TRIAD_FILE_IN_TROUBLE, /* a new errno for this file */
	TRIAD_FILE_WELL_AGAIN, /* this file was in trouble */
};

/* Call it after each attempt to write; 'error' is 0 or an errno.  Returns what to
 * report. */
enum triad_file_news triad_file_report(
	struct triad_file_report *reported, const char *path, int error);

/* A disk that takes longer for one access counts as hung. */
#define TRIAD_DISK_HUNG_US (10 * TRIAD_US_PER_S)

/* For how long a disk has hung whose access began at 'since_us' (0: none is under way);
 * 0: it has not. */
static inline uint64_t triad_disk_hung_us(uint64_t since_us, uint64_t now_us)
{
	return since_us && now_us - since_us >= TRIAD_DISK_HUNG_US ? now_us - since_us
								   : 0;
}

/* --- files that are replaced --------------------------------------------- */

/* Replaces a file as a whole: a reader finds the old file or the new one, also after a
 * crash; and the new one once this has returned 0.  Makes the folder, 0755, when it is
 * missing.  Uses 'PATH.new' meanwhile.  Returns 0 or an errno. */
int triad_file_replace(const char *path, const void *octets, size_t size, mode_t mode);

/* The same in steps, to write piece by piece: open, write, then commit or discard.
 * 'flags' are added to O_WRONLY.  Open returns a descriptor or -errno.  Commit flushes
 * and renames, returns 0 or an errno, and leaves the descriptor open; the file then is
 * PATH, and stays so after a crash once triad_file_sync_folder() returned 0. */
int triad_file_new_open(const char *path, int flags, mode_t mode);
int triad_file_new_commit(int fd, const char *path);
void triad_file_new_discard(int fd, const char *path);

/* If 'error' is 0, commits what was written, makes its name survive a crash, and closes
 * the descriptor; else discards it.  Returns 0 or the first errno, 'error' included. */
int triad_file_new_end(int fd, const char *path, int error);

/* Makes the folder of a file, if it is missing. */
void triad_file_make_folder(const char *path);

/* Makes a file's name survive a crash.  Returns 0 or an errno. */
int triad_file_sync_folder(const char *path);

#endif
