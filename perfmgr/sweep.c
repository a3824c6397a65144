/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "perfmgr/sweep.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

/* A transaction ID is the query's place and how often that place was used, so that
 * an answer which comes too late finds somebody else's number. */
#define TID_PLACE_BITS 12
#define TID_PLACE_MASK ((1u << TID_PLACE_BITS) - 1)

struct query {
	TAILQ_ENTRY(query) link;
	uint64_t deadline_us;
	uint32_t tid;
	uint32_t agent;
	uint32_t port; /* index in the fabric */
	enum triad_pma_attribute attribute;
	unsigned tries;
	bool in_flight;
};

TAILQ_HEAD(query_list, query);

struct agent {
	uint32_t first_port; /* index in the fabric */
	uint32_t n_ports;
	uint16_t capabilities;
	bool known; /* 'capabilities' were asked for */
	/* of the present sweep: */
	bool asking; /* for 'capabilities' */
	bool silent;
	bool queued;
	uint16_t in_flight;
	uint32_t next_port; /* offset from 'first_port' */
	enum triad_pma_attribute next_attribute;
};

struct port_state {
	uint8_t pending; /* queries not yet answered */
	bool failed;
};

struct triad_sweep {
	struct triad_sweep_sink sink;
	struct triad_sweep_params params;
	struct triad_sweep_progress progress;
	struct triad_sweep_counts counts;
	bool running;
	struct triad_fabric *fabric;
	struct agent *agents;
	uint32_t n_agents;
	struct port_state *ports;
	/* Agents that may be asked something, a ring with room for all. */
	uint32_t *ready;
	uint32_t ready_first;
	uint32_t n_ready;
	struct query *queries; /* params.window of them */
	unsigned n_queries;
	uint32_t first_tid; /* of queries made next: never used before */
	struct query_list free, waiting, flying;
	unsigned n_flying;
};

struct triad_sweep *triad_sweep_new(const struct triad_sweep_sink *sink)
{
	struct triad_sweep *sweep = calloc(1, sizeof(*sweep));

	if (!sweep)
		return NULL;
	sweep->sink = *sink;
	TAILQ_INIT(&sweep->free);
	TAILQ_INIT(&sweep->waiting);
	TAILQ_INIT(&sweep->flying);
	return sweep;
}

void triad_sweep_free(struct triad_sweep *sweep)
{
	if (!sweep)
		return;
	triad_fabric_unref(sweep->fabric);
	free(sweep->agents);
	free(sweep->ports);
	free(sweep->ready);
	free(sweep->queries);
	free(sweep);
}

/* --- agents --- */

static uint32_t list_agents(const struct triad_fabric *fabric, struct agent *agents)
{
	const struct triad_fabric_port *ports = fabric->ports;
	uint32_t n = 0;

	for (uint32_t i = 0; i < fabric->n_ports; i++) {
		struct agent *last = n ? &agents[n - 1] : NULL;

		if (!ports[i].has_pma)
			continue;
		if (last && ports[last->first_port].node == ports[i].node &&
			ports[last->first_port].lid == ports[i].lid)
			last->n_ports = i - last->first_port + 1;
		else
			agents[n++] = (struct agent){.first_port = i, .n_ports = 1};
	}
	return n;
}

static const struct triad_fabric_port *agent_port(
	const struct triad_fabric *fabric, const struct agent *agent)
{
	return &fabric->ports[agent->first_port];
}

/* <0, 0, >0: 'a' comes before, is the same agent as, or comes after 'b'. */
static int compare_agents(const struct triad_fabric *fabric_a, const struct agent *a,
	const struct triad_fabric *fabric_b, const struct agent *b)
{
	const struct triad_fabric_port *port_a = agent_port(fabric_a, a);
	const struct triad_fabric_port *port_b = agent_port(fabric_b, b);
	uint64_t guid_a = fabric_a->nodes[port_a->node].guid;
	uint64_t guid_b = fabric_b->nodes[port_b->node].guid;

	if (guid_a != guid_b)
		return guid_a < guid_b ? -1 : 1;
	return (int)port_a->number - (int)port_b->number;
}

/* Keeps what is known of agents that are where they were. */
static void inherit(const struct triad_sweep *sweep, const struct triad_fabric *fabric,
	struct agent *agents, uint32_t n)
{
	uint32_t old = 0;

