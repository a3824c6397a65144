/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "tests/sim/naive_setup.h"

#include <string.h>

#include "triad/lists.h"

static const struct triad_fabric_node *node_of(const struct naive *naive, uint32_t port)
{
	return &naive->fabric->nodes[naive->fabric->ports[port].node];
}

static bool at_switch(const struct naive *naive, uint32_t port)
{
	return node_of(naive, port)->type == TRIAD_NODE_SWITCH;
}

static uint32_t port0_of(const struct naive *naive, uint32_t port)
{
	return triad_fabric_find_port(
		naive->fabric, naive->fabric->ports[port].node, 0);
}

/* --- groups --- */

static bool has_name(const struct naive *naive, const struct triad_policy_group *group,
	uint32_t port)
{
	unsigned number = naive->fabric->ports[port].number;

	for (uint32_t i = 0; i < group->n_port_names; i++) {
		const struct triad_port_name *name = &group->port_names[i];

		if (!strcmp(name->node, node_of(naive, port)->name) &&
			(name->number == number ||
				(at_switch(naive, port) && !name->number)))
			return true;
	}
	return false;
}

static bool has_pkey(const struct naive *naive, const struct triad_policy_group *group,
	const struct triad_fabric_slice *pkeys)
{
	for (uint32_t i = 0; i < pkeys->n; i++) {
		uint16_t pkey = naive->fabric->pkeys[pkeys->at + i];

		if (pkey && triad_ranges_has(&group->pkeys, pkey & 0x7fff))
			return true;
		for (uint32_t p = 0; pkey && p < group->n_partitions; p++)
			for (uint32_t f = 0; f < naive->fabric->n_partitions; f++)
				if (naive->fabric->partitions[f].pkey ==
						(pkey & 0x7fff) &&
					!strcmp(naive->fabric->partitions[f].name,
						group->partitions[p]))
					return true;
	}
	return false;
}

static bool in_group(const struct naive *naive, uint32_t index, uint32_t port)
{
	const struct triad_policy_group *group = &naive->policy->groups[index];
	uint32_t facts = at_switch(naive, port) ? port0_of(naive, port) : port;

	return (group->node_types >> node_of(naive, port)->type & 1) ||
		(group->self && facts == naive->fabric->sm_port) ||
		triad_ranges_has(&group->guids, naive->fabric->ports[facts].guid) ||
		has_pkey(naive, group, &naive->fabric->ports[facts].pkeys) ||
		has_name(naive, group, port);
}

static bool in_groups(
	const struct naive *naive, const struct triad_group_list *groups, uint32_t port)
{
	for (uint32_t i = 0; port != TRIAD_FABRIC_NONE && i < groups->n; i++)
		if (in_group(naive, groups->items[i], port))
			return true;
	return false;
}

/* --- scopes --- */

bool naive_out_fits(const struct naive *naive, const struct triad_policy_scope *scope,
	uint32_t out, bool aside)
{
	const struct triad_fabric_port *port = &naive->fabric->ports[out];

	if (!aside && !scope->to_any && !triad_ports_has(scope->to, port->number))
		return false;
	if (!scope->groups.n && !scope->across.n && !scope->across_to.n)
		return true;
	return in_groups(naive, &scope->groups, out) ||
		in_groups(naive, &scope->across, port->remote) ||
		in_groups(naive, &scope->across_to, port->remote);
}

bool naive_in_fits(const struct naive *naive, const struct triad_policy_scope *scope,
	uint32_t out, unsigned in, bool aside)
{
	uint32_t at = triad_fabric_find_port(
		naive->fabric, naive->fabric->ports[out].node, in);

	if (!at_switch(naive, out))
		return !scope->across_from.n;
	if (!aside && !scope->from_any && !triad_ports_has(scope->from, (uint8_t)in))
		return false;
	return !scope->across_from.n ||
		(at != TRIAD_FABRIC_NONE &&
			in_groups(naive, &scope->across_from,
				naive->fabric->ports[at].remote));
}

uint16_t naive_sl2vl_scope(const struct naive *naive, uint32_t out, unsigned in)
{
	for (uint32_t i = naive->policy ? naive->policy->n_sl2vl : 0; i--;) {
		const struct triad_policy_scope *scope = &naive->policy->sl2vl[i].scope;

		if (naive_out_fits(naive, scope, out, false) &&
			naive_in_fits(naive, scope, out, in, false))
			return (uint16_t)i;
	}
	return NAIVE_NO_SCOPE;
}

