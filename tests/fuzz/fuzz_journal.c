/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* A journal with any octets.  The history must be the same however the journal is cut
 * into pieces, an accepted record must have a line, and the lines of all accepted
 * records must give the same history again.
 *
 * Input: flags (1: each line's checksum is corrected; 2: the rest is records, not
 * lines), then the lines; or records, of 245 octets. */
#include "portmgr/history/journal_reader.h"
#include "tests/fuzz/checked_lines.h"
#include "tests/fuzz/fuzz.h"

#define FIX_CHECKSUMS 1u
#define RECORDS 2u
/* --- records --- */

static struct triad_record take_record(struct triad_wire *w)
{
	struct triad_record record = {
		.term = triad_wire_get64(w) >> 1,
		.number = 1 + (triad_wire_get64(w) >> 1),
		.at_us = triad_wire_get64(w),
		.writer = triad_wire_get64(w) | 1,
		.node_guid = 1 + triad_wire_get8(w),
		.remote_guid = triad_wire_get64(w),
		.port = 1 + triad_wire_get8(w) % 254,
		.action = 1 + triad_wire_get8(w) % (TRIAD_N_ACTIONS - 1),
		.outcome = 1 + triad_wire_get8(w) % (TRIAD_N_OUTCOMES - 1),
		.reason = 1 + triad_wire_get8(w) % (TRIAD_N_REASONS - 1),
	};

	for (unsigned i = 0; i < sizeof(record.text); i++)
		record.text[i] = (char)triad_wire_get8(w);
	triad_record_clean(&record);
	return record;
}

static void put_record(struct text *text, const struct triad_record *record)
{
	char line[TRIAD_RECORD_LINE_SIZE];
	struct triad_record again;
	size_t length = triad_record_format(record, line);

	require(length < sizeof(line) && length == strlen(line), "a line's length");
	require(!triad_record_parse(line, length, &again), "a record has a line");
	require(!triad_record_compare(record, &again), "the same record");
	put_octets(text, line, length);
	put_octets(text, "\n", 1);
}

/* --- reading --- */

struct journal {
	struct triad_history *history;
	struct triad_history_digest digest;
	uint64_t n_bad;
	bool is_torn;
};

static struct journal read_journal(const char *text, size_t size, size_t piece)
{
	struct journal journal = {.history = triad_history_new()};
	struct triad_journal_reader reader;

	require(journal.history, "memory");
	triad_journal_reader_init(&reader, journal.history);
	for (size_t at = 0; at < size; at += piece) {
		size_t n = size - at < piece ? size - at : piece;

		require(!triad_journal_reader_take(&reader, text + at, n), "memory");
	}
	journal.is_torn = triad_journal_reader_is_torn(&reader);
	require(journal.is_torn == (size && text[size - 1] != '\n'), "torn");
	require(!triad_journal_reader_end(&reader), "memory");
	journal.n_bad = reader.n_bad;
	triad_history_digest(journal.history, &journal.digest);
	return journal;
}

static void check_same(const struct journal *a, const struct journal *b)
{
	require(!memcmp(&a->digest, &b->digest, sizeof(a->digest)), "the same memory");
	require(triad_history_n(a->history) == triad_history_n(b->history),
		"its ports");
}

/* Writes the records kept, and compares what is read from that. */
static void check_rewritten(const struct journal *journal)
{
	static struct text text;
	const struct triad_record *record;
	struct journal again;

	text.size = 0;
	for (unsigned bucket = 0; bucket < TRIAD_HISTORY_N_BUCKETS; bucket++)
		for (uint32_t i = 0;
			(record = triad_history_at(journal->history, bucket, i)); i++)
			put_record(&text, record);
	again = read_journal(text.octets, text.size, 8192);
	require(!again.n_bad && !again.is_torn, "what is written can be read");
	check_same(journal, &again);
	triad_history_free(again.history);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct text text;
	unsigned flags = size ? data[0] : 0;
	struct journal whole, pieces;
	struct triad_wire w;

	if (size > MAX_SIZE)
		return 0;
	text.size = 0;
	triad_wire_init(&w, (uint8_t *)data, size);
	(void)triad_wire_get8(&w);
	while (flags & RECORDS && w.at < w.size && !w.failed) {
		struct triad_record record = take_record(&w);

		put_record(&text, &record);
	}
	if (!(flags & RECORDS) && size)
		(flags & FIX_CHECKSUMS ? fix_checksums : put_octets)(
			&text, (const char *)data + 1, size - 1);
	whole = read_journal(text.octets, text.size, sizeof(text.octets));
	pieces = read_journal(text.octets, text.size, 1 + (flags >> 2));
	require(whole.n_bad == pieces.n_bad, "the same lines");
	require(!(flags & RECORDS) || !whole.n_bad, "records can be read");
	check_same(&whole, &pieces);
	check_rewritten(&whole);
	triad_history_free(whole.history);
	triad_history_free(pieces.history);
	return 0;
}
