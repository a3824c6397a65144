/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "serve/link.h"

static int drop_piece(
	void *context, enum triad_frame_type type, const char *piece, size_t size)
{
	(void)context;
	(void)type;
	(void)piece;
	(void)size;
	return 0;
}

int triad_link_ask(struct triad_link_to *link, unsigned timeout_s, int n_words,
	const char *const *words, const struct triad_client_sink *sink)
{
	static const char too_long[] = "the request is too long\n";
	static const struct triad_client_sink nowhere = {.take = drop_piece};
	const struct triad_client client = {.path = link->path,
		.program = "triadd",
		.may = "; only root, the user of opensm and members of group triadd may",
		.timeout_s = timeout_s,
		.sink = sink ? sink : &nowhere,
		.hides_progress = true,
		.is_ending = &link->is_ending};
	char request[TRIAD_CONTROL_REQUEST_SIZE];
	size_t size = triad_request_encode(request, sizeof(request), n_words, words);

	if (size)
		return triad_client_ask(&client, request, size);
	(void)client.sink->take(client.sink->context, TRIAD_FRAME_MESSAGE, too_long,
		sizeof(too_long) - 1);
	return TRIAD_CONTROL_USAGE;
}
