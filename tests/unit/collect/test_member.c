/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Agents and a manager on a network without delays: the tree of agents, the
 * distribution of the fabric, and requests to all agents. */
#include "collect/member.h"

#include <stdio.h>
#include <string.h>

#include "tests/sim/fabrics.h"
#include "tests/sim/fat_tree.h"
#include "tests/unit/run.h"
#include "triad/clock.h"

enum { N_AGENTS = 3, MANAGER = N_AGENTS, N_MEMBERS };

#define LIVENESS_US (2 * TRIAD_US_PER_S)
#define SLOT_US (100 * TRIAD_US_PER_MS)
#define STEP_US (50 * TRIAD_US_PER_MS)

struct letter {
	struct letter *next;
	enum triad_member_to to;
	uint64_t id, from;
	size_t size;
	uint8_t octets[];
};

struct peer {
	unsigned number;
	uint64_t id;
	struct triad_member *member; /* NULL: the member has ended */
	bool takes_handout;
	uint64_t handed; /* hash of the last fabric handed down */
	unsigned n_cleared;
};

static struct triad_fabric *fabric;
static bool is_row; /* the fabric: switches in a row, a member at each; else a tree */
static struct peer peers[N_MEMBERS];
static struct triad_engine *top;
static struct triad_view *top_view;
static struct triad_aggregator *aggregator;
static struct letter *first, **last;
static uint64_t now_us;
static unsigned n_traps, n_done, n_fabrics_asked;
static bool has_own_fabric; /* for the next agent that starts */
static unsigned trap_host;  /* the expected host of traps */
static uint32_t n_agents_in, n_asked;
static uint64_t n_samples;

/* --- the network --- */

static void send_message(void *context, enum triad_member_to to, uint64_t id,
	const uint8_t *octets, size_t size)
{
	const struct peer *peer = context;
	struct letter *letter = malloc(sizeof(*letter) + size);

	*letter = (struct letter){.to = to, .id = id, .from = peer->id, .size = size};
	memcpy(letter->octets, octets, size);
	*last = letter;
	last = &letter->next;
}

static bool asks_for_fabric(const struct letter *letter)
{
	uint8_t *octets = malloc(letter->size);
	struct triad_collect_head head;
	struct triad_wire body;
	bool asks;

	memcpy(octets, letter->octets, letter->size);
	asks = triad_collect_get_head(octets, letter->size, &head, &body) ==
			TRIAD_COLLECT_HEAD_GOOD &&
		head.kind == TRIAD_COLLECT_WANT_TOPOLOGY;
	free(octets);
	return asks;
}

static bool is_for(const struct letter *letter, const struct peer *peer)
{
	switch (letter->to) {
	case TRIAD_MEMBER_TO_ALL:
		return letter->from != peer->id;
	case TRIAD_MEMBER_TO_ONE:
		return letter->id == peer->id;
	default:
		return peer->number == MANAGER;
	}
}

/* Receives a message of which the carrier knows the sender's id. */
static void receive_from(struct peer *peer, uint64_t from, uint8_t *octets, size_t size)
{
	const struct triad_member_sender speaker = {
		.id = from, .is_manager = from == peers[MANAGER].id};

	triad_member_receive(peer->member, &speaker, octets, size, now_us);
}

static void deliver(void)
{
	while (first) {
		struct letter *letter = first;

		first = letter->next;
		if (!first)
			last = &first;
		n_fabrics_asked += asks_for_fabric(letter);
		for (unsigned i = 0; i < N_MEMBERS; i++)
			if (peers[i].member && is_for(letter, &peers[i]))
				receive_from(&peers[i], letter->from, letter->octets,
					letter->size);
		free(letter);
	}
}

static void run(uint64_t for_us)
{
	for (uint64_t end_us = now_us + for_us; now_us < end_us; now_us += STEP_US) {
		for (unsigned i = 0; i < N_MEMBERS; i++)
			if (peers[i].member)
				triad_member_step(peers[i].member, now_us);
		deliver();
	}
}

/* --- members --- */

static int give_histogram(void *context, const struct triad_gather_request *request,
	unsigned counter, struct triad_histogram *copy, uint64_t *n_zeros)
{
	const struct peer *peer = context;

	for (unsigned i = 0; i <= peer->number; i++)
		triad_histogram_add(copy, 7 * peer->number + i);
	*n_zeros = 10;
	return 0;
}

