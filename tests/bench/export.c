/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The counters of a large fabric through what exports them, on one core.
 *
 *     export [--ports N] [--json] [PART...]
 *
 * Parts, all of them unless some are named:
 *
 * sflow  the sFlow agent, rounds over all ports as fast as they go
 *     samples_per_s           into datagrams, which are thrown away
 *     octets_per_sample       of them, with their headers
 *     copy_ratio              that time over the time of memcpy of as many octets
 *     loopback_samples_per_s  sent to a socket of this host that nobody reads
 *     octets_per_port         what the agent takes
 *
 * Best of five rounds each, in turn.  Nothing here is asserted: machines differ. */
#include <arpa/inet.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "perfmgr/export/sflow_sender.h"
#include "tests/sim/fabrics.h"
#include "triad/clock.h"

#define ROUNDS 5

struct bench {
	unsigned n_ports;
	bool as_json;
	unsigned n_parts; /* run so far */
	struct triad_fabric *fabric;
	struct triad_engine *engine;
	struct triad_view *view;
};

static void die(const char *what)
{
	fprintf(stderr, "export: %s\n", what);
	exit(1);
}

static void *need(void *memory)
{
	if (!memory)
		die("out of memory");
	return memory;
}

/* All ports have answered, with every counter. */
static void set_up(struct bench *bench)
{
	struct triad_pma_reading reading = {.has = (1u << TRIAD_N_COUNTERS) - 1};

	bench->fabric = need(fabric_of_ports(bench->n_ports));
	bench->engine = need(triad_engine_new());
	bench->view = need(triad_view_new(bench->engine, bench->fabric, NULL));
	if (triad_engine_adopt(bench->engine, bench->fabric, 1, bench->view->rows))
		die("the engine takes no fabric of that size");
	for (unsigned i = 0; i < bench->n_ports; i++) {
		for (unsigned c = 0; c < TRIAD_N_COUNTERS; c++)
			reading.raw[c] = c * 100 + i % 100;
		triad_engine_update(bench->engine, bench->view->rows[i],
			TRIAD_PMA_PORT_COUNTERS, &reading, 1);
		triad_engine_mark(bench->engine, bench->view->rows[i], true);
	}
}

static void tear_down(struct bench *bench)
{
	triad_view_unref(bench->view);
	triad_engine_free(bench->engine);
	triad_fabric_unref(bench->fabric);
}

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static uint64_t copy(void *to, const void *from, size_t size)
{
	uint64_t begun_us = triad_clock_now_us();

	memcpy(to, from, size);
	/* The copy must happen. */
	__asm__ volatile("" : : "r"(to) : "memory");
	return triad_clock_now_us() - begun_us;
}

/* --- sflow --- */

static int open_nothing(void *context, const struct triad_address *to,
	struct triad_address *from, int *handle)
{
	*from = *to;
	*handle = 0;
	return 0;
}

static int count_octets(void *context, int handle, const void *octets, size_t size)
{
	*(uint64_t *)context += size;
	return 0;
}

static void close_nothing(void *context, int handle)
{
}

static struct triad_sflow_sender *make_sender(
	const struct triad_udp *udp, uint16_t port)
{
	const struct triad_sflow_params params = {.collectors = {{.family = AF_INET,
							  .octets = {127, 0, 0, 1},
							  .port = port}},
		.n_collectors = 1,
		.interval_us = TRIAD_SFLOW_MIN_INTERVAL_US,
		.mtu = 1500};
	struct triad_sflow_sender *sender = need(triad_sflow_sender_new(NULL, udp));

	if (triad_sflow_sender_configure(sender, &params))
		die("the sFlow agent takes no such parameters");
	return sender;
}

/* Microseconds for one sample of each port.  The agent's own time goes as fast as it
 * is called: half a round each time. */
static uint64_t sflow_round(
	const struct bench *bench, struct triad_sflow_sender *sender, uint64_t *now_us)
{
	uint64_t goal = triad_sflow_sender_status(sender).n_samples + bench->n_ports;
	uint64_t begun_us = triad_clock_now_us(), n_samples;

	do {
		*now_us += TRIAD_SFLOW_MIN_INTERVAL_US / 2;
		triad_sflow_sender_run(sender, bench->view, *now_us);
		n_samples = triad_sflow_sender_status(sender).n_samples;
	} while (n_samples < goal);
	return (triad_clock_now_us() - begun_us) * bench->n_ports /
		(n_samples - goal + bench->n_ports);
}

