/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* 'heal': links that were bad, and are out of routing or on probation; and what 'status' says. */
#include "plugin/command/commands.h"

#include <string.h>

#include "plugin/damp/damper.h"
#include "plugin/facts.h"
#include "plugin/heal/healer.h"
#include "plugin/instance.h"
#include "plugin/ports/ports.h"
#include "plugin/sm_state.h"
#include "service/command/list.h"
#include "service/command/report.h"
#include "triad/control.h"

#define MAX_HEALED 64u
#define MAX_HELD 256u

/* --- status --- */

static const char *heal_state(
	struct triad_plugin *plugin, const struct triad_healer_status *status)
{
	const char *missing;

	if (status->mode == TRIAD_HEAL_OFF)
		return "off";
	if (status->error)
		return "there is no thread for it";
	if (strcmp(triad_sm_state(plugin->osm), "master") != 0)
		return "not the master: the master heals";
	if (status->not_known)
		return status->not_known;
	if (!status->is_known)
		return "no plan was made yet";
	if (status->mode == TRIAD_HEAL_PROPOSE)
		return "bad links are proposed: 'heal plan'";
	missing = triad_healer_missing(plugin->healer);
	if (missing)
		return missing;
	return status->waits
		? "many links came or went in the last two minutes: none is "
		  "taken until that ends"
		: "bad links are taken out of routing, tested and returned";
}

void triad_command_report_heal(struct triad_report *report, struct triad_plugin *plugin)
{
	struct triad_healer_status status;

	triad_healer_status(plugin->healer, &status);
	triad_report_section(report, "heal", "Bad links");
	triad_report_text(report, "state", "state", heal_state(plugin, &status));
	if (status.mode != TRIAD_HEAL_OFF || report->as_json)
		triad_report_facts(report, triad_heal_facts, &status);
	if (status.is_known)
		triad_report_facts(report, triad_heal_plan_facts, &status);
	triad_report_section_end(report);
}

/* --- the list --- */

static const char *what_of(const struct triad_ports_healed *healed)
{
	if (healed->course.is_bad_again)
		return "bad again, and may not be taken now: 'heal plan' or 'status' says why";
	if (healed->course.is_not_known)
		return "nothing was read yet that says how it is since it is back";
	return healed->text[0] ? healed->text : healed->course.why;
}

/* 'held': why nothing is done with it, though it is held; or NULL. */
static void put_link(struct triad_list *list, const struct triad_fabric *fabric,
	const struct triad_ports_healed *healed, const char *held)
{
	const struct triad_damp_ends *ends = &healed->ends;

	triad_list_row(list);
	triad_list_end(list, false, ends->guid,
		triad_fabric_node_by_guid(fabric, ends->guid), ends->number);
	triad_list_blank(list);
	triad_list_text(list, "state", "state", -10,
		held ? "held" : triad_course_state_name(healed->course.state));
	if (held)
		triad_list_text(list, "taken", "taken", 5, NULL);
	else
		triad_list_uint(list, "taken", "taken", 5, healed->course.n_taken);
	triad_list_blank(list);
	triad_list_end(list, true, ends->far_guid,
		triad_fabric_node_by_guid(fabric, ends->far_guid), ends->far_number);
	triad_list_blank(list);
	triad_list_time(list, "since", "since", healed->course.since_us);
	triad_list_time(list, "until", "until",
		held ? 0 : triad_course_until_us(&healed->course));
	triad_list_text(
		list, "what", "what", TRIAD_LIST_LONG, held ? held : what_of(healed));
	triad_list_row_end(list);
}

static bool is_healed(const struct triad_ports_healed *healed, uint32_t n,
	const struct triad_damp_ends *ends)
{
	for (uint32_t i = 0; i < n; i++)
		if (triad_damp_is_same(&healed[i].ends, ends))
			return true;
	return false;
}

/* Leaves those of the links that are held to be healed and are not among the healed ones: with
 * another heal.mode than act, on a standby, or for a moment.  Returns how many. */
static uint32_t find_only_held(struct triad_plugin *plugin,
	const struct triad_ports_healed *healed, uint32_t n_healed,
	struct triad_damp_link links[MAX_HELD])
{
	uint32_t n = (uint32_t)triad_damper_links(plugin->damper, links, MAX_HELD),
		 n_held = 0;

	for (uint32_t i = 0; i < n; i++)
		if (links[i].is_held && links[i].is_by_heal &&
			!is_healed(healed, n_healed, &links[i].ends))
			links[n_held++] = links[i];
	return n_held;
}

static const char *why_only_held(
	struct triad_plugin *plugin, const struct triad_healer_status *status)
{
	if (status->mode == TRIAD_HEAL_ACT)
		return heal_state(plugin, status);
	return "heal.mode is not act: it stays out until 'port release'";
}

int triad_command_run_heal(struct triad_plugin *plugin,
	const struct triad_command *command, struct triad_output *output)
{
	struct triad_ports_healed healed[MAX_HEALED];
	struct triad_report report = {.output = output, .as_json = command->json};
	struct triad_list list = {.report = &report, .phase = TRIAD_LIST_TITLES};
	struct triad_fabric *fabric = triad_ports_fabric(plugin->ports);
	struct triad_healer_status status;
	struct triad_damp_link held[MAX_HELD];
	uint32_t n = triad_ports_healed(plugin->ports, healed, MAX_HEALED),
		 n_held = find_only_held(plugin, healed, n, held);

	triad_healer_status(plugin->healer, &status);
	triad_report_array(&report, NULL);
	if (n + n_held || command->json)
		put_link(&list, NULL, &(struct triad_ports_healed){0}, NULL);
	for (uint32_t i = 0; i < n && i < command->limit; i++)
		put_link(&list, fabric, &healed[i], NULL);
	for (uint32_t i = 0; i < n_held && n + i < command->limit; i++)
		put_link(&list, fabric,
			&(struct triad_ports_healed){.ends = held[i].ends,
				.course.since_us = held[i].held_us},
			why_only_held(plugin, &status));
	triad_report_array_end(&report);
	if (!n && !n_held && !command->json)
		triad_output_printf(output,
			"no link is out of routing, or on probation: %s\n",
			heal_state(plugin, &status));
	triad_fabric_unref(fabric);
	return TRIAD_CONTROL_DONE;
}
