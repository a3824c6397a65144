/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Preloaded into ibsim.  It drops MADs for clients that don't read, as a fabric does,
 * and adds the performance attributes that ibsim lacks, those of one vendor, and speeds.
 *
 * Clients: ibsim alone busy-waits until the client reads, and serves no other client
 * meanwhile: a few hundred MADs to a stopped SM would stop the whole fabric.  Here the
 * kernel queues as many MADs for a client as it can (net.unix.max_dgram_qlen).  When
 * the queue is full, ibsim waits for the client once; after that, MADs for the client
 * are lost until it reads again.
 *
 * Attributes: sim_details.h has the counters, sim_hardware.h the vendor's attributes,
 * sim_speeds.h the speeds, sim_quirks.h what devices do wrong.
 * This library changes ibsim's input and output:
 *
 *   - Console: a command that sets such a counter becomes a Dump of its node.  ibsim
 *     prints the dump to stdout, which is a stream of this library; the dump becomes
 *     the command's answer.
 *   - Sockets: a request for such an attribute becomes a Get(NodeInfo), and the
 *     response to that becomes the response to the request.  ibsim answers a packet
 *     before it reads the next one, so at most one request is pending.
 *   - Retraining: ibsim's links stay down after a port was disabled and enabled again.
 *     With TRIAD_LAB_RETRAIN in the environment, a Set(PortInfo) with
 *     PortPhysicalState Polling tells ibsim LinkUp and Down instead, of which ibsim
 *     makes INIT at both ends.  A port without a link says Polling as before.
 *   - ClassPortInfo, PortCountersExtended of nodes with 64-bit errors, PortInfo where a
 *     node has speeds of its own, and what quirks change: ibsim answers them in part.  Before that, the request
 *     becomes a Get(NodeInfo) in the same way, because ibsim's response doesn't contain
 *     the node's GUID.  The request then waits in 'waiting', and select() reports that
 *     the client's socket is readable.
 *
 * Thread-safety: none; ibsim has one thread. */
#include <dlfcn.h>
#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tests/lab/sim_details.h"
#include "tests/lab/sim_hardware.h"
#include "tests/lab/sim_quirks.h"
#include "tests/lab/sim_speeds.h"
#include "tests/lab/umad_wire.h"

#define EXPORT __attribute__((visibility("default")))
#define MAX_FDS FD_SETSIZE
#define SOCKET_BUFFER_SIZE (8 << 20)

/* A client that runs gets a CPU within this time, even on a busy machine. */
#define ROOM_TIMEOUT_MS 2000

/* In PortInfo [IBA 14.2.5.6]: the states stand in halves of octets. */
enum {
	AT_PORT_STATE = 64 + 32, /* the lower half */
	AT_PHYS_STATE = 64 + 33, /* the upper half */
	ATTRIBUTE_PORT_INFO = 0x15,
	METHOD_SET = 0x02,
	METHOD_GET_RESP = 0x81
};
enum { STATE_DOWN = 1, PHYS_POLLING = 2, PHYS_LINK_UP = 5 };

static bool is_wide[MAX_FDS], is_stalled[MAX_FDS], retrains;
static struct sim_details *details;
static struct sim_hardware *hardware;
static struct sim_quirks *quirks;
static struct sim_speeds *speeds;

static long really_write(int fd, const void *data, size_t size)
{
	return syscall(SYS_write, fd, data, size);
}

static long really_read(int fd, void *data, size_t size)
{
	return syscall(SYS_read, fd, data, size);
}

/* --- the console --- */

static struct {
	char line[SIM_LINE_SIZE]; /* ibsim's input */
	size_t at, length;
	/* Whether a command waits for the dump, and which. */
	enum {
		NO_SETTING,
		DETAIL_SETTING,
		HARDWARE_SETTING,
		QUIRK_SETTING,
		SPEED_SETTING
	} kind;
	struct sim_setting setting;
	struct sim_hardware_setting hardware_setting;
	struct sim_quirk_setting quirk_setting;
	struct sim_speed_setting speed_setting;
	char dump[SIM_LINE_SIZE * 4]; /* the dump's beginning */
	size_t dump_length;
} console;

