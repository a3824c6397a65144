/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Datagrams of peers, unchanged and with a valid MAC, so that the code after the MAC's
 * check is reached, too.  An accepted payload must lie in the datagram, and no datagram
 * may be accepted twice.
 *
 * Input: a datagram whose MAC may be missing. */
#include <nettle/hmac.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "portmgr/cluster/seal.h"
#include "tests/fuzz/fuzz.h"

static const struct triad_address here = {AF_INET, {10, 0, 0, 1}, 7000};
static const struct triad_address there = {AF_INET, {10, 0, 0, 2}, 7000};
static const uint8_t key[16] = "0123456789abcdef";

/* The challenge that the seeds echo. */
static uint64_t draw(void *context)
{
	return UINT64_C(0x0102030405060708);
}

static void judge(const uint8_t *datagram, size_t size)
{
	struct triad_seal seal;
	struct triad_seal_peer peer;
	struct triad_seal_opened opened;
	enum triad_seal_verdict verdict;

	triad_seal_init(&seal, 1, &here, key, sizeof(key), draw, NULL);
	triad_seal_peer_init(&seal, &peer, &there);
	verdict = triad_seal_open(&seal, &peer, datagram, size, 0, &opened);
	if (verdict != TRIAD_SEAL_ACCEPTED)
		return;
	require(opened.id && opened.id == peer.their_id, "an id");
	require(opened.payload >= datagram &&
			opened.payload + opened.size + TRIAD_SEAL_MAC_SIZE ==
				datagram + size,
		"payload in the datagram");
	require(triad_seal_open(&seal, &peer, datagram, size, 0, &opened) ==
			TRIAD_SEAL_OLD,
		"not twice");
}

static void add_address(struct hmac_sha256_ctx *mac, uint8_t last)
{
	const uint8_t octets[19] = {4, 10, 0, 0, last, [17] = 7000 >> 8, 7000 & 0xff};

	hmac_sha256_update(mac, sizeof(octets), octets);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct hmac_sha256_ctx mac;
	uint8_t *sealed;

	judge(data, size);
	if (size > 4096)
		return 0;
	sealed = malloc(size + TRIAD_SEAL_MAC_SIZE);
	if (!sealed)
		return 0;
	memcpy(sealed, data, size);
	hmac_sha256_set_key(&mac, sizeof(key), key);
	hmac_sha256_update(&mac, size, data);
	add_address(&mac, 2);
	add_address(&mac, 1);
	hmac_sha256_digest(&mac, TRIAD_SEAL_MAC_SIZE, sealed + size);
	judge(sealed, size + TRIAD_SEAL_MAC_SIZE);
	free(sealed);
	return 0;
}
