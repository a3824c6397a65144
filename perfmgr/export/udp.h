/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Sends datagrams to one receiver, without waiting.
 *
 * A sender gets a 'struct triad_udp', so that a test can replace the sockets.
 *
 * Thread-safety: of triad_udp_sockets: any thread; a handle belongs to one. */
#ifndef TRIAD_PERFMGR_EXPORT_UDP_H
#define TRIAD_PERFMGR_EXPORT_UDP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "triad/address.h"

struct triad_udp {
	/* Sets '*from' to this host's address for datagrams to 'to'.  Returns 0 or an
	 * errno. */
	int (*open)(void *context, const struct triad_address *to,
		struct triad_address *from, int *handle);
	/* Returns 0, or an errno: the datagram is lost.  Never waits. */
	int (*send)(void *context, int handle, const void *octets, size_t size);
	void (*close)(void *context, int handle);
	void *context;
};

extern const struct triad_udp triad_udp_sockets;

#endif