/* Reads a line, up to the length that ibsim accepts.  Returns read()'s result. */
static long read_line(void)
{
	long got = 1;

	console.at = console.length = 0;
	while (console.length < sizeof(console.line) - 1) {
		got = really_read(STDIN_FILENO, console.line + console.length, 1);
		if (got != 1 || console.line[console.length++] == '\n')
			break;
	}
	console.line[console.length] = '\0';
	return console.length ? 1 : got;
}

/* The node of the command; NULL: it is ibsim's. */
static const char *parse_setting(void)
{
	if (hardware && sim_hardware_parse(console.line, &console.hardware_setting)) {
		console.kind = HARDWARE_SETTING;
		return console.hardware_setting.node;
	}
	if (quirks && sim_quirks_parse(console.line, &console.quirk_setting)) {
		console.kind = QUIRK_SETTING;
		return console.quirk_setting.node;
	}
	if (speeds && sim_speeds_parse(console.line, &console.speed_setting)) {
		console.kind = SPEED_SETTING;
		return console.speed_setting.node;
	}
	if (details && sim_setting_parse(console.line, &console.setting)) {
		console.kind = DETAIL_SETTING;
		return console.setting.node;
	}
	return NULL;
}

static void replace_setting(void)
{
	const char *node;

	console.kind = NO_SETTING;
	node = strchr(console.line, '\n') ? parse_setting() : NULL;
	if (node)
		console.length = (size_t)snprintf(
			console.line, sizeof(console.line), "Dump \"%s\"\n", node);
	console.dump_length = 0;
}

static long read_console(char *octet)
{
	if (console.at == console.length) {
		long got = read_line();

		if (got <= 0)
			return got;
		replace_setting();
	}
	*octet = console.line[console.at++];
	return 1;
}

/* The prompt that ends the text; NULL: the text ends without one. */
static const char *find_prompt(const char *text, size_t size)
{
	static const char *const prompts[] = {"sim> ", "sim (inactive)> "};

	for (size_t i = 0; i < 2; i++) {
		size_t length = strlen(prompts[i]);

		if (size >= length &&
			memcmp(text + size - length, prompts[i], length) == 0)
			return text + size - length;
	}
	return NULL;
}

static void write_all(const char *text, size_t size)
{
	long done = 0;

	for (; size > 0; text += done, size -= (size_t)done) {
		done = really_write(STDOUT_FILENO, text, size);
		if (done < 0 && errno == EINTR)
			done = 0;
		else if (done < 0)
			return;
	}
}

/* Collects the beginning of a dump; at the dump's end prints the command's answer. */
static void answer_setting(const char *text, size_t size)
{
	size_t room = sizeof(console.dump) - 1 - console.dump_length;
	size_t kept = size < room ? size : room;
	const char *prompt = find_prompt(text, size);
	char answer[SIM_LINE_SIZE * 2];

	memcpy(console.dump + console.dump_length, text, kept);
	console.dump_length += kept;
	if (!prompt)
		return;
	console.dump[console.dump_length] = '\0';
	if (console.kind == HARDWARE_SETTING)
		sim_hardware_set(hardware, &console.hardware_setting, console.dump,
			answer, sizeof(answer));
	else if (console.kind == QUIRK_SETTING)
		sim_quirks_set(quirks, &console.quirk_setting, console.dump, answer,
			sizeof(answer));
	else if (console.kind == SPEED_SETTING)
		sim_speeds_set(speeds, &console.speed_setting, console.dump, answer,
			sizeof(answer));
	else
		sim_details_set(details, &console.setting, console.dump, answer,
			sizeof(answer));
	console.kind = NO_SETTING;
	write_all(answer, strlen(answer));
	write_all(prompt, (size_t)(text + size - prompt));
}

static ssize_t write_output(void *cookie, const char *text, size_t size)
{
	(void)cookie;
	if (console.kind != NO_SETTING)
		answer_setting(text, size);
	else
		write_all(text, size);
	return (ssize_t)size;
}

__attribute__((constructor)) static void begin(void)
{
	const cookie_io_functions_t functions = {.write = write_output};
	FILE *output = fopencookie(NULL, "w", functions);

	if (!output)
		return;
	stdout = output;
	retrains = getenv("TRIAD_LAB_RETRAIN") != NULL;
	details = sim_details_new();
	hardware = sim_hardware_new();
	quirks = sim_quirks_new();
	speeds = sim_speeds_new();
}

/* --- requests --- */

