/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* What an elector says of itself. */
#include "plugin/opensm.h"

#include <string.h>

#include "lib/text.h"
#include "plugin/election/elector_parts.h"
#include "portmgr/election/priority.h"
#include "triad/clock.h"
#include "triad/thread.h"

enum triad_check elector_find_check(
	const struct triad_elector *elector, uint64_t now_us)
{
	uint64_t max_us = elector->conf->election.check_max_age_s * TRIAD_US_PER_S;

	if (!elector->conf->election.check_required)
		return TRIAD_CHECK_OFF;
	if (!elector->verdict_us || now_us - elector->verdict_us > max_us)
		return TRIAD_CHECK_MISSING;
	return elector->verdict ? TRIAD_CHECK_YES : TRIAD_CHECK_NO;
}

static const char *cluster_name(const struct triad_conf *conf)
{
	static const char *const names[] = {
		[TRIAD_CLUSTER_COROSYNC] = "corosync",
		[TRIAD_CLUSTER_PEERS] = "peers",
		[TRIAD_CLUSTER_FABRIC] = "fabric",
		[TRIAD_CLUSTER_NONE] = "none",
	};

	return names[conf->election.cluster];
}

static void describe_trouble(
	const struct triad_elector *elector, struct triad_elector_status *status)
{
	const char *transport = status->transport.trouble;
	const size_t size = sizeof(status->trouble);
	char why[128];

	triad_text_append(status->trouble, size, "%s", transport);
	if (elector->has_store_trouble)
		triad_text_append(status->trouble, size,
			"%selection.state_dir can't be written, so this SM gives no "
			"vote: see the log",
			*status->trouble ? "; " : "");
	else if (triad_state_probe_fails(elector->probe, why, sizeof(why)))
		triad_text_append(status->trouble, size,
			"%selection.state_dir can't be written: %s; so this SM can give "
			"no vote",
			*status->trouble ? "; " : "", why);
	if (elector->is_blind)
		triad_text_append(status->trouble, size,
			"%sthe state of the local ports can't be read, so they count "
			"as bad: see the log",
			*status->trouble ? "; " : "");
}

static void describe_elector(
	const struct triad_elector *elector, struct triad_elector_status *status)
{
	memset(status, 0, sizeof(*status));
	status->now_us = triad_clock_boot_us();
	status->is_on = elector->is_on;
	status->id = elector->id;
	status->cluster = cluster_name(elector->conf);
	status->generation = elector->generation;
	status->hash = elector->hash;
	status->lease_ms = elector->conf->election.lease_ms;
	status->n_ports = elector->health.n_ports;
	status->n_good = elector->health.n_good;
	status->n_up = elector->health.seen_good;
	status->absent_port = elector->absent_port;
	status->preference = (uint8_t)elector->conf->election.priority;
	status->keepalive_ms =
		triad_election_keepalive_ms(elector->conf->election.lease_ms);
	status->n_store_failed = elector->n_store_failed;
	status->n_late = elector->n_late;
	status->longest_late_us = elector->longest_late_us;
	status->check = elector_find_check(elector, status->now_us);
	status->check_age_us =
		elector->verdict_us ? status->now_us - elector->verdict_us : UINT64_MAX;
	if (elector->election) {
		triad_election_status(
			elector->election, status->now_us, &status->election);
		if (elector->divided.leads)
			status->election.sm_priority = TRIAD_PRIORITY_SM_OF_PART;
		status->leads_part = elector->divided.leads;
		elector->cluster->ops->status(elector->cluster, &status->transport);
	}
	describe_trouble(elector, status);
}

void elector_publish_and_unlock(struct triad_elector *elector)
{
	struct triad_elector_status status;

	describe_elector(elector, &status);
	pthread_mutex_lock(&elector->facts_lock);
	elector->status = status;
	pthread_mutex_unlock(&elector->facts_lock);
	pthread_mutex_unlock(&elector->lock);
}

/* A step publishes its facts at once, for permission, but its status only after it
 * wrote the trace and asked the transport.  So take holder and term of the lease from
 * the facts: an answer in between must agree with the permission in it. */
static void take_lease_from_facts(struct triad_elector_status *status)
{
	struct triad_election_status *election = &status->election;

	if (status->facts.is_holder) {
		election->holder = status->id;
		election->term = status->facts.term;
	} else if (election->holder == status->id) {
		election->holder = 0;
	}
}

bool triad_elector_hears(
	const struct triad_elector_status *status, const struct triad_fabric_peer *peer)
{
	return peer->is_member &&
		status->now_us <
		peer->received_us + status->keepalive_ms * TRIAD_US_PER_MS;
}

static void describe_fabric(
	struct triad_elector *elector, struct triad_elector_status *status)
{
	const struct triad_fabric_report *fabric = &status->fabric;

	triad_fabric_ask_report(elector->fabric, &status->fabric);
	for (uint32_t i = 0; i < fabric->n_peers; i++)
		status->n_cut_off +=
			triad_fabric_verdict_is_alive(fabric->peers[i].verdict) &&
			!triad_elector_hears(status, &fabric->peers[i]);
}

/* Returns the state at the end of the last step, because a step may hang in a write.
 * Only the permission is judged now. */
void triad_elector_status(
	struct triad_elector *elector, struct triad_elector_status *status)
{
	uint64_t now_us = triad_clock_boot_us();

	pthread_mutex_lock(&elector->facts_lock);
	*status = elector->status;
	status->facts = elector->facts;
	pthread_mutex_unlock(&elector->facts_lock);
	if (status->check_age_us != UINT64_MAX)
		status->check_age_us += now_us - status->now_us;
	status->now_us = now_us;
	take_lease_from_facts(status);
	status->permission = triad_permission_judge(&status->facts, now_us);
	status->n_dropped =
		TRIAD_LOCKED(&elector->inbox_lock, elector->inbox.n_dropped);
	status->sm = triad_sm_control_status(elector->sm);
	describe_fabric(elector, status);
}
