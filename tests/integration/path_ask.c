/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Sends random requests for paths to the SA, and prints every answer octet for octet.
 *
 *     path_ask --seed N --count N [--kind path|multi|mixed] [--only BITS] [--plain]
 *              [--whole] [--by-gid] [--seconds S] [--every-us N] [--window N] [--quiet]
 *              <WORLD
 *
 *     path_ask --alias LID:INDEX:GUID
 *
 * The second gives a port an alias GUID, or removes it when GUID is 0, and prints the
 * status.
 *
 * WORLD lists what exists, a line each: "guid 0x..." (a port's, a switch's, an alias),
 * "lid N", "pkey 0x...", "service 0x...", "prefix 0x...".  The same seed and world give
 * the same requests.  Some requests name what does not exist, or are invalid.
 *
 * --whole: requests always name both ends.
 * --plain: only requests that name both ends by GUID or LID that exist.
 * --by-gid: requests name both ends, by GID alone, as most programs do.
 * --only: component mask bits that may be set besides those of the ends.
 * --seconds: sends requests for that time, instead of --count of them.
 * --every-us: a request is due that often, and its time counts from when it was due:
 * requests that a slow answer delays are slow too, as they are for other clients.
 * --window: so many requests may wait for their answers at a time; by default one.
 *
 * Prints a line for each request, unless --quiet: its number, its attribute and mask,
 * and the answer's MAD (length, then octets), "-" for none.  Then, on standard error,
 * one JSON object with counts and the time that answers took. */
#include <endian.h>
#include <getopt.h>
#include <infiniband/umad.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "qos/latency.h"
#include "tests/random.h"
#include "triad/clock.h"
#include "triad/wire.h"

#define MAD_SIZE 256
#define ROOM (4u << 20)
#define DATA 56
#define MAX_OF_A_KIND 65536
/* Of one request, which is not sent again: on a busy machine a sweep takes seconds. */
#define TIMEOUT_MS 10000
#define MAX_WINDOW 64u

enum { GET = 0x01, GET_TABLE = 0x12, GET_MULTI = 0x14 };
enum { PATH_RECORD = 0x35, MULTIPATH_RECORD = 0x3a };

struct values {
	uint64_t items[MAX_OF_A_KIND];
	unsigned n;
};

static struct {
	struct values guids, lids, pkeys, services, prefixes;
} world;

static struct {
	unsigned long seed, count, seconds, every_us, window;
	uint64_t only;
	const char *kind, *alias;
	bool plain, whole, by_gid, quiet;
} options = {.seed = 1, .count = 100, .window = 1, .only = UINT64_MAX, .kind = "mixed"};

struct request {
	uint8_t method;
	uint16_t attribute;
	uint64_t mask;
	uint8_t data[MAD_SIZE - DATA];
};

/* A request that was sent, and the answer to it. */
struct slot {
	struct request request;
	uint64_t due_us;
	bool waits;
	int length; /* of the answer; 0: none */
	uint8_t *mad;
};

static struct {
	int port, agent;
	uint16_t sm_lid;
	uint32_t first_tid; /* of this run: the SM may remember the last run's */
	uint8_t *buffer;
	struct triad_latency latency;
	unsigned long n_sent, n_finished;
	unsigned long n_answered, n_records, n_refused, n_unanswered;
	struct slot slots[MAX_WINDOW]; /* by the request's number */
} run;

static void die(const char *what)
{
	fprintf(stderr, "path_ask: %s\n", what);
	exit(1);
}

/* --- random values --- */

static uint64_t state;

static uint64_t random_value(void)
{
	return random_next(&state);
}

static bool percent(unsigned of_100)
{
	return random_value() % 100 < of_100;
}

static uint64_t one_of(const struct values *values)
{
	return values->n ? values->items[random_value() % values->n] : 0;
}

/* --- requests --- */

static void put(struct request *request, size_t at, size_t n, uint64_t value)
{
	struct triad_wire w;

	triad_wire_init(&w, request->data + at, n);
	triad_wire_put(&w, n, value);
}

