/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "perfmgr/sweep/sweep.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/queue.h>

#include "perfmgr/sweep/sweep_agents.h"
#include "perfmgr/sweep/answers.h"
#include "perfmgr/sweep/plan.h"
#include "perfmgr/sweep/rounds.h"
#include "perfmgr/sweep/waits.h"
#include "perfmgr/sweep/window.h"

/* A transaction ID is the query's place and a count of the place's uses, so that a late
 * answer matches no later query. */
#define TID_SLOT_BITS 12
#define TID_SLOT_MASK ((1u << TID_SLOT_BITS) - 1)

struct query {
	TAILQ_ENTRY(query) link;
	uint64_t deadline_us;
	uint32_t tid;
	uint32_t agent;
	uint32_t port; /* index in the fabric; of a question to an agent: its first */
	enum triad_question question; /* 0: its agent or port is gone */
	enum triad_pma_attribute attribute;
	struct triad_mad_address to; /* where it was sent */
	unsigned tries;
	bool in_flight;
	bool was_heard; /* something came, but no answer of use */
	bool compares;  /* the answer with 'narrow', which PortCounters had before */
	uint32_t narrow[TRIAD_FIRST_WIDE_COUNTER];
};

TAILQ_HEAD(query_list, query);

struct triad_sweep {
	struct triad_sweep_sink sink;
	struct triad_sweep_params params;
	struct triad_sweep_progress progress;
	struct triad_sweep_counts counts;
	bool running;
	struct triad_sweep_agents agents;
	struct triad_rounds rounds;
	struct triad_waits waits;
	uint64_t held_until_us; /* when the first held port is read again */
	/* 'counts.sent' when the present sweep, or the last, began. */
	uint64_t sent_before;
	uint64_t n_sent_of_all; /* by the last sweep with rounds, which is one of all
	                         * ports */
	struct triad_window window;
	struct query *queries; /* params.window of them */
	unsigned n_queries;
	struct query_list free, waiting, flying;
	unsigned n_flying;
	unsigned n_used; /* waiting or flying */
};

struct triad_sweep *triad_sweep_new(const struct triad_sweep_sink *sink)
{
	struct triad_sweep *sweep = calloc(1, sizeof(*sweep));

	if (!sweep)
		return NULL;
	sweep->sink = *sink;
	sweep->agents.sink = &sweep->sink;
	sweep->agents.params = &sweep->params;
	sweep->agents.progress = &sweep->progress;
	sweep->agents.waits = &sweep->waits;
	TAILQ_INIT(&sweep->free);
	TAILQ_INIT(&sweep->waiting);
	TAILQ_INIT(&sweep->flying);
	return sweep;
}

void triad_sweep_free(struct triad_sweep *sweep)
{
	if (!sweep)
		return;
	triad_sweep_agents_clear(&sweep->agents);
	free(sweep->queries);
	free(sweep);
}

/* --- the lists of queries --- */

static void move(struct triad_sweep *sweep, struct query *query,
	struct query_list *from, struct query_list *to)
{
	TAILQ_REMOVE(from, query, link);
	TAILQ_INSERT_TAIL(to, query, link);
	query->in_flight = to == &sweep->flying;
	sweep->n_flying += to == &sweep->flying;
	sweep->n_flying -= from == &sweep->flying;
	sweep->n_used += from == &sweep->free;
	sweep->n_used -= to == &sweep->free;
}

static void empty_lists(struct triad_sweep *sweep)
{
	TAILQ_INIT(&sweep->free);
	TAILQ_INIT(&sweep->waiting);
	TAILQ_INIT(&sweep->flying);
	sweep->n_flying = 0;
	sweep->n_used = 0;
}

