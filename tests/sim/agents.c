/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "tests/sim/agents.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tests/random.h"

static bool chance(struct agents *agents, unsigned percent)
{
	return percent && random_below(&agents->seed, 100) < percent;
}

/* Bit by bit, so that it shares nothing with the decoder under test. */
static void put_bits(uint8_t *data, unsigned offset, unsigned bits, uint64_t value)
{
	for (unsigned i = 0; i < bits; i++) {
		unsigned at = offset + i;
		uint8_t mask = (uint8_t)(0x80 >> at % 8);

		if (value >> (bits - 1 - i) & 1)
			data[at / 8] |= mask;
		else
			data[at / 8] &= (uint8_t)~mask;
	}
}

static int find_port(const struct triad_fabric *fabric, uint16_t lid, uint8_t number)
{
	for (uint32_t i = 0; i < fabric->n_ports; i++)
		if (fabric->ports[i].lid == lid && fabric->ports[i].number == number)
			return (int)i;
	return -1;
}

static uint64_t most(const struct triad_counter_info *info)
{
	return info->bits ? (UINT64_C(1) << info->bits) - 1 : 0;
}

static uint64_t stopped(const struct triad_counter_info *info, uint64_t raw)
{
	return raw > most(info) ? most(info) : raw;
}

/* The raw value, or with port 0xff the sum over the ports of that LID. */
static uint64_t value_of(const struct agents *agents, uint16_t lid, uint8_t number,
	unsigned counter, bool is_extended)
{
	const struct triad_counter_info *info = &triad_counters[counter];
	uint64_t sum = 0;

	if (number != 0xff)
		return agents->raw[find_port(agents->fabric, lid, number)][counter];
	for (uint32_t i = 0; i < agents->fabric->n_ports; i++)
		if (agents->fabric->ports[i].lid == lid)
			sum += is_extended ? agents->raw[i][counter]
					   : stopped(info, agents->raw[i][counter]);
	return agents->has_zero_sums ? 0 : sum;
}

static void reset(
	struct agents *agents, const uint8_t *data, uint16_t lid, bool is_extended)
{
	unsigned select = data[2] << 8 | data[3];
	unsigned select_2 = data[6] << 8 | data[7];
	uint64_t *raw = agents->raw[find_port(agents->fabric, lid, data[1])];

	if (!is_extended)
		select |= (unsigned)(data[18] & 1) << 16;
	for (unsigned i = 0; i < TRIAD_N_COUNTERS; i++) {
		const struct triad_counter_info *info = &triad_counters[i];
		unsigned bit = is_extended && info->ext_offset
			? 1u << (info->ext_offset / 8 - 1)
			: 0;

		/* One register serves both attributes here.  A counter that has an
		 * extended one is reset by that attribute alone. */
		if (!is_extended && !(info->ext_offset && agents->capabilities & 0x600))
			bit = info->select;
		if (is_extended && agents->has_wide_errors &&
			select_2 & info->wide_select)
			raw[i] = 0;
		if (select & bit)
			raw[i] = 0;
	}
}

static void fill_moved(const struct agents *agents, uint8_t *data)
{
	put_bits(data, 16, 16, agents->capabilities);
	put_bits(data, 28 * 8, 16, agents->moved_to);
	put_bits(data, 30 * 8, 16, agents->moved_pkey);
	put_bits(data, 33 * 8, 24, agents->moved_qpn);
	put_bits(data, 36 * 8, 32, 0x80010000);
}

static void fill_counters(
	struct agents *agents, uint8_t *data, uint16_t lid, bool is_extended)
{
	for (unsigned i = 0; i < TRIAD_N_COUNTERS; i++) {
		const struct triad_counter_info *info = &triad_counters[i];
		uint64_t raw = value_of(agents, lid, data[1], i, is_extended);

		if (!is_extended && info->bits)
			put_bits(
				data, info->bit_offset, info->bits, stopped(info, raw));
		if (is_extended && info->ext_offset)
			put_bits(data, info->ext_offset * 8u, 64, raw);
		if (is_extended && agents->has_wide_errors && info->wide_offset &&
			(!agents->lacks_wide_errors || data[1] == 0xff))
			put_bits(data, info->wide_offset * 8u, 64, raw);
	}
}

/* The detail attribute of a request; 0 for another one.  Both layouts of
 * PortExtendedSpeedsCounters have one ID; an agent has one of them. */
