/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Each SM's replica of the history of ports and of the expected configuration, and the
 * protocol that makes the replicas of a cluster equal.
 *
 * Model: a machine without threads. Payloads and views of the cluster come in, payloads
 * to all members go out (portmgr/cluster/cluster.h; at most TRIAD_CLUSTER_PAYLOAD_SIZE
 * octets each).  Payloads may be lost, doubled or late.
 *
 * History: each member sends its digest (history.h) at intervals, and at once after a
 * change.  A member that receives another digest sends its own, and the records of the
 * buckets that differ, a few payloads at a time.  Members delay their answers, so that
 * usually only one of them sends these records.  So all replicas become equal.  A
 * member that is about to act records its intent first.  It acts only when a majority
 * has since sent the same digest as its own: then a majority knows the intent, and this
 * member knows all that any earlier majority knew (tests/model/journal.pml).
 *
 * The digest is of the ports' last records: they alone decide.  With it comes another,
 * of the latest records of all ports, which are for people.  Members whose last records
 * are equal send each other those of the latest that the other one lacks, in the same
 * way, but after all else, and less often for a member whose digest stays different.  So
 * all show the same history, also after one lost its journal.  Members of earlier
 * releases lack that digest, and are left alone.
 *
 * Configuration: each member sends generation, hash and size of its own.  A member with
 * an older one asks for the newest, piece by piece, and accepts it when the hash is
 * right.  It never asks for one that is not newer.  Pieces go to all members; a member
 * that does not receive one in time asks the next member that has it.
 *
 * Wire: every payload begins with the magic "TrPm" and a version; replica_message.h has
 * the layout.  Payloads of another version, and malformed ones, are dropped and
 * counted.
 *
 * Thread-safety: one thread.  Time: CLOCK_BOOTTIME in us, as an argument. */
#ifndef TRIAD_PORTMGR_REPLICA_H
#define TRIAD_PORTMGR_REPLICA_H

#include "portmgr/cluster/cluster.h"
#include "portmgr/history/history.h"

struct triad_replica;

struct triad_replica_conf {
	uint64_t id;            /* of this member */
	uint64_t interval_us;   /* between digests when nothing happens */
	size_t max_config_size; /* octets; larger ones are not requested */
};

/* A record that was received and merged. */
struct triad_replica_news {
	struct triad_record record;
	bool is_last; /* it was newer than the port's last record; if not, it is among
			 the latest records alone, and decides nothing */
};

struct triad_replica_config {
	uint64_t generation, hash; /* 0: none */
	size_t size;
};

struct triad_replica_status {
	uint64_t n_malformed, n_versions;
	uint64_t n_records_received; /* new ones */
	uint64_t n_configs_bad;      /* complete, but the hash was wrong */
	uint64_t n_offers_refused;   /* announced as larger than max_config_size */
	struct triad_replica_config wanted; /* being fetched; generation 0: none */
	size_t n_octets_here;               /* received of it */
};

/* 'history' outlives the replica; it is merged into by triad_replica_payload(). */
struct triad_replica *triad_replica_new(
	const struct triad_replica_conf *conf, struct triad_history *history);
/* Accepts NULL. */
void triad_replica_free(struct triad_replica *replica);

/* --- in --- */
void triad_replica_view(struct triad_replica *replica,
	const struct triad_cluster_view *view, uint64_t now_us);
/* Of any member, this one's own, too. */
void triad_replica_payload(struct triad_replica *replica, uint64_t sender,
	const void *payload, size_t size, uint64_t now_us);
/* Sends to all a record of this member's own, already merged and in its journal. */
void triad_replica_send(struct triad_replica *replica,
	const struct triad_record *record, uint64_t now_us);
/* Sets this member's own configuration; 'octets' are copied.  Returns 0 or ENOMEM. */
int triad_replica_offer(struct triad_replica *replica,
	const struct triad_replica_config *config, const void *octets, uint64_t now_us);
/* The term in which this member is in charge of ports from now on; 0: in none.  Members say
 * that they have heard of it, so that what they said before does not count. */
void triad_replica_set_term(
	struct triad_replica *replica, uint64_t term, uint64_t now_us);
/* Time passes. */
void triad_replica_run(struct triad_replica *replica, uint64_t now_us);

/* --- out --- */
/* When to call run again, at the latest. */
uint64_t triad_replica_next_us(const struct triad_replica *replica);
/* Takes the next new record, for the journal.  Take all of them before taking payloads:
 * a member may announce a record only when it is on its disk.  If the journal can't be
 * written, send no payload. */
bool triad_replica_take_news(
	struct triad_replica *replica, struct triad_replica_news *news);
/* Takes the next payload for all members, after triad_replica_run().  Returns its size;
 * 0: none now, or records must be taken first. */
size_t triad_replica_take_payload(
	struct triad_replica *replica, uint8_t payload[TRIAD_CLUSTER_PAYLOAD_SIZE]);
/* Takes a newer configuration that was received completely; its octets, from malloc(),
 * become the caller's.  It is in force here only after triad_replica_offer(). */
bool triad_replica_take_config(struct triad_replica *replica,
	struct triad_replica_config *config, uint8_t **octets);

/* The number of members in the present view, this one included, whose digest equals this
 * one's now; they sent it after they had heard of this one's term, and it was received after
 * 'since_us'.  (Members of earlier releases do not say what they have heard of.) */
uint32_t triad_replica_n_same(const struct triad_replica *replica, uint64_t since_us);
/* The number of members in the present view, this one included, that have the
 * configuration offered here, as they said since then. */
uint32_t triad_replica_n_same_config(
	const struct triad_replica *replica, uint64_t since_us);
void triad_replica_status(
	const struct triad_replica *replica, struct triad_replica_status *status);

#endif
