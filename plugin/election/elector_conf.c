/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "plugin/opensm.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "plugin/election/elector_parts.h"
#include "plugin/election/fabric_carrier.h"
#include "plugin/election/state_file.h"
#include "triad/clock.h"
#include "triad/file.h"
#include "triad/lists.h"
#include "triad/thread.h"

#define N_STEPS 3

/* Between two STATUS of a master: some may be lost in a lease of the default length.  A lease
 * that is longer, for slow hosts, needs no fewer. */
#define STATUS_MS 100u

/* Between two questions over the fabric whether the master lives: as often as it says so itself,
 * 10 SMPs a second that only read. */
#define FABRIC_HEARTBEAT_MS 100

/* The lease alone is chosen: how slow hosts and network may be.  The other times follow from
 * it. */
static uint32_t status_ms(const struct triad_conf *conf)
{
	uint32_t third_ms = conf->election.lease_ms / 3;

	return third_ms < STATUS_MS ? third_ms : STATUS_MS;
}

static uint32_t keepalive_ms(const struct triad_conf *conf)
{
	return triad_election_keepalive_ms(conf->election.lease_ms);
}

/* How long an election takes: as long as two STATUS or more. */
static uint32_t timeout_ms(const struct triad_conf *conf)
{
	return conf->election.lease_ms * 2 / 3;
}

/* --- beginning and ending --- */

static struct triad_cluster *join_peers(
	struct triad_elector *elector, const char *own, struct triad_carrier *carrier)
{
	const struct triad_conf *conf = elector->conf;
	struct triad_cluster_sink sink = elector_sink(elector);
	const struct triad_cluster_peers_conf peers = {
		.id = elector->id,
		.own = own,
		.peers = conf->election.peers,
		.key_file = conf->election.key_file,
		.keepalive_ms = status_ms(conf),
		.silence_ms = keepalive_ms(conf),
	};

	return triad_cluster_peers_new(&peers, carrier, &sink, elector->log);
}

static struct triad_cluster *join_cluster(struct triad_elector *elector)
{
	const struct triad_conf *conf = elector->conf;
	struct triad_cluster_sink sink = elector_sink(elector);
	char guid[24];

	switch ((enum triad_conf_cluster)conf->election.cluster) {
	case TRIAD_CLUSTER_COROSYNC:
		return triad_cluster_corosync_new(elector->id, conf->election.group,
			conf->election.voters, &sink, elector->log);
	case TRIAD_CLUSTER_PEERS:
		return join_peers(
			elector, conf->election.listen, triad_udp_carrier_new());
	case TRIAD_CLUSTER_FABRIC:
		snprintf(guid, sizeof(guid), "0x%016" PRIx64, elector->id);
		return join_peers(
			elector, guid, triad_fabric_carrier_new(elector->osm));
	case TRIAD_CLUSTER_NONE:
		break;
	}
	return triad_cluster_alone_new(elector->id, &sink);
}

static struct triad_election *make_election(struct triad_elector *elector)
{
	const struct triad_conf *conf = elector->conf;
	const struct triad_election_conf election = {
		.id = elector->id,
		.status_ms = status_ms(conf),
		.keepalive_ms = keepalive_ms(conf),
		.timeout_ms = timeout_ms(conf),
		.step_ms = timeout_ms(conf) / (N_STEPS + 1),
		.n_steps = N_STEPS,
		.lease_ms = conf->election.lease_ms,
		.is_witness = conf->election.witness,
		.has_cluster = conf->election.cluster != TRIAD_CLUSTER_NONE,
	};
	struct triad_election_stored stored = {.term = 0};
	char path[256], why[TRIAD_FILE_REASON_SIZE] = "";
	int error = triad_state_file_name(
		conf->election.state_dir, elector->id, path, sizeof(path));

