/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "portmgr/plan/guard.h"

#include <time.h>

#include "tests/random.h"
#include "tests/unit/portmgr/plan_fixture.h"

#define NONE TRIAD_FABRIC_NONE
#define OWN 0x100 /* the host with this SM */

static uint32_t spared; /* node, or NONE */
static struct triad_guard *guard;
static uint64_t sms[4];
static unsigned n_sms;

static void begin(void)
{
	fixture_begin();
	spared = NONE;
	guard = NULL;
	n_sms = 0;
	fixture_add(OWN, TRIAD_NODE_CA, "host-own", 2);
}

static void end(void)
{
	triad_guard_free(guard);
	triad_fabric_unref(fabric);
}

static void add_switches(uint64_t first, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		fixture_add(first + i, TRIAD_NODE_SWITCH, "switch", 8);
}

static void add_host(uint64_t guid)
{
	fixture_add(guid, TRIAD_NODE_CA, "host", 2);
}

static void guard_it(void)
{
	ck_assert_int_eq(triad_guard_new(fabric, sms, n_sms, &guard), 0);
}

/* The verdict and the nodes lost: "split 0x202 0x110", "own_way"; "" if the port may be
 * disabled. */
static const char *judge(uint64_t guid, unsigned number)
{
	static char text[256];
	struct triad_guard_lost lost;
	enum triad_guard_verdict verdict =
		triad_guard_judge(guard, port_at(guid, number), spared, &lost);

	snprintf(text, sizeof(text), "%s", triad_guard_word(verdict));
	for (uint32_t i = 0; i < lost.n && i < TRIAD_GUARD_MAX_LOST; i++)
		snprintf(text + strlen(text), sizeof(text) - strlen(text),
			" 0x%" PRIx64, fabric->nodes[lost.nodes[i]].guid);
	return text;
}

static void remove_link(uint64_t guid, unsigned number)
{
	triad_guard_remove(guard, port_at(guid, number));
}

/* A link under test, as snapshots show it. */
static void hold_link(uint64_t guid, uint8_t number)
{
	uint32_t port = port_at(guid, number), far = fabric->ports[port].remote;

	fabric->ports[port].state = fabric->ports[far].state = TRIAD_PORT_INIT;
	fabric->ports[port].is_held = fabric->ports[far].is_held = true;
}

START_TEST(test_guard_own_link_stopped)
{
	add_switches(0x201, 2);
	add_host(0x110);
	fixture_link(OWN, 1, 0x201, 1);
	fixture_link(OWN, 2, 0x202, 1);
	fixture_link(0x201, 2, 0x202, 2);
	fixture_link(0x201, 3, 0x110, 1);
	fixture_build(OWN + 1);
	guard_it();
	ck_assert_str_eq(judge(0x201, 1), "own_way");
	/* No path leads through the SM host's second port. */
	ck_assert_str_eq(judge(0x202, 1), "");
	ck_assert_str_eq(judge(0x201, 3), "");
	ck_assert_str_eq(judge(0x201, 4), "");
}
END_TEST

START_TEST(test_guard_own_host_passes_nothing_on)
{
	add_switches(0x201, 2);
	fixture_link(OWN, 1, 0x201, 1);
	fixture_link(OWN, 2, 0x202, 1);
	fixture_link(0x201, 2, 0x202, 2);
	fixture_build(OWN + 1);
	guard_it();
	ck_assert_str_eq(judge(0x201, 2), "split 0x202");
	ck_assert_str_eq(judge(0x202, 2), "split 0x202");
}
END_TEST

START_TEST(test_guard_port_of_sm_unknown_stopped)
{
	add_switches(0x201, 1);
	fixture_link(OWN, 1, 0x201, 1);
	fixture_build(0x999);
	guard_it();
	ck_assert_str_eq(judge(0x201, 1), "unknown");
	ck_assert_str_eq(judge(0x201, 2), "unknown");
	ck_assert_uint_eq(triad_guard_distance(guard, node_at(0x201)), UINT32_MAX);
}
END_TEST

