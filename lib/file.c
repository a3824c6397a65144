/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "triad/file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/hash.h"
#include "triad/folder.h"

int triad_write_all(int fd, const void *octets, size_t size)
{
	const char *rest = octets;

	while (size) {
		ssize_t n = write(fd, rest, size);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n ? errno : EIO;
		rest += n;
		size -= (size_t)n;
	}
	return 0;
}

int triad_read_all(int fd, void *octets, size_t size, size_t *n)
{
	*n = 0;
	while (*n < size) {
		ssize_t more = read(fd, (char *)octets + *n, size - *n);

		if (more < 0 && errno == EINTR)
			continue;
		if (more < 0)
			return errno;
		if (!more)
			break;
		*n += (size_t)more;
	}
	return 0;
}

int triad_file_read(const char *path, void *octets, size_t size, size_t *n)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW);
	int error;

	if (fd < 0)
		return errno;
	error = triad_read_all(fd, octets, size, n);
	close(fd);
	return error;
}

/* --- files that are added to --- */

static int check_kind(const struct stat *status, const char **why)
{
	if (S_ISREG(status->st_mode))
		return 0;
	*why = S_ISDIR(status->st_mode)    ? "it is a folder"
		: S_ISLNK(status->st_mode) ? "it is a symbolic link"
					   : "it is not a regular file";
	return EMEDIUMTYPE;
}

static int check_output(int fd, const char **why)
{
	struct stat status;
	int error;

	if (fstat(fd, &status))
		return errno;
	error = check_kind(&status, why);
	if (error)
		return error;
	if (status.st_uid && status.st_uid != geteuid())
		*why = "it belongs to another user: chown it to the one that writes it, or "
		       "move it away";
	else if (status.st_nlink > 1)
		*why = "it has a second name, a hard link: move it away";
	else if (status.st_mode & (S_IWGRP | S_IWOTH))
		*why = "others may write to it: chmod go-w";
	else
		return 0;
	return EPERM;
}

/* Opens the file; a new one gets 'mode' whatever the umask is.  Returns -errno. */
static int open_or_make(int folder, const char *name, int flags, mode_t mode)
{
	int fd = openat(folder, name, flags | O_CREAT | O_EXCL, mode);

	if (fd < 0 && errno == EEXIST)
		fd = openat(folder, name, flags);
	else if (fd >= 0)
		(void)fchmod(fd, mode);
	return fd < 0 ? -errno : fd;
}

static int open_output(
	int folder, const char *name, int access, mode_t mode, const char **why)
{
	struct stat status;
	int fd, error = 0;

	/* Check before opening, because opening a device may have effects. */
	if (!fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW))
		error = check_kind(&status, why);
	if (error)
		return -error;
	fd = open_or_make(folder, name,
		access | O_APPEND | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY,
		mode);
	if (fd < 0)
		return fd;
	error = check_output(fd, why);
	if (!error)
		return fd;
	close(fd);
	return -error;
}

int triad_file_open_output(const char *path, int access, mode_t mode, const char **why)
{
	const char *name;
	int folder = triad_folder_open(path, &name), fd;

	*why = folder == -EPERM
		? "a link on the way to it is another user's, or in a folder of others"
		: NULL;
	fd = folder < 0 ? folder : open_output(folder, name, access, mode, why);
	if (folder >= 0)
		close(folder);
	if (fd < 0 && !*why)
		*why = strerror(-fd);
	return fd;
}

/* --- reporting trouble --- */

/* FNV-1a; never 0. */
static uint64_t hash_path(const char *path)
{
	uint64_t hash = triad_hash_octets(TRIAD_HASH_START, path, strlen(path));

	return hash ? hash : 1;
}

enum triad_file_news triad_file_report(
	struct triad_file_report *reported, const char *path, int error)
{
	const unsigned n_bits = 8 * sizeof(reported->errors);
	unsigned at = (unsigned)error < n_bits ? (unsigned)error : n_bits - 1;
	bool was_in_trouble = reported->path == hash_path(path);

