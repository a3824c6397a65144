/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Messages of SMs about the SA's records, unchanged and with a corrected header, to a
 * standby and to a master.  Accepted records must be within their limits, and messages
 * sent must be valid.  The file written from a copy must consist of lines that OpenSM
 * reads, each with a known beginning.
 *
 * Input: payloads, each after its length (2 octets, big-endian; the highest 4 bits are
 * the time that passes before, the next one selects the sender). */
#include <string.h>

#include "portmgr/sa/sa_copier.h"
#include "portmgr/sa/sa_file.h"
#include "tests/fuzz/fuzz.h"

#define HERE 5u
#define THERE 3u

static void check_out(struct triad_sa_copier *copier, uint64_t now_us)
{
	struct triad_sa_copier_status status;
	struct triad_sa_message message;
	uint8_t payload[TRIAD_SA_PAYLOAD_SIZE];
	unsigned n = 0;
	size_t size;

	triad_sa_copier_run(copier, now_us, now_us);
	while ((size = triad_sa_copier_take_payload(copier, payload))) {
		require(!triad_sa_message_decode(&message, payload, size),
			"the messages sent are valid");
		require(++n < 200, "not too much at a time");
	}
	require(triad_sa_copier_next_us(copier) > now_us, "a time to come");
	triad_sa_copier_status(copier, &status);
	require(status.counts.octets <= TRIAD_SA_SET_MAX_OCTETS, "the cap");
	for (unsigned kind = 1; kind < TRIAD_SA_KINDS_END; kind++)
		require(status.counts.n[kind] <=
				triad_sa_set_limit((enum triad_sa_kind)kind),
			"the cap of a kind");
}

static int check_lines(void *context, const char *text, size_t size)
{
	static const char *const begins[] = {"# ", "GUIDInfo Record: ", "MC Group 0x",
		"mcm_port: ", "InformInfo Record: ", "Service Record: "};

	(void)context;
	for (const char *line = text, *end; line < text + size; line = end + 1) {
		bool is_known = false;

		end = memchr(line, '\n', (size_t)(text + size - line));
		require(end, "whole lines");
		require(end - line < 1000, "lines that OpenSM reads");
		for (unsigned i = 0; i < sizeof(begins) / sizeof(begins[0]); i++)
			is_known |= !strncmp(line, begins[i], strlen(begins[i]));
		require(is_known, "lines of five kinds");
	}
	return 0;
}

static void check_file(const struct triad_sa_copier *copier)
{
	const struct triad_sa_file_conf conf = {
		.now_s = 1700000000, .write = check_lines};
	uint32_t n_left_out;

	(void)triad_sa_file_write(triad_sa_copier_set(copier), &conf, &n_left_out);
}

static void receive_from(struct triad_sa_copier *copier, uint64_t sender,
	const uint8_t *octets, size_t size, uint64_t now_us)
{
	uint8_t corrected[2048];

	triad_sa_copier_payload(copier, sender, octets, size);
	check_out(copier, now_us);
	/* Corrects magic and version, so that the code after their checks is
	 * reached. */
	if (size < 8 || size > sizeof(corrected))
		return;
	memcpy(corrected, octets, size);
	memcpy(corrected, TRIAD_SA_MAGIC "\1", 5);
	triad_sa_copier_payload(copier, sender, corrected, size);
	check_out(copier, now_us + 1);
}

static void run(enum triad_sa_role role, const uint8_t *data, size_t size)
{
	const struct triad_sa_copier_conf conf = {HERE, 100000};
	struct triad_sa_copier *copier = triad_sa_copier_new(&conf);
	uint64_t now_us = 1000000;

	if (!copier)
		return;
	triad_sa_copier_run(copier, now_us, now_us);
	triad_sa_copier_set_role(copier, role, THERE);
	if (role == TRIAD_SA_GIVES)
		(void)triad_sa_copier_set_records(copier, data, 0);
	while (size >= 2) {
		size_t length = ((size_t)data[0] << 8 | data[1]) & 0x7ff;
		uint64_t sender = data[0] >> 3 & 1 ? THERE : 9;

		now_us += (uint64_t)(data[0] >> 4) * 40000 + 2;
		data += 2;
		size -= 2;
		if (length > size)
			length = size;
		receive_from(copier, sender, data, length, now_us);
		data += length;
		size -= length;
	}
	check_file(copier);
	triad_sa_copier_free(copier);
}

/* Records with any octets: a decoded record must be the same after it is encoded. */
static void check_records(const uint8_t *data, size_t size)
{
	uint8_t again[TRIAD_SA_RECORD_SIZE];
	struct triad_sa_record record, same;
	size_t n;

	for (; (n = triad_sa_record_size(data, size)); data += n, size -= n) {
		if (!triad_sa_record_decode(data, n, &record))
			continue;
		require(triad_sa_record_encode(&record, again) <= n, "its size");
		require(triad_sa_record_decode(again,
				triad_sa_record_size(again, sizeof(again)), &same),
			"what was written is read");
		require(!memcmp(&record, &same, sizeof(record)), "the same record");
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	check_records(data, size);
	run(TRIAD_SA_TAKES, data, size);
	run(TRIAD_SA_GIVES, data, size);
	return 0;
}