START_TEST(test_guard_own_port_on_switch_split_alone_stopped)
{
	add_switches(0x201, 3);
	add_host(0x110);
	fixture_link(0x201, 1, 0x202, 1);
	fixture_link(0x201, 2, 0x203, 1);
	fixture_link(0x201, 3, 0x110, 1);
	fixture_build(0x201);
	guard_it();
	ck_assert_str_eq(judge(0x201, 1), "split 0x202");
	ck_assert_str_eq(judge(0x201, 2), "split 0x203");
	ck_assert_str_eq(judge(0x201, 3), "");
	ck_assert_uint_eq(triad_guard_distance(guard, node_at(0x201)), 0);
	ck_assert_uint_eq(triad_guard_distance(guard, node_at(0x202)), 1);
}
END_TEST

START_TEST(test_guard_link_of_other_sm_stopped)
{
	add_switches(0x201, 2);
	add_host(0x110);
	fixture_link(OWN, 1, 0x201, 1);
	fixture_link(0x201, 2, 0x110, 1);
	fixture_link(0x202, 2, 0x110, 2);
	fixture_link(0x201, 3, 0x202, 3);
	sms[n_sms++] = 0x111;
	sms[n_sms++] = 0x777;
	fixture_build(OWN + 1);
	guard_it();
	ck_assert_str_eq(judge(0x201, 2), "sm_way 0x110");
	ck_assert_str_eq(judge(0x202, 2), "");
}
END_TEST

START_TEST(test_guard_only_way_to_other_sm_stopped)
{
	add_switches(0x201, 3);
	add_host(0x110);
	fixture_link(OWN, 1, 0x201, 1);
	fixture_link(0x201, 2, 0x202, 2);
	fixture_link(0x201, 3, 0x203, 3);
	fixture_link(0x202, 1, 0x110, 1);
	fixture_link(0x203, 1, 0x110, 2); /* not the SM's port */
	sms[n_sms++] = 0x111;
	fixture_build(OWN + 1);
	guard_it();
	ck_assert_str_eq(judge(0x201, 2), "sm_way 0x110 0x202");
	ck_assert_str_eq(judge(0x201, 3), "split 0x203");
}
END_TEST

START_TEST(test_guard_other_sm_on_switch_stopped)
{
	add_switches(0x201, 3);
	fixture_link(OWN, 1, 0x201, 1);
	fixture_link(0x201, 2, 0x202, 2);
	fixture_link(0x202, 3, 0x203, 3);
	sms[n_sms++] = 0x203;
	fixture_build(OWN + 1);
	guard_it();
	ck_assert_str_eq(judge(0x201, 2), "sm_way 0x203 0x202");
	ck_assert_str_eq(judge(0x202, 3), "sm_way 0x203");
	ck_assert_str_eq(judge(0x203, 3), "sm_way 0x203");
}
END_TEST

START_TEST(test_guard_split_by_one_or_by_two_stopped)
{
	add_switches(0x201, 2);
	fixture_link(OWN, 1, 0x201, 1);
	fixture_link(0x201, 2, 0x202, 2);
	fixture_link(0x201, 3, 0x202, 3);
	fixture_build(OWN + 1);
	guard_it();
	ck_assert_str_eq(judge(0x201, 2), "");
	ck_assert_str_eq(judge(0x202, 3), "");
	remove_link(0x201, 2);
	ck_assert_str_eq(judge(0x201, 3), "split 0x202");
	ck_assert_str_eq(judge(0x202, 3), "split 0x202");
	/* The link was removed already: to disable it again cuts nothing off. */
	ck_assert_str_eq(judge(0x201, 2), "");
}
END_TEST

