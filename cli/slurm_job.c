/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "cli/slurm_job.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#include "cli/child.h"
#include "lib/text.h"
#include "triad/clock.h"

#define OPTION "--slurm"
#define OUTPUT_SIZE 65536

/* --- what squeue prints --- */

/* States in which a job has its hosts. */
static bool has_hosts_now(const char *state)
{
	static const char *const states[] = {"RUNNING", "COMPLETING", "CONFIGURING",
		"SUSPENDED", "STOPPED", "SIGNALING", "STAGE_OUT", "RESIZING"};

	for (size_t i = 0; i < sizeof(states) / sizeof(*states); i++)
		if (!strcmp(state, states[i]))
			return true;
	return false;
}

/* What some versions print where there are no hosts. */
static bool are_hosts(const char *hosts)
{
	return *hosts && *hosts != '(' && strcmp(hosts, "n/a") != 0;
}

/* Adds hosts of the jobs that are over or not.  False: they have no room. */
static bool add_hosts(struct triad_slurm_job *job, const char *state, const char *hosts)
{
	size_t used = strlen(job->hosts);

	if (!are_hosts(hosts) || has_hosts_now(state) == job->is_over)
		return true;
	if (used + strlen(hosts) + 2 > sizeof(job->hosts))
		return false;
	if (!used)
		snprintf(job->state, sizeof(job->state), "%s", state);
	triad_text_append(
		job->hosts, sizeof(job->hosts), "%s%s", used ? "," : "", hosts);
	return true;
}

/* Calls add_hosts() for each line.  False: they have no room. */
static bool add_lines(struct triad_slurm_job *job, const char *text)
{
	char state[sizeof(job->state)], hosts[sizeof(job->hosts) + 1];
	bool has_room = true;

	job->hosts[0] = '\0';
	for (const char *line = text; *line && has_room; line += *line == '\n') {
		size_t length = strcspn(line, "\n"), n = strcspn(line, " \t\n");
		size_t gap = n + strspn(line + n, " \t");
		size_t rest = strcspn(line + gap, " \t\n");

		snprintf(state, sizeof(state), "%.*s", (int)n, line);
		snprintf(hosts, sizeof(hosts), "%.*s", (int)rest, line + gap);
		triad_text_clean(state);
		triad_text_clean(hosts);
		has_room = add_hosts(job, state, hosts);
		if (!job->hosts[0] && *state)
			memcpy(job->state, state, sizeof(state));
		line += length;
	}
	return has_room;
}

static bool explain_no_hosts(struct triad_slurm_job *job)
{
	if (!job->state[0])
		snprintf(job->why, sizeof(job->why),
			"job %s: squeue shows no such job: it is over for longer than "
			"Slurm keeps it, or is another user's that is not shown",
			job->id);
	else if (!strcmp(job->state, "PENDING"))
		snprintf(job->why, sizeof(job->why),
			"job %s has no hosts yet: it has not begun (PENDING)", job->id);
	else
		snprintf(job->why, sizeof(job->why), "job %s has no hosts (%s)",
			job->id, job->state);
	return false;
}

bool triad_slurm_job_read(const char *text, struct triad_slurm_job *job)
{
	bool has_room;

	job->state[0] = job->why[0] = '\0';
	job->is_over = false;
	has_room = add_lines(job, text);
	if (has_room && !job->hosts[0]) {
		job->is_over = true;
		has_room = add_lines(job, text);
	}
	if (!has_room) {
		snprintf(job->why, sizeof(job->why),
			"job %s: its list of hosts has more than %zu octets", job->id,
			sizeof(job->hosts) - 1);
		return false;
	}
	return job->hosts[0] || explain_no_hosts(job);
}

/* --- numbers --- */

/* Returns where the job's number ends that 'text' begins with; NULL: there is none. */
static const char *skip_number(const char *text)
{
	const char *at = text;
	uint64_t number = 0;

	while (*at >= '0' && *at <= '9' && number <= UINT32_MAX)
		number = number * 10 + (uint64_t)(*at++ - '0');
	return *text != '0' && number && number <= UINT32_MAX ? at : NULL;
}

