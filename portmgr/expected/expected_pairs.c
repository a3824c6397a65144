/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "portmgr/expected/expected_parts.h"
#include "portmgr/expected/remote.h"

#define DESCRIBED_SIZE 128

/* "leaf-01 port 3", "0x0002c90000000002 port 3". */
static void describe_row(const struct triad_expected *expected,
	const struct triad_expected_port *row, char *text, size_t size)
{
	if (row->node_guid)
		snprintf(text, size, "0x%016" PRIx64 " port %u", row->node_guid,
			row->port);
	else
		snprintf(text, size, "%s port %u",
			triad_expected_text(expected, row->node_name), row->port);
}

bool triad_expected_is_plain(const char *pattern)
{
	return !strpbrk(pattern, "*?");
}

static bool differs(uint64_t desired, uint64_t known)
{
	return desired && known && desired != known;
}

/* Whether the row of 'far' expects another far end than 'near'. */
static bool leads_elsewhere(const struct triad_expected *expected,
	const struct triad_expected_end *near, const struct triad_expected_end *far)
{
	const struct triad_expected_remote *desired = &far->row->remote;

	return differs(desired->node_guid, near->node_guid) ||
		differs(desired->port_guid, near->port_guid) ||
		differs(desired->vendor_id, near->vendor_id) ||
		differs(desired->port, near->row->port) ||
		(desired->name && near->name &&
			!triad_name_fits(triad_expected_text(expected, desired->name),
				near->name));
}

bool triad_expected_ends_contradict(const struct triad_expected *expected,
	const struct triad_expected_end *near, const struct triad_expected_end *far,
	char *why, size_t size)
{
	char at[DESCRIBED_SIZE], other[DESCRIBED_SIZE], desired[DESCRIBED_SIZE];
	const struct triad_expected_port *row = far->row;

	describe_row(expected, near->row, at, sizeof(at));
	describe_row(expected, row, other, sizeof(other));
	if (near->row->state != TRIAD_EXPECTED_DISABLED &&
		row->state == TRIAD_EXPECTED_DISABLED) {
		snprintf(why, size,
			"%s: %s is to be at its far end, and is disabled in line "
			"%" PRIu32,
			at, other, row->line);
		return true;
	}
	if (!leads_elsewhere(expected, near, far))
		return false;
	triad_remote_describe(expected, &row->remote, desired, sizeof(desired));
	snprintf(why, size,
		"%s: %s is to be at its far end, and line %" PRIu32 " has %s at the "
		"other end of that",
		at, other, row->line, desired);
	return true;
}

/* Finds the row of the far port that 'remote' names in the file. */
static uint32_t find_far_row(const struct triad_expected_reader *reader,
	const struct triad_expected_remote *remote)
{
	const char *name = triad_expected_text(reader->expected, remote->name);
	uint32_t far = UINT32_MAX;

	/* Finds a row only if both name the node by the same GUID or the same name.
	 * placed.c compares again, with the fabric's nodes. */
	if (!remote->port)
		return far;
	if (remote->node_guid)
		far = triad_expected_index_find(
			reader, remote->node_guid, "", remote->port);
	if (far == UINT32_MAX && remote->name && triad_expected_is_plain(name))
		far = triad_expected_index_find(reader, 0, name, remote->port);
	return far;
}

static struct triad_expected_end end_of_row(
	const struct triad_expected *expected, uint32_t at)
{
	const struct triad_expected_port *row = &expected->ports[at];

	return (struct triad_expected_end){
		.row = row,
		.node_guid = row->node_guid,
		.name = row->node_name ? triad_expected_text(expected, row->node_name)
				       : NULL,
	};
}

void triad_expected_pairs_check(const struct triad_expected_reader *reader)
{
	const struct triad_expected *expected = reader->expected;
	char why[TRIAD_DIAG_TEXT_SIZE];

	for (uint32_t i = 0; i < expected->n_ports; i++) {
		struct triad_expected_end near = end_of_row(expected, i), far;
		uint32_t at = find_far_row(reader, &near.row->remote);

		if (at == UINT32_MAX || near.row->state == TRIAD_EXPECTED_BROKEN ||
			expected->ports[at].state == TRIAD_EXPECTED_BROKEN)
			continue;
		far = end_of_row(expected, at);
		if (triad_expected_ends_contradict(
			    expected, &near, &far, why, sizeof(why)))
			triad_diags_add(reader->diags, near.row->line, 0, "%s", why);
	}
}