START_TEST(test_guard_whatever_is_behind_counts)
{
	add_switches(0x201, 3);
	add_host(0x110);
	add_host(0x120);
	fixture_link(OWN, 1, 0x201, 1);
	fixture_link(0x201, 2, 0x202, 2);
	fixture_link(0x202, 3, 0x203, 3);
	fixture_link(0x203, 1, 0x110, 1);
	fixture_link(0x203, 2, 0x110, 2); /* the same host again */
	fixture_link(0x202, 1, 0x120, 1);
	fixture_build(OWN + 1);
	guard_it();
	ck_assert_str_eq(judge(0x201, 2), "split 0x202 0x120 0x203 0x110");
	ck_assert_str_eq(judge(0x202, 3), "split 0x203 0x110");
	/* The guard protects no host from the loss of its own link. */
	ck_assert_str_eq(judge(0x203, 1), "");
}
END_TEST

START_TEST(test_guard_spared_may_be_lost_not_what_is_behind)
{
	add_switches(0x201, 3);
	fixture_link(OWN, 1, 0x201, 1);
	fixture_link(0x201, 2, 0x202, 2);
	fixture_link(0x202, 3, 0x203, 3);
	fixture_build(OWN + 1);
	guard_it();
	spared = node_at(0x203);
	ck_assert_str_eq(judge(0x202, 3), "");
	spared = node_at(0x202);
	ck_assert_str_eq(judge(0x201, 2), "split 0x203");
}
END_TEST

START_TEST(test_guard_many_lost_first_named_all_counted)
{
	struct triad_guard_lost lost;

	add_switches(0x201, 20);
	fixture_link(OWN, 1, 0x201, 1);
	for (unsigned i = 1; i < 20; i++)
		fixture_link(0x200 + i, 2, 0x201 + i, 1);
	fixture_build(OWN + 1);
	guard_it();
	ck_assert_int_eq(triad_guard_judge(guard, port_at(0x201, 2), NONE, &lost),
		TRIAD_GUARD_SPLIT);
	ck_assert_uint_eq(lost.n, 19);
	ck_assert_uint_eq(lost.nodes[TRIAD_GUARD_MAX_LOST - 1], node_at(0x209));
}
END_TEST

START_TEST(test_guard_host_with_two_links_lost_with_the_last)
{
	add_switches(0x201, 3);
	add_host(0x110);
	fixture_link(OWN, 1, 0x201, 1);
	fixture_link(0x201, 2, 0x202, 2);
	fixture_link(0x201, 3, 0x203, 3);
	fixture_link(0x202, 1, 0x110, 1);
	fixture_link(0x203, 1, 0x110, 2);
	fixture_build(OWN + 1);
	guard_it();
	ck_assert_str_eq(judge(0x201, 2), "split 0x202");
	ck_assert_str_eq(judge(0x201, 3), "split 0x203");
	remove_link(0x203, 1);
	ck_assert_str_eq(judge(0x201, 2), "split 0x202 0x110");
	ck_assert_str_eq(judge(0x201, 3), "split 0x203");
	/* The host was cut off by its own link, so the guard no longer counts it. */
	remove_link(0x202, 1);
	ck_assert_str_eq(judge(0x201, 2), "split 0x202");
}
END_TEST

START_TEST(test_guard_link_of_host_without_traffic_is_no_other_way)
{
	add_switches(0x201, 3);
	add_host(0x110);
	fixture_link(OWN, 1, 0x201, 1);
	fixture_link(0x201, 2, 0x202, 2);
	fixture_link(0x201, 3, 0x203, 3);
	fixture_link(0x202, 1, 0x110, 1);
	fixture_link(0x203, 1, 0x110, 2);
	fixture_build(OWN + 1);
	set_state(0x203, 1, TRIAD_PORT_INIT);
	guard_it();
	ck_assert_str_eq(judge(0x201, 2), "split 0x202 0x110");
	ck_assert_str_eq(judge(0x201, 3), "split 0x203");
}
END_TEST

