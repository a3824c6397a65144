/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "qos/policy/policy_table.h"

#include <string.h>

#include "qos/policy/policy.h"

#define N(array) (sizeof(array) / sizeof((array)[0]))
#define AT(type, member) .offset = offsetof(struct triad_policy_##type, member)
#define COUNT(type, member) .count = offsetof(struct triad_policy_##type, member)
#define HAS(type, member) .has = offsetof(struct triad_policy_##type, member)

static const struct triad_policy_key group_keys[] = {
	{.name = "name", .kind = TRIAD_VALUE_NAME, .once = true, AT(group, name)},
	{.name = "use", .kind = TRIAD_VALUE_USE, .once = true, AT(group, use)},
	{.name = "port-guid",
		.kind = TRIAD_VALUE_RANGES,
		AT(group, guids),
		.max = UINT64_MAX},
	{.name = "port-name", .kind = TRIAD_VALUE_PORT_NAMES},
	{.name = "partition",
		.kind = TRIAD_VALUE_NAMES,
		AT(group, partitions),
		COUNT(group, n_partitions)},
	{.name = "pkey", .kind = TRIAD_VALUE_PKEYS, AT(group, pkeys), .max = 0xffff},
	{.name = "node-type", .kind = TRIAD_VALUE_NODE_TYPES},
};

static const struct triad_policy_key sl2vl_keys[] = {
	{.name = "use", .kind = TRIAD_VALUE_SERIAL, .once = true},
	{.name = "group", .kind = TRIAD_VALUE_GROUPS, AT(sl2vl, scope.groups)},
	{.name = "across", .kind = TRIAD_VALUE_GROUPS, AT(sl2vl, scope.across)},
	{.name = "across-from",
		.kind = TRIAD_VALUE_GROUPS,
		AT(sl2vl, scope.across_from)},
	{.name = "across-to", .kind = TRIAD_VALUE_GROUPS, AT(sl2vl, scope.across_to)},
	{.name = "from",
		.kind = TRIAD_VALUE_PORTS,
		AT(sl2vl, scope.from),
		HAS(sl2vl, scope.from_any),
		.max = 254},
	{.name = "to",
		.kind = TRIAD_VALUE_PORTS,
		AT(sl2vl, scope.to),
		HAS(sl2vl, scope.to_any),
		.max = 254},
	{.name = "sl2vl-table",
		.kind = TRIAD_VALUE_SL2VL,
		.once = true,
		AT(sl2vl, vl),
		.max = 15},
};

static const struct triad_policy_key vlarb_keys[] = {
	{.name = "use", .kind = TRIAD_VALUE_SERIAL, .once = true},
	{.name = "group", .kind = TRIAD_VALUE_GROUPS, AT(vlarb, scope.groups)},
	{.name = "across", .kind = TRIAD_VALUE_GROUPS, AT(vlarb, scope.across)},
	{.name = "to",
		.kind = TRIAD_VALUE_PORTS,
		AT(vlarb, scope.to),
		HAS(vlarb, scope.to_any),
		.max = 254},
	{.name = "vlarb-high",
		.kind = TRIAD_VALUE_VLARB,
		AT(vlarb, high),
		COUNT(vlarb, n_high),
		HAS(vlarb, has_high)},
	{.name = "vlarb-low",
		.kind = TRIAD_VALUE_VLARB,
		AT(vlarb, low),
		COUNT(vlarb, n_low),
		HAS(vlarb, has_low)},
	{.name = "vl-high-limit",
		.kind = TRIAD_VALUE_NUMBER,
		.once = true,
		AT(vlarb, high_limit),
		HAS(vlarb, has_high_limit),
		.max = 255},
};

