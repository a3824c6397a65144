/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "qos/rules/membership.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/grow.h"
#include "lib/search.h"
#include "qos/rules/node_names.h"

#define N_TYPES TRIAD_MEMBERSHIP_N_TYPES

/* The state while groups are resolved. */
struct resolver {
	struct triad_membership *to;
	const struct triad_policy *policy;
	const struct triad_fabric *fabric;
	struct triad_partition_names partitions;
	struct triad_node_names nodes;
	struct triad_group_report *report;
	uint64_t pkeys_used[TRIAD_N_PKEYS /
		64]; /* a bit for each P_Key of an end port */
};

/* --- end ports --- */

static unsigned type_of(const struct triad_fabric *fabric, uint32_t port)
{
	unsigned type = fabric->nodes[fabric->ports[port].node].type;

	return type < N_TYPES ? type : 0;
}

static int compare_ports(const void *a, const void *b, void *context)
{
	const struct triad_fabric *fabric = context;
	uint32_t one = *(const uint32_t *)a, other = *(const uint32_t *)b;
	unsigned type = type_of(fabric, one), other_type = type_of(fabric, other);
	uint64_t guid = fabric->ports[one].guid, other_guid = fabric->ports[other].guid;

	if (type != other_type)
		return type < other_type ? -1 : 1;
	if (guid != other_guid)
		return guid < other_guid ? -1 : 1;
	return (one > other) - (one < other);
}

static int sort_ports(struct triad_membership *to, const struct triad_fabric *fabric)
{
	unsigned type = 0;

	to->ports = malloc((fabric->n_ports + 1) * sizeof(*to->ports));
	if (!to->ports)
		return ENOMEM;
	for (uint32_t i = 0; i < fabric->n_ports; i++)
		if (triad_fabric_is_end_port(fabric, i))
			to->ports[to->n_ports++] = i;
	qsort_r(to->ports, to->n_ports, sizeof(*to->ports), compare_ports,
		(void *)(uintptr_t)fabric);
	/* A type without ports begins where the next one does: its range is empty. */
	for (uint32_t i = 0; i < to->n_ports; i++)
		while (type < type_of(fabric, to->ports[i]))
			to->types[++type] = i;
	while (type < N_TYPES)
		to->types[++type] = to->n_ports;
	return 0;
}

/* The first position of 'type' with a GUID of at least 'guid'. */
static uint32_t find_position(
	const struct triad_membership *membership, unsigned type, uint64_t guid)
{
	uint32_t at;

	TRIAD_SEARCH(at, membership->types[type], membership->types[type + 1],
		membership->fabric->ports[membership->ports[at]].guid < guid);
	return at;
}

/* The position of an end port. */
static uint32_t position_of(const struct triad_membership *membership, uint32_t port)
{
	const struct triad_fabric *fabric = membership->fabric;
	uint32_t at = find_position(
		membership, type_of(fabric, port), fabric->ports[port].guid);

	/* Ports that share a GUID lie together. */
	while (membership->ports[at] != port)
		at++;
	return at;
}

/* --- spans --- */

static int add_span(
	struct triad_group_spans *spans, uint32_t first, uint32_t end, uint32_t group)
{
	if (spans->n == TRIAD_MEMBERSHIP_MAX_SPANS)
		return EOVERFLOW;
	if (triad_grow(&spans->items, &spans->room, spans->n + 1, sizeof(*spans->items),
		    64))
		return ENOMEM;
	spans->items[spans->n++] =
		(struct triad_group_span){.first = first, .end = end, .group = group};
	return 0;
}

static int add_port_to_group(struct triad_membership *to, uint32_t port, uint32_t group)
{
	uint32_t at = position_of(to, port);

	return add_span(&to->by_port, at, at + 1, group);
}

static void add_miss(struct triad_group_report *report, enum triad_group_miss_kind kind,
	uint32_t group, uint32_t item, struct triad_source_location location)
{
	if (!report)
		return;
	if (report->n_misses < TRIAD_GROUP_REPORT_MAX_MISSES)
		report->misses[report->n_misses] =
			(struct triad_group_miss){.kind = kind,
				.group = group,
				.item = item,
				.location = location};
	report->n_misses++;
}

