/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* What is known of what was done to ports: the last record of each port, and the latest
 * records of all.
 *
 * Records may come in any order, more than once, from the journal and from other
 * members: the newer one of a port stays.  So two that have heard the same records have
 * the same memory.  Whether they have is told by a digest: a number for each of
 * TRIAD_MEMORY_N_BUCKETS buckets of ports, made of the lines of the ports' last records
 * (record.h), so that it is the same on all machines.
 *
 * What a port's last record means:
 *     disabled by us      DISABLE: intended, done or unanswered
 *     failed              FAIL, or DISABLE with a reason other than EXPECTED
 *     admitted            ADMIT, as long as the same component is at the far end
 *     nothing             RELEASE, or no record
 *
 * Thread-safety: one thread.  Memory: bounded by the caps; checked. */
#ifndef TRIAD_PORTMGR_MEMORY_H
#define TRIAD_PORTMGR_MEMORY_H

#include "portmgr/memory/record.h"

#define TRIAD_MEMORY_N_BUCKETS 64u
#define TRIAD_MEMORY_MAX_PORTS (1u << 18)
#define TRIAD_MEMORY_HISTORY 4096u /* records of all ports that are kept */

struct triad_memory;

struct triad_memory_digest {
	uint64_t buckets[TRIAD_MEMORY_N_BUCKETS]; /* all 0: nothing is remembered */
};

struct triad_memory *triad_memory_new(void);
/* Accepts NULL. */
void triad_memory_free(struct triad_memory *memory);

/* Returns 0, EALREADY (the port's record is this one, or newer: nothing changed),
 * ENOMEM or ENOSPC (the cap).  An outcome is a record of its own, with a higher
 * number. */
int triad_memory_merge(struct triad_memory *memory, const struct triad_record *record);

/* A port's last record, or NULL; valid until the next merge. */
const struct triad_record *triad_memory_find(
	const struct triad_memory *memory, uint64_t node_guid, uint8_t port);

/* The last records of the ports of a bucket, in some order that stays until the next
 * merge; NULL behind the last. */
const struct triad_record *triad_memory_at(
	const struct triad_memory *memory, unsigned bucket, uint32_t i);
uint32_t triad_memory_n(const struct triad_memory *memory);

/* The newest (term, number) of all: 0, 0 when there are none. */
void triad_memory_newest(
	const struct triad_memory *memory, uint64_t *term, uint64_t *number);

void triad_memory_digest(
	const struct triad_memory *memory, struct triad_memory_digest *digest);

/* The history, what was taken last first: record 'i' from 0, or NULL. */
const struct triad_record *triad_memory_history(
	const struct triad_memory *memory, uint32_t i);
/* Whether the port's last record is still in the history. */
bool triad_memory_is_in_history(
	const struct triad_memory *memory, uint64_t node_guid, uint8_t port);

#endif
