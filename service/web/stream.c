/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "service/web/stream.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/text.h"

#define ID_SIZE 160

const char *triad_stream_event_name(enum triad_stream_event change)
{
	static const char *const names[TRIAD_STREAM_N_EVENTS] = {
		"sweep", "alert", "topology", "role", "configuration"};

	return names[change];
}

/* --- ids --- */

static void format_id(const struct triad_stream_state *state, char id[ID_SIZE])
{
	snprintf(id, ID_SIZE, "%" PRIx64, state->process);
	for (unsigned i = 0; i < TRIAD_STREAM_N_EVENTS; i++)
		triad_text_append(id, ID_SIZE, ".%" PRIu64, state->numbers[i]);
}

static bool parse_id(const char *id, struct triad_stream_state *state)
{
	char *end;

	state->process = strtoull(id, &end, 16);
	for (unsigned i = 0; i < TRIAD_STREAM_N_EVENTS; i++) {
		if (*end != '.')
			return false;
		state->numbers[i] = strtoull(end + 1, &end, 10);
	}
	return !*end;
}

/* --- streams --- */

static void add_text(struct triad_stream *stream, const char *text)
{
	triad_text_append(stream->text, sizeof(stream->text), "%s", text);
	stream->used = strlen(stream->text);
}

static void add_event(struct triad_stream *stream, const char *name, uint64_t number)
{
	char id[ID_SIZE], text[ID_SIZE + 96];

	format_id(&stream->known, id);
	snprintf(text, sizeof(text),
		"event: %s\nid: %s\ndata: {\"number\":%" PRIu64 "}\n\n", name, id,
		number);
	add_text(stream, text);
}

void triad_stream_begin(struct triad_stream *stream, const char *last_event_id,
	const struct triad_stream_state *now, uint64_t now_us)
{
	char text[64];

	*stream = (struct triad_stream){.begun_us = now_us, .sent_us = now_us};
	snprintf(text, sizeof(text), "retry: %d\n\n", TRIAD_STREAM_RETRY_MS);
	add_text(stream, text);
	if (last_event_id && parse_id(last_event_id, &stream->known))
		return;
	/* A new client has missed nothing; this event gives it an id to come back
	 * with. */
	stream->known = *now;
	add_event(stream, "begin", 0);
}

static void add_changes(
	struct triad_stream *stream, const struct triad_stream_state *now)
{
	bool is_other = stream->known.process != now->process;

	stream->known.process = now->process;
	for (unsigned i = 0; i < TRIAD_STREAM_N_EVENTS; i++) {
		if (!is_other && stream->known.numbers[i] == now->numbers[i])
			continue;
		stream->known.numbers[i] = now->numbers[i];
		add_event(stream, triad_stream_event_name(i), now->numbers[i]);
	}
}

bool triad_stream_look(struct triad_stream *stream,
	const struct triad_stream_state *now, uint64_t now_us)
{
	if (stream->at < stream->used)
		return true;
	stream->text[0] = '\0';
	stream->at = stream->used = 0;
	add_changes(stream, now);
	if (!stream->used && now_us >= stream->sent_us + TRIAD_STREAM_BEAT_US)
		add_text(stream, ": still here\n\n");
	if (stream->used)
		stream->sent_us = now_us;
	return stream->used || triad_stream_has_ended(stream, now_us);
}

size_t triad_stream_take(struct triad_stream *stream, char *buffer, size_t size)
{
	size_t left = stream->used - stream->at;
	size_t n = left < size ? left : size;

	memcpy(buffer, stream->text + stream->at, n);
	stream->at += n;
	return n;
}

bool triad_stream_has_ended(const struct triad_stream *stream, uint64_t now_us)
{
	return stream->at == stream->used &&
		now_us >= stream->begun_us + TRIAD_STREAM_LIFE_US;
}
