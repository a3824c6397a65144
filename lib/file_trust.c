/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Checks whether anybody else could have put a file where it is (triad/file.h).
 *
 * It walks the path name by name, as the kernel does, from / on; a symbolic link is
 * replaced by its target in the part still to be walked. */
#include "triad/file.h"

#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAX_LINKS 16

struct walk {
	char at[PATH_MAX];   /* the path walked so far; "": / */
	char rest[PATH_MAX]; /* the rest of the path */
	struct stat status;  /* of 'at' */
	unsigned n_links;
	bool is_shared; /* anybody may make files in the folder before 'at' */
	char *reason;
};

static bool is_own_or_of_root(const struct stat *status)
{
	return status->st_uid == 0 || status->st_uid == geteuid();
}

/* Whose it may be, for chown: root, or a number. */
static const char *wanted_owner(char text[16])
{
	snprintf(text, 16, "%u", (unsigned)geteuid());
	return geteuid() ? text : "root";
}

static int refuse_path(struct walk *walk, int error, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

static int refuse_path(struct walk *walk, int error, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(walk->reason, TRIAD_FILE_REASON_SIZE, format, args);
	va_end(args);
	return error;
}

static int refuse_errno(struct walk *walk)
{
	int error = errno;

	return refuse_path(walk, error, "%s", strerror(error));
}

static int check_folder(struct walk *walk)
{
	const char *name = *walk->at ? walk->at : "/";
	const struct stat *status = &walk->status;
	bool is_open = status->st_mode & (S_IWGRP | S_IWOTH);
	char owner[16];

	if (!is_own_or_of_root(status))
		return refuse_path(walk, EPERM,
			"its folder %.90s belongs to user %u: chown %s %.90s", name,
			(unsigned)status->st_uid, wanted_owner(owner), name);
	if (is_open && !(status->st_mode & S_ISVTX))
		return refuse_path(walk, EPERM,
			"others may write to its folder %.80s (mode %04o): chmod go-w "
			"%.80s",
			name, (unsigned)status->st_mode & 07777, name);
	walk->is_shared = is_open;
	return 0;
}

static int check_file(struct walk *walk, bool is_secret)
{
	const struct stat *status = &walk->status;
	unsigned mode = (unsigned)status->st_mode & 07777;
	char owner[16];

	if (!is_own_or_of_root(status))
		return refuse_path(walk, EPERM,
			"it belongs to user %u: chown %s %.150s",
			(unsigned)status->st_uid, wanted_owner(owner), walk->at);
	if (is_secret && mode & (S_IRWXG | S_IRWXO))
		return refuse_path(walk, EPERM,
			"others may use it (mode %04o): chmod 600 %.150s", mode,
			walk->at);
	if (mode & (S_IWGRP | S_IWOTH))
		return refuse_path(walk, EPERM,
			"others may write to it (mode %04o): chmod go-w %.150s", mode,
			walk->at);
	if (walk->is_shared && status->st_nlink > 1)
		return refuse_path(walk, EPERM,
			"it has a second name, which others may have given it: replace "
			"%.120s by a copy",
			walk->at);
	return 0;
}

/* --- names --- */

static void leave_last(struct walk *walk)
{
	char *last = strrchr(walk->at, '/');

	if (last)
		*last = '\0';
}

/* Puts a link's target before the rest of the path. */
static int follow_link(struct walk *walk)
{
	char target[PATH_MAX], rest[PATH_MAX], owner[16];
	ssize_t n = readlink(walk->at, target, sizeof(target) - 1);

	if (n < 0)
		return refuse_errno(walk);
	if (!is_own_or_of_root(&walk->status))
		return refuse_path(walk, EPERM,
			"the link %.90s belongs to user %u: chown -h %s %.90s",
			walk->at, (unsigned)walk->status.st_uid, wanted_owner(owner),
			walk->at);
	target[n] = '\0';
	errno = ELOOP;
	if (++walk->n_links > MAX_LINKS)
		return refuse_errno(walk);
	errno = ENAMETOOLONG;
	if ((size_t)snprintf(rest, sizeof(rest), "%s/%s", target, walk->rest) >=
		sizeof(rest))
		return refuse_errno(walk);
	strcpy(walk->rest, rest);
	if (target[0] == '/')
		walk->at[0] = '\0';
	else
		leave_last(walk);
	return 0;
}

/* Appends the next name to 'at'.  Returns 0, or ENODATA when there is none. */
static int append_name(struct walk *walk)
{
	size_t start = strspn(walk->rest, "/");
	size_t n = strcspn(walk->rest + start, "/"), used = strlen(walk->at);

	if (!n)
		return ENODATA;
	errno = ENAMETOOLONG;
	if (used + 1 + n >= sizeof(walk->at))
		return refuse_errno(walk);
	if (n == 2 && !strncmp(walk->rest + start, "..", 2))
		leave_last(walk);
	else if (n != 1 || walk->rest[start] != '.')
		sprintf(walk->at + used, "/%.*s", (int)n, walk->rest + start);
	memmove(walk->rest, walk->rest + start + n, strlen(walk->rest + start + n) + 1);
	return 0;
}

static int check_component(struct walk *walk)
{
	return lstat(*walk->at ? walk->at : "/", &walk->status) ? refuse_errno(walk)
								: 0;
}

/* Walks up to the first file that is no folder, or to the end. */
static int walk_path(struct walk *walk, bool is_secret)
{
	int error = check_component(walk);

	while (!error) {
		if (S_ISLNK(walk->status.st_mode))
			error = follow_link(walk);
		else if (S_ISDIR(walk->status.st_mode))
			error = check_folder(walk);
		else
			return check_file(walk, is_secret);
		if (!error)
			error = append_name(walk);
		if (!error)
			error = check_component(walk);
	}
	return error == ENODATA ? 0 : error;
}

static int begin_walk(struct walk *walk, const char *path, size_t length, char *reason)
{
	size_t used = 0;

	memset(walk, 0, sizeof(*walk));
	walk->reason = reason;
	reason[0] = '\0';
	if (path[0] != '/') {
		if (!getcwd(walk->rest, sizeof(walk->rest) - 1))
			return refuse_errno(walk);
		used = strlen(walk->rest);
		walk->rest[used++] = '/';
	}
	errno = ENAMETOOLONG;
	if (length >= sizeof(walk->rest) - used)
		return refuse_errno(walk);
	memcpy(walk->rest + used, path, length);
	return 0;
}

static int check(const char *path, size_t length, bool is_secret, char *reason)
{
	/* On the heap: two paths are too large for the stack of our threads. */
	struct walk *walk = malloc(sizeof(*walk));
	int error;

	if (!walk) {
		snprintf(reason, TRIAD_FILE_REASON_SIZE, "%s", strerror(ENOMEM));
		return ENOMEM;
	}
	error = begin_walk(walk, path, length, reason);
	if (!error)
		error = walk_path(walk, is_secret);
	free(walk);
	return error;
}

int triad_file_check_trusted(
	const char *path, bool is_secret, char reason[TRIAD_FILE_REASON_SIZE])
{
	return check(path, strlen(path), is_secret, reason);
}

int triad_file_check_folder(const char *path, char reason[TRIAD_FILE_REASON_SIZE])
{
	const char *end = strrchr(path, '/');

	/* Without a '/' it is the current folder. */
	return check(path, end ? (size_t)(end - path) + 1 : 0, false, reason);
}
