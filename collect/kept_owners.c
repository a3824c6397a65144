/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "collect/kept_owners.h"

#include <errno.h>
#include <string.h>

#include "lib/fields.h"
#include "lib/text.h"

enum { IS_AGENT = 1, IS_NODES = 2 };

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))
#define AGENT_SIZE (32u + 2 * TRIAD_COLLECT_NAME_SIZE)
#define OWNER_SIZE 17u

#define AGENT(member, n) TRIAD_FIELD(struct triad_kept_agent, member, n)

static const struct triad_field agent_fields[] = {
	AGENT(id, 8),
	TRIAD_TEXT(struct triad_kept_agent, name),
	TRIAD_TEXT(struct triad_kept_agent, address),
	AGENT(port, 2),
	AGENT(state, 1),
	AGENT(n_nodes, 4),
};

#define OWNER(member, n) TRIAD_FIELD(struct triad_kept_owner, member, n)

static const struct triad_field owner_fields[] = {
	OWNER(node_guid, 8),
	OWNER(id, 8),
	OWNER(hops, 1),
};

/* --- writing --- */

void triad_kept_owners_add_agent(
	struct triad_kept_list *list, const struct triad_kept_agent *agent)
{
	uint8_t octets[AGENT_SIZE];
	struct triad_wire wire;

	triad_wire_init(&wire, octets, sizeof(octets));
	triad_wire_put(&wire, 1, IS_AGENT);
	triad_fields_put(&wire, agent_fields, COUNT(agent_fields), agent);
	triad_kept_list_add(list, octets, wire.at);
}

void triad_kept_owners_add(
	struct triad_kept_list *list, const struct triad_kept_owner *owners, uint32_t n)
{
	uint8_t octets[1 + TRIAD_KEPT_OWNERS_PIECE * OWNER_SIZE];
	struct triad_wire wire;

	for (uint32_t first = 0; first < n; first += TRIAD_KEPT_OWNERS_PIECE) {
		triad_wire_init(&wire, octets, sizeof(octets));
		triad_wire_put(&wire, 1, IS_NODES);
		for (uint32_t i = first; i < n && i < first + TRIAD_KEPT_OWNERS_PIECE;
			i++)
			triad_fields_put(
				&wire, owner_fields, COUNT(owner_fields), &owners[i]);
		triad_kept_list_add(list, octets, wire.at);
	}
}

/* --- reading --- */

/* Opens a row behind its kind; false if it is of another kind. */
static bool open_row(const struct triad_kept_list *list, uint32_t row, uint8_t kind,
	struct triad_wire *wire)
{
	uint32_t size;
	const uint8_t *octets = triad_kept_list_row(list, row, &size);

	/* It is only read. */
	*wire = (struct triad_wire){.start = (uint8_t *)octets, .size = size};
	return triad_wire_get8(wire) == kind;
}

int triad_kept_owners_find(const struct triad_kept_list *list, uint64_t node_guid,
	struct triad_kept_owner *owner)
{
	struct triad_wire wire;

	for (uint32_t i = 0; i < list->n; i++) {
		if (!open_row(list, i, IS_NODES, &wire))
			continue;
		while (wire.at < wire.size) {
			triad_fields_get(
				&wire, owner_fields, COUNT(owner_fields), owner);
			if (wire.failed)
				return EPROTO;
			if (owner->node_guid == node_guid)
				return 0;
		}
	}
	return ENOENT;
}

int triad_kept_owners_find_agent(
	const struct triad_kept_list *list, uint64_t id, struct triad_kept_agent *agent)
{
	struct triad_wire wire;

	for (uint32_t i = 0; i < list->n; i++) {
		if (!open_row(list, i, IS_AGENT, &wire))
			continue;
		memset(agent, 0, sizeof(*agent));
		triad_fields_get(&wire, agent_fields, COUNT(agent_fields), agent);
		if (wire.failed)
			return EPROTO;
		triad_text_clean(agent->name);
		triad_text_clean(agent->address);
		if (agent->id == id)
			return 0;
	}
	return ENOENT;
}
