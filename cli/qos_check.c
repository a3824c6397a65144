/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "cli/qos_command.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/screen.h"
#include "lib/text.h"
#include "qos/policy/policy.h"
#include "triad/control.h"
#include "triad/fabric.h"
#include "triad/json.h"
#include "triad/lists.h"

#define LIST_SIZE 512 /* limit for a list in a line; JSON has all of it */
#define MORE ", ..."

/* --- lists as text ----------------------------------------------------- */

/* Appends a value to a list; false when there is no room for it. */
static bool append_value(char *list, const char *value)
{
	size_t used = strlen(list);

	/* Always leave room for MORE. */
	if (used + strlen(value) + 2 * sizeof(MORE) > LIST_SIZE) {
		triad_text_append(list, LIST_SIZE, MORE);
		return false;
	}
	triad_text_append(list, LIST_SIZE, "%s%s", used ? ", " : "", value);
	return true;
}

static void format_range(const struct triad_range *range, bool hex, char text[48])
{
	snprintf(text, 48, hex ? "0x%" PRIx64 : "%" PRIu64, range->first);
	if (range->first != range->last)
		triad_text_append(
			text, 48, hex ? "-0x%" PRIx64 : "-%" PRIu64, range->last);
}

static void append_entries(
	char *list, const struct triad_vlarb_entry *entries, unsigned n)
{
	char text[16];

	for (unsigned i = 0; i < n; i++) {
		snprintf(text, sizeof(text), "%u:%u", entries[i].vl, entries[i].weight);
		if (!append_value(list, text))
			return;
	}
}

/* --- text -------------------------------------------------------------- */

/* Prints "    source       A, B", unless the list is empty. */
static void put_list(const char *name, const char *list)
{
	if (*list)
		printf("    %-12s %s\n", name, list);
}

static void put_ranges(const char *name, const struct triad_ranges *ranges, bool hex)
{
	char list[LIST_SIZE] = "", text[48];

	for (uint32_t i = 0; i < ranges->n; i++) {
		format_range(&ranges->items[i], hex, text);
		if (!append_value(list, text))
			break;
	}
	put_list(name, list);
}

static void put_groups(const char *name, const struct triad_policy *policy,
	const struct triad_group_list *groups)
{
	char list[LIST_SIZE] = "";

	for (uint32_t i = 0; i < groups->n; i++)
		if (!append_value(list, policy->groups[groups->items[i]].name))
			break;
	put_list(name, list);
}

static void put_ports(const char *name, const uint8_t set[32], bool any)
{
	char list[LIST_SIZE] = "", text[16];

	if (any)
		append_value(list, "*");
	for (unsigned port = 0; port < 255 && !any; port++) {
		if (!triad_ports_has(set, (uint8_t)port))
			continue;
		snprintf(text, sizeof(text), "%u", port);
		if (!append_value(list, text))
			break;
	}
	put_list(name, list);
}

static void show_group(const struct triad_policy_group *group)
{
	char list[LIST_SIZE] = "", text[TRIAD_POLICY_MAX_NAME + 8];

	printf("  %s%s%s\n", group->name, *group->use ? ": " : "", group->use);
	put_ranges("GUIDs", &group->guids, true);
	for (uint32_t i = 0; i < group->n_port_names; i++) {
		snprintf(text, sizeof(text), "%s/P%u", group->port_names[i].node,
			group->port_names[i].number);
		if (!append_value(list, text))
			break;
	}
	put_list("ports", list);
	list[0] = '\0';
	for (uint32_t i = 0; i < group->n_partitions; i++)
		if (!append_value(list, group->partitions[i]))
			break;
	put_list("partitions", list);
	put_ranges("P_Keys", &group->pkeys, true);
	list[0] = '\0';
	for (unsigned type = TRIAD_NODE_CA; type <= TRIAD_NODE_ROUTER; type++)
		if (group->node_types & 1u << type)
			append_value(list, triad_node_type_name(type));
	if (group->self)
		append_value(list, "self");
	put_list("nodes", list);
}

static void show_level(const struct triad_policy *policy, uint32_t index)
{
	const struct triad_policy_level *level = &policy->levels[index];
	char list[LIST_SIZE] = "";

	printf("  %s%s%s%s\n", level->name,
		index == policy->default_level ? " (the default level)" : "",
		*level->use ? ": " : "", level->use);
	/* put_list() leaves out empty lists. */
	snprintf(list, sizeof(list), "%u", level->sl);
	put_list("SL", list);
	snprintf(list, sizeof(list), "%u octets", 128u << level->mtu_limit);
	put_list("MTU limit", level->has_mtu_limit ? list : "");
	snprintf(list, sizeof(list), "code %u", level->rate_limit);
	put_list("rate limit", level->has_rate_limit ? list : "");
	snprintf(list, sizeof(list), "code %u", level->packet_life);
	put_list("packet life", level->has_packet_life ? list : "");
	snprintf(list, sizeof(list), "%u", level->tclass);
	put_list("TClass", level->has_tclass ? list : "");
	put_ranges("path bits", &level->path_bits, false);
	put_ranges("P_Keys", &level->pkeys, true);
}