static const struct triad_policy_key level_keys[] = {
	{.name = "name", .kind = TRIAD_VALUE_NAME, .once = true, AT(level, name)},
	{.name = "sn", .kind = TRIAD_VALUE_NAME, .once = true, AT(level, sn)},
	{.name = "use", .kind = TRIAD_VALUE_USE, .once = true, AT(level, use)},
	{.name = "sl",
		.kind = TRIAD_VALUE_NUMBER,
		.once = true,
		AT(level, sl),
		HAS(level, has_sl),
		.max = 15},
	{.name = "mtu-limit",
		.kind = TRIAD_VALUE_NUMBER,
		.once = true,
		AT(level, mtu_limit),
		HAS(level, has_mtu_limit),
		.min = 1,
		.max = 5,
		.hint = ", PathRecord's codes of 256 to 4,096 octets"},
	{.name = "rate-limit",
		.kind = TRIAD_VALUE_RATE,
		.once = true,
		AT(level, rate_limit),
		HAS(level, has_rate_limit)},
	{.name = "packet-life",
		.kind = TRIAD_VALUE_NUMBER,
		.once = true,
		AT(level, packet_life),
		HAS(level, has_packet_life),
		.max = 63},
	{.name = "path-bits",
		.kind = TRIAD_VALUE_RANGES,
		AT(level, path_bits),
		.max = 127},
	{.name = "tclass",
		.kind = TRIAD_VALUE_NUMBER,
		.once = true,
		AT(level, tclass),
		HAS(level, has_tclass),
		.max = 255},
	{.name = "pkey", .kind = TRIAD_VALUE_PKEYS, AT(level, pkeys), .max = 0xffff},
};

static const struct triad_policy_key rule_keys[] = {
	{.name = "sn", .kind = TRIAD_VALUE_SERIAL, .once = true},
	{.name = "name", .kind = TRIAD_VALUE_SERIAL, .once = true},
	{.name = "use", .kind = TRIAD_VALUE_USE, .once = true, AT(rule, use)},
	{.name = "source", .kind = TRIAD_VALUE_GROUPS, AT(rule, sources)},
	{.name = "destination", .kind = TRIAD_VALUE_GROUPS, AT(rule, destinations)},
	{.name = "service-id",
		.kind = TRIAD_VALUE_SERVICES,
		AT(rule, service_ids),
		.max = UINT64_MAX},
	{.name = "service",
		.kind = TRIAD_VALUE_SERVICES,
		AT(rule, service_ids),
		.max = UINT64_MAX},
	{.name = "tclass", .kind = TRIAD_VALUE_RANGES, AT(rule, tclasses), .max = 255},
	{.name = "qos-class",
		.kind = TRIAD_VALUE_RANGES,
		AT(rule, qos_classes),
		.max = 4095},
	{.name = "pkey", .kind = TRIAD_VALUE_PKEYS, AT(rule, pkeys), .max = 0xffff},
	{.name = "sl", .kind = TRIAD_VALUE_RANGES, AT(rule, sls), .max = 15},
	{.name = "qos-level-name",
		.kind = TRIAD_VALUE_LEVEL,
		.once = true,
		AT(rule, level)},
	{.name = "match-level",
		.kind = TRIAD_VALUE_LEVEL,
		.once = true,
		AT(rule, level)},
};

static const struct triad_policy_key partition_level_keys[] = {
	{.name = "use", .kind = TRIAD_VALUE_SERIAL, .once = true},
	{.name = "partition",
		.kind = TRIAD_VALUE_NAME,
		.once = true,
		AT(partition_level, partition)},
	{.name = "pkey",
		.kind = TRIAD_VALUE_PKEYS,
		AT(partition_level, pkeys),
		.max = 0xffff},
	{.name = "qos-level-name",
		.kind = TRIAD_VALUE_LEVEL,
		.once = true,
		AT(partition_level, level)},
	{.name = "match-level",
		.kind = TRIAD_VALUE_LEVEL,
		.once = true,
		AT(partition_level, level)},
};

#define KEYS(array) .keys = (array), .n_keys = N(array)

