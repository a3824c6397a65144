/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Authenticated datagrams between peers that share a key.  Without the key nobody can
 * make one, and each counts once, even when either side restarts.  This needs no common
 * clock and nothing on disk.
 *
 * A datagram, big-endian:
 *
 *     offset  octets
 *      0      4       magic, "TrCl"
 *      4      1       version, 1
 *      5      1       kind: 1 keepalive, 2 payload
 *      6      2       n, octets of payload (0 with a keepalive, at most 1,024)
 *      8      8       id of the sender, not 0
 *     16      8       session: drawn by the sender when it started, for this receiver
 *     24      8       challenge: what this receiver is to echo
 *     32      8       echo: the receiver's last challenge; 0: none yet
 *     40      8       sequence: from 1, grows with each datagram of the session
 *     48      n       payload
 *     48 + n  32      MAC: HMAC-SHA256, by the key, over all before it and then the
 *                     addresses of sender and receiver, as both have them configured:
 *                     each the family (4, 6; 1: an InfiniBand port), 16 octets, the port in 2
 *
 * Because of the addresses, a datagram is valid only on one way between two peers: sent
 * back, sent on to a third, or sent as if from a third, it is a forgery.
 *
 * All versions have the magic, the place of the version and the MAC in common.  The
 * receiver looks at the version after the MAC: a peer of another version is reported to
 * the operator, and only a holder of the key may cause such reports.
 *
 * A receiver has adopted one session of each peer, or none.  Of the datagrams with a
 * valid MAC it accepts
 *
 *     (a) those of the adopted session whose sequence is above the last one
 *     (b) one of another session that echoes the receiver's present challenge: the
 *         receiver adopts this session, and draws a new challenge.
 *
 * Why that is enough.  Within a session the sequence grows, so no datagram counts twice
 * or late.  A datagram of case (b) was made by a sender that had received the present
 * challenge; so it was made after the last session was adopted, or after the receiver
 * started.  Older datagrams echo older challenges, and challenges, being 64 random
 * bits, do not repeat.  So sessions are adopted in the order of their senders' starts,
 * each once.
 *
 * Any other datagram with a valid MAC shows only that its sender is alive, or that
 * somebody repeats it.  It is a hello: the receiver answers with a keepalive.  The
 * rules of the handshake:
 *
 *     - Each datagram contains the sender's challenge.  A receiver learns it from
 *       accepted datagrams, and from hellos while it has adopted no session of the
 *       peer; the peer's next datagram corrects what came from a repeated hello.
 *     - A receiver answers an accepted datagram or a hello that does not echo its
 *       present challenge, at most once in 20 ms.  The answer contains the challenge,
 *       so that the next datagram echoes it and needs no answer: the exchange ends.
 *
 * With A starting and B running, that is
 *
 *     A -> B  session a, echo 0            hello, B answers
 *     B -> A  session b, echo of before    hello, A learns B's challenge, answers
 *     A -> B  session a, echo right        adopted; B draws a new challenge, answers
 *     B -> A  session b, echo right        adopted
 *
 * From the third on, B accepts A's payloads, whatever session of A's it had adopted.
 * The next keepalive replaces a lost datagram.  The handshake converges from any state,
 * because the two can't both have adopted a session whose sender is dead: A's session
 * of B would be older than B's start, B's session of A older than A's start, but one of
 * them started last.  So one of them has adopted no session, or a live one.  It learns
 * the other's challenge from the other's next datagram; its own next datagram is then
 * accepted, and tells the other what to echo.
 *
 * Limits: nothing is secret.  Somebody who holds datagrams back can deliver them later,
 * in order and each once, until the receiver has accepted a newer one; so a lease must
 * be counted from the sending of one's own question.  Somebody who floods with repeated
 * hellos, or drops datagrams, can delay a handshake, but can't harm a session that both
 * have adopted.
 *
 * Thread-safety: none.  Memory: nothing allocated; payloads that were opened lie in the
 * datagram.  Pure: time and random numbers are handed in. */
#ifndef TRIAD_PORTMGR_SEAL_H
#define TRIAD_PORTMGR_SEAL_H

#include <nettle/hmac.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "portmgr/cluster/cluster.h"
#include "triad/address.h"

#define TRIAD_SEAL_VERSION 1
#define TRIAD_SEAL_HEADER_SIZE 48u
#define TRIAD_SEAL_MAC_SIZE 32u
#define TRIAD_SEAL_MAX_SIZE                                                            \
	(TRIAD_SEAL_HEADER_SIZE + TRIAD_CLUSTER_PAYLOAD_SIZE + TRIAD_SEAL_MAC_SIZE)
#define TRIAD_SEAL_ANSWER_US 20000u /* between two answers to a peer */

enum triad_seal_kind {
	TRIAD_SEAL_KEEPALIVE = 1,
	TRIAD_SEAL_PAYLOAD = 2,
};

/* 64 bits that can't be guessed. */
typedef uint64_t (*triad_seal_random)(void *context);

struct triad_seal {
	uint64_t id;
	struct triad_address address; /* this member's, as its peers configure it */
	struct hmac_sha256_ctx mac;   /* with the key */
	triad_seal_random random;
	void *random_context;
};

struct triad_seal_peer {
	struct triad_address address;
	uint64_t session, sequence; /* of datagrams to it */
	uint64_t challenge;         /* what it is to echo */
	uint64_t their_session;     /* adopted; 0: none */
	uint64_t their_sequence;    /* accepted last */
	uint64_t their_challenge;   /* to be echoed; 0: none received */
	uint64_t their_id;          /* as accepted last; 0: never */
	bool has_answered;
	uint64_t answered_us;
};

/* 'key' has any size; 'id' isn't 0. */
void triad_seal_init(struct triad_seal *seal, uint64_t id,
	const struct triad_address *address, const void *key, size_t key_size,
	triad_seal_random random, void *random_context);

void triad_seal_peer_init(struct triad_seal *seal, struct triad_seal_peer *peer,
	const struct triad_address *address);

/* Writes the next datagram to the peer; 'size' is at most TRIAD_CLUSTER_PAYLOAD_SIZE,
 * and 0 with a keepalive.  Returns the datagram's size. */
size_t triad_seal_make(struct triad_seal *seal, struct triad_seal_peer *peer,
	enum triad_seal_kind kind, const void *payload, size_t size,
	uint8_t datagram[TRIAD_SEAL_MAX_SIZE]);

enum triad_seal_verdict {
	TRIAD_SEAL_ACCEPTED,
	TRIAD_SEAL_HELLO, /* authentic; proves nothing yet */
	TRIAD_SEAL_OLD,   /* authentic; repeated, or meant for an earlier challenge */
	TRIAD_SEAL_FORGED,
	TRIAD_SEAL_MALFORMED,
	TRIAD_SEAL_OTHER_VERSION, /* authentic */
};

struct triad_seal_opened {
	enum triad_seal_kind kind; /* this and the following: of an accepted datagram */
	uint64_t id;
	const uint8_t *payload;
	size_t size;
	bool is_adopted; /* a new session: the peer, or this one, started */
	bool answer;     /* whatever the verdict: send a keepalive to the peer */
};

/* Checks a datagram from the peer's address; 'now_us' is monotonic. */
enum triad_seal_verdict triad_seal_open(struct triad_seal *seal,
	struct triad_seal_peer *peer, const void *datagram, size_t size,
	uint64_t now_us, struct triad_seal_opened *opened);

#endif
