/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The tree: masters, relaying, histograms on their way up. */
#include <errno.h>
#include <string.h>

#include "collect/member_parts.h"
#include "triad/clock.h"

/* The most masters above each other; more are taken for a circle. */
#define MAX_DEPTH 16
/* For how many liveness times a former master may relay. */
#define FORMER_LIVES 4
/* An agent keeps back 1/WAIT_PART of the time it is given, for its own answer's path up. */
#define WAIT_PART 4

/* --- masters --- */

/* The agent that the configuration names, or TRIAD_MEMBER_MANAGERS. */
static uint64_t named_master(const struct triad_member *member, uint64_t now_us)
{
	const char *name = member->settings.master;
	uint64_t since_us =
		now_us > member->liveness_us ? now_us - member->liveness_us : 0;
	const struct triad_peers_entry *entry;

	if (!name[0] || member->params.is_manager)
		return TRIAD_MEMBER_MANAGERS;
	entry = triad_peers_find_name(&member->peers, name, since_us);
	if (!entry) /* a silent master's entry may still name its own master */
		entry = triad_peers_find_name(&member->peers, name, 0);
	return entry && !entry->alive.is_manager ? entry->id : TRIAD_MEMBER_MANAGERS;
}

/* Whether the path up from 'id' ends at a manager.  Cuts a circle that this member is
 * in at its lowest id, so that all members cut it at the same place. */
static bool leads_up(const struct triad_member *member, uint64_t id)
{
	uint64_t lowest = UINT64_MAX;

	for (unsigned i = 0; i < MAX_DEPTH; i++) {
		const struct triad_peers_entry *entry =
			triad_peers_find(&member->peers, id);

		if (id == TRIAD_MEMBER_MANAGERS)
			return true;
		if (id == member->params.id)
			return lowest < id;
		/* That agent's master is unknown. */
		if (!entry)
			return false;
		lowest = id < lowest ? id : lowest;
		id = entry->alive.master;
	}
	return false;
}

uint64_t triad_member_master(const struct triad_member *member, uint64_t now_us)
{
	uint64_t id = named_master(member, now_us);

	for (unsigned i = 0; i < MAX_DEPTH && id != TRIAD_MEMBER_MANAGERS; i++) {
		const struct triad_peers_entry *entry =
			triad_peers_find(&member->peers, id);

		if (!entry)
			return TRIAD_MEMBER_MANAGERS;
		/* Skip a master that is silent; use its own master instead. */
		if (triad_member_is_received(member, id, now_us))
			return leads_up(member, id) ? id : TRIAD_MEMBER_MANAGERS;
		id = entry->alive.master;
	}
	return TRIAD_MEMBER_MANAGERS;
}

void triad_member_send_up(
	struct triad_member *member, const uint8_t *octets, size_t size)
{
	if (member->master == TRIAD_MEMBER_MANAGERS)
		triad_member_send(member, TRIAD_MEMBER_TO_MANAGERS, 0, octets, size);
	else
		triad_member_send(
			member, TRIAD_MEMBER_TO_ONE, member->master, octets, size);
}

/* --- relaying --- */

/* Agents that may relay, from the sender upwards, each once. */
struct path {
	unsigned n;
	const struct triad_peers_entry *entries[2 * MAX_DEPTH];
};

static void add_to_path(
	struct path *path, const struct triad_member *member, uint64_t id)
{
	const struct triad_peers_entry *entry =
		id ? triad_peers_find(&member->peers, id) : NULL;

	/* Add each agent once, so that a circle ends. */
	for (unsigned i = 0; entry && i < path->n; i++)
		if (path->entries[i] == entry)
			return;
	if (entry && path->n < 2 * MAX_DEPTH)
		path->entries[path->n++] = entry;
}

bool triad_member_is_on_path_up(const struct triad_member *member, uint64_t sender,
	uint64_t by, uint64_t now_us)
{
	uint64_t grace_us = FORMER_LIVES * member->liveness_us;
	struct path path = {.n = 0};

	add_to_path(&path, member, sender);
	for (unsigned i = 0; i < path.n; i++) {
		const struct triad_peers_entry *entry = path.entries[i];

		if (entry->id == by)
			return true;
		add_to_path(&path, member, entry->alive.master);
		/* Messages sent before it changed masters may still come that way. */
		if (entry->left_us && now_us - entry->left_us <= grace_us)
			add_to_path(&path, member, entry->former_master);
	}
	return false;
}

/* --- reports from below --- */

/* Whether the sender owns the node, as far as is known here.  Findings of a former
 * owner may be outdated: the present owner's DATA decide. */
static bool owns_node(const struct triad_member *member, uint64_t sender, uint64_t guid)
{
	uint32_t node = member->fabric ? triad_fabric_find_node(member->fabric, guid)
				       : TRIAD_FABRIC_NONE;
	uint64_t owner = node == TRIAD_FABRIC_NONE
		? TRIAD_CLAIMS_NO_AGENT
		: triad_claims_owner(member->claims, node, NULL);

	return owner == sender || owner == TRIAD_CLAIMS_NO_AGENT;
}