static void take_clear(void *context, const struct triad_collect_clear *clear)
{
	struct peer *peer = context;

	peer->n_cleared += clear->histograms;
}

/* The port's own table is the one that the SM knows. */
static void read_own_pkeys(const struct peer *peer, const struct triad_fabric *handed)
{
	uint32_t port = triad_fabric_find_alias(handed, peer->id);
	const struct triad_fabric_slice *table = &handed->ports[port].pkeys;

	(void)triad_member_set_pkeys(peer->member, handed->pkeys + table->at, table->n);
}

static void take_fabric(void *context, struct triad_fabric *handed, uint64_t hash)
{
	struct peer *peer = context;

	ck_assert_uint_eq(handed->n_ports, fabric->n_ports);
	peer->handed = hash;
	read_own_pkeys(peer, handed);
	if (peer->takes_handout)
		ck_assert_int_eq(
			triad_member_set_fabric(peer->member, handed, hash, now_us), 0);
}

static void take_trap(void *context, const struct triad_collect_trap *trap)
{
	ck_assert_uint_eq(trap->node_guid, FAT_TREE_HOST_GUID(trap_host));
	n_traps++;
}

static uint64_t owner_of(void *context, uint32_t node)
{
	return triad_claims_owner(
		triad_member_claims(peers[MANAGER].member), node, NULL);
}

static void ask_again(void *context, uint64_t agent, uint32_t number)
{
	triad_member_ask_again(peers[MANAGER].member, agent, number);
}

static void take_row(void *context, uint32_t port, uint32_t causes, uint64_t n_downs)
{
}

static void configure(unsigned i, const char *master)
{
	struct triad_member_settings settings = {
		.reporter = {.refresh = 1, .period_us = TRIAD_US_PER_S},
		.sweep_ms = 1000};

	snprintf(settings.master, sizeof(settings.master), "%s", master);
	triad_member_configure(peers[i].member, &settings);
}

static uint64_t port_guid_of(unsigned host)
{
	uint64_t guid = is_row ? 0x10001 + 256 * (host / 4) : FAT_TREE_HOST_GUID(host);
	uint32_t node = triad_fabric_find_node(fabric, guid);

	return fabric->ports[fabric->nodes[node].first_port].guid;
}

static void start(unsigned i, uint64_t incarnation)
{
	bool is_manager = i == MANAGER;
	uint64_t guid = port_guid_of(4 * i);
	const struct triad_member_sink sink = {.context = &peers[i],
		.send = send_message,
		.histogram = give_histogram,
		.clear = take_clear,
		.fabric = has_own_fabric ? NULL : take_fabric,
		.trap = take_trap};
	struct triad_member_params params = {.id = is_manager ? ~guid : guid,
		.incarnation = incarnation,
		.port_guid = guid,
		.is_manager = is_manager,
		.seed = i};

	snprintf(params.name, sizeof(params.name), "m%u", i);
	peers[i] = (struct peer){
		.number = i, .id = params.id, .takes_handout = !is_manager};
	peers[i].member = triad_member_new(
		&params, &sink, is_manager ? aggregator : NULL, LIVENESS_US, SLOT_US);
	ck_assert_ptr_nonnull(peers[i].member);
	configure(i, "");
}

static void end(unsigned i)
{
	triad_member_free(peers[i].member);
	peers[i].member = NULL;
}

static void set_up(void)
{
	const struct triad_aggregator_sink sink = {
		.owner = owner_of, .ask_again = ask_again, .row = take_row};

	now_us = 1000 * TRIAD_US_PER_S;
	first = NULL;
	last = &first;
	n_traps = n_done = 0;
	trap_host = 8; /* peer 2's host */
	fabric = is_row ? fabric_row(N_MEMBERS, 2) : fat_tree(4);
	top = triad_engine_new();
	top_view = triad_view_new(top, fabric, NULL);
	ck_assert_int_eq(triad_engine_adopt(top, fabric, now_us, top_view->rows), 0);
	aggregator = triad_aggregator_new(top, &sink);
	triad_aggregator_adopt(aggregator, top_view);
	for (unsigned i = 0; i < N_MEMBERS; i++)
		start(i, 1);
	ck_assert_int_eq(
		triad_member_set_fabric(peers[MANAGER].member, fabric, 0, now_us), 0);
	run(4 * TRIAD_US_PER_S);
}

