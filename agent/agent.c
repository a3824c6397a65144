/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "config.h"

#include "agent/agent.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/text.h"
#include "triad/lists.h"

#define DEFAULT_CONF_PATH TRIAD_SYSCONFDIR "/agent.conf"

/* --- configuration --- */

/* Whether a key is for the plugin in OpenSM only. */
static bool is_of_plugin(const struct triad_conf_key *key)
{
	static const char *const sections[] = {
		"qos", "election", "port", "sm", "console"};

	for (unsigned i = 0; i < sizeof(sections) / sizeof(sections[0]); i++)
		if (!strcmp(key->section, sections[i]))
			return true;
	return !strcmp(key->section, "perfmgr") && !strcmp(key->name, "role");
}

static void log_ignored(struct triad_agent *agent)
{
	const struct triad_conf *conf = triad_service_conf(&agent->service);
	char names[512] = "";

	for (struct triad_conf_entry entry = {0}; triad_conf_next(conf, &entry);)
		if (is_of_plugin(entry.key) &&
			strcmp(entry.value, entry.key->default_text) != 0)
			triad_text_append(names, sizeof(names), "%s%s",
				names[0] ? ", " : "", entry.name);
	triad_conf_unref(conf);
	if (names[0])
		triad_log_write(agent->service.log, TRIAD_LOG_WARNING,
			"%s: without effect here, for the Triad plugin in OpenSM alone",
			names);
}

static void put_in_force(void *context, const struct triad_conf *conf)
{
	struct triad_agent *agent = context;
	char reason[TRIAD_DIAG_TEXT_SIZE];
	uint64_t sa_key = 0;

	triad_agent_log_set_syslog(agent->log, conf->log.syslog);
	/* No error is possible: reading the configuration has checked the key. */
	(void)triad_sm_key_parse(conf->collect.sa_key, &sa_key, reason, sizeof(reason));
	triad_sa_source_set_key(agent->service.source, sa_key);
	triad_topology_name_by(agent->topology, conf->collect.node_name_map);
	triad_topology_configure(agent->topology, conf->collect.topology,
		conf->collect.mode == TRIAD_COLLECT_AGENT);
}

/* --- life --- */

static struct triad_service_owner make_owner(struct triad_agent *agent)
{
	return (struct triad_service_owner){
		.context = agent,
		.program = "triad-agent",
		.no_fabric =
			"the fabric is not known yet: see topology in 'status --all', "
			"and the agent's log",
		.no_conf = "triad-agent was started without a configuration file: "
			   "write " DEFAULT_CONF_PATH ", or start it with --conf PATH",
		.conf_path = DEFAULT_CONF_PATH,
		.socket = agent->socket,
		.put_in_force = put_in_force,
		.add_metrics = triad_agent_add_metrics,
		.add_health = triad_agent_add_health,
		.run = triad_agent_run,
		.source = triad_topology_user(agent->topology),
	};
}

static int start_services(struct triad_agent *agent)
{
	struct triad_service *service = &agent->service;

	if (service->conf_state == TRIAD_CONF_BROKEN) {
		triad_log_write(service->log, TRIAD_LOG_ERROR,
			"%s: %zu mistake(s): mend the file and start triad-agent again",
			service->conf_path, service->conf_diags.n_total);
		return EINVAL;
	}
	if (!triad_service_start(service)) {
		triad_log_write(
			service->log, TRIAD_LOG_ERROR, "not enough memory or threads");
		return ENOMEM;
	}
	/* Before a configuration is in force: that begins to ask for the topology. */
	triad_topology_connect(
		agent->topology, service->perf, service->source, service->speeds);
	triad_perf_set_sm(service->perf, TRIAD_SM_ABSENT);
	triad_service_put_in_force(service);
	triad_log_write(service->log, TRIAD_LOG_INFO,
		"triad-agent " PACKAGE_VERSION " on port 0x%016" PRIx64
		", configuration: %s",
		service->port_guid,
		service->conf_path[0] ? service->conf_path : "defaults");
	log_ignored(agent);
	triad_service_open(service);
	return 0;
}

int triad_agent_new(uint64_t port_guid, const char *conf_path,
	struct triad_agent_log *log, struct triad_agent **made)
{
	struct triad_agent *agent = calloc(1, sizeof(*agent));
	int error = ENOMEM;

	if (!agent)
		return ENOMEM;
	agent->log = log;
	snprintf(agent->socket, sizeof(agent->socket),
		TRIAD_RUNSTATEDIR "/agent-0x%016" PRIx64 ".sock", port_guid);
	agent->topology = triad_topology_new(port_guid, triad_agent_log(log));
	if (agent->topology) {
		agent->owner = make_owner(agent);
		triad_service_init(&agent->service, &agent->owner, port_guid, conf_path,
			triad_agent_log(log));
		error = start_services(agent);
	}
	if (error)
		(void)triad_agent_free(agent);
	else
		*made = agent;
	return error;
}

bool triad_agent_free(struct triad_agent *agent)
{
	bool ended;

	if (!agent)
		return true;
	triad_service_close(&agent->service);
	ended = triad_service_stop(&agent->service);
	/* In this order: the SA's source calls the topology, which uses 'perf'. */
	triad_sa_source_free(agent->service.source);
	agent->service.source = NULL;
	ended &= triad_topology_free(agent->topology);
	ended = triad_service_free(&agent->service, ended);
	if (ended)
		free(agent);
	return ended;
}

void triad_agent_tick(struct triad_agent *agent)
{
	triad_topology_tick(agent->topology,
		triad_collect_status(agent->service.collect).has_given_topology,
		triad_clock_now_us());
}

void triad_agent_reload(struct triad_agent *agent)
{
	struct triad_service *service = &agent->service;
	struct triad_diags diags;
	int error = triad_agent_log_reopen(agent->log);

	/* Read the configuration even if the log can't be opened again. */
	if (error)
		triad_log_write(service->log, TRIAD_LOG_ERROR,
			"the log can't be opened again: %s; it goes on where it was",
			strerror(error));
	if (!triad_service_reload(service, &diags))
		log_ignored(agent);
	else if (!service->conf_path[0])
		triad_log_write(service->log, TRIAD_LOG_ERROR, "not loaded: %s",
			service->owner->no_conf);
}
