/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Sends any request to the SA, and says what it answers.
 *
 *     sa_ask [--timeout-ms N] [--window N] <REQUESTS
 *     sa_ask [--timeout-ms N] [--window N] --seed N --count N [--attribute A]
 *            [--method M] [--max-lid N]
 *
 * REQUESTS are lines "METHOD ATTRIBUTE MASK OCTETS [KEY MODIFIER LENGTH]", all
 * hexadecimal; OCTETS are of the record, what is missing is 0.  KEY is the SM_Key; with a
 * LENGTH the request goes by RMPP, with that many octets after its header.  The second
 * makes requests at random: the same seed gives the same in the same fabric.  Many name a
 * LID up to --max-lid, GUIDs of ports and MGIDs that the SA told, and numbers of ports and
 * blocks that are near those that exist.
 *
 * Prints a line for each, when it is sent, and then the answer: "STATUS LENGTH MS", the
 * MAD's status, its octets, and how long it took; "-": none.  With a window that many
 * requests wait for their answers at a time, of which only the number is printed. */
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
#define ROOM (64u << 20)
#define MAX_RMPP_SIZE 1000u
#define MAX_GIDS 64u

enum { GET_TABLE = 0x12, GET_MULTI = 0x14 };
enum { NODE_RECORD = 0x11, MEMBER_RECORD = 0x38, MULTIPATH_RECORD = 0x3a };

struct request {
	unsigned method, attribute, modifier, length;
	uint64_t mask, key;
	uint8_t data[DATA_SIZE];
};

static struct {
	int timeout_ms;
	unsigned long seed, count;
	unsigned attribute, method, max_lid, window;
} options = {.timeout_ms = 2000, .max_lid = 16, .window = 1};

static int port, agent;
static uint16_t sm_lid;
static uint8_t *buffer;
static uint32_t
	tid; /* of the last request; the SM may remember those of the last run */
static uint64_t state;
static unsigned n_waiting; /* with a window */
static unsigned long n_answers;
static uint8_t gids[MAX_GIDS][16];
static unsigned n_gids;

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
	printf("%s %" PRIx64 " %x %x ", size ? "" : "00", request->key,
		request->modifier, request->length);
	fflush(stdout);
}

static void send_request(const struct request *request)
{
	size_t size = request->length ? DATA + request->length : MAD_SIZE;
	uint8_t *mad = umad_get_mad(buffer);
	struct triad_wire w;

	memset(buffer, 0, umad_size() + DATA + MAX_RMPP_SIZE);
	triad_wire_init(&w, mad, MAD_SIZE);
	triad_wire_put(&w, 4, 0x01030200u | (request->method & 0xff));
	triad_wire_seek(&w, 8);
	triad_wire_put(&w, 8, ++tid);
	triad_wire_put(&w, 2, request->attribute);
	triad_wire_seek(&w, 20);
	triad_wire_put(&w, 4, request->modifier);
	if (request->length)
		triad_wire_put(&w, 4, 0x01010100u); /* version 1, data, active */
	triad_wire_seek(&w, 36);
	triad_wire_put(&w, 8, request->key);
	triad_wire_seek(&w, 48);
	triad_wire_put(&w, 8, request->mask);
	memcpy(mad + DATA, request->data, sizeof(request->data));
	umad_set_addr(buffer, sm_lid, 1, 0, 0x80010000);
	umad_set_pkey(buffer, 0);
	if (umad_send(port, agent, buffer, (int)size, options.timeout_ms, 0))
		die("a MAD can't be sent");
}

/* Waits for one.  Returns its length, 0 if there is none. */
static int receive(void)
{
	int length = ROOM;

	if (umad_recv(port, buffer, &length, 2 * options.timeout_ms) < 0)
		return 0;
	return umad_status(buffer) ? 0 : length;
}

