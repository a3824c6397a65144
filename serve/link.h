/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Asks the process that is served for, at its socket (service/outside.h).
 *
 * Thread-safety: any thread; each request has a connection of its own. */
#ifndef TRIAD_SERVE_LINK_H
#define TRIAD_SERVE_LINK_H

#include <stdatomic.h>

#include "cli/client.h"

/* As triadctl: how long a command may say nothing. */
#define TRIAD_LINK_COMMAND_S 60
/* What does not run a command says something every 5 s. */
#define TRIAD_LINK_S 15

struct triad_link_to {
	char path[108];
	atomic_bool is_ending; /* ends all requests soon */
};

/* 'sink' may be NULL, for an answer that nobody wants.  Returns an exit status, or what
 * triad_client_ask() returns besides. */
int triad_link_ask(struct triad_link_to *link, unsigned timeout_s, int n_words,
	const char *const *words, const struct triad_client_sink *sink);

/* --- a request that is followed by octets of any number --- */

struct triad_link_upload {
	int fd; /* -1: not open */
};

/* Begins one.  Returns 0 or an errno. */
int triad_link_upload_open(struct triad_link_to *link, struct triad_link_upload *upload,
	int n_words, const char *const *words);
/* Sends one frame of at most TRIAD_UPLOAD_SIZE octets.  Returns 0; EAGAIN, if it does not
 * wait and there is no room now; or an errno, and the upload is closed. */
int triad_link_upload_put(
	struct triad_link_upload *upload, const void *octets, size_t size, bool waits);
/* Says that this was all, waits for the answer, and closes.  Returns an exit status, or
 * TRIAD_CLIENT_NO_ANSWER. */
int triad_link_upload_end(struct triad_link_upload *upload);
/* Closes without an end: what was sent is cut.  Also one that is not open. */
void triad_link_upload_close(struct triad_link_upload *upload);

#endif
