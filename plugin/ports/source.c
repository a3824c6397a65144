/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "plugin/ports/source.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "triad/clock.h"
#include "triad/file.h"

#define LOOK_US TRIAD_US_PER_S
/* How often to try again to write the copy. */
#define COPY_AGAIN_US (5 * TRIAD_US_PER_S)

void triad_source_init(
	struct triad_source *source, pthread_mutex_t *lock, struct triad_log *log)
{
	memset(source, 0, sizeof(*source));
	source->lock = lock;
	source->log = log;
}

void triad_source_clear(struct triad_source *source)
{
	triad_expected_free(source->expected);
	free(source->octets);
	triad_source_init(source, source->lock, source->log);
}

/* --- files --- */

static bool is_same_file(const struct stat *a, const struct stat *b)
{
	return a->st_ino == b->st_ino && a->st_dev == b->st_dev &&
		a->st_size == b->st_size && a->st_mtim.tv_sec == b->st_mtim.tv_sec &&
		a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

/* Non-blocking, so that a FIFO does not keep us waiting. */
static int open_source(const char *path, struct stat *status)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

	if (fd < 0)
		return -errno;
	if (fstat(fd, status)) {
		close(fd);
		return -EIO;
	}
	if (S_ISREG(status->st_mode))
		return fd;
	close(fd);
	return -EINVAL;
}

/* Returns 0, EAGAIN (somebody is writing it), EFBIG, EPERM (not trusted; 'why' has the
 * reason) or another errno.  The caller frees '*octets'. */
static int read_source(const char *path, struct stat *status, char **octets,
	size_t *size, char why[TRIAD_FILE_REASON_SIZE])
{
	struct stat after;
	size_t n;
	int fd, error;

	/* open() reports other errors of the check, such as ENOENT, again. */
	if (triad_file_check_trusted(path, false, why) == EPERM)
		return EPERM;
	fd = open_source(path, status);
	if (fd < 0)
		return -fd;
	*size = (size_t)status->st_size;
	*octets = *size > TRIAD_EXPECTED_MAX_OCTETS ? NULL : malloc(*size + 1);
	if (!*octets) {
		close(fd);
		return *size > TRIAD_EXPECTED_MAX_OCTETS ? EFBIG : ENOMEM;
	}
	error = triad_read_all(fd, *octets, *size, &n);
	/* Somebody is writing a file that changed or became shorter during the read. */
	if (!error && (n < *size || fstat(fd, &after) || !is_same_file(status, &after)))
		error = EAGAIN;
	close(fd);
	if (error)
		free(*octets);
	return error;
}

/* The configuration stays in force.  Logs one line until the copy works again. */
static void keep_copy(struct triad_source *source, const char *octets, size_t size)
{
	char why[TRIAD_FILE_REASON_SIZE] = "";
	bool had_trouble = *source->copy_trouble;
	int error = 0;

	if (*source->copy)
		error = triad_file_check_folder(source->copy, why) == EPERM
			? EPERM
			: triad_file_replace(source->copy, octets, size, 0600);
	*source->copy_trouble = '\0';
	if (!error)
		return;
	snprintf(source->copy_trouble, sizeof(source->copy_trouble),
		"the expected configuration can't be written to %.80s: %.80s; no port "
		"is touched before it can",
		source->copy, error == EPERM && *why ? why : strerror(error));
	if (!had_trouble)
		triad_log_write(source->log, TRIAD_LOG_ERROR, "ports: %s",
			source->copy_trouble);
}

bool triad_source_retry_copy(struct triad_source *source, uint64_t now_us)
{
	if (!*source->copy_trouble || !source->expected ||
		now_us < source->copy_again_us)
		return false;
	source->copy_again_us = now_us + COPY_AGAIN_US;
	/* Only this thread replaces 'octets'. */
	pthread_mutex_unlock(source->lock);
	keep_copy(source, source->octets, source->size);
	pthread_mutex_lock(source->lock);
	if (!*source->copy_trouble)
		triad_log_write(source->log, TRIAD_LOG_INFO,
			"ports: %s: it can be written again", source->copy);
	return !*source->copy_trouble;
}

/* --- which one is in force --- */

/* Whether 'expected' is newer than the one in force; if not, adds a mistake. */
static bool is_newer(struct triad_source *source, const struct triad_expected *expected)
{
	const struct triad_expected *now = source->expected;

	if (!now || expected->generation > now->generation)
		return true;
	if (expected->generation < now->generation)
		triad_diags_add(&source->mistakes, 0, 0,
			"generation %" PRIu64 " is older than %" PRIu64
			", which is in force: it is refused; give it a higher "
			"generation",
			expected->generation, now->generation);
	else if (expected->hash != now->hash)
		triad_diags_add(&source->mistakes, 0, 0,
			"generation %" PRIu64
			" is in force with other contents: this is refused; give it a "
			"higher generation",
			expected->generation);
	return false;
}

static void report_mistakes(const struct triad_source *source)
{
	char text[TRIAD_DIAG_TEXT_SIZE * 2 + 64];

	for (size_t i = 0; i < source->mistakes.n; i++) {
		triad_diags_format(&source->mistakes, i, text, sizeof(text));
		triad_log_write(source->log, TRIAD_LOG_ERROR, "ports: %s", text);
	}
	if (source->mistakes.n)
		triad_log_write(source->log, TRIAD_LOG_ERROR,
			"ports: %s: not taken; %s", source->mistakes.source,
			source->expected ? "the last good one stays in force"
					 : "there is none in force");
}

