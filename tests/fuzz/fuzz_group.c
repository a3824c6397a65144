/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Events from Corosync: lists of members, messages of any octets from any sender, rings
 * and numbers of voters in any order.  A view must not have more members than there is
 * room for, nor a member twice, and must be quorate only with a majority of the voters.
 *
 * Input: steps, each an octet with its kind, then its data:
 *
 *     0  the group's members: how many (1 octet), then node and process of each (1, 1)
 *     1  a message: node, process, flags (1: gets a valid header), length (2)
 *     2  the ring: how many nodes (1; 0: not known), then each (1)
 *     3  how many vote (1) */
#include "portmgr/cluster/group.h"
#include "tests/fuzz/fuzz.h"

#define HERE 0x1234u

struct cluster {
	struct triad_group group;
	struct triad_group_ring ring;
	uint32_t n_voters;
};

static void take_members(struct cluster *cluster, struct triad_wire *w)
{
	struct triad_group before = cluster->group;
	unsigned n = triad_wire_get8(w);

	triad_group_begin(&cluster->group);
	for (unsigned i = 0; i < n; i++) {
		uint32_t node = triad_wire_get8(w), pid = triad_wire_get8(w);

		triad_group_add(&cluster->group, &before, node, pid);
	}
	require(cluster->group.n <= n, "no more members than were listed");
	triad_group_name(&cluster->group, 0, 0, HERE);
}

/* Checks that a member's own header is read as it was written. */
static void check_header(const uint8_t header[TRIAD_GROUP_HEADER_SIZE], uint64_t id)
{
	struct triad_group group = {.n = 1, .members[0] = {.node = 1, .pid = 1}};
	struct triad_group_message message;

	require(triad_group_take(&group, 1, 1, header, TRIAD_GROUP_HEADER_SIZE,
			&message) == TRIAD_GROUP_TAKEN,
		"a header");
	require(message.id == id && group.members[0].id == id, "its id");
	require(!message.size, "without a payload");
}

static void check_taken(
	const struct triad_group_message *message, const uint8_t *octets, size_t size)
{
	require(message->from && message->from->id == message->id && message->id,
		"from a member with that id");
	if (!message->payload)
		return;
	require(message->payload == octets + TRIAD_GROUP_HEADER_SIZE &&
			message->size == size - TRIAD_GROUP_HEADER_SIZE &&
			message->size <= TRIAD_CLUSTER_PAYLOAD_SIZE,
		"a payload behind the header");
}

static void take_message(struct cluster *cluster, struct triad_wire *w)
{
	uint32_t node = triad_wire_get8(w), pid = triad_wire_get8(w);
	unsigned flags = triad_wire_get8(w);
	size_t size, most = triad_wire_get16(w);
	uint8_t *octets = fuzz_take(w, most, &size);
	struct triad_group before = cluster->group;
	struct triad_group_message message;
	enum triad_group_verdict verdict;

	if (flags & 1 && size >= TRIAD_GROUP_HEADER_SIZE) {
		uint64_t id = 1 + octets[15] % 40;

		triad_group_put_header(octets, 1 + (flags >> 1 & 1), id);
		check_header(octets, id);
	}
	verdict = triad_group_take(&cluster->group, node, pid, octets, size, &message);
	if (verdict == TRIAD_GROUP_TAKEN)
		check_taken(&message, octets, size);
	else
		require(!memcmp(&before, &cluster->group, sizeof(before)),
			"refused: nothing changes");
	if (verdict == TRIAD_GROUP_VERSION || verdict == TRIAD_GROUP_DUPLICATE_ID)
		require(message.from, "one that can be named");
	free(octets);
}

static struct triad_group_ring take_ring(struct triad_wire *w)
{
	struct triad_group_ring ring = {
		.n_nodes = triad_wire_get8(w) % (TRIAD_CLUSTER_MAX_MEMBERS + 1)};

	ring.is_known = ring.n_nodes;
	for (uint32_t i = 0; i < ring.n_nodes; i++)
		ring.nodes[i] = triad_wire_get8(w);
	return ring;
}

static void check_view(const struct cluster *cluster)
{
	const uint32_t n_voters = cluster->n_voters;
	struct triad_cluster_view view =
		triad_group_view(&cluster->group, &cluster->ring, n_voters);

	require(view.n_members <= TRIAD_CLUSTER_MAX_MEMBERS, "there is room");
	require(!n_voters || 2 * view.n_votes_needed > n_voters, "a majority");
	for (uint32_t i = 0; i < view.n_members; i++)
		for (uint32_t j = 0; j < i; j++)
			require(!view.members[i] || view.members[i] != view.members[j],
				"no member is there twice");
	if (!view.is_quorate)
		return;
	require(n_voters && view.n_members >= view.n_votes_needed, "a majority here");
	require(2 * view.n_votes_needed > view.n_members, "of all that are here");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct cluster cluster;
	struct triad_wire w;

	memset(&cluster, 0, sizeof(cluster));
	triad_wire_init(&w, (uint8_t *)data, size);
	while (w.at < w.size && !w.failed) {
		switch (triad_wire_get8(&w) % 4) {
		case 0:
			take_members(&cluster, &w);
			break;
		case 1:
			take_message(&cluster, &w);
			break;
		case 2:
			cluster.ring = take_ring(&w);
			break;
		default:
			cluster.n_voters = triad_wire_get8(&w) % 40;
		}
		check_view(&cluster);
	}
	return 0;
}
