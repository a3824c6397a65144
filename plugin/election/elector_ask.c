/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "plugin/opensm.h"

#include <errno.h>

#include "plugin/election/elector_parts.h"
#include "triad/clock.h"
#include "triad/thread.h"

/* --- permission --- */

static struct triad_permission_facts facts_of(struct triad_elector *elector)
{
	return TRIAD_LOCKED(&elector->facts_lock, elector->facts);
}

struct triad_permission triad_elector_permission(struct triad_elector *elector)
{
	struct triad_permission_facts facts = facts_of(elector);

	return triad_permission_judge(&facts, triad_clock_boot_us());
}

struct triad_permission triad_elector_permission_in_term(
	struct triad_elector *elector, uint64_t term)
{
	struct triad_permission_facts facts = facts_of(elector);

	return triad_permission_judge_term(&facts, term, triad_clock_boot_us());
}

const char *triad_elector_forbids(struct triad_elector *elector)
{
	struct triad_permission permission = triad_elector_permission(elector);

	return permission.is_given || permission.reasons & TRIAD_PERMISSION_OFF
		? NULL
		: "this SM has no permission to enforce; 'election' says why";
}

/* --- the port manager --- */

void triad_elector_set_config(
	struct triad_elector *elector, uint64_t generation, uint64_t hash)
{
	/* Store it even without an election: the next one starts with it. */
	pthread_mutex_lock(&elector->lock);
	elector->generation = generation;
	elector->hash = hash;
	if (elector->election) {
		triad_election_config(
			elector->election, generation, hash, triad_clock_boot_us());
		elector_act(elector);
	}
	elector_publish_and_unlock(elector);
	elector_poke(elector);
}

int triad_elector_send(struct triad_elector *elector, const void *payload, size_t size)
{
	int error = ENOTCONN;

	pthread_mutex_lock(&elector->lock);
	if (elector->cluster)
		error = elector->cluster->ops->send(elector->cluster, payload, size);
	pthread_mutex_unlock(&elector->lock);
	return error;
}

int triad_elector_send_spare(
	struct triad_elector *elector, const void *payload, size_t size)
{
	int error = ENOTCONN;

	if (pthread_mutex_trylock(&elector->lock))
		return EAGAIN;
	if (elector->cluster)
		error = elector->reported_state == TRIAD_ELECTION_MASTER ||
				elector->reported_state == TRIAD_ELECTION_STANDBY
			? elector->cluster->ops->send_spare(
				  elector->cluster, payload, size)
			: EAGAIN;
	pthread_mutex_unlock(&elector->lock);
	return error;
}

/* --- operators --- */

int triad_elector_blacklist(struct triad_elector *elector, uint64_t id, bool is_listed)
{
	int error = ENOTCONN;

	pthread_mutex_lock(&elector->lock);
	if (elector->election) {
		error = triad_election_blacklist(
			elector->election, id, is_listed, triad_clock_boot_us());
		elector_act(elector);
	}
	elector_publish_and_unlock(elector);
	elector_poke(elector);
	return error;
}

int triad_elector_confirm(struct triad_elector *elector)
{
	int error = ENOTCONN;

	pthread_mutex_lock(&elector->lock);
	if (elector->election) {
		error = triad_election_confirm(
			elector->election, triad_clock_boot_us());
		elector_act(elector);
	}
	elector_publish_and_unlock(elector);
	elector_poke(elector);
	return error;
}

int triad_elector_verdict(struct triad_elector *elector, bool is_yes)
{
	int error = ENOTCONN;

	pthread_mutex_lock(&elector->lock);
	if (elector->election) {
		elector->verdict = is_yes;
		/* The election's thread, woken below, passes it to the machine. */
		elector->verdict_us = triad_clock_boot_us();
		error = 0;
	}
	elector_publish_and_unlock(elector);
	elector_poke(elector);
	return error;
}