	if (!error && triad_file_check_trusted(path, false, why) == EPERM)
		error = EPERM;
	if (!error)
		error = triad_state_file_read(path, &stored, why);
	if (error && error != ENOENT)
		triad_log_write(elector->log, TRIAD_LOG_ERROR,
			"election: %s: can't be read: %s; it is begun anew, without a "
			"blacklist",
			path, *why ? why : strerror(error));
	/* The machine waits until earlier promises have ended.  If the state can't be
	 * read, assume the longest possible lease. */
	if (error && error != ENOENT)
		stored.lease_ms = TRIAD_ELECTION_MAX_LEASE_MS;
	if (stored.lease_ms < elector->longest_lease_ms)
		stored.lease_ms = elector->longest_lease_ms;
	if (elector->longest_lease_ms < conf->election.lease_ms)
		elector->longest_lease_ms = conf->election.lease_ms;
	return triad_election_new(&election, &stored, triad_clock_boot_us());
}

/* Asks over the fabric which SMs answer.  Nothing is known about them before. */
static void begin_asking(struct triad_elector *elector)
{
	triad_fabric_ask_begin(
		elector->fabric, FABRIC_HEARTBEAT_MS, status_ms(elector->conf));
}

static void start_election(struct triad_elector *elector)
{
	struct triad_cluster *cluster;

	memset(&elector->health, 0, sizeof(elector->health));
	elector->absent_port = 0;
	elector->is_blind = false;
	elector->check = TRIAD_CHECK_OFF;
	elector->reported_state = (enum triad_election_state)0;
	elector->election = make_election(elector);
	cluster = elector->election ? join_cluster(elector) : NULL;
	elector->cluster = cluster;
	if (cluster) {
		elector->is_on = true;
		begin_asking(elector);
		return;
	}
	triad_election_free(elector->election);
	elector->election = NULL;
	triad_log_write(elector->log, TRIAD_LOG_ERROR,
		"election: not enough memory or threads: it stays off; type "
		"'triadctl reload' to try again");
}

static void withdraw(struct triad_elector *elector)
{
	pthread_mutex_lock(&elector->facts_lock);
	memset(&elector->facts, 0, sizeof(elector->facts));
	pthread_mutex_unlock(&elector->facts_lock);
}

/* Takes the lock.  Returns false if a step hangs, in a write to a disk that does not
 * answer. */
static bool lock_in_time(struct triad_elector *elector)
{
	return !triad_mutex_lock_within(&elector->lock, ELECTOR_PATIENCE_US);
}

bool elector_stop(struct triad_elector *elector)
{
	struct triad_cluster *cluster;

	/* End permission first, even if a step hangs and the rest can't be done. */
	withdraw(elector);
	if (!lock_in_time(elector))
		return false;
	/* Withdraw again below: a step that ran meanwhile, and elector_act() here,
	 * publish facts anew. */
	if (elector->election) {
		triad_election_resign(elector->election, triad_clock_boot_us());
		elector_act(elector);
		withdraw(elector);
		/* OpenSM gets its own priority back. */
		memset(&elector->target, 0, sizeof(elector->target));
		memset(&elector->divided, 0, sizeof(elector->divided));
		elector->given = elector->target;
		triad_sm_control_set(elector->sm, &elector->given);
	}
	triad_fabric_ask_begin(elector->fabric, 0, 0);
	triad_election_free(elector->election);
	elector->election = NULL;
	cluster = elector->cluster;
	elector->cluster = NULL;
	elector->is_on = false;
	elector_publish_and_unlock(elector);
	/* Wait for the transport's thread, which may be delivering.  If it hangs, leave
	 * the elector's memory allocated. */
	if (cluster && !cluster->ops->free(cluster))
		elector->has_left = true;
	elector_clear_inbox(elector);
	return true;
}

/* --- keys --- */

/* Whether a change needs a new election. */
static bool must_begin_anew(const struct triad_conf *a, const struct triad_conf *b)
{
	return a->election.cluster != b->election.cluster ||
		strcmp(a->election.group, b->election.group) ||
		a->election.voters != b->election.voters ||
		strcmp(a->election.listen, b->election.listen) ||
		strcmp(a->election.peers, b->election.peers) ||
		strcmp(a->election.key_file, b->election.key_file) ||
		strcmp(a->election.state_dir, b->election.state_dir) ||
		a->election.lease_ms != b->election.lease_ms ||
		a->election.witness != b->election.witness;
}