/* Parses a configuration; NULL: it has mistakes or is not newer.  Called without
 * lock. */
static struct triad_expected *parse(
	struct triad_source *source, const char *name, const char *octets, size_t size)
{
	struct triad_expected *expected = NULL;
	int error;

	triad_diags_init(&source->mistakes, name);
	error = triad_expected_parse(octets, size, &source->mistakes, &expected);
	if (error && !source->mistakes.n)
		triad_diags_add(&source->mistakes, 0, 0, "%s", strerror(error));
	if (!error && is_newer(source, expected))
		return expected;
	triad_expected_free(expected);
	report_mistakes(source);
	return NULL;
}

/* Takes over 'octets'.  Writes the copy before it takes the lock again: from the moment
 * that the configuration is in force, the lock is held until the owner has handled
 * it. */
static bool attempt(struct triad_source *source, const char *name, char *octets,
	size_t size, bool is_copy)
{
	struct triad_expected *expected;

	pthread_mutex_unlock(source->lock);
	expected = parse(source, name, octets, size);
	if (expected && !is_copy)
		keep_copy(source, octets, size);
	pthread_mutex_lock(source->lock);
	if (!expected) {
		free(octets);
		return false;
	}
	triad_expected_free(source->expected);
	free(source->octets);
	source->expected = expected;
	source->octets = octets;
	source->size = size;
	triad_log_write(source->log, TRIAD_LOG_INFO,
		"ports: %s: generation %" PRIu64
		", %u ports: in force here; nothing is done by it until a majority "
		"of the SMs has it",
		name, expected->generation, expected->n_ports);
	return true;
}

bool triad_source_take(struct triad_source *source, char *octets, size_t size)
{
	return attempt(source, "from another SM", octets, size, false);
}

/* Logs it once, although reading is retried. */
static void log_unreadable(struct triad_source *source, int error, const char *why)
{
	char before[TRIAD_DIAG_TEXT_SIZE] = "";

	if (source->mistakes.n)
		snprintf(
			before, sizeof(before), "%s", source->mistakes.entries[0].text);
	triad_diags_init(&source->mistakes, source->path);
	if (error == EPERM)
		triad_diags_add(&source->mistakes, 0, 0, "%s", why);
	else if (error == EFBIG)
		triad_diags_add(&source->mistakes, 0, 0,
			"it is larger than %zu MiB, the most that is read",
			TRIAD_EXPECTED_MAX_OCTETS >> 20);
	else
		triad_diags_add(&source->mistakes, 0, 0, "can't be read: %s",
			error == EINVAL ? "it is no file" : strerror(error));
	if (strcmp(before, source->mistakes.entries[0].text) != 0)
		report_mistakes(source);
}

static bool read_operators(struct triad_source *source)
{
	char why[TRIAD_FILE_REASON_SIZE];
	struct stat status = {0};
	char *octets;
	size_t size;
	int error;

	pthread_mutex_unlock(source->lock);
	error = read_source(source->path, &status, &octets, &size, why);
	pthread_mutex_lock(source->lock);
	source->has_seen = error != EAGAIN;
	source->seen = status;
	if (error == EAGAIN)
		return false; /* try again in a second */
	/* Zeros in 'seen' mean a missing file.  So a file that can't be read differs
	 * from 'seen' and is tried again in each look; a missing one is not. */
	if (error) {
		memset(&source->seen, 0, sizeof(source->seen));
		log_unreadable(source, error, why);
		return false;
	}
	return attempt(source, source->path, octets, size, false);
}

bool triad_source_look(struct triad_source *source, uint64_t now_us)
{
	struct stat now = {0};

	if (!*source->path || now_us < source->next_look_us)
		return false;
	source->next_look_us = now_us + LOOK_US;
	pthread_mutex_unlock(source->lock);
	/* Zeros stand for a missing file, so that its return is a change. */
	if (stat(source->path, &now))
		memset(&now, 0, sizeof(now));
	pthread_mutex_lock(source->lock);
	if (source->has_seen && is_same_file(&now, &source->seen))
		return false;
	if (!is_same_file(&now, &source->changed)) {
		source->changed = now; /* somebody may still be writing */
		return false;
	}
	return read_operators(source);
}

static bool read_copy(struct triad_source *source)
{
	char why[TRIAD_FILE_REASON_SIZE];
	struct stat status;
	char *octets;
	size_t size;
	int error = ENOENT;

	pthread_mutex_unlock(source->lock);
	if (*source->copy)
		error = read_source(source->copy, &status, &octets, &size, why);
	pthread_mutex_lock(source->lock);
	if (error == EPERM)
		triad_log_write(source->log, TRIAD_LOG_ERROR,
			"ports: %s: not taken: %s", source->copy, why);
	if (error)
		return false;
	return attempt(source, source->copy, octets, size, true);
}

bool triad_source_set_copy(struct triad_source *source, const char *copy)
{
	if (strcmp(copy, source->copy) == 0)
		return false;
	snprintf(source->copy, sizeof(source->copy), "%s", copy);
	return read_copy(source);
}

bool triad_source_set_file(struct triad_source *source, const char *path)
{
	snprintf(source->path, sizeof(source->path), "%s", path);
	triad_diags_init(&source->mistakes, path);
	if (*path)
		return read_operators(source);
	/* Without a file, the configuration in force stays. */
	source->has_seen = false;
	return false;
}