static void tear_down(void)
{
	is_row = false;
	for (unsigned i = 0; i < N_MEMBERS; i++)
		if (peers[i].member)
			end(i);
	while (first) {
		struct letter *letter = first;

		first = letter->next;
		free(letter);
	}
	triad_aggregator_free(aggregator);
	triad_view_unref(top_view);
	triad_engine_free(top);
	triad_fabric_unref(fabric);
}

static uint32_t n_owned(unsigned i)
{
	struct triad_collect_alive alive = {0};

	triad_claims_fill_alive(triad_member_claims(peers[i].member), &alive);
	return alive.n_nodes;
}

static uint64_t master_of(unsigned i)
{
	return triad_member_master(peers[i].member, now_us);
}

static void take_done(void *context, struct triad_gather *gather)
{
	n_done++;
	n_agents_in = gather->n_agents;
	n_asked = gather->n_asked;
	n_samples = triad_histogram_count(&gather->histograms[0]);
}

static void ask_histograms(void)
{
	const struct triad_gather_request request = {.request = now_us, .counters = 1};

	ck_assert_int_eq(triad_member_ask_histograms(peers[MANAGER].member, &request,
				 TRIAD_US_PER_S, now_us, take_done, NULL),
		0);
	deliver();
}

/* --- the fabric --- */

START_TEST(test_fabric_handed_down_is_shared_by_all)
{
	uint32_t n = 0;

	for (unsigned i = 0; i < N_AGENTS; i++) {
		ck_assert_uint_eq(
			peers[i].handed, triad_member_topology(peers[MANAGER].member));
		ck_assert_uint_gt(n_owned(i), 0);
		n += n_owned(i);
	}
	ck_assert_uint_eq(n, fabric->n_nodes);
	ck_assert_uint_eq(
		triad_claims_n_unowned(triad_member_claims(peers[MANAGER].member)), 0);
}
END_TEST

START_TEST(test_agent_that_comes_later_is_handed_it_too)
{
	end(1);
	start(1, 2);
	run(3 * TRIAD_US_PER_S);
	ck_assert_uint_eq(
		peers[1].handed, triad_member_topology(peers[MANAGER].member));
	ck_assert_uint_gt(n_owned(1), 0);
}
END_TEST

/* If the agent asked for fabrics and discarded them, the manager would send them to all
 * agents again and again. */
START_TEST(test_agent_with_a_fabric_of_its_own_asks_for_none)
{
	end(1);
	has_own_fabric = true;
	start(1, 2);
	has_own_fabric = false;
	n_fabrics_asked = 0;
	run(20 * TRIAD_US_PER_S);
	ck_assert_uint_eq(n_fabrics_asked, 0);
	ck_assert_uint_eq(peers[1].handed, 0);
}
END_TEST

/* --- partitions --- */

/* SECRET_HOST is only reachable from ports in its partition, SECRET. */
enum { SECRET_HOST = 1, OPEN = 0x8001, SECRET = 0x8002 };

/* The tree with P_Keys: all ports but the host's are in OPEN.  The host and the agents
 * whose bits are set in 'secret' are in SECRET. */
static struct triad_fabric *partitioned(
	const struct triad_fabric *from, unsigned secret)
{
	struct triad_fabric_builder *builder = triad_fabric_builder_new(NULL);
	struct triad_fabric *made;

	for (uint32_t i = 0; i < from->n_ports; i++) {
		const struct triad_fabric_port *port = &from->ports[i], *far;
		const struct triad_fabric_node *node = &from->nodes[port->node];
		bool is_secret = node->guid == FAT_TREE_HOST_GUID(SECRET_HOST);
		uint16_t pkeys[] = {is_secret ? SECRET : OPEN, SECRET};
		unsigned n = 1;

		for (unsigned agent = 0; agent < N_AGENTS; agent++)
			if (secret >> agent & 1 && peers[agent].id == port->guid)
				n = 2;
		if (i == node->first_port)
			triad_fabric_builder_add_node(
				builder, node, node->name, NULL, 0);
		far = port->remote == TRIAD_FABRIC_NONE ? NULL
							: &from->ports[port->remote];
		triad_fabric_builder_add_port(builder, port,
			far ? from->nodes[far->node].guid : 0, far ? far->number : 0);
		triad_fabric_builder_add_pkeys(builder, pkeys, n);
	}
	ck_assert_int_eq(triad_fabric_build(builder, 0, &made), 0);
	triad_fabric_builder_free(builder);
	return made;
}

