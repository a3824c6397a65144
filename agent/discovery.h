/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* One discovery of the fabric: breadth-first, by directed route, with libibnetdisc.
 *
 * libibnetdisc (rdma-core 44) never frees 64 octets for each port of a switch, says
 * whatever is not answered on standard error, and can't be told to stop.  So a process
 * of its own discovers: this program again, under the name of TRIAD_DISCOVERY_NAME,
 * which writes what it found into a pipe, as in collect/topology_message.h, and ends.
 *
 * Thread-safety: any thread.
 * Memory: libibnetdisc's copy of the fabric, some KiB a port, in that process; what
 * comes out of the pipe, at most TRIAD_TOPOLOGY_MAX_SIZE twice, checked.
 * Spec: IBA volume 1, 14.2.5 (attributes of SMPs); [monitoring-rfc]. */
#ifndef TRIAD_AGENT_DISCOVERY_H
#define TRIAD_AGENT_DISCOVERY_H

#include <stdbool.h>
#include <stdint.h>

#include "triad/clock.h"
#include "triad/fabric.h"

#define TRIAD_DISCOVERY_NAME "triad-discover"
#define TRIAD_DISCOVERY_LIMIT_US (600 * TRIAD_US_PER_S)
/* Some GiB of memory take a while. */
#define TRIAD_DISCOVERY_KEPT_US (10 * TRIAD_US_PER_S)

struct triad_discovery {
	struct triad_fabric *fabric; /* one reference; NULL after an error */
	uint64_t n_smps;             /* that it needed */
	uint32_t n_silent;           /* ports it missed, behind links that are up */
	char why[96];                /* after an error: which, for people */
};

struct triad_discovery_asking {
	const char *program; /* its path */
	uint64_t port_guid;
	uint64_t limit_us; /* it is killed then */
	bool is_loud;      /* what libibnetdisc says goes to standard error */
	bool (*is_over)(void *context); /* asked some times a second */
	/* The process doesn't end so long after it was killed: the kernel keeps it, as
	 * when a driver hangs.  It is waited for all the same, until it's over. */
	uint64_t kept_us;
	void (*is_kept)(void *context, int pid); /* not NULL */
	void *context;
};

/* Discovers from the port with that GUID, in this process.  Returns 0; ENODEV: no such
 * port; EIO: no answers; ENOMEM, EOVERFLOW. */
int triad_discovery_make(uint64_t port_guid, struct triad_discovery *made);

/* The same in a process of its own, which is killed when it's over or takes too long.
 * Returns that, too, or ECANCELED, ETIMEDOUT, ECHILD: it can't be started, or ended
 * without a word, EPROTO: it said what makes no sense. */
int triad_discovery_ask(
	const struct triad_discovery_asking *asking, struct triad_discovery *made);

/* What that process does: discovers and writes into 'fd'.  Returns its exit status. */
int triad_discovery_reply_write(uint64_t port_guid, int fd);

#endif
