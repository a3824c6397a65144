/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Events from Corosync: lists of members, messages of any octets from any sender, rings
 * and quorum in any order.  A view must not have more members than there is room for,
 * nor a member twice, and must be quorate only when that is certain.
 *
 * Input: steps, each an octet with its kind, then its data:
 *
 *     0  the group's members: how many (1 octet), then node and process of each (1, 1)
 *     1  a message: node, process, flags (1: gets a valid header), length (2)
 *     2  the ring: node, sequence (1, 1)
 *     3  the quorum: node, sequence (1, 1), flags (1 quorate, 2 majority) */
#include "portmgr/cluster/group.h"
#include "tests/fuzz/fuzz.h"

#define HERE 0x1234u

struct cluster {
	struct triad_group group;
	struct triad_group_quorum quorum;
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
	uint32_t node = triad_wire_get8(w);

	return (struct triad_group_ring){node, triad_wire_get8(w)};
}

static void check_view(const struct cluster *cluster)
{
	const struct triad_group_quorum *quorum = &cluster->quorum;
	struct triad_cluster_view view = triad_group_view(&cluster->group, quorum);

	require(view.n_members <= TRIAD_CLUSTER_MAX_MEMBERS, "there is room");
	require(2 * (uint64_t)view.n_votes_needed > cluster->group.n, "a majority");
	for (uint32_t i = 0; i < view.n_members; i++)
		for (uint32_t j = 0; j < i; j++)
			require(!view.members[i] || view.members[i] != view.members[j],
				"no member is there twice");
	if (!view.is_quorate)
		return;
	require(quorum->is_quorate && quorum->has_majority, "quorate, with a majority");
	require(view.n_members == cluster->group.n, "all are known");
	require(quorum->ring.seq && quorum->ring.seq == quorum->quorum_ring.seq &&
			quorum->ring.node == quorum->quorum_ring.node,
		"about one ring");
	require(view.epoch == quorum->ring.seq, "which is the epoch");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct cluster cluster;
	struct triad_wire w;
	unsigned flags;

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
			cluster.quorum.ring = take_ring(&w);
			break;
		default:
			cluster.quorum.quorum_ring = take_ring(&w);
			flags = triad_wire_get8(&w);
			cluster.quorum.is_quorate = flags & 1;
			cluster.quorum.has_majority = flags & 2;
		}
		check_view(&cluster);
	}
	return 0;
}
