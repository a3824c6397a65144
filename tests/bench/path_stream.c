/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* A client that requests the same path from the SA again and again, and prints which SM
 * answers.
 *
 *     path_stream --to GUID [--every-us N]
 *
 * Model: requests are due at fixed moments and wait for no answer: a request that is
 * lost, or is sent to a dead SM, delays none after it.  Each goes to the SM's LID that
 * the port has at that moment, read from the file that umad_get_port() reads; so a new
 * master gets requests as soon as it has set this port's PortInfo. (umad_get_port()
 * itself also reads all P_Keys, which would take too long.)
 *
 * Prints a line for the first answer with a path, and for each one from another LID
 * than the last answer's:
 *
 *     LID SENT_US ANSWERED_US
 *
 * with both moments in CLOCK_BOOTTIME; and one for each request that got no path,
 * because it was not sent, was answered with a status, or had no answer within a
 * second:
 *
 *     lost LID SENT_US WHY
 *
 * Ends at the end of standard input. */
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <infiniband/umad.h>
#include <inttypes.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "triad/clock.h"
#include "triad/wire.h"

#define MAD_SIZE 256
#define ROOM 4096
/* The timeout of IPoIB.  Fewer requests than REMEMBERED are sent within it. */
#define TIMEOUT_MS 1000
#define REMEMBERED 65536u

enum { PATH_RECORD = 0x35 };

static struct {
	uint64_t to;
	uint64_t every_us;
} options = {.every_us = 2000};

static struct {
	int port, agent;
	char sm_lid_path[256];
	uint64_t prefix, guid; /* of this port */
	uint8_t *buffer;
	uint32_t first_tid, n_sent;
	uint64_t sent_us[REMEMBERED];
	uint16_t asked[REMEMBERED]; /* the LID that each was sent to */
	uint16_t last_lid;          /* of the SM that answered last, or 0 */
} run;

static void die(const char *what)
{
	fprintf(stderr, "path_stream: %s\n", what);
	exit(1);
}

/* --- the port --- */

static void open_port(void)
{
	umad_port_t port;

	if (umad_init() < 0 || umad_get_port(NULL, 0, &port))
		die("there is no port to ask from");
	run.prefix = be64toh(port.gid_prefix);
	run.guid = be64toh(port.port_guid);
	snprintf(run.sm_lid_path, sizeof(run.sm_lid_path),
		"/sys/class/infiniband/%s/ports/%d/sm_lid", port.ca_name, port.portnum);
	umad_release_port(&port);
	run.port = umad_open_port(NULL, 0);
	run.agent = run.port < 0 ? -1 : umad_register(run.port, 0x03, 2, 0, NULL);
	if (run.agent < 0)
		die("the port can't be opened");
	run.buffer = umad_alloc(1, umad_size() + ROOM);
	if (!run.buffer)
		die("out of memory");
	run.first_tid = (uint32_t)triad_clock_boot_us();
}

/* Reads the port's MasterSMLID; 0: none. */
static uint16_t sm_lid(void)
{
	char text[16] = "";
	int fd = open(run.sm_lid_path, O_RDONLY | O_CLOEXEC);
	ssize_t size = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);

	if (fd >= 0)
		close(fd);
	return size > 0 ? (uint16_t)strtoul(text, NULL, 0) : 0;
}

/* --- requests --- */

/* Writes a SubnAdmGet of a PathRecord by DGID and SGID [IBA 15.2.5.16]. */
static void put_request(uint32_t number)
{
	struct triad_wire w;

	memset(run.buffer, 0, umad_size() + MAD_SIZE);
	triad_wire_init(&w, umad_get_mad(run.buffer), MAD_SIZE);
	triad_wire_put(&w, 4, 0x01030201);
	triad_wire_seek(&w, 8);
	triad_wire_put(&w, 8, number);
	triad_wire_put(&w, 2, PATH_RECORD);
	triad_wire_seek(&w, 48);
	triad_wire_put(&w, 8, 0xc);
	triad_wire_seek(&w, 64);
	triad_wire_put(&w, 8, run.prefix);
	triad_wire_put(&w, 8, options.to);
	triad_wire_put(&w, 8, run.prefix);
	triad_wire_put(&w, 8, run.guid);
}

