/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "perfmgr/export/sflow_sender.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/sim/fabrics.h"
#include "tests/sim/sflow_decode.h"
#include "tests/unit/run.h"

#define S UINT64_C(1000000)
#define MS UINT64_C(1000)
#define BEGIN (1000 * S)
#define ALL ((1u << TRIAD_N_COUNTERS) - 1)

/* A simulated network: handle i belongs to the i-th socket opened. */
static struct {
	struct triad_address to;
	bool open;
	unsigned n_sent;
	int send_error, n_of_them;
	size_t greatest;
} sockets[32];
static unsigned n_sockets;
static int open_error;
static struct sflow_datagram last; /* sent */
static unsigned n_lines;
static char line[1024];        /* written last */
static uint32_t n_samples[64]; /* by ifIndex */
static uint32_t sequences[64];

static struct triad_fabric *fabric;
static struct triad_engine *engine;
static struct triad_view *view;
static struct triad_sflow_sender *sender;
static struct triad_sampler *sampler;
static struct triad_sflow_params params;

static int open_fake(void *context, const struct triad_address *to,
	struct triad_address *from, int *handle)
{
	if (open_error)
		return open_error;
	*from = (struct triad_address){.family = to->family, .octets = {10, 9, 8, 7}};
	sockets[n_sockets].to = *to;
	sockets[n_sockets].open = true;
	*handle = (int)n_sockets++;
	return 0;
}

/* Checks each datagram, and counts the samples of the first socket. */
static int send_fake(void *context, int handle, const void *octets, size_t size)
{
	const char *wrong = sflow_decode(octets, size, &last);

	ck_assert_msg(!wrong, "%s", wrong);
	ck_assert(sockets[handle].open);
	if (sockets[handle].n_of_them) {
		sockets[handle].n_of_them--;
		return sockets[handle].send_error;
	}
	sockets[handle].n_sent++;
	if (size > sockets[handle].greatest)
		sockets[handle].greatest = size;
	for (unsigned i = 0; handle == 0 && i < last.n_samples; i++) {
		n_samples[last.samples[i].source]++;
		sequences[last.samples[i].source] = last.samples[i].sequence;
	}
	return 0;
}

static void close_fake(void *context, int handle)
{
	ck_assert(sockets[handle].open);
	sockets[handle].open = false;
}

static const struct triad_udp fake = {
	.open = open_fake, .send = send_fake, .close = close_fake};

static void record_line(void *context, enum triad_log_level level, const char *text)
{
	n_lines++;
	snprintf(line, sizeof(line), "%s", text);
}

static struct triad_log test_log = {.write = record_line, .level = TRIAD_LOG_INFO};

/* Lets all ports answer with this value in all counters. */
static void answer(uint64_t value)
{
	struct triad_pma_reading reading = {.has = ALL};

	for (unsigned i = 0; i < TRIAD_N_COUNTERS; i++)
		reading.raw[i] = value;
	for (uint32_t i = 0; i < fabric->n_ports; i++) {
		triad_engine_update(engine, view->rows[i], TRIAD_PMA_PORT_COUNTERS,
			&reading, BEGIN);
		triad_engine_mark(engine, view->rows[i], true);
	}
}

static void set_up(void)
{
	fabric = fabric_row(2, 3); /* 18 ports */
	engine = triad_engine_new();
	view = triad_view_new(engine, fabric, NULL);
	ck_assert_int_eq(triad_engine_adopt(engine, fabric, BEGIN, view->rows), 0);
	answer(5);
	sampler = triad_sampler_new(1);
	sender = triad_sflow_sender_new(&test_log, &fake, sampler);
	params = (struct triad_sflow_params){
		.collectors = {{.family = AF_INET,
				       .octets = {192, 0, 2, 1},
				       .port = 6343},
			{.family = AF_INET, .octets = {192, 0, 2, 2}, .port = 6343}},
		.n_collectors = 2,
		.interval_us = 2 * S,
		.mtu = 1500,
	};
}

