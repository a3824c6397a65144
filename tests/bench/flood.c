/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The speed of the transport alone: a flood of performance queries.
 *
 *     flood --port-guid GUID [--window N] [--rounds N] [--json] <LIST
 *
 * LIST has a line "LID PORT" for each port.  Each is asked for PortCounters and
 * PortCountersExtended, in that order, 'rounds' times.  There are no retries and no
 * totals: a MAD without an answer within a second counts as lost.
 *
 * Prints ports, MADs sent and lost, seconds, MADs a second, and this process's CPU time
 * a MAD. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "ib/pma.h"
#include "service/umad.h"
#include "triad/clock.h"

#define TIMEOUT_US TRIAD_US_PER_S

struct target {
	uint16_t lid;
	uint8_t port;
};

struct flood {
	const struct triad_mad_transport *transport;
	struct target *targets;
	size_t n_targets;
	unsigned window, rounds;
	uint64_t sent, lost;
	unsigned in_flight;
};

static void die(const char *what)
{
	fprintf(stderr, "flood: %s\n", what);
	exit(1);
}

static void read_targets(struct flood *flood)
{
	unsigned lid, port;
	size_t room = 0;

	while (scanf("%u %u", &lid, &port) == 2) {
		if (flood->n_targets == room) {
			room = room * 2 + 1024;
			flood->targets =
				realloc(flood->targets, room * sizeof(*flood->targets));
			if (!flood->targets)
				die("out of memory");
		}
		flood->targets[flood->n_targets++] =
			(struct target){.lid = (uint16_t)lid, .port = (uint8_t)port};
	}
	if (!flood->n_targets)
		die("no 'LID PORT' on standard input");
}

/* Sends the n-th MAD of the flood. */
static void send_one(struct flood *flood, uint64_t n)
{
	const struct target *target = &flood->targets[n / 2 % flood->n_targets];
	const struct triad_mad_address to = {
		.lid = target->lid, .qpn = 1, .qkey = TRIAD_MAD_GSI_QKEY};
	uint8_t mad[TRIAD_MAD_SIZE];

	triad_pma_encode_get(mad,
		n % 2 ? TRIAD_PMA_PORT_COUNTERS_EXTENDED : TRIAD_PMA_PORT_COUNTERS,
		target->port, (uint32_t)n);
	if (flood->transport->send(flood->transport->context, &to, mad, 1000))
		die("a MAD can't be sent");
	flood->sent++;
	flood->in_flight++;
}

/* Waits for an answer and takes all that have arrived: so there are fewer switches
 * between the client and the server. */
static void receive_some(struct flood *flood)
{
	const struct triad_mad_transport *transport = flood->transport;
	struct triad_mad_reply reply;
	uint64_t wait_us = TIMEOUT_US;

	while (flood->in_flight &&
		!transport->receive(transport->context, wait_us, &reply)) {
		flood->lost += reply.status != 0;
		flood->in_flight--;
		wait_us = 0;
	}
	if (wait_us) {
		flood->lost += flood->in_flight;
		flood->in_flight = 0;
	}
}

static uint64_t cpu_us(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return (uint64_t)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) *
		TRIAD_US_PER_S +
		(uint64_t)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
}

static void run(struct flood *flood, bool as_json)
{
	uint64_t n_mads = (uint64_t)flood->n_targets * 2 * flood->rounds;
	uint64_t begun_us = triad_clock_now_us(), begun_cpu_us = cpu_us();
	double seconds, mads_per_s, cpu_us_per_mad;

	while (flood->sent < n_mads || flood->in_flight) {
		while (flood->sent < n_mads && flood->in_flight < flood->window)
			send_one(flood, flood->sent);
		receive_some(flood);
	}
	seconds = (double)(triad_clock_now_us() - begun_us) / 1e6;
	mads_per_s = (double)n_mads / seconds;
	cpu_us_per_mad = (double)(cpu_us() - begun_cpu_us) / (double)n_mads;
	printf(as_json ? "{\"ports\":%zu,\"mads\":%" PRIu64 ",\"lost\":%" PRIu64
			 ",\"seconds\":%.3f,\"mads_per_s\":%.0f,\"cpu_us_per_mad\":%."
			 "2f}\n"
		       : "%zu ports, %" PRIu64 " MADs, %" PRIu64
			 " lost, %.3f s, %.0f MADs a second, %.2f us CPU a MAD\n",
		flood->n_targets, n_mads, flood->lost, seconds, mads_per_s,
		cpu_us_per_mad);
}

int main(int argc, char **argv)
{
	struct flood flood = {.window = 64, .rounds = 1};
	struct triad_umad *umad = NULL;
	uint64_t port_guid = 0;
	bool as_json = false;

	for (int i = 1; i < argc; i++) {
		if (strcmp(argv[i], "--json") == 0)
			as_json = true;
		else if (i + 1 == argc)
			die("usage: flood --port-guid GUID [--window N] [--rounds N] "
			    "[--json] <LIST");
		else if (strcmp(argv[i], "--port-guid") == 0)
			port_guid = strtoull(argv[++i], NULL, 16);
		else if (strcmp(argv[i], "--window") == 0)
			flood.window = (unsigned)strtoul(argv[++i], NULL, 10);
		else if (strcmp(argv[i], "--rounds") == 0)
			flood.rounds = (unsigned)strtoul(argv[++i], NULL, 10);
	}
	if (!flood.window || !flood.rounds)
		die("--window and --rounds must be at least 1");
	read_targets(&flood);
	if (triad_umad_open(port_guid, TRIAD_MAD_CLASS_PERFORMANCE, &umad))
		die("the port with that GUID can't be opened");
	flood.transport = triad_umad_transport(umad);
	run(&flood, as_json);
	triad_umad_close(umad, false);
	free(flood.targets);
	return 0;
}