START_TEST(test_guard_link_without_traffic_is_no_other_way)
{
	add_switches(0x201, 3);
	fixture_link(OWN, 1, 0x201, 1);
	fixture_link(0x201, 2, 0x202, 2);
	fixture_link(0x201, 3, 0x202, 3);
	fixture_link(0x201, 4, 0x203, 4);
	fixture_build(OWN + 1);
	if (_i) {
		hold_link(0x201, 3);
		hold_link(0x201, 4);
	} else {
		set_state(0x201, 3, TRIAD_PORT_INIT);
		set_state(0x201, 4, TRIAD_PORT_INIT);
	}
	guard_it();
	ck_assert_str_eq(judge(0x201, 2), "split 0x202");
	ck_assert_str_eq(judge(0x201, 3), "");
	/* But it is the only path to that switch, of SMPs. */
	ck_assert_str_eq(judge(0x201, 4), "split 0x203");
}
END_TEST

START_TEST(test_guard_link_down_or_disabled_is_no_way)
{
	add_switches(0x201, 3);
	fixture_link(OWN, 1, 0x201, 1);
	fixture_link(0x201, 2, 0x202, 2);
	fixture_link(0x201, 3, 0x202, 3);
	fixture_link(0x201, 4, 0x202, 4);
	fixture_link(0x201, 5, 0x203, 5);
	fixture_build(OWN + 1);
	set_state(0x201, 3, TRIAD_PORT_DOWN);
	set_state(0x201, 5, TRIAD_PORT_DOWN);
	fabric->ports[port_at(0x202, 4)].phys_state = PHYS_DISABLED;
	guard_it();
	ck_assert_str_eq(judge(0x201, 2), "split 0x202");
	ck_assert_str_eq(judge(0x201, 3), "");
	ck_assert_str_eq(judge(0x201, 4), "");
	ck_assert_str_eq(judge(0x201, 5), "");
}
END_TEST

START_TEST(test_guard_loops_free)
{
	add_switches(0x201, 1);
	fixture_link(OWN, 1, 0x201, 1);
	fixture_link(0x201, 2, 0x201, 3);
	fixture_link(0x201, 4, 0x201, 4);
	fixture_build(OWN + 1);
	ck_assert_uint_eq(fabric->ports[port_at(0x201, 4)].remote, port_at(0x201, 4));
	guard_it();
	ck_assert_str_eq(judge(0x201, 2), "");
	ck_assert_str_eq(judge(0x201, 3), "");
	ck_assert_str_eq(judge(0x201, 4), "");
	remove_link(0x201, 4);
	ck_assert_str_eq(judge(0x201, 4), "");
}
END_TEST

START_TEST(test_guard_what_is_not_reached_not_lost)
{
	add_switches(0x201, 3);
	fixture_link(OWN, 1, 0x201, 1);
	fixture_link(0x202, 2, 0x203, 2);
	fixture_build(OWN + 1);
	guard_it();
	ck_assert_str_eq(judge(0x202, 2), "");
	ck_assert_uint_eq(triad_guard_distance(guard, node_at(0x201)), 1);
	ck_assert_uint_eq(triad_guard_distance(guard, node_at(0x202)), UINT32_MAX);
	ck_assert_uint_eq(triad_guard_distance(guard, node_at(OWN)), UINT32_MAX);
}
END_TEST

START_TEST(test_guard_reaches_by_links_that_were_not_removed)
{
	add_switches(0x201, 3);
	fixture_link(OWN, 1, 0x201, 1);
	fixture_link(0x201, 2, 0x202, 2);
	fixture_link(0x201, 3, 0x202, 3);
	fixture_build(OWN + 1);
	guard_it();
	ck_assert(triad_guard_reaches(guard, node_at(0x202)));
	ck_assert(!triad_guard_reaches(guard, node_at(0x203)));
	ck_assert(!triad_guard_reaches(guard, node_at(OWN)));
	remove_link(0x201, 2);
	ck_assert(triad_guard_reaches(guard, node_at(0x202)));
	remove_link(0x202, 3);
	ck_assert(!triad_guard_reaches(guard, node_at(0x202)));
	ck_assert(triad_guard_reaches(guard, node_at(0x201)));
}
END_TEST

