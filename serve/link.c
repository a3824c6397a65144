/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "serve/link.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "cli/reply.h"

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

/* --- uploads --- */

/* The plugin's thread takes octets at once, so this is long. */
#define UPLOAD_S 5

void triad_link_upload_close(struct triad_link_upload *upload)
{
	if (upload->fd >= 0)
		close(upload->fd);
	upload->fd = -1;
}

/* Sends a frame, whole or not at all. */
static int put_frame(struct triad_link_upload *upload, enum triad_frame_type type,
	const void *octets, size_t size, int flags)
{
	uint8_t header[TRIAD_FRAME_HEADER_SIZE];
	struct iovec parts[] = {{.iov_base = header, .iov_len = sizeof(header)},
		{.iov_base = (void *)octets, .iov_len = size}};
	const struct msghdr message = {.msg_iov = parts, .msg_iovlen = 2};
	ssize_t n;
	int error;

	if (upload->fd < 0)
		return ENOTCONN;
	triad_frame_encode(header, type, (uint32_t)size);
	n = sendmsg(upload->fd, &message, MSG_NOSIGNAL | flags);
	if (n == (ssize_t)(sizeof(header) + size))
		return 0;
	error = n < 0 ? errno : EIO;
	if (error != EAGAIN || !(flags & MSG_DONTWAIT))
		triad_link_upload_close(upload);
	return error;
}

int triad_link_upload_open(struct triad_link_to *link, struct triad_link_upload *upload,
	int n_words, const char *const *words)
{
	char request[TRIAD_CONTROL_REQUEST_SIZE];
	size_t size = triad_request_encode(request, sizeof(request), n_words, words);
	int error = size ? triad_client_connect(link->path, UPLOAD_S, &upload->fd)
			 : EMSGSIZE;

	if (error) {
		upload->fd = -1;
		return error;
	}
	return put_frame(upload, TRIAD_FRAME_REQUEST, request, size, 0);
}

int triad_link_upload_put(
	struct triad_link_upload *upload, const void *octets, size_t size, bool waits)
{
	return put_frame(
		upload, TRIAD_FRAME_OUTPUT, octets, size, waits ? 0 : MSG_DONTWAIT);
}

/* Reads the answer's status. */
static int read_status(struct triad_link_upload *upload)
{
	struct triad_reply reply;
	int status;

	triad_reply_init(&reply);
	for (;;) {
		size_t size;
		void *octets = triad_reply_next(&reply, &size);
		enum triad_reply_what event;

		if (recv(upload->fd, octets, size, MSG_WAITALL) != (ssize_t)size)
			return TRIAD_CLIENT_NO_ANSWER;
		event = triad_reply_take(&reply, &status);
		if (event == TRIAD_REPLY_EXIT)
			return status;
		if (event == TRIAD_REPLY_BROKEN)
			return TRIAD_CLIENT_NO_ANSWER;
	}
}

int triad_link_upload_end(struct triad_link_upload *upload)
{
	int status = TRIAD_CLIENT_NO_ANSWER;

	if (!put_frame(upload, TRIAD_FRAME_OUTPUT, "", 0, 0))
		status = read_status(upload);
	triad_link_upload_close(upload);
	return status;
}
