/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "service/recorder_file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/format_version.h"
#include "perfmgr/timeline/reader.h"
#include "triad/clock.h"
#include "service/state_path.h"
#include "triad/file.h"

#define FLAGS (O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY)
/* The recorder writes the file anew at twice as many lines as it has room for events;
 * so a larger file, even of the longest lines, is not a recorder's. */
#define MAX_OCTETS ((uint64_t)4 * TRIAD_TIMELINE_MAX_EVENTS * TRIAD_TIMELINE_LINE_SIZE)

void triad_recorder_file_init(struct triad_recorder_file *file, const char *dir,
	const char *program, uint64_t port_guid)
{
	*file = (struct triad_recorder_file){.fd = -1, .new_fd = -1};
	(void)triad_state_path(
		dir, "history", program, port_guid, file->path, sizeof(file->path));
}

void triad_recorder_file_close(struct triad_recorder_file *file)
{
	if (file->fd >= 0)
		close(file->fd);
	file->fd = -1;
}

/* Notes why something failed and what to do; returns the error. */
static int note_recorder_error(struct triad_recorder_file *file, int error,
	const char *why, const char *advice)
{
	snprintf(file->reason, sizeof(file->reason), "%.160s: %s: %s", file->path, why,
		advice);
	return error;
}

/* The same for an errno. */
static int fail_by(struct triad_recorder_file *file, int error)
{
	const char *advice = "look after its disk";

	if (error == ENOSPC || error == EDQUOT || error == EFBIG)
		advice = "make room on its disk";
	else if (error == ELOOP)
		advice = "it is a symbolic link, which is not followed: put the file "
			 "itself there";
	else if (error == ENOENT || error == ENOTDIR)
		advice = "make its folder, or name another in state.dir";
	else if (error == EISDIR)
		advice = "it is a folder: move it away";
	else if (error == EACCES || error == EPERM || error == EROFS)
		advice = "let this user write there, or name another folder in "
			 "state.dir";
	return note_recorder_error(file, error, strerror(error), advice);
}

/* The same for a file of a later Triad. */
static int fail_by_version(struct triad_recorder_file *file, unsigned version)
{
	char refusal[TRIAD_FORMAT_REFUSAL_SIZE];

	triad_format_refusal(refusal, version, TRIAD_TIMELINE_FILE_VERSION);
	snprintf(file->reason, sizeof(file->reason), "%.160s: %s", file->path, refusal);
	return EPROTONOSUPPORT;
}

/* --- opening --- */

static int check_trusted(struct triad_recorder_file *file)
{
	char why[TRIAD_FILE_REASON_SIZE];
	int error = triad_file_check_folder(file->path, why);

	if (error != EPERM)
		error = triad_file_check_trusted(file->path, false, why);
	if (error != EPERM)
		return 0;
	snprintf(file->reason, sizeof(file->reason), "%s", why);
	return EPERM;
}

static int open_it(struct triad_recorder_file *file)
{
	file->fd = open(file->path, O_RDWR | FLAGS, 0600);
	if (file->fd < 0 && errno == ENOENT) {
		triad_file_make_folder(file->path);
		file->fd = open(file->path, O_RDWR | FLAGS, 0600);
	}
	return file->fd < 0 ? fail_by(file, errno) : 0;
}

/* Checks that the opened file can be a recorder's, and locks it. */
static int check_opened(struct triad_recorder_file *file, uint64_t *alive_us)
{
	struct stat status;

	if (fstat(file->fd, &status))
		return fail_by(file, errno);
	if (!S_ISREG(status.st_mode))
		return note_recorder_error(file, EMEDIUMTYPE,
			"it is not a regular file",
			"move it away, or name another folder in state.dir");
	if ((uint64_t)status.st_size > MAX_OCTETS)
		return note_recorder_error(
			file, EFBIG, "it is too large to be a history", "move it away");
	if (flock(file->fd, LOCK_EX | LOCK_NB))
		return errno == EWOULDBLOCK
			? note_recorder_error(file, EBUSY, "another program writes it",
				  "end that one, or give this one another state.dir")
			: fail_by(file, errno);
	*alive_us = status.st_size ? triad_clock_from_timespec(&status.st_mtim) : 0;
	return 0;
}