static void put_gid(struct request *request, size_t at)
{
	uint64_t prefix = one_of(&world.prefixes), guid = one_of(&world.guids);

	if (!options.plain) {
		if (percent(5))
			prefix = UINT64_C(0xfe80000000000000) | random_value() % 4;
		else if (percent(3))
			prefix = random_value();
		else if (percent(2))
			prefix = UINT64_C(0xff12401bffff0000);
		if (percent(4))
			guid = random_value();
	}
	put(request, at, 8, prefix);
	put(request, at + 8, 8, guid);
}

static uint16_t lid(void)
{
	if (!options.plain && percent(5))
		return (uint16_t)random_value();
	return (uint16_t)one_of(&world.lids);
}

/* Writes values that are mostly valid. */
static void put_common(struct request *request, size_t at)
{
	static const uint8_t lives[] = {0, 1, 16, 17, 18, 19, 20, 63};
	uint16_t pkey = (uint16_t)one_of(&world.pkeys);

	if (percent(20))
		pkey ^= 0x8000;
	if (!options.plain && percent(5))
		pkey = (uint16_t)random_value();
	put(request, at, 4, percent(95) ? random_value() & 0x7fffffff : random_value());
	put(request, at + 4, 1, percent(50) ? random_value() % 16 : random_value());
	put(request, at + 5, 1, percent(80) ? random_value() % 8 + 1 : random_value());
	if (percent(50))
		request->data[at + 5] |= 0x80;
	put(request, at + 6, 2, pkey);
	put(request, at + 8, 2,
		(percent(50) ? random_value() % 8 : random_value()) << 4 |
			random_value() % 16);
	put(request, at + 10, 1,
		random_value() % 4 << 6 | (percent(95) ? random_value() % 6 : 63));
	put(request, at + 11, 1,
		random_value() % 4 << 6 |
			(percent(95) ? 2 + random_value() % 21 : random_value() % 64));
	put(request, at + 12, 1,
		random_value() % 4 << 6 | lives[random_value() % sizeof(lives)]);
}

/* Sets each bit from 'first' to 'last' with that probability. */
static uint64_t mask_bits(unsigned first, unsigned last, unsigned of_100)
{
	uint64_t mask = 0;

	for (unsigned bit = first; bit <= last; bit++)
		if (percent(of_100))
			mask |= UINT64_C(1) << bit;
	return mask;
}

static uint64_t pair(unsigned first, unsigned second, unsigned of_100)
{
	uint64_t both = UINT64_C(1) << first | UINT64_C(1) << second;

	if (!percent(of_100))
		return 0;
	return options.plain || percent(95) ? both : UINT64_C(1) << first;
}

static void make_path(struct request *request)
{
	/* Mask bits of the ends: each by GID, LID or both. */
	static const uint8_t ends[] = {
		0xc, 0xc, 0xc, 0x30, 0x30, 0x18, 0x24, 0x3c, 0x2c, 0x1c};
	uint64_t end_bits = ends[random_value() % sizeof(ends)], others;
	request->attribute = PATH_RECORD;
	request->method = percent(50) ? GET : GET_TABLE;
	put(request, 0, 8, percent(70) ? one_of(&world.services) : random_value());
	put_gid(request, 8);
	put_gid(request, 24);
	put(request, 40, 2, lid());
	put(request, 42, 2, lid());
	put_common(request, 44);
	if (!options.plain && !options.whole && percent(4))
		end_bits &= random_value(); /* an end may be missing now */
	if (options.by_gid)
		end_bits = 0xc;
	others = mask_bits(7, 14, 15) | mask_bits(15, 15, 10) | pair(16, 17, 20) |
		pair(18, 19, 20) | pair(20, 21, 20) | pair(0, 1, 30);
	if (!options.plain && percent(3))
		others |= 1u << 6; /* RawTraffic */
	request->mask = end_bits | (others & options.only);
}

