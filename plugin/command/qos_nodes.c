/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* 'qos nodes': nodes that are in none of the policy's port groups. */
#include "plugin/opensm.h"

#include "plugin/command/commands.h"

#include <stdlib.h>
#include <string.h>

#include "plugin/command/qos_setup.h"
#include "plugin/instance.h"
#include "plugin/qos/qos.h"
#include "qos/rules/membership.h"
#include "service/command/list.h"

static int find_lonely(const struct triad_policy *policy,
	const struct triad_fabric *fabric, bool *is_lonely)
{
	struct triad_membership membership;
	int error = triad_membership_resolve(&membership, policy, fabric, NULL);

	if (error)
		return error;
	error = triad_membership_find_lonely(&membership, is_lonely);
	triad_membership_clear(&membership);
	return error;
}

static void put_nodes(const struct triad_fabric *fabric, const bool *is_lonely,
	struct triad_report *report)
{
	struct triad_list list = {.report = report, .gap = "  "};
	uint32_t n = 0;

	triad_report_array(report, NULL);
	for (uint32_t i = 0; i < fabric->n_nodes; i++) {
		const struct triad_fabric_node *node = &fabric->nodes[i];

		if (!is_lonely[i])
			continue;
		n++;
		/* The name is the last column for people, as its length varies. */
		triad_list_row(&list);
		triad_list_guid(&list, "node_guid", "node GUID", node->guid);
		triad_list_text(&list, "node_name", NULL, 0, node->name);
		triad_list_text(
			&list, "type", "type", -8, triad_node_type_name(node->type));
		list.next.name = "node_name";
		triad_list_text(&list, NULL, "node", 0, triad_node_label(node).text);
		triad_list_row_end(&list);
	}
	triad_report_array_end(report);
	if (!report->as_json)
		triad_output_printf(report->output,
			n ? "%u of %u node(s) are in no port group\n"
			  : "all nodes are in a port group (%u of %u are not)\n",
			n, fabric->n_nodes);
}

static int show_nodes(const struct triad_policy *policy,
	const struct triad_fabric *fabric, const struct triad_command *command,
	struct triad_output *output)
{
	struct triad_report report = {.output = output, .as_json = command->json};
	bool *is_lonely = calloc((size_t)fabric->n_nodes + 1, sizeof(*is_lonely));

	if (!is_lonely || find_lonely(policy, fabric, is_lonely)) {
		free(is_lonely);
		triad_output_message(
			output, TRIAD_FRAME_MESSAGE, "qos nodes: not enough memory\n");
		return TRIAD_CONTROL_FAILED;
	}
	put_nodes(fabric, is_lonely, &report);
	free(is_lonely);
	return TRIAD_CONTROL_DONE;
}

int triad_command_run_qos_nodes(struct triad_plugin *plugin,
	const struct triad_command *command, struct triad_output *output)
{
	struct triad_policy *policy = triad_qos_policy(plugin->qos);
	struct triad_fabric *fabric = NULL;
	int status = TRIAD_CONTROL_FAILED;

	if (!policy)
		triad_output_message(output, TRIAD_FRAME_MESSAGE,
			"qos nodes: no policy is loaded: see 'health'\n");
	else
		fabric = triad_setup_find_fabric(plugin, "qos nodes", output);
	if (fabric)
		status = show_nodes(policy, fabric, command, output);
	triad_policy_unref(policy);
	triad_fabric_unref(fabric);
	return status;
}