static int make_queries(struct triad_sweep *sweep, unsigned window)
{
	struct query *queries;

	if (sweep->n_queries != window) {
		uint32_t used = 0;

		queries = calloc(window, sizeof(*queries));
		if (!queries)
			return ENOMEM;
		/* Continue with the highest count of uses, so that no late answer
		 * matches a new query. */
		for (unsigned i = 0; i < sweep->n_queries; i++)
			if (sweep->queries[i].tid >> TID_SLOT_BITS > used)
				used = sweep->queries[i].tid >> TID_SLOT_BITS;
		free(sweep->queries);
		sweep->queries = queries;
		sweep->n_queries = window;
		for (unsigned i = 0; i < window; i++)
			queries[i].tid = used << TID_SLOT_BITS | i;
	}
	empty_lists(sweep);
	for (unsigned i = 0; i < window; i++)
		TAILQ_INSERT_TAIL(&sweep->free, &sweep->queries[i], link);
	return 0;
}

/* --- another fabric --- */

/* The query's agent or port is gone.  Drops a query that waits.  One in flight keeps
 * its place until it is answered or overdue. */
static void forget_query(struct triad_sweep *sweep, struct query *query,
	struct query_list *list, struct triad_sweep_agent *agent)
{
	if (agent) {
		agent->in_flight--;
		agent->trying &= ~TRIAD_DETAIL_BIT(query->attribute);
	}
	query->question = 0;
	if (list == &sweep->waiting)
		move(sweep, query, list, &sweep->free);
}

static void follow_fabric(struct triad_sweep *sweep, struct query_list *list,
	const struct triad_sweep_agents *agents, const uint32_t *agent_map,
	const uint32_t *port_map)
{
	struct query *query = TAILQ_FIRST(list), *next;

	for (; query; query = next) {
		uint32_t agent, port;

		next = TAILQ_NEXT(query, link);
		if (!query->question)
			continue;
		agent = agent_map[query->agent];
		port = port_map[query->port];
		/* A question to the agent itself carries its first port, which may have
		 * changed. */
		if (agent != TRIAD_FABRIC_NONE && query->question <= TRIAD_ASK_SUMMARY)
			port = agents->agents[agent].first_port;
		query->agent = agent;
		query->port = port;
		if (agent == TRIAD_FABRIC_NONE)
			forget_query(sweep, query, list, NULL);
		else if (port == TRIAD_FABRIC_NONE)
			forget_query(sweep, query, list, &agents->agents[agent]);
	}
}

int triad_sweep_adopt(struct triad_sweep *sweep, struct triad_fabric *fabric)
{
	const struct triad_fabric *old = sweep->agents.fabric;
	size_t n_ports = old ? old->n_ports : 0;
	uint32_t *maps = calloc(2 * n_ports + 1, sizeof(*maps));
	struct triad_sweep_agents agents;

	if (!maps)
		return ENOMEM;
	if (triad_sweep_agents_init(&agents, fabric, &sweep->agents)) {
		free(maps);
		return ENOMEM;
	}
	/* From here on nothing fails. */
	triad_sweep_agents_inherit(&agents, &sweep->agents, !triad_sweep_is_done(sweep),
		maps, maps + n_ports);
	follow_fabric(sweep, &sweep->flying, &agents, maps, maps + n_ports);
	follow_fabric(sweep, &sweep->waiting, &agents, maps, maps + n_ports);
	triad_waits_follow(&sweep->waits, maps, maps + n_ports);
	triad_sweep_agents_clear(&sweep->agents);
	sweep->agents = agents;
	free(maps);
	return 0;
}

/* --- queries --- */

int triad_sweep_start(
	struct triad_sweep *sweep, const struct triad_sweep_params *params)
{
	int error = make_queries(sweep, params->window);

	if (error)
		return error;
	triad_window_set_most(&sweep->window, params->window);
	if (sweep->params.round_share > 0)
		sweep->n_sent_of_all = sweep->counts.sent - sweep->sent_before;
	sweep->sent_before = sweep->counts.sent;
	sweep->params = *params;
	sweep->running = true;
	sweep->waits.n_held = 0;
	triad_plan_begin(&sweep->agents);
	/* Sweeps of groups have no rounds, and may come often: they do not change what
	 * the next sweep of all ports may add. */
	if (params->round_share > 0)
		triad_rounds_begin(
			&sweep->rounds, &sweep->agents, sweep->n_sent_of_all);
	return 0;
}

