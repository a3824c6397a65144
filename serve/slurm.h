/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Asks Slurm on this host for the hosts of a job, for clients that name it by its number.
 *
 * Model: with web.squeue set, squeue runs for TRIAD_SLURM_LIMIT_S at most, one at a time and
 * no more than one in a second, whatever clients ask.  Its answer serves all who ask for the
 * same job within TRIAD_SLURM_KEPT_US.  One caller waits for squeue; others are refused at once
 * meanwhile, so that Slurm holds up one thread at most.  After a squeue that did not end, all
 * are refused for TRIAD_SLURM_SILENT_US.
 *
 * Thread-safety: any thread, but for new and free.  Memory: one answer. */
#ifndef TRIAD_SERVE_SLURM_H
#define TRIAD_SERVE_SLURM_H

#include <stdatomic.h>

#include "triad/output.h"

#define TRIAD_SLURM_LIMIT_S 5
#define TRIAD_SLURM_KEPT_US UINT64_C(10000000)
#define TRIAD_SLURM_SILENT_US UINT64_C(20000000)

struct triad_slurm;

/* '*is_ending' breaks off what runs.  NULL when memory is short. */
struct triad_slurm *triad_slurm_new(const atomic_bool *is_ending);
/* Accepts NULL. */
void triad_slurm_free(struct triad_slurm *slurm);

/* 'program' is web.squeue; "": Slurm is not asked. */
void triad_slurm_configure(struct triad_slurm *slurm, const char *program);

/* If the words are 'job' with --slurm, copies them to 'to', which has room for
 * TRIAD_CONTROL_MAX_WORDS, with the job's hosts in its place, which are written to 'hosts';
 * else as they are.  Returns how many there are; 0: the job's hosts can't be had; -1: another
 * caller waits for squeue; then 'output' has a message why. */
int triad_slurm_replace(struct triad_slurm *slurm, int n_words,
	const char *const *words, char *hosts, size_t size, const char **to,
	struct triad_output *output);

#endif
