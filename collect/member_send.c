/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "collect/member_parts.h"

struct triad_collect_head triad_member_head(
	const struct triad_member *member, enum triad_collect_kind kind)
{
	return (struct triad_collect_head){
		.kind = kind,
		.sender = member->params.id,
		.incarnation = member->params.incarnation,
	};
}

void triad_member_send(struct triad_member *member, enum triad_member_to to,
	uint64_t id, const uint8_t *octets, size_t size)
{
	if (!size)
		return;
	member->counts.n_sent++;
	member->counts.octets_sent += size;
	member->sink.send(member->sink.context, to, id, octets, size);
}

void triad_member_send_to(struct triad_member *member, uint64_t to, size_t size)
{
	triad_member_send(member,
		to == TRIAD_CLAIMS_NO_AGENT ? TRIAD_MEMBER_TO_ALL : TRIAD_MEMBER_TO_ONE,
		to, member->octets, size);
}

void triad_member_ask_again(
	struct triad_member *member, uint64_t agent, uint32_t number)
{
	const struct triad_collect_again again = {.from = number};
	struct triad_collect_head head = triad_member_head(member, TRIAD_COLLECT_AGAIN);

	triad_member_send_to(member, agent,
		triad_collect_put_again(
			&head, &again, member->octets, sizeof(member->octets)));
}

uint64_t triad_member_past_us(const struct triad_member *member)
{
	return TRIAD_COLLECT_PAST_LIVES * member->liveness_us;
}

bool triad_member_is_received(
	const struct triad_member *member, uint64_t id, uint64_t now_us)
{
	const struct triad_peers_entry *entry = triad_peers_find(&member->peers, id);

	return entry && now_us - entry->received_us <= member->liveness_us;
}
