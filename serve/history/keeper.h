/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Keeps images of the fabric, and reads them.
 *
 * Model: a thread asks for an image after each sweep and stores the answer (store.h);
 * with history.replicate it also copies images to and from other SMs (mirror.h), which
 * the asked process carries.  Another thread answers jobs about the past
 * (service/history_reader.h).  Each may wait for a disk for ever: nobody waits for it.
 * They start when a folder is configured for the first time.
 *
 * Thread-safety: any thread, for all but new and free.
 * Memory: that of store.h, mirror.h and read.h. */
#ifndef TRIAD_SERVE_HISTORY_KEEPER_H
#define TRIAD_SERVE_HISTORY_KEEPER_H

#include "serve/link.h"
#include "service/history_status.h"
#include "triad/conf.h"
#include "triad/log.h"

struct triad_keeper;

/* The keeper's thread calls 'changed', without a lock, after its status has changed.
 * 'link', 'log' and 'context' outlive it.  NULL when memory is short. */
struct triad_keeper *triad_keeper_new(struct triad_link_to *link, struct triad_log *log,
	void (*changed)(void *context), void *context);
/* Ends the threads within two seconds.  Returns false when one hangs at a disk: then it
 * keeps running, and what it uses must stay.  Accepts NULL. */
bool triad_keeper_free(struct triad_keeper *keeper);

/* Puts a configuration into force, of the process "OpenSM" or "triad-agent" on that
 * port. */
void triad_keeper_configure(struct triad_keeper *keeper, const struct triad_conf *conf,
	const char *program, uint64_t port_guid);

/* A sweep has ended there, or the role has changed. */
void triad_keeper_note_sweep(struct triad_keeper *keeper);
/* Takes the text of a line of 'changes' behind "past", "members" and "payload". */
void triad_keeper_take_job(struct triad_keeper *keeper, const char *text);
void triad_keeper_take_members(struct triad_keeper *keeper, const char *text);
void triad_keeper_take_payload(struct triad_keeper *keeper, const char *text);

struct triad_history_status triad_keeper_status(struct triad_keeper *keeper);
struct triad_history_mirror_status triad_keeper_copies(struct triad_keeper *keeper);

#endif
