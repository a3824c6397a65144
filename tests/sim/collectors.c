/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "tests/sim/collectors.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/random.h"
#include "tests/sim/collectors_parts.h"
#include "triad/clock.h"

#define MS TRIAD_US_PER_MS
#define ALIVE_US (COLLECTORS_LIVENESS_US / 4)
#define LOOK_US (COLLECTORS_LIVENESS_US / 20)
#define SEE_US (300 * MS) /* until an agent has seen a change */
#define MAX_INBOX 5000u

void *collectors_must(void *memory)
{
	if (!memory)
		abort();
	return memory;
}

uint64_t collectors_random(struct collectors *s, uint64_t below)
{
	return below ? random_next(&s->random) % below : 0;
}

uint64_t collectors_now_us(const struct collectors *s)
{
	return s->now_us;
}

uint64_t collectors_n_events(const struct collectors *s)
{
	return s->n_events;
}

uint32_t collectors_n_nodes(const struct collectors *s)
{
	return s->graph.n;
}

struct collectors_traffic collectors_traffic(const struct collectors *s)
{
	return s->traffic;
}

static uint64_t id_of(unsigned agent)
{
	return UINT64_C(0x0002c90300000001) + agent;
}

static uint64_t clock_of(const struct agent *agent)
{
	return agent->all->now_us + agent->offset_us;
}

/* --- events --- */

static void push(struct collectors *s, struct event event)
{
	event_heap_push(&s->heap, &event);
}

static struct event pop(struct collectors *s)
{
	struct event event;

	event_heap_pop(&s->heap, &event);
	return event;
}

static void let_go(struct event *event)
{
	if (event->payload && !--event->payload->n_refs)
		free(event->payload);
	collectors_unref_sight(event->sight);
}

/* --- the broker --- */

static void carry(struct agent *from, struct agent *to, struct payload *payload)
{
	struct collectors *s = from->all;
	uint64_t at_us = s->now_us + s->min_delay_us +
		collectors_random(s, s->max_delay_us - s->min_delay_us + 1);

	if (from->group != to->group || !to->claims ||
		collectors_random(s, 100) < s->loss_percent)
		return;
	if (at_us <= to->last_at_us[from->number] && !s->may_overtake)
		at_us = to->last_at_us[from->number] + 1;
	if (at_us > to->last_at_us[from->number])
		to->last_at_us[from->number] = at_us;
	payload->n_refs++;
	push(s,
		(struct event){.at_us = at_us,
			.kind = DELIVER,
			.from = from->number,
			.to = to->number,
			.payload = payload});
}

/* The second copy of a duplicate comes late. */
static void carry_again(struct agent *from, struct agent *to, struct payload *payload)
{
	struct collectors *s = from->all;

	if (from->group != to->group || !to->claims ||
		collectors_random(s, 100) >= s->doubles_percent)
		return;
	payload->n_refs++;
	push(s,
		(struct event){.at_us = s->now_us + collectors_random(s, 400 * MS),
			.kind = DELIVER,
			.from = from->number,
			.to = to->number,
			.payload = payload});
}

static void send(struct agent *from, uint64_t to, const uint8_t *octets, size_t size)
{
	struct collectors *s = from->all;
	struct payload *payload = collectors_must(malloc(sizeof(*payload) + size));

	if (!size)
		abort();
	payload->n_refs = 1;
	payload->size = size;
	memcpy(payload->octets, octets, size);
	for (unsigned i = 0; i <= s->n_agents; i++) {
		if (to != TRIAD_CLAIMS_NO_AGENT && to != id_of(i))
			continue;
		carry(from, &s->agents[i], payload);
		carry_again(from, &s->agents[i], payload);
	}
	if (!--payload->n_refs)
		free(payload);
}

static void count(struct collectors *s, uint64_t to, size_t size)
{
	if (to == TRIAD_CLAIMS_NO_AGENT) {
		s->traffic.n_to_all++;
		s->traffic.octets_to_all += size;
	} else {
		s->traffic.n_to_one++;
		s->traffic.octets_to_one += size;
	}
}