/* The Get(NodeInfo) that ibsim processes, and the request that it replaces. */
static struct {
	bool is_open;
	bool is_half; /* ibsim is to answer the request itself afterwards */
	int fd;
	struct lab_packet request;
} question;

/* Such requests that ibsim has yet to read, by the client's socket, with the node's
 * NodeInfo. */
static struct waiting {
	enum { NOTHING, WAITS, IS_DUE } state;
	uint8_t node_info[LAB_MAD_SIZE];
	struct lab_packet request;
} waiting[MAX_FDS];
static bool is_any_waiting;

/* The node whose request ibsim processes. */
static struct {
	bool is_open;
	uint8_t node_info[LAB_MAD_SIZE];
} half_answer;

static bool is_port_info(const uint8_t *mad, unsigned method)
{
	return (lab_mad_class(mad) == LAB_CLASS_SM_LID ||
		       lab_mad_class(mad) == LAB_CLASS_SM_DIRECTED) &&
		lab_mad_method(mad) == method &&
		lab_mad_attribute(mad) == ATTRIBUTE_PORT_INFO;
}

static void put_phys_state(uint8_t *mad, unsigned state)
{
	mad[AT_PHYS_STATE] = (uint8_t)(state << 4 | (mad[AT_PHYS_STATE] & 0x0f));
}

/* Has ibsim bring up the link of a port that is told to look for one. */
static void train(uint8_t *mad)
{
	if (!is_port_info(mad, METHOD_SET) || mad[AT_PHYS_STATE] >> 4 != PHYS_POLLING)
		return;
	put_phys_state(mad, PHYS_LINK_UP);
	mad[AT_PORT_STATE] = (uint8_t)((mad[AT_PORT_STATE] & 0xf0) | STATE_DOWN);
}

/* A port that was told so without having a link looks for one. */
static void tell_training(uint8_t *mad)
{
	if (is_port_info(mad, METHOD_GET_RESP) &&
		(mad[AT_PORT_STATE] & 0x0f) == STATE_DOWN &&
		mad[AT_PHYS_STATE] >> 4 == PHYS_LINK_UP)
		put_phys_state(mad, PHYS_POLLING);
}

static long read_packet(int fd, struct lab_packet *packet)
{
	struct waiting *waits = &waiting[fd];
	long got;

	question.is_open = half_answer.is_open = false;
	if (waits->state != NOTHING) {
		*packet = waits->request;
		waits->state = NOTHING;
		half_answer.is_open = true;
		memcpy(half_answer.node_info, waits->node_info,
			sizeof(half_answer.node_info));
		sim_details_reset(
			details, sim_details_guid(waits->node_info), packet->mad);
		if (speeds && is_port_info(packet->mad, METHOD_SET))
			sim_speeds_take(speeds, waits->node_info, packet->mad);
		return sizeof(*packet);
	}
	got = really_read(fd, packet, sizeof(*packet));
	if (got != sizeof(*packet) || !details)
		return got;
	if (retrains)
		train(packet->mad);
	question.is_half = sim_details_is_half_request(details, packet->mad) ||
		(speeds && sim_speeds_is_half_request(speeds, packet->mad)) ||
		(quirks && !sim_details_is_request(packet->mad) &&
			sim_quirks_is_half_request(quirks, packet->mad));
	question.is_open = question.is_half || sim_details_is_request(packet->mad) ||
		(hardware && sim_hardware_is_request(packet->mad));
	if (question.is_open) {
		question.fd = fd;
		question.request = *packet;
		sim_details_make_question(packet->mad);
	}
	return got;
}

/* Turns ibsim's response to a Get(NodeInfo) into the response to the request.  Returns
 * false when there is nothing to write yet. */
static bool answer_request(struct lab_packet *packet)
{
	uint8_t node_info[LAB_MAD_SIZE];
	uint64_t tid =
		lab_mad_tid(packet->mad); /* with the client's number, by ibsim */

	question.is_open = false;
	memcpy(node_info, packet->mad, sizeof(node_info));
	memcpy(packet->mad, question.request.mad, sizeof(packet->mad));
	lab_mad_set_tid(packet->mad, tid);
	if (packet->status != 0)
		return true; /* undeliverable: the request goes back */
	if (!question.is_half) {
		if (sim_hardware_is_request(packet->mad))
			sim_hardware_answer(hardware, node_info, packet->mad);
		else
			sim_details_answer(details, node_info, packet->mad);
		return !quirks || sim_quirks_complete(quirks, node_info, packet);
	}
	is_any_waiting = true;
	waiting[question.fd].state = WAITS;
	waiting[question.fd].request = question.request;
	memcpy(waiting[question.fd].node_info, node_info, sizeof(node_info));
	return false;
}

