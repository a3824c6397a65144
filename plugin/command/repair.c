/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* 'repair history', 'repair settle', and what 'status' says of losses that were routed around. */
#include "plugin/command/commands.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "plugin/election/elector.h"
#include "plugin/facts.h"
#include "plugin/instance.h"
#include "plugin/ports/ports.h"
#include "plugin/reroute/rerouter.h"
#include "plugin/sm_recover.h"
#include "plugin/sm_state.h"
#include "service/command/list.h"
#include "service/command/report.h"
#include "service/route_checker.h"
#include "triad/control.h"

/* --- status --- */

static const char *repair_state(
	struct triad_plugin *plugin, const struct triad_rerouter_status *status)
{
	struct triad_route_status routes =
		triad_route_checker_status(plugin->service.routes);
	const char *forbidden = triad_elector_forbids(plugin->elector);

	if (status->mode == TRIAD_REPAIR_OFF)
		return "off";
	if (status->error)
		return status->error == ENOTSUP
			? "this OpenSM is laid out otherwise than the one that Triad was "
			  "built for"
			: "there is no thread for it";
	if (!status->is_installed)
		return "waiting for OpenSM";
	if (strcmp(triad_sm_state(plugin->osm), "master") != 0)
		return "not the master: no traps come here";
	if (forbidden)
		return forbidden;
	if (routes.state != TRIAD_ROUTE_CHECKED)
		return "nothing can be planned: routes are not checked ('routes check' says "
		       "why)";
	if (status->is_waiting || routes.is_behind)
		return "waiting until the routes since the last change are checked";
	return status->mode == TRIAD_REPAIR_ACT
		? "lost links are routed around before OpenSM sweeps"
		: "what would be written is planned when a link is lost";
}

void triad_command_report_repair(
	struct triad_report *report, struct triad_plugin *plugin)
{
	struct triad_rerouter_status status = triad_rerouter_status(plugin->rerouter);

	triad_report_section(report, "repair", "Links that are lost");
	triad_report_text(report, "state", "state", repair_state(plugin, &status));
	if (status.mode != TRIAD_REPAIR_OFF || report->as_json)
		triad_report_facts(report, triad_repair_facts, &status);
	triad_report_section_end(report);
}

/* --- history --- */

static double ms_since(const struct triad_reroute *loss, uint64_t at_us)
{
	return at_us ? (double)(at_us - loss->trap_us) / 1000 : NAN;
}

static void note_groups(struct triad_list *list, const struct triad_reroute *loss)
{
	uint32_t n_connected = loss->n_groups - loss->n_groups_left;

	triad_list_note(list,
		"  %s%" PRIu32 " multicast group%s over it: %" PRIu32
		" %sconnected again, %" PRIu32 " left%s%s",
		loss->are_groups_known ? "" : "at least ", loss->n_groups,
		loss->n_groups == 1 ? "" : "s", n_connected,
		n_connected > loss->n_groups_repaired ? "would be " : "",
		loss->n_groups_left, loss->why_groups ? ": " : "",
		loss->why_groups ? loss->why_groups : "");
}

