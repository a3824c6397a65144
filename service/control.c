/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "service/control.h"

#include <errno.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "service/control_file.h"
#include "service/peer.h"
#include "triad/control.h"
#include "triad/descriptors.h"
#include "triad/thread.h"

/* Pause after an error of accept(). */
#define ACCEPT_AGAIN_MS 100
#define MAX_ENDING 64
#define MAX_CONTROLS 2

struct client {
	struct client *next;
	struct triad_control *control;
	pthread_t thread;
	int fd;
	struct triad_peer peer;
	bool is_own; /* root, or the user of this process */
	/* Of the control's lock: */
	bool is_silent;    /* its request is not complete yet */
	bool is_displaced; /* disconnected, and its place given to another client */
	bool ended;        /* its thread is about to return */
	/* The request; the command's words point into it. */
	char request[TRIAD_CONTROL_REQUEST_SIZE];
	struct triad_output output;
};

struct triad_control {
	struct triad_runner runner;
	struct triad_log *log;
	struct triad_control_file file;
	int wake_fd;
	struct triad_log_limit forbidden_limit, accept_limit;

	pthread_mutex_t lock;   /* of what follows */
	struct client *clients; /* the newest first */
	struct triad_control_params params;
	struct triad_control_status status;
};

struct triad_control_listener {
	pthread_t thread;
	atomic_bool stop;
	unsigned n;
	struct triad_control *controls[MAX_CONTROLS];
};

static void count_under_lock(struct triad_control *control, uint64_t *counter)
{
	pthread_mutex_lock(&control->lock);
	++*counter;
	pthread_mutex_unlock(&control->lock);
}

static void wake(struct triad_control *control)
{
	uint64_t one = 1;

	(void)!write(control->wake_fd, &one, sizeof(one));
}

/* --- octets, within a time --- */

/* Waits until 'fd' is ready for 'events'.  Returns 0 or ETIMEDOUT. */
static int wait_for(int fd, short events, uint64_t until_us)
{
	struct pollfd poll_fd = {.fd = fd, .events = events};
	uint64_t now_us = triad_clock_now_us();
	int wait_ms;

	if (now_us >= until_us)
		return ETIMEDOUT;
	wait_ms = (int)((until_us - now_us) / TRIAD_US_PER_MS) + 1;
	return poll(&poll_fd, 1, wait_ms) == 0 ? ETIMEDOUT : 0;
}

/* Returns 0, ETIMEDOUT, ECONNRESET (the client is gone) or another errno. */
static int receive_octets(int fd, void *data, size_t size, uint64_t until_us)
{
	for (size_t at = 0; at < size;) {
		ssize_t n = recv(fd, (char *)data + at, size - at, MSG_DONTWAIT);

		if (n == 0)
			return ECONNRESET;
		if (n > 0)
			at += (size_t)n;
		else if (errno != EAGAIN && errno != EINTR)
			return errno;
		else if (wait_for(fd, POLLIN, until_us))
			return ETIMEDOUT;
	}
	return 0;
}

static int write_all(int fd, const void *data, size_t size, uint64_t until_us)
{
	for (size_t at = 0; at < size;) {
		ssize_t n = send(fd, (const char *)data + at, size - at,
			MSG_DONTWAIT | MSG_NOSIGNAL);

		if (n > 0)
			at += (size_t)n;
		else if (errno != EAGAIN && errno != EINTR)
			return errno;
		else if (wait_for(fd, POLLOUT, until_us))
			return ETIMEDOUT;
	}
	return 0;
}

static bool write_frame(
	void *context, enum triad_frame_type type, const char *data, size_t size)
{
	struct client *client = context;
	uint64_t until_us = triad_clock_now_us() + TRIAD_CONTROL_REPLY_US;
	uint8_t header[TRIAD_FRAME_HEADER_SIZE];
	int error;

	triad_frame_encode(header, type, (uint32_t)size);
	error = write_all(client->fd, header, sizeof(header), until_us);
	if (!error)
		error = write_all(client->fd, data, size, until_us);
	if (error == ETIMEDOUT)
		count_under_lock(client->control, &client->control->status.n_timeouts);
	return !error;
}

