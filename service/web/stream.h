/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* A stream of Server-Sent Events that tells a client which kind of data has changed;
 * the client then requests the new data.
 *
 *     event: sweep
 *     id: 69270f3a.12.3.1.2.1
 *     data: {"number":12}
 *
 * Model: a state has a number for each kind of change.  A stream knows the state of its
 * client, and sends one event for each number that differs from the present state.  An
 * event's id is the whole state after it.  So the server keeps nothing for a client
 * that disconnects: when the client returns with Last-Event-ID, the difference is what
 * it missed.  The first number identifies the process: after a restart all events are
 * sent.
 *
 * A stream ends after TRIAD_STREAM_LIFE_US, and the client connects again: so a client
 * that has vanished does not keep its place.
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
	TRIAD_STREAM_ROLE,          /* the SM's role, and whether counters are read */
	TRIAD_STREAM_CONFIGURATION, /* configurations that were put into force */
	TRIAD_STREAM_N_EVENTS,
};

struct triad_stream_state {
	uint64_t process; /* differs for each start of the process */
	uint64_t numbers[TRIAD_STREAM_N_EVENTS];
};

struct triad_stream {
	struct triad_stream_state known; /* by the client */
	uint64_t begun_us, sent_us;      /* monotonic; said_us: the last text */
	char text[1024];                 /* to be sent, from 'at' to 'used' */
	size_t at, used;
};

/* "sweep", ... */
const char *triad_stream_event_name(enum triad_stream_event change);

/* Begins a stream for a client that has the state 'last_event_id', or (NULL, or not
 * valid) no state. */
void triad_stream_begin(struct triad_stream *stream, const char *last_event_id,
	const struct triad_stream_state *now, uint64_t now_us);

/* Makes the text of new events, unless earlier text is still to be sent.  Returns
 * whether there is text to send, or the stream has ended. */
bool triad_stream_look(struct triad_stream *stream,
	const struct triad_stream_state *now, uint64_t now_us);

/* Copies at most 'size' octets of text to 'buffer'. */
size_t triad_stream_take(struct triad_stream *stream, char *buffer, size_t size);

bool triad_stream_has_ended(const struct triad_stream *stream, uint64_t now_us);

#endif