	if (error && was_in_trouble && reported->errors[at / 64] >> at % 64 & 1)
		return TRIAD_FILE_NO_NEWS;
	if (!error || !was_in_trouble)
		*reported = (struct triad_file_report){0};
	if (!error)
		return was_in_trouble ? TRIAD_FILE_WELL_AGAIN : TRIAD_FILE_NO_NEWS;
	reported->path = hash_path(path);
	reported->errors[at / 64] |= UINT64_C(1) << at % 64;
	return TRIAD_FILE_IN_TROUBLE;
}

/* --- files that are replaced --- */

/* Returns false when there is none, or no room for its name. */
static bool folder_of(const char *path, char folder[PATH_MAX])
{
	const char *end = strrchr(path, '/');
	size_t length = end ? (size_t)(end - path) : 0;

	if (length >= PATH_MAX)
		return false;
	if (!length) {
		strcpy(folder, end ? "/" : ".");
		return true;
	}
	memcpy(folder, path, length);
	folder[length] = '\0';
	return true;
}

int triad_file_sync_folder(const char *path)
{
	const char *name;
	int folder = triad_folder_open(path, &name), fd, error = 0;

	if (folder < 0)
		return -folder;
	fd = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	error = fd < 0 ? errno : 0;
	close(folder);
	if (fd < 0)
		return error;
	/* EINVAL: this file system has nothing to flush there. */
	if (fsync(fd) && errno != EINVAL)
		error = errno;
	close(fd);
	return error;
}

void triad_file_make_folder(const char *path)
{
	char folder[PATH_MAX];
	const char *name;
	int parent;

	/* Ignore a failure: whatever needs the folder fails, too. */
	if (!folder_of(path, folder))
		return;
	parent = triad_folder_open(folder, &name);
	if (parent < 0)
		return;
	if (!mkdirat(parent, name, 0755))
		(void)triad_file_sync_folder(folder);
	close(parent);
}

/* Opens the folder of a path; 'beside' gets the name of the new file there.  Returns a
 * descriptor or -errno. */
static int open_beside(const char *path, const char **name, char beside[NAME_MAX + 1])
{
	int folder = triad_folder_open(path, name);

	if (folder < 0)
		return folder;
	if ((size_t)snprintf(beside, NAME_MAX + 1, "%s.new", *name) <= NAME_MAX)
		return folder;
	close(folder);
	return -ENAMETOOLONG;
}

int triad_file_new_open(const char *path, int flags, mode_t mode)
{
	const int all = flags | O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW;
	char beside[NAME_MAX + 1];
	const char *name;
	int folder = open_beside(path, &name, beside), fd;

	if (folder == -ENOENT) {
		triad_file_make_folder(path);
		folder = open_beside(path, &name, beside);
	}
	if (folder < 0)
		return folder;
	/* Remove what a killed process left. */
	if (unlinkat(folder, beside, 0) && errno != ENOENT)
		fd = -errno;
	else if ((fd = openat(folder, beside, all, mode)) < 0)
		fd = -errno;
	close(folder);
	return fd;
}

int triad_file_new_commit(int fd, const char *path)
{
	char beside[NAME_MAX + 1];
	const char *name;
	int folder, error;

	if (fsync(fd))
		return errno;
	folder = open_beside(path, &name, beside);
	if (folder < 0)
		return -folder;
	error = renameat(folder, beside, folder, name) ? errno : 0;
	close(folder);
	return error;
}

void triad_file_new_discard(int fd, const char *path)
{
	char beside[NAME_MAX + 1];
	const char *name;
	int folder = open_beside(path, &name, beside);

	close(fd);
	if (folder < 0)
		return;
	(void)unlinkat(folder, beside, 0);
	close(folder);
}

int triad_file_new_end(int fd, const char *path, int error)
{
	if (!error)
		error = triad_file_new_commit(fd, path);
	if (error) {
		triad_file_new_discard(fd, path);
		return error;
	}
	close(fd);
	return triad_file_sync_folder(path);
}

int triad_file_replace(const char *path, const void *octets, size_t size, mode_t mode)
{
	int fd = triad_file_new_open(path, 0, mode);

	if (fd < 0)
		return -fd;
	return triad_file_new_end(fd, path, triad_write_all(fd, octets, size));
}
