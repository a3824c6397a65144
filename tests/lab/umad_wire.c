/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "tests/lab/umad_wire.h"

#include <arpa/inet.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tests/lab/umad_address.h"
#include "tests/lab/umad_guardian.h"

#define MAGIC 0xdeadbeefu
#define MAX_BATCH 64

/* The kernel's part of the queue, with room for the answers to a flood. */
#define SOCKET_BUFFER_SIZE (4 << 20)

/* ibsim answers at once, unless it is stopped. */
#define ANSWER_TIMEOUT_S 5

/* How long the guardian waits for the slot of its dead process: ibsim may be
 * stopped. */
#define SLOT_TIMEOUT_S 300

struct control {
	uint32_t magic;
	uint32_t client;
	uint32_t type; /* 0: refused */
	uint32_t size;
	uint8_t data[LAB_WIRE_ANSWER_SIZE];
};

struct connect_request {
	uint32_t id; /* in the answer: the client's number */
	uint32_t qp;
	uint32_t is_sm;
	char node[32];
};

struct lab_wire {
	int control_fd, data_fd;
	uint32_t client;
	bool is_remote;
	int guardian_fd;
	pthread_mutex_t control_lock;

	pthread_mutex_t queue_lock;
	struct lab_packet *queue;
	_Atomic unsigned n_queued;
	unsigned first_queued;
	_Atomic uint64_t dropped;
};

static int complain(const char *what, int error)
{
	fprintf(stderr, "lab: %s: %s\n", what, strerror(error));
	return error;
}

/* --- control --- */

static ssize_t send_control(
	struct lab_wire *wire, enum lab_question question, const void *data, int flags)
{
	struct control control = {
		.magic = MAGIC, .client = wire->client, .type = question};

	if (data) {
		control.size = sizeof(control.data);
		memcpy(control.data, data, sizeof(control.data));
	}
	/* Calls the kernel: the guardian must not run a sanitizer's send(). */
	return syscall(SYS_sendto, wire->control_fd, &control, sizeof(control),
		MSG_NOSIGNAL | flags, NULL, 0);
}

/* Reads an answer; 0 or an errno. */
static int read_answer(struct lab_wire *wire, struct control *answer)
{
	ssize_t size;

	do {
		size = syscall(SYS_recvfrom, wire->control_fd, answer, sizeof(*answer),
			0, NULL, NULL);
	} while (size < 0 && errno == EINTR);
	return size == (ssize_t)sizeof(*answer) ? 0 : ETIMEDOUT;
}

static int exchange(struct lab_wire *wire, enum lab_question question, void *data)
{
	struct control answer;
	int error;

	/* Drops answers that arrived after an earlier timeout. */
	while (recv(wire->control_fd, &answer, sizeof(answer), MSG_DONTWAIT) > 0)
		continue;
	if (send_control(wire, question, data, 0) < 0)
		return errno;
	do {
		error = read_answer(wire, &answer);
	} while (!error && answer.type && answer.type != (uint32_t)question);
	if (error)
		return error;
	if (!answer.type)
		return EACCES;
	memcpy(data, answer.data, sizeof(answer.data));
	return 0;
}

int lab_wire_ask(struct lab_wire *wire, enum lab_question question, void *data)
{
	int error, state;

	/* A thread must not be cancelled while it holds the lock. */
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
	pthread_mutex_lock(&wire->control_lock);
	error = exchange(wire, question, data);
	pthread_mutex_unlock(&wire->control_lock);
	pthread_setcancelstate(state, NULL);
	return error;
}

/* --- opening and closing --- */

/* Sets a socket's buffer; as root, beyond the system's limit. */
static void set_buffer(int fd, int forced, int limited)
{
	int size = SOCKET_BUFFER_SIZE;

	if (setsockopt(fd, SOL_SOCKET, forced, &size, sizeof(size)))
		(void)setsockopt(fd, SOL_SOCKET, limited, &size, sizeof(size));
}

static int make_sockets(struct lab_wire *wire)
{
	const struct timeval timeout = {.tv_sec = ANSWER_TIMEOUT_S};
	int family = wire->is_remote ? AF_INET : AF_UNIX;

	wire->control_fd = lab_address_socket(family);
	wire->data_fd = wire->control_fd < 0 ? -1 : lab_address_socket(family);
	if (wire->data_fd < 0)
		return errno;
	setsockopt(
		wire->control_fd, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof(timeout));
	setsockopt(
		wire->control_fd, SOL_SOCKET, SO_SNDTIMEO, &timeout, sizeof(timeout));
	set_buffer(wire->data_fd, SO_SNDBUFFORCE, SO_SNDBUF);
	set_buffer(wire->data_fd, SO_RCVBUFFORCE, SO_RCVBUF);
	return 0;
}