static void tear_down(void)
{
	triad_sflow_sender_free(sender);
	triad_sampler_free(sampler);
	for (unsigned i = 0; i < n_sockets; i++)
		ck_assert(!sockets[i].open);
	triad_view_unref(view);
	triad_engine_free(engine);
	triad_fabric_unref(fabric);
}

static void configure(void)
{
	ck_assert_int_eq(triad_sflow_sender_configure(sender, &params), 0);
}

/* Runs the sender like its owner, from 'from_us' until 'to_us'. */
static void run(uint64_t from_us, uint64_t to_us)
{
	while (from_us < to_us) {
		uint64_t sleep_us = triad_sflow_sender_run(sender, view, from_us);

		ck_assert(sleep_us >= 10 * MS && sleep_us <= S);
		from_us += sleep_us;
	}
}

static struct triad_sflow_sender_status get_status(void)
{
	return triad_sflow_sender_status(sender);
}

/* Row: S8 */
START_TEST(test_every_port_is_sampled_each_interval_at_each_collector)
{
	struct triad_sflow_sender_status status;

	configure();
	run(BEGIN, BEGIN + 10 * S);
	status = get_status();
	for (unsigned i = 1; i <= fabric->n_ports; i++) {
		ck_assert_uint_eq(n_samples[i], 5);
		ck_assert_uint_eq(sequences[i], 5);
	}
	ck_assert_uint_eq(status.n_samples, 5 * fabric->n_ports);
	ck_assert_uint_eq(status.n_datagrams, last.sequence);
	ck_assert_uint_eq(sockets[0].n_sent, last.sequence);
	ck_assert_uint_eq(sockets[1].n_sent, last.sequence);
	ck_assert_uint_eq(status.collectors[1].n_datagrams, last.sequence);
	ck_assert_uint_eq(last.agent[0], 10); /* the socket's own address */
	ck_assert_uint_eq(status.agent.octets[3], 7);
	ck_assert(last.uptime_ms > 9000 && last.uptime_ms < 10000);
	ck_assert(status.schedule.worst_jitter_us < 100 * MS);
	ck_assert_uint_eq(status.schedule.slipped_us, 0);
	ck_assert_uint_eq(n_lines, 0);
}
END_TEST

/* A request from LID 7, with a global route. */
static struct triad_sampled_request request_of_lid_7(void)
{
	struct triad_sampled_request request = {.slid = 7,
		.dlid = 1,
		.pkey = 0xffff,
		.sl = 3,
		.vl = 2,
		.src_qp = 0x123456,
		.has_grh = true,
		.traffic_class = 9,
		.flow_label = 0x54321,
		.src_gid = {0xfe, 0x80},
		.dst_gid = {0xfe, 0x81}};

	memset(request.mad, 0xab, sizeof(request.mad));
	return request;
}

/* Row: S3 */
START_TEST(test_picked_request_is_a_flow_sample_in_a_datagram_of_its_own)
{
	struct triad_sampled_request request = request_of_lid_7();
	const uint32_t end[] = {2, 3, 1, 7, 3};
	const struct sflow_flow *flow;
	unsigned n_flows = 0;

	fabric->sm_port = 0;
	triad_sampler_set_rate(sampler, 1);
	ck_assert(triad_sampler_pick(sampler));
	triad_sampler_put(sampler, &request);
	configure();
	for (uint64_t now_us = BEGIN; now_us < BEGIN + S; now_us += 50 * MS) {
		triad_sflow_sender_run(sender, view, now_us);
		if (!last.has_flows || n_flows)
			continue;
		n_flows++;
		flow = &last.samples[0].flow;
		ck_assert_uint_eq(last.n_samples, 1);
		ck_assert_uint_eq(last.samples[0].source, 1);
		ck_assert_uint_eq(last.samples[0].sequence, 1);
		ck_assert_uint_eq(flow->sampling_rate, 1);
		ck_assert_uint_eq(flow->sample_pool, 1);
		ck_assert_uint_eq(flow->drops, 0);
		ck_assert(flow->has_lrh && flow->has_grh && flow->has_bth);
		for (unsigned i = 0; i < 10; i++)
			ck_assert_uint_eq(flow->lrh[i], end[i % 5]);
		ck_assert_uint_eq(flow->flow_label, 0x54321);
		ck_assert_uint_eq(flow->traffic_class, 9);
		ck_assert_uint_eq(flow->bth[0], 0xffff);
		ck_assert_uint_eq(flow->bth[1], 1);
		ck_assert_uint_eq(flow->bth[2], 0x64);
	}
	ck_assert_uint_eq(n_flows, 1);
	ck_assert_uint_eq(get_status().n_flow_samples, 1);
}
END_TEST