void triad_sweep_want_reset(struct triad_sweep *sweep, uint32_t port)
{
	const struct triad_fabric *fabric = sweep->agents.fabric;

	if (fabric && port < fabric->n_ports && fabric->ports[port].has_pma)
		sweep->agents.ports[port].reset_wanted = true;
}

/* Makes a query of the next question, if a place and an agent are free. */
static struct query *new_query(struct triad_sweep *sweep)
{
	struct query *query = TAILQ_FIRST(&sweep->free);
	struct triad_sweep_agent *agent;

	if (!query || sweep->n_used >= sweep->window.width)
		return NULL;
	while ((agent = triad_sweep_agents_next_ready(&sweep->agents))) {
		query->question = triad_plan_ask(
			&sweep->agents, agent, &query->port, &query->attribute);
		if (!query->question)
			continue; /* an answer makes it ready again */
		query->agent = (uint32_t)(agent - sweep->agents.agents);
		query->tries = 0;
		query->compares = false;
		query->was_heard = false;
		agent->in_flight++;
		triad_sweep_agents_put_back(&sweep->agents, agent, query->port);
		move(sweep, query, &sweep->free, &sweep->waiting);
		return query;
	}
	return NULL;
}

static bool is_reset(const struct query *query)
{
	return query->question & (TRIAD_ASK_RESETS | TRIAD_ASK_RESET_DETAIL);
}

static bool is_of_detail(const struct query *query)
{
	return query->question & (TRIAD_ASK_DETAIL | TRIAD_ASK_RESET_DETAIL);
}

static uint8_t port_select(const struct triad_sweep *sweep, const struct query *query)
{
	return query->question == TRIAD_ASK_SUMMARY
		? TRIAD_PMA_ALL_PORTS
		: sweep->agents.fabric->ports[query->port].number;
}

static void encode(struct triad_sweep *sweep, const struct query *query,
	uint8_t mad[TRIAD_MAD_SIZE])
{
	uint8_t port = port_select(sweep, query);
	uint32_t mask;

	if (!is_reset(query)) {
		triad_pma_encode_get(mad, query->attribute, port, query->tid);
		return;
	}
	if (is_of_detail(query)) {
		triad_detail_encode_reset(mad, query->attribute, port, query->tid);
		return;
	}
	mask = triad_plan_reset_mask(&sweep->agents,
		&sweep->agents.agents[query->agent], query->port, query->question);
	triad_pma_encode_reset(mad, query->attribute, port, mask, query->tid);
	sweep->sink.resetting(sweep->sink.context, query->port, mask);
}

bool triad_sweep_next(
	struct triad_sweep *sweep, uint64_t now_us, struct triad_sweep_query *out)
{
	struct query *query = TAILQ_FIRST(&sweep->waiting);

	if (!sweep->running)
		return false;
	if (sweep->waits.n_held && now_us >= sweep->held_until_us)
		sweep->held_until_us = triad_waits_release(&sweep->agents, now_us);
	if (!query)
		query = new_query(sweep);
	if (!query)
		return false;
	query->tid += 1u << TID_SLOT_BITS;
	query->deadline_us = now_us + sweep->params.timeout_us;
	move(sweep, query, &sweep->waiting, &sweep->flying);
	sweep->counts.sent++;
	sweep->counts.retries += query->tries > 0;
	out->tid = query->tid;
	query->to = sweep->agents.agents[query->agent].to;
	out->to = query->to;
	encode(sweep, query, out->mad);
	return true;
}

static struct query *find_flying(struct triad_sweep *sweep, uint32_t tid)
{
	uint32_t slot = tid & TID_SLOT_MASK;
	struct query *query;

	if (slot >= sweep->n_queries)
		return NULL;
	query = &sweep->queries[slot];
	return query->in_flight && query->tid == tid ? query : NULL;
}

void triad_sweep_unsend(struct triad_sweep *sweep, uint32_t tid)
{
	struct query *query = find_flying(sweep, tid);

	if (!query)
		return;
	move(sweep, query, &sweep->flying, &sweep->waiting);
	sweep->counts.sent--;
	sweep->counts.retries -= query->tries > 0;
}

