/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Messages from the broker, with valid headers, to an agent and to a manager with a
 * small fabric, which also receive each other's messages: DATA, DETAILS, histograms,
 * the fabric from the manager, and the rest.  The messages that they send must be
 * valid, and their next times must be in the future.
 *
 * Input: messages, each after 4 octets:
 *
 *     0  receiver (1: the manager), sender (2 and 4: index in 'senders'), whether the
 *        sender has started again (8), time that passes before (the highest 4 bits)
 *     1  kind, modulo N_KINDS: those of messages, and two more: the manager requests
 *        histograms; the fabric of a TOPOLOGY, without its hash and not packed
 *     2  length of the body, big-endian */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collect/topology_message.h"
#include "collect/member.h"
#include "collect/distance.h"
#include "perfmgr/engine.h"
#include "tests/sim/fabrics.h"
#include "triad/clock.h"
#include "tests/fuzz/fuzz.h"

/* Port GUIDs of hosts at the first and the second switch. */
#define AGENT UINT64_C(0x10000)
#define MANAGER (~AGENT)
#define OTHER UINT64_C(0x10100)
#define ASK 16 /* a message's kind has four bits */
#define FABRIC 17
#define N_KINDS 18
#define MAX_POSTED 64u
#define MAX_PORTS 4096u

struct side {
	struct triad_member *member;
	struct triad_engine *engine;
	struct triad_view *view;
	struct triad_aggregator *aggregator; /* the manager's */
};

struct letter {
	bool to_manager;
	size_t size;
	uint8_t *octets;
};

static struct side agent, manager;
static struct letter posted[MAX_POSTED];
static unsigned n_posted, n_gathered;
static uint64_t now_us;

/* --- callbacks --- */

/* Queues a message until it is delivered, as a broker does. */
static void post(bool to_manager, const uint8_t *octets, size_t size)
{
	struct letter *letter = &posted[n_posted];

	if (n_posted == MAX_POSTED)
		return;
	*letter = (struct letter){
		.to_manager = to_manager, .size = size, .octets = malloc(size)};
	if (!letter->octets)
		exit(1);
	memcpy(letter->octets, octets, size);
	n_posted++;
}

static void send_message(void *context, enum triad_member_to to, uint64_t id,
	const uint8_t *octets, size_t size)
{
	bool is_managers = context == &manager;
	struct triad_collect_head head;
	struct triad_wire body;
	uint8_t *copy = malloc(size);

	if (!copy)
		exit(1);
	memcpy(copy, octets, size);
	require(size &&
			triad_collect_get_head(copy, size, &head, &body) ==
				TRIAD_COLLECT_HEAD_GOOD,
		"a message sent is one");
	free(copy);
	if (to == TRIAD_MEMBER_TO_ALL || (to == TRIAD_MEMBER_TO_MANAGERS) ||
		id == AGENT || id == MANAGER)
		post(!is_managers, octets, size);
}

static int give_histogram(void *context, const struct triad_gather_request *request,
	unsigned counter, struct triad_histogram *copy, uint64_t *n_zeros)
{
	(void)context;
	require(request->counters & 1u << counter, "a counter that was asked for");
	for (unsigned i = 0; i < 40; i += 7)
		triad_histogram_add(copy, i);
	*n_zeros = 3;
	return 0;
}

static void clear(void *context, const struct triad_collect_clear *clear)
{
	(void)context;
	(void)clear;
}

static void take_trap(void *context, const struct triad_collect_trap *trap)
{
	(void)context;
	require(trap->node_guid && trap->value >= 0, "a trap that makes sense");
}

static void adopt(struct side *side, struct triad_fabric *fabric, uint64_t hash)
{
	struct triad_view *view = triad_view_new(side->engine, fabric, NULL);

	if (!view || triad_engine_adopt(side->engine, fabric, now_us, view->rows) ||
		triad_member_set_fabric(side->member, fabric, hash, now_us))
		exit(1);
	triad_view_unref(side->view);
	side->view = view;
	if (side->aggregator)
		triad_aggregator_adopt(side->aggregator, view);
}

static void take_fabric(void *context, struct triad_fabric *fabric, uint64_t hash)
{
	struct side *side = context;
	struct triad_fabric *part;
	bool *is_own;

	if (fabric->n_ports > MAX_PORTS)
		return;
	adopt(side, fabric, hash);
	is_own = calloc(fabric->n_nodes + 1, sizeof(*is_own));
	for (uint32_t i = 0; is_own && i < fabric->n_nodes; i++)
		is_own[i] = i % 2;
	if (!is_own || triad_distance_part(fabric, is_own, &part))
		exit(1);
	triad_fabric_unref(part);
	free(is_own);
}

static uint64_t owner_of(void *context, uint32_t node)
{
	(void)context;
	require(node < manager.view->fabric->n_nodes, "a node of the view");
	return triad_claims_owner(triad_member_claims(manager.member), node, NULL);
}

static void ask_again(void *context, uint64_t id, uint32_t number)
{
	(void)context;
	triad_member_ask_again(manager.member, id, number);
}

static void take_row(void *context, uint32_t port, uint32_t causes, uint64_t n_downs)
{
	(void)context;
	(void)causes;
	require(port < manager.view->fabric->n_ports, "a port of the view");
}

static void take_histograms(void *context, struct triad_gather *gather)
{
	(void)context;
	require(gather->n_agents <= gather->n_asked, "no more answers than questions");
	n_gathered++;
}

/* --- both sides --- */

