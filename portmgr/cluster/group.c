/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "portmgr/cluster/group.h"

#include "triad/wire.h"

#define MAGIC 0x54724367u
#define VERSION 1

static size_t known(const struct triad_group *group)
{
	return group->n < TRIAD_CLUSTER_MAX_MEMBERS ? group->n
						    : TRIAD_CLUSTER_MAX_MEMBERS;
}

void triad_group_begin(struct triad_group *group)
{
	group->n = 0;
}

void triad_group_add(struct triad_group *group, const struct triad_group *before,
	uint32_t node, uint32_t pid)
{
	const struct triad_group_member *was =
		triad_group_find((struct triad_group *)before, node, pid);

	if (triad_group_find(group, node, pid))
		return;
	/* Count a member even without room for it, so that the view gets no quorum. */
	if (group->n < TRIAD_CLUSTER_MAX_MEMBERS)
		group->members[group->n] =
			(struct triad_group_member){node, pid, was ? was->id : 0};
	group->n++;
}

struct triad_group_member *triad_group_find(
	struct triad_group *group, uint32_t node, uint32_t pid)
{
	for (size_t i = 0; i < known(group); i++)
		if (group->members[i].node == node && group->members[i].pid == pid)
			return &group->members[i];
	return NULL;
}

bool triad_group_name(
	struct triad_group *group, uint32_t node, uint32_t pid, uint64_t id)
{
	struct triad_group_member *member = triad_group_find(group, node, pid);

	if (member)
		member->id = id;
	return member != NULL;
}

bool triad_group_has_other(const struct triad_group *group,
	const struct triad_group_member *but, uint64_t id)
{
	for (size_t i = 0; i < known(group); i++)
		if (&group->members[i] != but && group->members[i].id == id)
			return true;
	return false;
}

/* --- messages ---------------------------------------------------------- */

void triad_group_put_header(uint8_t header[TRIAD_GROUP_HEADER_SIZE],
	enum triad_group_kind kind, uint64_t id)
{
	struct triad_wire w;

	triad_wire_init(&w, header, TRIAD_GROUP_HEADER_SIZE);
	triad_wire_put(&w, 4, MAGIC);
	triad_wire_put(&w, 1, VERSION);
	triad_wire_put(&w, 1, kind);
	triad_wire_put(&w, 2, 0);
	triad_wire_put(&w, 8, id);
}

enum triad_group_verdict triad_group_take(struct triad_group *group, uint32_t node,
	uint32_t pid, const void *octets, size_t size,
	struct triad_group_message *message)
{
	struct triad_wire w;
	uint32_t magic;
	uint8_t version, kind;

	*message = (struct triad_group_message){
		.from = triad_group_find(group, node, pid)};
	triad_wire_init(&w, (void *)octets, size);
	magic = triad_wire_get32(&w);
	version = triad_wire_get8(&w);
	kind = triad_wire_get8(&w);
	(void)triad_wire_get16(&w);
	message->id = triad_wire_get64(&w);
	if (w.failed || magic != MAGIC || !message->id ||
		size > TRIAD_GROUP_HEADER_SIZE + TRIAD_CLUSTER_PAYLOAD_SIZE)
		return TRIAD_GROUP_MALFORMED;
	if (!message->from)
		return TRIAD_GROUP_UNKNOWN_SENDER;
	if (version != VERSION)
		return TRIAD_GROUP_VERSION;
	if (triad_group_has_other(group, message->from, message->id))
		return TRIAD_GROUP_DUPLICATE_ID;
	message->is_news = message->from->id != message->id;
	message->from->id = message->id;
	if (kind == TRIAD_GROUP_PAYLOAD) {
		message->payload = (const uint8_t *)octets + TRIAD_GROUP_HEADER_SIZE;
		message->size = size - TRIAD_GROUP_HEADER_SIZE;
	}
	return TRIAD_GROUP_TAKEN;
}

/* --- the view ---------------------------------------------------------- */

static bool is_in_ring(const struct triad_group_ring *ring, uint32_t node)
{
	for (uint32_t i = 0; i < ring->n_nodes; i++)
		if (ring->nodes[i] == node)
			return true;
	return !ring->is_known || !ring->n_nodes;
}

struct triad_cluster_view triad_group_view(const struct triad_group *group,
	const struct triad_group_ring *ring, uint32_t n_voters)
{
	struct triad_cluster_view view = {.is_connected = true};
	/* Count the members without room as if they were in the ring. */
	size_t n = group->n - known(group);

	for (size_t i = 0; i < known(group); i++)
		if (is_in_ring(ring, group->members[i].node))
			view.members[view.n_members++] = group->members[i].id;
	n += view.n_members;
	if (n_voters && n > n_voters)
		n_voters = (uint32_t)n;
	view.n_votes_needed = triad_cluster_majority(n_voters);
	view.is_quorate = n_voters && n == view.n_members && n >= view.n_votes_needed;
	return view;
}
