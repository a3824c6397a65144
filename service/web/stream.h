/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* What a client that listens is told, as Server-Sent Events: that something is not as it
 * knew it.  What is new it asks for by itself.
 *
 *     event: sweep
 *     id: 69270f3a.12.3.1.2.1
 *     data: {"number":12}
 *
 * Model: a state is a number for each kind of change.  A stream knows the state that its
 * client has; each number that differs by now is one event.  An event's id is the whole
 * state behind it, so nothing is kept for a client that went: when it comes back with
 * Last-Event-ID, the difference is what it missed.  The first number is of the process, so
 * that after a restart everything is told.
 *
 * A stream ends after TRIAD_STREAM_LIFE_US, and the client connects again: so one that
 * is gone does not keep its place.
 *
 * Thread-safety: none; the caller excludes others.  Memory: no allocation.
 * Source: HTML Living Standard 9.2, Server-sent events. */
#ifndef TRIAD_SERVICE_WEB_STREAM_H
#define TRIAD_SERVICE_WEB_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TRIAD_STREAM_BEAT_US UINT64_C(15000000)
#define TRIAD_STREAM_LIFE_US UINT64_C(600000000)
#define TRIAD_STREAM_RETRY_MS 3000

enum triad_stream_event {
	TRIAD_STREAM_SWEEP,         /* sweeps that ended */
	TRIAD_STREAM_ALERT,         /* alerts that came, went or were silenced */
	TRIAD_STREAM_TOPOLOGY,      /* fabrics that were adopted */
	TRIAD_STREAM_ROLE,          /* what the SM is, and whether counters are read */
	TRIAD_STREAM_CONFIGURATION, /* that were put into force */
	TRIAD_STREAM_N_EVENTS,
};

struct triad_stream_state {
	uint64_t process; /* that of another one differs */
	uint64_t numbers[TRIAD_STREAM_N_EVENTS];
};

struct triad_stream {
	struct triad_stream_state known; /* by the client */
	uint64_t begun_us, said_us;      /* monotonic */
	char text[1024];                 /* to be sent, from 'at' to 'used' */
	size_t at, used;
};

/* "sweep", ... */
const char *triad_stream_event_name(enum triad_stream_event change);

/* For a client that has the state 'last_event_id', or (NULL, or unknown) none. */
void triad_stream_begin(struct triad_stream *stream, const char *last_event_id,
	const struct triad_stream_state *now, uint64_t now_us);

/* Adds what is to be said by now, unless text is left from before.  Returns whether there
 * is text to be sent, or an end. */
bool triad_stream_look(struct triad_stream *stream,
	const struct triad_stream_state *now, uint64_t now_us);

/* Takes at most 'size' octets of text. */
size_t triad_stream_take(struct triad_stream *stream, char *buffer, size_t size);

bool triad_stream_has_ended(const struct triad_stream *stream, uint64_t now_us);

#endif
