/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "plugin/opensm.h"

#include "plugin/console.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "plugin/console_session.h"
#include "triad/clock.h"
#include "triad/descriptors.h"
#include "triad/thread.h"

#define MAX_SESSIONS 8
/* OpenSM opens its console right after it loaded its plugins; after this time, warn. */
#define OPENS_WITHIN_US (5 * TRIAD_US_PER_S)
/* How long to wait after accept() failed. */
#define ACCEPT_AGAIN_MS 100
/* After this time without input root may have a session's place. */
#define IDLE_US (30 * TRIAD_US_PER_S)

struct session {
	struct triad_console *console;
	pthread_t thread;
	bool used;
	/* Protected by the console's lock. */
	bool ended;
	int user_fd, opensm_fd; /* opensm_fd -1: none */
	uint64_t typed_us;      /* when the user typed something last, or came */
	bool is_own;            /* root, or OpenSM's own user */
	char name[TRIAD_PEER_NAME_SIZE];
};

struct triad_console {
	struct osm_opensm *osm;
	struct triad_runner runner;
	struct triad_log *log;
	bool is_local;
	int stop_fd;  /* triad_console_stop() makes it readable */
	int outer_fd; /* OpenSM's listening socket; -1: not yet taken over */
	int inner_fd; /* our listener, which OpenSM accepts from instead */
	struct sockaddr_in inner_address;
	bool failed;
	bool is_missed; /* OpenSM's socket did not appear, and that was logged */
	uint64_t since_us;
	bool running; /* 'thread' was started */
	pthread_t thread;
	struct session sessions[MAX_SESSIONS];

	struct triad_console_ends local;

	pthread_mutex_t lock; /* protects what follows, and fields of sessions */
	bool stopped;
	struct session *holder; /* which is connected to OpenSM; NULL: none */
};

static void close_local(const struct triad_console_ends *ends)
{
	close(ends->user_in);
	close(ends->opensm_in);
}

/* --- loopback --- */

/* Has the listener that OpenSM accepts from let in only what comes from this port of the
 * loopback address; 0: nobody.  Any user of this host could connect to it otherwise, and
 * OpenSM's main thread would ask that user whether to end the session that it has.  Returns 0
 * or an errno. */
static int let_in(const struct triad_console *console, in_port_t port)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_H | BPF_ABS, 0), /* TCP's source port */
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ntohs(port), 0, 3),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (uint32_t)SKF_NET_OFF + 12),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, INADDR_LOOPBACK, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, UINT32_MAX),
		BPF_STMT(BPF_RET | BPF_K, 0),
	};
	const struct sock_fprog filter = {
		.len = sizeof(code) / sizeof(code[0]), .filter = code};

	return setsockopt(console->inner_fd, SOL_SOCKET, SO_ATTACH_FILTER, &filter,
		       sizeof(filter))
		? errno
		: 0;
}

/* Connects to the listener that OpenSM accepts from; does not wait for the accept().
 * Returns a socket, or -1 and errno. */
