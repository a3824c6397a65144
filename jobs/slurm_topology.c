/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "jobs/slurm_topology.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NONE TRIAD_FABRIC_NONE

/* A host and the line that lists it. */
struct place {
	char name[TRIAD_HOSTLIST_NAME_SIZE];
	uint32_t line;
};

struct builder {
	const struct triad_routes_layout *layout;
	struct triad_slurm_topology *topology;
	char (*names)[TRIAD_HOSTLIST_NAME_SIZE]; /* of the layout's switches */
	uint32_t *set;       /* union-find: of each switch one of its set, or itself */
	uint32_t *switch_of; /* of each line a switch of its set */
	struct place *places;
	uint32_t n_places;
	bool *is_named_after; /* switches whose name a line has */
};

/* --- names --- */

static bool is_of_name(char c)
{
	return isalnum((unsigned char)c) || (c && strchr("-_.", c));
}

/* Whether a description is that of a factory, or of a host that has not been named yet. */
static bool is_of_no_host(const char *description)
{
	static const char *const words[] = {"Mellanox Technologies", "ConnectX"};
	size_t length = strcspn(description, " .");

	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		if (strstr(description, words[i]))
			return true;
	return length == strlen("localhost") &&
		!strncmp(description, "localhost", length);
}

void triad_slurm_host_name(const char *description, char name[TRIAD_HOSTLIST_NAME_SIZE])
{
	size_t length = strcspn(description, " ");

	name[0] = '\0';
	if (!length || length >= TRIAD_HOSTLIST_NAME_SIZE || is_of_no_host(description))
		return;
	for (size_t i = 0; i < length; i++)
		if (!is_of_name(description[i]))
			return;
	memcpy(name, description, length);
	name[length] = '\0';
}

