/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Which nodes are expected to be up. */
#include "portmgr/plan/plan_parts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/search.h"

struct named {
	const char *name;
	uint32_t node;
};

struct finder {
	const struct triad_plan_input *input;
	bool *is_wanted;
	struct named *names; /* of all nodes, sorted; NULL: not made yet */
};

static int compare_desired_names(const void *a, const void *b)
{
	const struct named *one = a, *other = b;

	return strcmp(one->name, other->name);
}

static int sort_names(struct finder *finder)
{
	const struct triad_fabric *fabric = finder->input->fabric;

	finder->names = calloc(fabric->n_nodes + 1, sizeof(*finder->names));
	if (!finder->names)
		return ENOMEM;
	for (uint32_t i = 0; i < fabric->n_nodes; i++)
		finder->names[i] = (struct named){fabric->nodes[i].name, i};
	qsort(finder->names, fabric->n_nodes, sizeof(*finder->names),
		compare_desired_names);
	return 0;
}

/* Marks all nodes of that name, as it is unknown which one is meant. */
static int want_name(struct finder *finder, const char *name)
{
	uint32_t at, n = finder->input->fabric->n_nodes;

	if (!finder->names && sort_names(finder))
		return ENOMEM;
	TRIAD_SEARCH(at, 0, n, strcmp(finder->names[at].name, name) < 0);
	for (; at < n && !strcmp(finder->names[at].name, name); at++)
		finder->is_wanted[finder->names[at].node] = true;
	return 0;
}

/* Marks the component that a row names, wherever it is.  A pattern names none. */
static int want_named(struct finder *finder, const struct triad_expected_remote *remote)
{
	const struct triad_plan_input *input = finder->input;
	const char *name = triad_expected_text(input->expected, remote->name);
	uint32_t node = TRIAD_FABRIC_NONE, port;

	if (remote->port_guid) {
		port = triad_fabric_find_alias(input->fabric, remote->port_guid);
		if (port != TRIAD_FABRIC_NONE)
			node = input->fabric->ports[port].node;
	} else if (remote->node_guid) {
		node = triad_fabric_find_node(input->fabric, remote->node_guid);
	} else if (remote->name) {
		return want_name(finder, name);
	}
	if (node != TRIAD_FABRIC_NONE)
		finder->is_wanted[node] = true;
	return 0;
}

/* Marks both ends of a port that should be up: its own node, and the component at the
 * far end if it belongs there, else the one that the row names. */
static int want_ends(
	struct finder *finder, uint32_t at, const struct triad_expected_remote *remote)
{
	const struct triad_fabric *fabric = finder->input->fabric;
	const struct triad_fabric_port *port = &fabric->ports[at];

	finder->is_wanted[port->node] = true;
	if (triad_remote_compare(fabric, at, finder->input->expected, remote, NULL,
		    0) != TRIAD_REMOTE_FITS)
		return want_named(finder, remote);
	if (port->remote != TRIAD_FABRIC_NONE)
		finder->is_wanted[fabric->ports[port->remote].node] = true;
	return 0;
}

int triad_plan_find_desired(const struct triad_plan_input *input, bool *is_wanted)
{
	struct finder finder = {.input = input, .is_wanted = is_wanted};
	int error = 0;

	for (uint32_t i = 0; i < input->fabric->n_ports && !error; i++) {
		uint32_t row = input->placed->row_of[i];

		if (row != TRIAD_PLACED_NONE &&
			input->expected->ports[row].state != TRIAD_EXPECTED_DISABLED)
			error = want_ends(
				&finder, i, &input->expected->ports[row].remote);
	}
	free(finder.names);
	return error;
}