START_TEST(test_guard_own_link_removed_nothing_to_lose)
{
	add_switches(0x201, 2);
	fixture_link(OWN, 1, 0x201, 1);
	fixture_link(0x201, 2, 0x202, 2);
	fixture_build(OWN + 1);
	guard_it();
	ck_assert_str_eq(judge(0x201, 2), "split 0x202");
	remove_link(0x201, 1);
	ck_assert_str_eq(judge(0x201, 2), "");
}
END_TEST

START_TEST(test_guard_own_port_not_active_is_a_way)
{
	add_switches(0x201, 3);
	fixture_link(OWN, 1, 0x201, 1);
	fixture_link(OWN, 2, 0x203, 1);
	fixture_link(0x201, 2, 0x202, 2);
	fixture_link(0x201, 3, 0x202, 3);
	fixture_link(0x201, 4, 0x203, 4);
	fixture_build(OWN + 1);
	set_state(0x201, 1, TRIAD_PORT_INIT);
	set_state(0x201, 3, TRIAD_PORT_INIT);
	guard_it();
	ck_assert_str_eq(judge(0x201, 2), "split 0x202");
	ck_assert_str_eq(judge(0x201, 4), "split 0x203");
}
END_TEST

/* --- comparison with a plain search of the graph --- */

#define N_SWITCHES 9
#define N_HOSTS 8
#define N_PORTS 8

static uint64_t state;

static unsigned pick(unsigned n)
{
	return random_below(&state, n);
}

struct model {
	bool is_removed[FIXTURE_MAX_NODES * N_PORTS];
	uint8_t least; /* links in a lower port state don't count */
};

static bool is_switch(uint32_t node)
{
	return fabric->nodes[node].type == TRIAD_NODE_SWITCH;
}

static bool is_passable(const struct model *model, uint32_t port, uint32_t without)
{
	uint32_t far = fabric->ports[port].remote;

	return far != NONE && port != without && far != without &&
		!model->is_removed[port] && !model->is_removed[far] &&
		(fabric->ports[port].state >= model->least || port == fabric->sm_port ||
			far == fabric->sm_port);
}

/* In a switch the search reaches all ports; in a host, only the port of the link. */
static void mark_port(bool *is_reached, uint32_t port)
{
	const struct triad_fabric_node *node = &fabric->nodes[fabric->ports[port].node];

	is_reached[port] = true;
	if (node->type == TRIAD_NODE_SWITCH)
		memset(is_reached + node->first_port, true, node->n_ports);
}

static void mark(const struct model *model, uint32_t without, bool *is_reached)
{
	bool is_new = true;

	memset(is_reached, 0, fabric->n_ports);
	mark_port(is_reached, fabric->sm_port);
	while (is_new) {
		is_new = false;
		for (uint32_t i = 0; i < fabric->n_ports; i++) {
			uint32_t far = fabric->ports[i].remote;
			bool may_pass = is_switch(fabric->ports[i].node) ||
				i == fabric->sm_port;

			if (!is_reached[i] || !may_pass ||
				!is_passable(model, i, without) || is_reached[far])
				continue;
			is_new = true;
			mark_port(is_reached, far);
		}
	}
}

static bool has_reached(const bool *is_reached, uint32_t at)
{
	const struct triad_fabric_node *node = &fabric->nodes[at];

	for (uint32_t p = 0; p < node->n_ports; p++)
		if (is_reached[node->first_port + p])
			return true;
	return false;
}