/* The manager distributes the fabric with these agents in the host's partition. */
static void hand_down(unsigned secret)
{
	struct triad_fabric *made = partitioned(fabric, secret);

	ck_assert_int_eq(
		triad_member_set_fabric(peers[MANAGER].member, made, 0, now_us), 0);
	triad_fabric_unref(made);
	run(10 * TRIAD_US_PER_S);
}

static void check_secret_owner(uint64_t owner)
{
	uint32_t node = triad_fabric_find_node(fabric, FAT_TREE_HOST_GUID(SECRET_HOST));

	for (unsigned i = 0; i < N_MEMBERS; i++) {
		struct triad_claims *claims = triad_member_claims(peers[i].member);

		ck_assert_uint_eq(triad_claims_owner(claims, node, NULL), owner);
		ck_assert_uint_eq(
			triad_claims_n_unowned(claims), owner == TRIAD_CLAIMS_NO_AGENT);
	}
}

START_TEST(test_node_is_owned_by_who_shares_a_partition_with_it)
{
	hand_down(1 << 2);
	check_secret_owner(peers[2].id);
	ck_assert_uint_eq(triad_member_n_apart(peers[0].member), 1);
	ck_assert_uint_eq(triad_member_n_apart(peers[2].member), 0);
	/* The nearest agent takes over the host when it joins the partition. */
	hand_down(1 << 2 | 1 << 0);
	check_secret_owner(peers[0].id);
	/* The owner leaves the partition: another agent takes over. */
	hand_down(1 << 1);
	check_secret_owner(peers[1].id);
	ck_assert_uint_eq(triad_member_n_apart_from_all(peers[MANAGER].member), 0);
}
END_TEST

START_TEST(test_node_that_no_agent_can_ask_stays_unowned)
{
	uint64_t n_changes[N_AGENTS];

	hand_down(1 << 2);
	ck_assert_uint_eq(triad_member_n_apart_from_all(peers[MANAGER].member), 0);
	hand_down(0);
	check_secret_owner(TRIAD_CLAIMS_NO_AGENT);
	ck_assert_uint_eq(triad_member_n_apart_from_all(peers[MANAGER].member), 1);
	for (unsigned i = 0; i < N_AGENTS; i++)
		n_changes[i] =
			triad_claims_changes(triad_member_claims(peers[i].member));
	run(30 * TRIAD_US_PER_S);
	for (unsigned i = 0; i < N_AGENTS; i++)
		ck_assert_uint_eq(n_changes[i],
			triad_claims_changes(triad_member_claims(peers[i].member)));
	hand_down(1 << 1);
	check_secret_owner(peers[1].id);
}
END_TEST

/* Row: M9 */
START_TEST(test_peers_are_those_who_own_what_is_next)
{
	uint64_t ids[N_AGENTS];

	tear_down();
	is_row = true;
	set_up();
	/* The agent in the middle has both others as neighbours, those at the ends have
	 * only that one. */
	ck_assert_uint_eq(triad_member_neighbours(peers[1].member, ids, N_AGENTS), 2);
	ck_assert_uint_eq(ids[0] + ids[1], peers[0].id + peers[2].id);
	for (unsigned i = 0; i < N_AGENTS; i += 2) {
		ck_assert_uint_eq(
			triad_member_neighbours(peers[i].member, ids, N_AGENTS), 1);
		ck_assert_uint_eq(ids[0], peers[1].id);
	}
}
END_TEST

START_TEST(test_cut_off_keeps_what_is_owned_and_claims_nothing)
{
	uint32_t before = n_owned(0);

	triad_member_cut_off(peers[0].member, true, now_us);
	for (unsigned i = 0; i < 200; i++, now_us += STEP_US)
		triad_member_step(peers[0].member, now_us);
	ck_assert_uint_eq(n_owned(0), before);
}
END_TEST

