/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Keeps profile files: asks for the section of each sweep (service/profile.h) and writes it
 * (profile_writer.h).
 *
 * Model: a thread of its own, which may wait for a disk for ever: nothing else waits for
 * it.  It skips sweeps that end while it writes, and counts them.  The thread starts when
 * a file is configured for the first time.
 *
 * Thread-safety: any thread, for all but new and free. */
#ifndef TRIAD_SERVE_PROFILE_H
#define TRIAD_SERVE_PROFILE_H

#include <stdbool.h>

#include "serve/link.h"
#include "service/served.h"
#include "triad/conf.h"
#include "triad/log.h"

struct triad_profile_keeper;

/* 'link' and 'log' outlive it.  NULL when memory is short. */
struct triad_profile_keeper *triad_profile_keeper_new(
	struct triad_link_to *link, struct triad_log *log);

/* Puts [profile] into force, soon; logs why it can't. */
void triad_profile_keeper_configure(
	struct triad_profile_keeper *keeper, const struct triad_conf *conf);

/* A sweep has ended: has its section written. */
void triad_profile_keeper_sweep(struct triad_profile_keeper *keeper);

struct triad_profile_status triad_profile_keeper_status(
	struct triad_profile_keeper *keeper);

/* After link->is_ending was set: ends the thread, in a second at most.  Returns false when
 * it is stuck in a write: then it, its link and its log must stay until the process ends.
 * Accepts NULL. */
bool triad_profile_keeper_free(struct triad_profile_keeper *keeper);

#endif