static void miss(struct resolver *resolver, enum triad_group_miss_kind kind,
	uint32_t group, uint32_t item)
{
	add_miss(resolver->report, kind, group, item,
		resolver->policy->groups[group].location);
}

static int add_guids(struct resolver *resolver, uint32_t group)
{
	const struct triad_ranges *guids = &resolver->policy->groups[group].guids;
	struct triad_membership *to = resolver->to;
	int error = 0;

	for (uint32_t i = 0; !error && i < guids->n; i++) {
		bool any = false;

		/* Ports are sorted by GUID within each type only. */
		for (unsigned type = 0; !error && type < N_TYPES; type++) {
			uint64_t last = guids->items[i].last;
			uint32_t first = find_position(to, type, guids->items[i].first);
			uint32_t end = last == UINT64_MAX
				? to->types[type + 1]
				: find_position(to, type, last + 1);

			if (first >= end)
				continue;
			any = true;
			error = add_span(&to->by_port, first, end, group);
		}
		if (!any)
			miss(resolver, TRIAD_MISS_GUID, group, i);
	}
	return error;
}

static int add_types(struct resolver *resolver, uint32_t group)
{
	const struct triad_policy_group *from = &resolver->policy->groups[group];
	struct triad_membership *to = resolver->to;
	uint32_t self = resolver->fabric->sm_port;
	int error = 0;

	for (unsigned type = 1; !error && type < N_TYPES; type++)
		if (from->node_types & 1u << type &&
			to->types[type] < to->types[type + 1])
			error = add_span(&to->by_port, to->types[type],
				to->types[type + 1], group);
	if (!error && from->self && self != TRIAD_FABRIC_NONE &&
		triad_fabric_is_end_port(resolver->fabric, self))
		error = add_port_to_group(to, self, group);
	return error;
}

static int add_port_names(struct resolver *resolver, uint32_t group)
{
	const struct triad_policy_group *from = &resolver->policy->groups[group];
	const struct triad_fabric *fabric = resolver->fabric;
	int error = 0;

	for (uint32_t i = 0; !error && i < from->n_port_names; i++) {
		const struct triad_port_name *name = &from->port_names[i];
		const struct triad_node_name *node;
		uint32_t n;
		bool any = false;

		node = triad_node_names_find(
			&resolver->nodes, name->node, name->words, &n);
		for (; !error && n; n--, node++) {
			uint32_t port = triad_fabric_find_port(
				fabric, node->node, name->number);

			/* No path ends at an external port of a switch: the end port
			 * of that switch is its port 0. */
			if (port != TRIAD_FABRIC_NONE &&
				!triad_fabric_is_end_port(fabric, port))
				port = triad_fabric_find_port(fabric, node->node, 0);
			if (port == TRIAD_FABRIC_NONE)
				continue;
			any = true;
			error = add_port_to_group(resolver->to, port, group);
		}
		if (!any)
			miss(resolver, TRIAD_MISS_PORT_NAME, group, i);
	}
	return error;
}

/* Whether a port has one of these P_Keys. */
static bool is_used(const struct resolver *resolver, uint32_t first, uint32_t last)
{
	/* First the rest of the word of 'first', then word by word. */
	for (uint32_t pkey = first; pkey <= last; pkey = (pkey / 64 + 1) * 64) {
		uint64_t used = resolver->pkeys_used[pkey / 64] >> pkey % 64;

		if (used)
			return pkey + (unsigned)__builtin_ctzll(used) <= last;
	}
	return false;
}