/* Waits for the answer to the last request; one that is late is left. */
static int receive_answer(void)
{
	const uint8_t *mad = umad_get_mad(buffer);
	uint32_t number;
	int length;

	do {
		length = receive();
		memcpy(&number, mad + 12, sizeof(number));
	} while (length && be32toh(number) != tid);
	return length;
}

static void ask(const struct request *request)
{
	const uint8_t *mad = umad_get_mad(buffer);
	uint64_t begin_us = triad_clock_now_us();
	int length;

	print_request(request);
	send_request(request);
	length = receive_answer();
	if (length)
		printf("%02x%02x %d %" PRIu64 "\n", mad[4], mad[5], length,
			(triad_clock_now_us() - begin_us) / TRIAD_US_PER_MS);
	else
		printf("-\n");
	fflush(stdout);
}

static void wait_for_one(void)
{
	n_answers += receive() != 0;
	n_waiting--;
}

/* Without waiting for the answer, unless the window is full. */
static void ask_ahead(const struct request *request)
{
	while (n_waiting >= options.window)
		wait_for_one();
	print_request(request);
	printf("\n");
	send_request(request);
	n_waiting++;
}

static void ask_somehow(const struct request *request)
{
	if (options.window > 1)
		ask_ahead(request);
	else
		ask(request);
}

/* --- requests --- */

static void ask_from_input(void)
{
	char line[1024], digits[2 * DATA_SIZE + 1];
	struct request request;

	while (fgets(line, sizeof(line), stdin)) {
		memset(&request, 0, sizeof(request));
		if (sscanf(line, "%x %x %" SCNx64 " %400s %" SCNx64 " %x %x",
			    &request.method, &request.attribute, &request.mask, digits,
			    &request.key, &request.modifier, &request.length) < 4)
			die("a line is not a request");
		if (request.length > MAX_RMPP_SIZE)
			die("a request is too long");
		for (size_t i = 0; digits[2 * i] && digits[2 * i + 1]; i++)
			sscanf(digits + 2 * i, "%2hhx", &request.data[i]);
		ask_somehow(&request);
	}
}

/* Learns what is 'at' each record of that attribute: a GUID, or a GID. */
static void learn_gids(unsigned attribute, size_t at, size_t size)
{
	struct request request = {.method = GET_TABLE, .attribute = attribute};
	const uint8_t *mad = umad_get_mad(buffer);
	int length, step;

	send_request(&request);
	length = receive_answer();
	step = 8 * (mad[44] << 8 | mad[45]);
	for (int i = DATA; step && i + step <= length && n_gids < MAX_GIDS; i += step) {
		gids[n_gids][0] = 0xfe;
		gids[n_gids][1] = 0x80;
		memcpy(gids[n_gids++] + 16 - size, mad + i + at, size);
	}
}

/* Where the records have GIDs. */
static const struct {
	unsigned attribute, at, n;
} places_of_gids[] = {
	{0x03, 0, 1},
	{0x31, 8, 1},
	{0x35, 8, 2},
	{MEMBER_RECORD, 0, 2},
	{MULTIPATH_RECORD, 24, 11},
	{0xf3, 0, 1},
};

static void put_gids(struct request *request)
{
	for (size_t i = 0; i < sizeof(places_of_gids) / sizeof(places_of_gids[0]); i++)
		for (unsigned j = 0;
			places_of_gids[i].attribute == request->attribute &&
			j < places_of_gids[i].n;
			j++)
			if (n_gids && random_below(&state, 8))
				memcpy(request->data + places_of_gids[i].at + 16 * j,
					gids[random_below(&state, n_gids)], 16);
	/* A new group beside one that is there. */
	if (request->attribute == MEMBER_RECORD && request->data[0] == 0xff &&
		random_below(&state, 2))
		request->data[12] = (uint8_t)random_next(&state);
}

