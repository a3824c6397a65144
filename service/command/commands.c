/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "config.h"

#include "service/command/commands.h"

#include <stdio.h>
#include <string.h>

#include "command/command_table.h"
#include "command/versions.h"
#include "conf/conf_keys.h"
#include "service/command/health.h"
#include "service/command/outputs.h"
#include "service/peer.h"
#include "service/outside.h"
#include "service/service.h"
#include "triad/clock.h"
#include "triad/control.h"
#include "triad/lists.h"

void triad_commands_put_diags(
	const struct triad_diags *diags, struct triad_output *output)
{
	char text[TRIAD_DIAG_TEXT_SIZE * 2 + 64];

	for (size_t i = 0; i < diags->n; i++) {
		triad_diags_format(diags, i, text, sizeof(text));
		triad_output_message(output, TRIAD_FRAME_MESSAGE, "%s\n", text);
	}
}

/* Returns true, having written why, if the listener's configuration could not be put
 * into force. */
static bool is_refused(const struct triad_http_status *http, const char *section,
	struct triad_output *output)
{
	if (http->reason[0])
		triad_output_message(output, TRIAD_FRAME_MESSAGE,
			"%s: not in force: %s; %s\n", section, http->reason,
			http->listening ? "it goes on as it was before"
					: "it listens nowhere");
	return http->reason[0];
}

bool triad_commands_put_refused(
	struct triad_service *service, const char *key, struct triad_output *output)
{
	bool of_prometheus = !*key || triad_conf_key_is_of(key, "prometheus");
	bool of_web = !*key || triad_conf_key_is_of(key, "web");
	bool of_profile = !*key || triad_conf_key_is_of(key, "profile");
	struct triad_served served;
	bool refused = false;

	if ((of_prometheus || of_web || of_profile) &&
		!triad_service_wait_served(service)) {
		triad_output_message(output, TRIAD_FRAME_MESSAGE,
			"[prometheus], [web] and [profile] are done by triadd, which has "
			"not said that this is in force: " TRIAD_SERVED_RESTART
			", and see its log\n");
		return false;
	}
	served = triad_service_served(service);
	if (of_prometheus)
		refused |= is_refused(&served.prometheus, "prometheus", output);
	if (of_web)
		refused |= is_refused(&served.web.http, "web", output);
	return refused;
}

/* Writes that a group does not exist.  Not an error: it may be made later. */
static void put_missing_group(
	const char *key, const char *group, struct triad_output *output)
{
	if (!triad_peer_has_group(group))
		triad_output_message(output, TRIAD_FRAME_MESSAGE,
			"%s: there is no group '%s' on this host\n", key, group);
}

static void put_missing_groups(
	struct triad_service *service, const char *key, struct triad_output *output)
{
	const struct triad_conf *conf = triad_service_conf(service);

	if (!*key || !strcmp(key, "control.group"))
		put_missing_group("control.group", conf->control.group, output);
	if (!*key || !strcmp(key, "control.admin_group"))
		put_missing_group(
			"control.admin_group", conf->control.admin_group, output);
	triad_conf_unref(conf);
}

static int run_set(struct triad_service *service, const struct triad_command *command,
	struct triad_output *output)
{
	struct triad_conf_entry shown = {0};
	const struct triad_conf *conf;
	struct triad_diags diags;

	if (triad_service_set(service, command->key, command->value, &diags)) {
		triad_commands_put_diags(&diags, output);
		return TRIAD_CONTROL_FAILED;
	}
	conf = triad_service_conf(service);
	(void)triad_conf_get(conf, command->key, &shown, NULL, 0);
	triad_conf_unref(conf);
	triad_output_printf(output, "%s = %s, until the next reload or restart\n",
		command->key, shown.value);
	put_missing_groups(service, command->key, output);
	return triad_commands_put_refused(service, command->key, output)
		? TRIAD_CONTROL_FAILED
		: TRIAD_CONTROL_DONE;
}

static int run_reload(struct triad_service *service,
	const struct triad_command *command, struct triad_output *output)
{
	struct triad_diags diags;

	(void)command;
	if (triad_service_reload(service, &diags)) {
		triad_commands_put_diags(&diags, output);
		triad_output_message(output, TRIAD_FRAME_MESSAGE,
			"not loaded; the configuration in force stays\n");
		return TRIAD_CONTROL_FAILED;
	}
	triad_commands_put_diags(&diags, output);
	triad_output_printf(output, "%s: loaded\n", service->conf_path);
	put_missing_groups(service, "", output);
	return triad_commands_put_refused(service, "", output) ? TRIAD_CONTROL_FAILED
							       : TRIAD_CONTROL_DONE;
}