/* Returns false when there is nothing to write. */
static bool change_packet(struct lab_packet *packet)
{
	bool is_answered = true;

	if (question.is_open)
		return answer_request(packet);
	if (half_answer.is_open && packet->status == 0)
		sim_details_complete(
			details, sim_details_guid(half_answer.node_info), packet->mad);
	if (speeds && packet->status == 0)
		is_answered = sim_speeds_complete(speeds,
			half_answer.is_open ? half_answer.node_info : NULL,
			packet->mad);
	if (is_answered && quirks && half_answer.is_open && packet->status == 0)
		is_answered =
			sim_quirks_complete(quirks, half_answer.node_info, packet);
	half_answer.is_open = false;
	if (retrains)
		tell_training(packet->mad);
	return is_answered;
}

/* Reports each waiting request once: ibsim doesn't read from a client that it has lost,
 * and such a request is dropped. */
static int wake_readers(fd_set *readers)
{
	fd_set due;
	int n = 0;

	if (!is_any_waiting)
		return 0;
	FD_ZERO(&due);
	for (int fd = 0; fd < MAX_FDS; fd++)
		if (waiting[fd].state == IS_DUE) {
			waiting[fd].state = NOTHING;
		} else if (waiting[fd].state == WAITS) {
			waiting[fd].state = IS_DUE;
			FD_SET(fd, &due);
			n++;
		}
	is_any_waiting = n > 0;
	if (n > 0)
		*readers = due;
	return n;
}

/* --- functions that ibsim calls --- */

/* Enlarges the socket's buffer at the first call; as root, beyond the system's
 * limit. */
static bool widen(int fd)
{
	int size = SOCKET_BUFFER_SIZE;

	if (is_wide[fd])
		return false;
	is_wide[fd] = true;
	return setsockopt(fd, SOL_SOCKET, SO_SNDBUFFORCE, &size, sizeof(size)) == 0 ||
		setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &size, sizeof(size)) == 0;
}

static bool has_room_soon(int fd)
{
	struct pollfd polled = {.fd = fd, .events = POLLOUT};

	return !is_stalled[fd] && poll(&polled, 1, ROOM_TIMEOUT_MS) > 0;
}

static ssize_t write_or_drop(int fd, const void *data, size_t size)
{
	long result = really_write(fd, data, size);

	while (result < 0 && errno == EAGAIN && (widen(fd) || has_room_soon(fd)))
		result = really_write(fd, data, size);
	is_stalled[fd] = result < 0 && errno == EAGAIN;
	return is_stalled[fd] ? (ssize_t)size : result;
}

EXPORT ssize_t write(int fd, const void *data, size_t size)
{
	struct lab_packet packet;

	if (fd < 0 || fd >= MAX_FDS)
		return really_write(fd, data, size);
	if (size != sizeof(packet) || !details)
		return write_or_drop(fd, data, size);
	memcpy(&packet, data, sizeof(packet));
	return change_packet(&packet) ? write_or_drop(fd, &packet, sizeof(packet))
				      : (ssize_t)size;
}

/* ibsim reads a packet into a buffer that is larger than the packet, and the console
 * and its files octet by octet. */
EXPORT ssize_t read(int fd, void *data, size_t size)
{
	if (fd == STDIN_FILENO && size == 1)
		return read_console(data);
	if (fd < 0 || fd >= MAX_FDS || size < sizeof(struct lab_packet))
		return really_read(fd, data, size);
	return read_packet(fd, data);
}

EXPORT int select(int n_fds, fd_set *readers, fd_set *writers, fd_set *others,
	struct timeval *timeout)
{
	static int (*really_select)(
		int, fd_set *, fd_set *, fd_set *, struct timeval *);
	int n = wake_readers(readers);

	if (n > 0)
		return n;
	if (!really_select)
		*(void **)&really_select = dlsym(RTLD_NEXT, "select");
	return really_select(n_fds, readers, writers, others, timeout);
}