/* Binds a socket to its own name; with UDP, sets '*id' to the port. */
static int bind_socket(struct lab_wire *wire, int fd, const char *kind, uint32_t *id)
{
	union lab_address address = {.inet = {.sin_family = AF_INET}};
	socklen_t size = sizeof(address.inet);

	*id = (uint32_t)getpid();
	if (!wire->is_remote)
		size = lab_address_local(&address, kind, *id, true);
	if (bind(fd, &address.any, size))
		return errno;
	if (wire->is_remote) {
		if (getsockname(fd, &address.any, &size))
			return errno;
		*id = ntohs(address.inet.sin_port);
	}
	return 0;
}

static int connect_socket(struct lab_wire *wire, int fd, const char *kind, bool is_data)
{
	union lab_address address;
	socklen_t size = sizeof(address.inet);
	int error = 0;

	if (wire->is_remote)
		error = lab_address_remote(&address, is_data ? wire->client + 1 : 0);
	else
		size = lab_address_local(&address, kind, wire->client, is_data);
	if (!error && connect(fd, &address.any, size))
		error = errno;
	return error;
}

/* Becomes a client on the node that SIM_HOST names. */
static int attach(struct lab_wire *wire, uint32_t id)
{
	union {
		struct connect_request request;
		uint8_t data[LAB_WIRE_ANSWER_SIZE];
	} attach = {.request = {.id = id}};
	int error;

	snprintf(attach.request.node, sizeof(attach.request.node), "%s",
		lab_variable_or("SIM_HOST", ""));
	error = lab_wire_ask(wire, LAB_ASK_CONNECT, attach.data);
	wire->client = attach.request.id;
	return error;
}

/* Disconnects from ibsim, without waiting for an answer. */
static void disconnect(struct lab_wire *wire, bool is_issm, int flags)
{
	const uint8_t no[LAB_WIRE_ANSWER_SIZE] = {0};

	/* The kernel clears IsSM for a client that ends; ibsim doesn't. */
	if (is_issm)
		(void)send_control(wire, LAB_ASK_SET_ISSM, no, flags);
	(void)send_control(wire, LAB_ASK_DISCONNECT, NULL, flags);
}

/* Whether ibsim gave a slot to the process, which was killed before the answer. */
static bool find_client(struct lab_wire *wire)
{
	struct control answer;

	int error = ETIMEDOUT;

	for (int i = 0; error && i < SLOT_TIMEOUT_S / ANSWER_TIMEOUT_S; i++)
		error = read_answer(wire, &answer);
	if (error || answer.type != LAB_ASK_CONNECT)
		return false;
	memcpy(&wire->client, answer.data, sizeof(wire->client));
	return true;
}

static void clean_up(void *context, const struct lab_guardian_message *message)
{
	struct lab_wire *wire = context;

	wire->client = message->client;
	if (message->state != LAB_GUARDED_CONNECTING || find_client(wire))
		disconnect(wire, message->state == LAB_GUARDED_SM, 0);
}

/* To be called before the client connects: ibsim ends when it can't reach a new
 * client. */
static void start_guardian(struct lab_wire *wire)
{
	const int fds[LAB_GUARDIAN_FDS] = {wire->control_fd, wire->data_fd};

	wire->guardian_fd = lab_guardian_start(fds, clean_up, wire);
	if (wire->guardian_fd < 0)
		complain("no guardian; ibsim will not notice if this process is killed",
			errno);
}

static int attach_guarded(struct lab_wire *wire, uint32_t id)
{
	int error;

	start_guardian(wire);
	error = attach(wire, id);
	/* After a timeout the answer may still arrive. */
	if (error != ETIMEDOUT)
		lab_guardian_notify(wire->guardian_fd,
			error ? LAB_GUARDED_GONE : LAB_GUARDED_CLIENT, wire->client);
	return error;
}

static int establish(struct lab_wire *wire)
{
	uint32_t id;
	int error = make_sockets(wire);

	if (error)
		return complain("no socket for ibsim", error);
	error = bind_socket(wire, wire->control_fd, "ctl", &id);
	if (!error)
		error = connect_socket(wire, wire->control_fd, "ctl", false);
	if (error)
		return complain("ibsim cannot be reached", error);
	error = bind_socket(wire, wire->data_fd, "in", &id);
	if (!error)
		error = attach_guarded(wire, id);
	if (error == EACCES)
		return complain("ibsim lets nobody attach here: it has ten clients, or "
				"SIM_HOST is no node",
			error);
	if (!error)
		error = connect_socket(wire, wire->data_fd, "out", true);
	return error ? complain("ibsim takes no client", error) : 0;
}