/* Row: S7 */
START_TEST(test_totals_never_go_back_with_the_hardware)
{
	configure();
	run(BEGIN, BEGIN + 2 * S);
	ck_assert_uint_eq(last.samples[0].if_counters.in_octets, 20);
	answer(2); /* reset, and 2 since */
	run(BEGIN + 2 * S, BEGIN + 4 * S);
	ck_assert_uint_eq(last.samples[0].if_counters.in_octets, 28);
	ck_assert_uint_eq(last.samples[0].ib_counters.symbol_error, 7);
	ck_assert_uint_eq(last.samples[0].sequence, 2);
	triad_engine_zero(engine, view->rows[0], BEGIN + 4 * S);
	run(BEGIN + 4 * S, BEGIN + 6 * S);
	ck_assert_uint_eq(sequences[1], 1); /* zeroed on request: a new sequence */
	ck_assert_uint_eq(sequences[2], 3);
}
END_TEST

START_TEST(test_port_that_did_not_answer_is_skipped)
{
	configure();
	triad_engine_mark(engine, view->rows[3], false);
	run(BEGIN, BEGIN + 4 * S);
	ck_assert_uint_eq(n_samples[4], 0);
	ck_assert_uint_eq(n_samples[5], 2);
	ck_assert_uint_eq(get_status().n_skipped, 2);
}
END_TEST

START_TEST(test_datagrams_fill_the_mtu_and_no_more)
{
	unsigned n_before;

	params.interval_us = 100 * MS;
	params.mtu = 576;
	configure();
	run(BEGIN, BEGIN + 2 * S);
	ck_assert_uint_eq(sockets[0].greatest, 28 + 2 * 188); /* 3 would be 592 */
	ck_assert_uint_le(sockets[0].greatest, 576 - 28);
	params.mtu = 1500;
	configure();
	n_before = sockets[0].n_sent;
	run(BEGIN + 2 * S, BEGIN + 4 * S);
	ck_assert_uint_eq(sockets[0].greatest, 28 + 7 * 188);
	/* Nearly all samples of 20 rounds are in full datagrams. */
	ck_assert_uint_le(sockets[0].n_sent - n_before, 20 * 18 / 7 + 5);
	/* With the longer header of IPv6, 9 samples don't fit. */
	params.mtu = 28 + 28 + 9 * 188;
	configure();
	run(BEGIN + 4 * S, BEGIN + 6 * S);
	ck_assert_uint_eq(sockets[0].greatest, 28 + 9 * 188);
	sockets[0].greatest = 0;
	params.collectors[1].family = AF_INET6;
	configure();
	run(BEGIN + 6 * S, BEGIN + 8 * S);
	ck_assert_uint_eq(sockets[0].greatest, 28 + 8 * 188);
}
END_TEST