	for (uint32_t i = 0; i < n && old < sweep->n_agents; i++) {
		const struct agent *was;

		while (old < sweep->n_agents &&
			compare_agents(sweep->fabric, &sweep->agents[old], fabric,
				&agents[i]) < 0)
			old++;
		if (old == sweep->n_agents)
			return;
		was = &sweep->agents[old];
		if (compare_agents(sweep->fabric, was, fabric, &agents[i]) == 0 &&
			agent_port(sweep->fabric, was)->lid ==
				agent_port(fabric, &agents[i])->lid) {
			agents[i].capabilities = was->capabilities;
			agents[i].known = was->known;
		}
	}
}

int triad_sweep_adopt(struct triad_sweep *sweep, struct triad_fabric *fabric)
{
	size_t n_ports = fabric->n_ports ? fabric->n_ports : 1;
	struct agent *agents = calloc(n_ports, sizeof(*agents));
	struct port_state *ports = calloc(n_ports, sizeof(*ports));
	uint32_t *ready = calloc(n_ports, sizeof(*ready));
	uint32_t n;

	if (!agents || !ports || !ready) {
		free(agents);
		free(ports);
		free(ready);
		return ENOMEM;
	}
	n = list_agents(fabric, agents);
	inherit(sweep, fabric, agents, n);
	free(sweep->agents);
	free(sweep->ports);
	free(sweep->ready);
	triad_fabric_unref(sweep->fabric);
	sweep->agents = agents;
	sweep->n_agents = n;
	sweep->ports = ports;
	sweep->ready = ready;
	sweep->fabric = triad_fabric_ref(fabric);
	return 0;
}

static void make_ready(struct triad_sweep *sweep, struct agent *agent)
{
	uint32_t at = (sweep->ready_first + sweep->n_ready) % sweep->n_agents;

	if (agent->queued)
		return;
	agent->queued = true;
	sweep->ready[at] = (uint32_t)(agent - sweep->agents);
	sweep->n_ready++;
}

static struct agent *take_ready(struct triad_sweep *sweep)
{
	struct agent *agent;

	if (!sweep->n_ready)
		return NULL;
	agent = &sweep->agents[sweep->ready[sweep->ready_first]];
	sweep->ready_first = (sweep->ready_first + 1) % sweep->n_agents;
	sweep->n_ready--;
	agent->queued = false;
	return agent;
}

/* --- the start --- */

static int make_queries(struct triad_sweep *sweep, unsigned window)
{
	struct query *queries;

	if (sweep->n_queries != window) {
		queries = calloc(window, sizeof(*queries));
		if (!queries)
			return ENOMEM;
		free(sweep->queries);
		sweep->queries = queries;
		sweep->n_queries = window;
		for (unsigned i = 0; i < window; i++)
			queries[i].tid = sweep->first_tid + i;
		sweep->first_tid += 1u << (TID_PLACE_BITS + 10);
	}
	TAILQ_INIT(&sweep->free);
	TAILQ_INIT(&sweep->waiting);
	TAILQ_INIT(&sweep->flying);
	for (unsigned i = 0; i < window; i++)
		TAILQ_INSERT_TAIL(&sweep->free, &sweep->queries[i], link);
	sweep->n_flying = 0;
	return 0;
}

int triad_sweep_start(
	struct triad_sweep *sweep, const struct triad_sweep_params *params)
{
	int error = make_queries(sweep, params->window);

	if (error)
		return error;
	sweep->params = *params;
	sweep->progress = (struct triad_sweep_progress){0};
	sweep->ready_first = 0;
	sweep->n_ready = 0;
	sweep->running = true;
	for (uint32_t i = 0; i < sweep->n_agents; i++) {
		struct agent *agent = &sweep->agents[i];

		agent->asking = false;
		agent->silent = false;
		agent->queued = false;
		agent->in_flight = 0;
		agent->next_port = 0;
		agent->next_attribute = TRIAD_PMA_PORT_COUNTERS;
		make_ready(sweep, agent);
	}
	for (uint32_t i = 0; sweep->fabric && i < sweep->fabric->n_ports; i++) {
		sweep->ports[i] = (struct port_state){0};
		sweep->progress.n_ports += sweep->fabric->ports[i].has_pma;
	}
	return 0;
}

/* --- queries --- */

static void move(struct triad_sweep *sweep, struct query *query,
	struct query_list *from, struct query_list *to)
{
	TAILQ_REMOVE(from, query, link);
	TAILQ_INSERT_TAIL(to, query, link);
	query->in_flight = to == &sweep->flying;
	sweep->n_flying += query->in_flight;
	sweep->n_flying -= from == &sweep->flying;
}

