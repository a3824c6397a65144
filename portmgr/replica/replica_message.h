/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The messages between the replicas of a cluster (replica.h), and their octets.
 *
 * Octets, big-endian; a payload of another version is refused as a whole.  Within a
 * version, a receiver ignores what it does not know behind a DIGEST or WANT, and in the
 * reserved octets; kinds that it does not know count as another version:
 *
 *     at    size
 *     0     4     magic "TrPm"
 *     4     1     version, 1
 *     5     1     kind
 *     6     2     reserved, 0
 *
 *     DIGEST: what the sender has
 *     8     512   the history's digest, 64 buckets of 8 (history.h)
 *     520   8     generation of its configuration; 0: none, and hash and size 0
 *     528   8     its hash
 *     536   8     its size
 *     544   256   the digest of the latest records, 64 buckets of 4
 *     800   8     the term in which the sender is in charge of ports; 0: it is not
 *     808   8     the highest such term that it was sent by others
 *                 An earlier Triad's DIGEST ends before one of these.
 *
 *     RECORDS: some of its history
 *     8     n     lines (record.h), each with a line feed behind it
 *
 *     WANT: requests pieces of a configuration
 *     8     8     the only member that answers
 *     16    8     generation
 *     24    8     hash
 *     32    8     the first piece, from 0
 *     40    4     how many, 1 to TRIAD_REPLICA_WINDOW
 *
 *     PART: a piece
 *     8     8     generation
 *     16    8     hash
 *     24    8     size of the whole
 *     32    8     which piece, from 0
 *     40    n     its octets: TRIAD_REPLICA_PIECE_SIZE; the last has the rest
 *
 * Thread-safety: functions without state.  Memory: what was decoded borrows the
 * payload. */
#ifndef TRIAD_PORTMGR_REPLICA_MESSAGE_H
#define TRIAD_PORTMGR_REPLICA_MESSAGE_H

#include "portmgr/replica/replica.h"

#define TRIAD_REPLICA_MAGIC 0x5472506du
#define TRIAD_REPLICA_VERSION 1u
#define TRIAD_REPLICA_MAX_GENERATION (UINT64_C(1) << 63)
#define TRIAD_REPLICA_PIECE_SIZE 960u /* octets */
#define TRIAD_REPLICA_WINDOW 64u      /* pieces */

enum triad_replica_kind {
	TRIAD_REPLICA_DIGEST = 1,
	TRIAD_REPLICA_RECORDS,
	TRIAD_REPLICA_WANT,
	TRIAD_REPLICA_PART,
};

struct triad_replica_message {
	enum triad_replica_kind kind;
	struct triad_history_digest digest; /* DIGEST */
	struct triad_history_digest latest; /* DIGEST, if 'has_latest' */
	bool has_latest;
	uint64_t term, heard_term; /* DIGEST, if 'has_terms' */
	bool has_terms;
	struct triad_replica_config config; /* all but RECORDS; WANT has no size */
	uint64_t to;                        /* WANT */
	uint64_t piece;                     /* WANT, PART */
	uint32_t n_pieces;                  /* WANT */
	const uint8_t *octets;              /* PART; lines of RECORDS */
	size_t n_octets;
};

/* Returns the octets written; 0: lines or a piece that are too large. */
size_t triad_replica_message_encode(const struct triad_replica_message *message,
	uint8_t payload[TRIAD_CLUSTER_PAYLOAD_SIZE]);

/* Returns 0, EINVAL (not one), or EPROTONOSUPPORT (of another version); 'message' is
 * undefined then.  Lines are not looked at. */
int triad_replica_message_decode(
	struct triad_replica_message *message, const void *payload, size_t size);

#endif
