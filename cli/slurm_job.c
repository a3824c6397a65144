/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "cli/slurm_job.h"

#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#include <glib.h>

#define OPTION "--slurm"

/* Joins squeue's lines, one for each job of a set, to one list. */
static void join_lines(char *text)
{
	char *to = text;

	for (const char *at = text; *at; at++) {
		if (*at != '\n')
			*to++ = *at;
		else if (to > text && to[-1] != ',')
			*to++ = ',';
	}
	*to = '\0';
	if (to > text && to[-1] == ',')
		to[-1] = '\0';
}

bool triad_slurm_job_hosts(
	const char *job, char *hosts, size_t size, char *reason, size_t reason_size)
{
	char *words[] = {(char *)"squeue", (char *)"--noheader", (char *)"--format=%N",
		(char *)"--jobs", (char *)job, NULL};
	char *output = NULL, *errors = NULL;
	GError *error = NULL;
	int status = 0;
	bool is_good = false;

	reason[0] = '\0';
	if (!g_spawn_sync(NULL, words, NULL, G_SPAWN_SEARCH_PATH, NULL, NULL, &output,
		    &errors, &status, &error)) {
		snprintf(reason, reason_size,
			"job %.60s: squeue can't be run here: %s; name the hosts with "
			"--nodes",
			job, error->message);
		g_error_free(error);
		return false;
	}
	g_strstrip(output);
	join_lines(output);
	g_strstrip(errors);
	if (!WIFEXITED(status) || WEXITSTATUS(status))
		snprintf(reason, reason_size, "job %.60s: squeue: %.*s", job,
			(int)strcspn(errors, "\n"),
			*errors ? errors : "it failed without a word");
	else if (!*output)
		snprintf(reason, reason_size,
			"job %.60s has no hosts: it has not begun, or is over", job);
	else if (strlen(output) >= size)
		snprintf(reason, reason_size,
			"job %.60s: its list of hosts has more than %zu octets", job,
			size - 1);
	else
		is_good = true;
	if (is_good)
		strcpy(hosts, output);
	g_free(output);
	g_free(errors);
	return is_good;
}

int triad_slurm_job_words(int n_words, char **words, char *hosts, char **to)
{
	int n = 0;

	for (int i = 0; i < n_words; i++) {
		if (!strcmp(words[i], OPTION))
			i++; /* skip its value */
		else if (strncmp(words[i], OPTION "=", strlen(OPTION "=")) != 0)
			to[n++] = words[i];
	}
	to[n++] = (char *)"--nodes";
	to[n++] = hosts;
	return n;
}
