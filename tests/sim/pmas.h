/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The PMAs of a fabric of any size, for any number of collectors: each is a client with
 * a transport (triad/mad.h) and a clock of its own, and all read the same counters.
 *
 * A client's time moves only while receive() waits; a program with several clients sets
 * it.  Answers come in the order of the requests, 'latency_us' later, or are lost at
 * random.  Every agent has 64-bit counters and the sum of all ports; counters are never
 * reset. */
#ifndef TRIAD_TESTS_SIM_PMAS_H
#define TRIAD_TESTS_SIM_PMAS_H

#include <stdbool.h>
#include <stdint.h>

#include "perfmgr/collector.h"
#include "triad/fabric.h"
#include "triad/mad.h"

struct pmas {
	const struct triad_fabric *fabric;
	uint32_t *port_of_lid;             /* the first one with that LID */
	bool *is_dead;                     /* nodes whose PMAs are silent */
	uint64_t (*raw)[TRIAD_N_COUNTERS]; /* of each port of the fabric */
};

struct pma_client {
	struct triad_mad_transport transport;
	struct triad_collector_clock clock;
	const struct pmas *pmas;
	uint64_t now_us, latency_us, seed;
	unsigned lost_percent;
	uint64_t n_sent;
	struct pma_answer *answers; /* a ring */
	unsigned first, n;
};

/* LIDs of 'fabric', which must outlive it, are unique.  NULL when memory is short. */
struct pmas *pmas_new(const struct triad_fabric *fabric);
void pmas_free(struct pmas *pmas);

struct pma_client *pma_client_new(const struct pmas *pmas, uint64_t seed);
void pma_client_free(struct pma_client *client);

#endif
