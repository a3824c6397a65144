/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "portmgr/cluster/seal.h"

#include <nettle/memops.h>
#include <string.h>
#include <sys/socket.h>

#include "triad/wire.h"

#define MAGIC 0x5472436cu
#define MIN_SIZE (TRIAD_SEAL_HEADER_SIZE + TRIAD_SEAL_MAC_SIZE)

struct header {
	uint8_t version, kind;
	uint16_t length;
	uint64_t id, session, challenge, echo, sequence;
};

/* A random number; never 0, which means "none". */
static uint64_t draw(struct triad_seal *seal)
{
	uint64_t value = seal->random(seal->random_context);

	return value ? value : 1;
}

void triad_seal_init(struct triad_seal *seal, uint64_t id,
	const struct triad_address *address, const void *key, size_t key_size,
	triad_seal_random random, void *random_context)
{
	*seal = (struct triad_seal){.id = id,
		.address = *address,
		.random = random,
		.random_context = random_context};
	hmac_sha256_set_key(&seal->mac, key_size, key);
}

void triad_seal_peer_init(struct triad_seal *seal, struct triad_seal_peer *peer,
	const struct triad_address *address)
{
	*peer = (struct triad_seal_peer){
		.address = *address, .session = draw(seal), .challenge = draw(seal)};
}

static void add_address(struct triad_seal *seal, const struct triad_address *address)
{
	const bool is_ipv4 = address->family == AF_INET;
	uint8_t octets[19] = {is_ipv4 ? 4 : address->family == AF_IB ? 1 : 6};

	memcpy(octets + 1, address->octets, is_ipv4 ? 4 : 16);
	octets[17] = (uint8_t)(address->port >> 8);
	octets[18] = (uint8_t)address->port;
	hmac_sha256_update(&seal->mac, sizeof(octets), octets);
}

static void make_mac(struct triad_seal *seal, const struct triad_address *from,
	const struct triad_address *to, const uint8_t *octets, size_t size,
	uint8_t mac[TRIAD_SEAL_MAC_SIZE])
{
	hmac_sha256_update(&seal->mac, size, octets);
	add_address(seal, from);
	add_address(seal, to);
	hmac_sha256_digest(&seal->mac, TRIAD_SEAL_MAC_SIZE, mac);
}

size_t triad_seal_make(struct triad_seal *seal, struct triad_seal_peer *peer,
	enum triad_seal_kind kind, const void *payload, size_t size,
	uint8_t datagram[TRIAD_SEAL_MAX_SIZE])
{
	struct triad_wire w;

	triad_wire_init(&w, datagram, TRIAD_SEAL_MAX_SIZE);
	triad_wire_put(&w, 4, MAGIC);
	triad_wire_put(&w, 1, TRIAD_SEAL_VERSION);
	triad_wire_put(&w, 1, kind);
	triad_wire_put(&w, 2, size);
	triad_wire_put(&w, 8, seal->id);
	triad_wire_put(&w, 8, peer->session);
	triad_wire_put(&w, 8, peer->challenge);
	triad_wire_put(&w, 8, peer->their_challenge);
	triad_wire_put(&w, 8, ++peer->sequence);
	if (size)
		memcpy(triad_wire_take(&w, size), payload, size);
	make_mac(seal, &seal->address, &peer->address, datagram, w.at, datagram + w.at);
	return w.at + TRIAD_SEAL_MAC_SIZE;
}

/* --- incoming datagrams --- */

static void read_header(const uint8_t *datagram, struct header *header)
{
	struct triad_wire w;

	triad_wire_init(&w, (void *)datagram, TRIAD_SEAL_HEADER_SIZE);
	triad_wire_seek(&w, 4);
	header->version = triad_wire_get8(&w);
	header->kind = triad_wire_get8(&w);
	header->length = triad_wire_get16(&w);
	header->id = triad_wire_get64(&w);
	header->session = triad_wire_get64(&w);
	header->challenge = triad_wire_get64(&w);
	header->echo = triad_wire_get64(&w);
	header->sequence = triad_wire_get64(&w);
}

