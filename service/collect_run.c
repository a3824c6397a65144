/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The PerfManager's hooks: they run the member in the PerfManager's thread. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "collect/message.h"
#include "lib/format_version.h"
#include "service/collect_parts.h"
#include "triad/clock.h"

/* Nodes that one agent reads at most: as many as large fabrics have, so that one agent alone can
 * read one, and that there is a bound. */
#define MAX_NODES 16384u
/* Each port is told of once in so many sweeps, whatever it did: so what was lost, or is below a
 * threshold, is known an hour later by default, for a sixtieth of what all ports cost. */
#define REFRESH_SWEEPS 60
/* Messages received in one step, at most: a sweep's results are many messages. */
#define MAX_BATCH 256u
/* Meanwhile answers of PMAs wait. */
#define MAX_BATCH_US (50 * TRIAD_US_PER_MS)
#define PUBLISH_US (TRIAD_US_PER_S / 4)
#define LOOK_US TRIAD_US_PER_S
/* An agent that claims nodes waits for so long, per hop. */
#define BACKOFF_US (COLLECT_LIVENESS_US / 20)
/* Refused claims are logged after they have lasted so long, and then so seldom. */
#define REFUSED_US (10 * TRIAD_US_PER_S)
#define REFUSED_LOG_US (60 * TRIAD_US_PER_S)

/* --- the member's sink --- */

static void send_message(void *context, enum triad_member_to to, uint64_t id,
	const uint8_t *octets, size_t size)
{
	struct triad_collect *collect = context;

	triad_bus_send(collect->bus, to, id, octets, size);
}

/* The owner of a node of the view.  The view's fabric may be older than that in
 * force. */
static uint64_t owner_of(void *context, uint32_t node)
{
	struct triad_collect *collect = context;
	const struct triad_fabric *seen = collect->view->fabric;

	if (!collect->fabric)
		return TRIAD_CLAIMS_NO_AGENT;
	if (seen != collect->fabric)
		node = triad_fabric_find_node(collect->fabric, seen->nodes[node].guid);
	return triad_claims_owner(triad_member_claims(collect->member), node, NULL);
}

static void ask_again(void *context, uint64_t agent, uint32_t number)
{
	struct triad_collect *collect = context;

	triad_member_ask_again(collect->member, agent, number);
}

/* --- beginning and ending --- */

static bool is_manager(const struct triad_collect *collect)
{
	return collect->mode == TRIAD_COLLECT_MANAGER;
}

static void read_host_name(char name[TRIAD_COLLECT_NAME_SIZE])
{
	if (gethostname(name, TRIAD_COLLECT_NAME_SIZE))
		snprintf(name, TRIAD_COLLECT_NAME_SIZE, "unknown");
	name[TRIAD_COLLECT_NAME_SIZE - 1] = '\0';
}

static void fill_params(
	const struct triad_collect *collect, struct triad_member_params *params)
{
	const struct triad_conf *conf = collect->conf;
	const char *port = strrchr(conf->prometheus.listen, ':');

	/* A manager and an agent may run on the same port, so their ids differ. */
	*params = (struct triad_member_params){
		.id = is_manager(collect) ? ~collect->port_guid : collect->port_guid,
		.incarnation = triad_clock_wall_us(),
		.port_guid = collect->port_guid,
		.is_manager = is_manager(collect),
		.port = port ? (uint16_t)strtoul(port + 1, NULL, 10) : 0,
		.max_nodes = MAX_NODES,
		.seed = collect->port_guid ^ triad_clock_now_us(),
	};
	/* People find it by its host's name, whatever it is called. */
	read_host_name(params->address);
	snprintf(params->name, sizeof(params->name), "%.63s",
		conf->collect.name[0] ? conf->collect.name : params->address);
}

static void configure_bus(
	struct triad_collect *collect, const struct triad_member_params *member)
{
	const struct triad_conf *conf = collect->conf;
	struct triad_bus_params params = {
		.id = member->id, .is_manager = member->is_manager};
	int error;