/* --- one client --- */

/* Reads a request's payload.  Returns 0 and its size, or an errno. */
static int read_request(struct client *client, size_t *size)
{
	uint64_t until_us = triad_clock_now_us() + TRIAD_CONTROL_REQUEST_US;
	uint8_t header[TRIAD_FRAME_HEADER_SIZE];
	struct triad_frame frame;
	int error = receive_octets(client->fd, header, sizeof(header), until_us);

	if (!error)
		error = triad_frame_decode(header, &frame);
	if (!error &&
		(frame.type != TRIAD_FRAME_REQUEST ||
			frame.size > sizeof(client->request)))
		error = EPROTO;
	if (error)
		return error;
	*size = frame.size;
	return receive_octets(client->fd, client->request, frame.size, until_us);
}

/* The 'receive' of struct triad_asker. */
static int receive_more(
	const struct triad_asker *asker, void *octets, size_t *size, uint64_t until_us)
{
	const struct client *client = asker->context;
	uint8_t header[TRIAD_FRAME_HEADER_SIZE];
	struct triad_frame frame;
	int error = receive_octets(client->fd, header, sizeof(header), until_us);

	if (!error)
		error = triad_frame_decode(header, &frame);
	if (!error &&
		(frame.type != TRIAD_FRAME_OUTPUT || frame.size > TRIAD_UPLOAD_SIZE))
		error = EPROTO;
	if (error)
		return error;
	*size = frame.size;
	return receive_octets(client->fd, octets, frame.size, until_us);
}

/* The 'wait' of struct triad_asker.  A client that only says no more stays. */
static bool wait_with_client(const struct triad_asker *asker, unsigned wait_ms)
{
	const struct client *client = asker->context;
	struct pollfd hung_up = {.fd = client->fd};

	return poll(&hung_up, 1, (int)wait_ms) <= 0;
}

static void refuse_client(struct client *client, int error)
{
	struct triad_control *control = client->control;
	char exit_status = TRIAD_CONTROL_USAGE;

	if (error == ECONNRESET)
		return;
	if (error == ETIMEDOUT) {
		count_under_lock(control, &control->status.n_timeouts);
		return;
	}
	count_under_lock(control, &control->status.n_bad);
	triad_output_message(&client->output, TRIAD_FRAME_MESSAGE,
		"not a request of protocol version %d: %s\n", TRIAD_CONTROL_VERSION,
		strerror(error));
	write_frame(client, TRIAD_FRAME_EXIT, &exit_status, 1);
}

/* Refuses a user without a role, before it reads the request: so the answer does not
 * depend on the request. */
static void forbid(struct client *client, const char *name)
{
	struct triad_control *control = client->control;
	char exit_status = TRIAD_CONTROL_FAILED;
	unsigned long suppressed;
	const char *groups;

	pthread_mutex_lock(&control->lock);
	control->status.n_forbidden++;
	groups = control->params.groups;
	pthread_mutex_unlock(&control->lock);
	if (triad_log_limit_pass(
		    &control->forbidden_limit, triad_clock_now_us(), &suppressed))
		triad_log_write(control->log, TRIAD_LOG_ERROR,
			"control socket: %s may not use it (%lu more before); root may, "
			"and members of %s",
			name, suppressed, groups);
	triad_output_message(&client->output, TRIAD_FRAME_MESSAGE,
		"control socket: %s may not ask: only root, the user that this process "
		"runs as, and members of %s may\n",
		name, groups);
	write_frame(client, TRIAD_FRAME_EXIT, &exit_status, 1);
}