/* The default P_Key, where the records have one. */
static void put_pkey(struct request *request)
{
	static const struct {
		unsigned attribute, at;
	} places[] = {
		{0x31, 24}, {0x35, 50}, {MEMBER_RECORD, 40}, {MULTIPATH_RECORD, 6}};

	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++)
		if (places[i].attribute == request->attribute &&
			random_below(&state, 4))
			memset(request->data + places[i].at, 0xff, 2);
}

static uint64_t make_mask(void)
{
	uint64_t a = random_next(&state), b = random_next(&state);

	switch (random_below(&state, 6)) {
	case 0:
		return a & b & 0xff;
	case 1:
		return 1ull << a % 64;
	case 2:
		return a | b;
	case 3:
		return UINT64_MAX;
	default:
		return a & b;
	}
}

static void make_data(struct request *request)
{
	for (size_t i = 0; i < sizeof(request->data); i++)
		request->data[i] =
			(uint8_t)(random_below(&state, 2) ? random_below(&state, 4)
							  : random_next(&state));
	put_gids(request);
	put_pkey(request);
	/* A GID is not at the places of LIDs of these. */
	if (random_below(&state, 4) && request->attribute != 0x03 &&
		request->attribute < MEMBER_RECORD) {
		size_t at = request->attribute == 0x35 ? 40 : 0;

		request->data[at] = 0;
		request->data[at + 1] =
			(uint8_t)(1 + random_below(&state, options.max_lid));
	}
}

static struct request make_request(void)
{
	static const uint16_t attributes[] = {0x01, 0x03, 0x11, 0x12, 0x13, 0x14, 0x15,
		0x17, 0x18, 0x20, 0x30, 0x31, 0x33, 0x35, 0x36, 0x38, 0x3a, 0xf3};
	static const uint8_t methods[] = {0x01, 0x12, 0x01, 0x12, 0x02, 0x15, 0x14};
	struct request request = {
		.method = options.method
			? options.method
			: methods[random_below(&state, sizeof(methods))],
		.attribute = options.attribute
			? options.attribute
			: attributes[random_below(
				  &state, sizeof(attributes) / sizeof(attributes[0]))],
		.mask = make_mask(),
		.key = random_below(&state, 2), /* 1: OpenSM's default */
		.modifier = random_below(&state, 4) ? 0 : (unsigned)random_next(&state),
	};

	if (request.attribute == MULTIPATH_RECORD && random_below(&state, 8))
		request.method = GET_MULTI;
	if (request.method == GET_MULTI || random_below(&state, 16) == 0)
		request.length = random_below(&state, 4)
			? DATA_SIZE
			: 1 + random_below(&state, MAX_RMPP_SIZE);
	make_data(&request);
	return request;
}

static void ask_at_random(void)
{
	struct request request;

	learn_gids(NODE_RECORD, 4 + 20, 8);
	learn_gids(MEMBER_RECORD, 0, 16);
	for (unsigned long i = 0; i < options.count; i++) {
		request = make_request();
		ask_somehow(&request);
	}
}

static void read_options(int argc, char **argv)
{
	static const struct option known[] = {
		{"timeout-ms", required_argument, NULL, 't'},
		{"seed", required_argument, NULL, 's'},
		{"count", required_argument, NULL, 'c'},
		{"attribute", required_argument, NULL, 'a'},
		{"method", required_argument, NULL, 'm'},
		{"window", required_argument, NULL, 'w'},
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
		case 'm':
			options.method = (unsigned)value;
			break;
		case 'w':
			options.window = (unsigned)value;
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
	read_options(argc, argv);
	state = options.seed;
	tid = (uint32_t)triad_clock_now_us();
	open_port();
	if (options.count)
		ask_at_random();
	else
		ask_from_input();
	while (n_waiting)
		wait_for_one();
	if (options.window > 1)
		printf("%lu answers\n", n_answers);
	umad_free(buffer);
	umad_unregister(port, agent);
	umad_close_port(port);
	return 0;
}
