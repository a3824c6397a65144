/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* MADs that arrive while a client waits for an answer of the SA: reports, answers to
 * other clients, tables of any size, as reassembled by the kernel.  The MADs accepted
 * as answers must give a fabric with consistent indices, or an error.
 *
 * Input: MADs, each after 3 octets:
 *
 *     0  the request (the lowest 2 bits: a table, or 3: a subscription), whether the
 *        kernel returns the request (4), whether the MAD is made an answer to it (8)
 *     1  length, big-endian */
#include "ib/sa_topology.h"
#include "ib/sa_mad.h"
#include "tests/fuzz/fuzz.h"

#define TID 0x1234567u

enum { NODES, PORTS, LINKS, N_TABLES };

struct answers {
	uint8_t *mads[N_TABLES];
	struct triad_sa_table tables[N_TABLES];
};

static void make_answer(uint8_t *mad, size_t size, uint8_t method)
{
	struct triad_wire w;

	triad_wire_init(&w, mad, size);
	triad_wire_seek(&w, 3);
	triad_wire_put(&w, 1, method | 0x80);
	triad_wire_put(&w, 2, 0);
	triad_wire_seek(&w, 12);
	triad_wire_put(&w, 4, TID);
}

/* Takes ownership of the MAD. */
static void take_answer(
	struct answers *answers, unsigned table, uint8_t *mad, size_t size)
{
	require(size >= TRIAD_SA_MAD_DATA, "an answer has a header");
	if (table == N_TABLES) {
		free(mad);
		return;
	}
	free(answers->mads[table]);
	answers->mads[table] = mad;
	answers->tables[table] =
		(struct triad_sa_table){.records = mad + TRIAD_SA_MAD_DATA,
			.size = size - TRIAD_SA_MAD_DATA,
			.stride = triad_sa_mad_stride(mad)};
}

static void receive_from(struct answers *answers, struct triad_wire *w)
{
	unsigned flags = triad_wire_get8(w), table = flags & 3;
	size_t size, length = triad_wire_get16(w);
	uint8_t *mad = fuzz_take(w, length, &size);
	const uint8_t method =
		table == N_TABLES ? TRIAD_SA_METHOD_SET : TRIAD_SA_METHOD_GET_TABLE;
	uint16_t trap;
	int verdict;

	if (flags & 8)
		make_answer(mad, size, method);
	if (triad_sa_mad_is_report(mad, size, &trap))
		require(size >= TRIAD_MAD_SIZE, "a report is whole");
	verdict = triad_sa_mad_judge(mad, size, method, TID, flags & 4);
	require(!verdict || verdict == EAGAIN || verdict == ETIMEDOUT ||
			verdict == EPROTO || verdict == EACCES,
		"a verdict that is known");
	require(verdict == EAGAIN || size >= 16, "of a request's own answer");
	if (verdict)
		free(mad);
	else
		take_answer(answers, table, mad, size);
}

/* A request of the client's own is no answer, until make_answer() makes it one. */
static void check_request(uint16_t attribute)
{
	uint8_t mad[TRIAD_MAD_SIZE];

	triad_sa_mad_request(mad, TRIAD_SA_METHOD_GET_TABLE, attribute, TID);
	triad_sa_mad_trust(mad, attribute, TRIAD_SA_PKEY_MASK_PORT);
	require(triad_sa_mad_judge(mad, sizeof(mad), TRIAD_SA_METHOD_GET_TABLE, TID,
			false) == EPROTO,
		"a request is no answer");
	make_answer(mad, sizeof(mad), TRIAD_SA_METHOD_GET_TABLE);
	require(!triad_sa_mad_judge(
			mad, sizeof(mad), TRIAD_SA_METHOD_GET_TABLE, TID, false),
		"an answer");
	triad_sa_mad_inform(mad, attribute, TID + 1);
	require(triad_sa_mad_judge(mad, sizeof(mad), TRIAD_SA_METHOD_SET, TID, false) ==
			EAGAIN,
		"about another");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct answers answers = {0};
	struct triad_fabric *fabric = NULL;
	struct triad_wire w;

	check_request((uint16_t)size);
	triad_wire_init(&w, (uint8_t *)data, size);
	while (w.at < w.size && !w.failed)
		receive_from(&answers, &w);
	if (answers.mads[NODES] && answers.mads[PORTS] && answers.mads[LINKS] &&
		!triad_sa_topology_build(
			&(const struct triad_sa_tables){.nodes = answers.tables[NODES],
				.ports = answers.tables[PORTS],
				.links = answers.tables[LINKS]},
			1, &fabric))
		fuzz_check_fabric(fabric);
	triad_fabric_unref(fabric);
	for (unsigned i = 0; i < N_TABLES; i++)
		free(answers.mads[i]);
	return 0;
}