START_TEST(test_without_collectors_nothing_is_done_or_held)
{
	ck_assert(triad_sflow_sender_run(sender, view, BEGIN) == UINT64_MAX);
	configure();
	run(BEGIN, BEGIN + 3 * S);
	ck_assert(get_status().schedule.octets > 0);
	params.n_collectors = 0;
	configure();
	ck_assert(triad_sflow_sender_run(sender, view, BEGIN + 3 * S) == UINT64_MAX);
	ck_assert_uint_eq(get_status().schedule.octets, 0);
	ck_assert(!sockets[0].open && !sockets[1].open);
	/* With collectors configured again, sequence numbers begin anew. */
	params.n_collectors = 1;
	configure();
	run(BEGIN + 20 * S, BEGIN + 20 * S + 1);
	ck_assert_uint_eq(last.sequence, 1);
	ck_assert_uint_eq(last.uptime_ms, 0);
	ck_assert_uint_eq(last.samples[0].sequence, 1);
}
END_TEST

START_TEST(test_without_a_view_nothing_is_sent)
{
	configure();
	ck_assert_uint_eq(triad_sflow_sender_run(sender, NULL, BEGIN), S);
	run(BEGIN, BEGIN + 2 * S);
	ck_assert_uint_eq(get_status().n_samples, fabric->n_ports);
	for (unsigned i = 0; i < 60; i++)
		triad_sflow_sender_run(sender, NULL, BEGIN + (2 + i) * S);
	ck_assert_uint_eq(get_status().n_samples, fabric->n_ports);
	run(BEGIN + 62 * S, BEGIN + 68 * S);
	for (unsigned i = 1; i <= fabric->n_ports; i++)
		ck_assert(sequences[i] == 4 || sequences[i] == 5);
	ck_assert(get_status().schedule.worst_jitter_us < S);
}
END_TEST

/* Row: S8 */
START_TEST(test_failed_send_is_a_gap_at_its_collector_only)
{
	struct triad_sflow_sender_status status;

	configure();
	run(BEGIN, BEGIN + 2 * S);
	sockets[1].send_error = ECONNREFUSED;
	sockets[1].n_of_them = 4;
	run(BEGIN + 2 * S, BEGIN + 4 * S);
	status = get_status();
	ck_assert_uint_eq(status.collectors[1].n_drops, 4);
	ck_assert_int_eq(status.collectors[1].last_error, ECONNREFUSED);
	ck_assert(status.collectors[1].failing);
	ck_assert_uint_eq(
		status.collectors[1].n_datagrams + 4, status.collectors[0].n_datagrams);
	ck_assert_uint_eq(status.collectors[0].n_drops, 0);
	ck_assert_int_eq(status.collectors[0].last_error, 0);
	ck_assert_uint_eq(n_lines, 1);
	ck_assert_ptr_nonnull(strstr(line, "192.0.2.2:6343"));
	ck_assert_ptr_nonnull(strstr(line, "Connection refused"));
	run(BEGIN + 4 * S, BEGIN + 20 * S);
	ck_assert(!get_status().collectors[1].failing);
	ck_assert_uint_eq(n_lines, 2);
	ck_assert_ptr_nonnull(strstr(line, "again; 4 were lost"));
	/* A further drop within a minute is counted but not logged. */
	sockets[1].n_of_them = 1;
	run(BEGIN + 20 * S, BEGIN + 22 * S);
	ck_assert_uint_eq(get_status().collectors[1].n_drops, 5);
	ck_assert_uint_eq(n_lines, 2);
}
END_TEST

