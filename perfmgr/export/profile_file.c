/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "perfmgr/export/profile_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <zstd.h>

#include "perfmgr/export/profile_old.h"
#include "perfmgr/export/zstd_frame.h"
#include "perfmgr/formats/profile.h"
#include "triad/file.h"
#include "triad/folder.h"

/* How much of a file's beginning to read: more than a block, so that it has the first
 * line whatever the block's size is. */
#define BEGINNING_SIZE (160u << 10)

/* Another process may put the file aside between our open() and our lock. */
#define OPEN_TRIES 3

void triad_profile_file_init(struct triad_profile_file *file)
{
	*file = (struct triad_profile_file){.fd = -1};
}

void triad_profile_file_close(struct triad_profile_file *file)
{
	if (file->fd >= 0)
		close(file->fd);
	file->fd = -1;
}

bool triad_profile_file_is_there(const struct triad_profile_file *file)
{
	struct stat there;

	return file->fd >= 0 && !triad_folder_stat(file->path, &there) &&
		there.st_dev == file->device && there.st_ino == file->inode;
}

/* --- opening --- */

static int note_profile_error(
	struct triad_profile_file *file, int error, const char *why)
{
	file->why = why;
	return error;
}

static int open_locked(struct triad_profile_file *file)
{
	struct stat status;
	const char *why;

	file->fd = triad_file_open_output(file->path, O_RDWR, 0640, &why);
	if (file->fd == -EMEDIUMTYPE || file->fd == -EPERM)
		return note_profile_error(file, -file->fd, why);
	if (file->fd < 0)
		return -file->fd;
	if (flock(file->fd, LOCK_EX | LOCK_NB))
		return errno == EWOULDBLOCK
			? note_profile_error(file, EBUSY, "another process writes it")
			: errno;
	/* Only under the lock: another process may have cut the file before. */
	if (fstat(file->fd, &status))
		return errno;
	file->device = status.st_dev;
	file->inode = status.st_ino;
	file->size = (uint64_t)status.st_size;
	return 0;
}

/* Decompresses what begins at 'offset'; returns the length of the text. */
static size_t read_beginning(int fd, uint64_t offset, char *text, size_t size)
{
	static const size_t n_wanted = BEGINNING_SIZE;
	ZSTD_DCtx *zstd = ZSTD_createDCtx();
	char *octets = malloc(n_wanted);
	ZSTD_outBuffer out = {.dst = text, .size = size};
	ssize_t n = octets ? pread(fd, octets, n_wanted, (off_t)offset) : -1;
	ZSTD_inBuffer in = {.src = octets, .size = n > 0 ? (size_t)n : 0};

	while (zstd && in.pos < in.size && out.pos < out.size) {
		size_t left = ZSTD_decompressStream(zstd, &out, &in);

		if (ZSTD_isError(left) || !left)
			break;
	}
	free(octets);
	ZSTD_freeDCtx(zstd);
	return out.pos;
}

/* Whether the frame at 'offset' is one of a profile; sets '*time_us' to the wall time of
 * its sweep, 0 if that is not known. */
static bool look_at_frame(
	const struct triad_profile_file *file, uint64_t offset, uint64_t *time_us)
{
	const size_t n_signature = sizeof(TRIAD_PROFILE_SIGNATURE) - 1;
	struct triad_profile_parser parser;
	char text[256];
	size_t n = read_beginning(file->fd, offset, text, sizeof(text));
	char *end = memchr(text, '\n', n);

	*time_us = 0;
	if (n < n_signature || memcmp(text, TRIAD_PROFILE_SIGNATURE, n_signature) != 0)
		return false;
	triad_profile_parser_init(&parser);
	if (end &&
		triad_profile_parse(&parser, text, (size_t)(end - text)) ==
			TRIAD_PROFILE_INFO)
		*time_us = parser.info.time_us;
	return true;
}

/* Checks whether we may write to the file, and finds when it was begun. */
static int look_at_beginning(struct triad_profile_file *file)
{
	if (look_at_frame(file, 0, &file->begun_us))
		return 0;
	return note_profile_error(file, EMEDIUMTYPE,
		"it is no profile of Triad's, and was left as it is");
}