bool triad_slurm_job_is_number(const char *id)
{
	const char *end = skip_number(id);

	return end && !*end;
}

/* Returns where what stands behind a job's number in a set ends; NULL: it is not of one. */
static const char *skip_part(const char *at)
{
	const char *part = at + 1;

	if (*at != '_' && *at != '+')
		return at;
	if (*at == '_' && *part == '[') {
		at = part + 1 + strspn(part + 1, "0123456789-,:%");
		return at > part + 1 && *at == ']' ? at + 1 : NULL;
	}
	at = part + strspn(part, "0123456789");
	return at > part ? at : NULL;
}

bool triad_slurm_job_is_set(const char *id)
{
	const char *at = skip_number(id);

	for (at = at ? skip_part(at) : NULL; at && *at;) {
		at = *at == ',' ? skip_number(at + 1) : NULL;
		at = at ? skip_part(at) : NULL;
	}
	return at;
}

/* --- asking it --- */

static bool explain_child(struct triad_slurm_job *job, int error, unsigned limit_s)
{
	job->is_silent = error == ETIMEDOUT;
	if (job->is_silent)
		snprintf(job->why, sizeof(job->why),
			"job %s: squeue did not end within %u s: is Slurm's controller "
			"there?",
			job->id, limit_s);
	else if (error == E2BIG)
		snprintf(job->why, sizeof(job->why),
			"job %s: squeue prints more than %d octets", job->id,
			OUTPUT_SIZE - 1);
	else
		snprintf(job->why, sizeof(job->why),
			"job %s: squeue can't be run here: %s; name its hosts instead, "
			"which 'squeue -h -o %%N -j %s' prints where Slurm is",
			job->id, strerror(error), job->id);
	return false;
}

static bool explain_status(struct triad_slurm_job *job, const struct triad_child *child)
{
	char errors[sizeof(child->errors)];

	snprintf(errors, sizeof(errors), "%.*s", (int)strcspn(child->errors, "\n"),
		child->errors);
	triad_text_clean(errors);
	if (strstr(errors, "Invalid job id"))
		snprintf(job->why, sizeof(job->why),
			"job %s: Slurm knows no such job; it forgets one some minutes "
			"after its end (squeue: %s)",
			job->id, errors);
	else
		snprintf(job->why, sizeof(job->why), "job %s: squeue: %s", job->id,
			*errors ? errors : "it failed without a word");
	return false;
}

bool triad_slurm_job_ask(
	const struct triad_slurm_asking *asking, struct triad_slurm_job *job)
{
	/* Jobs that are over, too: what became of one is to be said. */
	const char *words[] = {asking->program ? asking->program : "squeue",
		"--noheader", "--states=all", "--format=%T %N", "--jobs", job->id,
		NULL};
	char output[OUTPUT_SIZE];
	struct triad_child child = {.words = words,
		.searches_path = !asking->program,
		.limit_us = asking->limit_s * TRIAD_US_PER_S,
		.is_ending = asking->is_ending,
		.output = output,
		.size = sizeof(output)};
	int error = triad_child_run(&child);

	job->hosts[0] = '\0';
	job->is_silent = false;
	if (error)
		return explain_child(job, error, asking->limit_s);
	if (!WIFEXITED(child.status) || WEXITSTATUS(child.status))
		return explain_status(job, &child);
	return triad_slurm_job_read(output, job);
}

/* --- the command --- */

int triad_slurm_job_words(
	int n_words, const char *const *words, const char *hosts, const char **to)
{
	int n = 0;

	for (int i = 0; i < n_words; i++) {
		if (!strcmp(words[i], OPTION))
			i++; /* skip its value */
		else if (strncmp(words[i], OPTION "=", strlen(OPTION "=")) != 0)
			to[n++] = words[i];
	}
	to[n++] = "--nodes";
	to[n++] = hosts;
	return n;
}
