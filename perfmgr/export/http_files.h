/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Reads the server's files: certificate, key, token.
 *
 * They are plain files of a limited size; it never waits for anything else (a FIFO, a
 * device).  It overwrites secrets before it frees their memory.
 *
 * Thread-safety: none. */
#ifndef TRIAD_PERFMGR_EXPORT_HTTP_FILES_H
#define TRIAD_PERFMGR_EXPORT_HTTP_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#include "triad/log.h"

#define TRIAD_HTTP_PEM_MAX_SIZE (256 * 1024)
#define TRIAD_HTTP_TOKEN_MAX_SIZE 4096

/* Reads a file of at most 'max' octets into '*text', which ends in a 0; free it with
 * triad_http_forget().  Returns 0 or an errno with a reason: "PATH: why". */
int triad_http_read_file(const char *path, size_t max, char **text, struct stat *about,
	char *reason, size_t size);

/* Overwrites and frees.  Accepts NULL. */
void triad_http_forget(char *text);

/* Warns when a secret file is readable by others than its owner and group. */
void triad_http_warn_if_open(const char *section, const char *path,
	const struct stat *about, struct triad_log *log);

/* A token and the file it is from. */
struct triad_http_token {
	const char *section; /* of triad.conf, for messages; borrowed */
	char *path;          /* NULL: there is none */
	char *text;
	struct stat about;
	uint64_t looked_us;
};

/* Returns 0 or an errno with a reason.  Clear 'token' in any case. */
int triad_http_token_load(struct triad_http_token *token, const char *section,
	const char *path, struct triad_log *log, char *reason, size_t size);

/* Reads the token again if its file changed; looks once a second at most.  When the
 * file is bad, logs that once for each change and keeps the last token. */
void triad_http_token_refresh(
	struct triad_http_token *token, struct triad_log *log, uint64_t now_us);

void triad_http_token_clear(struct triad_http_token *token);

#endif