/* --- the tree --- */

/* Row: M18 */
START_TEST(test_master_is_the_manager_or_who_is_named)
{
	ck_assert_uint_eq(master_of(1), TRIAD_MEMBER_MANAGERS);
	configure(1, "m0");
	ck_assert_uint_eq(master_of(1), peers[0].id);
	configure(1, "nobody");
	ck_assert_uint_eq(master_of(1), TRIAD_MEMBER_MANAGERS);
	configure(1, "m1"); /* its own name */
	ck_assert_uint_eq(master_of(1), TRIAD_MEMBER_MANAGERS);
}
END_TEST

/* Row: M4 */
START_TEST(test_master_that_is_silent_is_passed_over)
{
	configure(1, "m0");
	configure(2, "m1");
	run(TRIAD_US_PER_S);
	ck_assert_uint_eq(master_of(2), peers[1].id);
	end(1);
	run(2 * LIVENESS_US);
	ck_assert_uint_eq(master_of(2), peers[0].id);
	end(0);
	run(2 * LIVENESS_US);
	ck_assert_uint_eq(master_of(2), TRIAD_MEMBER_MANAGERS);
	start(1, 2);
	configure(1, "");
	run(LIVENESS_US);
	ck_assert_uint_eq(master_of(2), peers[1].id);
}
END_TEST

/* Row: M18 */
START_TEST(test_masters_in_a_circle_are_all_under_the_manager)
{
	configure(0, "m1");
	configure(1, "m2");
	configure(2, "m0");
	run(2 * TRIAD_US_PER_S);
	/* The circle may be broken anywhere, but each agent must lead to the
	 * manager. */
	for (unsigned i = 0; i < N_AGENTS; i++) {
		unsigned at = i, n = 0;

		while (master_of(at) != TRIAD_MEMBER_MANAGERS && n++ < N_AGENTS)
			for (unsigned j = 0; j < N_AGENTS; j++)
				if (peers[j].id == master_of(at)) {
					at = j;
					break;
				}
		ck_assert_uint_le(n, N_AGENTS);
		ck_assert_uint_eq(master_of(at), TRIAD_MEMBER_MANAGERS);
	}
}
END_TEST

/* Row: M11, M18 */
START_TEST(test_trap_travels_up_the_tree)
{
	const struct triad_collect_trap trap = {.wall_us = 5,
		.node_guid = FAT_TREE_HOST_GUID(8), /* peer 2's host */
		.port = 1,
		.is_raised = true,
		.value = 3,
		.threshold = 2};

	configure(1, "m0");
	configure(2, "m1");
	run(TRIAD_US_PER_S);
	triad_member_send_trap(peers[2].member, &trap, now_us);
	deliver();
	ck_assert_uint_eq(n_traps, 1);
	ck_assert_uint_eq(triad_member_counts(peers[1].member).n_relayed, 1);
	ck_assert_uint_eq(triad_member_counts(peers[0].member).n_relayed, 1);
}
END_TEST

/* Row: M18 */
START_TEST(test_data_travel_up_the_tree)
{
	struct triad_engine *engine = triad_engine_new();
	struct triad_view *view = triad_view_new(engine, fabric, NULL);
	uint64_t before;

	ck_assert_int_eq(triad_engine_adopt(engine, fabric, now_us, view->rows), 0);
	configure(1, "m0");
	configure(2, "m1");
	run(TRIAD_US_PER_S);
	before = triad_aggregator_status(aggregator).n_messages;
	triad_member_send_sweep(peers[2].member, view, NULL, 0, 0, now_us);
	deliver();
	ck_assert_uint_eq(triad_aggregator_status(aggregator).n_messages, before + 1);
	ck_assert_uint_eq(triad_member_counts(peers[1].member).n_relayed, 1);
	ck_assert_uint_eq(triad_member_counts(peers[0].member).n_relayed, 1);
	triad_view_unref(view);
	triad_engine_free(engine);
}
END_TEST

/* Two agents are each configured to report to the other.  Each receives messages from
 * below before it learns of the other's configuration. */
