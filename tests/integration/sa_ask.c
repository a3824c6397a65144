/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Sends any request to the SA, and says what it answers.
 *
 *     sa_ask [--timeout-ms N] <REQUESTS
 *     sa_ask [--timeout-ms N] --seed N --count N [--attribute A] [--max-lid N]
 *
 * REQUESTS are lines "METHOD ATTRIBUTE MASK OCTETS", all hexadecimal; OCTETS are of the
 * record, what is missing is 0.  The second makes requests at random: the same seed gives
 * the same.  Many name a LID up to --max-lid, and numbers of ports and blocks that are near
 * those that exist.
 *
 * Prints a line for each, when it is sent, and then the answer: "STATUS LENGTH", the MAD's
 * status and its octets; "-": none. */
#include <endian.h>
#include <getopt.h>
#include <infiniband/umad.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/random.h"
#include "triad/clock.h"
#include "triad/wire.h"

#define MAD_SIZE 256
#define DATA 56
#define DATA_SIZE (MAD_SIZE - DATA)
#define ROOM (16u << 20)

struct request {
	unsigned method, attribute;
	uint64_t mask;
	uint8_t data[DATA_SIZE];
};

static struct {
	int timeout_ms;
	unsigned long seed, count;
	unsigned attribute, max_lid;
} options = {.timeout_ms = 2000, .max_lid = 16};

static int port, agent;
static uint16_t sm_lid;
static uint8_t *buffer;
static uint32_t tid; /* of the last request; the SM may remember those of the last run */
static uint64_t state;

static void die(const char *what)
{
	fprintf(stderr, "sa_ask: %s\n", what);
	exit(1);
}

static void open_port(void)
{
	umad_port_t found;

	if (umad_init() < 0 || umad_get_port(NULL, 0, &found))
		die("there is no port to ask from");
	sm_lid = (uint16_t)found.sm_lid;
	umad_release_port(&found);
	port = umad_open_port(NULL, 0);
	agent = port < 0 ? -1 : umad_register(port, 0x03, 2, 1, NULL);
	buffer = umad_alloc(1, umad_size() + ROOM);
	if (agent < 0 || !buffer)
		die("the port can't be opened");
}

/* --- a request and its answer --- */

static void print_request(const struct request *request)
{
	size_t size = sizeof(request->data);

	while (size && !request->data[size - 1])
		size--;
	printf("%02x %04x %" PRIx64 " ", request->method, request->attribute,
		request->mask);
	for (size_t i = 0; i < size; i++)
		printf("%02x", request->data[i]);
	printf("%s ", size ? "" : "00");
	fflush(stdout);
}

static void send_request(const struct request *request)
{
	uint8_t *mad = umad_get_mad(buffer);
	struct triad_wire w;

	memset(buffer, 0, umad_size() + MAD_SIZE);
	triad_wire_init(&w, mad, MAD_SIZE);
	triad_wire_put(&w, 4, 0x01030200u | (request->method & 0xff));
	triad_wire_seek(&w, 8);
	triad_wire_put(&w, 8, ++tid);
	triad_wire_put(&w, 2, request->attribute);
	triad_wire_seek(&w, 48);
	triad_wire_put(&w, 8, request->mask);
	memcpy(mad + DATA, request->data, sizeof(request->data));
	umad_set_addr(buffer, sm_lid, 1, 0, 0x80010000);
	umad_set_pkey(buffer, 0);
	if (umad_send(port, agent, buffer, MAD_SIZE, options.timeout_ms, 0))
		die("a MAD can't be sent");
}

/* Waits for the answer to the last request; one that is late is left. */
static void print_answer(void)
{
	const uint8_t *mad = umad_get_mad(buffer);
	uint32_t number;
	int length;

	for (;;) {
		length = ROOM;
		if (umad_recv(port, buffer, &length, 2 * options.timeout_ms) < 0)
			break;
		memcpy(&number, mad + 12, sizeof(number));
		if (be32toh(number) != tid)
			continue;
		if (umad_status(buffer))
			break;
		printf("%02x%02x %d\n", mad[4], mad[5], length);
		return;
	}
	printf("-\n");
}

static void ask(const struct request *request)
{
	print_request(request);
	send_request(request);
	print_answer();
	fflush(stdout);
}

/* --- requests --- */

static void ask_from_input(void)
{
	char digits[2 * DATA_SIZE + 1];
	struct request request;

	while (memset(&request, 0, sizeof(request)),
		scanf("%x %x %" SCNx64 " %400s", &request.method, &request.attribute,
			&request.mask, digits) == 4) {
		for (size_t i = 0; digits[2 * i] && digits[2 * i + 1]; i++)
			sscanf(digits + 2 * i, "%2hhx", &request.data[i]);
		ask(&request);
	}
}

static struct request make_request(void)
{
	static const uint16_t attributes[] = {0x01, 0x03, 0x11, 0x12, 0x13, 0x14, 0x15,
		0x17, 0x18, 0x20, 0x30, 0x31, 0x33, 0x35, 0x36, 0x38, 0xf3};
	static const uint8_t methods[] = {0x01, 0x12, 0x01, 0x12, 0x02, 0x15, 0x14};
	struct request request = {
		.method = methods[random_below(&state, sizeof(methods))],
		.attribute = options.attribute
			? options.attribute
			: attributes[random_below(
				  &state, sizeof(attributes) / sizeof(attributes[0]))],
		.mask = random_next(&state) & random_next(&state),
	};

	if (random_below(&state, 3) == 0)
		request.mask &= 0xff;
	for (size_t i = 0; i < sizeof(request.data); i++)
		request.data[i] =
			(uint8_t)(random_below(&state, 2) ? random_below(&state, 4)
							  : random_next(&state));
	if (random_below(&state, 4)) {
		request.data[0] = 0;
		request.data[1] = (uint8_t)(1 + random_below(&state, options.max_lid));
	}
	return request;
}

static void read_options(int argc, char **argv)
{
	static const struct option known[] = {
		{"timeout-ms", required_argument, NULL, 't'},
		{"seed", required_argument, NULL, 's'},
		{"count", required_argument, NULL, 'c'},
		{"attribute", required_argument, NULL, 'a'},
		{"max-lid", required_argument, NULL, 'l'},
		{0},
	};
	int option;

	while ((option = getopt_long(argc, argv, "", known, NULL)) != -1) {
		unsigned long value = optarg ? strtoul(optarg, NULL, 0) : 0;

		switch (option) {
		case 't':
			options.timeout_ms = (int)value;
			break;
		case 's':
			options.seed = value;
			break;
		case 'c':
			options.count = value;
			break;
		case 'a':
			options.attribute = (unsigned)value;
			break;
		case 'l':
			options.max_lid = (unsigned)value;
			break;
		default:
			die("unknown option");
		}
	}
}

int main(int argc, char **argv)
{
	struct request request;

	read_options(argc, argv);
	state = options.seed;
	tid = (uint32_t)triad_clock_now_us();
	open_port();
	if (!options.count)
		ask_from_input();
	for (unsigned long i = 0; i < options.count; i++) {
		request = make_request();
		ask(&request);
	}
	umad_free(buffer);
	umad_unregister(port, agent);
	umad_close_port(port);
	return 0;
}