static int connect_to_opensm(const struct triad_console *console)
{
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	struct sockaddr_in own = {
		.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t size = sizeof(own);
	int error;

	if (fd < 0)
		return -1;
	/* The port is ours until the socket is closed. */
	if (bind(fd, (const struct sockaddr *)&own, size) ||
		getsockname(fd, (struct sockaddr *)&own, &size))
		error = errno;
	else
		error = let_in(console, own.sin_port);
	if (!error &&
		connect(fd, (const struct sockaddr *)&console->inner_address,
			sizeof(console->inner_address)) &&
		errno != EINPROGRESS)
		error = errno;
	if (!error)
		return fd;
	close(fd);
	errno = error;
	return -1;
}

/* Writes who has OpenSM's place; ends that connection if root asks and it is idle. */
static void explain_holder(const struct session *session, const struct session *holder,
	char why[TRIAD_CONSOLE_WHY_SIZE])
{
	static const char farewell[] = "\ntriad: root needs OpenSM's console\n";
	uint64_t idle_us = triad_clock_now_us() - holder->typed_us;
	unsigned idle_s = (unsigned)(idle_us / TRIAD_US_PER_S);

	if (session->is_own && idle_us >= IDLE_US) {
		(void)!send(holder->user_fd, farewell, sizeof(farewell) - 1,
			MSG_DONTWAIT | MSG_NOSIGNAL);
		(void)shutdown(holder->opensm_fd, SHUT_WR);
		snprintf(why, TRIAD_CONSOLE_WHY_SIZE,
			"%.64s had OpenSM's console, idle for %u s, and is sent away: "
			"type it again",
			holder->name, idle_s);
		return;
	}
	snprintf(why, TRIAD_CONSOLE_WHY_SIZE,
		"OpenSM's console is for one at a time, and %.64s has it, idle for %u s; "
		"'triad ...' works here all the same, and root can send away who is idle "
		"for %u s, by any command of OpenSM's",
		holder->name, idle_s, (unsigned)(IDLE_US / TRIAD_US_PER_S));
}

static int open_for_session(void *context, char why[TRIAD_CONSOLE_WHY_SIZE])
{
	struct session *session = context;
	struct triad_console *console = session->console;
	int fd = -1;

	pthread_mutex_lock(&console->lock);
	if (console->holder) {
		explain_holder(session, console->holder, why);
	} else {
		fd = connect_to_opensm(console);
		if (fd < 0)
			snprintf(why, TRIAD_CONSOLE_WHY_SIZE,
				"no connection to OpenSM's console: %s; 'triad ...' works "
				"here all the same",
				strerror(errno));
		else
			console->holder = session;
		session->opensm_fd = fd;
	}
	pthread_mutex_unlock(&console->lock);
	return fd;
}

static void close_for_session(void *context)
{
	struct session *session = context;

	pthread_mutex_lock(&session->console->lock);
	(void)let_in(session->console, 0);
	close(session->opensm_fd);
	session->console->holder = NULL;
	pthread_mutex_unlock(&session->console->lock);
}

static void note_typed(void *context)
{
	struct session *session = context;

	pthread_mutex_lock(&session->console->lock);
	session->typed_us = triad_clock_now_us();
	pthread_mutex_unlock(&session->console->lock);
}

static void *run_session(void *argument)
{
	struct session *session = argument;
	struct triad_console *console = session->console;
	const struct triad_console_ends ends = {.user_in = session->user_fd,
		.user_out = session->user_fd,
		.opensm_in = -1,
		.opensm_out = -1,
		.stop = console->stop_fd,
		.open = open_for_session,
		.close = close_for_session,
		.typed = note_typed,
		.context = session};
	char name[TRIAD_PEER_NAME_SIZE];
	struct triad_peer user;

	/* Find the owner first: the kernel knows it only while the connection lasts. */
	triad_peer_of_loopback(session->user_fd, &user);
	triad_peer_name(&user, name);
	pthread_mutex_lock(&console->lock);
	session->is_own = triad_peer_is_own(&user);
	memcpy(session->name, name, sizeof(name));
	pthread_mutex_unlock(&console->lock);
	triad_console_session_run(&console->runner, &user, &ends);
	triad_peer_clear(&user);
	pthread_mutex_lock(&console->lock);
	close(session->user_fd);
	session->ended = true;
	pthread_mutex_unlock(&console->lock);
	return NULL;
}

static bool has_ended(struct session *session)
{
	return TRIAD_LOCKED(&session->console->lock, session->ended);
}

static struct session *free_session(struct triad_console *console)
{
	for (unsigned i = 0; i < MAX_SESSIONS; i++) {
		struct session *session = &console->sessions[i];

		if (session->used && has_ended(session)) {
			pthread_join(session->thread, NULL);
			session->used = false;
		}
		if (!session->used)
			return session;
	}
	return NULL;
}

/* All places are taken: for root, ends the session that was idle longest, if it is idle.
 * Returns what to tell the user. */
static const char *refuse(struct triad_console *console, int user_fd)
{
	uint64_t now_us = triad_clock_now_us();
	struct session *idlest = &console->sessions[0];
	struct triad_peer user;
	bool is_own, is_idle;

	triad_peer_of_loopback(user_fd, &user);
	is_own = triad_peer_is_own(&user);
	triad_peer_clear(&user);
	pthread_mutex_lock(&console->lock);
	for (unsigned i = 1; i < MAX_SESSIONS; i++)
		if (console->sessions[i].typed_us < idlest->typed_us)
			idlest = &console->sessions[i];
	is_idle = idlest->ended || now_us - idlest->typed_us >= IDLE_US;
	if (is_own && is_idle && !idlest->ended) {
		(void)shutdown(idlest->user_fd, SHUT_RDWR);
		/* If it does not end at once, another one goes the next time. */
		idlest->typed_us = now_us;
	}
	pthread_mutex_unlock(&console->lock);
	return is_own && is_idle
		? "triad: all places were taken; who was idle longest is "
		  "sent away: connect again\n"
		: "triad: too many console sessions; 'triadctl' does all "
		  "that 'triad' does here\n";
}

static void accept_session(struct triad_console *console)
{
	int user = accept4(console->outer_fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	struct pollfd stop = {.fd = console->stop_fd, .events = POLLIN};
	struct session *session = free_session(console);
	const char *refusal = "triad: descriptors are short\n";

	if (user < 0) {
		/* The connection stays in the queue, so poll() would report it again at
		 * once: wait a moment, or until the console stops. */
		(void)poll(&stop, 1, ACCEPT_AGAIN_MS);
		return;
	}
	if (session && triad_descriptor_may_stay(user)) {
		*session = (struct session){.console = console,
			.user_fd = user,
			.opensm_fd = -1,
			.typed_us = triad_clock_now_us()};
		session->used = !triad_thread_start(
			&session->thread, "triad-session", run_session, session);
		if (session->used)
			return;
		refusal = "triad: no thread for a session\n";
	} else if (!session) {
		refusal = refuse(console, user);
	}
	(void)!send(user, refusal, strlen(refusal), MSG_DONTWAIT | MSG_NOSIGNAL);
	close(user);
}

static void *run_loopback(void *argument)
{
	struct triad_console *console = argument;
	struct pollfd fds[] = {
		{.fd = console->stop_fd, .events = POLLIN},
		{.fd = console->outer_fd, .events = POLLIN},
	};

	for (;;) {
		if (poll(fds, 2, -1) < 0)
			continue;
		if (fds[0].revents)
			return NULL;
		if (fds[1].revents & POLLIN)
			accept_session(console);
	}
}

/* Opens a listener on the loopback address, which only OpenSM's main thread accepts
 * from.
 * Non-blocking: the old socket may still wake OpenSM, which then accepts from this
 * one. */
static int open_inner(struct triad_console *console)
{
	socklen_t size = sizeof(console->inner_address);

	console->inner_address = (struct sockaddr_in){
		.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	console->inner_fd =
		socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (console->inner_fd < 0 ||
		bind(console->inner_fd,
			(const struct sockaddr *)&console->inner_address, size) ||
		let_in(console, 0) || listen(console->inner_fd, 8) ||
		getsockname(console->inner_fd,
			(struct sockaddr *)&console->inner_address, &size))
		return errno;
	return 0;
}

static void give_up(struct triad_console *console, int error)
{
	triad_log_write(console->log, TRIAD_LOG_ERROR,
		"console: Triad can't stand before OpenSM's: %s; 'triad ...' won't "
		"work there, triadctl does",
		strerror(error));
	console->failed = true;
}

static void replace_loopback(struct triad_console *console, int outer_fd)
{
	int error = open_inner(console), flags = fcntl(outer_fd, F_GETFL);

	/* Non-blocking: a user may disconnect between poll() and accept(). */
	console->outer_fd = outer_fd;
	(void)fcntl(outer_fd, F_SETFL, flags | O_NONBLOCK);
	if (!error)
		error = triad_thread_start(
			&console->thread, "triad-console", run_loopback, console);
	if (error) {
		if (console->inner_fd >= 0)
			close(console->inner_fd);
		console->inner_fd = -1;
		console->outer_fd = -1;
		/* OpenSM keeps its socket: restore its flags. */
		(void)fcntl(outer_fd, F_SETFL, flags);
		give_up(console, error);
		return;
	}
	console->running = true;
	console->osm->console.socket = console->inner_fd;
	triad_log_write(console->log, TRIAD_LOG_INFO,
		"console: 'triad help' in OpenSM's console lists what can be asked");
}

static void report_missing(struct triad_console *console)
{
	console->is_missed = true;
	triad_log_write(console->log, TRIAD_LOG_ERROR,
		"console: OpenSM has not opened its console: console loopback needs an "
		"OpenSM with libwrap (tcp_wrappers), and a console_port that is free; "
		"'triadctl' does all that 'triad' does there");
}

void triad_console_arm(struct triad_console *console)
{
	int listening = 0, fd = console->osm->console.socket;
	socklen_t size = sizeof(listening);

	if (console->is_local || console->failed || console->running)
		return;
	/* OpenSM opens its console after it has loaded the plugin, so this is called
	 * repeatedly until the socket listens. */
	pthread_mutex_lock(&console->lock);
	if (!console->stopped && fd > 0 &&
		!getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listening, &size) &&
		listening)
		replace_loopback(console, fd);
	else if (!console->is_missed &&
		triad_clock_now_us() - console->since_us > OPENS_WITHIN_US)
		report_missing(console);
	pthread_mutex_unlock(&console->lock);
}

/* --- local --- */

static void *run_local(void *argument)
{
	struct triad_console *console = argument;
	/* The user at OpenSM's standard input is the one who started OpenSM. */
	const struct triad_peer user = {.uid = geteuid()};

	triad_console_session_run(&console->runner, &user, &console->local);
	/* This ends OpenSM's input. */
	close_local(&console->local);
	return NULL;
}

/* Replaces descriptor 0 by a pipe and keeps the original. */
static int replace_local(struct triad_console *console)
{
	int ends[2], standard_input, error, flags = fcntl(0, F_GETFD);

	/* If opensm was started without a standard input, descriptor 0 is another file:
	 * its log, or one with FD_CLOEXEC. */
	if (flags < 0 || flags & FD_CLOEXEC || fileno(console->osm->log.out_port) == 0)
		return EBADF;
	standard_input = fcntl(0, F_DUPFD_CLOEXEC, 3);
	if (standard_input < 0)
		return errno;
	if (pipe2(ends, O_CLOEXEC)) {
		error = errno;
		close(standard_input);
		return error;
	}
	console->local = (struct triad_console_ends){.user_in = standard_input,
		.user_out = 1,
		.opensm_in = ends[1],
		.opensm_out = -1,
		.stop = console->stop_fd};
	if (dup2(ends[0], 0) < 0) {
		error = errno;
		close(ends[0]);
		close_local(&console->local);
		return error;
	}
	close(ends[0]);
	error = triad_thread_start(
		&console->thread, "triad-console", run_local, console);
	if (error) {
		dup2(standard_input, 0);
		close_local(&console->local);
	}
	console->running = !error;
	return error;
}

/* --- life --- */

struct triad_console *triad_console_new(struct osm_opensm *osm,
	const struct triad_runner *runner, struct triad_log *log)
{
	const char *kind = osm->subn.opt.console;
	struct triad_console *console;

	if (!kind || (strcmp(kind, "local") && strcmp(kind, "loopback"))) {
		triad_log_write(log, TRIAD_LOG_ERROR,
			"console: console.enabled is true, but OpenSM has console %s: "
			"Triad works in a local or a loopback console; console "
			"loopback needs an OpenSM with libwrap (tcp_wrappers), others "
			"turn it off; 'triadctl' does all that 'triad' does there",
			kind ? kind : "off");
		return NULL;
	}
	console = calloc(1, sizeof(*console));
	if (!console)
		return NULL;
	console->osm = osm;
	console->runner = *runner;
	console->log = log;
	console->is_local = strcmp(kind, "local") == 0;
	console->since_us = triad_clock_now_us();
	console->outer_fd = -1;
	console->inner_fd = -1;
	pthread_mutex_init(&console->lock, NULL);
	console->stop_fd = eventfd(0, EFD_CLOEXEC);
	if (console->stop_fd < 0)
		give_up(console, errno);
	else if (console->is_local) {
		int error = replace_local(console);

		if (error)
			give_up(console, error);
	}
	return console;
}

void triad_console_stop(struct triad_console *console)
{
	uint64_t one = 1;

	if (!console)
		return;
	/* First stop arming: no thread starts from here on.  Then 'stop_fd' ends
	 * all. */
	pthread_mutex_lock(&console->lock);
	console->stopped = true;
	pthread_mutex_unlock(&console->lock);
	if (console->stop_fd >= 0)
		(void)!write(console->stop_fd, &one, sizeof(one));
	if (console->running)
		pthread_join(console->thread, NULL);
	for (unsigned i = 0; i < MAX_SESSIONS; i++)
		if (console->sessions[i].used)
			pthread_join(console->sessions[i].thread, NULL);
}

void triad_console_free(struct triad_console *console)
{
	if (!console)
		return;
	/* OpenSM closes the inner socket itself, as its own. */
	if (console->outer_fd >= 0)
		close(console->outer_fd);
	if (console->stop_fd >= 0)
		close(console->stop_fd);
	pthread_mutex_destroy(&console->lock);
	free(console);
}
