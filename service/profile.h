/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The profile as triadd asks for it, which writes the file (serve/profile.h): the sections
 * of sweeps (perfmgr/formats/profile_section.h).
 *
 *     profile KEY AFTER
 *
 * AFTER is the wall time, in microseconds, at which the sweep began that was stored last;
 * 0: none.  KEY says what was stored: it is that of the last section that was, or 0 for
 * nothing.  The answer is empty when there is no other sweep.  Else it is a line
 *
 *     = profile WALL_US KEY SWEEP BEFORE
 *
 * (when the sweep began; the new key; its number, in this process; and that of the one
 * that was told whole before it, to any triadd; 0: none since there is a file) and the
 * lines of its section.  If KEY is not that of the last answer, the section has every port: another one
 * was lost.  A key is START.N, where START is that of 'changes' (outside.h), so a process
 * that was started again has other keys.  The exit status says whether the section is
 * whole.
 *
 * One request at a time; a second one is refused.
 *
 * Thread-safety: any thread, for all but new and free.  A request waits for its client,
 * as any request to the control socket. */
#ifndef TRIAD_SERVICE_PROFILE_H
#define TRIAD_SERVICE_PROFILE_H

#include "service/perf.h"
#include "triad/conf.h"
#include "triad/output.h"

struct triad_profile;

/* 'perf' must outlive it; 'port_guid' is that of the local port.  NULL when memory is
 * short. */
struct triad_profile *triad_profile_new(struct triad_perf *perf, uint64_t port_guid);

/* While nobody asks.  Accepts NULL. */
void triad_profile_free(struct triad_profile *profile);

void triad_profile_configure(
	struct triad_profile *profile, const struct triad_conf *conf);

/* Answers 'profile'; 'start' is that of 'changes'.  Returns an exit status. */
int triad_profile_answer(struct triad_profile *profile, uint64_t start, int n_words,
	const char *const *words, struct triad_output *output);

#endif
