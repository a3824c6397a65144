/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* One discovery of the fabric: breadth-first, by directed route, with libibnetdisc.
 *
 * libibnetdisc (rdma-core 44) leaks 64 octets for each port of a switch, writes each
 * missing answer to standard error, and can't be stopped.  So a child process
 * discovers: this program again, under the name of TRIAD_DISCOVERY_NAME.  It writes the
 * fabric into a pipe, as in collect/topology_message.h, and ends.
 *
 * Thread-safety: any thread.
 * Memory: libibnetdisc's copy of the fabric, some KiB a port, in the child; in this
 * process the fabric from the pipe, at most TRIAD_TOPOLOGY_MAX_SIZE twice, checked.
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
	uint32_t n_silent; /* ports behind links that are up, without an answer */
	char why[96];      /* the error in words */
};

struct triad_discovery_asking {
	const char *program; /* its path */
	uint64_t port_guid;
	uint64_t limit_us; /* the child is killed after that */
	bool is_loud;      /* pass libibnetdisc's messages to standard error */
	bool (*is_over)(void *context); /* whether to give up; called often */
	/* 'is_kept' is called when the child still exists so long after it was killed:
	 * the kernel keeps it, as when a driver hangs.  triad_discovery_ask() goes on
	 * waiting, until is_over(). */
	uint64_t kept_us;
	void (*is_kept)(void *context, int pid); /* not NULL */
	void *context;
};

/* Discovers from the port with that GUID, in this process.  Returns 0; ENODEV: no such
 * port; EIO: no answers; ENOMEM, EOVERFLOW. */
int triad_discovery_make(uint64_t port_guid, struct triad_discovery *made);

/* The same in a child process, which is killed after is_over() or 'limit_us'.  Returns
 * the same; or ECANCELED, ETIMEDOUT, ECHILD (the child can't be started, or ended
 * without a reply) or EPROTO (its reply makes no sense). */
int triad_discovery_ask(
	const struct triad_discovery_asking *asking, struct triad_discovery *made);

/* The child's part: discovers and writes into 'fd'.  Returns the exit status. */
int triad_discovery_reply_write(uint64_t port_guid, int fd);

#endif