static int run_help(const char *prefix, const struct triad_command *command,
	struct triad_output *output)
{
	char text[TRIAD_COMMAND_HELP_SIZE];

	if (triad_command_help(command->topic, prefix, text, sizeof(text))) {
		triad_output_message(output, TRIAD_FRAME_MESSAGE,
			"help: no command '%s'; '%s help' lists them\n", command->topic,
			prefix);
		return TRIAD_CONTROL_USAGE;
	}
	triad_output_put(output, text, strlen(text));
	return TRIAD_CONTROL_DONE;
}

static int run_version(struct triad_service *service,
	const struct triad_command *command, struct triad_output *output)
{
	const struct triad_versions versions = {.client = command->client,
		.program = service->owner->program,
		.server = PACKAGE_VERSION,
		.sm = service->owner->sm};

	triad_versions_put(&versions, command->json, output);
	return TRIAD_CONTROL_DONE;
}

/* NULL: a command of the plugin only; or 'help', which also needs the prefix. */
static triad_service_command *const runs[TRIAD_N_COMMANDS] = {
	[TRIAD_COMMAND_HEALTH] = triad_command_run_health,
	[TRIAD_COMMAND_LINKS] = triad_command_run_links,
	[TRIAD_COMMAND_CONGESTION] = triad_command_run_congestion,
	[TRIAD_COMMAND_JOB] = triad_command_run_job,
	[TRIAD_COMMAND_TOPOLOGY] = triad_command_run_topology,
	[TRIAD_COMMAND_ROUTES] = triad_command_run_routes,
	[TRIAD_COMMAND_ROUTES_CHECK] = triad_command_run_routes_check,
	[TRIAD_COMMAND_ROUTES_OVER] = triad_command_run_routes_over,
	[TRIAD_COMMAND_ROUTES_BETWEEN] = triad_command_run_routes_between,
	[TRIAD_COMMAND_REPAIR_PLAN] = triad_command_run_repair_plan,
	[TRIAD_COMMAND_HEAL_PLAN] = triad_command_run_heal_plan,
	[TRIAD_COMMAND_PERF_SHOW] = triad_command_run_perf_show,
	[TRIAD_COMMAND_PERF_TOP] = triad_command_run_perf_top,
	[TRIAD_COMMAND_PERF_SWEEP] = triad_command_run_perf_sweep,
	[TRIAD_COMMAND_PERF_CLEAR] = triad_command_run_perf_clear,
	[TRIAD_COMMAND_PERF_RESETS] = triad_command_run_perf_resets,
	[TRIAD_COMMAND_PERF_BER] = triad_command_run_perf_ber,
	[TRIAD_COMMAND_CABLES] = triad_command_run_cables,
	[TRIAD_COMMAND_DEVICES] = triad_command_run_devices,
	[TRIAD_COMMAND_PERF_DETAILS] = triad_command_run_perf_details,
	[TRIAD_COMMAND_PERF_HISTOGRAM] = triad_command_run_perf_histogram,
	[TRIAD_COMMAND_PERF_HISTORY] = triad_command_run_perf_history,
	[TRIAD_COMMAND_PERF_TIERS] = triad_command_run_perf_tiers,
	[TRIAD_COMMAND_DIFF] = triad_command_run_diff,
	[TRIAD_COMMAND_ALERTS] = triad_command_run_alerts,
	[TRIAD_COMMAND_ALERTS_ACK] = triad_command_run_ack,
	[TRIAD_COMMAND_SILENCE] = triad_command_run_silence,
	[TRIAD_COMMAND_UNSILENCE] = triad_command_run_unsilence,
	[TRIAD_COMMAND_SILENCES] = triad_command_run_silences,
	[TRIAD_COMMAND_HISTORY] = triad_command_run_history,
	[TRIAD_COMMAND_AGENTS] = triad_command_run_agents,
	[TRIAD_COMMAND_AGENTS_OWNER] = triad_command_run_agents,
	[TRIAD_COMMAND_AGENTS_DRAIN] = triad_command_run_agents,
	[TRIAD_COMMAND_AGENTS_RESUME] = triad_command_run_agents,
	[TRIAD_COMMAND_NODES] = triad_command_run_nodes,
	[TRIAD_COMMAND_PORTS] = triad_command_run_ports,
	[TRIAD_COMMAND_VERSION] = run_version,
	[TRIAD_COMMAND_GET] = triad_command_run_get,
	[TRIAD_COMMAND_CONFIG_DIFF] = triad_command_run_config_diff,
	[TRIAD_COMMAND_SET] = run_set,
	[TRIAD_COMMAND_RELOAD] = run_reload,
};