uint16_t naive_vlarb_scope(const struct naive *naive, uint32_t out)
{
	for (uint32_t i = naive->policy ? naive->policy->n_vlarb : 0; i--;)
		if (naive_out_fits(naive, &naive->policy->vlarb[i].scope, out, false))
			return (uint16_t)i;
	return NAIVE_NO_SCOPE;
}

/* --- the fabric's tables --- */

bool naive_is_looked_at(const struct naive *naive, uint32_t port)
{
	const struct triad_fabric_port *at = &naive->fabric->ports[port];

	if (at->state == TRIAD_PORT_NOP || at->state == TRIAD_PORT_DOWN)
		return false;
	return !at_switch(naive, port) || at->number ||
		node_of(naive, port)->enhanced_port0;
}

unsigned naive_n_sl2vl(const struct naive *naive, uint32_t port)
{
	const struct triad_fabric_node *node = node_of(naive, port);

	if (!naive_is_looked_at(naive, port))
		return 0;
	if (!at_switch(naive, port))
		return naive->fabric->ports[port].has_sl2vl;
	if (!naive->fabric->ports[port0_of(naive, port)].has_sl2vl)
		return 0;
	return naive->fabric->ports[node->first_port + node->n_ports - 1].number + 1u;
}

int naive_n_vlarb(const struct naive *naive, uint32_t port, bool high)
{
	const struct triad_fabric_port *at = &naive->fabric->ports[port];

	if (!naive_is_looked_at(naive, port) || at->vl_cap <= 1)
		return -1;
	return high ? at->vlarb_high_cap : at->vlarb_low_cap;
}

bool naive_has_limit(const struct naive *naive, uint32_t port)
{
	const struct triad_fabric_port *at = &naive->fabric->ports[port];

	if (naive_n_vlarb(naive, port, false) <= 0 &&
		naive_n_vlarb(naive, port, true) <= 0)
		return false;
	return at->number == 0 || at->remote != TRIAD_FABRIC_NONE;
}

struct triad_sl2vl naive_sl2vl_now(const struct naive *naive, uint32_t out, unsigned in)
{
	const struct triad_fabric_slice *rows = &naive->fabric->ports[out].sl2vl;
	struct triad_sl2vl zero = {{0}};

	return in < rows->n ? naive->fabric->sl2vl[rows->at + in] : zero;
}

void naive_vlarb_now(const struct naive *naive, uint32_t out, bool high,
	struct triad_vlarb_entry *entries)
{
	const struct triad_fabric_port *at = &naive->fabric->ports[out];
	unsigned first = high ? at->vlarb_low_cap : 0;
	unsigned n = high ? at->vlarb_high_cap : at->vlarb_low_cap;

	for (unsigned i = 0; i < n; i++)
		entries[i] = first + i < at->vlarb.n
			? naive->fabric->vlarb[at->vlarb.at + first + i]
			: (struct triad_vlarb_entry){0, 0};
}

/* --- the desired tables --- */

uint8_t naive_vl(const struct triad_sl2vl *table, unsigned sl)
{
	return sl % 2 ? table->vl[sl / 2] & 15 : table->vl[sl / 2] >> 4;
}

static bool can_use(const struct naive *naive, uint32_t out, unsigned code)
{
	const struct triad_fabric_port *at = &naive->fabric->ports[out];
	unsigned limit = naive->fabric->qos.max_op_vls;

	if (at->remote == TRIAD_FABRIC_NONE && at->op_vls < code)
		return false;
	if (at->remote != TRIAD_FABRIC_NONE &&
		(at->vl_cap < code || naive->fabric->ports[at->remote].vl_cap < code))
		return false;
	if (at->state == TRIAD_PORT_ACTIVE && at->op_vls && at->op_vls < code)
		return false;
	return !limit || limit >= code;
}

uint8_t naive_op_vls(const struct naive *naive, uint32_t out)
{
	uint8_t code = 5;

	while (code > 1 && !can_use(naive, out, code))
		code--;
	return code;
}

static unsigned default_mask(const struct naive *naive, uint32_t out)
{
	return (1u << (naive_op_vls(naive, out) - 1)) - 1;
}

static const struct triad_qos_defaults *defaults_of(
	const struct naive *naive, uint32_t out, unsigned in)
{
	enum triad_qos_port_kind kind = triad_fabric_qos_kind(naive->fabric, out);

	if (kind == TRIAD_QOS_PORT_SWITCH0 && in)
		kind = TRIAD_QOS_PORT_SWITCH;
	return &naive->fabric->qos.defaults[kind];
}

