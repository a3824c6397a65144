/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "triad/line_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "triad/file.h"
#include "triad/folder.h"

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

static int note_line_error(struct triad_line_file *file, int error)
{
	file->why = strerror(error);
	return error;
}

static bool is_our_file(const struct triad_line_file *file, const struct stat *there)
{
	struct stat ours;

	return !fstat(file->fd, &ours) && there->st_dev == ours.st_dev &&
		there->st_ino == ours.st_ino;
}

/* True when the path still names the open file. */
static bool is_open(const struct triad_line_file *file)
{
	struct stat there;

	return file->fd >= 0 && !triad_folder_stat(file->params.path, &there) &&
		is_our_file(file, &there);
}

static int open_anew(struct triad_line_file *file)
{
	triad_line_file_close(file);
	file->fd = triad_file_open_output(
		file->params.path, O_WRONLY, file->params.mode, &file->why);
	return file->fd < 0 ? -file->fd : 0;
}

static void number(const char *name, unsigned i, char *numbered)
{
	snprintf(numbered, NUMBERED_SIZE, i ? "%s.%u" : "%s", name, i);
}

/* Renames all files of that folder, the oldest first.  Returns 0 or an errno. */
static int rename_all(const struct triad_line_file *file, int folder, const char *name)
{
	char from[NUMBERED_SIZE], to[NUMBERED_SIZE];
	struct stat there;

	/* Only in the folder of the file that is full: another one may be there now. */
	if (fstatat(folder, name, &there, AT_SYMLINK_NOFOLLOW) ||
		!is_our_file(file, &there))
		return 0;
	for (unsigned i = file->params.keep; i--;) {
		number(name, i, from);
		number(name, i + 1, to);
		if (renameat(folder, from, folder, to) && errno != ENOENT)
			return errno;
	}
	return 0;
}

/* If renaming fails, the line is not written, or the file would grow without end. */
static int rotate(struct triad_line_file *file)
{
	const char *name;
	int folder = triad_folder_open(file->params.path, &name), error;

	if (folder < 0)
		return note_line_error(file, -folder);
	error = rename_all(file, folder, name);
	close(folder);
	return error ? note_line_error(file, error) : open_anew(file);
}

int triad_line_file_open(struct triad_line_file *file)
{
	file->why = NULL;
	return is_open(file) ? 0 : open_anew(file);
}

/* Appends a line; cuts it off again when the disk takes only a part. */
static int append_line(struct triad_line_file *file, const char *line, size_t size)
{
	off_t before = lseek(file->fd, 0, SEEK_END);
	ssize_t n = write(file->fd, line, size);

	if (n == (ssize_t)size)
		return 0;
	if (n < 0)
		return note_line_error(file, errno);
	return note_line_error(
		file, before < 0 || ftruncate(file->fd, before) ? EIO : ENOSPC);
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
	return error ? error : append_line(file, line, size);
}