START_TEST(test_collector_that_cannot_be_opened_is_tried_again)
{
	open_error = ENETUNREACH;
	configure();
	ck_assert_uint_eq(triad_sflow_sender_run(sender, view, BEGIN), S);
	ck_assert_uint_eq(get_status().n_datagrams, 0); /* no agent address is known */
	ck_assert_int_eq(get_status().collectors[0].last_error, ENETUNREACH);
	ck_assert_uint_eq(n_lines, 2);
	open_error = 0;
	run(BEGIN + S, BEGIN + 4 * S);
	ck_assert_uint_eq(n_sockets, 0);
	run(BEGIN + 5 * S, BEGIN + 7 * S);
	ck_assert_uint_eq(n_sockets, 2);
	ck_assert_uint_eq(get_status().n_samples, fabric->n_ports);
	/* With a known agent address the sender counts the datagrams that it drops. */
	params.has_agent = true;
	params.agent = (struct triad_address){.family = AF_INET6, .octets = {0x20}};
	params.collectors[1].port = 6344;
	open_error = ENETUNREACH;
	configure();
	run(BEGIN + 7 * S, BEGIN + 9 * S);
	ck_assert(last.is_ipv6);
	ck_assert_uint_eq(last.agent[0], 0x20);
	ck_assert(get_status().collectors[1].n_drops > 0);
	ck_assert_uint_eq(get_status().collectors[1].n_datagrams, 0);
	ck_assert_uint_eq(get_status().collectors[0].n_drops, 0);
}
END_TEST

START_TEST(test_collectors_changed_while_running_keep_what_stays)
{
	configure();
	run(BEGIN, BEGIN + 2 * S);
	params.collectors[0] = params.collectors[1];
	params.collectors[1].octets[3] = 9;
	params.collectors[2] = params.collectors[0];
	params.collectors[2].octets[3] = 10;
	params.n_collectors = 3;
	configure();
	run(BEGIN + 2 * S, BEGIN + 4 * S);
	ck_assert_uint_eq(n_sockets, 4);
	ck_assert(!sockets[0].open && sockets[1].open && sockets[3].open);
	ck_assert_uint_eq(get_status().n_collectors, 3);
	ck_assert_uint_eq(
		get_status().collectors[0].n_datagrams, get_status().n_datagrams);
	ck_assert_uint_lt(
		get_status().collectors[1].n_datagrams, get_status().n_datagrams);
	ck_assert_uint_eq(last.sequence, get_status().n_datagrams);
}
END_TEST

START_TEST(test_configure_out_of_range_is_refused)
{
	const struct triad_sflow_params good = params;

	params.n_collectors = 9;
	ck_assert_int_eq(triad_sflow_sender_configure(sender, &params), EINVAL);
	params = good;
	params.mtu = 575;
	ck_assert_int_eq(triad_sflow_sender_configure(sender, &params), EINVAL);
	params.mtu = 9001;
	ck_assert_int_eq(triad_sflow_sender_configure(sender, &params), EINVAL);
	params = good;
	params.interval_us = 0;
	ck_assert_int_eq(triad_sflow_sender_configure(sender, &params), EINVAL);
	params = good;
	params.collectors[1].port = 0;
	ck_assert_int_eq(triad_sflow_sender_configure(sender, &params), EINVAL);
	params = good;
	params.collectors[1].family = AF_UNIX;
	ck_assert_int_eq(triad_sflow_sender_configure(sender, &params), EINVAL);
	ck_assert(triad_sflow_sender_run(sender, view, BEGIN) == UINT64_MAX);
}
END_TEST

START_TEST(test_fabric_changed_goes_on)
{
	struct triad_view *old_view = view;
	struct triad_fabric *old_fabric = fabric;

	configure();
	run(BEGIN, BEGIN + 2 * S);
	fabric = fabric_row(2, 4);
	view = triad_view_new(engine, fabric, NULL);
	ck_assert_int_eq(triad_engine_adopt(engine, fabric, BEGIN, view->rows), 0);
	answer(9);
	triad_view_unref(old_view);
	triad_fabric_unref(old_fabric);
	run(BEGIN + 2 * S, BEGIN + 4 * S);
	ck_assert_uint_eq(get_status().schedule.n_ports, fabric->n_ports);
	ck_assert_uint_eq(sequences[1], 2);
	run(BEGIN + 4 * S, BEGIN + 6 * S);
	for (unsigned i = 1; i <= fabric->n_ports; i++)
		ck_assert_uint_ge(n_samples[i], 1);
}
END_TEST

/* --- real sockets --- */