static enum triad_pma_attribute detail_of(
	const struct agents *agents, const uint8_t *mad)
{
	static const uint16_t ids[TRIAD_PMA_N_ATTRIBUTES] = {
		[TRIAD_PMA_RCV_ERROR_DETAILS] = 0x15,
		[TRIAD_PMA_XMIT_DISCARD_DETAILS] = 0x16,
		[TRIAD_PMA_OP_RCV_COUNTERS] = 0x17,
		[TRIAD_PMA_FLOW_CTL_COUNTERS] = 0x18,
		[TRIAD_PMA_VL_OP_PACKETS] = 0x19,
		[TRIAD_PMA_VL_OP_DATA] = 0x1a,
		[TRIAD_PMA_VL_XMIT_FLOW_CTL_UPDATE_ERRORS] = 0x1b,
		[TRIAD_PMA_VL_XMIT_WAIT] = 0x1c,
		[TRIAD_PMA_EXT_SPEEDS] = 0x1f,
		[TRIAD_PMA_EXT_SPEEDS_RSFEC] = 0x1f,
		[TRIAD_PMA_SW_PORT_VL_CONGESTION] = 0x30,
		[TRIAD_PMA_RCV_CON_CTRL] = 0x31,
		[TRIAD_PMA_SL_RCV_FECN] = 0x32,
		[TRIAD_PMA_SL_RCV_BECN] = 0x33,
		[TRIAD_PMA_XMIT_CON_CTRL] = 0x34,
		[TRIAD_PMA_VL_XMIT_TIME_CONG] = 0x35,
		[TRIAD_PMA_XMIT_DATA_SL] = 0x36,
		[TRIAD_PMA_RCV_DATA_SL] = 0x37,
	};
	unsigned id = mad[16] << 8 | mad[17];
	enum triad_pma_attribute found = 0;

	for (unsigned i = 1; i < TRIAD_PMA_N_ATTRIBUTES; i++)
		if (ids[i] == id && (!found || agents->details & TRIAD_DETAIL_BIT(i)))
			found = i;
	return found;
}

static void fill_detail(struct agents *agents, enum triad_pma_attribute attribute,
	uint8_t *mad, uint16_t lid, bool is_set)
{
	uint8_t *data = mad + 64;
	struct triad_detail_reading *detail =
		&agents->detail[find_port(agents->fabric, lid, data[1])][attribute];

	agents->n_details += !is_set;
	agents->n_detail_of[attribute] += !is_set;
	agents->n_detail_sets += is_set;
	if (!(agents->details & TRIAD_DETAIL_BIT(attribute))) {
		mad[5] = 0x0c; /* this method of this attribute is not supported */
		return;
	}
	if (is_set)
		memset(detail, 0, sizeof(*detail));
	for (unsigned i = 0; i < triad_detail_n_slots(attribute); i++) {
		const struct triad_detail_field *field =
			triad_detail_field(attribute, i);

		put_bits(data, field->bit_offset + (i - field->slot) * field->bits,
			field->bits, detail->raw[i]);
	}
}

static void fill(
	struct agents *agents, uint8_t *mad, const struct triad_mad_address *to)
{
	unsigned attribute = mad[16] << 8 | mad[17];
	bool is_moved = to->lid == agents->moved_to && to->qpn == agents->moved_qpn;
	uint16_t lid = is_moved ? agents->moved_from : to->lid;
	uint8_t *data = mad + 64;
	bool is_set = mad[3] == 0x02;

	mad[3] = 0x81;
	if (lid == agents->moved_from && !is_moved &&
		(attribute == 1 || !agents->says_moved_in_info_only)) {
		mad[5] = agents->says_moved_in_info_only ? 0 : 0x02;
		mad[16] = 0;
		mad[17] = 1;
		fill_moved(agents, data);
		return;
	}
	if (attribute == 0x0001) {
		put_bits(data, 16, 16, agents->capabilities);
		put_bits(data, 32, 32, agents->has_wide_errors ? 1u << 1 << 5 : 0);
		return;
	}
	if ((data[1] == 0xff ? !(agents->capabilities & 0x100)
			     : find_port(agents->fabric, lid, data[1]) < 0) ||
		(attribute == 0x001d && agents->refuses_extended)) {
		mad[5] = 0x1c; /* invalid field */
		return;
	}
	if (detail_of(agents, mad)) {
		fill_detail(agents, detail_of(agents, mad), mad, lid, is_set);
		return;
	}
	if (is_set)
		reset(agents, data, lid, attribute == 0x001d);
	fill_counters(agents, data, lid, attribute == 0x001d);
}

static void enqueue(
	struct agents *agents, const uint8_t *mad, uint16_t lid, uint64_t at_us)
{
	unsigned at = agents->n_queued;

	if (agents->n_queued == agents->queue_room) {
		agents->queue_room = agents->queue_room * 2 + 64;
		agents->queue = realloc(
			agents->queue, agents->queue_room * sizeof(*agents->queue));
	}
	for (; at && agents->queue[at - 1].at_us > at_us; at--)
		agents->queue[at] = agents->queue[at - 1];
	agents->queue[at] = (struct agents_reply){
		.at_us = at_us, .reply = {.lid = lid, .size = TRIAD_MAD_SIZE}};
	memcpy(agents->queue[at].reply.mad, mad, TRIAD_MAD_SIZE);
	agents->n_queued++;
}