static void show_rule(const struct triad_policy *policy, uint32_t index)
{
	const struct triad_policy_rule *rule = &policy->rules[index];

	printf("  %" PRIu32 "%s%s\n", index + 1, *rule->use ? ": " : "", rule->use);
	put_groups("source", policy, &rule->sources);
	put_groups("destination", policy, &rule->destinations);
	put_ranges("service ID", &rule->service_ids, true);
	put_ranges("TClass", &rule->tclasses, false);
	put_ranges("QoS class", &rule->qos_classes, false);
	put_ranges("P_Key", &rule->pkeys, true);
	put_ranges("SL", &rule->sls, false);
	put_list("level", policy->levels[rule->level].name);
}

static void show_partition_level(const struct triad_policy *policy,
	const struct triad_policy_partition_level *of)
{
	printf("  line %" PRIu32 "\n", of->location.line);
	put_list("partition", of->partition ? of->partition : "");
	put_ranges("P_Keys", &of->pkeys, true);
	put_list("level", policy->levels[of->level].name);
}

static void show_scope(
	const struct triad_policy *policy, const struct triad_policy_scope *scope)
{
	printf("  line %" PRIu32 "\n", scope->location.line);
	put_groups("group", policy, &scope->groups);
	put_groups("across", policy, &scope->across);
	put_groups("across from", policy, &scope->across_from);
	put_groups("across to", policy, &scope->across_to);
}

static void show_sl2vl(
	const struct triad_policy *policy, const struct triad_policy_sl2vl *table)
{
	char list[LIST_SIZE] = "", text[16];

	show_scope(policy, &table->scope);
	put_ports("from", table->scope.from, table->scope.from_any);
	put_ports("to", table->scope.to, table->scope.to_any);
	for (unsigned sl = 0; sl < TRIAD_POLICY_N_VLS; sl++) {
		snprintf(text, sizeof(text), "%u", table->vl[sl]);
		append_value(list, text);
	}
	put_list("VLs", list);
}

static void show_vlarb(
	const struct triad_policy *policy, const struct triad_policy_vlarb *table)
{
	char list[LIST_SIZE] = "";

	show_scope(policy, &table->scope);
	put_ports("to", table->scope.to, table->scope.to_any);
	append_entries(list, table->high, table->n_high);
	put_list("high", list);
	list[0] = '\0';
	append_entries(list, table->low, table->n_low);
	put_list("low", list);
	snprintf(list, sizeof(list), "%u", table->high_limit);
	put_list("high limit", table->has_high_limit ? list : "");
}

static void put_title(const char *title, uint32_t n)
{
	printf("%-18s %" PRIu32 "\n", title, n);
}

static void show_text(const struct triad_policy *policy)
{
	put_title("Groups", policy->n_groups);
	for (uint32_t i = 0; i < policy->n_groups; i++)
		show_group(&policy->groups[i]);
	put_title("Levels", policy->n_levels);
	for (uint32_t i = 0; i < policy->n_levels; i++)
		show_level(policy, i);
	put_title("Rules", policy->n_rules);
	for (uint32_t i = 0; i < policy->n_rules; i++)
		show_rule(policy, i);
	put_title("Partitions' levels", policy->n_partition_levels);
	for (uint32_t i = 0; i < policy->n_partition_levels; i++)
		show_partition_level(policy, &policy->partition_levels[i]);
	put_title("SL2VL tables", policy->n_sl2vl);
	for (uint32_t i = 0; i < policy->n_sl2vl; i++)
		show_sl2vl(policy, &policy->sl2vl[i]);
	put_title("VLArb tables", policy->n_vlarb);
	for (uint32_t i = 0; i < policy->n_vlarb; i++)
		show_vlarb(policy, &policy->vlarb[i]);
}

/* --- JSON -------------------------------------------------------------- */

static void json_ranges(struct triad_json *json, const char *name,
	const struct triad_ranges *ranges, bool hex)
{
	char text[48];

	triad_json_array_begin(json, name);
	for (uint32_t i = 0; i < ranges->n; i++) {
		format_range(&ranges->items[i], hex, text);
		triad_json_string(json, NULL, text);
	}
	triad_json_array_end(json);
}

