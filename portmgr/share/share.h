/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* What the SMs of a cluster have in common beside the election: the memory of what was
 * done to ports, and the expected configuration.
 *
 * Model: a machine without threads: payloads and views of the cluster in, payloads to
 * all out (portmgr/cluster/cluster.h; at most TRIAD_CLUSTER_PAYLOAD_SIZE octets each).
 * Any of them may be lost, doubled or late.
 *
 * Memory: each member says its digest (memory.h) now and then, and at once when it
 * changed.  Where another one's differs, a member says its own, and the records of the
 * buckets that do, a few payloads at a time; the members wait for each other, so that
 * mostly one alone says them.  So all come to have the same.  Who is about to act
 * records that first, and acts when a majority has said the very digest that it has
 * itself, since it asked: then a majority knows what it intends, and it knows all that
 * any majority before knew.
 *
 * Configuration: each says generation, hash and size of its own.  Who has an older one
 * asks for the newest, piece by piece, and takes it when the hash is right.  One that
 * is not newer is never asked for.  Pieces are said to all; who has not got one in time
 * asks the next member that has it.
 *
 * Wire: every payload begins with the magic "TrPm" and a version; share_message.h has
 * the layout.  What is of another version or malformed is dropped and counted.
 *
 * Thread-safety: one thread.  Time: CLOCK_BOOTTIME in us, as an argument. */
#ifndef TRIAD_PORTMGR_SHARE_H
#define TRIAD_PORTMGR_SHARE_H

#include "portmgr/cluster/cluster.h"
#include "portmgr/memory/memory.h"

struct triad_share;

struct triad_share_conf {
	uint64_t id;            /* of this member */
	uint64_t interval_us;   /* between digests when nothing happens */
	size_t max_config_size; /* octets; a larger one is not asked for */
};

struct triad_share_config {
	uint64_t generation, hash; /* 0: none */
	size_t size;
};

struct triad_share_status {
	uint64_t n_malformed, n_versions;
	uint64_t n_records_heard;  /* that were news */
	uint64_t n_configs_bad;    /* whole, but with another hash than was said */
	uint64_t n_offers_refused; /* said to be larger than is taken here */
	struct triad_share_config wanted; /* being fetched; generation 0: none */
	size_t n_octets_here;             /* of it */
};

/* 'memory' outlives the share; it is merged into by triad_share_payload(). */
struct triad_share *triad_share_new(
	const struct triad_share_conf *conf, struct triad_memory *memory);
/* Accepts NULL. */
void triad_share_free(struct triad_share *share);

/* --- in --- */
void triad_share_view(struct triad_share *share, const struct triad_cluster_view *view,
	uint64_t now_us);
/* Of any member, this one's own, too. */
void triad_share_payload(struct triad_share *share, uint64_t sender,
	const void *payload, size_t size, uint64_t now_us);
/* A record of this member's own, already merged and in its journal: said to all now. */
void triad_share_send(
	struct triad_share *share, const struct triad_record *record, uint64_t now_us);
/* This member's own configuration now; 'octets' are copied.  Returns 0 or ENOMEM. */
int triad_share_offer(struct triad_share *share,
	const struct triad_share_config *config, const void *octets, uint64_t now_us);
/* Time passes. */
void triad_share_run(struct triad_share *share, uint64_t now_us);

/* --- out --- */
/* When run is to be called again, at the latest. */
uint64_t triad_share_next_us(const struct triad_share *share);
/* The next record that was news: for the journal.  To be emptied before payloads are
 * taken, so that what is said to be known here is on this disk.  What does not get
 * there must not be said: then no payload may be sent. */
bool triad_share_take_record(struct triad_share *share, struct triad_record *record);
/* The next payload to be sent to all, after triad_share_run(); returns its size, 0:
 * none now, or there are records to be taken first. */
size_t triad_share_take_payload(
	struct triad_share *share, uint8_t payload[TRIAD_CLUSTER_PAYLOAD_SIZE]);
/* A newer configuration that came whole, once; its octets are the caller's, from
 * malloc().  It is in force here only when it is offered. */
bool triad_share_take_config(
	struct triad_share *share, struct triad_share_config *config, uint8_t **octets);

/* Members of the present view, this one among them, whose digest is this one's now, and
 * who said so after 'since_us'. */
uint32_t triad_share_n_same(const struct triad_share *share, uint64_t since_us);
/* Members of the present view, this one among them, that have the configuration which
 * is offered here. */
uint32_t triad_share_n_same_config(const struct triad_share *share);
void triad_share_status(
	const struct triad_share *share, struct triad_share_status *status);

#endif