static int read_it(struct triad_recorder_file *file, struct triad_timeline *older)
{
	struct triad_timeline_reader reader;
	char piece[16384];
	size_t n;
	int error;

	triad_timeline_reader_init(&reader, older);
	file->size = 0;
	do {
		error = triad_read_all(file->fd, piece, sizeof(piece), &n);
		triad_timeline_reader_take(&reader, piece, n);
		file->size += n;
	} while (!error && n == sizeof(piece));
	file->is_torn = triad_timeline_reader_is_torn(&reader);
	triad_timeline_reader_end(&reader);
	file->n_lines = reader.n_lines + reader.n_bad;
	file->n_bad = reader.n_bad;
	if (!error && reader.version > TRIAD_TIMELINE_FILE_VERSION)
		return fail_by_version(file, reader.version);
	return error ? fail_by(file, error) : 0;
}

int triad_recorder_file_open(struct triad_recorder_file *file,
	struct triad_timeline *older, uint64_t *alive_us)
{
	int error;

	/* Room for ".new", and for what was cut. */
	if (strlen(file->path) + 1 >= sizeof(file->path))
		return note_recorder_error(file, ENAMETOOLONG, "the name is too long",
			"use a shorter state.dir");
	error = check_trusted(file);
	if (!error)
		error = open_it(file);
	if (!error)
		error = check_opened(file, alive_us);
	if (!error)
		error = read_it(file, older);
	/* The file may be new: make its name durable. */
	if (!error && triad_file_sync_folder(file->path))
		error = fail_by(file, errno);
	if (error)
		triad_recorder_file_close(file);
	return error;
}

/* --- writing --- */

/* Checks that the path still leads to the open file. */
static int check_place(struct triad_recorder_file *file)
{
	struct stat there, open_one;

	if (lstat(file->path, &there))
		return errno == ENOENT ? ESTALE : fail_by(file, errno);
	if (fstat(file->fd, &open_one))
		return fail_by(file, errno);
	if (there.st_dev == open_one.st_dev && there.st_ino == open_one.st_ino)
		return 0;
	return note_recorder_error(file, EEXIST,
		"somebody put another file in its place", "move that away");
}

int triad_recorder_file_append(struct triad_recorder_file *file, const char *lines,
	size_t size, uint64_t n_lines)
{
	int error = check_place(file);

	if (error)
		return error;
	/* End the torn line first, so that only that line is bad. */
	if (file->is_torn)
		error = triad_write_all(file->fd, "\n", 1);
	if (!error)
		error = triad_write_all(file->fd, lines, size);
	if (!error && fdatasync(file->fd))
		error = errno;
	if (!error) {
		file->size += size + file->is_torn;
		file->is_torn = false;
		file->n_lines += n_lines;
		return 0;
	}
	/* If a part of the lines stays, the next attempt begins a new line. */
	if (ftruncate(file->fd, (off_t)file->size))
		file->is_torn = true;
	return fail_by(file, error);
}

void triad_recorder_file_touch(struct triad_recorder_file *file)
{
	if (file->fd >= 0)
		(void)futimens(file->fd, NULL);
}

/* --- writing anew --- */

static int discard_new(struct triad_recorder_file *file, int error)
{
	triad_file_new_discard(file->new_fd, file->path);
	file->new_fd = -1;
	return fail_by(file, error);
}

int triad_recorder_file_new_begin(struct triad_recorder_file *file)
{
	int fd = triad_file_new_open(file->path, O_APPEND | O_NONBLOCK, 0600);

	if (fd < 0)
		return fail_by(file, -fd);
	file->new_fd = fd;
	file->new_size = file->n_new_lines = 0;
	/* Lock it before it gets its name, so that no other program can lock it
	 * first. */
	return flock(fd, LOCK_EX | LOCK_NB) ? discard_new(file, errno) : 0;
}

int triad_recorder_file_new_append(struct triad_recorder_file *file, const char *lines,
	size_t size, uint64_t n_lines)
{
	int error = triad_write_all(file->new_fd, lines, size);

	file->new_size += size;
	file->n_new_lines += n_lines;
	return error ? discard_new(file, error) : 0;
}

int triad_recorder_file_new_end(struct triad_recorder_file *file)
{
	int error = triad_file_new_commit(file->new_fd, file->path);

	if (error)
		return discard_new(file, error);
	/* Ignore an error: at worst, a crash brings back the old file, which lacks only
	 * the newest lines. */
	(void)triad_file_sync_folder(file->path);
	if (file->fd >= 0)
		close(file->fd);
	file->fd = file->new_fd;
	file->new_fd = -1;
	file->size = file->new_size;
	file->n_lines = file->n_new_lines;
	file->is_torn = false;
	return 0;
}
