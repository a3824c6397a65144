/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* What carries datagrams between peers (peers.c).
 *
 *     UDP        between addresses of hosts (udp.c)
 *     fabric     between the ports of SMs, in MADs (fabric_carrier.h, of the plugin,
 *                which knows the ports' LIDs)
 *
 * A carrier may lose a datagram, deliver it twice or late, and need not prove who sent
 * it: the seal (seal.h) does.  It delivers no part of a datagram.
 *
 * Thread-safety: one thread calls all of it. */
#ifndef TRIAD_PORTMGR_CARRIER_H
#define TRIAD_PORTMGR_CARRIER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "triad/address.h"

struct triad_carrier;

struct triad_carrier_ops {
	const char *name; /* as in election.cluster */
	/* Reads a list of addresses, of at most 'max'; false: 'reason' says why not. */
	bool (*parse)(const char *list, struct triad_address *addresses, size_t max,
		size_t *n, char *reason, size_t size);
	/* Opens this one's own address.  False: 'reason' says why not, and what to
	 * do. */
	bool (*open)(struct triad_carrier *carrier, const struct triad_address *own,
		char *reason, size_t size);
	/* A descriptor that is readable when a datagram may have come; -1: not open. */
	int (*fd)(struct triad_carrier *carrier);
	/* When it became possible to send to others, as far as the carrier knows
	 * (triad_clock_now_us()); 0: not yet. */
	uint64_t (*up_us)(struct triad_carrier *carrier);
	/* Never blocks.  False: it was not sent. */
	bool (*send)(struct triad_carrier *carrier, const struct triad_address *to,
		const void *datagram, size_t size);
	/* Reads what has come.  Returns the size of a complete datagram, at most
	 * 'room';
	 * -EAGAIN: nothing has come; another negative errno: what has come does not
	 * complete a datagram. */
	ssize_t (*receive)(struct triad_carrier *carrier, struct triad_address *from,
		void *datagram, size_t room);
	/* The datagram received last was authentic: accepted, or a hello (seal.h) of a
	 * peer that is not a member.  NULL: the carrier does not need this. */
	void (*note_authentic)(
		struct triad_carrier *carrier, const struct triad_address *from);
	/* Closes what is open. */
	void (*free)(struct triad_carrier *carrier);
};

/* Every carrier's structure begins with this. */
struct triad_carrier {
	const struct triad_carrier_ops *ops;
	/* What receive() dropped.  The caller reads it, adds it up and sets it to 0. */
	uint32_t n_malformed;       /* not a datagram, or one with a missing part */
	uint32_t n_unknown_senders; /* claims a sender that is not among our peers */
};

/* Not open yet; NULL when memory is short. */
struct triad_carrier *triad_udp_carrier_new(void);

#endif
