/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Messages of an election, unchanged and with corrected header and sender, to a member
 * that is electing, standby or master.  They alone must never give it permission.  An
 * accepted message must be encoded as it was decoded, except for unknown flags and
 * octets at its end.
 *
 * Input: messages, each after its length (2 octets, big-endian; the highest bits are
 * the time that passes before). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "portmgr/election/election.h"
#include "tests/fuzz/fuzz.h"

#define HERE 5u
#define FLAGS_AT 7

static void check_round_trip(const uint8_t *octets, size_t size)
{
	struct triad_election_message message;
	uint8_t again[TRIAD_ELECTION_MESSAGE_SIZE];
	size_t again_size;

	if (triad_election_message_decode(&message, octets, size))
		return;
	again_size = triad_election_message_encode(&message, again);
	require(again_size <= size, "its size");
	require((again[FLAGS_AT] & ~octets[FLAGS_AT]) == 0, "no other flags");
	again[FLAGS_AT] = octets[FLAGS_AT];
	require(!memcmp(octets, again, again_size), "the same octets");
	require(*triad_election_state_name(message.state), "a name");
}

/* Checks that other members can decode the messages sent, and that the state to store
 * is consistent. */
static void check_actions(struct triad_election *election)
{
	struct triad_election_action action;
	struct triad_election_message message;
	uint8_t octets[TRIAD_ELECTION_MESSAGE_SIZE];

	while (triad_election_take_action(election, &action)) {
		if (action.kind == TRIAD_ELECTION_STORE)
			require(action.stored.voted_term <= action.stored.term,
				"a vote in a term that is known");
		if (action.kind != TRIAD_ELECTION_SEND)
			continue;
		require(!triad_election_message_decode(&message, octets,
				triad_election_message_encode(&action.message, octets)),
			"the messages sent are valid");
	}
}

static void receive_from(struct triad_election *election, const uint8_t *octets,
	size_t size, uint64_t now_us)
{
	struct triad_election_message message;
	struct triad_permission_facts facts;
	uint64_t sender = 3;

	/* The transport reports the real sender: no other member can send in this one's
	 * name. */
	if (!triad_election_message_decode(&message, octets, size) &&
		message.from != HERE)
		sender = message.from;
	triad_election_payload(election, sender, octets, size, now_us);
	check_actions(election);
	triad_election_run(election, now_us);
	check_actions(election);
	triad_election_facts(election, &facts);
	require(!facts.is_holder, "no lease without its own question come back");
}

static struct triad_election *make_election(void)
{
	const struct triad_election_conf conf = {.id = HERE,
		.status_ms = 100,
		.keepalive_ms = 500,
		.timeout_ms = 200,
		.step_ms = 50,
		.n_steps = 3,
		.lease_ms = 400,
		.has_cluster = true};
	const struct triad_election_stored stored = {.term = 6};
	const struct triad_cluster_view view = {.number = 1,
		.is_connected = true,
		.is_quorate = true,
		.n_members = 3,
		.members = {3, HERE, 9},
		.n_votes_needed = 2};
	struct triad_election *election = triad_election_new(&conf, &stored, 1000000);

	if (!election)
		return NULL;
	triad_election_ports(election,
		&(struct triad_port_health){.n_ports = 2, .n_good = 2, .is_up = true},
		1000000);
	triad_election_config(election, 7, 77, 1000000);
	triad_election_view(election, &view, 1000000);
	triad_election_sm(election, true, true, 1000000);
	check_actions(election);
	return election;
}

/* Corrects magic and version, so that the code after their checks is reached. */
static void receive_corrected(struct triad_election *election, const uint8_t *octets,
	size_t size, uint64_t now_us)
{
	uint8_t corrected[2048];

	if (size < 8 || size > sizeof(corrected))
		return;
	memcpy(corrected, octets, size);
	memcpy(corrected, "TrEl\2", 5);
	receive_from(election, corrected, size, now_us);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct triad_election *election = make_election();
	struct triad_election_status status;
	uint64_t now_us = 1000000;

	while (election && size >= 2) {
		size_t length = ((size_t)data[0] << 8 | data[1]) & 0x7ff;

		now_us += (uint64_t)(data[0] >> 3) * 20000;
		data += 2;
		size -= 2;
		if (length > size)
			length = size;
		check_round_trip(data, length);
		receive_from(election, data, length, now_us);
		receive_corrected(election, data, length, now_us);
		triad_election_status(election, now_us, &status);
		require(status.n_members <= TRIAD_CLUSTER_MAX_MEMBERS, "members");
		data += length;
		size -= length;
	}
	triad_election_free(election);
	return 0;
}
