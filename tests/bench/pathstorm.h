/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Thousands of clients that request paths all the time, as a starting job does,
 * simulated in the opensm process: umad_recv() gives OpenSM their requests, and
 * umad_send() drops its answers to them.
 *
 * Model: each client is a process at a host.  It requests the path to one host after
 * the other: the next one when it has an answer, or after a second without one.  All
 * begin at the same time.  With a pace, a request is due at its time, and is late if no
 * client is ready then.  Greedy clients share one host, like a program that requests
 * all its paths at once.  The requests are copies of the last real one, with other
 * ends.  OpenSM still receives and sends real MADs.
 *
 * Thread-safety: any thread. */
#ifndef TRIAD_TESTS_BENCH_PATHSTORM_H
#define TRIAD_TESTS_BENCH_PATHSTORM_H

#include <stdbool.h>
#include <stdio.h>

#include "plugin/opensm.h"

struct triad_pathstorm_params {
	unsigned long n_clients, n_greedy, seconds;
	unsigned long pace; /* requests a second in total; 0: no limit */
};

/* Runs a storm and writes JSON: how many requests were "answered", "bad" (with a
 * status), "lost" (no answer in a second); "greedy_answered" and "greedy_lost", of
 * greedy clients; "p50_us", "p99_us" and "max_us", the time from when a request was due
 * to its answer, without greedy clients. */
void triad_pathstorm(
	osm_opensm_t *osm, const struct triad_pathstorm_params *params, FILE *out);

/* --- replaced calls of libibumad --- */

/* Stores a request that arrived, if it is one for a path. */
void triad_pathstorm_note(int fd, const void *umad);

/* Whether a storm runs at that descriptor. */
bool triad_pathstorm_runs(int fd);

/* Waits up to 0.1 ms for a client that is ready, and writes its request.  Returns its
 * agent; -1: there is none, or no storm at that descriptor. */
int triad_pathstorm_receive(int fd, void *umad, int *length);

/* Whether it was an answer to a client, which has received it now. */
bool triad_pathstorm_take(const void *umad);

#endif