const struct triad_policy_block triad_policy_blocks[TRIAD_N_BLOCKS] = {
	[TRIAD_BLOCK_POLICY] = {.name = "qos-policy", .parent = TRIAD_N_BLOCKS},
	[TRIAD_BLOCK_PORT_GROUPS] = {.name = "port-groups",
		.parent = TRIAD_BLOCK_POLICY},
	[TRIAD_BLOCK_PORT_GROUP] = {.name = "port-group",
		.parent = TRIAD_BLOCK_PORT_GROUPS,
		.element = "group",
		.max = TRIAD_POLICY_MAX_GROUPS,
		.size = sizeof(struct triad_policy_group),
		KEYS(group_keys)},
	[TRIAD_BLOCK_SETUP] = {.name = "qos-setup", .parent = TRIAD_BLOCK_POLICY},
	[TRIAD_BLOCK_SL2VL_TABLES] = {.name = "sl2vl-tables",
		.parent = TRIAD_BLOCK_SETUP},
	[TRIAD_BLOCK_SL2VL_SCOPE] = {.name = "sl2vl-scope",
		.parent = TRIAD_BLOCK_SL2VL_TABLES,
		.element = "SL2VL scope",
		.max = TRIAD_POLICY_MAX_SCOPES,
		.size = sizeof(struct triad_policy_sl2vl),
		KEYS(sl2vl_keys)},
	[TRIAD_BLOCK_VLARB_TABLES] = {.name = "vlarb-tables",
		.parent = TRIAD_BLOCK_SETUP},
	[TRIAD_BLOCK_VLARB_SCOPE] = {.name = "vlarb-scope",
		.parent = TRIAD_BLOCK_VLARB_TABLES,
		.element = "VLArb scope",
		.max = TRIAD_POLICY_MAX_SCOPES,
		.size = sizeof(struct triad_policy_vlarb),
		KEYS(vlarb_keys)},
	[TRIAD_BLOCK_LEVELS] = {.name = "qos-levels", .parent = TRIAD_BLOCK_POLICY},
	[TRIAD_BLOCK_LEVEL] = {.name = "qos-level",
		.parent = TRIAD_BLOCK_LEVELS,
		.element = "level",
		.max = TRIAD_POLICY_MAX_LEVELS,
		.size = sizeof(struct triad_policy_level),
		KEYS(level_keys)},
	[TRIAD_BLOCK_RULES] = {.name = "qos-match-rules", .parent = TRIAD_BLOCK_POLICY},
	[TRIAD_BLOCK_RULE] = {.name = "qos-match-rule",
		.parent = TRIAD_BLOCK_RULES,
		.element = "rule",
		.max = TRIAD_POLICY_MAX_RULES,
		.size = sizeof(struct triad_policy_rule),
		KEYS(rule_keys)},
	[TRIAD_BLOCK_PARTITION_LEVELS] = {.name = "partition-levels",
		.parent = TRIAD_BLOCK_POLICY},
	[TRIAD_BLOCK_PARTITION_LEVEL] = {.name = "partition-level",
		.parent = TRIAD_BLOCK_PARTITION_LEVELS,
		.element = "partition's level",
		.max = TRIAD_POLICY_MAX_LEVELS,
		.size = sizeof(struct triad_policy_partition_level),
		KEYS(partition_level_keys)},
	[TRIAD_BLOCK_ULPS] = {.name = "qos-ulps",
		.parent = TRIAD_BLOCK_POLICY,
		.text_alone = true,
		.element = "rule",
		.max = TRIAD_POLICY_MAX_RULES,
		.size = sizeof(struct triad_policy_rule)},
};

/* True when both are equal, except that '-' and '_' are equivalent. */
static bool is_same_word(const char *word, size_t length, const char *name)
{
	size_t i;

	for (i = 0; i < length && name[i]; i++)
		if (word[i] != name[i] && (word[i] != '_' || name[i] != '-'))
			return false;
	return i == length && !name[i];
}

enum triad_policy_block_kind triad_policy_block_find(const char *word, size_t length)
{
	unsigned kind;

	for (kind = 0; kind < TRIAD_N_BLOCKS; kind++)
		if (is_same_word(word, length, triad_policy_blocks[kind].name))
			break;
	return kind;
}

const struct triad_policy_key *triad_policy_key_find(
	enum triad_policy_block_kind block, const char *word, size_t length)
{
	const struct triad_policy_block *row = &triad_policy_blocks[block];

	for (unsigned i = 0; i < row->n_keys; i++)
		if (is_same_word(word, length, row->keys[i].name))
			return &row->keys[i];
	return NULL;
}
