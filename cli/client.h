/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* One request to the plugin or to an agent, and its answer copied to this process's
 * standard output and standard error as it comes in.
 *
 * Errors go to standard error.  SIGPIPE must be ignored.
 *
 * Thread-safety: one thread.  Memory: a few KiB of stack, however long the answer. */
#ifndef TRIAD_CLI_CLIENT_H
#define TRIAD_CLI_CLIENT_H

#include <stdbool.h>
#include <stddef.h>

struct triad_client {
	const char *path;   /* of the control socket */
	bool is_agent;      /* whose it is, for messages */
	unsigned timeout_s; /* the request ends if no frame comes for so long */
	const char *before; /* written ahead of the answer's first output; or NULL */
	bool drops_output;  /* the answer is not shown */
	bool is_silent;     /* nor are errors */
	int no_answer;      /* what is returned then; 0: TRIAD_CONTROL_FAILED */
};

/* The reader of standard output has gone: no more is wanted. */
#define TRIAD_CLIENT_UNREAD (-1)

/* Sends 'request' (see triad_request_encode()) and copies the answer.
 * Returns the status that the plugin gave, 'no_answer' when it can't be reached or the
 * answer was cut, or TRIAD_CLIENT_UNREAD. */
int triad_client_ask(
	const struct triad_client *client, const char *request, size_t request_size);

#endif
