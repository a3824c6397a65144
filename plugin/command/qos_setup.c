/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "plugin/command/qos_setup.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/text.h"
#include "plugin/instance.h"
#include "plugin/qos/qos.h"

/* --- text --- */

static const char *format_vlarb(const struct triad_vlarb_entry *entries, unsigned n,
	char text[TRIAD_TABLE_TEXT_SIZE])
{
	/* Entries of weight 0 are never sent; omit those at the end. */
	text[0] = 0;
	while (n && !entries[n - 1].weight)
		n--;
	for (unsigned i = 0; i < n; i++)
		triad_text_append(text, TRIAD_TABLE_TEXT_SIZE, "%s%u:%u", i ? "," : "",
			entries[i].vl, entries[i].weight);
	return n ? text : "-";
}

static const char *table_name(enum triad_setup_table table)
{
	static const char *const names[TRIAD_SETUP_N_TABLES] = {
		[TRIAD_SETUP_SL2VL] = "SL2VL",
		[TRIAD_SETUP_VLARB_LOW] = "VLArb low",
		[TRIAD_SETUP_VLARB_HIGH] = "VLArb high",
		[TRIAD_SETUP_HIGH_LIMIT] = "high limit",
	};

	return names[table];
}

void triad_setup_put_table(struct triad_list *list, const struct triad_fabric *fabric,
	uint32_t port, enum triad_setup_table table, unsigned in_first,
	unsigned in_last)
{
	const struct triad_fabric_port *at = &fabric->ports[port];
	const struct triad_fabric_node *node = &fabric->nodes[at->node];
	bool has_in_ports = table == TRIAD_SETUP_SL2VL;
	char in_ports[16] = "";

	if (has_in_ports)
		snprintf(in_ports, sizeof(in_ports),
			in_first == in_last ? "%u" : "%u-%u", in_first, in_last);
	triad_list_guid(list, "node_guid", NULL, node->guid);
	triad_list_node(list, "node_name", "node", TRIAD_LIST_LONG, node);
	triad_list_uint(list, "port", "port", 4, at->number);
	triad_list_blank(list);
	list->next.name = "in";
	triad_list_text(list, NULL, "in", -7, in_ports);
	triad_list_blank(list);
	triad_list_text(list, "table", "table", -10, table_name(table));
	if (has_in_ports) {
		triad_list_uint(list, "in_first", NULL, 0, in_first);
		triad_list_uint(list, "in_last", NULL, 0, in_last);
	}
	triad_list_blank(list);
}

const char *triad_format_setup_value(enum triad_setup_table table, unsigned n,
	const union triad_setup_value *value, char text[TRIAD_TABLE_TEXT_SIZE])
{
	const uint8_t *vls = value->sl2vl.vl;

	switch (table) {
	case TRIAD_SETUP_SL2VL:
		/* An octet has the VLs of two SLs. */
		text[0] = 0;
		for (unsigned i = 0; i < sizeof(value->sl2vl.vl); i++)
			triad_text_append(text, TRIAD_TABLE_TEXT_SIZE, "%s%u,%u",
				i ? "," : "", vls[i] >> 4, vls[i] & 0xf);
		return text;
	case TRIAD_SETUP_HIGH_LIMIT:
		snprintf(text, TRIAD_TABLE_TEXT_SIZE, "%u", value->high_limit);
		return text;
	default:
		return format_vlarb(value->vlarb, n, text);
	}
}

/* --- contexts --- */

static bool fail_with(struct triad_output *output, const char *verb, const char *what)
{
	triad_output_message(output, TRIAD_FRAME_MESSAGE, "%s: %s\n", verb, what);
	return false;
}

static bool load_setup(struct triad_setup_context *context, struct triad_plugin *plugin,
	const char *file, struct triad_output *output)
{
	struct triad_diags *diags = malloc(sizeof(*diags));
	char text[TRIAD_DIAG_TEXT_SIZE * 2 + 64];
	const struct triad_conf *conf;
	bool good;

	if (!diags)
		return false;
	conf = triad_service_conf(&plugin->service);
	good = !triad_policy_load(
		file, conf->qos.default_level, &context->policy, diags);
	triad_conf_unref(conf);
	for (size_t i = 0; i < diags->n; i++) {
		triad_diags_format(diags, i, text, sizeof(text));
		triad_output_message(output, TRIAD_FRAME_MESSAGE, "%s\n", text);
	}
	free(diags);
	return good;
}

static bool find_policy(struct triad_setup_context *context,
	struct triad_plugin *plugin, const char *verb, const char *file,
	struct triad_output *output)
{
	if (file[0] && file[0] != '/')
		return fail_with(output, verb, "give the file's whole path");
	if (file[0])
		return load_setup(context, plugin, file, output);
	context->policy = triad_qos_policy(plugin->qos);
	if (!context->policy && !triad_qos_wants_fabric(plugin->qos))
		return fail_with(output, verb,
			"no policy is loaded: name a file, or 'set qos.tables_enabled "
			"true' (and qos.policy_file) first");
	return true;
}

struct triad_fabric *triad_setup_find_fabric(
	struct triad_plugin *plugin, const char *verb, struct triad_output *output)
{
	struct triad_fabric *fabric = triad_qos_fabric(plugin->qos);

	if (!fabric)
		fail_with(output, verb, TRIAD_SETUP_NO_FABRIC);
	return fabric;
}

bool triad_setup_sm_has_qos(const struct triad_fabric *fabric, const char *verb,
	struct triad_output *output)
{
	return fabric->sa.qos || fail_with(output, verb, TRIAD_SETUP_NO_QOS);
}

bool triad_setup_context_make(struct triad_setup_context *context,
	struct triad_plugin *plugin, const char *verb, const char *file,
	struct triad_output *output)
{
	bool is_made;
	int error = 0;

	*context = (struct triad_setup_context){
		.fabric = triad_setup_find_fabric(plugin, verb, output)};
	if (!context->fabric)
		return false;
	is_made = triad_setup_sm_has_qos(context->fabric, verb, output) &&
		find_policy(context, plugin, verb, file, output);
	/* A policy may lack a qos-setup: OpenSM's tables are the desired ones then. */
	if (is_made && context->policy && triad_setup_has_scopes(context->policy))
		error = triad_setup_compile(context->policy, &context->setup);
	if (error)
		is_made = fail_with(output, verb, strerror(error));
	if (!is_made)
		triad_setup_context_drop(context);
	return is_made;
}

void triad_setup_context_drop(struct triad_setup_context *context)
{
	triad_setup_unref(context->setup);
	triad_policy_unref(context->policy);
	triad_fabric_unref(context->fabric);
}
