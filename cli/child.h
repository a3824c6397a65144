/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Runs another program, without a shell, for a limited time, and keeps what it prints up to
 * a cap.
 *
 * Model: the program has a process group of its own, the environment of this process, no
 * input and none of its descriptors.  When it has ended, its time is over, or it prints too
 * much, all that is left of the group is killed.
 *
 * Thread-safety: any thread; SIGCHLD must not be ignored.  Memory: the caller's. */
#ifndef TRIAD_CLI_CHILD_H
#define TRIAD_CLI_CHILD_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TRIAD_CHILD_ERRORS_SIZE 256

struct triad_child {
	const char *const *words; /* the program and its arguments, and NULL */
	bool searches_path;       /* else words[0] is a path */
	uint64_t limit_us;
	const atomic_bool *is_ending; /* breaks it off soon; NULL: nothing does */
	/* What it printed, with a 0 behind it. */
	char *output;
	size_t size;
	char errors[TRIAD_CHILD_ERRORS_SIZE]; /* the first octets of standard error */
	int status;                           /* as of waitpid(), when 0 is returned */
};

/* Runs it to its own end; processes that it leaves behind are not waited for.  Returns 0,
 * whatever its status is; ETIMEDOUT; E2BIG (it printed more than 'output' has room for);
 * ECANCELED; ECHILD (its status is not known); or the errno why it can't be started. */
int triad_child_run(struct triad_child *child);

#endif