/* The agent's next question, or false when it has none at the moment. */
static bool ask(struct triad_sweep *sweep, struct agent *agent, struct query *query)
{
	const struct triad_fabric_port *ports = sweep->fabric->ports;

	query->agent = (uint32_t)(agent - sweep->agents);
	query->tries = 0;
	if (!agent->known) {
		if (agent->asking)
			return false;
		agent->asking = true;
		query->port = agent->first_port;
		query->attribute = TRIAD_PMA_CLASS_PORT_INFO;
		return true;
	}
	while (agent->next_port < agent->n_ports &&
		!ports[agent->first_port + agent->next_port].has_pma)
		agent->next_port++;
	if (agent->next_port == agent->n_ports)
		return false;
	query->port = agent->first_port + agent->next_port;
	query->attribute = agent->next_attribute;
	if (query->attribute == TRIAD_PMA_PORT_COUNTERS) {
		bool extended = triad_pma_has_extended(agent->capabilities);

		sweep->ports[query->port].pending = extended ? 2 : 1;
		if (extended) {
			agent->next_attribute = TRIAD_PMA_PORT_COUNTERS_EXTENDED;
			return true;
		}
	}
	agent->next_attribute = TRIAD_PMA_PORT_COUNTERS;
	agent->next_port++;
	return true;
}

/* Puts new questions into the waiting list while a place and an agent are free. */
static struct query *new_query(struct triad_sweep *sweep)
{
	struct query *query = TAILQ_FIRST(&sweep->free);
	struct agent *agent;

	while (query && (agent = take_ready(sweep))) {
		if (agent->silent || agent->in_flight >= sweep->params.node_window ||
			!ask(sweep, agent, query))
			continue; /* an answer makes it ready again */
		agent->in_flight++;
		make_ready(sweep, agent);
		move(sweep, query, &sweep->free, &sweep->waiting);
		return query;
	}
	return NULL;
}

bool triad_sweep_next(
	struct triad_sweep *sweep, uint64_t now_us, struct triad_sweep_query *out)
{
	struct query *query = TAILQ_FIRST(&sweep->waiting);
	const struct triad_fabric_port *port;

	if (!sweep->running)
		return false;
	if (!query)
		query = new_query(sweep);
	if (!query)
		return false;
	query->tid += 1u << TID_PLACE_BITS;
	query->deadline_us = now_us + sweep->params.timeout_us;
	move(sweep, query, &sweep->waiting, &sweep->flying);
	sweep->counts.sent++;
	sweep->counts.retries += query->tries > 0;

	port = &sweep->fabric->ports[query->port];
	out->tid = query->tid;
	out->to = (struct triad_mad_address){
		.lid = port->lid,
		.pkey_index = port->pkey_index,
		.sl = port->sl,
		.qpn = 1,
		.qkey = TRIAD_MAD_GSI_QKEY,
	};
	triad_pma_encode_get(out->mad, query->attribute, port->number, query->tid);
	return true;
}

static struct query *find_flying(struct triad_sweep *sweep, uint32_t tid)
{
	uint32_t place = tid & TID_PLACE_MASK;
	struct query *query;