static void serve_asker(struct client *client, const struct triad_asker *asker)
{
	struct triad_control *control = client->control;
	const struct triad_runner *runner = &control->runner;
	char *words[TRIAD_CONTROL_MAX_WORDS + 1], exit_status;
	int n_words, error;
	bool is_displaced;
	size_t size;

	/* A client whose request has come can't be displaced any more; it may have been
	 * displaced before. */
	error = read_request(client, &size);
	pthread_mutex_lock(&control->lock);
	is_displaced = client->is_displaced;
	client->is_silent = false;
	pthread_mutex_unlock(&control->lock);
	if (is_displaced)
		return;
	if (!error)
		error = triad_request_decode(client->request, size, words, &n_words);
	if (error) {
		refuse_client(client, error);
		return;
	}
	count_under_lock(control, &control->status.n_requests);
	exit_status = (char)runner->run(runner->context, asker, n_words,
		(const char *const *)words, &client->output);
	if (!client->output.failed)
		write_frame(client, TRIAD_FRAME_EXIT, &exit_status, 1);
}

static void serve_client(struct client *client)
{
	const struct triad_runner *runner = &client->control->runner;
	char name[TRIAD_PEER_NAME_SIZE];
	const struct triad_asker asker = {.prefix = "triadctl",
		.role = runner->role(runner->context, &client->peer),
		.name = name,
		.receive = receive_more,
		.wait = wait_with_client,
		.context = client};

	triad_output_init(&client->output, write_frame, client);
	triad_peer_name(&client->peer, name);
	if (asker.role == TRIAD_ROLE_NONE)
		forbid(client, name);
	else
		serve_asker(client, &asker);
}

static void *run_client(void *argument)
{
	struct client *client = argument;
	struct triad_control *control = client->control;

	/* reap() closes the descriptor: until then no other one can get its number,
	 * which finds_room() might shut down. */
	serve_client(client);
	pthread_mutex_lock(&control->lock);
	shutdown(client->fd, SHUT_RDWR);
	client->ended = true;
	control->status.n_clients -= !client->is_displaced;
	pthread_mutex_unlock(&control->lock);
	wake(control);
	return NULL;
}

/* --- all clients --- */

/* Joins the threads of clients that have ended; with 'all' those of all clients. */
static void reap(struct triad_control *control, bool all)
{
	struct client **at = &control->clients, *client;

	pthread_mutex_lock(&control->lock);
	while ((client = *at)) {
		if (!client->ended && !all) {
			at = &client->next;
			continue;
		}
		*at = client->next;
		pthread_mutex_unlock(&control->lock);
		pthread_join(client->thread, NULL);
		close(client->fd);
		triad_peer_clear(&client->peer);
		free(client);
		pthread_mutex_lock(&control->lock);
		at = &control->clients;
	}
	pthread_mutex_unlock(&control->lock);
}

/* Sends one frame and closes, without waiting: this is the accepting thread. */
static void turn_away(int fd, const char *reason)
{
	uint8_t reply[256];
	size_t size = strlen(reason);

	triad_frame_encode(reply, TRIAD_FRAME_MESSAGE, (uint32_t)size);
	memcpy(reply + TRIAD_FRAME_HEADER_SIZE, reason, size);
	size += TRIAD_FRAME_HEADER_SIZE;
	triad_frame_encode(reply + size, TRIAD_FRAME_EXIT, 1);
	size += TRIAD_FRAME_HEADER_SIZE;
	reply[size++] = TRIAD_CONTROL_FAILED;
	(void)!send(fd, reply, size, MSG_DONTWAIT | MSG_NOSIGNAL);
	close(fd);
}

/* --- places --- */

/* Whether 'other' competes with 'client' for places: both are own users, or both are
 * not; with 'same_user', both are the same user. */
static bool is_rival(
	const struct client *client, const struct client *other, bool same_user)
{
	/* Such a client has given up its place. */
	if (other->ended || other->is_displaced)
		return false;
	return other->is_own == client->is_own &&
		(!same_user || other->peer.uid == client->peer.uid);
}

/* Whether there is room for 'client': it has fewer than 'max' rivals, or the oldest
 * silent one of them is displaced. */