static struct triad_collect_head head_of(const struct agent *agent)
{
	return (struct triad_collect_head){
		.sender = id_of(agent->number), .incarnation = agent->life};
}

static void send_owner(void *context, uint64_t to,
	const struct triad_collect_owner *owner,
	const struct triad_collect_claim *claims)
{
	struct agent *agent = context;
	const struct triad_collect_head head = head_of(agent);
	struct triad_collect_owner full = *owner;
	uint8_t octets[100 + 10 * 4096];
	size_t size;

	memcpy(full.address, "10.11.12.13", 12);
	size = triad_collect_put_owner(&head, &full, claims, octets, sizeof(octets));
	count(agent->all, to, size);
	send(agent, to, octets, size);
}

static void send_question(struct agent *agent, uint64_t to,
	const struct triad_collect_who_owns *who, const uint64_t *guids)
{
	const struct triad_collect_head head = head_of(agent);
	uint8_t octets[100 + 8 * 4096];
	size_t size =
		triad_collect_put_who_owns(&head, who, guids, octets, sizeof(octets));

	count(agent->all, to, size);
	send(agent, to, octets, size);
}

static void ask_list(void *context, uint64_t to)
{
	const struct triad_collect_who_owns who = {.wants_list = true};

	send_question(context, to, &who, NULL);
}

static void ask_nodes(void *context, const uint64_t *guids, uint32_t n)
{
	const struct triad_collect_who_owns who = {.n = n};

	send_question(context, TRIAD_CLAIMS_NO_AGENT, &who, guids);
}

/* --- hearing --- */

static void require(bool holds)
{
	if (!holds)
		abort();
}

static void receive_owner(struct agent *agent, const struct triad_collect_head *head,
	struct triad_wire *body)
{
	struct collectors *s = agent->all;
	struct triad_collect_owner owner;

	require(triad_collect_get_owner(body, &owner));
	for (uint32_t i = 0; i < owner.n; i++)
		require(triad_collect_get_claim(body, &s->entries[i]));
	triad_claims_receive_owner(
		agent->claims, head, &owner, s->entries, clock_of(agent));
}

static void receive_question(struct agent *agent, const struct triad_collect_head *head,
	struct triad_wire *body)
{
	struct collectors *s = agent->all;
	struct triad_collect_who_owns who;

	require(triad_collect_get_who_owns(body, &who));
	for (uint32_t i = 0; i < who.n; i++)
		s->guids[i] = triad_wire_get64(body);
	triad_claims_receive_who_owns(
		agent->claims, head, &who, s->guids, clock_of(agent));
}

static void receive_from(struct agent *agent, struct payload *payload)
{
	struct triad_collect_head head;
	struct triad_collect_alive alive;
	struct triad_wire body;

	require(triad_collect_get_head(payload->octets, payload->size, &head, &body) ==
		TRIAD_COLLECT_HEAD_GOOD);
	switch (head.kind) {
	case TRIAD_COLLECT_ALIVE:
		require(triad_collect_get_alive(&body, &alive));
		triad_claims_receive_alive(
			agent->claims, &head, &alive, clock_of(agent));
		break;
	case TRIAD_COLLECT_OWNER:
		receive_owner(agent, &head, &body);
		break;
	default:
		receive_question(agent, &head, &body);
	}
}

/* --- agents --- */

bool collectors_is_alive(const struct collectors *s, unsigned agent)
{
	return s->agents[agent].claims;
}

bool collectors_is_running(const struct collectors *s, unsigned agent)
{
	return s->agents[agent].claims && !s->agents[agent].is_paused;
}

struct triad_claims *collectors_of(struct collectors *s, unsigned agent)
{
	return s->agents[agent].claims;
}

static uint8_t true_hops(void *context, uint64_t id, uint32_t node)
{
	const struct agent *agent = context;

	return agent->sight->hops[(size_t)(id - id_of(0)) * agent->sight->n + node];
}

static void turn(struct agent *agent)
{
	agent->wake_us =
		triad_claims_step(agent->claims, clock_of(agent)) - agent->offset_us;
}

