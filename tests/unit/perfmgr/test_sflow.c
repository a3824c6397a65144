/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "perfmgr/formats/sflow.h"

#include <string.h>
#include <sys/socket.h>
#include <time.h>

#include "tests/random.h"
#include "tests/sim/sflow_decode.h"
#include "tests/unit/run.h"

#define MAX_SIZE 9000
#define MIN_SIZE (TRIAD_SFLOW_HEADER_SIZE + TRIAD_SFLOW_COUNTERS_SIZE)
#define UNKNOWN 0xffffffffu

static unsigned seed;
static uint64_t state;
static uint8_t buffer[MAX_SIZE + 1]; /* the last octet must never change */
static struct sflow_datagram decoded;
static struct triad_sflow_header header;

static void set_up(void)
{
	seed = (unsigned)time(NULL);
	state = seed;
	header = (struct triad_sflow_header){
		.agent = {.family = AF_INET, .octets = {192, 0, 2, 7}},
		.sub_agent = 3,
		.sequence = 0x01020304,
		.uptime_ms = 0x05060708,
	};
}

static uint64_t dice(void)
{
	return random_next(&state);
}

/* An assertion that calls libcheck only on failure: tests evaluate millions of them. */
#define MUST(condition_)                                                               \
	do {                                                                           \
		if (!(condition_))                                                     \
			ck_abort_msg("seed %u: not %s", seed, #condition_);            \
	} while (0)
#define MUST_EQUAL(a_, b_) MUST((a_) == (b_))

/* Counter i has the total i + 1. */
static struct triad_engine_row make_row(void)
{
	struct triad_engine_row row = {.has = (1u << TRIAD_N_COUNTERS) - 1};

	for (unsigned i = 0; i < TRIAD_N_COUNTERS; i++)
		row.total[i] = i + 1;
	return row;
}

/* 4x HDR, active. */
static const struct triad_fabric_port hdr_port = {
	.state = TRIAD_PORT_ACTIVE, .phys_state = 5, .width = 2, .speed_ext = 4};

static void decode(size_t size)
{
	const char *wrong = sflow_decode(buffer, size, &decoded);

	if (wrong)
		ck_abort_msg("seed %u: %s", seed, wrong);
}

static void encode_one(
	const struct triad_engine_row *row, const struct triad_fabric_port *port)
{
	struct triad_sflow_counter_sample sample = {
		.if_index = 5, .sequence = 6, .row = row, .port = port};
	struct triad_sflow_counters counters;

	triad_sflow_counters_begin(&counters, buffer, MAX_SIZE, &header);
	ck_assert(triad_sflow_counters_add(&counters, &sample));
	decode(triad_sflow_counters_size(&counters));
	ck_assert_uint_eq(decoded.n_samples, 1);
}

/* --- datagrams written out by hand from the specifications --- */

static void check_words(const uint32_t *words, size_t n, size_t size)
{
	ck_assert_uint_eq(size, n * 4);
	for (size_t i = 0; i < n; i++) {
		const uint8_t *p = buffer + 4 * i;
		uint32_t word = (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 |
			(uint32_t)p[2] << 8 | p[3];

		ck_assert_msg(word == words[i], "word %zu is 0x%x, not 0x%x", i, word,
			words[i]);
	}
}

/* Row: S5, S6 */
START_TEST(test_counter_sample_encoded_as_specified)
{
	static const uint32_t expected[] = {5, 1, 0xc0000207, 3, 0x01020304, 0x05060708,
		1,
		/* counters_sample, 180 octets: sequence, source, two records */
		2, 180, 6, 5, 2,
		/* if_counters, 88 octets: index, type, 200 Gb/s, duplex, up and up */
		1, 88, 5, 199, 0x2e, 0x90edd000, 1, 3,
		/* in: octets, unicast, 0, 0, discards 13 + 9, errors 4 + 5 + 6, 0 */
		0, 16 * 4, 18, 0, 0, 22, 15, 0,
		/* out: octets, unicast, 0, 0, discards, errors; not promiscuous */
		0, 15 * 4, 17, 0, 0, 7, 8, 2,
		/* ib_counters, 64 octets: packets out and in */
		9, 64, 0, 17, 0, 18,
		/* SymbolErrorCounter to ExcessiveBufferOverrunErrors, VL15Dropped */
		1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 13};
	struct triad_engine_row row = make_row();
	struct triad_sflow_counter_sample sample = {
		.if_index = 5, .sequence = 6, .row = &row, .port = &hdr_port};
	struct triad_sflow_counters counters;

	triad_sflow_counters_begin(&counters, buffer, MAX_SIZE, &header);
	ck_assert_uint_eq(triad_sflow_counters_size(&counters), 0);
	ck_assert(triad_sflow_counters_add(&counters, &sample));
	check_words(expected, sizeof(expected) / sizeof(expected[0]),
		triad_sflow_counters_size(&counters));
}
END_TEST

START_TEST(test_counter_sample_expanded_has_index_of_its_own)
{
	static const uint32_t expected[] = {5, 2, 0x20010db8, 0, 0, 0x00000009, 3,
		0x01020304, 0x05060708, 1,
		/* counters_sample_expanded: sequence, class, index, two records */
		4, 184, 6, 0, 0x01000000, 2, 1, 88, 0x01000000, 199};
	struct triad_engine_row row = make_row();
	struct triad_sflow_counter_sample sample = {
		.if_index = 1 << 24, .sequence = 6, .row = &row, .port = &hdr_port};
	struct triad_sflow_counters counters;

	header.expanded = true;
	header.agent = (struct triad_address){.family = AF_INET6,
		.octets = {0x20, 0x01, 0x0d, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 9}};
	triad_sflow_counters_begin(&counters, buffer, MIN_SIZE, &header);
	ck_assert(triad_sflow_counters_add(&counters, &sample));
	ck_assert_uint_eq(triad_sflow_counters_size(&counters), MIN_SIZE);
	check_words(expected, sizeof(expected) / sizeof(expected[0]), sizeof(expected));
	decode(MIN_SIZE);
	ck_assert(decoded.is_ipv6 && decoded.expanded);
}
END_TEST

/* Row: S1, S2, S3, S4 */
START_TEST(test_flow_sample_encoded_as_specified)
{
	static const uint32_t expected[] = {5, 1, 0xc0000207, 3, 0x01020304, 0x05060708,
		1,
		/* flow_sample: sequence, source, rate, pool, drops, in, out, 4
	         * records */
		1, 188, 9, 5, 1, 99, 2, 5, 0, 4,
		/* sampled_header: INFINIBAND, length, stripped, 5 octets, padding */
		1, 24, 18, 290, 4, 5, 0x01020304, 0x05000000,
		/* extended_ib_lrh */
		1031, 40, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10,
		/* extended_ib_grh */
		1032, 48, 0xfffff, 0xff, 0xfe800000, 0, 0, 1, 0xfe800000, 0, 0, 2, 0x1b,
		256,
		/* extended_ib_bth */
		1033, 12, 0xffff, 0xffffff, 0x64};
	static const uint8_t packet[] = {1, 2, 3, 4, 5};
	static const struct triad_sflow_lrh lrh = {{1, 2, 3, 4, 5}, {6, 7, 8, 9, 10}};
	static const struct triad_sflow_grh grh = {0xfffff, 0xff,
		{0xfe, 0x80, [15] = 1}, {0xfe, 0x80, [15] = 2}, 0x1b, 256};
	static const struct triad_sflow_bth bth = {0xffff, 0xffffff, 0x64};
	const struct triad_sflow_flow_sample sample = {
		5, 9, 1, 99, 2, 5, 0, 290, 4, packet, sizeof(packet), &lrh, &grh, &bth};
	struct triad_sflow_flows flows;

	triad_sflow_flows_begin(&flows, buffer, MAX_SIZE, &header);
	ck_assert_uint_eq(triad_sflow_flows_size(&flows), 0);
	ck_assert(triad_sflow_flows_add(&flows, &sample));
	check_words(expected, sizeof(expected) / sizeof(expected[0]),
		triad_sflow_flows_size(&flows));
	decode(triad_sflow_flows_size(&flows));
}
END_TEST

/* --- meanings --- */

/* Row: S6 */
START_TEST(test_counter_the_port_lacks_is_unknown)
{
	struct triad_engine_row row = make_row();

	row.has &= ~(1u << TRIAD_PORT_RCV_DATA | 1u << TRIAD_PORT_XMIT_PKTS |
		1u << TRIAD_PORT_RCV_SWITCH_RELAY_ERRORS | 1u << TRIAD_VL15_DROPPED);
	encode_one(&row, &hdr_port);
	ck_assert(decoded.samples[0].if_counters.in_octets == UINT64_MAX);
	ck_assert_uint_eq(decoded.samples[0].if_counters.out_octets, 60);
	ck_assert_uint_eq(decoded.samples[0].if_counters.out_unicast, UNKNOWN);
	ck_assert(decoded.samples[0].ib_counters.xmit_pkts == UINT64_MAX);
	ck_assert_uint_eq(
		decoded.samples[0].ib_counters.rcv_switch_relay_errors, UNKNOWN);
	/* A sum contains only those counters that the port has. */
	ck_assert_uint_eq(decoded.samples[0].if_counters.in_errors, 4 + 5);
	ck_assert_uint_eq(decoded.samples[0].if_counters.in_discards, 9);
	row.has = 0;
	encode_one(&row, &hdr_port);
	ck_assert_uint_eq(decoded.samples[0].if_counters.in_errors, UNKNOWN);
	ck_assert_uint_eq(decoded.samples[0].if_counters.in_multicast, 0);
}
END_TEST

START_TEST(test_total_past_a_member_wraps)
{
	struct triad_engine_row row = make_row();

	row.total[TRIAD_SYMBOL_ERROR_COUNTER] = (UINT64_C(7) << 32) + 9;
	row.total[TRIAD_PORT_RCV_PKTS] = (UINT64_C(5) << 32) + 11;
	row.total[TRIAD_PORT_XMIT_DATA] = (UINT64_C(3) << 62) + 5;
	row.total[TRIAD_VL15_DROPPED] = UNKNOWN;
	row.total[TRIAD_PORT_RCV_CONSTRAINT_ERRORS] = 3;
	encode_one(&row, &hdr_port);
	ck_assert_uint_eq(decoded.samples[0].ib_counters.symbol_error, 9);
	ck_assert_uint_eq(decoded.samples[0].if_counters.in_unicast, 11);
	ck_assert(decoded.samples[0].ib_counters.rcv_pkts == (UINT64_C(5) << 32) + 11);
	ck_assert_uint_eq(decoded.samples[0].if_counters.out_octets, 20);
	ck_assert_uint_eq(decoded.samples[0].if_counters.in_discards, 2);
}
END_TEST

/* Row: S6 */
START_TEST(test_status_and_speed_are_those_of_the_link)
{
	static const struct {
		struct triad_fabric_port port;
		uint32_t status;
		uint64_t speed;
	} cases[] = {
		{{.state = TRIAD_PORT_ACTIVE, .phys_state = 5, .width = 1, .speed = 1},
			3, UINT64_C(2000000000)},
		{{.state = TRIAD_PORT_ACTIVE, .phys_state = 5, .width = 2, .speed = 2},
			3, UINT64_C(16000000000)},
		{{.state = TRIAD_PORT_ARMED, .phys_state = 5, .width = 8, .speed = 4},
			1, UINT64_C(96000000000)},
		{{.state = TRIAD_PORT_ACTIVE,
			 .phys_state = 5,
			 .width = 2,
			 .speed = 4,
			 .speed_ext = 1},
			3, UINT64_C(54544000000)},
		{{.state = TRIAD_PORT_ACTIVE,
			 .phys_state = 5,
			 .width = 4,
			 .speed = 4,
			 .speed_ext = 2},
			3, UINT64_C(200000000000)},
		{{.state = TRIAD_PORT_ACTIVE,
			 .phys_state = 5,
			 .width = 16,
			 .speed_ext = 4},
			3, UINT64_C(100000000000)},
		{{.state = TRIAD_PORT_INIT,
			 .phys_state = 5,
			 .width = 2,
			 .speed_ext = 8},
			1, UINT64_C(400000000000)},
		{{.state = TRIAD_PORT_DOWN, .phys_state = 2, .width = 2, .speed = 4}, 1,
			0},
		{{.state = TRIAD_PORT_DOWN, .phys_state = 3, .width = 2, .speed = 4}, 0,
			0},
		{{.state = TRIAD_PORT_ACTIVE, .phys_state = 5, .width = 3, .speed = 4},
			3, 0},
	};
	struct triad_engine_row row = make_row();

	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		encode_one(&row, &cases[i].port);
		ck_assert_msg(decoded.samples[0].if_counters.status == cases[i].status,
			"case %u", i);
		ck_assert_msg(decoded.samples[0].if_counters.speed == cases[i].speed,
			"case %u: %lu", i,
			(unsigned long)decoded.samples[0].if_counters.speed);
	}
}
END_TEST

/* --- properties, over random samples and every size of a datagram --- */

struct given {
	struct triad_sflow_counter_sample sample;
	struct triad_engine_row row;
};

static void roll_counter_sample(struct given *given)
{
	given->row = (struct triad_engine_row){.has = (uint32_t)(dice() >> 42)};
	if (dice() % 4)
		given->row.has = (1u << TRIAD_N_COUNTERS) - 1;
	for (unsigned i = 0; i < TRIAD_N_COUNTERS; i++)
		given->row.total[i] = dice() >> dice() % 64;
	given->sample = (struct triad_sflow_counter_sample){
		.if_index = 1 +
			(uint32_t)dice() %
				(header.expanded ? TRIAD_SFLOW_MAX_INDEX
						 : TRIAD_SFLOW_MAX_COMPACT_INDEX),
		.sequence = (uint32_t)dice(),
		.row = &given->row,
		.port = &hdr_port,
	};
}

static uint64_t total_of(const struct triad_engine_row *row, unsigned counter)
{
	return row->has & 1u << counter ? row->total[counter] : UINT64_MAX;
}

static void check_counter_sample(const struct given *given, unsigned at)
{
	const struct triad_engine_row *row = &given->row;
	const struct sflow_sample *got = &decoded.samples[at];
	const uint32_t *errors = &got->ib_counters.symbol_error;
	uint64_t octets = total_of(row, TRIAD_PORT_XMIT_DATA);

	MUST_EQUAL(got->sequence, given->sample.sequence);
	MUST_EQUAL(got->source, given->sample.if_index);
	for (unsigned i = 0; i <= TRIAD_EXCESSIVE_BUFFER_OVERRUN_ERRORS; i++)
		MUST(errors[i] == (uint32_t)total_of(row, i));
	MUST(got->ib_counters.vl15_dropped ==
		(uint32_t)total_of(row, TRIAD_VL15_DROPPED));
	MUST(got->ib_counters.xmit_pkts == total_of(row, TRIAD_PORT_XMIT_PKTS));
	MUST(got->ib_counters.rcv_pkts == total_of(row, TRIAD_PORT_RCV_PKTS));
	MUST(got->if_counters.out_octets ==
		(row->has & 1u << TRIAD_PORT_XMIT_DATA ? octets * 4 : octets));
}

static void check_header(size_t size)
{
	decode(size);
	MUST_EQUAL(decoded.sequence, header.sequence);
	MUST_EQUAL(decoded.uptime_ms, header.uptime_ms);
	MUST_EQUAL(decoded.sub_agent, header.sub_agent);
	MUST_EQUAL(decoded.is_ipv6, header.agent.family == AF_INET6);
	ck_assert_int_eq(
		memcmp(decoded.agent, header.agent.octets, decoded.is_ipv6 ? 16 : 4),
		0);
	MUST_EQUAL(decoded.expanded, header.expanded);
}

static void roll_header(void)
{
	header.agent.family = dice() % 2 ? AF_INET : AF_INET6;
	for (unsigned i = 0; i < 16; i++)
		header.agent.octets[i] = (uint8_t)dice();
	header.sequence = (uint32_t)dice();
	header.uptime_ms = (uint32_t)dice();
	header.expanded = dice() % 2;
}

/* Row: S5 */
START_TEST(test_counter_samples_of_any_size_read_back)
{
	static struct given given[64];

	for (size_t size = 576; size <= MAX_SIZE; size++) {
		size_t head, each, used;
		struct triad_sflow_counters counters;
		unsigned n = 0;

		roll_header();
		head = header.agent.family == AF_INET ? 28 : 40;
		each = header.expanded ? 192 : 188;
		memset(buffer + size, 0xa5, sizeof(buffer) - size);
		triad_sflow_counters_begin(&counters, buffer, size, &header);
		do
			roll_counter_sample(&given[n]);
		while (triad_sflow_counters_add(&counters, &given[n].sample) && ++n);
		used = triad_sflow_counters_size(&counters);
		/* As many samples as fit, none cut off, no octet after them changed. */
		MUST_EQUAL(n, (size - head) / each);
		MUST_EQUAL(n, triad_sflow_counters_room(size, &header));
		MUST_EQUAL(used, head + n * each);
		MUST_EQUAL(buffer[size], 0xa5);
		check_header(used);
		MUST(!decoded.has_flows);
		MUST_EQUAL(decoded.n_samples, n);
		for (unsigned i = 0; i < n; i++)
			check_counter_sample(&given[i], i);
	}
}
END_TEST

struct given_flow {
	struct triad_sflow_flow_sample sample;
	struct triad_sflow_lrh lrh;
	struct triad_sflow_grh grh;
	struct triad_sflow_bth bth;
	uint8_t packet[128];
};

static void roll(void *to, size_t size)
{
	for (size_t i = 0; i < size; i++)
		((uint8_t *)to)[i] = (uint8_t)dice();
}

static void roll_flow_sample(struct given_flow *given)
{
	roll(given, sizeof(*given));
	given->sample.if_index = 1 + given->sample.if_index % 1000000;
	given->sample.input &= 0x3fffffff;
	given->sample.output &= 0x3fffffff;
	given->sample.header = given->packet;
	given->sample.header_size %= sizeof(given->packet) + 1;
	given->sample.lrh = dice() % 4 ? &given->lrh : NULL;
	given->sample.grh = dice() % 4 ? &given->grh : NULL;
	given->sample.bth = dice() % 4 ? &given->bth : NULL;
}

static void check_flow_sample(const struct given_flow *given, unsigned at)
{
	const struct triad_sflow_flow_sample *sample = &given->sample;
	const struct sflow_flow *flow = &decoded.samples[at].flow;

	MUST_EQUAL(decoded.samples[at].source, sample->if_index);
	MUST_EQUAL(decoded.samples[at].sequence, sample->sequence);
	MUST_EQUAL(flow->sampling_rate, sample->sampling_rate);
	MUST_EQUAL(flow->sample_pool, sample->sample_pool);
	MUST_EQUAL(flow->drops, sample->drops);
	MUST_EQUAL(flow->input, sample->input);
	MUST_EQUAL(flow->output, sample->output);
	MUST_EQUAL(flow->frame_length, sample->frame_length);
	MUST_EQUAL(flow->stripped, sample->stripped);
	MUST_EQUAL(flow->header_size, sample->header_size);
	MUST(!memcmp(flow->header, given->packet, flow->header_size));
	MUST_EQUAL(flow->has_lrh, !!sample->lrh);
	MUST_EQUAL(flow->has_grh, !!sample->grh);
	MUST_EQUAL(flow->has_bth, !!sample->bth);
	if (sample->lrh)
		MUST(!memcmp(flow->lrh, &given->lrh, sizeof(flow->lrh)));
	if (sample->grh) {
		MUST_EQUAL(flow->flow_label, given->grh.flow_label);
		MUST_EQUAL(flow->traffic_class, given->grh.traffic_class);
		MUST(!memcmp(flow->src_gid, given->grh.src_gid, 16));
		MUST(!memcmp(flow->dst_gid, given->grh.dst_gid, 16));
		MUST_EQUAL(flow->next_header, given->grh.next_header);
		MUST_EQUAL(flow->length, given->grh.length);
	}
	if (sample->bth)
		MUST(!memcmp(flow->bth, &given->bth, sizeof(flow->bth)));
}

/* Row: S2, S3, S4 */
START_TEST(test_flow_samples_of_any_size_read_back)
{
	static struct given_flow given[160];

	for (size_t size = 576; size <= MAX_SIZE; size++) {
		struct triad_sflow_flows flows;
		unsigned n = 0;

		roll_header();
		memset(buffer + size, 0xa5, sizeof(buffer) - size);
		triad_sflow_flows_begin(&flows, buffer, size, &header);
		do
			roll_flow_sample(&given[n]);
		while (triad_sflow_flows_add(&flows, &given[n].sample) && ++n);
		MUST_EQUAL(buffer[size], 0xa5);
		MUST(triad_sflow_flows_size(&flows) <= size);
		check_header(triad_sflow_flows_size(&flows));
		MUST(decoded.has_flows);
		MUST_EQUAL(decoded.n_samples, n);
		for (unsigned i = 0; i < n; i++)
			check_flow_sample(&given[i], i);
	}
}
END_TEST

/* The other tests rely on the decoder, so it must detect every cut. */
START_TEST(test_decoder_given_any_cut_refuses)
{
	struct triad_engine_row row = make_row();
	size_t size = 28 + 188;

	encode_one(&row, &hdr_port);
	for (size_t cut = 0; cut < size; cut++)
		ck_assert_ptr_nonnull(sflow_decode(buffer, cut, &decoded));
	ck_assert_ptr_nonnull(sflow_decode(buffer, size + 1, &decoded));
	decode(size);
	buffer[28 + 20 + 3] = 2; /* ethernet_counters instead of if_counters */
	ck_assert_str_eq(sflow_decode(buffer, size, &decoded),
		"if_counters is not the first record");
}
END_TEST

int main(void)
{
	TCase *cases = tcase_create("sflow");

	tcase_add_checked_fixture(cases, set_up, NULL);
	tcase_add_test(cases, test_counter_sample_encoded_as_specified);
	tcase_add_test(cases, test_counter_sample_expanded_has_index_of_its_own);
	tcase_add_test(cases, test_flow_sample_encoded_as_specified);
	tcase_add_test(cases, test_counter_the_port_lacks_is_unknown);
	tcase_add_test(cases, test_total_past_a_member_wraps);
	tcase_add_test(cases, test_status_and_speed_are_those_of_the_link);
	tcase_add_test(cases, test_counter_samples_of_any_size_read_back);
	tcase_add_test(cases, test_flow_samples_of_any_size_read_back);
	tcase_add_test(cases, test_decoder_given_any_cut_refuses);
	return run_cases(cases);
}