static int compare_texts(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Names all switches.  Equal names, as of switches with a product's default
 * description, get the GUID. */
static int name_switches(struct builder *builder)
{
	const struct triad_routes_layout *layout = builder->layout;
	char **sorted = calloc(layout->n_switches + 1, sizeof(*sorted));
	bool *is_again = calloc(layout->n_switches + 1, sizeof(*is_again));

	for (uint32_t i = 0; sorted && i < layout->n_switches; i++) {
		const struct triad_fabric_node *node =
			&layout->fabric->nodes[layout->switches[i].node];
		char *name = builder->names[i];

		snprintf(name, TRIAD_HOSTLIST_NAME_SIZE, "%.40s", node->name);
		name[strcspn(name, " ")] = '\0';
		for (char *c = name; *c; c++)
			*c = is_of_name(*c) ? *c : '_';
		sorted[i] = name;
	}
	if (sorted && is_again) {
		qsort(sorted, layout->n_switches, sizeof(*sorted), compare_texts);
		for (uint32_t i = 0; i < layout->n_switches; i++)
			is_again[i] = !sorted[i][0] ||
				(i && !strcmp(sorted[i - 1], sorted[i])) ||
				(i + 1 < layout->n_switches &&
					!strcmp(sorted[i], sorted[i + 1]));
		for (uint32_t i = 0; i < layout->n_switches; i++) {
			uint32_t sw = (uint32_t)((sorted[i] - builder->names[0]) /
				TRIAD_HOSTLIST_NAME_SIZE);
			uint32_t node = layout->switches[sw].node;

			if (is_again[i])
				snprintf(sorted[i] + strlen(sorted[i]),
					TRIAD_HOSTLIST_NAME_SIZE - strlen(sorted[i]),
					"%s%016" PRIx64, sorted[i][0] ? "-" : "switch-",
					layout->fabric->nodes[node].guid);
		}
	}
	free(sorted);
	free(is_again);
	return sorted && is_again ? 0 : ENOMEM;
}

/* --- sets of switches --- */

static uint32_t set_of(struct builder *builder, uint32_t sw)
{
	while (builder->set[sw] != sw) {
		builder->set[sw] = builder->set[builder->set[sw]];
		sw = builder->set[sw];
	}
	return sw;
}

static bool is_taken(const struct builder *builder, const char *name)
{
	const struct triad_slurm_topology *topology = builder->topology;

	for (uint32_t i = 0; i < builder->layout->n_switches; i++)
		if (!strcmp(builder->names[i], name))
			return true;
	for (uint32_t i = 0; i < topology->n; i++)
		if (!strcmp(topology->switches[i].name, name))
			return true;
	return false;
}

/* Names the line of a set of switches after one of its highest switches, whose name no
 * line has yet. */
static void name_set(struct builder *builder, uint32_t set, uint16_t level, char *name)
{
	uint32_t best = NONE;

	for (uint32_t i = 0; i < builder->layout->n_switches; i++) {
		if (builder->layout->switches[i].level != level ||
			builder->is_named_after[i] || set_of(builder, i) != set)
			continue;
		if (best == NONE ||
			triad_hostlist_compare(
				builder->names[i], builder->names[best]) < 0)
			best = i;
	}
	if (best == NONE) {
		/* All their names are in use. */
		uint32_t number = builder->topology->n;

		do
			snprintf(name, TRIAD_HOSTLIST_NAME_SIZE, "set-%" PRIu32,
				++number);
		while (is_taken(builder, name));
		return;
	}
	builder->is_named_after[best] = true;
	memcpy(name, builder->names[best], TRIAD_HOSTLIST_NAME_SIZE);
}

/* Joins the sets that links between switches up to 'level' connect. */
static void join_level(struct builder *builder, uint16_t level)
{
	const struct triad_routes_layout *layout = builder->layout;

	for (uint32_t i = 0; i < layout->n_switches; i++) {
		const struct triad_routes_switch *sw = &layout->switches[i];

		for (uint32_t k = 0; sw->level <= level && k < sw->n_links; k++) {
			const struct triad_routes_link *link =
				&layout->links[sw->first_link + k];

			if (link->kind == TRIAD_ROUTES_TO_SWITCH &&
				layout->switches[link->to].level <= level)
				builder->set[set_of(builder, link->to)] =
					set_of(builder, i);
		}
	}
}

/* Adds a line above those of a set. */
static uint32_t add_parent(struct builder *builder, uint32_t set, uint16_t level)
{
	struct triad_slurm_topology *topology = builder->topology;
	struct triad_slurm_switch *made = &topology->switches[topology->n];

	made->parent = NONE;
	name_set(builder, set, level, made->name);
	builder->switch_of[topology->n] = set;
	return topology->n++;
}

/* Gives lines without a parent a common one, if their switches are in one set now. */
static int give_parents(struct builder *builder, uint16_t level)
{
	struct triad_slurm_topology *topology = builder->topology;
	uint32_t n_before = topology->n, n_switches = builder->layout->n_switches;
	uint32_t *n_lines = calloc(n_switches + 1, sizeof(*n_lines));
	uint32_t *parents = calloc(n_switches + 1, sizeof(*parents)); /* 0: none yet */
	int error = n_lines && parents ? 0 : ENOMEM;

	for (uint32_t i = 0; !error && i < n_before; i++)
		if (topology->switches[i].parent == NONE)
			n_lines[set_of(builder, builder->switch_of[i])]++;
	for (uint32_t i = 0; !error && i < n_before; i++) {
		struct triad_slurm_switch *line = &topology->switches[i];
		uint32_t set = set_of(builder, builder->switch_of[i]);

		if (line->parent != NONE || n_lines[set] < 2)
			continue;
		/* No parent is line 0: that has hosts. */
		if (!parents[set])
			parents[set] = add_parent(builder, set, level);
		line->parent = parents[set];
		error = triad_hostlist_add(
			&topology->switches[line->parent].switches, line->name);
	}
	for (uint32_t i = n_before; i < topology->n; i++)
		triad_hostlist_sort(&topology->switches[i].switches);
	free(n_lines);
	free(parents);
	return error;
}

/* --- switches with hosts --- */

static int compare_places(const void *a, const void *b)
{
	const struct place *one = a, *other = b;
	int order = strcmp(one->name, other->name);

	return order ? order : one->line < other->line ? -1 : one->line > other->line;
}

static void add_host(struct builder *builder, uint32_t host, uint32_t line)
{
	const struct triad_fabric *fabric = builder->layout->fabric;
	uint32_t port = builder->layout->hosts[host].port;
	const struct triad_fabric_node *node = &fabric->nodes[fabric->ports[port].node];
	struct place *place = &builder->places[builder->n_places];

	/* Skip routers: Slurm runs no jobs there. */
	if (node->type != TRIAD_NODE_CA)
		return;
	triad_slurm_host_name(node->name, place->name);
	place->line = line;
	builder->topology->n_unnamed += !place->name[0];
	builder->n_places += place->name[0] != '\0';
}

/* Orders switches by name. */
static int compare_leaves(const void *a, const void *b, void *names)
{
	const char(*of)[TRIAD_HOSTLIST_NAME_SIZE] = names;

	return triad_hostlist_compare(
		of[*(const uint32_t *)a], of[*(const uint32_t *)b]);
}

/* Removes lines without hosts: a switch may have only routers, hosts without a valid
 * name, or hosts that are listed at another switch. */
static void drop_empty_leaves(struct builder *builder)
{
	struct triad_slurm_topology *topology = builder->topology;
	uint32_t kept = 0;

	for (uint32_t i = 0; i < topology->n; i++) {
		struct triad_slurm_switch *line = &topology->switches[i];

		if (!line->hosts.n) {
			builder->is_named_after[builder->switch_of[i]] = false;
			continue;
		}
		if (kept < i) {
			topology->switches[kept] = *line;
			builder->switch_of[kept] = builder->switch_of[i];
			memset(line, 0, sizeof(*line));
		}
		kept++;
	}
	topology->n = topology->n_leaves = kept;
}

static int add_leaves(struct builder *builder)
{
	const struct triad_routes_layout *layout = builder->layout;
	struct triad_slurm_topology *topology = builder->topology;
	uint32_t *leaves = calloc(layout->n_switches + 1, sizeof(*leaves)), n = 0;
	int error = leaves ? 0 : ENOMEM;
	bool is_counted = false; /* the present host, among those at several */

	for (uint32_t i = 0; leaves && i < layout->n_switches; i++)
		if (layout->switches[i].n_hosts)
			leaves[n++] = i;
	if (n)
		qsort_r(leaves, n, sizeof(*leaves), compare_leaves, builder->names);
	for (uint32_t i = 0; i < n; i++) {
		const struct triad_routes_switch *sw = &layout->switches[leaves[i]];

		memcpy(topology->switches[i].name, builder->names[leaves[i]],
			TRIAD_HOSTLIST_NAME_SIZE);
		topology->switches[i].parent = NONE;
		builder->switch_of[i] = leaves[i];
		builder->is_named_after[leaves[i]] = true;
		for (uint32_t k = 0; k < sw->n_hosts; k++)
			add_host(builder, sw->first_host + k, i);
	}
	topology->n = n;
	if (builder->n_places)
		qsort(builder->places, builder->n_places, sizeof(*builder->places),
			compare_places);
	for (uint32_t i = 0; i < builder->n_places && !error; i++) {
		const struct place *place = &builder->places[i];

		if (i && !strcmp(place[-1].name, place->name)) {
			topology->n_again +=
				!is_counted && place[-1].line != place->line;
			is_counted |= place[-1].line != place->line;
			continue;
		}
		is_counted = false;
		topology->n_hosts++;
		error = triad_hostlist_add(
			&topology->switches[place->line].hosts, place->name);
	}
	for (uint32_t i = 0; i < n; i++)
		triad_hostlist_sort(&topology->switches[i].hosts);
	if (!error)
		drop_empty_leaves(builder);
	free(leaves);
	return error;
}

/* --- all --- */

static int build_topology(struct builder *builder)
{
	const struct triad_routes_layout *layout = builder->layout;
	struct triad_slurm_topology *topology = builder->topology;
	int error = name_switches(builder);

	for (uint32_t i = 0; i < layout->n_switches; i++)
		builder->set[i] = i;
	if (!error)
		error = add_leaves(builder);
	for (uint16_t level = 1; !error && level <= layout->n_levels; level++) {
		join_level(builder, level);
		error = give_parents(builder, level);
	}
	for (uint32_t i = 0; i < topology->n; i++)
		topology->n_roots += topology->switches[i].parent == NONE;
	return error;
}

int triad_slurm_topology_make(const struct triad_routes_layout *layout,
	struct triad_slurm_topology **topology)
{
	uint32_t n = layout->n_switches;
	struct builder builder = {.layout = layout};
	int error = ENOMEM;

	builder.topology = calloc(1, sizeof(*builder.topology));
	builder.names = calloc(n + 1, sizeof(*builder.names));
	builder.set = calloc(n + 1, sizeof(*builder.set));
	builder.switch_of = calloc(2 * n + 1, sizeof(*builder.switch_of));
	builder.is_named_after = calloc(n + 1, sizeof(*builder.is_named_after));
	builder.places = calloc(layout->n_hosts + 1, sizeof(*builder.places));
	/* Each line above joins at least two lines, so there are fewer of them than
	 * leaves. */
	if (builder.topology)
		builder.topology->switches =
			calloc(2 * n + 1, sizeof(*builder.topology->switches));
	if (builder.topology && builder.topology->switches && builder.names &&
		builder.set && builder.switch_of && builder.is_named_after &&
		builder.places)
		error = build_topology(&builder);
	free(builder.names);
	free(builder.set);
	free(builder.switch_of);
	free(builder.is_named_after);
	free(builder.places);
	if (error)
		triad_slurm_topology_free(builder.topology);
	else
		*topology = builder.topology;
	return error;
}

void triad_slurm_topology_free(struct triad_slurm_topology *topology)
{
	if (!topology)
		return;
	for (uint32_t i = 0; topology->switches && i < topology->n; i++) {
		triad_hostlist_clear(&topology->switches[i].hosts);
		triad_hostlist_clear(&topology->switches[i].switches);
	}
	free(topology->switches);
	free(topology);
}