/* Checks the header of an authentic datagram; an error here is a bug of the sender. */
static bool is_well_formed(const struct header *header, size_t size)
{
	if (header->kind != TRIAD_SEAL_KEEPALIVE && header->kind != TRIAD_SEAL_PAYLOAD)
		return false;
	if (header->kind == TRIAD_SEAL_KEEPALIVE && header->length)
		return false;
	return header->length == size - MIN_SIZE && header->id && header->session &&
		header->challenge && header->sequence;
}

static void accept_it(struct triad_seal_peer *peer, const struct header *header)
{
	peer->their_session = header->session;
	peer->their_sequence = header->sequence;
	peer->their_challenge = header->challenge;
	peer->their_id = header->id;
}

static enum triad_seal_verdict judge_header(struct triad_seal *seal,
	struct triad_seal_peer *peer, const struct header *header,
	struct triad_seal_opened *opened)
{
	/* Case (a) of seal.h. */
	if (header->session == peer->their_session) {
		if (header->sequence <= peer->their_sequence)
			return TRIAD_SEAL_OLD;
		accept_it(peer, header);
		return TRIAD_SEAL_ACCEPTED;
	}
	/* Case (b).  Change the challenge, so that no recorded datagram can be
	 * adopted. */
	if (header->echo == peer->challenge) {
		accept_it(peer, header);
		peer->challenge = draw(seal);
		opened->is_adopted = true;
		return TRIAD_SEAL_ACCEPTED;
	}
	/* A hello.  It may be a replay, so keep the challenge of an adopted session. */
	if (!peer->their_session)
		peer->their_challenge = header->challenge;
	return header->echo ? TRIAD_SEAL_OLD : TRIAD_SEAL_HELLO;
}

/* Whether to answer, to continue the handshake.  A repeated datagram of the adopted
 * session is not a hello. */
static bool is_to_be_answered(struct triad_seal_peer *peer, const struct header *header,
	enum triad_seal_verdict verdict, uint64_t now_us)
{
	if (header->echo == peer->challenge)
		return false;
	if (verdict == TRIAD_SEAL_OLD && header->session == peer->their_session)
		return false;
	if (peer->has_answered && now_us - peer->answered_us < TRIAD_SEAL_ANSWER_US)
		return false;
	peer->has_answered = true;
	peer->answered_us = now_us;
	return true;
}

enum triad_seal_verdict triad_seal_open(struct triad_seal *seal,
	struct triad_seal_peer *peer, const void *datagram, size_t size,
	uint64_t now_us, struct triad_seal_opened *opened)
{
	const uint8_t *octets = datagram;
	const size_t n = size - TRIAD_SEAL_MAC_SIZE;
	uint8_t mac[TRIAD_SEAL_MAC_SIZE];
	enum triad_seal_verdict verdict;
	struct header header;
	struct triad_wire w;

	*opened = (struct triad_seal_opened){0};
	if (size < MIN_SIZE || size > TRIAD_SEAL_MAX_SIZE)
		return TRIAD_SEAL_MALFORMED;
	triad_wire_init(&w, (void *)datagram, size);
	if (triad_wire_get32(&w) != MAGIC)
		return TRIAD_SEAL_MALFORMED;
	/* Check the MAC before anything else, by a comparison in constant time. */
	make_mac(seal, &peer->address, &seal->address, octets, n, mac);
	if (!memeql_sec(mac, octets + n, sizeof(mac)))
		return TRIAD_SEAL_FORGED;
	read_header(octets, &header);
	if (header.version != TRIAD_SEAL_VERSION)
		return TRIAD_SEAL_OTHER_VERSION;
	if (!is_well_formed(&header, size))
		return TRIAD_SEAL_MALFORMED;
	verdict = judge_header(seal, peer, &header, opened);
	opened->kind = header.kind;
	opened->id = header.id;
	opened->payload = octets + TRIAD_SEAL_HEADER_SIZE;
	opened->size = header.length;
	opened->answer = is_to_be_answered(peer, &header, verdict, now_us);
	return verdict;
}