static int open_receiver(int family, struct triad_address *at)
{
	struct sockaddr_storage address = {.ss_family = (sa_family_t)family};
	struct sockaddr_in *ipv4 = (struct sockaddr_in *)&address;
	struct sockaddr_in6 *ipv6 = (struct sockaddr_in6 *)&address;
	socklen_t size = family == AF_INET ? sizeof(*ipv4) : sizeof(*ipv6);
	int fd = socket(family, SOCK_DGRAM, 0);

	if (family == AF_INET)
		ipv4->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	else
		ipv6->sin6_addr = in6addr_loopback;
	if (fd < 0 || bind(fd, (struct sockaddr *)&address, size) ||
		getsockname(fd, (struct sockaddr *)&address, &size)) {
		close(fd);
		return -1;
	}
	*at = (struct triad_address){.family = family};
	at->port = ntohs(family == AF_INET ? ipv4->sin_port : ipv6->sin6_port);
	if (family == AF_INET)
		memcpy(at->octets, &ipv4->sin_addr, 4);
	else
		memcpy(at->octets, &ipv6->sin6_addr, 16);
	return fd;
}

static void receive(int fd)
{
	struct pollfd wait = {.fd = fd, .events = POLLIN};
	uint8_t octets[2048];
	ssize_t size;

	ck_assert_int_eq(poll(&wait, 1, 10000), 1);
	size = recv(fd, octets, sizeof(octets), 0);
	ck_assert_ptr_null(sflow_decode(octets, (size_t)size, &last));
}

START_TEST(test_real_sockets_of_both_families_receive)
{
	int ipv4 = open_receiver(AF_INET, &params.collectors[0]);
	int ipv6 = open_receiver(AF_INET6, &params.collectors[1]);

	ck_assert_int_ge(ipv4, 0);
	params.n_collectors = ipv6 < 0 ? 1 : 2; /* a host without IPv6 */
	triad_sflow_sender_free(sender);
	sender = triad_sflow_sender_new(&test_log, NULL, NULL);
	configure();
	triad_sflow_sender_run(sender, view, BEGIN);
	receive(ipv4);
	ck_assert_uint_eq(last.agent[0], 127);
	if (ipv6 >= 0)
		receive(ipv6);
	close(ipv4);
	/* The collector has gone: the kernel reports that at the next datagram but
	 * one. */
	for (unsigned i = 1; i < 20 && !get_status().collectors[0].n_drops; i++)
		triad_sflow_sender_run(sender, view, BEGIN + i * S);
	ck_assert_int_eq(get_status().collectors[0].last_error, ECONNREFUSED);
	if (ipv6 >= 0) {
		ck_assert_uint_eq(get_status().collectors[1].n_drops, 0);
		close(ipv6);
	}
}
END_TEST

int main(void)
{
	TCase *cases = tcase_create("sflow_sender");

	tcase_add_checked_fixture(cases, set_up, tear_down);
	tcase_add_test(
		cases, test_every_port_is_sampled_each_interval_at_each_collector);
	tcase_add_test(cases, test_totals_never_go_back_with_the_hardware);
	tcase_add_test(cases, test_port_that_did_not_answer_is_skipped);
	tcase_add_test(cases, test_datagrams_fill_the_mtu_and_no_more);
	tcase_add_test(cases, test_without_collectors_nothing_is_done_or_held);
	tcase_add_test(cases, test_without_a_view_nothing_is_sent);
	tcase_add_test(cases, test_failed_send_is_a_gap_at_its_collector_only);
	tcase_add_test(cases, test_collector_that_cannot_be_opened_is_tried_again);
	tcase_add_test(cases, test_collectors_changed_while_running_keep_what_stays);
	tcase_add_test(cases, test_configure_out_of_range_is_refused);
	tcase_add_test(cases, test_fabric_changed_goes_on);
	tcase_add_test(
		cases, test_picked_request_is_a_flow_sample_in_a_datagram_of_its_own);
	tcase_add_test(cases, test_real_sockets_of_both_families_receive);
	return run_cases(cases);
}