bool triad_service_has(void *context, enum triad_command_verb verb)
{
	const struct triad_service *service = context;

	/* The plugin has all commands; triad-agent has these and its own 'status'. */
	return service->owner->sm || verb == TRIAD_COMMAND_STATUS || runs[verb];
}

int triad_service_run(struct triad_service *service, const char *prefix,
	const struct triad_command *command, struct triad_output *output)
{
	if (command->verb == TRIAD_COMMAND_HELP)
		return run_help(prefix, command, output);
	if (runs[command->verb])
		return runs[command->verb](service, command, output);
	triad_output_message(output, TRIAD_FRAME_MESSAGE,
		"this needs the Triad plugin in OpenSM, and %s answers here\n",
		service->owner->program);
	return TRIAD_CONTROL_FAILED;
}

/* --- who may --- */

/* Refuses a reader's command that changes something; writes who may run it and how. */
static void refuse_reader(struct triad_service *service,
	const struct triad_asker *asker, const char *verb, struct triad_output *output)
{
	unsigned long suppressed;

	triad_output_message(output, TRIAD_FRAME_MESSAGE,
		"%s: refused: it changes something, or reads a file as root would, and "
		"%s may only read: type it as root, 'triadctl %s ...', or as a member of "
		"control.admin_group\n",
		verb, asker->name, verb);
	if (triad_log_limit_pass(
		    &service->refused_limit, triad_clock_now_us(), &suppressed))
		triad_log_write(service->log, TRIAD_LOG_WARNING,
			"'%s %s' of %s was refused: who may only read must not change "
			"anything (%lu more before)",
			asker->prefix, verb, asker->name, suppressed);
}

/* --- while parts are idle --- */

static bool is_idle(struct triad_service *service, const struct triad_command *command,
	struct triad_output *output)
{
	const char *idle = triad_service_idle(service);

	if (!idle || !triad_verb_of(command->verb)->needs_parts || command->at[0])
		return false;
	triad_output_message(output, TRIAD_FRAME_MESSAGE, "%s: %s\n",
		triad_verb_of(command->verb)->name, idle);
	return true;
}

int triad_service_ask(void *context, const struct triad_asker *asker, int n_words,
	const char *const *words, struct triad_output *output)
{
	struct triad_service *service = context;
	const struct triad_service_owner *owner = service->owner;
	struct triad_command command;
	char message[512];
	int status;

	if (triad_command_parse(n_words, words, &command, message, sizeof(message))) {
		triad_output_message(output, TRIAD_FRAME_MESSAGE, "%s\n", message);
		return TRIAD_CONTROL_USAGE;
	}
	/* Check before running any command: the table marks those that change
	 * something. */
	if (command.changes && asker->role < TRIAD_ROLE_ADMIN) {
		refuse_reader(
			service, asker, triad_verb_of(command.verb)->name, output);
		return TRIAD_CONTROL_FAILED;
	}
	/* OpenSM's console, and other clients that do not lay out tables. */
	if (!command.table && triad_command_has_layout(&command)) {
		triad_output_message(output, TRIAD_FRAME_MESSAGE,
			"%s: --columns, --sort, --no-headings and --raw are carried out "
			"by triadctl: type 'triadctl %s ...' in a shell\n",
			triad_verb_of(command.verb)->name,
			triad_verb_of(command.verb)->name);
		return TRIAD_CONTROL_USAGE;
	}
	if (is_idle(service, &command, output))
		return triad_verb_no_answer(triad_verb_of(command.verb));
	snprintf(command.asker, sizeof(command.asker), "%s", asker->name);
	output->color = command.color;
	output->tables = command.table && !command.json;
	status = command.at[0] && triad_verb_is_kept(triad_verb_of(command.verb))
		? triad_outputs_show(service, &command, output)
		: owner->run(owner->context, asker->prefix, &command, output);
	triad_output_flush(output);
	return status;
}