/* --- results --- */

static struct triad_sweep_agent *agent_of(
	struct triad_sweep *sweep, const struct query *query)
{
	return &sweep->agents.agents[query->agent];
}

static void release(struct triad_sweep *sweep, struct query *query)
{
	struct triad_sweep_agent *agent = agent_of(sweep, query);

	move(sweep, query, &sweep->flying, &sweep->free);
	agent->in_flight--;
	triad_sweep_agents_make_ready(&sweep->agents, agent);
}

/* Whether the agent may not know what it was asked for: it never answered that. */
static bool is_unproven_detail(struct triad_sweep *sweep, const struct query *query)
{
	return is_of_detail(query) &&
		!(agent_of(sweep, query)->reported &
			TRIAD_DETAIL_BIT(query->attribute));
}

/* A detail says nothing of the agent, which may not have it. */
static void note_trouble(struct triad_sweep *sweep, struct query *query,
	enum triad_pma_trouble_kind kind, uint16_t lid)
{
	const struct triad_pma_trouble trouble = {.kind = kind, .lid = lid};

	query->was_heard = kind != TRIAD_PMA_SILENT;
	if (sweep->sink.trouble && !is_of_detail(query))
		sweep->sink.trouble(sweep->sink.context, query->port, trouble);
}

static void give_up(struct triad_sweep *sweep, struct query *query)
{
	if (!query->was_heard)
		note_trouble(sweep, query, TRIAD_PMA_SILENT, 0);
	sweep->counts.resets_failed += is_reset(query);
	release(sweep, query);
	if (is_of_detail(query)) {
		triad_details_silence(&sweep->agents, agent_of(sweep, query),
			query->port, query->attribute);
		return;
	}
	triad_answer_silence(
		&sweep->agents, agent_of(sweep, query), query->port, query->question);
}

/* Ends a try. */
static void end_try(struct triad_sweep *sweep, struct query *query)
{
	const struct triad_sweep_agent *agent = agent_of(sweep, query);

	/* Count neither a dead agent, which loses everything at any window, nor one in
	 * error, nor first tries, which an agent may not support. */
	if (agent->was_alive && !query->was_heard && !is_unproven_detail(sweep, query))
		triad_window_judge(&sweep->window, true);
	/* No repeat of a reset: it may have been done although its answer was lost. */
	if (query->tries++ < sweep->params.retries && !agent->silent &&
		!is_reset(query) && !is_unproven_detail(sweep, query))
		move(sweep, query, &sweep->flying, &sweep->waiting);
	else
		give_up(sweep, query);
}

static void time_out(struct triad_sweep *sweep, struct query *query)
{
	if (!query->question) {
		move(sweep, query, &sweep->flying, &sweep->free);
		return;
	}
	sweep->counts.timeouts++;
	end_try(sweep, query);
}

static void handle_refusal(struct triad_sweep *sweep, struct query *query)
{
	sweep->counts.refused++;
	if (query->question == TRIAD_ASK_COUNTERS)
		note_trouble(sweep, query, TRIAD_PMA_REFUSES, 0);
	if (is_of_detail(query)) {
		release(sweep, query);
		triad_details_refusal(&sweep->agents, agent_of(sweep, query),
			query->port, query->attribute);
		return;
	}
	if (is_reset(query)) {
		sweep->counts.resets_failed++;
		/* Tell the engine to expect no reset. */
		sweep->sink.resetting(sweep->sink.context, query->port, 0);
	}
	release(sweep, query);
	triad_answer_refusal(
		&sweep->agents, agent_of(sweep, query), query->port, query->question);
}

/* The index of 'pkey' in the P_Key table of the port we send from, or -1. */
static int local_pkey_index(const struct triad_sweep *sweep, uint16_t pkey)
{
	if (sweep->sink.find_pkey)
		return sweep->sink.find_pkey(sweep->sink.context, pkey);
	return (pkey & 0x7fff) == 0x7fff ? 0 : -1;
}