static void find_ports(struct triad_elector *elector)
{
	char reason[160];

	triad_guids_parse(elector->conf->election.ports, elector->ports,
		TRIAD_CONF_MAX_GUIDS, &elector->n_ports, reason, sizeof(reason));
	if (elector->n_ports)
		return;
	/* The configuration names no ports: use the SM's own. */
	elector->ports[0] = elector->id;
	elector->n_ports = 1;
}

static void list_all(struct triad_elector *elector, const char *text, uint64_t now_us)
{
	uint64_t blacklist[TRIAD_CONF_MAX_GUIDS];
	char reason[160];
	size_t n;

	if (!triad_guids_parse(
		    text, blacklist, TRIAD_CONF_MAX_GUIDS, &n, reason, sizeof(reason)))
		n = 0;
	for (size_t i = 0; i < n; i++) {
		triad_election_blacklist(elector->election, blacklist[i], true, now_us);
		elector_act(elector);
	}
}

/* Passes changes to the machine that it accepts while it runs. */
static void report_election(struct triad_elector *elector, bool has_new_blacklist)
{
	const struct triad_conf *conf = elector->conf;
	uint64_t now_us = triad_clock_boot_us();

	triad_election_prefer(
		elector->election, (uint8_t)conf->election.priority, now_us);
	triad_election_config(
		elector->election, elector->generation, elector->hash, now_us);
	if (has_new_blacklist)
		list_all(elector, conf->election.blacklist, now_us);
	elector_act(elector);
}

static void probe_state(struct triad_elector *elector)
{
	char path[256];

	if (!elector->is_on ||
		triad_state_file_name(elector->conf->election.state_dir, elector->id,
			path, sizeof(path)))
		path[0] = '\0';
	triad_state_probe_set(elector->probe, path);
}

static void put_into_force(struct triad_elector *elector, const struct triad_conf *conf)
{
	/* An id that was unlisted by hand stays unlisted while other keys change. */
	bool has_new_blacklist = !elector->is_on ||
		strcmp(elector->conf->election.blacklist, conf->election.blacklist);

	elector->conf = triad_conf_ref(conf);
	find_ports(elector);
	elector_open_trace(elector);
	if (conf->election.enabled && !elector->is_on)
		start_election(elector);
	/* Local ports are read only while elections are on.  Restart both times, so
	 * that the time of this call does not count as blindness or lateness. */
	triad_health_watch_set(
		elector->watch, elector->ports, elector->is_on ? elector->n_ports : 0);
	probe_state(elector);
	elector->health_us = triad_clock_boot_us();
	elector->due_us = 0;
	if (elector->election)
		report_election(elector, has_new_blacklist);
}

/* Starts the thread; who does not elect needs none.  False, with a line in the log, when
 * there is none. */
static bool has_thread(struct triad_elector *elector)
{
	int error;

	error = TRIAD_LOCKED(&elector->inbox_lock, triad_task_start(&elector->task));
	if (error)
		triad_log_write(elector->log, TRIAD_LOG_ERROR,
			"election: no thread for it: %s; the configuration in force stays, "
			"type 'triadctl reload' to try again",
			strerror(error));
	return !error;
}

void triad_elector_configure(
	struct triad_elector *elector, const struct triad_conf *conf)
{
	const struct triad_conf *old;

	pthread_mutex_lock(&elector->conf_lock);
	if (elector->is_on &&
		(!conf->election.enabled || must_begin_anew(elector->conf, conf)) &&
		!elector_stop(elector)) {
		triad_log_write(elector->log, TRIAD_LOG_ERROR,
			"election: it hangs, in election.state_dir or "
			"election.trace_file; the configuration in force stays: mend "
			"that and type 'triadctl reload'");
		pthread_mutex_unlock(&elector->conf_lock);
		return;
	}
	if (conf->election.enabled && !has_thread(elector)) {
		pthread_mutex_unlock(&elector->conf_lock);
		return;
	}
	pthread_mutex_lock(&elector->lock);
	old = elector->conf;
	put_into_force(elector, conf);
	elector_publish_and_unlock(elector);
	elector_poke(elector);
	pthread_mutex_unlock(&elector->conf_lock);
	triad_conf_unref(old);
}
