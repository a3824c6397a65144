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

#endif
