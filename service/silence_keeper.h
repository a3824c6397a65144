/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Keeps the silences of a watch: begins and ends them in time, and writes them to a
 * file in state.dir, from which they come back after a restart.
 *
 * A thread of its own reads and writes the file, so that a disk that hangs stops
 * nothing else; it is there while there are silences.  It replaces the file as a whole.  It renames a malformed file to
 * PATH.bad at once, and one that it could not read before it writes a new one.  A write
 * that fails is tried again each 10 s, and logged once.
 *
 * Each SM, and triad-agent, has its own silences, and does not send them to others.
 *
 * Thread-safety: any thread between start and stop.  Memory: some 300,000 octets. */
#ifndef TRIAD_SERVICE_SILENCE_KEEPER_H
#define TRIAD_SERVICE_SILENCE_KEEPER_H

#include <stdbool.h>
#include <stdint.h>

#include "perfmgr/watch/watch.h"
#include "triad/conf.h"
#include "triad/log.h"

#define TRIAD_SILENCE_TROUBLE_SIZE 256

struct triad_silence_keeper;

struct triad_silence_keeper_status {
	uint32_t n;   /* silences, also those that have not begun yet */
	bool is_read; /* reading the file has ended, well or not */
	bool is_kept; /* the file has all silences */
	/* Why not, and what to do; or what was wrong with the file at the start; or
	 * "". */
	char trouble[TRIAD_SILENCE_TROUBLE_SIZE];
	char path[TRIAD_CONF_PATH_SIZE]; /* "": state.dir is empty, nothing is kept */
};

/* 'watch' and 'log' are borrowed.  'program' and the port's GUID are in the file's
 * name.  NULL when memory is short. */
struct triad_silence_keeper *triad_silence_keeper_new(struct triad_watch *watch,
	const char *program, uint64_t port_guid, struct triad_log *log);

/* Starts the thread, which reads the file in 'dir' ("": none).  Returns false when the
 * thread can't be started. */
bool triad_silence_keeper_start(struct triad_silence_keeper *keeper, const char *dir);

/* Ends the thread, in a second at most.  Returns false when it hangs.  Accepts NULL. */
bool triad_silence_keeper_stop(struct triad_silence_keeper *keeper);
/* After a stop that returned true.  Accepts NULL. */
void triad_silence_keeper_free(struct triad_silence_keeper *keeper);

/* Adds a copy of 'silence', and waits 2 s at most until it is written; the status shows
 * whether it is.  Returns its number; 0 when there are too many, or when the file has
 * not been read yet (is_read). */
uint32_t triad_silence_keeper_add(struct triad_silence_keeper *keeper,
	const struct triad_silence *silence,
	struct triad_silence_keeper_status *status);

/* Ends a silence and copies it to '*ended'; waits in the same way.  Returns false when
 * there is none with that number, or when the file has not been read yet. */
bool triad_silence_keeper_end(struct triad_silence_keeper *keeper, uint32_t id,
	struct triad_silence *ended, struct triad_silence_keeper_status *status);

struct triad_silence_keeper_status triad_silence_keeper_status(
	struct triad_silence_keeper *keeper);

#endif