	snprintf(params.servers, sizeof(params.servers), "%s", conf->collect.servers);
	snprintf(params.fabric, sizeof(params.fabric), "%.32s", conf->collect.fabric);
	snprintf(params.credentials, sizeof(params.credentials), "%s",
		conf->collect.credentials);
	snprintf(params.tls_ca, sizeof(params.tls_ca), "%s", conf->collect.tls_ca);
	snprintf(params.tls_certificate, sizeof(params.tls_certificate), "%s",
		conf->collect.tls_certificate);
	snprintf(params.tls_key, sizeof(params.tls_key), "%s", conf->collect.tls_key);
	memcpy(params.name, member->name, sizeof(params.name));
	error = triad_bus_configure(collect->bus, &params);
	if (error)
		triad_log_write(collect->log, TRIAD_LOG_ERROR,
			"collect: no connection to brokers: %s; type 'triadctl reload' "
			"to try again",
			strerror(error));
}

static void configure_member(struct triad_collect *collect)
{
	const struct triad_conf *conf = collect->conf;
	struct triad_member_settings settings = {
		.reporter =
			{
				.min_change_words =
					(uint64_t)conf->collect.min_change_kb * 1000 /
					4,
				.refresh = REFRESH_SWEEPS,
				.period_us =
					conf->perfmgr.sweep_period_s * TRIAD_US_PER_S,
			},
		.sweep_ms = conf->perfmgr.sweep_period_s * 1000,
	};

	snprintf(settings.master, sizeof(settings.master), "%.63s",
		conf->collect.master);
	triad_member_configure(collect->member, &settings);
}

/* Call it before the connection ends: an agent sends a LEAVE to all, so that others
 * take its nodes at once. */
void triad_collect_end_member(struct triad_collect *collect)
{
	if (!collect->member)
		return;
	if (!is_manager(collect))
		triad_member_leave(collect->member, triad_clock_now_us());
	triad_member_free(collect->member);
	collect->member = NULL;
	triad_fabric_unref(collect->topology);
	collect->topology = NULL;
	triad_fabric_unref(collect->fabric);
	collect->fabric = NULL;
	triad_aggregator_free(collect->aggregator);
	collect->aggregator = NULL;
	triad_view_unref(collect->view);
	collect->view = NULL;
	collect->round_us = 0;
	collect->n_apart = collect->n_apart_logged = 0;
}

static bool begin_member(struct triad_collect *collect)
{
	const struct triad_member_sink sink = {
		.context = collect,
		.send = send_message,
		.histogram = triad_collect_give_histogram,
		.clear = triad_collect_do_clear,
		.fabric = collect->conf->collect.topology == TRIAD_TOPOLOGY_AUTO
			? triad_collect_take_topology
			: NULL,
		.trap = triad_collect_take_trap,
	};
	const struct triad_aggregator_sink aggregator_sink = {
		.context = collect,
		.owner = owner_of,
		.ask_again = ask_again,
		.row = triad_collect_take_row,
	};
	struct triad_member_params params;

	fill_params(collect, &params);
	if (is_manager(collect) && !collect->aggregator)
		collect->aggregator = triad_aggregator_new(
			triad_collector_engine(collect->collector), &aggregator_sink);
	if (collect->aggregator || !is_manager(collect))
		collect->member = triad_member_new(&params, &sink, collect->aggregator,
			COLLECT_LIVENESS_US, BACKOFF_US);
	if (!collect->member)
		return false;
	configure_member(collect);
	configure_bus(collect, &params);
	/* Not a possible count: so the first part is made in any case. */
	collect->n_changes = UINT64_MAX;
	collect->is_cut_off = false;
	return true;
}

static uint64_t step_agent(struct triad_collect *collect, uint64_t now_us)
{
	struct triad_collector_status status =
		triad_collector_status(collect->collector);

	triad_collect_check_topology(collect, now_us);
	triad_collect_look_at_pkeys(collect, now_us);
	if (status.n_sweeps != collect->n_sweeps) {
		collect->n_sweeps = status.n_sweeps;
		triad_collect_report_sweep(collect, &status);
	}
	return triad_collect_look_at_part(collect, now_us);
}

/* --- a manager --- */

