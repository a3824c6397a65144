/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Fragments of datagrams, with any octets: a complete datagram must have a possible
 * size, and a datagram that is sent must arrive, whatever came before it.
 *
 * Input: MADs of 256 octets; then the octets of a datagram. */
#include "portmgr/cluster/fragments.h"

#include "tests/fuzz/fuzz.h"

static void send_whole(
	struct triad_fragments *fragments, const uint8_t *datagram, size_t size)
{
	/* Not the number of the last datagram, some of whose fragments may be here. */
	const uint32_t number = fragments->number + 1;
	size_t whole = 0;

	for (unsigned i = triad_fragment_count(size); i-- > 0;) {
		uint8_t mad[TRIAD_MAD_SIZE];

		require(!whole, "whole with the last part only");
		triad_fragment_make(mad, 1, number, datagram, size, i);
		require(triad_fragment_sender(mad, sizeof(mad)) == 1, "the sender");
		whole = triad_fragments_add(fragments, mad);
	}
	require(whole == size, "the size");
	require(!memcmp(fragments->octets, datagram, size), "the octets");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct triad_fragments fragments = {0};
	struct triad_wire w;
	uint8_t *datagram;
	size_t rest;

	triad_wire_init(&w, (void *)(uintptr_t)data, size);
	while (w.size - w.at >= TRIAD_MAD_SIZE) {
		const uint8_t *mad = triad_wire_take(&w, TRIAD_MAD_SIZE);
		size_t whole = triad_fragments_add(&fragments, mad);

		require(whole <= TRIAD_SEAL_MAX_SIZE, "a size that can be");
		require(!whole || whole == fragments.size, "the announced size");
		/* The MAD may have any sender, a missing one included. */
		(void)triad_fragment_sender(mad, TRIAD_MAD_SIZE);
	}
	datagram = fuzz_take(&w, TRIAD_MAD_SIZE, &rest);
	if (rest)
		send_whole(&fragments, datagram, rest);
	free(datagram);
	return 0;
}
