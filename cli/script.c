/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "cli/script.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "triad/control.h"

int triad_script_exec(const char *command, const char *named, const char *script,
	const char *absent, const char *const *words, int n_words)
{
	/* Tests name the script of the sources.  No path relative to triadctl is tried:
	 * somebody else could have put a script there. */
	const char *wanted = secure_getenv(named);
	char **argv = calloc((size_t)n_words + 2, sizeof(*argv)), own[PATH_MAX];
	ssize_t length = readlink("/proc/self/exe", own, sizeof(own) - 1);
	int error = argv && length > 0 ? 0 : ENOMEM;

	script = wanted ? wanted : script;
	if (!error) {
		own[length] = '\0';
		argv[0] = (char *)script;
		memcpy(argv + 1, words, (size_t)n_words * sizeof(*argv));
		error = setenv("TRIADCTL", own, true) ? errno : 0;
	}
	if (!error) {
		signal(SIGPIPE, SIG_DFL);
		(void)execv(script, argv);
		error = errno;
	}
	free(argv);
	fprintf(stderr, "triadctl: %s: %s can't be run: %s%s\n", command, script,
		strerror(error), error == ENOENT ? absent : "");
	return TRIAD_CONTROL_FAILED;
}