/* Sends the question again, to where the agent redirects us. */
static void follow_redirect(struct triad_sweep *sweep, struct query *query,
	const struct triad_pma_redirect *redirect)
{
	int pkey_index = local_pkey_index(sweep, redirect->pkey);
	const struct triad_mad_address to = {.lid = redirect->lid,
		.pkey_index = (uint16_t)pkey_index,
		.sl = redirect->sl,
		.qpn = redirect->qpn,
		.qkey = redirect->qkey};

	sweep->counts.redirected++;
	if (pkey_index >= 0 && redirect->lid && redirect->qpn &&
		triad_answer_redirect(agent_of(sweep, query), &query->to, &to)) {
		move(sweep, query, &sweep->flying, &sweep->waiting);
		return;
	}
	sweep->counts.unreachable++;
	give_up(sweep, query);
}

/* True when a ClassPortInfo redirects us to another place than it came from. */
static bool sends_on(const struct triad_mad_address *from, const uint8_t *mad,
	struct triad_pma_redirect *redirect)
{
	bool behind_router;

	if (!triad_pma_decode_redirect(mad, redirect, &behind_router))
		return behind_router;
	/* Some agents name their own place, without a QP. */
	return redirect->lid != from->lid ||
		(redirect->qpn && redirect->qpn != from->qpn);
}

static void handle_capabilities(
	struct triad_sweep *sweep, struct query *query, const uint8_t *mad)
{
	struct triad_sweep_agent *agent = agent_of(sweep, query);
	struct triad_pma_redirect redirect;

	if (sends_on(&query->to, mad, &redirect)) {
		follow_redirect(sweep, query, &redirect);
		return;
	}
	release(sweep, query);
	triad_answer_capabilities(
		&sweep->agents, agent, triad_pma_decode_capabilities(mad));
}

static void handle_counters(struct triad_sweep *sweep, const struct query *query,
	struct triad_pma_reading *reading, uint64_t now_us)
{
	const struct triad_sweep_sink *sink = &sweep->sink;
	struct triad_sweep_agents *agents = &sweep->agents;
	struct triad_sweep_agent *agent = agent_of(sweep, query);
	uint32_t moved, wanted;

	switch (query->question) {
	case TRIAD_ASK_SUMMARY:
		triad_answer_summary(agents, agent, reading, now_us);
		break;
	case TRIAD_ASK_RESET:
	case TRIAD_ASK_RESET_EXTENDED:
		sweep->counts.resets++;
		sink->reset(sink->context, query->port, reading, now_us);
		if (query->question == TRIAD_ASK_RESET)
			triad_waits_hold(agents, agent, query->port, now_us);
		sweep->held_until_us = 0; /* the next query finds out */
		triad_answer_reset(agents, agent, query->port, query->question);
		break;
	default:
		if (query->question == TRIAD_ASK_COUNTERS &&
			agents->ports[query->port].was_held)
			reading->has &= 1u << TRIAD_PORT_XMIT_WAIT;
		moved = sink->reading(
			sink->context, query->port, query->attribute, reading, now_us);
		wanted = triad_detail_explain(moved);
		if (sink->wanted_details)
			wanted |= sink->wanted_details(
				sink->context, query->port, reading);
		if (sink->detail)
			triad_details_want(agents, agent, query->port, wanted);
		triad_answer_reading(
			agents, agent, query->port, query->question, reading, moved);
	}
}

static void handle_detail(struct triad_sweep *sweep, const struct query *query,
	const struct triad_detail_reading *reading, uint64_t now_us)
{
	bool after_reset = query->question == TRIAD_ASK_RESET_DETAIL;

	sweep->counts.resets += after_reset;
	if (sweep->sink.detail)
		sweep->sink.detail(sweep->sink.context, query->port, query->attribute,
			reading, after_reset, now_us);
	triad_details_answer(&sweep->agents, agent_of(sweep, query), query->port,
		query->attribute, triad_detail_is_near_full(query->attribute, reading),
		after_reset);
}

/* --- wide errors compared with PortCounters --- */

/* Asks for the wide errors, now that PortCounters are known, which must be less: these
 * wait in the query. */
