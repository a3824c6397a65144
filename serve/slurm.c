/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "serve/slurm.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/slurm_job.h"
#include "lib/text.h"
#include "triad/clock.h"
#include "triad/conf.h"
#include "triad/file.h"

#define OPTION "--slurm="
#define PAUSE_US TRIAD_US_PER_S
#define SHOWN_HOSTS 200 /* octets of a list of hosts in a message */

struct triad_slurm {
	const atomic_bool *is_ending;
	pthread_mutex_t conf_lock; /* of 'program' */
	char program[TRIAD_CONF_PATH_SIZE];

	pthread_mutex_t lock; /* held while squeue runs; of what follows */
	char asked[TRIAD_CONF_PATH_SIZE];
	struct triad_slurm_job last; /* "": none yet */
	bool has_hosts;
	uint64_t last_us;
};

struct triad_slurm *triad_slurm_new(const atomic_bool *is_ending)
{
	struct triad_slurm *slurm = calloc(1, sizeof(*slurm));

	if (!slurm)
		return NULL;
	slurm->is_ending = is_ending;
	pthread_mutex_init(&slurm->conf_lock, NULL);
	pthread_mutex_init(&slurm->lock, NULL);
	return slurm;
}

void triad_slurm_free(struct triad_slurm *slurm)
{
	if (!slurm)
		return;
	pthread_mutex_destroy(&slurm->conf_lock);
	pthread_mutex_destroy(&slurm->lock);
	free(slurm);
}

void triad_slurm_configure(struct triad_slurm *slurm, const char *program)
{
	pthread_mutex_lock(&slurm->conf_lock);
	snprintf(slurm->program, sizeof(slurm->program), "%s", program);
	pthread_mutex_unlock(&slurm->conf_lock);
}

/* --- asking --- */

/* Whether Slurm may be asked for it by this program; else 'why'. */
static bool may_ask(const char *program, const char *id, char *why, size_t size)
{
	char reason[TRIAD_FILE_REASON_SIZE];
	unsigned number;

	if (!triad_text_number(id, &number)) {
		snprintf(why, size,
			"slurm: a job's number is digits alone, 4294967295 at most");
		return false;
	}
	if (!*program) {
		snprintf(why, size,
			"job %s: Slurm is not asked here, as web.squeue is not set; "
			"name the job's hosts, which 'squeue -h -o %%N -j %s' prints "
			"where Slurm is",
			id, id);
		return false;
	}
	if (triad_file_check_trusted(program, false, reason)) {
		snprintf(why, size, "job %s: web.squeue is not run: %s", id, reason);
		return false;
	}
	return true;
}

static bool is_kept(
	const struct triad_slurm *slurm, const char *program, const char *id)
{
	return !strcmp(slurm->last.id, id) && !strcmp(slurm->asked, program) &&
		triad_clock_now_us() < slurm->last_us + TRIAD_SLURM_KEPT_US;
}

static void ask_squeue(struct triad_slurm *slurm, const char *program, const char *id)
{
	const struct triad_slurm_asking asking = {.program = program,
		.limit_s = TRIAD_SLURM_LIMIT_S,
		.is_ending = slurm->is_ending};
	uint64_t now_us = triad_clock_now_us();

	if (slurm->last_us && now_us < slurm->last_us + PAUSE_US)
		usleep((useconds_t)(slurm->last_us + PAUSE_US - now_us));
	snprintf(slurm->last.id, sizeof(slurm->last.id), "%s", id);
	snprintf(slurm->asked, sizeof(slurm->asked), "%s", program);
	slurm->has_hosts = triad_slurm_job_ask(&asking, &slurm->last);
	slurm->last_us = triad_clock_now_us();
}

/* Copies the answer to 'job'; false: the job has no hosts, and 'job' has why. */
static bool ask_for_hosts(
	struct triad_slurm *slurm, const char *id, struct triad_slurm_job *job)
{
	char program[TRIAD_CONF_PATH_SIZE];
	bool has_hosts;

	pthread_mutex_lock(&slurm->conf_lock);
	memcpy(program, slurm->program, sizeof(program));
	pthread_mutex_unlock(&slurm->conf_lock);
	if (!may_ask(program, id, job->why, sizeof(job->why)))
		return false;
	pthread_mutex_lock(&slurm->lock);
	if (!is_kept(slurm, program, id))
		ask_squeue(slurm, program, id);
	*job = slurm->last;
	has_hosts = slurm->has_hosts;
	pthread_mutex_unlock(&slurm->lock);
	return has_hosts;
}

/* --- the command --- */

static void say_whose(const struct triad_slurm_job *job, struct triad_output *output)
{
	bool is_long = strlen(job->hosts) > SHOWN_HOSTS;

	triad_output_message(output, TRIAD_FRAME_MESSAGE, "job %s %s %s on %.*s%s%s\n",
		job->id, job->is_over ? "is over," : "is", job->state, SHOWN_HOSTS,
		job->hosts, is_long ? "..." : "",
		job->is_over ? ": other jobs may use these hosts now" : "");
}

int triad_slurm_replace(struct triad_slurm *slurm, int n_words,
	const char *const *words, char *hosts, size_t size, const char **to,
	struct triad_output *output)
{
	const char *id = NULL;
	struct triad_slurm_job job = {0};

	for (int i = 1; i < n_words && !strcmp(words[0], "job"); i++)
		if (!strncmp(words[i], OPTION, strlen(OPTION)))
			id = words[i] + strlen(OPTION);
	if (!id) {
		memcpy(to, words, (size_t)n_words * sizeof(*to));
		return n_words;
	}
	if (!ask_for_hosts(slurm, id, &job)) {
		triad_output_message(output, TRIAD_FRAME_MESSAGE, "%s\n", job.why);
		return 0;
	}
	say_whose(&job, output);
	snprintf(hosts, size, "%s", job.hosts);
	return triad_slurm_job_words(n_words, words, hosts, to);
}
