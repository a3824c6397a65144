/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Messages with the data that members share, unchanged and with a corrected header, to
 * a member that has some records and a configuration.  An accepted message must be
 * encoded as it was decoded, except for reserved octets and octets after the body.
 * Messages sent in answer must be valid, and accepted records must have lines.
 *
 * Input: payloads, each after its length (2 octets, big-endian; the highest bits are
 * the time that passes before). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "portmgr/replica/replica_message.h"
#include "tests/fuzz/fuzz.h"

#define HERE 5u
#define RESERVED_AT 6
#define MAX_CONFIG_SIZE 100000u

static void check_round_trip(const uint8_t *octets, size_t size)
{
	struct triad_replica_message message;
	uint8_t again[TRIAD_CLUSTER_PAYLOAD_SIZE];
	size_t again_size;

	if (triad_replica_message_decode(&message, octets, size))
		return;
	again_size = triad_replica_message_encode(&message, again);
	require(again_size <= size, "its size");
	memcpy(again + RESERVED_AT, octets + RESERVED_AT, 2);
	require(!memcmp(octets, again, again_size), "the same octets");
}

static void check_records(struct triad_replica *replica)
{
	struct triad_replica_news news;
	struct triad_record again;
	char line[TRIAD_RECORD_LINE_SIZE];

	while (triad_replica_take_news(replica, &news)) {
		require(!triad_record_parse(
				line, triad_record_format(&news.record, line), &again),
			"a record has a line");
		require(!triad_record_compare(&news.record, &again), "the same record");
	}
}

static void check_out(struct triad_replica *replica, uint64_t now_us)
{
	struct triad_replica_config config;
	struct triad_replica_message message;
	uint8_t payload[TRIAD_CLUSTER_PAYLOAD_SIZE], *octets;
	unsigned n = 0;
	size_t size;

	check_records(replica);
	if (triad_replica_take_config(replica, &config, &octets)) {
		require(config.generation > 1 && config.size <= MAX_CONFIG_SIZE,
			"newer, and not too large");
		free(octets);
	}
	triad_replica_run(replica, now_us);
	while ((size = triad_replica_take_payload(replica, payload))) {
		require(!triad_replica_message_decode(&message, payload, size),
			"the messages sent are valid");
		require(++n < 100, "not too much at a time");
	}
	require(triad_replica_next_us(replica) > now_us, "a time to come");
}

static void receive_from(struct triad_replica *replica, const uint8_t *octets,
	size_t size, uint64_t now_us)
{
	uint64_t sender = size % 2 ? 3 : 9;

	triad_replica_payload(replica, sender, octets, size, now_us);
	check_out(replica, now_us);
}

/* Corrects magic and version, so that the code after their checks is reached. */
static void receive_corrected(struct triad_replica *replica, const uint8_t *octets,
	size_t size, uint64_t now_us)
{
	uint8_t corrected[2048];

	if (size < 8 || size > sizeof(corrected))
		return;
	memcpy(corrected, octets, size);
	memcpy(corrected, "TrPm\1", 5);
	memset(corrected + 6, 0, 2);
	receive_from(replica, corrected, size, now_us);
}

static struct triad_replica *make_share(struct triad_history *history)
{
	const struct triad_replica_conf conf = {
		.id = HERE, .interval_us = 100000, .max_config_size = MAX_CONFIG_SIZE};
	const struct triad_cluster_view view = {
		.number = 1, .n_members = 3, .members = {3, HERE, 9}};
	const struct triad_replica_config config = {
		.generation = 1, .hash = 7, .size = 2000};
	static const uint8_t octets[2000];
	struct triad_record record = {.term = 1,
		.number = 1,
		.writer = HERE,
		.node_guid = 7,
		.port = 1,
		.action = TRIAD_ACTION_DISABLE,
		.outcome = TRIAD_OUTCOME_DONE,
		.reason = TRIAD_REASON_EXPECTED};
	struct triad_replica *replica = triad_replica_new(&conf, history);

	if (!replica)
		return NULL;
	for (; record.port < 20; record.port++)
		triad_history_merge(history, &record);
	triad_replica_view(replica, &view, 1000000);
	triad_replica_offer(replica, &config, octets, 1000000);
	check_out(replica, 1000000);
	return replica;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct triad_history *history = triad_history_new();
	struct triad_replica *replica = history ? make_share(history) : NULL;
	struct triad_replica_status status;
	uint64_t now_us = 1000000;

	while (replica && size >= 2) {
		size_t length = ((size_t)data[0] << 8 | data[1]) & 0x7ff;

		now_us += (uint64_t)(data[0] >> 3) * 20000;
		data += 2;
		size -= 2;
		if (length > size)
			length = size;
		check_round_trip(data, length);
		receive_from(replica, data, length, now_us);
		receive_corrected(replica, data, length, now_us);
		triad_replica_status(replica, &status);
		require(status.n_octets_here <= MAX_CONFIG_SIZE, "no more than that");
		data += length;
		size -= length;
	}
	triad_replica_free(replica);
	triad_history_free(history);
	return 0;
}