static void log_unseen(
	struct triad_collect *collect, const struct triad_aggregator_status *status)
{
	bool is_unseen = status->n_nodes_unseen;

	if (is_unseen == collect->is_unseen_logged)
		return;
	collect->is_unseen_logged = is_unseen;
	if (is_unseen)
		triad_log_write(collect->log, TRIAD_LOG_WARNING,
			"collect: %u nodes with %u ports are not seen: nobody reads "
			"them, or who does is not heard; 'triadctl agents' shows who "
			"is there",
			status->n_nodes_unseen, status->n_ports_unseen);
	else
		triad_log_write(collect->log, TRIAD_LOG_INFO,
			"collect: all nodes are seen again");
}

/* Warns of nodes that share no partition with any agent, once that has lasted for two
 * liveness times: agents that come and go have settled by then. */
static void look_at_apart(struct triad_collect *collect, uint64_t now_us)
{
	const uint64_t settle_us = 2 * COLLECT_LIVENESS_US;
	uint32_t n = triad_member_n_apart_from_all(collect->member);

	if (n != collect->n_apart || !collect->apart_us)
		collect->apart_us = now_us;
	collect->n_apart = n;
	if (n == collect->n_apart_logged || now_us - collect->apart_us < settle_us)
		return;
	collect->n_apart_logged = n;
	if (n)
		triad_log_write(collect->log, TRIAD_LOG_WARNING,
			"collect: %u nodes share no partition with any agent: nobody reads "
			"them; make an agent's port a full member of a partition that they "
			"are in (partitions.conf of OpenSM)",
			n);
	else
		triad_log_write(collect->log, TRIAD_LOG_INFO,
			"collect: all nodes share a partition with some agent again");
}

/* Logs that an agent, master or manager is of another release. */
static void look_at_versions(struct triad_collect *collect, uint64_t now_us)
{
	struct triad_member_counts counts = triad_member_counts(collect->member);
	const struct triad_peers_entry *who =
		triad_peers_find(triad_member_peers(collect->member), counts.other);
	bool is_more = counts.n_other_version > collect->n_other_version;
	char why[TRIAD_FORMAT_REFUSAL_SIZE];

	collect->n_other_version = counts.n_other_version;
	if (!is_more || counts.other_version == TRIAD_COLLECT_VERSION ||
		(collect->other_logged_us &&
			now_us - collect->other_logged_us < REFUSED_LOG_US))
		return;
	collect->other_logged_us = now_us;
	triad_format_disagreement(why, counts.other_version, TRIAD_COLLECT_VERSION);
	triad_log_write(collect->log, TRIAD_LOG_ERROR,
		"collect: agent '%s' (0x%016" PRIx64 ") %s (%" PRIu64
		" messages so far)",
		who ? who->alive.name : "?", counts.other, why, counts.n_other_version);
}

/* Warns when claims are refused for long.  A few are normal: another agent may have a
 * newer or an older fabric for a moment. */
static void look_at_refused(struct triad_collect *collect, uint64_t now_us)
{
	struct triad_claims_counts counts =
		triad_claims_counts(triad_member_claims(collect->member));
	const struct triad_peers_entry *who = triad_peers_find(
		triad_member_peers(collect->member), counts.refused_agent);

	if (now_us - collect->refused_us > REFUSED_US)
		collect->refused_since_us = 0;
	if (counts.n_refused <= collect->n_refused) {
		collect->n_refused = counts.n_refused; /* lower: a new member */
		return;
	}
	collect->n_refused = counts.n_refused;
	collect->refused_us = now_us;
	if (!collect->refused_since_us)
		collect->refused_since_us = now_us;
	if (now_us - collect->refused_since_us < REFUSED_US ||
		(collect->refused_logged_us &&
			now_us - collect->refused_logged_us < REFUSED_LOG_US))
		return;
	collect->refused_logged_us = now_us;
	triad_log_write(collect->log, TRIAD_LOG_WARNING,
		"collect: agent '%s' (0x%016" PRIx64
		") claims nodes that it cannot have, "
		"such as 0x%016" PRIx64 ", or is one too many: it is not believed; it "
		"is of another fabric, or somebody plays agent at the broker (%" PRIu64
		" claims refused so far)",
		who ? who->alive.name : "?", counts.refused_agent, counts.refused_node,
		counts.n_refused);
}

