/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "serve/slurm.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/slurm_job.h"
#include "triad/clock.h"
#include "triad/conf.h"
#include "triad/file.h"

#define OPTION "--slurm="
#define PAUSE_US TRIAD_US_PER_S
#define SHOWN_HOSTS 200 /* octets of a list of hosts in a message */

enum slurm_answer { HAS_HOSTS, HAS_NO_HOSTS, IS_BUSY };

struct triad_slurm {
	const atomic_bool *is_ending;
	pthread_mutex_t lock; /* of what follows; never held while squeue runs */
	char program[TRIAD_CONF_PATH_SIZE];
	bool is_asking;                   /* squeue runs, or is about to */
	char asked[TRIAD_CONF_PATH_SIZE]; /* the program that gave the last answer */
	struct triad_slurm_job last;      /* "": none yet */
	bool has_hosts;
	uint64_t last_us;
};

struct triad_slurm *triad_slurm_new(const atomic_bool *is_ending)
{
	struct triad_slurm *slurm = calloc(1, sizeof(*slurm));

	if (!slurm)
		return NULL;
	slurm->is_ending = is_ending;
	pthread_mutex_init(&slurm->lock, NULL);
	return slurm;
}

void triad_slurm_free(struct triad_slurm *slurm)
{
	if (!slurm)
		return;
	pthread_mutex_destroy(&slurm->lock);
	free(slurm);
}

void triad_slurm_configure(struct triad_slurm *slurm, const char *program)
{
	pthread_mutex_lock(&slurm->lock);
	snprintf(slurm->program, sizeof(slurm->program), "%s", program);
	pthread_mutex_unlock(&slurm->lock);
}

/* --- asking --- */

/* Whether Slurm may be asked for it by this program; else 'why'. */
static bool may_ask(const char *program, const char *id, char *why, size_t size)
{
	char reason[TRIAD_FILE_REASON_SIZE];

	if (!triad_slurm_job_is_number(id)) {
		snprintf(why, size,
			"slurm: a job's number is 1 to 4294967295, digits alone and no "
			"zeros before it");
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

/* With the lock. */
static bool is_kept(
	const struct triad_slurm *slurm, const char *program, const char *id)
{
	return !strcmp(slurm->last.id, id) && !strcmp(slurm->asked, program) &&
		triad_clock_now_us() < slurm->last_us + TRIAD_SLURM_KEPT_US;
}

/* With the lock: HAS_HOSTS if squeue may be run now; else 'job' has why not. */
static enum slurm_answer find_obstacle(const struct triad_slurm *slurm,
	const char *program, const char *id, struct triad_slurm_job *job)
{
	uint64_t now_us = triad_clock_now_us(),
		 again_us = slurm->last_us + TRIAD_SLURM_SILENT_US;

	if (slurm->is_asking) {
		snprintf(job->why, sizeof(job->why),
			"job %s: Slurm is being asked by another request; ask again in "
			"some seconds",
			id);
		return IS_BUSY;
	}
	/* It would not answer about another job either. */
	if (slurm->last.is_silent && !strcmp(slurm->asked, program) &&
		now_us < again_us) {
		snprintf(job->why, sizeof(job->why),
			"job %s: squeue did not end within %u s a moment ago: is "
			"Slurm's controller there? It is not run again for %" PRIu64
			" s; name the job's hosts, or ask again then",
			id, TRIAD_SLURM_LIMIT_S,
			(again_us - now_us) / TRIAD_US_PER_S + 1);
		return HAS_NO_HOSTS;
	}
	return HAS_HOSTS;
}

/* With the lock, which it gives up meanwhile. */
static void ask_squeue(struct triad_slurm *slurm, const char *program, const char *id)
{
	const struct triad_slurm_asking asking = {.program = program,
		.limit_s = TRIAD_SLURM_LIMIT_S,
		.is_ending = slurm->is_ending};
	uint64_t now_us = triad_clock_now_us(), from_us = slurm->last_us + PAUSE_US;
	struct triad_slurm_job job = {0};
	bool has_hosts;

	slurm->is_asking = true;
	pthread_mutex_unlock(&slurm->lock);
	if (slurm->last_us && now_us < from_us)
		usleep((useconds_t)(from_us - now_us));
	snprintf(job.id, sizeof(job.id), "%s", id);
	has_hosts = triad_slurm_job_ask(&asking, &job);
	pthread_mutex_lock(&slurm->lock);
	slurm->is_asking = false;
	slurm->last = job;
	slurm->has_hosts = has_hosts;
	snprintf(slurm->asked, sizeof(slurm->asked), "%s", program);
	slurm->last_us = triad_clock_now_us();
}

/* Copies the answer to 'job', which else has why there are no hosts. */
static enum slurm_answer ask_for_hosts(
	struct triad_slurm *slurm, const char *id, struct triad_slurm_job *job)
{
	char program[TRIAD_CONF_PATH_SIZE];
	enum slurm_answer answer = HAS_HOSTS;

	pthread_mutex_lock(&slurm->lock);
	memcpy(program, slurm->program, sizeof(program));
	pthread_mutex_unlock(&slurm->lock);
	if (!may_ask(program, id, job->why, sizeof(job->why)))
		return HAS_NO_HOSTS;
	pthread_mutex_lock(&slurm->lock);
	if (!is_kept(slurm, program, id)) {
		answer = find_obstacle(slurm, program, id, job);
		if (answer == HAS_HOSTS)
			ask_squeue(slurm, program, id);
	}
	if (answer == HAS_HOSTS) {
		*job = slurm->last;
		answer = slurm->has_hosts ? HAS_HOSTS : HAS_NO_HOSTS;
	}
	pthread_mutex_unlock(&slurm->lock);
	return answer;
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
	enum slurm_answer answer;

	for (int i = 1; i < n_words && !strcmp(words[0], "job"); i++)
		if (!strncmp(words[i], OPTION, strlen(OPTION)))
			id = words[i] + strlen(OPTION);
	if (!id) {
		memcpy(to, words, (size_t)n_words * sizeof(*to));
		return n_words;
	}
	answer = ask_for_hosts(slurm, id, &job);
	if (answer != HAS_HOSTS) {
		triad_output_message(output, TRIAD_FRAME_MESSAGE, "%s\n", job.why);
		return answer == IS_BUSY ? -1 : 0;
	}
	say_whose(&job, output);
	snprintf(hosts, size, "%s", job.hosts);
	return triad_slurm_job_words(n_words, words, hosts, to);
}