static void begin(struct side *side, uint64_t id, struct triad_fabric *fabric)
{
	const struct triad_member_params params = {
		.id = id,
		.incarnation = 1000,
		.port_guid = AGENT,
		.is_manager = id == MANAGER,
		.name = "one",
		.seed = 1,
	};
	const struct triad_member_sink sink = {
		.context = side,
		.send = send_message,
		.histogram = give_histogram,
		.clear = clear,
		.fabric = take_fabric,
		.trap = take_trap,
	};
	const struct triad_aggregator_sink aggregator_sink = {
		.owner = owner_of, .ask_again = ask_again, .row = take_row};
	const struct triad_member_settings settings = {
		.reporter = {.refresh = 10, .period_us = TRIAD_US_PER_S},
		.sweep_ms = 1000};

	*side = (struct side){.engine = triad_engine_new()};
	if (params.is_manager)
		side->aggregator = triad_aggregator_new(side->engine, &aggregator_sink);
	side->member = triad_member_new(
		&params, &sink, side->aggregator, 5 * TRIAD_US_PER_S, 250000);
	if (!side->engine || !side->member || (params.is_manager && !side->aggregator))
		exit(1);
	triad_member_configure(side->member, &settings);
	adopt(side, fabric, 0);
}

static void end(struct side *side)
{
	triad_member_free(side->member);
	triad_aggregator_free(side->aggregator);
	triad_view_unref(side->view);
	triad_engine_free(side->engine);
}

static void receive_from(struct side *side, uint8_t *octets, size_t size)
{
	struct triad_member_sender speaker = {.id = OTHER};
	struct triad_collect_head head;
	struct triad_wire body;

	/* The message comes from its sender, unless it was relayed. */
	if (triad_collect_get_head(octets, size, &head, &body) ==
			TRIAD_COLLECT_HEAD_GOOD &&
		!head.n_relays)
		speaker = (struct triad_member_sender){
			.id = head.sender, .is_manager = head.sender == MANAGER};
	triad_member_receive(side->member, &speaker, octets, size, now_us);
	require(triad_member_step(side->member, now_us) > now_us ||
			triad_member_step(side->member, now_us) > now_us,
		"time goes on");
	if (side->aggregator)
		triad_aggregator_check_silence(side->aggregator, now_us);
}

/* Delivers the queued messages, and those sent in answer while there is room. */
static void deliver(void)
{
	for (unsigned i = 0; i < n_posted; i++) {
		receive_from(posted[i].to_manager ? &manager : &agent, posted[i].octets,
			posted[i].size);
		free(posted[i].octets);
	}
	n_posted = 0;
}

/* --- the input --- */

static const uint64_t senders[] = {OTHER, AGENT, MANAGER, 0x77};

static void receive_input(
	uint8_t flags, unsigned kind, const uint8_t *body, size_t size)
{
	const struct triad_collect_head head = {
		.kind = kind,
		.sender = senders[flags >> 1 & 3],
		.incarnation = 1000 + (flags >> 3 & 1),
	};
	size_t room = TRIAD_COLLECT_HEAD_SIZE + size;
	uint8_t *exact = malloc(room), *rest;
	struct triad_wire w;

	if (!exact)
		exit(1);
	triad_wire_init(&w, exact, room);
	triad_collect_put_head(&w, &head);
	rest = triad_wire_take(&w, size);
	memcpy(rest, body, size);
	receive_from(flags & 1 ? &manager : &agent, exact, room);
	free(exact);
}

static void ask_histograms(const uint8_t *body, size_t size)
{
	const struct triad_gather_request request = {
		.request = size ? body[0] : 0,
		.counters = size > 1 ? body[1] : 1,
	};

	(void)triad_member_ask_histograms(manager.member, &request, TRIAD_US_PER_S,
		now_us, take_histograms, NULL);
}

static void hand_down(const uint8_t *body, size_t size)
{
	static uint8_t octets[TRIAD_TOPOLOGY_PIECE_SIZE + 64];
	const struct triad_collect_head head = {
		.kind = TRIAD_COLLECT_TOPOLOGY, .sender = MANAGER, .incarnation = 1000};
	const struct triad_topology_octets encoded = {
		.hash = triad_topology_hash(body, size),
		.size = (uint32_t)size,
		.n_octets = (uint32_t)size,
		.octets = (uint8_t *)body};

	receive_from(&agent, octets,
		triad_topology_write_piece(&encoded, 0, &head, octets, sizeof(octets)));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct triad_fabric *fabric = fabric_row(2, 3);
	struct triad_wire w;

	now_us = 100 * TRIAD_US_PER_S;
	n_posted = 0;
	begin(&manager, MANAGER, fabric);
	begin(&agent, AGENT, fabric);
	triad_fabric_unref(fabric);
	deliver();
	triad_wire_init(&w, (uint8_t *)data, size);
	while (w.at < w.size) {
		uint8_t flags = triad_wire_get8(&w);
		unsigned kind = triad_wire_get8(&w) % N_KINDS;
		size_t length = triad_wire_get16(&w);
		const uint8_t *body;

		if (length > w.size - w.at)
			length = w.size - w.at;
		body = triad_wire_take(&w, length);
		if (!body)
			break;
		now_us += (uint64_t)(flags >> 4) * TRIAD_US_PER_S / 4;
		if (kind == ASK)
			ask_histograms(body, length);
		else if (kind == FABRIC)
			hand_down(body, length);
		else
			receive_input(flags, kind, body, length);
		deliver();
	}
	end(&agent);
	end(&manager);
	return 0;
}
