/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* 'port priority', 'port confirm', 'port blacklist', 'port verdict': what operators
 * tell the election. */
#include "plugin/command/commands.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "plugin/command/port_node.h"
#include "plugin/election/elector.h"
#include "plugin/instance.h"
#include "service/command/commands.h"

#define OFF                                                                            \
	"elections are off: set election.enabled to true first, in triad.conf or by 'set'"

int triad_command_fail_port(
	struct triad_output *output, const char *what, const char *why)
{
	triad_output_message(output, TRIAD_FRAME_MESSAGE, "port %s: %s\n", what, why);
	return TRIAD_CONTROL_FAILED;
}

static int run_priority(struct triad_plugin *plugin,
	const struct triad_command *command, struct triad_output *output)
{
	struct triad_elector_status status;
	struct triad_diags diags;
	char value[16];

	triad_elector_status(plugin->elector, &status);
	if (!status.is_on)
		return triad_command_fail_port(output, "priority", OFF);
	snprintf(value, sizeof(value), "%u", command->priority);
	if (triad_service_set(&plugin->service, "election.priority", value, &diags)) {
		triad_commands_put_diags(&diags, output);
		return TRIAD_CONTROL_FAILED;
	}
	triad_output_printf(output,
		"this SM's preference is %u, until the next reload or restart; "
		"election.priority in triad.conf is for ever\n",
		command->priority);
	return TRIAD_CONTROL_DONE;
}

static int run_confirm(struct triad_plugin *plugin, struct triad_output *output)
{
	switch (triad_elector_confirm(plugin->elector)) {
	case 0:
		triad_output_printf(output,
			"taken: members that are missing count as down until somebody "
			"comes or goes; 'election' shows who may enforce\n");
		return TRIAD_CONTROL_DONE;
	case ENOTCONN:
		return triad_command_fail_port(output, "confirm", OFF);
	default:
		return triad_command_fail_port(output, "confirm",
			"there is nothing to confirm: nobody is missing, or the "
			"cluster can't be reached at all; see 'election'");
	}
}

/* --- blacklist --- */

static int show_blacklist(struct triad_plugin *plugin, struct triad_output *output)
{
	const struct triad_blacklist *list;
	struct triad_elector_status status;
	unsigned n = 0;

	triad_elector_status(plugin->elector, &status);
	if (!status.is_on)
		return triad_command_fail_port(output, "blacklist", OFF);
	list = &status.election.blacklist;
	for (uint32_t i = 0; i < list->n; i++) {
		if (!list->entries[i].is_listed)
			continue;
		n++;
		triad_output_printf(output, "0x%016" PRIx64 "%s\n", list->entries[i].id,
			list->entries[i].id == status.id ? "  this one" : "");
	}
	if (!n)
		triad_output_printf(output, "the blacklist is empty\n");
	return TRIAD_CONTROL_DONE;
}

static bool is_received(struct triad_plugin *plugin, uint64_t id)
{
	struct triad_elector_status status;

	triad_elector_status(plugin->elector, &status);
	for (uint32_t i = 0; i < status.election.n_members; i++)
		if (status.election.members[i].id == id)
			return true;
	return false;
}

static int print_changed(struct triad_plugin *plugin,
	const struct triad_command *command, struct triad_output *output)
{
	bool is_added = command->change == TRIAD_COMMAND_ADD;

	triad_output_printf(output, "0x%016" PRIx64 " %s\n", command->guid,
		is_added ? "is on the blacklist of all members: it may not enforce"
			 : "is off the blacklist of all members");
	if (is_added && !is_received(plugin, command->guid))
		triad_output_message(output, TRIAD_FRAME_MESSAGE,
			"port blacklist: no SM with this port GUID has been heard; "
			"'election' lists them\n");
	return TRIAD_CONTROL_DONE;
}

static int run_blacklist(struct triad_plugin *plugin,
	const struct triad_command *command, struct triad_output *output)
{
	bool is_added = command->change == TRIAD_COMMAND_ADD;

	if (command->change == TRIAD_COMMAND_SHOW_LIST)
		return show_blacklist(plugin, output);
	switch (triad_elector_blacklist(plugin->elector, command->guid, is_added)) {
	case 0:
		return print_changed(plugin, command, output);
	case ENOTCONN:
		return triad_command_fail_port(output, "blacklist", OFF);
	case EALREADY:
		return triad_command_fail_port(output, "blacklist",
			is_added ? "this SM is on it already"
				 : "this SM is not on it; 'port blacklist' shows it");
	default:
		return triad_command_fail_port(output, "blacklist",
			"it is full: 32 SMs are on it; 'port blacklist remove GUID' "
			"takes one off");
	}
}

static int run_verdict(struct triad_plugin *plugin, const struct triad_command *command,
	struct triad_output *output)
{
	const struct triad_conf *conf;

	if (triad_elector_verdict(plugin->elector, command->is_yes))
		return triad_command_fail_port(output, "verdict", OFF);
	conf = triad_service_conf(&plugin->service);
	triad_output_printf(output, "verdict: %s, for %u s%s\n",
		command->is_yes ? "yes" : "no", conf->election.check_max_age_s,
		conf->election.check_required
			? ""
			: "; it does not count, because election.check_required is "
			  "false");
	triad_conf_unref(conf);
	return TRIAD_CONTROL_DONE;
}

int triad_command_run_port(struct triad_plugin *plugin,
	const struct triad_command *command, struct triad_output *output)
{
	switch (command->verb) {
	case TRIAD_COMMAND_PORT_PRIORITY:
		return run_priority(plugin, command, output);
	case TRIAD_COMMAND_PORT_CONFIRM:
		return run_confirm(plugin, output);
	case TRIAD_COMMAND_PORT_BLACKLIST:
		return run_blacklist(plugin, command, output);
	default:
		return run_verdict(plugin, command, output);
	}
}
