/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Replies of a process that discovers: any reply, followed by any octets, or by a
 * fabric of any octets.  An accepted fabric must be consistent, and
 * must be the same after another reply with it.
 *
 * Input: flags (1: magic, error, hash and size are corrected), a struct
 * triad_discovery_reply, the octets. */
#include "agent/discovery_reply.h"
#include "tests/fuzz/fuzz.h"

#define FIX_HEADER 1u

/* Puts the fabric into a reply and reads that. */
static struct triad_fabric *reply_again(const struct triad_discovery *made)
{
	struct triad_topology_octets encoded, received;
	struct triad_discovery again = {0};
	struct triad_discovery_reply reply;

	require(!triad_topology_encode(made->fabric, &encoded), "it can be encoded");
	reply = triad_discovery_reply_make(0, made, &encoded);
	require(!triad_discovery_reply_read(&reply, &again, &received), "a good reply");
	received.octets = encoded.octets;
	require(!triad_topology_decode(&received, &again.fabric), "and decoded");
	require(again.n_smps == made->n_smps && again.n_silent == made->n_silent,
		"with its numbers");
	triad_topology_octets_free(&encoded);
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
	struct triad_topology_octets received;
	int error = triad_discovery_reply_read(reply, &made, &received);

	if (error)
		return;
	require(received.size <= TRIAD_TOPOLOGY_MAX_SIZE, "the size has a cap");
	/* The reader needs as many octets from the pipe, or fails. */
	if (received.n_octets > size)
		return;
	received.octets = octets;
	error = triad_topology_decode(&received, &made.fabric);
	require(!error || error == EPROTO, "a fabric, or none");
	if (!error)
		check_fabric(&made);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct triad_discovery_reply reply;
	struct triad_topology_octets sizes = {0};
	const struct triad_discovery nothing = {0};
	uint8_t *octets;
	size_t n;

	if (size < 1 + sizeof(reply))
		return 0;
	memcpy(&reply, data + 1, sizeof(reply));
	n = size - 1 - sizeof(reply);
	octets = malloc(n + 1);
	require(octets, "memory");
	memcpy(octets, data + 1 + sizeof(reply), n);
	if (data[0] & FIX_HEADER) {
		sizes.hash = triad_topology_hash(octets, n);
		sizes.size = (uint32_t)n;
		reply = triad_discovery_reply_make(0, &nothing, &sizes);
	}
	receive_from(&reply, octets, n);
	free(octets);
	return 0;
}
