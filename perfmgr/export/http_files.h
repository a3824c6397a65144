/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Reads the server's files: certificate, key, token.
 *
 * They must be plain files of a limited size; it never waits for others (a FIFO, a device).
 * Secrets are overwritten before their memory is freed.
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

/* Warns when users other than its owner and group can read a file that should be secret. */
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

/* Returns 0 or an errno with a reason.  'token' is to be cleared in any case. */
int triad_http_token_load(struct triad_http_token *token, const char *section,
	const char *path, struct triad_log *log, char *reason, size_t size);

/* Reads it again if its file has changed; checks at most once a second.  An unusable file
 * is logged, once for each change, and the last token stays in force. */
void triad_http_token_refresh(
	struct triad_http_token *token, struct triad_log *log, uint64_t now_us);

void triad_http_token_clear(struct triad_http_token *token);

#endif