/* Ends a round, once in each period: the reports of the period count as a sweep. */
static void end_round(struct triad_collect *collect, uint64_t now_us)
{
	struct triad_aggregator_status status =
		triad_aggregator_status(collect->aggregator);
	struct triad_sweep_progress progress = {.n_unanswered = status.n_ports_unseen};

	for (uint32_t i = 0; i < collect->view->fabric->n_ports; i++)
		progress.n_ports += triad_view_is_asked(collect->view, i);
	progress.n_answered = progress.n_ports - progress.n_unanswered;
	triad_collector_note_round(collect->collector, &progress, collect->round_us);
	collect->round_us = now_us;
}

static void look_at_view(struct triad_collect *collect)
{
	struct triad_view *view = triad_collector_view(collect->collector);

	if (view && view != collect->view) {
		triad_aggregator_adopt(collect->aggregator, view);
		triad_view_unref(collect->view);
		collect->view = triad_view_ref(view);
	}
	triad_view_unref(view);
}

static uint64_t step_manager(struct triad_collect *collect, uint64_t now_us)
{
	uint64_t period_us = collect->conf->perfmgr.sweep_period_s * TRIAD_US_PER_S;

	if (!collect->view)
		return UINT64_MAX;
	if (now_us - collect->looked_us >= LOOK_US) {
		struct triad_aggregator_status status;

		collect->looked_us = now_us;
		triad_aggregator_check_silence(collect->aggregator, now_us);
		look_at_refused(collect, now_us);
		look_at_apart(collect, now_us);
		status = triad_aggregator_status(collect->aggregator);
		/* Before the first round no agent can have reported yet. */
		if (collect->round_us)
			log_unseen(collect, &status);
	}
	if (!collect->round_us)
		collect->round_us = now_us;
	if (now_us - collect->round_us >= period_us)
		end_round(collect, now_us);
	/* All findings received in this step become alerts together. */
	if (collect->is_alert_due) {
		collect->is_alert_due = false;
		triad_watch_settle(triad_collector_watch(collect->collector), now_us);
	}
	return collect->looked_us + LOOK_US;
}

/* --- steps --- */

static void receive_messages(struct triad_collect *collect)
{
	uint64_t until_us = triad_clock_now_us() + MAX_BATCH_US;
	struct triad_bus_message message;

	for (unsigned i = 0; i < MAX_BATCH && triad_clock_now_us() < until_us &&
		triad_bus_take(collect->bus, &message);
		i++) {
		triad_member_receive(collect->member, &message.speaker, message.octets,
			message.size, triad_clock_now_us());
		triad_bus_give_back(&message);
	}
}

static void run_job(struct triad_collect *collect)
{
	struct triad_collect_job *job;

	pthread_mutex_lock(&collect->lock);
	job = collect->job;
	collect->job = NULL;
	pthread_mutex_unlock(&collect->lock);
	if (!job)
		return;
	/* Without the lock, which readers of the status need. */
	job->run(collect, job);
	pthread_mutex_lock(&collect->lock);
	job->is_done = true;
	pthread_cond_broadcast(&collect->answered);
	pthread_mutex_unlock(&collect->lock);
}

/* Begins or ends the member when the configured mode differs from that in force. */
static void look_at_mode(struct triad_collect *collect, bool wanted)
{
	unsigned mode = collect->configured_mode;

	/* Only the plugin can be a manager, only triad-agent an agent. */
	if (!wanted || (mode == TRIAD_COLLECT_MANAGER && !collect->may_manage) ||
		(mode == TRIAD_COLLECT_AGENT && collect->may_manage))
		mode = TRIAD_COLLECT_LOCAL;
	if (collect->mode == mode && (collect->member || mode == TRIAD_COLLECT_LOCAL))
		return;
	/* Before the connection changes: an agent sends its LEAVE over the old one. */
	triad_collect_end_member(collect);
	collect->mode = mode;
	if (mode == TRIAD_COLLECT_LOCAL) {
		(void)triad_bus_configure(collect->bus, NULL);
		if (collect->own_fabric)
			triad_collector_set_fabric(
				collect->collector, collect->own_fabric);
		return;
	}
	if (!begin_member(collect)) {
		triad_log_write(collect->log, TRIAD_LOG_ERROR,
			"collect: not enough memory: this one reads by itself; type "
			"'triadctl reload' to try again");
		collect->mode = TRIAD_COLLECT_LOCAL;
		collect->configured_mode = TRIAD_COLLECT_LOCAL;
		return;
	}
	if (collect->own_fabric)
		triad_collect_put_fabric(collect, collect->own_fabric, 0);
}

