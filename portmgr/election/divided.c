/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "portmgr/election/divided.h"

#include "portmgr/election/priority.h"
#include "triad/clock.h"

/* How long a better candidate has to become master of this part: it sees the silence as
 * late as this SM does, discovers, and is asked for its state once a second. */
#define BETTER_US (1500 * TRIAD_US_PER_MS)

static enum triad_fabric_verdict verdict_on(
	const struct triad_fabric_peer *peers, uint32_t n_peers, uint64_t id)
{
	for (uint32_t i = 0; i < n_peers; i++)
		if (peers[i].id == id)
			return peers[i].verdict;
	return TRIAD_FABRIC_UNKNOWN;
}

/* Whether the member is a better candidate than this one, by the election. */
static bool is_better(const struct triad_election_status *election, uint64_t id)
{
	const struct triad_election_member *own = NULL, *other = NULL;

	for (uint32_t i = 0; i < election->n_members; i++) {
		const struct triad_election_member *member = &election->members[i];

		if (member->is_self)
			own = member;
		else if (member->id == id)
			other = member;
	}
	return own && other && !other->is_witness &&
		triad_priority_is_better(
			other->priority, other->id, own->priority, own->id);
}

/* What other SMs of this part are, as they answer over the fabric. */
struct here {
	bool has_master, has_better_master, has_better;
};

static struct here look_here(const struct triad_election_status *election,
	const struct triad_fabric_peer *peers, uint32_t n_peers)
{
	struct here here = {.has_master = false};

	for (uint32_t i = 0; i < n_peers; i++) {
		bool is_master = peers[i].verdict == TRIAD_FABRIC_MASTER;
		bool is_better_one;

		if (!triad_fabric_verdict_is_alive(peers[i].verdict))
			continue;
		is_better_one = is_better(election, peers[i].id);
		here.has_master |= is_master;
		here.has_better_master |= is_master && is_better_one;
		here.has_better |= is_better_one;
	}
	return here;
}

static void stop(struct triad_divided *divided)
{
	*divided = (struct triad_divided){.leads = false};
}

static void look_as_standby(struct triad_divided *divided,
	const struct triad_election_status *election,
	const struct triad_fabric_peer *peers, uint32_t n_peers, uint64_t now_us)
{
	enum triad_fabric_verdict verdict =
		verdict_on(peers, n_peers, election->master);
	bool is_silent = verdict == TRIAD_FABRIC_PORT_SILENT;
	struct here here = look_here(election, peers, n_peers);

	/* While it leads, no answer is enough: its OpenSM soon forgets the port. */
	if (divided->leads)
		is_silent |= verdict == TRIAD_FABRIC_UNKNOWN;
	if (!is_silent || (divided->leads ? here.has_better_master : here.has_master)) {
		stop(divided);
		return;
	}
	if (!divided->master)
		divided->since_us = now_us;
	divided->master = election->master;
	divided->leads |= !here.has_better || now_us - divided->since_us >= BETTER_US;
}

bool triad_divided_look(struct triad_divided *divided,
	const struct triad_election_status *election,
	const struct triad_fabric_peer *peers, uint32_t n_peers, uint64_t now_us)
{
	bool did_lead = divided->leads;

	/* During an election it is open who is master. */
	if (election->state == TRIAD_ELECTION_STANDBY && election->master)
		look_as_standby(divided, election, peers, n_peers, now_us);
	else if (election->state != TRIAD_ELECTION_ELECTING)
		stop(divided);
	return divided->leads != did_lead;
}
