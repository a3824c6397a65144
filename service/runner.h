/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Runs a command for whoever typed it: what the control socket and the console are
 * given, so that they know nothing of commands.
 *
 * Thread-safety: any thread, several at once. */
#ifndef TRIAD_SERVICE_RUNNER_H
#define TRIAD_SERVICE_RUNNER_H

#include "triad/output.h"

struct triad_runner {
	void *context;
	/* 'prefix' is what was typed before the words ("triad"), for help texts.
	 * Returns an exit status. */
	int (*run)(void *context, const char *prefix, int n_words,
		const char *const *words, struct triad_output *output);
};

#endif
