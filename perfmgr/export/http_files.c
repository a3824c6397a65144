/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "perfmgr/export/http_files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "perfmgr/export/http.h"
#include "triad/clock.h"
#include "triad/file.h"

/* --- files --- */

static int refuse(
	int error, const char *path, const char *why, char *reason, size_t size)
{
	snprintf(reason, size, "%s: %s", path, why);
	return error;
}

static int read_all(int fd, char *text, size_t n)
{
	size_t used = 0;

	while (used < n) {
		ssize_t got = read(fd, text + used, n - used);

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return got ? errno : EIO;
		used += (size_t)got;
	}
	text[n] = '\0';
	return 0;
}

static int read_open_file(int fd, const char *path, size_t max, char **text,
	struct stat *about, char *reason, size_t size)
{
	int error;

	if (fstat(fd, about))
		return refuse(errno, path, strerror(errno), reason, size);
	if (!S_ISREG(about->st_mode))
		return refuse(EINVAL, path, "not a plain file", reason, size);
	if ((uintmax_t)about->st_size > max)
		return refuse(
			EFBIG, path, "too large to be what it should", reason, size);
	*text = malloc((size_t)about->st_size + 1);
	if (!*text)
		return refuse(ENOMEM, path, strerror(ENOMEM), reason, size);
	error = read_all(fd, *text, (size_t)about->st_size);
	if (!error)
		return 0;
	free(*text);
	*text = NULL;
	return refuse(error, path, strerror(error), reason, size);
}

int triad_http_read_file(const char *path, size_t max, char **text, struct stat *about,
	char *reason, size_t size)
{
	char why[TRIAD_FILE_REASON_SIZE];
	int fd, error;

	*text = NULL;
	if (triad_file_check_trusted(path, false, why) == EPERM)
		return refuse(EPERM, path, why, reason, size);
	/* Without O_NONBLOCK open() of a FIFO would block before fstat() can tell. */
	fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (fd < 0)
		return refuse(errno, path, strerror(errno), reason, size);
	error = read_open_file(fd, path, max, text, about, reason, size);
	close(fd);
	return error;
}

void triad_http_forget(char *text)
{
	if (text)
		explicit_bzero(text, strlen(text));
	free(text);
}

void triad_http_warn_if_open(const char *section, const char *path,
	const struct stat *about, struct triad_log *log)
{
	if (about->st_mode & S_IROTH)
		triad_log_write(log, TRIAD_LOG_ERROR,
			"%s: %s: everybody on this host can read it; take that "
			"right away: chmod o-r %s",
			section, path, path);
}

/* --- tokens --- */

/* Keeps only the first line, without blanks around it. */
static void keep_first_line(char *text)
{
	size_t start = strspn(text, " \t\r"), n;

	for (n = strcspn(text + start, "\n"); n; n--)
		if (!strchr(" \t\r", text[start + n - 1]))
			break;
	memmove(text, text + start, n);
	explicit_bzero(text + n, strlen(text + n));
}

static int read_token(
	const char *path, char **text, struct stat *about, char *reason, size_t size)
{
	int error = triad_http_read_file(
		path, TRIAD_HTTP_TOKEN_MAX_SIZE, text, about, reason, size);

	if (error)
		return error;
	keep_first_line(*text);
	if (strlen(*text) >= TRIAD_HTTP_MIN_TOKEN)
		return 0;
	triad_http_forget(*text);
	*text = NULL;
	snprintf(reason, size,
		"%s: its first line has less than %d characters, too few for a token",
		path, TRIAD_HTTP_MIN_TOKEN);
	return EINVAL;
}

int triad_http_token_load(struct triad_http_token *token, const char *section,
	const char *path, struct triad_log *log, char *reason, size_t size)
{
	int error;

	*token = (struct triad_http_token){.section = section, .path = strdup(path)};
	if (!token->path)
		return refuse(ENOMEM, path, strerror(ENOMEM), reason, size);
	error = read_token(path, &token->text, &token->about, reason, size);
	if (!error)
		triad_http_warn_if_open(section, path, &token->about, log);
	return error;
}

static bool is_same_file(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino &&
		a->st_size == b->st_size && a->st_mtim.tv_sec == b->st_mtim.tv_sec &&
		a->st_mtim.tv_nsec == b->st_mtim.tv_nsec &&
		/* ctime also changes with the owner and the mode. */
		a->st_ctim.tv_sec == b->st_ctim.tv_sec &&
		a->st_ctim.tv_nsec == b->st_ctim.tv_nsec;
}

void triad_http_token_refresh(
	struct triad_http_token *token, struct triad_log *log, uint64_t now_us)
{
	struct stat about = {0};
	char *text, reason[512];

	if (!token->path || now_us < token->looked_us + TRIAD_US_PER_S)
		return;
	token->looked_us = now_us;
	if (stat(token->path, &about))
		about = (struct stat){0};
	if (is_same_file(&about, &token->about))
		return;
	if (read_token(token->path, &text, &token->about, reason, sizeof(reason))) {
		/* Note which file was bad, so that it is logged once. */
		token->about = about;
		triad_log_write(log, TRIAD_LOG_ERROR,
			"%s: %s; the token read before stays in force", token->section,
			reason);
		return;
	}
	triad_http_forget(token->text);
	token->text = text;
	triad_http_warn_if_open(token->section, token->path, &token->about, log);
	triad_log_write(log, TRIAD_LOG_INFO,
		"%s: %s has changed: its token is in force now", token->section,
		token->path);
}

void triad_http_token_clear(struct triad_http_token *token)
{
	triad_http_forget(token->text);
	free(token->path);
	*token = (struct triad_http_token){0};
}