static void receive_trap(struct triad_member *member,
	const struct triad_collect_head *head, struct triad_wire *body)
{
	struct triad_collect_trap trap;

	if (!triad_collect_get_trap(body, &trap)) {
		member->counts.n_foreign++;
		return;
	}
	if (!owns_node(member, head->sender, trap.node_guid)) {
		member->counts.n_traps_refused++;
		return;
	}
	member->counts.n_traps++;
	member->sink.trap(member->sink.context, &trap);
}

/* Passes a report on.  If two agents change masters at once, each may be the other's
 * master for a moment: a message that circles between them goes to the managers. */
static void relay(struct triad_member *member, const struct triad_collect_head *head,
	struct triad_wire *body)
{
	member->counts.n_relayed++;
	if (head->sender == member->params.id ||
		head->n_relays >= TRIAD_COLLECT_MAX_RELAYS) {
		triad_member_send(
			member, TRIAD_MEMBER_TO_MANAGERS, 0, body->start, body->size);
		return;
	}
	/* Pass the octets on unchanged, except the count of relays in the head. */
	triad_collect_count_relay(body->start);
	triad_member_send_up(member, body->start, body->size);
}

void triad_member_receive_up(struct triad_member *member,
	const struct triad_collect_head *head, struct triad_wire *body, uint64_t now_us)
{
	const struct triad_peers_entry *entry =
		triad_peers_find(&member->peers, head->sender);
	uint64_t sweep_us =
		entry ? entry->alive.sweep_ms * TRIAD_US_PER_MS : TRIAD_US_PER_S;

	if (!member->params.is_manager) {
		relay(member, head, body);
	} else if (head->kind == TRIAD_COLLECT_TRAP) {
		receive_trap(member, head, body);
	} else if (head->kind == TRIAD_COLLECT_DETAILS) {
		triad_aggregator_receive_details(
			member->aggregator, body->start, body->size, sweep_us, now_us);
	} else {
		triad_aggregator_receive(
			member->aggregator, body->start, body->size, sweep_us, now_us);
	}
}

/* --- those below --- */

/* Agents whose ALIVE names this one as master; at most TRIAD_PEERS_MAX. */
static unsigned find_children(
	const struct triad_member *member, uint64_t now_us, uint64_t *ids)
{
	uint64_t self =
		member->params.is_manager ? TRIAD_MEMBER_MANAGERS : member->params.id;
	unsigned n = 0;

	for (unsigned i = 0; i < member->peers.n; i++) {
		const struct triad_peers_entry *entry = &member->peers.entries[i];

		if (!entry->alive.is_manager && entry->alive.master == self &&
			entry->id != member->params.id &&
			triad_member_is_received(member, entry->id, now_us))
			ids[n++] = entry->id;
	}
	return n;
}

/* --- histograms --- */

static struct triad_member_gather *find_gather(
	struct triad_member *member, uint64_t request)
{
	for (unsigned i = 0; i < TRIAD_MEMBER_MAX_GATHERS; i++)
		if (member->gathers[i].is_used &&
			member->gathers[i].gather.request == request)
			return &member->gathers[i];
	return NULL;
}

/* Sends the answer, or calls done().  Adds agents that did not answer to 'n_asked'. */
static void end_gather(struct triad_member *member, struct triad_member_gather *gather)
{
	struct triad_collect_head head =
		triad_member_head(member, TRIAD_COLLECT_HISTOGRAM);

	gather->gather.n_asked += gather->n_children;
	if (gather->asker)
		triad_member_send(member, TRIAD_MEMBER_TO_ONE, gather->asker,
			member->octets,
			triad_gather_put(&gather->gather, &head, member->octets));
	else
		gather->done(gather->context, &gather->gather);
	triad_gather_clear(&gather->gather);
	/* Free the entry only now: done() may ask for other histograms, which would
	 * take it. */
	gather->is_used = false;
}

static void add_own(struct triad_member *member,
	const struct triad_gather_request *request, struct triad_gather *gather)
{
	bool is_whole = true;

	for (uint32_t left = request->counters; left; left &= left - 1) {
		unsigned counter = (unsigned)__builtin_ctz(left);
		struct triad_histogram own;
		uint64_t n_zeros;

		triad_histogram_init(&own, TRIAD_HISTOGRAM_MOST);
		if (!member->sink.histogram(
			    member->sink.context, request, counter, &own, &n_zeros))
			is_whole &= triad_gather_add(gather, counter, &own, n_zeros);
		triad_histogram_clear(&own);
	}
	gather->n_agents += is_whole;
	gather->n_asked++;
}