static void send_alive(struct agent *agent)
{
	const struct triad_collect_head head = head_of(agent);
	struct triad_collect_alive alive = {.name = "agent"};
	uint8_t octets[400];

	turn(agent);
	triad_claims_fill_alive(agent->claims, &alive);
	send(agent, TRIAD_CLAIMS_NO_AGENT, octets,
		triad_collect_put_alive(&head, &alive, octets, sizeof(octets)));
}

static void send_alive_at(struct agent *agent, uint64_t at_us)
{
	if (agent->number == agent->all->n_agents)
		return;
	push(agent->all,
		(struct event){.at_us = at_us,
			.kind = SAY_ALIVE,
			.to = agent->number,
			.life = agent->life});
}

static void see_at(struct agent *agent, struct sight *sight, uint64_t at_us)
{
	sight->n_refs++;
	push(agent->all,
		(struct event){.at_us = at_us,
			.kind = SEE,
			.to = agent->number,
			.life = agent->life,
			.sight = sight});
}

static void see(struct agent *agent, struct sight *sight)
{
	struct sight *old = agent->sight;

	sight->n_refs++;
	agent->sight = sight;
	if (triad_claims_set_nodes(agent->claims, sight->guids,
		    sight->hops + (size_t)agent->number * sight->n, sight->n,
		    clock_of(agent)))
		abort();
	collectors_unref_sight(old);
	turn(agent);
}

void collectors_start(struct collectors *s, unsigned number)
{
	static const struct triad_claims_sink sink = {
		.send_owner = send_owner, .ask_list = ask_list, .ask_nodes = ask_nodes};
	struct agent *agent = &s->agents[number];
	struct triad_claims_sink own = sink;
	struct triad_claims_params params = {
		.self = number < s->n_agents ? id_of(number) : 0,
		.liveness_us = COLLECTORS_LIVENESS_US,
		.backoff_us = COLLECTORS_BACKOFF_US,
		.seed = collectors_random(s, UINT64_MAX),
		.true_hops = true_hops,
		.context = agent};

	if (agent->claims)
		return;
	own.context = agent;
	params.incarnation = ++agent->life;
	agent->claims = collectors_must(triad_claims_new(&params, &own));
	agent->is_paused = agent->is_draining = false;
	agent->wake_us = UINT64_MAX;
	see_at(agent, s->sight, s->now_us + collectors_random(s, SEE_US));
	send_alive_at(agent, s->now_us + collectors_random(s, ALIVE_US));
}

static void empty_inbox(struct agent *agent)
{
	for (unsigned i = 0; i < agent->n_inbox; i++)
		let_go(&agent->inbox[i]);
	agent->n_inbox = 0;
}

void collectors_kill(struct collectors *s, unsigned number)
{
	struct agent *agent = &s->agents[number];

	triad_claims_free(agent->claims);
	agent->claims = NULL;
	collectors_unref_sight(agent->sight);
	agent->sight = NULL;
	agent->wake_us = UINT64_MAX;
	empty_inbox(agent);
}

void collectors_leave(struct collectors *s, unsigned number)
{
	struct agent *agent = &s->agents[number];

	if (!collectors_is_running(s, number))
		return;
	if (agent->sight)
		triad_claims_leave(agent->claims, clock_of(agent));
	collectors_kill(s, number);
}

void collectors_drain(struct collectors *s, unsigned number, bool drain)
{
	struct agent *agent = &s->agents[number];

	if (!collectors_is_running(s, number) || !agent->sight)
		return;
	agent->is_draining = drain;
	triad_claims_drain(agent->claims, drain, clock_of(agent));
	turn(agent);
}

static void handle(struct collectors *s, struct event *event);

/* An agent that was paused for so long must not believe that it still owns nodes that
 * others took. */
static void watch_waking(struct agent *agent)
{
	struct triad_collect_alive alive;

	triad_claims_fill_alive(agent->claims, &alive);
	if (agent->all->now_us > agent->paused_us + COLLECTORS_LIVENESS_US &&
		alive.n_nodes)
		snprintf(agent->all->violation, sizeof(agent->all->violation),
			"agent %u owns nodes after it was paused, at %.3f s",
			agent->number, (double)agent->all->now_us / 1e6);
}