/* Sets '*n_lost' to the number of nodes that can't be reached without the port. */
static enum triad_guard_verdict find_loss(
	const struct model *model, uint32_t port, uint32_t *n_lost)
{
	uint32_t n = 0, sm = NONE;
	bool before[FIXTURE_MAX_NODES * N_PORTS], after[FIXTURE_MAX_NODES * N_PORTS];

	mark(model, NONE, before);
	mark(model, port, after);
	for (unsigned i = 0; i < n_sms; i++) {
		uint32_t at = triad_fabric_find_alias(fabric, sms[i]);

		if (sm == NONE && before[at] && !after[at])
			sm = fabric->ports[at].node;
	}
	for (uint32_t i = 0; i < fabric->n_nodes; i++)
		/* The loss of an SM's port counts, even if its host has another. */
		n += i == sm ||
			((i != spared || sm != NONE) && has_reached(before, i) &&
				!has_reached(after, i));
	*n_lost = n;
	if (sm != NONE)
		return TRIAD_GUARD_SM_PATH;
	return n ? TRIAD_GUARD_SPLIT : TRIAD_GUARD_FREE;
}

static enum triad_guard_verdict judge_model(
	struct model *model, uint32_t port, uint32_t *n_lost)
{
	uint32_t far = fabric->ports[port].remote;
	enum triad_guard_verdict verdict, in_traffic;
	uint32_t n_in_traffic;

	*n_lost = 0;
	if (far == NONE)
		return TRIAD_GUARD_FREE;
	if (far == fabric->sm_port)
		return TRIAD_GUARD_OWN_PATH;
	if (!is_switch(fabric->ports[far].node)) {
		for (unsigned i = 0; i < n_sms; i++)
			if (fabric->ports[far].guid == sms[i]) {
				*n_lost = 1;
				return TRIAD_GUARD_SM_PATH;
			}
		return TRIAD_GUARD_FREE;
	}
	model->least = TRIAD_PORT_INIT;
	verdict = find_loss(model, port, n_lost);
	model->least = TRIAD_PORT_ARMED;
	in_traffic = find_loss(model, port, &n_in_traffic);
	if (in_traffic == TRIAD_GUARD_FREE || verdict == TRIAD_GUARD_SM_PATH ||
		(verdict == in_traffic && *n_lost >= n_in_traffic))
		return verdict;
	*n_lost = n_in_traffic;
	return in_traffic;
}

static uint32_t random_free_port(bool *is_used)
{
	uint32_t at = pick((N_SWITCHES + N_HOSTS) * N_PORTS);

	if (is_used[at])
		return NONE;
	is_used[at] = true;
	return at;
}

static uint64_t guid_of(uint32_t at)
{
	uint32_t node = at / N_PORTS;

	return node < N_SWITCHES ? 0x201 + node : 0x1000 + 0x10 * (node - N_SWITCHES);
}

static void make_random(void)
{
	bool is_used[(N_SWITCHES + N_HOSTS) * N_PORTS] = {false};
	unsigned n_links = 8 + pick(24);

	add_switches(0x201, N_SWITCHES);
	for (unsigned i = 0; i < N_HOSTS; i++)
		fixture_add(0x1000 + 0x10 * i, TRIAD_NODE_CA, "host", N_PORTS);
	fixture_link(OWN, 1, 0x201, N_PORTS);
	is_used[N_PORTS - 1] = true;
	for (unsigned i = 0; i < n_links; i++) {
		uint32_t a = random_free_port(is_used), b = random_free_port(is_used);

		/* No link joins two hosts. */
		if (a == NONE || b == NONE ||
			(a / N_PORTS >= N_SWITCHES && b / N_PORTS >= N_SWITCHES))
			continue;
		fixture_link(guid_of(a), (uint8_t)(a % N_PORTS + 1), guid_of(b),
			(uint8_t)(b % N_PORTS + 1));
	}
	if (pick(3))
		sms[n_sms++] = 0x1000 + 1 + pick(N_PORTS);
	if (pick(3))
		sms[n_sms++] = 0x201 + pick(N_SWITCHES);
	fixture_build(pick(4) ? OWN + 1 : 0x201);
	spared = pick(2) ? pick(fabric->n_nodes) : NONE;
	for (uint32_t i = 0; i < fabric->n_ports; i++)
		if (fabric->ports[i].remote != NONE && !pick(6)) {
			fabric->ports[i].state = TRIAD_PORT_INIT;
			fabric->ports[fabric->ports[i].remote].state = TRIAD_PORT_INIT;
		}
}

