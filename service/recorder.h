/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Records events: links and nodes that come and go, alerts, resets of counters, the
 * SM's role, what the port manager did, and times when counters were not read.
 *
 * Model: any part adds an event to a timeline in memory (perfmgr/timeline/), which
 * copies 256 octets and waits for no disk.  A thread looks once a second whether
 * counters are read and which were reset.  Another thread reads a file of state.dir at
 * the start, and appends new events to it.
 *
 * The start and the end of the program are events, too.  A killed program leaves no end
 * in its file: then the file's time shows, to TRIAD_RECORDER_TOUCH_US, when it was last
 * alive.
 *
 * A disk that fails or hangs stops only the writing thread.  Events stay in memory, and
 * are written when the disk works again; those that memory had no room for are counted.
 *
 * Thread-safety: any thread, for all but new, join, the sink, stop and free; the lock
 * is held for a copy.  No other lock is taken under it.
 * Memory: that of the timeline, twice while the file is read; 130 KiB for the file. */
#ifndef TRIAD_SERVICE_RECORDER_H
#define TRIAD_SERVICE_RECORDER_H

#include "perfmgr/timeline/timeline.h"
#include "perfmgr/watch/alerts.h"
#include "service/perf.h"
#include "service/recorder_file.h"
#include "triad/log.h"

#define TRIAD_RECORDER_TOUCH_US (20 * TRIAD_US_PER_S)

struct triad_recorder;

struct triad_recorder_params {
	uint32_t room;       /* for events, at least 1 */
	const char *dir;     /* "": in memory only */
	const char *program; /* "OpenSM": in the file's name, in lower case */
	uint64_t port_guid;
	/* Why counters are not read here; NULL when they are. */
	const char *(*trouble)(void *context);
	void *context;
};

struct triad_recorder_status {
	bool is_on;
	char path[PATH_MAX]; /* "": in memory only */
	struct triad_timeline_counts events;
	uint64_t n_lines; /* written to the file */
	uint64_t n_lost;  /* events dropped from memory before they were written */
	uint64_t n_bad;   /* lines that could not be read at the start */
	uint64_t hung_us; /* for how long the disk has not answered; 0: it answers */
	/* When (wall clock) this process last began or stopped reading counters; 0: it
	 * has not read any yet. */
	uint64_t looked_us;
	bool is_reading; /* the file is still being read */
	int error; /* errno of the last attempt to read or write the file; 0: none */
	char reason[TRIAD_RECORDER_REASON_SIZE]; /* of the error, and what to do */
};

/* The params' 'context' outlives the recorder; texts are copied.  NULL when memory or
 * threads are short; without memory for events it records nothing. */
struct triad_recorder *triad_recorder_new(
	const struct triad_recorder_params *params, struct triad_log *log);

/* Records what 'perf' finds; before its first configuration. */
void triad_recorder_join(struct triad_recorder *recorder, struct triad_perf *perf);

/* The sink for alerts: records them and passes them on to 'next', which is copied. */
struct triad_alerts_sink triad_recorder_sink(
	struct triad_recorder *recorder, const struct triad_alerts_sink *next);

/* Ends the threads, before triad_perf_free(); later events are not recorded.  Waits
 * about two seconds at most.  False: a thread hangs in a write; the recorder and its
 * log must stay.  Accepts NULL. */
bool triad_recorder_stop(struct triad_recorder *recorder);
/* After triad_recorder_stop() returned true.  Accepts NULL. */
void triad_recorder_free(struct triad_recorder *recorder);

/* Records an event; 'at_us' 0 is now. */
void triad_recorder_note(
	struct triad_recorder *recorder, const struct triad_timeline_event *event);
/* The same for an event without a place. */
void triad_recorder_note_text(struct triad_recorder *recorder,
	enum triad_timeline_kind kind, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Takes an event that another SM recorded, a sweep or two after it happened: so this
 * SM's history has what happened while it was standby and read no counters itself.
 * Ignores the event while this process reads counters; if it is here already; if it is
 * about the other SM and not the fabric; and if its time is more than
 * TRIAD_RECORDER_LATE_US before that of the newest event, or after now: it would be out
 * of order. */
#define TRIAD_RECORDER_LATE_US (60 * TRIAD_US_PER_S)
void triad_recorder_take_copied(
	struct triad_recorder *recorder, const struct triad_timeline_event *event);

/* Copies events with numbers below '*number' (UINT64_MAX: all), the newest first, at
 * most 'room', and sets '*number' to that of the oldest one.  Returns how many. */
uint32_t triad_recorder_copy(struct triad_recorder *recorder, uint64_t *number,
	struct triad_timeline_event *events, uint32_t room);

struct triad_recorder_status triad_recorder_status(struct triad_recorder *recorder);

#endif