static uint8_t desired_vl(const struct naive *naive, uint32_t out, unsigned in,
	uint16_t scope, unsigned sl)
{
	unsigned n_vls = triad_vls_n(naive_op_vls(naive, out)), vl;

	if (scope != NAIVE_NO_SCOPE) {
		vl = naive->policy->sl2vl[scope].vl[sl];
		return (uint8_t)(vl < n_vls ? vl : 15);
	}
	vl = naive_vl(&defaults_of(naive, out, in)->sl2vl, sl);
	return (uint8_t)(vl == 15 ? 15 : vl & default_mask(naive, out));
}

uint16_t naive_sl2vl(
	const struct naive *naive, uint32_t out, unsigned in, struct triad_sl2vl *table)
{
	uint16_t scope = naive_sl2vl_scope(naive, out, in);

	for (unsigned i = 0; i < 8; i++)
		table->vl[i] = (uint8_t)(desired_vl(naive, out, in, scope, 2 * i) << 4 |
			desired_vl(naive, out, in, scope, 2 * i + 1));
	return scope;
}

uint16_t naive_vlarb(const struct naive *naive, uint32_t out, bool high,
	struct triad_vlarb_entry *entries)
{
	unsigned n = (unsigned)naive_n_vlarb(naive, out, high);
	unsigned n_vls = triad_vls_n(naive_op_vls(naive, out));
	uint16_t scope = naive_vlarb_scope(naive, out);
	const struct triad_policy_vlarb *says =
		scope == NAIVE_NO_SCOPE ? NULL : &naive->policy->vlarb[scope];

	if (says && (high ? says->has_high : says->has_low) &&
		(high ? says->n_high : says->n_low) <= n) {
		memset(entries, 0, n * sizeof(*entries));
		memcpy(entries, high ? says->high : says->low,
			(high ? says->n_high : says->n_low) * sizeof(*entries));
		for (unsigned i = 0; i < n; i++)
			if (entries[i].vl >= n_vls)
				entries[i] = (struct triad_vlarb_entry){0, 0};
		return scope;
	}
	for (unsigned i = 0; i < n; i++) {
		entries[i] = high ? defaults_of(naive, out, 0)->high[i]
				  : defaults_of(naive, out, 0)->low[i];
		entries[i].vl &= (uint8_t)default_mask(naive, out);
	}
	return NAIVE_NO_SCOPE;
}

uint16_t naive_high_limit(const struct naive *naive, uint32_t out, uint8_t *limit)
{
	uint16_t scope = naive_vlarb_scope(naive, out);

	if (scope != NAIVE_NO_SCOPE && naive->policy->vlarb[scope].has_high_limit) {
		*limit = naive->policy->vlarb[scope].high_limit;
		return scope;
	}
	*limit = defaults_of(naive, out, 0)->high_limit;
	return NAIVE_NO_SCOPE;
}

/* --- dropped SLs --- */

static bool has_weight(const struct naive *naive, uint32_t out, uint8_t vl)
{
	struct triad_vlarb_entry entries[TRIAD_VLARB_MAX];

	for (unsigned high = 0; high < 2; high++) {
		(void)naive_vlarb(naive, out, high, entries);
		for (int i = 0; i < naive_n_vlarb(naive, out, high); i++)
			if (entries[i].vl == vl && entries[i].weight > 0)
				return true;
	}
	return false;
}

static bool has_arbitration(const struct naive *naive, uint32_t out)
{
	return naive_n_vlarb(naive, out, false) > 0 ||
		naive_n_vlarb(naive, out, true) > 0;
}

uint16_t naive_dead(const struct naive *naive, uint32_t out, unsigned in, bool by_scope)
{
	struct triad_sl2vl table;
	uint16_t scope, dead = 0;

	if (!naive_n_sl2vl(naive, out))
		return 0;
	scope = naive_sl2vl(naive, out, in, &table);
	if (naive_n_vlarb(naive, out, false) >= 0 &&
		naive_vlarb_scope(naive, out) != NAIVE_NO_SCOPE)
		by_scope = false;
	if (by_scope && scope == NAIVE_NO_SCOPE)
		return 0;
	for (unsigned sl = 0; sl < 16; sl++) {
		uint8_t vl = naive_vl(&table, sl);

		if (vl == 15 ||
			(has_arbitration(naive, out) && !has_weight(naive, out, vl)))
			dead |= (uint16_t)(1 << sl);
	}
	return dead;
}