static int open_receiver(uint16_t *port)
{
	struct sockaddr_in address = {
		.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t size = sizeof(address);
	int fd = socket(AF_INET, SOCK_DGRAM, 0);

	if (fd < 0 || bind(fd, (struct sockaddr *)&address, size) ||
		getsockname(fd, (struct sockaddr *)&address, &size))
		die("no socket to send to");
	*port = ntohs(address.sin_port);
	return fd;
}

static void bench_sflow(const struct bench *bench)
{
	uint64_t octets = 0, now_us = 1, encode_us = UINT64_MAX, copy_us = UINT64_MAX;
	uint64_t loopback_us = UINT64_MAX, loopback_now_us = 1;
	const struct triad_udp nowhere = {
		.open = open_nothing,
		.send = count_octets,
		.close = close_nothing,
		.context = &octets,
	};
	struct triad_sflow_sender *sender = make_sender(&nowhere, 1), *loopback;
	struct triad_sflow_sender_status status;
	double octets_per_sample;
	uint16_t port;
	int receiver = open_receiver(&port);
	size_t size;
	char *from, *to;

	loopback = make_sender(NULL, port);
	sflow_round(bench, sender, &now_us); /* takes the fabric up */
	sflow_round(bench, loopback, &loopback_now_us);
	status = triad_sflow_sender_status(sender);
	octets_per_sample = (double)octets / (double)status.n_samples;
	size = (size_t)(octets_per_sample * bench->n_ports);
	from = need(malloc(size));
	to = need(malloc(size));
	memset(from, 1, size);
	memset(to, 1, size);
	for (unsigned i = 0; i < ROUNDS; i++) {
		encode_us = least(encode_us, sflow_round(bench, sender, &now_us));
		copy_us = least(copy_us, copy(to, from, size));
		loopback_us = least(
			loopback_us, sflow_round(bench, loopback, &loopback_now_us));
	}
	printf(bench->as_json
			? "\"sflow\":{\"samples_per_s\":%.0f,\"octets_per_sample\":%.1f,"
			  "\"copy_ratio\":%.2f,\"loopback_samples_per_s\":%.0f,"
			  "\"octets_per_port\":%.1f}"
			: "sFlow: %.0f samples a second of %.1f octets, %.2f times a "
			  "copy; %.0f through the loopback; %.1f octets a port\n",
		bench->n_ports * 1e6 / (double)(encode_us ? encode_us : 1),
		octets_per_sample, (double)encode_us / (double)(copy_us ? copy_us : 1),
		bench->n_ports * 1e6 / (double)(loopback_us ? loopback_us : 1),
		(double)status.schedule.octets / bench->n_ports);
	free(from);
	free(to);
	triad_sflow_sender_free(sender);
	triad_sflow_sender_free(loopback);
	close(receiver);
}

/* --- what there is --- */

static const struct {
	const char *name;
	void (*run)(const struct bench *bench);
} parts[] = {
	{"sflow", bench_sflow},
};
#define N_PARTS (sizeof(parts) / sizeof(parts[0]))

static void run_part(struct bench *bench, size_t part)
{
	if (bench->as_json && bench->n_parts++)
		putchar(',');
	parts[part].run(bench);
}

static unsigned find_part(const char *name)
{
	for (unsigned i = 0; i < N_PARTS; i++)
		if (strcmp(name, parts[i].name) == 0)
			return i;
	die("usage: export [--ports N] [--json] [PART...]; parts: sflow");
	return 0;
}

int main(int argc, char **argv)
{
	struct bench bench = {.n_ports = 1000000};
	unsigned chosen = 0;

	for (int i = 1; i < argc; i++) {
		if (strcmp(argv[i], "--json") == 0)
			bench.as_json = true;
		else if (strcmp(argv[i], "--ports") == 0 && i + 1 < argc)
			bench.n_ports = (unsigned)strtoul(argv[++i], NULL, 10);
		else
			chosen |= 1u << find_part(argv[i]);
	}
	if (!bench.n_ports || bench.n_ports > TRIAD_FABRIC_MAX_PORTS)
		die("--ports must be from 1 to 4194304");
	set_up(&bench);
	if (bench.as_json)
		printf("{\"ports\":%u,", bench.n_ports);
	for (size_t i = 0; i < N_PARTS; i++)
		if (!chosen || chosen & 1u << i)
			run_part(&bench, i);
	if (bench.as_json)
		puts("}");
	tear_down(&bench);
	return 0;
}
