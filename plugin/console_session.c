/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "plugin/console_session.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "plugin/console_lines.h"
#include "triad/control.h"

#define PROMPT "OpenSM $ "
/* How long to wait for an end that does not read. */
#define WRITE_MS 10000
/* A pipe or terminal that is ready accepts this much without blocking. */
#define PIECE_SIZE 512

struct session {
	const struct triad_runner *runner;
	const struct triad_peer *user;
	struct triad_console_ends ends;
	struct triad_console_lines lines;
	bool ended; /* the user's input has ended */
};

/* False when 'fd' is closed or accepts no more, or the session must end. */
static bool write_all(
	const struct session *session, int fd, const char *data, size_t size)
{
	struct pollfd fds[] = {
		{.fd = session->ends.stop, .events = POLLIN},
		{.fd = fd, .events = POLLOUT},
	};

	while (size) {
		ssize_t n;

		if (poll(fds, 2, WRITE_MS) <= 0 || fds[0].revents)
			return false;
		n = write(fd, data, size < PIECE_SIZE ? size : PIECE_SIZE);
		if (n < 0 && errno != EAGAIN && errno != EINTR)
			return false;
		if (n >= 0) {
			data += n;
			size -= (size_t)n;
		}
	}
	return true;
}

static bool write_answer(
	void *context, enum triad_frame_type type, const char *data, size_t size)
{
	const struct session *session = context;

	/* Omit progress: it rewrites its line, and a console can't. */
	if (type == TRIAD_FRAME_PROGRESS)
		return true;
	return write_all(session, session->ends.user_out, data, size);
}

static void run_words(struct session *session, int n, const char *const *words)
{
	const struct triad_runner *runner = session->runner;
	enum triad_role role = runner->role(runner->context, session->user);
	char name[TRIAD_PEER_NAME_SIZE];
	const struct triad_asker asker = {.prefix = "triad",
		.role = role == TRIAD_ROLE_NONE ? TRIAD_ROLE_READER : role,
		.name = name};
	struct triad_output output;

	triad_peer_name(session->user, name);
	triad_output_init(&output, write_answer, session);
	runner->run(runner->context, &asker, n - 1, words + 1, &output);
}

/* Runs a line that is ours, and prompts as OpenSM does. */
static bool run_line(struct session *session)
{
	const char *words[TRIAD_CONTROL_MAX_WORDS + 1], *why;
	int n = triad_console_split(
		session->lines.line, words, sizeof(words) / sizeof(words[0]), &why);

	if (n >= 0) {
		run_words(session, n, words);
	} else {
		char text[256];

		snprintf(text, sizeof(text), "triad: %s\n", why);
		write_all(session, session->ends.user_out, text, strlen(text));
	}
	return write_all(session, session->ends.user_out, PROMPT, strlen(PROMPT));
}

/* --- OpenSM's end --- */

/* Connects to OpenSM, or says why not. */
static bool open_opensm(struct session *session)
{
	char why[TRIAD_CONSOLE_WHY_SIZE],
		text[sizeof(why) + sizeof("triad: \n" PROMPT)];
	int fd = session->ends.open(session->ends.context, why);

	session->ends.opensm_in = session->ends.opensm_out = fd;
	if (fd >= 0)
		return true;
	snprintf(text, sizeof(text), "triad: %s\n" PROMPT, why);
	return write_all(session, session->ends.user_out, text, strlen(text));
}

/* Ends a connection that open_opensm() made: waits until OpenSM has noticed, as long as its
 * main thread is busy, or the next one would be a second one. */
static void close_opensm(struct session *session)
{
	struct pollfd fds[] = {
		{.fd = session->ends.stop, .events = POLLIN},
		{.fd = session->ends.opensm_out, .events = POLLIN},
	};
	char rest[4096];
	ssize_t n = 1;

	if (!session->ends.open || session->ends.opensm_in < 0)
		return;
	(void)shutdown(session->ends.opensm_in, SHUT_WR);
	while (n > 0 || (n < 0 && (errno == EAGAIN || errno == EINTR))) {
		if (poll(fds, 2, -1) > 0 && fds[0].revents)
			break;
		n = read(fds[1].fd, rest, sizeof(rest));
	}
	session->ends.close(session->ends.context);
}

static bool pass_on(struct session *session)
{
	if (session->ends.opensm_in < 0 && !open_opensm(session))
		return false;
	return session->ends.opensm_in < 0 ||
		write_all(session, session->ends.opensm_in, session->lines.line,
			session->lines.used);
}

static bool handle_octet(struct session *session, char octet)
{
	switch (triad_console_lines_take(&session->lines, octet)) {
	case TRIAD_CONSOLE_OURS:
		return run_line(session);
	case TRIAD_CONSOLE_PASS:
		return pass_on(session);
	default:
		return true;
	}
}

/* False when the user or OpenSM is gone. */
static bool handle_typed(struct session *session)
{
	char typed[512];
	ssize_t n = read(session->ends.user_in, typed, sizeof(typed));
	bool works = true;

	/* OpenSM gets the last line without its end, then the end of its input, and
	 * closes after its answer. shutdown() fails if that end is a pipe, which its
	 * owner closes. */
	if (n == 0) {
		session->ended = true;
		if (triad_console_lines_end(&session->lines) && !pass_on(session))
			return false;
		return session->ends.opensm_in >= 0 &&
			!shutdown(session->ends.opensm_in, SHUT_WR);
	}
	if (n < 0)
		return errno == EAGAIN || errno == EINTR;
	if (session->ends.typed)
		session->ends.typed(session->ends.context);
	for (ssize_t i = 0; i < n && works; i++)
		works = handle_octet(session, typed[i]);
	return works;
}

static bool forward_answer(const struct session *session)
{
	char answered[4096];
	ssize_t n = read(session->ends.opensm_out, answered, sizeof(answered));

	if (n <= 0)
		return n < 0 && (errno == EAGAIN || errno == EINTR);
	return write_all(session, session->ends.user_out, answered, (size_t)n);
}

void triad_console_session_run(const struct triad_runner *runner,
	const struct triad_peer *user, const struct triad_console_ends *ends)
{
	struct session session = {.runner = runner, .user = user, .ends = *ends};
	struct pollfd fds[] = {
		{.fd = ends->stop, .events = POLLIN},
		{.fd = ends->user_in, .events = POLLIN},
		{.fd = -1, .events = POLLIN},
	};
	const short readable = POLLIN | POLLHUP | POLLERR;
	bool works = ends->opensm_in >= 0 || open_opensm(&session);

	while (works) {
		fds[2].fd = session.ends.opensm_out;
		if (poll(fds, 3, -1) < 0)
			continue; /* a signal of OpenSM's */
		if (fds[0].revents)
			break;
		if (fds[1].revents & readable)
			works = handle_typed(&session);
		/* poll() would report the end again and again. */
		if (session.ended)
			fds[1].fd = -1;
		if (works && fds[2].revents & readable)
			works = forward_answer(&session);
	}
	close_opensm(&session);
}
