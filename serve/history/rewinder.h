/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Answers jobs about the past (service/history_reader.h), one at a time, in a thread of its
 * own, which may wait for the disk.  It starts with the first job.
 *
 * Thread-safety: any thread, for all but new, stop and free.
 * Memory: that of read.h. */
#ifndef TRIAD_SERVE_HISTORY_REWINDER_H
#define TRIAD_SERVE_HISTORY_REWINDER_H

#include "serve/history/store.h"
#include "serve/link.h"

struct triad_rewinder;

/* Both outlive it.  NULL when memory is short. */
struct triad_rewinder *triad_rewinder_new(
	struct triad_link_to *link, struct triad_history_store *store);
/* Ends the thread, in a second at most.  False: it hangs at a disk; then the rewinder and
 * the store must stay.  Accepts NULL. */
bool triad_rewinder_stop(struct triad_rewinder *rewinder);
/* After triad_rewinder_stop() returned true.  Accepts NULL. */
void triad_rewinder_free(struct triad_rewinder *rewinder);

/* Takes a job in place of one that has not begun: nobody waits for that any more. */
void triad_rewinder_take_job(struct triad_rewinder *rewinder, const char *text);

#endif
