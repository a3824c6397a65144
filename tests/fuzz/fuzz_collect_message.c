/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Messages of collectors, unchanged and with a corrected header, decoded and received
 * by an agent that owns some nodes.  An accepted message must be encoded as it was
 * decoded; the messages that the agent sends must be valid.
 *
 * Input: messages, each after its length (2 octets, big-endian; the highest bits are
 * the time that passes before). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collect/claims.h"
#include "tests/fuzz/fuzz.h"

#define HERE 0x2040u
#define N_NODES 24u
#define ROOM (TRIAD_COLLECT_MAX_SIZE)

static uint8_t sent[ROOM], again[ROOM];

/* --- the agent --- */

static void send_owner(void *context, uint64_t to,
	const struct triad_collect_owner *owner,
	const struct triad_collect_claim *claims)
{
	const struct triad_collect_head head = {.sender = HERE, .incarnation = 1};
	struct triad_collect_head got;
	struct triad_collect_owner read;
	struct triad_wire body;
	size_t size = triad_collect_put_owner(&head, owner, claims, sent, sizeof(sent));

	(void)context;
	(void)to;
	require(size &&
			triad_collect_get_head(sent, size, &got, &body) ==
				TRIAD_COLLECT_HEAD_GOOD,
		"a message sent is one");
	require(triad_collect_get_owner(&body, &read), "and valid");
}

static void ask_list(void *context, uint64_t to)
{
	(void)context;
	require(to != HERE, "it does not ask itself");
}

static struct triad_claims *make_claims(void)
{
	const struct triad_claims_params params = {.self = HERE,
		.incarnation = 1,
		.liveness_us = 5000000,
		.backoff_us = 200000};
	const struct triad_claims_sink sink = {
		.send_owner = send_owner, .ask_list = ask_list};
	struct triad_claims *claims = triad_claims_new(&params, &sink);
	uint64_t guids[N_NODES];
	uint8_t hops[N_NODES];

	for (unsigned i = 0; i < N_NODES; i++) {
		guids[i] = 0x2020 + i;
		hops[i] = (uint8_t)(i % 5);
	}
	if (!claims || triad_claims_set_nodes(claims, guids, hops, N_NODES, 1000000))
		exit(1);
	return claims;
}

static void check_claims(struct triad_claims *claims, uint64_t now_us)
{
	struct triad_claims_agent agent;
	uint32_t n_owned = 0, n_counted = 0;

	require(triad_claims_step(claims, now_us) > now_us, "time goes on");
	for (uint32_t i = 0; i < N_NODES; i++)
		n_owned += triad_claims_owner(claims, i, NULL) != TRIAD_CLAIMS_NO_AGENT;
	for (unsigned i = 0; triad_claims_agent(claims, i, &agent); i++) {
		n_counted += agent.n_nodes;
		require(agent.state != TRIAD_CLAIMS_DEAD || !agent.n_nodes,
			"the dead own nothing");
	}
	require(n_owned == n_counted, "the sums");
}

/* --- messages --- */

struct received {
	struct triad_claims *claims;
	uint64_t now_us;
	struct triad_collect_head head;
};

static size_t receive_alive(struct received *received, struct triad_wire *body)
{
	struct triad_collect_alive alive;

	if (!triad_collect_get_alive(body, &alive))
		return 0;
	triad_claims_receive_alive(
		received->claims, &received->head, &alive, received->now_us);
	return triad_collect_put_alive(&received->head, &alive, again, sizeof(again));
}

static size_t receive_owner(struct received *received, struct triad_wire *body)
{
	static struct triad_collect_claim claims[TRIAD_COLLECT_MAX_NODES];
	struct triad_collect_owner owner;

	if (!triad_collect_get_owner(body, &owner))
		return 0;
	for (uint32_t i = 0; i < owner.n; i++)
		if (!triad_collect_get_claim(body, &claims[i]))
			return 0;
	triad_claims_receive_owner(
		received->claims, &received->head, &owner, claims, received->now_us);
	return triad_collect_put_owner(
		&received->head, &owner, claims, again, sizeof(again));
}

