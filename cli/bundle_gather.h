/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Fills a bundle's spool: answers of the SM, and files.
 *
 * Thread-safety: none. */
#ifndef TRIAD_CLI_BUNDLE_GATHER_H
#define TRIAD_CLI_BUNDLE_GATHER_H

#include "cli/bundle_command.h"
#include "cli/bundle_spool.h"

/* What says whether the fabric is still the same. */
struct triad_bundle_view {
	bool is_known;
	uint64_t sm_sweeps, snapshots, sweeps;
};

struct triad_bundle {
	const struct triad_bundle_command *command;
	const struct triad_bundle_asker *asker;
	struct triad_bundle_spool spool;
	struct triad_bundle_view begun, ended;
	unsigned n_attempts, n_silent; /* commands in a row without an answer */
	bool has_progress, has_values, has_state, is_standby;
	pid_t pid; /* of the process that answers; 0: not known */
	/* Files, as the answer to 'status' names them; NULL: none. */
	char *triad_conf, *policy, *expected, *alerts, *images;
};

/* The fabric and all answers, until both are of one view, three times at most. */
void triad_bundle_gather_answers(struct triad_bundle *bundle);
/* Of these only what has originals: first the fabric. */
void triad_bundle_gather_names(struct triad_bundle *bundle);
/* Configurations, logs and images. */
void triad_bundle_gather_files(struct triad_bundle *bundle);

/* Adds the originals in what was gathered, and of this host. */
void triad_bundle_read_names(
	const struct triad_bundle_spool *spool, struct triad_anonym *anonym);

/* Shows on a terminal what is being done; NULL: nothing any more. */
void triad_bundle_show_progress(const struct triad_bundle *bundle, const char *what);

#endif