static void check_all(struct model *model)
{
	for (uint32_t i = 0; i < fabric->n_ports; i++) {
		enum triad_guard_verdict verdict;
		struct triad_guard_lost lost;
		uint32_t n_lost;

		if (!is_switch(fabric->ports[i].node) || !fabric->ports[i].number)
			continue;
		verdict = judge_model(model, i, &n_lost);
		ck_assert_str_eq(
			triad_guard_word(triad_guard_judge(guard, i, spared, &lost)),
			triad_guard_word(verdict));
		ck_assert_uint_eq(lost.n, n_lost);
	}
}

/* Row: X3 */
START_TEST(test_guard_random_fabrics_as_a_naive_walk)
{
	const char *text = getenv("TRIAD_SEED");

	state = text ? strtoull(text, NULL, 0) : (uint64_t)time(NULL);
	printf("# TRIAD_SEED=%llu\n", (unsigned long long)state);
	fflush(stdout);
	for (unsigned round = 0; round < 200; round++) {
		struct model model = {0};

		begin();
		make_random();
		guard_it();
		check_all(&model);
		for (unsigned i = 0; i < 5; i++) {
			uint32_t port = pick(fabric->n_ports);

			if (!is_switch(fabric->ports[port].node))
				continue;
			model.is_removed[port] = true;
			triad_guard_remove(guard, port);
			check_all(&model);
		}
		end();
	}
	begin();
	fixture_build(OWN + 1);
}
END_TEST

START_TEST(test_guard_words_all_known)
{
	fixture_build(OWN + 1);
	ck_assert_str_eq(triad_guard_word(TRIAD_GUARD_FREE), "");
	ck_assert_str_eq(triad_guard_word(TRIAD_GUARD_UNKNOWN), "unknown");
	ck_assert_str_eq(triad_guard_word(TRIAD_GUARD_N_VERDICTS), "?");
}
END_TEST

int main(void)
{
	TCase *cases = tcase_create("guard");

	tcase_add_checked_fixture(cases, begin, end);
	tcase_add_test(cases, test_guard_own_link_stopped);
	tcase_add_test(cases, test_guard_own_host_passes_nothing_on);
	tcase_add_test(cases, test_guard_port_of_sm_unknown_stopped);
	tcase_add_test(cases, test_guard_own_port_on_switch_split_alone_stopped);
	tcase_add_test(cases, test_guard_link_of_other_sm_stopped);
	tcase_add_test(cases, test_guard_only_way_to_other_sm_stopped);
	tcase_add_test(cases, test_guard_other_sm_on_switch_stopped);
	tcase_add_test(cases, test_guard_split_by_one_or_by_two_stopped);
	tcase_add_test(cases, test_guard_whatever_is_behind_counts);
	tcase_add_test(cases, test_guard_spared_may_be_lost_not_what_is_behind);
	tcase_add_test(cases, test_guard_many_lost_first_named_all_counted);
	tcase_add_test(cases, test_guard_host_with_two_links_lost_with_the_last);
	tcase_add_test(cases, test_guard_link_of_host_without_traffic_is_no_other_way);
	tcase_add_loop_test(
		cases, test_guard_link_without_traffic_is_no_other_way, 0, 2);
	tcase_add_test(cases, test_guard_link_down_or_disabled_is_no_way);
	tcase_add_test(cases, test_guard_loops_free);
	tcase_add_test(cases, test_guard_what_is_not_reached_not_lost);
	tcase_add_test(cases, test_guard_reaches_by_links_that_were_not_removed);
	tcase_add_test(cases, test_guard_own_link_removed_nothing_to_lose);
	tcase_add_test(cases, test_guard_own_port_not_active_is_a_way);
	tcase_add_test(cases, test_guard_random_fabrics_as_a_naive_walk);
	tcase_add_test(cases, test_guard_words_all_known);
	return run_cases(cases);
}