/* Sets '*whole' to the end of the last whole frame, and '*last' to its beginning.  Returns
 * 0; ENODATA: an unfinished frame follows; EILSEQ: something that is no frame follows; or
 * an errno. */
static int walk_frames(
	const struct triad_profile_file *file, uint64_t *whole, uint64_t *last)
{
	struct triad_zstd_frame frame;
	int error = 0;

	*whole = *last = 0;
	while (!error && *whole < file->size) {
		error = triad_zstd_frame_measure(file->fd, *whole, file->size, &frame);
		if (!error) {
			*last = *whole;
			*whole += frame.size;
		}
	}
	return error;
}

static int cut(struct triad_profile_file *file, uint64_t size)
{
	if (ftruncate(file->fd, (off_t)size))
		return errno;
	file->cut_octets = file->size - size;
	file->size = size;
	return 0;
}

/* True for an unfinished first frame that is ours as far as it can be read.  If even
 * its first block is incomplete, nobody can read it. */
static bool is_torn_first_frame(const struct triad_profile_file *file)
{
	static const char magic[] = {0x28, (char)0xb5, 0x2f, (char)0xfd};
	char octets[sizeof(magic)], text[sizeof(TRIAD_PROFILE_SIGNATURE) - 1];
	ssize_t n = pread(file->fd, octets, sizeof(octets), 0);

	if (file->size >= BEGINNING_SIZE || n <= 0 || memcmp(octets, magic, (size_t)n))
		return false;
	return !memcmp(text, TRIAD_PROFILE_SIGNATURE,
		read_beginning(file->fd, 0, text, sizeof(text)));
}

static int mend(struct triad_profile_file *file)
{
	uint64_t whole, last;
	int error;

	file->cut_octets = 0;
	file->must_be_aside = false;
	file->begun_us = file->last_us = 0;
	if (!file->size)
		return 0;
	/* Don't walk through a very large file. */
	file->must_be_aside = file->size > TRIAD_PROFILE_WALK_OCTETS;
	error = file->must_be_aside ? 0 : walk_frames(file, &whole, &last);
	if (error == ENODATA && !whole && is_torn_first_frame(file))
		return cut(file, 0);
	if (error && error != ENODATA && error != EILSEQ)
		return error;
	file->must_be_aside |= error == EILSEQ;
	if (!file->must_be_aside && whole)
		(void)look_at_frame(file, last, &file->last_us);
	/* Cut an unfinished sweep off, but only from a file that is ours. */
	if (error == ENODATA && look_at_beginning(file) == 0)
		return cut(file, whole);
	return look_at_beginning(file);
}

int triad_profile_file_open(struct triad_profile_file *file, const char *path)
{
	int error;

	triad_profile_file_close(file);
	file->why = NULL;
	snprintf(file->path, sizeof(file->path), "%s", path);
	for (unsigned i = 0; i < OPEN_TRIES; i++) {
		error = open_locked(file);
		/* The lock is on the opened file, which may have been renamed before
		 * it. */
		if (error || triad_profile_file_is_there(file))
			break;
		triad_profile_file_close(file);
		error = EBUSY;
	}
	if (!error)
		error = mend(file);
	if (error)
		triad_profile_file_close(file);
	return error;
}

int triad_profile_file_put_aside(struct triad_profile_file *file, uint64_t now_us)
{
	char name[2 * TRIAD_CONF_PATH_SIZE];
	int error = triad_profile_put_aside(file->path, now_us, name, sizeof(name));

	if (!error)
		triad_profile_file_close(file);
	return error;
}

/* --- writing --- */

int triad_profile_file_append(
	struct triad_profile_file *file, const void *data, size_t size)
{
	const char *at = data;

	while (size) {
		ssize_t n = write(file->fd, at, size);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? errno : EIO;
		at += n;
		size -= (size_t)n;
	}
	return 0;
}

void triad_profile_file_keep(struct triad_profile_file *file)
{
	struct stat status;

	/* Without the size a bad frame could not be cut off later. */
	if (fstat(file->fd, &status))
		triad_profile_file_close(file);
	else
		file->size = (uint64_t)status.st_size;
}

void triad_profile_file_drop(struct triad_profile_file *file)
{
	if (file->fd >= 0 && ftruncate(file->fd, (off_t)file->size))
		triad_profile_file_close(file);
}