START_TEST(test_trap_that_goes_round_goes_to_the_manager)
{
	struct triad_collect_trap trap = {
		.node_guid = FAT_TREE_HOST_GUID(8), .port = 1, .is_raised = true};
	uint64_t n_relayed;

	configure(2, "m1");
	run(TRIAD_US_PER_S);
	configure(0, "m1");
	configure(1, "m0");
	ck_assert_uint_eq(master_of(0), peers[1].id);
	ck_assert_uint_eq(master_of(1), peers[0].id);
	triad_member_step(peers[0].member, now_us);
	triad_member_step(peers[1].member, now_us);
	for (unsigned i = 0; i < 2000; i++) {
		trap.wall_us = i;
		triad_member_send_trap(peers[2].member, &trap, now_us);
	}
	deliver();
	ck_assert_uint_eq(n_traps, 2000);
	/* An agent recognizes its own trap when it comes back. */
	n_traps = 0;
	n_relayed = triad_member_counts(peers[0].member).n_relayed;
	trap_host = 0;
	trap.node_guid = FAT_TREE_HOST_GUID(trap_host);
	triad_member_send_trap(peers[0].member, &trap, now_us);
	deliver();
	ck_assert_uint_eq(n_traps, 1);
	ck_assert_uint_eq(
		triad_member_counts(peers[0].member).n_relayed, n_relayed + 1);
	ck_assert_uint_eq(triad_member_counts(peers[0].member).n_duplicate_ids, 0);
}
END_TEST

START_TEST(test_trap_of_a_node_that_another_reads_is_refused)
{
	const struct triad_collect_trap trap = {
		.node_guid = FAT_TREE_HOST_GUID(8), .port = 1, .is_raised = true};

	run(TRIAD_US_PER_S);
	triad_member_send_trap(peers[1].member, &trap, now_us);
	deliver();
	ck_assert_uint_eq(n_traps, 0);
	ck_assert_uint_eq(
		triad_member_counts(peers[MANAGER].member).n_traps_refused, 1);
	/* Another agent takes over the node. */
	end(2);
	run(2 * LIVENESS_US);
	ck_assert_uint_eq(triad_member_counts(peers[MANAGER].member).n_traps, 0);
	for (unsigned i = 0; i < 2; i++) {
		triad_member_send_trap(peers[i].member, &trap, now_us);
		deliver();
	}
	ck_assert_uint_eq(n_traps, 1);
}
END_TEST

/* Row: M13 */
START_TEST(test_histograms_come_merged_through_the_tree)
{
	configure(1, "m0");
	configure(2, "m1");
	run(TRIAD_US_PER_S);
	ask_histograms();
	ck_assert_uint_eq(n_done, 1);
	ck_assert_uint_eq(n_agents_in, 3);
	ck_assert_uint_eq(n_asked, 3);
	ck_assert_uint_eq(n_samples, 1 + 2 + 3);
}
END_TEST

/* Row: M13 */
START_TEST(test_histograms_without_one_that_died_come_in_time)
{
	end(1);
	ask_histograms();
	ck_assert_uint_eq(n_done, 0);
	run(2 * TRIAD_US_PER_S);
	ck_assert_uint_eq(n_done, 1);
	ck_assert_uint_eq(n_agents_in, 2);
	ck_assert_uint_eq(n_asked, 3);
}
END_TEST

/* Row: M14 */
START_TEST(test_clear_goes_down_the_tree_once)
{
	const struct triad_collect_clear clear = {
		.request = 99, .port = 255, .histograms = true};

	configure(1, "m0");
	configure(2, "m1");
	run(TRIAD_US_PER_S);
	triad_member_clear(peers[MANAGER].member, &clear, now_us);
	deliver();
	triad_member_clear(peers[MANAGER].member, &clear, now_us);
	deliver();
	for (unsigned i = 0; i < N_AGENTS; i++)
		ck_assert_uint_eq(peers[i].n_cleared, 1);
}
END_TEST

/* --- messages that a sender isn't entitled to send --- */

static uint64_t n_refused(unsigned i)
{
	return triad_member_counts(peers[i].member).n_refused;
}

static void pass_on(unsigned to, uint64_t from, uint64_t sender,
	enum triad_collect_kind kind, unsigned n_relays)
{
	const struct triad_collect_head head = {.kind = kind,
		.sender = sender,
		.incarnation = UINT64_MAX,
		.n_relays = n_relays};
	uint8_t octets[64] = {0};
	struct triad_wire w;

