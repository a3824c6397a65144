/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "config.h"

#include "cli/client.h"

#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "cli/find.h"
#include "cli/reply.h"
#include "lib/text.h"
#include "triad/clock.h"
#include "triad/control.h"
#include "triad/file.h"

#define LOOK_MS 200      /* how often it is asked whether to end */
#define STATUS_NONE (-3) /* the answer goes on */

struct answer {
	const struct triad_client *client;
	int fd;
	bool progress_shown;
};

/* --- standard output and error ----------------------------------------- */

/* Rewrites the last line of the terminal; an empty text clears it. */
static void show_progress(struct answer *answer, const char *text)
{
	struct winsize window = {0};
	char line[TRIAD_REPLY_PIECE_SIZE + 16];

	if ((!*text && !answer->progress_shown) || !isatty(STDERR_FILENO) ||
		answer->client->hides_progress)
		return;
	/* A line that wraps could not be overwritten. */
	ioctl(STDERR_FILENO, TIOCGWINSZ, &window);
	snprintf(line, sizeof(line), "\r\033[K%.*s",
		window.ws_col ? window.ws_col - 1 : 79, text);
	triad_write_all(STDERR_FILENO, line, strlen(line));
	answer->progress_shown = *text;
}

/* Gives the sink a message, as if it came from the plugin. */
static void __attribute__((format(printf, 2, 3)))
complain(struct answer *answer, const char *format, ...)
{
	const struct triad_client_sink *sink = answer->client->sink;
	char text[1024];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	show_progress(answer, "");
	(void)sink->take(sink->context, TRIAD_FRAME_MESSAGE, text, strlen(text));
}

/* --- the socket -------------------------------------------------------- */

static int print_unreachable(struct answer *answer, int error)
{
	const struct triad_client *client = answer->client;

	if (error == ENOENT || error == ECONNREFUSED)
		complain(answer, "%s: %s isn't running here: %s: %s; %s\n",
			client->program,
			client->is_agent ? "triad-agent"
					 : "OpenSM with the Triad plugin",
			client->path, strerror(error),
			client->is_agent ? TRIAD_AGENT_ADVICE : TRIAD_SOCKET_ADVICE);
	else if (error == EAGAIN)
		complain(answer, "%s: %s: the plugin took no connection for %u s\n",
			client->program, client->path, client->timeout_s);
	else
		complain(answer, "%s: can't connect to %s: %s%s\n", client->program,
			client->path, strerror(error),
			error == EACCES ? client->may : "");
	return TRIAD_CLIENT_NO_ANSWER;
}

static int print_cut(struct answer *answer, int error)
{
	const struct triad_client *client = answer->client;

	if (error == EAGAIN)
		complain(answer,
			"%s: %s: the plugin said nothing for %u s; the command "
			"may still run%s\n",
			client->program, client->path, client->timeout_s,
			client->is_ending ? "" : " (see --timeout)");
	else if (error == EPROTONOSUPPORT)
		complain(answer,
			"%s: %s: the plugin speaks another version of the "
			"protocol than this %s of release " PACKAGE_VERSION
			"; both must be of one release: "
			"install the same, and restart OpenSM\n",
			client->program, client->path, client->program);
	else if (error == EPROTO || error == EMSGSIZE)
		complain(answer, "%s: %s: this isn't the Triad plugin's protocol\n",
			client->program, client->path);
	else
		complain(answer,
			"%s: %s: the connection was cut before the answer was "
			"complete; OpenSM may have ended\n",
			client->program, client->path);
	return TRIAD_CLIENT_NO_ANSWER;
}

/* Waits until there is something to read; an errno: nothing comes any more. */
static int wait_for_octets(const struct answer *answer)
{
	struct pollfd polled = {.fd = answer->fd, .events = POLLIN};
	uint64_t until_us =
		triad_clock_now_us() + answer->client->timeout_s * TRIAD_US_PER_S;

	/* It ends although the other side goes on sending. */
	while (!atomic_load(answer->client->is_ending)) {
		if (poll(&polled, 1, LOOK_MS) > 0)
			return 0;
		if (triad_clock_now_us() >= until_us)
			break;
	}
	return EAGAIN;
}

