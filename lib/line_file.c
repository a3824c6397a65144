/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "triad/line_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "triad/file.h"

#define NUMBERED_SIZE (TRIAD_CONF_PATH_SIZE + 12)

void triad_line_file_init(struct triad_line_file *file)
{
	*file = (struct triad_line_file){.fd = -1};
}

void triad_line_file_close(struct triad_line_file *file)
{
	if (file->fd >= 0)
		close(file->fd);
	file->fd = -1;
}

void triad_line_file_configure(
	struct triad_line_file *file, const struct triad_line_file_params *params)
{
	if (strcmp(file->params.path, params->path) != 0)
		triad_line_file_close(file);
	file->params = *params;
}

static int fail(struct triad_line_file *file, int error)
{
	file->why = strerror(error);
	return error;
}

/* True when the path still names the open file. */
static bool is_open(const struct triad_line_file *file)
{
	struct stat there, ours;

	return file->fd >= 0 && !lstat(file->params.path, &there) &&
		!fstat(file->fd, &ours) && there.st_dev == ours.st_dev &&
		there.st_ino == ours.st_ino;
}

static int open_anew(struct triad_line_file *file)
{
	triad_line_file_close(file);
	file->fd = triad_file_open_output(
		file->params.path, O_WRONLY, file->params.mode, &file->why);
	return file->fd < 0 ? -file->fd : 0;
}

static void number(const struct triad_line_file *file, unsigned i, char *path)
{
	snprintf(path, NUMBERED_SIZE, i ? "%s.%u" : "%s", file->params.path, i);
}

/* Renames all files, the oldest first.  If that fails, the line is not written, or the
 * file would grow without end. */
static int rotate(struct triad_line_file *file)
{
	char from[NUMBERED_SIZE], to[NUMBERED_SIZE];

	for (unsigned i = file->params.keep; i--;) {
		number(file, i, from);
		number(file, i + 1, to);
		if (rename(from, to) && errno != ENOENT)
			return fail(file, errno);
	}
	return open_anew(file);
}

int triad_line_file_open(struct triad_line_file *file)
{
	file->why = NULL;
	return is_open(file) ? 0 : open_anew(file);
}

/* Appends a line; cuts it off again when the disk takes only a part. */
static int append(struct triad_line_file *file, const char *line, size_t size)
{
	off_t before = lseek(file->fd, 0, SEEK_END);
	ssize_t n = write(file->fd, line, size);

	if (n == (ssize_t)size)
		return 0;
	if (n < 0)
		return fail(file, errno);
	return fail(file, before < 0 || ftruncate(file->fd, before) ? EIO : ENOSPC);
}

/* Whether the file is too large for 'size' more octets; an empty file always has room
 * for a line. */
static bool is_full(const struct triad_line_file *file, size_t size)
{
	struct stat status;

	return file->params.max_octets && !fstat(file->fd, &status) &&
		status.st_size > 0 &&
		(uint64_t)status.st_size + size > file->params.max_octets;
}

int triad_line_file_write(struct triad_line_file *file, const char *line, size_t size)
{
	int error = triad_line_file_open(file);

	if (!error && is_full(file, size))
		error = rotate(file);
	return error ? error : append(file, line, size);
}