static void make_multi(struct request *request)
{
	unsigned sources = 1 + (unsigned)(random_value() % 3);
	unsigned destinations = 1 + (unsigned)(random_value() % 3);
	uint64_t others;

	if (percent(25))
		sources = destinations = 2;
	request->attribute = MULTIPATH_RECORD;
	request->method = GET_MULTI;
	put_common(request, 0);
	if (percent(25))
		request->data[5] = (uint8_t)((request->data[5] & 0x80) | 2);
	put(request, 13, 1, random_value());
	put(request, 14, 1, random_value());
	if (!options.plain && percent(3))
		sources = (unsigned)(random_value() % 14);
	put(request, 15, 1, sources);
	put(request, 16, 1, destinations);
	put(request, 17, 7, one_of(&world.services));
	for (unsigned i = 0; i < 11; i++)
		put_gid(request, 24 + 16 * i);
	others = mask_bits(1, 8, 15) | mask_bits(9, 9, 10) | pair(10, 11, 20) |
		pair(12, 13, 20) | pair(14, 15, 20) | pair(16, 21, 30);
	if (!options.plain && percent(3))
		others |= 1;
	request->mask = (options.plain || percent(98) ? 3u << 19 : 1u << 19) |
		(others & options.only);
}

static void make(struct request *request)
{
	bool multi = strcmp(options.kind, "multi") == 0 ||
		(strcmp(options.kind, "mixed") == 0 && percent(25));

	memset(request, 0, sizeof(*request));
	if (multi)
		make_multi(request);
	else
		make_path(request);
}

/* --- sending and receiving --- */

static void open_port(void)
{
	umad_port_t port;

	if (umad_init() < 0 || umad_get_port(NULL, 0, &port))
		die("there is no port to ask from");
	run.sm_lid = (uint16_t)port.sm_lid;
	umad_release_port(&port);
	run.port = umad_open_port(NULL, 0);
	run.agent = run.port < 0 ? -1 : umad_register(run.port, 0x03, 2, 1, NULL);
	if (run.agent < 0)
		die("the port can't be opened");
	run.buffer = umad_alloc(1, umad_size() + ROOM);
	if (!run.buffer)
		die("out of memory");
}

static void send_request(const struct request *request, uint32_t number)
{
	uint8_t *mad = umad_get_mad(run.buffer);
	struct triad_wire w;

	memset(run.buffer, 0, umad_size() + MAD_SIZE);
	triad_wire_init(&w, mad, MAD_SIZE);
	triad_wire_put(&w, 4, 0x01030200 | request->method);
	triad_wire_seek(&w, 8);
	triad_wire_put(&w, 8, number);
	triad_wire_put(&w, 2, request->attribute);
	if (request->method == GET_MULTI) {
		mad[24] = 1; /* RMPP: version; DATA; Active, First and Last */
		mad[25] = 1;
		mad[26] = 0x07;
	}
	triad_wire_seek(&w, 48);
	triad_wire_put(&w, 8, request->mask);
	memcpy(mad + DATA, request->data, sizeof(request->data));
	umad_set_addr(run.buffer, run.sm_lid, 1, 0, 0x80010000);
	umad_set_pkey(run.buffer, 0);
	if (umad_send(run.port, run.agent, run.buffer, MAD_SIZE, TIMEOUT_MS, 0))
		die("a MAD can't be sent");
	run.n_sent++;
}

/* Receives an answer; returns its request's number, or 0 when none arrived.  'length'
 * is 0 for a request that timed out. */
static unsigned long receive(int *length)
{
	const uint8_t *mad = umad_get_mad(run.buffer);
	uint32_t tid;

	*length = ROOM;
	if (umad_recv(run.port, run.buffer, length, 2 * TIMEOUT_MS) < 0)
		return 0;
	if (umad_status(run.buffer))
		*length = 0;
	memcpy(&tid, mad + 12, sizeof(tid));
	return be32toh(tid) - run.first_tid;
}

static void count(const struct slot *slot)
{
	if (!slot->length) {
		run.n_unanswered++;
		return;
	}
	run.n_answered++;
	if (slot->mad[4] || slot->mad[5])
		run.n_refused++;
	else if (slot->length > DATA)
		run.n_records += (unsigned)(slot->length - DATA) / 64;
}