/* Receives exactly 'size' octets; ECONNRESET when the connection ends before. */
static int receive(const struct answer *answer, void *data, size_t size)
{
	char *at = data;

	while (size) {
		int error = answer->client->is_ending ? wait_for_octets(answer) : 0;
		ssize_t n = error ? 0 : recv(answer->fd, at, size, 0);

		if (error)
			return error;

		if (!n)
			return ECONNRESET;
		if (n < 0 && errno != EINTR)
			return errno;
		if (n > 0) {
			at += n;
			size -= (size_t)n;
		}
	}
	return 0;
}

int triad_client_connect(const char *path, unsigned timeout_s, int *fd)
{
	struct timeval timeout = {.tv_sec = timeout_s};
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int error = 0;

	if (strlen(path) >= sizeof(address.sun_path))
		return ENAMETOOLONG;
	strcpy(address.sun_path, path);
	*fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (*fd < 0)
		return errno;
	/* The time-out limits silence: a whole answer may take longer. */
	if (setsockopt(*fd, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof(timeout)) ||
		setsockopt(*fd, SOL_SOCKET, SO_SNDTIMEO, &timeout, sizeof(timeout)) ||
		connect(*fd, (struct sockaddr *)&address, sizeof(address)))
		error = errno;
	if (error)
		close(*fd);
	return error;
}

/* --- frames ------------------------------------------------------------ */

static int read_piece(struct answer *answer, struct triad_reply *reply)
{
	const struct triad_client_sink *sink = answer->client->sink;
	int error;

	if (reply->frame.type == TRIAD_FRAME_PROGRESS) {
		/* Remove control characters: it goes to a terminal. */
		triad_text_clean(reply->piece);
		show_progress(answer, reply->piece);
		return STATUS_NONE;
	}
	show_progress(answer, "");
	error = sink->take(
		sink->context, reply->frame.type, reply->piece, reply->piece_size);
	switch (error) {
	case 0:
		return STATUS_NONE;
	case EPIPE:
		/* The reader has closed the output, as 'head' does. */
		return TRIAD_CLIENT_UNREAD;
	case ECANCELED:
		return TRIAD_CLIENT_CANCELED;
	case EPROTO:
		return print_cut(answer, error);
	default:
		complain(answer, "%s: can't write to standard output: %s\n",
			answer->client->program, strerror(error));
		return TRIAD_CONTROL_FAILED;
	}
}

static int receive_octets(struct answer *answer, struct triad_reply *reply)
{
	size_t size;
	void *octets = triad_reply_next(reply, &size);
	int status, error = receive(answer, octets, size);

	if (error)
		return print_cut(answer, error);
	switch (triad_reply_take(reply, &status)) {
	case TRIAD_REPLY_PIECE:
		return read_piece(answer, reply);
	case TRIAD_REPLY_EXIT:
		return status;
	case TRIAD_REPLY_BROKEN:
		return print_cut(answer, status);
	default:
		return STATUS_NONE;
	}
}

int triad_client_ask(
	const struct triad_client *client, const char *request, size_t request_size)
{
	char frame[TRIAD_FRAME_HEADER_SIZE + TRIAD_CONTROL_REQUEST_SIZE];
	struct answer answer = {.client = client};
	struct ucred peer = {0};
	socklen_t peer_size = sizeof(peer);
	struct triad_reply reply;
	int status = STATUS_NONE;
	int error = triad_client_connect(client->path, client->timeout_s, &answer.fd);

	if (error)
		return print_unreachable(&answer, error);
	if (client->pid &&
		!getsockopt(answer.fd, SOL_SOCKET, SO_PEERCRED, &peer, &peer_size))
		*client->pid = peer.pid;
	/* Ignore an error of sending: a plugin that refuses early closes before it has
	 * read the request, and its answer can still be read. */
	triad_frame_encode(
		(uint8_t *)frame, TRIAD_FRAME_REQUEST, (uint32_t)request_size);
	memcpy(frame + TRIAD_FRAME_HEADER_SIZE, request, request_size);
	error = triad_write_all(
		answer.fd, frame, TRIAD_FRAME_HEADER_SIZE + request_size);
	if (error && error != EPIPE)
		status = print_cut(&answer, error);
	triad_reply_init(&reply);
	while (status == STATUS_NONE)
		status = receive_octets(&answer, &reply);
	show_progress(&answer, "");
	close(answer.fd);
	return status;
}
