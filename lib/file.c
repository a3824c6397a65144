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
		*why = "it belongs to another user: chown it to root, or move it away";
	else if (status.st_nlink > 1)
		*why = "it has a second name, a hard link: move it away";
	else if (status.st_mode & (S_IWGRP | S_IWOTH))
		*why = "others may write to it: chmod go-w";
	else
		return 0;
	return EPERM;
}

/* Opens the file; a new one gets 'mode' whatever the umask is. */
static int open_or_make(const char *path, int flags, mode_t mode)
{
	int fd = open(path, flags | O_CREAT | O_EXCL, mode);

	if (fd < 0 && errno == EEXIST)
		return open(path, flags);
	if (fd >= 0)
		(void)fchmod(fd, mode);
	return fd;
}

int triad_file_open_output(const char *path, int access, mode_t mode, const char **why)
{
	struct stat status;
	int fd, error = 0;

	*why = NULL;
	/* Check before opening, because opening a device may have effects. */
	if (!lstat(path, &status))
		error = check_kind(&status, why);
	if (error)
		return -error;
	fd = open_or_make(path,
		access | O_APPEND | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY,
		mode);
	if (fd < 0) {
		error = errno;
		*why = strerror(error);
		return -error;
	}
	error = check_output(fd, why);
	if (!error)
		return fd;
	if (!*why)
		*why = strerror(error);
	close(fd);
	return -error;
}

/* --- reporting trouble --- */

/* FNV-1a; never 0. */
static uint64_t hash_of(const char *path)
{
	uint64_t hash = triad_hash_octets(TRIAD_HASH_START, path, strlen(path));

	return hash ? hash : 1;
}

enum triad_file_news triad_file_report(
	struct triad_file_report *reported, const char *path, int error)
{
	const unsigned n_bits = 8 * sizeof(reported->errors);
	unsigned at = (unsigned)error < n_bits ? (unsigned)error : n_bits - 1;
	bool was_in_trouble = reported->path == hash_of(path);

	if (error && was_in_trouble && reported->errors[at / 64] >> at % 64 & 1)
		return TRIAD_FILE_NO_NEWS;
	if (!error || !was_in_trouble)
		*reported = (struct triad_file_report){0};
	if (!error)
		return was_in_trouble ? TRIAD_FILE_WELL_AGAIN : TRIAD_FILE_NO_NEWS;
	reported->path = hash_of(path);
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
	char folder[PATH_MAX];
	int fd, error = 0;

	if (!folder_of(path, folder))
		return ENAMETOOLONG;
	fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return errno;
	/* EINVAL: this file system has nothing to flush there. */
	if (fsync(fd) && errno != EINVAL)
		error = errno;
	close(fd);
	return error;
}

void triad_file_make_folder(const char *path)
{
	char folder[PATH_MAX];

	/* Ignore a failure: whatever needs the folder fails, too. */
	if (folder_of(path, folder) && !mkdir(folder, 0755))
		(void)triad_file_sync_folder(folder);
}

static int name_new(const char *path, char beside[PATH_MAX])
{
	return (size_t)snprintf(beside, PATH_MAX, "%s.new", path) < PATH_MAX
		? 0
		: ENAMETOOLONG;
}

int triad_file_new_open(const char *path, int flags, mode_t mode)
{
	const int all = flags | O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW;
	char beside[PATH_MAX];
	int fd;

	if (name_new(path, beside))
		return -ENAMETOOLONG;
	/* Remove what a killed process left. */
	if (unlink(beside) && errno != ENOENT && errno != ENOTDIR)
		return -errno;
	fd = open(beside, all, mode);
	if (fd < 0 && errno == ENOENT) {
		triad_file_make_folder(path);
		fd = open(beside, all, mode);
	}
	return fd < 0 ? -errno : fd;
}

int triad_file_new_commit(int fd, const char *path)
{
	char beside[PATH_MAX];

	if (name_new(path, beside))
		return ENAMETOOLONG;
	return fsync(fd) || rename(beside, path) ? errno : 0;
}

void triad_file_new_discard(int fd, const char *path)
{
	char beside[PATH_MAX];

	close(fd);
	if (!name_new(path, beside))
		(void)unlink(beside);
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
