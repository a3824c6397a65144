/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The parts of 'diff' about counters, configuration and tables of nodes. */
#include "service/command/diff_parts.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "history/image.h"
#include "lib/search.h"
#include "service/command/format.h"
#include "service/service.h"

/* How a counter grew. */
struct grown {
	uint64_t sum, most;
	uint32_t n_ports, most_port; /* in the fabric of now */
};

/* Adds a port's growth, as far as it is known. */
static void add_port_growth(const struct diff *diff, uint32_t port,
	uint32_t before_port, struct grown grown[TRIAD_N_COUNTERS])
{
	struct triad_engine_row now, before;

	if (!triad_view_read(diff->to.view, port, &now) ||
		!triad_view_read(diff->from.view, before_port, &before))
		return;
	for (unsigned i = 0; i < TRIAD_N_COUNTERS; i++) {
		uint64_t by;

		if (!triad_moment_grown(&before, &now, i, &by) || !by)
			continue;
		grown[i].sum += by;
		grown[i].n_ports++;
		if (by > grown[i].most) {
			grown[i].most = by;
			grown[i].most_port = port;
		}
	}
}

static void add_all(const struct diff *diff, struct grown grown[TRIAD_N_COUNTERS])
{
	const struct triad_fabric *now = diff->to.view->fabric;
	const struct triad_fabric *before = diff->from.view->fabric;

	for (uint32_t i = 0; i < now->n_ports; i++) {
		const struct triad_fabric_port *port = &now->ports[i];
		uint32_t at = triad_fabric_find_same_port(before, now, i);

		if (port->has_pma && at != TRIAD_FABRIC_NONE)
			add_port_growth(diff, i, at, grown);
	}
}

static void put_counter(const struct diff *diff, struct triad_list *list,
	unsigned counter, const struct grown *grown)
{
	const struct triad_fabric *fabric = diff->to.view->fabric;
	const struct triad_fabric_port *port = &fabric->ports[grown->most_port];
	const struct triad_fabric_node *node = &fabric->nodes[port->node];
	const struct triad_counter_info *info = &triad_counters[counter];

	triad_list_row(list);
	triad_list_text(list, "counter", "COUNTER", -27, info->name);
	if (triad_list_json(list)) {
		triad_json_uint(triad_list_json(list), "grew_by", grown->sum);
		triad_json_uint(triad_list_json(list), "most", grown->most);
		triad_json_guid(triad_list_json(list), "most_guid", node->guid);
		triad_json_string(triad_list_json(list), "most_name", node->name);
		triad_json_uint(triad_list_json(list), "most_port", port->number);
	}
	triad_list_counter(list, "GREW BY", 9, info->unit, (double)grown->sum, "");
	triad_list_uint(list, "ports", "PORTS", 6, grown->n_ports);
	triad_list_counter(list, "MOST", 9, info->unit, (double)grown->most, "");
	triad_list_text(list, NULL, "AT", TRIAD_LIST_LONG,
		triad_port_label(fabric, grown->most_port).text);
	triad_list_row_end(list);
}

/* Errors first: users look for these. */
uint32_t diff_put_counters(const struct diff *diff, struct triad_list *list)
{
	struct grown grown[TRIAD_N_COUNTERS] = {0};
	uint32_t n = 0;

	if (!triad_moment_shares_base(&diff->from, &diff->to))
		return 0;
	add_all(diff, grown);
	for (unsigned pass = 0; pass < 2; pass++)
		for (unsigned i = 0; i < TRIAD_N_COUNTERS; i++) {
			if (!grown[i].sum || triad_counters[i].is_error != !pass)
				continue;
			put_counter(diff, list, i, &grown[i]);
			n++;
		}
	return n;
}

/* --- configuration --- */

/* The value of a key; NULL: its default.  'room' takes a present value. */
static const char *find_value(const struct triad_moment *moment,
	const struct triad_conf *present, const char *name,
	struct triad_conf_entry *room)
{
	const struct triad_past *past = moment->past;

	for (uint32_t i = 0; past && i < past->n_keys; i++)
		if (!strcmp(past->keys[i].name, name))
			return past->keys[i].value;
	*room = (struct triad_conf_entry){0};
	while (!past && triad_history_conf_next(present, room))
		if (!strcmp(room->name, name))
			return room->value;
	return NULL;
}

