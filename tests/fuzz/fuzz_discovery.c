/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Replies of a process that discovers: any reply, followed by any octets, or by a
 * fabric of any octets, packed correctly.  An accepted fabric must be consistent, and
 * must be the same after another reply with it.
 *
 * Input: flags (1: magic, error and sizes are corrected; 2: the octets are packed), a
 * struct triad_discovery_reply, the octets. */
#include <zstd.h>

#include "agent/discovery_reply.h"
#include "tests/fuzz/fuzz.h"

#define FIX_HEADER 1u
#define PACK 2u

/* The same hash as in topology_message.c. */
static uint64_t hash_of(const uint8_t *octets, size_t size)
{
	uint64_t sum = UINT64_C(0xcbf29ce484222325) ^ size;

	for (size_t i = 0; i < size; i++)
		sum = (sum ^ octets[i]) * UINT64_C(0x100000001b3);
	return sum ? sum : 1;
}

static uint8_t *pack(const uint8_t *octets, size_t size, size_t *packed_size)
{
	size_t room = ZSTD_compressBound(size);
	uint8_t *packed = malloc(room);

	require(packed, "memory");
	*packed_size = ZSTD_compress(packed, room, octets, size, 1);
	require(!ZSTD_isError(*packed_size), "packed");
	return packed;
}

/* Puts the fabric into a reply and reads that. */
static struct triad_fabric *reply_again(const struct triad_discovery *made)
{
	struct triad_topology_packed packed, received;
	struct triad_discovery again = {0};
	struct triad_discovery_reply reply;

	require(!triad_topology_pack(made->fabric, &packed), "it can be packed");
	reply = triad_discovery_reply_make(0, made, &packed);
	require(!triad_discovery_reply_read(&reply, &again, &received), "a good reply");
	received.octets = packed.octets;
	require(!triad_topology_unpack(&received, &again.fabric), "and unpacked");
	require(again.n_smps == made->n_smps && again.n_silent == made->n_silent,
		"with its numbers");
	free(packed.octets);
	return again.fabric;
}

static void check_fabric(struct triad_discovery *made)
{
	struct triad_fabric *again = reply_again(made);

	fuzz_check_fabric(made->fabric);
	require(again->n_nodes == made->fabric->n_nodes &&
			again->n_ports == made->fabric->n_ports &&
			again->sm_port == made->fabric->sm_port,
		"the same fabric");
	for (uint32_t i = 0; i < again->n_ports; i++)
		require(again->ports[i].remote == made->fabric->ports[i].remote &&
				again->ports[i].guid == made->fabric->ports[i].guid &&
				again->ports[i].lid == made->fabric->ports[i].lid,
			"the same ports");
	triad_fabric_unref(again);
	triad_fabric_unref(made->fabric);
}

static void receive_from(
	const struct triad_discovery_reply *reply, uint8_t *octets, size_t size)
{
	struct triad_discovery made = {0};
	struct triad_topology_packed packed;
	int error = triad_discovery_reply_read(reply, &made, &packed);

	if (error)
		return;
	require(packed.size <= TRIAD_TOPOLOGY_MAX_SIZE &&
			packed.packed_size <= TRIAD_TOPOLOGY_MAX_SIZE,
		"sizes have a cap");
	/* The reader needs as many octets from the pipe, or fails. */
	if (packed.packed_size > size)
		return;
	packed.octets = octets;
	error = triad_topology_unpack(&packed, &made.fabric);
	require(!error || error == EPROTO, "a fabric, or none");
	if (!error)
		check_fabric(&made);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct triad_discovery_reply reply;
	struct triad_topology_packed sizes = {0};
	const struct triad_discovery nothing = {0};
	uint8_t *octets, *packed;
	size_t n, packed_size;

	if (size < 1 + sizeof(reply))
		return 0;
	memcpy(&reply, data + 1, sizeof(reply));
	n = size - 1 - sizeof(reply);
	octets = malloc(n + 1);
	require(octets, "memory");
	memcpy(octets, data + 1 + sizeof(reply), n);
	packed_size = n;
	packed = data[0] & PACK ? pack(octets, n, &packed_size) : octets;
	if (data[0] & FIX_HEADER) {
		sizes.hash = hash_of(octets, n);
		sizes.size = data[0] & PACK ? (uint32_t)n : reply.size;
		sizes.packed_size = (uint32_t)packed_size;
		reply = triad_discovery_reply_make(0, &nothing, &sizes);
	}
	receive_from(&reply, packed, packed_size);
	if (packed != octets)
		free(packed);
	free(octets);
	return 0;
}
