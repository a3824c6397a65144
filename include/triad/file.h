/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Files and pipes.
 *
 * Files that decide what is done (configuration, keys, policies, state) are trusted
 * when nobody can have put them there but root and this process's user:
 *
 *   - the file and every folder above it, up to and including /, belong to one of those
 *     two, and neither group nor others may write to them;
 *   - so do folders that symbolic links on the way lead through, and the links;
 *   - a folder that anybody may write to is accepted when it is sticky, as /tmp is:
 * what belongs to root can't be renamed or removed there by others.  A file with a
 * second name isn't: others may have given it that one.
 *
 * A path that is trusted stays so, whatever other users do; so it is looked at first
 * and opened then.
 *
 * Files that are written to (alerts, traces, profiles) may lie in folders that others
 * can write to, as /var/log sometimes is: what is opened is a regular file of our own
 * with one name, and no link is followed to it.
 *
 * Thread-safety: any thread. */
#ifndef TRIAD_FILE_H
#define TRIAD_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Writes all octets to a descriptor that blocks; signals don't cut it short.  Returns 0
 * or an errno: then some may be written. */
int triad_write_all(int fd, const void *octets, size_t size);

/* --- trust (file_trust.c) ------------------------------------------------ */

#define TRIAD_FILE_REASON_SIZE 256

/* Returns 0; EPERM when the path isn't trusted; or why it can't be looked at
 * (ENOENT...).  The reason says then what to type.  A secret must not even be readable
 * by others. */
int triad_file_check_trusted(
	const char *path, bool is_secret, char reason[TRIAD_FILE_REASON_SIZE]);

/* The same of the folder that a file lies in, or will. */
int triad_file_check_folder(const char *path, char reason[TRIAD_FILE_REASON_SIZE]);

/* --- files that are added to --------------------------------------------- */

/* Opens a file to append to, made with 'mode' whatever the umask is; 'access' is
 * O_WRONLY or O_RDWR.  Never blocks on a FIFO.  Returns a descriptor; or -errno with a
 * sentence in '*why': EMEDIUMTYPE for what is no regular file, EPERM for one that isn't
 * ours alone. */
int triad_file_open_output(const char *path, int access, mode_t mode, const char **why);

/* --- what is told of them ------------------------------------------------- */

/* So that what goes wrong is told once for each file and errno until it is over,
 * however often it is tried again and whichever of several errors it is.  All zeros at
 * first. */
struct triad_file_report {
	uint64_t path;      /* its hash */
	uint64_t errors[3]; /* a bit for each errno */
};

enum triad_file_news {
	TRIAD_FILE_NO_NEWS,
	TRIAD_FILE_IN_TROUBLE, /* with an errno that was not told of this file */
	TRIAD_FILE_WELL_AGAIN, /* the file that was in trouble */
};

/* After each try to write; 'error' is 0 or an errno.  Returns what is to be told. */
enum triad_file_news triad_file_report(
	struct triad_file_report *told, const char *path, int error);

/* --- files that are replaced --------------------------------------------- */

/* Replaces a file as a whole: whoever reads it, also after a crash, finds the old one
 * or the new one, and the new one once this has returned 0.  Makes the folder, 0755,
 * when it is missing.  'PATH.new' is used meanwhile.  Returns 0 or an errno. */
int triad_file_replace(const char *path, const void *octets, size_t size, mode_t mode);

/* The same in steps, for who writes piece by piece: open, write, then commit or
 * discard. 'flags' are added to O_WRONLY.  Open returns a descriptor or -errno.  Commit
 * flushes and renames; it returns 0 or an errno, and leaves the descriptor open: it is
 * PATH's then, for good once triad_file_sync_folder() returned 0. */
int triad_file_new_open(const char *path, int flags, mode_t mode);
int triad_file_new_commit(int fd, const char *path);
void triad_file_new_discard(int fd, const char *path);

/* Makes the folder of a file, if it is missing. */
void triad_file_make_folder(const char *path);

/* Makes a file's name outlive a crash.  Returns 0 or an errno. */
int triad_file_sync_folder(const char *path);

#endif
