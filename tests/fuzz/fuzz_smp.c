/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* SMPs by directed route and their answers, and counters of a port under test.  An
 * encoded SMP must be decoded as it was, an accepted answer must belong to the request,
 * and sums must not overflow.
 *
 * Input: a route (number of hops, that many ports), M_Key (8 octets), attribute (2),
 * modifier (4), whether it is a Set (1), 64 octets of the attribute; then answers, each
 * after its length (2 octets), in rotation: to the SMP, of PortCounters and of
 * PortCountersExtended. */
#include "ib/smp_mad.h"
#include "tests/fuzz/fuzz.h"

#define TID 0x1234567u
#define PORT 1

static void take_route(struct triad_wire *w, struct triad_smp_route *route)
{
	unsigned n = triad_wire_get8(w) % (TRIAD_ROUTE_MAX_HOPS + 3);

	memset(route, 0, sizeof(*route));
	for (unsigned i = 0; i < n; i++)
		require(triad_smp_add_hop(route, triad_wire_get8(w)) ==
				(i < TRIAD_ROUTE_MAX_HOPS ? 0 : EHOSTUNREACH),
			"as many hops as a path has");
	route->m_key = triad_wire_get64(w);
}

static void take_data(struct triad_wire *w, uint8_t data[TRIAD_SMP_DATA_SIZE])
{
	for (unsigned i = 0; i < TRIAD_SMP_DATA_SIZE; i++)
		data[i] = triad_wire_get8(w);
}

/* The switch answers with the request's data. */
static void check_echo(const uint8_t mad[TRIAD_MAD_SIZE],
	const struct triad_smp_route *route, const uint8_t *data)
{
	struct triad_mad_reply reply = {.size = TRIAD_MAD_SIZE};
	uint8_t again[TRIAD_SMP_DATA_SIZE];
	uint16_t status;

	memcpy(reply.mad, mad, TRIAD_MAD_SIZE);
	reply.mad[4] |= 0x80; /* the direction bit */
	require(triad_smp_is_answer(&reply, TID), "an answer");
	require(!triad_smp_decode(reply.mad, again, &status) && !status, "a good one");
	require(!memcmp(again, data, sizeof(again)), "the same data");
	require(mad[7] == route->path.n_hops, "hops");
	require(!memcmp(mad + 128, route->path.ports, (size_t)route->path.n_hops + 1),
		"the path");
	reply.size--;
	require(!triad_smp_is_answer(&reply, TID), "a whole one");
}

static struct triad_mad_reply take_reply(struct triad_wire *w)
{
	struct triad_mad_reply reply = {0};
	size_t size, length = triad_wire_get16(w);
	uint8_t *octets =
		fuzz_take(w, length < TRIAD_MAD_SIZE ? length : TRIAD_MAD_SIZE, &size);

	memcpy(reply.mad, octets, size);
	reply.size = size;
	free(octets);
	return reply;
}

static void receive_smp(struct triad_wire *w)
{
	struct triad_mad_reply reply = take_reply(w);
	uint8_t data[TRIAD_SMP_DATA_SIZE];
	uint16_t status;
	int error;

	if (triad_smp_is_answer(&reply, TID))
		require(reply.size == TRIAD_MAD_SIZE, "an answer is whole");
	error = triad_smp_decode(reply.mad, data, &status);
	require(error == (status ? EPROTO : 0), "an error has a status");
	require(!(status & 0x8000), "the direction is no status");
}

/* Corrects the answer's header.  Whether the answer was good. */
static bool receive_counters(struct triad_wire *w, enum triad_pma_attribute attribute,
	uint32_t capabilities, struct triad_pma_reading *reading)
{
	struct triad_mad_reply reply = take_reply(w);
	uint8_t asked[TRIAD_MAD_SIZE];
	uint16_t status;

	triad_pma_encode_get(asked, attribute, PORT, TID);
	memcpy(reply.mad, asked, 24);
	reply.mad[3] = TRIAD_MAD_METHOD_GET_RESPONSE;
	reply.mad[65] = PORT;
	return !triad_pma_check(reply.mad, reply.size, attribute, &status) &&
		!triad_pma_decode_counters(
			reply.mad, attribute, PORT, capabilities, reading);
}

static void check_counts(struct triad_wire *w)
{
	struct triad_pma_reading narrow = {0}, wide = {0};
	struct triad_smp_counts counts;
	const struct triad_pma_reading *read = &narrow;
	bool is_wide, has_wide_errors;

	if (!receive_counters(
		    w, TRIAD_PMA_PORT_COUNTERS, TRIAD_PMA_EXTENDED_WIDTH, &narrow))
		return;
	has_wide_errors = narrow.raw[TRIAD_VL15_DROPPED] & 1;
	is_wide = receive_counters(w, TRIAD_PMA_PORT_COUNTERS_EXTENDED,
		TRIAD_PMA_EXTENDED_WIDTH |
			(has_wide_errors ? (uint32_t)TRIAD_PMA_WIDE_ERRORS : 0),
		&wide);
	read = is_wide ? &wide : &narrow;
	triad_smp_count(&counts, &narrow, is_wide ? &wide : NULL);
	require(counts.n_errors <= 7 * UINT64_C(0xffff) || (is_wide && has_wide_errors),
		"16 bits each");
	require(counts.n_errors >= narrow.raw[TRIAD_PORT_RCV_ERRORS],
		"no less than one of them");
	require(counts.n_errors != UINT64_MAX, "that would be unknown");
	require(counts.octets / 4 >= read->raw[TRIAD_PORT_XMIT_DATA] ||
			counts.octets == UINT64_MAX,
		"no less than sent");
	require(counts.octets / 4 >= read->raw[TRIAD_PORT_RCV_DATA] ||
			counts.octets == UINT64_MAX,
		"no less than received");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t attribute[TRIAD_SMP_DATA_SIZE], mad[TRIAD_MAD_SIZE];
	struct triad_smp_request request = {0};
	struct triad_smp_route route;
	struct triad_wire w;

	triad_wire_init(&w, (uint8_t *)data, size);
	take_route(&w, &route);
	request.attribute = triad_wire_get16(&w);
	request.modifier = triad_wire_get32(&w);
	request.is_set = triad_wire_get8(&w) & 1;
	take_data(&w, attribute);
	triad_smp_encode(mad, &route, &request, attribute, TID);
	check_echo(mad, &route, attribute);
	while (w.at < w.size && !w.failed) {
		receive_smp(&w);
		check_counts(&w);
	}
	return 0;
}
