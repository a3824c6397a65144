/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Requests to the control socket: a frame's header, a request's words, and the command
 * that they form.  The input is a frame as it is on the wire. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ib/counter.h"
#include "triad/command.h"
#include "triad/control.h"
#include "tests/fuzz/fuzz.h"

static void check_header(const uint8_t *data)
{
	uint8_t again[TRIAD_FRAME_HEADER_SIZE];
	struct triad_frame frame;

	if (triad_frame_decode(data, &frame))
		return;
	require(frame.size <= TRIAD_CONTROL_REPLY_SIZE, "size is limited");
	triad_frame_encode(again, (enum triad_frame_type)frame.type, frame.size);
	require(!memcmp(again, data, sizeof(again)), "header is as it was");
}

static void check_command(const struct triad_command *command)
{
	char text[TRIAD_COMMAND_HELP_SIZE];

	require(command->port >= -1 && command->port <= 254, "port");
	require(command->type <= TRIAD_COMMAND_TYPE_ROUTER, "type");
	require(command->by < TRIAD_N_COUNTERS, "counter");
	require(command->verb == TRIAD_COMMAND_HELP ||
			(command->limit >= 1 && command->interval_s >= 1),
		"limit, interval");
	if (command->verb != TRIAD_COMMAND_HELP)
		return;
	require(!triad_command_help(command->topic, "triad", text, sizeof(text)),
		"an accepted topic has help");
	require(strlen(text) < sizeof(text) - 1, "help is whole");
	require(text[strlen(text) - 1] == '\n', "help ends in a newline");
}

static void check_words(int n_words, const char *const *words)
{
	struct triad_command command;
	char message[64];

	if (!triad_command_parse(n_words, words, &command, message, sizeof(message))) {
		check_command(&command);
		return;
	}
	require(*message, "an error has a message");
	require(strlen(message) < sizeof(message), "message is cut");
	require(!strpbrk(message, "\n\r\033"), "no control character shown");
}

static void check_request(const uint8_t *data, size_t size)
{
	char *words[TRIAD_CONTROL_MAX_WORDS + 1], *payload = malloc(size + 1), *again;
	int n_words;

	require(payload, "memory");
	memcpy(payload, data, size);
	if (!triad_request_decode(payload, size, words, &n_words)) {
		again = malloc(size + 1);
		require(again, "memory");
		require(triad_request_encode(again, size, n_words,
				(const char *const *)words) == size,
			"words fill the request");
		require(!memcmp(again, data, size), "request is as it was");
		check_words(n_words, (const char *const *)words);
		free(again);
	}
	free(payload);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size < TRIAD_FRAME_HEADER_SIZE)
		return 0;
	check_header(data);
	check_request(data + TRIAD_FRAME_HEADER_SIZE, size - TRIAD_FRAME_HEADER_SIZE);
	return 0;
}
