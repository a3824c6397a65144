/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Sends sFlow datagrams of every kind to UDP ports of this host:
 *
 *     sflow_say PORT...
 *
 * First two rounds of counter samples from the agent, for the ports of a fabric:
 * counter i of port p (from 0) is p * 100 + i, and p's ifIndex is p + 1.  Then an
 * expanded counter sample from another sub-agent.  Then flow samples, a compact one
 * from the first and an expanded one from the other.  Prints the totals:
 * {"datagrams":..., "ports":..., "samples":...}. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "perfmgr/export/sflow_sender.h"
#include "perfmgr/formats/sflow.h"
#include "tests/sim/fabrics.h"
#include "triad/clock.h"

#define ROUNDS 2
#define INTERVAL_US (500 * TRIAD_US_PER_MS)

struct sent {
	unsigned n_datagrams, n_samples;
	struct triad_sflow_params params;
	uint8_t buffer[1472];
};

static void die(const char *what)
{
	fprintf(stderr, "sflow_say: %s\n", what);
	exit(1);
}

static struct triad_view *make_view(struct triad_engine *engine)
{
	struct triad_fabric *fabric = fabric_row(4, 10);
	struct triad_view *view = triad_view_new(engine, fabric, NULL);
	struct triad_pma_reading reading = {.has = (1u << TRIAD_N_COUNTERS) - 1};

	if (!view || triad_engine_adopt(engine, fabric, 1, view->rows))
		die("no view");
	for (uint32_t port = 0; port < fabric->n_ports; port++) {
		fabric->ports[port].phys_state = 5;
		fabric->ports[port].width = 2;
		fabric->ports[port].speed_ext = 4;
		for (unsigned i = 0; i < TRIAD_N_COUNTERS; i++)
			reading.raw[i] = port * 100 + i;
		triad_engine_update(engine, view->rows[port],
			TRIAD_PMA_PORT_COUNTERS_EXTENDED, &reading, 1);
		triad_engine_mark(engine, view->rows[port], true);
	}
	triad_fabric_unref(fabric);
	return view;
}

static void send_counters(struct sent *sent, const struct triad_view *view)
{
	struct triad_sflow_sender *sender = triad_sflow_sender_new(NULL, NULL, NULL);
	struct triad_sflow_sender_status status;

	if (!sender || triad_sflow_sender_configure(sender, &sent->params))
		die("no sender");
	do {
		usleep((useconds_t)triad_sflow_sender_run(
			sender, view, triad_clock_now_us()));
		status = triad_sflow_sender_status(sender);
	} while (status.schedule.n_rounds < ROUNDS);
	sent->n_datagrams += (unsigned)status.n_datagrams;
	sent->n_samples += (unsigned)status.n_samples;
	triad_sflow_sender_free(sender);
}

static void send_buffer(struct sent *sent, size_t size)
{
	for (unsigned i = 0; i < sent->params.n_collectors; i++) {
		struct triad_address from;
		int handle;

		if (triad_udp_sockets.open(
			    NULL, &sent->params.collectors[i], &from, &handle) ||
			triad_udp_sockets.send(NULL, handle, sent->buffer, size))
			die("a datagram was not sent");
		triad_udp_sockets.close(NULL, handle);
	}
	sent->n_datagrams++;
	sent->n_samples++;
}

static void send_expanded_counters(struct sent *sent, const struct triad_view *view,
	struct triad_sflow_header *header)
{
	struct triad_engine_row row;
	struct triad_sflow_counter_sample sample = {.if_index = (1 << 24) + 5,
		.sequence = 1,
		.row = &row,
		.port = &view->fabric->ports[1]};
	struct triad_sflow_counters counters;

	triad_view_read(view, 1, &row);
	header->sequence = 1;
	triad_sflow_counters_begin(
		&counters, sent->buffer, sizeof(sent->buffer), header);
	if (!triad_sflow_counters_add(&counters, &sample))
		die("a sample does not fit");
	send_buffer(sent, triad_sflow_counters_size(&counters));
}

static void send_flow(struct sent *sent, struct triad_sflow_header *header)
{
	static const uint8_t packet[] = {0x00, 0x02, 0, 1, 0, 0x42, 0, 2, 0x64, 0, 0xff,
		0xff, 0, 0, 0, 1, 0, 0, 0, 9, 0, 0, 0};
	static const struct triad_sflow_lrh lrh = {{0, 0, 1, 2, 2}, {1, 0, 1, 2, 2}};
	static const struct triad_sflow_grh grh = {.next_header = 0x1b, .length = 256};
	static const struct triad_sflow_bth bth = {0xffff, 1, 0x64};
	const struct triad_sflow_flow_sample sample = {.if_index = 3,
		.sequence = 1,
		.sampling_rate = 1,
		.sample_pool = 1,
		.input = 3,
		.output = 4,
		.frame_length = 290,
		.stripped = 4,
		.header = packet,
		.header_size = sizeof(packet),
		.lrh = &lrh,
		.grh = &grh,
		.bth = &bth};
	struct triad_sflow_flows flows;

	header->sequence++;
	triad_sflow_flows_begin(&flows, sent->buffer, sizeof(sent->buffer), header);
	if (!triad_sflow_flows_add(&flows, &sample))
		die("a sample does not fit");
	send_buffer(sent, triad_sflow_flows_size(&flows));
}

int main(int argc, char **argv)
{
	struct sent sent = {
		.params = {.interval_us = INTERVAL_US, .mtu = 1500},
	};
	struct triad_sflow_header first = {
		.agent = {.family = AF_INET, .octets = {127, 0, 0, 1}}};
	struct triad_sflow_header other = {
		.agent = {.family = AF_INET6, .octets = {[15] = 1}},
		.sub_agent = 1,
		.expanded = true};
	struct triad_engine *engine = triad_engine_new();
	struct triad_view *view;

	if (argc < 2 || argc - 1 > TRIAD_SFLOW_MAX_COLLECTORS || !engine)
		die("usage: sflow_say PORT...");
	for (int i = 1; i < argc; i++)
		sent.params.collectors[sent.params.n_collectors++] =
			(struct triad_address){.family = AF_INET,
				.octets = {127, 0, 0, 1},
				.port = (uint16_t)strtoul(argv[i], NULL, 10)};
	view = make_view(engine);
	send_counters(&sent, view);
	first.sequence = sent.n_datagrams;
	send_expanded_counters(&sent, view, &other);
	send_flow(&sent, &first);
	send_flow(&sent, &other);
	printf("{\"datagrams\":%u,\"ports\":%u,\"samples\":%u}\n", sent.n_datagrams,
		view->fabric->n_ports, sent.n_samples);
	triad_view_unref(view);
	triad_engine_free(engine);
	return 0;
}