static void compare_next(struct triad_sweep *sweep, struct query *query,
	const struct triad_pma_reading *narrow)
{
	struct triad_port_plan *state = &sweep->agents.ports[query->port];

	triad_answer_note_life(agent_of(sweep, query));
	state->pending &= (uint8_t)~TRIAD_ASK_COUNTERS;
	state->pending |= TRIAD_ASK_EXTENDED;
	state->todo &= (uint8_t)~TRIAD_ASK_EXTENDED;
	for (unsigned i = 0; i < TRIAD_FIRST_WIDE_COUNTER; i++)
		query->narrow[i] = narrow->has & 1u << i ? (uint32_t)narrow->raw[i] : 0;
	query->compares = true;
	query->question = TRIAD_ASK_EXTENDED;
	query->attribute = TRIAD_PMA_PORT_COUNTERS_EXTENDED;
	query->tries = 0;
	move(sweep, query, &sweep->flying, &sweep->waiting);
}

/* Takes wide errors out of a reading, and out of those to come, if they are less than
 * PortCounters were. */
static void drop_wide_errors(struct triad_sweep *sweep, const struct query *query,
	struct triad_pma_reading *wide)
{
	const struct triad_sweep_sink *sink = &sweep->sink;
	unsigned i = 0;

	while (i < TRIAD_FIRST_WIDE_COUNTER &&
		!(wide->has & 1u << i && query->narrow[i] > wide->raw[i]))
		i++;
	triad_answer_comparison(&sweep->agents, agent_of(sweep, query), query->port,
		i == TRIAD_FIRST_WIDE_COUNTER);
	if (i == TRIAD_FIRST_WIDE_COUNTER)
		return;
	sweep->counts.disbelieved++;
	if (sink->disbelieved)
		sink->disbelieved(
			sink->context, query->port, i, query->narrow[i], wide->raw[i]);
	wide->has &= ~TRIAD_NARROW_COUNTERS;
}

/* The decoded answer to any question but that for capabilities. */
union reading {
	struct triad_pma_reading counters;
	struct triad_detail_reading detail;
};

/* Returns 0, or EPROTO when the answer is about another port. */
static int decode(const struct triad_sweep *sweep, const struct query *query,
	const uint8_t *mad, union reading *reading)
{
	uint32_t capabilities = sweep->agents.agents[query->agent].capabilities;
	uint8_t port = port_select(sweep, query);

	if (is_of_detail(query))
		return triad_detail_decode(
			mad, query->attribute, port, &reading->detail);
	if (query->question == TRIAD_ASK_SUMMARY &&
		query->attribute == TRIAD_PMA_PORT_COUNTERS)
		/* Sums have its data counters, too, wherever those of ports are read. */
		capabilities &= ~(uint32_t)(TRIAD_PMA_EXTENDED_WIDTH |
			TRIAD_PMA_EXTENDED_WIDTH_NO_IETF);
	/* Where errors are wide, PortCounters are asked for to be compared. */
	if (query->question == TRIAD_ASK_COUNTERS)
		capabilities &= ~(uint32_t)TRIAD_PMA_WIDE_ERRORS;
	return triad_pma_decode_counters(
		mad, query->attribute, port, capabilities, &reading->counters);
}

static void handle_answer(struct triad_sweep *sweep, struct query *query,
	const uint8_t *mad, uint64_t now_us)
{
	union reading reading;

	if (query->question != TRIAD_ASK_CAPABILITIES &&
		decode(sweep, query, mad, &reading)) {
		sweep->counts.malformed++;
		note_trouble(sweep, query, TRIAD_PMA_WRONG, 0);
		return; /* as if lost: it will be asked again */
	}
	sweep->counts.received++;
	triad_window_judge(&sweep->window, false);
	if (query->question == TRIAD_ASK_CAPABILITIES) {
		handle_capabilities(sweep, query, mad);
		return;
	}
	if (query->question == TRIAD_ASK_COUNTERS &&
		triad_pma_has_wide_errors(agent_of(sweep, query)->capabilities)) {
		compare_next(sweep, query, &reading.counters);
		return;
	}
	if (query->compares)
		drop_wide_errors(sweep, query, &reading.counters);
	release(sweep, query);
	if (is_of_detail(query))
		handle_detail(sweep, query, &reading.detail, now_us);
	else
		handle_counters(sweep, query, &reading.counters, now_us);
}

