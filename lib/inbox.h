/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Payloads between members of a group: received ones that wait for a thread, and one
 * that could not be sent yet.
 *
 *     transport's thread                        owner's thread
 *     triad_inbox_put()  ->  ring of 256  ->    triad_inbox_take()
 *                                               triad_outbox_send()  ->  transport
 *
 * A full inbox drops new payloads: the protocols above it compare what members have,
 * and repeat what got lost.
 *
 * Thread-safety: none.  The owner's lock protects puts and takes; an outbox belongs to
 * one thread.
 * Memory: no allocation; an inbox has some 266 kB, an outbox 1 kB. */
#ifndef TRIAD_LIB_INBOX_H
#define TRIAD_LIB_INBOX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/ring.h"
#include "triad/log.h"

#define TRIAD_INBOX_ROOM 256u
#define TRIAD_INBOX_OCTETS 1024u /* of a payload, at most */

struct triad_payload {
	uint64_t sender; /* its member ID */
	size_t size;
	uint8_t octets[TRIAD_INBOX_OCTETS];
};

/* All zeros: empty. */
struct triad_inbox {
	struct triad_ring ring;
	struct triad_payload payloads[TRIAD_INBOX_ROOM];
	uint64_t n_dropped; /* because the inbox was full, or the payload too long */
};

/* Appends a copy of a payload.  False when it was dropped. */
bool triad_inbox_put(
	struct triad_inbox *inbox, uint64_t sender, const void *octets, size_t size);
/* Copies and removes the oldest one.  False when there is none. */
bool triad_inbox_take(struct triad_inbox *inbox, struct triad_payload *payload);
/* Drops all waiting payloads, without counting them. */
void triad_inbox_clear(struct triad_inbox *inbox);

/* --- what can wait until a transport has nothing more urgent --- */

struct triad_outbox {
	size_t size; /* 0: nothing waits */
	uint8_t octets[TRIAD_INBOX_OCTETS];
	unsigned n_refused; /* times in a row */
};

struct triad_outbox_ends {
	void *context;
	/* Makes the next payload, of at most TRIAD_INBOX_OCTETS; returns its size, 0:
	 * there is nothing to send. */
	size_t (*make)(void *context, void *octets);
	/* Returns 0, EAGAIN (not now), or another errno: no member needs the
	 * payload. */
	int (*send)(void *context, const void *octets, size_t size);
	uint64_t rest_us; /* how long to wait when the transport sends nothing */
};

/* Sends some payloads.  Returns when to call again (monotonic, as 'now_us');
 * UINT64_MAX: nothing is left to send now. */
uint64_t triad_outbox_send(struct triad_outbox *outbox,
	const struct triad_outbox_ends *ends, uint64_t now_us);

/* --- members of another release --- */

/* What to check messages for, and the version known here. */
struct triad_release {
	const char *about; /* how the log line begins: "election" */
	uint32_t magic;    /* of the messages [lib/format_version.h] */
	unsigned version;
	struct triad_log *log;
	struct triad_log_limit limit; /* zeros: a line a minute */
};

/* Logs when a payload has another version, and so is not understood. */
void triad_release_check(
	struct triad_release *release, const struct triad_payload *payload);

#endif