	if (place >= sweep->n_queries)
		return NULL;
	query = &sweep->queries[place];
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

static void finish_port(struct triad_sweep *sweep, uint32_t port, bool answered)
{
	sweep->progress.n_answered += answered;
	sweep->progress.n_unanswered += !answered;
	sweep->sink.done(sweep->sink.context, port, answered);
}

static void settle(struct triad_sweep *sweep, uint32_t port, bool answered)
{
	struct port_state *state = &sweep->ports[port];

	state->failed |= !answered;
	if (--state->pending == 0)
		finish_port(sweep, port, !state->failed);
}

/* Ports not yet asked for are unanswered; a port half asked for (PortCounters sent,
 * the extended attribute not) loses the half that will not be sent. */
static void silence(struct triad_sweep *sweep, struct agent *agent)
{
	const struct triad_fabric_port *ports = sweep->fabric->ports;

	if (agent->silent)
		return;
	agent->silent = true;
	if (agent->next_attribute == TRIAD_PMA_PORT_COUNTERS_EXTENDED) {
		agent->next_attribute = TRIAD_PMA_PORT_COUNTERS;
		settle(sweep, agent->first_port + agent->next_port++, false);
	}
	for (; agent->next_port < agent->n_ports; agent->next_port++)
		if (ports[agent->first_port + agent->next_port].has_pma)
			finish_port(sweep, agent->first_port + agent->next_port, false);
}

static void release(struct triad_sweep *sweep, struct query *query)
{
	struct agent *agent = &sweep->agents[query->agent];

	move(sweep, query, &sweep->flying, &sweep->free);
	agent->in_flight--;
	make_ready(sweep, agent);
}

static void fail(struct triad_sweep *sweep, struct query *query)
{
	struct agent *agent = &sweep->agents[query->agent];

	release(sweep, query);
	if (query->attribute != TRIAD_PMA_CLASS_PORT_INFO)
		settle(sweep, query->port, false);
	silence(sweep, agent);
}

static void time_out(struct triad_sweep *sweep, struct query *query)
{
	sweep->counts.timeouts++;
	if (query->tries++ < sweep->params.retries)
		move(sweep, query, &sweep->flying, &sweep->waiting);
	else
		fail(sweep, query);
}

static void take_refusal(struct triad_sweep *sweep, struct query *query)
{
	struct agent *agent = &sweep->agents[query->agent];

	sweep->counts.refused++;
	release(sweep, query);
	switch (query->attribute) {
	case TRIAD_PMA_CLASS_PORT_INFO:
		/* An agent without it has the mandatory counters only. */
		agent->known = true;
		agent->capabilities = 0;
		break;
	case TRIAD_PMA_PORT_COUNTERS_EXTENDED:
		/* It promised too much; the 32-bit counters will do next time. */
		agent->capabilities &= (uint16_t) ~(
			TRIAD_PMA_EXTENDED_WIDTH | TRIAD_PMA_EXTENDED_WIDTH_NO_IETF);
		settle(sweep, query->port, true);
		break;
	default:
		settle(sweep, query->port, false);
	}
}

static void take_answer(struct triad_sweep *sweep, struct query *query,
	const uint8_t *mad, uint64_t now_us)
{
	struct agent *agent = &sweep->agents[query->agent];
	struct triad_pma_reading reading;

	if (query->attribute == TRIAD_PMA_CLASS_PORT_INFO) {
		agent->capabilities = triad_pma_decode_capabilities(mad);
		agent->known = true;
	} else if (triad_pma_decode_counters(mad, query->attribute,
			   sweep->fabric->ports[query->port].number,
			   agent->capabilities, &reading)) {
		sweep->counts.malformed++;
		return; /* as if lost: it will be asked again */
	} else {
		sweep->sink.reading(sweep->sink.context, query->port, query->attribute,
			&reading, now_us);
		settle(sweep, query->port, true);
	}
	sweep->counts.received++;
	release(sweep, query);
}

void triad_sweep_reply(
	struct triad_sweep *sweep, const struct triad_mad_reply *reply, uint64_t now_us)
{
	struct query *query =
		find_flying(sweep, triad_pma_tid(reply->mad, reply->size));
	uint16_t status;

	if (!sweep->running || !query) {
		/* A transport's word that nothing came is no answer. */
		sweep->counts.late += !reply->status;
		return;
	}
	if (reply->status) {
		time_out(sweep, query);
		return;
	}
	switch (triad_pma_check(reply->mad, reply->size, query->attribute, &status)) {
	case 0:
		take_answer(sweep, query, reply->mad, now_us);
		break;
	case EOPNOTSUPP:
		take_refusal(sweep, query);
		break;
	case EBUSY:
		sweep->counts.refused++; /* as if lost: it will be asked again */
		break;
	default:
		sweep->counts.malformed++;
	}
}

void triad_sweep_expire(struct triad_sweep *sweep, uint64_t now_us)
{
	struct query *query;

	while ((query = TAILQ_FIRST(&sweep->flying)) && query->deadline_us <= now_us)
		time_out(sweep, query);
}

/* --- state --- */

uint64_t triad_sweep_deadline(const struct triad_sweep *sweep)
{
	const struct query *query = TAILQ_FIRST(&sweep->flying);

	return query ? query->deadline_us : UINT64_MAX;
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
			!sweep->n_flying && TAILQ_EMPTY(&sweep->waiting));
}

void triad_sweep_abort(struct triad_sweep *sweep)
{
	sweep->running = false;
	for (unsigned i = 0; i < sweep->n_queries; i++)
		sweep->queries[i].in_flight = false;
	TAILQ_INIT(&sweep->free);
	TAILQ_INIT(&sweep->waiting);
	TAILQ_INIT(&sweep->flying);
	sweep->n_flying = 0;
}

struct triad_sweep_progress triad_sweep_progress(const struct triad_sweep *sweep)
{
	return sweep->progress;
}

struct triad_sweep_counts triad_sweep_counts(const struct triad_sweep *sweep)
{
	return sweep->counts;
}