static void json_groups(struct triad_json *json, const char *name,
	const struct triad_policy *policy, const struct triad_group_list *groups)
{
	triad_json_array_begin(json, name);
	for (uint32_t i = 0; i < groups->n; i++)
		triad_json_string(json, NULL, policy->groups[groups->items[i]].name);
	triad_json_array_end(json);
}

static void json_number(
	struct triad_json *json, const char *name, bool has, uint64_t value)
{
	if (has)
		triad_json_uint(json, name, value);
	else
		triad_json_string(json, name, NULL);
}

static void json_group(struct triad_json *json, const struct triad_policy_group *group)
{
	char text[TRIAD_POLICY_MAX_NAME + 8];

	triad_json_object_begin(json, NULL);
	triad_json_string(json, "name", group->name);
	triad_json_string(json, "use", group->use);
	triad_json_uint(json, "line", group->location.line);
	json_ranges(json, "port_guids", &group->guids, true);
	triad_json_array_begin(json, "port_names");
	for (uint32_t i = 0; i < group->n_port_names; i++) {
		snprintf(text, sizeof(text), "%s/P%u", group->port_names[i].node,
			group->port_names[i].number);
		triad_json_string(json, NULL, text);
	}
	triad_json_array_end(json);
	triad_json_array_begin(json, "partitions");
	for (uint32_t i = 0; i < group->n_partitions; i++)
		triad_json_string(json, NULL, group->partitions[i]);
	triad_json_array_end(json);
	json_ranges(json, "pkeys", &group->pkeys, true);
	triad_json_array_begin(json, "node_types");
	for (unsigned type = TRIAD_NODE_CA; type <= TRIAD_NODE_ROUTER; type++)
		if (group->node_types & 1u << type)
			triad_json_string(json, NULL, triad_node_type_name(type));
	if (group->self)
		triad_json_string(json, NULL, "self");
	triad_json_array_end(json);
	triad_json_object_end(json);
}

static void json_level(struct triad_json *json, const struct triad_policy_level *level)
{
	triad_json_object_begin(json, NULL);
	triad_json_string(json, "name", level->name);
	triad_json_string(json, "sn", level->sn);
	triad_json_string(json, "use", level->use);
	triad_json_uint(json, "line", level->location.line);
	triad_json_uint(json, "sl", level->sl);
	json_number(json, "mtu_limit", level->has_mtu_limit, level->mtu_limit);
	json_number(json, "rate_limit", level->has_rate_limit, level->rate_limit);
	json_number(json, "packet_life", level->has_packet_life, level->packet_life);
	json_number(json, "tclass", level->has_tclass, level->tclass);
	json_ranges(json, "path_bits", &level->path_bits, false);
	json_ranges(json, "pkeys", &level->pkeys, true);
	triad_json_object_end(json);
}

static void json_rule(struct triad_json *json, const struct triad_policy *policy,
	const struct triad_policy_rule *rule)
{
	triad_json_object_begin(json, NULL);
	triad_json_string(json, "use", rule->use);
	triad_json_uint(json, "line", rule->location.line);
	json_groups(json, "source", policy, &rule->sources);
	json_groups(json, "destination", policy, &rule->destinations);
	json_ranges(json, "service_ids", &rule->service_ids, true);
	json_ranges(json, "tclasses", &rule->tclasses, false);
	json_ranges(json, "qos_classes", &rule->qos_classes, false);
	json_ranges(json, "pkeys", &rule->pkeys, true);
	json_ranges(json, "sls", &rule->sls, false);
	triad_json_string(json, "level", policy->levels[rule->level].name);
	triad_json_object_end(json);
}

static void json_ports(
	struct triad_json *json, const char *name, const uint8_t set[32], bool any)
{
	triad_json_array_begin(json, name);
	if (any)
		triad_json_string(json, NULL, "*");
	for (unsigned port = 0; port < 255 && !any; port++)
		if (triad_ports_has(set, (uint8_t)port))
			triad_json_uint(json, NULL, port);
	triad_json_array_end(json);
}

static void json_scope(struct triad_json *json, const struct triad_policy *policy,
	const struct triad_policy_scope *scope)
{
	triad_json_uint(json, "line", scope->location.line);
	json_groups(json, "group", policy, &scope->groups);
	json_groups(json, "across", policy, &scope->across);
	json_groups(json, "across_from", policy, &scope->across_from);
	json_groups(json, "across_to", policy, &scope->across_to);
	json_ports(json, "to", scope->to, scope->to_any);
}

