/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The stored state of an election, from any text.  An accepted text must begin with the
 * text that the state gives again; a refused one must leave zeroes.  A state that is
 * written must be read as it was.
 *
 * Input: the text; the same octets are also taken as a state to be stored. */
#include "portmgr/election/stored.h"
#include "tests/fuzz/fuzz.h"

static void check_stored(const struct triad_election_stored *stored)
{
	require(stored->voted_term <= stored->term, "a vote in a term that is known");
	require(stored->blacklist.n <= TRIAD_BLACKLIST_MAX, "a list with an end");
	for (uint32_t i = 0; i < stored->blacklist.n; i++)
		require(stored->blacklist.entries[i].id &&
				stored->blacklist.entries[i].version,
			"an id, and its version");
}

static void check_text(const char *text, size_t size)
{
	char again[TRIAD_ELECTION_STORED_SIZE];
	struct triad_election_stored stored, zeroes;
	size_t length;

	memset(&stored, 0xff, sizeof(stored));
	memset(&zeroes, 0, sizeof(zeroes));
	if (triad_election_stored_parse(text, size, &stored)) {
		require(!memcmp(&stored, &zeroes, sizeof(stored)), "refused: zeroes");
		return;
	}
	check_stored(&stored);
	length = triad_election_stored_format(&stored, again);
	require(length <= size, "its length");
	require(!memcmp(text, again, length), "the same text");
}

static struct triad_election_stored take_stored(const uint8_t *data, size_t size)
{
	struct triad_election_stored stored = {0};
	struct triad_blacklist *list = &stored.blacklist;
	struct triad_wire w;

	triad_wire_init(&w, (uint8_t *)data, size);
	stored.term = triad_wire_get64(&w);
	stored.voted_term = triad_wire_get64(&w);
	stored.voted_for = triad_wire_get64(&w);
	stored.generation = triad_wire_get64(&w);
	stored.lease_ms = triad_wire_get32(&w);
	if (stored.voted_term > stored.term)
		stored.voted_term = stored.term;
	while (w.at < w.size && !w.failed && list->n < TRIAD_BLACKLIST_MAX) {
		struct triad_blacklist_entry *entry = &list->entries[list->n++];

		entry->id = 1 + (triad_wire_get64(&w) >> 1);
		entry->version = 1 + (triad_wire_get32(&w) >> 1);
		entry->is_listed = triad_wire_get8(&w) & 1;
	}
	return stored;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct triad_election_stored stored = take_stored(data, size), again;
	char text[TRIAD_ELECTION_STORED_SIZE];
	size_t length = triad_election_stored_format(&stored, text);

	require(length < sizeof(text) && length == strlen(text), "there is room");
	require(!triad_election_stored_parse(text, length, &again), "it can be read");
	require(again.term == stored.term && again.voted_term == stored.voted_term &&
			again.voted_for == stored.voted_for &&
			again.generation == stored.generation &&
			again.lease_ms == stored.lease_ms &&
			again.blacklist.n == stored.blacklist.n,
		"it is the same");
	check_text((const char *)data, size);
	return 0;
}
