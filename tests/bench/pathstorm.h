/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Thousands of clients that ask for paths all the time, as a job does that starts,
 * simulated in the opensm process: OpenSM gets their requests from umad_recv(), and
 * what it gives to umad_send() for them goes no further.
 *
 * Model: each client is a process at a host.  It asks for the path to one host after
 * the other, the next one when it has an answer, or after a second without; all ask at
 * one time.  With a pace a request is due at its time, and late if no client is ready
 * then.  Greedy ones share one host, as a program does that asks for all its paths at
 * once.  Their requests are copies of the last real one, with other ends.  Real MADs
 * pass between them.
 *
 * Thread-safety: any thread. */
#ifndef TRIAD_TESTS_BENCH_PATHSTORM_H
#define TRIAD_TESTS_BENCH_PATHSTORM_H

#include <stdbool.h>
#include <stdio.h>

#include "plugin/opensm.h"

struct triad_pathstorm_params {
	unsigned long n_clients, n_greedy, seconds;
	unsigned long
		pace; /* requests a second, of all together; 0: as soon as they can */
};

/* Runs one and writes JSON: requests that were "answered", "bad" (a status, or no
 * path), "lost" (no answer in a second); of those of greedy clients, "greedy_answered"
 * and "greedy_lost"; from when the request was due to its answer, not of greedy ones:
 * "p50_us", "p99_us", "max_us". */
void triad_pathstorm(
	osm_opensm_t *osm, const struct triad_pathstorm_params *params, FILE *out);

/* --- in the place of libibumad's calls --- */

/* Remembers a request that came, if it is one for a path. */
void triad_pathstorm_note(int fd, const void *umad);

/* Whether there is one at that descriptor. */
bool triad_pathstorm_runs(int fd);

/* A request of a client that is ready, waiting for one for a millisecond; its agent.
 * -1: there is none, or no storm at that descriptor. */
int triad_pathstorm_receive(int fd, void *umad, int *length);

/* Whether it was an answer to a client, who has it now. */
bool triad_pathstorm_take(const void *umad);

#endif