static int add_partitions(struct resolver *resolver, uint32_t group)
{
	const struct triad_policy_group *from = &resolver->policy->groups[group];
	struct triad_group_spans *to = &resolver->to->by_pkey;
	int error = 0;

	for (uint32_t i = 0; !error && i < from->n_partitions; i++) {
		uint16_t pkey = triad_partition_names_find(
			&resolver->partitions, from->partitions[i]);

		if (pkey)
			error = add_span(to, pkey, pkey + 1u, group);
		if (!pkey || !is_used(resolver, pkey, pkey))
			miss(resolver, TRIAD_MISS_PARTITION, group, i);
	}
	for (uint32_t i = 0; !error && i < from->pkeys.n; i++) {
		uint64_t first = from->pkeys.items[i].first;
		uint64_t last = from->pkeys.items[i].last;

		/* 0 is no P_Key, and there are no more than TRIAD_N_PKEYS. */
		if (!first)
			first = 1;
		if (last >= TRIAD_N_PKEYS)
			last = TRIAD_N_PKEYS - 1;
		if (first <= last)
			error = add_span(
				to, (uint32_t)first, (uint32_t)last + 1, group);
		if (first > last || !is_used(resolver, (uint32_t)first, (uint32_t)last))
			miss(resolver, TRIAD_MISS_PKEY, group, i);
	}
	return error;
}

static int add_group(struct resolver *resolver, uint32_t group)
{
	int error = add_guids(resolver, group);

	if (!error)
		error = add_types(resolver, group);
	if (!error)
		error = add_port_names(resolver, group);
	if (!error)
		error = add_partitions(resolver, group);
	return error;
}

/* --- missing names --- */

static void note_pkeys(struct resolver *resolver)
{
	const struct triad_membership *to = resolver->to;

	for (uint32_t i = 0; i < to->n_ports; i++) {
		uint32_t n;
		const uint16_t *pkeys =
			triad_membership_pkeys(resolver->fabric, to->ports[i], &n);

		for (; n; n--, pkeys++)
			resolver->pkeys_used[(*pkeys & 0x7fff) / 64] |= UINT64_C(1)
				<< *pkeys % 64;
	}
	/* Unused entries of tables are 0, which is no P_Key. */
	resolver->pkeys_used[0] &= ~UINT64_C(1);
}

static void report_levels(struct resolver *resolver)
{
	const struct triad_policy *policy = resolver->policy;

	for (uint32_t i = 0; i < policy->n_partition_levels; i++) {
		const struct triad_policy_partition_level *level =
			&policy->partition_levels[i];

		if (level->partition &&
			!triad_partition_names_find(
				&resolver->partitions, level->partition))
			add_miss(resolver->report, TRIAD_MISS_PARTITION_LEVEL, i, 0,
				level->location);
	}
}

/* Counts the spans that cover each of 'n' places. */
static int32_t *count_spans(const struct triad_group_spans *spans, uint32_t n)
{
	int32_t *counts = calloc((size_t)n + 1, sizeof(*counts));

	/* First count the changes at each place, then add them up. */
	for (uint32_t i = 0; counts && i < spans->n; i++) {
		counts[spans->items[i].first]++;
		counts[spans->items[i].end]--;
	}
	for (uint32_t i = 1; counts && i < n; i++)
		counts[i] += counts[i - 1];
	return counts;
}

static bool has_pkey_of(
	const struct triad_fabric *fabric, uint32_t port, const int32_t *counts)
{
	uint32_t n;
	const uint16_t *pkeys = triad_membership_pkeys(fabric, port, &n);

	for (; n; n--, pkeys++)
		if (counts[*pkeys & 0x7fff])
			return true;
	return false;
}

int triad_membership_find_lonely(
	const struct triad_membership *membership, bool *is_lonely)
{
	const struct triad_fabric *fabric = membership->fabric;
	int32_t *by_port = count_spans(&membership->by_port, membership->n_ports);
	int32_t *by_pkey = count_spans(&membership->by_pkey, TRIAD_N_PKEYS);
	int error = by_port && by_pkey ? 0 : ENOMEM;

	for (uint32_t i = 0; i < fabric->n_nodes; i++)
		is_lonely[i] = true;
	for (uint32_t i = 0; !error && i < membership->n_ports; i++) {
		uint32_t port = membership->ports[i];

		if (by_port[i] || has_pkey_of(fabric, port, by_pkey))
			is_lonely[fabric->ports[port].node] = false;
	}
	free(by_port);
	free(by_pkey);
	return error;
}