static void print_octets(const uint8_t *octets, size_t n)
{
	static const char digits[] = "0123456789abcdef";

	for (size_t i = 0; i < n; i++) {
		putchar_unlocked(digits[octets[i] >> 4]);
		putchar_unlocked(digits[octets[i] & 15]);
	}
}

static void print(unsigned long number, struct slot *slot)
{
	const struct request *request = &slot->request;

	printf("%lu %02x %02x %" PRIx64 " ", number, request->attribute,
		request->method, request->mask);
	print_octets(request->data, sizeof(request->data));
	printf(" %d ", slot->length);
	/* Transaction IDs differ in each run. */
	if (slot->length)
		memset(slot->mad + 8, 0, 8);
	print_octets(slot->mad, (size_t)slot->length);
	printf("%s\n", slot->length ? "" : "-");
}

/* --- requests that wait for their answers --- */

static struct slot *slot_of(unsigned long number)
{
	return &run.slots[number % options.window];
}

static void take_answer(struct slot *slot, int length)
{
	slot->mad = malloc((size_t)length + 1);
	if (!slot->mad)
		die("out of memory");
	memcpy(slot->mad, umad_get_mad(run.buffer), (size_t)length);
	slot->length = length;
	slot->waits = false;
	triad_latency_add(&run.latency, (triad_clock_now_us() - slot->due_us) * 1000);
}

/* Receives until the oldest request has its answer, or has timed out; then prints
 * it. */
static void finish_oldest(void)
{
	unsigned long oldest = run.n_finished + 1;
	struct slot *slot = slot_of(oldest);

	while (slot->waits) {
		int length;
		unsigned long number = receive(&length);

		if (!number)
			take_answer(slot, 0);
		else if (number >= oldest && number <= run.n_sent &&
			slot_of(number)->waits)
			take_answer(slot_of(number), length);
		/* Other answers are late. */
	}
	count(slot);
	if (!options.quiet)
		print(oldest, slot);
	free(slot->mad);
	run.n_finished = oldest;
}

/* Waits until request 'i' is due; returns the time when it was due. */
static uint64_t wait_until_due(uint64_t begun_us, unsigned long i)
{
	uint64_t now_us = triad_clock_now_us(), due_us = now_us;

	if (options.every_us)
		due_us = begun_us + (i - 1) * options.every_us;
	if (due_us > now_us)
		usleep((useconds_t)(due_us - now_us));
	return due_us;
}

static void ask_all(void)
{
	uint64_t begun_us = triad_clock_now_us();
	uint64_t end_us = begun_us + options.seconds * TRIAD_US_PER_S;

	for (unsigned long i = 1;; i++) {
		uint64_t due_us = wait_until_due(begun_us, i);
		struct slot *slot = slot_of(i);

		if (options.seconds ? due_us > end_us : i > options.count)
			break;
		make(&slot->request);
		slot->due_us = due_us;
		slot->waits = true;
		send_request(&slot->request, run.first_tid + (uint32_t)i);
		if (run.n_sent - run.n_finished == options.window)
			finish_oldest();
	}
	while (run.n_finished < run.n_sent)
		finish_oldest();
}

/* --- aliases --- */

enum { SET = 0x02, DELETE = 0x15, GUIDINFO_RECORD = 0x30 };

/* Sends SubnAdmSet or SubnAdmDelete of GUIDInfoRecord [IBA 15.2.5.24]. */
static int set_alias(void)
{
	struct request request = {.attribute = GUIDINFO_RECORD};
	unsigned port_lid, index;
	uint64_t guid;
	const uint8_t *mad;
	int length;

	if (sscanf(options.alias, "%u:%u:%" SCNx64, &port_lid, &index, &guid) != 3)
		die("--alias wants LID:INDEX:GUID");
	request.method = guid ? SET : DELETE;
	request.mask = 3 | UINT64_C(1) << (4 + index % 8);
	put(&request, 0, 2, port_lid);
	put(&request, 2, 1, index / 8);
	put(&request, 8 + 8 * (index % 8), 8, guid);
	send_request(&request, run.first_tid + 1);
	if (receive(&length) != 1 || !length)
		die("no answer");
	mad = umad_get_mad(run.buffer);
	printf("0x%02x%02x\n", mad[4], mad[5]);
	return mad[4] || mad[5];
}

