/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* One request to the plugin or to an agent, and its answer, handed on piece by piece as
 * it comes in.  Progress is shown on standard error, if that is a terminal.
 *
 * SIGPIPE must be ignored.
 *
 * Thread-safety: one thread.  Memory: a few KiB of stack, however long the answer. */
#ifndef TRIAD_CLI_CLIENT_H
#define TRIAD_CLI_CLIENT_H

#include <stdbool.h>
#include <stddef.h>

#include "triad/control.h"

/* Where an answer goes. */
struct triad_client_sink {
	/* 'type' is OUTPUT, TABLE or MESSAGE; what the client itself has to complain of is
	 * a MESSAGE, too.  Behind the last octet stands a 0.  Returns 0; the errno of a
	 * write to standard output; EPROTO for a table that is none; or ECANCELED, having
	 * said why no more of the answer is wanted. */
	int (*take)(void *context, enum triad_frame_type type, const char *piece,
		size_t size);
	void *context;
};

struct triad_client {
	const char *path;   /* of the control socket */
	bool is_agent;      /* whose it is, for messages */
	unsigned timeout_s; /* the request ends if no frame comes for so long */
	const struct triad_client_sink *sink;
	bool hides_progress;
	int *pid; /* NULL: not wanted; who listens, 0: not known */
};

/* The reader of standard output has gone: no more is wanted. */
#define TRIAD_CLIENT_UNREAD (-1)
/* The sink wanted no more: ECANCELED. */
#define TRIAD_CLIENT_CANCELED (-2)

/* It can't be reached, or the answer was cut; the sink was told. */
#define TRIAD_CLIENT_NO_ANSWER (-4)

/* Sends 'request' (see triad_request_encode()) and hands on the answer.
 * Returns the status that the plugin gave, or one of these. */
int triad_client_ask(
	const struct triad_client *client, const char *request, size_t request_size);

#endif