int lab_wire_open(struct lab_wire **opened)
{
	struct lab_wire *wire = calloc(1, sizeof(*wire));
	int error;

	if (!wire)
		return ENOMEM;
	wire->control_fd = wire->data_fd = wire->guardian_fd = -1;
	wire->is_remote = *lab_variable_or("IBSIM_SERVER_NAME", "") != '\0';
	pthread_mutex_init(&wire->control_lock, NULL);
	pthread_mutex_init(&wire->queue_lock, NULL);
	error = establish(wire);
	if (error) {
		lab_wire_abandon(wire);
		free(wire);
		return error;
	}
	*opened = wire;
	return 0;
}

void lab_wire_notify_issm(struct lab_wire *wire, bool is_issm)
{
	lab_guardian_notify(wire->guardian_fd,
		is_issm ? LAB_GUARDED_SM : LAB_GUARDED_CLIENT, wire->client);
}

void lab_wire_disconnect(struct lab_wire *wire, bool is_issm)
{
	/* First of all: afterwards ibsim may give the slot to another client. */
	lab_guardian_notify(wire->guardian_fd, LAB_GUARDED_GONE, wire->client);
	disconnect(wire, is_issm, MSG_DONTWAIT);
}

void lab_wire_abandon(struct lab_wire *wire)
{
	const int fds[] = {wire->control_fd, wire->data_fd, wire->guardian_fd};

	/* Calls the kernel: this library replaces close(). */
	for (size_t i = 0; i < sizeof(fds) / sizeof(*fds); i++)
		if (fds[i] >= 0)
			syscall(SYS_close, fds[i]);
}

/* --- packets --- */

/* Calls the kernel: send() is a cancellation point.  Returns 0 or an errno. */
static int try_send(struct lab_wire *wire, const struct lab_packet *packet)
{
	if (syscall(SYS_sendto, wire->data_fd, packet, sizeof(*packet),
		    MSG_DONTWAIT | MSG_NOSIGNAL, NULL, 0) >= 0)
		return 0;
	return errno;
}

static bool enqueue(struct lab_wire *wire, const struct lab_packet *packet)
{
	bool is_queued = false;

	pthread_mutex_lock(&wire->queue_lock);
	if (!wire->queue)
		wire->queue = calloc(LAB_WIRE_QUEUE, sizeof(*wire->queue));
	if (wire->queue && wire->n_queued < LAB_WIRE_QUEUE) {
		wire->queue[(wire->first_queued + wire->n_queued) % LAB_WIRE_QUEUE] =
			*packet;
		wire->n_queued++;
		is_queued = true;
	}
	pthread_mutex_unlock(&wire->queue_lock);
	return is_queued;
}

bool lab_wire_send(
	struct lab_wire *wire, const struct lab_packet *packet, bool *must_flush)
{
	int error = EAGAIN;

	if (!atomic_load_explicit(&wire->n_queued, memory_order_relaxed))
		error = try_send(wire, packet);
	if (!error)
		return true;
	if (error == EAGAIN && enqueue(wire, packet)) {
		*must_flush = true;
		return true;
	}
	wire->dropped++;
	return false;
}

void lab_wire_flush(struct lab_wire *wire)
{
	int error = 0;

	if (!lab_wire_has_queue(wire))
		return;
	pthread_mutex_lock(&wire->queue_lock);
	while (wire->n_queued && error != EAGAIN) {
		error = try_send(wire, &wire->queue[wire->first_queued]);
		if (error == EAGAIN)
			continue;
		wire->dropped += error != 0;
		wire->first_queued = (wire->first_queued + 1) % LAB_WIRE_QUEUE;
		wire->n_queued--;
	}
	pthread_mutex_unlock(&wire->queue_lock);
}

unsigned lab_wire_receive(
	struct lab_wire *wire, struct lab_packet *packets, unsigned max)
{
	struct mmsghdr messages[MAX_BATCH] = {{.msg_len = 0}};
	struct iovec parts[MAX_BATCH];
	unsigned n_whole = 0;
	int n;

	if (max > MAX_BATCH)
		max = MAX_BATCH;
	for (unsigned i = 0; i < max; i++) {
		parts[i] = (struct iovec){&packets[i], sizeof(packets[i])};
		messages[i].msg_hdr.msg_iov = &parts[i];
		messages[i].msg_hdr.msg_iovlen = 1;
	}
	n = recvmmsg(wire->data_fd, messages, max, MSG_DONTWAIT, NULL);
	for (int i = 0; i < n; i++)
		if (messages[i].msg_len == sizeof(*packets) && n_whole++ != (unsigned)i)
			packets[n_whole - 1] = packets[i];
	return n_whole;
}

int lab_wire_fd(const struct lab_wire *wire)
{
	return wire->data_fd;
}

bool lab_wire_has_queue(const struct lab_wire *wire)
{
	return atomic_load_explicit(&wire->n_queued, memory_order_relaxed) > 0;
}

uint64_t lab_wire_dropped(const struct lab_wire *wire)
{
	return wire->dropped;
}
