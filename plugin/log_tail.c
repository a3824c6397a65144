/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "plugin/log_tail.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

void triad_log_tail_init(struct triad_log_tail *tail, const char *path)
{
	*tail = (struct triad_log_tail){.fd = -1};
	if (path && strlen(path) < sizeof(tail->path))
		snprintf(tail->path, sizeof(tail->path), "%s", path);
}

static void close_file(struct triad_log_tail *tail)
{
	if (tail->fd >= 0)
		close(tail->fd);
	tail->fd = -1;
}

void triad_log_tail_clear(struct triad_log_tail *tail)
{
	close_file(tail);
}

bool triad_log_tail_is_open(const struct triad_log_tail *tail)
{
	return tail->fd >= 0;
}

/* Goes on close to the end of the file. */
static void skip_to_end(struct triad_log_tail *tail, off_t size)
{
	if (size - tail->offset <= TRIAD_LOG_TAIL_SIZE)
		return;
	tail->n_skipped += (uint64_t)(size - tail->offset - TRIAD_LOG_TAIL_SIZE);
	tail->offset = size - TRIAD_LOG_TAIL_SIZE;
	tail->skips = true;
	tail->n = 0;
}

/* Opens the file that the path has now, unless it is open.  Returns its size, or -1. */
static off_t look(struct triad_log_tail *tail)
{
	struct stat now;

	if (!*tail->path || stat(tail->path, &now) || !S_ISREG(now.st_mode)) {
		close_file(tail);
		return -1;
	}
	if (tail->fd >= 0 && now.st_dev == tail->device && now.st_ino == tail->inode &&
		now.st_size >= tail->offset)
		return now.st_size;
	close_file(tail);
	tail->fd = open(tail->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (tail->fd < 0 || fstat(tail->fd, &now) || !S_ISREG(now.st_mode)) {
		close_file(tail);
		return -1;
	}
	tail->device = now.st_dev;
	tail->inode = now.st_ino;
	tail->offset = 0;
	tail->n = 0;
	tail->skips = false;
	if (!tail->has_begun) {
		skip_to_end(tail, now.st_size);
		tail->n_skipped = 0;
	}
	tail->has_begun = true;
	return now.st_size;
}

static void take_octet(struct triad_log_tail *tail, char octet,
	void (*take)(void *context, const char *line), void *context)
{
	if (octet != '\n') {
		if (!tail->skips && tail->n + 1 < sizeof(tail->line))
			tail->line[tail->n++] = octet ? octet : '?';
		return;
	}
	tail->line[tail->n] = '\0';
	if (!tail->skips)
		take(context, tail->line);
	tail->skips = false;
	tail->n = 0;
}

bool triad_log_tail_read(struct triad_log_tail *tail,
	void (*take)(void *context, const char *line), void *context)
{
	off_t size = look(tail);
	size_t left = TRIAD_LOG_TAIL_SIZE;
	char octets[4096];
	ssize_t n;

	if (size < 0)
		return false;
	skip_to_end(tail, size);
	while (left && tail->offset < size) {
		n = pread(tail->fd, octets,
			left < sizeof(octets) ? left : sizeof(octets), tail->offset);
		if (n <= 0)
			break;
		tail->offset += n;
		left -= (size_t)n;
		for (ssize_t i = 0; i < n; i++)
			take_octet(tail, octets[i], take, context);
	}
	return tail->offset < size;
}
