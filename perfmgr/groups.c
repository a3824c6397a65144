/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "perfmgr/groups.h"

#include <fnmatch.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "lib/text.h"
#include "triad/lists.h"

/* Items that fit into the text of a list. */
#define MAX_ITEMS (TRIAD_CONF_TEXT_SIZE / 2)

struct group {
	struct triad_conf_group conf;
	uint8_t ports[32]; /* a bit for each port number */
	uint64_t guids[MAX_ITEMS];
	unsigned n_guids;
	char patterns[MAX_ITEMS][TRIAD_NODE_NAME_SIZE];
	unsigned n_patterns;
};

struct triad_groups {
	atomic_uint refs;
	unsigned n;
	struct group groups[];
};

/* --- life --- */

static void sort_nodes(struct group *group)
{
	const char *at = group->conf.nodes;
	char item[TRIAD_CONF_TEXT_SIZE];

	while (triad_list_next(&at, item, sizeof(item))) {
		if (triad_text_guid(item, &group->guids[group->n_guids]))
			group->n_guids++;
		/* A pattern that is longer than any name is left out. */
		else if (strlen(item) < TRIAD_NODE_NAME_SIZE)
			strcpy(group->patterns[group->n_patterns++], item);
	}
	/* A group that names no nodes has all of them. */
	if (!group->conf.nodes[0])
		strcpy(group->patterns[group->n_patterns++], "*");
}

struct triad_groups *triad_groups_new(const struct triad_conf *conf)
{
	unsigned n = conf ? conf->n_groups : 0;
	struct triad_groups *groups =
		calloc(1, sizeof(*groups) + n * sizeof(struct group));
	char reason[TRIAD_DIAG_TEXT_SIZE];

	if (!groups)
		return NULL;
	atomic_init(&groups->refs, 1);
	groups->n = n;
	for (unsigned i = 0; i < groups->n; i++) {
		struct group *group = &groups->groups[i];

		group->conf = conf->groups[i];
		sort_nodes(group);
		/* It can't fail: the list was checked when triad.conf was read. */
		(void)triad_ports_parse(
			group->conf.ports, group->ports, reason, sizeof(reason));
	}
	return groups;
}

struct triad_groups *triad_groups_ref(struct triad_groups *groups)
{
	atomic_fetch_add(&groups->refs, 1);
	return groups;
}

void triad_groups_unref(struct triad_groups *groups)
{
	if (groups && atomic_fetch_sub(&groups->refs, 1) == 1)
		free(groups);
}

/* --- use --- */

static bool is_same_group(
	const struct triad_conf_group *a, const struct triad_conf_group *b)
{
	return !strcmp(a->name, b->name) && !strcmp(a->nodes, b->nodes) &&
		!strcmp(a->ports, b->ports) && a->type == b->type &&
		a->skip == b->skip && a->sweep_period_s == b->sweep_period_s;
}

bool triad_groups_are_equal(const struct triad_groups *a, const struct triad_groups *b)
{
	if (a->n != b->n)
		return false;
	for (unsigned i = 0; i < a->n; i++)
		if (!is_same_group(&a->groups[i].conf, &b->groups[i].conf))
			return false;
	return true;
}

unsigned triad_groups_count(const struct triad_groups *groups)
{
	return groups->n;
}

const struct triad_conf_group *triad_groups_get(
	const struct triad_groups *groups, unsigned i)
{
	return &groups->groups[i].conf;
}

unsigned triad_groups_find(const struct triad_groups *groups, const char *name)
{
	for (unsigned i = 0; i < groups->n; i++)
		if (!strcmp(groups->groups[i].conf.name, name))
			return i;
	return TRIAD_GROUP_NONE;
}

/* --- which port is in which --- */

static bool has_guid(const struct group *group, uint64_t guid)
{
	for (unsigned i = 0; i < group->n_guids; i++)
		if (group->guids[i] == guid)
			return true;
	return false;
}

static bool fits_node(const struct group *group, const struct triad_fabric_node *node)
{
	if (has_guid(group, node->guid))
		return true;
	for (unsigned i = 0; i < group->n_patterns; i++)
		if (!fnmatch(group->patterns[i], node->name, 0))
			return true;
	return false;
}

static void assign_node(const struct group *group, const struct triad_fabric *fabric,
	const struct triad_fabric_node *node, uint8_t index, uint8_t *group_of_port)
{
	bool all;

	if (group->conf.type && group->conf.type != node->type)
		return;
	/* Names are compared once for each node, not for each port. */
	all = fits_node(group, node);
	for (uint32_t i = node->first_port; i < node->first_port + node->n_ports; i++) {
		const struct triad_fabric_port *port = &fabric->ports[i];
		bool is_listed =
			group->ports[port->number / 8] & 1u << port->number % 8;

		if (is_listed && (all || has_guid(group, port->guid)))
			group_of_port[i] = index;
	}
}

void triad_groups_assign(const struct triad_groups *groups,
	const struct triad_fabric *fabric, uint8_t *group_of_port)
{
	/* A port that fits several groups is in the last of them. */
	for (unsigned g = 0; g < groups->n; g++)
		for (uint32_t i = 0; i < fabric->n_nodes; i++)
			assign_node(&groups->groups[g], fabric, &fabric->nodes[i],
				(uint8_t)g, group_of_port);
}
