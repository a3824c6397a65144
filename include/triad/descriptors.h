/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Descriptors that clients may not have, because the rest of the process needs them.
 *
 * OpenSM opens files at each heavy sweep; without a descriptor for partitions.conf it takes
 * its default partition alone.  The kernel gives the lowest free number, so as long as
 * no client has one of the highest numbers, these are free for all else.  A quarter of
 * RLIMIT_NOFILE is kept so, 256 at most.
 *
 * Thread-safety: any thread. */
#ifndef TRIAD_DESCRIPTORS_H
#define TRIAD_DESCRIPTORS_H

#include <stdbool.h>
#include <stdint.h>

/* Whether a client's descriptor, just accepted, may stay.  If not, the caller closes it, and
 * that is counted. */
bool triad_descriptor_may_stay(int fd);

struct triad_descriptors_status {
	uint64_t limit; /* RLIMIT_NOFILE now; UINT64_MAX: none */
	uint64_t kept;
	uint64_t n_refused;
	uint64_t refused_us; /* the last one, monotonic; 0: none */
};

struct triad_descriptors_status triad_descriptors_status(void);

#endif
