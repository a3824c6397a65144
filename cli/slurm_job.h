/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Asks squeue on this host for the hosts of a Slurm job: the SM's host need not have
 * Slurm.
 *
 * Thread-safety: any thread.  Memory: some 70 KiB of stack while squeue is asked. */
#ifndef TRIAD_CLI_SLURM_JOB_H
#define TRIAD_CLI_SLURM_JOB_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "triad/command.h"

#define TRIAD_SLURM_JOB_SIZE sizeof(((struct triad_command *)NULL)->slurm_job)
#define TRIAD_SLURM_WHY_SIZE 512

struct triad_slurm_job {
	char id[TRIAD_SLURM_JOB_SIZE];
	/* Of a set of jobs, the first one's of which there are hosts. */
	char state[32];
	bool is_silent; /* squeue did not end in time */
	bool is_over;   /* it had the hosts: others may use them now */
	char hosts[sizeof(((struct triad_command *)NULL)->hosts)];
	char why[TRIAD_SLURM_WHY_SIZE]; /* there are none */
};

struct triad_slurm_asking {
	const char *program; /* NULL: squeue, by PATH */
	unsigned limit_s;
	const atomic_bool *is_ending; /* breaks it off soon; NULL: nothing does */
};

/* Whether it is a job's number, 1 to 4294967295, without zeros before it; and whether it is
 * such numbers, with commas between them, each perhaps with tasks of an array (12_3, 12_[1-3])
 * or a component (12+1). */
bool triad_slurm_job_is_number(const char *id);
bool triad_slurm_job_is_set(const char *id);

/* Fills 'job', of which the id is set.  Returns false, with 'why', when squeue can't be run
 * or does not answer, does not know the job, or the job has no hosts. */
bool triad_slurm_job_ask(
	const struct triad_slurm_asking *asking, struct triad_slurm_job *job);

/* Takes what squeue printed, "STATE HOSTS" for each job of a set.  Hosts of jobs that are
 * over count only where no job has some.  False, with 'why': there are none. */
bool triad_slurm_job_read(const char *text, struct triad_slurm_job *job);

/* Copies a command's words to 'to', which has room for two more, with "--nodes HOSTS"
 * in the place of '--slurm JOB'.  Returns how many words 'to' has. */
int triad_slurm_job_words(
	int n_words, const char *const *words, const char *hosts, const char **to);

#endif