static uint64_t run_step(void *context, bool wanted, bool *reads, bool *has_fabric)
{
	struct triad_collect *collect = context;
	uint64_t now_us = triad_clock_now_us(), next_us, own_us;
	bool is_cut_off;

	look_at_mode(collect, wanted);
	*reads = !is_manager(collect);
	*has_fabric = collect->topology;
	run_job(collect);
	if (!collect->member)
		return UINT64_MAX;
	is_cut_off = !triad_bus_status(collect->bus).is_connected;
	if (is_cut_off != collect->is_cut_off) {
		collect->is_cut_off = is_cut_off;
		triad_member_cut_off(collect->member, is_cut_off, triad_clock_now_us());
	}
	/* The view before the messages: it numbers the ports of received messages. */
	if (is_manager(collect))
		look_at_view(collect);
	receive_messages(collect);
	look_at_versions(collect, now_us);
	next_us = triad_member_step(collect->member, now_us);
	own_us = is_manager(collect) ? step_manager(collect, now_us)
				     : step_agent(collect, now_us);
	next_us = triad_clock_earlier(next_us, own_us);
	if (now_us - collect->published_us >= PUBLISH_US) {
		collect->published_us = now_us;
		triad_collect_publish(collect, now_us);
	}
	own_us = collect->published_us + PUBLISH_US;
	return own_us < next_us ? own_us : next_us;
}

/* Compares the keys that a member is made of: those before 'min_change_kb'.  The keys
 * behind can change without a new member. */
static bool has_same_member(const struct triad_conf *a, const struct triad_conf *b)
{
	return !memcmp(&a->collect, &b->collect,
		offsetof(struct triad_conf, collect.min_change_kb) -
			offsetof(struct triad_conf, collect));
}

/* The hook configure(): ends the member if its keys have changed; a step then begins a
 * new one.  Returns true for an agent, which reads a part of the fabric. */
static bool configure(void *context, const struct triad_conf *conf)
{
	struct triad_collect *collect = context;
	const struct triad_conf *old = collect->conf;
	bool is_same = old && has_same_member(conf, old);

	collect->conf = triad_conf_ref(conf);
	triad_conf_unref(old);
	collect->configured_mode = conf->collect.mode;
	if (conf->collect.mode != TRIAD_COLLECT_LOCAL &&
		(conf->collect.mode == TRIAD_COLLECT_AGENT) == collect->may_manage &&
		!is_same)
		triad_log_write(collect->log, TRIAD_LOG_ERROR,
			"collect.mode = %s is for %s: this one reads by itself",
			collect->may_manage ? "agent" : "manager",
			collect->may_manage ? "triad-agent" : "the plugin in OpenSM");
	if (!is_same)
		triad_collect_end_member(collect);
	else if (collect->member)
		configure_member(collect);
	return conf->collect.mode == TRIAD_COLLECT_AGENT && !collect->may_manage;
}

static bool reset(void *context, const struct triad_selection *selection)
{
	struct triad_collect *collect = context;

	if (!collect->member || !is_manager(collect))
		return false;
	triad_collect_reset_all(collect, selection);
	return true;
}

struct triad_perf_hooks triad_collect_hooks(struct triad_collect *collect)
{
	return (struct triad_perf_hooks){
		.context = collect,
		.configure = configure,
		.take_fabric = triad_collect_take_fabric,
		.reset = reset,
		.step = run_step,
	};
}
