/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Sends one request to the plugin or to an agent, and passes on the answer piece by
 * piece as it comes.  Shows progress on standard error, if that is a terminal.
 *
 * SIGPIPE must be ignored.
 *
 * Thread-safety: one thread.  Memory: a few KiB of stack, however long the answer. */
#ifndef TRIAD_CLI_CLIENT_H
#define TRIAD_CLI_CLIENT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "triad/control.h"

/* Where an answer goes. */
struct triad_client_sink {
	/* 'type' is OUTPUT, TABLE or MESSAGE; the client's own errors are MESSAGEs,
	 * too.  A 0 follows the last octet.  Returns 0; the errno of a write to
	 * standard output; EPROTO for a malformed table; or ECANCELED, having written
	 * why it wants no more of the answer. */
	int (*take)(void *context, enum triad_frame_type type, const char *piece,
		size_t size);
	void *context;
};

struct triad_client {
	const char *path;    /* of the control socket */
	const char *program; /* who asks, for messages */
	const char *may;     /* who may ask, to be added to a refusal */
	bool is_agent;       /* the socket is an agent's, for messages */
	unsigned timeout_s;  /* the request ends if no frame comes for so long */
	const struct triad_client_sink *sink;
	bool hides_progress;
	/* When it becomes true, the request ends within 0.2 s, as if nothing came; NULL:
	 * never. */
	const atomic_bool *is_ending;
	/* Gets the id of the process that listens, as it has here; NULL: nobody wants it. */
	pid_t *pid;
};

/* The 'may' of triadctl. */
#define TRIAD_CLIENT_MAY                                                               \
	"; only root and the user of opensm may, unless control.group or "             \
	"control.admin_group is set"

/* The reader of standard output has gone. */
#define TRIAD_CLIENT_UNREAD (-1)
/* The sink returned ECANCELED. */
#define TRIAD_CLIENT_CANCELED (-2)

/* The process can't be reached, or its answer was cut; the sink has a MESSAGE why. */
#define TRIAD_CLIENT_NO_ANSWER (-4)

/* Connects to the control socket; its reads and writes take 'timeout_s' at most.  Returns 0
 * or an errno. */
int triad_client_connect(const char *path, unsigned timeout_s, int *fd);

/* Sends 'request' (see triad_request_encode()) and passes on the answer.  Returns the
 * answer's exit status, or one of these. */
int triad_client_ask(
	const struct triad_client *client, const char *request, size_t request_size);

#endif