/* It continues with the event that comes first. */
static void wake(struct collectors *s, struct agent *agent)
{
	unsigned n = agent->n_inbox;
	uint64_t life = agent->life;

	agent->n_inbox = 0;
	if (agent->sight && collectors_random(s, 2))
		send_alive(agent);
	for (unsigned i = 0; i < n; i++) {
		if (agent->life == life)
			handle(s, &agent->inbox[i]);
		let_go(&agent->inbox[i]);
	}
	if (!agent->sight)
		return;
	turn(agent);
	watch_waking(agent);
}

void collectors_pause(struct collectors *s, unsigned number, bool is_paused)
{
	struct agent *agent = &s->agents[number];
	bool was_paused = agent->is_paused;

	if (!agent->claims)
		return;
	agent->is_paused = is_paused;
	if (!was_paused)
		agent->paused_us = s->now_us;
	if (was_paused && !is_paused)
		wake(s, agent);
}

void collectors_partition(struct collectors *s, const unsigned *groups)
{
	for (unsigned i = 0; i <= s->n_agents; i++)
		s->agents[i].group = groups[i];
}

void collectors_loss(struct collectors *s, unsigned percent)
{
	s->loss_percent = percent;
}

void collectors_doubles(struct collectors *s, unsigned percent)
{
	s->doubles_percent = percent;
}

void collectors_delay(
	struct collectors *s, uint64_t min_us, uint64_t max_us, bool may_overtake)
{
	s->min_delay_us = min_us;
	s->max_delay_us = max_us;
	s->may_overtake = may_overtake;
}

/* --- the fabric --- */

void collectors_node(struct collectors *s, uint32_t node, bool is_up)
{
	if (s->graph.is_up[node] == is_up)
		return;
	s->graph.is_up[node] = is_up;
	collectors_unref_sight(s->sight);
	s->sight = collectors_look(s);
	for (unsigned i = 0; i <= s->n_agents; i++)
		if (s->agents[i].claims)
			see_at(&s->agents[i], s->sight,
				s->now_us + collectors_random(s, SEE_US));
}

static void plan_failure(struct collectors *s)
{
	uint64_t gap_us = s->mtbf_us / s->graph.n;

	if (s->mtbf_us)
		push(s,
			(struct event){
				.at_us = s->now_us + collectors_random(s, 2 * gap_us),
				.kind = FAIL,
				.node = (uint32_t)collectors_random(s, s->graph.n)});
}

void collectors_mtbf(struct collectors *s, uint64_t mtbf_us)
{
	bool was_off = !s->mtbf_us;

	s->mtbf_us = mtbf_us;
	if (was_off)
		plan_failure(s);
}

static void fail(struct collectors *s, uint32_t node)
{
	if (!s->mtbf_us)
		return;
	collectors_node(s, node, false);
	push(s,
		(struct event){.at_us = s->now_us + 1000 * MS +
				collectors_random(s, 9000 * MS),
			.kind = MEND,
			.node = node});
	plan_failure(s);
}

/* --- time --- */

static void keep_for_later(struct agent *agent, struct event *event)
{
	if (agent->n_inbox >= MAX_INBOX && event->kind == DELIVER)
		return;
	if (agent->n_inbox == agent->max_inbox) {
		agent->max_inbox = agent->max_inbox * 2 + 16;
		agent->inbox = collectors_must(realloc(
			agent->inbox, agent->max_inbox * sizeof(*agent->inbox)));
	}
	agent->inbox[agent->n_inbox++] = *event;
	event->payload = NULL;
	event->sight = NULL;
}

static void handle_for(struct collectors *s, struct agent *agent, struct event *event)
{
	bool is_same_life = event->life == agent->life;

	if (event->kind == DELIVER && agent->sight) {
		receive_from(agent, event->payload);
		turn(agent);
	} else if (event->kind == SEE && is_same_life) {
		/* A fabric older than the known one came late. */
		if (!agent->sight || event->sight->number > agent->sight->number)
			see(agent, event->sight);
	} else if (event->kind == SAY_ALIVE && is_same_life) {
		if (agent->sight)
			send_alive(agent);
		send_alive_at(agent, s->now_us + ALIVE_US);
	}
}