	triad_wire_init(&w, octets, sizeof(octets));
	triad_collect_put_head(&w, &head);
	receive_from(&peers[to], from, octets, sizeof(octets));
}

/* Delivers a message of that kind from 'from', with 'sender' in its head. */
static void send_as(
	unsigned to, uint64_t from, uint64_t sender, enum triad_collect_kind kind)
{
	pass_on(to, from, sender, kind, 0);
}

/* Whether 'to' accepts a message of agent 'sender' that agent 'by' passed on. */
static bool is_taken(unsigned to, unsigned by, unsigned sender)
{
	uint64_t before = n_refused(to);

	pass_on(to, peers[by].id, peers[sender].id, TRIAD_COLLECT_DATA, 1);
	return n_refused(to) == before;
}

/* Row: M12 */
START_TEST(test_relayed_message_is_taken_from_an_agent_above_the_sender)
{
	configure(1, "m0");
	configure(2, "m1");
	run(TRIAD_US_PER_S);
	ck_assert(is_taken(MANAGER, 1, 2));
	ck_assert(is_taken(MANAGER, 0, 2));
	ck_assert(is_taken(MANAGER, 0, 1));
	ck_assert(is_taken(0, 1, 2));
	/* From below the sender, from another branch, and with no agent in between. */
	ck_assert(!is_taken(MANAGER, 2, 1));
	ck_assert(!is_taken(MANAGER, 2, 0));
	ck_assert(!is_taken(0, 2, 1));
	ck_assert_uint_eq(triad_member_counts(peers[0].member).refused, peers[2].id);
}
END_TEST

START_TEST(test_former_master_passes_on_what_it_has_for_a_while)
{
	configure(2, "m1");
	run(TRIAD_US_PER_S);
	configure(2, "m0");
	ck_assert(is_taken(MANAGER, 1, 2));
	ck_assert(!is_taken(MANAGER, 0, 2));
	run(STEP_US); /* the agent reports its new master */
	ck_assert(is_taken(MANAGER, 0, 2));
	ck_assert(is_taken(MANAGER, 1, 2));
	run(4 * LIVENESS_US);
	ck_assert(is_taken(MANAGER, 0, 2));
	ck_assert(!is_taken(MANAGER, 1, 2));
}
END_TEST

/* The agent sends a trap before the others know of its new master. */
START_TEST(test_change_of_master_is_reported_before_anything_goes_there)
{
	struct triad_collect_trap trap = {
		.node_guid = FAT_TREE_HOST_GUID(8), .port = 1, .is_raised = true};
	static const char *const masters[] = {"m0", "m1", "", "m1", "m0", "m0"};

	for (unsigned i = 0; i < 6; i++) {
		configure(1, i % 2 ? "m0" : "");
		configure(2, masters[i]);
		triad_member_step(peers[2].member, now_us);
		triad_member_send_trap(peers[2].member, &trap, now_us);
		deliver();
		ck_assert_uint_eq(n_traps, i + 1);
		run(STEP_US);
	}
	for (unsigned i = 0; i < N_MEMBERS; i++)
		ck_assert_uint_eq(n_refused(i), 0);
}
END_TEST

/* Row: M12 */
START_TEST(test_messages_in_anothers_name_are_refused)
{
	uint64_t before = n_refused(0);
	uint32_t owned = n_owned(1);

	for (unsigned kind = 1; kind < TRIAD_COLLECT_N_KINDS; kind++)
		send_as(0, 0xbad, peers[1].id, kind);
	/* The old form of TOPOLOGY isn't part of this version. */
	ck_assert_uint_eq(n_refused(0) - before, TRIAD_COLLECT_N_KINDS - 2);
	ck_assert_uint_eq(triad_member_counts(peers[0].member).refused, 0xbad);
	/* If a member accepted the forged incarnation, it would ignore the real
	 * agent. */
	run(2 * TRIAD_US_PER_S);
	ck_assert_uint_eq(n_owned(1), owned);
}
END_TEST