static int report_lonely(struct resolver *resolver)
{
	struct triad_group_report *report = resolver->report;
	uint32_t n_nodes = resolver->fabric->n_nodes;
	bool *is_lonely = calloc((size_t)n_nodes + 1, sizeof(*is_lonely));
	int error = is_lonely ? triad_membership_find_lonely(resolver->to, is_lonely)
			      : ENOMEM;

	for (uint32_t i = 0; !error && i < n_nodes; i++) {
		if (!is_lonely[i])
			continue;
		if (report->n_nodes < TRIAD_GROUP_REPORT_MAX_NODES)
			report->nodes[report->n_nodes] = i;
		report->n_nodes++;
	}
	free(is_lonely);
	return error;
}

/* --- use --- */

static int resolve(struct resolver *resolver)
{
	int error = sort_ports(resolver->to, resolver->fabric);

	if (!error)
		error = triad_partition_names_init(&resolver->partitions,
			resolver->fabric->partitions, resolver->fabric->n_partitions);
	if (!error)
		error = triad_node_names_init(
			&resolver->nodes, resolver->policy, resolver->fabric);
	if (error)
		return error;
	note_pkeys(resolver);
	for (uint32_t i = 0; !error && i < resolver->policy->n_groups; i++)
		error = add_group(resolver, i);
	if (!error && resolver->report) {
		report_levels(resolver);
		error = report_lonely(resolver);
	}
	return error;
}

int triad_membership_resolve(struct triad_membership *membership,
	const struct triad_policy *policy, const struct triad_fabric *fabric,
	struct triad_group_report *report)
{
	struct resolver resolver = {
		.to = membership, .policy = policy, .fabric = fabric, .report = report};
	int error;

	*membership = (struct triad_membership){.policy = policy, .fabric = fabric};
	if (report)
		*report = (struct triad_group_report){0};
	error = resolve(&resolver);
	triad_node_names_clear(&resolver.nodes);
	free(resolver.partitions.items);
	if (error)
		triad_membership_clear(membership);
	return error;
}

void triad_membership_clear(struct triad_membership *membership)
{
	free(membership->ports);
	free(membership->by_port.items);
	free(membership->by_pkey.items);
	*membership = (struct triad_membership){0};
}

static bool has_any_pkey(const struct triad_fabric *fabric, uint32_t port,
	const struct triad_group_span *span)
{
	uint32_t n;
	const uint16_t *pkeys = triad_membership_pkeys(fabric, port, &n);

	for (; n; n--, pkeys++)
		if ((*pkeys & 0x7fffu) >= span->first && (*pkeys & 0x7fffu) < span->end)
			return true;
	return false;
}

uint32_t triad_membership_groups(const struct triad_membership *membership,
	uint32_t port, uint32_t *groups, uint32_t max)
{
	/* A bit for each group: a port may be in a group for several reasons. */
	uint64_t has[TRIAD_POLICY_MAX_GROUPS / 64] = {0};
	uint32_t position = position_of(membership, port), n = 0;

	for (uint32_t i = 0; i < membership->by_port.n; i++) {
		const struct triad_group_span *span = &membership->by_port.items[i];

		if (position >= span->first && position < span->end)
			has[span->group / 64] |= UINT64_C(1) << span->group % 64;
	}
	for (uint32_t i = 0; i < membership->by_pkey.n; i++) {
		const struct triad_group_span *span = &membership->by_pkey.items[i];

		if (has_any_pkey(membership->fabric, port, span))
			has[span->group / 64] |= UINT64_C(1) << span->group % 64;
	}
	for (uint32_t i = 0; i < membership->policy->n_groups; i++) {
		if (!(has[i / 64] >> i % 64 & 1))
			continue;
		if (n < max)
			groups[n] = i;
		n++;
	}
	return n;
}