static int send_mad(void *context, const struct triad_mad_address *to,
	const uint8_t *mad, unsigned timeout_ms)
{
	struct agents *agents = context;
	uint64_t at_us = agents->now_us + agents->latency_us;
	uint8_t answer[TRIAD_MAD_SIZE];

	if (agents->send_room && agents->in_flight >= agents->send_room)
		return EAGAIN;
	at_us += agents->jitter_us ? random_next(&agents->seed) % agents->jitter_us : 0;
	agents->n_sent++;
	agents->n_class_port_info += mad[17] == 1 && !mad[16];
	agents->n_summaries += (mad[17] == 0x12 || mad[17] == 0x1d) && mad[65] == 0xff;
	agents->n_narrow += mad[17] == 0x12 && mad[65] != 0xff && mad[3] == 0x01;
	agents->n_sets += mad[3] == 0x02;
	if (chance(agents, agents->lost_percent) || to->lid == agents->silent_lid ||
		agents->silent_lids[to->lid])
		return 0;
	memcpy(answer, mad, TRIAD_MAD_SIZE);
	fill(agents, answer, to);
	if (TRIAD_DETAIL_BIT(detail_of(agents, mad)) & agents->ignored_details)
		return 0;
	if (agents->ignores_wide_sums && mad[17] == 0x1d && mad[65] == 0xff)
		return 0;
	if (agents->lose_set_answers && mad[3] == 0x02)
		return 0;
	if (chance(agents, agents->garbage_percent))
		for (unsigned i = 0; i < 8; i++)
			answer[random_below(&agents->seed, TRIAD_MAD_SIZE)] ^=
				(uint8_t)random_next(&agents->seed);
	enqueue(agents, answer, to->lid, at_us);
	if (chance(agents, agents->twice_percent))
		enqueue(agents, answer, to->lid,
			at_us + random_below(&agents->seed, 5000000));
	if (++agents->in_flight > agents->most_in_flight)
		agents->most_in_flight = agents->in_flight;
	if (++agents->lid_in_flight[to->lid] > agents->most_to_one_lid)
		agents->most_to_one_lid = agents->lid_in_flight[to->lid];
	return 0;
}

static int receive_mad(void *context, uint64_t wait_us, struct triad_mad_reply *reply)
{
	struct agents *agents = context;

	if (agents->broken)
		return EIO;
	if (!agents->n_queued || agents->queue[0].at_us > agents->now_us + wait_us) {
		agents->now_us += wait_us;
		return EAGAIN;
	}
	if (agents->queue[0].at_us > agents->now_us)
		agents->now_us = agents->queue[0].at_us;
	*reply = agents->queue[0].reply;
	agents->n_queued--;
	memmove(agents->queue, agents->queue + 1,
		agents->n_queued * sizeof(*agents->queue));
	if (agents->in_flight)
		agents->in_flight--;
	if (agents->lid_in_flight[reply->lid])
		agents->lid_in_flight[reply->lid]--;
	return 0;
}

void agents_move_to(struct agents *agents, const struct triad_fabric *fabric)
{
	uint64_t(*raw)[TRIAD_N_COUNTERS] = calloc(fabric->n_ports, sizeof(*raw));
	struct triad_detail_reading(*detail)[TRIAD_PMA_N_ATTRIBUTES] =
		calloc(fabric->n_ports, sizeof(*detail));
	const struct triad_fabric *was = agents->fabric;

	for (uint32_t i = 0; i < fabric->n_ports; i++) {
		uint64_t guid = fabric->nodes[fabric->ports[i].node].guid;
		uint32_t node = triad_fabric_find_node(was, guid);
		uint32_t port = node == TRIAD_FABRIC_NONE
			? TRIAD_FABRIC_NONE
			: triad_fabric_find_port(was, node, fabric->ports[i].number);

		if (port == TRIAD_FABRIC_NONE)
			continue;
		memcpy(raw[i], agents->raw[port], sizeof(raw[i]));
		memcpy(detail[i], agents->detail[port], sizeof(detail[i]));
	}
	free(agents->raw);
	free(agents->detail);
	agents->raw = raw;
	agents->detail = detail;
	agents->fabric = fabric;
}

static uint64_t now_us(void *context)
{
	return ((struct agents *)context)->now_us;
}

struct agents *agents_new(const struct triad_fabric *fabric, uint64_t seed)
{
	struct agents *agents = calloc(1, sizeof(*agents));

	agents->fabric = fabric;
	agents->seed = seed;
	agents->now_us = 1000000;
	agents->latency_us = 10;
	agents->capabilities = 0x1300; /* as ibsim's */
	agents->silent_lids = calloc(65536, sizeof(bool));
	agents->raw = calloc(fabric->n_ports, sizeof(*agents->raw));
	agents->detail = calloc(fabric->n_ports, sizeof(*agents->detail));
	agents->transport = (struct triad_mad_transport){
		.context = agents, .send = send_mad, .receive = receive_mad};
	agents->clock =
		(struct triad_collector_clock){.now_us = now_us, .context = agents};
	return agents;
}

void agents_free(struct agents *agents)
{
	free(agents->silent_lids);
	free(agents->raw);
	free(agents->detail);
	free(agents->queue);
	free(agents);
}
