/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Payloads that members of a group send each other: those that came and wait for a
 * thread, and the one that could not be sent yet.
 *
 *     transport's thread                        owner's thread
 *     triad_inbox_put()  ->  ring of 256  ->    triad_inbox_take()
 *                                               triad_outbox_send()  ->  transport
 *
 * An inbox that is full drops what comes: protocols on top compare what members have,
 * and repeat what got lost.
 *
 * Thread-safety: none.  The owner has a lock that puts and takes are made under; an
 * outbox belongs to one thread.
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

/* All zeros is empty. */
struct triad_inbox {
	struct triad_ring ring;
	struct triad_payload payloads[TRIAD_INBOX_ROOM];
	uint64_t n_dropped; /* by a full inbox, or too long */
};

/* Copies a payload behind the others.  False when it was dropped. */
bool triad_inbox_put(
	struct triad_inbox *inbox, uint64_t sender, const void *octets, size_t size);
/* Copies the oldest one, which leaves.  False when there is none. */
bool triad_inbox_take(struct triad_inbox *inbox, struct triad_payload *payload);
/* Forgets all that wait; what was dropped stays counted. */
void triad_inbox_clear(struct triad_inbox *inbox);

/* --- what can wait until a transport has nothing more urgent --- */

struct triad_outbox {
	size_t size; /* 0: nothing waits */
	uint8_t octets[TRIAD_INBOX_OCTETS];
	unsigned n_refused; /* times in a row */
};

struct triad_outbox_ends {
	void *context;
	/* Makes the next payload, of TRIAD_INBOX_OCTETS at most; returns its size, 0: there
	 * is nothing to send. */
	size_t (*make)(void *context, void *octets);
	/* Returns 0, EAGAIN (not now), or another errno: nobody is there who lacks it. */
	int (*send)(void *context, const void *octets, size_t size);
	uint64_t rest_us; /* how long to wait with a transport that sends nothing */
};

/* Sends what there is, some payloads at most.  Returns when to call again (monotonic, as
 * 'now_us'); UINT64_MAX: all was sent that there is now. */
uint64_t triad_outbox_send(struct triad_outbox *outbox,
	const struct triad_outbox_ends *ends, uint64_t now_us);

/* --- members of another release --- */

/* Whose messages are looked at, and what is known here. */
struct triad_release {
	const char *about; /* how the log line begins: "election" */
	uint32_t magic;    /* of the messages [lib/format_version.h] */
	unsigned version;
	struct triad_log *log;
	struct triad_log_limit limit; /* zeros: a line a minute */
};

/* Says in the log that a payload is of another version, so that it is not understood. */
void triad_release_check(
	struct triad_release *release, const struct triad_payload *payload);

#endif