static size_t receive_who_owns(struct received *received, struct triad_wire *body)
{
	static uint64_t guids[TRIAD_COLLECT_MAX_NODES];
	struct triad_collect_who_owns who;

	if (!triad_collect_get_who_owns(body, &who))
		return 0;
	for (uint32_t i = 0; i < who.n; i++)
		guids[i] = triad_wire_get64(body);
	triad_claims_receive_who_owns(
		received->claims, &received->head, &who, guids, received->now_us);
	return triad_collect_put_who_owns(
		&received->head, &who, guids, again, sizeof(again));
}

static size_t receive_other(struct received *received, struct triad_wire *body)
{
	struct triad_collect_trap trap;
	struct triad_collect_again lost;
	struct triad_collect_clear clear;

	if (received->head.kind == TRIAD_COLLECT_TRAP &&
		triad_collect_get_trap(body, &trap))
		return triad_collect_put_trap(
			&received->head, &trap, again, sizeof(again));
	if (received->head.kind == TRIAD_COLLECT_AGAIN &&
		triad_collect_get_again(body, &lost))
		return triad_collect_put_again(
			&received->head, &lost, again, sizeof(again));
	if (received->head.kind == TRIAD_COLLECT_CLEAR &&
		triad_collect_get_clear(body, &clear))
		return triad_collect_put_clear(
			&received->head, &clear, again, sizeof(again));
	return 0;
}

static size_t receive_body(struct received *received, struct triad_wire *body)
{
	switch (received->head.kind) {
	case TRIAD_COLLECT_ALIVE:
		return receive_alive(received, body);
	case TRIAD_COLLECT_OWNER:
		return receive_owner(received, body);
	case TRIAD_COLLECT_WHO_OWNS:
		return receive_who_owns(received, body);
	default:
		return receive_other(received, body);
	}
}

/* An accepted message, encoded again, must be accepted and give the same octets. */
static void receive_from(struct received *received, const uint8_t *octets, size_t size)
{
	static uint8_t second[ROOM];
	uint8_t *exact = malloc(size ? size : 1);
	struct triad_wire body;
	size_t written = 0, rewritten;

	if (!exact)
		exit(1);
	memcpy(exact, octets, size);
	if (triad_collect_get_head(exact, size, &received->head, &body) ==
		TRIAD_COLLECT_HEAD_GOOD)
		written = receive_body(received, &body);
	free(exact);
	check_claims(received->claims, received->now_us);
	if (!written)
		return;
	/* A TRAP of an older version has no evidence, so it may grow. */
	require(written <= size || received->head.kind == TRIAD_COLLECT_TRAP,
		"it does not grow");
	memcpy(second, again, written);
	require(triad_collect_get_head(second, written, &received->head, &body) ==
			TRIAD_COLLECT_HEAD_GOOD,
		"a message again");
	rewritten = receive_body(received, &body);
	require(rewritten == written && !memcmp(second, again, written),
		"the same octets");
	check_claims(received->claims, received->now_us);
}

/* Corrects magic, version, kind and sender, so that the code after their checks is
 * reached. */
static void receive_corrected(
	struct received *received, const uint8_t *octets, size_t size)
{
	uint8_t corrected[4096];

	if (size < TRIAD_COLLECT_HEAD_SIZE || size > sizeof(corrected))
		return;
	memcpy(corrected, octets, size);
	memcpy(corrected, "TC\1", 3);
	corrected[3] = (uint8_t)((corrected[3] & 0xf0) |
		(1 + (corrected[3] & 0xf) % (TRIAD_COLLECT_N_KINDS - 1)));
	memset(corrected + 4, 0, 7);
	corrected[11] |= 1;
	receive_from(received, corrected, size);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct received received = {.claims = make_claims(), .now_us = 1000000};

	while (size >= 2) {
		size_t length = ((size_t)data[0] << 8 | data[1]) & 0xfff;

		received.now_us += (uint64_t)(data[0] >> 4) * 100000;
		data += 2;
		size -= 2;
		if (length > size)
			length = size;
		receive_from(&received, data, length);
		receive_corrected(&received, data, length);
		data += length;
		size -= length;
	}
	triad_claims_free(received.claims);
	return 0;
}