START_TEST(test_messages_that_only_a_manager_may_send_are_refused_from_others)
{
	static const enum triad_collect_kind kinds[] = {TRIAD_COLLECT_TOPOLOGY,
		TRIAD_COLLECT_AGAIN, TRIAD_COLLECT_CLEAR, TRIAD_COLLECT_GET_HISTOGRAMS};
	uint64_t before = n_refused(0);

	for (unsigned i = 0; i < 4; i++)
		send_as(0, peers[2].id, peers[2].id, kinds[i]);
	ck_assert_uint_eq(n_refused(0) - before, 4);
	for (unsigned i = 0; i < 4; i++)
		send_as(0, peers[MANAGER].id, peers[MANAGER].id, kinds[i]);
	ck_assert_uint_eq(n_refused(0) - before, 4);
}
END_TEST

/* --- malformed messages --- */

START_TEST(test_messages_of_another_with_the_same_id_are_counted_and_ignored)
{
	const struct triad_collect_head head = {
		.kind = TRIAD_COLLECT_OWNER, .sender = peers[0].id, .incarnation = 5};
	const struct triad_collect_owner owner = {.number = 1, .is_list = true};
	uint8_t octets[512];
	uint32_t before = n_owned(0);
	size_t size =
		triad_collect_put_owner(&head, &owner, NULL, octets, sizeof(octets));

	receive_from(&peers[0], peers[0].id, octets, size);
	ck_assert_uint_eq(triad_member_counts(peers[0].member).n_duplicate_ids, 1);
	ck_assert_uint_eq(n_owned(0), before);
}
END_TEST

START_TEST(test_message_without_sender_or_of_another_version_is_counted)
{
	uint8_t octets[64] = {0x54, 0x43, 9, 1, 1};

	receive_from(&peers[0], 7, octets, 64);
	ck_assert_uint_eq(triad_member_counts(peers[0].member).n_other_version, 1);
	octets[0] = 0;
	receive_from(&peers[0], 7, octets, 64);
	receive_from(&peers[0], 7, octets, 3);
	ck_assert_uint_eq(triad_member_counts(peers[0].member).n_foreign, 2);
}
END_TEST

int main(void)
{
	TCase *cases = tcase_create("member");

	tcase_add_checked_fixture(cases, set_up, tear_down);
	tcase_add_test(cases, test_fabric_handed_down_is_shared_by_all);
	tcase_add_test(cases, test_agent_that_comes_later_is_handed_it_too);
	tcase_add_test(cases, test_agent_with_a_fabric_of_its_own_asks_for_none);
	tcase_add_test(cases, test_node_is_owned_by_who_shares_a_partition_with_it);
	tcase_add_test(cases, test_node_that_no_agent_can_ask_stays_unowned);
	tcase_add_test(cases, test_peers_are_those_who_own_what_is_next);
	tcase_add_test(cases, test_cut_off_keeps_what_is_owned_and_claims_nothing);
	tcase_add_test(cases, test_master_is_the_manager_or_who_is_named);
	tcase_add_test(cases, test_master_that_is_silent_is_passed_over);
	tcase_add_test(cases, test_masters_in_a_circle_are_all_under_the_manager);
	tcase_add_test(cases, test_trap_travels_up_the_tree);
	tcase_add_test(cases, test_data_travel_up_the_tree);
	tcase_add_test(cases, test_trap_that_goes_round_goes_to_the_manager);
	tcase_add_test(cases, test_trap_of_a_node_that_another_reads_is_refused);
	tcase_add_test(cases, test_histograms_come_merged_through_the_tree);
	tcase_add_test(cases, test_histograms_without_one_that_died_come_in_time);
	tcase_add_test(cases, test_clear_goes_down_the_tree_once);
	tcase_add_test(
		cases, test_relayed_message_is_taken_from_an_agent_above_the_sender);
	tcase_add_test(cases, test_former_master_passes_on_what_it_has_for_a_while);
	tcase_add_test(
		cases, test_change_of_master_is_reported_before_anything_goes_there);
	tcase_add_test(cases, test_messages_in_anothers_name_are_refused);
	tcase_add_test(cases,
		test_messages_that_only_a_manager_may_send_are_refused_from_others);
	tcase_add_test(cases,
		test_messages_of_another_with_the_same_id_are_counted_and_ignored);
	tcase_add_test(
		cases, test_message_without_sender_or_of_another_version_is_counted);
	return run_cases(cases);
}