static void put_key(
	struct triad_list *list, const char *name, const char *was, const char *is)
{
	triad_list_row(list);
	triad_list_text(list, "key", "KEY", TRIAD_LIST_LONG, name);
	triad_list_text(list, "was", "WAS", TRIAD_LIST_LONG, was ? was : "default");
	triad_list_text(list, "is", "IS", TRIAD_LIST_LONG, is ? is : "default");
	triad_list_row_end(list);
}

/* Keys of the earlier moment first, then those that only the later one has. */
uint32_t diff_put_conf(const struct diff *diff, struct triad_list *list)
{
	const struct triad_conf *present = triad_service_conf(diff->to.service);
	const struct triad_past *from = diff->from.past, *to = diff->to.past;
	struct triad_conf_entry entry = {0}, room;
	uint32_t n = 0;

	for (uint32_t i = 0; i < from->n_keys; i++) {
		const char *is =
			find_value(&diff->to, present, from->keys[i].name, &room);

		if (is && !strcmp(is, from->keys[i].value))
			continue;
		put_key(list, from->keys[i].name, from->keys[i].value, is);
		n++;
	}
	for (uint32_t i = 0; to && i < to->n_keys; i++)
		if (!find_value(&diff->from, present, to->keys[i].name, &room)) {
			put_key(list, to->keys[i].name, NULL, to->keys[i].value);
			n++;
		}
	while (!to && triad_history_conf_next(present, &entry))
		if (!find_value(&diff->from, present, entry.name, &room)) {
			put_key(list, entry.name, NULL, entry.value);
			n++;
		}
	triad_conf_unref(present);
	return n;
}

/* --- tables of nodes --- */

/* The hashes of a node's tables, which is at 'i' at the second moment, at both; 0: not
 * known.  False: the first moment lacks the node, or it has no such tables by its type. */
static bool read_hashes(const struct diff *diff, enum triad_history_tables tables,
	uint32_t i, uint64_t *old, uint64_t *hash)
{
	const struct triad_fabric_node *node = &diff->to.view->fabric->nodes[i];
	uint32_t at = triad_fabric_find_node(diff->from.view->fabric, node->guid);

	if (at == TRIAD_FABRIC_NONE ||
		(tables == TRIAD_HISTORY_ROUTES && node->type != TRIAD_NODE_SWITCH))
		return false;
	*hash = triad_moment_tables_hash(&diff->to, i, tables);
	*old = triad_moment_tables_hash(&diff->from, at, tables);
	return true;
}

struct diff_compared diff_compare_tables(
	const struct diff *diff, enum triad_history_tables tables)
{
	const struct triad_fabric *now = diff->to.view->fabric;
	struct diff_compared compared = {0};
	uint64_t old, hash;

	for (uint32_t i = 0; i < now->n_nodes; i++) {
		if (!read_hashes(diff, tables, i, &old, &hash))
			continue;
		if (old && hash)
			compared.n++;
		else
			compared.n_unknown++;
	}
	return compared;
}

static uint32_t put_tables(const struct diff *diff, struct triad_list *list,
	enum triad_history_tables tables)
{
	const struct triad_fabric *now = diff->to.view->fabric;
	uint64_t old, hash;
	uint32_t n = 0;

	for (uint32_t i = 0; i < now->n_nodes; i++) {
		if (!read_hashes(diff, tables, i, &old, &hash) || !old || !hash ||
			old == hash)
			continue;
		if (n++ >= diff->command->limit && !diff->report.as_json)
			continue;
		triad_list_row(list);
		triad_list_node(
			list, "node_name", "NODE", TRIAD_LIST_LONG, &now->nodes[i]);
		triad_list_guid(list, "node_guid", "GUID", now->nodes[i].guid);
		triad_list_row_end(list);
	}
	return n;
}

uint32_t diff_put_routes(const struct diff *diff, struct triad_list *list)
{
	return put_tables(diff, list, TRIAD_HISTORY_ROUTES);
}

uint32_t diff_put_qos(const struct diff *diff, struct triad_list *list)
{
	return put_tables(diff, list, TRIAD_HISTORY_QOS);
}