static void json_entries(struct triad_json *json, const char *name,
	const struct triad_vlarb_entry *entries, unsigned n)
{
	triad_json_array_begin(json, name);
	for (unsigned i = 0; i < n; i++) {
		triad_json_object_begin(json, NULL);
		triad_json_uint(json, "vl", entries[i].vl);
		triad_json_uint(json, "weight", entries[i].weight);
		triad_json_object_end(json);
	}
	triad_json_array_end(json);
}

static void json_tables(struct triad_json *json, const struct triad_policy *policy)
{
	triad_json_array_begin(json, "sl2vl");
	for (uint32_t i = 0; i < policy->n_sl2vl; i++) {
		triad_json_object_begin(json, NULL);
		json_scope(json, policy, &policy->sl2vl[i].scope);
		json_ports(json, "from", policy->sl2vl[i].scope.from,
			policy->sl2vl[i].scope.from_any);
		triad_json_array_begin(json, "vls");
		for (unsigned sl = 0; sl < TRIAD_POLICY_N_VLS; sl++)
			triad_json_uint(json, NULL, policy->sl2vl[i].vl[sl]);
		triad_json_array_end(json);
		triad_json_object_end(json);
	}
	triad_json_array_end(json);
	triad_json_array_begin(json, "vlarb");
	for (uint32_t i = 0; i < policy->n_vlarb; i++) {
		const struct triad_policy_vlarb *table = &policy->vlarb[i];

		triad_json_object_begin(json, NULL);
		json_scope(json, policy, &table->scope);
		json_entries(json, "high", table->high, table->n_high);
		json_entries(json, "low", table->low, table->n_low);
		json_number(
			json, "high_limit", table->has_high_limit, table->high_limit);
		triad_json_object_end(json);
	}
	triad_json_array_end(json);
}

static void json_partition_levels(
	struct triad_json *json, const struct triad_policy *policy)
{
	triad_json_array_begin(json, "partition_levels");
	for (uint32_t i = 0; i < policy->n_partition_levels; i++) {
		const struct triad_policy_partition_level *of =
			&policy->partition_levels[i];

		triad_json_object_begin(json, NULL);
		triad_json_uint(json, "line", of->location.line);
		triad_json_string(json, "partition", of->partition);
		json_ranges(json, "pkeys", &of->pkeys, true);
		triad_json_string(json, "level", policy->levels[of->level].name);
		triad_json_object_end(json);
	}
	triad_json_array_end(json);
}

static void show_json(const struct triad_policy *policy)
{
	struct triad_output output;
	struct triad_json json;

	triad_output_init(&output, triad_screen_write_frame, NULL);
	triad_json_init(&json, &output);
	triad_json_object_begin(&json, NULL);
	triad_json_string(&json, "file", policy->source);
	triad_json_array_begin(&json, "groups");
	for (uint32_t i = 0; i < policy->n_groups; i++)
		json_group(&json, &policy->groups[i]);
	triad_json_array_end(&json);
	triad_json_array_begin(&json, "levels");
	for (uint32_t i = 0; i < policy->n_levels; i++)
		json_level(&json, &policy->levels[i]);
	triad_json_array_end(&json);
	triad_json_string(
		&json, "default_level", policy->levels[policy->default_level].name);
	triad_json_array_begin(&json, "rules");
	for (uint32_t i = 0; i < policy->n_rules; i++)
		json_rule(&json, policy, &policy->rules[i]);
	triad_json_array_end(&json);
	json_partition_levels(&json, policy);
	json_tables(&json, policy);
	triad_json_object_end(&json);
	triad_json_end(&json);
	triad_output_flush(&output);
}

/* --- all --------------------------------------------------------------- */

int triad_qos_check(const struct triad_qos_command *command)
{
	static struct triad_diags diags;
	char text[2 * TRIAD_DIAG_TEXT_SIZE + 32];
	struct triad_policy *policy;

	if (triad_policy_load(command->file, command->default_level, &policy, &diags)) {
		for (size_t i = 0; i < diags.n; i++) {
			triad_diags_format(&diags, i, text, sizeof(text));
			fprintf(stderr, "%s\n", text);
		}
		return TRIAD_CONTROL_FAILED;
	}
	if (command->json)
		show_json(policy);
	else
		show_text(policy);
	triad_policy_unref(policy);
	/* EPIPE: the reader has closed the output, which is not a failure. */
	if (!fflush(stdout) || errno == EPIPE)
		return TRIAD_CONTROL_DONE;
	fprintf(stderr, "triadctl: can't write to standard output: %s\n",
		strerror(errno));
	return TRIAD_CONTROL_FAILED;
}
