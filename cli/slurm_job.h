/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Asks squeue on this host for the hosts of a Slurm job: the SM's host need not have
 * Slurm.
 *
 * Thread-safety: none; triadctl's. */
#ifndef TRIAD_CLI_SLURM_JOB_H
#define TRIAD_CLI_SLURM_JOB_H

#include <stdbool.h>
#include <stddef.h>

/* Writes the hosts in the form of jobs/hostlist.h.  Returns false, with 'reason', when
 * squeue can't be run, does not know the job, or the job has no hosts. */
bool triad_slurm_job_hosts(
	const char *job, char *hosts, size_t size, char *reason, size_t reason_size);

/* Copies a command's words to 'to', which has room for two more, with "--nodes HOSTS"
 * in the place of '--slurm JOB'.  Returns how many words 'to' has. */
int triad_slurm_job_words(int n_words, char **words, char *hosts, char **to);

#endif
