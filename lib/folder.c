/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "triad/folder.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MAX_LINKS 16
#define FLAGS (O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)

struct walk {
	int fd; /* of the folder walked to */
	unsigned n_links;
	char rest[PATH_MAX]; /* the names still to be walked */
};

static bool is_own_or_of_root(const struct stat *status)
{
	return status->st_uid == 0 || status->st_uid == geteuid();
}

/* Whether only root and we can have put a name into that folder, or into its place. */
static bool is_closed(int folder)
{
	struct stat status;

	return !fstat(folder, &status) && is_own_or_of_root(&status) &&
		(!(status.st_mode & (S_IWGRP | S_IWOTH)) || status.st_mode & S_ISVTX);
}

static int go_to(struct walk *walk, int fd)
{
	if (fd < 0)
		return errno;
	close(walk->fd);
	walk->fd = fd;
	return 0;
}

/* Puts a link's target before the rest. */
static int follow_link(struct walk *walk, const char *name)
{
	char target[PATH_MAX];
	ssize_t n = readlinkat(walk->fd, name, target, sizeof(target) - 1);
	size_t rest = strlen(walk->rest);

	if (n < 0)
		return errno;
	if (++walk->n_links > MAX_LINKS)
		return ELOOP;
	if ((size_t)n + 1 + rest >= sizeof(walk->rest))
		return ENAMETOOLONG;
	memmove(walk->rest + n + 1, walk->rest, rest + 1);
	memcpy(walk->rest, target, (size_t)n);
	walk->rest[n] = '/';
	return target[0] == '/' ? go_to(walk, open("/", FLAGS)) : 0;
}

static int enter_folder(struct walk *walk, const char *name)
{
	int fd = openat(walk->fd, name, FLAGS), error;
	struct stat status;

	if (fd >= 0 || (errno != ENOTDIR && errno != ELOOP))
		return go_to(walk, fd);
	error = errno;
	if (fstatat(walk->fd, name, &status, AT_SYMLINK_NOFOLLOW) ||
		!S_ISLNK(status.st_mode))
		return error;
	return is_own_or_of_root(&status) && is_closed(walk->fd)
		? follow_link(walk, name)
		: EPERM;
}

static int walk_rest(struct walk *walk)
{
	char name[NAME_MAX + 1];
	int error = 0;

	while (!error) {
		size_t start = strspn(walk->rest, "/");
		size_t n = strcspn(walk->rest + start, "/");
		char *behind = walk->rest + start + n;

		if (!n)
			break;
		if (n > NAME_MAX)
			return ENAMETOOLONG;
		memcpy(name, walk->rest + start, n);
		name[n] = '\0';
		memmove(walk->rest, behind, strlen(behind) + 1);
		error = enter_folder(walk, name);
	}
	return error;
}

int triad_folder_open(const char *path, const char **name)
{
	const char *slash = strrchr(path, '/');
	size_t length = slash ? (size_t)(slash - path) : 0;
	/* On the heap: paths are large for the stack of our threads. */
	struct walk *walk = malloc(sizeof(*walk));
	int error = ENAMETOOLONG, fd;

	*name = slash ? slash + 1 : path;
	if (!walk)
		return -ENOMEM;
	walk->n_links = 0;
	walk->fd = open(slash && path[0] == '/' ? "/" : ".", FLAGS);
	if (walk->fd < 0) {
		error = errno;
	} else {
		if (length < sizeof(walk->rest)) {
			memcpy(walk->rest, path, length);
			walk->rest[length] = '\0';
			error = walk_rest(walk);
		}
		if (error)
			close(walk->fd);
	}
	fd = walk->fd;
	free(walk);
	return error ? -error : fd;
}

int triad_folder_stat(const char *path, struct stat *status)
{
	const char *name;
	int folder = triad_folder_open(path, &name), error = 0;

	if (folder < 0)
		return -folder;
	if (fstatat(folder, name, status, AT_SYMLINK_NOFOLLOW))
		error = errno;
	close(folder);
	return error;
}
