/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* A file of events with any octets.  The timeline must be the same however the file is
 * cut into pieces, an accepted event must have the line that it was read from, and the
 * lines of all accepted events must give the same timeline again.
 *
 * Input: flags (1: each line's checksum is corrected; 2: the rest is events, not
 * lines), then the lines; or events, of 243 octets. */
#include "perfmgr/timeline/reader.h"
#include "tests/fuzz/checked_lines.h"
#include "tests/fuzz/fuzz.h"

#define FIX_CHECKSUMS 1u
#define EVENTS 2u
#define ROOM 64u

/* --- events --- */

static void take_text(struct triad_wire *w, char *text, size_t size)
{
	for (size_t i = 0; i < size; i++)
		text[i] = (char)triad_wire_get8(w);
}

static struct triad_timeline_event take_event(struct triad_wire *w)
{
	struct triad_timeline_event event = {
		.at_us = triad_wire_get64(w),
		.count = triad_wire_get32(w),
		.kind = 1 + triad_wire_get8(w) % (TRIAD_N_TIMELINE_KINDS - 1),
	};

	take_text(w, event.text, sizeof(event.text));
	for (unsigned i = 0; i < 2; i++) {
		struct triad_timeline_end *end = &event.ends[i];

		end->node_guid = triad_wire_get64(w);
		end->port = triad_wire_get8(w);
		take_text(w, end->node_name, sizeof(end->node_name));
	}
	triad_timeline_event_clean(&event);
	return event;
}

static void put_event(struct text *text, const struct triad_timeline_event *event)
{
	char line[TRIAD_TIMELINE_LINE_SIZE], line_again[TRIAD_TIMELINE_LINE_SIZE];
	struct triad_timeline_event again;
	size_t length = triad_timeline_event_format(event, line);

	require(length < sizeof(line) && length == strlen(line), "a line's length");
	require(!triad_timeline_event_parse(line, length, &again), "it has a line");
	triad_timeline_event_format(&again, line_again);
	require(!strcmp(line, line_again), "the same event");
	put_octets(text, line, length);
	put_octets(text, "\n", 1);
}

/* --- reading --- */

static struct triad_timeline *read_lines(
	const char *text, size_t size, size_t piece, uint64_t *n_bad)
{
	struct triad_timeline *timeline = triad_timeline_new(ROOM);
	struct triad_timeline_reader reader;

	require(timeline, "memory");
	triad_timeline_reader_init(&reader, timeline);
	for (size_t at = 0; at < size; at += piece)
		triad_timeline_reader_take(
			&reader, text + at, size - at < piece ? size - at : piece);
	require(triad_timeline_reader_is_torn(&reader) ==
			(size && text[size - 1] != '\n'),
		"torn");
	triad_timeline_reader_end(&reader);
	*n_bad = reader.n_bad;
	require(triad_timeline_counts(timeline).n <= ROOM, "within its room");
	return timeline;
}

static void put_all(struct text *text, const struct triad_timeline *timeline)
{
	text->size = 0;
	for (uint64_t i = triad_timeline_first(timeline);
		i < triad_timeline_end(timeline); i++)
		put_event(text, triad_timeline_get(timeline, i));
}

static void check_lines(const struct text *text, size_t piece)
{
	static struct text all, in_pieces, again;
	struct triad_timeline *whole, *cut, *rewritten;
	uint64_t n_bad, n_bad_cut, n_bad_again;

	whole = read_lines(text->octets, text->size, MAX_SIZE, &n_bad);
	cut = read_lines(text->octets, text->size, piece, &n_bad_cut);
	put_all(&all, whole);
	put_all(&in_pieces, cut);
	require(n_bad == n_bad_cut && all.size == in_pieces.size &&
			!memcmp(all.octets, in_pieces.octets, all.size),
		"however it is cut");
	rewritten = read_lines(all.octets, all.size, 8192, &n_bad_again);
	put_all(&again, rewritten);
	require(!n_bad_again && all.size == again.size &&
			!memcmp(all.octets, again.octets, all.size),
		"the same again");
	triad_timeline_free(whole);
	triad_timeline_free(cut);
	triad_timeline_free(rewritten);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct text text;
	unsigned flags;

	if (!size || size > MAX_SIZE)
		return 0;
	flags = data[0];
	text.size = 0;
	if (flags & EVENTS) {
		struct triad_wire w;

		triad_wire_init(&w, (uint8_t *)data + 1, size - 1);
		for (unsigned i = 0; i <= size / 243; i++) {
			struct triad_timeline_event event = take_event(&w);

			put_event(&text, &event);
		}
	} else if (flags & FIX_CHECKSUMS) {
		fix_checksums(&text, (const char *)data + 1, size - 1);
	} else {
		put_octets(&text, (const char *)data + 1, size - 1);
	}
	check_lines(&text, 1 + (flags >> 2));
	return 0;
}
