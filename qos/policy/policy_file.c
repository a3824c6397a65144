/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "qos/policy/policy.h"
#include "triad/file.h"

/* Reads up to 'size' octets; fewer only at the end of the file. */
static int stat_regular_file(int fd, struct stat *status)
{
	if (fstat(fd, status))
		return errno;
	if (S_ISDIR(status->st_mode))
		return EISDIR;
	if (!S_ISREG(status->st_mode))
		return EINVAL;
	return status->st_size > (off_t)TRIAD_POLICY_FILE_MAX_SIZE ? EFBIG : 0;
}

static bool is_same_file(const struct stat *a, const struct stat *b)
{
	return a->st_size == b->st_size && a->st_mtim.tv_sec == b->st_mtim.tv_sec &&
		a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

/* The caller frees '*text' in any case. */
static int read_open(int fd, char **text, size_t *size)
{
	struct stat before, after;
	int error = stat_regular_file(fd, &before);
	size_t room;

	if (error)
		return error;
	room = (size_t)before.st_size + 1; /* one more, to detect growth */
	*text = malloc(room);
	if (!*text)
		return ENOMEM;
	/* Refuse a file that changed during the read: a part of a policy may be valid
	 * but mean something else. */
	error = triad_read_all(fd, *text, room, size);
	if (!error)
		error = stat_regular_file(fd, &after);
	if (!error &&
		(!is_same_file(&before, &after) || *size != (size_t)before.st_size))
		error = EAGAIN;
	return error;
}

static const char *reason_of(int error)
{
	switch (error) {
	case EINVAL:
		return "it isn't a regular file";
	case EFBIG:
		return "it is larger than 16 MiB";
	case EAGAIN:
		return "it was being written meanwhile";
	default:
		return strerror(error);
	}
}

int triad_policy_load(const char *path, const char *default_level,
	struct triad_policy **policy, struct triad_diags *diags)
{
	char *text = NULL;
	size_t size = 0;
	/* O_NONBLOCK and O_NOCTTY: the path may be a FIFO or a terminal, which can be
	 * refused only after open(). */
	int error, fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);

	error = fd < 0 ? errno : read_open(fd, &text, &size);
	if (fd >= 0)
		close(fd);
	if (error) {
		triad_diags_init(diags, path);
		triad_diags_add(
			diags, 0, 0, "the policy can't be read: %s", reason_of(error));
	} else {
		error = triad_policy_parse(
			text, size, path, default_level, policy, diags);
	}
	free(text);
	return error;
}
