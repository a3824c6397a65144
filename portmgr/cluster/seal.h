/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Datagrams between peers that share a key: nobody else can make one, and none counts
 * twice, not even after a restart of either side.  No clock is compared, nothing is
 * kept on disk.
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
 *     24      8       challenge: what the sender wants to hear from this receiver
 *     32      8       echo: the receiver's challenge, as heard last; 0: none yet
 *     40      8       sequence: from 1, grows with each datagram of the session
 *     48      n       payload
 *     48 + n  32      MAC: HMAC-SHA256, by the key, over all before it and then the
 *                     addresses of sender and receiver, as both have them configured:
 *                     each the family (4 or 6), 16 octets, the port in 2
 *
 * The addresses make a datagram good for one way between two peers: back to its sender,
 * on to a third, or as if from a third it is a forgery.
 *
 * Versions share the magic, the version's place and the MAC.  The version is looked at
 * after the MAC, because a peer that is older or newer is something that an operator is
 * told to mend, and only who has the key may cause that.
 *
 * A receiver has adopted one session of each peer, or none.  Of what has a right MAC it
 * accepts
 *
 *     (a) of the adopted session, whose sequence is above the last one
 *     (b) of another session, whose echo is the receiver's present challenge: this
 *         session is adopted, and a new challenge drawn.
 *
 * Why that is enough.  Inside a session the sequence grows, so that nothing counts
 * twice and nothing counts late.  A datagram that lets a session be adopted was made by
 * a sender that had heard the present challenge, so after that was drawn, which was
 * when the session before it was adopted, or when the receiver started.  Whatever was
 * made before echoes a challenge that is gone, and challenges, of 64 random bits, don't
 * come again.  So sessions are adopted in the order in which their senders lived, and
 * never again.
 *
 * Whatever else has a right MAC says only that its sender lives or that somebody
 * repeats it, and is a hello: the peer is answered, with a keepalive.  The rules of the
 * handshake:
 *
 *     - Each datagram tells the sender's challenge.  It is learnt from datagrams that
 * are accepted, and from hellos as long as no session of the peer is adopted: what is
 *       learnt of a repeated hello is put right by the peer's next.
 *     - What is accepted or a hello, but doesn't echo the present challenge, is
 * answered, once in 20 ms at most.  An answer tells the challenge, so that what comes
 * then echoes it, and is not answered: there is no endless exchange.
 *
 * With A starting and B running, that is
 *
 *     A -> B  session a, echo 0            hello, B answers
 *     B -> A  session b, echo of before    hello, A learns B's challenge, answers
 *     A -> B  session a, echo right        adopted; B draws a new challenge, answers
 *     B -> A  session b, echo right        adopted
 *
 * and the third has B accept A's payloads, whatever session of A's it had adopted. What
 * is lost is made up for by the next keepalive.  It converges from any state, because
 * never have both adopted a session whose sender is dead: A's of B would be older than
 * B's start, B's of A older than A's start, and one of them started last.  So one has
 * adopted none, or a live one; it learns the other's challenge from the other's next
 * datagram, its own next is accepted, and that one tells the other what to echo.
 *
 * What it does not do: nothing is secret.  Who can hold datagrams back can hand them
 * over later, in their order and each once, until the receiver has heard something that
 * the sender made after them; so a lease has to be counted from one's own sending of a
 * question.  Who floods with repeated hellos, or can drop, can delay a handshake, but
 * not harm a session that both have adopted.
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

/* 64 bits that nobody can guess. */
typedef uint64_t (*triad_seal_random)(void *context);

struct triad_seal {
	uint64_t id;
	struct triad_address address; /* this one's, as its peers have it */
	struct hmac_sha256_ctx mac;   /* with the key */
	triad_seal_random random;
	void *random_context;
};

struct triad_seal_peer {
	struct triad_address address;
	uint64_t session, sequence; /* of what is sent to it */
	uint64_t challenge;         /* what it is to echo */
	uint64_t their_session;     /* adopted; 0: none */
	uint64_t their_sequence;    /* accepted last */
	uint64_t their_challenge;   /* to be echoed; 0: none heard */
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
	enum triad_seal_kind kind; /* this and what follows: of what was accepted */
	uint64_t id;
	const uint8_t *payload;
	size_t size;
	bool is_adopted; /* a new session: the peer, or this one, started */
	bool answer; /* whatever the verdict: a keepalive is to be sent to the peer */
};

/* Looks at what came from the peer's address at 'now_us' (monotonic). */
enum triad_seal_verdict triad_seal_open(struct triad_seal *seal,
	struct triad_seal_peer *peer, const void *datagram, size_t size,
	uint64_t now_us, struct triad_seal_opened *opened);

#endif