/* Begins a request and passes it to the agents below.  NULL when there are too many. */
static struct triad_member_gather *begin_gather(struct triad_member *member,
	const struct triad_gather_request *request, uint64_t now_us)
{
	struct triad_collect_head head =
		triad_member_head(member, TRIAD_COLLECT_GET_HISTOGRAMS);
	struct triad_member_gather *gather = member->gathers;
	struct triad_gather_request below = *request;
	size_t size;

	while (gather < member->gathers + TRIAD_MEMBER_MAX_GATHERS && gather->is_used)
		gather++;
	if (gather == member->gathers + TRIAD_MEMBER_MAX_GATHERS)
		return NULL;
	memset(gather, 0, sizeof(*gather));
	gather->is_used = true;
	gather->until_us = now_us + request->wait_ms * TRIAD_US_PER_MS;
	triad_gather_init(&gather->gather, request->request, request->counters);
	gather->n_children = find_children(member, now_us, gather->children);
	/* Give the agents below less time, so that their answers arrive in time. */
	below.wait_ms -= below.wait_ms / WAIT_PART;
	size = triad_gather_put_request(&below, &head, member->octets);
	for (unsigned i = 0; i < gather->n_children; i++)
		triad_member_send(member, TRIAD_MEMBER_TO_ONE, gather->children[i],
			member->octets, size);
	return gather;
}

void triad_member_receive_get_histograms(struct triad_member *member,
	const struct triad_collect_head *head, struct triad_wire *body, uint64_t now_us)
{
	struct triad_gather_request request;
	struct triad_member_gather *gather;

	if (!triad_gather_get_request(body, &request)) {
		member->counts.n_foreign++;
		return;
	}
	/* Answer a request once, even if it came twice. */
	if (member->params.is_manager || find_gather(member, request.request))
		return;
	gather = begin_gather(member, &request, now_us);
	if (!gather)
		return;
	gather->asker = head->sender;
	add_own(member, &request, &gather->gather);
	if (!gather->n_children)
		end_gather(member, gather);
}

/* Removes a child from those that have not answered; false: it was not among them. */
static bool strike_child(struct triad_member_gather *gather, uint64_t id)
{
	for (unsigned i = 0; i < gather->n_children; i++)
		if (gather->children[i] == id) {
			gather->children[i] = gather->children[--gather->n_children];
			return true;
		}
	return false;
}

void triad_member_receive_histogram(struct triad_member *member,
	const struct triad_collect_head *head, struct triad_wire *body)
{
	struct triad_wire peek = *body;
	struct triad_member_gather *gather =
		find_gather(member, triad_wire_get64(&peek));

	/* Accept only answers of members that were asked, once each. */
	if (peek.failed || !gather || !strike_child(gather, head->sender))
		return;
	if (!triad_gather_take(&gather->gather, body)) {
		member->counts.n_foreign++;
		gather->gather.n_asked++;
	}
	if (!gather->n_children)
		end_gather(member, gather);
}

int triad_member_ask_histograms(struct triad_member *member,
	const struct triad_gather_request *request, uint64_t wait_us, uint64_t now_us,
	void (*done)(void *context, struct triad_gather *gather), void *context)
{
	struct triad_gather_request asked = *request;
	struct triad_member_gather *gather;

	asked.wait_ms = (uint32_t)(wait_us / TRIAD_US_PER_MS);
	if (asked.wait_ms > UINT16_MAX)
		asked.wait_ms = UINT16_MAX;
	gather = begin_gather(member, &asked, now_us);
	if (!gather)
		return EBUSY;
	gather->done = done;
	gather->context = context;
	if (!gather->n_children)
		end_gather(member, gather);
	return 0;
}

uint64_t triad_member_step_gathers(struct triad_member *member, uint64_t now_us)
{
	uint64_t next_us = UINT64_MAX;

	for (unsigned i = 0; i < TRIAD_MEMBER_MAX_GATHERS; i++) {
		struct triad_member_gather *gather = &member->gathers[i];

		if (!gather->is_used)
			continue;
		if (now_us >= gather->until_us)
			end_gather(member, gather);
		else if (gather->until_us < next_us)
			next_us = gather->until_us;
	}
	return next_us;
}

/* --- clearing --- */

void triad_member_clear(struct triad_member *member,
	const struct triad_collect_clear *clear, uint64_t now_us)
{
	struct triad_collect_head head = triad_member_head(member, TRIAD_COLLECT_CLEAR);
	uint64_t children[TRIAD_PEERS_MAX];
	unsigned n = find_children(member, now_us, children);
	size_t size = triad_collect_put_clear(
		&head, clear, member->octets, sizeof(member->octets));

	for (unsigned i = 0; i < n; i++)
		triad_member_send(
			member, TRIAD_MEMBER_TO_ONE, children[i], member->octets, size);
}

void triad_member_receive_clear(struct triad_member *member,
	const struct triad_collect_head *head, struct triad_wire *body, uint64_t now_us)
{
	struct triad_collect_clear clear;

	if (!triad_collect_get_clear(body, &clear)) {
		member->counts.n_foreign++;
		return;
	}
	if (member->params.is_manager)
		return;
	/* Ignore a request that was carried out and passed on before. */
	for (unsigned i = 0; i < TRIAD_MEMBER_MAX_CLEARS; i++)
		if (member->cleared[i] == clear.request)
			return;
	member->cleared[member->n_cleared++ % TRIAD_MEMBER_MAX_CLEARS] = clear.request;
	member->sink.clear(member->sink.context, &clear);
	triad_member_clear(member, &clear, now_us);
}