static void print_lost(uint16_t lid, uint64_t sent_us, const char *why)
{
	printf("lost %u %" PRIu64 " %s\n", lid, sent_us, why);
	fflush(stdout);
}

static void send_request(void)
{
	uint16_t lid = sm_lid();

	if (!lid) {
		print_lost(0, triad_clock_boot_us(), "no-sm");
		return;
	}
	put_request(run.first_tid + run.n_sent);
	umad_set_addr(run.buffer, lid, 1, 0, 0x80010000);
	umad_set_pkey(run.buffer, 0);
	run.sent_us[run.n_sent % REMEMBERED] = triad_clock_boot_us();
	run.asked[run.n_sent % REMEMBERED] = lid;
	/* While the fabric has no SM, a MAD may be refused; the next one may be
	 * sent. */
	if (umad_send(run.port, run.agent, run.buffer, MAD_SIZE, TIMEOUT_MS, 0) == 0)
		run.n_sent++;
	else
		print_lost(lid, triad_clock_boot_us(), "not-sent");
}

/* Processes an answer, or a request that comes back without one. */
static void take_answer(bool is_answered)
{
	const uint8_t *mad = umad_get_mad(run.buffer);
	const ib_mad_addr_t *from = umad_get_mad_addr(run.buffer);
	uint16_t lid = be16toh(from->lid);
	uint32_t tid, number;
	uint64_t sent_us;

	memcpy(&tid, mad + 12, sizeof(tid));
	number = be32toh(tid) - run.first_tid;
	if (number >= run.n_sent)
		return;
	sent_us = run.sent_us[number % REMEMBERED];
	if (!is_answered || mad[4] || mad[5]) {
		print_lost(run.asked[number % REMEMBERED], sent_us,
			is_answered ? "refused" : "unanswered");
		return;
	}
	if (lid == run.last_lid)
		return;
	run.last_lid = lid;
	printf("%u %" PRIu64 " %" PRIu64 "\n", lid, sent_us, triad_clock_boot_us());
	fflush(stdout);
}

static void take_answers(void)
{
	int length = ROOM;

	while (umad_recv(run.port, run.buffer, &length, 0) >= 0) {
		take_answer(length > 0 && umad_status(run.buffer) == 0);
		length = ROOM;
	}
}

/* Processes answers until that moment; true: standard input has ended before. */
static bool listen_until(uint64_t due_us)
{
	struct pollfd fds[] = {
		{.fd = STDIN_FILENO, .events = POLLIN},
		{.fd = umad_get_fd(run.port), .events = POLLIN},
	};
	uint64_t now_us;

	while ((now_us = triad_clock_boot_us()) < due_us) {
		struct timespec left = {.tv_nsec = (long)(due_us - now_us) * 1000};

		if (ppoll(fds, 2, &left, NULL) < 0 && errno != EINTR)
			die("poll failed");
		if (fds[0].revents)
			return true;
		if (fds[1].revents)
			take_answers();
	}
	return false;
}

static void ask_all(void)
{
	uint64_t due_us = triad_clock_boot_us();

	do {
		send_request();
		take_answers();
		due_us += options.every_us;
		/* After a delay, the requests missed are not sent all at once. */
		if (due_us < triad_clock_boot_us())
			due_us = triad_clock_boot_us();
	} while (!listen_until(due_us));
}

static void read_options(int argc, char **argv)
{
	static const struct option known[] = {
		{"to", required_argument, NULL, 't'},
		{"every-us", required_argument, NULL, 'e'},
		{0},
	};
	int option;

	while ((option = getopt_long(argc, argv, "", known, NULL)) != -1)
		switch (option) {
		case 't':
			options.to = strtoull(optarg, NULL, 0);
			break;
		case 'e':
			options.every_us = strtoull(optarg, NULL, 0);
			break;
		default:
			die("unknown option");
		}
	if (!options.to || !options.every_us || options.every_us >= TRIAD_US_PER_S)
		die("usage: path_stream --to GUID [--every-us N]");
}

int main(int argc, char **argv)
{
	read_options(argc, argv);
	open_port();
	ask_all();
	umad_free(run.buffer);
	umad_unregister(run.port, run.agent);
	umad_close_port(run.port);
	return 0;
}
