/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* 'qos nodes': nodes that are in none of the policy's port groups. */
#include "plugin/opensm.h"

#include "plugin/command/commands.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "plugin/command/qos_setup.h"
#include "plugin/instance.h"
#include "plugin/qos/qos.h"
#include "qos/rules/membership.h"
#include "triad/json.h"

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

static void put_json(const struct triad_fabric *fabric, const bool *is_lonely,
	struct triad_output *output)
{
	struct triad_json json;

	triad_json_init(&json, output);
	triad_json_array_begin(&json, NULL);
	for (uint32_t i = 0; i < fabric->n_nodes; i++) {
		if (!is_lonely[i])
			continue;
		triad_json_object_begin(&json, NULL);
		triad_json_guid(&json, "node_guid", fabric->nodes[i].guid);
		triad_json_string(&json, "node_name", fabric->nodes[i].name);
		triad_json_string(
			&json, "type", triad_node_type_name(fabric->nodes[i].type));
		triad_json_object_end(&json);
	}
	triad_json_array_end(&json);
	triad_json_end(&json);
}

static void put_text(const struct triad_fabric *fabric, const bool *is_lonely,
	struct triad_output *output)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < fabric->n_nodes; i++) {
		if (!is_lonely[i])
			continue;
		if (!n++)
			triad_output_printf(output, "%-18s  %-8s  %s\n", "node GUID",
				"type", "node");
		triad_output_printf(output, "0x%016" PRIx64 "  %-8s  %s\n",
			fabric->nodes[i].guid,
			triad_node_type_name(fabric->nodes[i].type),
			fabric->nodes[i].name);
	}
	triad_output_printf(output,
		n ? "%u of %u node(s) are in no port group\n"
		  : "all nodes are in a port group (%u of %u are not)\n",
		n, fabric->n_nodes);
}

static int show(const struct triad_policy *policy, const struct triad_fabric *fabric,
	const struct triad_command *command, struct triad_output *output)
{
	bool *is_lonely = calloc((size_t)fabric->n_nodes + 1, sizeof(*is_lonely));

	if (!is_lonely || find_lonely(policy, fabric, is_lonely)) {
		free(is_lonely);
		triad_output_message(
			output, TRIAD_FRAME_MESSAGE, "qos nodes: not enough memory\n");
		return TRIAD_CONTROL_FAILED;
	}
	if (command->json)
		put_json(fabric, is_lonely, output);
	else
		put_text(fabric, is_lonely, output);
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
			"qos nodes: no policy is loaded: see 'status'\n");
	else
		fabric = triad_setup_find_fabric(plugin, "qos nodes", output);
	if (fabric)
		status = show(policy, fabric, command, output);
	triad_policy_unref(policy);
	triad_fabric_unref(fabric);
	return status;
}