static bool finds_room(struct triad_control *control, const struct client *client,
	bool same_user, unsigned max)
{
	struct client *oldest = NULL;
	unsigned n = 0;

	for (struct client *at = control->clients; at; at = at->next) {
		if (!is_rival(client, at, same_user))
			continue;
		n++;
		/* The list begins with the newest: the last one found is the oldest. */
		if (at->is_silent)
			oldest = at;
	}
	if (n < max)
		return true;
	/* The shutdown wakes the client's thread, which waits for a request. */
	if (oldest) {
		oldest->is_displaced = true;
		shutdown(oldest->fd, SHUT_RDWR);
		control->status.n_clients--;
		control->status.n_displaced++;
	}
	return oldest;
}

/* With the lock held. */
static bool reserve_place(struct triad_control *control, const struct client *client)
{
	const unsigned max = TRIAD_CONTROL_MAX_CLIENTS;
	const unsigned max_user = control->params.is_for_one ? max : max / 2;
	unsigned n_ending = 0;

	/* A displaced client keeps its thread until that has ended.  Limit these, too:
	 * otherwise a user who connects quickly could have any number of threads. */
	for (const struct client *at = control->clients; at; at = at->next)
		n_ending += at->is_displaced && !at->ended;
	if (!client->is_own && n_ending >= MAX_ENDING)
		return false;
	return (client->is_own || finds_room(control, client, true, max_user)) &&
		finds_room(control, client, false, max);
}

/* Takes over 'client' and starts its thread.  On an errno (EBUSY: no place) the caller
 * keeps it. */
static int start_client(struct triad_control *control, struct client *client)
{
	int error = 0;

	pthread_mutex_lock(&control->lock);
	if (!reserve_place(control, client))
		error = EBUSY;
	if (!error)
		error = triad_thread_start(
			&client->thread, "triad-client", run_client, client);
	if (!error) {
		client->next = control->clients;
		control->clients = client;
		control->status.n_clients++;
	}
	pthread_mutex_unlock(&control->lock);
	return error;
}

/* Waits a moment after accept() failed: the client stays in the queue, so poll() would
 * report it again at once. */
static void wait_for_room(struct triad_control *control, int error)
{
	struct pollfd wake_fd = {.fd = control->wake_fd, .events = POLLIN};
	unsigned long suppressed;

	if (triad_log_limit_pass(
		    &control->accept_limit, triad_clock_now_us(), &suppressed))
		triad_log_write(control->log, TRIAD_LOG_ERROR,
			"control socket: a client can't be accepted: %s; it waits",
			strerror(error));
	(void)poll(&wake_fd, 1, ACCEPT_AGAIN_MS);
}

static void accept_client(struct triad_control *control)
{
	int fd = accept4(control->file.fd, NULL, NULL, SOCK_CLOEXEC);
	struct client *client;

	if (fd < 0) {
		wait_for_room(control, errno);
		return;
	}
	client = calloc(1, sizeof(*client));
	if (client) {
		client->control = control;
		client->fd = fd;
		client->is_silent = true;
		triad_peer_of_unix(fd, &client->peer);
		client->is_own = triad_peer_is_own(&client->peer);
		/* Root is answered even then: who else could find the cause. */
		if ((client->is_own || triad_descriptor_may_stay(fd)) &&
			!start_client(control, client))
			return;
		triad_peer_clear(&client->peer);
		free(client);
	}
	count_under_lock(control, &control->status.n_busy);
	turn_away(fd,
		"busy: too many clients at once, or too few descriptors for them; "
		"try again\n");
}

/* 'fds' are those of its socket, and of what wakes this thread for it. */
static void serve_socket(struct triad_control *control, const struct pollfd fds[2])
{
	uint64_t n;

	/* A client's thread wakes this one when it ends; this one joins it before it
	 * accepts the next client. */
	if (fds[1].revents & POLLIN)
		(void)!read(control->wake_fd, &n, sizeof(n));
	reap(control, false);
	if (fds[0].revents & POLLIN)
		accept_client(control);
}