/* --- world and options --- */

static void read_world(void)
{
	static const struct {
		const char *name;
		struct values *values;
	} kinds[] = {
		{"guid", &world.guids},
		{"lid", &world.lids},
		{"pkey", &world.pkeys},
		{"service", &world.services},
		{"prefix", &world.prefixes},
	};
	char kind[16], value[32];

	while (scanf("%15s %31s", kind, value) == 2)
		for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
			struct values *values = kinds[i].values;

			if (!strcmp(kind, kinds[i].name) && values->n < MAX_OF_A_KIND)
				values->items[values->n++] = strtoull(value, NULL, 0);
		}
	if (!world.guids.n || !world.lids.n || !world.prefixes.n)
		die("no GUID, LID or prefix on standard input");
}

static void read_options(int argc, char **argv)
{
	static const struct option known[] = {
		{"seed", required_argument, NULL, 's'},
		{"count", required_argument, NULL, 'c'},
		{"kind", required_argument, NULL, 'k'},
		{"alias", required_argument, NULL, 'a'},
		{"only", required_argument, NULL, 'o'},
		{"seconds", required_argument, NULL, 't'},
		{"every-us", required_argument, NULL, 'e'},
		{"window", required_argument, NULL, 'n'},
		{"plain", no_argument, NULL, 'p'},
		{"whole", no_argument, NULL, 'w'},
		{"by-gid", no_argument, NULL, 'g'},
		{"quiet", no_argument, NULL, 'q'},
		{0},
	};
	int option;

	while ((option = getopt_long(argc, argv, "", known, NULL)) != -1)
		switch (option) {
		case 's':
			options.seed = strtoul(optarg, NULL, 0);
			break;
		case 'c':
			options.count = strtoul(optarg, NULL, 0);
			break;
		case 'k':
			options.kind = optarg;
			break;
		case 'a':
			options.alias = optarg;
			break;
		case 'o':
			options.only = strtoull(optarg, NULL, 0);
			break;
		case 't':
			options.seconds = strtoul(optarg, NULL, 0);
			break;
		case 'e':
			options.every_us = strtoul(optarg, NULL, 0);
			break;
		case 'n':
			options.window = strtoul(optarg, NULL, 0);
			if (!options.window || options.window > MAX_WINDOW)
				die("--window: 1 to 64");
			break;
		case 'p':
			options.plain = true;
			break;
		case 'w':
			options.whole = true;
			break;
		case 'g':
			options.by_gid = true;
			break;
		case 'q':
			options.quiet = true;
			break;
		default:
			die("unknown option");
		}
}

int main(int argc, char **argv)
{
	struct triad_latency_summary latency;

	read_options(argc, argv);
	if (!options.alias)
		read_world();
	state = options.seed;
	run.first_tid = (uint32_t)triad_clock_now_us();
	open_port();
	if (options.alias)
		return set_alias();
	ask_all();
	latency = triad_latency_summarize(&run.latency);
	fprintf(stderr,
		"{\"sent\": %lu, \"answered\": %lu, \"records\": %lu, \"refused\": %lu, "
		"\"unanswered\": %lu, \"p50_us\": %.1f, \"p99_us\": %.1f, "
		"\"max_us\": %.1f}\n",
		run.n_sent, run.n_answered, run.n_records, run.n_refused,
		run.n_unanswered, (double)latency.p50_ns / 1000,
		(double)latency.p99_ns / 1000, (double)latency.max_ns / 1000);
	umad_free(run.buffer);
	umad_unregister(run.port, run.agent);
	umad_close_port(run.port);
	return 0;
}