static void handle(struct collectors *s, struct event *event)
{
	struct agent *agent = &s->agents[event->to];

	switch (event->kind) {
	case FAIL:
		fail(s, event->node);
		break;
	case MEND:
		if (s->mtbf_us)
			collectors_node(s, event->node, true);
		break;
	case LOOK:
		if (s->is_watching)
			collectors_take_note(s);
		push(s, (struct event){.at_us = s->now_us + LOOK_US, .kind = LOOK});
		break;
	default:
		if (agent->is_paused)
			keep_for_later(agent, event);
		else if (agent->claims)
			handle_for(s, agent, event);
	}
}

static struct agent *next_waker(struct collectors *s)
{
	struct agent *first = NULL;

	for (unsigned i = 0; i <= s->n_agents; i++) {
		struct agent *agent = &s->agents[i];

		if (agent->claims && !agent->is_paused &&
			(!first || agent->wake_us < first->wake_us))
			first = agent;
	}
	return first;
}

void collectors_run(struct collectors *s, uint64_t us)
{
	uint64_t end_us = s->now_us + us;

	for (;;) {
		struct agent *waker = next_waker(s);
		uint64_t event_us = event_heap_next_us(&s->heap);
		uint64_t wake_us = waker ? waker->wake_us : UINT64_MAX;

		if (event_us > end_us && wake_us > end_us)
			break;
		s->n_events++;
		if (event_us <= wake_us) {
			struct event event = pop(s);

			s->now_us = event.at_us;
			handle(s, &event);
			let_go(&event);
		} else {
			if (s->now_us < wake_us)
				s->now_us = wake_us;
			turn(waker);
		}
	}
	s->now_us = end_us;
}

/* --- life --- */

struct collectors *collectors_new(unsigned n_agents, uint32_t n_nodes, uint64_t seed)
{
	struct collectors *s = collectors_must(calloc(1, sizeof(*s)));

	s->heap.size = sizeof(struct event);
	s->n_agents = n_agents;
	s->random = seed;
	s->now_us = 1000 * MS;
	s->min_delay_us = 100;
	s->max_delay_us = 5 * MS;
	collectors_make_graph(&s->graph, n_nodes);
	s->agents = collectors_must(calloc(n_agents + 1, sizeof(*s->agents)));
	s->entries =
		collectors_must(calloc(TRIAD_COLLECT_MAX_NODES, sizeof(*s->entries)));
	s->guids = collectors_must(calloc(TRIAD_COLLECT_MAX_NODES, sizeof(*s->guids)));
	s->two_since_us = collectors_must(
		calloc(COLLECTORS_MAX_GROUPS * s->graph.n, sizeof(*s->two_since_us)));
	s->none_since_us = collectors_must(
		calloc(COLLECTORS_MAX_GROUPS * s->graph.n, sizeof(*s->none_since_us)));
	for (unsigned i = 0; i <= n_agents; i++) {
		struct agent *agent = &s->agents[i];

		agent->all = s;
		agent->number = i;
		agent->host =
			(uint32_t)((uint64_t)i * s->graph.n_hosts / (n_agents + 1));
		agent->offset_us = collectors_random(s, 1000000 * MS);
		agent->last_at_us = collectors_must(
			calloc(n_agents + 1, sizeof(*agent->last_at_us)));
	}
	s->sight = collectors_look(s);
	collectors_start(s, n_agents);
	push(s, (struct event){.at_us = s->now_us, .kind = LOOK});
	return s;
}

void collectors_free(struct collectors *s)
{
	if (!s)
		return;
	for (unsigned i = 0; i <= s->n_agents; i++) {
		collectors_kill(s, i);
		free(s->agents[i].inbox);
		free(s->agents[i].last_at_us);
	}
	while (s->heap.n) {
		struct event event = pop(s);

		let_go(&event);
	}
	collectors_unref_sight(s->sight);
	collectors_free_graph(&s->graph);
	event_heap_clear(&s->heap);
	free(s->agents);
	free(s->entries);
	free(s->guids);
	free(s->two_since_us);
	free(s->none_since_us);
	free(s);
}
