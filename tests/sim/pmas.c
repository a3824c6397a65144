/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "tests/sim/pmas.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "tests/random.h"

#define N_LIDS 65536u
#define ALL_PORTS 0xff
#define MAX_ANSWERS 8192u /* more questions than a window has */
/* AllPortSelect, IsExtendedWidthSupported, and PortXmitWait is there. */
#define CAPABILITIES 0x1300
#define INVALID_FIELD 0x1c

enum { CLASS_PORT_INFO = 0x01, PORT_COUNTERS = 0x12, EXTENDED = 0x1d };

struct pma_answer {
	uint64_t at_us;
	struct triad_mad_reply reply;
};

struct pmas *pmas_new(const struct triad_fabric *fabric)
{
	struct pmas *pmas = calloc(1, sizeof(*pmas));

	if (!pmas)
		return NULL;
	pmas->fabric = fabric;
	pmas->port_of_lid = malloc(N_LIDS * sizeof(*pmas->port_of_lid));
	pmas->raw = calloc(fabric->n_ports + 1, sizeof(*pmas->raw));
	pmas->is_dead = calloc(fabric->n_nodes + 1, sizeof(*pmas->is_dead));
	if (!pmas->port_of_lid || !pmas->raw || !pmas->is_dead) {
		pmas_free(pmas);
		return NULL;
	}
	memset(pmas->port_of_lid, 0xff, N_LIDS * sizeof(*pmas->port_of_lid));
	for (uint32_t i = fabric->n_ports; i-- > 0;)
		pmas->port_of_lid[fabric->ports[i].lid] = i;
	return pmas;
}

void pmas_free(struct pmas *pmas)
{
	if (!pmas)
		return;
	free(pmas->port_of_lid);
	free(pmas->raw);
	free(pmas->is_dead);
	free(pmas);
}

/* --- answers --- */

/* Octets or nibbles, most significant first; nothing of the decoder under test. */
static void put(uint8_t *data, unsigned bit_offset, unsigned bits, uint64_t value)
{
	if (bits < 8) {
		unsigned shift = 8 - bits - bit_offset % 8;

		data[bit_offset / 8] |= (uint8_t)(value << shift);
		return;
	}
	for (unsigned i = bits / 8; i-- > 0; value >>= 8)
		data[bit_offset / 8 + i] = (uint8_t)value;
}

/* A counter of one port, or the sum over all of the LID's; it stops at 'most'. */
static uint64_t value_of(const struct pmas *pmas, uint32_t first, uint8_t number,
	unsigned counter, uint64_t most)
{
	const struct triad_fabric_node *node =
		&pmas->fabric->nodes[pmas->fabric->ports[first].node];
	uint64_t sum = 0;

	if (number != ALL_PORTS) {
		uint32_t port = triad_fabric_find_port(
			pmas->fabric, pmas->fabric->ports[first].node, number);

		sum = pmas->raw[port][counter];
	}
	for (uint32_t i = 0; number == ALL_PORTS && i < node->n_ports; i++)
		sum += pmas->raw[node->first_port + i][counter];
	return sum < most ? sum : most;
}

static void fill(const struct pmas *pmas, uint8_t *mad, uint16_t lid)
{
	unsigned attribute = mad[16] << 8 | mad[17];
	uint32_t first = pmas->port_of_lid[lid];
	uint8_t *data = mad + 64, number = data[1];

	mad[3] = TRIAD_MAD_METHOD_GET_RESPONSE;
	if (attribute == CLASS_PORT_INFO) {
		put(data, 16, 16, CAPABILITIES);
		return;
	}
	if (number != ALL_PORTS &&
		triad_fabric_find_port(pmas->fabric, pmas->fabric->ports[first].node,
			number) == TRIAD_FABRIC_NONE) {
		mad[5] = INVALID_FIELD;
		return;
	}
	for (unsigned i = 0; i < TRIAD_N_COUNTERS; i++) {
		const struct triad_counter_info *info = &triad_counters[i];

		if (attribute == PORT_COUNTERS && info->bits)
			put(data, info->bit_offset, info->bits,
				value_of(pmas, first, number, i, triad_counter_max(i)));
		if (attribute == EXTENDED && info->ext_offset)
			put(data, info->ext_offset * 8u, 64,
				value_of(pmas, first, number, i, UINT64_MAX));
	}
}

/* --- clients --- */

static bool is_lost(struct pma_client *client)
{
	return random_below(&client->seed, 100) < client->lost_percent;
}

static bool answers(const struct pmas *pmas, uint16_t lid)
{
	uint32_t port = pmas->port_of_lid[lid];

	return port != TRIAD_FABRIC_NONE &&
		!pmas->is_dead[pmas->fabric->ports[port].node];
}

static int send_mad(void *context, const struct triad_mad_address *to,
	const uint8_t *mad, unsigned timeout_ms)
{
	struct pma_client *client = context;
	struct pma_answer *answer =
		&client->answers[(client->first + client->n) % MAX_ANSWERS];

	(void)timeout_ms;
	if (client->n == MAX_ANSWERS)
		return EAGAIN;
	client->n_sent++;
	if (is_lost(client) || !answers(client->pmas, to->lid))
		return 0;
	client->n++;
	answer->at_us = client->now_us + client->latency_us;
	answer->reply.status = 0;
	answer->reply.lid = to->lid;
	answer->reply.size = TRIAD_MAD_SIZE;
	memcpy(answer->reply.mad, mad, TRIAD_MAD_SIZE);
	fill(client->pmas, answer->reply.mad, to->lid);
	return 0;
}

static int receive_mad(void *context, uint64_t wait_us, struct triad_mad_reply *reply)
{
	struct pma_client *client = context;
	const struct pma_answer *answer = &client->answers[client->first];

	if (!client->n || answer->at_us > client->now_us + wait_us) {
		client->now_us += wait_us;
		return EAGAIN;
	}
	if (answer->at_us > client->now_us)
		client->now_us = answer->at_us;
	*reply = answer->reply;
	client->first = (client->first + 1) % MAX_ANSWERS;
	client->n--;
	return 0;
}

static uint64_t now_us(void *context)
{
	return ((struct pma_client *)context)->now_us;
}

struct pma_client *pma_client_new(const struct pmas *pmas, uint64_t seed)
{
	struct pma_client *client = calloc(1, sizeof(*client));

	if (!client)
		return NULL;
	client->answers = malloc(MAX_ANSWERS * sizeof(*client->answers));
	client->pmas = pmas;
	client->seed = seed;
	client->latency_us = 10;
	client->transport = (struct triad_mad_transport){
		.context = client, .send = send_mad, .receive = receive_mad};
	client->clock =
		(struct triad_collector_clock){.now_us = now_us, .context = client};
	if (client->answers)
		return client;
	free(client);
	return NULL;
}

void pma_client_free(struct pma_client *client)
{
	if (!client)
		return;
	free(client->answers);
	free(client);
}