static void handle_reply(struct triad_sweep *sweep, struct query *query,
	const struct triad_mad_reply *reply, uint64_t now_us)
{
	struct triad_pma_redirect redirect = {0};
	bool behind_router;
	uint16_t status;

	switch (triad_pma_check(reply->mad, reply->size, query->attribute, &status)) {
	case 0:
		handle_answer(sweep, query, reply->mad, now_us);
		break;
	case EREMOTE:
		(void)triad_pma_decode_redirect(reply->mad, &redirect, &behind_router);
		follow_redirect(sweep, query, &redirect);
		break;
	case EOPNOTSUPP:
		handle_refusal(sweep, query);
		break;
	case EBUSY:
		sweep->counts.refused++; /* as if lost: it will be asked again */
		note_trouble(sweep, query, TRIAD_PMA_BUSY, 0);
		break;
	default:
		sweep->counts.malformed++;
		note_trouble(sweep, query, TRIAD_PMA_WRONG, 0);
	}
}

void triad_sweep_reply(
	struct triad_sweep *sweep, const struct triad_mad_reply *reply, uint64_t now_us)
{
	struct query *query =
		find_flying(sweep, triad_pma_tid(reply->mad, reply->size));

	if (!sweep->running || !query) {
		/* A time-out from the transport is no late answer. */
		sweep->counts.late += !reply->status;
		return;
	}
	if (reply->status == EREMCHG && query->question) {
		sweep->counts.malformed++;
		note_trouble(sweep, query, TRIAD_PMA_ELSEWHERE, reply->lid);
		end_try(sweep, query);
		return;
	}
	if (reply->status) {
		time_out(sweep, query);
		return;
	}
	if (!query->question) {
		sweep->counts.late++;
		move(sweep, query, &sweep->flying, &sweep->free);
		return;
	}
	sweep->sink.coming(sweep->sink.context, query->port);
	handle_reply(sweep, query, reply, now_us);
}

void triad_sweep_expire(struct triad_sweep *sweep, uint64_t now_us)
{
	struct query *query;

	/* All queries of a sweep have one time-out, so the list is in the order of
	 * deadlines. */
	while ((query = TAILQ_FIRST(&sweep->flying)) && query->deadline_us <= now_us)
		time_out(sweep, query);
}

/* --- state --- */

uint64_t triad_sweep_deadline(const struct triad_sweep *sweep)
{
	const struct query *query = TAILQ_FIRST(&sweep->flying);
	uint64_t deadline_us = query ? query->deadline_us : UINT64_MAX;

	return sweep->waits.n_held && sweep->held_until_us < deadline_us
		? sweep->held_until_us
		: deadline_us;
}

unsigned triad_sweep_window(const struct triad_sweep *sweep)
{
	return sweep->window.width;
}

unsigned triad_sweep_in_flight(const struct triad_sweep *sweep)
{
	return sweep->n_flying;
}

bool triad_sweep_is_done(const struct triad_sweep *sweep)
{
	const struct triad_sweep_progress *progress = &sweep->progress;

	return !sweep->running ||
		(progress->n_answered + progress->n_unanswered == progress->n_ports &&
			!sweep->n_used);
}

void triad_sweep_cut(struct triad_sweep *sweep)
{
	if (sweep->running)
		triad_plan_cut(&sweep->agents);
	triad_sweep_abort(sweep);
}

void triad_sweep_abort(struct triad_sweep *sweep)
{
	sweep->running = false;
	sweep->waits.n_held = 0;
	for (unsigned i = 0; i < sweep->n_queries; i++)
		sweep->queries[i].in_flight = false;
	empty_lists(sweep);
}

struct triad_sweep_progress triad_sweep_progress(const struct triad_sweep *sweep)
{
	return sweep->progress;
}

struct triad_sweep_counts triad_sweep_counts(const struct triad_sweep *sweep)
{
	return sweep->counts;
}
