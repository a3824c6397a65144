/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Answers of a plugin to triadctl: any octets, and valid frames with any octets.
 * Pieces must stay within their bounds, and together must be the frames' contents.
 *
 * Input: flags (1: frames are to be made of the rest), then the answer; or frames: type
 * (1 octet, an index of 'types'), length (2), octets. */
#include "cli/reply.h"
#include "tests/fuzz/fuzz.h"

#define MAKE 1u
#define MOST ((size_t)256 << 10)

struct octets {
	size_t size;
	uint8_t octets[MOST];
};

struct end {
	enum triad_reply_what what;
	int status;
};

static const char types[] = {TRIAD_FRAME_OUTPUT, TRIAD_FRAME_MESSAGE,
	TRIAD_FRAME_PROGRESS, TRIAD_FRAME_EXIT, TRIAD_FRAME_REQUEST, TRIAD_FRAME_TABLE};

static void put(struct octets *to, const void *octets, size_t size)
{
	require(size <= MOST - to->size, "no more than came");
	if (size)
		memcpy(to->octets + to->size, octets, size);
	to->size += size;
}

/* Appends octets of a frame, each after the frame's type. */
static void note(struct octets *to, char type, const void *octets, size_t size)
{
	const uint8_t *from = octets;

	for (size_t i = 0; i < size; i++)
		put(to, (const uint8_t[]){(uint8_t)type, from[i]}, 2);
}

static void check_end(struct end end)
{
	if (end.what == TRIAD_REPLY_EXIT)
		require(end.status >= 0 && end.status <= TRIAD_CONTROL_NO_OBJECT,
			"status");
	if (end.what == TRIAD_REPLY_BROKEN)
		require(end.status == EPROTO || end.status == EPROTONOSUPPORT ||
				end.status == EMSGSIZE,
			"what is wrong");
}

/* Reads until the answer ends or has no more octets. */
static struct end receive_from(const uint8_t *answer, size_t size, struct octets *noted,
	struct triad_reply *reply)
{
	struct end end = {.what = TRIAD_REPLY_MORE};
	size_t at = 0, wanted;

	triad_reply_init(reply);
	while (end.what == TRIAD_REPLY_MORE || end.what == TRIAD_REPLY_PIECE) {
		void *to = triad_reply_next(reply, &wanted);

		require(wanted && wanted <= TRIAD_REPLY_PIECE_SIZE,
			"something at a time");
		if (wanted > size - at)
			break;
		memcpy(to, answer + at, wanted);
		at += wanted;
		end.what = triad_reply_take(reply, &end.status);
		if (end.what != TRIAD_REPLY_PIECE)
			continue;
		require(reply->piece_size == wanted && !reply->piece[wanted],
			"a piece, with a 0 behind it");
		note(noted, (char)reply->frame.type, reply->piece, wanted);
	}
	check_end(end);
	return end;
}

/* Makes frames as a plugin does; appends their contents, up to the end, to 'noted'. */
static struct end make_answer(
	struct triad_wire *w, struct octets *answer, struct octets *noted)
{
	struct end end = {.what = TRIAD_REPLY_MORE};

	while (w->at < w->size && !w->failed && end.what == TRIAD_REPLY_MORE) {
		char type = types[triad_wire_get8(w) % sizeof(types)];
		size_t size, most = triad_wire_get16(w);
		uint8_t header[TRIAD_FRAME_HEADER_SIZE], *octets;

		if (type == TRIAD_FRAME_EXIT)
			most = 1;
		octets = fuzz_take(w, most, &size);
		triad_frame_encode(header, type, (uint32_t)size);
		put(answer, header, sizeof(header));
		put(answer, octets, size);
		if (type == TRIAD_FRAME_REQUEST || (type == TRIAD_FRAME_EXIT && !size))
			end.what = TRIAD_REPLY_BROKEN;
		else if (type == TRIAD_FRAME_EXIT)
			end = octets[0] <= TRIAD_CONTROL_NO_OBJECT
				? (struct end){TRIAD_REPLY_EXIT, octets[0]}
				: (struct end){TRIAD_REPLY_BROKEN, EPROTO};
		else
			note(noted, type, octets, size);
		free(octets);
	}
	return end;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct octets answer, noted, expected;
	static struct triad_reply reply;
	struct triad_wire w;
	struct end made, received;

	if (!size || size > MOST / 16)
		return 0;
	answer.size = noted.size = expected.size = 0;
	if (!(data[0] & MAKE)) {
		receive_from(data + 1, size - 1, &noted, &reply);
		return 0;
	}
	triad_wire_init(&w, (uint8_t *)data + 1, size - 1);
	made = make_answer(&w, &answer, &expected);
	received = receive_from(answer.octets, answer.size, &noted, &reply);
	require(noted.size == expected.size &&
			!memcmp(noted.octets, expected.octets, noted.size),
		"the contents");
	require(made.what != TRIAD_REPLY_EXIT ||
			(received.what == made.what && received.status == made.status),
		"its status");
	require(made.what != TRIAD_REPLY_BROKEN || received.what == made.what,
		"its end");
	return 0;
}
