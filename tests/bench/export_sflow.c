/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The benchmark's part for sFlow; see export.c. */
#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>

#include "perfmgr/export/sflow_sender.h"
#include "tests/bench/bench.h"
#include "tests/bench/export.h"
#include "tests/sim/fabrics.h"

struct bench {
	unsigned n_ports;
	bool as_json;
	struct triad_fabric *fabric;
	struct triad_engine *engine;
	struct triad_view *view;
};

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
	struct triad_sflow_sender *sender =
		need(triad_sflow_sender_new(NULL, udp, NULL));

	if (triad_sflow_sender_configure(sender, &params))
		die("the sFlow agent takes no such parameters");
	return sender;
}

/* Returns the microseconds for one sample of each port.  The agent's clock advances
 * half a round at each call, so that the agent is always busy. */
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

static void measure(const struct bench *bench)
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
	sflow_round(bench, sender, &now_us); /* adopts the fabric */
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
			? "\"sflow\":{\"ports\":%u,\"samples_per_s\":%.0f,\"octets_per_sample\":%.1f,"
			  "\"copy_ratio\":%.2f,\"loopback_samples_per_s\":%.0f,"
			  "\"octets_per_port\":%.1f}"
			: "sFlow, %u ports: %.0f samples a second of %.1f octets, %.2f times a "
			  "copy; %.0f through the loopback; %.1f octets a port\n",
		bench->n_ports,
		bench->n_ports * 1e6 / (double)(encode_us ? encode_us : 1),
		octets_per_sample, ratio(encode_us, copy_us),
		bench->n_ports * 1e6 / (double)(loopback_us ? loopback_us : 1),
		(double)status.schedule.octets / bench->n_ports);
	free(from);
	free(to);
	triad_sflow_sender_free(sender);
	triad_sflow_sender_free(loopback);
	close(receiver);
}

void bench_sflow(unsigned n_ports, bool as_json)
{
	struct bench bench = {.n_ports = n_ports, .as_json = as_json};

	set_up(&bench);
	measure(&bench);
	tear_down(&bench);
}