static void put_loss(struct triad_list *list, const struct triad_reroute *loss)
{
	const struct triad_reroute_link *first = &loss->links[0];

	triad_list_row(list);
	triad_list_time(list, "at", "at", loss->trap_us);
	/* Long names leave no room for much behind them. */
	list->next.name = "outcome";
	triad_list_text(list, NULL, "outcome", -14, triad_reroute_outcome_shown(loss));
	triad_list_text(
		list, "outcome", NULL, 0, triad_reroute_outcome_text(loss->outcome));
	triad_list_end(list, false, first->guid, &loss->near, first->number);
	triad_list_blank(list);
	triad_list_end(list, true, first->far_guid, &loss->far, first->far_number);
	triad_list_uint(list, "links", "links", 5, loss->n_links);
	triad_list_uint(list, "crossing_pairs", "pairs", 8, loss->n_crossing);
	triad_list_uint(list, "lost_pairs", "lost", 8, loss->n_lost);
	triad_list_uint(list, "entries", NULL, 0, loss->n_entries);
	triad_list_uint(list, "blocks", "blocks", 6, loss->n_blocks);
	triad_list_uint(list, "written_blocks", NULL, 0, loss->n_written);
	triad_list_uint(list, "switches", NULL, 0, loss->n_switches);
	triad_list_uint(list, "steps", NULL, 0, loss->n_steps);
	triad_list_uint(list, "multicast_trees", NULL, 0, loss->n_groups);
	triad_list_bool(list, "multicast_all_known", NULL, 0, loss->are_groups_known);
	triad_list_uint(list, "multicast_repaired", NULL, 0, loss->n_groups_repaired);
	triad_list_uint(list, "multicast_left", NULL, 0, loss->n_groups_left);
	triad_list_uint(
		list, "multicast_written_blocks", NULL, 0, loss->n_groups_written);
	triad_list_text(list, "multicast_why", NULL, 0, loss->why_groups);
	triad_list_double(
		list, "multicast_ended_ms", ms_since(loss, loss->groups_ended_us));
	triad_list_double(list, "found_ms", ms_since(loss, loss->found_us));
	triad_list_double(list, "planned_ms", ms_since(loss, loss->planned_us));
	triad_list_real(list, "ended_ms", "ms", 7, ms_since(loss, loss->ended_us),
		"%.1f", ms_since(loss, loss->ended_us));
	triad_list_text(list, "why", NULL, 0, loss->why);
	if (loss->why)
		triad_list_note(list, "  %s", loss->why);
	/* Else the reason says it. */
	if (loss->n_lost && loss->outcome != TRIAD_REROUTE_NOTHING)
		triad_list_note(list,
			"  %" PRIu64 " of %" PRIu64 " pairs have no other way",
			loss->n_lost, loss->n_crossing);
	if (loss->n_groups)
		note_groups(list, loss);
	triad_list_row_end(list);
}

int triad_command_run_repair_history(struct triad_plugin *plugin,
	const struct triad_command *command, struct triad_output *output)
{
	struct triad_reroute *losses = calloc(TRIAD_REROUTE_N_KEPT, sizeof(*losses));
	struct triad_report report = {.output = output, .as_json = command->json};
	struct triad_list list = {.report = &report, .phase = TRIAD_LIST_TITLES};
	struct triad_rerouter_status status = triad_rerouter_status(plugin->rerouter);
	size_t room = command->limit < TRIAD_REROUTE_N_KEPT ? command->limit
							    : TRIAD_REROUTE_N_KEPT;
	size_t n = losses ? triad_rerouter_history(plugin->rerouter, losses, room) : 0;

	triad_report_array(&report, NULL);
	if (n || command->json)
		put_loss(&list, &(struct triad_reroute){0});
	for (size_t i = 0; i < n; i++)
		put_loss(&list, &losses[i]);
	triad_report_array_end(&report);
	if (!n && !command->json)
		triad_output_printf(output, "%s\n",
			status.mode == TRIAD_REPAIR_OFF
				? "repair is off: 'triadctl set repair.mode plan' says what "
				  "would be done when a link is lost"
				: "no link between switches was lost since OpenSM started");
	free(losses);
	return losses ? TRIAD_CONTROL_DONE : TRIAD_CONTROL_FAILED;
}

/* --- settle --- */

int triad_command_run_repair_settle(struct triad_plugin *plugin,
	const struct triad_command *command, struct triad_output *output)
{
	(void)command;
	if (strcmp(triad_sm_state(plugin->osm), "master") != 0) {
		triad_output_message(output, TRIAD_FRAME_MESSAGE,
			"repair settle: this SM is not the master\n");
		return TRIAD_CONTROL_FAILED;
	}
	if (triad_hold_has_links(plugin->hold)) {
		triad_output_message(output, TRIAD_FRAME_MESSAGE,
			"repair settle: a link between switches is under test, which such "
			"routes would go over: when it is through ('port list --held')\n");
		return TRIAD_CONTROL_FAILED;
	}
	triad_sm_reroute(plugin->osm);
	triad_output_printf(output,
		"OpenSM computes all forwarding tables afresh; 'routes check' looks at "
		"them then\n");
	return TRIAD_CONTROL_DONE;
}