static void *accept_clients(void *argument)
{
	struct triad_control_listener *listener = argument;
	struct pollfd fds[2 * MAX_CONTROLS];

	for (unsigned i = 0; i < listener->n; i++) {
		fds[2 * i] = (struct pollfd){
			.fd = listener->controls[i]->file.fd, .events = POLLIN};
		fds[2 * i + 1] = (struct pollfd){
			.fd = listener->controls[i]->wake_fd, .events = POLLIN};
	}
	while (!atomic_load(&listener->stop)) {
		if (poll(fds, 2 * listener->n, -1) < 0)
			continue;
		for (unsigned i = 0; i < listener->n; i++)
			serve_socket(listener->controls[i], &fds[2 * i]);
	}
	return NULL;
}

/* --- life --- */

static void share(struct triad_control *control, bool is_shared)
{
	int error = triad_control_file_share(&control->file, is_shared);

	if (error)
		triad_log_write(control->log, TRIAD_LOG_ERROR,
			"control socket %s: its mode can't be set: %s; only root may "
			"connect, or everybody may who has a role",
			control->file.path, strerror(error));
}

struct triad_control *triad_control_new(const char *path,
	const struct triad_control_params *params, const struct triad_runner *runner,
	struct triad_log *log)
{
	struct triad_control *control = calloc(1, sizeof(*control));

	if (!control)
		return NULL;
	control->runner = *runner;
	control->log = log;
	control->forbidden_limit = control->accept_limit =
		(struct triad_log_limit){.burst = 1, .period_us = 60 * TRIAD_US_PER_S};
	control->params = *params;
	pthread_mutex_init(&control->lock, NULL);
	control->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (control->wake_fd >= 0 &&
		!triad_control_file_open(&control->file, path, log)) {
		if (params->is_shared)
			share(control, true);
		return control;
	}
	if (control->wake_fd >= 0)
		close(control->wake_fd);
	free(control);
	return NULL;
}

void triad_control_free(struct triad_control *control)
{
	if (!control)
		return;
	/* No client is accepted any more.  Shutting down the connections wakes the
	 * threads that wait for their clients. */
	pthread_mutex_lock(&control->lock);
	for (struct client *client = control->clients; client; client = client->next)
		shutdown(client->fd, SHUT_RDWR);
	pthread_mutex_unlock(&control->lock);
	reap(control, true);
	triad_control_file_close(&control->file);
	close(control->wake_fd);
	pthread_mutex_destroy(&control->lock);
	free(control);
}

struct triad_control_listener *triad_control_listen(
	struct triad_control *one, struct triad_control *other, struct triad_log *log)
{
	struct triad_control_listener *listener = calloc(1, sizeof(*listener));
	int error = listener ? 0 : ENOMEM;

	if (!error && one)
		listener->controls[listener->n++] = one;
	if (!error && other)
		listener->controls[listener->n++] = other;
	if (!error && listener->n)
		error = triad_thread_start(
			&listener->thread, "triad-control", accept_clients, listener);
	if (!error && listener->n)
		return listener;
	if (error)
		triad_log_write(log, TRIAD_LOG_ERROR,
			"control socket: no thread for it: %s; nobody is answered "
			"until a restart",
			strerror(error));
	free(listener);
	return NULL;
}

void triad_control_listen_no_more(struct triad_control_listener *listener)
{
	if (!listener)
		return;
	atomic_store(&listener->stop, true);
	wake(listener->controls[0]);
	pthread_join(listener->thread, NULL);
	free(listener);
}

void triad_control_configure(
	struct triad_control *control, const struct triad_control_params *params)
{
	bool is_other;

	pthread_mutex_lock(&control->lock);
	is_other = control->params.is_shared != params->is_shared;
	control->params = *params;
	pthread_mutex_unlock(&control->lock);
	if (is_other)
		share(control, params->is_shared);
}

struct triad_control_status triad_control_status(struct triad_control *control)
{
	return TRIAD_LOCKED(&control->lock, control->status);
}
